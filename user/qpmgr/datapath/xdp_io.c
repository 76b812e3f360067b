// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The xdp datapath's packet path: what a worker does with its sockets in each
 * turn of its loop, and the moment before it sleeps.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/iov.h"
#include "datapath/frame.h"
#include "datapath/xdp.h"
#include "transport/pkt.h"

#define KICK_AFTER 64u	 /* packets queued before the kernel is asked within a burst */
#define MAX_SPINS  4096u /* turns awake for transmit completions; then tick() looks */
#define TX_ROOM	   (RXE_CHUNK_SIZE - RXE_FRAME_HEADROOM) /* IB bytes in a first chunk */

static void count(struct rxe_xdp_worker *w, enum rxe_xdp_counter c)
{
	/* One writer; stats() of another thread reads. */
	__atomic_store_n(&w->count[c], w->count[c] + 1, __ATOMIC_RELAXED);
}

/* ---- waking ------------------------------------------------------------------- */

void rxe_xdp_wake(struct rxe_dp *dp, uint32_t worker)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	uint64_t one = 1;

	if (__atomic_exchange_n(&w->woken, 1, __ATOMIC_SEQ_CST))
		return;
	while (write(w->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Before the queues are looked at, so that a later wake-up is not lost. */
static void take_wakeup(struct rxe_xdp_worker *w)
{
	uint64_t n;

	if (!__atomic_load_n(&w->woken, __ATOMIC_RELAXED))
		return;
	/* The write follows the flag at once, but perhaps after this read. */
	if (read(w->event_fd, &n, sizeof(n)) < 0)
		return;
	/* An exchange, not a store: it sees what every earlier waker had queued. */
	__atomic_exchange_n(&w->woken, 0, __ATOMIC_SEQ_CST);
	count(w, RXE_XDP_EVENT_WAKEUPS);
}

int rxe_xdp_pollfds(struct rxe_dp *dp, uint32_t worker, struct pollfd *pfd, int max)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	int n = 0;

	w->nr_queues = dp->nr_queues;
	if (n < max)
		pfd[n++] = (struct pollfd){.fd = w->event_fd, .events = POLLIN};
	for (uint32_t q = 0; q < w->nr_queues && n < max; q++)
		pfd[n++] = (struct pollfd){.fd = dp->queue[q].sock[worker].fd, .events = POLLIN};
	return n;
}

/* ---- giving packets back --------------------------------------------------------- */

/*
 * The first chunk goes last: with it goes p itself, which the next packet in
 * that chunk uses, perhaps on another worker and at once.
 */
static void free_chunks(struct rxe_dp *dp, uint32_t worker, struct rxe_chunk_pkt *p)
{
	struct rxe_umem *u = p->umem;
	bool received = p->received, wake = false;

	for (uint32_t i = p->nr_frags; i-- > 0;) {
		if (received)
			wake |= rxe_umem_rx_put(u, worker, p->frag[i].chunk);
		else
			rxe_umem_tx_put(u, worker, p->frag[i].chunk);
	}
	if (wake)
		rxe_xdp_wake(dp, u->owner);
}

void rxe_xdp_pkt_free(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt)
{
	struct rxe_chunk_pkt *p = pkt->dp;
	int starved;

	if (p->umem) {
		free_chunks(dp, worker, p);
		return;
	}
	starved = rxe_loopback_free(&dp->loop, pkt);
	if (starved >= 0 && (uint32_t)starved != worker)
		rxe_xdp_wake(dp, (uint32_t)starved);
}

/* ---- receive ------------------------------------------------------------------------ */

static uint32_t rx_socket(struct rxe_dp *dp, uint32_t worker, struct rxe_xsk *s, uint32_t budget)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	struct rxe_chunk_pkt *p;
	uint32_t n = 0;

	while (n < budget && !rxe_umem_owner_late(s->umem, worker)) {
		enum rxe_rx_verdict v = rxe_xsk_rx(s, &p);

		if (v == RXE_RX_NONE)
			break;
		n++;
		if (v == RXE_RX_PACKET) {
			count(w, RXE_XDP_RX_PACKETS);
			dp->rx(dp->rx_ctx, worker, dp->hca, &p->pkt);
			continue;
		}
		count(w, v == RXE_RX_TOO_LONG ? RXE_XDP_RX_TOO_LONG : RXE_XDP_RX_BAD);
		free_chunks(dp, worker, p);
	}
	return n;
}

