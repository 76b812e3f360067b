// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe demo: becomes demo.sh, which lies beside the sources or where
 * `make install` put it, and tells it which programs to use.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the directory of the executable: build tree, then install tree. */
static const char *const places[] = {"../scripts/demo.sh", "../lib/rxe/demo.sh"};

int cmd_demo(int argc, char **argv)
{
	char dir[PATH_MAX], script[PATH_MAX + 64];

	if (argc > 1) {
		cli_fail("usage: rxe demo");
		return 2;
	}
	if (!cli_own_directory(dir, sizeof(dir)))
		return cli_fail("cannot find this program's directory: %s", strerror(errno));
	setenv("RXE_BINDIR", dir, 1);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(script, sizeof(script), "%s/%s", dir, places[i]);
		argv[0] = script;
		if (access(script, X_OK) == 0)
			execv(script, argv);
	}
	return cli_fail("cannot start the demo: no demo.sh at %s/%s or %s; run make install", dir,
			places[0], places[1]);
}
