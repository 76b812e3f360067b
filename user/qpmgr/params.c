// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tunables tree: makes the pinned maps, keeps the values of an earlier
 * run, refuses a pin directory that a live rxed owns, reads through mmap
 * (DESIGN D8).
 *
 * Ownership is a flock on the pin directory itself: it is exactly what two
 * instances would fight for, whatever their run directories, and it ends with
 * its holder, so a dead owner's tree is taken over without a trace.
 */
#include "params.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/param_table.h"
#include "log.h"

#define PARAM_PIN_MODE 0644 /* root changes them; everybody may look */
#define NOT_LOGGED     UINT64_MAX

struct rxe_params {
	int lock_fd; /* the pin directory, flocked */
	int fds[RXE_PARAM_COUNT];
	const uint32_t *view[RXE_PARAM_COUNT]; /* each map's page, read only */
	uint64_t logged[RXE_PARAM_COUNT];      /* last bad value complained of; atomic */
};

/* BTF ids of the maps' key and value. */
struct param_btf {
	struct btf *btf;
	int key_id;
	int value_id;
};

static int fail(char *err, size_t errlen, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int fail(char *err, size_t errlen, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- the pin directory and its owner -------------------------------------- */

/* The pid in /proc/locks that flocks fd's inode, 0 when it cannot be told. */
static int lock_holder(int fd)
{
	struct stat st;
	char line[256], want[64], field[64];
	int pid = 0, p;
	FILE *f;

	if (fstat(fd, &st) != 0)
		return 0;
	snprintf(want, sizeof(want), "%02x:%02x:%lu", major(st.st_dev), minor(st.st_dev),
		 (unsigned long)st.st_ino);
	f = fopen("/proc/locks", "re");
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s FLOCK %*s %*s %d %63s", &p, field) == 2 &&
		    !strcmp(field, want))
			pid = p;
	fclose(f);
	return pid;
}

static int lock_pindir(const char *pindir, int *lock_fd, char *err, size_t errlen)
{
	int fd = open(pindir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail(err, errlen, -errno, "cannot open the pin directory %s: %s", pindir,
			    strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		int code = errno == EWOULDBLOCK ? -EBUSY : -errno;
		int pid = lock_holder(fd);

		close(fd);
		if (code != -EBUSY)
			return fail(err, errlen, code, "cannot lock the pin directory %s: %s",
				    pindir, strerror(-code));
		return fail(err, errlen, code,
			    "cannot take the pin directory %s: a live rxed (pid %d) owns it; "
			    "stop it, or give this one a --rundir of another basename",
			    pindir, pid);
	}
	*lock_fd = fd;
	return 0;
}

static int make_dir(const char *path, char *err, size_t errlen)
{
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return 0;
	return fail(err, errlen, -errno, "cannot make %s: %s; rxed needs root or CAP_BPF", path,
		    strerror(errno));
}

static int check_bpffs(const char *pindir, char *err, size_t errlen)
{
	if (rxe_on_bpffs(pindir))
		return 0;
	return fail(err, errlen, -ENOENT,
		    "cannot pin the parameters under %s: no bpffs is mounted there; type "
		    "`mount -t bpf bpf %s` (inside `ip netns exec` /sys is private and fresh: "
		    "start `rxed --netns NAME` outside of it instead)",
		    pindir, RXE_BPFFS_ROOT);
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
static int reuse_map(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd >= 0 && map_agrees(fd))
		return fd;
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	log_warn("parameter %s: what is pinned there is no parameter of this version; "
		 "replacing it, with the default value",
		 path);
	if (fd >= 0)
		close(fd);
	return unlink(path) == 0 || errno == ENOENT ? -ENOENT : -errno;
}

static int open_map(const char *path, const struct rxe_param_desc *d, const struct param_btf *b,
		    char *err, size_t errlen)
{
	int fd = reuse_map(path);

	if (fd >= 0)
		return fd;
	if (fd == -ENOENT)
		fd = create_map(d, b);
	if (fd < 0)
		return fail(err, errlen, fd,
			    "cannot make the map of parameter %s: %s; rxed needs root or CAP_BPF",
			    d->name, strerror(-fd));
	if (bpf_obj_pin(fd, path) != 0) {
		int code = -errno;

		close(fd);
		return fail(err, errlen, code, "cannot pin parameter %s at %s: %s", d->name, path,
			    strerror(-code));
	}
	if (chmod(path, PARAM_PIN_MODE) != 0)
		log_warn("parameter %s: cannot make %s readable for users: %s", d->name, path,
			 strerror(errno));
	return fd;
}

static int open_param(struct rxe_params *p, unsigned int id, const char *dir,
		      const struct param_btf *b, char *err, size_t errlen)
{
	const struct rxe_param_desc *d = &rxe_param_table[id];
	char path[512];
	void *view;

	if (snprintf(path, sizeof(path), "%s/%s", dir, d->name) >= (int)sizeof(path))
		return fail(err, errlen, -ENAMETOOLONG,
			    "cannot pin parameter %s: the path of %s "
			    "is too long; use a shorter --rundir",
			    d->name, dir);
	p->fds[id] = open_map(path, d, b, err, errlen);
	if (p->fds[id] < 0)
		return p->fds[id];
	view = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, p->fds[id], 0);
	if (view == MAP_FAILED)
		return fail(err, errlen, -errno, "cannot map parameter %s into memory: %s", d->name,
			    strerror(errno));
	p->view[id] = view;
	return 0;
}

static int open_all(struct rxe_params *p, const char *dir, char *err, size_t errlen)
{
	struct param_btf b = {0};
	int code = param_btf_load(&b);

	if (code)
		return fail(err, errlen, code,
			    "cannot load the type data of the parameters: %s; rxed needs root or "
			    "CAP_BPF, and a kernel with CONFIG_BPF_SYSCALL",
			    strerror(-code));
	for (unsigned int id = 0; !code && id < RXE_PARAM_COUNT; id++)
		code = open_param(p, id, dir, &b, err, errlen);
	btf__free(b.btf);
	return code;
}

static struct rxe_params *params_alloc(void)
{
	struct rxe_params *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->lock_fd = -1;
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		p->fds[id] = -1;
		p->logged[id] = NOT_LOGGED;
	}
	return p;
}

int rxe_params_open(const char *pindir, struct rxe_params **out, char *err, size_t errlen)
{
	struct rxe_params *p = params_alloc();
	char dir[512];
	int code;

	if (!p)
		return fail(err, errlen, -ENOMEM, "cannot open the parameters: out of memory");
	snprintf(dir, sizeof(dir), "%s/%s", pindir, RXE_PARAM_SUBDIR);
	code = check_bpffs(pindir, err, errlen);
	if (!code)
		code = make_dir(pindir, err, errlen);
	if (!code)
		code = lock_pindir(pindir, &p->lock_fd, err, errlen);
	if (!code)
		code = make_dir(dir, err, errlen);
	if (!code)
		code = open_all(p, dir, err, errlen);
	if (code) {
		rxe_params_close(p);
		return code;
	}
	*out = p;
	return 0;
}

void rxe_params_close(struct rxe_params *p)
{
	if (!p)
		return;
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++) {
		if (p->view[id])
			munmap((void *)p->view[id], (size_t)sysconf(_SC_PAGESIZE));
		if (p->fds[id] >= 0)
			close(p->fds[id]);
	}
	if (p->lock_fd >= 0)
		close(p->lock_fd);
	free(p);
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

const int *rxe_param_fds(const struct rxe_params *p)
{
	return p->fds;
}
