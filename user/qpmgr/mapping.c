/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client's mappings, by PROCMAP_QUERY or from the text of its maps file. */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel_compat.h"

/* One step: [*at, ...) must begin in a mapping that allows it; moves *at on. */
static int check_query(int fd, uint64_t *at, bool write)
{
	struct procmap_query q = {.size = sizeof(q), .query_addr = *at};

	if (ioctl(fd, PROCMAP_QUERY, &q))
		return errno == ENOTTY || errno == EINVAL ? -ENOTTY : -EFAULT;
	if (!(q.vma_flags & (write ? PROCMAP_QUERY_VMA_WRITABLE : PROCMAP_QUERY_VMA_READABLE)))
		return -EFAULT;
	*at = q.vma_end;
	return 0;
}

/* -ENOTTY: the kernel cannot say. */
static int check_queries(int fd, uint64_t va, uint64_t end, bool write)
{
	int err = 0;

	while (!err && va < end)
		err = check_query(fd, &va, write);
	return err;
}

/* Kernels before 6.11 have no query: read the text. */
static int check_text(int mapsfd, uint64_t va, uint64_t end, bool write)
{
	unsigned long long start, stop;
	char line[512], perms[8];
	int fd = dup(mapsfd), err = -EFAULT;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	rewind(f);
	while (va < end && fgets(line, sizeof(line), f)) {
		if (!strchr(line, '\n') && fscanf(f, "%*[^\n]") == EOF)
			break; /* the rest of a long name could look like another line */
		if (sscanf(line, "%llx-%llx %7s", &start, &stop, perms) != 3 || stop <= va)
			continue;
		if (start > va || perms[write ? 1 : 0] == '-')
			break;
		va = stop;
	}
	if (va >= end)
		err = 0;
	fclose(f);
	return err;
}

int rxe_mapping_check(int mapsfd, uint64_t va, uint64_t len, bool write)
{
	uint64_t end;
	int err;

	if (__builtin_add_overflow(va, len, &end))
		return -EFAULT;
	err = check_queries(mapsfd, va, end, write);
	return err == -ENOTTY ? check_text(mapsfd, va, end, write) : err;
}

int rxe_mapping_check_again(int mapsfd, uint64_t va, uint64_t len, bool write)
{
	uint64_t end;
	int err;

	if (__builtin_add_overflow(va, len, &end))
		return -EFAULT;
	err = check_queries(mapsfd, va, end, write);
	return err == -ENOTTY ? 0 : err;
}

bool rxe_mapping_asked_each_time(void)
{
	static int known = -1; /* control thread */
	uint64_t at = (uintptr_t)&known;
	int fd;

	if (known >= 0)
		return known;
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	known = !check_query(fd, &at, true);
	close(fd);
	return known;
}
