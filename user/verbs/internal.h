/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the preload library share: the functions that it stands
 * in front of, the descriptors that it stands for, and its paths.
 *
 * The library runs in programs it knows nothing of. So: a descriptor that is
 * not ours costs one table lookup; no lock is taken for it; errors are errno;
 * nothing but the interposed functions is exported.
 */
#ifndef RXE_VERBS_INTERNAL_H
#define RXE_VERBS_INTERNAL_H

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "common/ipc.h"

#define RXE_EXPORT __attribute__((visibility("default")))

/* ---- init.c: set-up ------------------------------------------------------- */

/*
 * The run directory, absolute. Set once, by the constructor or by the first
 * call that comes before it; any thread.
 */
const char *rxe_rundir(void);
/* One line on stderr, once per process. Keeps errno. Any thread. */
void rxe_warn_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * Says so that no daemon answers (err: why, negative), if the user asked for
 * one by RXE_RUNDIR or one has left its tree. Otherwise a missing daemon looks
 * like a kernel without RDMA.
 */
void rxe_warn_no_daemon(int err);
/*
 * True in a process whose memory and descriptors the library keeps account
 * of. False in a child of vfork() or of a bare clone(), which may share its
 * parent's memory but not its descriptors: it must change nothing.
 */
bool rxe_process_known(void);
/* Counts the fork()s between the program's start and this process. */
unsigned int rxe_fork_generation(void);

/* ---- conn.c: requests to the daemon --------------------------------------- */

/*
 * One socket to the daemon. Requests of the process that opened it take turns
 * by `lock`. A forked child, and a signal handler that interrupted a request,
 * get their reply on a socket of their own (RXE_IPC_F_REPLY_FD).
 */
struct rxe_conn {
	pthread_mutex_t lock;	 /* by rxe_conn_lock() */
	_Atomic int fd;		 /* changes under lock; -1: closed */
	unsigned int generation; /* rxe_fork_generation() of its opener */
	void *buf;		 /* a reply, RXE_CONN_BUF bytes; under lock */
};
#define RXE_CONN_BUF (RXE_IPC_MAX_LEN)

struct rxe_request {
	uint16_t type;
	unsigned int nr_iov;
	struct iovec *iov;
	unsigned int nr_fds;
	const int *fds;
};
/*
 * Takes one reply. msg and its bytes are the connection's: copy. Descriptors
 * that it takes it sets to -1 in msg, the rest is closed. Returns 0 or a
 * negative errno, which becomes the request's result.
 */
typedef int (*rxe_reply_fn)(void *arg, struct rxe_ipc_msg *msg);

int rxe_conn_init(struct rxe_conn *conn, int fd);
void rxe_conn_free(struct rxe_conn *conn);
/* False: this is a signal handler on top of a holder; go without the lock. */
bool rxe_conn_lock(struct rxe_conn *conn);
void rxe_conn_unlock(struct rxe_conn *conn);
/* The child's side of fork(): no thread holds the lock any more. */
void rxe_conn_forked(struct rxe_conn *conn);
/*
 * Sends a request and hands every reply (until one without MORE) to fn, which
 * may be NULL. Returns 0, a negative errno of the daemon's answer or of fn,
 * or -EIO when the daemon is gone. Any thread; not cancellable.
 */
int rxe_conn_request(struct rxe_conn *conn, const struct rxe_request *req, rxe_reply_fn fn,
		     void *arg);

/* ---- doorbell.c ------------------------------------------------------------ */

struct rxe_doorbell {
	void *pages; /* nr_workers pages of RXE_DOORBELL_STRIDE */
	uint32_t size;
	uint32_t nr_workers;
	_Atomic int eventfd[RXE_IPC_MAX_FDS];
};
/*
 * Maps the doorbells of an OPEN reply: msg->fds[0] is the memfd, the rest are
 * the eventfds, which become private descriptors. Takes all of them.
 */
int rxe_doorbell_init(struct rxe_doorbell *db, struct rxe_ipc_msg *msg);
void rxe_doorbell_free(struct rxe_doorbell *db);
/* Rings for a QP handle as ipc.h says. 0 or -EINVAL. No lock, any thread. */
int rxe_doorbell_ring(struct rxe_doorbell *db, uint32_t qp_handle);

