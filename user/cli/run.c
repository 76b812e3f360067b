// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe run and rxe rdma: start a program under the preload library, with the
 * daemon of a run directory.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "rxe/ipc.h"

#define LIBRARY "librxe_verbs.so"

/* As env(1): what did not start is not the program's own failure. */
enum { EXIT_USAGE = 1, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* The library beside this executable (a build), below its prefix, or in libdir. */
static bool find_library(char *path, size_t size)
{
	static const char *const places[] = {"%s/" LIBRARY, "%s/../lib/rxe/" LIBRARY,
					     RXE_LIBDIR "/" LIBRARY};
	char dir[PATH_MAX], candidate[PATH_MAX + 64], *real;
	bool have_dir = cli_own_directory(dir, sizeof(dir)), found = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++) {
		if (!have_dir && strchr(places[i], '%'))
			continue;
		snprintf(candidate, sizeof(candidate), places[i], dir);
		real = realpath(candidate, NULL);
		found = real && strlen(real) < size && !access(real, R_OK);
		if (found)
			strcpy(path, real);
		free(real);
	}
	return found;
}

static int prepend_preload(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *value = NULL;
	int err;

	if (!old || !*old)
		return setenv("LD_PRELOAD", library, 1);
	if (strstr(old, library))
		return 0;
	if (asprintf(&value, "%s:%s", library, old) < 0)
		return -1;
	err = setenv("LD_PRELOAD", value, 1);
	free(value);
	return err;
}

/* The program may change its directory: its run directory must not move. */
static int export_rundir(void)
{
	const char *dir = cli_rundir();
	char cwd[PATH_MAX], *value = NULL;
	int err;

	if (*dir == '/')
		return setenv("RXE_RUNDIR", dir, 1);
	if (!getcwd(cwd, sizeof(cwd)) || asprintf(&value, "%s/%s", cwd, dir) < 0)
		return -1;
	err = setenv("RXE_RUNDIR", value, 1);
	free(value);
	return err;
}

static int set_environment(void)
{
	char library[PATH_MAX];

	if (!find_library(library, sizeof(library)))
		return cli_fail("looking for %s beside this program and in %s: not there; build it "
				"(make) or install it (make install)",
				LIBRARY, RXE_LIBDIR);
	if (strpbrk(library, " :"))
		return cli_fail("preloading '%s': the dynamic loader takes no path with a space or "
				"a colon; move the build to another directory",
				library);
	if (prepend_preload(library) || export_rundir())
		return cli_fail("setting the environment: %s", strerror(errno));
	return 0;
}

static int start(const char *file, char **argv)
{
	execvp(file, argv);
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

int cmd_run(int argc, char **argv)
{
	static const struct option longs[] = {{"rundir", required_argument, NULL, 'r'},
					      {NULL, 0, NULL, 0}};
	int c, status;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		if (c != 'r') {
			cli_fail("usage: rxe run [--rundir DIR] -- CMD ARG...");
			return EXIT_USAGE;
		}
		if (setenv("RXE_RUNDIR", optarg, 1))
			return cli_fail("setting RXE_RUNDIR: %s", strerror(errno));
	}
	if (optind >= argc)
		return cli_fail("run: no command; usage: rxe run [--rundir DIR] -- CMD ARG...");
	if (set_environment())
		return EXIT_CANNOT_RUN;
	status = start(argv[optind], argv + optind);
	cli_fail("running '%s': %s", argv[optind], strerror(errno));
	return status;
}

int cmd_rdma(int argc, char **argv)
{
	/* Not on every user's PATH. */
	static const char *const places[] = {"rdma", "/usr/sbin/rdma", "/sbin/rdma",
					     "/usr/bin/rdma"};
	int status = EXIT_NOT_FOUND;

	(void)argc;
	if (set_environment())
		return EXIT_CANNOT_RUN;
	argv[0] = "rdma";
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && status == EXIT_NOT_FOUND; i++)
		status = start(places[i], argv);
	cli_fail("running 'rdma': %s; it is part of iproute2: apt-get install iproute2",
		 strerror(errno));
	return status;
}
