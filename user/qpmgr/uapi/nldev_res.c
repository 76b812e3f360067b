/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nldev commands about resources: how many objects of each kind a device has.
 */
#include <stddef.h>
#include "nldev_cmd.h"
#include "nldev_obj.h"

enum { COUNT_NONE = -1, COUNT_CM_IDS = -2 };

/*
 * Names and order as the kernel's, the last one since 7.3. Those that QP1 needs
 * (nldev_kinds.c) count.
 */
static const struct {
	const char *name;
	ptrdiff_t count; /* offset in struct rxe_dev, or COUNT_* */
	uint32_t qp1;
} kinds[] = {
	{"pd", offsetof(struct rxe_dev, nr_pd), 1},
	{"cq", offsetof(struct rxe_dev, nr_cq), 1},
	{"qp", offsetof(struct rxe_dev, nr_qp), 1},
	{"cm_id", COUNT_CM_IDS, 0},
	{"mr", offsetof(struct rxe_dev, nr_mr), 0},
	{"ctx", offsetof(struct rxe_dev, nr_contexts), 0},
	{"srq", offsetof(struct rxe_dev, hca.nr_srqs), 0},
	{"comp_cntr", COUNT_NONE, 0},
};

static uint64_t kind_count(struct rxe_dev *dev, ptrdiff_t count)
{
	if (count == COUNT_NONE)
		return 0;
	if (count == COUNT_CM_IDS) /* with those that listen on any device */
		return nldev_kind_count(RDMA_NLDEV_CMD_RES_CM_ID_GET, dev);
	return *(const uint32_t *)((const char *)dev + count);
}

int nldev_res_get_one(struct nldev_cmd *c, struct rxe_dev *dev)
{
	struct nldev_out *out = c->out;
	size_t table, entry;

	nldev_put_handle(out, dev);
	table = nldev_nest_begin(out, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		entry = nldev_nest_begin(out, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		nldev_put_str(out, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kinds[i].name);
		nldev_put_u64(out, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR,
			      kind_count(dev, kinds[i].count) + kinds[i].qp1);
		nldev_nest_end(out, entry);
	}
	nldev_nest_end(out, table);
	return 0;
}

int nldev_res_get(struct nldev_cmd *c)
{
	nldev_begin(c->out, c->type, 0);
	nldev_res_get_one(c, c->dev);
	return nldev_end(c->out);
}
