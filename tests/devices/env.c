/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The surroundings of the device tests: recorders in place of the datapath,
 * the workers, the transport's device table and the uverbs contexts.
 */
#include "env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "neigh.h"
#include "params.h"
#include "rxe/bpf_abi.h"
#include "uapi/sysfs_file.h"
#include "uapi/ucma.h"
#include "uapi/uverbs.h"

struct rxed rxed;
struct env_record env;

/* ---- stand-ins ------------------------------------------------------------- */

#define PARAM_DEFAULT(SYM, name, unit, def, min, max, when, help) [RXE_PARAM_##SYM] = def,
static const uint32_t param_defaults[RXE_PARAM_COUNT] = {RXE_PARAMS(PARAM_DEFAULT)};

uint32_t rxe_param(struct rxe_params *p, enum rxe_param_id id)
{
	(void)p;
	return env.params[id];
}

int rxe_param_set(struct rxe_params *p, enum rxe_param_id id, uint32_t value)
{
	(void)p;
	env.params[id] = value;
	return 0;
}

const int *rxe_param_fds(const struct rxe_params *p)
{
	static int fds[RXE_PARAM_COUNT];

	(void)p;
	return fds;
}

int rxe_hca_init(struct rxe_hca *hca, const struct rxe_limits *limits)
{
	hca->limits = *limits;
	return 0;
}

void rxe_hca_fini(struct rxe_hca *hca)
{
	memset(hca, 0, sizeof(*hca));
}

int rxe_workers_attach(struct rxe_dev *dev)
{
	(void)dev;
	if (env.attach_err)
		return env.attach_err;
	env.attached++;
	return 0;
}

void rxe_workers_attach_queues(struct rxe_dev *dev)
{
	(void)dev;
}

void rxe_workers_detach(struct rxe_dev *dev)
{
	assert_non_null(dev->dp); /* the datapath is closed after the workers let go */
	env.detached++;
}

void rxe_worker_rx(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	(void)ctx;
	(void)worker;
	(void)hca;
	(void)pkt;
}

uint64_t rxe_workers_counter(const struct rxe_dev *dev, enum rxe_hw_counter c)
{
	(void)dev;
	return 100 + (uint64_t)c;
}

void rxe_uverbs_dev_event(struct rxe_dev *dev, enum rxe_event_kind kind)
{
	(void)dev;
	env.events[kind]++;
}

void rxe_uverbs_dev_gone(struct rxe_dev *dev)
{
	assert_non_null(dev->dp); /* QPs are taken off the datapath before it closes */
	env.gone++;
}

void rxe_uverbs_dev_isolate(struct rxe_dev *dev)
{
	(void)dev;
	env.isolated++;
}

/* Nobody has opened a device: no objects, no ids. */
void uverbs_each(const struct rxe_dev *dev, enum uobj_kind kind,
		 void (*fn)(void *arg, struct uobj *o), void *arg)
{
	(void)dev;
	if (kind == UOBJ_SRQ && env.srq)
		fn(arg, env.srq);
	if (env.objects && env.objects_kind == (int)kind)
		for (struct uobj **o = env.objects; *o; o++)
			fn(arg, *o);
}

void uctx_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct uctx *ctx), void *arg)
{
	(void)dev;
	(void)fn;
	(void)arg;
}

void uqp_query(struct uqp *const *qps, struct rxe_qp_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		attrs[i].qp_state = RXE_QPS_RTS;
		attrs[i].sq_psn = qps[i]->qpn;
	}
}

void ucma_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct ucma_id *id), void *arg)
{
	(void)dev;
	(void)fn;
	(void)arg;
}

void ucma_addr_put(const struct ucma_addr *a, struct sockaddr_in6 *out)
{
	(void)a;
	memset(out, 0, sizeof(*out));
}

uint32_t rxe_mr_lkey(const struct rxe_mr *mr)
{
	(void)mr;
	return 0x11;
}

uint32_t rxe_mr_rkey(const struct rxe_mr *mr)
{
	(void)mr;
	return 0x22;
}

static int dp_open(const struct rxe_dp_config *cfg, struct rxe_dp **dp, char *err, size_t errlen)
{
	if (env.open_error) {
		snprintf(err, errlen, "device %s: the datapath refuses", cfg->dev_name);
		return env.open_error;
	}
	memcpy(env.mac, cfg->mac, sizeof(env.mac));
	env.opened++;
	*dp = (struct rxe_dp *)&env;
	return 0;
}

static void dp_close(struct rxe_dp *dp)
{
	(void)dp;
	env.closed++;
	env.nr_addrs = 0;
}

