// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The test bed: namespaces, veth, datapaths, packets. */
#include "bed.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log_libbpf.h"
#include "loop.h"

static int home_fd = -1;
static struct bed *current; /* a failed test leaves its bed behind */

static void free_current(void)
{
	if (current)
		bed_free(current);
}

int bed_run(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd);
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "test bed: %s: %s\n", what, strerror(errno));
	exit(1);
}

void bed_enter(const struct bed_end *e)
{
	must(setns(e->ns_fd, CLONE_NEWNET) == 0, "enter namespace");
}

void bed_leave(void)
{
	must(setns(home_fd, CLONE_NEWNET) == 0, "leave namespace");
}

/* ---- set-up ------------------------------------------------------------------- */

static void read_mac(struct bed_end *e)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(ifr.ifr_name, e->dev);
	must(ioctl(fd, SIOCGIFHWADDR, &ifr) == 0, "read MAC");
	memcpy(e->mac, ifr.ifr_hwaddr.sa_data, 6);
	close(fd);
}

void bed_learn(struct bed_end *e)
{
	bed_enter(e);
	e->ifindex = (int)if_nametoindex(e->dev);
	read_mac(e);
	bed_leave();
}

static void set_addresses(struct bed_end *e, int i)
{
	char text[64];

	snprintf(text, sizeof(text), "::ffff:10.77.0.%d", i + 1);
	inet_pton(AF_INET6, text, e->ip[0].raw);
	snprintf(text, sizeof(text), "fd77::%d", i + 1);
	inet_pton(AF_INET6, text, e->ip[1].raw);
}

static void make_end(struct bed *b, int i)
{
	struct bed_end *e = &b->end[i];
	char path[64];

	e->bed = b;
	snprintf(e->ns, sizeof(e->ns), "drxe-%d-%d", getpid(), i);
	snprintf(e->dev, sizeof(e->dev), "dv%d", i);
	bed_run("ip netns del %s 2>/dev/null", e->ns);
	must(bed_run("ip netns add %s", e->ns) == 0, "add namespace");
	snprintf(path, sizeof(path), "/run/netns/%s", e->ns);
	e->ns_fd = open(path, O_RDONLY | O_CLOEXEC);
	must(e->ns_fd >= 0, path);
}

static void bring_up(struct bed_end *e, int i, uint32_t mtu)
{
	must(bed_run("ip -n %s link set dev %s mtu %u", e->ns, e->dev, mtu) == 0, "set MTU");
	bed_run("ip -n %s addr add 10.77.0.%d/24 dev %s", e->ns, i + 1, e->dev);
	bed_run("ip -n %s addr add fd77::%d/64 dev %s nodad", e->ns, i + 1, e->dev);
	must(bed_run("ip -n %s link set dev %s up", e->ns, e->dev) == 0, "set up");
	bed_learn(e);
	set_addresses(e, i);
}

static void make_params(struct bed *b)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	for (int i = 0; i < RXE_PARAM_COUNT; i++) {
		b->param_fds[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "p", 4, 4, 1, &opts);
		must(b->param_fds[i] >= 0, "create parameter map");
	}
}

int bed_need_root(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		printf("needs root\n");
		exit(77);
	}
	return 0;
}

struct bed *bed_new(uint32_t mtu, uint32_t queues)
{
	struct bed *b;

	free_current();
	if (home_fd < 0) {
		home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		atexit(free_current);
		rxe_log_libbpf();
	}
	current = b = calloc(1, sizeof(*b));
	must(b && home_fd >= 0, "set up");
	make_params(b);
	make_end(b, 0);
	make_end(b, 1);
	must(bed_run("ip -n %s link add dv0 numrxqueues %u numtxqueues %u type veth peer name dv1 "
		     "numrxqueues %u numtxqueues %u netns %s",
		     b->end[0].ns, queues, queues, queues, queues, b->end[1].ns) == 0,
	     "add veth pair");
	for (int i = 0; i < 2; i++)
		bring_up(&b->end[i], i, mtu);
	for (int i = 0; i < 2; i++) {
		memcpy(&b->end[i].to_peer.dmac_word, b->end[!i].mac, 6);
		memcpy(&b->end[i].to_self.dmac_word, b->end[i].mac, 6);
		b->end[i].to_self.local = true;
	}
	return b;
}

