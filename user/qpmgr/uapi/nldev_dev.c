/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nldev commands about devices, ports and the system: what `rdma dev`, `rdma
 * link`, `rdma system` and libibverbs' enumeration ask.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device_attr.h"
#include "log.h"
#include "nldev_cmd.h"
#include "rxe/ipc.h"

/* ---- devices ---------------------------------------------------------------- */

int nldev_get_one(struct nldev_cmd *c, struct rxe_dev *dev)
{
	struct nldev_out *out = c->out;

	nldev_put_handle(out, dev);
	nldev_put_u32(out, RDMA_NLDEV_ATTR_PORT_INDEX, 1); /* number of ports */
	nldev_put_u64(out, RDMA_NLDEV_ATTR_CAP_FLAGS, RXE_DEVICE_CAPS);
	nldev_put_u64(out, RDMA_NLDEV_ATTR_NODE_GUID, dev->node_guid);
	nldev_put_u64(out, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, dev->node_guid);
	nldev_put_u8(out, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, RDMA_NODE_IB_CA);
	nldev_put_u8(out, RDMA_NLDEV_ATTR_DEV_DIM, dev->dim);
	nldev_put_str(out, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	return 0;
}

int nldev_get(struct nldev_cmd *c)
{
	nldev_begin(c->out, c->type, 0);
	nldev_get_one(c, c->dev);
	return nldev_end(c->out);
}

static int set_name(struct nldev_cmd *c)
{
	const char *name = nldev_str(c->attrs, RDMA_NLDEV_ATTR_DEV_NAME);
	int err = rxe_dev_rename(c->dev, name);

	if (err == -EEXIST)
		return nldev_fail(c, err, "renaming device %s: %s exists already", c->dev->name,
				  name);
	if (err == -EINVAL)
		return nldev_fail(c, err, "renaming device %s: '%s' cannot be a device's name",
				  c->dev->name, name);
	return err;
}

/* As ib_device_set_netns_put(): authority over the target, too, and exclusive mode. */
static int set_netns(struct nldev_cmd *c)
{
	if (!c->netns)
		return -EBADF;
	if (c->netns == c->peer->ns ? !c->peer->net_admin : !c->peer->bpf_admin)
		return nldev_fail(c, -EPERM,
				  "device %s: giving it to another network namespace needs "
				  "CAP_NET_ADMIN in rxed's own",
				  c->dev->name);
	if (rxed.netns_mode == RXE_NETNS_SHARED)
		return nldev_fail(c, -EOPNOTSUPP,
				  "device %s: in shared mode every network namespace has it; "
				  "`rxe rdma system set netns exclusive` first",
				  c->dev->name);
	rxe_dev_set_netns(c->dev, c->netns);
	return 0;
}

/*
 * Adaptive moderation is one of CQs that ib_core makes for other modules; the
 * driver's users have none. The setting is kept and shown, as ib_core does.
 */
static int set_dim(struct nldev_cmd *c)
{
	uint8_t dim = nldev_u8(c->attrs, RDMA_NLDEV_ATTR_DEV_DIM);

	if (dim > 1)
		return -EINVAL;
	c->dev->dim = dim;
	return 0;
}

int nldev_set(struct nldev_cmd *c)
{
	int err = nldev_may_administer(c, c->dev);

	if (err)
		return err;
	if (nldev_has(c->attrs, RDMA_NLDEV_ATTR_DEV_NAME))
		return set_name(c);
	if (nldev_has(c->attrs, RDMA_NLDEV_NET_NS_FD))
		return set_netns(c);
	return nldev_has(c->attrs, RDMA_NLDEV_ATTR_DEV_DIM) ? set_dim(c) : 0;
}

/* ---- links -------------------------------------------------------------------- */

int nldev_newlink(struct nldev_cmd *c)
{
	const char *name = nldev_str(c->attrs, RDMA_NLDEV_ATTR_DEV_NAME);
	const char *type = nldev_str(c->attrs, RDMA_NLDEV_ATTR_LINK_TYPE);
	const char *netdev = nldev_str(c->attrs, RDMA_NLDEV_ATTR_NDEV_NAME);
	int err;

	if (!c->peer->net_admin)
		return nldev_fail(c, -EPERM,
				  "device %s: creating it needs CAP_NET_ADMIN in the network "
				  "namespace of netdev %s",
				  name, netdev);
	if (strcmp(type, "rxe"))
		return nldev_fail(c, -EINVAL,
				  "device %s: link type %s is not known here; use type rxe", name,
				  type);
	err = rxe_dev_create(c->peer->ns, name, netdev, NULL, c->out->err, sizeof(c->out->err));
	if (err)
		log_err("%s", c->out->err);
	return err;
}

int nldev_dellink(struct nldev_cmd *c)
{
	int err = nldev_may_administer(c, c->dev);

	if (!err)
		rxe_dev_delete(c->dev);
	return err;
}

int nldev_port_get_one(struct nldev_cmd *c, struct rxe_dev *dev)
{
	struct nldev_out *out = c->out;

	nldev_put_handle(out, dev);
	nldev_put_u32(out, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nldev_put_u8(out, RDMA_NLDEV_ATTR_PORT_STATE, rxe_dev_port_state(dev));
	nldev_put_u8(out, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, rxe_dev_phys_state(dev));
	/* Its number and name mean something in its own namespace only. */
	if (dev->ns == c->peer->ns) {
		nldev_put_u32(out, RDMA_NLDEV_ATTR_NDEV_INDEX, (uint32_t)dev->ifindex);
		nldev_put_str(out, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev);
	}
	return 0;
}

int nldev_port_get(struct nldev_cmd *c)
{
	if (nldev_u32(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) != 1)
		return -EINVAL;
	nldev_begin(c->out, c->type, 0);
	nldev_port_get_one(c, c->dev);
	return nldev_end(c->out);
}

/* ---- the system ------------------------------------------------------------------ */

int nldev_sys_get(struct nldev_cmd *c)
{
	nldev_begin(c->out, c->type, 0);
	nldev_put_u8(c->out, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, rxed.netns_mode);
	/* A child of fork() keeps its copy of the parent's pages, always. */
	nldev_put_u8(c->out, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	return nldev_end(c->out);
}

int nldev_sys_set(struct nldev_cmd *c)
{
	uint8_t mode = nldev_u8(c->attrs, RDMA_NLDEV_SYS_ATTR_NETNS_MODE);

	if (!c->peer->bpf_admin)
		return nldev_fail(c, -EPERM,
				  "the namespace mode is one for the host: setting it needs "
				  "CAP_NET_ADMIN in rxed's own network namespace");
	if (mode > RXE_NETNS_SHARED)
		return -EINVAL;
	rxe_set_netns_mode(mode);
	return 0;
}

/* ---- character devices ------------------------------------------------------------ */

/* dev_t as the kernel's huge_encode_dev() packs it. */
static uint64_t encode_dev(uint32_t major, uint32_t minor)
{
	return (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}

int nldev_get_chardev(struct nldev_cmd *c)
{
	char name[32];

	if (nldev_has(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) &&
	    (!c->dev || nldev_u32(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) != 1))
		return -EINVAL;
	if (!strcmp(nldev_str(c->attrs, RDMA_NLDEV_ATTR_CHARDEV_TYPE), "rdma_cm")) {
		nldev_begin(c->out, c->type, 0);
		nldev_put_u64(c->out, RDMA_NLDEV_ATTR_CHARDEV,
			      encode_dev(RXE_RDMA_CM_MAJOR, RXE_RDMA_CM_MINOR));
		nldev_put_u64(c->out, RDMA_NLDEV_ATTR_CHARDEV_ABI, RXE_RDMA_CM_ABI);
		nldev_put_str(c->out, RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm");
		return nldev_end(c->out);
	}
	if (strcmp(nldev_str(c->attrs, RDMA_NLDEV_ATTR_CHARDEV_TYPE), "uverbs"))
		return -ENOENT;
	if (!c->dev)
		return -EINVAL;
	snprintf(name, sizeof(name), "uverbs%u", c->dev->minor);
	nldev_begin(c->out, c->type, 0);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RXE_DRIVER_ID);
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_CHARDEV,
		      encode_dev(RXE_UVERBS_MAJOR, RXE_UVERBS_MINOR_BASE + c->dev->minor));
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_CHARDEV_ABI, RXE_UVERBS_ABI);
	nldev_put_str(c->out, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	return nldev_end(c->out);
}
