/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport's world: what an input can do in it, as a client (post, poll,
 * change state), as a peer (packets made or raw) and as time.
 */
#include "world.h"

#include "kernel_compat.h"
#include "transport/cq.h"
#include "transport/pkt.h"
#include "transport/qp.h"

#define SECRET 0xa5
#define PD     1
#define RUNS   64 /* of the engine after each step; what is left waits */

static const enum rxe_qp_type types[W_QPS] = {
	[W_RC] = RXE_QPT_RC, [W_RC_SRQ] = RXE_QPT_RC, [W_RTR] = RXE_QPT_RC,
	[W_UC] = RXE_QPT_UC, [W_UD] = RXE_QPT_UD,     [W_UD2] = RXE_QPT_UD,
};

/* ---- the owner's side ------------------------------------------------------------- */

static void on_tx(struct sim_host *h, const uint8_t *bytes, uint32_t len, const struct rxe_pkt *pkt)
{
	struct world *w = h->arg;

	(void)pkt;
	for (uint32_t i = 0; i < len; i++) /* all of it is there to be read */
		w->sum += bytes[i];
	w->sent++;
}

static uint64_t on_copy(struct sim_host *h)
{
	struct world *w = h->arg;

	return w->deferred ? UINT64_MAX : 0;
}

static uint32_t on_segments(struct sim_host *h, uint32_t len)
{
	struct world *w = h->arg;

	return w->cut && len > 3 ? len / 3 : len;
}

static bool on_room(struct sim_host *h)
{
	struct world *w = h->arg;

	return w->full;
}

static void on_gsi(struct sim_host *h, const struct rxe_pkt *pkt)
{
	struct world *w = h->arg;

	fuzz_assert(pkt->payload_len <= RXE_GSI_MAX);
	w->mads++;
}

/* The engine's side of a step: the rings are looked at in here. */
#define ENGINE(w, call)                      \
	do {                                 \
		if ((w)->engine_enter)       \
			(w)->engine_enter(); \
		call;                        \
		if ((w)->engine_leave)       \
			(w)->engine_leave(); \
	} while (0)

/* ---- making it ---------------------------------------------------------------------- */

static void make_qp(struct world *w, int i)
{
	struct sim_qp_caps caps = {
		.type = types[i],
		.qpn = W_QPN(i),
		.pdn = PD,
		.send_wr = 15,
		.recv_wr = 15,
		.send_sge = 4,
		.recv_sge = 4,
		.inline_data = 64,
		.srq = i == W_RC_SRQ ? &w->srq : NULL,
	};
	struct sim_path path = {
		.dip = w->peer,
		.dest_qpn = 0x22,
		.sq_psn = 0xfffffe,
		.rq_psn = 0xfffffd,
		.path_mtu = i == W_RC_SRQ ? 3 : 1,
		.qkey = 0x4321,
		.timeout = 14,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.min_rnr_timer = 12,
		.rd_atomic = 2,
		.access = 0x0e | RXE_ACCESS_FLUSH_GLOBAL | RXE_ACCESS_FLUSH_PERSISTENT,
	};
	bool first;

	sim_qp_init(&w->qp[i], &w->h, &caps, i == W_UC ? &w->small_cq : &w->cq, &w->cq);
	fuzz_assert(!sim_qp_to(&w->qp[i], &path, i == W_RTR ? RXE_QPS_RTR : RXE_QPS_RTS));
	if (types[i] == RXE_QPT_UD)
		fuzz_assert(!rxe_mcast_attach(&w->h.hca, &w->group, w->qp[i].qp, &first));
}

static void destroy_qp(struct world *w, int i)
{
	bool last;

	if (types[i] == RXE_QPT_UD)
		fuzz_assert(!rxe_mcast_detach(&w->h.hca, &w->group, w->qp[i].qp, &last));
	ENGINE(w, sim_qp_destroy(&w->qp[i]));
	ENGINE(w, sim_host_finish_copies(&w->h, UINT64_MAX));
	fuzz_assert(!w->qp[i].qp);
	sim_qp_fini(&w->qp[i]);
}

