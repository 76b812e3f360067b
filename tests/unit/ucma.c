/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm device in one process: its commands as the preload library sends
 * them, on a device whose QP1 leads back to itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/rtnetlink.h>
#include "gsi.h"
#include "rtnl.h"
#include "uapi/ucma.h"

struct rxed rxed;

/* ---- stand-ins -------------------------------------------------------------- */

static struct rxe_dev dev;
static struct rxe_route route;
static int routes_held;
static int route_error;

#define MADS 32
static struct {
	struct rxe_gsi_to to;
	uint8_t mad[CM_MAD_LEN];
} mads[MADS];
static unsigned int mad_head, mad_tail;

void rxe_gsi_send_mad(struct rxe_dev *d, const struct rxe_gsi_to *to, const uint8_t *mad)
{
	assert_ptr_equal(d, &dev);
	assert_true(mad_tail - mad_head < MADS);
	mads[mad_tail % MADS].to = *to;
	memcpy(mads[mad_tail++ % MADS].mad, mad, CM_MAD_LEN);
}

static void deliver(void)
{
	while (mad_head != mad_tail) {
		unsigned int i = mad_head++ % MADS;

		rxe_cm_mad(&dev, &mads[i].to.sip, &mads[i].to.dip, mads[i].mad, CM_MAD_LEN);
	}
}

int rxe_route_resolve(struct rxe_dev *d, const union rxe_ip *sip, const union rxe_ip *dip,
		      rxe_route_cb cb, void *arg, struct rxe_route **out)
{
	(void)d;
	(void)sip;
	(void)dip;
	(void)cb;
	(void)arg;
	if (route_error)
		return route_error;
	routes_held++;
	*out = &route;
	return 0;
}

void rxe_route_cancel(void *arg)
{
	(void)arg;
}

void rxe_route_put(struct rxe_route *r)
{
	assert_ptr_equal(r, &route);
	routes_held--;
}

void rxe_dev_get(struct rxe_dev *d)
{
	d->refs++;
}

void rxe_dev_put(struct rxe_dev *d)
{
	d->refs--;
}

uint32_t rxe_mtu_to_enum(uint32_t bytes)
{
	return bytes == 1024 ? 3 : 5;
}

bool rxe_dev_visible(const struct rxe_dev *dev, const struct rxe_netns *ns)
{
	(void)dev;
	(void)ns;
	return true;
}

int rxe_gid_find(const struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip)
{
	for (int i = 0; i < RXE_GID_TBL_LEN; i++)
		if (tbl[i].valid && rxe_ip_equal(&tbl[i].ip, ip))
			return i;
	return -ENOENT;
}

bool rxe_ip_is_multicast(const union rxe_ip *ip)
{
	return rxe_ip_is_v4(ip) ? (ip->raw[12] & 0xf0) == 0xe0 : ip->raw[0] == 0xff;
}

int rxe_rtnl_route_get(struct rxe_rtnl *r, int ifindex, const union rxe_ip *src,
		       const union rxe_ip *dst, struct rxe_nexthop *out)
{
	(void)r;
	(void)ifindex;
	(void)src;
	memset(out, 0, sizeof(*out));
	out->type = rxe_gid_find(dev.gids, dst) >= 0 ? RTN_LOCAL : RTN_UNICAST;
	out->ifindex = dev.ifindex;
	out->next = *dst;
	out->src = dev.gids[0].ip;
	return 0;
}

/* ---- the bed ------------------------------------------------------------------- */

static struct rxe_peer peer = {.pid = 7, .net_bind = false};
static struct ucma_file *file[2];
static int client_fd[2];
static uint8_t out[UCMA_OUT_MAX];
static size_t out_len;

static void set_ip4(union rxe_ip *ip, uint32_t host)
{
	memset(ip, 0, sizeof(*ip));
	ip->raw[10] = ip->raw[11] = 0xff;
	host = htonl(host);
	memcpy(ip->raw + 12, &host, 4);
}

