/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon in the fuzzer's process: its own control thread code, one worker,
 * the server's socket, netlink and namespaces, all real, in a network
 * namespace of its own with one device. Not real: the wire (what is sent comes
 * to room_sent(), or is lost) and the tunables' maps (their defaults, with
 * small limits). The memory of its clients is a child process's.
 */
#ifndef FUZZ_ROOM_H
#define FUZZ_ROOM_H

#include "input.h"
#include "rxed.h"
#include "uapi/uverbs.h"

#define ROOM_MEM     0x10000000ull /* in the client's address space, page after page: */
#define ROOM_MEM_LEN 65536	   /* read and write, then as much that is read only */
#define ROOM_ADDR    "10.9.0.0"	   /* the device's; its peer, a neighbour, is 10.9.0.1 */
#define ROOM_ADDR6   "fd00::a"
#define ROOM_DEV     "rxe0"

/* Once, from LLVMFuzzerInitialize(). Ends the process when it cannot be made. */
void room_start(void);
/* Before each input. */
void room_begin(void);
/* The device, made anew when the last input deleted or renamed it. */
struct rxe_dev *room_dev(void);
/* A client's /proc/self/mem and /proc/self/maps: new descriptors. */
void room_mem_fds(int fd[2]);
/* One pass of the loop: what is ready now, and no waiting. */
void room_pass(void);
/* Until cond(arg), for so many milliseconds at the most; what it was then. */
bool room_wait(unsigned int ms, bool (*cond)(void *arg), void *arg);
/*
 * After an input, whose clients are gone: waits until the device has neither
 * object nor QP and every descriptor is closed; aborts when that does not come.
 */
void room_settle(void);

/* A datagram that QP1 sent: takes the oldest one; false when there is none. */
struct room_mad {
	union rxe_ip sip, dip;
	uint32_t len;
	uint8_t bytes[RXE_GSI_MAX];
};
bool room_sent(struct room_mad *m);

#endif
