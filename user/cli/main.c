// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe, the command people type: finds the subcommand in a table and runs it.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rxe/ipc.h"

static const struct rxe_cmd commands[] = {
	{"run", "[--rundir DIR] -- CMD ARG...", "run a verbs program on rxed's devices", cmd_run},
	{"rdma", "ARG...", "the system's rdma(8), on rxed's devices", cmd_rdma},
	{"param", "[-j] [list | get NAME | set NAME VALUE]", "show and set the tunables",
	 cmd_param},
	{"stat", "[-j] [DEV]", "show the counters of rxed and of its BPF programs", cmd_stat},
	{"demo", "", "two hosts on this one, pingpong between them", cmd_demo},
	{"doctor", "", "say what this host lacks and how to get it", cmd_doctor},
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

const char *cli_rundir(void)
{
	const char *dir = getenv("RXE_RUNDIR");

	return dir && *dir ? dir : RXE_DEFAULT_RUNDIR;
}

bool cli_own_directory(char *dir, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", dir, size - 1);
	char *slash;

	if (n <= 0)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("rxe: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

void cli_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

int cli_options(int argc, char **argv, struct cli_opts *opts)
{
	static const struct option longs[] = {{"rundir", required_argument, NULL, 'r'},
					      {"json", no_argument, NULL, 'j'},
					      {NULL, 0, NULL, 0}};
	int c, n, rest = 1;

	/* A negative number is an operand, and ends the options. */
	while (rest < argc && !(argv[rest][0] == '-' && isdigit((unsigned char)argv[rest][1])))
		rest++;
	optind = 1;
	while ((c = getopt_long(rest, argv, "j", longs, NULL)) != -1) {
		if (c == 'j')
			opts->json = true;
		else if (c == 'r')
			setenv("RXE_RUNDIR", optarg, 1);
		else
			return -1;
	}
	n = argc - optind;
	memmove(argv, argv + optind, (size_t)n * sizeof(*argv));
	argv[n] = NULL;
	return n;
}

static void usage(FILE *f)
{
	fputs("usage: rxe [--rundir DIR] COMMAND ...\n\n", f);
	for (unsigned int i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  rxe %-7s%-41s %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fprintf(f,
		"\nDIR is the run directory of the rxed meant: the option, else the environment's\n"
		"RXE_RUNDIR, else %s.\n",
		RXE_DEFAULT_RUNDIR);
}

/* Options in front of the subcommand; the index of the subcommand, or -1. */
static int leading_options(int argc, char **argv)
{
	int i = 1;

	while (i < argc && !strncmp(argv[i], "--rundir", 8)) {
		if (argv[i][8] == '=') {
			setenv("RXE_RUNDIR", argv[i] + 9, 1);
			i++;
		} else if (!argv[i][8] && i + 1 < argc) {
			setenv("RXE_RUNDIR", argv[i + 1], 1);
			i += 2;
		} else {
			return -1;
		}
	}
	return i < argc ? i : -1;
}

int main(int argc, char **argv)
{
	int at = leading_options(argc, argv);

	if (at < 0) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[at], "help") || !strcmp(argv[at], "-h") || !strcmp(argv[at], "--help")) {
		usage(stdout);
		return 0;
	}
	for (unsigned int i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[at], commands[i].name))
			return commands[i].run(argc - at, argv + at);
	cli_fail("no such command: %s; `rxe help` lists them", argv[at]);
	return 2;
}
