/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rxed: options, start in order, run, stop in reverse. One message and a
 * non-zero status when something it needs is not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/param_table.h"
#include "dev_pins.h"
#include "log.h"
#include "log_libbpf.h"
#include "loop.h"
#include "mem.h"
#include "params.h"
#include "rxe/ipc.h"
#include "rxe/bpf_abi.h"
#include "rxed.h"
#include "uapi/server.h"
#include "uapi/sysfs_file.h"
#include "worker.h"

#define DEFAULT_POLL_US 50
#define TICK_NS		RXE_MEM_EXPIRE_PERIOD_NS

struct rxed rxed = {.netns_mode = RXE_NETNS_SHARED, .devs = TAILQ_HEAD_INITIALIZER(rxed.devs)};

/* What start() has made so far, for stop(). */
static struct {
	bool rundir, sysfs;
} made;

struct options {
	const char *rundir, *netns, *object_dir;
	uint32_t workers, poll_us;
};

/* One row an option: drives parsing and --help. */
static const struct {
	struct option opt;
	const char *arg, *help;
} option_table[] = {
	{{"rundir", required_argument, NULL, 'r'},
	 "DIR",
	 "run directory: socket, device files; its last name is the pin tree's (" RXE_DEFAULT_RUNDIR
	 ")"},
	{{"netns", required_argument, NULL, 'n'}, "NAME", "run in this network namespace"},
	{{"workers", required_argument, NULL, 'w'}, "N", "worker threads (half the processors)"},
	{{"poll-us", required_argument, NULL, 'p'},
	 "US",
	 "how long a worker yields after its last work before it sleeps (50)"},
	{{"object-dir", required_argument, NULL, 'o'}, "DIR", "where rxe_xdp.bpf.o lies"},
	{{"verbose", no_argument, NULL, 'v'}, "", "log debug messages too"},
	{{"quiet", no_argument, NULL, 'q'}, "", "log warnings and errors only"},
	{{"help", no_argument, NULL, 'h'}, "", "this text"},
};
#define NR_OPTIONS (sizeof(option_table) / sizeof(option_table[0]))

static void usage(FILE *f)
{
	fprintf(f, "Usage: rxed [OPTIONS]\nThe Soft-RoCE QP manager, in the foreground.\n\n");
	for (size_t i = 0; i < NR_OPTIONS; i++)
		fprintf(f, "  --%s %-*s %s\n", option_table[i].opt.name,
			(int)(16 - strlen(option_table[i].opt.name)), option_table[i].arg,
			option_table[i].help);
}

static int number(const char *name, const char *text, uint32_t max, uint32_t *value)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (!*text || *end || v > max) {
		fprintf(stderr, "rxed: --%s %s: a whole number from 0 to %u is wanted\n", name,
			text, max);
		return -EINVAL;
	}
	*value = (uint32_t)v;
	return 0;
}

/* 0: go on; 1: done (--help); negative: wrong usage. */
static int parse_options(int argc, char **argv, struct options *o)
{
	struct option longopts[NR_OPTIONS + 1] = {0};
	int c, err = 0;

	for (size_t i = 0; i < NR_OPTIONS; i++)
		longopts[i] = option_table[i].opt;
	while (!err && (c = getopt_long(argc, argv, "vqh", longopts, NULL)) != -1) {
		switch (c) {
		case 'r':
			o->rundir = optarg;
			break;
		case 'n':
			o->netns = optarg;
			break;
		case 'o':
			o->object_dir = optarg;
			break;
		case 'w':
			err = number("workers", optarg, RXE_MAX_WORKERS, &o->workers);
			break;
		case 'p':
			err = number("poll-us", optarg, 1000000, &o->poll_us);
			break;
		case 'v':
			rxe_log_set_level(RXE_LOG_DEBUG);
			break;
		case 'q':
			rxe_log_set_level(RXE_LOG_WARN);
			break;
		case 'h':
			usage(stdout);
			return 1;
		default:
			usage(stderr);
			return -EINVAL;
		}
	}
	if (!err && optind != argc) {
		fprintf(stderr, "rxed: unexpected argument: %s\n", argv[optind]);
		usage(stderr);
		return -EINVAL;
	}
	return err;
}

/* ---- set-up steps ------------------------------------------------------------------- */

