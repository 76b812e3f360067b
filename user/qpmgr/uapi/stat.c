/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `rxe stat`: objects in use, the transport's counters and the datapath's, of
 * every device that the asker can see.
 */
#include "uapi/stat.h"

#include <inttypes.h>
#include <stdio.h>

#include "authority.h"
#include "rxed.h"
#include "uapi/ucma.h"

#define FLUSH_AT 16384

struct report {
	char text[FLUSH_AT + 512];
	size_t len;
	const char *scope;
	void (*put)(void *arg, const void *bytes, size_t len);
	void *arg;
};

static const char *const hw_names[] = {
#define HW_NAME(SYM, name) #name,
	RXE_HW_COUNTERS(HW_NAME) RXE_DROP_COUNTERS(HW_NAME) RXE_STAGE_COUNTERS(HW_NAME)
		RXE_ROCE_COUNTERS(HW_NAME)
#undef HW_NAME
};

static void line(void *arg, const char *name, uint64_t value)
{
	struct report *r = arg;

	r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len,
				   "%s %s %" PRIu64 "\n", r->scope, name, value);
	if (r->len >= FLUSH_AT) {
		r->put(r->arg, r->text, r->len);
		r->len = 0;
	}
}

static void device(struct report *r, const struct rxe_dev *dev)
{
	char below[RXE_DEV_NAME_MAX + 16];
	uint32_t groups, attached;

	r->scope = dev->name;
	line(r, "contexts", dev->nr_contexts);
	line(r, "pds", dev->nr_pd);
	line(r, "mrs", dev->nr_mr);
	line(r, "mws", dev->nr_mw);
	line(r, "cqs", dev->nr_cq);
	line(r, "qps", dev->nr_qp);
	line(r, "ahs", dev->nr_ah);
	rxe_mcast_count(&dev->hca, &groups, &attached);
	line(r, "mcast_groups", groups);
	line(r, "mcast_attached", attached);
	line(r, "srqs", dev->hca.nr_srqs);
	line(r, "cm_ids", dev->nr_cm_id);
	line(r, "cm_connections", ucma_connections(dev));
	line(r, "port_up", dev->hca.port_up);
	line(r, "mtu", dev->hca.mtu);
	for (int i = 0; i < RXE_HW_COUNT; i++)
		line(r, hw_names[i], rxe_dev_counter(dev, i));
	snprintf(below, sizeof(below), "%s/%s", dev->name, dev->dp_ops->name);
	r->scope = below; /* its names may be the transport's too */
	dev->dp_ops->stats(dev->dp, line, r);
}

void rxe_stat_report(const struct rxe_peer *peer,
		     void (*put)(void *arg, const void *bytes, size_t len), void *arg)
{
	struct report r = {.put = put, .arg = arg};
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (rxe_dev_visible(dev, peer->ns))
			device(&r, dev);
	if (r.len)
		put(arg, r.text, r.len);
}
