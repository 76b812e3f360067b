/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the device says of itself: context, device and port attributes. The
 * numbers reported are the ones enforced (hca.limits); the constants are the
 * driver's, so that tools which know rxe behave.
 */
#include "uapi/uverbs.h"

#include <endian.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "log.h"
#include "mapping.h"
#include "uapi/device_attr.h"

#define VENDOR_ID     0xffffffu /* rxe's: none */
#define PAGE_SIZE_CAP 0xfffff000u
#define MAX_MSG_SIZE  0x80000000u /* 2^31 (C9-94) */
#define MAX_PKEYS     64
#define CA_ACK_DELAY  15
#define IB_ATOMIC_HCA 1
/* enum ib_odp_general_cap_bits, ib_odp_transport_cap_bits of the kernel */
enum { ODP_SUPPORT = 1, ODP_SUPPORT_IMPLICIT = 2 };
enum {
	ODP_SEND = 1,
	ODP_RECV = 2,
	ODP_WRITE = 4,
	ODP_READ = 8,
	ODP_ATOMIC = 16,
	ODP_SRQ_RECV = 32,
};
#define LINK_LAYER_ETHERNET 2
#define WIDTH_1X	    1
#define SPEED_FDR10	    8 /* 10 Gb/s, as the driver says of a plain netdev */

int uctx_get_context(struct uctx *ctx)
{
	struct rxe_dev *dev = ctx->dev;

	if (ctx->opened)
		return -EINVAL;
	if (dev->nr_contexts >= dev->hca.limits.max_ucontext) {
		log_warn(
			"opening device %s for process %d (%s): all max_ucontext = %u contexts are "
			"in use; raise it with `rxe param set max_ucontext N` and make the device anew",
			dev->name, ctx->peer->pid, ctx->peer->comm, dev->hca.limits.max_ucontext);
		return -ENOMEM;
	}
	dev->nr_contexts++;
	ctx->opened = true;
	ctx->res = ctx->dev->next_res[RXE_RES_CTX]++;
	return 0;
}

int uverbs_open_async(struct uctx *ctx, int *fd)
{
	if (ctx->async)
		return -EINVAL;
	ctx->async = uchannel_new(sizeof(struct ib_uverbs_async_event_desc), fd);
	return ctx->async ? 0 : -ENOMEM;
}

int ucmd_get_context(struct ucmd *cmd)
{
	struct ib_uverbs_get_context_resp *r = (void *)cmd->out;
	int err = uctx_get_context(cmd->ctx);

	if (err)
		return err;
	err = uverbs_open_async(cmd->ctx, &cmd->fd);
	if (err)
		return err;
	cmd->fd_offset = offsetof(struct ib_uverbs_get_context_resp, async_fd);
	r->num_comp_vectors = RXE_COMP_VECTORS;
	return 0;
}

static void fill_device(const struct rxe_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	const struct rxe_limits *l = &dev->hca.limits;

	r->node_guid = htobe64(dev->node_guid);
	r->sys_image_guid = r->node_guid;
	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = PAGE_SIZE_CAP;
	r->vendor_id = VENDOR_ID;
	r->max_qp = l->max_qp;
	r->max_qp_wr = l->max_qp_wr;
	r->device_cap_flags = (uint32_t)RXE_DEVICE_CAPS;
	r->max_sge = l->max_sge;
	r->max_sge_rd = l->max_sge;
	r->max_cq = l->max_cq;
	r->max_cqe = l->max_cqe;
	r->max_mr = l->max_mr;
	r->max_pd = l->max_pd;
	r->max_qp_rd_atom = l->max_rd_atomic;
	r->max_qp_init_rd_atom = l->max_rd_atomic;
	r->max_res_rd_atom = 0x3f000; /* the driver's */
	r->atomic_cap = IB_ATOMIC_HCA;
	r->max_mw = l->max_mw;
	r->max_mcast_grp = l->max_mcast_grp;
	r->max_mcast_qp_attach = l->max_mcast_qp_attach;
	r->max_total_mcast_qp_attach = l->max_total_mcast_qp_attach;
	r->max_ah = l->max_ah;
	r->max_fmr = l->max_fmr;
	r->max_srq = l->max_srq;
	r->max_srq_wr = l->max_srq_wr;
	r->max_srq_sge = l->max_srq_sge;
	r->max_pkeys = MAX_PKEYS;
	r->local_ca_ack_delay = CA_ACK_DELAY;
	r->phys_port_cnt = 1;
}

int ucmd_query_device(struct ucmd *cmd)
{
	fill_device(cmd->ctx->dev, (void *)cmd->out);
	return 0;
}

/* What copies do is the same for all services; each has the operations it has. */
static void fill_odp(struct ib_uverbs_odp_caps *c)
{
	const uint32_t datagram = ODP_SEND | ODP_RECV | ODP_SRQ_RECV;

	if (!rxe_mapping_asked_each_time())
		return;
	c->general_caps = ODP_SUPPORT | ODP_SUPPORT_IMPLICIT;
	c->per_transport_caps.ud_odp_caps = datagram;
	c->per_transport_caps.uc_odp_caps = datagram | ODP_WRITE;
	c->per_transport_caps.rc_odp_caps = datagram | ODP_WRITE | ODP_READ | ODP_ATOMIC;
}

int ucmd_ex_query_device(struct ucmd *cmd)
{
	const struct ib_uverbs_ex_query_device *in = cmd->in;
	struct ib_uverbs_ex_query_device_resp *r = (void *)cmd->out;

	if (in->comp_mask || in->reserved)
		return -EINVAL;
	fill_device(cmd->ctx->dev, &r->base);
	r->response_length = sizeof(*r);
	r->device_cap_flags_ex = RXE_DEVICE_CAPS;
	fill_odp(&r->odp_caps);
	return 0;
}

void uverbs_fill_port(const struct rxe_dev *dev, struct ib_uverbs_query_port_resp *r)
{
	r->port_cap_flags = RXE_PORT_CAPS;
	r->max_msg_sz = MAX_MSG_SIZE;
	r->gid_tbl_len = RXE_GID_TBL_LEN;
	r->pkey_tbl_len = 1;
	r->state = rxe_dev_port_state(dev);
	r->max_mtu = 5; /* IB_MTU_4096 */
	r->active_mtu = (uint8_t)rxe_mtu_to_enum(dev->hca.mtu);
	r->max_vl_num = 1;
	r->active_width = WIDTH_1X;
	r->active_speed = SPEED_FDR10;
	r->phys_state = rxe_dev_phys_state(dev);
	r->link_layer = LINK_LAYER_ETHERNET;
	r->flags = IB_UVERBS_QPF_GRH_REQUIRED;
}

int ucmd_query_port(struct ucmd *cmd)
{
	const struct ib_uverbs_query_port *in = cmd->in;

	if (in->port_num != 1)
		return -EINVAL;
	uverbs_fill_port(cmd->ctx->dev, (void *)cmd->out);
	return 0;
}
