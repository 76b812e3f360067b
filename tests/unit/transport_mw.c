/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mw.c: binding rules, keys, invalidation, what a window allows (PROTOCOL 27). */
#include <errno.h>
#include "sim/bed.h"
#include "transport/mw.h"

#define PD    7
#define QP    11
#define BASE  0x10000ull
#define LEN   0x1000ull
#define READ  IB_UVERBS_ACCESS_REMOTE_READ
#define WRITE IB_UVERBS_ACCESS_REMOTE_WRITE
#define ZB    IB_UVERBS_ACCESS_ZERO_BASED

static struct rxe_hca hca;
static struct rxe_mr *mr;

static struct rxe_mr *region(uint32_t pdn, uint32_t access)
{
	struct rxe_mr *m;

	assert_int_equal(rxe_mr_create(&hca, pdn, NULL, BASE, LEN, BASE, access, &m), 0);
	return m;
}

static int setup(void **state)
{
	struct rxe_limits lim = sim_limits;

	(void)state;
	lim.max_mw = 4;
	if (rxe_hca_init(&hca, &lim))
		return -1;
	mr = region(PD, IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_LOCAL_WRITE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_false(rxe_mr_busy(mr));
	assert_int_equal(rxe_mr_close(mr), 0);
	rxe_mr_destroy(&hca, mr);
	rxe_hca_fini(&hca);
	return 0;
}

static struct rxe_mw *window(enum rxe_mw_type type)
{
	struct rxe_mw *mw;

	assert_int_equal(rxe_mw_create(&hca, PD, type, &mw), 0);
	return mw;
}

static struct rxe_mw_bind binding(const struct rxe_mw *mw, uint32_t access)
{
	return (struct rxe_mw_bind){
		.mw_rkey = rxe_mw_rkey(mw),
		.mr_lkey = rxe_mr_lkey(mr),
		.rkey = rxe_mw_rkey(mw) + 1,
		.access = access,
		.addr = BASE + 0x100,
		.len = 0x200,
	};
}

static int bind_pd(uint32_t pdn, const struct rxe_mw_bind *b)
{
	struct rxe_mr *old = NULL;
	int err = rxe_mw_bind(&hca, pdn, QP, b, &old);

	if (old)
		rxe_mr_put(old);
	return err;
}

static int bind_mw(const struct rxe_mw_bind *b)
{
	return bind_pd(PD, b);
}

static int invalidate_as(uint32_t pdn, uint64_t qp, uint32_t rkey)
{
	struct rxe_mr *old = NULL;
	int err = rxe_mw_invalidate(&hca, pdn, qp, rkey, &old);

	if (old)
		rxe_mr_put(old);
	return err;
}

static void end(struct rxe_mw *mw)
{
	struct rxe_mr *old = rxe_mw_destroy(&hca, mw);

	if (old) {
		assert_false(rxe_mr_busy(old));
		rxe_mr_put(old);
	}
}

static int reach_as(uint32_t pdn, uint64_t qp, uint32_t rkey, uint64_t iova, uint64_t len,
		    uint32_t access)
{
	struct rxe_mr *got;
	uint64_t va;
	int err = rxe_rkey_lookup(&hca, pdn, qp, rkey, iova, len, access, &got, &va);

	if (!err)
		rxe_mr_put(got);
	return err;
}

static int reach(uint32_t rkey, uint64_t iova, uint64_t len, uint32_t access)
{
	return reach_as(PD, QP, rkey, iova, len, access);
}

static void type_1(void **state)
{
	struct rxe_mw *mw = window(RXE_MW_TYPE_1);
	uint32_t fresh = rxe_mw_rkey(mw), bound;
	struct rxe_mw_bind b = binding(mw, READ | WRITE);

	(void)state;
	assert_int_equal(reach(fresh, BASE + 0x100, 1, 0), -ENOENT);
	assert_int_equal(bind_mw(&b), 0);
	bound = rxe_mw_rkey(mw);
	/* the low byte is the program's, the rest is not */
	assert_int_equal(bound, (fresh & ~0xffu) | ((fresh + 1) & 0xff));
	assert_int_equal(reach(bound, BASE + 0x100, 0x200, READ | WRITE), 0);
	assert_int_equal(reach_as(PD, QP + 1, bound, BASE + 0x100, 1, READ), 0); /* any QP */
	assert_int_equal(reach(bound, BASE + 0x100, 0x201, READ), -ERANGE);
	assert_int_equal(reach(bound, BASE + 0xff, 1, READ), -ERANGE);
	assert_int_equal(reach(bound, BASE + 0x100, 8, IB_UVERBS_ACCESS_REMOTE_ATOMIC), -EACCES);
	assert_int_equal(reach_as(PD + 1, QP, bound, BASE + 0x100, 1, READ), -EACCES);
	assert_int_equal(reach(fresh, BASE + 0x100, 1, 0), -ENOENT);

	/* bound again elsewhere, then to nothing */
	b = binding(mw, READ);
	b.rkey = 0xffffff42;
	b.addr = BASE;
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(rxe_mw_rkey(mw) & 0xff, 0x42);
	assert_int_equal(rxe_mw_rkey(mw) & ~0xffu, fresh & ~0xffu);
	assert_int_equal(reach(bound, BASE + 0x100, 1, READ), -ENOENT);
	assert_int_equal(reach(rxe_mw_rkey(mw), BASE, 1, READ), 0);
	b = binding(mw, 0);
	b.len = 0;
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(reach(rxe_mw_rkey(mw), BASE, 1, 0), -ENOENT);
	assert_int_equal(reach(rxe_mw_rkey(mw), BASE, 0, 0), -ENOENT);

	b = binding(mw, READ | ZB); /* o10-36.2.2 */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ);
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(invalidate_as(PD, 0, rxe_mw_rkey(mw)), -EINVAL); /* o10-37.2.26 */
	assert_int_equal(invalidate_as(PD, QP, rxe_mw_rkey(mw)), -EINVAL);
	end(mw);
}

