/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UD QPs in a multicast group, for selftests: receivers that count what each
 * of their QPs gets, and a sender that may be a member itself. Every datagram
 * carries its number; GRH, length and payload are looked at.
 *
 *	ud_group recv DEVICE GID_INDEX GROUP COUNT QPS
 *	ud_group send DEVICE GID_INDEX GROUP COUNT [member|blocked]
 *	ud_group errors DEVICE GROUP
 *	ud_group hold DEVICE GROUP
 *
 * recv says "ready" when it is in the group. send as a member must hear itself
 * COUNT times, as a blocked one (BLOCK_SELF_MCAST_LB) never.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QKEY	   0x11223344
#define SIZE	   1000
#define SLOT	   1088
#define DEPTH	   128 /* more than a test sends: a slow receiver loses nothing */
#define MAX_QPS	   8
#define GROUP_QPN  0xffffff
#define PATIENCE_S 20.0
#define QUIET_S	   0.5

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[MAX_QPS];
	int nr_qps;
	unsigned int got[MAX_QPS];
	uint8_t *mem;
	uint8_t *out;
};

static void die(const char *what)
{
	fprintf(stderr, "ud_group: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *must(void *p, const char *what)
{
	if (!p)
		die(what);
	return p;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static union ibv_gid group_of(const char *text)
{
	union ibv_gid g = {.raw = {[10] = 0xff, 0xff}};

	if (inet_pton(AF_INET, text, g.raw + 12) != 1 && inet_pton(AF_INET6, text, g.raw) != 1) {
		errno = EINVAL;
		die(text);
	}
	return g;
}

/* ---- objects ------------------------------------------------------------------- */

static void open_side(struct side *s, const char *name)
{
	struct ibv_device **list = must(ibv_get_device_list(NULL), "devices");
	size_t bytes = (size_t)(MAX_QPS * DEPTH + 1) * SLOT;

	for (int i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			s->ctx = ibv_open_device(list[i]);
	must(s->ctx, "opening the device");
	ibv_free_device_list(list);
	s->pd = must(ibv_alloc_pd(s->ctx), "PD");
	s->cq = must(ibv_create_cq(s->ctx, MAX_QPS * DEPTH * 2, NULL, NULL, 0), "CQ");
	s->mem = must(aligned_alloc(4096, (bytes + 4095) & ~4095ul), "memory");
	s->out = s->mem + (size_t)MAX_QPS * DEPTH * SLOT;
	s->mr = must(ibv_reg_mr(s->pd, s->mem, bytes, IBV_ACCESS_LOCAL_WRITE), "MR");
}

static void post_recv(struct side *s, int q, int slot)
{
	struct ibv_sge sge = {(uintptr_t)s->mem + (size_t)(q * DEPTH + slot) * SLOT, SLOT,
			      s->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = q * DEPTH + slot, .sg_list = &sge, .num_sge = 1}, *bad;

	if (ibv_post_recv(s->qp[q], &wr, &bad))
		die("posting a receive");
}

static void set_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr a = {.qp_state = state, .port_num = 1, .qkey = QKEY};

	errno = ibv_modify_qp(qp, &a, IBV_QP_STATE | mask);
	if (errno)
		die("modifying a QP");
}

static struct ibv_qp *new_qp(struct side *s, uint32_t create_flags)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_UD,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.pd = s->pd,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | (create_flags ? IBV_QP_INIT_ATTR_CREATE_FLAGS : 0),
		.create_flags = create_flags,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	return ibv_create_qp_ex(s->ctx, &init);
}

static void add_qp(struct side *s, uint32_t create_flags)
{
	int q = s->nr_qps++;

	s->qp[q] = must(new_qp(s, create_flags), "QP");
	set_state(s->qp[q], IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	for (int slot = 0; slot < DEPTH; slot++)
		post_recv(s, q, slot);
	set_state(s->qp[q], IBV_QPS_RTR, 0);
	set_state(s->qp[q], IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

static void attach(struct side *s, const union ibv_gid *group)
{
	for (int q = 0; q < s->nr_qps; q++) {
		errno = ibv_attach_mcast(s->qp[q], group, 0);
		if (errno)
			die("attaching");
	}
}

static void close_side(struct side *s, const union ibv_gid *group)
{
	for (int q = 0; q < s->nr_qps; q++) {
		if (group)
			errno = ibv_detach_mcast(s->qp[q], group, 0);
		if (group && errno)
			die("detaching");
		errno = ibv_destroy_qp(s->qp[q]);
		if (errno)
			die("destroying a QP");
	}
	ibv_dereg_mr(s->mr);
	ibv_destroy_cq(s->cq);
	ibv_dealloc_pd(s->pd);
	ibv_close_device(s->ctx);
}

/* ---- traffic -------------------------------------------------------------------- */

static void check_datagram(const uint8_t *at, const struct ibv_wc *wc, const union ibv_gid *group)
{
	bool v4 = group->raw[0] != 0xff;

	if (wc->byte_len != SIZE + 40 || !(wc->wc_flags & IBV_WC_GRH)) {
		fprintf(stderr, "a datagram of %u bytes, flags %#x\n", wc->byte_len, wc->wc_flags);
		exit(1);
	}
	if (v4 ? memcmp(at + 36, group->raw + 12, 4) : memcmp(at + 24, group->raw, 16)) {
		fprintf(stderr, "the GRH does not name the group\n");
		exit(1);
	}
	for (int i = 4; i < SIZE; i++)
		if (at[40 + i] != (uint8_t)(i ^ at[40])) {
			fprintf(stderr, "byte %d of a datagram is wrong\n", i);
			exit(1);
		}
}

/* Takes completions; returns how many send ones. */
static int poll_some(struct side *s, const union ibv_gid *group)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(s->cq, 16, wc), sent = 0;

	for (int i = 0; i < n; i++) {
		int q = wc[i].wr_id / DEPTH;

		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc[i].status));
			exit(1);
		}
		if (wc[i].opcode == IBV_WC_SEND) {
			sent++;
			continue;
		}
		check_datagram(s->mem + wc[i].wr_id * SLOT, &wc[i], group);
		s->got[q]++;
		post_recv(s, q, wc[i].wr_id % DEPTH);
	}
	return sent;
}

static bool all_have(const struct side *s, unsigned int count)
{
	for (int q = 0; q < s->nr_qps; q++)
		if (s->got[q] < count)
			return false;
	return true;
}

/* Every QP got exactly count; a little later still. */
static void expect(struct side *s, const union ibv_gid *group, unsigned int count)
{
	double end = now() + PATIENCE_S;

	while (!all_have(s, count) && now() < end)
		poll_some(s, group);
	for (end = now() + QUIET_S; now() < end;)
		poll_some(s, group);
	for (int q = 0; q < s->nr_qps; q++) {
		printf("QP %#x: %u of %u\n", s->qp[q]->qp_num, s->got[q], count);
		if (s->got[q] != count)
			exit(1);
	}
}

static struct ibv_ah *make_ah(struct side *s, int gid_index, const union ibv_gid *group)
{
	struct ibv_ah_attr a = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = *group, .sgid_index = gid_index, .hop_limit = 1},
	};

	return must(ibv_create_ah(s->pd, &a), "AH");
}