static void make_keys(struct world *w)
{
	w->mr = sim_mr(&w->h, PD, w->mem, W_MEM, 0);
	w->read_only = sim_mr(&w->h, PD, w->mem, W_MEM, IB_UVERBS_ACCESS_REMOTE_READ);
	w->secret_mr = sim_mr(&w->h, PD + 1, w->secret, W_SECRET, 0);
	fuzz_assert(!rxe_mr_create(&w->h.hca, PD, sim_lost_mem(), (uintptr_t)w->mem, W_MEM,
				   (uintptr_t)w->mem, 0x0f, &w->lost));
	fuzz_assert(!rxe_mw_create(&w->h.hca, PD, RXE_MW_TYPE_1, &w->mw1));
	fuzz_assert(!rxe_mw_create(&w->h.hca, PD, RXE_MW_TYPE_2, &w->mw2));
	w->key[0] = rxe_mr_rkey(w->mr);
	w->key[1] = rxe_mr_rkey(w->read_only);
	w->key[2] = rxe_mr_rkey(w->secret_mr);
	w->key[3] = rxe_mr_rkey(w->lost);
	w->key[4] = rxe_mw_rkey(w->mw1);
	w->key[5] = rxe_mw_rkey(w->mw2);
}

void world_init(struct world *w, struct fuzz_input *in)
{
	struct rxe_address av;

	memset(w, 0, sizeof(*w));
	w->in = in;
	sim_host_init(&w->h, 0x0a000001, 1024);
	w->h.arg = w;
	w->h.tx = on_tx;
	w->h.copy_due = on_copy;
	w->h.segments = on_segments;
	w->h.no_room = on_room;
	w->h.gsi = on_gsi;
	w->h.hca.pkey = RXE_DEFAULT_PKEY;
	w->peer = sim_ip(0x0a000002);
	w->group = sim_ip(0xe0000107);
	w->mem = calloc(1, W_MEM);
	w->secret = malloc(W_SECRET);
	fuzz_assert(w->mem && w->secret);
	memset(w->secret, SECRET, W_SECRET);
	make_keys(w);
	sim_cq_init(&w->cq, &w->h, 63);
	sim_cq_init(&w->small_cq, &w->h, 3);
	sim_srq_init(&w->srq, &w->h, PD, 15, 4);
	av = (struct rxe_address){.sip = w->h.ip, .dip = w->peer};
	fuzz_assert(!rxe_ah_create(&w->h.hca, PD, &av, &w->ah[0]));
	av.dip = w->group;
	fuzz_assert(!rxe_ah_create(&w->h.hca, PD, &av, &w->ah[1]));
	for (int i = 0; i < W_QPS; i++)
		make_qp(w, i);
}

void world_fini(struct world *w)
{
	void *route;

	w->engine_enter = w->engine_leave = NULL;
	w->deferred = w->full = false;
	for (int i = 0; i < W_QPS; i++)
		destroy_qp(w, i);
	fuzz_assert(!w->h.live_pkts && !w->h.live_copies && !w->h.live_qps);
	fuzz_assert(rxe_engine_next_timer(w->h.engine) == UINT64_MAX);
	for (int i = 0; i < 2; i++) {
		struct rxe_mr *mr = rxe_mw_destroy(&w->h.hca, i ? w->mw2 : w->mw1);

		if (mr)
			rxe_mr_put(mr);
	}
	sim_mr_free(&w->h, w->mr);
	sim_mr_free(&w->h, w->read_only);
	sim_mr_free(&w->h, w->secret_mr);
	sim_mr_free(&w->h, w->lost);
	for (int i = 0; i < 2; i++)
		fuzz_assert(!rxe_ah_destroy(&w->h.hca, w->ah[i], &route));
	sim_srq_fini(&w->srq, &w->h);
	sim_cq_fini(&w->cq);
	sim_cq_fini(&w->small_cq);
	sim_host_fini(&w->h);
	for (int i = 0; i < W_SECRET; i++)
		fuzz_assert(w->secret[i] == SECRET);
	free(w->mem);
	free(w->secret);
}

void world_run(struct world *w)
{
	bool more = true;

	for (int i = 0; i < RUNS && more; i++)
		ENGINE(w, more = rxe_engine_run(w->h.engine, 64));
}

/* ---- steps ---------------------------------------------------------------------------- */

/* Mostly within the region, sometimes beyond its end or at its own number. */
static uint64_t some_va(struct world *w)
{
	uint16_t v = fuzz_u16(w->in);

	if (v >= 0xff00)
		return fuzz_bytes(w->in, 8);
	return (uintptr_t)w->mem + v % (W_MEM + 64);
}

