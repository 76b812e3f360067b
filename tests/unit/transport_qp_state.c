/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* qp_state.c: the masks that UABI.md lists, and what must be refused. */
#include <errno.h>
#include "sim/bed.h"

#define RC RXE_QPT_RC
#define UD RXE_QPT_UD
#define UC RXE_QPT_UC

static const struct {
	enum rxe_qp_type type;
	enum rxe_qp_state from, to;
	uint32_t mask;
	int want;
} cases[] = {
	/* what libibverbs and librdmacm send */
	{RC, RXE_QPS_RESET, RXE_QPS_INIT, 0x39, 0},
	{RC, RXE_QPS_INIT, RXE_QPS_RTR, 0x129181, 0},
	{RC, RXE_QPS_RTR, RXE_QPS_RTS, 0x12e01, 0},
	{UD, RXE_QPS_RESET, RXE_QPS_INIT, 0x71, 0},
	{UD, RXE_QPS_INIT, RXE_QPS_RTR, 0x1, 0},
	{UD, RXE_QPS_RTR, RXE_QPS_RTS, 0x10001, 0},
	{UC, RXE_QPS_RESET, RXE_QPS_INIT, 0x39, 0},
	{UC, RXE_QPS_INIT, RXE_QPS_RTR, 0x101181, 0},
	{UC, RXE_QPS_RTR, RXE_QPS_RTS, 0x10001, 0},
	/* to ERR and RESET from anywhere but RESET -> ERR */
	{RC, RXE_QPS_RTS, RXE_QPS_ERR, 0x1, 0},
	{RC, RXE_QPS_SQD, RXE_QPS_ERR, 0x1, 0},
	{RC, RXE_QPS_ERR, RXE_QPS_RESET, 0x1, 0},
	{RC, RXE_QPS_RESET, RXE_QPS_ERR, 0x1, -EINVAL},
	{RC, RXE_QPS_RTS, RXE_QPS_SQD, 0x1, 0},
	{RC, RXE_QPS_SQD, RXE_QPS_RTS, 0x1, 0},
	{RC, RXE_QPS_SQD, RXE_QPS_SQD, 0x81, 0},
	/* an attribute missing, one too many, a step too far */
	{RC, RXE_QPS_RESET, RXE_QPS_INIT, 0x31, -EINVAL},
	{RC, RXE_QPS_RESET, RXE_QPS_INIT, 0x39 | RXE_QP_QKEY, -EINVAL},
	{UD, RXE_QPS_RESET, RXE_QPS_INIT, 0x39, -EINVAL},
	{RC, RXE_QPS_INIT, RXE_QPS_RTS, 0x12e01, -EINVAL},
	{RC, RXE_QPS_RESET, RXE_QPS_RTR, 0x129181, -EINVAL},
	{RC, RXE_QPS_RTR, RXE_QPS_INIT, 0x39, -EINVAL},
	{RC, RXE_QPS_INIT, RXE_QPS_INIT, 0x3 | RXE_QP_PORT, -EINVAL},
	{RC, RXE_QPS_INIT, RXE_QPS_INIT, 0x1 | RXE_QP_PORT, 0},
	{RC, RXE_QPS_RTS, RXE_QPS_RTS, RXE_QP_AV, -EINVAL},
	{RC, RXE_QPS_RTS, RXE_QPS_RTS, RXE_QP_CUR_STATE | RXE_QP_MIN_RNR_TIMER, 0},
	{RC, RXE_QPS_INIT, RXE_QPS_RTR, 0x129181 | RXE_QP_CUR_STATE, -EINVAL},
	{RC, RXE_QPS_SQE, RXE_QPS_RTS, 0x1, 0},
	{RC, 9, RXE_QPS_RTS, 0x1, -EINVAL},
	{RC, RXE_QPS_RTS, 77, 0x1, -EINVAL},
	{5, RXE_QPS_RTS, RXE_QPS_ERR, 0x1, -EINVAL},
};

static void table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (rxe_qp_modify_check(cases[i].type, cases[i].from, cases[i].to, cases[i].mask) !=
		    cases[i].want)
			fail_msg("case %zu: type %d, %d -> %d, mask 0x%x", i, cases[i].type,
				 cases[i].from, cases[i].to, cases[i].mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(table)};

	return cmocka_run_group_tests_name("transport_qp_state", tests, NULL, NULL);
}
