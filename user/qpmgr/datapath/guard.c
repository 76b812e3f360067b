// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching and detaching the TC programs. */
#include "datapath/guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "datapath/steer.h"
#include "kernel_compat.h"
#include "log.h"

#define OBJECT_NAME	"rxe_tc.bpf.o"
#define FILTER_HANDLE	0x5258 /* one filter of ours per hook: a new rxed replaces it */
#define FILTER_PRIORITY 0x5258

static const struct {
	const char *prog;
	enum bpf_attach_type tcx;
	enum bpf_tc_attach_point clsact;
} side_table[RXE_GUARD_SIDES] = {
	[RXE_GUARD_INGRESS] = {"rxe_tc_ingress", RXE_BPF_TCX_INGRESS, BPF_TC_INGRESS},
	[RXE_GUARD_EGRESS] = {"rxe_tc_egress", RXE_BPF_TCX_EGRESS, BPF_TC_EGRESS},
};

static int prog_fd(const struct rxe_guard *g, int side)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(g->obj, side_table[side].prog);

	return prog ? bpf_program__fd(prog) : -ENOENT;
}

/* ---- tcx ----------------------------------------------------------------------- */

static int attach_tcx(struct rxe_guard *g)
{
	for (int i = 0; i < RXE_GUARD_SIDES; i++) {
		g->link_fd[i] = bpf_link_create(prog_fd(g, i), g->ifindex, side_table[i].tcx, NULL);
		if (g->link_fd[i] < 0)
			return -errno;
	}
	return 0;
}

static void detach_tcx(struct rxe_guard *g)
{
	for (int i = 0; i < RXE_GUARD_SIDES; i++) {
		if (g->link_fd[i] >= 0)
			close(g->link_fd[i]);
		g->link_fd[i] = -1;
	}
}

/* ---- clsact --------------------------------------------------------------------- */

static int attach_filter(struct rxe_guard *g, int side)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = g->ifindex,
		    .attach_point = side_table[side].clsact);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd(g, side), .flags = BPF_TC_F_REPLACE,
		    .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);
	int err = bpf_tc_hook_create(&hook);

	/* The qdisc may be others' too: it is made when missing and never removed. */
	if (err && err != -EEXIST)
		return err;
	err = bpf_tc_attach(&hook, &opts);
	g->filter[side] = !err;
	return err;
}

static void detach_filters(struct rxe_guard *g)
{
	for (int i = 0; i < RXE_GUARD_SIDES; i++) {
		LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = g->ifindex,
			    .attach_point = side_table[i].clsact);
		LIBBPF_OPTS(bpf_tc_opts, opts, .handle = FILTER_HANDLE,
			    .priority = FILTER_PRIORITY);

		if (g->filter[i])
			bpf_tc_detach(&hook, &opts);
		g->filter[i] = false;
	}
}

int rxe_guard_attach_clsact(struct rxe_guard *g)
{
	int err = 0;

	for (int i = 0; i < RXE_GUARD_SIDES && !err; i++)
		err = attach_filter(g, i);
	if (err)
		detach_filters(g);
	return err;
}

/* Runs detach_filters() in the netdev's netns and comes back. */
static void detach_filters_in_netns(struct rxe_guard *g)
{
	int home;

	if (!g->filter[RXE_GUARD_INGRESS] && !g->filter[RXE_GUARD_EGRESS])
		return;
	home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || setns(g->netns_fd, CLONE_NEWNET) != 0) {
		log_warn("removing the TC guard of interface %d: cannot enter its network "
			 "namespace: %s",
			 g->ifindex, strerror(errno));
	} else {
		detach_filters(g);
		if (setns(home, CLONE_NEWNET) != 0)
			log_err("coming back from the network namespace of interface %d: %s",
				g->ifindex, strerror(errno));
	}
	if (home >= 0)
		close(home);
}

/* ---- public ------------------------------------------------------------------------ */

static int load(struct rxe_guard *g, const char *object_dir, struct rxe_errline *err)
{
	char path[512];
	int ret;

	snprintf(path, sizeof(path), "%s/%s", object_dir, OBJECT_NAME);
	g->obj = bpf_object__open_file(path, NULL);
	ret = g->obj ? bpf_object__load(g->obj) : -errno;
	if (!ret)
		g->counters_fd = bpf_object__find_map_fd_by_name(g->obj, "counters");
	if (!ret)
		g->config_fd = bpf_object__find_map_fd_by_name(g->obj, "config");
	if (!ret && (g->counters_fd < 0 || g->config_fd < 0 || prog_fd(g, RXE_GUARD_INGRESS) < 0 ||
		     prog_fd(g, RXE_GUARD_EGRESS) < 0))
		ret = -EPROTO;
	if (ret)
		return rxe_fail(
			err, ret,
			"cannot load the TC guard %s: %s; build it with `make`, of the same "
			"version as rxed, and run rxed with CAP_BPF and CAP_NET_ADMIN",
			path, strerror(-ret));
	return 0;
}

int rxe_guard_open(struct rxe_guard *g, const char *object_dir, const char *netdev, int ifindex,
		   struct rxe_errline *err)
{
	int ret, tcx;

	memset(g, 0, sizeof(*g));
	g->ifindex = ifindex;
	g->link_fd[RXE_GUARD_INGRESS] = g->link_fd[RXE_GUARD_EGRESS] = -1;
	g->netns_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	ret = load(g, object_dir, err);
	if (ret)
		goto out_close;
	tcx = attach_tcx(g);
	if (!tcx)
		return 0;
	detach_tcx(g);
	ret = rxe_guard_attach_clsact(g);
	if (!ret) {
		log_info("%s: no tcx here (%s): the TC guard is a clsact filter; `tc qdisc del dev "
			 "%s clsact` removes what a killed rxed leaves",
			 netdev, strerror(-tcx), netdev);
		return 0;
	}
	rxe_fail(err, ret,
		 "cannot attach the TC guard to %s: as tcx: %s, as a clsact filter: %s; without it "
		 "any local user could send RoCE frames, so the kernel needs tcx (6.6) or "
		 "CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF",
		 netdev, strerror(-tcx), strerror(-ret));
out_close:
	rxe_guard_close(g);
	return ret;
}

void rxe_guard_close(struct rxe_guard *g)
{
	detach_tcx(g);
	detach_filters_in_netns(g);
	if (g->obj)
		bpf_object__close(g->obj);
	g->obj = NULL;
	if (g->netns_fd >= 0)
		close(g->netns_fd);
	g->netns_fd = -1;
}

void rxe_guard_mac(struct rxe_guard *g, const uint8_t mac[6])
{
	struct rxe_bpf_config config = {0};
	uint32_t zero = 0;

	memcpy(config.mac, mac, sizeof(config.mac));
	if (bpf_map_update_elem(g->config_fd, &zero, &config, BPF_ANY) != 0)
		log_warn("telling the TC guard of interface %d its MAC: %s; it guards the old one",
			 g->ifindex, strerror(errno));
}

int rxe_guard_counters(const struct rxe_guard *g, uint64_t sum[RXE_TC_CNT_COUNT])
{
	return rxe_percpu_sums(g->counters_fd, RXE_TC_CNT_COUNT, sum);
}
