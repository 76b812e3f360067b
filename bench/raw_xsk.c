// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The yardstick: frames between two AF_XDP sockets with nothing above them, as
 * a blast (send, sink) and as a ping-pong (ping, pong). What rxed could reach
 * at best with the same frame size on the same link.
 *
 *	raw_xsk NETDEV send|sink|ping|pong SIZE SECONDS [PEER_MAC]
 *
 * SIZE is the whole Ethernet frame, without FCS. One line comes out: frames and
 * seconds measured, from the first frame to the last.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "kernel_compat.h"
#include "raw_xsk.h"

#define CHUNK		 4096u
#define NR_CHUNKS	 4096u
#define NR_TX		 (NR_CHUNKS / 2) /* the lower half sends, the upper receives */
#define BATCH		 64u
#define MAX_SIZE	 (2 * CHUNK)
#define PING_PATIENCE_NS 100000000u

struct raw {
	const char *netdev;
	uint32_t size;
	double seconds;
	uint8_t peer[ETH_ALEN];
	uint8_t *area;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons comp, rx;
	int fd;
	uint32_t free_tx[NR_TX], nr_free;
	uint64_t frames;
	uint64_t first_ns, last_ns;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "raw_xsk: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- set-up ------------------------------------------------------------------ */

static void own_mac(const char *netdev, uint8_t mac[ETH_ALEN])
{
	struct ifreq r = {0};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", netdev);
	if (s < 0 || ioctl(s, SIOCGIFHWADDR, &r) != 0)
		die(netdev, errno);
	close(s);
	memcpy(mac, r.ifr_hwaddr.sa_data, ETH_ALEN);
}

/* Every transmit chunk holds the frame's bytes from the start. */
static void fill_frames(struct raw *r)
{
	struct ether_header eth = {.ether_type = htons(RAW_XSK_ETHERTYPE)};

	memcpy(eth.ether_dhost, r->peer, ETH_ALEN);
	own_mac(r->netdev, eth.ether_shost);
	for (uint32_t i = 0; i < NR_TX; i++) {
		memcpy(r->area + i * CHUNK, &eth, sizeof(eth));
		r->free_tx[r->nr_free++] = i;
	}
}

static void give_chunks(struct raw *r)
{
	uint32_t at;

	if (xsk_ring_prod__reserve(&r->fill, NR_CHUNKS - NR_TX, &at) != NR_CHUNKS - NR_TX)
		die("fill ring", ENOSPC);
	for (uint32_t i = NR_TX; i < NR_CHUNKS; i++)
		*xsk_ring_prod__fill_addr(&r->fill, at++) = (uint64_t)i * CHUNK;
	xsk_ring_prod__submit(&r->fill, NR_CHUNKS - NR_TX);
}

/* The kernel frees a queue some time after its last socket was closed. */
static int bind_socket(struct raw *r, const struct xsk_socket_config *cfg)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int err;

	for (int tries = 0; tries < 200; tries++) {
		err = xsk_socket__create(&r->xsk, r->netdev, 0, r->umem, &r->rx, &r->tx, cfg);
		if (err != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	return err;
}

static void open_socket(struct raw *r)
{
	const struct xsk_umem_config ucfg = {
		.fill_size = NR_CHUNKS, .comp_size = NR_CHUNKS, .frame_size = CHUNK};
	const struct xsk_socket_config cfg = {.rx_size = NR_CHUNKS,
					      .tx_size = NR_CHUNKS,
					      .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
					      .bind_flags = XDP_USE_NEED_WAKEUP | XDP_USE_SG};
	int err, sndbuf = 32 << 20;

	r->area = mmap(NULL, (size_t)NR_CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->area == MAP_FAILED)
		die("mmap", errno);
	err = xsk_umem__create(&r->umem, r->area, (uint64_t)NR_CHUNKS * CHUNK, &r->fill, &r->comp,
			       &ucfg);
	if (err)
		die("UMEM", err);
	err = bind_socket(r, &cfg);
	if (err)
		die("AF_XDP socket", err);
	r->fd = xsk_socket__fd(r->xsk);
	setsockopt(r->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf));
	give_chunks(r);
	fill_frames(r);
}

/* The program goes with this process: its link is not pinned. */
static void attach(struct raw *r, const char *object)
{
	struct bpf_object *obj = bpf_object__open_file(object, NULL);
	struct bpf_program *prog;
	uint32_t queue = 0;
	int err;

	if (!obj)
		die(object, errno);
	err = bpf_object__load(obj);
	if (err)
		die(object, err);
	prog = bpf_object__find_program_by_name(obj, "raw_xsk");
	err = bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "xsks"), &queue, &r->fd, 0);
	if (err)
		die("XSKMAP", errno);
	if (!bpf_program__attach_xdp(prog, (int)if_nametoindex(r->netdev)))
		die("attach", errno);
}

/* ---- frames ---------------------------------------------------------------------- */

