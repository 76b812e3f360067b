/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client may do: the capabilities that its process has over the owner
 * of a network namespace, read once, when it connects (DESIGN D8b). A pid is
 * only ever a guess until the pidfd says that it is still the same process;
 * whoever cannot be told for sure has no authority.
 */
#include "authority.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include "kernel_compat.h"
#include "log.h"
#include "netns.h"

/* What was read of the client's process. */
struct process {
	pid_t pid;
	uid_t euid;
	uid_t owner; /* of its files in /proc: root when it gained privilege by exec */
	uint64_t caps;
	struct stat userns;
	char comm[16];
};

static int open_proc(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d%s", (int)pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens /proc/PID/file, reads it as a string. */
static int read_proc(pid_t pid, const char *file, char *buf, size_t size)
{
	int fd = open_proc(pid, file);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	buf[n] = 0;
	return 0;
}

static int stat_proc(pid_t pid, const char *file, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d%s", (int)pid, file);
	return stat(path, st) ? -errno : 0;
}

static int parse_status(const char *text, struct process *p)
{
	const char *uid = strstr(text, "\nUid:"), *cap = strstr(text, "\nCapEff:");
	unsigned int real, effective;
	unsigned long long caps;

	if (!uid || sscanf(uid, "\nUid: %u %u", &real, &effective) != 2)
		return -EINVAL;
	if (!cap || sscanf(cap, "\nCapEff: %llx", &caps) != 1)
		return -EINVAL;
	p->euid = effective;
	p->caps = caps;
	return 0;
}

static int read_process(pid_t pid, struct process *p)
{
	char text[4096];
	struct stat st;
	int err;

	p->pid = pid;
	err = read_proc(pid, "/comm", text, sizeof(text));
	if (err)
		return err;
	text[strcspn(text, "\n")] = 0;
	snprintf(p->comm, sizeof(p->comm), "%.15s", text);
	err = read_proc(pid, "/status", text, sizeof(text));
	if (!err)
		err = parse_status(text, p);
	if (!err)
		err = stat_proc(pid, "/ns/user", &p->userns);
	if (!err)
		err = stat_proc(pid, "/status", &st); /* /proc/PID itself tells nothing */
	if (!err)
		p->owner = st.st_uid;
	return err;
}

/*
 * A descriptor of the process that connected. Kernels before 6.5 cannot give
 * it; then a pid is opened, and only a client that was root when it connected
 * gets authority by it.
 */
static int peer_pidfd(int sock, const struct ucred *cred)
{
	socklen_t len = sizeof(int);
	int fd;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	if (errno != ENOPROTOOPT || cred->uid != 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_open, cred->pid, 0);
	return fd < 0 ? -errno : fd;
}

static bool still_alive(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/*
 * Did the process change since it connected in a way that gives it more? A
 * setuid program has another uid; one with file capabilities is not dumpable,
 * so that its files in /proc belong to root.
 */
static bool same_credentials(const struct process *p, const struct ucred *cred)
{
	return p->euid == cred->uid && (p->owner == cred->uid || cred->uid == 0);
}

/* Is userns the one that owns the namespace nsfd, or one above it? */
static bool userns_covers(const struct stat *userns, int nsfd)
{
	int fd = ioctl(nsfd, NS_GET_USERNS), parent;
	bool found = false;
	struct stat st;

	while (fd >= 0) {
		found = !fstat(fd, &st) && st.st_dev == userns->st_dev &&
			st.st_ino == userns->st_ino;
		parent = found ? -1 : ioctl(fd, NS_GET_PARENT);
		close(fd);
		fd = parent;
	}
	return found;
}

static bool capable(const struct process *p, int cap, const struct rxe_netns *ns)
{
	return p->caps >> cap & 1 && userns_covers(&p->userns, rxe_netns_fd(ns));
}

static const char *remedy(int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
		return "rxed needs CAP_NET_ADMIN there: run it as root";
	case EMFILE:
		return "start rxed with a larger `ulimit -n`";
	case ENFILE:
		return "raise the sysctl fs.file-max";
	default:
		return "the client is turned away";
	}
}

static int peer_netns(int sock, struct rxe_netns **out)
{
	int fd = ioctl(sock, SIOCGSKNS);

	if (fd < 0) {
		static uint64_t next_log;
		int err = -errno;

		if (log_seldom(&next_log))
			log_err("asking for a client's network namespace: %s; %s", strerror(-err),
				remedy(-err));
		return err;
	}
	return rxe_netns_from_fd(fd, out);
}

static void take_authority(struct rxe_peer *peer, const struct process *p)
{
	struct rxe_netns *self;

	peer->net_admin = capable(p, CAP_NET_ADMIN, peer->ns);
	peer->net_raw = capable(p, CAP_NET_RAW, peer->ns);
	peer->net_bind = capable(p, CAP_NET_BIND_SERVICE, peer->ns);
	if (rxe_netns_self(&self))
		return;
	peer->bpf_admin = capable(p, CAP_NET_ADMIN, self);
	rxe_netns_put(self);
}

int rxe_peer_from_socket(int sock, struct rxe_peer *peer)
{
	struct process p = {0};
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int pidfd, err;

	memset(peer, 0, sizeof(*peer));
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	err = peer_netns(sock, &peer->ns);
	if (err)
		return err;
	peer->pid = cred.pid;
	peer->uid = cred.uid;
	pidfd = peer_pidfd(sock, &cred);
	err = read_process(cred.pid, &p);
	if (!err)
		memcpy(peer->comm, p.comm, sizeof(peer->comm));
	if (pidfd < 0)
		return 0; /* known, without authority */
	if (!err && still_alive(pidfd) && same_credentials(&p, &cred))
		take_authority(peer, &p);
	close(pidfd);
	return 0;
}

void rxe_peer_release(struct rxe_peer *peer)
{
	if (peer->ns)
		rxe_netns_put(peer->ns);
	peer->ns = NULL;
}
