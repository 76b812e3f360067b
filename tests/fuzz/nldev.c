/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_RDMA: what a program sends there, with authority and without, to a
 * daemon in this process. Devices come, go and change their names by it. The
 * answers must be framed as the kernel's are, and carry the request's number.
 *
 * Input: u8 authority, then records: u8 kind, block (fuzz_block). Bit 7 of the
 * kind: the block is the bytes of one send. Else it is the attributes of the
 * command in bits 0..5, and of a dump with bit 6.
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "authority.h"
#include "netns.h"
#include "room.h"
#include "uapi/nldev.h"

#define SEQ	    0x1234
#define MAX_RECORDS 40

static struct rxe_peer peer;
static bool made; /* the request's header is ours, so that its number is known */

static void on_reply(void *arg, const void *msg, size_t len)
{
	const uint8_t *at = msg, *end = at + len;

	(void)arg;
	fuzz_assert(len && len <= RXE_NLDEV_BATCH);
	while (at < end) {
		const struct nlmsghdr *h = (const void *)at;

		fuzz_assert(end - at >= (ptrdiff_t)sizeof(*h) && h->nlmsg_len >= sizeof(*h));
		fuzz_assert(NLMSG_ALIGN(h->nlmsg_len) <= (size_t)(end - at));
		fuzz_assert(!made || h->nlmsg_seq == SEQ);
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
}

/* In memory of exactly their size. */
static void handle(const void *bytes, size_t len)
{
	void *p = malloc(len ? len : 1);

	fuzz_assert(p);
	memcpy(p, bytes, len);
	rxe_nldev_handle(&peer, p, len, on_reply, NULL);
	free(p);
}

static void command(uint8_t kind, const uint8_t *attrs, size_t len)
{
	uint8_t buf[sizeof(struct nlmsghdr) + 2048];
	struct nlmsghdr *h = (void *)buf;

	h->nlmsg_len = (uint32_t)(sizeof(*h) + len);
	h->nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, (kind & 0x3f));
	h->nlmsg_flags = NLM_F_REQUEST | (kind & 0x40 ? NLM_F_DUMP : NLM_F_ACK);
	h->nlmsg_seq = SEQ;
	h->nlmsg_pid = 7;
	if (len)
		memcpy(buf + sizeof(*h), attrs, len);
	handle(buf, sizeof(*h) + len);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	room_start();
	fuzz_assert(!rxe_netns_self(&peer.ns));
	strcpy(peer.comm, "fuzzer");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t authority = fuzz_u8(&in);

	room_begin();
	room_dev()->index = 0; /* as in the inputs */
	rxed.next_dev_index = 1;
	peer.net_admin = authority & 1;
	peer.net_raw = authority & 2;
	peer.bpf_admin = authority & 4;
	for (int i = 0; i < MAX_RECORDS && in.left; i++) {
		uint8_t kind = fuzz_u8(&in);
		size_t len;
		const uint8_t *p = fuzz_block(&in, 2048, &len);

		made = !(kind & 0x80);
		if (made)
			command(kind, p, len);
		else if (len)
			handle(p, len);
		room_pass();
	}
	rxed.netns_mode = RXE_NETNS_SHARED;
	room_dev();
	room_settle();
	return 0;
}
