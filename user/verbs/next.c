// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the functions that this library stands in front of (next.h).
 */
#include "verbs/next.h"
#include <dlfcn.h>
#include <stdatomic.h>

struct rxe_next rxe_next;

#define SYMBOL(name) {#name, offsetof(struct rxe_next, name)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {RXE_INTERPOSED(SYMBOL)};

/*
 * Several threads may do this at once: all store the same. A call from inside
 * dlsym() (an allocator's) finds what is resolved so far.
 */
void rxe_next_resolve(void)
{
	static _Thread_local int busy;

	if (busy++ == 0)
		for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
			__atomic_store_n((void **)((char *)&rxe_next + symbols[i].offset),
					 dlsym(RTLD_NEXT, symbols[i].name), __ATOMIC_RELAXED);
	busy--;
}

__attribute__((constructor(101))) static void resolve_at_start(void)
{
	rxe_next_resolve();
}
