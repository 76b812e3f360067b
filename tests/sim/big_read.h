/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One large READ over a link that loses packets: it makes progress, and is not
 * sent many times over (PROTOCOL 13).
 */
#ifndef SIM_BIG_READ_H
#define SIM_BIG_READ_H

#include <stdint.h>

/* 8 MiB, one packet in a hundred lost; fails when it takes too long or too many. */
void sim_big_read(uint64_t seed);

#endif
