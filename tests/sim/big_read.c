/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A large READ over a bad link. */
#include "big_read.h"
#include <stdlib.h>
#include <string.h>
#include "kernel_compat.h"
#include "link.h"
#include "traffic.h"
#include "transport/cq.h"
#include "transport/wqe.h"

#define SIZE	  (8u << 20)
#define MTU	  4096u
#define LOSS	  .01
#define PACKET_NS 3300 /* of MTU bytes, at 10 Gb/s */
#define QUEUE	  64   /* packets that the sender's ring holds */
#define MAX_NS	  (4ull * PACKET_NS * (SIZE / MTU))
#define MAX_SENDS 4 /* of each response, on average */

struct side {
	struct sim_cq cq;
	struct sim_qp qp;
	uint8_t *mem;
	struct rxe_mr *mr;
};

static bool no_room(struct sim_host *h)
{
	const struct sim_link *l = h->arg;

	return l->free_at[l->host[0] == h] > l->now + QUEUE * PACKET_NS;
}

static void make_side(struct side *s, struct sim_host host[2], int h)
{
	struct sim_qp_caps caps = {.type = RXE_QPT_RC,
				   .qpn = 16 + h,
				   .pdn = 1,
				   .send_wr = 1,
				   .recv_wr = 1,
				   .send_sge = 1,
				   .recv_sge = 1};
	struct sim_path path = {
		.dip = host[!h].ip,
		.dest_qpn = 16 + !h,
		.path_mtu = 5,
		.sq_psn = RXE_PSN_MASK - 1000, /* across the wrap */
		.rq_psn = RXE_PSN_MASK - 1000,
		.timeout = 10,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.rd_atomic = 1,
		.access = IB_UVERBS_ACCESS_REMOTE_READ,
	};

	s->mem = malloc(SIZE);
	if (!s->mem)
		abort();
	for (uint32_t i = 0; i < SIZE; i++)
		s->mem[i] = h ? i ^ i >> 8 ^ i >> 16 : 0;
	s->mr = sim_mr(&host[h], 1, s->mem, SIZE, 0);
	sim_cq_init(&s->cq, &host[h], 4);
	sim_qp_init(&s->qp, &host[h], &caps, &s->cq, &s->cq);
	if (sim_qp_to(&s->qp, &path, RXE_QPS_RTS))
		sim_fail("a QP cannot be brought to RTS");
}

static void post_read(struct side *from, struct side *to)
{
	struct sim_wr wr = {
		.opcode = IB_UVERBS_WR_RDMA_READ,
		.flags = RXE_SEND_SIGNALED,
		.remote_addr = (uintptr_t)to->mem,
		.rkey = rxe_mr_rkey(to->mr),
		.num_sge = 1,
	};

	wr.sge[0] = (struct rxe_sge){(uintptr_t)from->mem, SIZE, rxe_mr_lkey(from->mr)};
	if (!sim_post_send(&from->qp, &wr))
		sim_fail("the READ cannot be posted");
	rxe_qp_doorbell(from->qp.qp);
}

/* To the next thing that happens: a packet, a timer, a run that is due. */
static void advance(struct sim_link *l, struct sim_host host[2])
{
	uint64_t t = sim_link_next(l);

	for (int h = 0; h < 2; h++) {
		uint64_t timer = rxe_engine_next_timer(host[h].engine);

		t = timer < t ? timer : t;
	}
	if (t > l->now)
		l->now = t;
	for (int h = 0; h < 2; h++)
		sim_host_set_now(&host[h], l->now);
	while (sim_link_deliver(l, l->now))
		;
	for (int h = 0; h < 2; h++)
		if (rxe_engine_run(host[h].engine, 64))
			sim_link_wake(l, h, l->now + 200);
}

void sim_big_read(uint64_t seed)
{
	struct sim_host host[2];
	struct side side[2];
	struct sim_link link;
	struct ib_uverbs_wc wc;
	uint64_t start;

	sim_seed = seed;
	for (int h = 0; h < 2; h++)
		sim_host_init(&host[h], 0x0a000001 + h, MTU);
	sim_link_init(&link, seed, &host[0], &host[1]);
	link.loss = LOSS;
	link.packet_ns = PACKET_NS;
	host[0].no_room = host[1].no_room = no_room;
	link.now = start = host[0].now;
	for (int h = 0; h < 2; h++)
		make_side(&side[h], host, h);
	post_read(&side[0], &side[1]);
	while (!sim_cq_poll(&side[0].cq, &wc)) {
		advance(&link, host);
		if (link.now - start > MAX_NS)
			sim_fail("a large READ is not done after %llu us", MAX_NS / 1000);
	}
	if (wc.status || memcmp(side[0].mem, side[1].mem, SIZE))
		sim_fail("a large READ ended with status %u, or in wrong data", wc.status);
	if (!link.lost || link.sent > (uint64_t)MAX_SENDS * (SIZE / MTU))
		sim_fail("a large READ took %llu packets, of which %llu were lost",
			 (unsigned long long)link.sent, (unsigned long long)link.lost);
	for (int h = 0; h < 2; h++)
		sim_qp_destroy(&side[h].qp);
	sim_link_fini(&link);
	for (int h = 0; h < 2; h++) {
		sim_qp_fini(&side[h].qp);
		sim_cq_fini(&side[h].cq);
		sim_mr_free(&host[h], side[h].mr);
		free(side[h].mem);
		sim_host_fini(&host[h]);
	}
}
