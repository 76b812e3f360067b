/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SET_OPTION: what a program may set of an rdma_cm id, as a table. */
#include "uapi/ucma.h"

#include <errno.h>
#include <string.h>

static int set_tos(struct ucma_id *id, int value)
{
	id->tos = (uint8_t)value;
	id->tos_set = true;
	return 0;
}

static int set_reuseaddr(struct ucma_id *id, int value)
{
	if (id->state != UCMA_IDLE && !(value && id->state != UCMA_LISTEN))
		return -EINVAL;
	id->reuseaddr = value != 0;
	return 0;
}

static int set_afonly(struct ucma_id *id, int value)
{
	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return -EINVAL;
	id->afonly = value != 0;
	return 0;
}

static int set_ack_timeout(struct ucma_id *id, int value)
{
	if (id->qp_type != RXE_QPT_RC || value > 31)
		return -EINVAL;
	id->timeout = (uint8_t)value;
	id->timeout_set = true;
	return 0;
}

static const struct {
	uint32_t name, len;
	int (*set)(struct ucma_id *id, int value);
} options[] = {
	{RDMA_OPTION_ID_TOS, 1, set_tos},
	{RDMA_OPTION_ID_REUSEADDR, 4, set_reuseaddr},
	{RDMA_OPTION_ID_AFONLY, 4, set_afonly},
	{RDMA_OPTION_ID_ACK_TIMEOUT, 1, set_ack_timeout},
};

/*
 * A path from a subnet administrator's cache. On RoCE the only path is the one
 * between the addresses, so the record decides nothing.
 */
static int set_path(struct ucma_id *id, const struct ucma_cmd *c)
{
	if (c->extra_len < sizeof(struct ib_path_rec_data) ||
	    c->extra_len % sizeof(struct ib_path_rec_data) || id->state != UCMA_ADDR_DONE)
		return -EINVAL;
	id->state = UCMA_ROUTE_DONE;
	ucma_post(id, UCMA_ROUTE_RESOLVED, 0);
	return 0;
}

static int set_id_option(struct ucma_id *id, uint32_t name, const struct ucma_cmd *c)
{
	int value = 0;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].name != name)
			continue;
		if (c->extra_len != options[i].len)
			return -EINVAL;
		memcpy(&value, c->extra, c->extra_len);
		return options[i].set(id, value);
	}
	return -ENOSYS;
}

int ucma_set_option(struct ucma_cmd *c)
{
	const struct rdma_ucm_set_option *in = c->in;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (in->optlen != c->extra_len)
		return -EINVAL;
	if (in->level == RDMA_OPTION_ID)
		return set_id_option(id, in->optname, c);
	if (in->level == RDMA_OPTION_IB && in->optname == RDMA_OPTION_IB_PATH)
		return set_path(id, c);
	return -ENOSYS;
}
