// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The XDP program under BPF_PROG_TEST_RUN; see harness.h.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "frames.h"
#include "harness.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif

const struct rxe_bpf_config harness_default_config = {
	.generation = 1,
	.mac = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55},
};

const char *harness_counter_name(enum rxe_bpf_counter which)
{
#define NAME(sym, name, verdict, help) name,
	static const char *const names[] = {RXE_BPF_COUNTERS(NAME)};
#undef NAME
	return which < RXE_CNT_COUNT ? names[which] : "none";
}

static int map_fd(struct harness *h, const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(h->obj, name);

	if (fd < 0)
		fail_msg("the object has no map '%s'", name);
	return fd;
}

static void update(int fd, const void *key, const void *value)
{
	if (bpf_map_update_elem(fd, key, value, BPF_ANY))
		fail_msg("map update: %s", strerror(errno));
}

void harness_set_config(struct harness *h, const struct rxe_bpf_config *cfg)
{
	uint32_t zero = 0;

	update(h->config, &zero, cfg);
}

void harness_set_addr(struct harness *h, const uint8_t ip[16], uint32_t flags)
{
	if (flags)
		update(h->addrs, ip, &flags);
	else
		bpf_map_delete_elem(h->addrs, ip);
}

void harness_set_qp(struct harness *h, uint32_t qpn, uint8_t op_class, uint8_t state)
{
	struct rxe_bpf_qp qp = {.worker = TEST_WORKER, .op_class = op_class, .state = state};

	update(h->qpns, &qpn, &qp);
}

void harness_set_peer(struct harness *h, uint32_t qpn, uint8_t op_class, const uint8_t peer[16])
{
	struct rxe_bpf_qp qp = {.worker = TEST_WORKER,
				.op_class = op_class,
				.state = RXE_BPF_QP_RECEIVES | RXE_BPF_QP_PEER};

	memcpy(qp.peer, peer, sizeof(qp.peer));
	update(h->qpns, &qpn, &qp);
}

void harness_set_crc_disable(struct harness *h, uint32_t value)
{
	uint32_t zero = 0;

	update(h->crc_disable, &zero, &value);
}

void harness_set_socket(struct harness *h, uint32_t worker, uint32_t queue, int present)
{
	uint32_t slot = worker * RXE_MAX_QUEUES + queue;

	if (present)
		update(h->xsks, &slot, &h->xsk);
	else
		bpf_map_delete_elem(h->xsks, &slot);
}

void harness_fill_param(struct harness *h, enum rxe_param_id id, int map_fd)
{
	uint32_t key = id;

	update(h->params, &key, &map_fd);
}

void harness_clear_param(struct harness *h, enum rxe_param_id id)
{
	uint32_t key = id;

	bpf_map_delete_elem(h->params, &key);
}

void harness_read_abi(struct harness *h, struct rxe_bpf_abi *abi)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(map_fd(h, RXE_BPF_ABI_MAP), &zero, abi))
		fail_msg("%s: %s", RXE_BPF_ABI_MAP, strerror(errno));
}

static void open_maps(struct harness *h)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	h->config = map_fd(h, "config");
	h->params = map_fd(h, "params");
	h->qpns = map_fd(h, "qpns");
	h->addrs = map_fd(h, "addrs");
	h->xsks = map_fd(h, "xsks");
	h->counters = map_fd(h, "counters");
	h->crc_disable = bpf_map_create(BPF_MAP_TYPE_ARRAY, "crc_disable", 4, 4, 1, &opts);
	harness_fill_param(h, RXE_PARAM_CRC_DISABLE, h->crc_disable);
}

static void fill_maps(struct harness *h)
{
	harness_set_config(h, &harness_default_config);
	harness_set_addr(h, test_ip4, RXE_ADDR_UNICAST);
	harness_set_addr(h, test_ip6, RXE_ADDR_UNICAST);
	harness_set_addr(h, test_group4, RXE_ADDR_MULTICAST);
	harness_set_addr(h, test_group6, RXE_ADDR_MULTICAST);
	harness_set_qp(h, TEST_RC_QPN, RXE_CLASS_RC, RXE_BPF_QP_RECEIVES);
	harness_set_peer(h, TEST_UC_QPN, RXE_CLASS_UC, test_peer6);
	harness_set_qp(h, TEST_UD_QPN, RXE_CLASS_UD, RXE_BPF_QP_RECEIVES);
	harness_set_qp(h, TEST_IDLE_QPN, RXE_CLASS_RC, 0);
	harness_set_socket(h, TEST_WORKER, 0, 1);
	harness_set_socket(h, RXE_CONTROL_WORKER, 0, 1);
}

