/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rxed writes into the XDP program's maps and reads from them: whose the
 * frames are, which worker gets them, that rxed is alive, and the counters.
 * Control thread, except for the counters (any thread).
 */
#ifndef RXE_STEER_H
#define RXE_STEER_H

#include "datapath/attach.h"
#include "rxe/bpf_abi.h"
#include "transport/transport.h"

struct rxe_steer {
	const struct rxe_xdp_prog *prog;
	struct rxe_bpf_config config; /* as last written */
};

/*
 * Takes the program over: clears what an earlier rxed left, fills `params`,
 * and lets frames in. Its sockets are bound and in `xsks` by then.
 */
int rxe_steer_start(struct rxe_steer *s, const struct rxe_xdp_prog *prog, const uint8_t mac[6],
		    const int *param_fds);
/* An adopted program stays: it passes everything from now on. */
void rxe_steer_stop(struct rxe_steer *s);

int rxe_steer_socket(const struct rxe_xdp_prog *prog, uint32_t worker, uint32_t queue, int fd);
int rxe_steer_qp(struct rxe_steer *s, uint32_t qpn, const struct rxe_bpf_qp *qp);
void rxe_steer_qp_clear(struct rxe_steer *s, uint32_t qpn);
int rxe_steer_addr(struct rxe_steer *s, const union rxe_ip *ip, uint32_t flags);
void rxe_steer_addr_clear(struct rxe_steer *s, const union rxe_ip *ip);
void rxe_steer_mac(struct rxe_steer *s, const uint8_t mac[6]);
/* Says that rxed lives, to an adopted program. */
void rxe_steer_heartbeat(struct rxe_steer *s);

/* Sums entries [0, nr) of a PERCPU_ARRAY of __u64 over all CPUs. */
int rxe_percpu_sums(int map_fd, uint32_t nr, uint64_t *sum);

#endif
