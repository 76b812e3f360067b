/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups of UD QPs (PROTOCOL 28): attached by GID. The LID does not
 * matter, as the RoCE annex says. Checks and errors are ib_attach_mcast()'s.
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "log.h"

struct umcast {
	LIST_ENTRY(umcast) link;
	union rxe_ip gid;
};

static struct umcast *find(struct uqp *qp, const union rxe_ip *gid)
{
	struct umcast *m;

	LIST_FOREACH (m, &qp->mcast, link)
		if (!memcmp(&m->gid, gid, sizeof(*gid)))
			return m;
	return NULL;
}

/* The QP that a command is about; NULL: no such QP, no UD QP, or no group. */
static struct uqp *find_qp(struct ucmd *cmd, uint32_t handle, const union rxe_ip *gid)
{
	struct uqp *qp = uobj_find(cmd->ctx, UOBJ_QP, handle);

	if (!qp || qp->dying || qp->type != RXE_QPT_UD || !rxe_mcast_gid(gid))
		return NULL;
	return qp;
}

static int limit_reached(const struct ucmd *cmd)
{
	const struct rxe_limits *l = &cmd->ctx->dev->hca.limits;

	log_warn(
		"attaching a QP of device %s to a multicast group for process %d (%s): no more than "
		"%u groups, %u QPs in one and %u in all are possible",
		cmd->ctx->dev->name, cmd->ctx->peer->pid, cmd->ctx->peer->comm, l->max_mcast_grp,
		l->max_mcast_qp_attach, l->max_total_mcast_qp_attach);
	return -ENOMEM;
}

static void drop(struct uqp *qp, struct umcast *m, bool last)
{
	if (last)
		rxe_group_leave(qp->o.ctx->dev, &m->gid);
	LIST_REMOVE(m, link);
	free(m);
}

int ucmd_attach_mcast(struct ucmd *cmd)
{
	const struct ib_uverbs_attach_mcast *in = cmd->in;
	struct rxe_dev *dev = cmd->ctx->dev;
	struct umcast *m;
	union rxe_ip gid;
	struct uqp *qp;
	bool first;
	int err;

	memcpy(&gid, in->gid, sizeof(gid));
	qp = find_qp(cmd, in->qp_handle, &gid);
	if (!qp)
		return -EINVAL;
	if (find(qp, &gid))
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->gid = gid;
	err = rxe_mcast_attach(&dev->hca, &gid, qp->qp, &first);
	if (err) {
		free(m);
		return err == -ENOMEM ? limit_reached(cmd) : err;
	}
	LIST_INSERT_HEAD(&qp->mcast, m, link);
	if (!first)
		return 0;
	err = rxe_group_join(dev, &gid);
	if (err) {
		rxe_mcast_detach(&dev->hca, &gid, qp->qp, &first);
		drop(qp, m, false);
	}
	return err;
}

static int detach(struct uqp *qp, struct umcast *m)
{
	bool last;
	int err = rxe_mcast_detach(&qp->o.ctx->dev->hca, &m->gid, qp->qp, &last);

	if (!err)
		drop(qp, m, last);
	return err;
}

int ucmd_detach_mcast(struct ucmd *cmd)
{
	const struct ib_uverbs_detach_mcast *in = cmd->in;
	struct umcast *m;
	union rxe_ip gid;
	struct uqp *qp;

	memcpy(&gid, in->gid, sizeof(gid));
	qp = find_qp(cmd, in->qp_handle, &gid);
	m = qp ? find(qp, &gid) : NULL;
	return m ? detach(qp, m) : -EINVAL;
}

void uqp_detach_all(struct uqp *qp)
{
	struct umcast *m;

	while ((m = LIST_FIRST(&qp->mcast)))
		detach(qp, m);
}
