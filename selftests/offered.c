/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks a device for everything that verbs.h can ask for, and prints for each
 * `NAME works` or `NAME EXXX`: offered.sh compares it with docs/features.md.
 *
 *   offered DEVICE GID_INDEX
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static int gid_index;
static _Alignas(4096) char mem[8192];

/* A verb that returns an object: 0 or errno; the object is given back by `give`. */
#define MADE(type, make, give)                               \
	({                                                   \
		type *obj_;                                  \
		errno = 0;                                   \
		obj_ = make;                                 \
		obj_ ? (give(obj_), 0) : errno ? errno : -1; \
	})
/* One that returns 0, -1 with errno, or an errno. */
#define DONE(call)                                    \
	({                                            \
		int ret_ = (errno = 0, (call));       \
		ret_ < 0 ? errno ? errno : -1 : ret_; \
	})

/* ---- devices ---------------------------------------------------------------------- */

static int query_device_ex(void)
{
	struct ibv_device_attr_ex a;

	return DONE(ibv_query_device_ex(ctx, NULL, &a));
}

static int query_port(void)
{
	struct ibv_port_attr a;

	return DONE(ibv_query_port(ctx, 1, &a));
}

static int query_port_2(void)
{
	struct ibv_port_attr a;

	return DONE(ibv_query_port(ctx, 2, &a));
}

static int query_gid_ex(void)
{
	struct ibv_gid_entry e;

	return DONE(ibv_query_gid_ex(ctx, 1, gid_index, &e, 0));
}

static int query_gid_table(void)
{
	struct ibv_gid_entry e[64];
	ssize_t n = ibv_query_gid_table(ctx, e, 64, 0);

	return n > 0 ? 0 : n ? (int)-n : ENODATA;
}

static int query_pkey(void)
{
	__be16 pkey;

	return DONE(ibv_query_pkey(ctx, 1, 0, &pkey));
}

static int get_pkey_index(void)
{
	return ibv_get_pkey_index(ctx, 1, htons(0xffff)) == 0 ? 0 : errno;
}

static int query_rt_values(void)
{
	struct ibv_values_ex v = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	return DONE(ibv_query_rt_values_ex(ctx, &v));
}

static int import_device(void)
{
	int fd = dup(ctx->cmd_fd);
	int err = MADE(struct ibv_context, ibv_import_device(fd), ibv_close_device);

	close(fd);
	return err;
}

static int import_pd(void)
{
	return MADE(struct ibv_pd, ibv_import_pd(ctx, pd->handle), ibv_unimport_pd);
}

static int import_mr(void)
{
	return MADE(struct ibv_mr, ibv_import_mr(pd, mr->handle), ibv_unimport_mr);
}

static int import_dm(void)
{
	return MADE(struct ibv_dm, ibv_import_dm(ctx, 1), ibv_unimport_dm);
}

static int forked; /* what ibv_fork_init() said: it must come before any region */

static int fork_init(void)
{
	return forked;
}

/* ---- domains, memory ---------------------------------------------------------------- */

static int alloc_pd(void)
{
	return MADE(struct ibv_pd, ibv_alloc_pd(ctx), ibv_dealloc_pd);
}

static int alloc_td(void)
{
	struct ibv_td_init_attr a = {0};

	return MADE(struct ibv_td, ibv_alloc_td(ctx, &a), ibv_dealloc_td);
}

static int alloc_parent_domain(void)
{
	struct ibv_parent_domain_init_attr a = {.pd = pd};

	return MADE(struct ibv_pd, ibv_alloc_parent_domain(ctx, &a), ibv_dealloc_pd);
}

static int open_xrcd(void)
{
	struct ibv_xrcd_init_attr a = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	return MADE(struct ibv_xrcd, ibv_open_xrcd(ctx, &a), ibv_close_xrcd);
}

static int reg_mr(unsigned int access)
{
	return MADE(struct ibv_mr, ibv_reg_mr(pd, mem, sizeof(mem), access), ibv_dereg_mr);
}

