// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the rdma tool of iproute2 needs beyond its netlink socket: `rdma dev
 * set NAME netns NAMESPACE` sends the number of a descriptor of its own, which
 * has to travel with the request; and it takes a name below /run/netns only,
 * where a PID should do as well.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "verbs/internal.h"

/* ---- the descriptor in a request -------------------------------------------------- */

int rxe_netlink_netns_fd(const void *msg, size_t len)
{
	struct nlmsghdr nlh;
	const void *value;
	uint32_t fd;

	if (len < sizeof(nlh))
		return -1;
	memcpy(&nlh, msg, sizeof(nlh));
	if (nlh.nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SET) ||
	    nlh.nlmsg_len < NLMSG_HDRLEN || nlh.nlmsg_len > len)
		return -1;
	value = rxe_nl_attr((char *)msg + NLMSG_HDRLEN, nlh.nlmsg_len - NLMSG_HDRLEN,
			    RDMA_NLDEV_NET_NS_FD, sizeof(fd));
	if (!value)
		return -1;
	memcpy(&fd, value, sizeof(fd));
	return fd <= INT_MAX && syscall(SYS_fcntl, (int)fd, F_GETFD) >= 0 ? (int)fd : -1;
}

/* ---- a PID in place of a name ---------------------------------------------------------- */

/* The PID that a path below /run/netns ends in; NULL: another path. */
static const char *pid_of(const char *path)
{
	static const char *const dirs[] = {"/var/run/netns/", "/run/netns/"};
	const char *pid = NULL;

	for (size_t i = 0; !pid && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (!strncmp(path, dirs[i], strlen(dirs[i])))
			pid = path + strlen(dirs[i]);
	if (!pid || !*pid || strlen(pid) > 10 || pid[strspn(pid, "0123456789")])
		return NULL;
	return pid;
}

int rxe_netns_of_pid(const char *path, int flags)
{
	const char *pid = path ? pid_of(path) : NULL;
	char ns[32];
	int fd;

	if (!pid || strcmp(program_invocation_short_name, "rdma")) {
		errno = ENOENT;
		return -1;
	}
	snprintf(ns, sizeof(ns), "/proc/%s/ns/net", pid);
	fd = syscall(SYS_openat, AT_FDCWD, ns, flags);
	if (fd < 0)
		errno = ENOENT; /* what there is no name for */
	return fd;
}
