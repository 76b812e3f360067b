// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ibv_rereg_mr() on our devices. The distribution's rxe provider has no entry
 * for it and libibverbs would say EOPNOTSUPP, so the public function is stood
 * in front of: the command goes out as the provider's would, for contexts of
 * ours only.
 *
 * Nothing is to be done about fork(): our devices report copy-on-fork.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>
#include "verbs/internal.h"

typedef int (*rereg_mr_fn)(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			   size_t length, int access);

/* What libibverbs checks before it asks a provider. */
static bool input_ok(const struct ibv_mr *mr, int flags, const struct ibv_pd *pd, const void *addr,
		     size_t length, int access)
{
	if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
		return false;
	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && (!length || !addr))
		return false;
	if (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))
		return false;
	return !(flags & IBV_REREG_MR_CHANGE_PD) || (pd && pd->context == mr->context);
}

/* 0 or errno, as a provider's entry. */
static int send_command(struct rxe_file *file, struct ibv_mr *mr, int flags,
			const struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr core;
	} cmd = {
		.hdr = {.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4},
		.core = {.response = (uintptr_t)&resp,
			 .mr_handle = mr->handle,
			 .flags = flags,
			 .start = (uintptr_t)addr,
			 .length = length,
			 .hca_va = (uintptr_t)addr,
			 .pd_handle = pd ? pd->handle : 0,
			 .access_flags = access},
	};

	if (rxe_command_write(file, &cmd, sizeof(cmd)) != sizeof(cmd))
		return errno;
	mr->lkey = resp.lkey;
	mr->rkey = resp.rkey;
	return 0;
}

static int rereg(struct rxe_file *file, struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access)
{
	int err;

	if (!input_ok(mr, flags, pd, addr, length, access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	err = send_command(file, mr, flags, pd, addr, length, access);
	if (err) {
		errno = err;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	return 0;
}

RXE_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			    size_t length, int access)
{
	struct rxe_file *file = rxe_file_get(mr->context->cmd_fd, RXE_FILE_COMMAND);
	rereg_mr_fn next;
	int ret;

	if (file) {
		ret = rereg(file, mr, flags, pd, addr, length, access);
		rxe_file_put(file);
		return ret;
	}
	next = (rereg_mr_fn)rxe_libibverbs("ibv_rereg_mr");
	if (!next) {
		errno = ENOSYS;
		return IBV_REREG_MR_ERR_INPUT;
	}
	return next(mr, flags, pd, addr, length, access);
}
