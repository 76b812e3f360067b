/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The uverbs uABI server: contexts, their objects and the commands on them.
 * Control thread, except event.c's senders. A handler gets the command's core
 * structure and driver data (UHW) whichever of the three forms carried it:
 * write(), extended write() or ioctl INVOKE_WRITE.
 */
#ifndef RXE_UVERBS_H
#define RXE_UVERBS_H

#include <pthread.h>
#include <sys/queue.h>
#include "authority.h"
#include "loop.h"
#include "mem.h"
#include "rxe/ipc.h"
#include "rxed.h"
#include "worker.h"

/* ---- event.c: channels ---------------------------------------------------- */

/*
 * A completion or asynchronous event channel: a pipe of fixed-size records
 * that the program reads natively. rxed keeps a read end of its own, so that
 * the unread events of a destroyed object can vanish, as in the kernel.
 */
struct uchannel {
	uint32_t record; /* bytes: 8 (completion) or 16 (asynchronous) */
	int rfd;	 /* our own read end */
	int wfd;
	pthread_mutex_t lock; /* below, and *sent of uchannel_send() */
	uint8_t *overflow;    /* records that did not fit into the pipe */
	size_t overflow_len, overflow_room;
	struct rxe_watch drain; /* for room in the pipe */
	bool draining;
	struct rxe_task kick;
	bool kicked;
};

/* *client_fd: the end for the program; the caller sends and closes it. */
struct uchannel *uchannel_new(uint32_t record, int *client_fd);
void uchannel_free(struct uchannel *ch);
/* Any thread. Queues one record and counts it in *sent. */
void uchannel_send(struct uchannel *ch, const void *record, uint32_t *sent);
/* Takes back what the program has not read of `element`; returns how many. */
uint32_t uchannel_take_back(struct uchannel *ch, uint64_t element);

/* ---- shm.c: shared rings ---------------------------------------------------- */

/* One sealed memfd, mapped here and, once, by the client. */
struct ushm {
	TAILQ_ENTRY(ushm) link;
	uint64_t offset; /* the mmap() offset that names it */
	size_t size;	 /* bytes, whole pages */
	void *map;
	int fd; /* -1 once the client has it */
};
TAILQ_HEAD(ushm_list, ushm);

#define RXE_COMP_VECTORS 1 /* as the driver */

/* ---- objects ---------------------------------------------------------------- */

enum uobj_kind {
	UOBJ_PD,
	UOBJ_MR,
	UOBJ_MW,
	UOBJ_CHANNEL,
	UOBJ_CQ,
	UOBJ_QP,
	UOBJ_AH,
	UOBJ_SRQ,
	UOBJ_KINDS
};

struct uctx;

struct uobj {
	enum uobj_kind kind;
	uint32_t handle;
	uint32_t uses; /* objects that need this one: destroy says EBUSY */
	uint32_t res;  /* its number in `rdma res show`; a QP's is its QPN */
	uint64_t user_handle;
	struct uctx *ctx;
};

struct uchan {
	struct uobj o;
	struct uchannel *ch;
	bool closed;
};
struct upd {
	struct uobj o;
	uint32_t pdn;
};
struct umr {
	struct uobj o;
	struct upd *pd;
	struct rxe_mr *mr;
	uint64_t start, length, iova; /* as registered last */
	uint32_t access;
};
struct umw {
	struct uobj o;
	struct upd *pd;
	struct rxe_mw *mw;
};
struct uah {
	struct uobj o;
	struct upd *pd;
	uint32_t ah_num;
};

struct ucq {
	struct uobj o;
	struct rxe_cq *cq;
	struct uchan *channel; /* NULL: polled only */
	struct ushm *ring;
	uint32_t cqe; /* that fit into the ring */
	uint32_t comp_sent, async_sent;
};

struct usrq {
	struct uobj o;
	struct upd *pd;
	struct rxe_srq *srq;
	struct ushm *ring;
	struct rxe_srq_geometry geo;
	uint32_t srqn;
	uint32_t async_sent;
};

struct ucmd;
struct umcast;
struct uqp {
	struct uobj o;
	struct upd *pd;
	struct ucq *scq, *rcq;
	struct usrq *srq; /* NULL: a receive queue of its own */
	struct rxe_qp *qp;
	struct rxe_worker *worker;
	struct rxe_db_entry db;
	struct ushm *sq, *rq;
	uint32_t qpn;
	enum rxe_qp_type type;
	bool sq_sig_all;
	struct rxe_qp_geometry geo;
	struct rxe_route *route;   /* of the current address vector */
	union rxe_ip peer;	   /* its destination */
	LIST_HEAD(, umcast) mcast; /* groups that it is in */
	uint32_t async_sent;
	uint32_t ece_options; /* what both ends know, once they agreed */
	bool dying;
	struct ucmd *destroy_cmd; /* answered when the QP is released */
	struct rxe_task released;
};

struct uhandles {
	void **slot; /* struct uobj *, by handle */
	uint32_t room, next, count;
};

