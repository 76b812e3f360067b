/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The IB connection manager's protocol (IBTA chapter 12): connections by REQ,
 * REP, RTU, their refusal and end, and service resolution (SIDR), as a pure
 * state machine. MADs and time come in and go out through this interface; no
 * sockets, clock, threads or logging. One thread at a time. Behaviour where
 * the specification leaves a choice is that of the kernel's ib_cm.
 *
 * Times are nanoseconds of the owner's clock. Errors are negative errno.
 */
#ifndef RXE_CM_H
#define RXE_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include "cm/mad.h"
#include "transport/timer.h"

/* Where MADs go: `port` is the owner's; equal ports compare equal. */
struct cm_path {
	void *port;
	uint8_t sgid[16], dgid[16];
	uint8_t traffic_class, hop_limit, sl;
	uint32_t flow_label;
};

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REQ_RCVD,
	CM_REP_SENT,
	CM_REP_RCVD,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD,
	CM_TIMEWAIT,
	CM_SIDR_REQ_SENT,
	CM_SIDR_REQ_RCVD,
};

enum cm_transport { CM_RC = 0, CM_UC = 1 }; /* REQ_TRANSPORT */

/* Reasons of a REJ (IBTA table 109). */
enum cm_rej {
	CM_REJ_NO_QP = 1,
	CM_REJ_NO_RESOURCES = 3,
	CM_REJ_TIMEOUT = 4,
	CM_REJ_UNSUPPORTED = 5,
	CM_REJ_INVALID_COMM_ID = 6,
	CM_REJ_INVALID_SERVICE_ID = 8,
	CM_REJ_INVALID_TRANSPORT = 9,
	CM_REJ_STALE_CONN = 10,
	CM_REJ_INVALID_GID = 13,
	CM_REJ_CONSUMER = 28,
	CM_REJ_VENDOR_OPTION = 35,
};

enum cm_sidr_status { CM_SIDR_SUCCESS, CM_SIDR_UNSUPPORTED, CM_SIDR_REJECT };

/* What a REQ or REP carries beside the path, in this side's view of it. */
struct cm_params {
	uint64_t service_id;	     /* REQ, SIDR_REQ */
	enum cm_transport transport; /* REQ */
	uint32_t qpn, psn, qkey;
	uint8_t responder_resources, initiator_depth;
	uint8_t flow_control, srq;
	uint8_t retry_count, rnr_retry;
	uint8_t mtu;			    /* REQ: enum ib_mtu */
	uint8_t ack_timeout;		    /* REQ: of the path, 4.096 us << n */
	uint8_t cm_timeout, max_cm_retries; /* REQ */
	uint8_t ack_delay;		    /* REP: 4.096 us << n */
	uint32_t ece_vendor, ece_options;
	const void *priv; /* private data; longer than fits: -EINVAL */
	size_t priv_len;
};

enum cm_event_kind {
	CM_EV_REQ,	 /* ops->request only */
	CM_EV_SIDR_REQ,	 /* ops->request only */
	CM_EV_REQ_ERROR, /* no answer to REQ, REP, SIDR_REQ */
	CM_EV_REP_ERROR,
	CM_EV_SIDR_ERROR,
	CM_EV_REP,	   /* answer with cm_rtu() or cm_reject() */
	CM_EV_ESTABLISHED, /* RTU, or cm_establish() */
	CM_EV_REJ,	   /* status: the reason */
	CM_EV_DREQ,	   /* answer with cm_drep() */
	CM_EV_DREP,
	CM_EV_DREQ_ERROR, /* no answer to DREQ */
	CM_EV_TIMEWAIT_EXIT,
	CM_EV_SIDR_REP, /* status: enum cm_sidr_status */
};

struct cm_event {
	enum cm_event_kind kind;
	int status;
	const uint8_t *priv; /* whole field of the message, good during the call */
	size_t priv_len;
	struct cm_params p; /* REQ, REP, SIDR_REQ, SIDR_REP: the peer's qpn, qkey ... */
};

struct cm;