static void kick(struct raw *r)
{
	if (xsk_ring_prod__needs_wakeup(&r->tx))
		sendto(r->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
}

static void reap(struct raw *r)
{
	uint32_t at, n = xsk_ring_cons__peek(&r->comp, NR_TX, &at);

	for (uint32_t i = 0; i < n; i++)
		r->free_tx[r->nr_free++] =
			(uint32_t)(*xsk_ring_cons__comp_addr(&r->comp, at + i) / CHUNK);
	xsk_ring_cons__release(&r->comp, n);
}

static uint32_t chunks_per_frame(const struct raw *r)
{
	return r->size > CHUNK ? 2 : 1;
}

/* Queues up to want frames; how many there was room for. */
static uint32_t queue_frames(struct raw *r, uint32_t want)
{
	uint32_t per = chunks_per_frame(r), n = r->nr_free / per, at;

	if (n > want)
		n = want;
	if (!n || xsk_ring_prod__reserve(&r->tx, n * per, &at) != n * per)
		return 0;
	for (uint32_t i = 0; i < n * per; i++) {
		bool last = i % per == per - 1;
		struct xdp_desc *d = xsk_ring_prod__tx_desc(&r->tx, at + i);

		d->addr = (uint64_t)r->free_tx[--r->nr_free] * CHUNK;
		d->len = per == 1 ? r->size : last ? r->size - CHUNK : CHUNK;
		d->options = last ? 0 : XDP_PKT_CONTD;
	}
	xsk_ring_prod__submit(&r->tx, n * per);
	return n;
}

static void refill(struct raw *r, const uint64_t *addr, uint32_t n)
{
	uint32_t at;

	/* The fill ring has room for every chunk. */
	if (!n || xsk_ring_prod__reserve(&r->fill, n, &at) != n)
		return;
	for (uint32_t i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&r->fill, at + i) = addr[i] & ~(uint64_t)(CHUNK - 1);
	xsk_ring_prod__submit(&r->fill, n);
	if (xsk_ring_prod__needs_wakeup(&r->fill))
		recvfrom(r->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* Takes what has arrived; how many whole frames. */
static uint32_t take_frames(struct raw *r)
{
	uint64_t addr[BATCH];
	uint32_t at, frames = 0, n = xsk_ring_cons__peek(&r->rx, BATCH, &at);

	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(&r->rx, at + i);

		addr[i] = d->addr;
		frames += !(d->options & XDP_PKT_CONTD);
	}
	xsk_ring_cons__release(&r->rx, n);
	refill(r, addr, n);
	return frames;
}

static void count(struct raw *r, uint32_t frames)
{
	if (!frames)
		return;
	r->last_ns = now_ns();
	if (!r->frames)
		r->first_ns = r->last_ns;
	r->frames += frames;
}

/* ---- modes -------------------------------------------------------------------------- */

static void wait_readable(struct raw *r, int ms)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};

	poll(&p, 1, ms);
}

static void mode_send(struct raw *r, uint64_t end)
{
	while (now_ns() < end) {
		count(r, queue_frames(r, BATCH));
		kick(r);
		reap(r);
	}
}

static void mode_sink(struct raw *r, uint64_t end)
{
	while (now_ns() < end) {
		uint32_t n = take_frames(r);

		count(r, n);
		if (!n)
			wait_readable(r, 10);
	}
}

static void send_one(struct raw *r)
{
	while (!queue_frames(r, 1))
		reap(r);
	kick(r);
	reap(r);
}

/* An empty ring yields the core: with two cores the other end may need this one. */
static bool await_one(struct raw *r, uint64_t end)
{
	while (!take_frames(r)) {
		if (now_ns() >= end)
			return false;
		sched_yield();
	}
	return true;
}

/* A lost frame is sent again: the peer's queues may be coming up still. */
static void mode_ping(struct raw *r, uint64_t end)
{
	while (now_ns() < end) {
		uint64_t patience = now_ns() + PING_PATIENCE_NS;

		send_one(r);
		if (await_one(r, patience < end ? patience : end))
			count(r, 1);
	}
}

static void mode_pong(struct raw *r, uint64_t end)
{
	while (await_one(r, end)) {
		send_one(r);
		count(r, 1);
	}
}

static const struct {
	const char *name;
	void (*run)(struct raw *r, uint64_t end_ns);
} modes[] = {
	{"send", mode_send},
	{"sink", mode_sink},
	{"ping", mode_ping},
	{"pong", mode_pong},
};
#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

static void usage(void)
{
	fputs("usage: raw_xsk NETDEV send|sink|ping|pong SIZE SECONDS [PEER_MAC]\n", stderr);
	exit(2);
}

/* The XDP object lies beside this program. */
static const char *object_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - sizeof(".bpf.o"));

	if (n < 0)
		die("/proc/self/exe", errno);
	strcpy(path + n, ".bpf.o");
	return path;
}

int main(int argc, char **argv)
{
	static struct raw r;
	unsigned int m = 0;
	char object[4096];

	if (argc < 5)
		usage();
	while (m < NR_MODES && strcmp(modes[m].name, argv[2]))
		m++;
	r.netdev = argv[1];
	r.size = (uint32_t)atoi(argv[3]);
	r.seconds = atof(argv[4]);
	memset(r.peer, 0xff, ETH_ALEN);
	if (m == NR_MODES || r.size < ETH_ZLEN || r.size > MAX_SIZE || r.seconds <= 0 ||
	    (argc > 5 && sscanf(argv[5], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &r.peer[0], &r.peer[1],
				&r.peer[2], &r.peer[3], &r.peer[4], &r.peer[5]) != ETH_ALEN))
		usage();
	open_socket(&r);
	attach(&r, object_path(object, sizeof(object)));
	puts("ready");
	fflush(stdout);
	modes[m].run(&r, now_ns() + (uint64_t)(r.seconds * 1e9));
	printf("frames %llu seconds %.6f\n", (unsigned long long)r.frames,
	       (double)(r.last_ns - r.first_ns) / 1e9);
	return 0;
}
