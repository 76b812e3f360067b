/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm device's files: the table of its commands, ids from creation to
 * destruction, and their moving from one file to another.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static uint32_t next_res; /* of ids of all devices, since an id may change its own */
static LIST_HEAD(, ucma_file) files = LIST_HEAD_INITIALIZER(files);

/* ---- handles: one space for ids and groups of all files, as in the kernel ----------- */

struct slot {
	struct ucma_id *id;
	struct ucma_mc *mc;
};

static struct {
	struct slot *slot;
	uint32_t room, used, next;
} handles;

static struct slot *slot_of(uint32_t handle)
{
	return handle < handles.room ? &handles.slot[handle] : NULL;
}

static int grow(void)
{
	uint32_t room = handles.room ? 2 * handles.room : 64;
	struct slot *p = realloc(handles.slot, room * sizeof(*p));

	if (!p)
		return -ENOMEM;
	memset(p + handles.room, 0, (room - handles.room) * sizeof(*p));
	handles.slot = p;
	handles.room = room;
	return 0;
}

int ucma_handle_new(struct ucma_id *id, struct ucma_mc *mc, uint32_t *handle)
{
	struct slot *s;

	if (handles.used == handles.room && grow())
		return -ENOMEM;
	do
		s = slot_of(handles.next++ % handles.room);
	while (s->id || s->mc);
	*s = (struct slot){id, mc};
	*handle = (uint32_t)(s - handles.slot);
	handles.used++;
	return 0;
}

void ucma_handle_free(uint32_t handle)
{
	handles.slot[handle] = (struct slot){0};
	handles.used--;
}

int ucma_id_get(struct ucma_file *f, uint32_t handle, struct ucma_id **out)
{
	const struct slot *s = slot_of(handle);

	if (!s || !s->id)
		return -ENOENT;
	*out = s->id;
	return s->id->file == f ? 0 : -EINVAL;
}

int ucma_mc_get(struct ucma_file *f, uint32_t handle, struct ucma_mc **out)
{
	const struct slot *s = slot_of(handle);

	if (!s || !s->mc)
		return -ENOENT;
	*out = s->mc;
	return s->mc->id->file == f ? 0 : -EINVAL;
}

/* ---- ids --------------------------------------------------------------------------------- */

struct ucma_id *ucma_id_new(struct ucma_file *f, uint16_t ps, uint8_t qp_type)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id || ucma_handle_new(id, NULL, &id->handle)) {
		free(id);
		return NULL;
	}
	id->res = next_res++;
	id->file = f;
	id->ps = ps;
	id->qp_type = qp_type;
	if (getrandom(&id->psn, sizeof(id->psn), 0) != sizeof(id->psn))
		id->psn = id->handle;
	id->psn &= RXE_PSN_MASK;
	LIST_INIT(&id->mcs);
	LIST_INSERT_HEAD(&f->ids, id, link);
	return id;
}

static void free_groups(struct ucma_id *id)
{
	struct ucma_mc *mc;

	while ((mc = LIST_FIRST(&id->mcs))) {
		LIST_REMOVE(mc, link);
		ucma_handle_free(mc->handle);
		free(mc);
	}
}

void ucma_id_free(struct ucma_id *id)
{
	ucma_event_drop(id, NULL);
	ucma_resolve_cancel(id);
	if (id->cm && ucma_cm()) {
		cm_id_destroy(id->cm);
		ucma_cm_rearm();
	}
	ucma_port_put(id);
	ucma_id_detach(id);
	free_groups(id);
	ucma_handle_free(id->handle);
	LIST_REMOVE(id, link);
	free(id);
}

/* The QP type that a port space implies; 0: none. */
static uint8_t qp_type_of(uint16_t ps, uint8_t asked)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return RXE_QPT_RC;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return RXE_QPT_UD;
	case RDMA_PS_IB:
		return asked;
	default:
		return 0;
	}
}

static int create_id(struct ucma_cmd *c)
{
	const struct rdma_ucm_create_id *in = c->in;
	struct rdma_ucm_create_id_resp resp;
	uint8_t type = qp_type_of(in->ps, in->qp_type);
	struct ucma_id *id;
	int err;

	if (c->out_room < sizeof(resp))
		return -ENOSPC;
	if (!type)
		return -EINVAL;
	id = ucma_id_new(c->file, in->ps, type);
	if (!id)
		return -ENOMEM;
	id->uid = in->uid;
	resp.id = id->handle;
	err = ucma_respond(c, &resp, sizeof(resp), sizeof(resp));
	if (err)
		ucma_id_free(id);
	return err;
}