struct uctx {
	TAILQ_ENTRY(uctx) link;
	struct rxe_dev *dev;
	struct rxe_peer *peer; /* the connection's */
	struct rxe_mem *mem;
	bool opened;  /* GET_CONTEXT was done */
	uint32_t res; /* its number in `rdma res show` */
	bool losing;  /* its device is going, within rxe_uverbs_dev_gone() or _isolate() */
	bool dead;    /* its device is gone: EIO for all but close */
	bool closing;
	struct uhandles handles[UOBJ_KINDS];
	struct uchannel *async;
	struct ushm_list shms;
	uint64_t next_offset;
	struct ushm *db_mem;
	int db_memfd;
	struct rxe_doorbell *doorbells; /* one per worker */
	uint32_t async_sent;		/* events that belong to no object */
	uint32_t holds;			/* what must end before the context can */
	struct ucmd *waiting;		/* for a neighbour */
};

/* ---- commands --------------------------------------------------------------- */

#define UCMD_OUT_MAX 512

/* One command under way. Handlers see only this. */
struct ucmd {
	struct uctx *ctx;
	const char *name;
	const void *in; /* core structure, in_len bytes (at least the row's) */
	size_t in_len;
	const void *uhw_in;
	size_t uhw_in_len;
	uint8_t out[UCMD_OUT_MAX]; /* core response, zeroed */
	size_t out_len;		   /* set by the handler when not the row's size */
	uint8_t uhw_out[64];
	size_t uhw_out_len; /* set by the handler */
	int fd;		    /* descriptor for the client, or -1; closed after */
	uint32_t fd_offset, channel_id;
	void *priv; /* a deferred handler's own */
	void (*route_then)(struct ucmd *cmd, int err, struct rxe_route *route);
	struct rxe_mem_check mapped; /* uverbs_memory.c: waits for the client's mappings */
	struct rxe_task mapped_task;
	int (*mapped_then)(struct ucmd *cmd);
	struct rxe_mr *idle_mr; /* ucmd_when_idle() */
	struct rxe_timer idle_timer;
	uint64_t until; /* ns: how long it may wait */
	void *carrier;
};

/* 0, negative errno, or -EINPROGRESS: ucmd_finish() follows. */
typedef int (*ucmd_handler)(struct ucmd *cmd);
void ucmd_finish(struct ucmd *cmd, int status);
/*
 * Finishes cmd with success when no copy runs through `old` any more, whose
 * reference (the last but for copies) it takes over. Returns -EINPROGRESS.
 */
int ucmd_when_idle(struct ucmd *cmd, struct rxe_mr *old);
/* Says once a command that `limit` is reached; returns -ENOMEM, as the driver. */
int uverbs_limit(const struct ucmd *cmd, const char *what, const char *limit, uint32_t value);

/* Contexts, as server.c sees them. */
int uctx_open(struct rxe_dev *dev, struct rxe_peer *peer, int memfd, int mapsfd, struct uctx **out);
/* Takes over peer; frees itself when its QPs are gone. */
void uctx_close(struct uctx *ctx);
/*
 * Run one command; bytes as ipc.h says of WRITE and IOCTL. reply is called
 * once, now or later; fd stays the caller's of reply.
 */
typedef void (*ureply)(void *arg, int status, const void *bytes, size_t len, int fd);
void uverbs_write(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg);
void uverbs_ioctl(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg);
/* *fd: a duplicate of the memfd for the client. */
int uverbs_mmap(struct uctx *ctx, uint64_t offset, uint64_t length, int *fd);
/* RXE_IPC_QP_FLAGS, see there. -EINVAL, -EOPNOTSUPP (flags not known). */
int uqp_set_flags(struct uctx *ctx, uint32_t qp_handle, uint32_t create_flags);
void uverbs_channel_close(struct uctx *ctx, uint32_t id);
/* Asks or sets the ECE of a QP; *e becomes the answer. */
int uverbs_ece(struct uctx *ctx, struct rxe_ipc_ece *e);
/* Descriptors and size of OPEN's reply: doorbell memfd, then eventfds. */
uint32_t uctx_doorbell_fds(struct uctx *ctx, int *fds);

/*
 * Is this advice on one range (UVERBS_METHOD_ADVISE_MR) a sound one? Nothing is
 * brought in here. -EINVAL, -EOPNOTSUPP; -EFAULT: beyond its region; -EPERM:
 * to be written, and must not be.
 */
int umr_advise(struct uctx *ctx, uint32_t pd_handle, uint64_t advice, uint64_t flags,
	       const struct ib_uverbs_sge *sge);

/* Objects by handle; NULL when it is not one of this context's. */
void *uobj_find(struct uctx *ctx, enum uobj_kind kind, uint32_t handle);
int uobj_add(struct uctx *ctx, enum uobj_kind kind, struct uobj *o);
void uobj_remove(struct uobj *o);
/* The first object of a kind, or NULL: for teardown. */
void *uobj_first(struct uctx *ctx, enum uobj_kind kind);

/*
 * For who looks on (`rdma res show`): every object of a kind, or every open
 * context, of dev, in no order. What is on its way out is left out.
 */
