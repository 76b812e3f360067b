/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of rdma_cm ids: binding, which device leads to a destination, and
 * what the program may ask about it. All in the network namespace of the
 * program, as the kernel's cma.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_user_sa.h>
#include <stdlib.h>
#include <string.h>
#include "cm/ip_header.h"
#include "gid.h"
#include "neigh.h"
#include "rtnl.h"

#define DEFAULT_PKEY	0xffff
#define HOP_LIMIT	64
#define PACKET_LIFETIME 18 /* CMA_IBOE_PACKET_LIFETIME */
#define MS		1000000ull

struct sockaddr_ib { /* of the kernel's rdma/ib.h */
	uint16_t family;
	__be16 pkey;
	__be32 flowinfo;
	uint8_t addr[16];
	__be64 sid, sid_mask;
	__u64 scope_id;
};

/* ---- addresses as the program has them ------------------------------------------------- */

static int parse_in(const void *sa, size_t len, struct ucma_addr *out)
{
	struct sockaddr_in in;

	if (len < sizeof(in))
		return -EINVAL;
	memcpy(&in, sa, sizeof(in));
	out->port = ntohs(in.sin_port);
	if (in.sin_addr.s_addr) {
		out->ip.raw[10] = out->ip.raw[11] = 0xff;
		memcpy(out->ip.raw + 12, &in.sin_addr, 4);
	}
	return 0;
}

static int parse_in6(const void *sa, size_t len, struct ucma_addr *out)
{
	struct sockaddr_in6 in6;

	if (len < sizeof(in6))
		return -EINVAL;
	memcpy(&in6, sa, sizeof(in6));
	out->v6 = true;
	out->port = ntohs(in6.sin6_port);
	memcpy(out->ip.raw, &in6.sin6_addr, 16);
	out->scope = in6.sin6_scope_id;
	return 0;
}

int ucma_addr_parse(const void *sa, size_t len, struct ucma_addr *out)
{
	sa_family_t family;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(family))
		return -EINVAL;
	memcpy(&family, sa, sizeof(family));
	if (family == AF_INET)
		return parse_in(sa, len, out);
	return family == AF_INET6 ? parse_in6(sa, len, out) : -EAFNOSUPPORT;
}

void ucma_addr_put(const struct ucma_addr *a, struct sockaddr_in6 *out)
{
	struct sockaddr_in *in = (void *)out;

	memset(out, 0, sizeof(*out));
	if (a->v6) {
		out->sin6_family = AF_INET6;
		out->sin6_port = htons(a->port);
		out->sin6_scope_id = a->scope;
		memcpy(&out->sin6_addr, a->ip.raw, 16);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(a->port);
		memcpy(&in->sin_addr, a->ip.raw + 12, 4);
	}
}

static bool link_local(const struct ucma_addr *a)
{
	return a->v6 && a->ip.raw[0] == 0xfe && (a->ip.raw[1] & 0xc0) == 0x80;
}

/* ---- devices ----------------------------------------------------------------------------- */

static bool usable(const struct ucma_id *id, const struct rxe_dev *dev)
{
	return dev->ns == id->file->peer->ns && !dev->gone &&
	       rxe_dev_visible(dev, id->file->peer->ns);
}

/* The device that has the address, of those the program can reach. */
static struct rxe_dev *dev_with(const struct ucma_id *id, const struct ucma_addr *a)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (usable(id, dev) && rxe_gid_find(dev->gids, &a->ip) >= 0 &&
		    (!link_local(a) || !a->scope || (int)a->scope == dev->ifindex))
			return dev;
	return NULL;
}

static struct rxe_dev *dev_on(const struct ucma_id *id, int ifindex)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (usable(id, dev) && dev->ifindex == ifindex)
			return dev;
	return NULL;
}

/* Any device of the program's namespace: through its sockets routes are asked for. */
static struct rxe_rtnl *rtnl_of(const struct ucma_id *id)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (usable(id, dev))
			return dev->rtnl;
	return NULL;
}

