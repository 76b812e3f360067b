/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA devices: created on a netdev and deleted with it, their port kept
 * equal to the netdev's state and MTU. Control thread.
 */
#include "device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dev_pins.h"
#include "gid.h"
#include "group.h"
#include "log.h"
#include "neigh.h"
#include "netns.h"
#include "params.h"
#include "uapi/sysfs_list.h"

#define TICK_NS	  250000000ull /* within this, a tunable of the port acts */
#define FIRST_QPN 16	       /* as the driver's; the lowest are reserved */
/* The driver's, too. */
#define MAX_MCAST_GRP	    8192
#define MAX_MCAST_QP_ATTACH 56
#define FIRST_SRQN	    0x20001 /* as the driver's */

/* Beside a kernel with RDMA devices, whose numbers begin with 0. */
#define BESIDE_KERNEL_MINOR 512

static struct rxe_timer tick_timer;

/* ---- finding ---------------------------------------------------------------- */

struct rxe_dev *rxe_dev_by_index(uint32_t index)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (dev->index == index)
			return dev;
	}
	return NULL;
}

struct rxe_dev *rxe_dev_by_minor(uint32_t minor)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (dev->minor == minor)
			return dev;
	}
	return NULL;
}

struct rxe_dev *rxe_dev_by_name(const char *name)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (!strcmp(dev->name, name))
			return dev;
	}
	return NULL;
}

static struct rxe_dev *dev_by_netdev(const struct rxe_netns *ns, int ifindex)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (dev->ns == ns && dev->ifindex == ifindex)
			return dev;
	}
	return NULL;
}

bool rxe_dev_visible(const struct rxe_dev *dev, const struct rxe_netns *ns)
{
	return rxed.netns_mode == RXE_NETNS_SHARED || dev->rdma_ns == ns;
}

uint64_t rxe_dev_counter(const struct rxe_dev *dev, enum rxe_hw_counter c)
{
	uint64_t port = c == RXE_HW_LINK_DOWNED ? dev->link_downed : 0;

	return port + rxe_workers_counter(dev, c);
}

/* ---- the port ------------------------------------------------------------------ */

/* The `mtu` tunable as an IB MTU, 0 when the port follows the netdev. */
static uint32_t wanted_ib_mtu(void)
{
	uint32_t want = rxe_param(rxed.params, RXE_PARAM_MTU);

	if (!want)
		return 0;
	return want < RXE_MIN_IB_MTU ? RXE_MIN_IB_MTU : rxe_ib_mtu_floor(want);
}

/* The port's MTU: what the netdev and the datapath carry, and no more than asked. */
static uint32_t port_mtu(const struct rxe_dev *dev)
{
	uint32_t mtu = rxe_ib_mtu_of_netdev(dev->netdev_mtu), want = wanted_ib_mtu();
	const char *why;
	uint32_t most = dev->dp_ops->max_ib_mtu(dev->dp, &why);

	if (mtu < RXE_MIN_IB_MTU)
		mtu = RXE_MIN_IB_MTU; /* as the kernel driver: the netdev shrank under us */
	if (mtu > most)
		mtu = most;
	return want && want < mtu ? want : mtu;
}

static void update_mtu(struct rxe_dev *dev)
{
	uint32_t mtu = port_mtu(dev), ud = rxe_param(rxed.params, RXE_PARAM_DEFAULT_MTU);

	if (mtu != dev->hca.mtu)
		log_info("device %s: port MTU %u (netdev %s has %u)", dev->name, mtu, dev->netdev,
			 dev->netdev_mtu);
	__atomic_store_n(&dev->hca.mtu, mtu, __ATOMIC_RELAXED);
	__atomic_store_n(&dev->hca.ud_mtu, ud && ud < mtu ? ud : mtu, __ATOMIC_RELAXED);
}

