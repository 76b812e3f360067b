/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bed of the connection manager's tests (cm_bed.h). */
#include "unit/cm_bed.h"

#include <stdlib.h>
#include <string.h>

uint32_t bed_random(struct bed *b)
{
	b->seed = b->seed * 1664525u + 1013904223u;
	return b->seed >> 8;
}

static void enqueue(struct bed *b, unsigned int to, const uint8_t *mad)
{
	assert_true(b->tail - b->head < BED_QUEUE);
	b->queue[b->tail % BED_QUEUE].to = to;
	memcpy(b->queue[b->tail++ % BED_QUEUE].mad, mad, CM_MAD_LEN);
}

static void op_send(void *ctx, const struct cm_path *path, const uint8_t mad[CM_MAD_LEN])
{
	struct bed_side *s = ctx;
	struct bed *b = s->bed;
	unsigned int from = s == &b->side[1];

	assert_ptr_equal(path->port, &s->port);
	assert_memory_equal(path->dgid, s->path.dgid, 16);
	assert_true(cm_mad_check(mad, CM_MAD_LEN) > 0);
	s->sent[cm_get(mad, CM_ATTR_ID)]++;
	memcpy(s->last, mad, CM_MAD_LEN);
	if (b->pass && !b->pass(b, from, mad))
		return;
	if (b->loss_percent && bed_random(b) % 100 < b->loss_percent)
		return;
	enqueue(b, !from, mad);
	if (b->twice)
		enqueue(b, !from, mad);
}

static void record(struct bed_side *s, const struct cm_event *ev)
{
	struct bed_event *e = &s->event[s->nr_events++ % BED_EVENTS];

	e->kind = ev->kind;
	e->status = ev->status;
	e->p = ev->p;
	e->priv_len = ev->priv_len;
	if (ev->priv)
		memcpy(e->priv, ev->priv, ev->priv_len);
}

static int op_request(void *ctx, struct cm_id *id, const struct cm_event *ev)
{
	struct bed_side *s = ctx;

	record(s, ev);
	if (s->answer)
		return s->answer;
	s->id = id;
	id->owner = s;
	return 0;
}

static void op_event(void *ctx, struct cm_id *id, const struct cm_event *ev)
{
	assert_ptr_equal(id->owner, ctx);
	record(ctx, ev);
}

static uint32_t op_random(void *ctx)
{
	return bed_random(((struct bed_side *)ctx)->bed);
}

static void op_again(void *ctx, const struct cm_path *path, bool sent, const uint8_t *mad)
{
	struct bed_side *s = ctx;

	assert_ptr_equal(path->port, &s->port);
	s->again[sent][cm_get(mad, CM_ATTR_ID)]++;
}

static const struct cm_ops ops = {op_send, op_request, op_event, op_random, op_again};

void bed_start(struct bed *b)
{
	memset(b, 0, sizeof(*b));
	b->seed = 7;
	b->now = 1000000000;
	for (unsigned int i = 0; i < 2; i++) {
		struct bed_side *s = &b->side[i];

		s->bed = b;
		s->guid = 0x505400fffe090002ull + i;
		s->path.port = &s->port;
		s->path.hop_limit = 64;
		memset(s->path.sgid, 0x10 + (int)i, 16);
		memset(s->path.dgid, 0x10 + (int)!i, 16);
		s->cm = cm_new(&ops, s);
		assert_non_null(s->cm);
		cm_set_now(s->cm, b->now);
	}
}

void bed_stop(struct bed *b)
{
	for (unsigned int i = 0; i < 2; i++)
		cm_free(b->side[i].cm);
}

void bed_settle(struct bed *b)
{
	while (b->head != b->tail) {
		struct bed_side *s = &b->side[b->queue[b->head % BED_QUEUE].to];
		uint8_t mad[CM_MAD_LEN];

		memcpy(mad, b->queue[b->head++ % BED_QUEUE].mad, CM_MAD_LEN);
		cm_rx(s->cm, &s->path, mad, CM_MAD_LEN);
	}
}

bool bed_step(struct bed *b)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < 2; i++)
		if (cm_next(b->side[i].cm) < next)
			next = cm_next(b->side[i].cm);
	if (next == UINT64_MAX)
		return false;
	b->now = next > b->now ? next : b->now;
	for (unsigned int i = 0; i < 2; i++)
		cm_set_now(b->side[i].cm, b->now);
	for (unsigned int i = 0; i < 2; i++)
		cm_run(b->side[i].cm);
	bed_settle(b);
	return true;
}

void bed_run_ms(struct bed *b, uint64_t ms)
{
	uint64_t end = b->now + ms * 1000000;

	while ((cm_next(b->side[0].cm) <= end || cm_next(b->side[1].cm) <= end) && bed_step(b))
		;
	b->now = end;
	for (unsigned int i = 0; i < 2; i++)
		cm_set_now(b->side[i].cm, b->now);
}

struct bed_event *bed_expect(struct bed *b, unsigned int side, enum cm_event_kind kind)
{
	struct bed_side *s = &b->side[side];
	struct bed_event *e;

	assert_true(s->seen < s->nr_events);
	e = &s->event[s->seen++ % BED_EVENTS];
	assert_int_equal(e->kind, kind);
	return e;
}

void bed_expect_none(struct bed *b, unsigned int side)
{
	assert_int_equal(b->side[side].seen, b->side[side].nr_events);
}

struct cm_params bed_params(unsigned int side)
{
	return (struct cm_params){
		.service_id = 0x1061c06,
		.qpn = 0x24 + side,
		.psn = 0x84ba3d + side,
		.responder_resources = 3 + (uint8_t)side,
		.initiator_depth = 5 + (uint8_t)side,
		.retry_count = 7,
		.rnr_retry = 6,
		.mtu = 3,
		.ack_timeout = 19,
		.cm_timeout = 20,
		.max_cm_retries = 15,
		.ack_delay = 15,
	};
}

void bed_connect(struct bed *b)
{
	struct cm_params p = bed_params(0);
	struct bed_side *s = &b->side[0];

	s->id = cm_id_new(s->cm, s);
	assert_non_null(s->id);
	assert_int_equal(cm_connect(s->id, &s->path, s->guid, &p), 0);
	bed_settle(b);
}

void bed_establish(struct bed *b)
{
	struct cm_params p = bed_params(1);

	bed_connect(b);
	bed_expect(b, 1, CM_EV_REQ);
	assert_int_equal(cm_accept(b->side[1].id, b->side[1].guid, &p), 0);
	bed_settle(b);
	bed_expect(b, 0, CM_EV_REP);
	assert_int_equal(cm_rtu(b->side[0].id, NULL, 0), 0);
	bed_settle(b);
	bed_expect(b, 1, CM_EV_ESTABLISHED);
}
