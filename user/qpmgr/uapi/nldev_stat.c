/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nldev commands about counters: the port's, and the modes of counters bound
 * to QPs. The driver has no such counters, so the modes can be set and nothing
 * comes of them, as with the kernel's.
 */
#include <errno.h>
#include "nldev_cmd.h"
#include "nldev_obj.h"

#define HW_NAME(SYM, name) [RXE_HW_##SYM] = #name,
static const char *const hw_names[RXE_HW_DRIVER_COUNT] = {RXE_HW_COUNTERS(HW_NAME)};
#undef HW_NAME

/* What the driver has none of, under the names that other drivers gave it. */
static const struct {
	const char *name;
	enum rxe_hw_counter counter;
} more[] = {
	{"roce_adp_retrans", RXE_HW_COMP_RETRY},
	{"roce_slow_restart", RXE_HW_SLOW_RESTART},
};
#define NR_MORE (sizeof(more) / sizeof(more[0]))

#define AUTO_MODE_MASKS 3u /* RDMA_COUNTER_MASK_QP_TYPE, RDMA_COUNTER_MASK_PID */

static bool port_ok(const struct nldev_cmd *c)
{
	return nldev_has(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) &&
	       nldev_u32(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) == 1;
}

static bool has_u32(const struct nldev_cmd *c, int type, uint32_t v)
{
	return nldev_has(c->attrs, type) && nldev_u32(c->attrs, type) == v;
}

static void begin(struct nldev_cmd *c)
{
	nldev_begin(c->out, c->type, 0);
	nldev_put_handle(c->out, c->dev);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
}

/* ---- the port's counters ------------------------------------------------------- */

static void put_counter(struct nldev_cmd *c, const char *name, enum rxe_hw_counter counter)
{
	size_t entry = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	nldev_put_str(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
		      rxe_dev_counter(c->dev, counter));
	nldev_nest_end(c->out, entry);
}

static int get_port(struct nldev_cmd *c)
{
	size_t table;

	begin(c);
	table = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; i < RXE_HW_DRIVER_COUNT; i++)
		put_counter(c, hw_names[i], i);
	for (unsigned int i = 0; i < NR_MORE; i++)
		put_counter(c, more[i].name, more[i].counter);
	nldev_nest_end(c->out, table);
	return nldev_end(c->out);
}

static int get_mode(struct nldev_cmd *c)
{
	begin(c);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_STAT_MODE, c->dev->stat_mode);
	if (c->dev->stat_mode == RDMA_COUNTER_MODE_AUTO)
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, c->dev->stat_mask);
	return nldev_end(c->out);
}

int nldev_stat_get(struct nldev_cmd *c)
{
	if (!port_ok(c))
		return -EINVAL;
	if (!nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_RES))
		return get_port(c);
	if (!has_u32(c, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP))
		return -EINVAL;
	if (nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_COUNTER_ID))
		return -ENOENT; /* no counter of a QP exists */
	return nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_MODE) ? get_mode(c) : -EINVAL;
}

/* Counters of QPs: none. Of MRs: every region, without figures, as the kernel. */
int nldev_stat_dump(struct nldev_cmd *c)
{
	if (has_u32(c, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP))
		return 0;
	if (has_u32(c, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_MR))
		return nldev_obj_dump(c);
	return -EINVAL;
}

/* Which counters there are; none of them can be turned off. */
int nldev_stat_get_status(struct nldev_cmd *c)
{
	size_t table, entry;

	if (!port_ok(c))
		return -EINVAL;
	begin(c);
	table = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; i < RXE_HW_DRIVER_COUNT + NR_MORE; i++) {
		entry = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		nldev_put_str(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			      i < RXE_HW_DRIVER_COUNT ? hw_names[i]
						      : more[i - RXE_HW_DRIVER_COUNT].name);
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i);
		nldev_nest_end(c->out, entry);
	}
	nldev_nest_end(c->out, table);
	return nldev_end(c->out);
}

/* ---- modes of counters bound to QPs ------------------------------------------------ */

static bool has_qp(struct nldev_cmd *c)
{
	return nldev_kind_has(RDMA_NLDEV_CMD_RES_QP_GET, c->dev,
			      nldev_u32(c->attrs, RDMA_NLDEV_ATTR_RES_LQPN));
}

static int set_auto(struct nldev_cmd *c)
{
	uint32_t mask = 0;

	if (nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK))
		mask = nldev_u32(c->attrs, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK);
	if (mask & ~AUTO_MODE_MASKS)
		return -EINVAL;
	c->dev->stat_mode = mask ? RDMA_COUNTER_MODE_AUTO : RDMA_COUNTER_MODE_NONE;
	c->dev->stat_mask = mask;
	return 0;
}

/* The driver makes no counters: -ENOMEM is what ib_core makes of that. */
static int bind_qp(struct nldev_cmd *c)
{
	if (!nldev_has(c->attrs, RDMA_NLDEV_ATTR_RES_LQPN))
		return -EINVAL;
	if (nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_COUNTER_ID) &&
	    c->dev->stat_mode == RDMA_COUNTER_MODE_AUTO)
		return -EINVAL;
	if (!has_qp(c) || nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_COUNTER_ID))
		return -ENOENT;
	return nldev_fail(c, -ENOMEM, "device %s: rxe has no counters for single QPs",
			  c->dev->name);
}

int nldev_stat_set(struct nldev_cmd *c)
{
	int err = nldev_may_administer(c, c->dev);

	if (err)
		return err;
	/* STAT_HWCOUNTERS would turn optional counters on and off, which rxe has none of. */
	if (!port_ok(c) || !nldev_has(c->attrs, RDMA_NLDEV_ATTR_STAT_MODE) ||
	    !has_u32(c, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP))
		return -EINVAL;
	if (has_u32(c, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO))
		return set_auto(c);
	return bind_qp(c);
}

int nldev_stat_del(struct nldev_cmd *c)
{
	int err = nldev_may_administer(c, c->dev);

	if (err)
		return err;
	if (!port_ok(c) || !has_u32(c, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP))
		return -EINVAL;
	return has_qp(c) ? -EINVAL : -ENOENT;
}