static int reg_mr_all(void)
{
	return reg_mr(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		      IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
}

static int reg_mr_relaxed(void)
{
	return reg_mr(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
}

static int reg_mr_remote_only(void)
{
	return reg_mr(IBV_ACCESS_REMOTE_WRITE);
}

static int reg_mr_on_demand(void)
{
	return reg_mr(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
}

static int reg_mr_implicit(void)
{
	return MADE(struct ibv_mr, ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND),
		    ibv_dereg_mr);
}

static int reg_mr_zero_based(void)
{
	return reg_mr(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
}

static int reg_mr_hugetlb(void)
{
	return reg_mr(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB);
}

static int reg_mr_iova(void)
{
	return MADE(struct ibv_mr,
		    ibv_reg_mr_iova(pd, mem, sizeof(mem), 0x7000, IBV_ACCESS_LOCAL_WRITE),
		    ibv_dereg_mr);
}

static int reg_dmabuf_mr(void)
{
	return MADE(struct ibv_mr, ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE),
		    ibv_dereg_mr);
}

static int rereg_mr(void)
{
	return DONE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
}

static int alloc_null_mr(void)
{
	return MADE(struct ibv_mr, ibv_alloc_null_mr(pd), ibv_dereg_mr);
}

static int advise_mr(void)
{
	struct ibv_mr *odp = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_ON_DEMAND);
	struct ibv_sge sge = {(uintptr_t)mem, sizeof(mem), odp ? odp->lkey : mr->lkey};
	int err = DONE(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));

	if (odp)
		ibv_dereg_mr(odp);
	return err;
}

static int alloc_mw(enum ibv_mw_type type)
{
	return MADE(struct ibv_mw, ibv_alloc_mw(pd, type), ibv_dealloc_mw);
}

static int alloc_mw_1(void)
{
	return alloc_mw(IBV_MW_TYPE_1);
}

static int alloc_mw_2(void)
{
	return alloc_mw(IBV_MW_TYPE_2);
}

static int alloc_dm(void)
{
	struct ibv_alloc_dm_attr a = {.length = 64};

	return MADE(struct ibv_dm, ibv_alloc_dm(ctx, &a), ibv_free_dm);
}

/* ---- completion queues ------------------------------------------------------------------ */

static int comp_channel(void)
{
	return MADE(struct ibv_comp_channel, ibv_create_comp_channel(ctx),
		    ibv_destroy_comp_channel);
}

static int cq_ex(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex a = {
		.cqe = 10,
		.wc_flags = wc_flags,
		.comp_mask = flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
		.flags = flags,
	};
	struct ibv_cq_ex *c = (errno = 0, ibv_create_cq_ex(ctx, &a));

	return c ? DONE(ibv_destroy_cq(ibv_cq_ex_to_cq(c))) : errno;
}

static int create_cq_ex(void)
{
	return cq_ex(IBV_WC_STANDARD_FLAGS, 0);
}

static int cq_timestamp(void)
{
	return cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0);
}

static int cq_wallclock(void)
{
	return cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, 0);
}

static int cq_cvlan(void)
{
	return cq_ex(IBV_WC_EX_WITH_CVLAN, 0);
}

static int cq_flow_tag(void)
{
	return cq_ex(IBV_WC_EX_WITH_FLOW_TAG, 0);
}

static int cq_tm_info(void)
{
	return cq_ex(IBV_WC_EX_WITH_TM_INFO, 0);
}

