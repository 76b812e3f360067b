/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The room: start, the loop, what must be so after each input.
 */
#include "room.h"
#include "quiet_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/ipc.h"
#include "common/param_table.h"
#include "netns.h"
#include "params.h"
#include "uapi/server.h"
#include "uapi/sysfs_file.h"

#define SETTLE_MS 5000

struct rxed rxed = {.netns_mode = RXE_NETNS_SHARED, .devs = TAILQ_HEAD_INITIALIZER(rxed.devs)};

static int client_mem[2], lowest_fd;

/* ---- in place of other files --------------------------------------------------------- */

/* params.c: the defaults, but limits that an input can reach. */
uint32_t rxe_param(struct rxe_params *p, enum rxe_param_id id)
{
	const struct rxe_param_desc *d = &rxe_param_table[id];
	uint32_t v = d->def;

	(void)p;
	if (d->when == RXE_PARAM_CREATE && v > 64 && !strncmp(d->name, "max_", 4))
		v = strstr(d->name, "_wr") || strstr(d->name, "cqe") ? 1024 : 64;
	return v < d->min ? d->min : v;
}

int rxe_param_set(struct rxe_params *p, enum rxe_param_id id, uint32_t value)
{
	(void)p, (void)id, (void)value;
	return -EPERM;
}

const int *rxe_param_fds(const struct rxe_params *p)
{
	static int fds[RXE_PARAM_COUNT];

	(void)p;
	return fds;
}

/* ---- a client's memory ----------------------------------------------------------------- */

