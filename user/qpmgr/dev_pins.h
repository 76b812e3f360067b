/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pins of each device's BPF maps, for bpftool: root/devices/<dev>/<map>, there
 * while the device is (DESIGN D8). A dot in a name is "%2e". Root alone reads
 * and writes them: a file's mode cannot tell who sees the device in exclusive
 * mode. Control thread of the rxed that has the lock of the tree at root.
 */
#ifndef RXE_DEV_PINS_H
#define RXE_DEV_PINS_H

#include <stdint.h>
#include "datapath/datapath.h"
#include "fail.h"

#define RXE_DEV_SUBDIR "devices"

/* Pins n maps of dev, in place of what is left there of an earlier one; all or nothing. */
int rxe_dev_pins_make(const char *root, const char *dev, const struct rxe_dp_map *map, uint32_t n,
		      struct rxe_errline *err);
/* Takes them back; the directory of all devices too, with its last one. 0 when there are none. */
int rxe_dev_pins_remove(const char *root, const char *dev, struct rxe_errline *err);
int rxe_dev_pins_rename(const char *root, const char *from, const char *to,
			struct rxe_errline *err);
/*
 * Before the first device: takes back what a killed rxed left. -EPERM: some of
 * it is not root's or this user's alone (pin_tree.h); it stays, err says what to type.
 */
int rxe_dev_pins_sweep(const char *root, struct rxe_errline *err);

#endif
