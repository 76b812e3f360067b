/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tunables as module parameters, rxe(7) FILES: module/rdma_rxe/parameters/
 * NAME and module/rdma_rxe_net/parameters/mtu below RUNDIR/sys. Control thread.
 */
#ifndef RXE_SYSFS_PARAM_H
#define RXE_SYSFS_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include "rxe/params.h"

int rxe_sysfs_init_params(void);
/* Is a path below /sys such a file, or their directory? */
bool rxe_sysfs_is_param(const char *path);
/* The file, or all of them, then hold what the maps hold. */
int rxe_sysfs_sync_param(const char *path);
/* Which one a path names; RXE_PARAM_COUNT: none. */
enum rxe_param_id rxe_sysfs_param(const char *path);
/*
 * What was written to it: a number as the kernel's kstrtouint() takes it, with
 * or without a newline. -EINVAL: none, or out of range.
 */
int rxe_sysfs_store_param(enum rxe_param_id id, const char *text, size_t len);

#endif
