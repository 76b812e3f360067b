// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The xdp datapath end to end: two namespaces, a veth pair, the real XDP
 * program between the two ends. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bed.h"
#include "rxe/bpf_abi.h"

#define QPN	77u
#define RC_SEND 0x04 /* RC SEND_ONLY */

static char err[512];

static void open_end(struct bed_end *e, uint32_t workers)
{
	int ret = bed_open(e, workers, err, sizeof(err));

	if (ret)
		fail_msg("open: %s (%s)", err, strerror(-ret));
	for (uint32_t w = 0; w < workers; w++)
		assert_int_equal(rxe_dp_xdp.qp_set(e->dp, QPN + w, w, RXE_CLASS_RC, true, NULL), 0);
}

/* One packet over the wire, checked byte by byte. */
static void exchange(struct bed_end *from, struct bed_end *to, const struct bed_send *s)
{
	uint32_t n = to->nr_got;

	assert_true(bed_send(from, s));
	if (!bed_wait(to, n + 1))
		fail_msg("len %u v6 %d worker %u: not received", s->len, s->v6, s->worker);
	assert_true(bed_same(to, s));
	assert_int_equal(to->got.worker, s->dst_qpn - QPN);
}

static void all_sizes(uint32_t mtu, uint32_t max, uint32_t workers, uint32_t queues)
{
	struct bed *b = bed_new(mtu, queues);
	const char *why;
	uint32_t sent = 0;

	open_end(&b->end[0], workers);
	open_end(&b->end[1], workers);
	assert_int_equal(rxe_dp_xdp.max_ib_mtu(b->end[0].dp, &why), 4096);
	for (uint32_t len = 0; len <= max; len++)
		for (int v6 = 0; v6 < 2; v6++, sent++) {
			struct bed_send s = {
				.worker = len % workers,
				.src_qpn = len,
				.dst_qpn = QPN + (len / 3) % workers,
				.len = len,
				.opcode = RC_SEND,
				.traffic_class = (uint8_t)len,
				.flow_label = len & 1 ? len * 977 : 0,
				.v6 = v6,
				.seed = len + 1000 * (uint32_t)v6,
			};

			exchange(&b->end[len & 1], &b->end[!(len & 1)], &s);
		}
	assert_int_equal(bed_stat(&b->end[0], "steered") + bed_stat(&b->end[1], "steered"), sent);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bed_stat(&b->end[i], "drop_icrc"), 0);
		assert_int_equal(bed_stat(&b->end[i], "drop_malformed"), 0);
		assert_int_equal(bed_stat(&b->end[i], "drop_no_socket"), 0);
		assert_int_equal(bed_stat(&b->end[i], "xsk_rx_dropped"), 0);
		assert_int_equal(bed_stat(&b->end[i], "xsk_rx_bad_metadata"), 0);
		assert_int_equal(bed_stat(&b->end[i], "xsk_tx_invalid_descs"), 0);
	}
	bed_free(b);
}

static void sizes_mtu1500(void **state)
{
	(void)state;
	all_sizes(1500, 1024 + 256, 1, 1);
}

static void sizes_mtu9000(void **state)
{
	(void)state;
	all_sizes(9000, 4096, 1, 1);
}

static void sizes_2workers_1queue(void **state)
{
	(void)state;
	all_sizes(9000, 4096, 2, 1);
}

static void sizes_1worker_2queues(void **state)
{
	(void)state;
	all_sizes(9000, 4096, 1, 2);
}

static void sizes_2workers_2queues(void **state)
{
	(void)state;
	all_sizes(9000, 4096, 2, 2);
}

static struct bed *open_bed(uint32_t mtu, uint32_t queues, uint32_t workers)
{
	struct bed *b = bed_new(mtu, queues);

	open_end(&b->end[0], workers);
	open_end(&b->end[1], workers);
	return b;
}

static struct bed_send a_send(uint32_t len, uint32_t seed)
{
	return (struct bed_send){
		.src_qpn = 9, .dst_qpn = QPN, .len = len, .opcode = RC_SEND, .seed = seed};
}

