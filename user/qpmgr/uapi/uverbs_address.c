/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address vectors (for QPs) and address handles (for UD work requests). */
#include "uapi/uverbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "uapi/ucma.h"

static bool is_v4(const union rxe_ip *ip)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)ip);
}

int uaddr_check_grh(struct ucmd *cmd, bool is_global, uint8_t port_num)
{
	if (!is_global) {
		log_warn(
			"addressing a peer from device %s for process %d (%s): the address has no "
			"GRH, which RoCE needs; give the program a GID index (often `-g N`, perftest "
			"`-x N`) of those that `ibv_devinfo -v` lists",
			cmd->ctx->dev->name, cmd->ctx->peer->pid, cmd->ctx->peer->comm);
		return -EINVAL;
	}
	return port_num == 1 ? 0 : -EINVAL;
}

int uaddr_from_gid(struct uctx *ctx, const uint8_t dgid[16], uint8_t sgid_index,
		   struct rxe_address *addr)
{
	const struct rxe_gid_entry *e;
	char text[INET6_ADDRSTRLEN];

	memset(addr, 0, sizeof(*addr));
	memcpy(addr->dip.raw, dgid, sizeof(addr->dip.raw));
	inet_ntop(AF_INET6, dgid, text, sizeof(text));
	if (sgid_index >= RXE_GID_TBL_LEN || !ctx->dev->gids[sgid_index].valid) {
		log_warn("addressing GID %s on device %s for process %d (%s): its own GID index %u "
			 "is empty; choose one that `ibv_devinfo -v` lists",
			 text, ctx->dev->name, ctx->peer->pid, ctx->peer->comm, sgid_index);
		return -EINVAL;
	}
	e = &ctx->dev->gids[sgid_index];
	if (is_v4(&e->ip) != is_v4(&addr->dip)) {
		log_warn(
			"addressing GID %s on device %s for process %d (%s): its own GID index %u is "
			"of the other IP version; give both ends a GID of the same version",
			text, ctx->dev->name, ctx->peer->pid, ctx->peer->comm, sgid_index);
		return -EINVAL;
	}
	addr->sip = e->ip;
	addr->sgid_index = sgid_index;
	return 0;
}

/* ---- waiting for the neighbour ---------------------------------------------------- */

static void resolved(void *arg, int err, struct rxe_route *route)
{
	struct ucmd *cmd = arg;

	cmd->ctx->waiting = NULL;
	cmd->route_then(cmd, err, route);
}

int uroute_resolve(struct ucmd *cmd, const struct rxe_address *addr, uroute_then then)
{
	struct rxe_route *route = NULL;
	int err;

	cmd->route_then = then;
	cmd->ctx->waiting = cmd;
	err = rxe_route_resolve(cmd->ctx->dev, &addr->sip, &addr->dip, resolved, cmd, &route);
	if (err != -EINPROGRESS)
		resolved(cmd, err, route);
	return -EINPROGRESS;
}

void uroute_cancel(struct uctx *ctx)
{
	struct ucmd *cmd = ctx->waiting;

	if (!cmd)
		return;
	rxe_route_cancel(cmd);
	resolved(cmd, -ECANCELED, NULL);
}

/* ---- address handles ------------------------------------------------------------------ */

/* A CREATE_AH on its way. */
struct ah_request {
	struct upd *pd;
	struct rxe_address addr;
};

static int finish_ah(struct ucmd *cmd, struct upd *pd, struct rxe_address *addr)
{
	struct ib_uverbs_create_ah_resp *r = (void *)cmd->out;
	struct rxe_create_ah_resp *uresp = (void *)cmd->uhw_out;
	struct uah *ah = calloc(1, sizeof(*ah));
	int err = -ENOMEM;

	if (!ah)
		goto out_route;
	err = rxe_ah_create(&cmd->ctx->dev->hca, pd->pdn, addr, &ah->ah_num);
	if (err)
		goto out_free;
	err = uobj_add(cmd->ctx, UOBJ_AH, &ah->o);
	if (err)
		goto out_ah;
	ah->pd = pd;
	pd->o.uses++;
	cmd->ctx->dev->nr_ah++;
	r->ah_handle = ah->o.handle;
	uresp->ah_num = ah->ah_num;
	cmd->uhw_out_len = sizeof(*uresp);
	return 0;
out_ah:
	rxe_ah_destroy(&cmd->ctx->dev->hca, ah->ah_num, &addr->route);
out_free:
	free(ah);
out_route:
	rxe_route_put(addr->route);
	return err;
}

