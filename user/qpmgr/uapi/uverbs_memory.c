/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains and memory regions. */
#include "uapi/uverbs.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "kernel_compat.h"
#include "log.h"
#include "mapping.h"

#define RECHECK_NS 200000 /* while copies of a region run out */

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
	pd->pdn = pd->o.res;
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

#define ACCESS_WRITES                                                   \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_ATOMIC)
#define ACCESS_REMOTE_WRITES (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)
#define ACCESS_KNOWN                                                                           \
	(ACCESS_WRITES | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_MW_BIND |             \
	 IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB | \
	 RXE_ACCESS_FLUSH_GLOBAL | RXE_ACCESS_FLUSH_PERSISTENT | IB_UVERBS_ACCESS_OPTIONAL_RANGE)
#define ACCESS_NOT_OFFERED (IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_HUGETLB)

/*
 * As ib_check_mr_access(): remote writes need local write. Persistence needs
 * pages of persistent memory, as kernel rxe checks; client memory is none that
 * could be flushed from here.
 */
static int check_access(uint32_t access)
{
	if ((access & ACCESS_REMOTE_WRITES) && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (access & ~(uint32_t)ACCESS_KNOWN)
		return -EINVAL;
	if (access & ACCESS_NOT_OFFERED ||
	    (access & IB_UVERBS_ACCESS_ON_DEMAND && !rxe_mapping_asked_each_time()))
		return -EOPNOTSUPP;
	return access & RXE_ACCESS_FLUSH_PERSISTENT ? -EINVAL : 0;
}

static bool page_offsets_differ(uint64_t start, uint64_t iova)
{
	return (start ^ iova) & 4095;
}

/* ---- what the client's mappings allow ------------------------------------------------ */

/* On the control thread; nothing else of this context ran meanwhile but its end. */
static void mapped(struct rxe_task *t)
{
	struct ucmd *cmd = caa_container_of(t, struct ucmd, mapped_task);
	struct uctx *ctx = cmd->ctx;
	int err = ctx->closing || ctx->dead ? -EIO : cmd->mapped.status;

	if (!err)
		err = cmd->mapped_then(cmd);
	if (err != -EINPROGRESS)
		ucmd_finish(cmd, err);
	uctx_unhold(ctx);
}

static void post_mapped(struct rxe_mem_check *c)
{
	rxe_loop_post(rxed.loop, &caa_container_of(c, struct ucmd, mapped)->mapped_task);
}

/*
 * Goes on with then(cmd) if [start, start+length) is mapped as `access` needs.
 * On demand it need not be yet, or whole: copies ask for what they touch. So a
 * region may also be the whole address space (implicit on-demand paging).
 */
static int when_mapped(struct ucmd *cmd, uint64_t start, uint64_t length, uint32_t access,
		       ucmd_handler then)
{
	int err;

	if (access & IB_UVERBS_ACCESS_ON_DEMAND)
		return then(cmd);
	cmd->mapped = (struct rxe_mem_check){
		.va = start,
		.len = length,
		.write = access & ACCESS_WRITES,
		.done = post_mapped,
	};
	cmd->mapped_task.cb = mapped;
	cmd->mapped_then = then;
	cmd->ctx->holds++;
	err = rxe_mem_check(cmd->ctx->mem, &cmd->mapped);
	if (err)
		cmd->ctx->holds--;
	return err ? err : -EINPROGRESS;
}

/* ---- REG_MR, DEREG_MR ------------------------------------------------------------------ */

static int reg_mapped(struct ucmd *cmd)
{
	const struct ib_uverbs_reg_mr *in = cmd->in;
	struct ib_uverbs_reg_mr_resp *r = (void *)cmd->out;
	struct upd *pd = uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle);
	struct rxe_dev *dev = cmd->ctx->dev;
	struct umr *mr;
	int err;

	/* Again: another context of the device may have been quicker. */
	if (dev->nr_mr >= dev->hca.limits.max_mr)
		return uverbs_limit(cmd, "an MR", "max_mr", dev->hca.limits.max_mr);
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	err = rxe_mr_create(&dev->hca, pd->pdn, cmd->ctx->mem, in->start, in->length, in->hca_va,
			    in->access_flags & ~IB_UVERBS_ACCESS_OPTIONAL_RANGE, &mr->mr);
	if (err)
		goto out_free;
	err = uobj_add(cmd->ctx, UOBJ_MR, &mr->o);
	if (err)
		goto out_mr;
	mr->pd = pd;
	mr->start = in->start;
	mr->length = in->length;
	mr->iova = in->hca_va;
	mr->access = in->access_flags;
	pd->o.uses++;
	dev->nr_mr++;
	r->mr_handle = mr->o.handle;
	r->lkey = rxe_mr_lkey(mr->mr);
	r->rkey = rxe_mr_rkey(mr->mr);
	return 0;
out_mr:
	rxe_mr_destroy(&dev->hca, mr->mr);
out_free:
	free(mr);
	return err;
}

int ucmd_reg_mr(struct ucmd *cmd)
{
	const struct ib_uverbs_reg_mr *in = cmd->in;
	int err;

	if (!uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle) ||
	    page_offsets_differ(in->start, in->hca_va))
		return -EINVAL;
	if (cmd->ctx->dev->nr_mr >= cmd->ctx->dev->hca.limits.max_mr)
		return uverbs_limit(cmd, "an MR", "max_mr", cmd->ctx->dev->hca.limits.max_mr);
	err = check_access(in->access_flags);
	return err ? err : when_mapped(cmd, in->start, in->length, in->access_flags, reg_mapped);
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
 * Copies that were under way when a region went still read or write the
 * program's memory: it may reuse that memory only after our answer.
 */