static int cq_single_threaded(void)
{
	return cq_ex(IBV_WC_STANDARD_FLAGS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

static int cq_ignore_overrun(void)
{
	return cq_ex(IBV_WC_STANDARD_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
}

static int resize_cq(void)
{
	return DONE(ibv_resize_cq(cq, 100));
}

static int modify_cq(void)
{
	struct ibv_modify_cq_attr a = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {1, 1}};

	return DONE(ibv_modify_cq(cq, &a));
}

static int req_notify_cq(void)
{
	return DONE(ibv_req_notify_cq(cq, 1));
}

/* ---- queue pairs --------------------------------------------------------------------------- */

static struct ibv_qp_init_attr_ex qp_attr(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {1, 1, 1, 1, 0},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
}

static int make_qp(struct ibv_qp_init_attr_ex a)
{
	return MADE(struct ibv_qp, ibv_create_qp_ex(ctx, &a), ibv_destroy_qp);
}

static int qp_rc(void)
{
	return make_qp(qp_attr(IBV_QPT_RC));
}

static int qp_uc(void)
{
	return make_qp(qp_attr(IBV_QPT_UC));
}

static int qp_ud(void)
{
	return make_qp(qp_attr(IBV_QPT_UD));
}

static int qp_raw(void)
{
	return make_qp(qp_attr(IBV_QPT_RAW_PACKET));
}

static int qp_driver(void)
{
	return make_qp(qp_attr(IBV_QPT_DRIVER));
}

static int qp_xrc_send(void)
{
	return make_qp(qp_attr(IBV_QPT_XRC_SEND));
}

static int qp_with(enum ibv_qp_type type, uint32_t create_flags, uint64_t ops)
{
	struct ibv_qp_init_attr_ex a = qp_attr(type);

	if (create_flags)
		a.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	if (ops)
		a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	a.create_flags = create_flags;
	a.send_ops_flags = ops;
	a.source_qpn = 1;
	return make_qp(a);
}

static int qp_block_self(void)
{
	return qp_with(IBV_QPT_UD, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, 0);
}

static int qp_scatter_fcs(void)
{
	return qp_with(IBV_QPT_UD, IBV_QP_CREATE_SCATTER_FCS, 0);
}

static int qp_cvlan_strip(void)
{
	return qp_with(IBV_QPT_UD, IBV_QP_CREATE_CVLAN_STRIPPING, 0);
}

static int qp_source_qpn(void)
{
	return qp_with(IBV_QPT_UD, IBV_QP_CREATE_SOURCE_QPN, 0);
}

static int qp_end_padding(void)
{
	return qp_with(IBV_QPT_RC, IBV_QP_CREATE_PCI_WRITE_END_PADDING, 0);
}

static int qp_ops(void)
{
	return qp_with(IBV_QPT_RC, 0,
		       IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			       IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			       IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
			       IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV);
}

static int qp_op_atomic_write(void)
{
	return qp_with(IBV_QPT_RC, 0, IBV_QP_EX_WITH_ATOMIC_WRITE);
}

static int qp_op_tso(void)
{
	return qp_with(IBV_QPT_UD, 0, IBV_QP_EX_WITH_TSO);
}

static int qp_rate_limit(void)
{
	struct ibv_qp_rate_limit_attr a = {.rate_limit = 1000};

	return DONE(ibv_modify_qp_rate_limit(qp, &a));
}

static int modify_qp_rate(void)
{
	struct ibv_qp_attr a = {.rate_limit = 1000};

	return DONE(ibv_modify_qp(qp, &a, IBV_QP_RATE_LIMIT));
}

static int modify_qp_alt_path(void)
{
	struct ibv_qp_attr a = {.alt_port_num = 1};

	return DONE(ibv_modify_qp(qp, &a, IBV_QP_ALT_PATH));
}

static int query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	return DONE(ibv_query_qp(qp, &a, IBV_QP_STATE, &init));
}

/* A verb that always has an answer: only 0 and 1 are answers. */
static int data_in_order(void)
{
	int yes = ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0);

	return yes == 0 || yes == 1 ? 0 : EINVAL;
}

static int open_qp(void)
{
	struct ibv_qp_open_attr a = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp->qp_num,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return MADE(struct ibv_qp, ibv_open_qp(ctx, &a), ibv_destroy_qp);
}

static int ece(void)
{
	struct ibv_ece e;

	return DONE(ibv_query_ece(qp, &e)) ?: DONE(ibv_set_ece(qp, &e));
}

static int create_srq(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 1, .max_sge = 1}};

	return MADE(struct ibv_srq, ibv_create_srq(pd, &a), ibv_destroy_srq);
}

static int srq_ex(enum ibv_srq_type type)
{
	struct ibv_srq_init_attr_ex a = {
		.attr = {.max_wr = 1, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = type,
		.pd = pd,
		.cq = cq,
		.tm_cap = {1, 1},
	};

	if (type != IBV_SRQT_BASIC)
		a.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	if (type == IBV_SRQT_TM)
		a.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	return MADE(struct ibv_srq, ibv_create_srq_ex(ctx, &a), ibv_destroy_srq);
}

static int srq_ex_basic(void)
{
	return srq_ex(IBV_SRQT_BASIC);
}

static int srq_ex_xrc(void)
{
	return srq_ex(IBV_SRQT_XRC);
}

static int srq_ex_tm(void)
{
	return srq_ex(IBV_SRQT_TM);
}

static int get_srq_num(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	uint32_t num;
	int err;

	if (!srq)
		return errno;
	err = DONE(ibv_get_srq_num(srq, &num));
	ibv_destroy_srq(srq);
	return err;
}

static int post_srq_ops(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	struct ibv_ops_wr wr = {.opcode = IBV_WR_TAG_SYNC}, *bad;
	int err;

	if (!srq)
		return errno;
	err = DONE(ibv_post_srq_ops(srq, &wr, &bad));
	ibv_destroy_srq(srq);
	return err;
}

/* ---- work queues, flows, counters ------------------------------------------------------------ */

static int create_wq(void)
{
	struct ibv_wq_init_attr a = {.max_wr = 1, .max_sge = 1, .pd = pd, .cq = cq};

	return MADE(struct ibv_wq, ibv_create_wq(ctx, &a), ibv_destroy_wq);
}

static int create_rwq_ind_table(void)
{
	struct ibv_rwq_ind_table_init_attr a = {0};

	return MADE(struct ibv_rwq_ind_table, ibv_create_rwq_ind_table(ctx, &a),
		    ibv_destroy_rwq_ind_table);
}

static int create_flow(void)
{
	struct ibv_flow_attr a = {.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof(a), .port = 1};

	return MADE(struct ibv_flow, ibv_create_flow(qp, &a), ibv_destroy_flow);
}

static int flow_action_esp(void)
{
	struct ibv_flow_action_esp_attr a = {0};

	return MADE(struct ibv_flow_action, ibv_create_flow_action_esp(ctx, &a),
		    ibv_destroy_flow_action);
}

static int create_counters(void)
{
	struct ibv_counters_init_attr a = {0};

	return MADE(struct ibv_counters, ibv_create_counters(ctx, &a), ibv_destroy_counters);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static struct ibv_ah_attr own_address(void)
{
	struct ibv_ah_attr a = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.sgid_index = gid_index, .hop_limit = 1},
	};

	ibv_query_gid(ctx, 1, gid_index, &a.grh.dgid);
	return a;
}