static void type_2(void **state)
{
	struct rxe_mw *mw = window(RXE_MW_TYPE_2);
	struct rxe_mw_bind b = binding(mw, WRITE);
	uint32_t rkey;

	(void)state;
	assert_int_equal(invalidate_as(PD, 0, rxe_mw_rkey(mw)), -EINVAL); /* free */
	b.len = 0;
	assert_int_equal(bind_mw(&b), -EINVAL); /* o10-37.2.40 */
	b = binding(mw, WRITE);
	assert_int_equal(bind_mw(&b), 0);
	rkey = rxe_mw_rkey(mw);
	assert_int_equal(reach(rkey, BASE + 0x100, 1, WRITE), 0);
	assert_int_equal(reach_as(PD, QP + 1, rkey, BASE + 0x100, 1, WRITE), -EACCES);
	b = binding(mw, WRITE);
	assert_int_equal(bind_mw(&b), -EINVAL); /* o10-37.2.30: still bound */

	assert_int_equal(invalidate_as(PD, 0, rkey ^ 1), -EINVAL); /* keys compared whole */
	assert_int_equal(invalidate_as(PD + 1, 0, rkey), -EINVAL);
	assert_int_equal(invalidate_as(PD, QP + 1, rkey), -EINVAL); /* another QP's peer */
	assert_int_equal(invalidate_as(PD, QP, rkey), 0);
	assert_int_equal(reach(rkey, BASE + 0x100, 1, WRITE), -ENOENT);
	assert_int_equal(invalidate_as(PD, QP, rkey), -EINVAL);

	b = binding(mw, READ);
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(invalidate_as(PD, 0, rxe_mw_rkey(mw)), 0); /* LOCAL_INV */
	end(mw);
}

static void zero_based(void **state)
{
	struct rxe_mw *mw = window(RXE_MW_TYPE_2);
	struct rxe_mw_bind b = binding(mw, READ | ZB);
	struct rxe_mr *got;
	uint64_t va;

	(void)state;
	b.addr = BASE + LEN - 0x100; /* outside with this length */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ | ZB);
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(
		rxe_rkey_lookup(&hca, PD, QP, rxe_mw_rkey(mw), 0x10, 0x1f0, READ, &got, &va), 0);
	assert_true(va == BASE + 0x110);
	rxe_mr_put(got);
	assert_int_equal(reach(rxe_mw_rkey(mw), 0, 0x201, READ), -ERANGE);
	assert_int_equal(reach(rxe_mw_rkey(mw), BASE + 0x100, 1, READ), -ERANGE);
	end(mw);
}

