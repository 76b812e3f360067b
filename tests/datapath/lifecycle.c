// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who attaches, who detaches, and when: own and adopted programs, foreign
 * ones, busy queues, a killed owner, the TC guard, UDP port 4791. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bed.h"
#include "datapath/guard.h"
#include "datapath/xdp.h"
#include "loop.h"

#define QPN	77u
#define RC_SEND 0x04

static char err[512];

static const char *objects(void)
{
	const char *dir = getenv("RXE_BUILD_DIR");

	return dir ? dir : "build";
}

static void open_end(struct bed_end *e)
{
	if (bed_open(e, 1, err, sizeof(err)))
		fail_msg("open: %s", err);
	assert_int_equal(rxe_dp_xdp.qp_set(e->dp, QPN, 0, RXE_CLASS_RC, true, NULL), 0);
}

static uint32_t attached_prog(struct bed_end *e)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);

	bed_enter(e);
	assert_int_equal(bpf_xdp_query(e->ifindex, 0, &q), 0);
	bed_leave();
	return q.prog_id | q.drv_prog_id | q.skb_prog_id;
}

static void one_packet(struct bed *b, struct bed_end *to)
{
	struct bed_send s = {
		.src_qpn = 9, .dst_qpn = QPN, .len = 1000, .opcode = RC_SEND, .seed = to->nr_got};

	assert_true(bed_send(&b->end[to == &b->end[0]], &s));
	assert_true(bed_wait(to, to->nr_got + 1));
	assert_true(bed_same(to, &s));
}

static void own_program_goes_with_close(void **state)
{
	struct bed *b = bed_new(1500, 1);

	(void)state;
	for (int i = 0; i < 5; i++) {
		open_end(&b->end[0]);
		open_end(&b->end[1]);
		assert_int_not_equal(attached_prog(&b->end[1]), 0);
		one_packet(b, &b->end[1]);
		bed_close(&b->end[0]);
		bed_close(&b->end[1]);
		assert_int_equal(attached_prog(&b->end[1]), 0);
	}
	bed_free(b);
}

static int fds_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void refused(struct bed_end *e, int code, const char *text)
{
	int fds = fds_open();

	assert_int_equal(bed_open(e, 1, err, sizeof(err)), code);
	print_message("    %s\n", err);
	assert_non_null(strstr(err, e->dev));
	assert_non_null(strstr(err, text));
	assert_int_equal(fds_open(), fds); /* nothing is left */
}

static void second_rxed(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end second = b->end[1];

	(void)state;
	open_end(&b->end[0]);
	open_end(&b->end[1]);
	for (int i = 0; i < 3; i++)
		refused(&second, -EBUSY, "another rxed");
	one_packet(b, &b->end[1]);
	bed_free(b);
}

static int load_foreign(void)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "stranger", "GPL", pass, 2, NULL);

	assert_true(fd >= 0);
	return fd;
}

static void foreign_program(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[1];
	int fd = load_foreign();

	(void)state;
	bed_enter(e);
	assert_int_equal(bpf_xdp_attach(e->ifindex, fd, 0, NULL), 0);
	bed_leave();
	refused(e, -EEXIST, "stranger");
	assert_int_not_equal(attached_prog(e), 0);
	bed_run("ip -n %s link set dev %s xdp off", e->ns, e->dev);
	open_end(e);
	close(fd);
	bed_free(b);
}

static void missing_object(void **state)
{
	struct bed *b = bed_new(1500, 1);
	char *dir = strdup(objects());

	(void)state;
	setenv("RXE_BUILD_DIR", "/nonexistent", 1);
	assert_int_equal(bed_open(&b->end[0], 1, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "/nonexistent/rxe_xdp.bpf.o"));
	setenv("RXE_BUILD_DIR", dir, 1);
	assert_int_equal(attached_prog(&b->end[0]), 0);
	free(dir);
	bed_free(b);
}

static void ip_link_xdp(struct bed_end *e, const char *how)
{
	assert_int_equal(bed_run("ip -n %s link set dev %s %s obj %s/rxe_xdp.bpf.o sec xdp.frags",
				 e->ns, e->dev, how, objects()),
			 0);
}

