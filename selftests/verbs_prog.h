/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the verbs programs of the selftests share: a verb that fails where it
 * must not ends the program with 1 and says the line; waiting has a bound.
 */
#ifndef VERBS_PROG_H
#define VERBS_PROG_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 20000

#define CHECK(cond)                              \
	do {                                     \
		if (!(cond))                     \
			not_so(__LINE__, #cond); \
	} while (0)
/* A verb that fails with this errno, which it returns or leaves in errno. */
#define REFUSED(call, err) CHECK((errno = 0, (call)) && errno == (err))

static inline _Noreturn void not_so(int line, const char *what)
{
	fprintf(stderr, "line %d: not so: %s (errno %d: %s)\n", line, what, errno, strerror(errno));
	exit(1);
}

static inline int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* A line that a script waits for. */
static inline void say(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
}

static inline struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *ctx;

	for (d = list; list && *d && strcmp(ibv_get_device_name(*d), name); d++)
		;
	CHECK(list && *d);
	ctx = ibv_open_device(*d);
	CHECK(ctx);
	ibv_free_device_list(list);
	return ctx;
}

/* What a program runs by the name in its arguments. */
struct named_test {
	const char *name;
	void (*run)(void);
};
static inline bool run_named(const struct named_test *tests, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(tests[i].name, name)) {
			tests[i].run();
			return true;
		}
	fprintf(stderr, "no test %s\n", name);
	return false;
}

/* The next completion; false when none comes in time. */
static inline bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, int64_t ms)
{
	int64_t until = now_ms() + ms;

	do {
		int n = ibv_poll_cq(cq, 1, wc);

		CHECK(n >= 0);
		if (n)
			return true;
	} while (now_ms() < until);
	return false;
}

static inline struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	CHECK(poll_within(cq, &wc, WAIT_MS));
	return wc;
}

#endif
