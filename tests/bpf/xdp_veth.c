// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The XDP program on a real link: a veth pair in a network namespace of the
 * test's own, natively and in generic mode, frames sent by AF_PACKET and taken
 * from the AF_XDP socket that stands in the steering map, fragments included.
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <xdp/xsk.h>

#include "frames.h"
#include "harness.h"
#include "kernel_compat.h"

#define CHUNKS	64
#define CHUNK	4096
#define WAIT_MS 5000
#define NETDEV	"veth0"
#define PEER	"veth1"
#define SET_UP                                                                      \
	"ip link add " NETDEV " mtu 9000 type veth peer name " PEER " mtu 9000 && " \
	"ip link set " NETDEV " address 02:11:22:33:44:55 up && ip link set " PEER " up"

static struct link {
	int packet; /* AF_PACKET on the peer */
	uint8_t *umem_area;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons comp, rx;
} l;

static struct frame sent, got;

static void refill(uint64_t addr)
{
	uint32_t idx = 0;

	assert_int_equal(xsk_ring_prod__reserve(&l.fill, 1, &idx), 1);
	*xsk_ring_prod__fill_addr(&l.fill, idx) = addr & ~(uint64_t)(CHUNK - 1);
	xsk_ring_prod__submit(&l.fill, 1);
}

static int open_packet(void)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = 0, /* send only */
		.sll_ifindex = if_nametoindex(PEER),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&ll, sizeof(ll)))
		return -1;
	return fd;
}

static int open_xsk(void)
{
	struct xsk_socket_config cfg = {
		.rx_size = CHUNKS,
		.tx_size = CHUNKS,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_SG,
	};
	int i, err;

	l.umem_area = mmap(NULL, CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	err = xsk_umem__create(&l.umem, l.umem_area, CHUNKS * CHUNK, &l.fill, &l.comp, NULL);
	if (!err)
		err = xsk_socket__create(&l.xsk, NETDEV, 0, l.umem, &l.rx, &l.tx, &cfg);
	if (err)
		return err;
	for (i = 0; i < CHUNKS; i++)
		refill((uint64_t)i * CHUNK);
	return 0;
}

static int setup(void **state)
{
	uint32_t worker;
	int fd;

	if (unshare(CLONE_NEWNET) || system(SET_UP) || harness_setup(state))
		return -1;
	l.packet = open_packet();
	if (l.packet < 0 || open_xsk()) {
		fprintf(stderr, "cannot open sockets on " NETDEV ": %s\n", strerror(errno));
		return -1;
	}
	fd = xsk_socket__fd(l.xsk);
	for (worker = 0; worker < RXE_MAX_WORKERS; worker++) {
		uint32_t slot = worker * RXE_MAX_QUEUES;

		bpf_map_update_elem(((struct harness *)*state)->xsks, &slot, &fd, BPF_ANY);
	}
	return 0;
}

/* Everything else goes with the namespace. */
static int teardown(void **state)
{
	if (l.xsk)
		xsk_socket__delete(l.xsk);
	if (l.umem)
		xsk_umem__delete(l.umem);
	return harness_teardown(state);
}

static void attach(struct harness *h, uint32_t mode)
{
	int err = bpf_xdp_attach(if_nametoindex(NETDEV), h->prog, mode, NULL);

	if (err)
		fail_msg("attach in mode %#x: %s", mode, strerror(-err));
}

static void send_frame(void)
{
	if (send(l.packet, sent.bytes, sent.len, 0) != (ssize_t)sent.len)
		fail_msg("send of %u bytes: %s", sent.len, strerror(errno));
}

/* One frame from the receive ring; its metadata stands before the first chunk. */
static uint32_t receive(struct rxe_rx_meta *meta)
{
	struct pollfd pfd = {.fd = xsk_socket__fd(l.xsk), .events = POLLIN};
	uint32_t idx = 0, chunks = 0, more = 1;

	got.len = 0;
	while (more) {
		const struct xdp_desc *d;

		if (!xsk_ring_cons__peek(&l.rx, 1, &idx)) {
			if (poll(&pfd, 1, WAIT_MS) != 1)
				fail_msg("no frame in %d ms", WAIT_MS);
			continue;
		}
		d = xsk_ring_cons__rx_desc(&l.rx, idx);
		if (!chunks++)
			memcpy(meta, l.umem_area + d->addr - sizeof(*meta), sizeof(*meta));
		memcpy(got.bytes + got.len, l.umem_area + d->addr, d->len);
		got.len += d->len;
		more = d->options & XDP_PKT_CONTD;
		refill(d->addr);
		xsk_ring_cons__release(&l.rx, 1);
	}
	return chunks;
}

static void expect_steered(void)
{
	struct rxe_rx_meta meta;
	uint32_t chunks;

	send_frame();
	chunks = receive(&meta);
	assert_int_equal(got.len, sent.len);
	assert_memory_equal(got.bytes, sent.bytes, sent.len);
	assert_int_equal(meta.magic, RXE_META_MAGIC);
	assert_int_equal(meta.flags, RXE_META_ICRC_CHECKED);
	assert_int_equal(meta.l3_off, sent.l3);
	assert_int_equal(meta.bth_off, sent.bth);
	if (sent.len > CHUNK)
		assert_true(chunks > 1);
}

/* Counted as @which within the bound, and nothing in the ring. */
static void expect_counted(struct harness *h, enum rxe_bpf_counter which)
{
	uint64_t before = harness_counter(h, which);
	uint32_t idx;
	int ms;

	send_frame();
	for (ms = 0; ms < WAIT_MS && harness_counter(h, which) == before; ms++)
		usleep(1000);
	assert_int_equal(harness_counter(h, which), before + 1);
	assert_int_equal(xsk_ring_cons__peek(&l.rx, 1, &idx), 0);
}

static void one_size(struct harness *h, uint32_t size, int variant)
{
	struct frame_spec s = {
		.v6 = variant & 1,
		.vlan = variant & 2,
		.opcode = RXE_OPCODE(RXE_CLASS_RC, RXE_OP_SEND_ONLY),
		.qpn = TEST_RC_QPN,
		.payload = size,
	};

	frame_build(&sent, &s);
	expect_steered();
	sent.bytes[sent.icrc - 1 - random() % (size + 4)] ^= 1 << random() % 8;
	expect_counted(h, RXE_CNT_DROP_ICRC);
	sent.bytes[5] ^= 1;
	expect_counted(h, RXE_CNT_PASS_FOREIGN);
}

static void all_sizes(struct harness *h, uint32_t mode)
{
	static const uint32_t sizes[] = {4,    33,   256,  519,	 1024, 1460, 2048, 3000, 3400,
					 3456, 3500, 3544, 3600, 3700, 3840, 4000, 4095, 4096};
	unsigned int i, variant;

	attach(h, mode);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (variant = 0; variant < 4; variant++)
			one_size(h, sizes[i], variant);
	bpf_xdp_detach(if_nametoindex(NETDEV), mode, NULL);
}

static void native(void **state)
{
	all_sizes(*state, XDP_FLAGS_DRV_MODE);
}

static void generic(void **state)
{
	all_sizes(*state, XDP_FLAGS_SKB_MODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native),
		cmocka_unit_test(generic),
	};

	return cmocka_run_group_tests_name("xdp_veth", tests, setup, teardown);
}