/* Many times the number of chunks there are, in bursts: none is lost or leaks. */
static void chunks_come_back(uint32_t workers, uint32_t queues)
{
	struct bed *b = open_bed(9000, queues, workers);
	uint32_t sent = 0;

	for (uint32_t burst = 0; burst < 400; burst++) {
		for (uint32_t i = 0; i < 50; i++, sent++) {
			struct bed_send s = a_send(4096, sent);

			s.worker = burst % workers;
			s.dst_qpn = QPN + i % workers;
			assert_true(bed_send(&b->end[0], &s));
		}
		assert_true(bed_wait(&b->end[1], sent));
	}
	assert_int_equal(bed_stat(&b->end[1], "xsk_rx_packets"), sent);
	assert_int_equal(bed_stat(&b->end[1], "xsk_rx_fill_ring_empty"), 0);
	assert_int_equal(bed_stat(&b->end[0], "xsk_tx_packets"), sent);
	bed_free(b);
}

static void chunks_come_back_1(void **state)
{
	(void)state;
	chunks_come_back(1, 1);
}

static void chunks_come_back_2(void **state)
{
	(void)state;
	chunks_come_back(2, 1);
	chunks_come_back(2, 2);
}

/* A receiver that holds everything loses packets, but can still send. */
static void receive_cannot_starve_transmit(void **state)
{
	struct bed *b = open_bed(9000, 1, 1);
	struct bed_end *rx = &b->end[1];
	uint32_t n;

	(void)state;
	rx->keep = true;
	for (uint32_t i = 0; i < 5000; i++) {
		struct bed_send s = a_send(100, i);

		assert_true(bed_send(&b->end[0], &s));
		bed_step(&b->end[0]);
		bed_step(rx);
	}
	assert_int_equal(rx->nr_kept, 4096); /* every receive chunk */
	assert_int_equal(bed_stat(rx, "xsk_rx_dropped"), 5000 - 4096);
	struct bed_send back = a_send(4096, 1);
	exchange(rx, &b->end[0], &back);

	for (uint32_t i = 0; i < rx->nr_kept; i++)
		rxe_dp_xdp.pkt_free(rx->dp, 0, rx->kept[i]);
	rx->keep = false;
	bed_step(rx);
	n = rx->nr_got;
	exchange(&b->end[0], rx, &back);
	assert_int_equal(rx->nr_got, n + 1);
	bed_free(b);
}

/* Packets allocated and given back unsent; NULL when there are no more. */
static void alloc_until_null(void **state)
{
	struct bed *b = open_bed(9000, 1, 1);
	struct bed_end *e = &b->end[0];
	struct rxe_address addr = {.sip = e->ip[0], .dip = b->end[1].ip[0], .route = &e->to_peer};
	static struct rxe_pkt *pkt[4096];
	struct bed_send s = a_send(4096, 3);

	(void)state;
	for (int round = 0; round < 3; round++) {
		uint32_t n = 0;

		while ((pkt[n] = rxe_dp_xdp.pkt_alloc(e->dp, 0, &addr, RXE_BTH_LEN, 4096, 0)))
			n++;
		assert_int_equal(n, 1024); /* 2048 transmit chunks, two each */
		while (n)
			rxe_dp_xdp.pkt_free(e->dp, 0, pkt[--n]);
		assert_true(rxe_dp_xdp.pending(e->dp, 0)); /* it was refused: go and try again */
		assert_false(rxe_dp_xdp.pending(e->dp, 0));
	}
	exchange(e, &b->end[1], &s);
	bed_free(b);
}

static void steering(void **state)
{
	struct bed *b = open_bed(1500, 1, 2);
	struct bed_end *rx = &b->end[1];
	struct bed_send s = a_send(64, 5);

	(void)state;
	s.dst_qpn = 500;
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 1));
	assert_int_equal(bed_stat(rx, "drop_no_qp"), 1);
	rxe_dp_xdp.qp_set(rx->dp, 500, 1, RXE_CLASS_RC, false, NULL);
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 1));
	assert_int_equal(bed_stat(rx, "drop_qp_state"), 1);
	rxe_dp_xdp.qp_set(rx->dp, 500, 1, RXE_CLASS_RC, true, NULL);
	bed_send(&b->end[0], &s);
	assert_true(bed_wait(rx, 1));
	assert_int_equal(rx->got.worker, 1);
	rxe_dp_xdp.addr_clear(rx->dp, &rx->ip[0]);
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 2));
	assert_int_equal(bed_stat(rx, "pass_foreign"), 1);
	rxe_dp_xdp.addr_set(rx->dp, &rx->ip[0], RXE_ADDR_UNICAST);
	rxe_dp_xdp.qp_clear(rx->dp, 500);
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 2));
	assert_int_equal(bed_stat(rx, "drop_no_qp"), 2);
	bed_free(b);
}