static uint32_t rx_loopback(struct rxe_dp *dp, uint32_t worker, uint32_t budget)
{
	struct rxe_pkt *pkt;
	uint32_t n = 0;

	while (n < budget && (pkt = rxe_loopback_recv(&dp->loop, worker))) {
		n++;
		dp->rx(dp->rx_ctx, worker, dp->hca, pkt);
	}
	return n;
}

/* Loopback gets at most half, so that it cannot hold up the wire. */
uint32_t rxe_xdp_rx_burst(struct rxe_dp *dp, uint32_t worker, uint32_t budget)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	uint32_t n;

	take_wakeup(w);
	n = rx_loopback(dp, worker, (budget + 1) / 2);
	for (uint32_t i = 0; i < w->nr_queues && n < budget; i++) {
		n += rx_socket(dp, worker, &dp->queue[w->next_queue].sock[worker], budget - n);
		w->next_queue = (w->next_queue + 1) % w->nr_queues;
	}
	return n;
}

/* ---- transmit -------------------------------------------------------------------------- */

static bool is_local(const struct rxe_address *a)
{
	const struct rxe_route *r = a->route;

	return r && r->local;
}

static void note_starved(struct rxe_dp *dp, struct rxe_xdp_worker *w, uint32_t worker)
{
	const struct rxe_umem *u = w->tx->umem;

	count(w, RXE_XDP_TX_NO_ROOM);
	__atomic_store_n(&w->starved, 1, __ATOMIC_SEQ_CST);
	if (u->owner != worker)
		rxe_xdp_wake(dp, u->owner);
}

static void kick(struct rxe_xdp_worker *w);

static bool take_tx_chunks(struct rxe_dp *dp, uint32_t worker, uint32_t n, uint32_t *chunk)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	struct rxe_umem *u = w->tx->umem;

	if (rxe_umem_tx_get(u, worker, n, chunk))
		return true;
	kick(w);
	if (rxe_umem_tx_get(u, worker, n, chunk))
		return true;
	note_starved(dp, w, worker);
	return false;
}

/* hdr and payload segments over one or two chunks; ICRC room is counted in. */
static struct rxe_pkt *layout_tx(struct rxe_umem *u, const uint32_t *chunk, uint32_t n,
				 uint32_t hdr_len, uint32_t body)
{
	struct rxe_chunk_pkt *p = &u->pkts[chunk[0]];
	uint32_t total = hdr_len + body + RXE_ICRC_LEN;
	uint32_t here = body < TX_ROOM - hdr_len ? body : TX_ROOM - hdr_len;

	p->nr_frags = (uint8_t)n;
	p->frag[0] = (struct rxe_frag){chunk[0], RXE_FRAME_HEADROOM,
				       (uint16_t)(total < TX_ROOM ? total : TX_ROOM)};
	if (n > 1)
		p->frag[1] = (struct rxe_frag){chunk[1], 0, (uint16_t)(total - TX_ROOM)};
	p->pkt = (struct rxe_pkt){
		.hdr = rxe_chunk_at(u, chunk[0]) + RXE_FRAME_HEADROOM,
		.hdr_len = (uint16_t)hdr_len,
		.dp = p,
	};
	if (here)
		p->pkt.seg[p->pkt.nsegs++] = (struct iovec){p->pkt.hdr + hdr_len, here};
	if (body > here)
		p->pkt.seg[p->pkt.nsegs++] =
			(struct iovec){rxe_chunk_at(u, chunk[1]), (size_t)body - here};
	return &p->pkt;
}

