/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections between two CMs: made, refused, ended, over links of all kinds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "unit/cm_bed.h"

static int set_up(void **state)
{
	struct bed *b = malloc(sizeof(*b));

	bed_start(b);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	bed_stop(*state);
	free(*state);
	return 0;
}

static void destroy(struct bed *b, unsigned int side)
{
	cm_id_destroy(b->side[side].id);
	b->side[side].id = NULL;
	bed_settle(b);
}

/* Everything that waits ends by itself, and nothing is left of either side. */
static void expect_empty(struct bed *b)
{
	for (int i = 0; i < 200 && bed_step(b); i++)
		;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(b->side[i].cm->nr_ids, 0);
		assert_int_equal(cm_next(b->side[i].cm), UINT64_MAX);
		for (int n = 0; n < CM_BUCKETS; n++) {
			assert_true(LIST_EMPTY(&b->side[i].cm->remote[n]));
			assert_true(LIST_EMPTY(&b->side[i].cm->qpn[n]));
		}
	}
}

static void made_and_ended(void **state)
{
	struct bed *b = *state;
	const struct cm_id *a, *p;

	bed_establish(b);
	a = b->side[0].id;
	p = b->side[1].id;
	assert_int_equal(a->state, CM_ESTABLISHED);
	assert_int_equal(p->state, CM_ESTABLISHED);
	assert_int_equal(a->remote_qpn, 0x25);
	assert_int_equal(p->remote_qpn, 0x24);
	/* Each sends from the PSN that the other said. */
	assert_int_equal(a->remote_psn, p->local_psn);
	assert_int_equal(p->remote_psn, a->local_psn);
	assert_int_equal(a->ack_timeout, 19);
	assert_int_equal(a->rnr_retry, 6);
	assert_int_equal(cm_disconnect(b->side[0].id), 0);
	bed_settle(b);
	bed_expect(b, 1, CM_EV_DREQ);
	assert_int_equal(cm_drep(b->side[1].id), 0);
	bed_settle(b);
	bed_expect(b, 0, CM_EV_DREP);
	assert_int_equal(a->state, CM_TIMEWAIT);
	bed_run_ms(b, 2047); /* 2^(19 - 8) ms */
	bed_expect_none(b, 0);
	bed_run_ms(b, 2);
	bed_expect(b, 0, CM_EV_TIMEWAIT_EXIT);
	bed_expect(b, 1, CM_EV_TIMEWAIT_EXIT);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void resources_change_sides(void **state)
{
	struct bed *b = *state;
	struct bed_event *e;
	struct cm_params p = bed_params(1);

	bed_connect(b);
	e = bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(e->p.responder_resources, 5); /* the peer's initiator depth */
	assert_int_equal(e->p.initiator_depth, 3);
	assert_int_equal(e->p.retry_count, 7);
	assert_int_equal(e->p.mtu, 3);
	assert_int_equal(e->p.service_id, 0x1061c06);
	p.responder_resources = 2;
	p.initiator_depth = 1;
	assert_int_equal(cm_accept(b->side[1].id, b->side[1].guid, &p), 0);
	bed_settle(b);
	e = bed_expect(b, 0, CM_EV_REP);
	assert_int_equal(e->p.responder_resources, 1);
	assert_int_equal(e->p.initiator_depth, 2);
	destroy(b, 0);
	destroy(b, 1);
}

static void private_data_and_ece(void **state)
{
	struct bed *b = *state;
	struct bed_side *s = &b->side[0];
	struct cm_params p = bed_params(0);
	char text[92] = "REQ data", rep[196] = "REP data";
	struct bed_event *e;

	p.priv = text;
	p.priv_len = sizeof(text);
	p.ece_vendor = 0xabcdef;
	p.ece_options = 0x12345678;
	s->id = cm_id_new(s->cm, s);
	p.priv_len++;
	assert_int_equal(cm_connect(s->id, &s->path, s->guid, &p), -EINVAL);
	p.priv_len--;
	assert_int_equal(cm_connect(s->id, &s->path, s->guid, &p), 0);
	bed_settle(b);
	e = bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(e->priv_len, 92);
	assert_memory_equal(e->priv, text, 92);
	assert_int_equal(e->p.ece_vendor, 0xabcdef);
	assert_int_equal(e->p.ece_options, 0x12345678);
	p = bed_params(1);
	p.priv = rep;
	p.priv_len = sizeof(rep);
	p.ece_vendor = 0x123456;
	p.ece_options = 7;
	assert_int_equal(cm_accept(b->side[1].id, b->side[1].guid, &p), 0);
	bed_settle(b);
	e = bed_expect(b, 0, CM_EV_REP);
	assert_memory_equal(e->priv, rep, 196);
	assert_int_equal(e->p.ece_vendor, 0x123456);
	assert_int_equal(e->p.ece_options, 7);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void refused_by_program(void **state)
{
	struct bed *b = *state;
	struct bed_event *e;

	bed_connect(b);
	bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(cm_reject(b->side[1].id, CM_REJ_CONSUMER, "no", 3), 0);
	bed_settle(b);
	e = bed_expect(b, 0, CM_EV_REJ);
	assert_int_equal(e->status, CM_REJ_CONSUMER);
	assert_int_equal(e->priv_len, 148);
	assert_string_equal((char *)e->priv, "no");
	assert_int_equal(b->side[0].id->state, CM_IDLE);
	destroy(b, 0);
	destroy(b, 1);
	assert_int_equal(b->side[0].cm->nr_ids + b->side[1].cm->nr_ids, 0);
}

static void nobody_listens(void **state)
{
	struct bed *b = *state;

	b->side[1].answer = CM_REJ_INVALID_SERVICE_ID;
	bed_connect(b);
	assert_int_equal(bed_expect(b, 0, CM_EV_REJ)->status, CM_REJ_INVALID_SERVICE_ID);
	assert_int_equal(b->side[1].cm->nr_ids, 0);
	destroy(b, 0);
}

static void no_room_is_silence(void **state)
{
	struct bed *b = *state;

	b->side[1].answer = -ENOMEM;
	bed_connect(b);
	bed_expect_none(b, 0);
	b->side[1].answer = 0;
	bed_step(b);
	assert_int_equal(b->side[0].sent[CM_MSG_REQ], 2);
	bed_expect(b, 1, CM_EV_REQ);
	bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(b->side[1].id->state, CM_REQ_RCVD);
	destroy(b, 1);
	bed_expect(b, 0, CM_EV_REJ);
	destroy(b, 0);
	expect_empty(b);
}

static bool pass_nothing(struct bed *b, unsigned int from, const uint8_t *mad)
{
	(void)b;
	(void)from;
	(void)mad;
	return false;
}

static void unreachable(void **state)
{
	struct bed *b = *state;
	uint64_t start = b->now;

	b->pass = pass_nothing;
	bed_connect(b);
	while (bed_step(b))
		;
	assert_int_equal(bed_expect(b, 0, CM_EV_REQ_ERROR)->status, -ETIMEDOUT);
	assert_int_equal(b->side[0].sent[CM_MSG_REQ], 16);
	assert_int_equal(b->side[0].again[true][CM_MSG_REQ], 15);
	/* Sixteen times twice the path's life and the peer's response time. */
	assert_int_equal((b->now - start) / 1000000, 16 * (2 * 1024 + 4096));
	destroy(b, 0);
	expect_empty(b);
}

/* ---- duplicates ------------------------------------------------------------------ */

static void everything_twice(void **state)
{
	struct bed *b = *state;

	b->twice = true;
	bed_establish(b);
	bed_expect_none(b, 0);
	bed_expect_none(b, 1);
	assert_int_equal(b->side[1].sent[CM_MSG_MRA], 1); /* to the second REQ */
	assert_int_equal(b->side[1].again[false][CM_MSG_REQ], 1);
	assert_int_equal(b->side[0].again[false][CM_MSG_REP], 1);
	assert_int_equal(b->side[0].again[true][CM_MSG_REQ], 0);
	cm_disconnect(b->side[1].id);
	bed_settle(b);
	bed_expect(b, 0, CM_EV_DREQ);
	cm_drep(b->side[0].id);
	bed_settle(b);
	bed_expect(b, 1, CM_EV_DREP);
	bed_expect_none(b, 0);
	bed_expect_none(b, 1);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static bool lose_first_rtu(struct bed *b, unsigned int from, const uint8_t *mad)
{
	return cm_get(mad, CM_ATTR_ID) != CM_MSG_RTU || b->side[from].sent[CM_MSG_RTU] > 1;
}

static void lost_rtu_comes_again(void **state)
{
	struct bed *b = *state;
	struct cm_params p = bed_params(1);

	b->pass = lose_first_rtu;
	bed_connect(b);
	cm_accept(b->side[1].id, b->side[1].guid, &p);
	bed_settle(b);
	cm_rtu(b->side[0].id, NULL, 0);
	bed_settle(b);
	assert_int_equal(b->side[1].id->state, CM_REP_SENT);
	bed_step(b);
	assert_int_equal(b->side[1].sent[CM_MSG_REP], 2);
	assert_int_equal(b->side[1].id->state, CM_ESTABLISHED);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void slow_program_sends_mra(void **state)
{
	struct bed *b = *state;

	bed_connect(b);
	bed_step(b); /* REQ again: MRA, 65 s more */
	assert_int_equal(b->side[1].sent[CM_MSG_MRA], 1);
	bed_run_ms(b, 65000);
	assert_int_equal(b->side[0].sent[CM_MSG_REQ], 2);
	destroy(b, 0);
	bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(bed_expect(b, 1, CM_EV_REJ)->status, CM_REJ_TIMEOUT);
	destroy(b, 1);
	expect_empty(b);
}

static void establish_by_data(void **state)
{
	struct bed *b = *state;
	struct cm_params p = bed_params(1);

	bed_connect(b);
	bed_expect(b, 1, CM_EV_REQ);
	cm_accept(b->side[1].id, b->side[1].guid, &p);
	bed_settle(b);
	assert_int_equal(cm_establish(b->side[1].id), 0);
	bed_expect(b, 1, CM_EV_ESTABLISHED);
	assert_int_equal(cm_establish(b->side[1].id), -EISCONN);
	cm_rtu(b->side[0].id, NULL, 0);
	bed_settle(b);
	bed_expect_none(b, 1);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

/* ---- stale connections ---------------------------------------------------------------- */

static void forgotten_peer_is_stale(void **state)
{
	struct bed *b = *state;
	struct cm_id *old;
	struct cm_params p = bed_params(0);
	struct bed_side *s = &b->side[0];

	bed_establish(b);
	/* Side 0 begins a new life with the same QP, without a word about the old one. */
	old = s->id;
	b->pass = pass_nothing;
	cm_id_destroy(old);
	b->pass = NULL;
	s->id = cm_id_new(s->cm, s);
	cm_connect(s->id, &s->path, s->guid, &p);
	bed_settle(b);
	assert_int_equal(bed_expect(b, 0, CM_EV_REJ)->status, CM_REJ_STALE_CONN);
	/* The old one is asked to end: answered, since side 0 does not know it. */
	assert_int_equal(b->side[1].sent[CM_MSG_DREQ], 1);
	bed_run_ms(b, 30000);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void unknown_dreq_is_answered(void **state)
{
	struct bed *b = *state;
	uint8_t mad[CM_MAD_LEN];

	cm_mad_init(mad, CM_MSG_DREQ, 5);
	cm_put(mad, CM_LOCAL_COMM_ID, 0x1234);
	cm_put(mad, CM_REMOTE_COMM_ID, 0x5678);
	cm_rx(b->side[1].cm, &b->side[1].path, mad, sizeof(mad));
	assert_int_equal(b->side[1].sent[CM_MSG_DREP], 1);
	assert_int_equal(cm_get(b->side[1].last, CM_LOCAL_COMM_ID), 0x5678);
	assert_int_equal(cm_get(b->side[1].last, CM_REMOTE_COMM_ID), 0x1234);
}

static void strangers_change_nothing(void **state)
{
	struct bed *b = *state;
	struct cm_path other;
	uint8_t mad[CM_MAD_LEN];
	struct cm_id *id;

	bed_establish(b);
	id = b->side[1].id;
	other = b->side[1].path;
	other.dgid[3] ^= 1;
	memcpy(mad, b->side[0].last, sizeof(mad));
	cm_mad_init(mad, CM_MSG_REJ, 1);
	cm_put(mad, CM_LOCAL_COMM_ID, id->remote_id);
	cm_put(mad, CM_REMOTE_COMM_ID, id->local_id);
	cm_put(mad, CM_REJ_WHICH, CM_WHICH_OTHER);
	cm_put(mad, CM_REJ_REASON, CM_REJ_CONSUMER);
	cm_rx(b->side[1].cm, &other, mad, sizeof(mad));
	assert_int_equal(id->state, CM_ESTABLISHED);
	cm_rx(b->side[1].cm, &b->side[1].path, mad, sizeof(mad));
	assert_int_equal(id->state, CM_TIMEWAIT);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void malformed_requests(void **state)
{
	struct bed *b = *state;
	uint8_t mad[CM_MAD_LEN];

	b->pass = pass_nothing;
	bed_connect(b);
	memcpy(mad, b->side[0].last, sizeof(mad));
	cm_put(mad, CM_REQ_TRANSPORT, 3);
	cm_rx(b->side[1].cm, &b->side[1].path, mad, sizeof(mad));
	assert_int_equal(cm_get(b->side[1].last, CM_REJ_REASON), CM_REJ_INVALID_TRANSPORT);
	memcpy(mad, b->side[0].last, sizeof(mad));
	mad[CM_MAD_HDR + CM_REQ_LOCAL_GID] ^= 1;
	cm_rx(b->side[1].cm, &b->side[1].path, mad, sizeof(mad));
	assert_int_equal(cm_get(b->side[1].last, CM_REJ_REASON), CM_REJ_INVALID_GID);
	memcpy(mad, b->side[0].last, sizeof(mad));
	cm_put(mad, CM_REQ_MTU, 6);
	cm_rx(b->side[1].cm, &b->side[1].path, mad, sizeof(mad));
	assert_int_equal(cm_get(b->side[1].last, CM_REJ_REASON), CM_REJ_UNSUPPORTED);
	assert_int_equal(b->side[1].cm->nr_ids, 0);
	destroy(b, 0);
}

/* ---- one side goes at every state -------------------------------------------------------- */

/* Brings a connection so far. */
static void reach(struct bed *b, enum cm_state active)
{
	struct cm_params p = bed_params(1);

	bed_connect(b);
	if (active == CM_REQ_SENT)
		return;
	cm_accept(b->side[1].id, b->side[1].guid, &p);
	bed_settle(b);
	if (active == CM_REP_RCVD)
		return;
	cm_rtu(b->side[0].id, NULL, 0);
	bed_settle(b);
	if (active == CM_ESTABLISHED)
		return;
	if (active == CM_DREQ_RCVD) {
		cm_disconnect(b->side[1].id);
		bed_settle(b);
		return;
	}
	cm_disconnect(b->side[0].id);
	bed_settle(b);
	if (active == CM_DREQ_SENT)
		return;
	cm_drep(b->side[1].id);
	bed_settle(b);
}

static const enum cm_state states[] = {CM_REQ_SENT,  CM_REP_RCVD,  CM_ESTABLISHED,
				       CM_DREQ_SENT, CM_DREQ_RCVD, CM_TIMEWAIT};

static void leaves_nothing(struct bed *b, enum cm_state s, unsigned int first)
{
	reach(b, s);
	assert_int_equal(b->side[0].id->state, s);
	destroy(b, first);
	/* The other hears of it, and lets go then. */
	bed_run_ms(b, 200000);
	destroy(b, !first);
	expect_empty(b);
}

static void a_side_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		for (unsigned int first = 0; first < 2; first++) {
			struct bed b;

			bed_start(&b);
			leaves_nothing(&b, states[i], first);
			bed_stop(&b);
		}
}

static void a_host_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		for (unsigned int first = 0; first < 2; first++) {
			struct bed b;

			bed_start(&b);
			reach(&b, states[i]);
			b.pass = pass_nothing; /* not a word arrives any more */
			destroy(&b, first);
			bed_run_ms(&b, 300000);
			destroy(&b, !first);
			expect_empty(&b);
			bed_stop(&b);
		}
}

static void port_gone(void **state)
{
	struct bed *b = *state;

	bed_establish(b);
	cm_port_gone(b->side[0].cm, &b->side[0].port);
	assert_int_equal(b->side[0].id->state, CM_IDLE);
	destroy(b, 0);
	assert_int_equal(b->side[0].cm->nr_ids, 0);
	assert_int_equal(b->side[0].sent[CM_MSG_DREQ], 0);
	destroy(b, 1);
}

/* ---- loss --------------------------------------------------------------------------------- */

/* Both programs do what they should at each event; in the end both are connected. */
static void drive(struct bed *b)
{
	struct cm_params p = bed_params(1);

	for (unsigned int i = 0; i < 2; i++) {
		struct bed_side *s = &b->side[i];

		while (s->seen < s->nr_events) {
			switch (s->event[s->seen++ % BED_EVENTS].kind) {
			case CM_EV_REQ:
				assert_int_equal(cm_accept(s->id, s->guid, &p), 0);
				break;
			case CM_EV_REP:
				assert_int_equal(cm_rtu(s->id, NULL, 0), 0);
				break;
			case CM_EV_DREQ:
				cm_drep(s->id);
				break;
			default:
				break;
			}
			bed_settle(b);
		}
	}
}

static void through_loss(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 500; seed++) {
		struct bed b;

		bed_start(&b);
		b.seed = seed * 2654435761u;
		b.loss_percent = 30;
		b.twice = seed % 3 == 0;
		bed_connect(&b);
		for (int i = 0; i < 60; i++) {
			drive(&b);
			if (b.side[1].id && b.side[1].id->state == CM_ESTABLISHED)
				break;
			bed_step(&b);
		}
		assert_int_equal(b.side[0].id->state, CM_ESTABLISHED);
		assert_int_equal(b.side[1].id->state, CM_ESTABLISHED);
		cm_disconnect(b.side[seed % 2].id);
		for (int i = 0; i < 60; i++) {
			bed_settle(&b);
			drive(&b);
			bed_step(&b);
		}
		cm_id_destroy(b.side[0].id);
		cm_id_destroy(b.side[1].id);
		expect_empty(&b);
		bed_stop(&b);
	}
}

/* ---- datagram services ------------------------------------------------------------------------ */

static void sidr(void **state)
{
	struct bed *b = *state;
	struct bed_side *s = &b->side[0];
	struct cm_params p = bed_params(0), r = bed_params(1);
	struct bed_event *e;

	p.priv = "who";
	p.priv_len = 4;
	s->id = cm_id_new(s->cm, s);
	assert_int_equal(cm_sidr_request(s->id, &s->path, &p), 0);
	bed_settle(b);
	e = bed_expect(b, 1, CM_EV_SIDR_REQ);
	assert_int_equal(e->p.service_id, 0x1061c06);
	assert_string_equal((char *)e->priv, "who");
	assert_int_equal(e->priv_len, 216);
	bed_step(b); /* asked again: the program has the first one */
	bed_expect_none(b, 1);
	r.qkey = 0x01234567;
	r.ece_vendor = 0x123456;
	r.ece_options = 9;
	assert_int_equal(cm_sidr_reply(b->side[1].id, CM_SIDR_SUCCESS, &r), 0);
	bed_settle(b);
	e = bed_expect(b, 0, CM_EV_SIDR_REP);
	assert_int_equal(e->status, 0);
	assert_int_equal(e->p.qpn, 0x25);
	assert_int_equal(e->p.qkey, 0x01234567);
	assert_int_equal(e->p.ece_vendor, 0x123456);
	assert_int_equal(e->p.ece_options, 9);
	destroy(b, 0);
	destroy(b, 1);
	expect_empty(b);
}

static void sidr_refused(void **state)
{
	struct bed *b = *state;
	struct bed_side *s = &b->side[0];
	struct cm_params p = bed_params(0);

	b->side[1].answer = CM_SIDR_UNSUPPORTED;
	s->id = cm_id_new(s->cm, s);
	cm_sidr_request(s->id, &s->path, &p);
	bed_settle(b);
	assert_int_equal(bed_expect(b, 0, CM_EV_SIDR_REP)->status, CM_SIDR_UNSUPPORTED);
	b->side[1].answer = 0;
	cm_sidr_request(s->id, &s->path, &p);
	bed_settle(b);
	destroy(b, 1); /* unanswered: a rejection */
	assert_int_equal(bed_expect(b, 0, CM_EV_SIDR_REP)->status, CM_SIDR_REJECT);
	b->pass = pass_nothing;
	cm_sidr_request(s->id, &s->path, &p);
	while (bed_step(b))
		;
	bed_expect(b, 0, CM_EV_SIDR_ERROR);
	destroy(b, 0);
	expect_empty(b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(made_and_ended),
		TEST(resources_change_sides),
		TEST(private_data_and_ece),
		TEST(refused_by_program),
		TEST(nobody_listens),
		TEST(no_room_is_silence),
		TEST(unreachable),
		TEST(everything_twice),
		TEST(lost_rtu_comes_again),
		TEST(slow_program_sends_mra),
		TEST(establish_by_data),
		TEST(forgotten_peer_is_stale),
		TEST(unknown_dreq_is_answered),
		TEST(strangers_change_nothing),
		TEST(malformed_requests),
		TEST(port_gone),
		TEST(sidr),
		TEST(sidr_refused),
		cmocka_unit_test(a_side_goes),
		cmocka_unit_test(a_host_goes),
		cmocka_unit_test(through_loss),
	};

	return cmocka_run_group_tests_name("cm_connect", tests, NULL, NULL);
}
