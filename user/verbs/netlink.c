// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NETLINK_RDMA without a kernel that has it. The program gets a socket of
 * another, unused netlink family (NETLINK_USERSOCK), so that bind, poll,
 * getsockname and receive are the kernel's; what it sends goes to the daemon,
 * and the answers come to it from a second socket of this process, the
 * injector.
 *
 * Any process may send to a NETLINK_USERSOCK socket. So the program's is
 * connected to the injector: the kernel then refuses all other senders
 * (ECONNREFUSED), and what had come before that is thrown away.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/netlink.h>
#include "verbs/internal.h"

/* Answers that found the program's receive buffer full. */
struct rxe_nl_block {
	struct rxe_nl_block *next;
	size_t len;
	char bytes[];
};

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* On the program's socket our own wrappers would come back to this file. */
static int raw_bind(int fd, const struct sockaddr_nl *addr)
{
	return syscall(SYS_bind, fd, addr, sizeof(*addr));
}

static int raw_connect(int fd, const struct sockaddr_nl *addr)
{
	return syscall(SYS_connect, fd, addr, sizeof(*addr));
}

static ssize_t raw_discard(int fd)
{
	char byte;

	return syscall(SYS_recvfrom, fd, &byte, sizeof(byte), MSG_DONTWAIT | MSG_TRUNC, NULL, NULL);
}

/* ---- making the pair ----------------------------------------------------------- */

/* A port number that no program would choose: those are made from a pid. */
static int bind_injector(int sock, uint32_t *port)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};

	for (int i = 0; i < 16; i++) {
		if (getrandom(port, sizeof(*port), 0) != sizeof(*port))
			return -EIO;
		addr.nl_pid = *port |= 0x80000000u;
		if (!bind(sock, (struct sockaddr *)&addr, sizeof(addr)))
			return 0;
		if (errno != EADDRINUSE)
			break;
	}
	return -errno;
}

static int make_injector(struct rxe_netlink *nl)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	int err = sock < 0 ? -errno : bind_injector(sock, &nl->injector_port);

	if (!err)
		atomic_store(&nl->injector, rxe_fd_private(sock));
	else if (sock >= 0)
		rxe_raw_close(sock);
	return err;
}

static struct rxe_file *make_file(int conn, int kernel)
{
	struct rxe_file *file = rxe_file_new(RXE_FILE_NETLINK);

	if (!file) {
		if (kernel >= 0)
			rxe_raw_close(kernel);
		rxe_raw_close(conn);
		return NULL;
	}
	file->nl.injector = -1;
	file->nl.kernel = rxe_nl_kernel_socket(kernel);
	rxe_netlink_forked(&file->nl);
	file->nl.tail = &file->nl.head;
	if (!rxe_conn_init(&file->conn, rxe_fd_private(conn)) && !make_injector(&file->nl))
		return file;
	rxe_file_put(file);
	return NULL;
}

int rxe_netlink_socket(int type, int kernel)
{
	int conn = rxe_ipc_connect(rxe_rundir()), sock;
	struct rxe_file *file;

	if (conn < 0) {
		rxe_warn_no_daemon(conn);
		if (kernel >= 0)
			rxe_raw_close(kernel);
		return -1;
	}
	file = make_file(conn, kernel);
	if (!file)
		return -1;
	sock = socket(AF_NETLINK, type, NETLINK_USERSOCK);
	if (sock >= 0 && rxe_fd_install(sock, file)) {
		rxe_raw_close(sock);
		sock = -1;
	}
	rxe_file_put(file);
	return sock;
}

void rxe_netlink_forked(struct rxe_netlink *nl)
{
	pthread_mutex_init(&nl->lock, NULL);
	pthread_mutex_init(&nl->kernel_lock, NULL);
}

void rxe_netlink_free(struct rxe_netlink *nl)
{
	struct rxe_nl_block *block;

	rxe_fd_private_close(atomic_load(&nl->injector));
	if (nl->kernel >= 0)
		rxe_fd_private_close(nl->kernel);
	while ((block = nl->head)) {
		nl->head = block->next;
		free(block);
	}
}

/* ---- the guard ------------------------------------------------------------------ */

static int connect_guard(struct rxe_netlink *nl, int fd)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_pid = nl->injector_port};
	socklen_t len = sizeof(addr);

	if (raw_connect(fd, &addr))
		return -errno;
	while (raw_discard(fd) >= 0 || errno == EINTR || errno == ENOBUFS)
		; /* sent before the guard stood: not ours */
	if (getsockname(fd, (struct sockaddr *)&addr, &len))
		return -errno;
	atomic_store(&nl->app_port, addr.nl_pid);
	return 0;
}

static int guard(struct rxe_netlink *nl, int fd)
{
	int err = 0;

	pthread_mutex_lock(&nl->lock);
	if (!atomic_load(&nl->app_port))
		err = connect_guard(nl, fd);
	pthread_mutex_unlock(&nl->lock);
	return err;
}

/* ---- answers ----------------------------------------------------------------------- */

/* True when the block is done with: delivered, or nobody is there to take it. */
static bool deliver(struct rxe_netlink *nl, const struct rxe_nl_block *block)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_pid = atomic_load(&nl->app_port)};
	ssize_t n;

	do
		n = sendto(atomic_load(&nl->injector), block->bytes, block->len, MSG_DONTWAIT,
			   (struct sockaddr *)&addr, sizeof(addr));
	while (n < 0 && errno == EINTR);
	return n >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