static void beat(struct bed_end *e, uint64_t ns)
{
	uint64_t end = rxe_now_ns() + ns;

	while (rxe_now_ns() < end) {
		rxe_dp_xdp.tick(e->dp);
		usleep(100000);
	}
}

/* A program that iproute2 attached is used, stays, and passes everything later. */
static void adopted(const char *how)
{
	struct bed *b = bed_new(9000, 1);
	struct bed_end *e = &b->end[1];
	struct bed_send s = {.src_qpn = 9, .dst_qpn = QPN, .len = 100, .opcode = RC_SEND};
	uint32_t id;

	ip_link_xdp(e, how);
	id = attached_prog(e);
	open_end(&b->end[0]);
	for (int i = 0; i < 3; i++) {
		open_end(e);
		one_packet(b, e);
		assert_int_equal(attached_prog(e), id);
		bed_close(e);
		assert_int_equal(attached_prog(e), id);
	}
	/* Nobody is there: passed. Then adopted anew, with an empty QPN table. */
	assert_true(bed_send(&b->end[0], &s));
	bed_step(&b->end[0]);
	if (bed_open(e, 1, err, sizeof(err)))
		fail_msg("open: %s", err);
	assert_true(bed_stat(e, "pass_no_daemon") >= 1);
	assert_true(bed_send(&b->end[0], &s));
	assert_false(bed_wait(e, 1));
	assert_int_equal(bed_stat(e, "drop_no_qp"), 1);
	bed_free(b);
}

static void adopted_native(void **state)
{
	(void)state;
	adopted("xdp");
}

static void adopted_generic(void **state)
{
	(void)state;
	adopted("xdpgeneric");
}

/* A netdev without native XDP: generic mode, by ourselves. */
static void generic_fallback(void **state)
{
	struct bed *b = bed_new(9000, 1);
	struct bed_end *e = &b->end[1];

	(void)state;
	assert_int_equal(bed_run("ip -n %s link add link dv1 name mv1 type macvlan mode bridge && "
				 "ip -n %s link set dev mv1 mtu 9000 up",
				 e->ns, e->ns),
			 0);
	strcpy(e->dev, "mv1");
	bed_learn(e);
	open_end(&b->end[0]);
	open_end(e);
	assert_true(e->dp->prog.generic);
	memcpy(&b->end[0].to_peer.dmac_word, e->mac, 6);
	for (int i = 0; i < 10; i++) {
		one_packet(b, e);
		one_packet(b, &b->end[0]);
	}
	bed_free(b);
}

/* Which programs on the netdev let packets through to the datapath. */
static void attached_is_told(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[1];
	uint32_t ids[3] = {0, 0, 0};
	char number[64];

	(void)state;
	ip_link_xdp(e, "xdp");
	open_end(&b->end[0]);
	open_end(e);
	assert_true(rxe_dp_xdp.attached(b->end[0].dp, ids, 3, err, sizeof(err))); /* its own */
	assert_false(rxe_dp_xdp.attached(e->dp, ids, 3, err, sizeof(err)));
	print_message("    %s\n", err);
	ids[0] = attached_prog(e) + 1;
	assert_false(rxe_dp_xdp.attached(e->dp, ids, 3, err, sizeof(err)));
	snprintf(number, sizeof(number), "net attach xdp id %u dev %s", ids[0] - 1, e->dev);
	assert_non_null(strstr(err, number));
	ids[1] = attached_prog(e);
	assert_true(rxe_dp_xdp.attached(e->dp, ids, 3, err, sizeof(err)));
	bed_free(b);
}

static void heartbeat(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[1];
	struct bed_send s = {.src_qpn = 9, .dst_qpn = QPN, .len = 100, .opcode = RC_SEND};

	(void)state;
	ip_link_xdp(e, "xdp");
	open_end(&b->end[0]);
	open_end(e);
	beat(e, 3500000000ull);
	one_packet(b, e);
	usleep(3200000); /* it stops beating: taken for dead */
	assert_true(bed_send(&b->end[0], &s));
	assert_false(bed_wait(e, e->nr_got + 1));
	assert_int_equal(bed_stat(e, "pass_no_daemon"), 1);
	rxe_dp_xdp.tick(e->dp);
	one_packet(b, e);
	bed_free(b);
}

