/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the device, GID, route and nldev code needs around it in a test: the
 * daemon's state, and a datapath, workers and contexts that only record what
 * they are told. Netlink, namespaces and the event loop are the real ones.
 */
#ifndef RXE_TEST_DEVICES_ENV_H
#define RXE_TEST_DEVICES_ENV_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <netinet/in.h>
#include "rxed.h"

#define ENV_MAX_ADDRS 64

/* What the rest of the daemon was told, newest state. */
struct env_record {
	union rxe_ip addrs[ENV_MAX_ADDRS]; /* given to the datapath */
	unsigned int nr_addrs;
	uint8_t mac[6];
	unsigned int opened, closed, attached, detached, gone, isolated;
	unsigned int events[32]; /* by enum rxe_event_kind */
	uint32_t max_ib_mtu;	 /* what the datapath says it carries */
	uint32_t needs_prog;	 /* XDP program without which nothing reaches it; 0: none */
	int open_error;		 /* what the datapath's open returns */
	int attach_err;		 /* what rxe_workers_attach() returns */
	uint32_t params[RXE_PARAM_COUNT];
	struct uobj **objects; /* of objects_kind (enum uobj_kind), NULL behind the last */
	int objects_kind;
	struct uobj *srq;
};
extern struct env_record env;

/* Fresh state and a run directory; env_stop() removes it. */
void env_start(void);
void env_stop(void);
/* Runs the event loop until cond(arg) or the time is over; returns cond(arg). */
bool env_wait(bool (*cond)(void *arg), void *arg, unsigned int ms);
/* Moves this process into a network namespace of its own; skips without root. */
void env_private_netns(void);
/* system() that must succeed. */
void env_sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The file's first line below RUNDIR/sys, or NULL. Static buffer. */
const char *env_sysfs(const char *path);
union rxe_ip env_ip(const char *text);

#endif
