/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libbpf's calls for maps of one __u32, over memfds: what the tunables' code
 * needs of the kernel, without privilege and without pins that stay behind.
 */
#include "fake_bpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/param_table.h"
#include "pin_tree.h"

static int maps[RXE_PARAM_COUNT];
static bool made[RXE_PARAM_COUNT];

void fake_bpf_set(enum rxe_param_id id, uint32_t v)
{
	fuzz_assert(pwrite(maps[id], &v, sizeof(v), 0) == sizeof(v));
}

uint32_t fake_bpf_get(enum rxe_param_id id)
{
	uint32_t v;

	fuzz_assert(pread(maps[id], &v, sizeof(v), 0) == sizeof(v));
	return v;
}

/* The parameter whose pin `path` would be; RXE_PARAM_COUNT: none. */
static enum rxe_param_id pinned(const char *path)
{
	const char *base = strrchr(path, '/');
	enum rxe_param_id id = base ? rxe_param_find(base + 1) : RXE_PARAM_COUNT;

	return id < RXE_PARAM_COUNT && made[id] ? id : RXE_PARAM_COUNT;
}

static int open_pinned(const char *path)
{
	enum rxe_param_id id = pinned(path);

	if (id < RXE_PARAM_COUNT)
		return fcntl(maps[id], F_DUPFD_CLOEXEC, 0);
	errno = ENOENT;
	return -1;
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size,
		   __u32 entries, const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	(void)opts;
	fuzz_assert(type == BPF_MAP_TYPE_ARRAY && key_size == 4 && value_size == 4 && entries == 1);
	fuzz_assert(fd >= 0 && !ftruncate(fd, sysconf(_SC_PAGESIZE)));
	return fd;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)key;
	(void)flags;
	return pwrite(fd, value, 4, 0) == 4 ? 0 : -1;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)key;
	return pread(fd, value, 4, 0) == 4 ? 0 : -1;
}

int bpf_obj_pin(int fd, const char *path)
{
	enum rxe_param_id id = rxe_param_find(strrchr(path, '/') + 1);

	fuzz_assert(id < RXE_PARAM_COUNT && !made[id]);
	maps[id] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	made[id] = true;
	return 0;
}

int bpf_obj_get(const char *path)
{
	return open_pinned(path);
}

int bpf_obj_get_opts(const char *path, const struct bpf_obj_get_opts *opts)
{
	(void)opts;
	return open_pinned(path);
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	struct bpf_map_info *i = info;

	(void)fd;
	fuzz_assert(*len >= sizeof(*i));
	i->type = BPF_MAP_TYPE_ARRAY;
	i->key_size = i->value_size = 4;
	i->max_entries = 1;
	i->map_flags = BPF_F_MMAPABLE;
	i->btf_id = 1;
	return 0;
}

struct btf *btf__new_empty(void)
{
	static char some;

	return (struct btf *)&some;
}

int btf__add_int(struct btf *btf, const char *name, size_t size, int encoding)
{
	(void)btf;
	(void)name;
	(void)size;
	(void)encoding;
	return 1;
}

int btf__add_typedef(struct btf *btf, const char *name, int ref)
{
	(void)btf;
	(void)name;
	return ref + 1;
}

int btf__load_into_kernel(struct btf *btf)
{
	(void)btf;
	return 0;
}

int btf__fd(const struct btf *btf)
{
	(void)btf;
	return -1;
}

void btf__free(struct btf *btf)
{
	(void)btf;
}

/* ---- the tree ------------------------------------------------------------------- */

/* In place of param_table.c's (ld --wrap). */
bool __wrap_rxe_on_bpffs(const char *path)
{
	return !strncmp(path, RXE_BPFFS_ROOT "/", sizeof(RXE_BPFFS_ROOT));
}

int rxe_pin_tree_open(struct rxe_pin_tree *t, const char *root, struct rxe_errline *err)
{
	if (strlen(root) >= sizeof(t->root))
		return rxe_fail(err, -ENAMETOOLONG, "%s is too long", root);
	snprintf(t->params, sizeof(t->params), "%s/" RXE_PARAM_SUBDIR, root);
	return 0;
}

void rxe_pin_tree_close(struct rxe_pin_tree *t)
{
	(void)t;
}

void rxe_pin_tree_discard(struct rxe_pin_tree *t)
{
	(void)t;
}

int rxe_pin_check(const char *path, struct rxe_errline *err)
{
	(void)err;
	return pinned(path) < RXE_PARAM_COUNT ? 0 : -ENOENT;
}
