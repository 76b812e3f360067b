/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traffic whose other end fails it: a region is deregistered under it, the
 * receiver is stopped, nobody polls.
 *
 *	fault_traffic DEVICE GID_INDEX dereg_local|dereg_remote|dereg_recv
 *	fault_traffic DEVICE GID_INDEX stopped	says "stopped", goes on at SIGUSR1
 *	fault_traffic DEVICE GID_INDEX stopped_rnr
 *	fault_traffic DEVICE GID_INDEX unpolled	says "unpolled", waits
 */
#include "fault_verbs.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECRET 0x77
#define SIZE   (64 * PAGE)
#define MSGS   48 /* that a stopped receiver is sent */
#define RECVS  16 /* of which it has buffers for so many */

static struct bed bed;

static char *map_at(char *at, int byte)
{
	char *p = mmap(at, SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	CHECK(p != MAP_FAILED);
	memset(p, byte, SIZE);
	return p;
}

static bool all_are(const char *p, size_t len, int byte)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

static struct ibv_mr *region(char *p)
{
	struct ibv_mr *mr = ibv_reg_mr(bed.pd, p, SIZE, ALL_ACCESS);

	CHECK(mr);
	return mr;
}

/* ---- deregistered under traffic ------------------------------------------------------ */

enum what { LOCAL, REMOTE, RECV };

/*
 * Of messages under way some end well and the next with the error; after the
 * region is gone its memory is the program's again, and nothing writes to it.
 */
static void dereg_once(enum what what, int delay_us)
{
	static const enum ibv_wc_status status[] = {
		[LOCAL] = IBV_WC_LOC_PROT_ERR,
		[REMOTE] = IBV_WC_REM_ACCESS_ERR,
		[RECV] = IBV_WC_REM_OP_ERR,
	};
	enum ibv_wr_opcode op = what == RECV ? IBV_WR_SEND : IBV_WR_RDMA_READ;
	char *doomed = map_at(NULL, 1), *other = map_at(NULL, 2);
	struct ibv_mr *mr = region(doomed), *other_mr = region(other);
	struct timespec delay = {0, delay_us * 1000};
	struct pair p = new_pair(&bed);
	struct ibv_wc wc;
	bool failed = false;

	if (what == REMOTE)
		op = IBV_WR_RDMA_WRITE;
	for (int i = 0; i < DEPTH - 1; i++) {
		struct ibv_mr *from = what == LOCAL ? mr : other_mr;
		struct ibv_mr *to = what == LOCAL ? other_mr : mr;

		if (what == RECV)
			CHECK(!post_recv(p.b, span_of(mr, 0, SIZE), i));
		CHECK(!post(p.a, op, span_of(from, 0, SIZE), span_of(to, 0, SIZE), i));
	}
	nanosleep(&delay, NULL);
	CHECK(!ibv_dereg_mr(mr));
	map_at(doomed, SECRET);
	for (int left = DEPTH - 1; left;) {
		wc = next_wc(bed.cq);
		if (wc.qp_num != p.a->qp_num)
			continue;
		left--;
		if (failed)
			CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
		else
			CHECK(wc.status == IBV_WC_SUCCESS || wc.status == status[what]);
		failed = failed || wc.status;
	}
	CHECK(failed);
	CHECK(all_are(doomed, SIZE, SECRET));
	free_pair(&p);
	while (ibv_poll_cq(bed.cq, 1, &wc) > 0)
		;
	CHECK(all_are(doomed, SIZE, SECRET) && !ibv_dereg_mr(other_mr));
	munmap(doomed, SIZE);
	munmap(other, SIZE);
}

static void dereg(enum what what)
{
	for (int i = 0; i < 20; i++)
		dereg_once(what, 100 * i);
}

/* ---- a stopped receiver ----------------------------------------------------------------- */

static void meet_as_receiver(int sock, struct ibv_qp *qp, char *memory, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	for (int i = 0; i < RECVS; i++)
		CHECK(!post_recv(qp, span_of(mr, i * PAGE, PAGE), i));
	meet(sock);
	raise(SIGSTOP);
	for (int i = 0; i < MSGS; i++) {
		wc = next_wc(bed.cq);
		CHECK(!wc.status && wc.byte_len == 64 + (unsigned int)i);
		CHECK(all_are(memory + wc.wr_id * PAGE, wc.byte_len, i));
		CHECK(!post_recv(qp, span_of(mr, wc.wr_id * PAGE, PAGE), wc.wr_id));
	}
	meet(sock);
}

static void receiver(const char *dev, int gid_index, int sock)
{
	char *memory;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_bed(&bed, dev, gid_index);
	memory = map_at(NULL, 0);
	mr = region(memory);
	qp = new_qp(&bed, NULL);
	connect_qp(&bed, qp, exchange(sock, qp, mr).qpn);
	meet_as_receiver(sock, qp, memory, mr);
	exit(0);
}

struct sender {
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
	struct endpoint to;
	pid_t peer;
	int sock[2];
};

static void start_sender(struct sender *s, const char *dev, int gid_index, int rnr_retry)
{
	int status;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s->sock));
	s->peer = fork();
	CHECK(s->peer >= 0);
	if (!s->peer)
		receiver(dev, gid_index, s->sock[1]);
	open_bed(&bed, dev, gid_index);
	s->memory = map_at(NULL, 0);
	s->mr = region(s->memory);
	s->qp = new_qp(&bed, NULL);
	s->to = exchange(s->sock[0], s->qp, s->mr);
	to_init(s->qp);
	to_rtr(&bed, s->qp, s->to.qpn);
	to_rts(s->qp, 14, 7, rnr_retry);
	meet(s->sock[0]);
	CHECK(waitpid(s->peer, &status, WUNTRACED) == s->peer && WIFSTOPPED(status));
	for (int i = 0; i < MSGS; i++) {
		memset(s->memory + i * PAGE, i, 64 + i);
		CHECK(!post(s->qp, IBV_WR_SEND, span_of(s->mr, i * PAGE, 64 + i), (struct span){0},
			    i));
	}
	for (int i = 0; i < RECVS; i++) {
		struct ibv_wc wc = next_wc(bed.cq);

		CHECK(!wc.status && wc.wr_id == (unsigned int)i);
	}
}