/* `mtu` was set to another value: give the netdev the MTU that it needs. */
static void apply_mtu_param(struct rxe_dev *dev)
{
	uint32_t want = wanted_ib_mtu(), netdev_mtu = rxe_netdev_mtu_for(want);
	int err;

	if (dev->mtu_applied == want)
		return;
	dev->mtu_applied = want;
	if (!want || dev->netdev_mtu == netdev_mtu)
		return;
	err = rxe_rtnl_link_set_mtu(dev->rtnl, dev->ifindex, netdev_mtu);
	if (err)
		log_err("device %s: setting the MTU of netdev %s to %u for an IB MTU of %u: %s; "
			"the port keeps what the netdev's MTU of %u allows",
			dev->name, dev->netdev, netdev_mtu, want, strerror(-err), dev->netdev_mtu);
	else
		dev->netdev_mtu = netdev_mtu;
}

/* Do packets of the netdev not reach the datapath any more? why: one line. */
static bool is_detached(const struct rxe_dev *dev, const struct rxe_link *l, char *why, size_t len)
{
	return dev->dp_ops->attached &&
	       !dev->dp_ops->attached(dev->dp, l->xdp_prog, RXE_LINK_XDP_MODES, why, len);
}

/* True when the port went up or down. */
static bool update_port_state(struct rxe_dev *dev, const struct rxe_link *l)
{
	char why[256];
	bool detached = is_detached(dev, l, why, sizeof(why)), went = detached && !dev->detached;
	bool up = l->up && l->carrier && !detached, changed = dev->netdev_up != up;

	dev->netdev_admin_up = l->up;
	dev->detached = detached;
	dev->netdev_up = up;
	dev->hca.port_up = up;
	if (changed && !up)
		dev->link_downed++;
	if (went)
		log_warn("device %s: port is down: %s", dev->name, why);
	else if (changed)
		log_info("device %s: port is %s", dev->name, up ? "active" : "down");
	return changed;
}

static void update_mac(struct rxe_dev *dev, const struct rxe_link *l)
{
	if (!memcmp(dev->mac, l->mac, sizeof(dev->mac)))
		return;
	memcpy(dev->mac, l->mac, sizeof(dev->mac));
	dev->dp_ops->mac_set(dev->dp, dev->mac);
	rxe_neigh_recheck(dev->ns);
}

/* Most link events are about something that a device does not show. */
static bool same_link(const struct rxe_dev *dev, const struct rxe_link *l)
{
	char why[256];

	return !strcmp(dev->netdev, l->name) && dev->netdev_mtu == l->mtu &&
	       !memcmp(dev->mac, l->mac, sizeof(dev->mac)) && dev->netdev_admin_up == l->up &&
	       dev->detached == is_detached(dev, l, why, sizeof(why)) &&
	       dev->netdev_up == (l->up && l->carrier && !dev->detached);
}

static void update_link(struct rxe_dev *dev, const struct rxe_link *l)
{
	bool port_event;

	if (same_link(dev, l))
		return;
	if (strcmp(dev->netdev, l->name))
		log_info("device %s: netdev %s is now called %s", dev->name, dev->netdev, l->name);
	memcpy(dev->netdev, l->name, sizeof(dev->netdev));
	dev->netdev_mtu = l->mtu;
	update_mtu(dev);
	update_mac(dev, l);
	port_event = update_port_state(dev, l);
	rxe_sysfs_write_dev(dev); /* before the event: whoever hears it may look */
	rxe_group_sync(dev);
	if (port_event)
		rxe_uverbs_dev_event(dev, dev->netdev_up ? RXE_EV_PORT_ACTIVE : RXE_EV_PORT_ERR);
}

/* ---- events ----------------------------------------------------------------------- */

static void on_link(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_link *l)
{
	struct rxe_dev *dev = dev_by_netdev(ns, l->ifindex);

	if (!dev)
		return;
	if (c == RXE_RTNL_NEW) {
		update_link(dev, l);
		return;
	}
	log_info("device %s: netdev %s is gone, deleting the device", dev->name, dev->netdev);
	rxe_dev_delete(dev);
}

static void on_addr(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_ifaddr *a)
{
	struct rxe_dev *dev = dev_by_netdev(ns, a->ifindex);

	if (!dev)
		return;
	rxe_gid_addr_event(dev, c, a);
	if (c == RXE_RTNL_NEW)
		rxe_group_sync(dev); /* IPv6 may have been off until now */
}

