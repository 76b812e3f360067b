// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command descriptor: open, write and mmap of /dev/infiniband/uverbsN as
 * requests to the daemon, and the channels that come out of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <netinet/in.h> /* before the uapi headers, which then yield to it */
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include "verbs/internal.h"

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* ---- open -------------------------------------------------------------------- */

static int take_open_reply(void *arg, struct rxe_ipc_msg *msg)
{
	return rxe_doorbell_init(arg, msg);
}

/* What the daemon reaches this process's memory by (DESIGN D6); mem, maps. */
static int open_memory(int fds[2])
{
	int err;

	fds[0] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	fds[1] = fds[0] < 0 ? -1 : open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fds[1] >= 0)
		return 0;
	err = -errno;
	rxe_warn_once("cannot open /proc/self/mem and maps, by which rxed reaches memory regions "
		      "(%s): mount /proc, and run the program without setuid",
		      strerror(-err));
	if (fds[0] >= 0)
		rxe_raw_close(fds[0]);
	return err;
}

static int say_hello(struct rxe_file *file)
{
	struct rxe_ipc_open hello = {.version = RXE_IPC_VERSION, .uverbs_minor = file->minor};
	struct iovec iov = {&hello, sizeof(hello)};
	int fds[2], err = open_memory(fds);
	struct rxe_request req = {
		.type = RXE_IPC_OPEN, .iov = &iov, .nr_iov = 1, .fds = fds, .nr_fds = 2};

	if (err)
		return err;
	err = rxe_conn_request(&file->conn, &req, take_open_reply, &file->doorbell);
	rxe_raw_close(fds[0]);
	rxe_raw_close(fds[1]);
	return err;
}

int rxe_command_open(int minor, int flags)
{
	struct rxe_file *file;
	int err, sock;

	if (flags & O_DIRECTORY)
		return fail(-ENOTDIR);
	sock = rxe_ipc_connect(rxe_rundir());
	if (sock < 0) {
		rxe_warn_no_daemon(sock);
		return fail(-ENXIO); /* as a node whose driver is gone */
	}
	file = rxe_file_new(RXE_FILE_COMMAND);
	if (!file) {
		rxe_raw_close(sock);
		return fail(-ENOMEM);
	}
	file->minor = minor;
	err = rxe_conn_init(&file->conn, sock);
	if (!err)
		err = say_hello(file);
	if (!err)
		err = rxe_fd_install(sock, file);
	rxe_file_put(file);
	if (err) {
		rxe_raw_close(sock);
		return fail(err);
	}
	if (!(flags & O_CLOEXEC))
		ioctl(sock, FIONCLEX);
	if (flags & O_NONBLOCK)
		ioctl(sock, FIONBIO, &(int){1});
	return sock;
}

/* ---- channels ----------------------------------------------------------------- */

int rxe_channel_install(struct rxe_file *command, int fd, uint32_t channel_id)
{
	struct rxe_file *file = rxe_file_new(RXE_FILE_CHANNEL);
	int err = -ENOMEM;

	if (file) {
		file->channel_id = channel_id;
		file->command = command;
		rxe_file_hold(command);
		err = rxe_fd_install(fd, file);
		if (err)
			file->channel_id = 0; /* nothing to tell the daemon of */
		rxe_file_put(file);
	}
	if (err)
		rxe_raw_close(fd);
	return err;
}

int rxe_channel_id(const struct rxe_file *command, int fd, uint32_t *id)
{
	struct rxe_file *file = rxe_file_get(fd, RXE_FILE_CHANNEL);
	int err = -EBADF;

	if (!file)
		return err;
	if (file->command == command) {
		*id = file->channel_id;
		err = 0;
	}
	rxe_file_put(file);
	return err;
}

void rxe_channel_closed(struct rxe_file *channel)
{
	struct rxe_file *command = channel->command;
	struct iovec iov = {&channel->channel_id, sizeof(channel->channel_id)};
	struct rxe_request req = {.type = RXE_IPC_CHANNEL_CLOSE, .iov = &iov, .nr_iov = 1};
	int saved = errno;

	/* A forked child closes a copy; the channel is its parent's. */
	if (command->conn.generation == rxe_fork_generation())
		rxe_conn_request(&command->conn, &req, NULL, NULL);
	errno = saved;
}

/* ---- write: the commands of ib_user_verbs.h ------------------------------------- */

/* Commands whose core struct holds a channel's descriptor (-1: none), and where. */
static const struct fd_field {
	uint32_t command;
	size_t offset;
} fd_fields[] = {
	{IB_USER_VERBS_CMD_CREATE_CQ, offsetof(struct ib_uverbs_create_cq, comp_channel)},
	{IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ,
	 offsetof(struct ib_uverbs_ex_create_cq, comp_channel)},
};

