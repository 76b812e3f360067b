/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event queue, and what the link does to packets. Damage is found as on
 * the wire: every packet carries a CRC, and one that is wrong is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <isa-l/crc.h>
#include "link.h"
#include "transport/opcode.h"

#define CRC_LEN 4

uint64_t sim_rand(struct sim_rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t sim_below(struct sim_rng *r, uint32_t n)
{
	return n ? sim_rand(r) % n : 0;
}

bool sim_chance(struct sim_rng *r, double p)
{
	return p > 0 && (double)(sim_rand(r) >> 11) * 0x1p-53 < p;
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void push(struct sim_link *l, struct sim_event ev)
{
	uint32_t i = l->count++;

	if (l->count > l->room) {
		l->room = l->room ? l->room * 2 : 256;
		l->heap = realloc(l->heap, l->room * sizeof(*l->heap));
		if (!l->heap)
			abort();
	}
	ev.seq = ++l->seq;
	for (; i && before(&ev, &l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = ev;
}

static struct sim_event pop(struct sim_link *l)
{
	struct sim_event top = l->heap[0], last = l->heap[--l->count];
	uint32_t i = 0, c;

	for (; (c = 2 * i + 1) < l->count; i = c) {
		if (c + 1 < l->count && before(&l->heap[c + 1], &l->heap[c]))
			c++;
		if (!before(&l->heap[c], &last))
			break;
		l->heap[i] = l->heap[c];
	}
	l->heap[i] = last;
	return top;
}

static uint32_t crc_of(const uint8_t *bytes, uint32_t len)
{
	return crc32_gzip_refl(0, bytes, len);
}

static void describe(const struct sim_link *l, const char *what, int to, const uint8_t *bytes,
		     uint32_t len)
{
	const struct rxe_opcode_info *op = rxe_opcode_info(bytes[0]);

	if (l->trace)
		fprintf(stderr, "%12llu %s ->%c qp %02x%02x%02x psn %02x%02x%02x%s %s %u\n",
			(unsigned long long)l->now, what, 'A' + to, bytes[5], bytes[6], bytes[7],
			bytes[9], bytes[10], bytes[11], bytes[8] & 0x80 ? " ackreq" : "",
			op ? op->name : "?", len);
}

static struct sim_event packet(int to, const union rxe_ip *dip, const uint8_t *bytes, uint32_t len)
{
	struct sim_event ev = {.host = to, .dip = *dip, .len = len + CRC_LEN};
	uint32_t crc = crc_of(bytes, len);

	ev.bytes = malloc(ev.len);
	if (!ev.bytes)
		abort();
	memcpy(ev.bytes, bytes, len);
	memcpy(ev.bytes + len, &crc, CRC_LEN);
	return ev;
}

static void enqueue(struct sim_link *l, int to, const union rxe_ip *dip, const uint8_t *bytes,
		    uint32_t len)
{
	struct sim_event ev = packet(to, dip, bytes, len);
	uint32_t bit;

	if (sim_chance(&l->rng, l->corrupt)) {
		bit = sim_below(&l->rng, ev.len * 8);
		ev.bytes[bit / 8] ^= 1u << bit % 8;
		l->corrupted++;
	}
	if (l->free_at[to] < l->now)
		l->free_at[to] = l->now;
	l->free_at[to] += l->packet_ns;
	ev.at = l->free_at[to] + l->delay_ns;
	if (sim_chance(&l->rng, l->reorder))
		ev.at += sim_below(&l->rng, l->jitter_ns);
	push(l, ev);
}

/* A copy of what goes to a group that QPs of its own host are in. */
static void loop_back(struct sim_link *l, int host, const union rxe_ip *dip, const uint8_t *bytes,
		      uint32_t len)
{
	struct sim_event ev = packet(host, dip, bytes, len);

	ev.at = l->now;
	ev.loopback = true;
	push(l, ev);
}

static void link_tx(struct sim_host *h, const uint8_t *bytes, uint32_t len,
		    const struct rxe_pkt *pkt)
{
	struct sim_link *l = h->arg;
	int to = l->host[0] == h;

	if (pkt->loops)
		loop_back(l, !to, &pkt->addr->dip, bytes, len);
	l->sent++;
	if (sim_chance(&l->rng, l->loss) || (l->every && l->sent % l->every == 0)) {
		l->lost++;
		describe(l, "LOST", to, bytes, len);
		return;
	}
	describe(l, "sent", to, bytes, len);
	enqueue(l, to, &pkt->addr->dip, bytes, len);
	if (sim_chance(&l->rng, l->dup)) {
		l->duplicated++;
		enqueue(l, to, &pkt->addr->dip, bytes, len);
	}
}

void sim_link_init(struct sim_link *l, uint64_t seed, struct sim_host *a, struct sim_host *b)
{
	memset(l, 0, sizeof(*l));
	l->rng.s = seed;
	l->host[0] = a;
	l->host[1] = b;
	a->arg = b->arg = l;
	a->tx = b->tx = link_tx;
	l->delay_ns = 5000;
}

void sim_link_fini(struct sim_link *l)
{
	while (l->count)
		free(pop(l).bytes);
	free(l->heap);
}

void sim_link_wake(struct sim_link *l, int host, uint64_t at)
{
	push(l, (struct sim_event){.at = at, .host = host});
}

uint64_t sim_link_next(const struct sim_link *l)
{
	return l->count ? l->heap[0].at : UINT64_MAX;
}

bool sim_link_deliver(struct sim_link *l, uint64_t now)
{
	struct sim_event ev;
	uint32_t crc;

	l->now = now;
	if (!l->count || l->heap[0].at > now)
		return false;
	ev = pop(l);
	if (!ev.bytes)
		return true;
	memcpy(&crc, ev.bytes + ev.len - CRC_LEN, CRC_LEN);
	if (crc == crc_of(ev.bytes, ev.len - CRC_LEN))
		sim_host_rx_to(l->host[ev.host], &l->host[ev.host ^ !ev.loopback]->ip, &ev.dip,
			       ev.loopback, ev.bytes, ev.len - CRC_LEN);
	else
		l->bad_crc++;
	free(ev.bytes);
	return true;
}
