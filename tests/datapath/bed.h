/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A test bed for datapaths: two network namespaces joined by a veth pair, an
 * xdp datapath opened on either end, packets sent and collected without any
 * transport. All workers of an end are stepped by the caller.
 */
#ifndef RXE_TEST_BED_H
#define RXE_TEST_BED_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include "datapath/datapath.h"
#include "rxe/params.h"

struct bed_got { /* one packet as it arrived */
	uint32_t worker;
	uint32_t qpn;
	uint32_t ib_len;
	uint8_t ecn, ip_version;
	bool loopback;
	union rxe_ip sip, dip;
	uint8_t ib[8192]; /* BTH to end of pad, fragments joined */
};

struct bed_end {
	struct bed *bed;
	char ns[32];
	char dev[IF_NAMESIZE];
	int ns_fd, ifindex;
	uint8_t mac[6];
	union rxe_ip ip[2]; /* [0] IPv4, [1] IPv6 */
	struct rxe_route to_peer, to_self;
	struct rxe_hca hca;
	struct rxe_dp *dp;
	uint32_t nr_workers;
	/* Takes received packets instead of the bed, when set before bed_open(). */
	void (*rx)(struct bed_end *e, uint32_t worker, struct rxe_pkt *pkt);
	struct bed_got got; /* the last one */
	uint32_t nr_got;
	bool keep; /* hold packets back instead of freeing them */
	struct rxe_pkt *kept[8192];
	uint32_t nr_kept;
};

struct bed {
	struct bed_end end[2];
	int param_fds[RXE_PARAM_COUNT];
};

int bed_need_root(void **state); /* group set-up: ends the program with 77 without root */
struct bed *bed_new(uint32_t mtu, uint32_t queues);
void bed_free(struct bed *b);
/* 0 or what open() said, with its line in err. */
int bed_open(struct bed_end *e, uint32_t workers, char *err, size_t errlen);
void bed_close(struct bed_end *e);
void bed_learn(struct bed_end *e);	 /* ifindex and MAC of e->dev */
void bed_enter(const struct bed_end *e); /* this thread into its netns */
void bed_leave(void);
int bed_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One turn of every worker. */
void bed_step(struct bed_end *e);
/* Steps both ends until e has received n packets in all, or 2 s have passed. */
bool bed_wait(struct bed_end *e, uint32_t n);
uint64_t bed_stat(struct bed_end *e, const char *name);

extern const union rxe_ip bed_group; /* IPv4 */

struct bed_send {
	uint32_t worker, src_qpn, dst_qpn, len;
	uint8_t opcode, traffic_class, hop_limit;
	uint32_t flow_label;
	bool v6, local, no_crc;
	bool group, loops; /* to bed_group; the sender's own QPs are in it */
	uint32_t seed;	   /* of the payload's pattern */
};
/* Sends one packet from e; false when there was no room. */
bool bed_send(struct bed_end *e, const struct bed_send *s);
/* Is e->got what bed_send() sent? */
bool bed_same(const struct bed_end *e, const struct bed_send *s);

#endif