int ucma_id_attach(struct ucma_id *id, struct rxe_dev *dev)
{
	int gid = rxe_gid_find(dev->gids, &id->src.ip);

	if (gid < 0)
		return -ENODEV;
	if (id->dev != dev) {
		ucma_id_detach(id);
		rxe_dev_get(dev);
		dev->nr_cm_id++;
		id->dev = dev;
	}
	id->sgid_index = (uint8_t)gid;
	return 0;
}

void ucma_id_detach(struct ucma_id *id)
{
	if (id->route)
		rxe_route_put(id->route);
	id->route = NULL;
	if (id->dev) {
		id->dev->nr_cm_id--;
		rxe_dev_put(id->dev);
	}
	id->dev = NULL;
}

/* ---- bind ------------------------------------------------------------------------------------ */

/* An address without device: of this host, or of none here? */
static int no_device(const struct ucma_id *id, const struct ucma_addr *a)
{
	struct rxe_rtnl *rtnl = rtnl_of(id);
	struct rxe_nexthop hop;

	if (rtnl && !rxe_rtnl_route_get(rtnl, 0, NULL, &a->ip, &hop) && hop.type != RTN_LOCAL)
		return -EADDRNOTAVAIL;
	return -ENODEV;
}

static int bind_addr(struct ucma_id *id, const struct ucma_addr *a)
{
	struct rxe_dev *dev = NULL;
	int err;

	if (id->state != UCMA_IDLE)
		return -EINVAL;
	if (link_local(a) && !a->scope)
		return -EINVAL;
	if (!ucma_addr_any(a)) {
		dev = dev_with(id, a);
		if (!dev)
			return no_device(id, a);
	}
	if (a->port && a->port < 1024 && !id->file->peer->net_bind)
		return -EACCES;
	id->src = *a;
	err = ucma_port_get(id);
	if (!err && dev)
		err = ucma_id_attach(id, dev);
	if (err) {
		ucma_port_put(id);
		memset(&id->src, 0, sizeof(id->src));
		return err;
	}
	id->state = UCMA_BOUND;
	return 0;
}

static int bind_to(struct ucma_cmd *c, uint32_t handle, const void *sa, size_t len)
{
	struct ucma_addr a;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, handle, &id);

	if (!err)
		err = ucma_addr_parse(sa, len, &a);
	return err ? err : bind_addr(id, &a);
}

int ucma_bind_ip(struct ucma_cmd *c)
{
	const struct rdma_ucm_bind_ip *in = c->in;

	return bind_to(c, in->id, &in->addr, sizeof(in->addr));
}

int ucma_bind(struct ucma_cmd *c)
{
	const struct rdma_ucm_bind *in = c->in;

	if (in->reserved || !in->addr_size || in->addr_size > sizeof(in->addr))
		return -EINVAL;
	return bind_to(c, in->id, &in->addr, in->addr_size);
}

int ucma_listen(struct ucma_cmd *c)
{
	const struct rdma_ucm_listen *in = c->in;
	const struct ucma_addr any = {0};
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	id->backlog =
		in->backlog > 0 && in->backlog < UCMA_MAX_BACKLOG ? in->backlog : UCMA_MAX_BACKLOG;
	if (id->state == UCMA_IDLE)
		err = bind_addr(id, &any);
	if (err)
		return err;
	if (id->state != UCMA_BOUND ||
	    (id->qp_type != RXE_QPT_RC && id->qp_type != RXE_QPT_UC && id->qp_type != RXE_QPT_UD))
		return -EINVAL;
	err = ucma_port_listen(id);
	if (!err)
		id->state = UCMA_LISTEN;
	return err;
}

/* ---- resolving ---------------------------------------------------------------------------------- */

void ucma_resolve_cancel(struct ucma_id *id)
{
	if (!id->resolving)
		return;
	rxe_route_cancel(id);
	rxe_loop_cancel(rxed.loop, &id->resolve_timer);
	id->resolving = false;
}