/* RNR for ever: it waits, loses nothing, and goes on with the receiver. */
static void stopped(const char *dev, int gid_index)
{
	struct sender s;
	struct ibv_wc wc;
	int status, sig;
	sigset_t go;

	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	start_sender(&s, dev, gid_index, 7);
	say("stopped");
	CHECK(!sigwait(&go, &sig));
	CHECK(ibv_poll_cq(bed.cq, 1, &wc) == 0);
	CHECK(!kill(s.peer, SIGCONT));
	for (int i = RECVS; i < MSGS; i++) {
		wc = next_wc(bed.cq);
		CHECK(!wc.status && wc.wr_id == (unsigned int)i);
	}
	meet(s.sock[0]);
	CHECK(waitpid(s.peer, &status, 0) == s.peer && !status);
}

/* RNR a few times only: then the sender hears of it. */
static void stopped_rnr(const char *dev, int gid_index)
{
	struct sender s;
	struct ibv_wc wc;

	start_sender(&s, dev, gid_index, 2);
	wc = next_wc(bed.cq);
	CHECK(wc.status == IBV_WC_RNR_RETRY_EXC_ERR && wc.wr_id == RECVS);
	for (int i = RECVS + 1; i < MSGS; i++)
		CHECK(next_wc(bed.cq).status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!kill(s.peer, SIGKILL));
}

/* ---- nobody polls --------------------------------------------------------------------------- */

/* A CQ too small for what is posted overflows, and says so; nobody looks. */
static void unpolled(const char *dev, int gid_index)
{
	struct ibv_async_event ev;
	struct ibv_mr *mr;
	struct pair p;

	open_device(&bed, dev, gid_index);
	bed.pd = ibv_alloc_pd(bed.ctx);
	bed.cq = ibv_create_cq(bed.ctx, 4, NULL, NULL, 0);
	CHECK(bed.pd && bed.cq);
	mr = region(map_at(NULL, 0));
	p = new_pair(&bed);
	for (int i = 0; i < DEPTH - 1; i++)
		CHECK(!post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, PAGE), span_of(mr, PAGE, PAGE),
			    i));
	do {
		CHECK(!ibv_get_async_event(bed.ctx, &ev));
		ibv_ack_async_event(&ev);
	} while (ev.event_type != IBV_EVENT_CQ_ERR);
	CHECK(ev.element.cq == bed.cq);
	say("unpolled");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *dev = argv[1], *test = argc == 4 ? argv[3] : "";
	int gid_index = argc == 4 ? atoi(argv[2]) : 0;

	if (!strncmp(test, "dereg_", 6)) {
		open_bed(&bed, dev, gid_index);
		dereg(!strcmp(test, "dereg_local")    ? LOCAL
		      : !strcmp(test, "dereg_remote") ? REMOTE
						      : RECV);
	} else if (!strcmp(test, "stopped")) {
		stopped(dev, gid_index);
	} else if (!strcmp(test, "stopped_rnr")) {
		stopped_rnr(dev, gid_index);
	} else if (!strcmp(test, "unpolled")) {
		unpolled(dev, gid_index);
	} else {
		return 2;
	}
	return 0;
}
