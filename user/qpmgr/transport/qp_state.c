/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The QP state machine as a table: which transition needs and takes which
 * attributes, per service type; the rules of the kernel's ib_modify_qp_is_ok().
 */
#include <errno.h>
#include "transport.h"

/* clang-format off */
#define PKEY   RXE_QP_PKEY_INDEX
#define PORT   RXE_QP_PORT
#define QKEY   RXE_QP_QKEY
#define ACCESS RXE_QP_ACCESS_FLAGS
#define CUR    RXE_QP_CUR_STATE
#define ALT    RXE_QP_ALT_PATH
#define MIG    RXE_QP_PATH_MIG_STATE
#define RNR    RXE_QP_MIN_RNR_TIMER
#define NOTIFY RXE_QP_EN_SQD_ASYNC_NOTIFY

#define PATH	    (RXE_QP_AV | RXE_QP_PATH_MTU | RXE_QP_DEST_QPN | RXE_QP_RQ_PSN)
#define RC_RESP	    (RXE_QP_MAX_DEST_RD_ATOMIC | RNR)
#define RC_RETRIES  (RXE_QP_TIMEOUT | RXE_QP_RETRY_CNT | RXE_QP_RNR_RETRY)
#define RC_REQ	    (RC_RETRIES | RXE_QP_SQ_PSN | RXE_QP_MAX_QP_RD_ATOMIC)
#define RTS_OPT_UC  (CUR | ALT | ACCESS | MIG)
#define RTS_OPT_RC  (RTS_OPT_UC | RNR)
#define SQD_OPT_UC  (RXE_QP_AV | ALT | ACCESS | PKEY | MIG)
#define SQD_OPT_RC                                                                                 \
	(SQD_OPT_UC | PORT | RC_RETRIES | RXE_QP_MAX_QP_RD_ATOMIC | RC_RESP)

struct masks {
	uint32_t req, opt;
};

struct transition {
	bool valid;
	struct masks rc, uc, ud, gsi;
};

#define ANY {.valid = true}

static const struct transition table[RXE_QPS_ERR + 1][RXE_QPS_ERR + 1] = {
	[RXE_QPS_RESET] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_INIT] = {
			.valid = true,
			.rc = {.req = PKEY | PORT | ACCESS},
			.uc = {.req = PKEY | PORT | ACCESS},
			.ud = {.req = PKEY | PORT | QKEY},
			.gsi = {.req = PKEY | QKEY},
		},
	},
	[RXE_QPS_INIT] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
		[RXE_QPS_INIT] = {
			.valid = true,
			.rc = {.opt = PKEY | PORT | ACCESS},
			.uc = {.opt = PKEY | PORT | ACCESS},
			.ud = {.opt = PKEY | PORT | QKEY},
			.gsi = {.opt = PKEY | QKEY},
		},
		[RXE_QPS_RTR] = {
			.valid = true,
			.rc = {.req = PATH | RC_RESP, .opt = ALT | ACCESS | PKEY},
			.uc = {.req = PATH, .opt = ALT | ACCESS | PKEY},
			.ud = {.opt = PKEY | QKEY},
			.gsi = {.opt = PKEY | QKEY},
		},
	},
	[RXE_QPS_RTR] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
		[RXE_QPS_RTS] = {
			.valid = true,
			.rc = {.req = RC_REQ, .opt = RTS_OPT_RC},
			.uc = {.req = RXE_QP_SQ_PSN, .opt = RTS_OPT_UC},
			.ud = {.req = RXE_QP_SQ_PSN, .opt = CUR | QKEY},
			.gsi = {.req = RXE_QP_SQ_PSN, .opt = CUR | QKEY},
		},
	},
	[RXE_QPS_RTS] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
		[RXE_QPS_RTS] = {
			.valid = true,
			.rc = {.opt = RTS_OPT_RC},
			.uc = {.opt = RTS_OPT_UC},
			.ud = {.opt = CUR | QKEY},
			.gsi = {.opt = CUR | QKEY},
		},
		[RXE_QPS_SQD] = {
			.valid = true,
			.rc = {.opt = NOTIFY},
			.uc = {.opt = NOTIFY},
			.ud = {.opt = NOTIFY},
			.gsi = {.opt = NOTIFY},
		},
	},
	[RXE_QPS_SQD] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
		[RXE_QPS_RTS] = {
			.valid = true,
			.rc = {.opt = RTS_OPT_RC},
			.uc = {.opt = RTS_OPT_UC},
			.ud = {.opt = CUR | QKEY},
			.gsi = {.opt = CUR | QKEY},
		},
		[RXE_QPS_SQD] = {
			.valid = true,
			.rc = {.opt = SQD_OPT_RC},
			.uc = {.opt = SQD_OPT_UC},
			.ud = {.opt = PKEY | QKEY},
			.gsi = {.opt = PKEY | QKEY},
		},
	},
	[RXE_QPS_SQE] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
		[RXE_QPS_RTS] = {
			.valid = true,
			.uc = {.opt = CUR | ACCESS},
			.ud = {.opt = CUR | QKEY},
			.gsi = {.opt = CUR | QKEY},
		},
	},
	[RXE_QPS_ERR] = {
		[RXE_QPS_RESET] = ANY,
		[RXE_QPS_ERR] = ANY,
	},
};
/* clang-format on */

static const struct masks *masks_of(const struct transition *t, enum rxe_qp_type type)
{
	switch (type) {
	case RXE_QPT_RC:
		return &t->rc;
	case RXE_QPT_UC:
		return &t->uc;
	case RXE_QPT_UD:
		return &t->ud;
	case RXE_QPT_GSI:
		return &t->gsi;
	}
	return NULL;
}

/* CUR_STATE may be named only where the state can have changed by itself. */
static bool cur_state_ok(enum rxe_qp_state cur)
{
	return cur == RXE_QPS_RTR || cur == RXE_QPS_RTS || cur == RXE_QPS_SQD || cur == RXE_QPS_SQE;
}

int rxe_qp_modify_check(enum rxe_qp_type type, enum rxe_qp_state cur, enum rxe_qp_state next,
			uint32_t attr_mask)
{
	const struct transition *t;
	const struct masks *m;

	if ((uint32_t)cur > RXE_QPS_ERR || (uint32_t)next > RXE_QPS_ERR)
		return -EINVAL;
	if ((attr_mask & RXE_QP_CUR_STATE) && !cur_state_ok(cur))
		return -EINVAL;
	t = &table[cur][next];
	m = masks_of(t, type);
	if (!t->valid || !m || (attr_mask & m->req) != m->req ||
	    (attr_mask & ~(m->req | m->opt | RXE_QP_STATE)))
		return -EINVAL;
	return 0;
}
