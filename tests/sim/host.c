/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The owner's side of the transport interface over plain memory, and a client.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "kernel_compat.h"

#define ALL_ACCESS                                                       \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_MW_BIND | RXE_ACCESS_FLUSH_GLOBAL)

const struct rxe_limits sim_limits = {
	.max_ucontext = 16,
	.max_pd = 16,
	.max_qp = 1024,
	.max_qp_wr = 16384,
	.max_sge = 32,
	.max_inline = 512,
	.max_cq = 64,
	.max_cqe = 32767,
	.max_mr = 4096,
	.max_mw = 4096,
	.max_ah = 64,
	.max_srq = 64,
	.max_srq_wr = 16384,
	.max_srq_sge = 27,
	.max_rd_atomic = 128,
	.max_mcast_grp = 4,
	.max_mcast_qp_attach = 3,
	.max_total_mcast_qp_attach = 6,
};

union rxe_ip sim_ip(uint32_t v4)
{
	return (union rxe_ip){.raw = {[10] = 0xff, 0xff, v4 >> 24, v4 >> 16, v4 >> 8, v4}};
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* ---- packets ------------------------------------------------------------------------- */

static struct sim_pkt *new_pkt(struct sim_host *h, uint32_t len)
{
	struct sim_pkt *p = must(calloc(1, sizeof(*p)));

	p->host = h;
	p->len = len;
	/* Behind Ethernet, IPv4 and UDP headers: aligned to 2, as on the wire. */
	p->frame = must(malloc(SIM_NET_HDR + len));
	p->bytes = p->frame + SIM_NET_HDR;
	p->pkt.dp = p;
	p->pkt.hdr = p->bytes;
	h->live_pkts++;
	return p;
}

/* Payload bytes [from, len) in one to three segments. */
static void cut(struct sim_host *h, struct sim_pkt *p, uint32_t from)
{
	uint32_t left = p->len - from;

	p->pkt.nsegs = 0;
	while (left) {
		uint32_t n = p->pkt.nsegs < RXE_PKT_SEGS - 2 && h->segments ? h->segments(h, left)
									    : left;

		p->pkt.seg[p->pkt.nsegs++] = (struct iovec){p->bytes + from, n};
		from += n;
		left -= n;
	}
}

static struct rxe_pkt *pkt_alloc(void *ctx, struct rxe_hca *hca, struct rxe_address *addr,
				 uint32_t hdr_len, uint32_t payload_len, uint32_t pad)
{
	struct sim_host *h = ctx;
	struct sim_pkt *p;

	(void)hca;
	if (h->no_room && h->no_room(h))
		return NULL;
	p = new_pkt(h, hdr_len + payload_len + pad);
	memset(p->bytes, 0xee, p->len);
	p->pkt.hdr_len = hdr_len;
	p->pkt.payload_len = payload_len;
	p->pkt.pad = pad;
	p->pkt.addr = addr;
	cut(h, p, hdr_len);
	return &p->pkt;
}

static void pkt_free(void *ctx, struct rxe_pkt *pkt)
{
	struct sim_host *h = ctx;
	struct sim_pkt *p = pkt->dp;

	assert(p->host == h);
	h->live_pkts--;
	free(p->frame);
	free(p);
}

static struct rxe_pkt *pkt_copy(void *ctx, const struct rxe_pkt *pkt)
{
	struct sim_host *h = ctx;
	struct sim_pkt *old = pkt->dp, *p = new_pkt(h, old->len);
	uint8_t *hdr = p->pkt.hdr;

	memcpy(p->bytes, old->bytes, old->len);
	memcpy(p->ip, old->ip, sizeof(p->ip));
	p->pkt = *pkt;
	p->pkt.dp = p;
	p->pkt.hdr = hdr;
	p->pkt.ip = p->ip;
	p->pkt.detached = true;
	cut(h, p, p->pkt.hdr_len);
	h->copied++;
	return &p->pkt;
}

/* Into new memory, as the real one: who keeps a pointer into the old is found out. */
static struct rxe_pkt *pkt_detach(void *ctx, struct rxe_pkt *pkt)
{
	struct sim_host *h = ctx;
	struct rxe_pkt *moved = pkt_copy(ctx, pkt);