/* ---- netlink.c --------------------------------------------------------------- */

struct rxe_nl_block;
struct rxe_netlink {
	_Atomic int injector; /* socket that answers come from; private */
	uint32_t injector_port;
	_Atomic uint32_t app_port;	   /* 0: the application's socket is not guarded yet */
	pthread_mutex_t lock;		   /* of the queue */
	struct rxe_nl_block *head, **tail; /* answers that did not fit yet */
	int kernel;		     /* the kernel's own NETLINK_RDMA, private; -1: it has none */
	pthread_mutex_t kernel_lock; /* one request to it at a time */
};

/* ---- fdtable.c: descriptors that are ours ------------------------------------ */

enum rxe_file_kind {
	RXE_FILE_PRIVATE, /* the library's own; closed by nobody else */
	RXE_FILE_COMMAND, /* /dev/infiniband/uverbsN: a socket to the daemon */
	RXE_FILE_CHANNEL, /* completion or async event channel */
	RXE_FILE_NETLINK, /* socket(AF_NETLINK, , NETLINK_RDMA) */
	RXE_FILE_PARAM,	  /* a module parameter, open for writing: a socket */
	RXE_FILE_RDMA_CM, /* /dev/infiniband/rdma_cm: a pipe with a byte for each event */
};

/*
 * What one or more descriptors (dup) stand for. Memory is reused but never
 * returned, so that lookups need no lock.
 */
struct rxe_file {
	_Atomic uint32_t refs; /* table entries and users; 0: free */
	uint32_t nr_fds;       /* table entries; table lock */
	enum rxe_file_kind kind;
	struct rxe_file *next_free;
	struct rxe_conn conn; /* COMMAND: conn.fd is one of its fds; NETLINK, RDMA_CM: private */
	union {
		struct {
			int minor;
			struct rxe_doorbell doorbell;
		};
		struct {
			struct rxe_file *command; /* counted */
			uint32_t channel_id;
		};
		struct rxe_netlink nl;
		uint64_t cm_cookie; /* names an RDMA_CM file to the daemon */
	};
};

#define RXE_FD_CHUNK  1024u
#define RXE_FD_CHUNKS 1024u
typedef _Atomic(struct rxe_file *) rxe_fd_slot;
extern _Atomic(rxe_fd_slot *) rxe_fd_chunks[RXE_FD_CHUNKS];

/* True if fd is in the table. This is what every wrapped call pays. */
static inline bool rxe_fd_tracked(int fd)
{
	rxe_fd_slot *chunk;

	if ((unsigned int)fd >= RXE_FD_CHUNK * RXE_FD_CHUNKS)
		return false;
	chunk = atomic_load_explicit(&rxe_fd_chunks[fd / RXE_FD_CHUNK], memory_order_acquire);
	return chunk &&
	       atomic_load_explicit(&chunk[fd % RXE_FD_CHUNK], memory_order_relaxed) != NULL;
}

/* A new file with one reference, the caller's; NULL without memory. */
struct rxe_file *rxe_file_new(enum rxe_file_kind kind);
void rxe_file_put(struct rxe_file *file);
void rxe_file_hold(struct rxe_file *file); /* from one that is held */
/* The file of fd, held, or NULL. `kind` -1: any. No lock, any thread. */
struct rxe_file *rxe_file_get(int fd, int kind);

/* fd stands for file (holds it) from now on. 0, -EMFILE, -ENOMEM, -ENOSYS. */
int rxe_fd_install(int fd, struct rxe_file *file);
/* fd is about to be closed, or is known to mean something else now. */
void rxe_fd_forget(int fd);
/* newfd was made a copy of oldfd; either may be unknown here. */
void rxe_fd_copied(int oldfd, int newfd);
/* The first descriptor >= from in the table, or -1. Any thread. */
int rxe_fd_next(int from, int last);
/* Some descriptor of file, or -1. */
int rxe_fd_of(const struct rxe_file *file);
/*
 * Makes fd a descriptor of the library's own: moved out of the way of the
 * program's and protected from its close(). Takes fd; the new number or a
 * negative errno.
 */
