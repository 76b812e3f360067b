// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The NETLINK_RDMA socket: requests reach the daemon, answers reach the program
 * whole and in order however slowly it reads, and nobody else's do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>
#include "fake_rxed.h"

static int open_bound(uint32_t *port)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_groups = 1};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*port = addr.nl_pid;
	assert_int_not_equal(*port, 0);
	return fd;
}

static struct {
	struct nlmsghdr hdr;
	uint32_t word;
} query = {{.nlmsg_len = sizeof(query), .nlmsg_type = 0x1401, .nlmsg_flags = NLM_F_REQUEST},
	   0xfeed};

/* One answer; the address that it claims to come from is checked. */
static ssize_t receive(int fd, void *buf, size_t size)
{
	struct sockaddr_nl from = {.nl_pid = 1};
	struct iovec iov = {buf, size};
	struct msghdr mh = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n = recvmsg(fd, &mh, 0);

	assert_int_equal(from.nl_family, AF_NETLINK);
	assert_int_equal(from.nl_pid, 0);
	return n;
}

static void check_echo(int fd, uint32_t port, uint32_t seq)
{
	struct nlmsghdr *nlh;
	char buf[8192];

	assert_int_equal(receive(fd, buf, sizeof(buf)), sizeof(query));
	nlh = (void *)buf;
	assert_int_equal(nlh->nlmsg_seq, seq);
	assert_int_equal(nlh->nlmsg_pid, port);
	assert_int_equal(*(uint32_t *)NLMSG_DATA(nlh), 0xfeed);
}

static void every_way_to_send_is_answered(void **state)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct iovec iov[2] = {{&query, 8}, {(char *)&query + 8, sizeof(query) - 8}};
	struct msghdr mh = {.msg_name = &kernel,
			    .msg_namelen = sizeof(kernel),
			    .msg_iov = iov,
			    .msg_iovlen = 2};
	uint32_t port;
	int fd = open_bound(&port);

	(void)state;
	query.hdr.nlmsg_seq = 1;
	assert_int_equal(sendto(fd, &query, sizeof(query), 0, (void *)&kernel, sizeof(kernel)),
			 sizeof(query));
	check_echo(fd, port, 1);
	query.hdr.nlmsg_seq = 2;
	assert_int_equal(sendmsg(fd, &mh, 0), sizeof(query));
	check_echo(fd, port, 2);
	query.hdr.nlmsg_seq = 3;
	assert_int_equal(connect(fd, (void *)&kernel, sizeof(kernel)), 0);
	assert_int_equal(send(fd, &query, sizeof(query), 0), sizeof(query));
	check_echo(fd, port, 3);
	query.hdr.nlmsg_seq = 4;
	assert_int_equal(write(fd, &query, sizeof(query)), sizeof(query));
	check_echo(fd, port, 4);
	close(fd);
}

static void binding_is_optional(void **state)
{
	struct sockaddr_nl addr;
	socklen_t len = sizeof(addr);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	(void)state;
	assert_int_equal(send(fd, &query, sizeof(query), 0), sizeof(query));
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	check_echo(fd, addr.nl_pid, query.hdr.nlmsg_seq);
	close(fd);
}

/* More than the receive buffer holds, read slowly, with poll as the only guide. */
static void a_long_dump_arrives_whole(void **state)
{
	struct nlmsghdr dump = {.nlmsg_len = sizeof(dump),
				.nlmsg_type = 0x1401,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
				.nlmsg_seq = 9};
	int small = 8192;
	uint32_t port, i;
	int fd = open_bound(&port);
	struct pollfd pfd = {fd, POLLIN, 0};
	char buf[8192];
	struct nlmsghdr *nlh = (void *)buf;

	(void)state;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(send(fd, &dump, sizeof(dump), 0), sizeof(dump));
	for (i = 0;; i++) {
		assert_int_equal(poll(&pfd, 1, 5000), 1);
		assert_true(receive(fd, buf, sizeof(buf)) > 0);
		assert_int_equal(nlh->nlmsg_pid, port);
		if (nlh->nlmsg_type == NLMSG_DONE)
			break;
		assert_int_equal(*(uint32_t *)NLMSG_DATA(nlh), i);
	}
	assert_int_equal(i, FAKE_DUMP_PARTS);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	close(fd);
}

/* From another process, as anybody could: an errno, or 0 when it was let in. */
static int forge(uint32_t port)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = port};
	pid_t pid = fork();
	int fd, status;

	if (!pid) {
		fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK);
		_exit(sendto(fd, "forged message!!", 16, 0, (void *)&to, sizeof(to)) < 0 ? errno
											 : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void answers_cannot_be_forged(void **state)
{
	uint32_t port;
	int fd = open_bound(&port);

	(void)state;
	assert_int_equal(forge(port), ECONNREFUSED);
	query.hdr.nlmsg_seq = 11;
	assert_int_equal(send(fd, &query, sizeof(query), 0), sizeof(query));
	assert_int_equal(forge(port), ECONNREFUSED);
	check_echo(fd, port, 11);
	close(fd);
}

/* What came in between the kernel's bind and the guard is thrown away. */
static void what_came_before_the_guard_is_dropped(void **state)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	(void)state;
	assert_int_equal(syscall(SYS_bind, fd, &addr, sizeof(addr)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(forge(addr.nl_pid), 0);
	query.hdr.nlmsg_seq = 12;
	assert_int_equal(send(fd, &query, sizeof(query), 0), sizeof(query));
	check_echo(fd, addr.nl_pid, 12);
	close(fd);
}

static void sockets_leave_nothing_behind(void **state)
{
	uint32_t port;
	int first = open_bound(&port), fd;

	(void)state;
	close(first);
	for (int i = 0; i < 2000; i++) {
		fd = open_bound(&port);
		assert_int_equal(fd, first);
		close(fd);
	}
}

static void other_families_are_the_kernels(void **state)
{
	struct {
		struct nlmsghdr hdr;
		char body[16];
	} links = {{.nlmsg_len = sizeof(links),
		    .nlmsg_type = 18 /* RTM_GETLINK */,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		   {0}};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	char buf[8192];

	(void)state;
	assert_int_equal(send(fd, &links, sizeof(links), 0), sizeof(links));
	assert_true(recv(fd, buf, sizeof(buf), 0) > 0);
	close(fd);
}

static void without_a_daemon_there_is_no_rdma(void **state)
{
	(void)state;
	fake_rxed_stop(fake_daemon);
	assert_int_equal(socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	fake_daemon = fake_rxed_start();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_send_is_answered),
		cmocka_unit_test(binding_is_optional),
		cmocka_unit_test(a_long_dump_arrives_whole),
		cmocka_unit_test(answers_cannot_be_forged),
		cmocka_unit_test(what_came_before_the_guard_is_dropped),
		cmocka_unit_test(sockets_leave_nothing_behind),
		cmocka_unit_test(other_families_are_the_kernels),
		cmocka_unit_test(without_a_daemon_there_is_no_rdma),
	};

	(void)argc;
	return FAKE_RUN(argv, tests);
}