static void bad_icrc_and_crc_disable(void **state)
{
	struct bed *b = open_bed(9000, 1, 1);
	struct bed_send s = a_send(4096, 6);
	uint32_t key = 0, on = 1;

	(void)state;
	s.no_crc = true;
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(&b->end[1], 1));
	assert_int_equal(bed_stat(&b->end[1], "drop_icrc"), 1);
	assert_int_equal(bpf_map_update_elem(b->param_fds[RXE_PARAM_CRC_DISABLE], &key, &on, 0), 0);
	exchange(&b->end[0], &b->end[1], &s);
	bed_free(b);
}

/* Between workers of one device: in memory, with a bound, in order. */
static void loopback(void **state)
{
	struct bed *b = open_bed(1500, 1, 2);
	struct bed_end *e = &b->end[0];
	struct bed_send s = a_send(4096, 0);
	uint32_t sent = 0;

	(void)state;
	s.local = true;
	for (int v6 = 0; v6 < 2; v6++)
		for (uint32_t w = 0; w < 4; w++) {
			s.worker = w & 1;
			s.dst_qpn = QPN + (w >> 1);
			s.v6 = v6;
			exchange(e, e, &s);
		}
	s.dst_qpn = 4000;
	assert_true(bed_send(e, &s));
	assert_int_equal(bed_stat(e, "loopback_no_qp"), 1);

	s.dst_qpn = QPN + 1;
	s.worker = 0;
	while (bed_send(e, &s))
		s.seed = ++sent;
	assert_int_equal(sent, 1024);
	assert_true(rxe_dp_xdp.pending(e->dp, 1)); /* packets wait for it */
	assert_false(rxe_dp_xdp.pending(e->dp, 0));
	e->nr_got = 0;
	rxe_dp_xdp.rx_burst(e->dp, 1, 2);
	assert_int_equal(e->nr_got, 1); /* at most half of a budget */
	assert_int_equal(ntohl(((struct rxe_bth *)e->got.ib)->apsn), 0);
	assert_true(rxe_dp_xdp.pending(e->dp, 0)); /* room has come back */
	assert_true(bed_wait(e, sent));
	assert_int_equal(ntohl(((struct rxe_bth *)e->got.ib)->apsn), sent - 1);
	assert_int_equal(bed_stat(e, "xsk_tx_packets"), 0);
	s.local = true;
	bed_send(e, &s); /* left in the queue: close() frees it */
	bed_free(b);
}

/* To a group: on the wire, and once more to this device when it is in it. */
static void multicast(void **state)
{
	struct bed *b = open_bed(9000, 1, 2);
	struct bed_end *tx = &b->end[0], *rx = &b->end[1];
	struct bed_send s = a_send(4096, 3);

	(void)state;
	s.group = true;
	s.dst_qpn = RXE_MULTICAST_QPN;
	s.opcode = 0x64; /* UD SEND_ONLY */
	s.worker = 1;
	assert_true(bed_send(tx, &s));
	assert_false(bed_wait(rx, 1));
	assert_int_equal(bed_stat(rx, "pass_foreign"), 1); /* nobody joined */
	assert_int_equal(tx->nr_got, 0);
	rxe_dp_xdp.addr_set(rx->dp, &bed_group, RXE_ADDR_MULTICAST);
	s.loops = true;
	for (s.len = 8; s.len <= 4096; s.len += 511) {
		uint32_t n = rx->nr_got;

		assert_true(bed_send(tx, &s));
		assert_true(bed_wait(rx, n + 1));
		assert_true(bed_wait(tx, n + 1));
		assert_true(bed_same(rx, &s));
		assert_true(bed_same(tx, &s));
		assert_int_equal(rx->got.worker, RXE_CONTROL_WORKER);
		assert_int_equal(tx->got.worker, RXE_CONTROL_WORKER);
		assert_true(tx->got.loopback);
		assert_false(rx->got.loopback);
	}
	bed_free(b);
}