static int dp_addr_set(struct rxe_dp *dp, const union rxe_ip *ip, uint32_t flags)
{
	(void)dp;
	assert_int_equal(flags, rxe_ip_is_multicast(ip) ? RXE_ADDR_MULTICAST : RXE_ADDR_UNICAST);
	assert_true(env.nr_addrs < ENV_MAX_ADDRS);
	env.addrs[env.nr_addrs++] = *ip;
	return 0;
}

static void dp_addr_clear(struct rxe_dp *dp, const union rxe_ip *ip)
{
	(void)dp;
	for (unsigned int i = 0; i < env.nr_addrs; i++) {
		if (!memcmp(&env.addrs[i], ip, sizeof(*ip))) {
			env.addrs[i] = env.addrs[--env.nr_addrs];
			return;
		}
	}
	fail_msg("an address was taken back that was never given");
}

static void dp_mac_set(struct rxe_dp *dp, const uint8_t mac[6])
{
	(void)dp;
	memcpy(env.mac, mac, sizeof(env.mac));
}

static bool dp_attached(struct rxe_dp *dp, const uint32_t *prog_ids, int n, char *why, size_t len)
{
	(void)dp;
	snprintf(why, len, "the test's program is off");
	for (int i = 0; i < n && env.needs_prog; i++)
		if (prog_ids[i] == env.needs_prog)
			return true;
	return !env.needs_prog;
}

static uint32_t dp_max_ib_mtu(struct rxe_dp *dp, const char **why)
{
	(void)dp;
	*why = "the test says so";
	return env.max_ib_mtu;
}

const struct rxe_dp_ops rxe_dp_xdp = {
	.name = "recorder",
	.open = dp_open,
	.close = dp_close,
	.addr_set = dp_addr_set,
	.addr_clear = dp_addr_clear,
	.mac_set = dp_mac_set,
	.attached = dp_attached,
	.max_ib_mtu = dp_max_ib_mtu,
};

/* ---- the surroundings -------------------------------------------------------- */

void env_start(void)
{
	char dir[] = "/tmp/rxe-devices-XXXXXX";
	struct rxe_loop *loop = rxed.loop; /* one for ever, as in the daemon */

	memset(&env, 0, sizeof(env));
	memset(&rxed, 0, sizeof(rxed));
	memcpy(env.params, param_defaults, sizeof(env.params));
	env.max_ib_mtu = 4096;
	TAILQ_INIT(&rxed.devs);
	rxed.netns_mode = RXE_NETNS_SHARED;
	rxed.nr_workers = 1;
	rxed.loop = loop ? loop : rxe_loop_new();
	assert_non_null(rxed.loop);
	assert_non_null(mkdtemp(dir));
	snprintf(rxed.rundir, sizeof(rxed.rundir), "%s", dir);
	assert_int_equal(rxe_sysfs_init(), 0);
}

static void run_posted(void);

void env_stop(void)
{
	struct rxe_dev *dev;

	while ((dev = TAILQ_FIRST(&rxed.devs)))
		rxe_dev_delete(dev);
	run_posted();
	rxe_sysfs_remove("");
	assert_int_equal(rmdir(rxed.rundir), 0);
}

struct wait {
	struct rxe_timer poll;
	bool (*cond)(void *arg);
	void *arg;
	uint64_t until;
	bool met;
};

static void poll_cond(struct rxe_timer *t)
{
	struct wait *w = (struct wait *)t;

	w->met = w->cond(w->arg);
	if (w->met || rxe_now_ns() >= w->until)
		rxe_loop_stop(rxed.loop);
	else
		rxe_loop_timer(rxed.loop, t, 2000000);
}

bool env_wait(bool (*cond)(void *arg), void *arg, unsigned int ms)
{
	struct wait w = {.poll.cb = poll_cond, .cond = cond, .arg = arg};

	w.until = rxe_now_ns() + ms * 1000000ull;
	rxe_loop_timer(rxed.loop, &w.poll, 0);
	rxe_loop_run(rxed.loop);
	return w.met;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void run_posted(void)
{
	env_wait(never, NULL, 5);
}

void env_private_netns(void)
{
	if (unshare(CLONE_NEWNET)) {
		print_message("skipped: a network namespace of its own needs root: %s\n",
			      strerror(errno));
		exit(0);
	}
}

void env_sh(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd))
		fail_msg("command failed: %s", cmd);
}

const char *env_sysfs(const char *path)
{
	static char line[256];
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/sys/%s", rxed.rundir, path);
	f = fopen(full, "r");
	if (!f)
		return NULL;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	line[strcspn(line, "\n")] = 0;
	return line;
}

union rxe_ip env_ip(const char *text)
{
	union rxe_ip ip = {0};

	if (inet_pton(AF_INET6, text, &ip) != 1) {
		ip.raw[10] = 0xff;
		ip.raw[11] = 0xff;
		assert_int_equal(inet_pton(AF_INET, text, &ip.w[3]), 1);
	}
	return ip;
}
