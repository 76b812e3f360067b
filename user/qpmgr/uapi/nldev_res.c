/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nldev commands about resources: how many objects of each kind a device has.
 */
#include <stddef.h>
#include "nldev_cmd.h"

/* Names and order as the kernel's; a kind with no counter does not exist yet. */
static const struct {
	const char *name;
	ptrdiff_t count; /* offset in struct rxe_dev, or -1 */
} kinds[] = {
	{"pd", offsetof(struct rxe_dev, nr_pd)},
	{"cq", offsetof(struct rxe_dev, nr_cq)},
	{"qp", offsetof(struct rxe_dev, nr_qp)},
	{"cm_id", offsetof(struct rxe_dev, nr_cm_id)},
	{"mr", offsetof(struct rxe_dev, nr_mr)},
	{"ctx", offsetof(struct rxe_dev, nr_contexts)},
	{"srq", offsetof(struct rxe_dev, hca.nr_srqs)},
};

static uint64_t kind_count(const struct rxe_dev *dev, ptrdiff_t offset)
{
	return offset < 0 ? 0 : *(const uint32_t *)((const char *)dev + offset);
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
			      kind_count(dev, kinds[i].count));
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
