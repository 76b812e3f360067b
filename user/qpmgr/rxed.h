/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon as a whole: its state and the objects that several rooms share
 * (network namespaces, devices). All of it belongs to the control thread.
 */
#ifndef RXED_H
#define RXED_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include "rxe/params.h"
#include "datapath/datapath.h"
#include "idmap.h"
#include "loop.h"
#include "transport/transport.h"

#define RXE_GID_TBL_LEN	      32
#define RXE_DEV_NAME_MAX      64
#define RXE_UVERBS_MAJOR      231
#define RXE_UVERBS_MINOR_BASE 192

struct rxe_params; /* params.h */
struct rxe_worker; /* worker.h */
struct rxe_server; /* uapi/server.h */
struct rxe_netns;  /* netns.h */
struct rxe_rtnl;   /* rtnl.h */

/* Objects that have a number of their own in `rdma res show`, counted from 0 per device. */
enum rxe_res { RXE_RES_PD, RXE_RES_CQ, RXE_RES_MR, RXE_RES_CTX, RXE_RES_SRQ, RXE_RES_KINDS };

/* Messages of the CM, by their number from REQ on (ports/1/cm_* of sysfs). */
enum rxe_cm_count {
	RXE_CM_TX_MSGS,
	RXE_CM_TX_RETRIES,
	RXE_CM_RX_MSGS,
	RXE_CM_RX_DUPLICATES,
	RXE_CM_COUNTS
};
#define RXE_CM_KINDS 11 /* to LAP and APR, which are refused */

enum rxe_netns_mode { RXE_NETNS_EXCLUSIVE = 0, RXE_NETNS_SHARED = 1 };

struct rxe_gid_entry {
	union rxe_ip ip; /* as a GID: IPv4 is v4-mapped */
	bool valid;	 /* a hole when false */
	bool used;	 /* has meant `ip` once: the index keeps that meaning */
};

struct rxe_dev {
	TAILQ_ENTRY(rxe_dev) link;
	char name[RXE_DEV_NAME_MAX];
	uint32_t index;		   /* rdma device index */
	uint32_t minor;		   /* uverbs minor N */
	struct rxe_netns *ns;	   /* its netdev's */
	struct rxe_netns *rdma_ns; /* that sees it in exclusive mode; `rdma dev set netns` */
	int ifindex;
	char netdev[IF_NAMESIZE];
	uint8_t mac[6];
	uint32_t netdev_mtu;
	bool netdev_up;	       /* IFF_UP, carrier, and packets reach the datapath */
	bool netdev_admin_up;  /* IFF_UP */
	bool detached;	       /* packets do not reach the datapath */
	struct rxe_rtnl *rtnl; /* rtnl.h; NULL once gone */
	uint64_t link_downed;  /* times the port went down */
	uint32_t mtu_applied;  /* the `mtu` tunable that the netdev was given */
	bool gone;	       /* deleted; contexts may still hold it */
	uint64_t node_guid;    /* host order */
	char node_desc[64];
	struct rxe_gid_entry gids[RXE_GID_TBL_LEN];
	struct rxe_hca hca; /* hca.owner is this */
	const struct rxe_dp_ops *dp_ops;
	struct rxe_dp *dp;
	LIST_HEAD(, rxe_group) groups; /* group.h: multicast groups joined */
	LIST_HEAD(, rxe_group_sock) group_socks;
	struct rxe_idmap qpns;	/* 16 .. 16 + max_qp - 1; device.c sets it up */
	struct rxe_idmap srqns; /* SRQ numbers, from the driver's first; likewise */
	uint32_t nr_contexts, nr_pd, nr_qp, nr_cq, nr_mr, nr_mw, nr_ah;
	uint32_t nr_cm_id;
	uint32_t stat_mode, stat_mask; /* `rdma statistic qp`: RDMA_COUNTER_MODE_*, what by */
	bool dim;		       /* `rdma dev set NAME adaptive-moderation` */
	uint64_t cm_msgs[RXE_CM_COUNTS][RXE_CM_KINDS];
	uint32_t gsi_sent;		  /* MADs */
	uint32_t next_res[RXE_RES_KINDS]; /* the next object's number */
	uint32_t live_qps;		  /* atomic: engines have not released them */
	uint32_t refs;
};
TAILQ_HEAD(rxe_dev_list, rxe_dev);

struct rxed {
	char rundir[256];     /* /run/rxe */
	char pindir[300];     /* /sys/fs/bpf/<basename> */
	char object_dir[256]; /* BPF objects */
	enum rxe_netns_mode netns_mode;
	struct rxe_loop *loop;
	struct rxe_params *params;
	struct rxe_server *server;
	struct rxe_worker **workers;
	uint32_t nr_workers;
	struct rxe_dev_list devs;
	uint32_t next_dev_index;
};
extern struct rxed rxed;

