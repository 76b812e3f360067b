// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tunables: makes the pinned maps in the pin tree, keeps the values of an
 * earlier run, reads through mmap (DESIGN D8).
 */
#include "params.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/param_table.h"
#include "fail.h"
#include "log.h"
#include "pin_tree.h"

#define PARAM_PIN_MODE 0644 /* root changes them; everybody may look */
#define NOT_LOGGED     UINT64_MAX
#define PATH_LEN       512 /* of a pin; the tree's own is shorter */

struct rxe_params {
	struct rxe_pin_tree tree;
	int fds[RXE_PARAM_COUNT];
	bool made[RXE_PARAM_COUNT];	       /* pinned by this open, not by an earlier run */
	const uint32_t *view[RXE_PARAM_COUNT]; /* each map's page, read only */
	uint64_t logged[RXE_PARAM_COUNT];      /* last bad value complained of; atomic */
};

/* BTF ids of the maps' key and value. */
struct param_btf {
	struct btf *btf;
	int key_id;
	int value_id;
};

static int check_bpffs(const char *pindir, struct rxe_errline *err)
{
	char why[RXE_BPFFS_HINT_LEN];

	if (rxe_on_bpffs(pindir))
		return 0;
	return rxe_fail(err, -ENOENT, "cannot pin the parameters under %s: %s", pindir,
			rxe_bpffs_hint(why));
}

/* ---- the maps ---------------------------------------------------------------- */

/* Without BTF, reading a pin as a file gives EIO. */
static int param_btf_load(struct param_btf *b)
{
	int err;

	b->btf = btf__new_empty();
	if (!b->btf)
		return -errno;
	b->key_id = btf__add_int(b->btf, "unsigned int", 4, 0);
	b->value_id = btf__add_typedef(b->btf, "__u32", b->key_id);
	err = b->key_id < 0 ? b->key_id : b->value_id;
	if (err >= 0)
		err = btf__load_into_kernel(b->btf);
	if (err < 0) {
		btf__free(b->btf);
		b->btf = NULL;
		return err;
	}
	return 0;
}

static int create_map(const struct rxe_param_desc *d, const struct param_btf *b)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE,
		    .btf_fd = (__u32)btf__fd(b->btf), .btf_key_type_id = (__u32)b->key_id,
		    .btf_value_type_id = (__u32)b->value_id);
	char name[BPF_OBJ_NAME_LEN];
	uint32_t zero = 0;
	int fd, err;

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, d->name);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, 4, 1, &opts);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(fd, &zero, &d->def, BPF_ANY) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Is the pin of an earlier run what create_map() would make? */
static bool map_agrees(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && info.type == BPF_MAP_TYPE_ARRAY &&
	       info.key_size == 4 && info.value_size == 4 && info.max_entries == 1 &&
	       info.map_flags == BPF_F_MMAPABLE && info.btf_id;
}

/* The map an earlier run pinned, or -ENOENT when one must be made. */
static int reuse_map(const char *path, struct rxe_errline *err)
{
	int fd = rxe_pin_check(path, err);

	if (fd)
		return fd;
	fd = bpf_obj_get(path);
	if (fd >= 0 && map_agrees(fd))
		return fd;
	log_warn("parameter %s: what is pinned there is no parameter of this version; "
		 "replacing it, with the default value",
		 path);
	if (fd >= 0)
		close(fd);
	if (unlink(path) == 0)
		return -ENOENT;
	return rxe_fail(err, -errno, "cannot remove %s: %s", path, strerror(errno));
}

static int new_map(const char *path, const struct rxe_param_desc *d, const struct param_btf *b,
		   struct rxe_errline *err)
{
	int fd = create_map(d, b);

	if (fd < 0)
		return rxe_fail(
			err, fd,
			"cannot make the map of parameter %s: %s; rxed needs root or CAP_BPF",
			d->name, strerror(-fd));
	if (bpf_obj_pin(fd, path) != 0) {
		int code = -errno;

		close(fd);
		return rxe_fail(err, code, "cannot pin parameter %s at %s: %s", d->name, path,
				strerror(-code));
	}
	if (chmod(path, PARAM_PIN_MODE) != 0)
		log_warn("parameter %s: cannot make %s readable for users: %s", d->name, path,
			 strerror(errno));
	return fd;
}