static void look_again(struct rxe_timer *t)
{
	struct ucmd *cmd = caa_container_of(t, struct ucmd, idle_timer);
	struct uctx *ctx = cmd->ctx;

	if (rxe_mr_busy(cmd->idle_mr)) {
		rxe_loop_timer(rxed.loop, t, RECHECK_NS);
		return;
	}
	rxe_mr_put(cmd->idle_mr);
	ucmd_finish(cmd, 0);
	uctx_unhold(ctx);
}

int ucmd_when_idle(struct ucmd *cmd, struct rxe_mr *old)
{
	cmd->idle_mr = old;
	cmd->idle_timer.cb = look_again;
	cmd->ctx->holds++;
	look_again(&cmd->idle_timer);
	return -EINPROGRESS;
}

int ucmd_dereg_mr(struct ucmd *cmd)
{
	const uint32_t *handle = cmd->in; /* struct ib_uverbs_dereg_mr */
	struct umr *mr = uobj_find(cmd->ctx, UOBJ_MR, *handle);
	struct rxe_mr *old;

	if (!mr)
		return -EINVAL;
	if (rxe_mr_close(mr->mr)) /* a window is bound to it: as kernel rxe */
		return -EINVAL;
	old = mr->mr;
	rxe_mr_get(old);
	umr_destroy(mr);
	return ucmd_when_idle(cmd, old);
}

/* ---- REREG_MR ----------------------------------------------------------------------- */

#define REREG_TRANS  1u /* enum ib_mr_rereg_flags */
#define REREG_PD     2u
#define REREG_ACCESS 4u

static int check_rereg(const struct ib_uverbs_rereg_mr *in)
{
	if (!in->flags)
		return -EINVAL;
	if (in->flags & ~(REREG_TRANS | REREG_PD | REREG_ACCESS))
		return -EOPNOTSUPP;
	if ((in->flags & REREG_TRANS) && page_offsets_differ(in->start, in->hca_va))
		return -EINVAL;
	return in->flags & REREG_ACCESS ? check_access(in->access_flags) : 0;
}

/* What the region is to be: the flags say what of it changes. */
static struct umr changed(const struct umr *mr, const struct ib_uverbs_rereg_mr *in)
{
	struct umr want = *mr;

	if (in->flags & REREG_TRANS) {
		want.start = in->start;
		want.length = in->length;
		want.iova = in->hca_va;
	}
	if (in->flags & REREG_ACCESS)
		want.access = in->access_flags;
	if (in->flags & REREG_PD)
		want.pd = uobj_find(mr->o.ctx, UOBJ_PD, in->pd_handle);
	return want;
}

/* Whole or not at all; the keys stay. The answer waits for copies that began before. */
static int rereg_mapped(struct ucmd *cmd)
{
	const struct ib_uverbs_rereg_mr *in = cmd->in;
	struct ib_uverbs_rereg_mr_resp *r = (void *)cmd->out;
	struct umr *mr = uobj_find(cmd->ctx, UOBJ_MR, in->mr_handle), want = changed(mr, in);
	struct rxe_mr *old = mr->mr;
	int err =
		rxe_mr_replace(&cmd->ctx->dev->hca, old, want.pd->pdn, want.start, want.length,
			       want.iova, want.access & ~IB_UVERBS_ACCESS_OPTIONAL_RANGE, &want.mr);

	if (err)
		return err;
	mr->pd->o.uses--;
	want.pd->o.uses++;
	*mr = want;
	r->lkey = rxe_mr_lkey(mr->mr);
	r->rkey = rxe_mr_rkey(mr->mr);
	return ucmd_when_idle(cmd, old);
}

/* Kernel rxe changes PD and access only. */
int ucmd_rereg_mr(struct ucmd *cmd)
{
	const struct ib_uverbs_rereg_mr *in = cmd->in;
	struct umr *mr, want;
	int err = check_rereg(in);

	if (err)
		return err;
	mr = uobj_find(cmd->ctx, UOBJ_MR, in->mr_handle);
	if (!mr)
		return -ENOENT;
	want = changed(mr, in);
	if (!want.pd)
		return -EINVAL;
	if (!(in->flags & (REREG_TRANS | REREG_ACCESS)))
		return rereg_mapped(cmd);
	return when_mapped(cmd, want.start, want.length, want.access, rereg_mapped);
}

/* ---- ADVISE_MR ---------------------------------------------------------------------- */

static bool may_reach(struct uctx *ctx, const struct upd *pd, const struct ib_uverbs_sge *sge,
		      uint32_t access, int *err)
{
	struct rxe_mr *mr;
	uint64_t va;

	*err = rxe_mr_lookup(&ctx->dev->hca, pd->pdn, sge->lkey, sge->addr, sge->length, access,
			     &mr, &va);
	if (!*err)
		rxe_mr_put(mr);
	return !*err;
}

int umr_advise(struct uctx *ctx, uint32_t pd_handle, uint64_t advice, uint64_t flags,
	       const struct ib_uverbs_sge *sge)
{
	const struct upd *pd = uobj_find(ctx, UOBJ_PD, pd_handle);
	bool write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	int err;

	if (!pd || flags & ~(uint64_t)IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (!may_reach(ctx, pd, sge, IB_UVERBS_ACCESS_ON_DEMAND, &err))
		return err == -ERANGE ? -EFAULT : -EINVAL;
	if (write && !may_reach(ctx, pd, sge, IB_UVERBS_ACCESS_LOCAL_WRITE, &err))
		return -EPERM;
	return 0;
}
