// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tunables table as data, and the path rules of the pinned tree
 * (DESIGN D8, D9). No BPF call is made here.
 */
#include "common/param_table.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RXE_PARAM_ROW(SYM, pname, punit, pdef, pmin, pmax, pwhen, phelp) \
	[RXE_PARAM_##SYM] = {.name = #pname,                             \
			     .unit = punit,                              \
			     .def = pdef,                                \
			     .min = pmin,                                \
			     .max = pmax,                                \
			     .when = RXE_PARAM_##pwhen,                  \
			     .help = phelp},
const struct rxe_param_desc rxe_param_table[RXE_PARAM_COUNT] = {RXE_PARAMS(RXE_PARAM_ROW)};
#undef RXE_PARAM_ROW

enum rxe_param_id rxe_param_find(const char *name)
{
	unsigned int id;

	for (id = 0; id < RXE_PARAM_COUNT; id++)
		if (!strcmp(rxe_param_table[id].name, name))
			break;
	return id;
}

/* Appends len bytes of s to out[*used], dots escaped. */
static int append_escaped(char *out, size_t size, size_t *used, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const char *piece = s[i] == '.' ? "%2e" : (char[]){s[i], 0};
		size_t n = strlen(piece);

		if (*used + n >= size)
			return -ENAMETOOLONG;
		memcpy(out + *used, piece, n + 1);
		*used += n;
	}
	return 0;
}

int rxe_pin_name(const char *name, char *out, size_t size)
{
	size_t used = 0;

	return append_escaped(out, size, &used, name, strlen(name));
}

int rxe_pindir(const char *rundir, char *out, size_t size)
{
	char real[PATH_MAX];
	size_t len, start, used;

	if (realpath(rundir, real))
		rundir = real;
	len = strlen(rundir);

	while (len && rundir[len - 1] == '/')
		len--;
	for (start = len; start && rundir[start - 1] != '/'; start--)
		;
	if (start == len)
		return -EINVAL;
	used = (size_t)snprintf(out, size, "%s/", RXE_BPFFS_ROOT);
	if (used >= size)
		return -ENAMETOOLONG;
	return append_escaped(out, size, &used, rundir + start, len - start);
}

/* Cuts the last component off path; false when none is left. */
static bool cut_component(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = 0;
	return true;
}

bool rxe_on_bpffs(const char *path)
{
	char dir[512];
	struct statfs fs;

	if (strlen(path) >= sizeof(dir))
		return false;
	strcpy(dir, path);
	while (statfs(dir, &fs) != 0)
		if (!cut_component(dir))
			return false;
	return fs.f_type == (__typeof__(fs.f_type))BPF_FS_MAGIC;
}

/*
 * `ip netns exec NAME` mounts a sysfs of its own at /sys and names NAME as its
 * source. False when no line of the mount table says so.
 */
static bool netns_exec_name(char name[256])
{
	char line[1024], path[sizeof("/run/netns/") + 256];
	FILE *f = fopen("/proc/self/mounts", "re");
	bool found = false;

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) /* the last one is on top */
		if (sscanf(line, "%255s /sys sysfs", name) == 1 && strstr(line, " /sys sysfs ")) {
			snprintf(path, sizeof(path), "/run/netns/%s", name);
			found = *name != '/' && access(path, F_OK) == 0;
		}
	fclose(f);
	return found;
}

const char *rxe_bpffs_hint(char buf[RXE_BPFFS_HINT_LEN])
{
	char name[256];

	if (netns_exec_name(name))
		snprintf(buf, RXE_BPFFS_HINT_LEN,
			 "no bpffs is mounted there, because `ip netns exec` gave this program a "
			 "fresh /sys; one mounted here would be empty: type outside of it `rxed "
			 "--netns %.60s`, or `nsenter --net=/run/netns/%.60s COMMAND`",
			 name, name);
	else
		snprintf(buf, RXE_BPFFS_HINT_LEN,
			 "no bpffs is mounted there; type `mount -t bpf bpf " RXE_BPFFS_ROOT
			 "` (inside `ip netns exec` /sys is private and fresh: start `rxed --netns "
			 "NAME` outside of it instead, others by `nsenter "
			 "--net=/run/netns/NAME`)");
	return buf;
}
