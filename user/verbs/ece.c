// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ibv_query_ece() and ibv_set_ece(): the distribution's rxe provider has no
 * entry for them, so QPs of ours are answered here; others go on to
 * libibverbs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include "verbs/internal.h"

typedef int (*ece_fn)(struct ibv_qp *qp, struct ibv_ece *ece);

/* As in poll.c: libibverbs may be where RTLD_NEXT does not look. */
static ece_fn find_next(const char *name)
{
	ece_fn fn = (ece_fn)dlsym(RTLD_NEXT, name);
	void *lib = fn ? NULL : dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (lib) {
		fn = (ece_fn)dlsym(lib, name);
		dlclose(lib);
	}
	return fn;
}

static int call_next(const char *name, struct ibv_qp *qp, struct ibv_ece *ece)
{
	ece_fn fn = find_next(name);

	if (fn)
		return fn(qp, ece);
	errno = EOPNOTSUPP;
	return errno;
}

static int take_reply(void *arg, struct rxe_ipc_msg *msg)
{
	const struct rxe_ipc_ece *e = msg->buf;
	struct ibv_ece *ece = arg;

	if (msg->hdr.len < sizeof(*e))
		return -EIO;
	ece->vendor_id = e->vendor_id;
	ece->options = e->options;
	ece->comp_mask = 0;
	return 0;
}

/* Takes file. These verbs return errno, and set it. */
static int request(struct rxe_file *file, struct ibv_qp *qp, struct ibv_ece *ece, bool set)
{
	struct rxe_ipc_ece e = {.qp_handle = qp->handle, .set = set};
	struct iovec iov = {&e, sizeof(e)};
	struct rxe_request req = {.type = RXE_IPC_ECE, .iov = &iov, .nr_iov = 1};
	int err;

	if (set) {
		e.vendor_id = ece->vendor_id;
		e.options = ece->options;
	}
	err = -rxe_conn_request(&file->conn, &req, take_reply, ece);
	rxe_file_put(file);
	if (err)
		errno = err;
	return err;
}

static struct rxe_file *file_of(const struct ibv_qp *qp)
{
	int fd = qp->context->cmd_fd;

	return rxe_fd_tracked(fd) ? rxe_file_get(fd, RXE_FILE_COMMAND) : NULL;
}

RXE_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct rxe_file *file = file_of(qp);

	return file ? request(file, qp, ece, false) : call_next("ibv_query_ece", qp, ece);
}

RXE_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct rxe_file *file = file_of(qp);

	if (!file)
		return call_next("ibv_set_ece", qp, ece);
	if (!ece->vendor_id || ece->comp_mask) {
		rxe_file_put(file);
		errno = ece->comp_mask ? EINVAL : EOPNOTSUPP; /* as libibverbs and its drivers */
		return errno;
	}
	return request(file, qp, ece, true);
}
