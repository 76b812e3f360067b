/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients that fork, exec, and close or copy descriptors, with regions
 * registered and under traffic. A region is memory of the address space that
 * registered it, and of nobody else's.
 *
 *	fault_process DEVICE GID_INDEX fork|orphan|descriptors|closed
 *	fault_process DEVICE GID_INDEX exec PROGRAM	PROGRAM: this one, perhaps setuid
 *	fault_process victim REPORT_FD GO_FD	what `exec` becomes
 */
#include "fault_verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SKIP   4
#define SECRET 0x77
#define ADDR   ((void *)0x200000000000)

static struct bed bed;
static char memory[4 * PAGE] __attribute__((aligned(PAGE)));

static pid_t fork_child(int sock[2])
{
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sock[0]);
		sock[0] = sock[1];
	} else {
		close(sock[1]);
	}
	return pid;
}

static void child_ended(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIP)
		exit(SKIP);
	CHECK(!WEXITSTATUS(status));
}

static bool all_are(const char *p, size_t len, int byte)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

/* A WRITE from the first page to the third, then its contents. */
static void write_round(struct pair *p, const struct ibv_mr *mr, int byte)
{
	memset(memory, byte, PAGE);
	CHECK(!post(p->a, IBV_WR_RDMA_WRITE, span_of(mr, 0, PAGE), span_of(mr, 2 * PAGE, PAGE),
		    byte));
	CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
	CHECK(all_are(memory + 2 * PAGE, PAGE, byte));
}

static struct ibv_mr *own_region(void)
{
	struct ibv_mr *mr = ibv_reg_mr(bed.pd, memory, sizeof(memory), ALL_ACCESS);

	CHECK(mr);
	return mr;
}

/* ---- fork ----------------------------------------------------------------------------- */

/* The copy is the child's own: nothing of the parent's traffic shows in it. */
static void child_looks_on(int sock)
{
	memset(memory, SECRET, sizeof(memory));
	meet(sock);
	meet(sock); /* the parent has had its traffic */
	CHECK(all_are(memory, sizeof(memory), SECRET));
	exit(0);
}

/*
 * The inherited device answers, but takes no memory of the child's for the
 * parent's; one of the child's own carries traffic.
 */
static void child_works(const char *dev, int gid_index)
{
	struct ibv_port_attr attr;
	struct ibv_pd *pd = ibv_alloc_pd(bed.ctx);
	struct ibv_mr *mr;
	struct pair p;

	CHECK(pd && !ibv_query_port(bed.ctx, 1, &attr));
	CHECK(!ibv_reg_mr(pd, memory, PAGE, ALL_ACCESS) && errno == EOPNOTSUPP);
	CHECK(!ibv_dealloc_pd(pd));
	open_bed(&bed, dev, gid_index);
	mr = own_region();
	p = new_pair(&bed);
	for (int i = 0; i < 200; i++)
		write_round(&p, mr, i & 0x7f);
	exit(0);
}

static void fork_under_traffic(const char *dev, int gid_index)
{
	struct ibv_mr *mr;
	struct pair p;
	int sock[2];
	pid_t pid;

	open_bed(&bed, dev, gid_index);
	mr = own_region();
	p = new_pair(&bed);
	write_round(&p, mr, 1);
	pid = fork_child(sock);
	if (!pid)
		child_looks_on(sock[0]);
	meet(sock[0]);
	for (int i = 0; i < 500; i++)
		write_round(&p, mr, i & 0x7f);
	meet(sock[0]);
	child_ended(pid);
	for (int n = 0; n < 5; n++) {
		pid = fork_child(sock);
		if (!pid)
			child_works(dev, gid_index);
		for (int i = 0; i < 200; i++)
			write_round(&p, mr, i & 0x7f);
		child_ended(pid);
	}
	write_round(&p, mr, 2);
}

/* ---- two programs -------------------------------------------------------------------------- */

static struct ibv_qp *one_qp(const char *dev, int gid_index)
{
	open_bed(&bed, dev, gid_index);
	return new_qp(&bed, NULL);
}

/* The other's end: writes to it and reads of it, which succeed or are refused. */
static void reach(struct ibv_qp *qp, const struct ibv_mr *mr, const struct endpoint *to,
		  enum ibv_wr_opcode op, enum ibv_wc_status status)
{
	struct span remote = {to->addr, 64, to->rkey};