/* Events were lost: ask for everything again. */
static void resync(struct rxe_dev *dev)
{
	struct rxe_link l;
	int err = rxe_rtnl_link_by_index(dev->rtnl, dev->ifindex, &l);

	if (err == -ENODEV) {
		rxe_dev_delete(dev);
		return;
	}
	if (!err)
		update_link(dev, &l);
	if (rxe_gid_sync(dev) > 0)
		rxe_gid_announce(dev);
}

static void on_lost(struct rxe_netns *ns)
{
	struct rxe_dev *dev, *next;

	log_warn("network namespace net:[%llu]: netlink events were lost, reading its state again",
		 (unsigned long long)rxe_netns_ino(ns));
	rxe_neigh_recheck(ns);
	for (dev = TAILQ_FIRST(&rxed.devs); dev; dev = next) {
		next = TAILQ_NEXT(dev, link);
		if (dev->ns == ns)
			resync(dev);
	}
}

static const struct rxe_rtnl_handlers handlers = {
	.link = on_link,
	.addr = on_addr,
	.neigh = rxe_neigh_event,
	.route = rxe_neigh_recheck,
	.lost = on_lost,
};

/* `ethtool -L` is no event of rtnetlink's: look. */
static void follow_queues(struct rxe_dev *dev)
{
	bool more;

	if (!dev->dp_ops->new_queues || rxe_netns_enter(dev->ns))
		return;
	more = dev->dp_ops->new_queues(dev->dp, dev->netdev);
	rxe_netns_leave();
	if (!more)
		return;
	rxe_workers_attach_queues(dev);
	dev->dp_ops->steer_queues(dev->dp);
}

/* Tunables that act on a port: they are words that others write, so look. */
void rxe_dev_params_changed(void)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		apply_mtu_param(dev);
		update_mtu(dev);
	}
}

static void tick(struct rxe_timer *t)
{
	struct rxe_dev *dev;

	rxe_dev_params_changed();
	TAILQ_FOREACH (dev, &rxed.devs, link)
		follow_queues(dev);
	if (!TAILQ_EMPTY(&rxed.devs))
		rxe_loop_timer(rxed.loop, t, TICK_NS);
}

/* ---- creating ------------------------------------------------------------------------ */

/* The line for the user, and the errno it goes with. */
__attribute__((format(printf, 4, 5))) static int fail(int code, char *err, size_t errlen,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return code;
}

static void limits_from_params(struct rxe_limits *lim)
{
	struct rxe_params *p = rxed.params;

	*lim = (struct rxe_limits){
		.max_ucontext = rxe_param(p, RXE_PARAM_MAX_UCONTEXT),
		.max_pd = 1 << 20,
		.max_qp = rxe_param(p, RXE_PARAM_MAX_QP),
		.max_qp_wr = rxe_param(p, RXE_PARAM_MAX_QP_WR),
		.max_sge = RXE_MAX_SGE,
		.max_inline = rxe_param(p, RXE_PARAM_MAX_INLINE_DATA),
		.max_cq = rxe_param(p, RXE_PARAM_MAX_CQ),
		.max_cqe = (1u << rxe_param(p, RXE_PARAM_MAX_LOG_CQE)) - 1,
		.max_mr = rxe_param(p, RXE_PARAM_MAX_MR),
		.max_mw = (1 << 19) - 1,
		.max_fmr = rxe_param(p, RXE_PARAM_MAX_FMR),
		.max_ah = (1 << 15) - 1,
		.max_rd_atomic = 128,
		.max_mcast_grp = MAX_MCAST_GRP,
		.max_mcast_qp_attach = MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach = MAX_MCAST_GRP * MAX_MCAST_QP_ATTACH,
		.max_srq = (1 << 20) - FIRST_SRQN,
		.max_srq_wr = 1 << 20,
		.max_srq_sge = 27,
	};
}

static uint32_t free_minor(void)
{
	uint32_t minor = rxe_kernel_has_rdma() ? BESIDE_KERNEL_MINOR : 0;

	while (rxe_dev_by_minor(minor))
		minor++;
	return minor;
}

static int check_name(const char *name, char *err, size_t errlen)
{
	const char *fault = rxe_dev_name_fault(name);

	if (fault)
		return fail(-EINVAL, err, errlen, "device name '%.64s': %s; choose one like rxe0",
			    name, fault);
	if (rxe_kernel_has_device(name))
		return fail(-EEXIST, err, errlen,
			    "device %s is one of the kernel's; choose another name", name);
	if (rxe_dev_by_name(name))
		return fail(-EEXIST, err, errlen,
			    "device %s exists already; choose another name or delete it first "
			    "(rxe rdma link delete %s)",
			    name, name);
	return 0;
}

