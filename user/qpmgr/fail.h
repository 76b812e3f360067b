/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one line that a failing open() leaves for whoever asked: what was
 * attempted, on which object, why it failed, what to do next.
 */
#ifndef RXE_FAIL_H
#define RXE_FAIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct rxe_errline {
	char *text;
	size_t size;
};

/* Writes the line and returns code. Any thread. */
static inline int __attribute__((format(printf, 3, 4)))
rxe_fail(struct rxe_errline *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, err->size, fmt, ap);
	va_end(ap);
	return code;
}

#endif
