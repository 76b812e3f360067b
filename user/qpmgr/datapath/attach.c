// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Getting an XDP program onto a netdev, or recognising the one that is there. */
#include "datapath/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "rxe/bpf_abi.h"

#define OBJECT_NAME   "rxe_xdp.bpf.o"
#define SECTION	      "xdp.frags"
#define MAX_PROG_MAPS 64

#define BUSY_PATIENCE_MS 500
#define BUSY_STEP_MS	 20

struct map_desc {
	const char *name;
	uint32_t type, key_size, value_size;
};

#define MAP_DESC(SYM, name, type, key, value) {name, type, key, value},
static const struct map_desc map_table[RXE_XDP_MAP_COUNT] = {RXE_XDP_MAPS(MAP_DESC)};
#undef MAP_DESC

/* ---- maps of a program, own or adopted --------------------------------------- */

static void take_map(struct rxe_xdp_prog *p, int fd)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		for (int i = 0; i < RXE_XDP_MAP_COUNT; i++) {
			const struct map_desc *d = &map_table[i];

			if (p->map[i] >= 0 || strcmp(info.name, d->name) != 0 ||
			    info.type != d->type || info.key_size != d->key_size ||
			    (d->value_size && info.value_size != d->value_size))
				continue;
			p->map[i] = fd;
			return;
		}
	close(fd);
}

/* Finds the maps by name. Leaves -1 where there is none of that shape. */
static int take_maps(struct rxe_xdp_prog *p)
{
	uint32_t ids[MAX_PROG_MAPS] = {0};
	struct bpf_prog_info info = {.nr_map_ids = MAX_PROG_MAPS, .map_ids = (uintptr_t)ids};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(p->prog_fd, &info, &len) != 0)
		return -errno;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAX_PROG_MAPS; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd >= 0)
			take_map(p, fd);
	}
	return 0;
}

/* Is this our program, of our version? -ENOENT: no; -EPROTO: another version. */
static int check_abi(const struct rxe_xdp_prog *p, struct rxe_bpf_abi *abi)
{
	int fd = p->map[RXE_XDP_MAP_ABI];
	uint32_t zero = 0;

	memset(abi, 0, sizeof(*abi));
	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, abi) != 0 || abi->magic != RXE_BPF_ABI_MAGIC)
		return -ENOENT;
	if (abi->version != RXE_BPF_ABI_VERSION)
		return -EPROTO;
	for (int i = 0; i < RXE_XDP_MAP_COUNT; i++)
		if (p->map[i] < 0)
			return -EPROTO;
	return 0;
}

/* ---- adopt ---------------------------------------------------------------------- */

static void prog_name(int fd, char *name, size_t size)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	snprintf(name, size, "?");
	if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		snprintf(name, size, "%s", info.name);
}

/* Does the program hang on the link of an rxed, live or just dying? */
static bool is_linked(const struct rxe_xdp_prog *p)
{
	struct rxe_bpf_config config = {0};
	uint32_t zero = 0;

	return bpf_map_lookup_elem(p->map[RXE_XDP_MAP_CONFIG], &zero, &config) == 0 &&
	       config.flags & RXE_CFG_LINKED;
}

static int adopt(struct rxe_xdp_prog *p, uint32_t id, const char *netdev, struct rxe_errline *err)
{
	char name[BPF_OBJ_NAME_LEN];
	struct rxe_bpf_abi abi;
	/* `xdp off` asks the driver, when it has XDP, and leaves a generic program. */
	const char *how = p->generic ? "xdpgeneric" : "xdp";
	int ret;

	p->adopted_id = id;
	p->prog_fd = bpf_prog_get_fd_by_id(id);
	if (p->prog_fd < 0)
		return rxe_fail(err, -errno, "cannot look at the XDP program %u on %s: %s", id,
				netdev, strerror(errno));
	ret = take_maps(p);
	if (!ret)
		ret = check_abi(p, &abi);
	prog_name(p->prog_fd, name, sizeof(name));
	if (ret == -EPROTO)
		return rxe_fail(err, ret,
				"cannot adopt the XDP program %u on %s: its ABI version is %u, "
				"this rxed's is %u; attach this build's object, or `ip link set "
				"dev %s %s off` and rxed attaches its own",
				id, netdev, abi.version, RXE_BPF_ABI_VERSION, netdev, how);
	if (ret)
		return rxe_fail(err, -EEXIST,
				"cannot attach to %s: another XDP program is there (\"%s\", id "
				"%u); remove it first: `ip link set dev %s %s off`, or what "
				"attached it",
				netdev, name, id, netdev, how);
	if (is_linked(p))
		return rxe_fail(err, -EBUSY,
				"cannot attach to %s: another rxed serves it (XDP program id %u); "
				"stop that rxed, or delete its device there",
				netdev, id);
	p->adopted = true;
	return 0;
}

/* ---- load and attach --------------------------------------------------------------- */

static struct bpf_program *find_program(struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(
		prog, obj) if (!strcmp(bpf_program__section_name(prog), SECTION)) return prog;
	return NULL;
}

static const char *load_hint(int code)
{
	switch (code) {
	case -ENOENT:
		return "build it with `make`, or set rxed's object directory";
	case -EPERM:
		return "rxed needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON (or root)";
	default:
		return "the kernel must be 5.18 or newer; rxed's debug log has libbpf's reason";
	}
}