void uverbs_each(const struct rxe_dev *dev, enum uobj_kind kind,
		 void (*fn)(void *arg, struct uobj *o), void *arg);
void uctx_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct uctx *ctx), void *arg);
/* The attributes of n QPs as they are now: asks each worker once. */
void uqp_query(struct uqp *const *qps, struct rxe_qp_attr *attrs, size_t n);

struct ushm *ushm_new(struct uctx *ctx, size_t size);
/* A ring of rxe_ring_size() in memory of its own; *mi: what the client maps. */
struct ushm *ushm_new_ring(struct uctx *ctx, size_t bytes, uint32_t slots, uint32_t log2_elem,
			   struct rxe_ring *ring, struct mminfo *mi);
void ushm_free(struct uctx *ctx, struct ushm *s);

/* Handlers, one file a room; the table is in uverbs.c. */
int ucmd_get_context(struct ucmd *cmd);
int ucmd_query_device(struct ucmd *cmd);
int ucmd_ex_query_device(struct ucmd *cmd);
int ucmd_query_port(struct ucmd *cmd);
int ucmd_alloc_pd(struct ucmd *cmd);
int ucmd_dealloc_pd(struct ucmd *cmd);
int ucmd_reg_mr(struct ucmd *cmd);
int ucmd_dereg_mr(struct ucmd *cmd);
int ucmd_rereg_mr(struct ucmd *cmd);
int ucmd_alloc_mw(struct ucmd *cmd);
int ucmd_dealloc_mw(struct ucmd *cmd);
int ucmd_create_ah(struct ucmd *cmd);
int ucmd_destroy_ah(struct ucmd *cmd);
int ucmd_create_comp_channel(struct ucmd *cmd);
int ucmd_create_cq(struct ucmd *cmd);
int ucmd_ex_create_cq(struct ucmd *cmd);
int ucmd_resize_cq(struct ucmd *cmd);
int ucmd_destroy_cq(struct ucmd *cmd);
int ucmd_req_notify_cq(struct ucmd *cmd);
int ucmd_create_srq(struct ucmd *cmd);
int ucmd_create_xsrq(struct ucmd *cmd);
int ucmd_modify_srq(struct ucmd *cmd);
int ucmd_query_srq(struct ucmd *cmd);
int ucmd_destroy_srq(struct ucmd *cmd);
int ucmd_create_qp(struct ucmd *cmd);
int ucmd_ex_create_qp(struct ucmd *cmd);
int ucmd_modify_qp(struct ucmd *cmd);
int ucmd_ex_modify_qp(struct ucmd *cmd);
int ucmd_query_qp(struct ucmd *cmd);
int ucmd_destroy_qp(struct ucmd *cmd);
int ucmd_attach_mcast(struct ucmd *cmd);
int ucmd_detach_mcast(struct ucmd *cmd);

/* What teardown calls; each needs the object to be unused. */
void upd_destroy(struct upd *pd);
void umr_destroy(struct umr *mr);
void umw_destroy(struct umw *mw);
void uah_destroy(struct uah *ah);
void ucq_destroy(struct ucq *cq);
void usrq_destroy(struct usrq *srq);
void uqp_destroy(struct uqp *qp, struct ucmd *cmd); /* cmd may be NULL */
void uqp_detach_all(struct uqp *qp);		    /* from its multicast groups */
/* Ends one of ctx->holds; the context may have waited for it. */
void uctx_unhold(struct uctx *ctx);

/* GID -> address vector; shared by QPs and AHs (uverbs_address.c). */
int uaddr_check_grh(struct ucmd *cmd, bool is_global, uint8_t port_num);
int uaddr_from_gid(struct uctx *ctx, const uint8_t dgid[16], uint8_t sgid_index,
		   struct rxe_address *addr);
/*
 * Resolves addr (route is filled in) for a command: then(cmd, err, route) is
 * called, at once or later, and finishes it. Returns -EINPROGRESS always.
 */
typedef void (*uroute_then)(struct ucmd *cmd, int err, struct rxe_route *route);
int uroute_resolve(struct ucmd *cmd, const struct rxe_address *addr, uroute_then then);
/* The client is gone: a command that waits for a neighbour ends now. */
void uroute_cancel(struct uctx *ctx);
/* Port attributes, shared by QUERY_PORT and the ioctl method. */
void uverbs_fill_port(const struct rxe_dev *dev, struct ib_uverbs_query_port_resp *r);
int uverbs_open_async(struct uctx *ctx, int *fd);
int uctx_get_context(struct uctx *ctx);
void uctx_port_event(struct uctx *ctx, enum rxe_event_kind kind);
/* A channel object whose last user or descriptor is gone. */
void uverbs_channel_drop(struct uobj *o);
/*
 * The device goes: all that is posted to the QP completes as flushed. False
 * while a copy of its is under way: to be called again.
 */
bool uqp_abort(struct uqp *qp);
/* Blocks until no QP of dev has a copy or packet under way. */
void uqp_wait_released(struct rxe_dev *dev);

#endif
