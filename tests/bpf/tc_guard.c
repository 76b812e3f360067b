// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The TC programs under BPF_PROG_TEST_RUN: which frames the egress guard
 * drops, which it leaves alone, and that each is counted where it belongs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rxe/bpf_abi.h>

#include "frames.h"

#define LOOPBACK_IFINDEX 1

struct tc {
	struct bpf_object *obj;
	int ingress, egress, counters, config;
};

static struct frame f;

static int setup(void **state)
{
	const char *dir = getenv("RXE_BUILD_DIR");
	struct tc *t = calloc(1, sizeof(*t));
	char path[4096];

	snprintf(path, sizeof(path), "%s/rxe_tc.bpf.o", dir ? dir : "build");
	t->obj = bpf_object__open_file(path, NULL);
	if (!t->obj || bpf_object__load(t->obj)) {
		fprintf(stderr, "cannot load %s: %s (built? root?)\n", path, strerror(errno));
		return -1;
	}
	t->ingress = bpf_program__fd(bpf_object__find_program_by_name(t->obj, "rxe_tc_ingress"));
	t->egress = bpf_program__fd(bpf_object__find_program_by_name(t->obj, "rxe_tc_egress"));
	t->counters = bpf_object__find_map_fd_by_name(t->obj, "counters");
	t->config = bpf_object__find_map_fd_by_name(t->obj, "config");
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tc *t = *state;

	if (t)
		bpf_object__close(t->obj);
	free(t);
	return 0;
}

static void read_counters(struct tc *t, uint64_t *sums)
{
	static uint64_t per_cpu[1024];
	uint32_t key;
	int i;

	for (key = 0; key < RXE_TC_CNT_COUNT; key++) {
		assert_int_equal(bpf_map_lookup_elem(t->counters, &key, per_cpu), 0);
		for (sums[key] = 0, i = 0; i < libbpf_num_possible_cpus(); i++)
			sums[key] += per_cpu[i];
	}
}

static void expect(struct tc *t, int prog, struct __sk_buff *skb, int want, int action)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = f.bytes, .data_size_in = f.len,
		    .ctx_in = skb, .ctx_size_in = sizeof(*skb));
	uint64_t before[RXE_TC_CNT_COUNT], after[RXE_TC_CNT_COUNT];
	int i;

	read_counters(t, before);
	assert_int_equal(bpf_prog_test_run_opts(prog, &opts), 0);
	read_counters(t, after);
	assert_int_equal((int)opts.retval, action);
	for (i = 0; i < RXE_TC_CNT_COUNT; i++)
		assert_int_equal(after[i] - before[i], i == want);
}

static void roce_frame(bool v6, bool vlan)
{
	struct frame_spec s = {.v6 = v6, .vlan = vlan, .payload = 100};

	frame_build(&f, &s);
}

static void guard(void **state)
{
	struct tc *t = *state;
	int i;

	for (i = 0; i < 4; i++) {
		struct __sk_buff skb = {0};

		roce_frame(i & 1, i & 2);
		expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);
		skb.mark = RXE_TC_MARK;
		expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OWN, TC_ACT_UNSPEC);
		skb.mark = 0;
		skb.ingress_ifindex = LOOPBACK_IFINDEX;
		expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	}
}

/* A netdev of a VLAN above ours has a guard of its own. */
static void vlans_are_others(void **state)
{
	struct __sk_buff skb = {0};
	struct tc *t = *state;

	for (int v6 = 0; v6 < 2; v6++) {
		roce_frame(v6, true);
		put16(f.bytes + 14, 0x2005);
		expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	}
}

static void others_go_out(void **state)
{
	struct __sk_buff skb = {0};
	struct tc *t = *state;

	roce_frame(false, false);
	put16(f.bytes + f.udp + 2, 4790);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	roce_frame(false, false);
	f.bytes[f.l3 + 9] = 6;
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	/* A UDP datagram shorter than a BTH cannot be RoCE, but uses the port. */
	roce_frame(false, false);
	f.len = f.bth;
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);
}

/* What a reassembling receiver would take for RoCEv2 is caught at its first piece. */
static void no_way_round(void **state)
{
	struct __sk_buff skb = {0};
	struct tc *t = *state;
	uint8_t *l3;

	roce_frame(false, false);
	l3 = f.bytes + f.l3;
	put16(l3 + 6, 0x2000);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);
	put16(l3 + 6, 0x2000 | 100);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	put16(l3 + 6, 0x2000);
	put16(f.bytes + f.udp + 2, 53);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);

	roce_frame(false, true);
	l3 = f.bytes + f.l3;
	memmove(l3 + 24, l3 + 20, f.len - f.l3 - 20);
	memset(l3 + 20, 1, 4);
	l3[0] = 0x46;
	f.len += 4;
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);

	roce_frame(true, false);
	l3 = f.bytes + f.l3;
	memmove(l3 + 48, l3 + 40, f.len - f.l3 - 40);
	memset(l3 + 40, 0, 8);
	l3[6] = 44;
	l3[40] = 17;
	f.len += 8;
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);
	put16(l3 + 42, 1480 | 1);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
}

/* With the device's MAC known, a macvlan's frames above it are not ours. */
static void source_mac(void **state)
{
	struct rxe_bpf_config cfg = {0};
	struct __sk_buff skb = {0};
	struct tc *t = *state;
	uint32_t zero = 0;

	roce_frame(false, false);
	memcpy(cfg.mac, f.bytes + 6, 6);
	bpf_map_update_elem(t->config, &zero, &cfg, BPF_ANY);
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_DROP, TC_ACT_SHOT);
	f.bytes[11] ^= 1;
	expect(t, t->egress, &skb, RXE_TC_CNT_OUT_OTHER, TC_ACT_UNSPEC);
	memset(&cfg, 0, sizeof(cfg));
	bpf_map_update_elem(t->config, &zero, &cfg, BPF_ANY);
}

static void ingress(void **state)
{
	struct __sk_buff skb = {0};
	struct tc *t = *state;

	roce_frame(true, false);
	expect(t, t->ingress, &skb, RXE_TC_CNT_IN_ROCE, TC_ACT_UNSPEC);
	put16(f.bytes + f.udp + 2, 53);
	expect(t, t->ingress, &skb, RXE_TC_CNT_IN_OTHER, TC_ACT_UNSPEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard),
		cmocka_unit_test(others_go_out),
		cmocka_unit_test(vlans_are_others),
		cmocka_unit_test(no_way_round),
		cmocka_unit_test(source_mac),
		cmocka_unit_test(ingress),
	};

	return cmocka_run_group_tests_name("tc_guard", tests, setup, teardown);
}