static int find_netdev(struct rxe_dev *dev, const char *netdev, struct rxe_link *l, char *err,
		       size_t errlen)
{
	const struct rxe_dev *other;
	int ret = rxe_rtnl_link_by_name(dev->rtnl, netdev, l);

	if (ret)
		return fail(ret, err, errlen,
			    "device %s: netdev %s: %s; `ip link` in that network namespace lists "
			    "what there is",
			    dev->name, netdev, strerror(-ret));
	other = dev_by_netdev(dev->ns, l->ifindex);
	if (other)
		return fail(-EEXIST, err, errlen,
			    "device %s: netdev %s has the device %s already; a netdev carries one",
			    dev->name, netdev, other->name);
	if (!l->ethernet)
		return fail(-EOPNOTSUPP, err, errlen,
			    "device %s: netdev %s has no Ethernet addresses; choose an Ethernet "
			    "netdev or lo",
			    dev->name, netdev);
	if (!rxe_ib_mtu_of_netdev(l->mtu))
		return fail(-EINVAL, err, errlen,
			    "device %s: netdev %s: MTU %u is too small for the least IB MTU of %d; "
			    "ip link set %s mtu %d or more",
			    dev->name, netdev, l->mtu, RXE_MIN_IB_MTU, netdev,
			    RXE_MIN_IB_MTU + RXE_MAX_HDR_LEN);
	return 0;
}

static void take_link(struct rxe_dev *dev, const struct rxe_link *l)
{
	dev->ifindex = l->ifindex;
	memcpy(dev->netdev, l->name, sizeof(dev->netdev));
	memcpy(dev->mac, l->mac, sizeof(dev->mac));
	dev->netdev_mtu = l->mtu;
	dev->netdev_admin_up = l->up;
	dev->netdev_up = l->up && l->carrier;
	dev->hca.port_up = dev->netdev_up;
	dev->node_guid = rxe_mac_to_guid(dev->mac);
}

static int open_datapath(struct rxe_dev *dev, char *err, size_t errlen)
{
	struct rxe_dp_config cfg = {
		.dev_name = dev->name,
		.netdev = dev->netdev,
		.ifindex = dev->ifindex,
		.netdev_mtu = dev->netdev_mtu,
		.nr_workers = rxed.nr_workers,
		.object_dir = rxed.object_dir,
		.param_fds = rxe_param_fds(rxed.params),
		.hca = &dev->hca,
		.rx = rxe_worker_rx,
	};
	int ret = rxe_netns_enter(dev->ns);

	if (ret)
		return fail(ret, err, errlen,
			    "device %s: entering the network namespace of %s: %s; rxed needs "
			    "CAP_SYS_ADMIN there",
			    dev->name, dev->netdev, strerror(-ret));
	memcpy(cfg.mac, dev->mac, sizeof(cfg.mac));
	dev->dp_ops = &rxe_dp_xdp;
	ret = dev->dp_ops->open(&cfg, &dev->dp, err, errlen);
	rxe_netns_leave();
	return ret;
}

static struct rxe_dev *dev_alloc(struct rxe_netns *ns, const char *name)
{
	struct rxe_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->refs = 1;
	dev->ns = dev->rdma_ns = ns;
	rxe_netns_get(ns);
	rxe_netns_get(ns);
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	/* Number 0 of these is QP1's. */
	dev->next_res[RXE_RES_PD] = dev->next_res[RXE_RES_CQ] = 1;
	strcpy(dev->node_desc, "rxe");
	return dev;
}

static int init_hca(struct rxe_dev *dev)
{
	struct rxe_limits limits;
	int err;

	limits_from_params(&limits);
	err = rxe_idmap_init(&dev->qpns, FIRST_QPN, limits.max_qp);
	if (err)
		return err;
	err = rxe_idmap_init(&dev->srqns, FIRST_SRQN, limits.max_srq);
	if (err)
		goto out_qpns;
	err = rxe_hca_init(&dev->hca, &limits);
	if (err)
		goto out_srqns;
	dev->hca.owner = dev;
	dev->hca.pkey = RXE_DEFAULT_PKEY;
	return 0;
out_srqns:
	rxe_idmap_fini(&dev->srqns);
out_qpns:
	rxe_idmap_fini(&dev->qpns);
	return err;
}

