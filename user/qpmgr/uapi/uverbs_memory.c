/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains and memory regions. */
#include "uapi/uverbs.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "log.h"

#define RECHECK_NS 200000	/* while copies of a region run out */

static uint32_t next_pdn = 1;

int ucmd_alloc_pd(struct ucmd *cmd)
{
	struct ib_uverbs_alloc_pd_resp *r = (void *)cmd->out;
	struct rxe_dev *dev = cmd->ctx->dev;
	struct upd *pd;

	if (dev->nr_pd >= dev->hca.limits.max_pd)
		return uverbs_limit(cmd, "a PD", "max_pd", dev->hca.limits.max_pd);
	pd = calloc(1, sizeof(*pd));
	if (!pd || uobj_add(cmd->ctx, UOBJ_PD, &pd->o)) {
		free(pd);
		return -ENOMEM;
	}
	pd->pdn = next_pdn++;
	dev->nr_pd++;
	r->pd_handle = pd->o.handle;
	return 0;
}

void upd_destroy(struct upd *pd)
{
	pd->o.ctx->dev->nr_pd--;
	uobj_remove(&pd->o);
	free(pd);
}

int ucmd_dealloc_pd(struct ucmd *cmd)
{
	const struct ib_uverbs_dealloc_pd *in = cmd->in;
	struct upd *pd = uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle);

	if (!pd)
		return -EINVAL;
	if (pd->o.uses)
		return -EBUSY;
	upd_destroy(pd);
	return 0;
}

#define ACCESS_WRITES \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_ATOMIC)
#define ACCESS_REMOTE_WRITES (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)
#define ACCESS_KNOWN \
	(ACCESS_WRITES | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

/* As ib_check_mr_access(): remote writes need local write. */
static int check_access(uint32_t access)
{
	if (access & ~(uint32_t)ACCESS_KNOWN)
		return -EOPNOTSUPP;
	if ((access & ACCESS_REMOTE_WRITES) && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

int ucmd_reg_mr(struct ucmd *cmd)
{
	const struct ib_uverbs_reg_mr *in = cmd->in;
	struct ib_uverbs_reg_mr_resp *r = (void *)cmd->out;
	struct upd *pd = uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle);
	struct umr *mr;
	int err;

	if (!pd || (in->start & 4095) != (in->hca_va & 4095))
		return -EINVAL;
	if (cmd->ctx->dev->nr_mr >= cmd->ctx->dev->hca.limits.max_mr)
		return uverbs_limit(cmd, "an MR", "max_mr", cmd->ctx->dev->hca.limits.max_mr);
	err = check_access(in->access_flags);
	if (!err)
		err = rxe_mem_check(cmd->ctx->mem, in->start, in->length,
				    in->access_flags & ACCESS_WRITES);
	if (err)
		return err;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	err = rxe_mr_create(&cmd->ctx->dev->hca, pd->pdn, cmd->ctx->mem, in->start, in->length,
			    in->hca_va, in->access_flags & ~IB_UVERBS_ACCESS_OPTIONAL_RANGE,
			    &mr->mr);
	if (err)
		goto out_free;
	err = uobj_add(cmd->ctx, UOBJ_MR, &mr->o);
	if (err)
		goto out_mr;
	mr->pd = pd;
	pd->o.uses++;
	cmd->ctx->dev->nr_mr++;
	r->mr_handle = mr->o.handle;
	r->lkey = rxe_mr_lkey(mr->mr);
	r->rkey = rxe_mr_rkey(mr->mr);
	return 0;
out_mr:
	rxe_mr_destroy(&cmd->ctx->dev->hca, mr->mr);
out_free:
	free(mr);
	return err;
}

static void umr_free(struct umr *mr)
{
	mr->pd->o.uses--;
	mr->o.ctx->dev->nr_mr--;
	uobj_remove(&mr->o);
	free(mr);
}

void umr_destroy(struct umr *mr)
{
	rxe_mr_destroy(&mr->o.ctx->dev->hca, mr->mr);
	umr_free(mr);
}

/*
 * Copies that were under way when the region went still read or write the
 * program's memory: it may reuse that memory only after our answer.
 */
static void recheck(struct rxe_timer *t)
{
	struct umr *mr = caa_container_of(t, struct umr, recheck);
	struct uctx *ctx = mr->o.ctx;

	if (rxe_mr_busy(mr->mr)) {
		rxe_loop_timer(rxed.loop, t, RECHECK_NS);
		return;
	}
	rxe_mr_put(mr->mr);
	ucmd_finish(mr->dereg_cmd, 0);
	umr_free(mr);
	uctx_unhold(ctx);
}

int ucmd_dereg_mr(struct ucmd *cmd)
{
	const uint32_t *handle = cmd->in;	/* struct ib_uverbs_dereg_mr */
	struct umr *mr = uobj_find(cmd->ctx, UOBJ_MR, *handle);

	if (!mr || mr->dereg_cmd)
		return -EINVAL;
	mr->dereg_cmd = cmd;
	mr->recheck.cb = recheck;
	cmd->ctx->holds++;
	rxe_mr_get(mr->mr);
	rxe_mr_destroy(&cmd->ctx->dev->hca, mr->mr);
	recheck(&mr->recheck);
	return -EINPROGRESS;
}
