/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The room's datapath: packets go to a QP of the same device, as on a device
 * that talks to itself, or nowhere; what QP1 sends is kept for the target.
 */
#include "room.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include "transport/pkt.h"

#define MAX_WAITING 256
#define MAX_MADS    32

struct held {
	struct rxe_pkt pkt;
	uint8_t ip[40];
	uint8_t bytes[];
};

static struct rxe_dp {
	struct rxe_dp_config cfg;
	struct rxe_pkt *head, **tail; /* the one worker's */
	uint32_t waiting;
} dps[8];

static pthread_mutex_t mad_lock = PTHREAD_MUTEX_INITIALIZER;
static struct room_mad mads[MAX_MADS];
static unsigned int mad_head, mad_tail;

bool room_sent(struct room_mad *m)
{
	bool any;

	pthread_mutex_lock(&mad_lock);
	any = mad_head != mad_tail;
	if (any)
		*m = mads[mad_head++ % MAX_MADS];
	pthread_mutex_unlock(&mad_lock);
	return any;
}

static int dp_open(const struct rxe_dp_config *cfg, struct rxe_dp **dp, char *err, size_t errlen)
{
	for (size_t i = 0; i < sizeof(dps) / sizeof(dps[0]); i++) {
		if (dps[i].cfg.rx)
			continue;
		memset(&dps[i], 0, sizeof(dps[i]));
		dps[i].cfg = *cfg;
		dps[i].tail = &dps[i].head;
		*dp = &dps[i];
		return 0;
	}
	snprintf(err, errlen, "the wire of %s: as many devices as there are", cfg->dev_name);
	return -ENOSPC;
}

static void dp_close(struct rxe_dp *dp)
{
	struct rxe_pkt *p;

	while ((p = dp->head)) {
		dp->head = p->next;
		free(p->dp);
	}
	memset(&dp->cfg, 0, sizeof(dp->cfg));
}

static int dp_qp_set(struct rxe_dp *dp, uint32_t qpn, uint32_t worker, uint8_t op_class,
		     bool receives, const union rxe_ip *peer)
{
	(void)dp;
	(void)qpn;
	(void)worker;
	(void)op_class;
	(void)receives;
	(void)peer;
	return 0;
}

static void dp_qp_clear(struct rxe_dp *dp, uint32_t qpn)
{
	(void)dp;
	(void)qpn;
}

static int dp_addr_set(struct rxe_dp *dp, const union rxe_ip *ip, uint32_t flags)
{
	(void)dp;
	(void)ip;
	(void)flags;
	return 0;
}

static void dp_addr_clear(struct rxe_dp *dp, const union rxe_ip *ip)
{
	(void)dp;
	(void)ip;
}

static void dp_mac_set(struct rxe_dp *dp, const uint8_t mac[6])
{
	(void)dp;
	(void)mac;
}

static int dp_pollfds(struct rxe_dp *dp, uint32_t worker, struct pollfd *pfd, int max)
{
	(void)dp;
	(void)worker;
	(void)pfd;
	(void)max;
	return 0;
}

static struct rxe_pkt *dp_alloc(struct rxe_dp *dp, uint32_t worker, struct rxe_address *addr,
				uint32_t hdr_len, uint32_t payload_len, uint32_t pad)
{
	struct held *h;

	(void)worker;
	if (dp->waiting >= MAX_WAITING)
		return NULL;
	h = calloc(1, sizeof(*h) + hdr_len + payload_len + pad);
	if (!h)
		return NULL;
	dp->waiting++;
	h->pkt.dp = h;
	h->pkt.addr = addr;
	h->pkt.hdr = h->bytes;
	h->pkt.hdr_len = (uint16_t)hdr_len;
	h->pkt.payload_len = payload_len;
	h->pkt.pad = (uint8_t)pad;
	h->pkt.ib_len = hdr_len + payload_len + pad;
	h->pkt.nsegs = payload_len + pad ? 1 : 0;
	h->pkt.seg[0] = (struct iovec){h->bytes + hdr_len, payload_len + pad};
	return &h->pkt;
}

static void dp_free(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt)
{
	(void)worker;
	dp->waiting--;
	free(pkt->dp);
}

static void keep_mad(const struct rxe_pkt *p)
{
	pthread_mutex_lock(&mad_lock);
	if (mad_tail - mad_head < MAX_MADS && p->payload_len <= RXE_GSI_MAX) {
		struct room_mad *m = &mads[mad_tail++ % MAX_MADS];

		m->sip = p->addr->sip;
		m->dip = p->addr->dip;
		m->len = p->payload_len;
		memcpy(m->bytes, p->hdr + p->hdr_len, m->len);
	}
	pthread_mutex_unlock(&mad_lock);
}

/* To the sender's own address, or to a group: received on the next turn. */
static void dp_send(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *p, bool crc)
{
	const struct rxe_route *route = p->addr->route;
	struct held *h = p->dp;

	(void)crc;
	if (p->src_qpn == RXE_GSI_QPN)
		keep_mad(p);
	if (!(p->loops || (route && route->local))) {
		dp_free(dp, worker, p);
		return;
	}
	p->sip = p->addr->sip;
	p->dip = p->addr->dip;
	p->loopback = true;
	p->ip_version = p->sip.w[0] || p->sip.w[1] ? 6 : 4;
	h->ip[0] = p->ip_version == 4 ? 0x45 : 0x60;
	p->ip = h->ip;
	if (p->ib_len < RXE_MAX_IB_HDR)
		p->hdr_len = (uint16_t)p->ib_len;
	else
		p->hdr_len = RXE_MAX_IB_HDR;
	p->nsegs = p->ib_len > p->hdr_len;
	p->seg[0] = (struct iovec){h->bytes + p->hdr_len, p->ib_len - p->hdr_len};
	p->next = NULL;
	*dp->tail = p;
	dp->tail = &p->next;
}

static uint32_t dp_rx_burst(struct rxe_dp *dp, uint32_t worker, uint32_t budget)
{
	struct rxe_pkt *p = dp->head;
	uint32_t n = 0;

	dp->head = NULL;
	dp->tail = &dp->head;
	(void)budget;
	while (p) {
		struct rxe_pkt *next = p->next;

		p->next = NULL;
		dp->cfg.rx(dp->cfg.rx_ctx, worker, dp->cfg.hca, p);
		p = next;
		n++;
	}
	return n;
}

static void dp_flush(struct rxe_dp *dp, uint32_t worker)
{
	(void)dp;
	(void)worker;
}

static bool dp_pending(struct rxe_dp *dp, uint32_t worker)
{
	(void)worker;
	return dp->head != NULL;
}

static void dp_stats(struct rxe_dp *dp, void (*put)(void *arg, const char *name, uint64_t v),
		     void *arg)
{
	put(arg, "waiting", dp->waiting);
}

static uint32_t dp_max_ib_mtu(struct rxe_dp *dp, const char **why)
{
	(void)dp;
	(void)why;
	return 4096;
}

const struct rxe_dp_ops rxe_dp_xdp = {
	.name = "room",
	.open = dp_open,
	.close = dp_close,
	.qp_set = dp_qp_set,
	.qp_clear = dp_qp_clear,
	.addr_set = dp_addr_set,
	.addr_clear = dp_addr_clear,
	.mac_set = dp_mac_set,
	.pollfds = dp_pollfds,
	.rx_burst = dp_rx_burst,
	.pkt_alloc = dp_alloc,
	.pkt_send = dp_send,
	.pkt_free = dp_free,
	.flush = dp_flush,
	.pending = dp_pending,
	.stats = dp_stats,
	.max_ib_mtu = dp_max_ib_mtu,
};
