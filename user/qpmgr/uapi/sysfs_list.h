/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of devices on a host whose kernel has some of its own: directories of
 * links to the kernel's and ours, made when a program looks. Control thread.
 */
#ifndef RXE_SYSFS_LIST_H
#define RXE_SYSFS_LIST_H

#include <stdbool.h>

struct rxe_netns;

#define RXE_MERGED_DIR "merged"

/* Has this host's kernel the RDMA subsystem; a device of that name? */
bool rxe_kernel_has_rdma(void);
bool rxe_kernel_has_device(const char *name);
/*
 * path: merged/INO and one of /sys/class/infiniband, /sys/class/infiniband_verbs
 * and /dev/infiniband, for clients of ns. -EACCES when ns is not INO, -ENOENT
 * for another directory and when there would be nothing in it.
 */
int rxe_sysfs_sync_list(const char *path, const struct rxe_netns *ns);

#endif
