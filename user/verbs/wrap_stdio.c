// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a program looks whether its writes by stdio went well. Only a process
 * that has opened a module parameter pays more than a flag.
 */
#include "verbs/next.h"
#include "verbs/internal.h"

RXE_EXPORT int fflush(FILE *f)
{
	int ret = RXE_NEXT(fflush)(f);

	if (!f || !atomic_load_explicit(&rxe_param_used, memory_order_relaxed))
		return ret;
	return rxe_param_flushed(f, ret);
}

RXE_EXPORT int fclose(FILE *f)
{
	int err = 0;

	if (atomic_load_explicit(&rxe_param_used, memory_order_relaxed) && fflush(f))
		err = errno;
	if (RXE_NEXT(fclose)(f))
		return EOF;
	if (!err)
		return 0;
	errno = err;
	return EOF;
}