static void pin_path(const struct rxe_params *p, unsigned int id, char path[PATH_LEN])
{
	snprintf(path, PATH_LEN, "%s/%s", p->tree.params, rxe_param_table[id].name);
}

static int open_param(struct rxe_params *p, unsigned int id, const struct param_btf *b,
		      struct rxe_errline *err)
{
	const struct rxe_param_desc *d = &rxe_param_table[id];
	char path[PATH_LEN];
	void *view;

	pin_path(p, id, path);
	p->fds[id] = reuse_map(path, err);
	if (p->fds[id] == -ENOENT) {
		p->fds[id] = new_map(path, d, b, err);
		p->made[id] = p->fds[id] >= 0;
	}
	if (p->fds[id] < 0)
		return p->fds[id];
	view = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, p->fds[id], 0);
	if (view == MAP_FAILED)
		return rxe_fail(err, -errno, "cannot map parameter %s into memory: %s", d->name,
				strerror(errno));
	p->view[id] = view;
	return 0;
}

static int open_all(struct rxe_params *p, struct rxe_errline *err)
{
	struct param_btf b = {0};
	int code = param_btf_load(&b);

	if (code)
		return rxe_fail(
			err, code,
			"cannot load the type data of the parameters: %s; rxed needs root or "
			"CAP_BPF, and a kernel with CONFIG_BPF_SYSCALL",
			strerror(-code));
	for (unsigned int id = 0; !code && id < RXE_PARAM_COUNT; id++)
		code = open_param(p, id, &b, err);
	btf__free(b.btf);
	return code;
}

static struct rxe_params *params_alloc(void)
{
	struct rxe_params *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tree.lock_fd = -1;
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		p->fds[id] = -1;
		p->logged[id] = NOT_LOGGED;
	}
	return p;
}

int rxe_params_open(const char *pindir, struct rxe_params **out, char *err, size_t errlen)
{
	struct rxe_errline line = {err, errlen};
	struct rxe_params *p = params_alloc();
	int code;

	if (!p)
		return rxe_fail(&line, -ENOMEM, "cannot open the parameters: out of memory");
	code = check_bpffs(pindir, &line);
	if (!code)
		code = rxe_pin_tree_open(&p->tree, pindir, &line);
	if (!code)
		code = open_all(p, &line);
	if (code) {
		rxe_params_discard(p);
		return code;
	}
	*out = p;
	return 0;
}

static void release(struct rxe_params *p)
{
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		if (p->view[id])
			munmap((void *)p->view[id], (size_t)sysconf(_SC_PAGESIZE));
		if (p->fds[id] >= 0)
			close(p->fds[id]);
	}
	free(p);
}

void rxe_params_close(struct rxe_params *p)
{
	if (!p)
		return;
	rxe_pin_tree_close(&p->tree);
	release(p);
}

void rxe_params_discard(struct rxe_params *p)
{
	char path[PATH_LEN];

	if (!p)
		return;
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		if (!p->made[id])
			continue;
		pin_path(p, id, path);
		unlink(path);
	}
	rxe_pin_tree_discard(&p->tree);
	release(p);
}

/* ---- reading ------------------------------------------------------------------ */

uint32_t rxe_param(struct rxe_params *p, enum rxe_param_id id)
{
	const struct rxe_param_desc *d = &rxe_param_table[id];
	uint32_t v = __atomic_load_n(p->view[id], __ATOMIC_RELAXED);
	uint32_t used = v < d->min ? d->min : v > d->max ? d->max : v;

	if (used != v && __atomic_exchange_n(&p->logged[id], v, __ATOMIC_RELAXED) != v)
		log_warn("parameter %s is %u, outside %u..%u: using %u; set it with "
			 "`rxe param set %s VALUE`",
			 d->name, v, d->min, d->max, used, d->name);
	return used;
}

int rxe_param_set(struct rxe_params *p, enum rxe_param_id id, uint32_t value)
{
	uint32_t zero = 0;

	return bpf_map_update_elem(p->fds[id], &zero, &value, BPF_ANY) ? -errno : 0;
}

const int *rxe_param_fds(const struct rxe_params *p)
{
	return p->fds;
}
