/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device: its files, ids and events, as the kernel's
 * ucma and cma have them (UABI 6). Control thread.
 *
 * A file's descriptor in the program is the read end of a pipe with one byte
 * for each event that GET_EVENT will find, so that poll(), a blocking read and
 * O_NONBLOCK are the program's own; commands come by a socket beside it.
 */
#ifndef RXE_UCMA_H
#define RXE_UCMA_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <sys/queue.h>
#include "authority.h"
#include "cm/cm.h"
#include "loop.h"
#include "rxed.h"

/* Events of enum rdma_cm_event_type (rdma/rdma_cma.h of librdmacm; not in uapi). */
enum ucma_event_type {
	UCMA_ADDR_RESOLVED,
	UCMA_ADDR_ERROR,
	UCMA_ROUTE_RESOLVED,
	UCMA_ROUTE_ERROR,
	UCMA_CONNECT_REQUEST,
	UCMA_CONNECT_RESPONSE,
	UCMA_CONNECT_ERROR,
	UCMA_UNREACHABLE,
	UCMA_REJECTED,
	UCMA_ESTABLISHED,
	UCMA_DISCONNECTED,
	UCMA_DEVICE_REMOVAL,
	UCMA_MULTICAST_JOIN,
	UCMA_MULTICAST_ERROR,
	UCMA_ADDR_CHANGE,
	UCMA_TIMEWAIT_EXIT,
};

#define UCMA_UD_QKEY	 0x01234567u /* RDMA_UDP_QKEY */
#define UCMA_MAX_BACKLOG 1024
#define UCMA_OUT_MAX	 1024 /* longest response */

/* ---- ids ------------------------------------------------------------------------ */

enum ucma_state {
	UCMA_IDLE,
	UCMA_BOUND,
	UCMA_ADDR_QUERY,
	UCMA_ADDR_DONE,
	UCMA_ROUTE_DONE,
	UCMA_CONNECT,
	UCMA_DISCONNECT,
	UCMA_LISTEN,
	UCMA_REMOVED,
};

struct ucma_addr {
	bool v6;
	union rxe_ip ip; /* IPv4 v4-mapped; any: zero, also of IPv4 */
	uint16_t port;	 /* host order */
	uint32_t scope;	 /* netdev of a link-local address */
};

struct ucma_file;

struct ucma_id {
	LIST_ENTRY(ucma_id) link;    /* of its file */
	LIST_ENTRY(ucma_id) by_port; /* ids that hold a port */
	struct ucma_file *file;
	uint32_t handle;
	uint32_t res;	 /* its number in `rdma res show` */
	uint64_t uid;	 /* 0: the program does not know it yet, no events */
	uint16_t ps;	 /* RDMA_PS_* */
	uint8_t qp_type; /* enum rxe_qp_type */
	enum ucma_state state;
	bool passive;
	uint32_t events_reported;
	uint32_t backlog; /* free places, of a listener */

	struct ucma_addr src, dst;
	bool family_set, holds_port;
	bool reuseaddr, afonly;
	bool tos_set, timeout_set;
	uint8_t tos, timeout;

	struct rxe_dev *dev; /* counted; NULL: not bound to one */
	uint8_t sgid_index;
	struct rxe_route *route; /* kept known while the id is */
	bool resolving;
	struct rxe_timer resolve_timer;

	struct cm_id *cm;
	uint32_t psn; /* our starting PSN, at which the peer begins */
	uint32_t qpn, qkey;
	bool srq;
	struct cm_params peer; /* UD: of the SIDR_REP */
	LIST_HEAD(, ucma_mc) mcs;
};

/* A multicast group that an id has joined. */
struct ucma_mc {
	LIST_ENTRY(ucma_mc) link;
	struct ucma_id *id;
	uint32_t handle;
	uint64_t uid;
	uint32_t events_reported;
	union rxe_ip group;
};

struct ucma_event {
	TAILQ_ENTRY(ucma_event) link;
	struct ucma_id *id;    /* whose counter it goes to */
	struct ucma_mc *mc;    /* or whose */
	struct ucma_id *fresh; /* CONNECT_REQUEST: the new id */
	struct rdma_ucm_event_resp resp;
};

struct ucma_file {
	LIST_ENTRY(ucma_file) link;
	uint64_t cookie;       /* by which MIGRATE_ID names it */
	struct rxe_peer *peer; /* the connection's */
	int rfd, wfd;	       /* the pipe of tokens: our own read end; write end */
	uint32_t owed;	       /* tokens that did not fit into the pipe */
	TAILQ_HEAD(, ucma_event) events;
	LIST_HEAD(, ucma_id) ids;
};

/* ---- ucma.c: files and commands ---------------------------------------------------- */

/* *client_fd: the program's end of the pipe; the caller sends and closes it. */
int ucma_open(struct rxe_peer *peer, struct ucma_file **out, int *client_fd);
void ucma_close(struct ucma_file *f);
/*
 * One write() to the device: len bytes at buf. extra: what the command's
 * pointer (SET_OPTION) leads to, or the cookie of MIGRATE_ID's file. The
 * response goes to out, *out_len bytes (UCMA_OUT_MAX of room), and from there
 * to where the command says. 0 or a negative errno.
 */
int ucma_write(struct ucma_file *f, const void *buf, size_t len, const void *extra,
	       size_t extra_len, void *out, size_t *out_len);

