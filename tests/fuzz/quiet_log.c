/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of fuzz targets.
 */
#include "quiet_log.h"

#include <stdarg.h>
#include <stdio.h>
#include "log.h"

bool quiet_log;

void rxe_log_set_level(enum rxe_log_level level)
{
	(void)level;
}

void rxe_log(struct rxe_log_site *site, enum rxe_log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	(void)site;
	(void)level;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!quiet_log)
		fprintf(stderr, "%s\n", line);
}