int rxe_fd_private(int fd);
void rxe_fd_private_close(int fd);
bool rxe_fd_is_private(int fd);
/* The program wants number fd for itself (dup2): move ours elsewhere. */
void rxe_fd_private_move(int fd);
/* For fork(): prepare and parent bracket it, child is its other side. */
void rxe_fd_fork_prepare(void);
void rxe_fd_fork_parent(void);
void rxe_fd_fork_child(void);
/* close(2), dup(2) without our wrappers. */
void rxe_raw_close(int fd);

/* ---- command.c: a command descriptor ------------------------------------------ */

/* Opens uverbsN at the daemon. The new descriptor, or -1 and errno. */
int rxe_command_open(int minor, int flags);
/* write(2) of len bytes at buf on file: as the kernel's uverbs_write(). */
ssize_t rxe_command_write(struct rxe_file *file, const void *buf, size_t len);
/* mmap(2) of file: the daemon's memfd is what gets mapped. */
void *rxe_command_mmap(struct rxe_file *file, void *addr, size_t len, int prot, int flags,
		       off_t offset);
/* Makes fd (taken) a channel of `command`. 0 or a negative errno. */
int rxe_channel_install(struct rxe_file *command, int fd, uint32_t channel_id);
/* The daemon's id of the channel that fd stands for, or -EBADF. */
int rxe_channel_id(const struct rxe_file *command, int fd, uint32_t *id);
/* The last descriptor of a channel was closed. */
void rxe_channel_closed(struct rxe_file *channel);
/*
 * Replaces comp_channel in a copy of a create-CQ command's core struct by the
 * channel's id. `core` has len bytes. 0 or -EBADF.
 */
int rxe_command_translate(const struct rxe_file *command, uint32_t cmd, void *core, size_t len);
/*
 * Memory is that of the process that opened the device (DESIGN D6): a forked
 * child cannot register its own with it. 0 or -EOPNOTSUPP, said once. Any thread.
 */
int rxe_command_allowed(const struct rxe_file *command, uint32_t cmd);
#define RXE_CORE_MAX 64 /* of a command that has something to translate */
bool rxe_command_has_fd(uint32_t cmd);
/*
 * Where in this process the kernel's driver would write, by a pointer in the
 * len bytes of the command's driver data: how many bytes, and *addr. 0: nowhere.
 */
size_t rxe_command_out_pointer(uint32_t cmd, const void *uhw, size_t len, uint64_t *addr);

/* ---- rdma_cm.c: /dev/infiniband/rdma_cm ------------------------------------------- */

/* Opens it at the daemon. The new descriptor, or -1 and errno. */
int rxe_rdma_cm_open(int flags);
/* write(2) of a command: as the kernel's ucma_write(). fd: the descriptor it came by. */
ssize_t rxe_rdma_cm_write(struct rxe_file *file, int fd, const void *buf, size_t len);

/* ---- ioctl.c ------------------------------------------------------------------- */

/* ioctl(2), RDMA_VERBS_IOCTL. 0, or -1 and errno. */
int rxe_command_ioctl(struct rxe_file *file, void *arg);

/* ---- netlink.c (see struct rxe_netlink) ------------------------------------------ */

/*
 * A socket that answers as NETLINK_RDMA would, or -1 when no daemon can be
 * reached (the caller then asks the kernel). kernel (taken): the kernel's own
 * such socket, whose devices are shown as well, or -1.
 */
int rxe_netlink_socket(int type, int kernel);
int rxe_netlink_bind(struct rxe_file *file, int fd, const struct sockaddr *addr, socklen_t len);
ssize_t rxe_netlink_send(struct rxe_file *file, int fd, const struct iovec *iov, size_t nr_iov);
/* Delivers what did not fit before; call around a receive. */
void rxe_netlink_pump(struct rxe_file *file);
void rxe_netlink_forked(struct rxe_netlink *nl);
void rxe_netlink_free(struct rxe_netlink *nl);

/* ---- netlink_kernel.c: a kernel that has RDMA, too ----------------------------------- */

