/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `rxe stat` shows: lines "SCOPE NAME VALUE\n". Control thread. */
#ifndef RXE_STAT_H
#define RXE_STAT_H

#include <stddef.h>

struct rxe_peer;

/* put() is called with whole lines, once or more. */
void rxe_stat_report(const struct rxe_peer *peer,
		     void (*put)(void *arg, const void *bytes, size_t len), void *arg);

#endif