static const struct fd_field *fd_field_of(uint32_t cmd)
{
	cmd &= IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK;
	for (size_t i = 0; i < sizeof(fd_fields) / sizeof(fd_fields[0]); i++)
		if (fd_fields[i].command == cmd)
			return &fd_fields[i];
	return NULL;
}

bool rxe_command_has_fd(uint32_t cmd)
{
	return fd_field_of(cmd) != NULL;
}

int rxe_command_translate(const struct rxe_file *command, uint32_t cmd, void *core, size_t len)
{
	const struct fd_field *field = fd_field_of(cmd);
	uint32_t id;
	int32_t fd;
	int err;

	if (!field || len < field->offset + sizeof(fd))
		return 0; /* the daemon refuses a short command itself */
	memcpy(&fd, (char *)core + field->offset, sizeof(fd));
	if (fd < 0)
		return 0;
	err = rxe_channel_id(command, fd, &id);
	if (!err)
		memcpy((char *)core + field->offset, &id, sizeof(id));
	return err;
}

/*
 * Commands with a pointer in their driver data that the kernel's driver writes
 * to, in place of a response: behind how many bytes of core struct, where, how much.
 */
static const struct out_pointer {
	uint32_t command;
	size_t core_len, offset, size;
} out_pointers[] = {
	{IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(struct ib_uverbs_modify_srq),
	 offsetof(struct rxe_modify_srq_cmd, mmap_info_addr), sizeof(struct mminfo)},
};

static const struct out_pointer *out_pointer_of(uint32_t cmd)
{
	for (size_t i = 0; i < sizeof(out_pointers) / sizeof(out_pointers[0]); i++)
		if (out_pointers[i].command == cmd)
			return &out_pointers[i];
	return NULL;
}

size_t rxe_command_out_pointer(uint32_t cmd, const void *uhw, size_t len, uint64_t *addr)
{
	const struct out_pointer *p = out_pointer_of(cmd);

	if (!p || len < p->offset + sizeof(*addr))
		return 0;
	memcpy(addr, (const char *)uhw + p->offset, sizeof(*addr));
	return *addr ? p->size : 0;
}

struct write_call {
	struct rxe_file *file;
	struct ib_uverbs_cmd_hdr hdr;
	bool extended;
	const char *core; /* after the header(s) */
	size_t core_len;
	void *response;
	size_t response_size;
};

/* What a pointer in the driver data points at is asked for, and taken, as a response. */
static void expect_out_pointer(struct write_call *call)
{
	const struct out_pointer *p = out_pointer_of(call->hdr.command);
	uint64_t addr;
	size_t size;

	if (!p || call->core_len < p->core_len)
		return;
	size = rxe_command_out_pointer(call->hdr.command, call->core + p->core_len,
				       call->core_len - p->core_len, &addr);
	if (!size)
		return;
	call->response = (void *)(uintptr_t)addr;
	call->response_size = size;
	call->hdr.out_words = size / 4;
}

/* Splits the bytes of a write() as the kernel does; -EINVAL when too short. */
static int parse_write(struct write_call *call, const char *buf, size_t len)
{
	struct ib_uverbs_ex_cmd_hdr ex;
	uint64_t response;

	if (len < sizeof(call->hdr))
		return -EINVAL;
	memcpy(&call->hdr, buf, sizeof(call->hdr));
	call->core = buf + sizeof(call->hdr);
	call->core_len = len - sizeof(call->hdr);
	call->extended = call->hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	if (call->core_len < (call->extended ? sizeof(ex) : 0))
		return -EINVAL;
	if (call->extended) {
		memcpy(&ex, call->core, sizeof(ex));
		call->core += sizeof(ex);
		call->core_len -= sizeof(ex);
		response = ex.response;
		call->response_size = 8 * ((size_t)call->hdr.out_words + ex.provider_out_words);
	} else {
		response = 0;
		call->response_size = 4 * (size_t)call->hdr.out_words;
		if (call->response_size) {
			if (call->core_len < sizeof(response))
				return -EINVAL;
			memcpy(&response, call->core, sizeof(response));
		}
	}
	call->response = (void *)(uintptr_t)response;
	expect_out_pointer(call);
	return 0;
}

/* The channel of a reply becomes a descriptor, its number part of the response. */
static int take_channel(struct write_call *call, struct rxe_ipc_msg *msg, char *response,
			size_t len)
{
	const struct rxe_ipc_write_reply *reply = msg->buf;
	int fd = msg->fds[0], err;

	if (len < sizeof(fd) || reply->fd_offset > len - sizeof(fd))
		return -EIO;
	msg->fds[0] = -1;
	err = rxe_channel_install(call->file, fd, reply->channel_id);
	if (!err)
		memcpy(response + reply->fd_offset, &fd, sizeof(fd));
	return err;
}

