/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device's shared tables, as the rest of the transport sees them.
 */
#ifndef RXE_HCA_H
#define RXE_HCA_H

#include "transport.h"

/* Largest UD payload, bytes. */
static inline uint32_t rxe_ud_mtu(const struct rxe_hca *hca)
{
	uint32_t mtu = __atomic_load_n(&hca->mtu, __ATOMIC_RELAXED);
	uint32_t ud = __atomic_load_n(&hca->ud_mtu, __ATOMIC_RELAXED);

	return ud && ud < mtu ? ud : mtu;
}

struct rxe_mr_table *rxe_mr_table_new(uint32_t max_mr, uint32_t max_mw);
void rxe_mr_table_free(struct rxe_mr_table *t);
size_t rxe_mw_size(void); /* of a struct rxe_mw */

struct rxe_mcast_table *rxe_mcast_table_new(void);
void rxe_mcast_table_free(struct rxe_mcast_table *t);

struct rxe_ah_table *rxe_ah_table_new(uint32_t limit);
void rxe_ah_table_free(struct rxe_ah_table *t);
/*
 * Copies the AV of ah_num. *id tells this AH from a later one of the same
 * number. -ENOENT, -EACCES (of another PD). Engine, inside an RCU section:
 * the route is good until the thread's next quiescent state.
 */
int rxe_ah_lookup(struct rxe_hca *hca, uint32_t pdn, uint32_t ah_num, struct rxe_address *addr,
		  uint64_t *id);
/* Is the AH that gave `id` still there? Engine. */
bool rxe_ah_alive(struct rxe_hca *hca, uint32_t ah_num, uint64_t id);

#endif