	pkt_free(ctx, pkt);
	h->copied--;
	h->detached++;
	return moved;
}

static void pkt_send(void *ctx, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	struct sim_host *h = ctx;
	struct sim_pkt *p = pkt->dp;

	assert(hca == &h->hca && pkt->src_qpn && pkt->addr);
	if (h->tx)
		h->tx(h, p->bytes, p->len, pkt);
	pkt_free(ctx, pkt);
}

static void pkt_flush(void *ctx, struct rxe_hca *hca)
{
	struct sim_host *h = ctx;

	assert(hca == &h->hca);
	h->flushes++;
}

void sim_host_rx(struct sim_host *h, const union rxe_ip *sip, const uint8_t *bytes, uint32_t len)
{
	sim_host_rx_to(h, sip, &h->ip, false, bytes, len);
}

void sim_host_rx_to(struct sim_host *h, const union rxe_ip *sip, const union rxe_ip *dip,
		    bool loopback, const uint8_t *bytes, uint32_t len)
{
	struct sim_pkt *p = new_pkt(h, len);

	memcpy(p->bytes, bytes, len);
	p->pkt.ib_len = len;
	p->pkt.hdr_len = len < RXE_MAX_IB_HDR ? len : RXE_MAX_IB_HDR;
	cut(h, p, p->pkt.hdr_len);
	p->ip[0] = 0x45;
	memcpy(p->ip + 12, sip->raw + 12, 4);
	memcpy(p->ip + 16, dip->raw + 12, 4);
	p->pkt.ip = p->ip;
	p->pkt.ip_version = 4;
	p->pkt.sip = *sip;
	p->pkt.dip = *dip;
	p->pkt.loopback = loopback;
	rxe_engine_rx(h->engine, &h->hca, &p->pkt);
}

/* ---- copies -------------------------------------------------------------------------------- */

static void run_atomic(struct rxe_copy *c)
{
	uint64_t *at = (uint64_t *)(uintptr_t)c->range[0].addr;

	memcpy(&c->result, at, sizeof(*at));
	if (c->kind == RXE_COPY_STORE)
		*at = c->swap_add;
	else if (c->kind == RXE_COPY_FETCH_ADD)
		*at = c->result + c->swap_add;
	else if (c->result == c->compare)
		*at = c->swap_add;
}

static void run_bytes(struct rxe_copy *c)
{
	uint32_t l = 0, r = 0;
	size_t lo = 0, ro = 0;

	while (l < c->nlocal && r < c->nranges) {
		size_t n = c->local[l].iov_len - lo;
		uint8_t *local = (uint8_t *)c->local[l].iov_base + lo;
		uint8_t *client = (uint8_t *)(uintptr_t)c->range[r].addr + ro;

		if (n > c->range[r].len - ro)
			n = c->range[r].len - ro;
		if (c->kind == RXE_COPY_READ)
			memcpy(local, client, n);
		else
			memcpy(client, local, n);
		lo += n;
		ro += n;
		if (lo == c->local[l].iov_len)
			l++, lo = 0;
		if (ro == c->range[r].len)
			r++, ro = 0;
	}
	assert(l == c->nlocal && r == c->nranges && !lo && !ro);
}

static char lost_mem;

struct rxe_mem *sim_lost_mem(void)
{
	return (struct rxe_mem *)&lost_mem;
}

static int run_copy(struct rxe_copy *c)
{
	for (uint32_t i = 0; i < c->nranges; i++)
		if (rxe_mr_mem(c->range[i].mr) == sim_lost_mem())
			return -EFAULT;
	if (c->kind == RXE_COPY_READ || c->kind == RXE_COPY_WRITE)
		run_bytes(c);
	else
		run_atomic(c);
	return 0;
}

static int copy(void *ctx, struct rxe_copy *c)
{
	struct sim_host *h = ctx;
	uint64_t due = h->copy_due ? h->copy_due(h) : 0;
	struct sim_copy *s;

	if (due <= h->now && TAILQ_EMPTY(&h->copies)) {
		c->status = run_copy(c);
		return 0;
	}
	s = must(malloc(sizeof(*s)));
	s->c = c;
	s->due = due;
	TAILQ_INSERT_TAIL(&h->copies, s, link);
	h->live_copies++;
	return -EINPROGRESS;
}

uint64_t sim_host_next_copy(const struct sim_host *h)
{
	return TAILQ_EMPTY(&h->copies) ? UINT64_MAX : TAILQ_FIRST(&h->copies)->due;
}

void sim_host_finish_copies(struct sim_host *h, uint64_t until)
{
	unsigned int n = h->live_copies;
	struct sim_copy *s;

	/* Not those that are started by what finishes here. */
	while (n-- && (s = TAILQ_FIRST(&h->copies)) && s->due <= until) {
		struct rxe_copy *c = s->c;

		TAILQ_REMOVE(&h->copies, s, link);
		free(s);
		h->live_copies--;
		c->status = run_copy(c);
		c->done(c);
	}
}

/* ---- events ----------------------------------------------------------------------------------- */

static void cq_event(void *ctx, struct rxe_cq *cq)
{
	struct sim_host *h = ctx;

	(void)cq;
	h->nr_cq_events++;
}

static void async_event(void *ctx, enum rxe_event_kind kind, void *obj)
{
	struct sim_host *h = ctx;

	h->events_of[kind]++;
	if (h->nr_events < SIM_MAX_EVENTS) {
		h->events[h->nr_events].kind = kind;
		h->events[h->nr_events++].obj = obj;
	}
}

static void qp_released(void *ctx, struct rxe_qp *qp)
{
	struct sim_host *h = ctx;
	struct sim_qp *s = rxe_qp_owner(qp);

	s->qp = NULL;
	h->live_qps--;
}

unsigned int sim_host_count_events(const struct sim_host *h, enum rxe_event_kind kind)
{
	return h->events_of[kind];
}

static void gsi_rx(void *ctx, struct rxe_hca *hca, const struct rxe_pkt *pkt)
{
	struct sim_host *h = ctx;

	(void)hca;
	if (h->gsi)
		h->gsi(h, pkt);
}

static const struct rxe_engine_ops ops = {
	.pkt_alloc = pkt_alloc,
	.pkt_send = pkt_send,
	.pkt_flush = pkt_flush,
	.pkt_free = pkt_free,
	.pkt_detach = pkt_detach,
	.pkt_copy = pkt_copy,
	.copy = copy,
	.cq_event = cq_event,
	.async_event = async_event,
	.qp_released = qp_released,
	.gsi_rx = gsi_rx,
};

/* ---- the host ------------------------------------------------------------------------------------ */

void sim_host_init(struct sim_host *h, uint32_t ip, uint32_t mtu)
{
	memset(h, 0, sizeof(*h));
	TAILQ_INIT(&h->copies);
	h->ip = sim_ip(ip);
	h->hca.mtu = h->hca.ud_mtu = mtu;
	h->hca.port_up = true;
	if (rxe_hca_init(&h->hca, &sim_limits))
		abort();
	h->engine = must(rxe_engine_new(&ops, h));
	sim_host_set_now(h, 1000000000);
}

void sim_host_fini(struct sim_host *h)
{
	rxe_engine_free(h->engine);
	rxe_hca_fini(&h->hca);
}

void sim_host_set_now(struct sim_host *h, uint64_t now)
{
	h->now = now;
	rxe_engine_set_now(h->engine, now);
}

struct rxe_mr *sim_mr(struct sim_host *h, uint32_t pdn, void *addr, size_t len, uint32_t access)
{
	struct rxe_mr *mr;
	uint64_t va = (uintptr_t)addr;

