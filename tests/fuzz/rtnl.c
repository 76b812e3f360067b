/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_ROUTE messages: events and answers of any content, each in memory of
 * exactly its size. What a parser accepts must be whole: names end, addresses
 * of IPv4 are v4-mapped.
 */
#include <linux/rtnetlink.h>
#include "input.h"
#include "rtnl_parse.h"

static void on_link(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_link *l)
{
	(void)ns;
	(void)c;
	fuzz_assert(memchr(l->name, 0, sizeof(l->name)));
}

static void on_addr(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_ifaddr *a)
{
	char text[RXE_IP_STRLEN];

	(void)ns;
	(void)c;
	fuzz_assert(strlen(rxe_ip_str(&a->ip, text)) > 0);
}

static void on_neigh(struct rxe_netns *ns, const struct rxe_neigh *n)
{
	char text[RXE_IP_STRLEN];

	(void)ns;
	fuzz_assert(strlen(rxe_ip_str(&n->ip, text)) > 0);
}

static void on_route(struct rxe_netns *ns)
{
	(void)ns;
}

static const struct rxe_rtnl_handlers handlers = {
	.link = on_link,
	.addr = on_addr,
	.neigh = on_neigh,
	.route = on_route,
};

/* The kernel frames its messages: the length is true, the rest is not believed. */
static void message(const uint8_t *p, size_t len)
{
	struct nlmsghdr *nlh = malloc(len);
	struct rxe_nexthop hop = {0};

	fuzz_assert(nlh);
	memcpy(nlh, p, len);
	nlh->nlmsg_len = (uint32_t)len;
	rxe_rtnl_dispatch(NULL, &handlers, nlh);
	rxe_rtnl_parse_route(nlh, &hop);
	free(nlh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t len;

	while (in.left) {
		const uint8_t *p = fuzz_block(&in, 4096, &len);

		if (len >= sizeof(struct nlmsghdr))
			message(p, len);
	}
	return 0;
}
