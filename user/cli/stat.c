// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe stat: the counters of rxed, its transport, its sockets and its BPF
 * programs, as rxed sends them: text lines "SCOPE NAME VALUE".
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc.h"

struct stat_line {
	const char *scope, *name, *value;
};

/* Asks rxed for everything; *text is a string of the caller's to free. */
static int fetch(int sock, char **text)
{
	char buf[RXE_IPC_MAX_LEN];
	struct rxe_ipc_msg msg = {.buf = buf, .size = sizeof(buf)};
	size_t used = 0;
	int err = rxe_ipc_call(sock, RXE_IPC_STAT, NULL, 0, &msg);

	*text = calloc(1, 1);
	while (!err && *text) {
		char *grown;

		rxe_ipc_close_fds(&msg, 0);
		if (msg.hdr.status)
			return msg.hdr.status;
		grown = realloc(*text, used + msg.hdr.len + 1);
		if (!grown)
			return -ENOMEM;
		*text = grown;
		memcpy(grown + used, buf, msg.hdr.len);
		used += msg.hdr.len;
		grown[used] = 0;
		if (!(msg.hdr.flags & RXE_IPC_F_MORE))
			return 0;
		err = rxe_ipc_recv_wait(sock, &msg);
	}
	return err ? err : -ENOMEM;
}

/* The next well-formed line; it is cut into pieces where it stands. */
static bool next_line(char **pos, struct stat_line *l)
{
	char *line, *save;

	while ((line = strsep(pos, "\n"))) {
		l->scope = strtok_r(line, " ", &save);
		l->name = strtok_r(NULL, " ", &save);
		l->value = strtok_r(NULL, " ", &save);
		if (l->scope && l->name && l->value)
			return true;
	}
	return false;
}

/* rxe0 means its own scope and those below it (rxe0/xdp), not rxe01. */
static bool wanted(const char *scope, const char *dev)
{
	size_t n = dev ? strlen(dev) : 0;

	return !dev || (!strncmp(scope, dev, n) && !isalnum((unsigned char)scope[n]) &&
			scope[n] != '_' && scope[n] != '-');
}

/* A value that is no JSON number goes out as a string. */
static void json_value(const char *value)
{
	if (*value && strspn(value, "0123456789") == strlen(value))
		fputs(value, stdout);
	else
		cli_json_string(value);
}

static unsigned int print_json(char *text, const char *dev)
{
	struct stat_line l;
	char scope[128] = "";
	unsigned int n = 0;

	putchar('{');
	while (next_line(&text, &l)) {
		if (!wanted(l.scope, dev))
			continue;
		if (n == 0 || strcmp(scope, l.scope)) {
			fputs(n ? "},\n " : "", stdout);
			cli_json_string(l.scope);
			fputs(":{", stdout);
			snprintf(scope, sizeof(scope), "%s", l.scope);
		} else {
			fputs(",\n  ", stdout);
		}
		cli_json_string(l.name);
		putchar(':');
		json_value(l.value);
		n++;
	}
	puts(n ? "}}" : "}");
	return n;
}

static unsigned int print_plain(char *text, const char *dev)
{
	struct stat_line l;
	unsigned int n = 0;

	for (; next_line(&text, &l); n += wanted(l.scope, dev))
		if (wanted(l.scope, dev))
			printf("%s %s %s\n", l.scope, l.name, l.value);
	return n;
}

int cmd_stat(int argc, char **argv)
{
	struct cli_opts opts = {0};
	int n = cli_options(argc, argv, &opts), sock, err;
	const char *dev = n > 0 ? argv[0] : NULL;
	unsigned int shown;
	char *text = NULL;

	if (n < 0 || n > 1) {
		cli_fail("usage: rxe stat [-j] [--rundir DIR] [DEV]");
		return 2;
	}
	sock = rxe_ipc_connect(cli_rundir());
	if (sock < 0)
		return cli_fail("cannot reach rxed at %s/%s: %s; start `rxed --rundir %s`, or give "
				"--rundir DIR",
				cli_rundir(), RXE_SOCKET_NAME, strerror(-sock), cli_rundir());
	err = fetch(sock, &text);
	close(sock);
	if (err) {
		free(text);
		return cli_fail("cannot read the counters of rxed at %s: %s", cli_rundir(),
				strerror(-err));
	}
	shown = opts.json ? print_json(text, dev) : print_plain(text, dev);
	free(text);
	if (dev && !shown)
		return cli_fail("no counters of %s: rxed at %s has no such device", dev,
				cli_rundir());
	return 0;
}