	if (rxe_mr_create(&h->hca, pdn, NULL, va, len, va, access ? access : ALL_ACCESS, &mr))
		abort();
	return mr;
}

void sim_mr_free(struct sim_host *h, struct rxe_mr *mr)
{
	rxe_mr_get(mr);
	rxe_mr_destroy(&h->hca, mr);
	if (rxe_mr_busy(mr)) {
		fprintf(stderr, "an MR still has references\n");
		abort();
	}
	rxe_mr_put(mr);
}

/* ---- a client's objects ----------------------------------------------------------------------------- */

void *(*sim_ring_alloc)(size_t bytes);

static void *make_ring(struct rxe_ring *r, size_t bytes, uint32_t slots, uint32_t log2_elem)
{
	size_t size = (bytes + 63) / 64 * 64;
	void *mem = must(sim_ring_alloc ? sim_ring_alloc(size) : aligned_alloc(64, size));

	memset(mem, 0, bytes);
	rxe_ring_init(r, mem, slots, log2_elem);
	return mem;
}

static void free_ring(void *mem)
{
	if (!sim_ring_alloc)
		free(mem);
}

void sim_cq_init(struct sim_cq *cq, struct sim_host *h, uint32_t cqe)
{
	uint32_t slots, log2_elem;
	size_t bytes = rxe_ring_size(cqe, sizeof(struct ib_uverbs_wc), &slots, &log2_elem);

	cq->mem = make_ring(&cq->ring, bytes, slots, log2_elem);
	if (rxe_cq_create(&h->hca, &cq->ring, cqe, cq, &cq->cq))
		abort();
}

int sim_cq_resize(struct sim_cq *cq, struct sim_host *h, uint32_t cqe)
{
	uint32_t slots, log2_elem;
	size_t bytes = rxe_ring_size(cqe, sizeof(struct ib_uverbs_wc), &slots, &log2_elem);
	struct rxe_ring ring;
	void *mem = make_ring(&ring, bytes, slots, log2_elem);
	int err = rxe_cq_resize(&h->hca, cq->cq, &ring, cqe);

	free(err ? mem : cq->mem);
	if (err)
		return err;
	cq->mem = mem;
	cq->ring = ring;
	return 0;
}

void sim_cq_fini(struct sim_cq *cq)
{
	rxe_cq_destroy(cq->cq);
	free_ring(cq->mem);
}

bool sim_cq_poll(struct sim_cq *cq, struct ib_uverbs_wc *wc)
{
	struct rxe_queue_buf *q = cq->ring.buf;
	uint32_t at = q->consumer_index & cq->ring.mask;

	if (at == (q->producer_index & cq->ring.mask))
		return false;
	memcpy(wc, q->data + ((size_t)at << cq->ring.log2_elem), sizeof(*wc));
	q->consumer_index = (at + 1) & cq->ring.mask;
	return true;
}

void sim_srq_init(struct sim_srq *s, struct sim_host *h, uint32_t pdn, uint32_t max_wr,
		  uint32_t max_sge)
{
	struct rxe_srq_init init = {.pdn = pdn, .owner = s};

	if (rxe_srq_ring_geometry(&sim_limits, max_wr, max_sge, &s->geo))
		abort();
	s->mem = make_ring(&s->ring, s->geo.bytes, s->geo.slots, s->geo.log2_elem);
	init.ring = s->ring;
	init.max_sge = s->geo.max_sge;
	if (rxe_srq_create(&h->hca, &init, &s->srq))
		abort();
}

void sim_srq_fini(struct sim_srq *s, struct sim_host *h)
{
	rxe_srq_destroy(&h->hca, s->srq);
	free_ring(s->mem);
}

int sim_srq_resize(struct sim_srq *s, uint32_t max_wr)
{
	struct rxe_srq_geometry geo;
	struct rxe_ring ring;
	void *mem;
	int err = rxe_srq_ring_geometry(&sim_limits, max_wr, s->geo.max_sge, &geo);

	if (err)
		return err;
	mem = make_ring(&ring, geo.bytes, geo.slots, geo.log2_elem);
	err = rxe_srq_resize(s->srq, &ring);
	free_ring(err ? mem : s->mem);
	if (err)
		return err;
	s->mem = mem;
	s->ring = ring;
	s->geo = geo;
	return 0;
}

void sim_qp_init(struct sim_qp *s, struct sim_host *h, const struct sim_qp_caps *caps,
		 struct sim_cq *send_cq, struct sim_cq *recv_cq)
{
	struct rxe_qp_init init = {
		.type = caps->type,
		.qpn = caps->qpn,
		.pdn = caps->pdn,
		.send_cq = send_cq->cq,
		.recv_cq = recv_cq->cq,
		.sq_sig_all = caps->sq_sig_all,
		.block_self_lb = caps->block_self_lb,
		.owner = s,
	};