static int set_up(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	TAILQ_INIT(&rxed.devs);
	TAILQ_INSERT_TAIL(&rxed.devs, &dev, link);
	dev.ns = peer.ns = (struct rxe_netns *)&dev;
	dev.rtnl = (struct rxe_rtnl *)&dev;
	dev.ifindex = 3;
	dev.node_guid = 0x505400fffe090002ull;
	dev.hca.mtu = 1024;
	set_ip4(&dev.gids[0].ip, 0x0a4d0001);
	dev.gids[0].valid = true;
	route_error = 0;
	mad_head = mad_tail = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(ucma_open(&peer, &file[i], &client_fd[i]), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		ucma_close(file[i]);
		close(client_fd[i]);
		deliver();
	}
	assert_int_equal(dev.nr_cm_id, 0);
	assert_int_equal(dev.refs, 0);
	assert_int_equal(routes_held, 0);
	ucma_dev_gone(&dev); /* what rests in timewait */
	assert_int_equal(ucma_connections(&dev), 0);
	return 0;
}

static int command(int f, uint32_t cmd, const void *in, size_t in_len, size_t out_room,
		   const void *extra, size_t extra_len)
{
	struct rdma_ucm_cmd_hdr hdr = {cmd, (uint16_t)in_len, (uint16_t)out_room};
	uint8_t buf[1024];

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), in, in_len);
	return ucma_write(file[f], buf, sizeof(hdr) + in_len, extra, extra_len, out, &out_len);
}

