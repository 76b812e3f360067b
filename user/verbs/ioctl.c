// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ioctl(RDMA_VERBS_IOCTL) as a request to the daemon: attributes and what they
 * point at, there and back (include/rxe/ipc.h, struct rxe_ipc_ioctl).
 */
#include <errno.h>
#include <string.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "verbs/internal.h"

#define MAX_ATTRS 64
/* Bytes of an attribute that are in `data` itself (rdma_user_ioctl_cmds.h). */
#define INLINE_LEN 8
#define ATTRS_IOV  1 /* where in iov the attributes are */

struct ioctl_call {
	struct rxe_file *file;
	struct ib_uverbs_ioctl_hdr *user;
	struct rxe_ipc_ioctl head;
	struct rxe_ipc_attr attrs[MAX_ATTRS + 1];
	struct iovec iov[2 + 2 * (MAX_ATTRS + 1)];
	unsigned int nr_iov;
	uint32_t payload;	       /* bytes in iov so far */
	char core[RXE_CORE_MAX];       /* CORE_IN with its descriptor translated */
	struct ib_uverbs_attr unnamed; /* an output that is none of the caller's attributes */
};

static bool is_invoke_write(const struct rxe_ipc_ioctl *head)
{
	return head->object_id == UVERBS_OBJECT_DEVICE &&
	       head->method_id == UVERBS_METHOD_INVOKE_WRITE;
}

/* Attributes that are a channel's descriptor. */
static const struct {
	uint16_t object_id, method_id, attr_id;
} fd_inputs[] = {
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL},
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_EVENT_FD},
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_EVENT_FD},
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_EVENT_FD},
	{UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, UVERBS_ATTR_CREATE_WQ_EVENT_FD},
};

static bool is_fd_input(const struct rxe_ipc_ioctl *head, uint16_t attr_id)
{
	for (size_t i = 0; i < sizeof(fd_inputs) / sizeof(fd_inputs[0]); i++)
		if (fd_inputs[i].object_id == head->object_id &&
		    fd_inputs[i].method_id == head->method_id && fd_inputs[i].attr_id == attr_id)
			return true;
	return false;
}

/* Known to be written only: its bytes would travel for nothing. */
static bool is_output(const struct rxe_ipc_ioctl *head, uint16_t attr_id)
{
	return attr_id == UVERBS_ATTR_UHW_OUT ||
	       (is_invoke_write(head) && attr_id == UVERBS_ATTR_CORE_OUT);
}

static void add_bytes(struct ioctl_call *call, const void *p, size_t len)
{
	static const char zeros[8];

	call->iov[call->nr_iov++] = (struct iovec){(void *)p, len};
	call->payload += len;
	if (len % 8) {
		call->iov[call->nr_iov++] = (struct iovec){(void *)zeros, 8 - len % 8};
		call->payload += 8 - len % 8;
	}
}

/* INVOKE_WRITE's command number, or -1. */
static int64_t invoked_command(const struct ioctl_call *call)
{
	if (is_invoke_write(&call->head))
		for (unsigned int i = 0; i < call->head.num_attrs; i++)
			if (call->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD)
				return (uint32_t)call->attrs[i].data;
	return -1;
}

static int add_core_in(struct ioctl_call *call, const struct rxe_ipc_attr *attr, uint32_t cmd)
{
	size_t n = attr->len < sizeof(call->core) ? attr->len : sizeof(call->core);
	int err;

	memcpy(call->core, (void *)(uintptr_t)attr->data, n);
	err = rxe_command_translate(call->file, cmd, call->core, n);
	if (err)
		return err;
	add_bytes(call, call->core, n);
	if (attr->len > n)
		add_bytes(call, (char *)(uintptr_t)attr->data + n, attr->len - n);
	return 0;
}

static int add_attr(struct ioctl_call *call, struct rxe_ipc_attr *attr, int64_t cmd)
{
	uint32_t id;
	int err;

	if (is_fd_input(&call->head, attr->attr_id)) {
		err = rxe_channel_id(call->file, (int)attr->data, &id);
		if (!err)
			attr->data = id;
		return err;
	}
	if (attr->len <= INLINE_LEN || is_output(&call->head, attr->attr_id))
		return 0;
	attr->data_off = call->payload;
	if (cmd >= 0 && attr->attr_id == UVERBS_ATTR_CORE_IN && rxe_command_has_fd(cmd))
		return add_core_in(call, attr, cmd);
	add_bytes(call, (void *)(uintptr_t)attr->data, attr->len);
	return 0;
}

/*
 * What a pointer in an invoked command's driver data points at, as one more
 * attribute, UHW_OUT, which libibverbs does not give such a command.
 */
static void add_out_pointer(struct ioctl_call *call, int64_t cmd)
{
	struct ib_uverbs_attr *at = call->user->attrs, *end = at + call->user->num_attrs;
	unsigned int n = call->user->num_attrs;
	const void *uhw;
	uint64_t addr;
	size_t size;

	while (at < end && at->attr_id != UVERBS_ATTR_UHW_IN)
		at++;
	if (cmd < 0 || at == end)
		return;
	uhw = at->len <= INLINE_LEN ? (const void *)&at->data : (void *)(uintptr_t)at->data;
	size = rxe_command_out_pointer(cmd, uhw, at->len, &addr);
	if (!size)
		return;
	call->unnamed =
		(struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_OUT, .len = size, .data = addr};
	call->attrs[n] = (struct rxe_ipc_attr){
		.attr_id = UVERBS_ATTR_UHW_OUT, .len = size, .index = n, .data = addr};
	call->head.num_attrs++;
	call->iov[ATTRS_IOV].iov_len += sizeof(call->attrs[n]);
	call->payload += sizeof(call->attrs[n]);
}

