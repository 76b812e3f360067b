// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ibv_advise_mr() on our devices: the distribution's rxe provider has no entry
 * for it. The daemon says whether the advice is a sound one (regions on demand,
 * their range and access); pages are brought in here, by the thread whose
 * memory it is. Of a region with an address of its own (ibv_reg_mr_iova) only
 * that check is left.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "verbs/internal.h"

#ifndef MADV_POPULATE_READ /* 5.14; the daemon offers regions on demand from 6.11 on */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static struct ib_uverbs_attr attr(uint16_t id, uint16_t len, uint64_t data)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
}

static int ask_daemon(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[4];
	} cmd = {
		.hdr = {.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_ADVISE_MR,
			.num_attrs = 4,
			.driver_id = RDMA_DRIVER_RXE},
		.attrs = {attr(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle),
			  attr(UVERBS_ATTR_ADVISE_MR_ADVICE, sizeof(uint64_t), advice),
			  attr(UVERBS_ATTR_ADVISE_MR_FLAGS, sizeof(flags), flags),
			  attr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, num_sge * sizeof(*sg_list),
			       (uintptr_t)sg_list)},
	};
	struct rxe_file *file = rxe_file_get(pd->context->cmd_fd, RXE_FILE_COMMAND);
	int err;

	if (!file)
		return EBADF;
	err = rxe_command_ioctl(file, &cmd) ? errno : 0;
	rxe_file_put(file);
	return err;
}

/* EFAULT: not all of it can be brought in. */
static int populate(const struct ibv_sge *sge, bool write)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = sge->addr & ~(page - 1);
	size_t len = sge->addr + sge->length - start;

	if (!sge->length ||
	    !madvise((void *)start, len, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ))
		return 0;
	return EFAULT;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	int err, failed = 0, saved = errno;

	if (!num_sge || num_sge > UINT16_MAX / sizeof(*sg_list))
		return EINVAL;
	err = ask_daemon(pd, advice, flags, sg_list, num_sge);
	if (!err && advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		for (uint32_t i = 0; i < num_sge && !failed; i++)
			failed = populate(&sg_list[i],
					  advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	/* Without FLUSH nobody waits for the outcome. */
	if (!err && flags & IBV_ADVISE_MR_FLAG_FLUSH)
		err = failed;
	errno = saved;
	return err;
}

void rxe_advise_install(struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, advise_mr);

	if (vctx)
		vctx->advise_mr = advise_mr;
}
