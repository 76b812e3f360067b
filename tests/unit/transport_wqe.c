/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* wqe.c: a hostile WQE is copied, then judged. */
#include <stdlib.h>
#include <string.h>
#include "sim/bed.h"

#define ELEM 512

static const struct rxe_wqe_limits lim = {
	.type = RXE_QPT_RC,
	.max_sge = 4,
	.max_inline = 64,
	.elem_size = ELEM,
};
static struct rxe_swqe *w;
static uint8_t *elem; /* of exactly one element: reading beyond it is seen */

static int setup(void **state)
{
	(void)state;
	w = malloc(rxe_swqe_size(lim.max_sge, lim.max_inline));
	elem = calloc(1, ELEM);
	return !w || !elem;
}

static int teardown(void **state)
{
	(void)state;
	free(w);
	free(elem);
	return 0;
}

static struct rxe_send_wqe *fresh(uint32_t opcode)
{
	struct rxe_send_wqe *s = (void *)elem;

	memset(elem, 0, ELEM);
	s->wr.wr_id = 0x1234567890;
	s->wr.opcode = opcode;
	s->dma.num_sge = 2;
	s->dma.sge[0].length = 100;
	s->dma.sge[1].length = 28;
	return s;
}

static uint32_t take(void)
{
	rxe_swqe_take(w, elem, &lim);
	assert_true(w->wr_id == 0x1234567890);
	return w->status;
}

static void good_ones(void **state)
{
	struct rxe_send_wqe *s = fresh(IB_UVERBS_WR_SEND);

	(void)state;
	assert_int_equal(take(), 0);
	assert_int_equal(w->length, 128); /* the sum, whatever dma.length says */
	s->dma.length = 0xffffffff;
	assert_int_equal(take(), 0);
	assert_int_equal(w->length, 128);
	s = fresh(IB_UVERBS_WR_SEND);
	s->wr.send_flags = RXE_SEND_INLINE;
	s->dma.length = 64;
	memset(s->dma.inline_data, 9, 64);
	assert_int_equal(take(), 0);
	assert_int_equal(w->inline_data[63], 9);
	s = fresh(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD);
	s->wr.wr.atomic.compare_add = 5;
	assert_int_equal(take(), 0);
	assert_int_equal(w->length, 8);
	assert_int_equal(w->compare_add, 5);
}

static void windows_and_the_like(void **state)
{
	struct rxe_flush_wr f = {0x5000, 77, 0x99, RXE_FLUSH_GLOBAL, RXE_FLUSH_MR};
	struct rxe_send_wqe *s = fresh(IB_UVERBS_WR_BIND_MW);
	uint64_t eight = 0x0102030405060708;

	(void)state;
	s->wr.wr.mw.addr = 0x123456789a;
	s->wr.wr.mw.length = 0x10000000000;
	s->wr.wr.mw.mr_lkey = 1;
	s->wr.wr.mw.mw_rkey = 2;
	s->wr.wr.mw.rkey = 3;
	s->wr.wr.mw.access = 4;
	s->dma.num_sge = 0xffffffff; /* means nothing here */
	assert_int_equal(take(), 0);
	assert_int_equal(w->length, 0);
	assert_int_equal(w->num_sge, 0);
	assert_true(w->bind.addr == 0x123456789a && w->bind.len == 0x10000000000);
	assert_true(w->bind.mr_lkey == 1 && w->bind.mw_rkey == 2 && w->bind.rkey == 3 &&
		    w->bind.access == 4);
	fresh(IB_UVERBS_WR_LOCAL_INV)->wr.ex.invalidate_rkey = 0xabcd;
	assert_int_equal(take(), 0);
	assert_int_equal(w->inv_rkey, 0xabcd);
	fresh(IB_UVERBS_WR_SEND_WITH_INV)->wr.ex.invalidate_rkey = 0xabce;
	assert_int_equal(take(), 0);
	assert_int_equal(w->inv_rkey, 0xabce);
	assert_int_equal(w->length, 128);

	s = fresh(RXE_WR_ATOMIC_WRITE);
	memcpy(s->dma.inline_data, &eight, 8);
	s->wr.wr.rdma.rkey = 6;
	assert_int_equal(take(), 0);
	assert_int_equal(w->length, 8);
	assert_memory_equal(w->inline_data, &eight, 8);

	s = fresh(RXE_WR_FLUSH);
	memcpy(&s->wr.wr, &f, sizeof(f));
	assert_int_equal(take(), 0);
	assert_true(w->remote_addr == 0x5000 && w->flush_len == 77 && w->rkey == 0x99);
	assert_int_equal(w->length, 0);
	for (int i = 0; i < 3; i++) {
		static const uint8_t bad[3][2] = {{0, 0}, {4, 0}, {1, 2}};

		f.type = bad[i][0];
		f.level = bad[i][1];
		memcpy(&s->wr.wr, &f, sizeof(f));
		assert_int_equal(take(), RXE_WC_LOC_QP_OP_ERR);
	}
}