	CHECK(!post(qp, op, span_of(mr, 0, 64), remote, 1));
	CHECK(next_wc(bed.cq).status == status);
}

/* A QP that was refused is in ERR: once more from the beginning, to the same peer QP. */
static void expect_nothing(struct ibv_qp *qp, const struct ibv_mr *mr, const struct endpoint *to,
			   enum ibv_wr_opcode op)
{
	memset(memory, 0x5a, sizeof(memory));
	reach(qp, mr, to, op, IBV_WC_REM_ACCESS_ERR);
	CHECK(all_are(memory, sizeof(memory), 0x5a));
}

/* ---- the owner of a region goes, its descriptors stay ------------------------------------------- */

/*
 * Its own child keeps every descriptor, and the same address mapped. Tells the
 * peer when it is the only one left.
 */
static void orphaned_child(int sock, int parent)
{
	struct pollfd p = {.fd = parent, .events = POLLIN};

	prctl(PR_SET_PDEATHSIG, 0);
	memset(memory, SECRET, sizeof(memory));
	meet(sock);
	CHECK(poll(&p, 1, WAIT_MS) == 1);
	meet(sock);
	meet(sock);
	CHECK(all_are(memory, sizeof(memory), SECRET));
	exit(0);
}

static void orphan_owner(const char *dev, int gid_index, int sock)
{
	struct ibv_qp *qp = one_qp(dev, gid_index);
	struct ibv_mr *mr = own_region();
	struct endpoint peer = exchange(sock, qp, mr);
	int gone[2];

	connect_qp(&bed, qp, peer.qpn);
	meet(sock);
	meet(sock); /* it has been written to */
	CHECK(!pipe(gone));
	if (!fork()) {
		close(gone[1]);
		orphaned_child(sock, gone[0]); /* hangs up when the parent is gone */
	}
	pause(); /* killed by the peer */
}

static void orphan(const char *dev, int gid_index)
{
	struct endpoint owner;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	int sock[2];
	pid_t pid = fork_child(sock);

	if (!pid)
		orphan_owner(dev, gid_index, sock[0]);
	qp = one_qp(dev, gid_index);
	mr = own_region();
	owner = exchange(sock[0], qp, mr);
	connect_qp(&bed, qp, owner.qpn);
	meet(sock[0]);
	reach(qp, mr, &owner, IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS);
	meet(sock[0]);
	meet(sock[0]); /* the child is there */
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	meet(sock[0]);
	expect_nothing(qp, mr, &owner, IBV_WR_RDMA_WRITE);
	meet(sock[0]);
	CHECK(read(sock[0], memory, 1) == 0); /* it looked, and ended */
}

/* ---- exec ---------------------------------------------------------------------------------------- */

/* The new image has other things at that address. */
static int victim(int report, int go)
{
	char *p = mmap(ADDR, PAGE, PROT_READ | PROT_WRITE,
		       MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char euid = geteuid() ? 'u' : 'r', c;

	if (p != ADDR)
		return 1;
	memset(p, SECRET, PAGE);
	if (write(report, &euid, 1) != 1 || read(go, &c, 1) != 1)
		return 1;
	return !all_are(p, PAGE, SECRET);
}

static void keep_over_exec(void)
{
	for (int fd = 3; fd < 8192; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0)
			fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
	}
}

static void exec_owner(const char *dev, int gid_index, int sock, const char *program)
{
	char *p = mmap(ADDR, PAGE, PROT_READ | PROT_WRITE,
		       MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char fd[16];
	struct endpoint peer;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	CHECK(p == ADDR);
	memset(p, 1, PAGE);
	qp = one_qp(dev, gid_index);
	mr = ibv_reg_mr(bed.pd, p, PAGE, ALL_ACCESS);
	CHECK(mr);
	peer = exchange(sock, qp, mr);
	connect_qp(&bed, qp, peer.qpn);
	meet(sock);
	meet(sock);
	keep_over_exec();
	snprintf(fd, sizeof(fd), "%d", sock);
	execl(program, program, "victim", fd, fd, NULL);
	CHECK(!"exec");
}

static void exec_one(const char *dev, int gid_index, const char *program, enum ibv_wr_opcode op)
{
	struct endpoint owner;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	int sock[2];
	char who;
	pid_t pid = fork_child(sock);

	if (!pid)
		exec_owner(dev, gid_index, sock[0], program);
	qp = one_qp(dev, gid_index);
	mr = own_region();
	owner = exchange(sock[0], qp, mr);
	CHECK(owner.addr == (uintptr_t)ADDR);
	connect_qp(&bed, qp, owner.qpn);
	meet(sock[0]);
	reach(qp, mr, &owner, op, IBV_WC_SUCCESS);
	meet(sock[0]);
	CHECK(read(sock[0], &who, 1) == 1); /* the new image is there */
	printf("the new image runs as %s\n", who == 'r' ? "root" : "the user");
	if (geteuid() && strstr(program, "setuid") && who != 'r') {
		printf("no setuid programs here\n");
		exit(SKIP);
	}
	expect_nothing(qp, mr, &owner, op);
	CHECK(write(sock[0], "x", 1) == 1);
	child_ended(pid);
	CHECK(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr));
	CHECK(!ibv_destroy_cq(bed.cq) && !ibv_dealloc_pd(bed.pd) && !ibv_close_device(bed.ctx));
}

