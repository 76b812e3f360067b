/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server's messages and the uverbs commands in them: one or two clients of
 * a daemon in this process send what the input says, by the socket, and write
 * into the rings and doorbells that they were given. Each step is a byte that
 * selects one of steps[]; when the clients are gone nothing of theirs is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/ipc.h"
#include "room.h"

#define MAX_STEPS 100
#define MAX_MAPS  8
#define REPLY_MS  300

struct client {
	int sock;
	bool opened;
	int efd;
	struct rxe_doorbell_page *page;
	size_t page_len;
	struct {
		uint8_t *p;
		size_t len;
	} map[MAX_MAPS];
	unsigned int nr_maps;
};

static struct client clients[2];
static uint8_t reply_buf[RXE_IPC_MAX_LEN];
static struct rxe_ipc_msg reply;

/* ---- clients ----------------------------------------------------------------------------- */

static void client_start(struct client *c)
{
	memset(c, 0, sizeof(*c));
	c->efd = -1;
	c->sock = rxe_ipc_connect(rxed.rundir);
	fuzz_assert(c->sock >= 0);
}

static void client_stop(struct client *c)
{
	if (c->page)
		munmap(c->page, c->page_len);
	for (unsigned int i = 0; i < c->nr_maps; i++)
		munmap(c->map[i].p, c->map[i].len);
	if (c->efd >= 0)
		close(c->efd);
	close(c->sock);
}

/* ---- requests -------------------------------------------------------------------------- */

static bool replied(void *arg)
{
	struct client *c = arg;

	reply = (struct rxe_ipc_msg){.buf = reply_buf, .size = sizeof(reply_buf)};
	return rxe_ipc_recv(c->sock, &reply, MSG_DONTWAIT) != -EAGAIN;
}

/* Sends it and takes all its replies; reply is the last, its descriptors the caller's. */
static int request(struct client *c, uint16_t type, uint16_t flags, const void *p, size_t len,
		   const int *fds, unsigned int nr_fds)
{
	struct iovec iov = {(void *)p, len};
	struct rxe_ipc_hdr h = {.type = type, .flags = flags};
	int err = rxe_ipc_send(c->sock, h, &iov, len ? 1 : 0, fds, nr_fds, MSG_DONTWAIT);

	reply.nr_fds = 0;
	if (err)
		return err;
	do {
		if (room_wait(REPLY_MS, replied, c))
			continue;
		/* Only what resolves an address may take longer: killed in the middle of it. */
		fuzz_assert(type == RXE_IPC_WRITE || type == RXE_IPC_IOCTL);
		client_stop(c);
		client_start(c);
		return -ETIMEDOUT;
	} while (reply.hdr.flags & RXE_IPC_F_MORE);
	return reply.hdr.status;
}

static void drop_fds(void)
{
	rxe_ipc_close_fds(&reply, 0);
	reply.nr_fds = 0;
}

static void client_open(struct client *c)
{
	struct rxe_ipc_open in = {RXE_IPC_VERSION, (int32_t)room_dev()->minor};
	int fd[2], err;

	room_mem_fds(fd);
	err = request(c, RXE_IPC_OPEN, 0, &in, sizeof(in), fd, 2);
	close(fd[0]);
	close(fd[1]);
	if (!err && reply.nr_fds == 2) {
		c->page_len = ((struct rxe_ipc_open_reply *)reply_buf)->doorbell_size;
		c->page = mmap(NULL, c->page_len, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0],
			       0);
		fuzz_assert(c->page != MAP_FAILED);
		c->efd = reply.fds[1];
		close(reply.fds[0]);
		reply.nr_fds = 0;
		c->opened = true;
	}
	drop_fds();
}

/* ---- steps ------------------------------------------------------------------------------ */

