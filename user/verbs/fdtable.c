// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which descriptors are ours, and what they stand for. Lookups take no lock;
 * changes take one, and happen only for descriptors that are ours.
 *
 * A lookup reads the slot, takes a reference and looks again: files are
 * reused but never unmapped, so the reference is to a file, if perhaps to the
 * wrong one, which the second look finds out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "verbs/internal.h"

#define NR_FDS (RXE_FD_CHUNK * RXE_FD_CHUNKS)

_Atomic(rxe_fd_slot *) rxe_fd_chunks[RXE_FD_CHUNKS];

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static sigset_t table_signals;	    /* the holder's mask; table lock */
static struct rxe_file *free_files; /* table lock */

/* What all private descriptors stand for. */
static struct rxe_file private_file = {.refs = 1, .kind = RXE_FILE_PRIVATE};

/* Signals wait: their handlers may close or copy descriptors, too. */
static void lock_table(void)
{
	sigset_t all, mine;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mine);
	pthread_mutex_lock(&table_mutex);
	table_signals = mine;
}

static void unlock_table(void)
{
	sigset_t mine = table_signals;

	pthread_mutex_unlock(&table_mutex);
	pthread_sigmask(SIG_SETMASK, &mine, NULL);
}

void rxe_raw_close(int fd)
{
	int saved = errno;

	syscall(SYS_close, fd);
	errno = saved;
}

static void *zeroed_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* ---- files ----------------------------------------------------------------- */

/* A page of fresh files onto the free list, under the table lock. */
static void more_files(void)
{
	size_t size = 16384;
	struct rxe_file *files = zeroed_pages(size);

	for (size_t i = 0; files && i < size / sizeof(*files); i++) {
		files[i].next_free = free_files;
		free_files = &files[i];
	}
}

struct rxe_file *rxe_file_new(enum rxe_file_kind kind)
{
	struct rxe_file *file;

	lock_table();
	if (!free_files)
		more_files();
	file = free_files;
	if (file)
		free_files = file->next_free;
	unlock_table();
	if (!file)
		return NULL;
	/* refs stays 0, so that a lookup holding an old pointer lets go. */
	memset((char *)file + sizeof(file->refs), 0, sizeof(*file) - sizeof(file->refs));
	file->kind = kind;
	atomic_store_explicit(&file->refs, 1, memory_order_release);
	return file;
}

static void release_command(struct rxe_file *file)
{
	rxe_doorbell_free(&file->doorbell);
	rxe_conn_free(&file->conn);
}

static void release_channel(struct rxe_file *file)
{
	if (file->command)
		rxe_file_put(file->command);
}

static void release_netlink(struct rxe_file *file)
{
	rxe_fd_private_close(file->conn.fd);
	rxe_conn_free(&file->conn);
	rxe_netlink_free(&file->nl);
}

static void release_rdma_cm(struct rxe_file *file)
{
	rxe_fd_private_close(file->conn.fd);
	rxe_conn_free(&file->conn);
}

/* Its descriptor is the program's, and all that it is. */
static void release_param(struct rxe_file *file)
{
	(void)file;
}

static void (*const release_file[])(struct rxe_file *) = {
	[RXE_FILE_COMMAND] = release_command, [RXE_FILE_CHANNEL] = release_channel,
	[RXE_FILE_NETLINK] = release_netlink, [RXE_FILE_PARAM] = release_param,
	[RXE_FILE_RDMA_CM] = release_rdma_cm,
};

void rxe_file_hold(struct rxe_file *file)
{
	atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
}

void rxe_file_put(struct rxe_file *file)
{
	if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) != 1)
		return;
	release_file[file->kind](file);
	lock_table();
	file->next_free = free_files;
	free_files = file;
	unlock_table();
}

/* ---- lookup ------------------------------------------------------------------ */

static rxe_fd_slot *slot_of(int fd)
{
	rxe_fd_slot *chunk;

	if ((unsigned int)fd >= NR_FDS)
		return NULL;
	chunk = atomic_load_explicit(&rxe_fd_chunks[fd / RXE_FD_CHUNK], memory_order_acquire);
	return chunk ? &chunk[fd % RXE_FD_CHUNK] : NULL;
}