static void exec_image(const char *dev, int gid_index, const char *program)
{
	exec_one(dev, gid_index, program, IBV_WR_RDMA_WRITE);
	exec_one(dev, gid_index, program, IBV_WR_RDMA_READ);
}

/* ---- descriptors --------------------------------------------------------------------------- */

/* Closed, the number is no device's; a copy is the device, under any number. */
static void descriptors(const char *dev, int gid_index)
{
	struct ibv_mr *mr;
	struct pair p;
	int copy, status;
	pid_t pid;

	open_bed(&bed, dev, gid_index);
	mr = own_region();
	p = new_pair(&bed);
	write_round(&p, mr, 1);
	copy = dup(bed.ctx->cmd_fd);
	CHECK(copy >= 0 && !close(bed.ctx->cmd_fd));
	errno = 0;
	CHECK(!ibv_alloc_pd(bed.ctx) && errno == EBADF);
	CHECK(dup2(copy, bed.ctx->cmd_fd) == bed.ctx->cmd_fd);
	write_round(&p, mr, 2);
	CHECK(!close(copy));
	write_round(&p, mr, 3);
	copy = fcntl(bed.ctx->cmd_fd, F_DUPFD_CLOEXEC, 100);
	CHECK(copy >= 100 && !close(bed.ctx->cmd_fd));
	CHECK(dup3(copy, bed.ctx->cmd_fd, O_CLOEXEC) == bed.ctx->cmd_fd && !close(copy));
	write_round(&p, mr, 4);
	/* A child that closes everything, as a daemon does, takes nothing from its parent. */
	for (int i = 0; i < 5; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid)
			_exit(close_range(3, ~0u, 0) != 0);
		write_round(&p, mr, 5 + i);
		CHECK(waitpid(pid, &status, 0) == pid && !status);
		write_round(&p, mr, 5 + i);
	}
}

/* Everything is closed under traffic: it stops; the program lives and nothing is left of it. */
static void closed(const char *dev, int gid_index)
{
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;

	open_bed(&bed, dev, gid_index);
	mr = own_region();
	p = new_pair(&bed);
	for (int i = 0; i < DEPTH - 1; i++)
		CHECK(!post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, 2 * PAGE),
			    span_of(mr, 2 * PAGE, 2 * PAGE), i));
	CHECK(!close_range(3, ~0u, 0));
	while (poll_within(bed.cq, &wc, 500))
		; /* what had ended before */
	post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, 8), span_of(mr, PAGE, 8), 0);
	CHECK(!poll_within(bed.cq, &wc, 300));
	errno = 0;
	CHECK(!ibv_alloc_pd(bed.ctx) && errno == EBADF);
	say("closed");
	pause();
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "victim"))
		return victim(atoi(argv[2]), atoi(argv[3]));
	if (argc < 4)
		return 2;
	if (!strcmp(argv[3], "fork"))
		fork_under_traffic(argv[1], atoi(argv[2]));
	else if (!strcmp(argv[3], "orphan"))
		orphan(argv[1], atoi(argv[2]));
	else if (!strcmp(argv[3], "descriptors"))
		descriptors(argv[1], atoi(argv[2]));
	else if (!strcmp(argv[3], "closed"))
		closed(argv[1], atoi(argv[2]));
	else if (argc == 5 && !strcmp(argv[3], "exec"))
		exec_image(argv[1], atoi(argv[2]), argv[4]);
	else
		return 2;
	return 0;
}