#define RXE_NL_BASE 0x10000 /* the first number of the daemon's devices beside the kernel's */
enum rxe_nl_route { RXE_NL_DAEMON, RXE_NL_KERNEL, RXE_NL_BOTH };
struct nlmsghdr;
/* Makes sock (taken; -1: there is none) the private socket to the kernel, or -1. */
int rxe_nl_kernel_socket(int sock);
/* The value of an attribute of at least `size` bytes, among those of a message; or NULL. */
void *rxe_nl_attr(void *attrs, size_t left, int type, size_t size);
/* Whom a request is for. It has the length that its header says. */
enum rxe_nl_route rxe_nl_route(struct nlmsghdr *nlh);
/* Adds `by` to the device number in a message, if there is one. */
void rxe_nl_shift(struct nlmsghdr *nlh, int32_t by);
/*
 * Sends a request to the kernel and hands each message of the answer to take.
 * part: without its end or error, since others follow. 0 or a negative errno.
 */
int rxe_nl_ask_kernel(int sock, const struct nlmsghdr *req, bool part,
		      int (*take)(void *arg, const void *msg, size_t len), void *arg);

/* ---- param.c ------------------------------------------------------------------------- */

/* Opens a module parameter (path: in the daemon's tree) for writing. -1 and errno. */
int rxe_param_open(const char *path, int flags);
/* May it be read? 0, or -1 and errno: rdma_rxe_net's is write only. */
int rxe_param_readable(const char *path);
FILE *rxe_param_fopen(const char *path, const char *mode);
/* Has this process, or one that it was forked from, opened one for writing? */
extern _Atomic bool rxe_param_used;
/* f was flushed with result ret: EOF and errno when the daemon refused what was written. */
int rxe_param_flushed(FILE *f, int ret);
/* write(2) to one: EINVAL when the daemon does not take the value. */
ssize_t rxe_param_write(int fd, const void *buf, size_t len);

/* ---- rdma_tool.c -------------------------------------------------------------------- */

/* The open descriptor in the NET_NS_FD attribute of a SET request, or -1. */
int rxe_netlink_netns_fd(const void *msg, size_t len);
/*
 * For a path that names no file: what open() of /run/netns/PID gives in the rdma
 * tool, the namespace of that process. Else -1 and ENOENT.
 */
int rxe_netns_of_pid(const char *path, int flags);

/* ---- poll.c, qp_flags.c, rereg.c: contexts of ours, as libibverbs opens them -------------- */

struct ibv_context;
/*
 * libibverbs' own `name`. It may be loaded where RTLD_NEXT does not look: as a
 * dependency of a plug-in (Python, UCX). NULL when it is not loaded.
 */
void *rxe_libibverbs(const char *name);
/* Creation flags that the provider does not know, see qp_flags.c. */
void rxe_qp_flags_install(struct ibv_context *context);
/* ibv_advise_mr(), which it has not either, see advise.c. */
void rxe_advise_install(struct ibv_context *context);

/* ---- paths.c -------------------------------------------------------------------- */

enum rxe_path_kind {
	RXE_PATH_NATIVE, /* not ours */
	RXE_PATH_SYSFS,	 /* a file of the daemon's tree: buf */
	RXE_PATH_PARAM,	 /* likewise, and a module parameter */
	RXE_PATH_NODE,	 /* /dev/infiniband/uverbsN: minor; buf is a file that exists with it */
};
#define RXE_NODE_RDMA_CM INT_MAX /* the "minor" of /dev/infiniband/rdma_cm */
struct rxe_path {
	enum rxe_path_kind kind;
	int minor;
	char buf[640];
};
/*
 * What an absolute path means under the library. Counters are brought up to
 * date by the way. NULL and relative paths are native. Keeps errno. Any thread.
 */
enum rxe_path_kind rxe_path_classify(const char *path, struct rxe_path *out);
/* The part of classify that a program without RDMA pays. */
static inline bool rxe_path_suspect(const char *path)
{
	return path && path[0] == '/' && (path[1] == 's' || path[1] == 'd' || path[1] == '/');
}

#endif
