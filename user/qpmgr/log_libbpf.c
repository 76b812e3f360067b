// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libbpf's messages into the log, a line each: verifier logs have many. */
#include "log_libbpf.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static int print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *rest;
	int n;

	if (level == LIBBPF_DEBUG) /* every step of a load */
		return 0;
	n = vasprintf(&text, fmt, ap);
	if (n < 0)
		return 0;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line)
			log_debug("%s", line);
	free(text);
	return n;
}

void rxe_log_libbpf(void)
{
	libbpf_set_print(print);
}