static int destroy_id(struct ucma_cmd *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_id *id;
	int err;

	if (c->out_room < sizeof(resp))
		return -ENOSPC;
	err = ucma_id_get(c->file, in->id, &id);
	if (err)
		return err;
	resp.events_reported = id->events_reported;
	ucma_id_free(id);
	return ucma_respond(c, &resp, sizeof(resp), sizeof(resp));
}

static struct ucma_file *file_by_cookie(const void *cookie, size_t len)
{
	struct ucma_file *f;

	LIST_FOREACH (f, &files, link)
		if (len == sizeof(f->cookie) && !memcmp(cookie, &f->cookie, len))
			return f;
	return NULL;
}

int ucma_migrate_id(struct ucma_cmd *c)
{
	const struct rdma_ucm_migrate_id *in = c->in;
	struct rdma_ucm_migrate_resp resp;
	struct ucma_file *from;
	struct ucma_id *id;
	int err;

	if (c->out_room < sizeof(resp))
		return -ENOSPC;
	from = file_by_cookie(c->extra, c->extra_len);
	if (!from)
		return -EINVAL;
	err = ucma_id_get(from, in->id, &id);
	if (err)
		return err;
	if (from != c->file) {
		ucma_event_move(id, c->file);
		LIST_REMOVE(id, link);
		id->file = c->file;
		LIST_INSERT_HEAD(&c->file->ids, id, link);
	}
	resp.events_reported = id->events_reported;
	return ucma_respond(c, &resp, sizeof(resp), sizeof(resp));
}

/* ---- commands ------------------------------------------------------------------------------- */

int ucma_respond(struct ucma_cmd *c, const void *resp, size_t size, size_t least)
{
	if (c->out_room < least)
		return -ENOSPC;
	c->out_len = c->out_room < size ? c->out_room : size;
	memcpy(c->out, resp, c->out_len);
	return 0;
}

#define CMD(name, fn, in)	   [RDMA_USER_CM_CMD_##name] = {fn, sizeof(struct in)}
#define CMD_TO(name, fn, in, last) [RDMA_USER_CM_CMD_##name] = {fn, offsetof(struct in, last)}

