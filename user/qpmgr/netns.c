/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network namespaces, one counted object per namespace however many
 * descriptors name it, and the way in and out of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/nsfs.h>
#include "disposal.h"
#include "log.h"
#include "netns.h"

struct rxe_netns {
	LIST_ENTRY(rxe_netns) link;
	int fd;
	dev_t dev; /* with ino: the namespace's identity */
	ino_t ino;
	unsigned int refs;
};

static LIST_HEAD(, rxe_netns) namespaces = LIST_HEAD_INITIALIZER(namespaces);
static struct rxe_netns *self_ns; /* holds a reference for ever */
static struct rxe_netns *entered;

static struct rxe_netns *netns_find(const struct stat *st)
{
	struct rxe_netns *ns;

	LIST_FOREACH (ns, &namespaces, link) {
		if (ns->dev == st->st_dev && ns->ino == st->st_ino)
			return ns;
	}
	return NULL;
}

/* Is fd a network namespace, and not some other file? 0 or -EINVAL. */
static int netns_check(int fd)
{
	int type = ioctl(fd, NS_GET_NSTYPE);

	return type == CLONE_NEWNET ? 0 : -EINVAL;
}

int rxe_netns_from_fd(int fd, struct rxe_netns **out)
{
	struct rxe_netns *ns;
	struct stat st;
	int err = netns_check(fd);

	if (!err && fstat(fd, &st))
		err = -errno;
	if (err)
		goto out_close;
	ns = netns_find(&st);
	if (ns) {
		ns->refs++;
		*out = ns;
		goto out_close;
	}
	ns = calloc(1, sizeof(*ns));
	if (!ns) {
		err = -ENOMEM;
		goto out_close;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	ns->fd = fd;
	ns->dev = st.st_dev;
	ns->ino = st.st_ino;
	ns->refs = 1;
	LIST_INSERT_HEAD(&namespaces, ns, link);
	*out = ns;
	return 0;

out_close:
	rxe_dispose_fd(fd);
	return err;
}

int rxe_netns_self(struct rxe_netns **out)
{
	int fd, err;

	if (!self_ns) {
		fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		err = rxe_netns_from_fd(fd, &self_ns);
		if (err)
			return err;
	}
	rxe_netns_get(self_ns);
	*out = self_ns;
	return 0;
}

void rxe_netns_get(struct rxe_netns *ns)
{
	ns->refs++;
}

void rxe_netns_put(struct rxe_netns *ns)
{
	if (--ns->refs)
		return;
	LIST_REMOVE(ns, link);
	close(ns->fd);
	free(ns);
}

int rxe_netns_fd(const struct rxe_netns *ns)
{
	return ns->fd;
}

uint64_t rxe_netns_ino(const struct rxe_netns *ns)
{
	return ns->ino;
}

int rxe_netns_enter(struct rxe_netns *ns)
{
	struct rxe_netns *self;
	int err = rxe_netns_self(&self);

	if (err)
		return err;
	rxe_netns_put(self); /* self_ns keeps its own reference */
	if (ns != self && setns(ns->fd, CLONE_NEWNET)) {
		err = -errno;
		log_err("entering network namespace net:[%llu]: %s; rxed needs CAP_SYS_ADMIN "
			"there: run it as root of that container or of the host",
			(unsigned long long)ns->ino, strerror(-err));
		return err;
	}
	entered = ns;
	return 0;
}

void rxe_netns_leave(void)
{
	struct rxe_netns *ns = entered;

	entered = NULL;
	if (!ns || ns == self_ns)
		return;
	if (setns(self_ns->fd, CLONE_NEWNET)) {
		/* Going on would act on the wrong network. */
		log_err("returning to rxed's own network namespace: %s; giving up",
			strerror(errno));
		abort();
	}
}