#define CALL(f, NAME, in) \
	command(f, RDMA_USER_CM_CMD_##NAME, &(in), sizeof(in), UCMA_OUT_MAX, NULL, 0)

static uint32_t create(int f, uint64_t uid, uint16_t ps)
{
	struct rdma_ucm_create_id in = {.uid = uid, .ps = ps};

	assert_int_equal(CALL(f, CREATE_ID, in), 0);
	return *(uint32_t *)out;
}

static struct sockaddr_in6 ip4(uint32_t host, uint16_t port)
{
	struct sockaddr_in6 sa = {0};
	struct sockaddr_in *in = (void *)&sa;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(host);
	in->sin_port = htons(port);
	return sa;
}

static int bind_to(int f, uint32_t id, uint32_t host, uint16_t port)
{
	struct rdma_ucm_bind_ip in = {.id = id, .addr = ip4(host, port)};

	return CALL(f, BIND_IP, in);
}

static int listen_on(int f, uint32_t id, uint32_t backlog)
{
	struct rdma_ucm_listen in = {.id = id, .backlog = backlog};

	return CALL(f, LISTEN, in);
}

static int resolve(int f, uint32_t id, uint32_t host, uint16_t port)
{
	struct rdma_ucm_resolve_ip in = {.id = id, .dst_addr = ip4(host, port), .timeout_ms = 1000};

	return CALL(f, RESOLVE_IP, in);
}

static int resolve_route(int f, uint32_t id)
{
	struct rdma_ucm_resolve_route in = {.id = id};

	return CALL(f, RESOLVE_ROUTE, in);
}

/* The next event, with its byte in the pipe. */
static struct rdma_ucm_event_resp event(int f, uint32_t type)
{
	struct rdma_ucm_get_event in = {0};
	struct rdma_ucm_event_resp ev;
	char byte;

	assert_int_equal(read(client_fd[f], &byte, 1), 1);
	assert_int_equal(CALL(f, GET_EVENT, in), 0);
	assert_int_equal(out_len, sizeof(ev));
	memcpy(&ev, out, sizeof(ev));
	assert_int_equal(ev.event, type);
	return ev;
}

static void no_event(int f)
{
	struct rdma_ucm_get_event in = {0};

	assert_int_equal(CALL(f, GET_EVENT, in), -EAGAIN);
}

static uint32_t destroy(int f, uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	assert_int_equal(CALL(f, DESTROY_ID, in), 0);
	deliver();
	return *(uint32_t *)out;
}

static struct rdma_ucm_connect connect_cmd(uint32_t id)
{
	struct rdma_ucm_connect in = {.id = id};

	in.conn_param.valid = 1;
	in.conn_param.qp_num = 0x1000 + id; /* one QP, one connection */
	in.conn_param.responder_resources = 2;
	in.conn_param.initiator_depth = 3;
	in.conn_param.private_data_len = 4;
	memcpy(in.conn_param.private_data, "ping", 4);
	in.ece.vendor_id = 0xabcdef;
	in.ece.attr_mod = 5;
	return in;
}

#define HOST 0x0a4d0001
#define PORT 7174

/* File 0 listens; file 1 asks; returns the id of file 1. */
static uint32_t ask(uint32_t listener)
{
	struct rdma_ucm_connect in;
	uint32_t id = create(1, 0x200, RDMA_PS_TCP);

	if (listener != UINT32_MAX) {
		assert_int_equal(bind_to(0, listener, HOST, PORT), 0);
		assert_int_equal(listen_on(0, listener, 1), 0);
	}
	assert_int_equal(resolve(1, id, HOST, PORT), 0);
	event(1, UCMA_ADDR_RESOLVED);
	assert_int_equal(resolve_route(1, id), 0);
	event(1, UCMA_ROUTE_RESOLVED);
	in = connect_cmd(id);
	assert_int_equal(CALL(1, CONNECT, in), 0);
	deliver();
	return id;
}

/* ---- tests ------------------------------------------------------------------------ */

static void connection(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP), id = ask(listener);
	struct rdma_ucm_accept acc = {.uid = 0x300};
	struct rdma_ucm_disconnect dis = {0};
	struct rdma_ucm_event_resp ev;

	(void)state;
	ev = event(0, UCMA_CONNECT_REQUEST);
	assert_int_equal(ev.uid, 0x100);
	assert_int_not_equal(ev.id, listener);
	assert_int_equal(ev.param.conn.qp_num, 0x1000 + id);
	assert_int_equal(ev.param.conn.responder_resources, 3);
	assert_int_equal(ev.param.conn.initiator_depth, 2);
	assert_int_equal(ev.param.conn.private_data_len, 56);
	assert_memory_equal(ev.param.conn.private_data, "ping", 4);
	assert_int_equal(ev.ece.vendor_id, 0xabcdef);
	assert_int_equal(ev.ece.attr_mod, 5);
	acc.id = ev.id;
	acc.conn_param.valid = 1;
	acc.conn_param.qp_num = 0x12;
	assert_int_equal(CALL(0, ACCEPT, acc), 0);
	deliver();
	ev = event(1, UCMA_CONNECT_RESPONSE);
	assert_int_equal(ev.uid, 0x200);
	assert_int_equal(ev.param.conn.qp_num, 0x12);
	assert_int_equal(ev.param.conn.private_data_len, 196);
	acc = (struct rdma_ucm_accept){.id = id};
	assert_int_equal(CALL(1, ACCEPT, acc), 0); /* the RTU */
	deliver();
	ev = event(0, UCMA_ESTABLISHED);
	assert_int_equal(ev.uid, 0x300);
	dis.id = id;
	assert_int_equal(CALL(1, DISCONNECT, dis), 0);
	deliver();
	event(0, UCMA_DISCONNECTED);
	dis.id = ev.id;
	assert_int_equal(CALL(0, DISCONNECT, dis), 0);
	deliver();
	event(1, UCMA_DISCONNECTED);
	/* What was read, not what was sent: the program acknowledged so many. */
	assert_int_equal(destroy(1, id), 4);
	assert_int_equal(destroy(0, ev.id), 2);
	assert_int_equal(destroy(0, listener), 1);
	no_event(0);
	no_event(1);
}

static void unread_request_goes_with_its_listener(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP);

	(void)state;
	ask(listener);
	assert_int_equal(dev.nr_cm_id, 3);
	assert_int_equal(destroy(0, listener), 0);
	no_event(0);
	assert_int_equal(event(1, UCMA_REJECTED).status, CM_REJ_CONSUMER);
	assert_int_equal(dev.nr_cm_id, 1);
}

static void backlog_is_a_limit(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP);

	(void)state;
	ask(listener);
	ask(UINT32_MAX);
	event(0, UCMA_CONNECT_REQUEST); /* gives its place back */
	no_event(0);
	no_event(1); /* the second was dropped, not refused */
	ask(UINT32_MAX);
	event(0, UCMA_CONNECT_REQUEST);
}

