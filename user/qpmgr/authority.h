/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who a client is and what it may do, decided when it connects (DESIGN D8b).
 */
#ifndef RXE_AUTHORITY_H
#define RXE_AUTHORITY_H

#include <stdbool.h>
#include <sys/types.h>

struct rxe_netns;

struct rxe_peer {
	pid_t pid;
	uid_t uid;
	char comm[16];
	struct rxe_netns *ns; /* counted */
	bool net_admin;	      /* CAP_NET_ADMIN over ns's user namespace */
	bool net_raw;
	bool net_bind;	/* CAP_NET_BIND_SERVICE: ports below 1024 */
	bool bpf_admin; /* may change tunables: net_admin in rxed's own ns */
};

/* From an accepted unix socket. */
int rxe_peer_from_socket(int fd, struct rxe_peer *peer);
void rxe_peer_release(struct rxe_peer *peer);

#endif