static uint32_t some_key(struct world *w)
{
	uint8_t v = fuzz_u8(w->in);

	return v < 0xf0 ? w->key[v % W_KEYS] : fuzz_u32(w->in);
}

static uint32_t some_len(struct world *w)
{
	uint8_t v = fuzz_u8(w->in);

	return v < 0xf0 ? (uint32_t)v * 17 : fuzz_u32(w->in);
}

static void some_sges(struct world *w, struct rxe_sge *sge, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		sge[i].addr = some_va(w);
		sge[i].length = some_len(w);
		sge[i].lkey = some_key(w);
	}
}

static struct sim_qp *some_qp(struct world *w)
{
	return &w->qp[fuzz_u8(w->in) % W_QPS];
}

static void post_send(struct world *w)
{
	struct sim_qp *qp = some_qp(w);
	struct sim_wr wr = {
		.wr_id = 1,
		.opcode = fuzz_u8(w->in),
		.flags = fuzz_u8(w->in),
		.num_sge = fuzz_u8(w->in) % 6,
	};

	some_sges(w, wr.sge, wr.num_sge);
	wr.remote_addr = some_va(w);
	wr.rkey = some_key(w);
	wr.mr_lkey = some_key(w);
	wr.mw_rkey = some_key(w);
	wr.mw_len = some_len(w);
	wr.flush_len = some_len(w);
	wr.access = fuzz_u16(w->in);
	wr.flush_type = wr.access & 3;
	wr.flush_level = wr.access >> 2 & 3;
	wr.imm = htobe32(wr.rkey);
	if (types[qp - w->qp] == RXE_QPT_UD) {
		wr.ah_num = w->ah[wr.access & 1];
		wr.remote_qpn = wr.access & 2 ? W_QPN(W_UD) : RXE_MULTICAST_QPN;
		wr.remote_qkey = 0x4321;
	}
	sim_post_send(qp, &wr);
	ENGINE(w, rxe_qp_doorbell(qp->qp));
}

static void post_recv(struct world *w)
{
	struct sim_qp *qp = some_qp(w);
	struct rxe_sge sge[6];
	uint32_t num = fuzz_u8(w->in) % 6;

	some_sges(w, sge, num);
	sim_post_recv(qp, 2, sge, num);
}

static void receive(struct world *w, const uint8_t *bytes, uint32_t len, uint8_t how)
{
	union rxe_ip sip = how & 1 ? sim_ip(0x0a000003) : w->peer;
	union rxe_ip dip = how & 2 ? w->group : w->h.ip;

	ENGINE(w, sim_host_rx_to(&w->h, &sip, &dip, how & 4, bytes, len));
}

/* The bytes as they are, perhaps with the number of a QP that there is. */
static void raw_packet(struct world *w)
{
	uint8_t bytes[RXE_MAX_IB_HDR + RXE_MAX_IB_MTU], how = fuzz_u8(w->in);
	size_t len;
	const uint8_t *p = fuzz_block(w->in, sizeof(bytes), &len);

	if (len)
		memcpy(bytes, p, len);
	if (how & 0x80 && len >= RXE_BTH_LEN)
		bytes[7] = W_QPN(how >> 4 & 7);
	receive(w, bytes, (uint32_t)len, how);
}

