// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames that another implementation could send: padded to 60 bytes, longer
 * than the packet in them, with a VLAN tag, longer than any packet of ours.
 * Sent by AF_PACKET into the xdp datapath of the other end. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bed.h"
#include "datapath/frame.h"
#include "rxe/bpf_abi.h"

#define QPN	 77u
#define RC_SEND	 0x04
#define MAX_LEN	 16384u
#define VLAN_LEN 4u

struct frame {
	uint8_t buf[RXE_FRAME_HEADROOM + MAX_LEN + 64] __attribute__((aligned(64)));
	uint8_t *start;
	uint32_t len;
};

/* A whole valid frame with `len` bytes of payload; its BTH is at buf + headroom. */
static void make_frame(struct bed *b, struct frame *f, uint32_t len)
{
	struct rxe_bth bth = {
		.opcode = RC_SEND,
		.flags = (uint8_t)((-len & 3) << RXE_BTH_PAD_SHIFT),
		.pkey = htons(RXE_DEFAULT_PKEY),
		.qpn = htonl(QPN),
	};
	struct rxe_address addr = {
		.sip = b->end[0].ip[0], .dip = b->end[1].ip[0], .route = &b->end[0].to_peer};
	uint8_t *hdr = f->buf + RXE_FRAME_HEADROOM;
	struct rxe_pkt pkt = {
		.hdr = hdr,
		.hdr_len = RXE_BTH_LEN,
		.payload_len = len,
		.pad = -len & 3,
		.nsegs = 1,
		.seg = {{hdr + RXE_BTH_LEN, len + (-len & 3)}},
		.addr = &addr,
	};
	uint64_t smac = 0;
	uint32_t icrc;

	memset(f->buf, 0xa5, sizeof(f->buf));
	memcpy(hdr, &bth, sizeof(bth));
	for (uint32_t i = 0; i < pkt.seg[0].iov_len; i++)
		hdr[RXE_BTH_LEN + i] = i < len ? (uint8_t)(i * 3) : 0;
	memcpy(&smac, b->end[0].mac, 6);
	f->start = rxe_frame_push(&pkt, smac, 1);
	icrc = htole32(rxe_frame_icrc(&pkt));
	memcpy(hdr + RXE_BTH_LEN + pkt.seg[0].iov_len, &icrc, sizeof(icrc));
	f->len = (uint32_t)(hdr - f->start + RXE_BTH_LEN + pkt.seg[0].iov_len + sizeof(icrc));
}

static void add_vlan(struct frame *f)
{
	static const uint8_t tag[VLAN_LEN] = {0x81, 0x00, 0x20, 0x00}; /* a priority */

	memmove(f->start - VLAN_LEN, f->start, 2 * ETH_ALEN);
	f->start -= VLAN_LEN;
	memcpy(f->start + 2 * ETH_ALEN, tag, VLAN_LEN);
	f->len += VLAN_LEN;
}

static void send_raw(struct bed_end *e, const struct frame *f)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = e->ifindex};
	int fd;

	bed_enter(e);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	bed_leave();
	assert_int_equal(sendto(fd, f->start, f->len, 0, (struct sockaddr *)&to, sizeof(to)),
			 f->len);
	close(fd);
}

static struct bed *receiver(uint32_t mtu)
{
	struct bed *b = bed_new(mtu, 1);
	char err[512];

	if (bed_open(&b->end[1], 1, err, sizeof(err)))
		fail_msg("open: %s", err);
	rxe_dp_xdp.qp_set(b->end[1].dp, QPN, 0, RXE_CLASS_RC, true, NULL);
	return b;
}

static void arrives(struct bed *b, const struct frame *f, uint32_t len)
{
	struct bed_end *e = &b->end[1];
	uint32_t n = e->nr_got;

	send_raw(&b->end[0], f);
	assert_true(bed_wait(e, n + 1));
	assert_int_equal(e->got.ib_len, RXE_BTH_LEN + len + (-len & 3));
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(e->got.ib[RXE_BTH_LEN + i], (uint8_t)(i * 3));
}

/* What follows the ICRC is not the packet's, in one chunk or over two. */
static void padding_is_cut_off(void **state)
{
	struct bed *b = receiver(9000);
	static const uint32_t lens[] = {0, 1, 64, 3700, 3780, 3784, 3786, 3788, 4000, 4096};
	static struct frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (uint32_t extra = 0; extra < 24; extra++) {
			make_frame(b, &f, lens[i]);
			f.len += extra;
			arrives(b, &f, lens[i]);
		}
	bed_free(b);
}

static void vlan_tag(void **state)
{
	struct bed *b = receiver(9000);
	static struct frame f;

	(void)state;
	/* With receive offload the tag never reaches XDP. */
	bed_run("ip netns exec %s ethtool -K dv1 rxvlan off >/dev/null 2>&1", b->end[1].ns);
	bed_run("ip netns exec %s ethtool -K dv0 txvlan off >/dev/null 2>&1", b->end[0].ns);
	make_frame(b, &f, 1000);
	add_vlan(&f);
	arrives(b, &f, 1000);
	bed_free(b);
}

/* A valid packet with more padding behind it than a struct rxe_pkt can hold. */
static void too_long(void **state)
{
	struct bed *b = receiver(20000);
	struct bed_end *e = &b->end[1];
	static struct frame f;
	uint64_t steered;

	(void)state;
	for (int i = 0; i < 3000; i++) { /* more than there are chunks: none leaks */
		make_frame(b, &f, 4096);
		f.len += 4096 * 2 + (i & 1) * 3000; /* four chunks, or five */
		send_raw(&b->end[0], &f);
		bed_step(e);
	}
	steered = bed_stat(e, "steered");
	assert_int_equal(steered, 3000);
	assert_int_equal(e->nr_got, 0);
	assert_int_equal(bed_stat(e, "xsk_rx_too_long"), steered);
	make_frame(b, &f, 4096);
	arrives(b, &f, 4096);
	bed_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding_is_cut_off),
		cmocka_unit_test(vlan_tag),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests_name("datapath/raw", tests, bed_need_root, NULL);
}