static struct rxe_pkt *alloc_wire(struct rxe_dp *dp, uint32_t worker, uint32_t hdr_len,
				  uint32_t body)
{
	uint32_t n = hdr_len + body + RXE_ICRC_LEN > TX_ROOM ? 2 : 1;
	uint32_t chunk[2];

	if (!take_tx_chunks(dp, worker, n, chunk))
		return NULL;
	return layout_tx(dp->worker[worker].tx->umem, chunk, n, hdr_len, body);
}

struct rxe_pkt *rxe_xdp_pkt_alloc(struct rxe_dp *dp, uint32_t worker, struct rxe_address *addr,
				  uint32_t hdr_len, uint32_t payload_len, uint32_t pad)
{
	struct rxe_pkt *pkt;

	if (is_local(addr))
		pkt = rxe_loopback_alloc(&dp->loop, worker, hdr_len, payload_len, pad);
	else
		pkt = alloc_wire(dp, worker, hdr_len, payload_len + pad);
	if (!pkt)
		return NULL;
	pkt->payload_len = payload_len;
	pkt->pad = (uint8_t)pad;
	pkt->addr = addr;
	return pkt;
}

/*
 * The ICRC goes behind the pad. Header, payload and pad are multiples of 4, as
 * is a chunk's room, so it never straddles two chunks.
 */
static void put_icrc(struct rxe_chunk_pkt *p, bool crc)
{
	const struct rxe_frag *last = &p->frag[p->nr_frags - 1];
	uint8_t *end = rxe_chunk_at(p->umem, last->chunk) + last->off + last->len;
	uint32_t icrc = crc ? htole32(rxe_frame_icrc(&p->pkt)) : 0;

	memcpy(end - RXE_ICRC_LEN, &icrc, sizeof(icrc));
}

static void send_wire(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt, bool crc)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];
	struct rxe_chunk_pkt *p = pkt->dp;
	const uint8_t *frame;
	uint16_t push;

	frame = rxe_frame_push(pkt, __atomic_load_n(&dp->mac_word, __ATOMIC_RELAXED), w->ip_id++);
	put_icrc(p, crc);
	push = (uint16_t)(pkt->hdr - frame);
	p->frag[0].off -= push;
	p->frag[0].len += push;
	rxe_xsk_tx(w->tx, p);
	count(w, RXE_XDP_TX_PACKETS);
	if (++w->unsent >= KICK_AFTER)
		kick(w);
}

/* QP1 and multicast are the control worker's, as in the XDP program. */
static void send_loopback(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt)
{
	uint32_t qpn = rxe_pkt_dest_qpn(pkt);
	uint32_t dst = __atomic_load_n(&dp->qpn_worker[qpn], __ATOMIC_RELAXED);

	if (qpn == RXE_GSI_QPN || qpn == RXE_MULTICAST_QPN)
		dst = RXE_CONTROL_WORKER + 1;
	if (!dst) {
		count(&dp->worker[worker], RXE_XDP_LOOP_NO_QP);
		rxe_xdp_pkt_free(dp, worker, pkt);
		return;
	}
	count(&dp->worker[worker], RXE_XDP_LOOP_PACKETS);
	rxe_loopback_send(&dp->loop, worker, dst - 1, pkt);
	if (dst - 1 != worker)
		rxe_xdp_wake(dp, dst - 1);
}

/* Multicast goes to the wire and, as a copy, to this device's own QPs. */
static void loop_copy(struct rxe_dp *dp, uint32_t worker, const struct rxe_pkt *pkt)
{
	struct rxe_pkt *copy =
		rxe_loopback_alloc(&dp->loop, worker, pkt->hdr_len, pkt->payload_len, pkt->pad);

	if (!copy) {
		count(&dp->worker[worker], RXE_XDP_LOOP_NO_ROOM);
		return;
	}
	memcpy(copy->hdr, pkt->hdr, pkt->hdr_len);
	rxe_iov_gather(pkt->seg, pkt->nsegs, copy->hdr + copy->hdr_len);
	copy->addr = pkt->addr;
	copy->src_qpn = pkt->src_qpn;
	send_loopback(dp, worker, copy);
}

