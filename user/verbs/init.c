// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Set-up of the preload library: the run directory, fork handlers, and the one
 * line that it may say on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "verbs/internal.h"

static struct {
	pthread_once_t once;
	char rundir[256];
	bool asked_for; /* RXE_RUNDIR is set */
	_Atomic bool warned;
	_Atomic pid_t pid;
	_Atomic unsigned int generation;
} self = {.once = PTHREAD_ONCE_INIT};

static void forked(void)
{
	atomic_store(&self.pid, getpid());
	atomic_fetch_add(&self.generation, 1);
	rxe_fd_fork_child();
}

static void find_rundir(void)
{
	const char *dir = getenv("RXE_RUNDIR");
	size_t n = 0;

	self.asked_for = dir && *dir;
	if (!self.asked_for)
		dir = RXE_DEFAULT_RUNDIR;
	if (*dir != '/' && getcwd(self.rundir, sizeof(self.rundir) - 1)) {
		n = strlen(self.rundir);
		self.rundir[n++] = '/';
	}
	if (n + strlen(dir) < sizeof(self.rundir))
		strcpy(self.rundir + n, dir);
	else /* longer than any socket address: no daemon can be there */
		strcpy(self.rundir, "/");
	for (n = strlen(self.rundir); n > 1 && self.rundir[n - 1] == '/'; n--)
		self.rundir[n - 1] = '\0';
}

static void init(void)
{
	atomic_store(&self.pid, getpid());
	find_rundir();
	pthread_atfork(rxe_fd_fork_prepare, rxe_fd_fork_parent, forked);
}

__attribute__((constructor)) static void init_at_start(void)
{
	pthread_once(&self.once, init);
}

const char *rxe_rundir(void)
{
	pthread_once(&self.once, init);
	return self.rundir;
}

bool rxe_process_known(void)
{
	pthread_once(&self.once, init);
	return atomic_load_explicit(&self.pid, memory_order_relaxed) == getpid();
}

unsigned int rxe_fork_generation(void)
{
	return atomic_load_explicit(&self.generation, memory_order_relaxed);
}

void rxe_warn_once(const char *fmt, ...)
{
	int saved = errno;
	char line[512] = "librxe_verbs: ";
	size_t n = strlen(line);
	va_list ap;

	if (atomic_exchange(&self.warned, true))
		return;
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	strcat(line, "\n");
	if (syscall(SYS_write, STDERR_FILENO, line, strlen(line)) < 0)
		errno = 0; /* nobody to tell */
	errno = saved;
}

/* Of a daemon that was killed: one that ends in good order removes it. */
static bool tree_is_left(void)
{
	char path[sizeof(self.rundir) + sizeof("/sys")];

	strcpy(path, self.rundir);
	strcat(path, "/sys");
	return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

void rxe_warn_no_daemon(int err)
{
	const char *dir = rxe_rundir();
	int saved = errno;

	if (self.asked_for || tree_is_left())
		rxe_warn_once("no rxed is running at %s (%s: %s), so there are no RDMA devices of "
			      "its: start `rxed --rundir %s`, or correct RXE_RUNDIR",
			      dir, RXE_SOCKET_NAME, strerror(-err), dir);
	errno = saved;
}
