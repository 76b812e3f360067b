// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* AF_XDP sockets and their descriptors, single and multi-buffer. */
#include "datapath/xsk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <string.h>
#include <sys/socket.h>

#include "datapath/frame.h"
#include "kernel_compat.h"

/* Copy mode charges frames under way to the socket; the default holds 25 of 4 KiB. */
#define SNDBUF_BYTES (32 << 20)

/* ---- sockets ---------------------------------------------------------------- */

static uint32_t pow2_at_least(uint32_t n)
{
	uint32_t p = 64;

	while (p < n)
		p <<= 1;
	return p;
}

int rxe_xsk_open(struct rxe_xsk *s, struct rxe_umem *u, const char *netdev, uint32_t queue,
		 bool transmits, uint16_t bind_flags)
{
	struct xsk_socket_config cfg = {
		/* Room for every chunk: neither ring can ever be the bottleneck. */
		.rx_size = pow2_at_least(u->nr_rx),
		.tx_size = pow2_at_least(u->nr_tx),
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = bind_flags,
	};
	struct xsk_ring_prod *tx = transmits ? &s->tx : NULL;
	int sndbuf = SNDBUF_BYTES;
	int err;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	if (!u->bound)
		err = xsk_socket__create(&s->xsk, netdev, queue, u->xsk, &s->rx, tx, &cfg);
	else
		err = xsk_socket__create_shared(&s->xsk, netdev, queue, u->xsk, &s->rx, tx, NULL,
						NULL, &cfg);
	if (err) {
		s->xsk = NULL;
		return err;
	}
	u->bound = true;
	s->umem = u;
	s->transmits = transmits;
	s->fd = xsk_socket__fd(s->xsk);
	setsockopt(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf));
	return 0;
}

void rxe_xsk_close(struct rxe_xsk *s)
{
	if (s->xsk)
		xsk_socket__delete(s->xsk);
	s->xsk = NULL;
}

bool rxe_xsk_zerocopy(const struct rxe_xsk *s)
{
	struct xdp_options opts = {0};
	socklen_t len = sizeof(opts);

	if (getsockopt(s->fd, SOL_XDP, XDP_OPTIONS, &opts, &len) != 0)
		return false;
	return opts.flags & XDP_OPTIONS_ZEROCOPY;
}

bool rxe_xsk_rx_ready(const struct rxe_xsk *s)
{
	return __atomic_load_n(s->rx.producer, __ATOMIC_ACQUIRE) != s->rx.cached_cons;
}

/* ---- receive ------------------------------------------------------------------ */

/* Adds one descriptor to the packet being put together. True: it is the last. */
static bool add_frag(struct rxe_xsk *s, const struct xdp_desc *d)
{
	uint32_t chunk = (uint32_t)(d->addr >> RXE_CHUNK_SHIFT);
	struct rxe_chunk_pkt *p = s->partial;

	if (!p) {
		p = &s->umem->pkts[chunk];
		p->nr_frags = 0;
		s->partial = p;
	}
	p->frag[p->nr_frags++] = (struct rxe_frag){
		.chunk = chunk,
		.off = (uint16_t)(d->addr & (RXE_CHUNK_SIZE - 1)),
		.len = (uint16_t)d->len,
	};
	return !(d->options & XDP_PKT_CONTD);
}

static uint8_t *frag_data(const struct rxe_chunk_pkt *p, uint32_t i)
{
	return rxe_chunk_at(p->umem, p->frag[i].chunk) + p->frag[i].off;
}

/* What the program wrote in front of the frame; false when it wrote nothing. */
static bool read_meta(const struct rxe_chunk_pkt *p, struct rxe_rx_meta *meta)
{
	if (p->frag[0].off < sizeof(*meta))
		return false;
	memcpy(meta, frag_data(p, 0) - sizeof(*meta), sizeof(*meta));
	return meta->magic == RXE_META_MAGIC && meta->bth_off + RXE_BTH_LEN <= p->frag[0].len &&
	       meta->l3_off + sizeof(struct iphdr) + sizeof(struct udphdr) <= meta->bth_off;
}

