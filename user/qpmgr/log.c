/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log: whole lines to stderr in one write, so threads never mix them. */
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
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

static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;

/* A token bucket as the time at which it is full. *left_out: since the last true. */
static bool may_log(struct rxe_log_site *site, const struct timespec *ts, uint32_t *left_out)
{
	uint64_t now = (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec;
	bool ok;

	*left_out = 0;
	pthread_mutex_lock(&sites_lock);
	if (site->full_at < now)
		site->full_at = now;
	ok = site->full_at - now <= (RXE_LOG_BURST - 1) * RXE_LOG_EVERY_NS;
	if (ok) {
		site->full_at += RXE_LOG_EVERY_NS;
		*left_out = site->left_out;
		site->left_out = 0;
	} else {
		site->left_out++;
	}
	pthread_mutex_unlock(&sites_lock);
	return ok;
}

static int put_head(char *line, size_t size, const struct timespec *ts, enum rxe_log_level level)
{
	return snprintf(line, size, "rxed %ld.%06ld %s: ", (long)ts->tv_sec, ts->tv_nsec / 1000,
			level_names[level]);
}

static void put_line(const char *line, size_t len)
{
	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
}

void rxe_log(struct rxe_log_site *site, enum rxe_log_level level, const char *fmt, ...)
{
	uint32_t left_out = 0;
	int saved = errno, n, m;
	char line[1024];
	struct timespec ts;
	va_list ap;

	if (level > threshold)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (level != RXE_LOG_DEBUG && !may_log(site, &ts, &left_out))
		return;
	n = put_head(line, sizeof(line), &ts, level);
	if (left_out) {
		n += snprintf(line + n, sizeof(line) - n, "%u more like this were not logged:\n",
			      left_out);
		put_line(line, n);
		n = put_head(line, sizeof(line), &ts, level);
	}
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	n += m < (int)sizeof(line) - n - 1 ? m : (int)sizeof(line) - n - 2;
	line[n++] = '\n';
	put_line(line, n);
	errno = saved;
}
