/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tunables tree: one pinned one-element map per row of rxe/params.h, and
 * rxed's clamped, mmaped view of them (DESIGN D8).
 */
#ifndef RXE_PARAMS_DAEMON_H
#define RXE_PARAMS_DAEMON_H

#include <stddef.h>
#include <stdint.h>
#include "rxe/params.h"

struct rxe_params;

/*
 * Opens or creates pindir/parameters/<name>, keeping the values of an earlier
 * run. -EBUSY when a live instance owns pindir; -EPERM when another user could
 * change it; -ENOENT when bpffs is not mounted there: err says what to type.
 * On failure nothing is left that it made.
 */
int rxe_params_open(const char *pindir, struct rxe_params **out, char *err, size_t errlen);
void rxe_params_close(struct rxe_params *p);   /* the pins stay */
void rxe_params_discard(struct rxe_params *p); /* those that open made go */
/* Now, clamped. Any thread. An out-of-range value is logged once per value. */
uint32_t rxe_param(struct rxe_params *p, enum rxe_param_id id);
/* Writes the map; the caller has checked the range. 0 or a negative errno. Control thread. */
int rxe_param_set(struct rxe_params *p, enum rxe_param_id id, uint32_t value);
const int *rxe_param_fds(const struct rxe_params *p); /* RXE_PARAM_COUNT fds */

#endif
