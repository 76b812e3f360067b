/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* copy.c: ranges of SGE lists, segments. */
#include <errno.h>
#include <string.h>
#include "sim/bed.h"
#include "transport/copy.h"

static void ranges(void **state)
{
	static uint8_t mem[4096];
	struct rxe_range r[RXE_MAX_SGE];
	struct rxe_sge sge[4];
	struct sim_host h;
	struct rxe_mr *mr;
	uint64_t at = (uintptr_t)mem;

	(void)state;
	sim_host_init(&h, 1, 1024);
	mr = sim_mr(&h, 1, mem, sizeof(mem), 0);
	sge[0] = (struct rxe_sge){at, 10, rxe_mr_lkey(mr)};
	sge[1] = (struct rxe_sge){at + 100, 0, 0}; /* nothing: its key is not looked at */
	sge[2] = (struct rxe_sge){at + 200, 20, rxe_mr_lkey(mr)};
	sge[3] = (struct rxe_sge){at + 300, 5, 12345}; /* no such key */

	assert_int_equal(rxe_ranges_from_sge(&h.hca, 1, sge, 4, 8, 22, 0, r), 2);
	assert_true(r[0].addr == at + 8 && r[0].len == 2);
	assert_true(r[1].addr == at + 200 && r[1].len == 20);
	rxe_ranges_put(r, 2);
	assert_int_equal(rxe_ranges_from_sge(&h.hca, 1, sge, 4, 0, 0, 0, r), 0);
	assert_int_equal(rxe_ranges_from_sge(&h.hca, 1, sge, 4, 8, 23, 0, r), -ENOENT);
	assert_int_equal(rxe_ranges_from_sge(&h.hca, 1, sge, 3, 8, 23, 0, r), -ERANGE);
	assert_int_equal(rxe_ranges_from_sge(&h.hca, 2, sge, 3, 0, 5, 0, r), -EACCES);
	assert_false(rxe_mr_busy(mr));
	sim_mr_free(&h, mr);
	sim_host_fini(&h);
}

static void segments(void **state)
{
	uint8_t a[8], b[8];
	struct iovec seg[2] = {{a, 8}, {b, 8}}, out[2];

	(void)state;
	assert_int_equal(rxe_iov_clip(out, seg, 2, 0), 0);
	assert_int_equal(rxe_iov_clip(out, seg, 2, 8), 1);
	assert_int_equal(rxe_iov_clip(out, seg, 2, 11), 2);
	assert_int_equal(out[1].iov_len, 3);
	memset(a, 1, 8);
	memset(b, 1, 8);
	rxe_iov_put(seg, 2, 6, "wxyz", 4);
	assert_memory_equal(a + 6, "wx", 2);
	assert_memory_equal(b, "yz", 2);
	rxe_iov_put(seg, 2, 13, NULL, 3);
	assert_int_equal(b[4], 1);
	assert_int_equal(b[5] | b[6] | b[7], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(segments),
	};

	return cmocka_run_group_tests_name("transport_copy", tests, NULL, NULL);
}