void bed_free(struct bed *b)
{
	current = NULL;
	for (int i = 0; i < 2; i++)
		bed_close(&b->end[i]);
	for (int i = 0; i < 2; i++) {
		bed_run("ip -n %s link del dev %s 2>/dev/null", b->end[i].ns, b->end[i].dev);
		close(b->end[i].ns_fd);
		bed_run("ip netns del %s", b->end[i].ns);
	}
	for (int i = 0; i < RXE_PARAM_COUNT; i++)
		close(b->param_fds[i]);
	free(b);
}

/* ---- datapath -------------------------------------------------------------------- */

static void collect(struct bed_end *e, uint32_t worker, const struct rxe_pkt *pkt)
{
	struct bed_got *g = &e->got;
	uint32_t at = pkt->hdr_len;

	memset(g, 0, sizeof(*g));
	g->worker = worker;
	g->ib_len = pkt->ib_len;
	g->ecn = pkt->ecn;
	g->ip_version = pkt->ip_version;
	g->loopback = pkt->loopback;
	g->sip = pkt->sip;
	g->dip = pkt->dip;
	memcpy(g->ib, pkt->hdr, pkt->hdr_len);
	g->qpn = ntohl(((const struct rxe_bth *)g->ib)->qpn) & RXE_QPN_MASK;
	for (int i = 0; i < pkt->nsegs; i++) {
		memcpy(g->ib + at, pkt->seg[i].iov_base, pkt->seg[i].iov_len);
		at += (uint32_t)pkt->seg[i].iov_len;
	}
	must(at == pkt->ib_len, "segments add up to ib_len");
	must(pkt->ip[0] >> 4 == pkt->ip_version, "ip points at the IP header");
}

static void on_rx(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	struct bed_end *e = ctx;

	(void)hca;
	if (e->rx) {
		e->rx(e, worker, pkt);
		return;
	}
	e->nr_got++;
	collect(e, worker, pkt);
	if (e->keep)
		e->kept[e->nr_kept++] = pkt;
	else
		rxe_dp_xdp.pkt_free(e->dp, worker, pkt);
}

static const char *object_dir(void)
{
	const char *dir = getenv("RXE_BUILD_DIR");

	return dir ? dir : "build";
}

int bed_open(struct bed_end *e, uint32_t workers, char *err, size_t errlen)
{
	struct rxe_dp_config cfg = {
		.dev_name = "rxe0",
		.netdev = e->dev,
		.ifindex = e->ifindex,
		.nr_workers = workers,
		.object_dir = object_dir(),
		.param_fds = e->bed->param_fds,
		.hca = &e->hca,
		.rx = on_rx,
		.rx_ctx = e,
	};
	int ret;

	memcpy(cfg.mac, e->mac, 6);
	e->nr_workers = workers;
	e->nr_got = e->nr_kept = 0;
	bed_enter(e);
	ret = rxe_dp_xdp.open(&cfg, &e->dp, err, errlen);
	bed_leave();
	if (ret) {
		e->dp = NULL;
		return ret;
	}
	for (int i = 0; i < 2; i++)
		must(rxe_dp_xdp.addr_set(e->dp, &e->ip[i], 1) == 0, "set address");
	return 0;
}

void bed_close(struct bed_end *e)
{
	if (e->dp)
		rxe_dp_xdp.close(e->dp);
	e->dp = NULL;
}

void bed_step(struct bed_end *e)
{
	for (uint32_t w = 0; e->dp && w < e->nr_workers; w++) {
		rxe_dp_xdp.rx_burst(e->dp, w, 64);
		rxe_dp_xdp.flush(e->dp, w);
	}
}

bool bed_wait(struct bed_end *e, uint32_t n)
{
	uint64_t end = rxe_now_ns() + 2000000000ull;

	while (e->nr_got < n) {
		bed_step(&e->bed->end[0]);
		bed_step(&e->bed->end[1]);
		if (rxe_now_ns() > end)
			return false;
	}
	return true;
}

struct stat_search {
	const char *name;
	uint64_t value;
};