void rxe_xdp_pkt_send(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt, bool crc)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];

	const struct rxe_route *route = pkt->addr->route;

	if (route && __atomic_load_n(&route->no_source, __ATOMIC_RELAXED))
		route = NULL;
	if (pkt->loops && route && !pkt->loopback)
		loop_copy(dp, worker, pkt);
	if (!route) {
		count(w, RXE_XDP_TX_NO_ROUTE);
		rxe_xdp_pkt_free(dp, worker, pkt);
	} else if (pkt->loopback) {
		send_loopback(dp, worker, pkt);
	} else if (w->down && rxe_xsk_tx_queued(w->tx)) {
		/* What waits in the ring tries the link again; more would only pile up. */
		count(w, RXE_XDP_TX_LINK_DOWN);
		rxe_xdp_pkt_free(dp, worker, pkt);
	} else {
		send_wire(dp, worker, pkt, crc);
	}
}

static bool is_link_down(int err)
{
	return err == ENETDOWN || err == ENXIO || err == ENODEV;
}

/* Asks the kernel to send until the ring is empty or it makes no progress. */
static void kick(struct rxe_xdp_worker *w)
{
	struct rxe_xsk *s = w->tx;
	uint32_t left = rxe_xsk_tx_queued(s), before;

	w->unsent = 0;
	w->stuck = false;
	while (left && xsk_ring_prod__needs_wakeup(&s->tx)) {
		int err = sendto(s->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;

		count(w, RXE_XDP_TX_WAKEUPS);
		w->down = is_link_down(err);
		before = left;
		left = rxe_xsk_tx_queued(s);
		w->stuck = left && left == before && !w->down;
		if (left == before)
			return;
		w->spins = 0;
	}
}

/* ---- end of a burst, and before sleep ------------------------------------------------ */

/* Owner: tells workers that waited for chunks that some may have come back. */
static void wake_starved(struct rxe_dp *dp, const struct rxe_umem *u)
{
	for (uint32_t i = 0; i < dp->nr_workers; i++)
		if (i != u->owner && u->user[i].nr_tx &&
		    __atomic_load_n(&dp->worker[i].starved, __ATOMIC_SEQ_CST))
			rxe_xdp_wake(dp, i);
}

static void tend_rings(struct rxe_dp *dp, uint32_t worker, struct rxe_xdp_queue *q)
{
	if (rxe_umem_reap(&q->umem) && dp->nr_workers > 1)
		wake_starved(dp, &q->umem);
	rxe_umem_refill(&q->umem);
	if (xsk_ring_prod__needs_wakeup(&q->umem.fill))
		recvfrom(q->sock[worker].fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

void rxe_xdp_flush(struct rxe_dp *dp, uint32_t worker)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];

	kick(w);
	for (uint32_t q = 0; q < w->nr_queues; q++)
		if (dp->queue[q].umem.owner == worker)
			tend_rings(dp, worker, &dp->queue[q]);
}

/*
 * Transmit that needs this worker awake: chunks have come back for which it
 * was starved, or it waits for them or for the kernel to take descriptors.
 * The waiting is bounded; tick() looks after a worker that gave up.
 */
static bool tx_pending(struct rxe_xdp_worker *w, uint32_t worker)
{
	struct rxe_umem *u = w->tx->umem;

	if (w->starved) {
		bool busy = rxe_umem_tx_busy(u, worker);

		if (!busy || u->user[worker].nr_tx_free >= 2) {
			__atomic_store_n(&w->starved, 0, __ATOMIC_SEQ_CST);
			w->spins = 0;
			return true;
		}
	}
	return (w->starved || w->stuck) && ++w->spins < MAX_SPINS;
}

bool rxe_xdp_pending(struct rxe_dp *dp, uint32_t worker)
{
	struct rxe_xdp_worker *w = &dp->worker[worker];

	if (__atomic_load_n(&w->woken, __ATOMIC_RELAXED) || rxe_loopback_ready(&dp->loop, worker) ||
	    rxe_loopback_room(&dp->loop, worker))
		return true;
	for (uint32_t q = 0; q < w->nr_queues; q++)
		if (rxe_xsk_rx_ready(&dp->queue[q].sock[worker]))
			return true;
	return tx_pending(w, worker);
}
