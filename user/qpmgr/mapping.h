/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client's mappings allow. Its mem fd ignores page protections (DESIGN
 * D6), so they are asked for: when a region is registered, and again for each
 * copy, since the client may have changed them.
 */
#ifndef RXE_MAPPING_H
#define RXE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does the address space of mapsfd (/proc/PID/maps, opened by the client) have
 * [va, va+len) mapped, readable or with `write` writable? 0, -EFAULT when not
 * or when the address space is gone, -ENOMEM. Waits for the client's mmap lock,
 * which a blocked page fault of the client's may hold: never on a worker.
 */
int rxe_mapping_check(int mapsfd, uint64_t va, uint64_t len, bool write);
/*
 * The same for one copy. Where the kernel has no query (before 6.11) it costs
 * too much and is left at the check of the registration: 0.
 */
int rxe_mapping_check_again(int mapsfd, uint64_t va, uint64_t len, bool write);
/*
 * Has the kernel that query? Then a region may be registered before its memory
 * is mapped (on-demand paging), since every copy asks.
 */
bool rxe_mapping_asked_each_time(void);

#endif