static int take_write_reply(void *arg, struct rxe_ipc_msg *msg)
{
	struct write_call *call = arg;
	char *response = (char *)msg->buf + sizeof(struct rxe_ipc_write_reply);
	size_t len;
	int err = 0;

	if (msg->hdr.len < sizeof(struct rxe_ipc_write_reply))
		return msg->hdr.len ? -EIO : 0;
	len = msg->hdr.len - sizeof(struct rxe_ipc_write_reply);
	if (len > call->response_size)
		len = call->response_size; /* an older library asks for less */
	if (msg->nr_fds)
		err = take_channel(call, msg, response, len);
	if (!err && len)
		memcpy(call->response, response, len);
	return err;
}

/* The doorbell of the rxe provider: no work requests in it, only the QP. */
static bool try_doorbell(const struct write_call *call, int *err)
{
	struct ib_uverbs_post_send post;

	if (call->hdr.command != IB_USER_VERBS_CMD_POST_SEND || call->core_len < sizeof(post))
		return false;
	memcpy(&post, call->core, sizeof(post));
	if (post.wr_count)
		return false;
	*err = rxe_doorbell_ring(&call->file->doorbell, post.qp_handle);
	if (!*err && call->response && call->response_size >= sizeof(uint32_t))
		*(uint32_t *)call->response = 0; /* bad_wr */
	return true;
}

int rxe_command_allowed(const struct rxe_file *command, uint32_t cmd)
{
	cmd &= IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK;
	if ((cmd != IB_USER_VERBS_CMD_REG_MR && cmd != IB_USER_VERBS_CMD_REREG_MR) ||
	    command->conn.generation == rxe_fork_generation())
		return 0;
	rxe_warn_once("a forked child cannot register memory with the device that its parent "
		      "opened: rxed reaches the parent's memory by it; open the device in the "
		      "child");
	return -EOPNOTSUPP;
}

static int write_request(struct write_call *call, const char *buf, size_t len)
{
	char core[RXE_CORE_MAX];
	size_t head = call->core - buf - sizeof(call->hdr), n = 0;
	char *rest = (char *)buf + sizeof(call->hdr);
	struct iovec iov[4] = {{&call->hdr, sizeof(call->hdr)}, {rest, len - sizeof(call->hdr)}};
	struct rxe_request req = {.type = RXE_IPC_WRITE, .iov = iov, .nr_iov = 2};
	int err = rxe_command_allowed(call->file, call->hdr.command);

	if (err)
		return err;
	if (rxe_command_has_fd(call->hdr.command)) {
		n = call->core_len < sizeof(core) ? call->core_len : sizeof(core);
		memcpy(core, call->core, n);
		err = rxe_command_translate(call->file, call->hdr.command, core, n);
		if (err)
			return err;
		iov[1].iov_len = head;
		iov[2] = (struct iovec){core, n};
		iov[3] = (struct iovec){(char *)call->core + n, call->core_len - n};
		req.nr_iov = 4;
	}
	return rxe_conn_request(&call->file->conn, &req, take_write_reply, call);
}

ssize_t rxe_command_write(struct rxe_file *file, const void *buf, size_t len)
{
	struct write_call call = {.file = file};
	int err = parse_write(&call, buf, len);

	if (!err && !try_doorbell(&call, &err))
		err = write_request(&call, buf, len);
	return err ? fail(err) : (ssize_t)len;
}

/* ---- mmap ------------------------------------------------------------------------ */

struct mmap_call {
	int fd;
	uint64_t file_offset;
};

static int take_mmap_reply(void *arg, struct rxe_ipc_msg *msg)
{
	const struct rxe_ipc_mmap_reply *reply = msg->buf;
	struct mmap_call *call = arg;

	if (msg->hdr.len < sizeof(*reply) || msg->nr_fds < 1)
		return -EIO;
	call->fd = msg->fds[0];
	call->file_offset = reply->file_offset;
	msg->fds[0] = -1;
	return 0;
}

void *rxe_command_mmap(struct rxe_file *file, void *addr, size_t len, int prot, int flags,
		       off_t offset)
{
	struct rxe_ipc_mmap map = {.offset = offset, .length = len};
	struct iovec iov = {&map, sizeof(map)};
	struct rxe_request req = {.type = RXE_IPC_MMAP, .iov = &iov, .nr_iov = 1};
	struct mmap_call call = {.fd = -1};
	void *p = MAP_FAILED;
	int err;

	err = rxe_conn_request(&file->conn, &req, take_mmap_reply, &call);
	if (err) {
		errno = -err;
		return MAP_FAILED;
	}
	p = mmap(addr, len, prot, flags, call.fd, call.file_offset);
	rxe_raw_close(call.fd);
	return p;
}
