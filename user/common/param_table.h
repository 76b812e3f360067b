/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of rxe/params.h as data, and where the pinned tree of a run
 * directory lies. For rxed, which makes the tree, and rxe, which edits it.
 */
#ifndef RXE_PARAM_TABLE_H
#define RXE_PARAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rxe/params.h"

#define RXE_BPFFS_ROOT	 "/sys/fs/bpf"
#define RXE_PARAM_SUBDIR "parameters"

struct rxe_param_desc {
	const char *name;
	const char *unit;
	uint32_t def, min, max;
	enum rxe_param_when when;
	const char *help;
};

extern const struct rxe_param_desc rxe_param_table[RXE_PARAM_COUNT];

/* The row of that name; RXE_PARAM_COUNT when there is none. */
enum rxe_param_id rxe_param_find(const char *name);

/*
 * The pin directory of a run directory: RXE_BPFFS_ROOT/<basename of rundir>,
 * a dot in the basename written as "%2e" because bpffs takes none in a name.
 * Symbolic links are resolved when rundir exists; trailing slashes do not
 * count. -EINVAL when rundir has no basename, -ENAMETOOLONG when it does not fit in size bytes.
 */
int rxe_pindir(const char *rundir, char *out, size_t size);

/* A name for bpffs, where none may hold a dot: written as "%2e". -ENAMETOOLONG. */
int rxe_pin_name(const char *name, char *out, size_t size);

/* Is path on a mounted bpffs? path itself need not exist yet. */
bool rxe_on_bpffs(const char *path);

/*
 * Why there is none, and what to type, for a message: mount it; or, where
 * `ip netns exec` has put a fresh /sys in which it would be empty, keep out of
 * that. Returns buf.
 */
#define RXE_BPFFS_HINT_LEN 512
const char *rxe_bpffs_hint(char buf[RXE_BPFFS_HINT_LEN]);

#endif