static int create_ah(void)
{
	struct ibv_ah_attr a = own_address();

	return MADE(struct ibv_ah, ibv_create_ah(pd, &a), ibv_destroy_ah);
}

static int create_ah_no_grh(void)
{
	struct ibv_ah_attr a = {.dlid = 1, .port_num = 1};

	return MADE(struct ibv_ah, ibv_create_ah(pd, &a), ibv_destroy_ah);
}

static int resolve_eth(void)
{
	struct ibv_ah_attr a = own_address();
	uint8_t mac[ETHERNET_LL_SIZE];
	uint16_t vid;

	return DONE(ibv_resolve_eth_l2_from_gid(ctx, &a, mac, &vid));
}

/* The answer to a datagram that came over IPv4: the header lies in the GRH's second half. */
static int create_ah_from_wc(void)
{
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH};
	union ibv_gid gid;
	struct ibv_grh grh;
	uint8_t *ip = (uint8_t *)&grh + 20;

	if (ibv_query_gid(ctx, 1, gid_index, &gid))
		return errno;
	memset(&grh, 0, sizeof(grh));
	ip[0] = 0x45;
	ip[3] = 20 + 8;
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, gid.raw + 12, 4);
	memcpy(ip + 16, gid.raw + 12, 4);
	for (uint32_t i = 0, sum = 0; i <= 20; i += 2) {
		if (i < 20) {
			sum += ip[i] << 8 | ip[i + 1];
			continue;
		}
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16));
		ip[10] = sum >> 8;
		ip[11] = sum;
	}
	return MADE(struct ibv_ah, ibv_create_ah_from_wc(pd, &wc, &grh, 1), ibv_destroy_ah);
}

static int attach_mcast_rc(void)
{
	union ibv_gid g = {.raw = {[10] = 0xff, 0xff, 239, 1, 1, 1}};

	return DONE(ibv_attach_mcast(qp, &g, 0));
}