/* The child has the pages and opens its own files; it goes when the parent does. */
static void client_main(int sock)
{
	struct rxe_ipc_hdr h = {0};
	int fd[2];
	void *p = mmap((void *)ROOM_MEM, ROOM_MEM_LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	void *q = mmap((void *)(ROOM_MEM + ROOM_MEM_LEN), ROOM_MEM_LEN, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd[0] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	fd[1] = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (p == MAP_FAILED || q == MAP_FAILED || fd[0] < 0 || fd[1] < 0 ||
	    rxe_ipc_send(sock, h, NULL, 0, fd, 2, 0))
		_exit(1);
	close(fd[0]);
	close(fd[1]);
	for (;;)
		pause();
}

static int start_client(void)
{
	struct rxe_ipc_msg m = {0};
	int sv[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		client_main(sv[1]);
	close(sv[1]);
	err = rxe_ipc_recv(sv[0], &m, 0);
	close(sv[0]);
	if (err || m.nr_fds != 2)
		return err ? err : -EPROTO;
	client_mem[0] = m.fds[0];
	client_mem[1] = m.fds[1];
	return 0;
}

void room_mem_fds(int fd[2])
{
	for (int i = 0; i < 2; i++) {
		fd[i] = fcntl(client_mem[i], F_DUPFD_CLOEXEC, 0);
		fuzz_assert(fd[i] >= 0);
	}
}

/* ---- start ------------------------------------------------------------------------------ */

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "room: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(77);
}

/* Every address has its neighbour. To others, through the netdev, no answer comes for 3 s. */
static int make_net(void)
{
	if (unshare(CLONE_NEWNET))
		return -errno;
	return system("exec >/dev/null && ip link set lo up &&"
		      " ip link add fz0 address 02:00:00:00:00:01 mtu 1500"
		      " type veth peer name fz1 address 02:00:00:00:00:02 &&"
		      " ip link set fz0 addrgenmode none && ip link set fz1 addrgenmode none &&"
		      " ip link set fz0 up && ip link set fz1 up &&"
		      " ip addr add " ROOM_ADDR "/31 dev fz0 &&"
		      " ip -6 addr add " ROOM_ADDR6 "/127 dev fz0 nodad &&"
		      " ip neigh add 10.9.0.1 lladdr 02:00:00:00:00:02 nud permanent dev fz0 &&"
		      " ip neigh add fd00::b lladdr 02:00:00:00:00:02 nud permanent dev fz0")
		       ? -EINVAL
		       : 0;
}

static int make_rundir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(rxed.rundir, sizeof(rxed.rundir), "%s/room-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(rxed.rundir) ? 0 : -errno;
}

static void room_stop(void)
{
	char path[sizeof(rxed.rundir) + 32];

	rxe_sysfs_remove("");
	snprintf(path, sizeof(path), "%s/" RXE_SOCKET_NAME, rxed.rundir);
	unlink(path);
	rmdir(rxed.rundir);
}

static int next_fd(void)
{
	int fd = dup(2);

	close(fd);
	return fd;
}

void room_start(void)
{
	char err[512] = "";

	must(start_client(), "a process for the client's memory");
	must(make_net(), "a network namespace with a veth pair (needs root and iproute2)");
	must(make_rundir(), "a run directory");
	signal(SIGPIPE, SIG_IGN);
	rxed.loop = rxe_loop_new();
	must(rxed.loop ? 0 : -ENOMEM, "the loop");
	must(rxe_workers_start(1, 0), "a worker");
	must(rxe_server_start(rxed.rundir, &rxed.server, err, sizeof(err)), err);
	must(rxe_sysfs_init(), "the device files");
	atexit(room_stop);
	room_dev();
	room_pass();
	quiet_log = true;
}

void room_begin(void)
{
	room_dev();
	lowest_fd = next_fd();
}

struct rxe_dev *room_dev(void)
{
	struct rxe_dev *dev = TAILQ_FIRST(&rxed.devs);
	char err[512] = "";
	struct rxe_netns *ns;

	if (dev && !TAILQ_NEXT(dev, link) && !strcmp(dev->name, ROOM_DEV) &&
	    !strcmp(dev->netdev, "fz0") && dev->hca.port_up)
		return dev;
	while ((dev = TAILQ_FIRST(&rxed.devs)))
		rxe_dev_delete(dev);
	must(rxe_netns_self(&ns), "the network namespace");
	must(rxe_dev_create(ns, ROOM_DEV, "fz0", &dev, err, sizeof(err)), err);
	rxe_netns_put(ns);
	rxed.netns_mode = RXE_NETNS_SHARED;
	return dev;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void stop_loop(struct rxe_timer *t)
{
	(void)t;
	rxe_loop_stop(rxed.loop);
}

void room_pass(void)
{
	struct rxe_timer t = {.cb = stop_loop};

	rxe_loop_timer(rxed.loop, &t, 0);
	rxe_loop_run(rxed.loop);
	rxe_loop_cancel(rxed.loop, &t);
}

bool room_wait(unsigned int ms, bool (*cond)(void *arg), void *arg)
{
	uint64_t until = rxe_now_ns() + ms * 1000000ull;
	unsigned int n = 0;

	for (;;) {
		room_pass();
		if (cond(arg))
			return true;
		if (rxe_now_ns() >= until)
			return false;
		if (n++ > 4)
			poll(NULL, 0, n > 50);
	}
}

static bool settled(void *arg)
{
	const struct rxe_dev *d;

	(void)arg;
	TAILQ_FOREACH (d, &rxed.devs, link)
		if (d->nr_contexts || d->nr_pd || d->nr_qp || d->nr_cq || d->nr_mr || d->nr_mw ||
		    d->nr_ah || d->nr_cm_id || d->hca.nr_srqs ||
		    __atomic_load_n(&d->live_qps, __ATOMIC_ACQUIRE) || !LIST_EMPTY(&d->groups))
			return false;
	return next_fd() == lowest_fd;
}

void room_settle(void)
{
	bool ok = room_wait(SETTLE_MS, settled, NULL);

	if (!ok) {
		const struct rxe_dev *d = TAILQ_FIRST(&rxed.devs);

		fprintf(stderr,
			"room: left behind: contexts %u pd %u qp %u cq %u mr %u mw %u ah %u cm %u "
			"srq %u live qps %u; lowest free descriptor %d, was %d\n",
			d->nr_contexts, d->nr_pd, d->nr_qp, d->nr_cq, d->nr_mr, d->nr_mw, d->nr_ah,
			d->nr_cm_id, d->hca.nr_srqs, d->live_qps, next_fd(), lowest_fd);
	}
	fuzz_assert(ok);
}