/* A connected QP has one peer; what this device never sends it does not take. */
static void wrong_peer(void **state)
{
	struct bed *b = open_bed(1500, 1, 2);
	struct bed_end *rx = &b->end[1];
	struct bed_send s = a_send(64, 5);

	(void)state;
	rxe_dp_xdp.qp_set(rx->dp, QPN, 0, RXE_CLASS_RC, true, &rx->ip[0]);
	s.dst_qpn = QPN;
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 1));
	assert_int_equal(bed_stat(rx, "drop_wrong_peer"), 1);
	rxe_dp_xdp.qp_set(rx->dp, QPN, 0, RXE_CLASS_RC, true, &b->end[0].ip[0]);
	bed_send(&b->end[0], &s);
	assert_true(bed_wait(rx, 1));
	rxe_dp_xdp.addr_set(rx->dp, &b->end[0].ip[0], RXE_ADDR_UNICAST);
	bed_send(&b->end[0], &s);
	assert_false(bed_wait(rx, 2));
	assert_int_equal(bed_stat(rx, "drop_own_source"), 1);
	bed_free(b);
}

/* While the link is down nothing blocks or piles up; afterwards all is well. */
static void link_down(void **state)
{
	struct bed *b = open_bed(1500, 1, 1);
	struct bed_end *e = &b->end[0];
	struct bed_send s = a_send(200, 7);
	uint32_t spins = 0;

	(void)state;
	bed_run("ip -n %s link set dev %s down", e->ns, e->dev);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_true(bed_send(e, &s));
		if (i % 16 == 0)
			rxe_dp_xdp.flush(e->dp, 0);
	}
	while (rxe_dp_xdp.pending(e->dp, 0))
		assert_true(++spins < 10000); /* it may sleep */
	assert_true(bed_stat(e, "xsk_tx_link_down") > 9000);
	bed_run("ip -n %s link set dev %s up", e->ns, e->dev);
	bed_step(e);
	s.seed = 8;
	for (uint32_t before = 0; b->end[1].nr_got == 0 || b->end[1].nr_got != before;) {
		before = b->end[1].nr_got;
		bed_wait(&b->end[1], before + 1); /* what waited in the ring */
	}
	exchange(e, &b->end[1], &s);
	bed_free(b);
}

/*
 * The worker that owns a queue's fill ring gets no processor for long, while
 * another one takes packets from that queue: it must hold back before the fill
 * ring runs dry, since the kernel drops what finds it so. A few packets are
 * under way at a time, as a transport's window allows.
 */
static void a_late_owner_loses_nothing(void **state)
{
	enum { WINDOW = 40, PACKETS = 8000, OWNER = 0, OTHER = 1 };
	struct bed *b = open_bed(9000, 1, 2);
	struct bed_end *to = &b->end[1];
	uint32_t sent = 0, stalls = 0;

	(void)state;
	while (to->nr_got < PACKETS) {
		uint32_t before = to->nr_got;

		while (sent < PACKETS && sent - to->nr_got < WINDOW) {
			struct bed_send s = a_send(4096, sent);

			s.dst_qpn = QPN + OTHER;
			if (!bed_send(&b->end[0], &s))
				break;
			sent++;
		}
		bed_step(&b->end[0]);
		rxe_dp_xdp.rx_burst(to->dp, OTHER, 64);
		if (to->nr_got != before)
			continue;
		rxe_dp_xdp.flush(to->dp, OWNER);
		assert_true(++stalls < PACKETS);
	}
	assert_int_equal(to->nr_got, sent);
	assert_int_equal(bed_stat(to, "xsk_rx_dropped"), 0);
	bed_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_mtu1500),
		cmocka_unit_test(sizes_mtu9000),
		cmocka_unit_test(sizes_2workers_1queue),
		cmocka_unit_test(sizes_1worker_2queues),
		cmocka_unit_test(sizes_2workers_2queues),
		cmocka_unit_test(chunks_come_back_1),
		cmocka_unit_test(chunks_come_back_2),
		cmocka_unit_test(a_late_owner_loses_nothing),
		cmocka_unit_test(receive_cannot_starve_transmit),
		cmocka_unit_test(alloc_until_null),
		cmocka_unit_test(steering),
		cmocka_unit_test(bad_icrc_and_crc_disable),
		cmocka_unit_test(loopback),
		cmocka_unit_test(multicast),
		cmocka_unit_test(wrong_peer),
		cmocka_unit_test(link_down),
	};

	return cmocka_run_group_tests_name("datapath/xdp", tests, bed_need_root, NULL);
}
