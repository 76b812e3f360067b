// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB on our devices. The distribution's rxe
 * provider refuses every creation flag by itself, so a UD QP is made without
 * and the daemon is told of it before anybody else has the QP.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include "verbs/internal.h"

typedef struct ibv_qp *(*create_qp_ex_fn)(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr);
typedef int (*destroy_qp_fn)(struct ibv_qp *qp);

/* The rxe provider's, one for all of its contexts. */
static _Atomic(create_qp_ex_fn) provider_create_qp_ex;

static int tell_daemon(struct ibv_qp *qp, uint32_t flags)
{
	struct rxe_ipc_qp_flags msg = {.qp_handle = qp->handle, .create_flags = flags};
	struct iovec iov = {&msg, sizeof(msg)};
	struct rxe_request req = {.type = RXE_IPC_QP_FLAGS, .nr_iov = 1, .iov = &iov};
	struct rxe_file *file = rxe_file_get(qp->context->cmd_fd, RXE_FILE_COMMAND);
	int err;

	if (!file)
		return -EBADF;
	err = rxe_conn_request(&file->conn, &req, NULL, NULL);
	rxe_file_put(file);
	return err;
}

static void destroy_qp(struct ibv_qp *qp)
{
	destroy_qp_fn destroy = (destroy_qp_fn)rxe_libibverbs("ibv_destroy_qp");

	if (destroy)
		destroy(qp);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	create_qp_ex_fn next = atomic_load(&provider_create_qp_ex);
	struct ibv_qp_init_attr_ex plain = *attr;
	struct ibv_qp *qp;
	int err;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) ||
	    !(attr->create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB))
		return next(context, attr);
	plain.create_flags &= ~(uint32_t)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	qp = next(context, &plain);
	if (!qp)
		return NULL;
	attr->cap = plain.cap; /* what was granted */
	err = tell_daemon(qp, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	if (!err)
		return qp;
	destroy_qp(qp);
	errno = -err;
	return NULL;
}

void rxe_qp_flags_install(struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_qp_ex);

	if (!vctx)
		return;
	atomic_store(&provider_create_qp_ex, vctx->create_qp_ex);
	vctx->create_qp_ex = create_qp_ex;
}
