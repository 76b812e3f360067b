/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CM exchanges of the kernel's driver (tests/pcaps/cm_*): every message is
 * understood, and ours of the same parameters has the same bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "bpf/pcap.h"
#include "unit/cm_bed.h"
#include "cm/ip_header.h"

#define DETH_END     20 /* BTH and DETH */
#define UD_SEND_ONLY 0x64

struct capture {
	unsigned int seen[CM_MSG_LAST + 1];
	uint8_t mad[CM_MSG_LAST + 1][CM_MAD_LEN]; /* the first of each kind */
	const char *only;			  /* the file to keep messages of */
};

static void look(void *arg, const char *file, struct frame *f, bool roce)
{
	struct capture *c = arg;
	const uint8_t *mad = f->bytes + f->bth + DETH_END;
	int msg;

	if (!roce || f->bytes[f->bth] != UD_SEND_ONLY || f->bytes[f->bth + 7] != 1)
		return;
	assert_int_equal(f->icrc - f->bth - DETH_END, CM_MAD_LEN);
	msg = cm_mad_check(mad, CM_MAD_LEN);
	assert_true(msg > 0);
	if (!c->only || strstr(file, c->only))
		if (!c->seen[msg]++)
			memcpy(c->mad[msg], mad, CM_MAD_LEN);
}

static void capture(struct capture *c, const char *only)
{
	memset(c, 0, sizeof(*c));
	c->only = only;
	assert_true(pcap_for_each(look, c) > 100);
}

static void all_are_understood(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, NULL);
	assert_true(c.seen[CM_MSG_REQ] >= 6);
	assert_true(c.seen[CM_MSG_REP] >= 5);
	assert_true(c.seen[CM_MSG_RTU] >= 5);
	assert_true(c.seen[CM_MSG_DREQ] >= 5);
	assert_true(c.seen[CM_MSG_DREP] >= 5);
	assert_true(c.seen[CM_MSG_REJ] >= 1);
	assert_int_equal(c.seen[CM_MSG_SIDR_REQ], 2);
	assert_int_equal(c.seen[CM_MSG_SIDR_REP], 2);
}

/* Numbers that each CM chooses for itself. */
static void same_but_ids(uint8_t *ours, uint8_t *theirs, bool remote)
{
	for (int i = 0; i < 2; i++) {
		uint8_t *m = i ? ours : theirs;

		cm_put(m, CM_TID, 0);
		cm_put(m, CM_LOCAL_COMM_ID, 0);
		if (remote)
			cm_put(m, CM_REMOTE_COMM_ID, 0);
	}
	assert_memory_equal(ours, theirs, CM_MAD_LEN);
}

static struct cm_params of_req(uint8_t *mad)
{
	struct cm_params p = {
		.service_id = cm_get(mad, CM_REQ_SERVICE_ID),
		.qpn = (uint32_t)cm_get(mad, CM_REQ_QPN),
		.psn = (uint32_t)cm_get(mad, CM_REQ_PSN),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry = 7,
		.mtu = 3,
		.ack_timeout = 19,
		.cm_timeout = 20,
		.max_cm_retries = 15,
	};

	p.priv = cm_private_data(mad, CM_MSG_REQ, &p.priv_len);
	return p;
}

static void path_of_req(struct bed_side *s, const uint8_t *mad, bool active)
{
	const uint8_t *local = mad + CM_MAD_HDR + CM_REQ_LOCAL_GID;
	const uint8_t *remote = mad + CM_MAD_HDR + CM_REQ_REMOTE_GID;

	memcpy(s->path.sgid, active ? local : remote, 16);
	memcpy(s->path.dgid, active ? remote : local, 16);
	s->path.flow_label = (uint32_t)cm_get(mad, CM_REQ_FLOW_LABEL);
}

