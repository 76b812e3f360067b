/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Set-up and tear-down of a device's shared tables.
 */
#include <errno.h>
#include <string.h>
#include "hca.h"

int rxe_hca_init(struct rxe_hca *hca, const struct rxe_limits *limits)
{
	hca->limits = *limits;
	hca->pkey = RXE_DEFAULT_PKEY;
	hca->mrs = rxe_mr_table_new(limits->max_mr, limits->max_mw);
	hca->ahs = rxe_ah_table_new(limits->max_ah);
	hca->mcast = rxe_mcast_table_new();
	if (hca->mrs && hca->ahs && hca->mcast)
		return 0;
	rxe_hca_fini(hca);
	return -ENOMEM;
}

void rxe_hca_fini(struct rxe_hca *hca)
{
	rxe_mr_table_free(hca->mrs);
	rxe_ah_table_free(hca->ahs);
	rxe_mcast_table_free(hca->mcast);
	hca->mrs = NULL;
	hca->ahs = NULL;
	hca->mcast = NULL;
}