static void second_rxed_on_adopted(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end second;

	(void)state;
	ip_link_xdp(&b->end[1], "xdp");
	second = b->end[1];
	open_end(&b->end[0]);
	open_end(&b->end[1]);
	for (int i = 0; i < 2; i++)
		refused(&second, -EBUSY, "queue 0");
	rxe_dp_xdp.tick(b->end[1].dp); /* refusing takes time */
	/* The refused one has not touched the owner's maps. */
	one_packet(b, &b->end[1]);
	bed_free(b);
}

/* An owner that is killed leaves nothing of its own, and can start again at once. */
static void killed_owner(const char *adopt)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[1];
	int status, ready[2];
	pid_t pid;
	char c;

	if (adopt)
		ip_link_xdp(e, adopt);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		open_end(e);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_not_equal(attached_prog(e), 0);
	open_end(&b->end[0]);
	kill(pid, SIGKILL);
	open_end(e); /* while it is still dying */
	waitpid(pid, &status, 0);
	one_packet(b, e);
	close(ready[0]);
	close(ready[1]);
	bed_free(b);
}

static void killed_owner_of_own(void **state)
{
	(void)state;
	killed_owner(NULL);
}

static void killed_owner_of_adopted(void **state)
{
	(void)state;
	killed_owner("xdp");
}

/* Copies the object with another version number behind its ABI magic. */
static void write_old_object(const char *path)
{
	const struct rxe_bpf_abi abi = {RXE_BPF_ABI_MAGIC, RXE_BPF_ABI_VERSION};
	static uint8_t image[4 << 20];
	char from[512];
	uint8_t *at;
	size_t n;
	FILE *f;

	snprintf(from, sizeof(from), "%s/rxe_xdp.bpf.o", objects());
	f = fopen(from, "re");
	assert_non_null(f);
	n = fread(image, 1, sizeof(image), f);
	fclose(f);
	at = memmem(image, n, &abi, sizeof(abi));
	assert_non_null(at);
	at[offsetof(struct rxe_bpf_abi, version)] = 99;
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(image, 1, n, f), n);
	fclose(f);
}

static void other_abi_version(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[1];
	char path[] = "/tmp/rxe-datapath-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_old_object(path);
	assert_int_equal(
		bed_run("ip -n %s link set dev %s xdp obj %s sec xdp.frags", e->ns, e->dev, path),
		0);
	unlink(path);
	refused(e, -EPROTO, "99");
	bed_free(b);
}

/* The netdev is deleted beneath us: no busy loop, nothing blocks, close() works. */
static void netdev_deleted(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[0];
	struct bed_send s = {.src_qpn = 9, .dst_qpn = QPN, .len = 100, .opcode = RC_SEND};
	struct pollfd pfd[8];
	uint32_t spins = 0;
	int n;

	(void)state;
	open_end(e);
	open_end(&b->end[1]);
	one_packet(b, &b->end[1]);
	assert_int_equal(bed_run("ip -n %s link del dev %s", b->end[1].ns, b->end[1].dev), 0);
	for (int i = 0; i < 5000; i++) {
		assert_true(bed_send(e, &s));
		bed_step(e);
		bed_step(&b->end[1]);
	}
	while (rxe_dp_xdp.pending(e->dp, 0))
		assert_true(++spins < 10000);
	n = rxe_dp_xdp.pollfds(e->dp, 0, pfd, 8);
	assert_int_equal(n, 2);
	assert_int_equal(poll(pfd, (nfds_t)n, 50), 0);
	assert_true(bed_stat(e, "xsk_tx_link_down") > 0);
	bed_free(b);
}

/* ---- the guard ------------------------------------------------------------------- */

static void send_udp(struct bed_end *e, bool v6, uint16_t port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct bed_end *to = &e->bed->end[e == &e->bed->end[0]];
	char body[32] = {4};
	int fd;

	memcpy(&six.sin6_addr, to->ip[1].raw, 16);
	four.sin_addr.s_addr = to->ip[0].w[3];
	bed_enter(e);
	fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
	bed_leave();
	if (v6)
		sendto(fd, body, sizeof(body), 0, (struct sockaddr *)&six, sizeof(six));
	else
		sendto(fd, body, sizeof(body), 0, (struct sockaddr *)&four, sizeof(four));
	close(fd);
}

