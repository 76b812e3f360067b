/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The XDP program under BPF_PROG_TEST_RUN: loaded once, its maps set up for
 * one device with the addresses of frames.h and a few QPs, and the verdict of
 * a run read back as the counter that moved.
 */
#ifndef TESTS_BPF_HARNESS_H
#define TESTS_BPF_HARNESS_H

#include <stdint.h>
#include <rxe/bpf_abi.h>
#include <rxe/params.h>
#include <rxe/wire.h>

#define TEST_RC_QPN   0x11abcd
#define TEST_UC_QPN   0x22abcd
#define TEST_UD_QPN   0x33abcd
#define TEST_IDLE_QPN 0x44abcd /* known, not receiving */
#define TEST_WORKER   3

struct harness {
	struct bpf_object *obj;
	int prog, xsk;
	int config, params, qpns, addrs, xsks, counters;
	int crc_disable; /* the inner map in the params slot */
};

struct run {
	uint32_t action;	      /* XDP_* */
	enum rxe_bpf_counter counter; /* the one that moved */
	struct rxe_rx_meta meta;      /* zero unless steered */
	uint32_t len;		      /* of the frame after the run */
};

/* cmocka group set-up and teardown; *state is the struct harness. */
int harness_setup(void **state);
int harness_teardown(void **state);

/* Run one frame; @linear bytes of it in the linear part, 0: as many as fit. */
struct run harness_run(struct harness *h, const void *frame, uint32_t len, uint32_t linear);
/* The same behind @meta_len bytes of someone else's metadata. */
struct run harness_run_with_meta(struct harness *h, const void *frame, uint32_t len,
				 uint32_t meta_len);
/* The frame as the last run left it. */
const uint8_t *harness_output(void);
/* Does this kernel let a test choose the linear part (6.18)? */
int harness_can_split(struct harness *h);

void harness_set_config(struct harness *h, const struct rxe_bpf_config *cfg);
void harness_set_addr(struct harness *h, const uint8_t ip[16], uint32_t flags);
void harness_set_qp(struct harness *h, uint32_t qpn, uint8_t op_class, uint8_t state);
/* The same, connected: only frames from peer are its. */
void harness_set_peer(struct harness *h, uint32_t qpn, uint8_t op_class, const uint8_t peer[16]);
void harness_set_crc_disable(struct harness *h, uint32_t value);
void harness_set_socket(struct harness *h, uint32_t worker, uint32_t queue, int present);
void harness_fill_param(struct harness *h, enum rxe_param_id id, int map_fd);
void harness_clear_param(struct harness *h, enum rxe_param_id id);
void harness_read_abi(struct harness *h, struct rxe_bpf_abi *abi);
uint64_t harness_counter(struct harness *h, enum rxe_bpf_counter which);
const char *harness_counter_name(enum rxe_bpf_counter which);

/* The state every test starts from. */
extern const struct rxe_bpf_config harness_default_config;

#endif