static void any_message(struct client *c, struct fuzz_input *in)
{
	uint16_t type = fuzz_u8(in), flags = fuzz_u8(in);
	int fds[4], n = fuzz_u8(in) % 5;
	size_t len;
	const uint8_t *p = fuzz_block(in, 4096, &len);

	for (int i = 0; i < n; i++)
		fds[i] = fcntl(2, F_DUPFD_CLOEXEC, 0);
	if (flags & RXE_IPC_F_REPLY_FD && n) {
		/* It answers on that one: no reply is waited for here. */
		struct iovec iov = {(void *)p, len};
		struct rxe_ipc_hdr h = {.type = type, .flags = flags};

		rxe_ipc_send(c->sock, h, &iov, len ? 1 : 0, fds, (unsigned int)n, MSG_DONTWAIT);
		room_pass();
	} else {
		request(c, type, flags, p, len, fds, (unsigned int)n);
		drop_fds();
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

/* Not framed as ipc.h says. */
static void raw_bytes(struct client *c, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *p = fuzz_block(in, 4096, &len);

	if (len && send(c->sock, p, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		room_pass();
	client_stop(c);
	client_start(c);
	client_open(c);
}

static void any_write(struct client *c, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *p = fuzz_block(in, 4096, &len);

	request(c, RXE_IPC_WRITE, 0, p, len, NULL, 0);
	drop_fds();
}

/* A command whose header tells the truth. */
static void command(struct client *c, struct fuzz_input *in)
{
	struct ib_uverbs_cmd_hdr h = {.command = fuzz_u8(in)};
	uint8_t buf[2048 + 8] = {0};
	size_t len, words;
	const uint8_t *p = fuzz_block(in, 2048, &len);

	words = (len + 3) / 4;
	h.in_words = (uint16_t)(words + 2);
	h.out_words = 64;
	memcpy(buf, &h, sizeof(h));
	if (len)
		memcpy(buf + sizeof(h), p, len);
	request(c, RXE_IPC_WRITE, 0, buf, sizeof(h) + words * 4, NULL, 0);
	drop_fds();
}

static void ex_command(struct client *c, struct fuzz_input *in)
{
	struct ib_uverbs_cmd_hdr h = {
		.command = fuzz_u8(in) | IB_USER_VERBS_CMD_FLAG_EXTENDED,
	};
	struct ib_uverbs_ex_cmd_hdr ex = {.response = 0x1000};
	uint8_t buf[2048 + sizeof(h) + sizeof(ex) + 8] = {0};
	size_t len, words;
	const uint8_t *p = fuzz_block(in, 2048, &len);

	words = (len + 7) / 8;
	ex.provider_in_words = fuzz_u8(in);
	if (ex.provider_in_words > words)
		ex.provider_in_words = 0;
	h.in_words = (uint16_t)(words - ex.provider_in_words);
	h.out_words = 64;
	ex.provider_out_words = 8;
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &ex, sizeof(ex));
	if (len)
		memcpy(buf + sizeof(h) + sizeof(ex), p, len);
	request(c, RXE_IPC_WRITE, 0, buf, sizeof(h) + sizeof(ex) + words * 8, NULL, 0);
	drop_fds();
}

static void any_ioctl(struct client *c, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *p = fuzz_block(in, 4096, &len);

	request(c, RXE_IPC_IOCTL, 0, p, len, NULL, 0);
	drop_fds();
}

/* Attributes as they come, each with bytes behind the array when it is longer than 8. */
static void ioctl_attrs(struct client *c, struct fuzz_input *in)
{
	static uint8_t buf[65536];
	struct rxe_ipc_ioctl h = {.driver_id = 14};
	struct rxe_ipc_attr a[8];
	size_t at, len;

	memset(a, 0, sizeof(a));
	h.object_id = fuzz_u8(in) & 0x1f;
	h.method_id = fuzz_u8(in) & 0x0f;
	h.num_attrs = fuzz_u8(in) % 8;
	at = sizeof(h) + h.num_attrs * sizeof(a[0]);
	for (int i = 0; i < h.num_attrs; i++) {
		uint8_t id = fuzz_u8(in);
		const uint8_t *p = fuzz_block(in, 1024, &len);

		a[i].attr_id = (uint16_t)((id & 0x80 ? 0x1000 : 0) | (id & 0x3f));
		a[i].flags = id & 0x40 ? 1 : 0;
		a[i].index = (uint16_t)i;
		a[i].len = (uint16_t)len;
		if (len <= 8) {
			memcpy(&a[i].data, p, len);
			a[i].len = fuzz_u16(in) % 2048;
			continue;
		}
		a[i].data_off = (uint32_t)at;
		memcpy(buf + at, p, len);
		at += (len + 7) & ~(size_t)7;
	}
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), a, h.num_attrs * sizeof(a[0]));
	request(c, RXE_IPC_IOCTL, 0, buf, at, NULL, 0);
	drop_fds();
}

/* Offsets are pages, counted from the first one of the context. */
static void map_ring(struct client *c, struct fuzz_input *in)
{
	struct rxe_ipc_mmap m = {.offset = (uint64_t)fuzz_u8(in) << 12, .length = fuzz_u16(in)};

	if (request(c, RXE_IPC_MMAP, 0, &m, sizeof(m), NULL, 0) == 0 && reply.nr_fds == 1 &&
	    m.length && c->nr_maps < MAX_MAPS) {
		void *p = mmap(NULL, m.length, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0], 0);

		fuzz_assert(p != MAP_FAILED);
		c->map[c->nr_maps].p = p;
		c->map[c->nr_maps++].len = m.length;
	}
	drop_fds();
}

/* Into a ring: its producer index, or any bytes; the worker may be reading. */
static void scribble(struct client *c, struct fuzz_input *in)
{
	uint8_t which = fuzz_u8(in);
	size_t len, at = fuzz_u16(in);
	const uint8_t *p = fuzz_block(in, 512, &len);

	if (!c->nr_maps)
		return;
	which %= c->nr_maps;
	at %= c->map[which].len;
	if (len > c->map[which].len - at)
		len = c->map[which].len - at;
	for (size_t i = 0; i < len; i++)
		__atomic_store_n(&c->map[which].p[at + i], p[i], __ATOMIC_RELAXED);
}

static void ring_bell(struct client *c, struct fuzz_input *in)
{
	uint8_t slot = fuzz_u8(in);
	uint64_t one = 1;

	if (!c->page)
		return;
	__atomic_or_fetch(&c->page->bits[slot / 64], 1ull << slot % 64, __ATOMIC_RELEASE);
	__atomic_or_fetch(&c->page->summary, 1ull << (slot / 64 | (slot & 0x80 ? 7 : 0)),
			  __ATOMIC_RELEASE);
	if (write(c->efd, &one, sizeof(one)) != sizeof(one))
		return;
	room_pass();
}

static void (*const steps[])(struct client *c, struct fuzz_input *in) = {
	command,     command,  command,	 ex_command, any_write,	  any_ioctl,
	ioctl_attrs, map_ring, scribble, ring_bell,  any_message, raw_bytes,
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	room_start();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	room_begin();
	for (int i = 0; i < 2; i++)
		client_start(&clients[i]);
	client_open(&clients[0]);
	for (int i = 0; i < MAX_STEPS && in.left; i++) {
		uint8_t what = fuzz_u8(&in);
		struct client *c = &clients[what >> 7];

		if (what & 0x80 && !c->opened && what & 0x40)
			client_open(c);
		steps[(what & 0x3f) % (sizeof(steps) / sizeof(steps[0]))](c, &in);
	}
	for (int i = 0; i < 2; i++)
		client_stop(&clients[i]);
	room_settle();
	return 0;
}
