/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log: whole lines to stderr in one write, so threads never mix them. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum rxe_log_level threshold = RXE_LOG_INFO;
static const char *const level_names[] = {"error", "warning", "info", "debug"};

void rxe_log_set_level(enum rxe_log_level level)
{
	threshold = level;
}

void rxe_log(enum rxe_log_level level, const char *fmt, ...)
{
	int saved = errno, n, m;
	char line[1024];
	struct timespec ts;
	va_list ap;

	if (level > threshold)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	n = snprintf(line, sizeof(line), "rxed %ld.%06ld %s: ", (long)ts.tv_sec, ts.tv_nsec / 1000,
		     level_names[level]);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	n += m < (int)sizeof(line) - n - 1 ? m : (int)sizeof(line) - n - 2;
	line[n++] = '\n';
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
	errno = saved;
}
