/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In place of log.c: every line is made, so that its arguments are looked at.
 */
#ifndef FUZZ_QUIET_LOG_H
#define FUZZ_QUIET_LOG_H

#include <stdbool.h>

/* None is printed from when it is set. */
extern bool quiet_log;

#endif