static int enter_netns(const char *name)
{
	char path[300];
	int fd, err = 0;

	if (!name)
		return 0;
	snprintf(path, sizeof(path), strchr(name, '/') ? "%s" : "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		err = -errno;
		log_err("entering network namespace %s: %s; `ip netns list` shows those there are",
			name, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* The socket in it has the longest name that must fit somewhere. */
#define MAX_RUNDIR (sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof("/" RXE_SOCKET_NAME))

static int take_rundir(const char *dir, const char *real)
{
	struct stat st;
	int err;

	if (stat(real, &st) || !S_ISDIR(st.st_mode)) {
		log_err("using run directory %s: not a directory; choose another --rundir", dir);
		return -ENOTDIR;
	}
	if (strlen(real) > MAX_RUNDIR || strlen(real) >= sizeof(rxed.rundir)) {
		log_err("using run directory %s: its name has %zu bytes, too many for the address "
			"of a socket in it; choose a --rundir of at most %zu bytes",
			real, strlen(real), MAX_RUNDIR);
		return -ENAMETOOLONG;
	}
	strcpy(rxed.rundir, real);
	err = rxe_pindir(rxed.rundir, rxed.pindir, sizeof(rxed.pindir));
	if (err)
		log_err("using run directory %s: %s; choose another --rundir", dir, strerror(-err));
	return err;
}

static int use_rundir(const char *dir)
{
	char *real = realpath(dir, NULL);
	int err = -errno;

	if (real)
		err = take_rundir(dir, real);
	else
		log_err("using run directory %s: %s; choose another --rundir", dir, strerror(-err));
	free(real);
	return err;
}

static int make_rundir(const char *dir)
{
	int err;

	made.rundir = mkdir(dir, 0755) == 0;
	if (!made.rundir && errno != EEXIST) {
		err = -errno;
		log_err("making run directory %s: %s; make its parent first or choose another --rundir",
			dir, strerror(errno));
		return err;
	}
	err = use_rundir(dir);
	if (err && made.rundir)
		rmdir(dir);
	return err;
}

/* Beside rxed (a build), below its prefix (an installation), or in libdir. */
static void find_objects(const char *given)
{
	static const char *const places[] = {"%s", "%s/../lib/rxe"};
	char self[sizeof(rxed.object_dir)], probe[sizeof(self) + 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *dir;

	snprintf(rxed.object_dir, sizeof(rxed.object_dir), "%s", given ? given : RXE_LIBDIR);
	if (given || n <= 0)
		return;
	self[n] = 0;
	dir = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(probe, sizeof(probe) - 16, places[i], dir);
		n = (ssize_t)strlen(probe);
		strcpy(probe + n, "/rxe_xdp.bpf.o");
		if (access(probe, R_OK))
			continue;
		probe[n] = 0;
		snprintf(rxed.object_dir, sizeof(rxed.object_dir), "%.*s",
			 (int)sizeof(rxed.object_dir) - 1, probe);
		return;
	}
}

/* Each ring and channel is a descriptor for a while. */
static void raise_nofile(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur == rl.rlim_max)
		return;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &rl))
		log_warn("raising the limit of open files to %lu: %s", (unsigned long)rl.rlim_max,
			 strerror(errno));
}

static uint32_t default_workers(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN) / 2;

	return n < 1 ? 1 : n > 4 ? 4 : (uint32_t)n;
}

static void on_signal(struct rxe_watch *w, uint32_t events)
{
	struct signalfd_siginfo si;

	(void)events;
	if (read(w->fd, &si, sizeof(si)) == sizeof(si)) {
		log_info("stopping: %s", strsignal((int)si.ssi_signo));
		rxe_loop_stop(rxed.loop);
	}
}

static int watch_signals(struct rxe_watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	w->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->cb = on_signal;
	w->events = EPOLLIN;
	return w->fd < 0 ? -errno : rxe_loop_add(rxed.loop, w);
}

static void on_tick(struct rxe_timer *t)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (dev->dp_ops->tick)
			dev->dp_ops->tick(dev->dp);
	rxe_mem_expire(rxe_now_ns());
	rxe_loop_timer(rxed.loop, t, TICK_NS);
}

static int open_pins(void)
{
	char msg[512] = "";
	struct rxe_errline line = {msg, sizeof(msg)};
	int err = rxe_params_open(rxed.pindir, &rxed.params, msg, sizeof(msg));

	if (!err)
		err = rxe_dev_pins_sweep(rxed.pindir, &line);
	if (err)
		log_err("%s", msg);
	return err;
}

static int start(const struct options *o, struct rxe_watch *signals)
{
	char msg[512] = "";
	int err;

	raise_nofile();
	find_objects(o->object_dir);
	err = make_rundir(o->rundir);
	if (!err)
		err = enter_netns(o->netns);
	if (err)
		return err;
	rxed.loop = rxe_loop_new();
	if (!rxed.loop)
		return -ENOMEM;
	err = watch_signals(signals);
	if (err)
		return err;
	err = open_pins();
	if (err)
		return err;
	err = rxe_workers_start(o->workers ? o->workers : default_workers(), o->poll_us);
	if (err)
		return err;
	err = rxe_server_start(rxed.rundir, &rxed.server, msg, sizeof(msg));
	if (err) {
		log_err("%s", msg);
		return err;
	}
	/* Now the run directory is this rxed's. Clients wait until the loop runs. */
	made.sysfs = true; /* as far as it comes */
	return rxe_sysfs_init();
}

/*
 * Leaves the tunables' pins, which keep their values, and the run directory.
 * When the start failed, neither, unless they were there before.
 */
static void stop(bool failed_start)
{
	struct rxe_dev *dev;

	if (rxed.server)
		rxe_server_stop(rxed.server);
	while ((dev = TAILQ_FIRST(&rxed.devs)))
		rxe_dev_delete(dev);
	if (rxed.workers)
		rxe_workers_stop();
	if (made.sysfs)
		rxe_sysfs_remove("");
	if (failed_start)
		rxe_params_discard(rxed.params);
	else
		rxe_params_close(rxed.params);
	if (failed_start && made.rundir)
		rmdir(rxed.rundir);
}

int main(int argc, char **argv)
{
	struct options o = {.poll_us = DEFAULT_POLL_US};
	struct rxe_timer tick = {.cb = on_tick};
	struct rxe_watch signals;
	int err;
	bool failed_start;

	rxe_log_libbpf();
	o.rundir = getenv("RXE_RUNDIR");
	if (!o.rundir)
		o.rundir = RXE_DEFAULT_RUNDIR;
	err = parse_options(argc, argv, &o);
	if (err)
		return err > 0 ? 0 : 2;
	err = start(&o, &signals);
	failed_start = err != 0;
	if (!err) {
		rxe_loop_timer(rxed.loop, &tick, TICK_NS);
		log_info("ready in %s: %u worker%s, tunables in %s/parameters", rxed.rundir,
			 rxed.nr_workers, rxed.nr_workers == 1 ? "" : "s", rxed.pindir);
		err = rxe_loop_run(rxed.loop);
	}
	stop(failed_start);
	return err ? 1 : 0;
}
