/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file whose pages never come: a FUSE file system of one file that answers
 * everything but READ. Whoever touches a mapping of it blocks until release.
 */
#ifndef RXE_TEST_STALLING_FILE_H
#define RXE_TEST_STALLING_FILE_H

#include <sys/types.h>

struct stalling_file {
	pid_t server;
	int fd; /* the open file; map it */
};

/* 0, or -1 when this host has no FUSE (errno tells). */
int stalling_file_open(struct stalling_file *f);
/* Ends the file system: every blocked access fails. */
void stalling_file_release(struct stalling_file *f);

#endif
