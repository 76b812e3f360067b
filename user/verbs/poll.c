// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Busy polling on our devices gives way: a program that spins on an empty
 * completion queue may sit on the very core that the daemon's worker needs to
 * fill it. An empty poll therefore yields; where a core is idle that is one
 * short system call. And it looks now and then whether the daemon lives, since
 * a queue in shared memory would stay empty for ever.
 *
 * The only entry for this is the public context->ops.poll_cq, so contexts of
 * ours are found as they are opened. (Extended CQs are polled by functions of
 * the CQ's own and do not come here.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <infiniband/verbs.h>
#include "verbs/internal.h"

typedef struct ibv_context *(*open_device_fn)(struct ibv_device *device);
typedef int (*poll_cq_fn)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* The rxe provider's, one for all of its contexts. */
static _Atomic(poll_cq_fn) provider_poll_cq;

/*
 * libibverbs may be loaded where RTLD_NEXT does not look: as a dependency of a
 * plug-in (Python, UCX). It is loaded, since somebody calls it.
 */
void *rxe_libibverbs(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);
	void *lib = fn ? NULL : dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (lib) {
		fn = dlsym(lib, name);
		dlclose(lib);
	}
	return fn;
}

/* Nobody fills the queue any more: the daemon's end of the socket is closed. */
static bool daemon_gone(int cmd_fd)
{
	struct pollfd pfd = {.fd = cmd_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0 && pfd.revents & (POLLHUP | POLLERR);
}

/* Empty polls of one thread between two looks at the daemon: about a millisecond. */
#define POLLS_PER_LOOK 4096

static int poll_or_yield(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	static _Thread_local unsigned int empty;
	int n = atomic_load_explicit(&provider_poll_cq, memory_order_relaxed)(cq, num_entries, wc);

	if (n)
		return n;
	sched_yield();
	if (++empty % POLLS_PER_LOOK || !daemon_gone(cq->context->cmd_fd))
		return 0;
	errno = EIO;
	return -1;
}

RXE_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	open_device_fn next = (open_device_fn)rxe_libibverbs("ibv_open_device");
	struct ibv_context *context;
	struct rxe_file *file;

	if (!next) {
		errno = ENOSYS;
		return NULL;
	}
	context = next(device);
	file = context ? rxe_file_get(context->cmd_fd, RXE_FILE_COMMAND) : NULL;
	if (file) {
		atomic_store(&provider_poll_cq, context->ops.poll_cq);
		context->ops.poll_cq = poll_or_yield;
		rxe_qp_flags_install(context);
		rxe_advise_install(context);
		rxe_file_put(file);
	}
	return context;
}