static void resolve_done(struct ucma_id *id, int err)
{
	if (id->state != UCMA_ADDR_QUERY)
		return;
	id->state = err ? UCMA_BOUND : UCMA_ADDR_DONE;
	ucma_post(id, err ? UCMA_ADDR_ERROR : UCMA_ADDR_RESOLVED, err);
}

static void take_route(struct ucma_id *id, struct rxe_route *route)
{
	if (id->route)
		rxe_route_put(id->route);
	id->route = route;
}

static void route_known(void *arg, int err, struct rxe_route *route)
{
	struct ucma_id *id = arg;

	rxe_loop_cancel(rxed.loop, &id->resolve_timer);
	id->resolving = false;
	if (!err)
		take_route(id, route);
	resolve_done(id, err);
}

static void resolve_timeout(struct rxe_timer *t)
{
	struct ucma_id *id = caa_container_of(t, struct ucma_id, resolve_timer);

	rxe_route_cancel(id);
	id->resolving = false;
	resolve_done(id, -ETIMEDOUT);
}

/* By which device, and from which of its addresses, dst is reached. */
static int find_device(struct ucma_id *id, struct rxe_dev **dev)
{
	const union rxe_ip *src = ucma_addr_any(&id->src) ? NULL : &id->src.ip;
	struct rxe_rtnl *rtnl = rtnl_of(id);
	struct rxe_nexthop hop;
	int err;

	if (!rtnl)
		return -ENODEV;
	err = rxe_rtnl_route_get(rtnl, id->dev ? id->dev->ifindex : (int)id->dst.scope, src,
				 &id->dst.ip, &hop);
	if (!err && hop.type == RTN_LOCAL)
		*dev = id->dev ? id->dev : dev_with(id, &id->dst);
	else if (!err)
		*dev = dev_on(id, hop.ifindex);
	else if (id->dev && rxe_gid_find(id->dev->gids, &id->dst.ip) >= 0)
		*dev = id->dev, err = 0; /* own address: the route is by lo */
	if (err)
		return err;
	if (!*dev)
		return -ENODEV;
	if (!src)
		id->src.ip = hop.type == RTN_LOCAL ? id->dst.ip : hop.src;
	return 0;
}

static void resolve(struct ucma_id *id, uint32_t timeout_ms)
{
	struct rxe_route *route = NULL;
	struct rxe_dev *dev = NULL;
	struct ucma_addr bound = id->src;
	int err = find_device(id, &dev);

	if (!err)
		err = ucma_id_attach(id, dev);
	if (!err)
		err = rxe_route_resolve(dev, &id->src.ip, &id->dst.ip, route_known, id, &route);
	if (err == -EINPROGRESS) {
		id->resolving = true;
		id->resolve_timer.cb = resolve_timeout;
		rxe_loop_timer(rxed.loop, &id->resolve_timer, timeout_ms * MS);
		return;
	}
	if (err)
		id->src = bound;
	else
		take_route(id, route);
	resolve_done(id, err);
}

static int resolve_addr(struct ucma_id *id, const struct ucma_addr *src,
			const struct ucma_addr *dst, uint32_t timeout_ms)
{
	struct ucma_addr any = {.v6 = dst->v6};
	int err;

	if (id->state == UCMA_IDLE) {
		if (src && src->v6 != dst->v6)
			return -EINVAL;
		if (!src && link_local(dst))
			any.scope = dst->scope;
		err = bind_addr(id, src ? src : &any);
		if (err)
			return err;
	}
	if (id->state != UCMA_BOUND || id->src.v6 != dst->v6 || ucma_addr_any(dst) ||
	    (link_local(dst) && !dst->scope))
		return -EINVAL;
	id->dst = *dst;
	id->state = UCMA_ADDR_QUERY;
	resolve(id, timeout_ms);
	return 0;
}

static int resolve_cmd(struct ucma_cmd *c, uint32_t handle, const void *src, size_t src_len,
		       const void *dst, size_t dst_len, uint32_t timeout_ms)
{
	struct ucma_addr s, d;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, handle, &id);

	if (!err && src)
		err = ucma_addr_parse(src, src_len, &s);
	if (!err)
		err = ucma_addr_parse(dst, dst_len, &d);
	return err ? err : resolve_addr(id, src ? &s : NULL, &d, timeout_ms);
}

