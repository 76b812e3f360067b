// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* UDP sockets on port 4791 that take datagrams and drop them. */
#include "datapath/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "rxe/wire.h"

static const int family_table[RXE_PORT_FAMILIES] = {AF_INET, AF_INET6};

/* A filter that keeps nothing: datagrams cost no memory. */
static int drop_everything(int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {.len = 1, .filter = &none};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int bind_port(int fd, int family)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(RXE_ROCE_UDP_PORT)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(RXE_ROCE_UDP_PORT)};

	if (family == AF_INET)
		return bind(fd, (struct sockaddr *)&four, sizeof(four));
	return bind(fd, (struct sockaddr *)&six, sizeof(six));
}

static int claim(int family)
{
	int one = 1, fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    (family == AF_INET ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) == 0) &&
	    drop_everything(fd) == 0 && bind_port(fd, family) == 0)
		return fd;
	one = -errno;
	close(fd);
	return one;
}

void rxe_port_claim(struct rxe_port_claim *c, const char *dev_name)
{
	for (int i = 0; i < RXE_PORT_FAMILIES; i++) {
		c->fd[i] = claim(family_table[i]);
		/* A host without IPv6 has nothing to answer there. */
		if (c->fd[i] >= 0 || c->fd[i] == -EAFNOSUPPORT)
			continue;
		log_warn("%s: cannot hold UDP port %d (%s): %s; frames that are not for the device "
			 "may be answered with ICMP port unreachable",
			 dev_name, RXE_ROCE_UDP_PORT, family_table[i] == AF_INET ? "IPv4" : "IPv6",
			 strerror(-c->fd[i]));
	}
}

void rxe_port_release(struct rxe_port_claim *c)
{
	for (int i = 0; i < RXE_PORT_FAMILIES; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
}
