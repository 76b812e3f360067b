/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holding UDP port 4791 in the device's netns, so that the stack does not
 * answer RoCE frames that XDP passed with ICMP port unreachable (DESIGN D8b).
 */
#ifndef RXE_PORT_H
#define RXE_PORT_H

#define RXE_PORT_FAMILIES 2

struct rxe_port_claim {
	int fd[RXE_PORT_FAMILIES]; /* IPv4, IPv6; -1: not held */
};

/*
 * Control, in the device's netns. Binds without ever reading; several devices
 * and several rxed share the port. Never fails: whoever else has the port also
 * keeps the stack quiet; that is logged.
 */
void rxe_port_claim(struct rxe_port_claim *c, const char *dev_name);
void rxe_port_release(struct rxe_port_claim *c);

#endif
