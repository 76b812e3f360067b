// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The xdp datapath, set-up and steering: the XDP program on the netdev, an
 * AF_XDP socket per worker and receive queue, the TC guard, UDP port 4791.
 */
#include "datapath/xdp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "datapath/queues.h"
#include "kernel_compat.h"
#include "log.h"

/*
 * Chunks of a queue. For receiving as many as the largest UC message in use has
 * packets (1 MiB at MTU 256): whoever sends it does not wait for us, and a worker
 * that is not scheduled for a while must not lose part of it. In all 24 MiB; the
 * queues of a device together have 64 MiB, as far as the least for a queue allows.
 */
#define QUEUE_RX_CHUNKS	    4096u
#define QUEUE_RX_CHUNKS_MIN 256u
#define QUEUE_TX_CHUNKS	    2048u
#define DEVICE_CHUNKS	    16384u

#define BUSY_PATIENCE_MS 1000
#define BUSY_STEP_MS	 20

#define MTU_WITHOUT_SG 2048u

/* ---- sockets ------------------------------------------------------------------ */

static const struct bind_mode {
	uint16_t flags;
	bool zerocopy, sg;
	const char *name;
} bind_modes[] = {
	{XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP | XDP_USE_SG, true, true, "zero-copy"},
	{XDP_COPY | XDP_USE_NEED_WAKEUP | XDP_USE_SG, false, true, "copy"},
	{XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP, true, false, "zero-copy, single-buffer"},
	{XDP_COPY | XDP_USE_NEED_WAKEUP, false, false, "copy, single-buffer"},
};
#define NR_BIND_MODES (sizeof(bind_modes) / sizeof(bind_modes[0]))

static uint32_t tx_chunks(uint32_t rx)
{
	return rx < QUEUE_TX_CHUNKS ? rx : QUEUE_TX_CHUNKS;
}

static uint32_t rx_chunks(uint32_t nr_queues)
{
	uint32_t n = QUEUE_RX_CHUNKS;

	while (n > QUEUE_RX_CHUNKS_MIN && (n + tx_chunks(n)) * nr_queues > DEVICE_CHUNKS)
		n /= 2;
	return n;
}

/* Workers are spread over the transmit queues; a queue's rings over the workers. */
static uint32_t tx_queue_of(const struct rxe_dp *dp, uint32_t worker)
{
	return worker % dp->nr_tx_queues;
}

static uint64_t tx_workers_of(const struct rxe_dp *dp, uint32_t queue)
{
	uint64_t bits = 0;

	for (uint32_t w = 0; w < dp->nr_workers; w++)
		if (tx_queue_of(dp, w) == queue)
			bits |= 1ull << w;
	return bits;
}

static void close_queue(struct rxe_dp *dp, uint32_t q)
{
	struct rxe_xdp_queue *xq = &dp->queue[q];

	for (uint32_t w = 0; xq->sock && w < dp->nr_workers; w++)
		rxe_xsk_close(&xq->sock[w]);
	rxe_umem_destroy(&xq->umem);
	free(xq->sock);
	xq->sock = NULL;
}

static int open_queue(struct rxe_dp *dp, uint32_t q, uint16_t flags)
{
	struct rxe_xdp_queue *xq = &dp->queue[q];
	uint32_t rx = rx_chunks(dp->nr_queues);
	struct rxe_umem_config cfg = {
		.nr_rx = rx,
		.owner = q % dp->nr_workers,
		.nr_workers = dp->nr_workers,
		.tx_workers = tx_workers_of(dp, q),
	};
	int err;

	cfg.nr_tx = cfg.tx_workers ? tx_chunks(rx) : 0;
	xq->sock = calloc(dp->nr_workers, sizeof(*xq->sock));
	if (!xq->sock)
		return -ENOMEM;
	err = rxe_umem_create(&xq->umem, &cfg);
	for (uint32_t w = 0; w < dp->nr_workers && !err; w++)
		err = rxe_xsk_open(&xq->sock[w], &xq->umem, dp->netdev, q, cfg.tx_workers >> w & 1,
				   flags);
	if (err) {
		close_queue(dp, q);
		return err;
	}
	rxe_umem_refill(&xq->umem);
	return 0;
}