/* An end of a connection. Owners read; cm*.c write. */
struct cm_id {
	struct cm *cm;
	void *owner; /* NULL: nobody hears its events any more */
	enum cm_state state;
	uint32_t local_id, remote_id;
	uint64_t tid;
	struct cm_path path;
	bool passive;
	enum cm_transport transport;
	uint32_t local_qpn, remote_qpn, local_psn, remote_psn;
	uint64_t local_guid, remote_guid;
	uint8_t mtu, ack_timeout, target_ack_delay;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry;
	uint32_t peer_ece_vendor, peer_ece_options;

	/* insides */
	LIST_ENTRY(cm_id) by_local, by_remote, by_qpn;
	bool hashed_local, hashed_remote, hashed_qpn;
	struct rxe_deadline timer;
	uint64_t timeout_ns; /* of one try */
	uint8_t max_retries, retries_left;
	uint64_t service_id;
	bool has_mad;
	uint8_t mad[CM_MAD_LEN]; /* last one sent: sent again on timeout or duplicate */
};

struct cm_ops {
	/* Sends a MAD; it may be lost. Must not call back. */
	void (*send)(void *ctx, const struct cm_path *path, const uint8_t mad[CM_MAD_LEN]);
	/*
	 * A REQ or SIDR_REQ: 0 when somebody takes id (sets id->owner), a
	 * positive enum cm_rej or cm_sidr_status to refuse it, or a negative
	 * errno to drop it unanswered, so that the peer tries again.
	 */
	int (*request)(void *ctx, struct cm_id *id, const struct cm_event *ev);
	/* Last of what a call does to id: the owner may destroy it. */
	void (*event)(void *ctx, struct cm_id *id, const struct cm_event *ev);
	uint32_t (*random)(void *ctx);
	/* May be NULL. A message that is sent again by timer, or was received again. */
	void (*again)(void *ctx, const struct cm_path *path, bool sent, const uint8_t *mad);
};

#define CM_BUCKETS 1024
LIST_HEAD(cm_bucket, cm_id);

struct cm {
	const struct cm_ops *ops;
	void *ctx;
	uint64_t now;
	struct rxe_timers timers;
	uint32_t next_id, id_mask;
	uint32_t nr_ids; /* all, those without owner too */
	struct cm_bucket local[CM_BUCKETS], remote[CM_BUCKETS], qpn[CM_BUCKETS];
};

struct cm *cm_new(const struct cm_ops *ops, void *ctx);
void cm_free(struct cm *cm);			 /* ids too, without a word to peers */
void cm_set_now(struct cm *cm, uint64_t now_ns); /* before each of the calls below */
/* A received MAD of len bytes; path as for the answer. */
void cm_rx(struct cm *cm, const struct cm_path *path, const uint8_t *mad, size_t len);
void cm_run(struct cm *cm);	       /* timers that are due */
uint64_t cm_next(const struct cm *cm); /* when the next is; UINT64_MAX: none */
/* The port goes: what still refers to it ends without a MAD. Owners get no event. */
void cm_port_gone(struct cm *cm, const void *port);

/* Ids that have a path on port, with or without owner. */
uint32_t cm_count(const struct cm *cm, const void *port);

struct cm_id *cm_id_new(struct cm *cm, void *owner); /* NULL: no memory */
/*
 * The owner lets go: tells the peer as the state asks (REJ, DREQ, DREP). The
 * id lives on by itself while it waits for the peer or in timewait.
 */
void cm_id_destroy(struct cm_id *id);

/*
 * Each: -EINVAL in a wrong state or for private data that does not fit. guid: of
 * the local CA.
 */
int cm_connect(struct cm_id *id, const struct cm_path *path, uint64_t guid,
	       const struct cm_params *p);
int cm_accept(struct cm_id *id, uint64_t guid, const struct cm_params *p);
int cm_rtu(struct cm_id *id, const void *priv, size_t len);
int cm_reject(struct cm_id *id, enum cm_rej reason, const void *priv, size_t len);
int cm_disconnect(struct cm_id *id);
int cm_drep(struct cm_id *id);
/* The QP heard from its peer before the RTU came. */
int cm_establish(struct cm_id *id);
int cm_sidr_request(struct cm_id *id, const struct cm_path *path, const struct cm_params *p);
int cm_sidr_reply(struct cm_id *id, enum cm_sidr_status status, const struct cm_params *p);

/* Timeout of an exponent as in MADs: about 4.096 us << n, as the kernel rounds it. */
uint64_t cm_exp_ns(uint8_t n);

#endif