static void send_one(struct side *s, struct ibv_ah *ah, const union ibv_gid *group, uint8_t nr)
{
	struct ibv_sge sge = {(uintptr_t)s->out, SIZE, s->mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.ud = {ah, GROUP_QPN, QKEY}},
			   *bad;
	double end = now() + PATIENCE_S;

	for (int i = 0; i < SIZE; i++)
		s->out[i] = i < 4 ? nr : (uint8_t)(i ^ nr);
	if (ibv_post_send(s->qp[0], &wr, &bad))
		die("posting a send");
	while (!poll_some(s, group))
		if (now() > end)
			die("no send completion");
}

/* ---- what it does ----------------------------------------------------------------- */

static int run_recv(char **arg)
{
	union ibv_gid group = group_of(arg[2]);
	struct side s = {0};
	int qps = atoi(arg[4]);

	open_side(&s, arg[0]);
	for (int i = 0; i < qps; i++)
		add_qp(&s, 0);
	attach(&s, &group);
	printf("ready\n");
	fflush(stdout);
	expect(&s, &group, atoi(arg[3]));
	close_side(&s, &group);
	return 0;
}

static int run_send(char **arg)
{
	bool blocked = arg[4] && !strcmp(arg[4], "blocked");
	union ibv_gid group = group_of(arg[2]);
	struct side s = {0};
	struct ibv_ah *ah;
	int count = atoi(arg[3]);

	open_side(&s, arg[0]);
	add_qp(&s, blocked ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0);
	if (arg[4])
		attach(&s, &group);
	ah = make_ah(&s, atoi(arg[1]), &group);
	for (int i = 0; i < count; i++)
		send_one(&s, ah, &group, i);
	expect(&s, &group, arg[4] && !blocked ? count : 0);
	ibv_destroy_ah(ah);
	close_side(&s, arg[4] ? &group : NULL);
	return 0;
}