/* Well formed, near to what the QP expects. */
static void made_packet(struct world *w)
{
	static const uint8_t class_of[] = {[RXE_QPT_RC] = RXE_CLASS_RC,
					   [RXE_QPT_UC] = RXE_CLASS_UC,
					   [RXE_QPT_UD] = RXE_CLASS_UD};
	uint8_t bytes[RXE_MAX_IB_HDR + RXE_MAX_IB_MTU + 64];
	struct sim_qp *qp = some_qp(w);
	uint8_t op = fuzz_u8(w->in), how = fuzz_u8(w->in);
	struct rxe_pktinfo info = {
		.opcode = RXE_OPCODE(class_of[types[qp - w->qp]], op & 0x1f),
		.solicited = how & 8,
		.ack_req = how & 16,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = how & 32	 ? RXE_GSI_QPN
		       : how & 2 ? RXE_MULTICAST_QPN
				 : qp->qpn,
		.qkey = how & 32 ? RXE_GSI_QKEY : 0x4321,
		.src_qpn = 0x22,
	};
	uint32_t len = 0, psn = (uint32_t)(int8_t)fuzz_u8(w->in);
	struct rxe_qp_attr a;

	info.op = rxe_opcode_info(info.opcode);
	if (!info.op)
		return;
	rxe_qp_query(qp->qp, &a);
	info.psn = (info.op->flags & RXE_F_RESP ? a.sq_psn - 1 : a.rq_psn) + psn;
	info.psn &= RXE_PSN_MASK;
	info.va = some_va(w);
	info.rkey = info.inv_rkey = some_key(w);
	info.len = some_len(w);
	info.syndrome = fuzz_u8(w->in);
	info.flush_type = info.syndrome & 3;
	info.flush_level = info.syndrome >> 2 & 3;
	info.compare = info.swap_add = info.len;
	if (info.op->flags & RXE_F_PAYLOAD)
		len = some_len(w) % (RXE_MAX_IB_MTU + 16);
	rxe_pkt_build(bytes, &info, rxe_pad(len));
	memset(bytes + info.op->hdr_len, op, len + rxe_pad(len));
	receive(w, bytes, info.op->hdr_len + len + rxe_pad(len), how & 7);
}

static void poll(struct world *w)
{
	struct ib_uverbs_wc wc;
	bool missed;

	while (sim_cq_poll(&w->cq, &wc) || sim_cq_poll(&w->small_cq, &wc))
		;
	ENGINE(w, rxe_cq_arm(w->cq.cq, fuzz_u8(w->in) & 1, &missed));
}

/* As the daemon: only what rxe_qp_modify_check() allows, or destroyed and made anew. */
static void change_state(struct world *w)
{
	struct sim_qp *qp = some_qp(w);
	uint8_t to = fuzz_u8(w->in) % 9;

	if (to <= RXE_QPS_ERR) {
		ENGINE(w, sim_qp_set_state(qp, to));
		return;
	}
	destroy_qp(w, (int)(qp - w->qp));
	make_qp(w, (int)(qp - w->qp));
}

static void later(struct world *w)
{
	uint64_t ns = (uint64_t)fuzz_u8(w->in) << (fuzz_u8(w->in) & 31);

	sim_host_set_now(&w->h, w->h.now + ns);
}

static void finish_copies(struct world *w)
{
	ENGINE(w, sim_host_finish_copies(&w->h, UINT64_MAX));
}

static void conditions(struct world *w)
{
	uint8_t v = fuzz_u8(w->in);
	struct rxe_engine_params *p = rxe_engine_params(w->h.engine);

	w->deferred = v & 1;
	w->cut = v & 2;
	w->full = v & 4;
	p->fast_comp = p->fast_resp = !!(v & 8);
	p->fast_req = !!(v & 16);
	p->fast_arb = !!(v & 32);
	w->h.hca.port_up = !(v & 64);
}

static void windows(struct world *w)
{
	struct rxe_mw **mw = fuzz_u8(w->in) & 1 ? &w->mw1 : &w->mw2;
	int key = mw == &w->mw1 ? 4 : 5;
	struct rxe_mr *mr = rxe_mw_destroy(&w->h.hca, *mw);

	if (mr)
		rxe_mr_put(mr);
	fuzz_assert(!rxe_mw_create(&w->h.hca, PD, key == 4 ? RXE_MW_TYPE_1 : RXE_MW_TYPE_2, mw));
	w->key[key] = rxe_mw_rkey(*mw);
}

static void srq(struct world *w)
{
	uint8_t v = fuzz_u8(w->in);

	if (v & 1)
		ENGINE(w, sim_srq_resize(&w->srq, v >> 1));
	else
		ENGINE(w, rxe_srq_set_limit(w->srq.srq, v >> 1));
}

static void (*const steps[])(struct world *w) = {
	raw_packet, made_packet, made_packet,  made_packet, post_send,	post_send,
	post_recv,  poll,	 change_state, later,	    conditions, finish_copies,
	windows,    srq,	 change_state, made_packet,
};

void world_step(struct world *w)
{
	steps[fuzz_u8(w->in) % (sizeof(steps) / sizeof(steps[0]))](w);
	world_run(w);
}