/* least: bytes that a command must bring; what ends in an ECE may do without it. */
static const struct {
	int (*fn)(struct ucma_cmd *c);
	size_t least;
} commands[] = {
	CMD(CREATE_ID, create_id, rdma_ucm_create_id),
	CMD(DESTROY_ID, destroy_id, rdma_ucm_destroy_id),
	CMD(BIND_IP, ucma_bind_ip, rdma_ucm_bind_ip),
	CMD(RESOLVE_IP, ucma_resolve_ip, rdma_ucm_resolve_ip),
	CMD(RESOLVE_ROUTE, ucma_resolve_route, rdma_ucm_resolve_route),
	CMD(QUERY_ROUTE, ucma_query_route, rdma_ucm_query),
	CMD_TO(CONNECT, ucma_connect, rdma_ucm_connect, ece),
	CMD(LISTEN, ucma_listen, rdma_ucm_listen),
	CMD_TO(ACCEPT, ucma_accept, rdma_ucm_accept, ece),
	CMD(REJECT, ucma_reject, rdma_ucm_reject),
	CMD(DISCONNECT, ucma_disconnect, rdma_ucm_disconnect),
	CMD(INIT_QP_ATTR, ucma_init_qp_attr, rdma_ucm_init_qp_attr),
	CMD(GET_EVENT, ucma_get_event, rdma_ucm_get_event),
	CMD(SET_OPTION, ucma_set_option, rdma_ucm_set_option),
	CMD(NOTIFY, ucma_notify, rdma_ucm_notify),
	CMD(JOIN_IP_MCAST, ucma_join_ip_mcast, rdma_ucm_join_ip_mcast),
	CMD(LEAVE_MCAST, ucma_leave_mcast, rdma_ucm_destroy_id),
	CMD(MIGRATE_ID, ucma_migrate_id, rdma_ucm_migrate_id),
	CMD(QUERY, ucma_query, rdma_ucm_query),
	CMD(BIND, ucma_bind, rdma_ucm_bind),
	CMD(RESOLVE_ADDR, ucma_resolve_addr, rdma_ucm_resolve_addr),
	CMD(JOIN_MCAST, ucma_join_mcast, rdma_ucm_join_mcast),
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define IN_MAX	    512

int ucma_write(struct ucma_file *f, const void *buf, size_t len, const void *extra,
	       size_t extra_len, void *out, size_t *out_len)
{
	_Alignas(8) uint8_t in[IN_MAX] = {0};
	struct rdma_ucm_cmd_hdr hdr;
	struct ucma_cmd c = {
		.file = f, .in = in, .extra = extra, .extra_len = extra_len, .out = out};
	int err;

	*out_len = 0;
	if (len < sizeof(hdr))
		return -EINVAL;
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.cmd >= NR_COMMANDS || hdr.in > len - sizeof(hdr))
		return -EINVAL;
	if (!commands[hdr.cmd].fn)
		return -ENOSYS;
	c.in_len = hdr.in < IN_MAX ? hdr.in : IN_MAX;
	if (c.in_len < commands[hdr.cmd].least)
		return -EINVAL;
	memcpy(in, (const uint8_t *)buf + sizeof(hdr), c.in_len);
	c.out_room = hdr.out < UCMA_OUT_MAX ? hdr.out : UCMA_OUT_MAX;
	err = commands[hdr.cmd].fn(&c);
	if (!err)
		*out_len = c.out_len;
	return err;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* A read end of our own: the program's flags are not ours. */
static int reopen_reader(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int ucma_open(struct rxe_peer *peer, struct ucma_file **out, int *client_fd)
{
	struct ucma_file *f = calloc(1, sizeof(*f));
	int p[2], err;

	if (!f)
		return -ENOMEM;
	if (pipe2(p, O_CLOEXEC)) {
		err = -errno;
		goto out_free;
	}
	f->rfd = reopen_reader(p[0]);
	if (f->rfd < 0 || fcntl(p[1], F_SETFL, O_NONBLOCK) ||
	    getrandom(&f->cookie, sizeof(f->cookie), 0) != sizeof(f->cookie)) {
		err = -errno;
		goto out_pipe;
	}
	f->wfd = p[1];
	f->peer = peer;
	TAILQ_INIT(&f->events);
	LIST_INIT(&f->ids);
	LIST_INSERT_HEAD(&files, f, link);
	*client_fd = p[0];
	*out = f;
	return 0;
out_pipe:
	if (f->rfd >= 0)
		close(f->rfd);
	close(p[0]);
	close(p[1]);
out_free:
	free(f);
	return err;
}

void ucma_close(struct ucma_file *f)
{
	struct ucma_id *id;

	while ((id = LIST_FIRST(&f->ids)))
		ucma_id_free(id);
	LIST_REMOVE(f, link);
	close(f->rfd);
	close(f->wfd);
	free(f);
}

/* ---- devices --------------------------------------------------------------------------------------- */

static void remove_id(struct ucma_id *id)
{
	ucma_resolve_cancel(id);
	if (id->cm && ucma_cm()) {
		id->cm->owner = NULL; /* cm_port_gone() has ended it */
		cm_id_destroy(id->cm);
		id->cm = NULL;
	}
	ucma_id_detach(id);
	id->state = UCMA_REMOVED;
	ucma_post(id, UCMA_DEVICE_REMOVAL, 0);
}

void ucma_dev_gone(struct rxe_dev *dev)
{
	struct ucma_file *f;
	struct ucma_id *id;

	if (ucma_cm())
		cm_port_gone(ucma_cm(), dev);
	LIST_FOREACH (f, &files, link)
		LIST_FOREACH (id, &f->ids, link)
			if (id->dev == dev)
				remove_id(id);
}

/* The kernel gives such a listener one id on each device. */
static bool on_any_device(const struct ucma_id *id, const struct rxe_dev *dev)
{
	return !id->dev && id->state == UCMA_LISTEN && id->file->peer->ns == dev->ns;
}

void ucma_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct ucma_id *id), void *arg)
{
	struct ucma_file *f;
	struct ucma_id *id;

	LIST_FOREACH (f, &files, link)
		LIST_FOREACH (id, &f->ids, link)
			if (id->dev == dev || on_any_device(id, dev))
				fn(arg, id);
}

bool ucma_serves(const struct rxe_dev *dev, pid_t pid)
{
	struct ucma_file *f;
	struct ucma_id *id;

	LIST_FOREACH (f, &files, link) {
		if (f->peer->pid != pid)
			continue;
		LIST_FOREACH (id, &f->ids, link)
			if (id->dev == dev && id->qp_type == RXE_QPT_UD)
				return true;
	}
	return false;
}
