/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many receive and transmit queues a netdev has. */
#ifndef RXE_QUEUES_H
#define RXE_QUEUES_H

#include <stdint.h>

struct rxe_queue_counts {
	uint32_t rx, tx; /* in use now, at least 1 each */
};

/*
 * Control, in the netdev's netns. By ethtool's channels; a driver that has
 * none has as many queues as it was made with (netlink). Negative errno.
 */
int rxe_queue_counts(const char *netdev, struct rxe_queue_counts *q);

#endif
