/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rxed's log: one line per event on stderr, "LEVEL what: why". Any thread.
 * A message says what was attempted, on which object, why it failed and what
 * to do next (STYLE).
 */
#ifndef RXE_LOG_H
#define RXE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum rxe_log_level { RXE_LOG_ERR, RXE_LOG_WARN, RXE_LOG_INFO, RXE_LOG_DEBUG };

void rxe_log_set_level(enum rxe_log_level level);
void rxe_log(enum rxe_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * For lines that a client could cause at will: true at most once in 10 s for each
 * *next_ns, which is 0 at first. Control thread.
 */
static inline bool log_seldom(uint64_t *next_ns)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
	if (now < *next_ns)
		return false;
	*next_ns = now + 10000000000ull;
	return true;
}

#define log_err(...)   rxe_log(RXE_LOG_ERR, __VA_ARGS__)
#define log_warn(...)  rxe_log(RXE_LOG_WARN, __VA_ARGS__)
#define log_info(...)  rxe_log(RXE_LOG_INFO, __VA_ARGS__)
#define log_debug(...) rxe_log(RXE_LOG_DEBUG, __VA_ARGS__)

#endif