	memset(s, 0, sizeof(*s));
	s->host = h;
	s->type = caps->type;
	s->qpn = caps->qpn;
	s->send_cq = send_cq;
	s->recv_cq = recv_cq;
	if (rxe_qp_ring_geometry(&sim_limits, caps->send_wr, caps->recv_wr, caps->send_sge,
				 caps->recv_sge, caps->inline_data, &s->geo))
		abort();
	s->sq_mem = make_ring(&s->sq, s->geo.sq_bytes, s->geo.sq_slots, s->geo.sq_log2_elem);
	s->srq = caps->srq;
	if (s->srq)
		init.srq = s->srq->srq;
	else
		s->rq_mem =
			make_ring(&s->rq, s->geo.rq_bytes, s->geo.rq_slots, s->geo.rq_log2_elem);
	init.sq = s->sq;
	init.rq = s->rq;
	init.max_send_sge = s->geo.max_send_sge;
	init.max_recv_sge = s->geo.max_recv_sge;
	init.max_inline = s->geo.max_inline;
	if (rxe_qp_create(h->engine, &h->hca, &init, &s->qp))
		abort();
	h->live_qps++;
}

void sim_qp_destroy(struct sim_qp *s)
{
	rxe_qp_destroy(s->qp);
}

void sim_qp_fini(struct sim_qp *s)
{
	assert(!s->qp);
	free_ring(s->sq_mem);
	free_ring(s->rq_mem);
}

static const struct {
	uint32_t rc, uc, ud;
} steps[] = {
	[RXE_QPS_INIT] = {RXE_QP_PKEY_INDEX | RXE_QP_PORT | RXE_QP_ACCESS_FLAGS,
			  RXE_QP_PKEY_INDEX | RXE_QP_PORT | RXE_QP_ACCESS_FLAGS,
			  RXE_QP_PKEY_INDEX | RXE_QP_PORT | RXE_QP_QKEY},
	[RXE_QPS_RTR] = {RXE_QP_AV | RXE_QP_PATH_MTU | RXE_QP_DEST_QPN | RXE_QP_RQ_PSN |
				 RXE_QP_MAX_DEST_RD_ATOMIC | RXE_QP_MIN_RNR_TIMER,
			 RXE_QP_AV | RXE_QP_PATH_MTU | RXE_QP_DEST_QPN | RXE_QP_RQ_PSN, 0},
	[RXE_QPS_RTS] = {RXE_QP_TIMEOUT | RXE_QP_RETRY_CNT | RXE_QP_RNR_RETRY | RXE_QP_SQ_PSN |
				 RXE_QP_MAX_QP_RD_ATOMIC,
			 RXE_QP_SQ_PSN, RXE_QP_SQ_PSN},
};

int sim_qp_to(struct sim_qp *s, const struct sim_path *p, enum rxe_qp_state state)
{
	struct rxe_qp_attr a = {
		.path_mtu = p->path_mtu,
		.qkey = p->qkey,
		.rq_psn = p->rq_psn,
		.sq_psn = p->sq_psn,
		.dest_qp_num = p->dest_qpn,
		.access_flags = p->access,
		.addr = {.sip = s->host->ip, .dip = p->dip, .hop_limit = 64},
		.max_rd_atomic = p->rd_atomic,
		.max_dest_rd_atomic = p->rd_atomic,
		.min_rnr_timer = p->min_rnr_timer,
		.timeout = p->timeout,
		.retry_cnt = p->retry_cnt,
		.rnr_retry = p->rnr_retry,
		.port_num = 1,
	};
	int err = 0;

	for (uint32_t to = RXE_QPS_INIT; to <= (uint32_t)state && !err; to++) {
		uint32_t mask = s->type == RXE_QPT_RC	? steps[to].rc
				: s->type == RXE_QPT_UC ? steps[to].uc
							: steps[to].ud;

		if (s->type == RXE_QPT_GSI && to == RXE_QPS_INIT)
			mask &= ~RXE_QP_PORT;
		a.qp_state = to;
		err = rxe_qp_modify(s->qp, &a, mask | RXE_QP_STATE);
	}
	return err;
}

int sim_qp_set_state(struct sim_qp *s, enum rxe_qp_state state)
{
	struct rxe_qp_attr a = {.qp_state = state};

	return rxe_qp_modify(s->qp, &a, RXE_QP_STATE);
}

static uint8_t *ring_slot(struct rxe_ring *r)
{
	uint32_t at = r->buf->producer_index & r->mask;

	if (((at + 1) & r->mask) == __atomic_load_n(&r->buf->consumer_index, __ATOMIC_ACQUIRE))
		return NULL;
	return r->buf->data + ((size_t)at << r->log2_elem);
}

static void ring_push(struct rxe_ring *r)
{
	__atomic_store_n(&r->buf->producer_index, (r->buf->producer_index + 1) & r->mask,
			 __ATOMIC_RELEASE);
}

static void set_operands(struct rxe_send_wqe *w, const struct sim_qp *s, const struct sim_wr *wr)
{
	if (s->type == RXE_QPT_UD || s->type == RXE_QPT_GSI) {
		w->wr.wr.ud.remote_qpn = wr->remote_qpn;
		w->wr.wr.ud.remote_qkey = wr->remote_qkey;
		w->wr.wr.ud.ah_num = wr->ah_num;
	} else if (wr->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD) {
		w->wr.wr.atomic.remote_addr = wr->remote_addr;
		w->wr.wr.atomic.rkey = wr->rkey;
		w->wr.wr.atomic.compare_add = wr->compare_add;
		w->wr.wr.atomic.swap = wr->swap;
	} else if (wr->opcode == IB_UVERBS_WR_BIND_MW) {
		w->wr.wr.mw.addr = wr->remote_addr;
		w->wr.wr.mw.length = wr->mw_len;
		w->wr.wr.mw.mr_lkey = wr->mr_lkey;
		w->wr.wr.mw.mw_rkey = wr->mw_rkey;
		w->wr.wr.mw.rkey = wr->rkey;
		w->wr.wr.mw.access = wr->access;
	} else if (wr->opcode == RXE_WR_FLUSH) {
		struct rxe_flush_wr f = {wr->remote_addr, wr->flush_len, wr->rkey, wr->flush_type,
					 wr->flush_level};

		memcpy(&w->wr.wr, &f, sizeof(f));
	} else {
		w->wr.wr.rdma.remote_addr = wr->remote_addr;
		w->wr.wr.rdma.rkey = wr->rkey;
	}
}

bool sim_post_send(struct sim_qp *s, const struct sim_wr *wr)
{
	struct rxe_send_wqe *w = (void *)ring_slot(&s->sq);

	if (!w)
		return false;
	memset(w, 0, sizeof(*w));
	w->wr.wr_id = wr->wr_id;
	w->wr.opcode = wr->opcode;
	w->wr.send_flags = wr->flags;
	w->wr.ex.imm_data = wr->imm;
	set_operands(w, s, wr);
	if (wr->inline_data) {
		memcpy(w->dma.inline_data, wr->inline_data, wr->inline_len);
		w->dma.length = w->dma.resid = wr->inline_len;
	} else {
		memcpy(w->dma.sge, wr->sge, wr->num_sge * sizeof(wr->sge[0]));
		for (uint32_t i = 0; i < wr->num_sge; i++)
			w->dma.length += wr->sge[i].length;
		w->dma.num_sge = wr->num_sge;
	}
	ring_push(&s->sq);
	return true;
}

static bool post_recv(struct rxe_ring *r, uint64_t wr_id, const struct rxe_sge *sge, uint32_t num)
{
	struct rxe_recv_wqe *w = (void *)ring_slot(r);

	if (!w)
		return false;
	memset(w, 0, sizeof(*w));
	w->wr_id = wr_id;
	if (num)
		memcpy(w->dma.sge, sge, num * sizeof(*sge));
	w->dma.num_sge = num;
	ring_push(r);
	return true;
}

bool sim_post_srq_recv(struct sim_srq *s, uint64_t wr_id, const struct rxe_sge *sge, uint32_t num)
{
	return post_recv(&s->ring, wr_id, sge, num);
}

bool sim_post_recv(struct sim_qp *s, uint64_t wr_id, const struct rxe_sge *sge, uint32_t num)
{
	return post_recv(s->srq ? &s->srq->ring : &s->rq, wr_id, sge, num);
}