int harness_setup(void **state)
{
	const char *dir = getenv("RXE_BUILD_DIR");
	struct harness *h = calloc(1, sizeof(*h));
	char path[4096];

	snprintf(path, sizeof(path), "%s/rxe_xdp.bpf.o", dir ? dir : "build");
	h->obj = bpf_object__open_file(path, NULL);
	if (!h->obj || bpf_object__load(h->obj)) {
		fprintf(stderr, "cannot load %s: %s (built? root?)\n", path, strerror(errno));
		return -1;
	}
	h->prog = bpf_program__fd(bpf_object__find_program_by_name(h->obj, "rxe_xdp"));
	h->xsk = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	open_maps(h);
	fill_maps(h);
	srandom(1);
	*state = h;
	return 0;
}

int harness_teardown(void **state)
{
	struct harness *h = *state;

	if (!h)
		return 0;
	close(h->xsk);
	close(h->crc_disable);
	bpf_object__close(h->obj);
	free(h);
	return 0;
}

uint64_t harness_counter(struct harness *h, enum rxe_bpf_counter which)
{
	static uint64_t per_cpu[1024];
	uint32_t key = which;
	uint64_t sum = 0;
	int i, n = libbpf_num_possible_cpus();

	if (bpf_map_lookup_elem(h->counters, &key, per_cpu))
		fail_msg("counter %u: %s", key, strerror(errno));
	for (i = 0; i < n; i++)
		sum += per_cpu[i];
	return sum;
}

static void read_counters(struct harness *h, uint64_t *values)
{
	unsigned int i;

	for (i = 0; i < RXE_CNT_COUNT; i++)
		values[i] = harness_counter(h, i);
}

/* The one counter that moved by one; RXE_CNT_COUNT if it was not one. */
static enum rxe_bpf_counter moved(const uint64_t *before, const uint64_t *after)
{
	enum rxe_bpf_counter which = RXE_CNT_COUNT;
	unsigned int i;

	for (i = 0; i < RXE_CNT_COUNT; i++) {
		if (after[i] == before[i])
			continue;
		if (which != RXE_CNT_COUNT || after[i] != before[i] + 1)
			return RXE_CNT_COUNT;
		which = i;
	}
	return which;
}

static uint8_t output[FRAME_MAX + 512];
static const uint8_t *output_frame = output;

const uint8_t *harness_output(void)
{
	return output_frame;
}

/*
 * @meta_len bytes of @data are metadata; @linear bytes of the frame go to the
 * linear part, 0: the kernel decides.
 */
static int test_run(struct harness *h, const void *data, uint32_t size, uint32_t meta_len,
		    uint32_t linear, struct bpf_test_run_opts *opts)
{
	struct xdp_md ctx = {.data = meta_len, .data_end = linear ? linear : size};
	bool with_ctx = meta_len || linear;

	opts->data_in = data;
	opts->data_size_in = size;
	opts->data_out = output;
	opts->data_size_out = sizeof(output);
	opts->ctx_in = with_ctx ? &ctx : NULL;
	opts->ctx_size_in = with_ctx ? sizeof(ctx) : 0;
	return bpf_prog_test_run_opts(h->prog, opts);
}

static struct run run(struct harness *h, const void *data, uint32_t size, uint32_t meta_len,
		      uint32_t linear)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint64_t before[RXE_CNT_COUNT], after[RXE_CNT_COUNT];
	struct run r = {0};

	read_counters(h, before);
	if (test_run(h, data, size, meta_len, linear, &opts))
		fail_msg("test run of %u bytes, %u linear: %s", size, linear, strerror(errno));
	read_counters(h, after);
	r.action = opts.retval;
	r.counter = moved(before, after);
	r.len = opts.data_size_out;
	output_frame = output;
	if (r.len == size + sizeof(r.meta)) {
		memcpy(&r.meta, output, sizeof(r.meta));
		output_frame += sizeof(r.meta);
		r.len = size;
	}
	return r;
}

struct run harness_run(struct harness *h, const void *frame, uint32_t len, uint32_t linear)
{
	return run(h, frame, len, 0, linear);
}

struct run harness_run_with_meta(struct harness *h, const void *frame, uint32_t len,
				 uint32_t meta_len)
{
	static uint8_t data[FRAME_MAX + 256];

	memset(data, 0, meta_len);
	memcpy(data + meta_len, frame, len);
	return run(h, data, len + meta_len, meta_len, 0);
}

int harness_can_split(struct harness *h)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	static uint8_t frame[1000];

	return test_run(h, frame, sizeof(frame), 0, 200, &opts) == 0;
}