int ucma_resolve_ip(struct ucma_cmd *c)
{
	const struct rdma_ucm_resolve_ip *in = c->in;
	bool has_src = in->src_addr.sin6_family != AF_UNSPEC;

	return resolve_cmd(c, in->id, has_src ? &in->src_addr : NULL, sizeof(in->src_addr),
			   &in->dst_addr, sizeof(in->dst_addr), in->timeout_ms);
}

int ucma_resolve_addr(struct ucma_cmd *c)
{
	const struct rdma_ucm_resolve_addr *in = c->in;

	if (in->reserved || in->src_size > sizeof(in->src_addr) ||
	    in->dst_size > sizeof(in->dst_addr))
		return -EINVAL;
	return resolve_cmd(c, in->id, in->src_size ? &in->src_addr : NULL, in->src_size,
			   &in->dst_addr, in->dst_size, in->timeout_ms);
}

int ucma_resolve_route(struct ucma_cmd *c)
{
	const struct rdma_ucm_resolve_route *in = c->in;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (id->state != UCMA_ADDR_DONE)
		return -EINVAL;
	id->state = UCMA_ROUTE_DONE; /* RoCE has no subnet administrator to ask */
	ucma_post(id, UCMA_ROUTE_RESOLVED, 0);
	return 0;
}

/* ---- the path --------------------------------------------------------------------------------------- */

/* Spreads connections over links: 20 bits that depend on both ports. */
static uint32_t flow_label(const struct ucma_id *id)
{
	uint32_t h = ((uint32_t)id->src.port << 16 | id->dst.port) * 0x9e3779b1u;

	return h >> 12;
}

void ucma_path(const struct ucma_id *id, struct cm_path *path)
{
	memset(path, 0, sizeof(*path));
	path->port = id->dev;
	memcpy(path->sgid, id->src.ip.raw, 16);
	memcpy(path->dgid, id->dst.ip.raw, 16);
	path->traffic_class = id->tos_set ? id->tos : 0;
	path->hop_limit = HOP_LIMIT;
	path->flow_label = flow_label(id);
}

void ucma_fill_ah(const struct ucma_id *id, const union rxe_ip *dgid, struct ib_uverbs_ah_attr *ah)
{
	struct cm_path path;

	if (id->cm && id->cm->passive)
		path = id->cm->path;
	else
		ucma_path(id, &path);
	memset(ah, 0, sizeof(*ah));
	memcpy(ah->grh.dgid, dgid->raw, 16);
	ah->grh.flow_label = path.flow_label;
	ah->grh.sgid_index = id->sgid_index;
	ah->grh.hop_limit = HOP_LIMIT;
	ah->grh.traffic_class = path.traffic_class;
	ah->sl = path.sl;
	ah->is_global = 1;
	ah->port_num = 1;
}

static bool has_path(const struct ucma_id *id)
{
	return id->state == UCMA_ROUTE_DONE || id->state == UCMA_CONNECT ||
	       id->state == UCMA_DISCONNECT;
}

static uint8_t path_life(const struct ucma_id *id)
{
	return id->timeout_set && id->timeout ? id->timeout - 1 : PACKET_LIFETIME;
}

/* ---- queries -------------------------------------------------------------------------------------------- */

static void fill_route(const struct ucma_id *id, struct ib_user_path_rec *p)
{
	struct cm_path path;

	memcpy(p->dgid, id->dst.ip.raw, 16);
	memcpy(p->sgid, id->src.ip.raw, 16);
	p->pkey = htons(DEFAULT_PKEY);
	if (!has_path(id))
		return;
	ucma_path(id, &path);
	p->flow_label = htonl(path.flow_label);
	p->reversible = 1;
	p->mtu = (uint8_t)rxe_mtu_to_enum(id->dev->hca.mtu);
	p->hop_limit = path.hop_limit;
	p->traffic_class = path.traffic_class;
	p->numb_path = 1;
	p->mtu_selector = p->rate_selector = p->packet_life_time_selector = 2; /* exactly */
	p->rate = 3;
	p->packet_life_time = path_life(id);
}