static bool hold_unless_free(struct rxe_file *file)
{
	uint32_t refs = atomic_load_explicit(&file->refs, memory_order_relaxed);

	while (refs)
		if (atomic_compare_exchange_weak_explicit(&file->refs, &refs, refs + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

struct rxe_file *rxe_file_get(int fd, int kind)
{
	rxe_fd_slot *slot = slot_of(fd);
	struct rxe_file *file;

	while (slot && (file = atomic_load_explicit(slot, memory_order_acquire))) {
		if (!hold_unless_free(file))
			continue;
		if (atomic_load_explicit(slot, memory_order_acquire) == file) {
			if (kind < 0 || (int)file->kind == kind)
				return file;
			rxe_file_put(file);
			return NULL;
		}
		rxe_file_put(file);
	}
	return NULL;
}

int rxe_fd_next(int from, int last)
{
	rxe_fd_slot *chunk;

	for (unsigned int fd = from; fd < NR_FDS && fd <= (unsigned int)last;) {
		chunk = atomic_load_explicit(&rxe_fd_chunks[fd / RXE_FD_CHUNK],
					     memory_order_acquire);
		if (!chunk)
			fd = (fd / RXE_FD_CHUNK + 1) * RXE_FD_CHUNK;
		else if (atomic_load_explicit(&chunk[fd % RXE_FD_CHUNK], memory_order_relaxed))
			return fd;
		else
			fd++;
	}
	return -1;
}

int rxe_fd_of(const struct rxe_file *file)
{
	int fd = -1;

	while ((fd = rxe_fd_next(fd + 1, NR_FDS - 1)) >= 0)
		if (atomic_load(slot_of(fd)) == file)
			return fd;
	return -1;
}

/* ---- changes ------------------------------------------------------------------- */

/* The slot of fd, made if need be, under the table lock. */
static rxe_fd_slot *make_slot(int fd)
{
	rxe_fd_slot *chunk;

	if ((unsigned int)fd >= NR_FDS)
		return NULL;
	if (!slot_of(fd)) {
		chunk = zeroed_pages(RXE_FD_CHUNK * sizeof(*chunk));
		if (!chunk)
			return NULL;
		atomic_store_explicit(&rxe_fd_chunks[fd / RXE_FD_CHUNK], chunk,
				      memory_order_release);
	}
	return slot_of(fd);
}

/*
 * Puts file (NULL: nothing) into a slot, under the table lock. Returns what it
 * replaced, whose reference is the caller's now; *last: that was its last fd.
 */
static struct rxe_file *exchange(rxe_fd_slot *slot, struct rxe_file *file, bool *last)
{
	struct rxe_file *old;

	if (file) {
		rxe_file_hold(file);
		file->nr_fds++;
	}
	old = atomic_exchange_explicit(slot, file, memory_order_acq_rel);
	*last = old && --old->nr_fds == 0;
	return old;
}

/* fd no longer stands for file. Without the table lock; takes the reference. */
static void fd_gone(struct rxe_file *file, int fd, bool last)
{
	if (file->kind == RXE_FILE_COMMAND) {
		/* A request under way in another thread keeps the number in use. */
		bool locked = rxe_conn_lock(&file->conn);

		if (file->conn.fd == fd)
			file->conn.fd = last ? -1 : rxe_fd_of(file);
		if (locked)
			rxe_conn_unlock(&file->conn);
	} else if (file->kind == RXE_FILE_CHANNEL && last) {
		rxe_channel_closed(file);
	}
	rxe_file_put(file);
}

int rxe_fd_install(int fd, struct rxe_file *file)
{
	struct rxe_file *old = NULL;
	rxe_fd_slot *slot;
	bool last;

	if (!rxe_process_known())
		return -ENOSYS;
	lock_table();
	slot = make_slot(fd);
	if (slot)
		old = exchange(slot, file, &last);
	unlock_table();
	if (old)
		fd_gone(old, fd, last);
	return slot ? 0 : (unsigned int)fd >= NR_FDS ? -EMFILE : -ENOMEM;
}

void rxe_fd_forget(int fd)
{
	struct rxe_file *old;
	bool last;

	if (!rxe_fd_tracked(fd) || !rxe_process_known())
		return;
	lock_table();
	old = exchange(slot_of(fd), NULL, &last);
	unlock_table();
	if (old)
		fd_gone(old, fd, last);
}

void rxe_fd_copied(int oldfd, int newfd)
{
	struct rxe_file *file;

	if (oldfd == newfd)
		return;
	file = rxe_file_get(oldfd, -1);
	if (!file || file->kind == RXE_FILE_PRIVATE || rxe_fd_install(newfd, file))
		rxe_fd_forget(newfd);
	if (file)
		rxe_file_put(file);
}

/* ---- the library's own descriptors ------------------------------------------------ */

/* Numbers from here on are unlikely to be wanted by the program itself. */
static int private_base(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur > 8192)
		return 4096;
	return lim.rlim_cur / 2;
}

int rxe_fd_private(int fd)
{
	int high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, private_base());

	if (high >= 0) {
		rxe_raw_close(fd);
		fd = high;
	}
	rxe_fd_install(fd, &private_file);
	return fd;
}

bool rxe_fd_is_private(int fd)
{
	rxe_fd_slot *slot = slot_of(fd);

	return slot && atomic_load_explicit(slot, memory_order_relaxed) == &private_file;
}

void rxe_fd_private_close(int fd)
{
	if (fd < 0)
		return;
	rxe_fd_forget(fd);
	rxe_raw_close(fd);
}

/* Whoever uses descriptor `from` in file uses `to` from now on. */
static void renumber(struct rxe_file *file, int from, int to)
{
	int old = from;

	if (file->kind == RXE_FILE_COMMAND) {
		for (unsigned int i = 0; i < file->doorbell.nr_workers; i++, old = from)
			atomic_compare_exchange_strong(&file->doorbell.eventfd[i], &old, to);
	} else if (file->kind == RXE_FILE_NETLINK) {
		atomic_compare_exchange_strong(&file->nl.injector, &old, to);
		old = from;
		atomic_compare_exchange_strong(&file->nl.kernel, &old, to);
		if (file->conn.fd == from)
			file->conn.fd = to;
	} else if (file->kind == RXE_FILE_RDMA_CM && file->conn.fd == from) {
		file->conn.fd = to;
	}
}

void rxe_fd_private_move(int fd)
{
	struct rxe_file *file;
	int to, user = -1;

	if (!rxe_process_known())
		return;
	to = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, private_base());
	if (to < 0)
		return;
	rxe_fd_install(to, &private_file);
	while ((user = rxe_fd_next(user + 1, NR_FDS - 1)) >= 0) {
		file = rxe_file_get(user, -1);
		if (!file)
			continue;
		renumber(file, fd, to);
		rxe_file_put(file);
	}
	rxe_fd_forget(fd);
}

/* ---- fork --------------------------------------------------------------------------- */

void rxe_fd_fork_prepare(void)
{
	lock_table();
}

void rxe_fd_fork_parent(void)
{
	unlock_table();
}

/* Locks that other threads held are free in the child, which has one thread. */
void rxe_fd_fork_child(void)
{
	struct rxe_file *file;
	int fd = -1;

	unlock_table();
	while ((fd = rxe_fd_next(fd + 1, NR_FDS - 1)) >= 0) {
		file = atomic_load(slot_of(fd));
		if (file->kind == RXE_FILE_COMMAND || file->kind == RXE_FILE_NETLINK ||
		    file->kind == RXE_FILE_RDMA_CM)
			rxe_conn_forked(&file->conn);
		if (file->kind == RXE_FILE_NETLINK)
			rxe_netlink_forked(&file->nl);
	}
}
