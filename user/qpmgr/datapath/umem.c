// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chunks of a UMEM: who has which, and how they travel between workers. */
#include "datapath/umem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "kernel_compat.h"

#define REAP_BATCH 64u

/* ---- set-up -------------------------------------------------------------- */

static int alloc_area(struct rxe_umem *u)
{
	size_t size = (size_t)(u->nr_rx + u->nr_tx) << RXE_CHUNK_SHIFT;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	/* A fork must not turn pages under the kernel's pin into copies. */
	madvise(p, size, MADV_DONTFORK);
	u->area = p;
	u->size = size;
	return 0;
}

/* Shares the transmit chunks out evenly among the workers that send here. */
static int share_tx_chunks(struct rxe_umem *u, uint64_t tx_workers)
{
	uint32_t senders = (uint32_t)__builtin_popcountll(tx_workers);
	uint32_t each = senders ? u->nr_tx / senders : 0;
	uint32_t next = 0;

	for (uint32_t w = 0; w < u->nr_workers; w++) {
		struct rxe_umem_user *user = &u->user[w];

		if (!(tx_workers >> w & 1))
			continue;
		user->tx_free = calloc(each, sizeof(*user->tx_free));
		if (!user->tx_free)
			return -ENOMEM;
		user->nr_tx = each;
		for (uint32_t i = 0; i < each; i++, next++) {
			user->tx_free[user->nr_tx_free++] = u->nr_rx + next;
			u->tx_worker[next] = (uint8_t)w;
		}
	}
	return 0;
}

/* Rings between a worker and the owner, each able to hold all there can be. */
static int alloc_back_rings(struct rxe_umem *u)
{
	int err = 0;

	for (uint32_t w = 0; w < u->nr_workers && !err; w++) {
		if (w == u->owner)
			continue;
		err = rxe_spsc_init(&u->user[w].rx_back, u->nr_rx);
		if (!err && u->user[w].nr_tx)
			err = rxe_spsc_init(&u->user[w].tx_back, u->user[w].nr_tx);
	}
	return err;
}

static int alloc_tables(struct rxe_umem *u, uint64_t tx_workers)
{
	uint32_t nr = u->nr_rx + u->nr_tx;
	int err;

	u->rx_free = calloc(u->nr_rx, sizeof(*u->rx_free));
	u->tx_worker = calloc(u->nr_tx + 1, sizeof(*u->tx_worker));
	u->pkts = calloc(nr, sizeof(*u->pkts));
	if (!u->rx_free || !u->tx_worker || !u->pkts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		u->pkts[i].umem = u;
		u->pkts[i].received = i < u->nr_rx;
		u->pkts[i].pkt.dp = &u->pkts[i];
	}
	for (uint32_t i = 0; i < u->nr_rx; i++)
		u->rx_free[u->nr_rx_free++] = i;
	err = share_tx_chunks(u, tx_workers);
	return err ? err : alloc_back_rings(u);
}

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 64;

	while (p < n)
		p <<= 1;
	return p;
}

/* libxdp 1.3.1 leaves parts of the ring structs unset: ours are zero. */
static int register_umem(struct rxe_umem *u)
{
	struct xsk_umem_config cfg = {
		.fill_size = round_up_pow2(u->nr_rx),
		.comp_size = round_up_pow2(u->nr_tx),
		.frame_size = RXE_CHUNK_SIZE,
	};

	return xsk_umem__create(&u->xsk, u->area, u->size, &u->fill, &u->comp, &cfg);
}

int rxe_umem_create(struct rxe_umem *u, const struct rxe_umem_config *cfg)
{
	int err;

	memset(u, 0, sizeof(*u));
	u->nr_rx = cfg->nr_rx;
	u->nr_tx = cfg->nr_tx;
	u->owner = cfg->owner;
	u->nr_workers = cfg->nr_workers;
	u->wake_every = u->nr_rx / (4 * u->nr_workers);
	u->late_after = u->nr_rx / (2 * u->nr_workers); /* all others together: under half */
	err = alloc_area(u);
	if (!err)
		err = alloc_tables(u, cfg->tx_workers);
	if (!err)
		err = register_umem(u);
	if (err)
		rxe_umem_destroy(u);
	return err;
}

/*
 * When no socket of a UMEM was ever bound, libxdp leaves its two rings mapped,
 * and the mappings would keep the kernel's side alive.
 */
static void unmap_rings(struct rxe_umem *u)
{
	struct xdp_mmap_offsets off;
	socklen_t len = sizeof(off);

	if (getsockopt(xsk_umem__fd(u->xsk), SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) != 0)
		return;
	if (u->fill.ring)
		munmap((uint8_t *)u->fill.ring - off.fr.desc,
		       off.fr.desc + u->fill.size * sizeof(uint64_t));
	if (u->comp.ring)
		munmap((uint8_t *)u->comp.ring - off.cr.desc,
		       off.cr.desc + u->comp.size * sizeof(uint64_t));
}