static void nobody_listens(void **state)
{
	(void)state;
	ask(UINT32_MAX);
	assert_int_equal(event(1, UCMA_REJECTED).status, CM_REJ_INVALID_SERVICE_ID);
}

static void rejected_with_data(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP);
	struct rdma_ucm_reject rej = {.private_data_len = 3, .private_data = "no", .reason = 9};
	struct rdma_ucm_event_resp ev;

	(void)state;
	ask(listener);
	rej.id = event(0, UCMA_CONNECT_REQUEST).id;
	assert_int_equal(CALL(0, REJECT, rej), -EINVAL); /* not a program's reason */
	rej.reason = CM_REJ_VENDOR_OPTION;
	assert_int_equal(CALL(0, REJECT, rej), 0);
	deliver();
	ev = event(1, UCMA_REJECTED);
	assert_int_equal(ev.status, CM_REJ_VENDOR_OPTION);
	assert_int_equal(ev.param.conn.private_data_len, 148);
	assert_string_equal((char *)ev.param.conn.private_data, "no");
}

static void datagrams(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_UDP), id = create(1, 0x200, RDMA_PS_UDP);
	struct rdma_ucm_accept acc = {.uid = 0x300};
	struct rdma_ucm_connect in;
	struct rdma_ucm_event_resp ev;

	(void)state;
	assert_int_equal(bind_to(0, listener, 0, PORT), 0);
	assert_int_equal(listen_on(0, listener, 4), 0);
	assert_int_equal(resolve(1, id, HOST, PORT), 0);
	event(1, UCMA_ADDR_RESOLVED);
	resolve_route(1, id);
	event(1, UCMA_ROUTE_RESOLVED);
	in = connect_cmd(id);
	assert_int_equal(CALL(1, CONNECT, in), 0);
	deliver();
	ev = event(0, UCMA_CONNECT_REQUEST);
	assert_int_equal(ev.param.ud.private_data_len, 180);
	assert_true(ucma_serves(&dev, peer.pid));
	acc.id = ev.id;
	acc.conn_param.valid = 1;
	acc.conn_param.qp_num = 0x27;
	assert_int_equal(CALL(0, ACCEPT, acc), 0);
	deliver();
	ev = event(1, UCMA_ESTABLISHED);
	assert_int_equal(ev.param.ud.qp_num, 0x27);
	assert_int_equal(ev.param.ud.qkey, UCMA_UD_QKEY);
	assert_int_equal(ev.param.ud.ah_attr.is_global, 1);
	assert_memory_equal(ev.param.ud.ah_attr.grh.dgid, dev.gids[0].ip.raw, 16);
}

static void migrated_with_its_events(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP);
	struct rdma_ucm_migrate_id mig = {.id = listener};
	uint64_t cookie = file[0]->cookie;
	char byte;

	(void)state;
	ask(listener);
	cookie ^= 1;
	assert_int_equal(command(1, RDMA_USER_CM_CMD_MIGRATE_ID, &mig, sizeof(mig), 4, &cookie, 8),
			 -EINVAL);
	cookie ^= 1;
	assert_int_equal(command(1, RDMA_USER_CM_CMD_MIGRATE_ID, &mig, sizeof(mig), 4, &cookie, 8),
			 0);
	assert_int_equal(*(uint32_t *)out, 0);
	no_event(0);
	/* Its byte is gone from the old pipe, too. */
	assert_int_equal(read(file[0]->rfd, &byte, 1), -1);
	event(1, UCMA_CONNECT_REQUEST);
	destroy(1, listener);
}

