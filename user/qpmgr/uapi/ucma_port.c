/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The port spaces of rdma_cm: which ids hold which port, and which of them
 * listens for a request. As the kernel's cma: one space for each RDMA_PS_* and
 * network namespace, beside those of TCP and UDP.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "rtnl.h"

#define EPHEMERAL_FIRST 32768u /* net.ipv4.ip_local_port_range as it is everywhere */
#define EPHEMERAL_COUNT (60999u - EPHEMERAL_FIRST + 1)
#define BUCKETS		256

LIST_HEAD(port_list, ucma_id);
static struct port_list ports[BUCKETS];

static struct port_list *list_of(uint16_t port)
{
	return &ports[port % BUCKETS];
}

static bool same_space(const struct ucma_id *a, const struct ucma_id *b)
{
	return a->ps == b->ps && a->src.port == b->src.port &&
	       a->file->peer->ns == b->file->peer->ns;
}

/* May id have its port beside those who have it? */
static int check(const struct ucma_id *id, bool reuse)
{
	const struct ucma_id *cur;

	LIST_FOREACH (cur, list_of(id->src.port), by_port) {
		if (cur == id || !same_space(cur, id))
			continue;
		if (reuse && cur->reuseaddr && cur->state != UCMA_LISTEN)
			continue;
		if (id->afonly && cur->afonly && id->src.v6 != cur->src.v6)
			continue;
		if (ucma_addr_any(&id->src) || ucma_addr_any(&cur->src))
			return -EADDRNOTAVAIL;
		if (rxe_ip_equal(&id->src.ip, &cur->src.ip))
			return -EADDRINUSE;
	}
	return 0;
}

static bool in_use(const struct ucma_id *id)
{
	const struct ucma_id *cur;

	LIST_FOREACH (cur, list_of(id->src.port), by_port)
		if (cur != id && same_space(cur, id))
			return true;
	return false;
}

static int choose(struct ucma_id *id)
{
	uint32_t start = 0;

	if (getrandom(&start, sizeof(start), 0) != sizeof(start))
		start = id->handle;
	for (uint32_t i = 0; i < EPHEMERAL_COUNT; i++) {
		id->src.port = (uint16_t)(EPHEMERAL_FIRST + (start + i) % EPHEMERAL_COUNT);
		if (!in_use(id))
			return 0;
	}
	id->src.port = 0;
	return -EADDRNOTAVAIL;
}

int ucma_port_get(struct ucma_id *id)
{
	int err = id->src.port ? check(id, id->reuseaddr) : choose(id);

	if (err)
		return err;
	LIST_INSERT_HEAD(list_of(id->src.port), id, by_port);
	id->holds_port = true;
	return 0;
}

void ucma_port_put(struct ucma_id *id)
{
	if (id->holds_port)
		LIST_REMOVE(id, by_port);
	id->holds_port = false;
}

int ucma_port_listen(struct ucma_id *id)
{
	return check(id, false);
}

static bool listens_to(const struct ucma_id *id, const union rxe_ip *dst)
{
	if (ucma_addr_any(&id->src))
		return id->afonly || !id->src.v6 ? id->src.v6 == !rxe_ip_is_v4(dst) : true;
	return rxe_ip_equal(&id->src.ip, dst);
}

struct ucma_id *ucma_port_listener(const struct rxe_netns *ns, uint16_t ps, uint16_t port,
				   const union rxe_ip *dst, const struct rxe_dev *dev)
{
	struct ucma_id *id;

	LIST_FOREACH (id, list_of(port), by_port) {
		if (id->state == UCMA_LISTEN && id->src.port == port && id->ps == ps &&
		    id->file->peer->ns == ns && (!id->dev || id->dev == dev) && listens_to(id, dst))
			return id;
	}
	return NULL;
}
