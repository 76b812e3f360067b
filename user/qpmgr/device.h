/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a device that can be told without a kernel: the arithmetic of
 * MTUs, GUIDs and names (device_rules.c). Any thread.
 */
#ifndef RXE_DEVICE_H
#define RXE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include "rxed.h"

/*
 * Room that a netdev's MTU must leave beside the IB payload: IPv6 40, UDP 8,
 * BTH 12, RETH 16, ImmDt 4, ICRC 4. (The kernel driver subtracts 80 and so
 * lets a WRITE with immediate over IPv6 grow past the netdev's MTU.)
 */
#define RXE_MAX_HDR_LEN	 84
#define RXE_MIN_IB_MTU	 256
#define RXE_MIN_IPV6_MTU 1280 /* below it the kernel takes IPv6 off a netdev */

/* The largest IB MTU (256, 512 ... 4096) of at most `bytes`; 0 below 256. */
uint32_t rxe_ib_mtu_floor(uint32_t bytes);
/* The IB MTU that a netdev's MTU carries; 0 when not even 256. */
uint32_t rxe_ib_mtu_of_netdev(uint32_t netdev_mtu);
/* The netdev MTU that `mtu` (the tunable) asks for; an IB MTU goes in. */
uint32_t rxe_netdev_mtu_for(uint32_t ib_mtu);
/* EUI-64 of a MAC with the universal bit turned over, host order. */
uint64_t rxe_mac_to_guid(const uint8_t mac[6]);
/*
 * May a device be called so? It becomes a directory name here and in bpffs.
 * NULL when it may, else why not.
 */
const char *rxe_dev_name_fault(const char *name);

#endif