static void ports(void **state)
{
	struct rdma_ucm_set_option opt = {
		.level = RDMA_OPTION_ID, .optname = RDMA_OPTION_ID_REUSEADDR, .optlen = 4};
	uint32_t a = create(0, 1, RDMA_PS_TCP), b = create(0, 2, RDMA_PS_TCP);
	uint32_t c = create(0, 3, RDMA_PS_UDP), d = create(1, 4, RDMA_PS_TCP);
	int one = 1;

	(void)state;
	assert_int_equal(bind_to(0, a, HOST, 80), -EACCES);
	assert_int_equal(bind_to(0, a, HOST + 1, PORT), -EADDRNOTAVAIL);
	assert_int_equal(bind_to(0, a, HOST, PORT), 0);
	assert_int_equal(bind_to(0, a, HOST, PORT), -EINVAL);
	assert_int_equal(bind_to(0, b, HOST, PORT), -EADDRINUSE);
	assert_int_equal(bind_to(0, b, 0, PORT), -EADDRNOTAVAIL);
	assert_int_equal(bind_to(0, c, HOST, PORT), 0); /* a port space of its own */
	for (int i = 0; i < 2; i++) {
		opt.id = i ? d : a;
		assert_int_equal(
			command(i, RDMA_USER_CM_CMD_SET_OPTION, &opt, sizeof(opt), 0, &one, 4), 0);
	}
	assert_int_equal(bind_to(1, d, HOST, PORT), 0);
	/* Shared while nobody listens. */
	assert_int_equal(listen_on(0, a, 1), -EADDRINUSE);
	destroy(1, d);
	assert_int_equal(listen_on(0, a, 1), 0);
}

static void options(void **state)
{
	struct rdma_ucm_set_option opt = {.level = RDMA_OPTION_ID,
					  .optname = RDMA_OPTION_ID_ACK_TIMEOUT,
					  .optlen = 1,
					  .id = create(0, 1, RDMA_PS_UDP)};
	uint8_t v = 20;

	(void)state;
#define SET() command(0, RDMA_USER_CM_CMD_SET_OPTION, &opt, sizeof(opt), 0, &v, 1)
	assert_int_equal(SET(), -EINVAL); /* of RC only */
	opt.optname = RDMA_OPTION_ID_TOS;
	assert_int_equal(SET(), 0);
	opt.optname = RDMA_OPTION_ID_AFONLY;
	assert_int_equal(SET(), -EINVAL); /* has four bytes */
	opt.optname = 99;
	assert_int_equal(SET(), -ENOSYS);
	opt.id = create(0, 2, RDMA_PS_TCP);
	opt.optname = RDMA_OPTION_ID_ACK_TIMEOUT;
	assert_int_equal(SET(), 0);
	v = 32;
	assert_int_equal(SET(), -EINVAL);
}

static void groups(void **state)
{
	uint32_t id = create(0, 1, RDMA_PS_UDP);
	struct rdma_ucm_join_ip_mcast in = {.uid = 0x500, .id = id, .addr = ip4(0xef010203, 0)};
	struct rdma_ucm_destroy_id leave = {0};
	struct rdma_ucm_event_resp ev;

	(void)state;
	assert_int_equal(CALL(0, JOIN_IP_MCAST, in), -EINVAL); /* not bound */
	assert_int_equal(bind_to(0, id, HOST, 0), 0);
	assert_int_equal(CALL(0, JOIN_IP_MCAST, in), 0);
	leave.id = *(uint32_t *)out;
	ev = event(0, UCMA_MULTICAST_JOIN);
	assert_int_equal(ev.uid, 0x500);
	assert_int_equal(ev.id, leave.id);
	assert_int_equal(ev.param.ud.qp_num, 0xffffff);
	assert_int_equal(CALL(0, JOIN_IP_MCAST, in), -EADDRINUSE);
	in.addr = ip4(0x0a000001, 0);
	assert_int_equal(CALL(0, JOIN_IP_MCAST, in), -EINVAL); /* no group */
	assert_int_equal(CALL(1, LEAVE_MCAST, leave), -EINVAL);
	assert_int_equal(CALL(0, LEAVE_MCAST, leave), 0);
	assert_int_equal(*(uint32_t *)out, 1);
	assert_int_equal(CALL(0, LEAVE_MCAST, leave), -ENOENT);
}