static const struct {
	const char *name;
	int (*ask)(void);
} rows[] = {
	{"ibv_query_device_ex", query_device_ex},
	{"ibv_query_port", query_port},
	{"ibv_query_port of port 2", query_port_2},
	{"ibv_query_gid_ex", query_gid_ex},
	{"ibv_query_gid_table", query_gid_table},
	{"ibv_query_pkey", query_pkey},
	{"ibv_get_pkey_index", get_pkey_index},
	{"ibv_query_rt_values_ex", query_rt_values},
	{"ibv_import_device", import_device},
	{"ibv_import_pd", import_pd},
	{"ibv_import_mr", import_mr},
	{"ibv_import_dm", import_dm},
	{"ibv_fork_init", fork_init},
	{"ibv_alloc_pd", alloc_pd},
	{"ibv_alloc_td", alloc_td},
	{"ibv_alloc_parent_domain", alloc_parent_domain},
	{"ibv_open_xrcd", open_xrcd},
	{"ibv_reg_mr", reg_mr_all},
	{"IBV_ACCESS_RELAXED_ORDERING", reg_mr_relaxed},
	{"IBV_ACCESS_REMOTE_WRITE without LOCAL_WRITE", reg_mr_remote_only},
	{"IBV_ACCESS_ON_DEMAND", reg_mr_on_demand},
	{"IBV_ACCESS_ON_DEMAND, implicit", reg_mr_implicit},
	{"IBV_ACCESS_ZERO_BASED", reg_mr_zero_based},
	{"IBV_ACCESS_HUGETLB", reg_mr_hugetlb},
	{"ibv_reg_mr_iova", reg_mr_iova},
	{"ibv_reg_dmabuf_mr", reg_dmabuf_mr},
	{"ibv_rereg_mr", rereg_mr},
	{"ibv_alloc_null_mr", alloc_null_mr},
	{"ibv_advise_mr", advise_mr},
	{"ibv_alloc_mw, type 1", alloc_mw_1},
	{"ibv_alloc_mw, type 2", alloc_mw_2},
	{"ibv_alloc_dm", alloc_dm},
	{"ibv_create_comp_channel", comp_channel},
	{"ibv_create_cq_ex", create_cq_ex},
	{"IBV_WC_EX_WITH_COMPLETION_TIMESTAMP", cq_timestamp},
	{"IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK", cq_wallclock},
	{"IBV_WC_EX_WITH_CVLAN", cq_cvlan},
	{"IBV_WC_EX_WITH_FLOW_TAG", cq_flow_tag},
	{"IBV_WC_EX_WITH_TM_INFO", cq_tm_info},
	{"IBV_CREATE_CQ_ATTR_SINGLE_THREADED", cq_single_threaded},
	{"IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN", cq_ignore_overrun},
	{"ibv_resize_cq", resize_cq},
	{"ibv_modify_cq", modify_cq},
	{"ibv_req_notify_cq", req_notify_cq},
	{"IBV_QPT_RC", qp_rc},
	{"IBV_QPT_UC", qp_uc},
	{"IBV_QPT_UD", qp_ud},
	{"IBV_QPT_RAW_PACKET", qp_raw},
	{"IBV_QPT_XRC_SEND", qp_xrc_send},
	{"IBV_QPT_DRIVER", qp_driver},
	{"IBV_QP_CREATE_BLOCK_SELF_MCAST_LB", qp_block_self},
	{"IBV_QP_CREATE_SCATTER_FCS", qp_scatter_fcs},
	{"IBV_QP_CREATE_CVLAN_STRIPPING", qp_cvlan_strip},
	{"IBV_QP_CREATE_SOURCE_QPN", qp_source_qpn},
	{"IBV_QP_CREATE_PCI_WRITE_END_PADDING", qp_end_padding},
	{"ibv_create_qp_ex", qp_ops},
	{"IBV_QP_EX_WITH_ATOMIC_WRITE", qp_op_atomic_write},
	{"IBV_QP_EX_WITH_TSO", qp_op_tso},
	{"ibv_modify_qp_rate_limit", qp_rate_limit},
	{"IBV_QP_RATE_LIMIT", modify_qp_rate},
	{"IBV_QP_ALT_PATH", modify_qp_alt_path},
	{"ibv_query_qp", query_qp},
	{"ibv_query_qp_data_in_order", data_in_order},
	{"ibv_open_qp", open_qp},
	{"ibv_set_ece", ece},
	{"ibv_create_srq", create_srq},
	{"ibv_create_srq_ex", srq_ex_basic},
	{"IBV_SRQT_XRC", srq_ex_xrc},
	{"IBV_SRQT_TM", srq_ex_tm},
	{"ibv_get_srq_num", get_srq_num},
	{"ibv_post_srq_ops", post_srq_ops},
	{"ibv_create_wq", create_wq},
	{"ibv_create_rwq_ind_table", create_rwq_ind_table},
	{"ibv_create_flow", create_flow},
	{"ibv_create_flow_action_esp", flow_action_esp},
	{"ibv_create_counters", create_counters},
	{"ibv_create_ah", create_ah},
	{"ibv_create_ah without GRH", create_ah_no_grh},
	{"ibv_create_ah_from_wc", create_ah_from_wc},
	{"ibv_resolve_eth_l2_from_gid", resolve_eth},
	{"ibv_attach_mcast of an RC QP", attach_mcast_rc},
};

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr_ex a;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		exit(1);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	if (!pd || !cq)
		exit(1);
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	a = qp_attr(IBV_QPT_RC);
	qp = ibv_create_qp_ex(ctx, &a);
	if (!mr || !qp)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	gid_index = atoi(argv[2]);
	forked = DONE(ibv_fork_init());
	open_device(argv[1]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = rows[i].ask();

		printf("%s %s\n", rows[i].name,
		       err > 0 ? strerrorname_np(err)
		       : err   ? "fails without errno"
			       : "works");
	}
	return ibv_destroy_qp(qp) || ibv_dereg_mr(mr) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	       ibv_close_device(ctx);
}
