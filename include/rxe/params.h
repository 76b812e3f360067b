/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one table of limits and tunables (rxe(7)). It makes the pinned maps,
 * the daemon's reader, `rxe param`, the man page table and the tests.
 *
 * P(SYMBOL, name, unit, default, min, max, when, help)
 *   when: CREATE  read when a device is created
 *         NOW     acts at once, on every device
 * A value outside [min, max] is clamped by the reader, with one log line.
 */
#ifndef RXE_PARAMS_H
#define RXE_PARAMS_H

/* clang-format off */
#define RXE_PARAMS(P) \
	P(MAX_UCONTEXT, max_ucontext, "contexts", 1048576, 0, 1048576, CREATE, \
	  "user contexts open on one device") \
	P(MAX_QP, max_qp, "QPs", 1048560, 0, 1048560, CREATE, \
	  "queue pairs of one device") \
	P(MAX_QP_WR, max_qp_wr, "work requests", 1048576, 1, 1048576, CREATE, \
	  "work requests in one send or receive queue") \
	P(MAX_MR, max_mr, "MRs", 524287, 0, 524287, CREATE, \
	  "memory regions of one device") \
	P(MAX_FMR, max_fmr, "FMRs", 0, 0, 524287, CREATE, \
	  "fast memory regions; reported only, no user verb makes one") \
	P(MAX_CQ, max_cq, "CQs", 1048576, 0, 1048576, CREATE, \
	  "completion queues of one device") \
	P(MAX_LOG_CQE, max_log_cqe, "log2 CQEs", 15, 1, 20, CREATE, \
	  "log base 2 of the entries in one completion queue") \
	P(MAX_INLINE_DATA, max_inline_data, "bytes", 512, 0, 512, CREATE, \
	  "inline data of one work request") \
	P(MTU, mtu, "bytes", 0, 0, 65535, NOW, \
	  "IB MTU (256..4096): sets the netdev's MTU and the port's; 0 follows the netdev") \
	P(DEFAULT_MTU, default_mtu, "bytes", 0, 0, 4096, NOW, \
	  "largest UD payload sent or taken; 0 is the port's MTU") \
	P(CRC_DISABLE, crc_disable, "boolean", 0, 0, 1, NOW, \
	  "neither check nor compute the ICRC") \
	P(FAST_COMP, fast_comp, "boolean", 1, 0, 1, NOW, \
	  "complete per packet (1) or after each burst (0)") \
	P(FAST_REQ, fast_req, "boolean", 1, 0, 1, NOW, \
	  "start sends at the doorbell (1) or after each burst (0)") \
	P(FAST_RESP, fast_resp, "boolean", 1, 0, 1, NOW, \
	  "respond per packet (1) or after each burst (0)") \
	P(FAST_ARB, fast_arb, "boolean", 0, 0, 1, NOW, \
	  "transmit per packet (1) or after each burst (0)") \
	P(NSEC_PER_PACKET, nsec_per_packet, "ns", 0, 0, 1000000000, NOW, \
	  "least delay from one packet of a QP to its next") \
	P(NSEC_PER_KBYTE, nsec_per_kbyte, "ns", 0, 0, 1000000000, NOW, \
	  "least delay for each 1024 bytes of a packet") \
	P(MAX_PACKET_PER_ACK, max_packet_per_ack, "packets", 64, 0, 65536, NOW, \
	  "a responder acknowledges a long message at least this often; 0 only at its end") \
	P(MAX_SKB_PER_QP, max_skb_per_qp, "packets", 64, 1, 4096, NOW, \
	  "packets that a requester may have queued for sending") \
	P(MAX_REQ_COMP_GAP, max_req_comp_gap, "packets", 128, 1, 8192, NOW, \
	  "requests sent beyond the last PSN acknowledged")
/* clang-format on */

enum rxe_param_when { RXE_PARAM_CREATE, RXE_PARAM_NOW };
#define RXE_PARAM_ENUM(SYM, name, unit, def, min, max, when, help) RXE_PARAM_##SYM,
enum rxe_param_id { RXE_PARAMS(RXE_PARAM_ENUM) RXE_PARAM_COUNT };
#undef RXE_PARAM_ENUM

#endif
