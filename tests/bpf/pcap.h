/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of the captures in tests/pcaps (classic pcap, little-endian,
 * Ethernet), for tests that go through all of them.
 */
#ifndef TESTS_BPF_PCAP_H
#define TESTS_BPF_PCAP_H

#include "frames.h"

/*
 * Calls fn for every frame of every capture in the directory RXE_PCAP_DIR, or
 * tests/pcaps; roce tells whether frame_parse() took it. Returns the frames.
 */
unsigned int pcap_for_each(void (*fn)(void *arg, const char *file, struct frame *f, bool roce),
			   void *arg);

#endif
