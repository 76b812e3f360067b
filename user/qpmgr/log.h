/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rxed's log: one line per event on stderr, "LEVEL what: why". Any thread.
 * A message says what was attempted, on which object, why it failed and what
 * to do next (STYLE).
 */
#ifndef RXE_LOG_H
#define RXE_LOG_H

#include <stdint.h>

enum rxe_log_level { RXE_LOG_ERR, RXE_LOG_WARN, RXE_LOG_INFO, RXE_LOG_DEBUG };

/*
 * Clients cause many of the messages, so each place in the source has a bucket
 * of its own: RXE_LOG_BURST lines at once, then one every RXE_LOG_EVERY_NS. The
 * next line that goes out is preceded by how many did not. Debug is not limited.
 */
#define RXE_LOG_BURST	 40
#define RXE_LOG_EVERY_NS 1000000000ull

struct rxe_log_site {
	uint64_t full_at; /* when the bucket is full again, CLOCK_MONOTONIC ns */
	uint32_t left_out;
};

void rxe_log_set_level(enum rxe_log_level level);
/* site is static; the macros below make one for each place. */
void rxe_log(struct rxe_log_site *site, enum rxe_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define rxe_log_here(...)                        \
	do {                                     \
		static struct rxe_log_site site; \
		rxe_log(&site, __VA_ARGS__);     \
	} while (0)
#define log_err(...)   rxe_log_here(RXE_LOG_ERR, __VA_ARGS__)
#define log_warn(...)  rxe_log_here(RXE_LOG_WARN, __VA_ARGS__)
#define log_info(...)  rxe_log_here(RXE_LOG_INFO, __VA_ARGS__)
#define log_debug(...) rxe_log_here(RXE_LOG_DEBUG, __VA_ARGS__)

#endif