static uint64_t wait_stat(struct bed_end *e, const char *name, uint64_t want)
{
	uint64_t end = rxe_now_ns() + 2000000000ull, v;

	while ((v = bed_stat(e, name)) < want && rxe_now_ns() < end)
		usleep(1000);
	return v;
}

static void guard_drops_stack_frames(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[0];
	uint64_t other;

	(void)state;
	open_end(e);
	open_end(&b->end[1]);
	send_udp(e, false, 4791);
	send_udp(e, true, 4791);
	assert_int_equal(wait_stat(e, "tc_egress_guard_drop", 2), 2);
	other = bed_stat(e, "tc_egress_other");
	send_udp(e, false, 4792);
	assert_true(wait_stat(e, "tc_egress_other", other + 1) > other);
	assert_int_equal(bed_stat(e, "tc_egress_guard_drop"), 2);
	one_packet(b, &b->end[1]); /* AF_XDP transmit does not pass the guard */
	bed_free(b);
}

static void guard_as_clsact_filter(void **state)
{
	struct bed *b = bed_new(1500, 1);
	struct bed_end *e = &b->end[0];
	struct rxe_errline line = {err, sizeof(err)};
	uint64_t sum[RXE_TC_CNT_COUNT];
	struct rxe_guard g;

	(void)state;
	bed_enter(e);
	if (rxe_guard_open(&g, objects(), e->dev, e->ifindex, &line))
		fail_msg("%s", err);
	for (int i = 0; i < RXE_GUARD_SIDES; i++) { /* as on a kernel without tcx */
		close(g.link_fd[i]);
		g.link_fd[i] = -1;
	}
	for (int i = 0; i < 2; i++) /* the second time over what a killed rxed left */
		assert_int_equal(rxe_guard_attach_clsact(&g), 0);
	bed_leave();
	send_udp(e, false, 4791);
	for (int i = 0; i < 200; i++) {
		rxe_guard_counters(&g, sum);
		if (sum[RXE_TC_CNT_OUT_DROP])
			break;
		usleep(10000);
	}
	assert_int_equal(sum[RXE_TC_CNT_OUT_DROP], 1);
	rxe_guard_close(&g); /* from another namespace */
	assert_int_not_equal(
		bed_run("tc -n %s filter show dev %s egress | grep -q rxe_tc", e->ns, e->dev), 0);
	bed_free(b);
}

/* ---- UDP port 4791 --------------------------------------------------------------- */

static int try_bind(struct bed_end *e, bool reuse)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(4791)};
	int fd, ret, one = 1;

	bed_enter(e);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	bed_leave();
	if (reuse)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ret = bind(fd, (struct sockaddr *)&four, sizeof(four)) ? -errno : 0;
	close(fd);
	return ret;
}

static void port_is_held(void **state)
{
	struct bed *b = bed_new(1500, 1);

	(void)state;
	open_end(&b->end[0]);
	assert_int_equal(try_bind(&b->end[0], false), -EADDRINUSE);
	assert_int_equal(try_bind(&b->end[0], true), 0);
	bed_close(&b->end[0]);
	assert_int_equal(try_bind(&b->end[0], false), 0);
	bed_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_program_goes_with_close),
		cmocka_unit_test(second_rxed),
		cmocka_unit_test(second_rxed_on_adopted),
		cmocka_unit_test(foreign_program),
		cmocka_unit_test(missing_object),
		cmocka_unit_test(other_abi_version),
		cmocka_unit_test(adopted_native),
		cmocka_unit_test(adopted_generic),
		cmocka_unit_test(generic_fallback),
		cmocka_unit_test(attached_is_told),
		cmocka_unit_test(heartbeat),
		cmocka_unit_test(killed_owner_of_own),
		cmocka_unit_test(killed_owner_of_adopted),
		cmocka_unit_test(netdev_deleted),
		cmocka_unit_test(guard_drops_stack_frames),
		cmocka_unit_test(guard_as_clsact_filter),
		cmocka_unit_test(port_is_held),
	};

	return cmocka_run_group_tests_name("datapath/lifecycle", tests, bed_need_root, NULL);
}
