/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory windows: allocated and freed; the send queue binds them. */
#include "uapi/uverbs.h"

#include <errno.h>
#include <stdlib.h>

int ucmd_alloc_mw(struct ucmd *cmd)
{
	const struct ib_uverbs_alloc_mw *in = cmd->in;
	struct ib_uverbs_alloc_mw_resp *r = (void *)cmd->out;
	struct upd *pd = uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle);
	struct rxe_dev *dev = cmd->ctx->dev;
	struct umw *mw;
	int err;

	if (!pd || (in->mw_type != RXE_MW_TYPE_1 && in->mw_type != RXE_MW_TYPE_2))
		return -EINVAL;
	if (dev->nr_mw >= dev->hca.limits.max_mw)
		return uverbs_limit(cmd, "a memory window", "max_mw", dev->hca.limits.max_mw);
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return -ENOMEM;
	err = rxe_mw_create(&dev->hca, pd->pdn, in->mw_type, &mw->mw);
	if (err)
		goto out_free;
	err = uobj_add(cmd->ctx, UOBJ_MW, &mw->o);
	if (err)
		goto out_mw;
	mw->pd = pd;
	pd->o.uses++;
	dev->nr_mw++;
	r->mw_handle = mw->o.handle;
	r->rkey = rxe_mw_rkey(mw->mw);
	return 0;
out_mw:
	rxe_mw_destroy(&dev->hca, mw->mw);
out_free:
	free(mw);
	return err;
}

/* Returns what it was bound to, with a reference, or NULL. */
static struct rxe_mr *remove_mw(struct umw *mw)
{
	struct rxe_dev *dev = mw->o.ctx->dev;
	struct rxe_mr *old = rxe_mw_destroy(&dev->hca, mw->mw);

	mw->pd->o.uses--;
	dev->nr_mw--;
	uobj_remove(&mw->o);
	free(mw);
	return old;
}

void umw_destroy(struct umw *mw)
{
	struct rxe_mr *old = remove_mw(mw);

	if (old)
		rxe_mr_put(old);
}

int ucmd_dealloc_mw(struct ucmd *cmd)
{
	const struct ib_uverbs_dealloc_mw *in = cmd->in;
	struct umw *mw = uobj_find(cmd->ctx, UOBJ_MW, in->mw_handle);
	struct rxe_mr *old;

	if (!mw)
		return -ENOENT;
	old = remove_mw(mw);
	return old ? ucmd_when_idle(cmd, old) : 0;
}
