/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One interface for the ways packets reach and leave a device (DESIGN D4):
 * xdp now, tc beside it. A datapath instance (struct rxe_dp) belongs to one
 * device and serves all workers; "control" marks calls of the control thread,
 * "worker" calls of the worker whose number is passed.
 */
#ifndef RXE_DATAPATH_H
#define RXE_DATAPATH_H

#include <poll.h>
#include "transport/transport.h"

struct rxe_dp;

/* What a datapath must know of its device; filled by device.c. */
struct rxe_dp_config {
	const char *dev_name; /* rxe0 */
	const char *netdev;   /* interface name, in the current netns */
	int ifindex;
	uint8_t mac[6];
	uint32_t netdev_mtu;
	uint32_t nr_workers;
	const char *object_dir; /* where rxe_xdp.bpf.o lies */
	const int *param_fds;	/* RXE_PARAM_COUNT map fds for `params` */
	struct rxe_hca *hca;
	/* worker: a received packet, ready for rxe_engine_rx(). */
	void (*rx)(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt);
	void *rx_ctx;
};

/* The resolved next hop that rxe_address.route points at (neigh.c owns it). */
struct rxe_route {
	uint64_t dmac_word; /* bytes 0..5 are the MAC; may change any time */
	bool local;	    /* the destination is an address of this device */
	bool no_source;	    /* the source address is not there, for now: nothing is sent */
};

/* A BPF map that is worth looking at: the name of its pin; the fd stays the datapath's. */
struct rxe_dp_map {
	const char *name;
	int fd;
};
#define RXE_DP_MAX_MAPS 8

struct rxe_dp_ops {
	const char *name;
	/*
	 * control, in the device's netns: load or adopt the program, bind a
	 * socket per worker and receive queue. On failure nothing is left, and
	 * err holds one line that says what to do.
	 */
	int (*open)(const struct rxe_dp_config *cfg, struct rxe_dp **dp, char *err, size_t errlen);
	void (*close)(struct rxe_dp *dp); /* control; workers have let go */

	/*
	 * control: steering. op_class: RXE_CLASS_*; receives: state bit; peer:
	 * the only source that a connected QP takes packets from, NULL: any.
	 */
	int (*qp_set)(struct rxe_dp *dp, uint32_t qpn, uint32_t worker, uint8_t op_class,
		      bool receives, const union rxe_ip *peer);
	void (*qp_clear)(struct rxe_dp *dp, uint32_t qpn);
	int (*addr_set)(struct rxe_dp *dp, const union rxe_ip *ip, uint32_t flags);
	void (*addr_clear)(struct rxe_dp *dp, const union rxe_ip *ip);
	void (*mac_set)(struct rxe_dp *dp, const uint8_t mac[6]);
	/*
	 * control: the netdev has these XDP programs now (n ids, 0: none).
	 * False when packets no longer reach the datapath; why is then one line.
	 */
	bool (*attached)(struct rxe_dp *dp, const uint32_t *prog_ids, int n, char *why,
			 size_t whylen);
	/*
	 * control, in the device's netns, with the netdev's name of now: has it
	 * more receive queues than before? They are opened; true: each worker
	 * shall ask pollfds() again, then steer_queues() lets packets come. A
	 * count that cannot be served is logged, once. Optional.
	 */
	bool (*new_queues)(struct rxe_dp *dp, const char *netdev);
	void (*steer_queues)(struct rxe_dp *dp);
	/* control, about once a second: heartbeat of an adopted program. */
	void (*tick)(struct rxe_dp *dp);

	/*
	 * worker: descriptors to sleep on; returns how many were filled in. Once
	 * there are new queues: those of before, then theirs, which the worker
	 * serves from now on.
	 */
	int (*pollfds)(struct rxe_dp *dp, uint32_t worker, struct pollfd *pfd, int max);
	/* worker: takes up to budget packets to cfg->rx; returns how many. */
	uint32_t (*rx_burst)(struct rxe_dp *dp, uint32_t worker, uint32_t budget);
	/* worker: as rxe_engine_ops, see transport.h. crc: compute the ICRC. */
	struct rxe_pkt *(*pkt_alloc)(struct rxe_dp *dp, uint32_t worker, struct rxe_address *addr,
				     uint32_t hdr_len, uint32_t payload_len, uint32_t pad);
	void (*pkt_send)(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt, bool crc);
	void (*pkt_free)(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt);
	/* worker: end of a burst: kick transmit, reap completions, refill. */
	void (*flush)(struct rxe_dp *dp, uint32_t worker);
	/*
	 * worker, about to sleep: true when packets or completions wait, so
	 * that it must not.
	 */
	bool (*pending)(struct rxe_dp *dp, uint32_t worker);

	/* any thread: "SCOPE NAME VALUE\n" lines through put(arg, name, value). */
	void (*stats)(struct rxe_dp *dp, void (*put)(void *arg, const char *name, uint64_t v),
		      void *arg);
	/* control: its maps; how many were filled in, RXE_DP_MAX_MAPS at most. Optional. */
	uint32_t (*maps)(struct rxe_dp *dp, struct rxe_dp_map map[RXE_DP_MAX_MAPS]);
	/* Largest IB MTU this datapath can carry on this host, and why if < 4096. */
	uint32_t (*max_ib_mtu)(struct rxe_dp *dp, const char **why);
};

extern const struct rxe_dp_ops rxe_dp_xdp;

/* The MAC of a route, consistent while neigh.c changes it. Any thread. */
static inline void rxe_route_mac(const struct rxe_route *r, uint8_t mac[6])
{
	uint64_t w = __atomic_load_n(&r->dmac_word, __ATOMIC_RELAXED);

	__builtin_memcpy(mac, &w, 6);
}

#endif
