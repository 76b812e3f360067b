// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe param: lists, gets and sets the tunables in their pinned maps. Works
 * beside a live rxed and without one; the maps are the interface (DESIGN D8).
 */
#include "cli/cli.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/param_table.h"

static const char *when_text[] = {
	[RXE_PARAM_CREATE] = "device creation",
	[RXE_PARAM_NOW] = "at once",
};

/* As `set` says it. */
static const char *set_text[] = {
	[RXE_PARAM_CREATE] = "for devices created from now on",
	[RXE_PARAM_NOW] = "at once, for every device",
};

/* What to do about an errno of opening, reading or writing a pin. */
static const char *remedy(int err, const char *path)
{
	static char hint[RXE_BPFFS_HINT_LEN];

	if (!rxe_on_bpffs(path))
		return rxe_bpffs_hint(hint);
	if (err == ENOENT)
		return "no rxed has run with this run directory: start it, or give --rundir DIR";
	if (err == EPERM || err == EACCES)
		return "this needs root";
	return "see the log of rxed";
}

static int open_pin(const struct rxe_param_desc *d, bool write, char *path, size_t size)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = write ? 0 : BPF_F_RDONLY);
	char pindir[300];
	int fd, err = rxe_pindir(cli_rundir(), pindir, sizeof(pindir));

	if (err) {
		cli_fail("cannot use the run directory %s: %s", cli_rundir(), strerror(-err));
		return err;
	}
	snprintf(path, size, "%s/%s/%s", pindir, RXE_PARAM_SUBDIR, d->name);
	fd = bpf_obj_get_opts(path, &opts);
	if (fd >= 0)
		return fd;
	err = errno;
	cli_fail("cannot open parameter %s at %s: %s; %s", d->name, path, strerror(err),
		 remedy(err, path));
	return -err;
}

static int read_value(const struct rxe_param_desc *d, uint32_t *value)
{
	char path[512];
	uint32_t zero = 0;
	int err, fd = open_pin(d, false, path, sizeof(path));

	if (fd < 0)
		return fd;
	err = bpf_map_lookup_elem(fd, &zero, value) == 0 ? 0 : -errno;
	close(fd);
	if (err)
		cli_fail("cannot read parameter %s at %s: %s; %s", d->name, path, strerror(-err),
			 remedy(-err, path));
	return err;
}

static void print_json(const struct rxe_param_desc *d, uint32_t v)
{
	printf("{\"name\":\"%s\",\"value\":%u,\"unit\":\"%s\",\"default\":%u,"
	       "\"min\":%u,\"max\":%u,\"when\":\"%s\",\"help\":",
	       d->name, v, d->unit, d->def, d->min, d->max, when_text[d->when]);
	cli_json_string(d->help);
	putchar('}');
}

static void print_row(const struct rxe_param_desc *d, uint32_t v)
{
	printf("%-19s %10u %-14s default %-8u %s\n", d->name, v, d->unit, d->def, d->help);
}

static int param_list(const struct cli_opts *opts)
{
	uint32_t v;

	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		const struct rxe_param_desc *d = &rxe_param_table[id];

		if (read_value(d, &v))
			return 1;
		if (opts->json) {
			putchar(id ? ',' : '[');
			print_json(d, v);
		} else {
			print_row(d, v);
		}
	}
	if (opts->json)
		puts("]");
	return 0;
}

static const struct rxe_param_desc *find(const char *name)
{
	enum rxe_param_id id = rxe_param_find(name);

	if (id != RXE_PARAM_COUNT)
		return &rxe_param_table[id];
	cli_fail("no such parameter: %s; `rxe param` lists them", name);
	return NULL;
}

static int param_get(const struct cli_opts *opts, const char *name)
{
	const struct rxe_param_desc *d = find(name);
	uint32_t v;

	if (!d || read_value(d, &v))
		return 1;
	if (opts->json)
		print_json(d, v);
	else
		printf("%u", v);
	putchar('\n');
	return 0;
}

static int parse_value(const struct rxe_param_desc *d, const char *text, uint32_t *out)
{
	bool negative = *text == '-';
	unsigned long long v;
	char *end;

	/* strtoull() would take spaces, and a sign behind them. */
	if (!isdigit((unsigned char)text[negative]))
		return cli_fail("cannot set parameter %s to '%s': not a number", d->name, text);
	errno = 0;
	v = strtoull(text + negative, &end, 0);
	if (*end)
		return cli_fail("cannot set parameter %s to '%s': not a number", d->name, text);
	if (negative || errno || v < d->min || v > d->max)
		return cli_fail("cannot set parameter %s to %s: the range is %u..%u (%s)", d->name,
				text, d->min, d->max, d->unit);
	*out = (uint32_t)v;
	return 0;
}

/* What the tunable changes outside of rxed. */
static const char *side_effect(const struct rxe_param_desc *d, uint32_t v)
{
	if (d != &rxe_param_table[RXE_PARAM_MTU])
		return "";
	if (!v)
		return "; netdevs keep the MTU that they have";
	return "; the MTU of each device's netdev is set to what that needs, for all its traffic";
}

static int param_set(const struct cli_opts *opts, const char *name, const char *text)
{
	const struct rxe_param_desc *d = find(name);
	char path[512];
	uint32_t v = 0, zero = 0;
	int fd, err;

	if (!d || parse_value(d, text, &v))
		return 1;
	fd = open_pin(d, true, path, sizeof(path));
	if (fd < 0)
		return 1;
	err = bpf_map_update_elem(fd, &zero, &v, BPF_ANY) == 0 ? 0 : errno;
	close(fd);
	if (err)
		return cli_fail("cannot set parameter %s at %s: %s; %s", d->name, path,
				strerror(err), remedy(err, path));
	if (opts->json) {
		print_json(d, v);
		putchar('\n');
	} else {
		printf("%s = %u, %s%s\n", d->name, v, set_text[d->when], side_effect(d, v));
	}
	return 0;
}

int cmd_param(int argc, char **argv)
{
	struct cli_opts opts = {0};
	int n = cli_options(argc, argv, &opts);

	if (n == 0 || (n == 1 && !strcmp(argv[0], "list")))
		return param_list(&opts);
	if (n == 2 && !strcmp(argv[0], "get"))
		return param_get(&opts, argv[1]);
	if (n == 3 && !strcmp(argv[0], "set"))
		return param_set(&opts, argv[1], argv[2]);
	if (n >= 0)
		cli_fail("usage: rxe param [-j] [--rundir DIR] [list | get NAME | set NAME VALUE]");
	return 2;
}
