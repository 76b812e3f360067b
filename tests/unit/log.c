/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log is bounded for each place that logs: a burst, then a line each
 * RXE_LOG_EVERY_NS, which says how many were left out. Other places are not
 * affected, nor is debug.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "log.h"

static struct timespec now;
static FILE *file;
static int saved_stderr;

/* In place of libc's: time passes when a test says so. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = now;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	now.tv_sec += 1000;
	file = tmpfile();
	saved_stderr = dup(STDERR_FILENO);
	rxe_log_set_level(RXE_LOG_INFO);
	return file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	return fclose(file);
}

static unsigned int lines_with(const char *what)
{
	unsigned int n = 0;
	char line[256];

	rewind(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, what) != NULL;
	fseek(file, 0, SEEK_END);
	return n;
}

static void flood(int n)
{
	for (int i = 0; i < n; i++)
		log_warn("flood %d", i);
}

static void a_place_has_a_burst_and_then_a_rate(void **state)
{
	(void)state;
	flood(1000);
	assert_int_equal(lines_with("flood"), RXE_LOG_BURST);
	log_warn("another place");
	assert_int_equal(lines_with("another place"), 1);
	now.tv_sec++;
	flood(1000);
	assert_int_equal(lines_with("flood"), RXE_LOG_BURST + 1);
	now.tv_sec += RXE_LOG_BURST + 10;
	flood(RXE_LOG_BURST + 1);
	assert_int_equal(lines_with("flood"), 2 * RXE_LOG_BURST + 1);
}

static void what_is_left_out_is_counted(void **state)
{
	char want[64];

	(void)state;
	flood(RXE_LOG_BURST + 123);
	assert_int_equal(lines_with("not logged"), 1); /* of the test before */
	now.tv_sec++;
	flood(2);
	snprintf(want, sizeof(want), " warning: %d more like this were not logged", 123);
	assert_int_equal(lines_with(want), 1);
	assert_int_equal(lines_with("not logged"), 2);
	now.tv_sec++;
	flood(1);
	assert_int_equal(lines_with(" 1 more like this"), 1 + 1);
}

static void debug_is_complete(void **state)
{
	(void)state;
	rxe_log_set_level(RXE_LOG_DEBUG);
	for (int i = 0; i < 1000; i++)
		log_debug("step");
	assert_int_equal(lines_with("step"), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_place_has_a_burst_and_then_a_rate, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_left_out_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_is_complete, setup, teardown),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
