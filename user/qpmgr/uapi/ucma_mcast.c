/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups of rdma_cm ids. On RoCE a group is its IP address as a
 * GID; the QP joins it by ibv_attach_mcast(), which librdmacm calls when it
 * reads the event.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "neigh.h"

#define MCAST_QPN  0xffffff
#define MCAST_DLID 0xc000

static void joined(struct ucma_mc *mc)
{
	struct ucma_event *e = ucma_event_new(mc->id, UCMA_MULTICAST_JOIN, 0);
	struct rdma_ucm_ud_param *ud;

	if (!e)
		return;
	ud = &e->resp.param.ud;
	e->mc = mc;
	e->resp.uid = mc->uid;
	e->resp.id = mc->handle;
	ud->qp_num = MCAST_QPN;
	ud->qkey = mc->id->qkey ? mc->id->qkey : UCMA_UD_QKEY;
	ucma_fill_ah(mc->id, &mc->group, &ud->ah_attr);
	ud->ah_attr.dlid = MCAST_DLID;
	ucma_event_queue(mc->id->file, e);
}

static int join(struct ucma_cmd *c, uint32_t handle, uint64_t uid, const void *sa, size_t len,
		uint16_t flags)
{
	struct rdma_ucm_create_id_resp resp;
	struct ucma_addr group;
	struct ucma_mc *mc, *other;
	struct ucma_id *id;
	int err = ucma_addr_parse(sa, len, &group);

	if (err || flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return -EINVAL;
	err = ucma_id_get(c->file, handle, &id);
	if (err)
		return err;
	if (!id->dev || id->qp_type != RXE_QPT_UD || !rxe_ip_is_multicast(&group.ip) ||
	    (id->state != UCMA_BOUND && id->state != UCMA_ADDR_DONE &&
	     id->state != UCMA_ROUTE_DONE && id->state != UCMA_CONNECT))
		return -EINVAL;
	LIST_FOREACH (other, &id->mcs, link)
		if (!memcmp(&other->group, &group.ip, sizeof(group.ip)))
			return -EADDRINUSE;
	mc = calloc(1, sizeof(*mc));
	if (!mc || ucma_handle_new(NULL, mc, &mc->handle)) {
		free(mc);
		return -ENOMEM;
	}
	mc->id = id;
	mc->uid = uid;
	mc->group = group.ip;
	LIST_INSERT_HEAD(&id->mcs, mc, link);
	joined(mc);
	resp.id = mc->handle;
	return ucma_respond(c, &resp, sizeof(resp), sizeof(resp));
}

int ucma_join_ip_mcast(struct ucma_cmd *c)
{
	const struct rdma_ucm_join_ip_mcast *in = c->in;

	if (c->out_room < sizeof(struct rdma_ucm_create_id_resp))
		return -ENOSPC;
	return join(c, in->id, in->uid, &in->addr, sizeof(in->addr), RDMA_MC_JOIN_FLAG_FULLMEMBER);
}

int ucma_join_mcast(struct ucma_cmd *c)
{
	const struct rdma_ucm_join_mcast *in = c->in;

	if (c->out_room < sizeof(struct rdma_ucm_create_id_resp))
		return -ENOSPC;
	if (!in->addr_size || in->addr_size > sizeof(in->addr))
		return -EINVAL;
	return join(c, in->id, in->uid, &in->addr, in->addr_size, in->join_flags);
}

int ucma_leave_mcast(struct ucma_cmd *c)
{
	const struct rdma_ucm_destroy_id *in = c->in;
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_mc *mc;
	int err;

	if (c->out_room < sizeof(resp))
		return -ENOSPC;
	err = ucma_mc_get(c->file, in->id, &mc);
	if (err)
		return err;
	ucma_event_drop(mc->id, mc);
	resp.events_reported = mc->events_reported;
	LIST_REMOVE(mc, link);
	ucma_handle_free(mc->handle);
	free(mc);
	return ucma_respond(c, &resp, sizeof(resp), sizeof(resp));
}
