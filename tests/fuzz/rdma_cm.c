/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm device and the connection manager: commands of two files, MADs
 * of any bytes from the wire, and answers made from what was sent. The device
 * also talks to itself, so whole connections take place. When both files are
 * closed no id, route, connection or descriptor is left.
 *
 * Each step is a byte that selects one of steps[]; bit 7: of the second file.
 */
#include <unistd.h>
#include "cm/ip_header.h"
#include "gsi.h"
#include "netns.h"
#include "room.h"
#include "uapi/ucma.h"

#define MAX_STEPS 60
#define PASSES	  3 /* through the worker and back: a MAD and its answer */

static struct rxe_peer peer;
static struct {
	struct ucma_file *f;
	int fd;
} files[2];
static uint8_t out[UCMA_OUT_MAX];

static void nothing(struct rxe_worker *w, void *arg)
{
	(void)w;
	(void)arg;
}

/* What is under way between control thread and worker arrives. */
static void let_arrive(void)
{
	for (int i = 0; i < PASSES; i++) {
		rxe_worker_call(rxed.workers[0], nothing, NULL);
		room_pass();
	}
}

static void call(int f, const void *cmd, size_t len, const void *extra, size_t extra_len)
{
	void *p = malloc(len ? len : 1), *e = malloc(extra_len ? extra_len : 1);
	size_t n;

	fuzz_assert(p && e);
	if (len)
		memcpy(p, cmd, len);
	if (extra_len)
		memcpy(e, extra, extra_len);
	ucma_write(files[f].f, p, len, e, extra_len, out, &n);
	fuzz_assert(n <= sizeof(out));
	free(p);
	free(e);
}

/* ---- steps --------------------------------------------------------------------------- */

