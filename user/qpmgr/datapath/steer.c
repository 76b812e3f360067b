// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The XDP program's maps, written and read. */
#include "datapath/steer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "rxe/params.h"

static int update(int fd, const void *key, const void *value)
{
	return bpf_map_update_elem(fd, key, value, BPF_ANY) ? -errno : 0;
}

static int write_config(struct rxe_steer *s)
{
	uint32_t zero = 0;

	return update(s->prog->map[RXE_XDP_MAP_CONFIG], &zero, &s->config);
}

static void clear_hash(int fd)
{
	uint8_t key[sizeof(struct rxe_bpf_addr)]; /* the longest key of a hash of ours */

	while (bpf_map_get_next_key(fd, NULL, key) == 0)
		if (bpf_map_delete_elem(fd, key) != 0)
			return;
}

static int fill_params(const struct rxe_xdp_prog *prog, const int *param_fds)
{
	int err = 0;

	for (uint32_t i = 0; i < RXE_PARAM_COUNT && !err; i++)
		err = update(prog->map[RXE_XDP_MAP_PARAMS], &i, &param_fds[i]);
	return err;
}

static uint32_t next_generation(const struct rxe_xdp_prog *prog)
{
	struct rxe_bpf_config old = {0};
	uint32_t zero = 0;

	bpf_map_lookup_elem(prog->map[RXE_XDP_MAP_CONFIG], &zero, &old);
	return old.generation == UINT32_MAX ? 1 : old.generation + 1;
}

int rxe_steer_start(struct rxe_steer *s, const struct rxe_xdp_prog *prog, const uint8_t mac[6],
		    const int *param_fds)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->prog = prog;
	clear_hash(prog->map[RXE_XDP_MAP_QPNS]);
	clear_hash(prog->map[RXE_XDP_MAP_ADDRS]);
	err = param_fds ? fill_params(prog, param_fds) : 0;
	if (err)
		return err;
	s->config.generation = next_generation(prog);
	s->config.flags = prog->adopted ? RXE_CFG_HEARTBEAT : RXE_CFG_LINKED;
	s->config.heartbeat_ns = rxe_now_ns();
	memcpy(s->config.mac, mac, sizeof(s->config.mac));
	return write_config(s);
}

void rxe_steer_stop(struct rxe_steer *s)
{
	if (!s->prog || !s->prog->adopted)
		return;
	s->config.generation = 0;
	write_config(s);
	clear_hash(s->prog->map[RXE_XDP_MAP_QPNS]);
	clear_hash(s->prog->map[RXE_XDP_MAP_ADDRS]);
}

int rxe_steer_socket(const struct rxe_xdp_prog *prog, uint32_t worker, uint32_t queue, int fd)
{
	uint32_t slot = worker * RXE_MAX_QUEUES + queue;

	return update(prog->map[RXE_XDP_MAP_XSKS], &slot, &fd);
}

int rxe_steer_qp(struct rxe_steer *s, uint32_t qpn, const struct rxe_bpf_qp *qp)
{
	return update(s->prog->map[RXE_XDP_MAP_QPNS], &qpn, qp);
}

void rxe_steer_qp_clear(struct rxe_steer *s, uint32_t qpn)
{
	bpf_map_delete_elem(s->prog->map[RXE_XDP_MAP_QPNS], &qpn);
}

int rxe_steer_addr(struct rxe_steer *s, const union rxe_ip *ip, uint32_t flags)
{
	return update(s->prog->map[RXE_XDP_MAP_ADDRS], ip->raw, &flags);
}

void rxe_steer_addr_clear(struct rxe_steer *s, const union rxe_ip *ip)
{
	bpf_map_delete_elem(s->prog->map[RXE_XDP_MAP_ADDRS], ip->raw);
}

void rxe_steer_mac(struct rxe_steer *s, const uint8_t mac[6])
{
	memcpy(s->config.mac, mac, sizeof(s->config.mac));
	write_config(s);
}

void rxe_steer_heartbeat(struct rxe_steer *s)
{
	if (!s->prog->adopted)
		return;
	s->config.heartbeat_ns = rxe_now_ns();
	write_config(s);
}

int rxe_percpu_sums(int map_fd, uint32_t nr, uint64_t *sum)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *value;

	if (cpus < 0)
		return cpus;
	value = calloc((size_t)cpus, sizeof(*value));
	if (!value)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		sum[i] = 0;
		if (bpf_map_lookup_elem(map_fd, &i, value) != 0)
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			sum[i] += value[cpu];
	}
	free(value);
	return 0;
}
