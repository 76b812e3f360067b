/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ioctl side of uverbs: attribute marshalling and the few methods that
 * are answered natively. Everything else says EPROTONOSUPPORT, at which
 * libibverbs falls back to INVOKE_WRITE (UABI.md, mode B).
 */
#include "uapi/uverbs_ioctl.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <unistd.h>

/* ---- requests ------------------------------------------------------------------- */

int uioctl_parse(struct uioctl *req, const void *payload, size_t len)
{
	size_t attrs_end;

	req->payload = payload;
	req->len = len;
	req->hdr = payload;
	req->attrs = (const void *)(req->hdr + 1);
	if (len < sizeof(*req->hdr))
		return -EINVAL;
	attrs_end = sizeof(*req->hdr) + (size_t)req->hdr->num_attrs * sizeof(*req->attrs);
	if (attrs_end > len)
		return -EINVAL;
	for (int i = 0; i < req->hdr->num_attrs; i++) {
		const struct rxe_ipc_attr *a = &req->attrs[i];

		if (a->data_off &&
		    (a->data_off < attrs_end || a->data_off > len || a->len > len - a->data_off))
			return -EINVAL;
	}
	return 0;
}

const struct rxe_ipc_attr *uioctl_attr(const struct uioctl *req, uint16_t id)
{
	for (int i = 0; i < req->hdr->num_attrs; i++)
		if (req->attrs[i].attr_id == id)
			return &req->attrs[i];
	return NULL;
}

const void *uioctl_bytes(const struct uioctl *req, uint16_t id, size_t *len)
{
	const struct rxe_ipc_attr *a = uioctl_attr(req, id);

	*len = 0;
	if (!a || (a->len > sizeof(a->data) && !a->data_off))
		return NULL;
	*len = a->len;
	return a->len <= sizeof(a->data) ? (const void *)&a->data : req->payload + a->data_off;
}

bool uioctl_u64(const struct uioctl *req, uint16_t id, uint64_t *value)
{
	const struct rxe_ipc_attr *a = uioctl_attr(req, id);

	if (!a || !a->len || a->len > sizeof(*value))
		return false;
	*value = 0;
	memcpy(value, &a->data, a->len);
	return true;
}

/* ---- replies -------------------------------------------------------------------- */

void uioctl_reply_init(struct uioctl_reply *r)
{
	memset(&r->hdr, 0, sizeof(r->hdr));
	r->used = 0;
	r->overflow = false;
}

static struct rxe_ipc_attr *put_attr(struct uioctl_reply *r, uint16_t id, uint16_t index)
{
	struct rxe_ipc_attr *a;

	if (r->hdr.num_attrs == UIOCTL_MAX_ATTRS) {
		r->overflow = true;
		return NULL;
	}
	a = &r->attrs[r->hdr.num_attrs++];
	memset(a, 0, sizeof(*a));
	a->attr_id = id;
	a->index = index;
	a->flags = UVERBS_ATTR_F_VALID_OUTPUT;
	return a;
}

void uioctl_put(struct uioctl_reply *r, uint16_t id, uint16_t index, const void *p, size_t len)
{
	struct rxe_ipc_attr *a = put_attr(r, id, index);

	if (!a)
		return;
	if (len > sizeof(r->bytes) - r->used) {
		r->overflow = true;
		return;
	}
	a->kind = RXE_ATTR_BYTES;
	a->len = (uint16_t)len;
	a->data_off = (uint32_t)r->used; /* made absolute in uioctl_send() */
	memcpy(r->bytes + r->used, p, len);
	r->used += (len + 7) & ~(size_t)7;
}

void uioctl_put_fd(struct uioctl_reply *r, uint16_t id, uint16_t index)
{
	struct rxe_ipc_attr *a = put_attr(r, id, index);

	if (a)
		a->kind = RXE_ATTR_FD;
}

void uioctl_send(struct uioctl_reply *r, ureply reply, void *arg, int fd)
{
	uint8_t out[sizeof(r->hdr) + sizeof(r->attrs) + sizeof(r->bytes)];
	size_t attrs = r->hdr.num_attrs * sizeof(r->attrs[0]), base = sizeof(r->hdr) + attrs;

	if (r->overflow) {
		reply(arg, -ENOSPC, NULL, 0, -1);
		return;
	}
	for (int i = 0; i < r->hdr.num_attrs; i++)
		if (r->attrs[i].kind == RXE_ATTR_BYTES)
			r->attrs[i].data_off += (uint32_t)base;
	memcpy(out, &r->hdr, sizeof(r->hdr));
	memcpy(out + sizeof(r->hdr), r->attrs, attrs);
	memcpy(out + base, r->bytes, r->used);
	reply(arg, 0, out, base + r->used, fd);
}

/* Puts an output attribute of exactly the caller's size, cut or zero-filled. */
static int put_out(struct uioctl_reply *r, const struct uioctl *req, uint16_t id, const void *p,
		   size_t len)
{
	const struct rxe_ipc_attr *a = uioctl_attr(req, id);

	if (!a)
		return -EINVAL;
	uioctl_put(r, id, a->index, p, len < a->len ? len : a->len);
	return 0;
}

/* ---- native methods -------------------------------------------------------------- */

struct method {
	uint16_t object, method;
	int (*run)(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r, int *fd);
	bool before_open;
};