/* rping's connection: the parameters of the capture give its bytes. */
static void rc_has_the_drivers_bytes(void **state)
{
	struct capture c;
	struct bed b;
	struct bed_side *s = &b.side[0], *d = &b.side[1];
	struct cm_params p;
	uint8_t req[CM_MAD_LEN];

	(void)state;
	capture(&c, "cm_rping");
	bed_start(&b);
	path_of_req(s, c.mad[CM_MSG_REQ], true);
	path_of_req(d, c.mad[CM_MSG_REQ], false);
	s->guid = cm_get(c.mad[CM_MSG_REQ], CM_REQ_CA_GUID);
	d->guid = cm_get(c.mad[CM_MSG_REP], CM_REP_CA_GUID);
	memcpy(req, c.mad[CM_MSG_REQ], sizeof(req));
	p = of_req(req);
	s->id = cm_id_new(s->cm, s);
	assert_int_equal(cm_connect(s->id, &s->path, s->guid, &p), 0);
	same_but_ids(s->last, c.mad[CM_MSG_REQ], false);
	bed_settle(&b);
	bed_expect(&b, 1, CM_EV_REQ);
	p = (struct cm_params){.qpn = (uint32_t)cm_get(c.mad[CM_MSG_REP], CM_REP_QPN),
			       .psn = (uint32_t)cm_get(c.mad[CM_MSG_REP], CM_REP_PSN),
			       .responder_resources = 1,
			       .initiator_depth = 1,
			       .rnr_retry = 7,
			       .ack_delay = 15};
	assert_int_equal(cm_accept(d->id, d->guid, &p), 0);
	same_but_ids(d->last, c.mad[CM_MSG_REP], true);
	bed_settle(&b);
	cm_rtu(s->id, NULL, 0);
	same_but_ids(s->last, c.mad[CM_MSG_RTU], true);
	bed_settle(&b);
	cm_disconnect(s->id);
	same_but_ids(s->last, c.mad[CM_MSG_DREQ], true);
	bed_settle(&b);
	cm_drep(d->id);
	same_but_ids(d->last, c.mad[CM_MSG_DREP], true);
	bed_stop(&b);
}

/* The driver's REQ to a port without listener, and its REJ. */
static void refusal_has_the_drivers_bytes(void **state)
{
	struct capture c;
	struct bed b;
	struct bed_side *d = &b.side[1];

	(void)state;
	capture(&c, "cm_refused");
	bed_start(&b);
	path_of_req(d, c.mad[CM_MSG_REQ], false);
	memcpy(b.side[0].path.sgid, d->path.dgid, 16);
	memcpy(b.side[0].path.dgid, d->path.sgid, 16);
	d->answer = CM_REJ_INVALID_SERVICE_ID;
	cm_rx(d->cm, &d->path, c.mad[CM_MSG_REQ], CM_MAD_LEN);
	assert_memory_equal(d->last, c.mad[CM_MSG_REJ], CM_MAD_LEN);
	bed_stop(&b);
}

static void sidr_has_the_drivers_bytes(void **state)
{
	struct capture c;
	struct bed b;
	struct bed_side *s = &b.side[0], *d = &b.side[1];
	struct cm_params p = {.cm_timeout = 20, .max_cm_retries = 15};
	uint8_t req[CM_MAD_LEN];

	(void)state;
	capture(&c, "cm_udaddy");
	bed_start(&b);
	memcpy(req, c.mad[CM_MSG_SIDR_REQ], sizeof(req));
	p.service_id = cm_get(req, CM_SIDR_REQ_SERVICE_ID);
	p.priv = cm_private_data(req, CM_MSG_SIDR_REQ, &p.priv_len);
	s->id = cm_id_new(s->cm, s);
	assert_int_equal(cm_sidr_request(s->id, &s->path, &p), 0);
	same_but_ids(s->last, c.mad[CM_MSG_SIDR_REQ], false);
	bed_settle(&b);
	p = (struct cm_params){.qpn = (uint32_t)cm_get(c.mad[CM_MSG_SIDR_REP], CM_SIDR_REP_QPN),
			       .qkey = 0x01234567};
	assert_int_equal(cm_sidr_reply(d->id, CM_SIDR_SUCCESS, &p), 0);
	same_but_ids(d->last, c.mad[CM_MSG_SIDR_REP], false);
	bed_stop(&b);
}

static void headers_agree_with_the_path(void **state)
{
	struct cm_ip_header h;
	struct capture c;
	size_t len;
	uint8_t *priv;

	(void)state;
	capture(&c, "cm_rping");
	priv = cm_private_data(c.mad[CM_MSG_REQ], CM_MSG_REQ, &len);
	assert_int_equal(cm_ip_header_get(priv, len, &h), 0);
	assert_false(h.v6);
	assert_int_equal(h.src_port, 0xbb98);
	assert_memory_equal(h.src, c.mad[CM_MSG_REQ] + CM_MAD_HDR + CM_REQ_LOCAL_GID, 16);
	assert_memory_equal(h.dst, c.mad[CM_MSG_REQ] + CM_MAD_HDR + CM_REQ_REMOTE_GID, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_understood),
		cmocka_unit_test(rc_has_the_drivers_bytes),
		cmocka_unit_test(refusal_has_the_drivers_bytes),
		cmocka_unit_test(sidr_has_the_drivers_bytes),
		cmocka_unit_test(headers_agree_with_the_path),
	};

	return cmocka_run_group_tests_name("cm_pcaps", tests, NULL, NULL);
}
