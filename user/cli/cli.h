/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rxe command: one row per subcommand, and what they share.
 */
#ifndef RXE_CLI_H
#define RXE_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* argv[0] is the subcommand's name; the result is the exit status. */
struct rxe_cmd {
	const char *name;
	const char *args;
	const char *help;
	int (*run)(int argc, char **argv);
};

int cmd_run(int argc, char **argv);
int cmd_rdma(int argc, char **argv);
int cmd_param(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* RXE_RUNDIR, or the default run directory. Never NULL. */
const char *cli_rundir(void);
/* The directory of this executable; false when it cannot be told (errno). */
bool cli_own_directory(char *dir, size_t size);

/* The options that param, stat and doctor share. */
struct cli_opts {
	bool json;
};
/*
 * Takes -j and --rundir DIR (which becomes RXE_RUNDIR) from anywhere in argv
 * and leaves the operands in argv[0..]. Their number, or -1 after a message
 * when an option is unknown.
 */
int cli_options(int argc, char **argv, struct cli_opts *opts);

/* "rxe: ..." on stderr; returns the exit status 1. */
int cli_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A string as a JSON literal, on stdout. */
void cli_json_string(const char *s);

#endif