static void what_it_may_be_bound_to(void **state)
{
	struct rxe_mr *closed = region(PD, IB_UVERBS_ACCESS_LOCAL_WRITE),
		      *readable = region(PD, IB_UVERBS_ACCESS_MW_BIND),
		      *foreign = region(PD + 1, IB_UVERBS_ACCESS_MW_BIND);
	struct rxe_mw *mw = window(RXE_MW_TYPE_2), *other = window(RXE_MW_TYPE_1);
	struct rxe_mw_bind b;

	(void)state;
	b = binding(mw, READ);
	b.mr_lkey = rxe_mr_lkey(closed); /* C10-73 */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b.mr_lkey = rxe_mr_lkey(foreign); /* another PD */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b.mr_lkey = rxe_mr_lkey(readable);
	b.access = WRITE; /* C10-74 */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b.access = IB_UVERBS_ACCESS_REMOTE_ATOMIC;
	assert_int_equal(bind_mw(&b), -EINVAL);
	b.access = READ | 1 << 19;
	assert_int_equal(bind_mw(&b), -EOPNOTSUPP);
	b = binding(mw, READ);
	b.addr = BASE + LEN - 0x1ff; /* C10-75 */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b.addr = BASE - 1;
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ);
	b.len = UINT64_MAX;
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ);
	b.mr_lkey ^= 1;
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ);
	b.mw_rkey ^= 1; /* forged */
	assert_int_equal(bind_mw(&b), -EINVAL);
	b = binding(mw, READ);
	assert_int_equal(bind_pd(PD + 1, &b), -EINVAL); /* a QP of another PD (C10-72) */
	/* a window is no MR: neither to bind to, nor as an lkey */
	b = binding(other, READ);
	assert_int_equal(bind_mw(&b), 0);
	b = binding(mw, READ);
	b.mr_lkey = rxe_mw_rkey(other);
	assert_int_equal(bind_mw(&b), -EINVAL);
	{
		struct rxe_mr *got;
		uint64_t va;

		assert_int_equal(
			rxe_mr_lookup(&hca, PD, rxe_mw_rkey(other), BASE + 0x100, 1, 0, &got, &va),
			-ENOENT);
	}
	end(mw);
	end(other);
	rxe_mr_destroy(&hca, closed);
	rxe_mr_destroy(&hca, readable);
	rxe_mr_destroy(&hca, foreign);
}

/* An MR with a window on it stays; the window's copies are waited for. */
static void mr_under_a_window(void **state)
{
	struct rxe_mw *mw = window(RXE_MW_TYPE_2);
	struct rxe_mw_bind b = binding(mw, WRITE);
	struct rxe_mr *copy, *old, *fresh;
	uint64_t va;

	(void)state;
	assert_int_equal(bind_mw(&b), 0);
	assert_int_equal(rxe_mr_close(mr), -EBUSY);
	assert_int_equal(rxe_mr_replace(&hca, mr, PD, BASE, LEN, BASE, 0, &fresh), -EBUSY);
	assert_int_equal(
		rxe_rkey_lookup(&hca, PD, QP, rxe_mw_rkey(mw), BASE + 0x100, 1, WRITE, &copy, &va),
		0);
	assert_int_equal(rxe_mw_invalidate(&hca, PD, QP, rxe_mw_rkey(mw), &old), 0);
	assert_true(rxe_mr_busy(old));
	assert_true(rxe_mr_busy(mr)); /* its copies run through the MR */
	rxe_mr_put(copy);
	assert_false(rxe_mr_busy(old));
	rxe_mr_put(old);
	assert_false(rxe_mr_busy(mr));
	end(mw);

	/* an MR on its way out takes no window */
	mw = window(RXE_MW_TYPE_1);
	fresh = region(PD, IB_UVERBS_ACCESS_MW_BIND);
	assert_int_equal(rxe_mr_close(fresh), 0);
	b = binding(mw, READ);
	b.mr_lkey = rxe_mr_lkey(fresh);
	assert_int_equal(bind_mw(&b), -EINVAL);
	rxe_mr_destroy(&hca, fresh);
	end(mw);
}

static void limit_and_reuse(void **state)
{
	struct rxe_mw *mw[4], *one;
	uint32_t gone;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 4; i++) {
			struct rxe_mw_bind b;

			mw[i] = window(1 + i % 2);
			b = binding(mw[i], READ);
			assert_int_equal(bind_mw(&b), 0);
		}
		assert_int_equal(rxe_mw_create(&hca, PD, RXE_MW_TYPE_1, &one), -ENOMEM);
		gone = rxe_mw_rkey(mw[0]);
		for (int i = 0; i < 4; i++)
			end(mw[i]);
		assert_int_equal(reach(gone, BASE + 0x100, 1, 0), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(type_1, setup, teardown),
		cmocka_unit_test_setup_teardown(type_2, setup, teardown),
		cmocka_unit_test_setup_teardown(zero_based, setup, teardown),
		cmocka_unit_test_setup_teardown(what_it_may_be_bound_to, setup, teardown),
		cmocka_unit_test_setup_teardown(mr_under_a_window, setup, teardown),
		cmocka_unit_test_setup_teardown(limit_and_reuse, setup, teardown),
	};

	return cmocka_run_group_tests_name("transport_mw", tests, NULL, NULL);
}
