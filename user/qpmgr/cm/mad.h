/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The messages of the IB connection manager as bytes: one table of where each
 * field is, one of what each message has. Pure; any thread.
 *
 * Offsets are those of IBTA volume 1 chapter 12 as the kernel's
 * include/rdma/ibta_vol1_c12.h gives them: bytes behind the 24-byte MAD
 * header, then bits from the most significant one.
 */
#ifndef RXE_CM_MAD_H
#define RXE_CM_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_MAD_LEN     256
#define CM_MAD_HDR     24
#define CM_GSI_QKEY    0x80010000u /* of QP1 */
#define CM_CLASS_VALUE 7

/* M(name, attribute id, offset of the private data behind the header). */
/* clang-format off */
#define CM_MESSAGES(M) \
	M(REQ, 0x10, 140) \
	M(MRA, 0x11, 10) \
	M(REJ, 0x12, 84) \
	M(REP, 0x13, 36) \
	M(RTU, 0x14, 8) \
	M(DREQ, 0x15, 12) \
	M(DREP, 0x16, 8) \
	M(SIDR_REQ, 0x17, 16) \
	M(SIDR_REP, 0x18, 96)
/* clang-format on */

enum cm_msg {
#define CM_MSG_ENUM(name, id, priv) CM_MSG_##name = id,
	CM_MESSAGES(CM_MSG_ENUM)
#undef CM_MSG_ENUM
		CM_MSG_FIRST = CM_MSG_REQ,
	CM_MSG_LAST = CM_MSG_SIDR_REP,
};

/* F(name, byte, bit, width). Negative bytes are in the MAD header. */
/* clang-format off */
#define CM_FIELDS(F) \
	F(BASE_VERSION, -24, 0, 8) \
	F(MGMT_CLASS, -23, 0, 8) \
	F(CLASS_VERSION, -22, 0, 8) \
	F(METHOD, -21, 0, 8) \
	F(TID, -16, 0, 64) \
	F(ATTR_ID, -8, 0, 16) \
	F(ATTR_MOD, -4, 0, 32) \
	F(LOCAL_COMM_ID, 0, 0, 32) \
	F(REMOTE_COMM_ID, 4, 0, 32) /* all but SIDR and REQ */ \
	F(REQ_VENDOR_ID, 5, 0, 24) \
	F(REQ_SERVICE_ID, 8, 0, 64) \
	F(REQ_CA_GUID, 16, 0, 64) \
	F(REQ_QKEY, 28, 0, 32) \
	F(REQ_QPN, 32, 0, 24) \
	F(REQ_RESPONDER_RESOURCES, 35, 0, 8) \
	F(REQ_INITIATOR_DEPTH, 39, 0, 8) \
	F(REQ_REMOTE_TIMEOUT, 43, 0, 5) \
	F(REQ_TRANSPORT, 43, 5, 2) \
	F(REQ_FLOW_CONTROL, 43, 7, 1) \
	F(REQ_PSN, 44, 0, 24) \
	F(REQ_LOCAL_TIMEOUT, 47, 0, 5) \
	F(REQ_RETRY_COUNT, 47, 5, 3) \
	F(REQ_PKEY, 48, 0, 16) \
	F(REQ_MTU, 50, 0, 4) \
	F(REQ_RNR_RETRY, 50, 5, 3) \
	F(REQ_MAX_CM_RETRIES, 51, 0, 4) \
	F(REQ_SRQ, 51, 4, 1) \
	F(REQ_EXT_TRANSPORT, 51, 5, 3) \
	F(REQ_LOCAL_LID, 52, 0, 16) \
	F(REQ_REMOTE_LID, 54, 0, 16) \
	F(REQ_FLOW_LABEL, 88, 0, 20) \
	F(REQ_RATE, 91, 2, 6) \
	F(REQ_TRAFFIC_CLASS, 92, 0, 8) \
	F(REQ_HOP_LIMIT, 93, 0, 8) \
	F(REQ_SL, 94, 0, 4) \
	F(REQ_SUBNET_LOCAL, 94, 4, 1) \
	F(REQ_ACK_TIMEOUT, 95, 0, 5) \
	F(MRA_WHICH, 8, 0, 2) \
	F(MRA_TIMEOUT, 9, 0, 5) \
	F(REJ_WHICH, 8, 0, 2) \
	F(REJ_INFO_LEN, 9, 0, 7) \
	F(REJ_REASON, 10, 0, 16) \
	F(REP_QKEY, 8, 0, 32) \
	F(REP_QPN, 12, 0, 24) \
	F(REP_VENDOR_H, 15, 0, 8) \
	F(REP_VENDOR_M, 19, 0, 8) \
	F(REP_PSN, 20, 0, 24) \
	F(REP_VENDOR_L, 23, 0, 8) \
	F(REP_RESPONDER_RESOURCES, 24, 0, 8) \
	F(REP_INITIATOR_DEPTH, 25, 0, 8) \
	F(REP_ACK_DELAY, 26, 0, 5) \
	F(REP_FAILOVER, 26, 5, 2) \
	F(REP_FLOW_CONTROL, 26, 7, 1) \
	F(REP_RNR_RETRY, 27, 0, 3) \
	F(REP_SRQ, 27, 3, 1) \
	F(REP_CA_GUID, 28, 0, 64) \
	F(DREQ_QPN, 8, 0, 24) \
	F(SIDR_REQ_ID, 0, 0, 32) \
	F(SIDR_REQ_PKEY, 4, 0, 16) \
	F(SIDR_REQ_SERVICE_ID, 8, 0, 64) \
	F(SIDR_REP_ID, 0, 0, 32) \
	F(SIDR_REP_STATUS, 4, 0, 8) \
	F(SIDR_REP_INFO_LEN, 5, 0, 8) \
	F(SIDR_REP_VENDOR_H, 6, 0, 16) \
	F(SIDR_REP_QPN, 8, 0, 24) \
	F(SIDR_REP_VENDOR_L, 11, 0, 8) \
	F(SIDR_REP_SERVICE_ID, 12, 0, 64) \
	F(SIDR_REP_QKEY, 20, 0, 32)
/* clang-format on */

enum cm_field {
#define CM_FIELD_ENUM(name, byte, bit, width) CM_##name,
	CM_FIELDS(CM_FIELD_ENUM)
#undef CM_FIELD_ENUM
		CM_FIELD_COUNT
};

/* Fields longer than a word: bytes behind the MAD header. */
#define CM_REQ_LOCAL_GID    56
#define CM_REQ_REMOTE_GID   72
#define CM_REJ_INFO	    12
#define CM_REJ_INFO_LEN_MAX 72

/* Values of MRA_WHICH, REJ_WHICH. */
enum cm_which { CM_WHICH_REQ, CM_WHICH_REP, CM_WHICH_OTHER };

uint64_t cm_get(const uint8_t *mad, enum cm_field f);
void cm_put(uint8_t *mad, enum cm_field f, uint64_t value);
/* Zeroes the MAD and writes its header. */
void cm_mad_init(uint8_t *mad, enum cm_msg msg, uint64_t tid);
/* A CM message of len bytes? Its attribute id, or -EINVAL. Reads nothing beyond. */
int cm_mad_check(const uint8_t *mad, size_t len);
/* The private data of a message and how long it is; CM_MSG_* only. */
uint8_t *cm_private_data(uint8_t *mad, enum cm_msg msg, size_t *len);
const char *cm_msg_name(enum cm_msg msg);

#endif
