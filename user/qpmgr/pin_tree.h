/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directories of a pin tree in bpffs, where every user may make names:
 * whose they are, which live rxed has them, and what of them goes again when
 * that rxed does not come up. Control thread.
 */
#ifndef RXE_PIN_TREE_H
#define RXE_PIN_TREE_H

#include <stdbool.h>
#include "fail.h"

struct rxe_pin_tree {
	char root[300];
	char params[320]; /* root/parameters: the pins */
	char lock[320];	  /* root/lock: mode 0700, so that no other user can flock it */
	int lock_fd;
	bool locked;
	bool made_root, made_params; /* by this open */
};

/*
 * Makes what is missing of the tree at root and takes it for this process,
 * which ends with it. On failure nothing is left that it made. -EBUSY: a live
 * rxed has it; -EPERM: another user could change it; err says what to type.
 */
int rxe_pin_tree_open(struct rxe_pin_tree *t, const char *root, struct rxe_errline *err);
void rxe_pin_tree_close(struct rxe_pin_tree *t);   /* the directories stay */
void rxe_pin_tree_discard(struct rxe_pin_tree *t); /* those made and empty go */

/*
 * May the pin at path be used: is it a pin, of root or of this user, that
 * nobody else can write? 0, -ENOENT when there is none, -EPERM with err.
 */
int rxe_pin_check(const char *path, struct rxe_errline *err);
/* The same of a directory in the tree; make: which is made if it is missing. */
int rxe_pin_dir_check(const char *path, struct rxe_errline *err);
int rxe_pin_dir_make(const char *path, struct rxe_errline *err);

#endif