/*
 * BTH to end of pad, by the UDP length (never by the end of the frame, which
 * may be padded: PROTOCOL 1). 0 when there is no room for a BTH and an ICRC.
 */
static uint32_t ib_length(const uint8_t *bth)
{
	struct udphdr udp;
	uint32_t len;

	memcpy(&udp, bth - sizeof(udp), sizeof(udp));
	len = ntohs(udp.len);
	if (len < sizeof(udp) + RXE_BTH_LEN + RXE_ICRC_LEN)
		return 0;
	return len - (uint32_t)sizeof(udp) - RXE_ICRC_LEN;
}

/* The second and later fragments as seg[], trimmed. False: ib_len is not there. */
static bool append_frags(struct rxe_chunk_pkt *p, uint32_t have)
{
	struct rxe_pkt *pkt = &p->pkt;
	uint32_t left = pkt->ib_len > have ? pkt->ib_len - have : 0;

	for (uint32_t i = 1; i < p->nr_frags && left; i++) {
		uint32_t n = p->frag[i].len < left ? p->frag[i].len : left;

		pkt->seg[pkt->nsegs++] = (struct iovec){frag_data(p, i), n};
		left -= n;
	}
	return left == 0;
}

static bool shape_packet(struct rxe_chunk_pkt *p)
{
	struct rxe_pkt *pkt = &p->pkt;
	struct rxe_rx_meta meta;
	uint8_t *frame, *bth;
	uint32_t here, ib_len;

	if (!read_meta(p, &meta))
		return false;
	frame = frag_data(p, 0);
	bth = frame + meta.bth_off;
	here = p->frag[0].len - meta.bth_off;
	ib_len = ib_length(bth);
	/* All headers lie in the first fragment, or the whole packet does. */
	if (!ib_len || (here < RXE_MAX_IB_HDR && here < ib_len))
		return false;
	*pkt = (struct rxe_pkt){.ip = frame + meta.l3_off, .ecn = meta.ecn, .dp = p};
	rxe_frame_shape(pkt, bth, here, ib_len);
	rxe_frame_addresses(pkt);
	return append_frags(p, here);
}

static enum rxe_rx_verdict finish_packet(struct rxe_xsk *s, bool last, struct rxe_chunk_pkt **out)
{
	bool too_long = s->skipping || !last || s->partial->nr_frags > RXE_PKT_SEGS;

	*out = s->partial;
	s->partial = NULL;
	s->skipping = !last;
	if (too_long)
		return RXE_RX_TOO_LONG;
	return shape_packet(*out) ? RXE_RX_PACKET : RXE_RX_BAD;
}

enum rxe_rx_verdict rxe_xsk_rx(struct rxe_xsk *s, struct rxe_chunk_pkt **out)
{
	uint32_t idx;
	bool last;

	while (xsk_ring_cons__peek(&s->rx, 1, &idx)) {
		last = add_frag(s, xsk_ring_cons__rx_desc(&s->rx, idx));
		xsk_ring_cons__release(&s->rx, 1);
		if (last || s->partial->nr_frags == RXE_MAX_FRAGS)
			return finish_packet(s, last, out);
	}
	return RXE_RX_NONE;
}

/* ---- transmit ------------------------------------------------------------------- */

void rxe_xsk_tx(struct rxe_xsk *s, const struct rxe_chunk_pkt *p)
{
	uint32_t idx;

	/* The ring holds every transmit chunk there is, so this always succeeds. */
	if (!xsk_ring_prod__reserve(&s->tx, p->nr_frags, &idx))
		return;
	for (uint32_t i = 0; i < p->nr_frags; i++)
		*xsk_ring_prod__tx_desc(&s->tx, idx + i) = (struct xdp_desc){
			.addr = ((uint64_t)p->frag[i].chunk << RXE_CHUNK_SHIFT) + p->frag[i].off,
			.len = p->frag[i].len,
			.options = i + 1 < p->nr_frags ? XDP_PKT_CONTD : 0,
		};
	xsk_ring_prod__submit(&s->tx, p->nr_frags);
}

uint32_t rxe_xsk_tx_queued(const struct rxe_xsk *s)
{
	return *s->tx.producer - __atomic_load_n(s->tx.consumer, __ATOMIC_ACQUIRE);
}