/* ---- device.c ----------------------------------------------------------- */
/* Creates `name` on `netdev` of ns. err: one line that says what to do. */
int rxe_dev_create(struct rxe_netns *ns, const char *name, const char *netdev, struct rxe_dev **out,
		   char *err, size_t errlen);
/* Stops the datapath, tells its contexts (DEVICE_FATAL), drops the name. */
void rxe_dev_delete(struct rxe_dev *dev);
int rxe_dev_rename(struct rxe_dev *dev, const char *name);
struct rxe_dev *rxe_dev_by_index(uint32_t index);
struct rxe_dev *rxe_dev_by_minor(uint32_t minor);
struct rxe_dev *rxe_dev_by_name(const char *name);
/*
 * Moves dev to the clients of ns, for exclusive mode; its netdev stays where it
 * is. Programs that have it open see it go (DEVICE_FATAL), as in the kernel.
 */
void rxe_dev_set_netns(struct rxe_dev *dev, struct rxe_netns *ns);
/* A tunable was set: what acts on ports at once, does so now. */
void rxe_dev_params_changed(void);
/* Shared or exclusive, for all devices; who may not see one any more loses it. */
void rxe_set_netns_mode(enum rxe_netns_mode mode);
/* Does a client in ns see it? (shared mode: always; exclusive: when in rdma_ns.) */
bool rxe_dev_visible(const struct rxe_dev *dev, const struct rxe_netns *ns);
void rxe_dev_get(struct rxe_dev *dev);
void rxe_dev_put(struct rxe_dev *dev);
uint32_t rxe_mtu_to_enum(uint32_t bytes); /* 256 -> 1 ... 4096 -> 5 */
/* A hardware counter of dev, all workers and the port. */
uint64_t rxe_dev_counter(const struct rxe_dev *dev, enum rxe_hw_counter c);

/* ---- called by device.c, gid.c on change -------------------------------- */
/* uapi/: tells every context of dev (port event, GID change). */
void rxe_uverbs_dev_event(struct rxe_dev *dev, enum rxe_event_kind kind);
/* uapi/: the device is going: kill its contexts' QPs, raise DEVICE_FATAL. */
void rxe_uverbs_dev_gone(struct rxe_dev *dev);
/* uapi/: ends the contexts of dev whose clients do not see it any more. */
void rxe_uverbs_dev_isolate(struct rxe_dev *dev);
/* uapi/sysfs.c: (re)write or remove the device's files. */
int rxe_sysfs_init(void);
int rxe_sysfs_write_dev(struct rxe_dev *dev);
void rxe_sysfs_remove_dev(struct rxe_dev *dev);
void rxe_sysfs_netns_mode(void); /* the mode or a device's rdma_ns changed */
/*
 * Brings a path below RUNDIR/sys up to date. Below merged/INO: what clients in
 * ns, which must be INO, see beside the kernel's devices; -EACCES else.
 */
int rxe_sysfs_sync(const char *path, const struct rxe_netns *ns);

/* ---- neigh.c: route and neighbour resolution ------------------------------ */
/*
 * Resolves dip as seen from dev with source sip: *route when the answer is
 * known at once (0), else -EINPROGRESS and cb later, on the control thread,
 * with a route or a negative errno (-EHOSTUNREACH, -ENETUNREACH after 3 s; the log
 * names both addresses). Routes are shared and counted.
 */
typedef void (*rxe_route_cb)(void *arg, int err, struct rxe_route *route);
int rxe_route_resolve(struct rxe_dev *dev, const union rxe_ip *sip, const union rxe_ip *dip,
		      rxe_route_cb cb, void *arg, struct rxe_route **route);
void rxe_route_cancel(void *arg);	 /* no cb with this arg any more */
void rxe_route_get(struct rxe_route *r); /* any thread */
void rxe_route_put(struct rxe_route *r); /* any thread */

/* ---- worker.c -------------------------------------------------------------- */
/*
 * Every worker takes the device's datapath up, or lets go of it. Blocks. -ENOMEM
 * or epoll_ctl()'s error: none has it.
 */
int rxe_workers_attach(struct rxe_dev *dev);
void rxe_workers_detach(struct rxe_dev *dev);
/* The datapath of dev has new queues (dp_ops->new_queues): every worker serves them. */
void rxe_workers_attach_queues(struct rxe_dev *dev);
/* The datapath's cfg->rx: gives the packet to the worker's engine. */
void rxe_worker_rx(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt);
/* Sum over all workers of a hardware counter of dev. */
uint64_t rxe_workers_counter(const struct rxe_dev *dev, enum rxe_hw_counter c);

#endif