static int gather(struct ioctl_call *call)
{
	struct ib_uverbs_ioctl_hdr *user = call->user;
	unsigned int n = user->num_attrs;
	int64_t cmd;
	int err = 0;

	if (n > MAX_ATTRS || user->length != sizeof(*user) + n * sizeof(user->attrs[0]))
		return -EINVAL;
	call->head = (struct rxe_ipc_ioctl){.object_id = user->object_id,
					    .method_id = user->method_id,
					    .num_attrs = n,
					    .driver_id = user->driver_id};
	add_bytes(call, &call->head, sizeof(call->head));
	for (unsigned int i = 0; i < n; i++)
		call->attrs[i] = (struct rxe_ipc_attr){.attr_id = user->attrs[i].attr_id,
						       .len = user->attrs[i].len,
						       .flags = user->attrs[i].flags,
						       .index = i,
						       .data = user->attrs[i].data};
	add_bytes(call, call->attrs, n * sizeof(call->attrs[0]));
	cmd = invoked_command(call);
	if (cmd >= 0)
		err = rxe_command_allowed(call->file, cmd);
	add_out_pointer(call, cmd);
	for (unsigned int i = 0; i < n && !err; i++)
		err = add_attr(call, &call->attrs[i], cmd);
	return err;
}

/* ---- reply ------------------------------------------------------------------------ */

static int scatter_bytes(struct ioctl_call *call, struct ib_uverbs_attr *to,
			 const struct rxe_ipc_attr *attr, struct rxe_ipc_msg *msg)
{
	const void *from =
		attr->data_off ? (char *)msg->buf + attr->data_off : (const void *)&attr->data;
	size_t room = attr->data_off ? msg->hdr.len : sizeof(attr->data);

	(void)call;
	if (attr->data_off > room || attr->len > room - attr->data_off || attr->len > to->len)
		return -EIO;
	if (attr->len)
		memcpy((void *)(uintptr_t)to->data, from, attr->len);
	return 0;
}

static int scatter_data(struct ioctl_call *call, struct ib_uverbs_attr *to,
			const struct rxe_ipc_attr *attr, struct rxe_ipc_msg *msg)
{
	(void)call, (void)msg;
	to->data = attr->data;
	return 0;
}

static int install_channel(struct ioctl_call *call, struct rxe_ipc_msg *msg)
{
	const struct rxe_ipc_ioctl *head = msg->buf;
	int fd, err;

	if (!msg->nr_fds || msg->fds[0] < 0)
		return -EIO;
	fd = msg->fds[0];
	msg->fds[0] = -1;
	err = rxe_channel_install(call->file, fd, head->channel_id);
	return err ? err : fd;
}

static int scatter_fd(struct ioctl_call *call, struct ib_uverbs_attr *to,
		      const struct rxe_ipc_attr *attr, struct rxe_ipc_msg *msg)
{
	int fd = install_channel(call, msg);

	(void)attr;
	if (fd < 0)
		return fd;
	to->data_s64 = fd;
	return 0;
}

/* The channel that an invoked command made: its number leads CORE_OUT. */
static int scatter_invoked_fd(struct ioctl_call *call, struct rxe_ipc_msg *msg)
{
	struct ib_uverbs_attr *to = call->user->attrs, *end = to + call->user->num_attrs;
	int fd;

	while (to < end && (to->attr_id != UVERBS_ATTR_CORE_OUT || to->len < sizeof(fd)))
		to++;
	fd = to < end ? install_channel(call, msg) : -EIO;
	if (fd < 0)
		return fd;
	memcpy((void *)(uintptr_t)to->data, &fd, sizeof(fd));
	return 0;
}

static int (*const scatter[])(struct ioctl_call *, struct ib_uverbs_attr *,
			      const struct rxe_ipc_attr *, struct rxe_ipc_msg *) = {
	[RXE_ATTR_BYTES] = scatter_bytes,
	[RXE_ATTR_DATA] = scatter_data,
	[RXE_ATTR_FD] = scatter_fd,
};

static int take_ioctl_reply(void *arg, struct rxe_ipc_msg *msg)
{
	struct ioctl_call *call = arg;
	const struct rxe_ipc_ioctl *head = msg->buf;
	const struct rxe_ipc_attr *attr = (void *)(head + 1);
	struct ib_uverbs_attr *to;
	int err = 0;

	if (!msg->hdr.len)
		return 0;
	if (msg->hdr.len < sizeof(*head) ||
	    (msg->hdr.len - sizeof(*head)) / sizeof(*attr) < head->num_attrs)
		return -EIO;
	for (const struct rxe_ipc_attr *end = attr + head->num_attrs; attr < end && !err; attr++) {
		if (attr->index >= call->head.num_attrs ||
		    attr->kind >= sizeof(scatter) / sizeof(scatter[0]))
			return -EIO;
		to = attr->index < call->user->num_attrs ? &call->user->attrs[attr->index]
							 : &call->unnamed;
		err = scatter[attr->kind](call, to, attr, msg);
		if (!err)
			to->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	}
	if (!err && msg->nr_fds && msg->fds[0] >= 0 && is_invoke_write(&call->head))
		err = scatter_invoked_fd(call, msg);
	return err;
}

int rxe_command_ioctl(struct rxe_file *file, void *arg)
{
	struct ioctl_call call = {.file = file, .user = arg};
	struct rxe_request req = {.type = RXE_IPC_IOCTL, .iov = call.iov};
	int err;

	err = arg ? gather(&call) : -EFAULT;
	req.nr_iov = call.nr_iov;
	if (!err)
		err = rxe_conn_request(&file->conn, &req, take_ioctl_reply, &call);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