static void failures_to_resolve(void **state)
{
	uint32_t id = create(1, 0x200, RDMA_PS_TCP);
	struct ucma_id *u;

	(void)state;
	route_error = -EHOSTUNREACH;
	assert_int_equal(resolve(1, id, HOST + 1, PORT), 0);
	assert_int_equal((int)event(1, UCMA_ADDR_ERROR).status, -EHOSTUNREACH);
	assert_int_equal(resolve_route(1, id), -EINVAL);
	route_error = 0;
	assert_int_equal(resolve(1, id, HOST + 1, PORT), 0); /* once more */
	event(1, UCMA_ADDR_RESOLVED);
	assert_int_equal(ucma_id_get(file[1], id, &u), 0);
	assert_memory_equal(&u->src.ip, &dev.gids[0].ip, 16);
	peer.ns = NULL; /* no device in the program's namespace */
	id = create(1, 0x201, RDMA_PS_TCP);
	assert_int_equal(resolve(1, id, HOST + 1, PORT), 0);
	assert_int_equal((int)event(1, UCMA_ADDR_ERROR).status, -ENODEV);
	peer.ns = dev.ns;
}

static void others_ids_and_bad_commands(void **state)
{
	uint32_t id = create(0, 1, RDMA_PS_TCP);
	struct rdma_ucm_destroy_id in = {.id = id};
	struct rdma_ucm_create_id bad = {.ps = 0x999};
	struct rdma_ucm_cmd_hdr hdr = {99, 0, 0};

	(void)state;
	assert_int_equal(CALL(1, DESTROY_ID, in), -EINVAL);
	in.id = 12345;
	assert_int_equal(CALL(0, DESTROY_ID, in), -ENOENT);
	assert_int_equal(CALL(0, CREATE_ID, bad), -EINVAL);
	assert_int_equal(ucma_write(file[0], &hdr, sizeof(hdr), NULL, 0, out, &out_len), -EINVAL);
	hdr.cmd = RDMA_USER_CM_CMD_GET_OPTION;
	assert_int_equal(ucma_write(file[0], &hdr, sizeof(hdr), NULL, 0, out, &out_len), -ENOSYS);
	hdr = (struct rdma_ucm_cmd_hdr){RDMA_USER_CM_CMD_LISTEN, 8, 0};
	assert_int_equal(ucma_write(file[0], &hdr, sizeof(hdr), NULL, 0, out, &out_len), -EINVAL);
	assert_int_equal(ucma_write(file[0], &hdr, 3, NULL, 0, out, &out_len), -EINVAL);
	in.id = id;
	assert_int_equal(command(0, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), 3, NULL, 0),
			 -ENOSPC);
}

static void device_removed(void **state)
{
	uint32_t listener = create(0, 0x100, RDMA_PS_TCP), id;

	(void)state;
	id = ask(listener);
	ucma_dev_gone(&dev);
	assert_int_equal(event(1, UCMA_DEVICE_REMOVAL).uid, 0x200);
	assert_int_equal(dev.nr_cm_id, 0);
	assert_int_equal(destroy(1, id), 3);
	event(0, UCMA_CONNECT_REQUEST);
	event(0, UCMA_DEVICE_REMOVAL);
}

/* Random commands of all kinds: nothing to see but that nothing breaks. */
static void noise(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint8_t buf[340] = {0};
		struct rdma_ucm_cmd_hdr hdr;

		for (size_t j = 0; j < sizeof(buf); j += 1 + (seed >> 20) % 24) {
			seed = seed * 1664525u + 1013904223u;
			buf[j] =
				(seed >> 8) % 4 ? (uint8_t)(seed >> 24) % 8 : (uint8_t)(seed >> 16);
		}
		hdr = (struct rdma_ucm_cmd_hdr){(seed >> 10) % 24, 320, UCMA_OUT_MAX};
		memcpy(buf, &hdr, sizeof(hdr));
		ucma_write(file[seed >> 31], buf, sizeof(buf), buf, seed % 9, out, &out_len);
		deliver();
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connection),
		TEST(unread_request_goes_with_its_listener),
		TEST(backlog_is_a_limit),
		TEST(nobody_listens),
		TEST(rejected_with_data),
		TEST(datagrams),
		TEST(migrated_with_its_events),
		TEST(ports),
		TEST(options),
		TEST(groups),
		TEST(failures_to_resolve),
		TEST(others_ids_and_bad_commands),
		TEST(device_removed),
		TEST(noise),
	};

	rxed.loop = rxe_loop_new();
	return cmocka_run_group_tests_name("ucma", tests, NULL, NULL);
}