static int device_get_context(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r,
			      int *fd)
{
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	uint32_t vectors = RXE_COMP_VECTORS;
	int err = uctx_get_context(ctx);

	(void)fd;
	if (err)
		return err;
	if (uioctl_attr(req, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS))
		put_out(r, req, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
			sizeof(vectors));
	if (uioctl_attr(req, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT))
		put_out(r, req, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	return 0;
}

static int device_query_port(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r,
			     int *fd)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};
	uint64_t port;

	(void)fd;
	if (!uioctl_u64(req, UVERBS_ATTR_QUERY_PORT_PORT_NUM, &port) || port != 1)
		return -EINVAL;
	uverbs_fill_port(ctx->dev, &resp.legacy_resp);
	return put_out(r, req, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

static void fill_gid(const struct rxe_dev *dev, uint32_t index, struct ib_uverbs_gid_entry *e)
{
	memcpy(e->gid, dev->gids[index].ip.raw, sizeof(e->gid));
	e->gid_index = index;
	e->port_num = 1;
	e->gid_type = IB_UVERBS_GID_TYPE_ROCE_V2;
	e->netdev_ifindex = (uint32_t)dev->ifindex;
}

static int device_query_gid_entry(struct uctx *ctx, const struct uioctl *req,
				  struct uioctl_reply *r, int *fd)
{
	struct ib_uverbs_gid_entry e = {0};
	uint64_t port, index, flags = 0;

	(void)fd;
	uioctl_u64(req, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags);
	if (!uioctl_u64(req, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port) || port != 1 || flags ||
	    !uioctl_u64(req, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index))
		return -EINVAL;
	if (index >= RXE_GID_TBL_LEN)
		return -EINVAL;
	if (!ctx->dev->gids[index].valid)
		return -ENODATA;
	fill_gid(ctx->dev, (uint32_t)index, &e);
	return put_out(r, req, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
}

/* A caller of another version has entries of another size: cut, or zeroes behind. */
static int device_query_gid_table(struct uctx *ctx, const struct uioctl *req,
				  struct uioctl_reply *r, int *fd)
{
	uint8_t table[sizeof(r->bytes)] = {0};
	uint64_t size = 0, flags = 0, n = 0;
	const struct rxe_ipc_attr *room;
	int err;

	(void)fd;
	uioctl_u64(req, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, &flags);
	room = uioctl_attr(req, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	if (!room || flags || !uioctl_u64(req, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, &size) ||
	    !size || room->len < size || room->len % size)
		return -EINVAL;
	for (uint32_t i = 0; i < RXE_GID_TBL_LEN; i++) {
		struct ib_uverbs_gid_entry e = {0};

		if (!ctx->dev->gids[i].valid)
			continue;
		if ((n + 1) * size > room->len)
			return -EINVAL;
		if ((n + 1) * size > sizeof(table))
			return -ENOSPC;
		fill_gid(ctx->dev, i, &e);
		memcpy(table + n++ * size, &e, size < sizeof(e) ? size : sizeof(e));
	}
	err = put_out(r, req, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table, n * size);
	return err ? err
		   : put_out(r, req, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, sizeof(n));
}

static int async_event_alloc(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r,
			     int *fd)
{
	const struct rxe_ipc_attr *a = uioctl_attr(req, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	int err;

	if (!a)
		return -EINVAL;
	err = uverbs_open_async(ctx, fd);
	if (!err)
		uioctl_put_fd(r, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, a->index);
	return err;
}

static int mr_advise(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r, int *fd)
{
	const struct rxe_ipc_attr *pd = uioctl_attr(req, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	struct ib_uverbs_sge sge;
	uint64_t advice, flags = 0;
	const uint8_t *list;
	size_t len;
	int err = 0;

	(void)r, (void)fd;
	list = uioctl_bytes(req, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &len);
	if (!pd || !list || !len || len % sizeof(sge) ||
	    !uioctl_u64(req, UVERBS_ATTR_ADVISE_MR_ADVICE, &advice))
		return -EINVAL;
	uioctl_u64(req, UVERBS_ATTR_ADVISE_MR_FLAGS, &flags);
	for (size_t i = 0; i < len / sizeof(sge) && !err; i++) {
		memcpy(&sge, list + i * sizeof(sge), sizeof(sge));
		err = umr_advise(ctx, (uint32_t)pd->data, advice, flags, &sge);
	}
	return err;
}

static const struct method methods[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, device_get_context, true},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, device_query_port, false},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, device_query_gid_entry, false},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, device_query_gid_table, false},
	{UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, async_event_alloc, false},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, mr_advise, false},
};

static int run_native(struct uctx *ctx, const struct uioctl *req, struct uioctl_reply *r, int *fd)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const struct method *m = &methods[i];

		if (m->object != req->hdr->object_id || m->method != req->hdr->method_id)
			continue;
		if (ctx->dead)
			return -EIO;
		if (!ctx->opened && !m->before_open)
			return -EINVAL;
		return m->run(ctx, req, r, fd);
	}
	return -EPROTONOSUPPORT;
}

void uverbs_ioctl(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg)
{
	struct uioctl_reply r;
	struct uioctl req;
	int fd = -1, err = uioctl_parse(&req, bytes, len);

	if (!err && req.hdr->object_id == UVERBS_OBJECT_DEVICE &&
	    req.hdr->method_id == UVERBS_METHOD_INVOKE_WRITE) {
		uverbs_invoke_write(ctx, bytes, len, reply, arg);
		return;
	}
	uioctl_reply_init(&r);
	if (!err)
		err = run_native(ctx, &req, &r, &fd);
	if (err)
		reply(arg, err, NULL, 0, -1);
	else
		uioctl_send(&r, reply, arg, fd);
	if (fd >= 0)
		close(fd);
}
