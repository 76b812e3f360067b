// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Worker threads that sleep: two to an end, every worker of one end sends to
 * every worker of both, who echo; all of it arrives, and nobody sleeps through
 * a packet or a chunk that came back. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bed.h"
#include "rxe/bpf_abi.h"

#define QPN	 77u
#define RC_SEND	 0x04
#define WORKERS	 2u
#define WINDOW	 40u /* of a worker: a veth holds 256 packets and drops the rest */
#define SLEEP_MS 3000

enum { REQUEST, ECHO };

struct stream { /* of one worker, towards one (end, worker) */
	struct rxe_address addr;
	uint32_t qpn, len, to_send;
};

struct thread {
	struct bed_end *e;
	uint32_t index;
	pthread_t id;
	struct stream stream[2 * WORKERS]; /* requests; echoes go the same ways */
	uint32_t owed[2 * WORKERS];	   /* echoes that found no room yet */
	uint32_t under_way, echoes;
	bool overslept;
};

static struct thread threads[2 * WORKERS];
static uint32_t total, finished, stop;

static struct thread *thread_of(const struct bed_end *e, uint32_t worker)
{
	return &threads[(e == &e->bed->end[1]) * WORKERS + worker];
}

/* One packet of a stream; its PSN says what it is and who sent it. */
static bool send_one(struct thread *t, uint32_t to, uint32_t kind)
{
	struct stream *s = &t->stream[to];
	struct rxe_bth bth = {
		.opcode = RC_SEND,
		.pkey = htons(RXE_DEFAULT_PKEY),
		.qpn = htonl(s->qpn),
		.apsn = htonl(kind << 8 | (uint32_t)(t - threads)),
	};
	struct rxe_pkt *pkt;

	pkt = rxe_dp_xdp.pkt_alloc(t->e->dp, t->index, &s->addr, RXE_BTH_LEN, s->len, 0);
	if (!pkt)
		return false;
	memcpy(pkt->hdr, &bth, sizeof(bth));
	for (int i = 0; i < pkt->nsegs; i++)
		memset(pkt->seg[i].iov_base, (int)to, pkt->seg[i].iov_len);
	pkt->src_qpn = QPN + t->index;
	rxe_dp_xdp.pkt_send(t->e->dp, t->index, pkt, true);
	return true;
}

static void on_rx(struct bed_end *e, uint32_t worker, struct rxe_pkt *pkt)
{
	struct thread *t = thread_of(e, worker);
	uint32_t psn = ntohl(((struct rxe_bth *)pkt->hdr)->apsn) & RXE_PSN_MASK;
	uint32_t from = psn & 0xff;

	rxe_dp_xdp.pkt_free(e->dp, worker, pkt);
	if (psn >> 8 == ECHO) {
		t->under_way--;
		t->echoes++;
		__atomic_fetch_add(&finished, 1, __ATOMIC_RELAXED);
	} else {
		t->owed[from]++;
	}
}

static bool send_some(struct thread *t)
{
	bool any = false;

	for (uint32_t to = 0; to < 2 * WORKERS; to++) {
		while (t->owed[to] && send_one(t, to, ECHO)) {
			t->owed[to]--;
			any = true;
		}
		for (int i = 0; i < 8 && t->stream[to].to_send && t->under_way < WINDOW; i++) {
			if (!send_one(t, to, REQUEST))
				break;
			t->stream[to].to_send--;
			t->under_way++;
			any = true;
		}
	}
	return any;
}

static void sleep_until_woken(struct thread *t)
{
	struct pollfd pfd[RXE_MAX_QUEUES + 1];
	int n = rxe_dp_xdp.pollfds(t->e->dp, t->index, pfd, RXE_MAX_QUEUES + 1);

	if (poll(pfd, (nfds_t)n, SLEEP_MS) == 0 && !__atomic_load_n(&stop, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&finished, __ATOMIC_RELAXED) < total)
		t->overslept = true;
}

static void *run(void *arg)
{
	struct thread *t = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && !t->overslept) {
		uint32_t got = rxe_dp_xdp.rx_burst(t->e->dp, t->index, 64);
		bool sent = send_some(t);

		rxe_dp_xdp.flush(t->e->dp, t->index);
		if (got || sent)
			continue;
		if (rxe_dp_xdp.pending(t->e->dp, t->index))
			sched_yield();
		else
			sleep_until_woken(t);
	}
	return NULL;
}

static void set_up(struct bed *b, uint32_t each, uint32_t len)
{
	memset(threads, 0, sizeof(threads));
	total = finished = stop = 0;
	for (uint32_t i = 0; i < 2 * WORKERS; i++) {
		struct thread *t = &threads[i];

		t->e = &b->end[i / WORKERS];
		t->index = i % WORKERS;
		for (uint32_t to = 0; to < 2 * WORKERS; to++) {
			struct bed_end *peer = &b->end[to / WORKERS];
			bool local = peer == t->e;

			t->stream[to] = (struct stream){
				.addr = {.sip = t->e->ip[to & 1],
					 .dip = peer->ip[to & 1],
					 .route = local ? &t->e->to_self : &t->e->to_peer},
				.qpn = QPN + to % WORKERS,
				.len = len,
				.to_send = each,
			};
			total += each;
		}
	}
}

static void stress(uint32_t queues, uint32_t each, uint32_t len)
{
	struct bed *b = bed_new(9000, queues);
	char err[512];
	uint64_t end_turns = 0;

	for (int i = 0; i < 2; i++) {
		b->end[i].rx = on_rx;
		if (bed_open(&b->end[i], WORKERS, err, sizeof(err)))
			fail_msg("open: %s", err);
		for (uint32_t w = 0; w < WORKERS; w++)
			rxe_dp_xdp.qp_set(b->end[i].dp, QPN + w, w, RXE_CLASS_RC, true, NULL);
	}
	set_up(b, each, len);
	for (uint32_t i = 0; i < 2 * WORKERS; i++)
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	while (__atomic_load_n(&finished, __ATOMIC_RELAXED) < total && ++end_turns < 30000)
		usleep(1000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < 2 * WORKERS; i++) {
		pthread_join(threads[i].id, NULL);
		assert_false(threads[i].overslept);
	}
	assert_int_equal(finished, total);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bed_stat(&b->end[i], "drop_icrc"), 0);
		assert_int_equal(bed_stat(&b->end[i], "xsk_rx_dropped"), 0);
	}
	print_message("    %u echoes, %llu wake-ups by event, %llu times no room\n", finished,
		      (unsigned long long)bed_stat(&b->end[0], "xsk_event_wakeups"),
		      (unsigned long long)bed_stat(&b->end[0], "xsk_tx_no_room"));
	bed_free(b);
}

static void small_1queue(void **state)
{
	(void)state;
	stress(1, 20000, 64);
}

static void large_1queue(void **state)
{
	(void)state;
	stress(1, 5000, 4096);
}

static void large_2queues(void **state)
{
	(void)state;
	stress(2, 5000, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_1queue),
		cmocka_unit_test(large_1queue),
		cmocka_unit_test(large_2queues),
	};

	return cmocka_run_group_tests_name("datapath/stress", tests, bed_need_root, NULL);
}