/*
 * The kernel lets go of a queue some time after its last socket is closed (an
 * RCU grace period, then a work item), so a queue that was ours a moment ago,
 * or a killed rxed's, is busy for a while.
 */
static int open_queue_patiently(struct rxe_dp *dp, uint32_t q, uint16_t flags)
{
	int err = open_queue(dp, q, flags);

	for (int waited = 0; err == -EBUSY && waited < BUSY_PATIENCE_MS; waited += BUSY_STEP_MS) {
		usleep(BUSY_STEP_MS * 1000);
		err = open_queue(dp, q, flags);
	}
	return err;
}

/* Would another way of binding help? */
static bool worth_another_mode(int err)
{
	return err == -EINVAL || err == -EOPNOTSUPP || err == -ENOTSUP || err == -ENOBUFS;
}

/* The first queue tells which way of binding this netdev takes. */
static int open_first_queue(struct rxe_dp *dp, const struct bind_mode **mode)
{
	int err = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_BIND_MODES; i++) {
		*mode = &bind_modes[i];
		if (dp->prog.generic && (*mode)->zerocopy)
			continue;
		err = open_queue_patiently(dp, 0, (*mode)->flags);
		if (!err || !worth_another_mode(err))
			return err;
	}
	return err;
}

static const char *bind_hint(int err)
{
	switch (err) {
	case -EBUSY:
		return "another AF_XDP program owns that queue (a second rxed?): stop it";
	case -EPERM:
		return "rxed needs CAP_NET_RAW and CAP_IPC_LOCK, or a larger memlock limit";
	case -ENOMEM:
	case -ENOBUFS:
		return "free some memory, or raise the memlock limit";
	default:
		return "the kernel needs CONFIG_XDP_SOCKETS";
	}
}

static void close_queues(struct rxe_dp *dp)
{
	for (uint32_t q = 0; dp->queue && q < dp->nr_queues; q++)
		close_queue(dp, q);
}

/* Opens all; *failed is the queue that could not be. */
static int try_queues(struct rxe_dp *dp, const struct bind_mode **mode, uint32_t *failed)
{
	int ret;

	*failed = 0;
	ret = open_first_queue(dp, mode);
	while (!ret && ++*failed < dp->nr_queues)
		ret = open_queue_patiently(dp, *failed, (*mode)->flags);
	return ret;
}

static int open_queues(struct rxe_dp *dp, struct rxe_errline *err)
{
	const struct bind_mode *mode = NULL;
	uint32_t failed;
	int ret = try_queues(dp, &mode, &failed);

	/* Without ethtool's count it is known only now that fewer are in use. */
	if (ret == -EINVAL && failed) {
		close_queues(dp);
		dp->nr_queues = failed;
		if (dp->nr_tx_queues > failed)
			dp->nr_tx_queues = failed;
		ret = try_queues(dp, &mode, &failed);
	}
	if (ret)
		return rxe_fail(err, ret,
				"%s: cannot bind an AF_XDP socket to queue %u of %s: %s; %s",
				dp->dev_name, failed, dp->netdev, strerror(-ret), bind_hint(ret));
	dp->sg = mode->sg;
	dp->bind_flags = mode->flags;
	log_info("%s: %s, %u receive queue(s), %u worker(s), AF_XDP %s, XDP program %s%s",
		 dp->dev_name, dp->netdev, dp->nr_queues, dp->nr_workers, mode->name,
		 dp->prog.adopted ? "adopted" : "attached", dp->prog.generic ? " (generic)" : "");
	return 0;
}

static int steer_sockets(struct rxe_dp *dp, uint32_t from)
{
	int err = 0;

	for (uint32_t q = from; q < dp->nr_queues; q++)
		for (uint32_t w = 0; w < dp->nr_workers && !err; w++)
			err = rxe_steer_socket(&dp->prog, w, q, dp->queue[q].sock[w].fd);
	return err;
}

/* ---- open and close -------------------------------------------------------------- */

