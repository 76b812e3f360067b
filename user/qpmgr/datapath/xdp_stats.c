// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The xdp datapath's counters: the programs', the sockets', the workers'. */
#include <linux/if_xdp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "datapath/xdp.h"

typedef void (*put_fn)(void *arg, const char *name, uint64_t v);

#define NAME(sym, name, verdict, help) name,
static const char *const xdp_names[RXE_CNT_COUNT] = {RXE_BPF_COUNTERS(NAME)};
static const char *const tc_names[RXE_TC_CNT_COUNT] = {RXE_TC_COUNTERS(NAME)};
#undef NAME
#define NAME(SYM, name) name,
static const char *const worker_names[RXE_XDP_COUNTER_COUNT] = {RXE_XDP_COUNTERS(NAME)};
#undef NAME

static const struct {
	const char *name;
	size_t offset;
} socket_table[] = {
	{"xsk_rx_dropped", offsetof(struct xdp_statistics, rx_dropped)},
	{"xsk_rx_invalid_descs", offsetof(struct xdp_statistics, rx_invalid_descs)},
	{"xsk_tx_invalid_descs", offsetof(struct xdp_statistics, tx_invalid_descs)},
	{"xsk_rx_ring_full", offsetof(struct xdp_statistics, rx_ring_full)},
	{"xsk_rx_fill_ring_empty", offsetof(struct xdp_statistics, rx_fill_ring_empty_descs)},
	{"xsk_tx_ring_empty", offsetof(struct xdp_statistics, tx_ring_empty_descs)},
};
#define SOCKET_COUNTERS (sizeof(socket_table) / sizeof(socket_table[0]))

static void put_program(struct rxe_dp *dp, put_fn put, void *arg)
{
	uint64_t sum[RXE_CNT_COUNT];

	if (rxe_percpu_sums(dp->prog.map[RXE_XDP_MAP_COUNTERS], RXE_CNT_COUNT, sum) != 0)
		return;
	for (uint32_t i = 0; i < RXE_CNT_COUNT; i++)
		put(arg, xdp_names[i], sum[i]);
}

static void put_guard(struct rxe_dp *dp, put_fn put, void *arg)
{
	uint64_t sum[RXE_TC_CNT_COUNT];

	if (!dp->have_guard || rxe_guard_counters(&dp->guard, sum) != 0)
		return;
	for (uint32_t i = 0; i < RXE_TC_CNT_COUNT; i++)
		put(arg, tc_names[i], sum[i]);
}

static void add_socket(const struct rxe_xsk *s, uint64_t sum[SOCKET_COUNTERS])
{
	struct xdp_statistics st = {0};
	socklen_t len = sizeof(st);
	uint64_t v;

	if (getsockopt(s->fd, SOL_XDP, XDP_STATISTICS, &st, &len) != 0)
		return;
	for (size_t i = 0; i < SOCKET_COUNTERS; i++) {
		memcpy(&v, (const uint8_t *)&st + socket_table[i].offset, sizeof(v));
		sum[i] += v;
	}
}

static void put_sockets(struct rxe_dp *dp, put_fn put, void *arg)
{
	uint64_t sum[SOCKET_COUNTERS] = {0};

	for (uint32_t q = 0; q < dp->nr_queues; q++)
		for (uint32_t w = 0; w < dp->nr_workers; w++)
			add_socket(&dp->queue[q].sock[w], sum);
	for (size_t i = 0; i < SOCKET_COUNTERS; i++)
		put(arg, socket_table[i].name, sum[i]);
}

static void put_workers(struct rxe_dp *dp, put_fn put, void *arg)
{
	for (uint32_t c = 0; c < RXE_XDP_COUNTER_COUNT; c++) {
		uint64_t sum = 0;

		for (uint32_t w = 0; w < dp->nr_workers; w++)
			sum += __atomic_load_n(&dp->worker[w].count[c], __ATOMIC_RELAXED);
		put(arg, worker_names[c], sum);
	}
}

void rxe_xdp_stats(struct rxe_dp *dp, put_fn put, void *arg)
{
	put_program(dp, put, arg);
	put_sockets(dp, put, arg);
	put_workers(dp, put, arg);
	put_guard(dp, put, arg);
}