/* Where each command names its id; 0xffff: nowhere. */
static const uint16_t id_at[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = 0xffff,
	[RDMA_USER_CM_CMD_DESTROY_ID] = offsetof(struct rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_BIND_IP] = offsetof(struct rdma_ucm_bind_ip, id),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = offsetof(struct rdma_ucm_resolve_ip, id),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = offsetof(struct rdma_ucm_query, id),
	[RDMA_USER_CM_CMD_CONNECT] = offsetof(struct rdma_ucm_connect, id),
	[RDMA_USER_CM_CMD_ACCEPT] = offsetof(struct rdma_ucm_accept, id),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = offsetof(struct rdma_ucm_init_qp_attr, id),
	[RDMA_USER_CM_CMD_GET_EVENT] = 0xffff,
	[RDMA_USER_CM_CMD_SET_OPTION] = offsetof(struct rdma_ucm_set_option, id),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = offsetof(struct rdma_ucm_join_ip_mcast, id),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = offsetof(struct rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = offsetof(struct rdma_ucm_migrate_id, id),
	[RDMA_USER_CM_CMD_QUERY] = offsetof(struct rdma_ucm_query, id),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = offsetof(struct rdma_ucm_join_mcast, id),
	/* the others: at 0 */
};

/* The nth id of either file, or of its groups when it has any. */
static uint32_t some_handle(uint32_t cmd, unsigned int n)
{
	struct ucma_id *id;

	for (int f = 0; f < 2; f++)
		LIST_FOREACH (id, &files[f].f->ids, link) {
			if (n--)
				continue;
			if (cmd == RDMA_USER_CM_CMD_LEAVE_MCAST && LIST_FIRST(&id->mcs))
				return LIST_FIRST(&id->mcs)->handle;
			return id->handle;
		}
	return n;
}

static void command(int f, struct fuzz_input *in)
{
	uint8_t buf[sizeof(struct rdma_ucm_cmd_hdr) + 600] = {0}, which;
	struct rdma_ucm_cmd_hdr h = {.cmd = fuzz_u8(in), .out = UCMA_OUT_MAX};
	size_t len, extra_len;
	const uint8_t *p, *extra;
	uint32_t handle;
	uint16_t at = h.cmd < sizeof(id_at) / sizeof(id_at[0]) ? id_at[h.cmd] : 0;

	which = fuzz_u8(in);
	p = fuzz_block(in, 592, &len);
	extra = fuzz_block(in, 256, &extra_len);
	h.in = (uint16_t)len;
	memcpy(buf, &h, sizeof(h));
	if (len)
		memcpy(buf + sizeof(h), p, len);
	handle = some_handle(h.cmd, which & 15);
	if (!(which & 0x80) && at + sizeof(handle) <= len)
		memcpy(buf + sizeof(h) + at, &handle, sizeof(handle));
	if (h.cmd == RDMA_USER_CM_CMD_MIGRATE_ID && which & 0x40) {
		extra = (const void *)&files[!f].f->cookie;
		extra_len = sizeof(files[!f].f->cookie);
	}
	call(f, buf, sizeof(h) + len, extra, extra_len);
	let_arrive();
}

static void any_write(int f, struct fuzz_input *in)
{
	size_t len, extra_len;
	const uint8_t *p = fuzz_block(in, 1024, &len);
	const uint8_t *extra = fuzz_block(in, 256, &extra_len);

	call(f, p, len, extra, extra_len);
}

static void events(int f, struct fuzz_input *in)
{
	struct {
		struct rdma_ucm_cmd_hdr h;
		struct rdma_ucm_get_event in;
	} get = {{RDMA_USER_CM_CMD_GET_EVENT, sizeof(get.in), UCMA_OUT_MAX}, {0}};

	for (int i = fuzz_u8(in) & 7; i >= 0; i--)
		call(f, &get, sizeof(get), NULL, 0);
}

static void receive(const union rxe_ip *from, const union rxe_ip *to, const uint8_t *mad,
		    size_t len)
{
	struct cm_ip_header ip;
	uint8_t *p = malloc(len ? len : 1);

	fuzz_assert(p);
	if (len)
		memcpy(p, mad, len);
	cm_mad_check(p, len);
	cm_ip_header_get(p, len, &ip);
	rxe_cm_mad(room_dev(), from, to, p, (uint32_t)len);
	free(p);
	let_arrive();
}

static union rxe_ip address(uint8_t last, bool v6)
{
	union rxe_ip ip = {{0}};

	if (v6) {
		ip.raw[0] = 0xfd;
		ip.raw[15] = last & 1 ? 0x0b : 0x0a;
	} else {
		ip.raw[10] = ip.raw[11] = 0xff;
		ip.raw[12] = 10;
		ip.raw[13] = 9;
		ip.raw[15] = last;
	}
	return ip;
}

static void any_mad(int f, struct fuzz_input *in)
{
	uint8_t how = fuzz_u8(in), mad[RXE_GSI_MAX] = {0};
	union rxe_ip from = address(how & 1, how & 2), to = address(how >> 2 & 1, how & 2);
	size_t len;
	const uint8_t *p = fuzz_block(in, sizeof(mad), &len);

	(void)f;
	if (len)
		memcpy(mad, p, len);
	receive(&from, &to, mad, how & 0x80 ? len : sizeof(mad));
}

/* A message of the right kind, with the bytes of the input behind the header. */
static void made_mad(int f, struct fuzz_input *in)
{
	uint8_t how = fuzz_u8(in), mad[RXE_GSI_MAX];
	union rxe_ip from = address(how & 1, how & 2), to = address(how >> 2 & 1, how & 2);
	size_t len;
	const uint8_t *p;

	(void)f;
	cm_mad_init(mad, CM_MSG_FIRST + fuzz_u8(in) % (CM_MSG_LAST - CM_MSG_FIRST + 1), 0x77);
	p = fuzz_block(in, sizeof(mad) - CM_MAD_HDR, &len);
	if (len)
		memcpy(mad + CM_MAD_HDR, p, len);
	receive(&from, &to, mad, sizeof(mad));
}

/*
 * To the oldest MAD that went to the wire: the message that the input says,
 * of the same transaction, naming the communication ids of that one.
 */
static void answer(int f, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in), mad[RXE_GSI_MAX];
	enum cm_msg msg = CM_MSG_FIRST + (what & 15) % (CM_MSG_LAST - CM_MSG_FIRST + 1);
	struct room_mad m = {0};
	size_t len, at;
	const uint8_t *p;

	(void)f;
	while (room_sent(&m) && what & 0x80) /* the newest */
		;
	at = fuzz_u8(in);
	p = fuzz_block(in, 64, &len);
	if (m.len != sizeof(mad))
		return;
	if (what & 0x40) { /* the same once more, from there */
		memcpy(mad, m.bytes, sizeof(mad));
	} else {
		cm_mad_init(mad, msg, cm_get(m.bytes, CM_TID));
		cm_put(mad, CM_LOCAL_COMM_ID, 0x9999);
		cm_put(mad, CM_REMOTE_COMM_ID, cm_get(m.bytes, CM_LOCAL_COMM_ID));
		if (msg == CM_MSG_SIDR_REP)
			cm_put(mad, CM_SIDR_REP_ID, cm_get(m.bytes, CM_SIDR_REQ_ID));
	}
	for (size_t i = 0; i < len && at + i < sizeof(mad); i++)
		mad[at + i] ^= p[i];
	receive(&m.dip, &m.sip, mad, sizeof(mad));
}

/* The device goes from under them, and comes back. */
static void device_gone(int f, struct fuzz_input *in)
{
	(void)f;
	(void)in;
	ucma_dev_gone(room_dev());
	let_arrive();
}

static void (*const steps[])(int f, struct fuzz_input *in) = {
	command, command, command, any_write, events, any_mad, made_mad, answer, device_gone,
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	room_start();
	fuzz_assert(!rxe_netns_self(&peer.ns));
	peer.pid = 7;
	peer.net_bind = true;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct room_mad m;

	room_begin();
	while (room_sent(&m))
		;
	for (int i = 0; i < 2; i++)
		fuzz_assert(!ucma_open(&peer, &files[i].f, &files[i].fd));
	for (int i = 0; i < MAX_STEPS && in.left; i++) {
		uint8_t what = fuzz_u8(&in);

		steps[(what & 0x3f) % (sizeof(steps) / sizeof(steps[0]))](what >> 7, &in);
	}
	for (int i = 0; i < 2; i++) {
		ucma_close(files[i].f);
		close(files[i].fd);
	}
	let_arrive();
	ucma_dev_gone(room_dev()); /* what rests in timewait */
	fuzz_assert(!ucma_connections(room_dev()));
	room_settle();
	return 0;
}