static int alloc_state(struct rxe_dp *dp)
{
	void *table = mmap(NULL, RXE_QPN_TABLE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (table == MAP_FAILED)
		return -errno;
	dp->qpn_worker = table;
	dp->queue = rxe_zalloc_lines(RXE_MAX_QUEUES * sizeof(*dp->queue));
	dp->worker = rxe_zalloc_lines(dp->nr_workers * sizeof(*dp->worker));
	if (!dp->queue || !dp->worker)
		return -ENOMEM;
	for (uint32_t w = 0; w < dp->nr_workers; w++)
		dp->worker[w].event_fd = -1;
	for (uint32_t w = 0; w < dp->nr_workers; w++) {
		dp->worker[w].event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (dp->worker[w].event_fd < 0)
			return -errno;
	}
	return rxe_loopback_init(&dp->loop, dp->nr_workers);
}

static void xdp_close(struct rxe_dp *dp)
{
	if (dp->have_prog)
		rxe_steer_stop(&dp->steer);
	if (dp->have_port)
		rxe_port_release(&dp->port);
	if (dp->have_guard)
		rxe_guard_close(&dp->guard);
	if (dp->have_prog)
		rxe_xdp_prog_close(&dp->prog);
	close_queues(dp);
	rxe_loopback_fini(&dp->loop);
	for (uint32_t w = 0; dp->worker && w < dp->nr_workers; w++)
		if (dp->worker[w].event_fd >= 0)
			close(dp->worker[w].event_fd);
	if (dp->qpn_worker)
		munmap(dp->qpn_worker, RXE_QPN_TABLE_SIZE);
	free(dp->worker);
	free(dp->queue);
	free(dp);
}

static struct rxe_dp *new_dp(const struct rxe_dp_config *cfg)
{
	struct rxe_dp *dp = rxe_zalloc_lines(sizeof(*dp));

	if (!dp)
		return NULL;
	snprintf(dp->dev_name, sizeof(dp->dev_name), "%s", cfg->dev_name);
	snprintf(dp->netdev, sizeof(dp->netdev), "%s", cfg->netdev);
	dp->hca = cfg->hca;
	dp->rx = cfg->rx;
	dp->rx_ctx = cfg->rx_ctx;
	dp->nr_workers = cfg->nr_workers;
	memcpy(&dp->mac_word, cfg->mac, sizeof(cfg->mac));
	return dp;
}

static int count_queues(struct rxe_dp *dp, struct rxe_errline *err)
{
	struct rxe_queue_counts q;
	int ret = rxe_queue_counts(dp->netdev, &q);

	if (ret)
		return rxe_fail(err, ret, "%s: cannot count the queues of %s: %s", dp->dev_name,
				dp->netdev, strerror(-ret));
	if (q.rx > RXE_MAX_QUEUES)
		return rxe_fail(err, -E2BIG,
				"%s: %s has %u receive queues, at most %u are served; type "
				"`ethtool -L %s combined %u`",
				dp->dev_name, dp->netdev, q.rx, RXE_MAX_QUEUES, dp->netdev,
				RXE_MAX_QUEUES);
	dp->nr_queues = q.rx;
	dp->queues_seen = q.rx;
	dp->nr_tx_queues = q.tx < q.rx ? q.tx : q.rx;
	return 0;
}

static int attach_all(struct rxe_dp *dp, const struct rxe_dp_config *cfg, struct rxe_errline *err)
{
	int ret = rxe_xdp_prog_open(&dp->prog, cfg->object_dir, dp->netdev, cfg->ifindex, err);

	if (ret)
		return ret;
	dp->have_prog = true;
	/* Only an owner of the queues may touch an adopted program's maps. */
	ret = open_queues(dp, err);
	if (ret)
		return ret;
	for (uint32_t w = 0; w < dp->nr_workers; w++) {
		dp->worker[w].nr_queues = dp->nr_queues;
		dp->worker[w].tx = &dp->queue[tx_queue_of(dp, w)].sock[w];
	}
	ret = rxe_guard_open(&dp->guard, cfg->object_dir, dp->netdev, cfg->ifindex, err);
	if (ret)
		return ret;
	dp->have_guard = true;
	rxe_guard_mac(&dp->guard, cfg->mac);
	rxe_port_claim(&dp->port, dp->dev_name);
	dp->have_port = true;
	ret = steer_sockets(dp, 0);
	if (!ret)
		ret = rxe_steer_start(&dp->steer, &dp->prog, cfg->mac, cfg->param_fds);
	if (ret)
		return rxe_fail(err, ret, "%s: cannot write the maps of the XDP program on %s: %s",
				dp->dev_name, dp->netdev, strerror(-ret));
	return 0;
}

static int xdp_open(const struct rxe_dp_config *cfg, struct rxe_dp **out, char *err, size_t errlen)
{
	struct rxe_errline line = {err, errlen};
	struct rxe_dp *dp;
	int ret;

	if (!cfg->nr_workers || cfg->nr_workers > RXE_MAX_WORKERS)
		return rxe_fail(&line, -EINVAL, "%s: %u workers asked for, 1 to %u are possible",
				cfg->dev_name, cfg->nr_workers, RXE_MAX_WORKERS);
	dp = new_dp(cfg);
	if (!dp)
		return rxe_fail(&line, -ENOMEM, "%s: out of memory", cfg->dev_name);
	ret = count_queues(dp, &line);
	if (!ret) {
		ret = alloc_state(dp);
		if (ret)
			rxe_fail(&line, ret, "%s: cannot allocate the datapath's state: %s",
				 dp->dev_name, strerror(-ret));
	}
	if (!ret)
		ret = attach_all(dp, cfg, &line);
	if (ret) {
		xdp_close(dp);
		return ret;
	}
	*out = dp;
	return 0;
}

/* ---- more queues than before -------------------------------------------------------- */

/*
 * Packets on a queue without sockets would go to the stack. Fewer queues than
 * are bound there cannot be: the kernel refuses that (EINVAL).
 */
static bool xdp_new_queues(struct rxe_dp *dp, const char *netdev)
{
	struct rxe_queue_counts count;
	uint32_t before = dp->nr_queues;
	int err = 0;

	if (rxe_queue_counts(netdev, &count) || count.rx == dp->queues_seen)
		return false;
	dp->queues_seen = count.rx;
	snprintf(dp->netdev, sizeof(dp->netdev), "%s", netdev);
	if (count.rx > RXE_MAX_QUEUES) {
		log_warn("%s: %s has %u receive queues now, at most %u are served; packets on the "
			 "others are lost: type `ethtool -L %s combined %u`",
			 dp->dev_name, netdev, count.rx, RXE_MAX_QUEUES, netdev, RXE_MAX_QUEUES);
		count.rx = RXE_MAX_QUEUES;
	}
	while (!err && dp->nr_queues < count.rx) {
		err = open_queue_patiently(dp, dp->nr_queues, dp->bind_flags);
		if (!err)
			dp->nr_queues++;
	}
	if (err)
		log_err("%s: cannot bind an AF_XDP socket to the new queue %u of %s: %s; packets "
			"that arrive there are lost: %s",
			dp->dev_name, dp->nr_queues, netdev, strerror(-err), bind_hint(err));
	if (dp->nr_queues > before)
		log_info("%s: %s has %u receive queue(s) now, %u are served", dp->dev_name, netdev,
			 dp->queues_seen, dp->nr_queues);
	return dp->nr_queues > before;
}

static void xdp_steer_queues(struct rxe_dp *dp)
{
	int err = steer_sockets(dp, 0);

	if (err)
		log_err("%s: cannot steer packets of the new queues of %s: %s", dp->dev_name,
			dp->netdev, strerror(-err));
}

/* ---- steering ------------------------------------------------------------------------ */

static int xdp_qp_set(struct rxe_dp *dp, uint32_t qpn, uint32_t worker, uint8_t op_class,
		      bool receives, const union rxe_ip *peer)
{
	struct rxe_bpf_qp qp = {
		.worker = worker,
		.op_class = op_class,
		.state = receives ? RXE_BPF_QP_RECEIVES : 0,
	};

	if (peer) {
		qp.state |= RXE_BPF_QP_PEER;
		memcpy(qp.peer, peer->raw, sizeof(qp.peer));
	}
	qpn &= RXE_QPN_MASK;
	__atomic_store_n(&dp->qpn_worker[qpn], worker + 1, __ATOMIC_RELAXED);
	return rxe_steer_qp(&dp->steer, qpn, &qp);
}

static void xdp_qp_clear(struct rxe_dp *dp, uint32_t qpn)
{
	qpn &= RXE_QPN_MASK;
	__atomic_store_n(&dp->qpn_worker[qpn], 0, __ATOMIC_RELAXED);
	rxe_steer_qp_clear(&dp->steer, qpn);
}

static int xdp_addr_set(struct rxe_dp *dp, const union rxe_ip *ip, uint32_t flags)
{
	return rxe_steer_addr(&dp->steer, ip, flags);
}

static void xdp_addr_clear(struct rxe_dp *dp, const union rxe_ip *ip)
{
	rxe_steer_addr_clear(&dp->steer, ip);
}

static void xdp_mac_set(struct rxe_dp *dp, const uint8_t mac[6])
{
	uint64_t word = 0;

	memcpy(&word, mac, 6);
	__atomic_store_n(&dp->mac_word, word, __ATOMIC_RELAXED);
	rxe_steer_mac(&dp->steer, mac);
	rxe_guard_mac(&dp->guard, mac);
}

/*
 * rxed's own program stays, by its link. An adopted one is the administrator's;
 * its maps live on with rxed, so attaching the same one again is all it takes.
 */
static bool xdp_attached(struct rxe_dp *dp, const uint32_t *prog_ids, int n, char *why,
			 size_t whylen)
{
	struct rxe_errline line = {why, whylen};
	uint32_t id = dp->prog.adopted_id;

	if (!dp->prog.adopted)
		return true;
	for (int i = 0; i < n; i++)
		if (prog_ids[i] == id)
			return true;
	rxe_fail(
		&line, 0,
		"the adopted XDP program (id %u) was taken off %s; put it back (`bpftool net attach "
		"%s id %u dev %s`), or delete the device %s and add it again",
		id, dp->netdev, dp->prog.generic ? "xdpgeneric" : "xdp", id, dp->netdev,
		dp->dev_name);
	return false;
}

/* A worker that slept though it lacked transmit chunks gets another look. */
static void xdp_tick(struct rxe_dp *dp)
{
	rxe_steer_heartbeat(&dp->steer);
	for (uint32_t w = 0; w < dp->nr_workers; w++) {
		if (!__atomic_load_n(&dp->worker[w].starved, __ATOMIC_SEQ_CST))
			continue;
		rxe_xdp_wake(dp, dp->worker[w].tx->umem->owner);
		rxe_xdp_wake(dp, w);
	}
}

static uint32_t xdp_max_ib_mtu(struct rxe_dp *dp, const char **why)
{
	*why = dp->sg ? NULL
		      : "AF_XDP here takes no packet larger than a page (multi-buffer sockets need "
			"kernel 6.6 and the driver's support)";
	return dp->sg ? RXE_MAX_IB_MTU : MTU_WITHOUT_SG;
}

static uint32_t xdp_maps(struct rxe_dp *dp, struct rxe_dp_map map[RXE_DP_MAX_MAPS])
{
	const struct rxe_dp_map maps[] = {
		{"counters", dp->prog.map[RXE_XDP_MAP_COUNTERS]},
		{"tc_counters", dp->guard.counters_fd},
		{"qpns", dp->prog.map[RXE_XDP_MAP_QPNS]},
		{"addrs", dp->prog.map[RXE_XDP_MAP_ADDRS]},
		{"config", dp->prog.map[RXE_XDP_MAP_CONFIG]},
		{"tc_config", dp->guard.config_fd},
	};

	memcpy(map, maps, sizeof(maps));
	return sizeof(maps) / sizeof(maps[0]);
}

const struct rxe_dp_ops rxe_dp_xdp = {
	.name = "xdp",
	.open = xdp_open,
	.close = xdp_close,
	.qp_set = xdp_qp_set,
	.qp_clear = xdp_qp_clear,
	.addr_set = xdp_addr_set,
	.addr_clear = xdp_addr_clear,
	.mac_set = xdp_mac_set,
	.attached = xdp_attached,
	.new_queues = xdp_new_queues,
	.steer_queues = xdp_steer_queues,
	.tick = xdp_tick,
	.pollfds = rxe_xdp_pollfds,
	.rx_burst = rxe_xdp_rx_burst,
	.pkt_alloc = rxe_xdp_pkt_alloc,
	.pkt_send = rxe_xdp_pkt_send,
	.pkt_free = rxe_xdp_pkt_free,
	.flush = rxe_xdp_flush,
	.pending = rxe_xdp_pending,
	.stats = rxe_xdp_stats,
	.maps = xdp_maps,
	.max_ib_mtu = xdp_max_ib_mtu,
};