/* A command under way, as its handler sees it. */
struct ucma_cmd {
	struct ucma_file *file;
	const void *in;
	size_t in_len;
	const void *extra;
	size_t extra_len;
	void *out;
	size_t out_room; /* what the program has room for */
	size_t out_len;
};

/* The id of this file by handle: -ENOENT, -EINVAL (another file's). */
int ucma_id_get(struct ucma_file *f, uint32_t handle, struct ucma_id **out);
struct ucma_id *ucma_id_new(struct ucma_file *f, uint16_t ps, uint8_t qp_type);
void ucma_id_free(struct ucma_id *id);
/* Numbers of ids or groups; the group behind one, errors as above. */
int ucma_handle_new(struct ucma_id *id, struct ucma_mc *mc, uint32_t *handle);
void ucma_handle_free(uint32_t handle);
int ucma_mc_get(struct ucma_file *f, uint32_t handle, struct ucma_mc **out);
/* Copies a response of `size` bytes, at least `least` of which must have room. */
int ucma_respond(struct ucma_cmd *c, const void *resp, size_t size, size_t least);

/* Handlers. */
int ucma_bind_ip(struct ucma_cmd *c);
int ucma_bind(struct ucma_cmd *c);
int ucma_resolve_ip(struct ucma_cmd *c);
int ucma_resolve_addr(struct ucma_cmd *c);
int ucma_resolve_route(struct ucma_cmd *c);
int ucma_query_route(struct ucma_cmd *c);
int ucma_query(struct ucma_cmd *c);
int ucma_listen(struct ucma_cmd *c);
int ucma_connect(struct ucma_cmd *c);
int ucma_accept(struct ucma_cmd *c);
int ucma_reject(struct ucma_cmd *c);
int ucma_disconnect(struct ucma_cmd *c);
int ucma_init_qp_attr(struct ucma_cmd *c);
int ucma_notify(struct ucma_cmd *c);
int ucma_get_event(struct ucma_cmd *c);
int ucma_set_option(struct ucma_cmd *c);
int ucma_migrate_id(struct ucma_cmd *c);
int ucma_join_ip_mcast(struct ucma_cmd *c);
int ucma_join_mcast(struct ucma_cmd *c);
int ucma_leave_mcast(struct ucma_cmd *c);

/* ---- ucma_event.c -------------------------------------------------------------------- */

/* An event of id with nothing but a status. Dropped while the program does not know id. */
void ucma_post(struct ucma_id *id, enum ucma_event_type type, int status);
/* A blank event; the caller fills in resp.param and queues or frees it. NULL: no memory. */
struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status);
void ucma_event_queue(struct ucma_file *f, struct ucma_event *e);
/* Unread events of id (mc NULL) or of mc vanish; the new ids in them too. */
void ucma_event_drop(struct ucma_id *id, struct ucma_mc *mc);
/* They move to another file together with id. */
void ucma_event_move(struct ucma_id *id, struct ucma_file *to);

/* ---- ucma_addr.c: addresses and devices ------------------------------------------------ */

/* From a sockaddr of len bytes. -EAFNOSUPPORT, -EINVAL. */
int ucma_addr_parse(const void *sa, size_t len, struct ucma_addr *out);
void ucma_addr_put(const struct ucma_addr *a, struct sockaddr_in6 *out);
static inline bool ucma_addr_any(const struct ucma_addr *a)
{
	static const union rxe_ip zero;

	return !__builtin_memcmp(&a->ip, &zero, sizeof(zero));
}
/* id belongs to dev from now on, with the GID of its source address. */
int ucma_id_attach(struct ucma_id *id, struct rxe_dev *dev);
void ucma_id_detach(struct ucma_id *id);
void ucma_resolve_cancel(struct ucma_id *id);
/* Where the CM sends to for this id. */
void ucma_path(const struct ucma_id *id, struct cm_path *path);
void ucma_fill_ah(const struct ucma_id *id, const union rxe_ip *dgid, struct ib_uverbs_ah_attr *ah);

/* ---- ucma_port.c: who has which port ------------------------------------------------------ */

/* Gives id->src.port, or one of its choice for 0. -EADDRINUSE, -EADDRNOTAVAIL, -EACCES. */
int ucma_port_get(struct ucma_id *id);
void ucma_port_put(struct ucma_id *id);
/* May id listen where it is bound? */
int ucma_port_listen(struct ucma_id *id);
/* The listener for a request to dst of a device in ns, or NULL. */
struct ucma_id *ucma_port_listener(const struct rxe_netns *ns, uint16_t ps, uint16_t port,
				   const union rxe_ip *dst, const struct rxe_dev *dev);

/* ---- ucma_cm.c: between ids and the CM ------------------------------------------------------- */

/* The CM of this daemon with its clock set, started at first use; NULL: no memory. */
struct cm *ucma_cm(void);
/* After calls that may have armed deadlines. */
void ucma_cm_rearm(void);
struct cm_params ucma_conn_params(const struct ucma_id *id, const struct rdma_ucm_conn_param *p);

/* The device goes: its ids hear DEVICE_REMOVAL. */
void ucma_dev_gone(struct rxe_dev *dev);
/* Connections of dev that the CM knows, those in timewait too. */
uint32_t ucma_connections(const struct rxe_dev *dev);
/*
 * For `rdma res show`: fn of every id that is bound to dev, and of those that
 * listen on any address of dev's network namespace.
 */
void ucma_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct ucma_id *id), void *arg);
/* Has the process an id of datagrams on dev? */
bool ucma_serves(const struct rxe_dev *dev, pid_t pid);

#endif