void rxe_netlink_pump(struct rxe_file *file)
{
	struct rxe_netlink *nl = &file->nl;
	struct rxe_nl_block *block;
	int saved = errno;

	pthread_mutex_lock(&nl->lock);
	while ((block = nl->head) && deliver(nl, block)) {
		nl->head = block->next;
		if (!nl->head)
			nl->tail = &nl->head;
		free(block);
	}
	pthread_mutex_unlock(&nl->lock);
	errno = saved;
}

/*
 * Netlink answers name the port that they go to. Beside a kernel with devices
 * of its own the daemon's have other numbers.
 */
static void address_messages(const struct rxe_netlink *nl, char *bytes, size_t len, bool daemon)
{
	struct nlmsghdr *nlh;

	for (size_t at = 0; at + sizeof(*nlh) <= len; at += NLMSG_ALIGN(nlh->nlmsg_len)) {
		nlh = (void *)(bytes + at);
		if (nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > len - at)
			break;
		nlh->nlmsg_pid = atomic_load(&nl->app_port);
		if (daemon && nl->kernel >= 0)
			rxe_nl_shift(nlh, RXE_NL_BASE);
	}
}

static int queue(struct rxe_netlink *nl, const void *bytes, size_t len, bool daemon)
{
	struct rxe_nl_block *block;

	if (!len)
		return 0;
	block = malloc(sizeof(*block) + len);
	if (!block)
		return -ENOMEM;
	block->next = NULL;
	block->len = len;
	memcpy(block->bytes, bytes, len);
	address_messages(nl, block->bytes, len, daemon);
	pthread_mutex_lock(&nl->lock);
	*nl->tail = block;
	nl->tail = &block->next;
	pthread_mutex_unlock(&nl->lock);
	return 0;
}

static int take_answer(void *arg, struct rxe_ipc_msg *msg)
{
	return queue(arg, msg->buf, msg->hdr.len, true);
}

static int take_kernels(void *arg, const void *msg, size_t len)
{
	return queue(arg, msg, len, false);
}

/* ---- requests -------------------------------------------------------------------------- */

static int ask_daemon(struct rxe_file *file, const struct iovec *iov, size_t nr_iov)
{
	struct rxe_request req = {
		.type = RXE_IPC_NETLINK, .iov = (struct iovec *)iov, .nr_iov = nr_iov};
	int netns = nr_iov == 1 ? rxe_netlink_netns_fd(iov->iov_base, iov->iov_len) : -1;

	if (netns >= 0) {
		req.fds = &netns;
		req.nr_fds = 1;
	}
	return rxe_conn_request(&file->conn, &req, take_answer, &file->nl);
}

static int ask_kernel(struct rxe_netlink *nl, const struct nlmsghdr *nlh, bool part)
{
	int err;

	pthread_mutex_lock(&nl->kernel_lock);
	err = rxe_nl_ask_kernel(nl->kernel, nlh, part, take_kernels, nl);
	pthread_mutex_unlock(&nl->kernel_lock);
	return err;
}

/* One whole message, a copy. */
static int ask_one(struct rxe_file *file, struct nlmsghdr *nlh)
{
	struct iovec iov = {nlh, nlh->nlmsg_len};
	enum rxe_nl_route route = rxe_nl_route(nlh);

	if (route == RXE_NL_KERNEL)
		return ask_kernel(&file->nl, nlh, false);
	/* Of a dump what the kernel will not or cannot tell is left out. */
	if (route == RXE_NL_BOTH)
		ask_kernel(&file->nl, nlh, true);
	rxe_nl_shift(nlh, -RXE_NL_BASE);
	return ask_daemon(file, &iov, 1);
}

#define MERGED_MAX 8192 /* of requests in one send */

static int ask_each(struct rxe_file *file, const struct iovec *iov, size_t nr_iov)
{
	char buf[MERGED_MAX] __attribute__((aligned(8)));
	size_t len = 0, at = 0;
	struct nlmsghdr *nlh;
	int err = 0;

	for (size_t i = 0; i < nr_iov; i++) {
		if (iov[i].iov_len > sizeof(buf) - len)
			return -EMSGSIZE;
		memcpy(buf + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	for (; !err && at + sizeof(*nlh) <= len; at += NLMSG_ALIGN(nlh->nlmsg_len)) {
		nlh = (void *)(buf + at);
		if (nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > len - at)
			break;
		err = ask_one(file, nlh);
	}
	return err;
}

/* ---- what the program calls ----------------------------------------------------------- */

int rxe_netlink_bind(struct rxe_file *file, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_nl nl;
	int err;

	if (len < sizeof(nl))
		return fail(-EINVAL);
	memcpy(&nl, addr, sizeof(nl));
	nl.nl_groups = 0; /* they would be another family's */
	if (raw_bind(fd, &nl))
		return -1;
	err = guard(&file->nl, fd);
	return err ? fail(err) : 0;
}

ssize_t rxe_netlink_send(struct rxe_file *file, int fd, const struct iovec *iov, size_t nr_iov)
{
	ssize_t len = 0;
	int err;

	if (nr_iov > RXE_IPC_MAX_IOV)
		return fail(-EMSGSIZE);
	for (size_t i = 0; i < nr_iov; i++)
		len += iov[i].iov_len;
	err = guard(&file->nl, fd);
	if (!err)
		err = file->nl.kernel >= 0 ? ask_each(file, iov, nr_iov)
					   : ask_daemon(file, iov, nr_iov);
	rxe_netlink_pump(file);
	return err ? fail(err) : len;
}