static void want(const char *what, int got, int want)
{
	printf("%s: %s\n", what, strerror(got));
	if (got != want) {
		fprintf(stderr, "%s: errno %d, not %d\n", what, got, want);
		exit(1);
	}
}

/* The errors of attaching and detaching, and a QP that is still in a group. */
static int run_errors(char **arg)
{
	union ibv_gid group = group_of(arg[1]), unicast = group_of("10.0.0.1");
	struct ibv_qp_init_attr rc = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct side s = {0};
	struct ibv_qp *qp;

	open_side(&s, arg[0]);
	rc.send_cq = rc.recv_cq = s.cq;
	qp = must(ibv_create_qp(s.pd, &rc), "RC QP");
	add_qp(&s, 0);
	want("attaching an RC QP", ibv_attach_mcast(qp, &group, 0), EINVAL);
	want("attaching to a unicast GID", ibv_attach_mcast(s.qp[0], &unicast, 0), EINVAL);
	want("detaching from a group it is not in", ibv_detach_mcast(s.qp[0], &group, 0), EINVAL);
	want("attaching", ibv_attach_mcast(s.qp[0], &group, 0), 0);
	want("attaching again", ibv_attach_mcast(s.qp[0], &group, 0), 0);
	want("destroying an attached QP", ibv_destroy_qp(s.qp[0]), EBUSY);
	want("detaching", ibv_detach_mcast(s.qp[0], &group, 0), 0);
	want("detaching again", ibv_detach_mcast(s.qp[0], &group, 0), EINVAL);
	ibv_destroy_qp(qp);
	close_side(&s, NULL);
	return 0;
}

/* In the group until it is killed. */
static int run_hold(char **arg)
{
	union ibv_gid group = group_of(arg[1]);
	struct side s = {0};

	open_side(&s, arg[0]);
	add_qp(&s, 0);
	attach(&s, &group);
	printf("ready\n");
	fflush(stdout);
	return pause();
}

/* QPs until one group takes no more, groups until the device takes no more. */
static int run_limits(char **arg)
{
	union ibv_gid group = group_of(arg[1]);
	struct ibv_device_attr d;
	struct side s = {0};
	struct ibv_qp *qp[256];
	int n = 0, err = 0;

	open_side(&s, arg[0]);
	if (ibv_query_device(s.ctx, &d))
		die("querying the device");
	printf("groups %d, QPs in one %d, in all %d\n", d.max_mcast_grp, d.max_mcast_qp_attach,
	       d.max_total_mcast_qp_attach);
	while (n < 256 && !err) {
		qp[n] = must(new_qp(&s, 0), "QP");
		err = ibv_attach_mcast(qp[n++], &group, 0);
	}
	want("one QP too many", err, ENOMEM);
	want("QPs in the group", n - 1, d.max_mcast_qp_attach);
	for (int i = 0; i < n - 1; i++)
		want("leaving", ibv_detach_mcast(qp[i], &group, 0), 0);
	for (n = 0, err = 0; n < 65536 && !err; n++) {
		group.raw[14] = n >> 8;
		group.raw[15] = n;
		err = ibv_attach_mcast(qp[0], &group, 0);
	}
	want("one group too many", err, ENOMEM);
	want("groups", n - 1, d.max_mcast_grp);
	return 0; /* the rest goes with the context */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char **arg);
	} modes[] = {
		{"recv", 5, run_recv}, {"send", 4, run_send},	  {"errors", 2, run_errors},
		{"hold", 2, run_hold}, {"limits", 2, run_limits},
	};

	for (unsigned int i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name) && argc >= 2 + modes[i].args)
			return modes[i].run(argv + 2);
	fprintf(stderr, "usage: ud_group recv|send|errors|hold|limits ...\n");
	return 2;
}