static void fini_hca(struct rxe_dev *dev)
{
	rxe_hca_fini(&dev->hca);
	rxe_idmap_fini(&dev->srqns);
	rxe_idmap_fini(&dev->qpns);
}

/* Everything but the name and the sockets; undone by the caller on failure. */
static int set_up(struct rxe_dev *dev, const struct rxe_link *l, char *err, size_t errlen)
{
	const char *why = NULL;
	uint32_t most;
	int ret = init_hca(dev);

	if (ret)
		return fail(ret, err, errlen, "device %s: %s", dev->name, strerror(-ret));
	take_link(dev, l);
	apply_mtu_param(dev);
	ret = open_datapath(dev, err, errlen);
	if (ret)
		goto out_hca;
	most = dev->dp_ops->max_ib_mtu(dev->dp, &why);
	if (most < rxe_ib_mtu_of_netdev(dev->netdev_mtu))
		log_warn("device %s: IB MTU limited to %u: %s", dev->name, most,
			 why ? why : "the datapath carries no more");
	update_mtu(dev);
	ret = rxe_workers_attach(dev);
	if (ret) {
		fail(ret, err, errlen,
		     "device %s: a worker cannot serve it: %s; less load, or a larger `ulimit -n` "
		     "and memory limit of rxed, help",
		     dev->name, strerror(-ret));
		goto out_dp;
	}
	ret = rxe_gid_sync(dev);
	if (ret < 0) {
		rxe_workers_detach(dev);
		fail(ret, err, errlen, "device %s: reading the addresses of %s: %s", dev->name,
		     dev->netdev, strerror(-ret));
		goto out_dp;
	}
	return 0;

out_dp:
	dev->dp_ops->close(dev->dp);
out_hca:
	fini_hca(dev);
	return ret;
}

/* Pins are there to be looked at: a device works without them. */
static void pin_maps(struct rxe_dev *dev)
{
	struct rxe_dp_map map[RXE_DP_MAX_MAPS];
	char why[512];
	struct rxe_errline err = {why, sizeof(why)};
	uint32_t n = dev->dp_ops->maps ? dev->dp_ops->maps(dev->dp, map) : 0;

	if (n && rxe_dev_pins_make(rxed.pindir, dev->name, map, n, &err))
		log_warn("device %s: bpftool cannot look at its maps: %s", dev->name, why);
}

static void unpin_maps(struct rxe_dev *dev)
{
	char why[512];
	struct rxe_errline err = {why, sizeof(why)};

	if (dev->dp_ops->maps && rxe_dev_pins_remove(rxed.pindir, dev->name, &err))
		log_warn("device %s: pins of its maps are left: %s", dev->name, why);
}

static void rename_pins(struct rxe_dev *dev, const char *name)
{
	char why[512];
	struct rxe_errline err = {why, sizeof(why)};

	if (!dev->dp_ops->maps || !rxe_dev_pins_rename(rxed.pindir, dev->name, name, &err))
		return;
	log_warn("device %s: bpftool cannot look at its maps any more: %s", name, why);
	unpin_maps(dev);
}

static void publish(struct rxe_dev *dev)
{
	unsigned int gids = rxe_gid_count(dev->gids);

	dev->index = rxed.next_dev_index++;
	dev->minor = free_minor();
	TAILQ_INSERT_TAIL(&rxed.devs, dev, link);
	pin_maps(dev);
	rxe_sysfs_write_dev(dev);
	tick_timer.cb = tick;
	if (!tick_timer.armed)
		rxe_loop_timer(rxed.loop, &tick_timer, TICK_NS);
	log_info("device %s on %s: created, datapath %s, MTU %u, port %s, %u GIDs", dev->name,
		 dev->netdev, dev->dp_ops->name, dev->hca.mtu, dev->netdev_up ? "active" : "down",
		 gids);
	if (!gids)
		log_warn("device %s: netdev %s has no address yet, so there is no GID to use; "
			 "`ip addr add` gives it one (link-local IPv6 comes 2 s after link up)",
			 dev->name, dev->netdev);
}