static int load(struct rxe_xdp_prog *p, const char *object_dir, struct rxe_errline *err)
{
	struct bpf_program *prog;
	struct bpf_object *obj;
	char path[512];
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s", object_dir, OBJECT_NAME);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		return rxe_fail(err, -errno, "cannot open the XDP object %s: %s; %s", path,
				strerror(errno), load_hint(-errno));
	prog = find_program(obj);
	ret = prog ? bpf_object__load(obj) : -EINVAL;
	if (!ret) {
		/* The program holds its maps; the object itself is not needed. */
		p->prog_fd = dup(bpf_program__fd(prog));
		ret = p->prog_fd < 0 ? -errno : take_maps(p);
	}
	bpf_object__close(obj);
	if (ret)
		return rxe_fail(err, ret, "cannot load the XDP object %s: %s; %s", path,
				strerror(-ret), load_hint(ret));
	return 0;
}

static int link_prog(struct rxe_xdp_prog *p, int ifindex, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	p->link_fd = bpf_link_create(p->prog_fd, ifindex, BPF_XDP, &opts);
	return p->link_fd < 0 ? -errno : 0;
}

static bool worth_generic(int code)
{
	return code != -EBUSY && code != -EEXIST && code != -EPERM && code != -ENODEV;
}

static int attach(struct rxe_xdp_prog *p, const char *netdev, int ifindex, struct rxe_errline *err)
{
	int native = link_prog(p, ifindex, XDP_FLAGS_DRV_MODE);
	int ret = native;

	if (native && worth_generic(native)) {
		ret = link_prog(p, ifindex, XDP_FLAGS_SKB_MODE);
		p->generic = !ret;
	}
	if (ret == -EBUSY || ret == -EEXIST)
		return rxe_fail(err, ret,
				"cannot attach the XDP program to %s: another one is there; see "
				"`bpftool net show dev %s` and remove it",
				netdev, netdev);
	if (ret)
		return rxe_fail(err, ret,
				"cannot attach the XDP program to %s: natively %s, in generic mode "
				"%s; the kernel must be 5.9 or newer and rxed needs CAP_NET_ADMIN",
				netdev, strerror(-native), strerror(-ret));
	if (p->generic)
		log_info("%s: its driver does not take the XDP program natively (%s); attached in "
			 "generic mode, which is slower",
			 netdev, strerror(-native));
	return 0;
}

static int mark_linked(const struct rxe_xdp_prog *p)
{
	struct rxe_bpf_config config = {.flags = RXE_CFG_LINKED};
	uint32_t zero = 0;

	return bpf_map_update_elem(p->map[RXE_XDP_MAP_CONFIG], &zero, &config, BPF_ANY) ? -errno
											: 0;
}

static int load_and_attach(struct rxe_xdp_prog *p, const char *object_dir, const char *netdev,
			   int ifindex, struct rxe_errline *err)
{
	struct rxe_bpf_abi abi;
	int ret = load(p, object_dir, err);

	if (ret)
		return ret;
	if (check_abi(p, &abi))
		return rxe_fail(err, -EPROTO,
				"the XDP object %s/" OBJECT_NAME " is of ABI version %u, this "
				"rxed's is %u; build both together",
				object_dir, abi.version, RXE_BPF_ABI_VERSION);
	ret = mark_linked(p);
	if (ret)
		return rxe_fail(err, ret, "cannot write the maps of the XDP program for %s: %s",
				netdev, strerror(-ret));
	return attach(p, netdev, ifindex, err);
}

/* ---- public --------------------------------------------------------------------------- */

static void reset(struct rxe_xdp_prog *p)
{
	memset(p, 0, sizeof(*p));
	p->prog_fd = p->link_fd = -1;
	for (int i = 0; i < RXE_XDP_MAP_COUNT; i++)
		p->map[i] = -1;
}

static int try_open(struct rxe_xdp_prog *p, const char *object_dir, const char *netdev, int ifindex,
		    struct rxe_errline *err)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	int ret = bpf_xdp_query(ifindex, 0, &query);

	reset(p);
	if (ret)
		return rxe_fail(err, ret, "cannot ask what XDP program %s has: %s", netdev,
				strerror(-ret));
	p->generic = query.attach_mode == XDP_ATTACHED_SKB;
	if (query.attach_mode == XDP_ATTACHED_NONE)
		ret = load_and_attach(p, object_dir, netdev, ifindex, err);
	else if (query.attach_mode == XDP_ATTACHED_MULTI)
		ret = rxe_fail(err, -EEXIST,
			       "cannot attach to %s: it has XDP programs in several modes; remove "
			       "them first: `ip link set dev %s xdp off`, `xdpgeneric off`",
			       netdev, netdev);
	else
		ret = adopt(p, query.drv_prog_id | query.skb_prog_id | query.hw_prog_id, netdev,
			    err);
	if (ret)
		rxe_xdp_prog_close(p);
	return ret;
}

int rxe_xdp_prog_open(struct rxe_xdp_prog *p, const char *object_dir, const char *netdev,
		      int ifindex, struct rxe_errline *err)
{
	int ret = try_open(p, object_dir, netdev, ifindex, err);

	/* A killed rxed's program is there until the kernel has closed its link. */
	for (int waited = 0; ret == -EBUSY && waited < BUSY_PATIENCE_MS; waited += BUSY_STEP_MS) {
		usleep(BUSY_STEP_MS * 1000);
		ret = try_open(p, object_dir, netdev, ifindex, err);
	}
	return ret;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rxe_xdp_prog_close(struct rxe_xdp_prog *p)
{
	close_fd(&p->link_fd);
	for (int i = 0; i < RXE_XDP_MAP_COUNT; i++)
		close_fd(&p->map[i]);
	close_fd(&p->prog_fd);
}
