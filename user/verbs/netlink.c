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

static struct rxe_file *make_file(int conn)
{
	struct rxe_file *file = rxe_file_new(RXE_FILE_NETLINK);

	if (!file) {
		rxe_raw_close(conn);
		return NULL;
	}
	file->nl.injector = -1;
	rxe_netlink_forked(&file->nl);
	file->nl.tail = &file->nl.head;
	if (!rxe_conn_init(&file->conn, rxe_fd_private(conn)) && !make_injector(&file->nl))
		return file;
	rxe_file_put(file);
	return NULL;
}

int rxe_netlink_socket(int type)
{
	int conn = rxe_ipc_connect(rxe_rundir()), sock;
	struct rxe_file *file;

	if (conn < 0) {
		rxe_warn_no_daemon(conn);
		return -1;
	}
	file = make_file(conn);
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
}

void rxe_netlink_free(struct rxe_netlink *nl)
{
	struct rxe_nl_block *block;

	rxe_fd_private_close(atomic_load(&nl->injector));
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

/* Netlink answers name the port that they go to. */
static void address_messages(char *bytes, size_t len, uint32_t port)
{
	struct nlmsghdr *nlh;

	for (size_t at = 0; at + sizeof(*nlh) <= len; at += NLMSG_ALIGN(nlh->nlmsg_len)) {
		nlh = (void *)(bytes + at);
		if (nlh->nlmsg_len < sizeof(*nlh))
			break;
		nlh->nlmsg_pid = port;
	}
}

static int take_answer(void *arg, struct rxe_ipc_msg *msg)
{
	struct rxe_netlink *nl = arg;
	struct rxe_nl_block *block;

	if (!msg->hdr.len)
		return 0;
	block = malloc(sizeof(*block) + msg->hdr.len);
	if (!block)
		return -ENOMEM;
	block->next = NULL;
	block->len = msg->hdr.len;
	memcpy(block->bytes, msg->buf, block->len);
	address_messages(block->bytes, block->len, atomic_load(&nl->app_port));
	pthread_mutex_lock(&nl->lock);
	*nl->tail = block;
	nl->tail = &block->next;
	pthread_mutex_unlock(&nl->lock);
	return 0;
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
	struct rxe_request req = {
		.type = RXE_IPC_NETLINK, .iov = (struct iovec *)iov, .nr_iov = nr_iov};
	ssize_t len = 0;
	int err, netns;

	if (nr_iov > RXE_IPC_MAX_IOV)
		return fail(-EMSGSIZE);
	for (size_t i = 0; i < nr_iov; i++)
		len += iov[i].iov_len;
	netns = nr_iov == 1 ? rxe_netlink_netns_fd(iov->iov_base, iov->iov_len) : -1;
	if (netns >= 0) {
		req.fds = &netns;
		req.nr_fds = 1;
	}
	err = guard(&file->nl, fd);
	if (!err)
		err = rxe_conn_request(&file->conn, &req, take_answer, &file->nl);
	rxe_netlink_pump(file);
	return err ? fail(err) : len;
}