static void ah_resolved(struct ucmd *cmd, int err, struct rxe_route *route)
{
	struct ah_request *req = cmd->priv;

	req->pd->o.uses--;
	req->addr.route = route;
	if (!err)
		err = finish_ah(cmd, req->pd, &req->addr);
	free(req);
	ucmd_finish(cmd, err);
}

/*
 * rsockets over UD make an AH of their own port's LID, without a GRH. Only a
 * program of rdma_cm may: of another it is the forgotten GID index.
 */
static bool to_self(const struct ucmd *cmd, const struct ib_uverbs_ah_attr *attr)
{
	return !attr->is_global && !attr->dlid && ucma_serves(cmd->ctx->dev, cmd->ctx->peer->pid);
}

static int own_address(const struct rxe_dev *dev, struct rxe_address *addr)
{
	memset(addr, 0, sizeof(*addr));
	for (uint32_t i = 0; i < RXE_GID_TBL_LEN; i++) {
		if (!dev->gids[i].valid)
			continue;
		addr->sip = addr->dip = dev->gids[i].ip;
		addr->sgid_index = (uint8_t)i;
		return 0;
	}
	return -EINVAL;
}

int ucmd_create_ah(struct ucmd *cmd)
{
	const struct ib_uverbs_create_ah *in = cmd->in;
	struct upd *pd = uobj_find(cmd->ctx, UOBJ_PD, in->pd_handle);
	bool self = to_self(cmd, &in->attr);
	struct ah_request *req;
	int err;

	if (!pd)
		return -EINVAL;
	err = uaddr_check_grh(cmd, in->attr.is_global || self, in->attr.port_num);
	if (err)
		return err;
	if (cmd->ctx->dev->nr_ah >= cmd->ctx->dev->hca.limits.max_ah)
		return uverbs_limit(cmd, "an AH", "max_ah", cmd->ctx->dev->hca.limits.max_ah);
	req = calloc(1, sizeof(*req));
	if (!req)
		return -ENOMEM;
	if (self)
		err = own_address(cmd->ctx->dev, &req->addr);
	else
		err = uaddr_from_gid(cmd->ctx, in->attr.grh.dgid, in->attr.grh.sgid_index,
				     &req->addr);
	if (err) {
		free(req);
		return err;
	}
	req->addr.traffic_class = in->attr.grh.traffic_class;
	req->addr.hop_limit = in->attr.grh.hop_limit;
	req->addr.flow_label = in->attr.grh.flow_label;
	req->addr.sl = in->attr.sl;
	req->pd = pd;
	cmd->priv = req;
	pd->o.uses++;
	return uroute_resolve(cmd, &req->addr, ah_resolved);
}

void uah_destroy(struct uah *ah)
{
	struct rxe_dev *dev = ah->o.ctx->dev;
	void *route = NULL;

	if (!rxe_ah_destroy(&dev->hca, ah->ah_num, &route) && route)
		rxe_route_put(route);
	ah->pd->o.uses--;
	dev->nr_ah--;
	uobj_remove(&ah->o);
	free(ah);
}

int ucmd_destroy_ah(struct ucmd *cmd)
{
	const struct ib_uverbs_destroy_ah *in = cmd->in;
	struct uah *ah = uobj_find(cmd->ctx, UOBJ_AH, in->ah_handle);

	if (!ah)
		return -EINVAL;
	uah_destroy(ah);
	return 0;
}