void rxe_umem_destroy(struct rxe_umem *u)
{
	if (u->xsk) {
		if (!u->bound)
			unmap_rings(u);
		xsk_umem__delete(u->xsk);
	}
	if (u->area)
		munmap(u->area, u->size);
	for (uint32_t w = 0; w < u->nr_workers; w++) {
		free(u->user[w].tx_free);
		rxe_spsc_fini(&u->user[w].rx_back);
		rxe_spsc_fini(&u->user[w].tx_back);
	}
	free(u->rx_free);
	free(u->tx_worker);
	free(u->pkts);
	memset(u, 0, sizeof(*u));
}

/* ---- receive chunks ------------------------------------------------------- */

bool rxe_umem_rx_put(struct rxe_umem *u, uint32_t worker, uint32_t chunk)
{
	struct rxe_umem_user *user = &u->user[worker];

	if (worker == u->owner) {
		u->rx_free[u->nr_rx_free++] = chunk;
		return false;
	}
	rxe_spsc_push(&user->rx_back, chunk); /* holds every receive chunk: never full */
	if (++user->handed_back < u->wake_every)
		return false;
	user->handed_back = 0;
	return true;
}

bool rxe_umem_owner_late(const struct rxe_umem *u, uint32_t worker)
{
	return worker != u->owner && rxe_spsc_waiting(&u->user[worker].rx_back) >= u->late_after;
}

void rxe_umem_refill(struct rxe_umem *u)
{
	uint32_t idx, n;
	uint64_t chunk;

	for (uint32_t w = 0; w < u->nr_workers; w++)
		while (w != u->owner && rxe_spsc_pop(&u->user[w].rx_back, &chunk))
			u->rx_free[u->nr_rx_free++] = (uint32_t)chunk;
	n = u->nr_rx_free;
	/* The ring holds every receive chunk there is, so this always succeeds. */
	if (!n || !xsk_ring_prod__reserve(&u->fill, n, &idx))
		return;
	for (uint32_t i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&u->fill, idx + i) = (uint64_t)u->rx_free[--u->nr_rx_free]
							       << RXE_CHUNK_SHIFT;
	xsk_ring_prod__submit(&u->fill, n);
}

/* ---- transmit chunks ------------------------------------------------------ */

static void tx_chunk_done(struct rxe_umem *u, uint64_t addr)
{
	uint32_t chunk = (uint32_t)(addr >> RXE_CHUNK_SHIFT);
	uint32_t w;

	if (chunk < u->nr_rx || chunk >= u->nr_rx + u->nr_tx)
		return;
	w = u->tx_worker[chunk - u->nr_rx];
	if (w == u->owner)
		rxe_umem_tx_put(u, w, chunk);
	else
		rxe_spsc_push(&u->user[w].tx_back, chunk); /* holds all of w's: never full */
}

uint32_t rxe_umem_reap(struct rxe_umem *u)
{
	uint32_t idx, n, total = 0;

	while ((n = xsk_ring_cons__peek(&u->comp, REAP_BATCH, &idx)) > 0) {
		for (uint32_t i = 0; i < n; i++)
			tx_chunk_done(u, *xsk_ring_cons__comp_addr(&u->comp, idx + i));
		xsk_ring_cons__release(&u->comp, n);
		total += n;
	}
	return total;
}

void rxe_umem_tx_put(struct rxe_umem *u, uint32_t worker, uint32_t chunk)
{
	struct rxe_umem_user *user = &u->user[worker];

	user->tx_free[user->nr_tx_free++] = chunk;
}

static void tx_collect(struct rxe_umem *u, uint32_t worker)
{
	uint64_t chunk;

	if (worker == u->owner) {
		rxe_umem_reap(u);
		return;
	}
	while (rxe_spsc_pop(&u->user[worker].tx_back, &chunk))
		rxe_umem_tx_put(u, worker, (uint32_t)chunk);
}

bool rxe_umem_tx_get(struct rxe_umem *u, uint32_t worker, uint32_t n, uint32_t *chunk)
{
	struct rxe_umem_user *user = &u->user[worker];

	if (user->nr_tx_free < n)
		tx_collect(u, worker);
	if (user->nr_tx_free < n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		chunk[i] = user->tx_free[--user->nr_tx_free];
	return true;
}

bool rxe_umem_tx_busy(struct rxe_umem *u, uint32_t worker)
{
	tx_collect(u, worker);
	return u->user[worker].nr_tx_free < u->user[worker].nr_tx;
}
