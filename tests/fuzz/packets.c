/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Received packets, raw and made, against QPs of every type in every state,
 * between a client's posts and the passing of time. No packet may reach memory
 * outside the regions that its QP's PD has, and nothing is left at the end.
 */
#include "world.h"

#define MAX_STEPS 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct world w;

	world_init(&w, &in);
	for (int i = 0; i < MAX_STEPS && in.left; i++)
		world_step(&w);
	world_fini(&w);
	return 0;
}