int ucma_query_route(struct ucma_cmd *c)
{
	const struct rdma_ucm_query *in = c->in;
	struct rdma_ucm_query_route_resp r = {0};
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	ucma_addr_put(&id->src, &r.src_addr);
	ucma_addr_put(&id->dst, &r.dst_addr);
	if (id->dev) {
		r.node_guid = htobe64(id->dev->node_guid);
		r.port_num = 1;
		r.ibdev_index = id->dev->index;
		r.num_paths = has_path(id);
		fill_route(id, &r.ib_route[0]);
	}
	return ucma_respond(c, &r, sizeof(r),
			    offsetof(struct rdma_ucm_query_route_resp, ibdev_index));
}

static void query_device(const struct ucma_id *id, struct rdma_ucm_query_addr_resp *r)
{
	if (!id->dev)
		return;
	r->node_guid = htobe64(id->dev->node_guid);
	r->port_num = 1;
	r->pkey = htons(DEFAULT_PKEY);
	r->ibdev_index = id->dev->index;
}

static int query_addr(struct ucma_cmd *c, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp r = {0};

	ucma_addr_put(&id->src, (void *)&r.src_addr);
	ucma_addr_put(&id->dst, (void *)&r.dst_addr);
	r.src_size = id->src.v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	r.dst_size = id->dst.v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	query_device(id, &r);
	return ucma_respond(c, &r, sizeof(r),
			    offsetof(struct rdma_ucm_query_addr_resp, ibdev_index));
}

static void fill_sib(const struct ucma_id *id, const struct ucma_addr *a, void *out)
{
	struct sockaddr_ib sib = {
		.family = AF_IB,
		.pkey = htons(DEFAULT_PKEY),
		.sid = htobe64(cm_service_id(id->ps, a->port)),
		.sid_mask = UINT64_MAX,
	};

	memcpy(sib.addr, a->ip.raw, 16);
	memcpy(out, &sib, sizeof(sib));
}

static int query_gid(struct ucma_cmd *c, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp r = {.src_size = sizeof(struct sockaddr_ib),
					     .dst_size = sizeof(struct sockaddr_ib)};

	fill_sib(id, &id->src, &r.src_addr);
	fill_sib(id, &id->dst, &r.dst_addr);
	query_device(id, &r);
	return ucma_respond(c, &r, sizeof(r),
			    offsetof(struct rdma_ucm_query_addr_resp, ibdev_index));
}

/* A path record as the subnet administrator would send it: 64 bytes. */
static void pack_path(const struct ucma_id *id, uint8_t rec[64])
{
	struct cm_path path;
	uint32_t word;

	ucma_path(id, &path);
	memset(rec, 0, 64);
	memcpy(rec + 8, path.dgid, 16);
	memcpy(rec + 24, path.sgid, 16);
	word = htonl(path.flow_label << 8 | path.hop_limit);
	memcpy(rec + 44, &word, sizeof(word));
	rec[48] = path.traffic_class;
	rec[49] = 0x81; /* reversible, one path */
	rec[50] = rec[51] = 0xff;
	rec[54] = 0x80 | (uint8_t)rxe_mtu_to_enum(id->dev->hca.mtu);
	rec[55] = 0x80 | 3;
	rec[56] = 0x80 | path_life(id);
}

static int query_path(struct ucma_cmd *c, const struct ucma_id *id)
{
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data data;
	} r = {0};

	if (id->dev && has_path(id)) {
		r.head.num_paths = 1;
		r.data.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		pack_path(id, (uint8_t *)r.data.path_rec);
	}
	return ucma_respond(c, &r, r.head.num_paths ? sizeof(r) : sizeof(r.head), sizeof(r.head));
}

int ucma_query(struct ucma_cmd *c)
{
	const struct rdma_ucm_query *in = c->in;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	switch (in->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(c, id);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(c, id);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(c, id);
	default:
		return -ENOSYS;
	}
}