int rxe_dev_create(struct rxe_netns *ns, const char *name, const char *netdev, struct rxe_dev **out,
		   char *err, size_t errlen)
{
	struct rxe_dev *dev;
	struct rxe_link l;
	int ret = check_name(name, err, errlen);

	if (ret)
		return ret;
	dev = dev_alloc(ns, name);
	if (!dev)
		return fail(-ENOMEM, err, errlen, "device %s: out of memory", name);
	ret = rxe_rtnl_open(ns, &handlers, &dev->rtnl);
	if (ret) {
		fail(ret, err, errlen,
		     "device %s: opening netlink in the network namespace of %s: %s", name, netdev,
		     strerror(-ret));
		goto out_dev;
	}
	ret = find_netdev(dev, netdev, &l, err, errlen);
	if (!ret)
		ret = set_up(dev, &l, err, errlen);
	if (ret)
		goto out_rtnl;
	publish(dev);
	if (out)
		*out = dev;
	return 0;

out_rtnl:
	rxe_rtnl_close(dev->rtnl);
out_dev:
	rxe_netns_put(ns);
	rxe_netns_put(ns);
	free(dev);
	return ret;
}

/* ---- deleting, renaming ----------------------------------------------------------- */

void rxe_dev_delete(struct rxe_dev *dev)
{
	dev->gone = true;
	TAILQ_REMOVE(&rxed.devs, dev, link);
	rxe_sysfs_remove_dev(dev);
	rxe_uverbs_dev_gone(dev);
	rxe_neigh_dev_gone(dev);
	rxe_workers_detach(dev);
	unpin_maps(dev);
	dev->dp_ops->close(dev->dp);
	dev->dp = NULL;
	rxe_rtnl_close(dev->rtnl);
	dev->rtnl = NULL;
	log_info("device %s: deleted", dev->name);
	rxe_dev_put(dev);
}

int rxe_dev_rename(struct rxe_dev *dev, const char *name)
{
	char err[256], old[RXE_DEV_NAME_MAX];
	int ret;

	if (!strcmp(dev->name, name))
		return 0;
	ret = check_name(name, err, sizeof(err));
	if (ret) {
		log_err("renaming device %s: %s", dev->name, err);
		return ret;
	}
	rxe_sysfs_remove_dev(dev);
	rename_pins(dev, name);
	memcpy(old, dev->name, sizeof(old));
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	rxe_sysfs_write_dev(dev);
	log_info("device %s: renamed to %s", old, name);
	return 0;
}

/* ---- who sees a device -------------------------------------------------------------- */

void rxe_dev_set_netns(struct rxe_dev *dev, struct rxe_netns *ns)
{
	struct rxe_netns *old = dev->rdma_ns;

	if (old == ns)
		return;
	rxe_uverbs_dev_gone(dev);
	rxe_netns_get(ns);
	dev->rdma_ns = ns;
	rxe_netns_put(old);
	rxe_sysfs_netns_mode();
	log_info("device %s: moved to network namespace net:[%llu]; its netdev %s stays in "
		 "net:[%llu]",
		 dev->name, (unsigned long long)rxe_netns_ino(ns), dev->netdev,
		 (unsigned long long)rxe_netns_ino(dev->ns));
}

void rxe_set_netns_mode(enum rxe_netns_mode mode)
{
	struct rxe_dev *dev;

	if (rxed.netns_mode == mode)
		return;
	rxed.netns_mode = mode;
	rxe_sysfs_netns_mode();
	TAILQ_FOREACH (dev, &rxed.devs, link)
		rxe_uverbs_dev_isolate(dev);
	log_info("network namespace mode: %s", mode == RXE_NETNS_SHARED ? "shared" : "exclusive");
}

void rxe_dev_get(struct rxe_dev *dev)
{
	dev->refs++;
}

void rxe_dev_put(struct rxe_dev *dev)
{
	if (--dev->refs)
		return;
	fini_hca(dev);
	rxe_netns_put(dev->ns);
	rxe_netns_put(dev->rdma_ns);
	free(dev);
}
