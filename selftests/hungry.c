// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Takes as much as it gets: N contexts of a device, in each a PD, a completion
 * channel, a CQ and a QP with rings of some size. Says "all N" or "refused after
 * K: WHAT: errno E (...)", then "holding", and waits to be ended.
 *
 *	hungry DEVICE N RING-ELEMENTS
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

/* libibverbs looks elsewhere, too, when it cannot open a device: errno is that one's. */
static void open_errno(struct ibv_device *dev)
{
	char path[sizeof(dev->dev_name) + 32];
	int fd = 0;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", dev->dev_name);
	for (int i = 0; i < 64 && fd >= 0; i++)
		fd = open(path, O_RDWR | O_CLOEXEC); /* there may be room again: kept */
}

static const char *take(struct ibv_device *dev, int elements)
{
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = (uint32_t)elements,
			.max_recv_wr = (uint32_t)elements,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_comp_channel *ch;
	struct ibv_pd *pd;

	if (!ctx) {
		open_errno(dev);
		return "opening";
	}
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		return "PD";
	ch = ibv_create_comp_channel(ctx);
	if (!ch)
		return "channel";
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, elements, NULL, ch, 0);
	if (!attr.send_cq)
		return "CQ";
	return ibv_create_qp(pd, &attr) ? NULL : "QP";
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *dev = NULL;
	int n = argc == 4 ? atoi(argv[2]) : 0, i;
	const char *what = NULL;

	for (i = 0; list && list[i]; i++)
		if (argc == 4 && !strcmp(ibv_get_device_name(list[i]), argv[1]))
			dev = list[i];
	if (!dev || n < 1) {
		fprintf(stderr, "no device, or not three arguments\n");
		return 2;
	}
	for (i = 0; i < n && !what; i++) {
		errno = 0;
		what = take(dev, atoi(argv[3]));
	}
	if (what)
		printf("refused after %d: %s: errno %d (%s)\n", i - 1, what, errno,
		       strerror(errno));
	else
		printf("all %d\n", n);
	puts("holding");
	fflush(stdout);
	pause();
	return 0;
}