static void bad_ones(void **state)
{
	static const uint32_t refused[] = {IB_UVERBS_WR_TSO,
					   IB_UVERBS_WR_RDMA_READ_WITH_INV,
					   IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP,
					   0x20, /* the kernel's REG_MR */
					   99,
					   0xffffffff};
	struct rxe_send_wqe *s;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		fresh(refused[i]);
		assert_int_equal(take(), RXE_WC_LOC_QP_OP_ERR);
	}
	fresh(IB_UVERBS_WR_SEND)->dma.num_sge = 5;
	assert_int_equal(take(), RXE_WC_LOC_QP_OP_ERR);
	fresh(IB_UVERBS_WR_SEND)->dma.num_sge = 0xffffffff;
	assert_int_equal(take(), RXE_WC_LOC_QP_OP_ERR);
	s = fresh(IB_UVERBS_WR_SEND);
	s->dma.sge[0].length = s->dma.sge[1].length = 0xffffffff;
	assert_int_equal(take(), RXE_WC_LOC_LEN_ERR);
	s = fresh(IB_UVERBS_WR_SEND);
	s->dma.sge[0].length = 1u << 31;
	s->dma.sge[1].length = 1;
	assert_int_equal(take(), RXE_WC_LOC_LEN_ERR);
	s = fresh(IB_UVERBS_WR_SEND);
	s->wr.send_flags = RXE_SEND_INLINE;
	s->dma.length = 65;
	assert_int_equal(take(), RXE_WC_LOC_LEN_ERR);
	s->dma.length = 0xffffffff;
	assert_int_equal(take(), RXE_WC_LOC_LEN_ERR);
	s = fresh(IB_UVERBS_WR_RDMA_READ);
	s->wr.send_flags = RXE_SEND_INLINE;
	assert_int_equal(take(), RXE_WC_LOC_QP_OP_ERR);
	s = fresh(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP);
	s->dma.num_sge = 1;
	s->dma.sge[0].length = 7;
	assert_int_equal(take(), RXE_WC_LOC_LEN_ERR);
}

/* The element is smaller than the QP's limits say: the element decides. */
static void element_bounds(void **state)
{
	struct rxe_wqe_limits tight = lim;
	struct rxe_send_wqe *s = fresh(IB_UVERBS_WR_SEND);

	(void)state;
	tight.elem_size = 256;
	tight.max_sge = 32;
	tight.max_inline = 512;
	s->dma.num_sge = 4;
	rxe_swqe_take(w, elem, &tight);
	assert_int_equal(w->status, RXE_WC_LOC_QP_OP_ERR);
	s->wr.send_flags = RXE_SEND_INLINE;
	s->dma.length = 49;
	rxe_swqe_take(w, elem, &tight);
	assert_int_equal(w->status, RXE_WC_LOC_LEN_ERR);
}

static void receive(void **state)
{
	struct rxe_recv_wqe *r = (void *)elem;
	struct rxe_rwqe rw;

	(void)state;
	memset(elem, 0, ELEM);
	r->wr_id = 77;
	r->dma.num_sge = 4;
	for (int i = 0; i < 4; i++)
		r->dma.sge[i].length = 10;
	rxe_rwqe_take(&rw, elem, &lim);
	assert_int_equal(rw.status, 0);
	assert_int_equal(rw.length, 40);
	r->dma.num_sge = 5;
	rxe_rwqe_take(&rw, elem, &lim);
	assert_int_equal(rw.status, RXE_WC_LOC_QP_OP_ERR);
	assert_true(rw.wr_id == 77);
	r->dma.num_sge = 0x10000001;
	rxe_rwqe_take(&rw, elem, &lim);
	assert_int_equal(rw.status, RXE_WC_LOC_QP_OP_ERR);
}

static void datagram_types(void **state)
{
	struct rxe_wqe_limits ud = lim;

	(void)state;
	ud.type = RXE_QPT_UD;
	fresh(IB_UVERBS_WR_RDMA_WRITE);
	rxe_swqe_take(w, elem, &ud);
	assert_int_equal(w->status, RXE_WC_LOC_QP_OP_ERR);
	fresh(IB_UVERBS_WR_SEND)->wr.wr.ud.remote_qpn = 0xff123456;
	rxe_swqe_take(w, elem, &ud);
	assert_int_equal(w->status, 0);
	assert_int_equal(w->remote_qpn, 0x123456);
	ud.type = RXE_QPT_UC;
	fresh(IB_UVERBS_WR_RDMA_READ);
	rxe_swqe_take(w, elem, &ud);
	assert_int_equal(w->status, RXE_WC_LOC_QP_OP_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(windows_and_the_like),
		cmocka_unit_test(element_bounds),
		cmocka_unit_test(receive),
		cmocka_unit_test(datagram_types),
	};

	return cmocka_run_group_tests_name("transport_wqe", tests, setup, teardown);
}