static void match_stat(void *arg, const char *name, uint64_t v)
{
	struct stat_search *s = arg;

	if (!strcmp(s->name, name))
		s->value = v;
}

uint64_t bed_stat(struct bed_end *e, const char *name)
{
	struct stat_search s = {.name = name, .value = UINT64_MAX};

	rxe_dp_xdp.stats(e->dp, match_stat, &s);
	return s.value;
}

/* ---- packets ----------------------------------------------------------------------- */

static uint8_t pattern(uint32_t seed, uint32_t i)
{
	return (uint8_t)(seed * 31 + i * 7 + (i >> 8));
}

static void fill_bth(uint8_t *hdr, const struct bed_send *s)
{
	struct rxe_bth bth = {
		.opcode = s->opcode,
		.flags = (uint8_t)((-s->len & 3) << RXE_BTH_PAD_SHIFT),
		.pkey = htons(RXE_DEFAULT_PKEY),
		.qpn = htonl(s->dst_qpn),
		.apsn = htonl(s->seed & RXE_PSN_MASK),
	};

	memcpy(hdr, &bth, sizeof(bth));
}

static void fill_payload(struct rxe_pkt *pkt, const struct bed_send *s)
{
	uint32_t at = 0;

	for (int i = 0; i < pkt->nsegs; i++)
		for (size_t j = 0; j < pkt->seg[i].iov_len; j++, at++)
			((uint8_t *)pkt->seg[i].iov_base)[j] =
				at < s->len ? pattern(s->seed, at) : 0;
	must(at == s->len + (-s->len & 3), "room for payload and pad");
}

const union rxe_ip bed_group = {.raw = {[10] = 0xff, 0xff, 239, 9, 1, 2}};
static const uint8_t group_mac[6] = {0x01, 0x00, 0x5e, 9, 1, 2};
static struct rxe_route to_group;

bool bed_send(struct bed_end *e, const struct bed_send *s)
{
	struct bed_end *to = s->local ? e : &e->bed->end[e == &e->bed->end[0]];
	static struct rxe_address addr;
	struct rxe_pkt *pkt;

	addr = (struct rxe_address){
		.sip = e->ip[s->v6],
		.dip = to->ip[s->v6],
		.traffic_class = s->traffic_class,
		.hop_limit = s->hop_limit,
		.flow_label = s->flow_label,
		.route = s->local ? &e->to_self : &e->to_peer,
	};
	if (s->group) {
		memcpy(&to_group.dmac_word, group_mac, sizeof(group_mac));
		addr.dip = bed_group;
		addr.route = &to_group;
	}
	pkt = rxe_dp_xdp.pkt_alloc(e->dp, s->worker, &addr, RXE_BTH_LEN, s->len, -s->len & 3);
	if (!pkt)
		return false;
	pkt->src_qpn = s->src_qpn;
	pkt->loops = s->loops;
	fill_bth(pkt->hdr, s);
	fill_payload(pkt, s);
	rxe_dp_xdp.pkt_send(e->dp, s->worker, pkt, !s->no_crc);
	return true;
}

bool bed_same(const struct bed_end *e, const struct bed_send *s)
{
	const struct bed_got *g = &e->got;
	const union rxe_ip *dip = s->group ? &bed_group : &e->ip[s->v6];
	bool self = s->local || (s->loops && g->loopback);
	const struct bed_end *from = self ? e : &e->bed->end[e == &e->bed->end[0]];
	uint8_t hdr[RXE_BTH_LEN];

	fill_bth(hdr, s);
	if (g->ib_len != RXE_BTH_LEN + s->len + (-s->len & 3) ||
	    memcmp(g->ib, hdr, sizeof(hdr)) != 0 || g->qpn != s->dst_qpn ||
	    g->ip_version != (s->v6 ? 6 : 4) || g->ecn != (s->traffic_class & 3) ||
	    g->loopback != self || memcmp(&g->sip, &from->ip[s->v6], 16) != 0 ||
	    memcmp(&g->dip, dip, 16) != 0)
		return false;
	for (uint32_t i = 0; i < s->len; i++)
		if (g->ib[RXE_BTH_LEN + i] != pattern(s->seed, i))
			return false;
	return true;
}
