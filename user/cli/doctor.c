// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rxe doctor: what this host lacks, why it matters and how to get it. One
 * table of probes; none needs root or changes anything.
 */
#include "cli/cli.h"

#include <bpf/btf.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/ipc.h"
#include "common/param_table.h"
#include "rxe/ipc.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum outcome { OK, LACKS, UNKNOWN };

enum need {
	OPTIONAL, /* without it something is worse */
	NEEDED,	  /* without it nothing works */
	FOR_RXED, /* of the user who starts rxed; programs do without */
};
static const char *const need_word[] = {
	[OPTIONAL] = "optional", [NEEDED] = "needed", [FOR_RXED] = "needed to start rxed"};

/* What one probe found, "" when there is nothing to add. */
struct finding {
	char text[256];
	char get[RXE_BPFFS_HINT_LEN]; /* in place of the table's */
};

struct probe {
	const char *what;
	enum outcome (*run)(const char *arg, struct finding *f);
	const char *arg;
	enum need need;
	const char *why;
	const char *get;
};

__attribute__((format(printf, 2, 3))) static void found(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

/* ---- kernel --------------------------------------------------------------- */

/* arg: "MAJOR.MINOR", the least that will do. */
static enum outcome probe_kernel(const char *arg, struct finding *f)
{
	struct utsname u;
	int have[2], want[2];

	if (uname(&u) != 0 || sscanf(u.release, "%d.%d", &have[0], &have[1]) != 2 ||
	    sscanf(arg, "%d.%d", &want[0], &want[1]) != 2)
		return UNKNOWN;
	found(f, "%s", u.release);
	return have[0] > want[0] || (have[0] == want[0] && have[1] >= want[1]) ? OK : LACKS;
}

static enum outcome probe_af_xdp(const char *arg, struct finding *f)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)arg;
	if (fd >= 0) {
		close(fd);
		return OK;
	}
	found(f, "socket(AF_XDP): %s", strerror(errno));
	/* Without privilege the family is found, then refused. */
	return errno == EPERM ? OK : LACKS;
}

/* The kernel's own types, loaded once; NULL when it has none. */
static struct btf *vmlinux_btf(void)
{
	static struct btf *btf;
	static bool tried;

	if (!tried)
		btf = btf__load_vmlinux_btf();
	tried = true;
	return btf;
}

static enum outcome probe_btf(const char *arg, struct finding *f)
{
	(void)arg;
	(void)f;
	return vmlinux_btf() ? OK : LACKS;
}

static bool struct_has(const struct btf *btf, int id, const char *member)
{
	const struct btf_type *t = btf__type_by_id(btf, (__u32)id);
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), member))
			return true;
	return false;
}

/* arg: "func NAME", or "struct NAME MEMBER". */
static enum outcome probe_kernel_type(const char *arg, struct finding *f)
{
	struct btf *btf = vmlinux_btf();
	char name[64], member[64];
	int id;

	(void)f;
	if (!btf)
		return UNKNOWN;
	if (sscanf(arg, "func %63s", name) == 1)
		return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0 ? OK : LACKS;
	if (sscanf(arg, "struct %63s %63s", name, member) != 2)
		return UNKNOWN;
	id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	return id > 0 && struct_has(btf, id, member) ? OK : LACKS;
}

static enum outcome probe_jit(const char *arg, struct finding *f)
{
	FILE *file = fopen(arg, "re");
	int on = 0;

	if (!file) {
		found(f, "%s: %s", arg, strerror(errno));
		return UNKNOWN;
	}
	if (fscanf(file, "%d", &on) != 1)
		on = 0;
	fclose(file);
	found(f, "bpf_jit_enable = %d", on);
	return on ? OK : LACKS;
}

/* The kernel's own driver wants UDP port 4791 too. */
static enum outcome probe_no_module(const char *arg, struct finding *f)
{
	(void)f;
	return access(arg, F_OK) == 0 ? LACKS : OK;
}

/* ---- this process ------------------------------------------------------------ */

static enum outcome probe_caps(const char *arg, struct finding *f)
{
	static const struct {
		int cap;
		const char *name;
	} wanted[] = {
		{CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {CAP_NET_RAW, "CAP_NET_RAW"},
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}, {CAP_BPF, "CAP_BPF"},
		{CAP_IPC_LOCK, "CAP_IPC_LOCK"},
	};
	struct __user_cap_header_struct hdr = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	enum outcome out = OK;

	(void)arg;
	if (syscall(SYS_capget, &hdr, data) != 0)
		return UNKNOWN;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		int cap = wanted[i].cap;
		size_t used = strlen(f->text);

		if (data[cap / 32].effective & (1u << (cap % 32)))
			continue;
		snprintf(f->text + used, sizeof(f->text) - used, "%s%s", used ? " " : "missing ",
			 wanted[i].name);
		out = LACKS;
	}
	return out;
}

static enum outcome probe_bpffs(const char *arg, struct finding *f)
{
	char hint[RXE_BPFFS_HINT_LEN];
	const char *what_to_do;

	if (rxe_on_bpffs(arg))
		return OK;
	/* "no bpffs is mounted there...; type `...": why, and then how. */
	what_to_do = strstr(rxe_bpffs_hint(hint), "type `");
	if (!what_to_do)
		what_to_do = strstr(hint, "type ");
	found(f, "%s: %.*s", arg, what_to_do ? (int)(what_to_do - hint) - 2 : 0, hint);
	snprintf(f->get, sizeof(f->get), "%s", what_to_do ? what_to_do : hint);
	return LACKS;
}

/* Enough for the packet buffers of one receive queue. */
#define MEMLOCK_WANTED (32u << 20)
static enum outcome probe_memlock(const char *arg, struct finding *f)
{
	struct rlimit r;

	(void)arg;
	if (getrlimit(RLIMIT_MEMLOCK, &r) != 0)
		return UNKNOWN;
	if (r.rlim_cur == RLIM_INFINITY)
		found(f, "unlimited");
	else
		found(f, "%llu KiB", (unsigned long long)r.rlim_cur >> 10);
	return r.rlim_cur >= MEMLOCK_WANTED ? OK : LACKS;
}

/* ---- files ---------------------------------------------------------------------- */

static enum outcome probe_library(const char *arg, struct finding *f)
{
	void *h = dlopen(arg, RTLD_LAZY | RTLD_LOCAL);

	if (h) {
		dlclose(h);
		return OK;
	}
	found(f, "%s", dlerror());
	return LACKS;
}

/* arg: a program, looked up in PATH and in the system directories. */
static enum outcome probe_program(const char *arg, struct finding *f)
{
	const char *path = getenv("PATH");
	char dirs[4096], *save, *dir;

	snprintf(dirs, sizeof(dirs), "%s:/usr/sbin:/sbin:/usr/bin:/bin", path ? path : "");
	for (dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		snprintf(f->text, sizeof(f->text), "%s/%s", dir, arg);
		if (access(f->text, X_OK) == 0)
			return OK;
	}
	f->text[0] = 0;
	return LACKS;
}

/* libibverbs loads a provider named in a *.driver file of its directory. */
static enum outcome probe_provider(const char *arg, struct finding *f)
{
	static const char *const dirs[] = {"/etc/libibverbs.d", "/usr/etc/libibverbs.d",
					   "/usr/share/libibverbs.d"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(f->text, sizeof(f->text), "%s/%s", dirs[i], arg);
		if (access(f->text, R_OK) == 0)
			return OK;
	}
	f->text[0] = 0;
	return LACKS;
}

static enum outcome probe_daemon(const char *arg, struct finding *f)
{
	int sock = rxe_ipc_connect(cli_rundir());

	(void)arg;
	if (sock >= 0)
		close(sock);
	found(f, "%s/" RXE_SOCKET_NAME "%s%s", cli_rundir(), sock < 0 ? ": " : "",
	      sock < 0 ? strerror(-sock) : "");
	return sock < 0 ? LACKS : OK;
}

/* ---- the table -------------------------------------------------------------------- */

#define LIBRARY(name, file, package)                                                              \
	{                                                                                         \
		name, probe_library, file, NEEDED, "rxed is linked to it", "apt install " package \
	}

static const struct probe probes[] = {
	{"kernel 5.18", probe_kernel, "5.18", NEEDED, "XDP programs on frames larger than a page",
	 "boot a newer kernel"},
	{"AF_XDP sockets", probe_af_xdp, NULL, NEEDED, "packets reach rxed through them",
	 "a kernel with CONFIG_XDP_SOCKETS=y"},
	{"AF_XDP multi-buffer", probe_kernel_type, "struct xdp_sock skb", OPTIONAL,
	 "without it the IB MTU ends at 2048", "kernel 6.6 or newer"},
	{"XDP frags", probe_kernel_type, "func bpf_xdp_load_bytes", NEEDED,
	 "the XDP program reads frames in several buffers", "kernel 5.18 or newer"},
	{"kernel BTF", probe_btf, NULL, OPTIONAL, "lets this doctor see the kernel's features",
	 "a kernel with CONFIG_DEBUG_INFO_BTF=y"},
	{"BPF JIT", probe_jit, "/proc/sys/net/core/bpf_jit_enable", OPTIONAL,
	 "the ICRC is slow when interpreted", "sysctl net.core.bpf_jit_enable=1"},
	{"tcx", probe_kernel_type, "func tcx_prog_attach", OPTIONAL,
	 "the egress guard attaches by a link that dies with rxed", "kernel 6.6 or newer"},
	{"no rdma_rxe module", probe_no_module, "/sys/module/rdma_rxe", OPTIONAL,
	 "the kernel's driver takes UDP port 4791 wherever it is loaded", "modprobe -r rdma_rxe"},
	{"capabilities of rxed", probe_caps, NULL, FOR_RXED,
	 "rxed needs them; programs that use its devices need none", "start rxed as root"},
	{"bpffs", probe_bpffs, RXE_BPFFS_ROOT, NEEDED, "the tunables are pinned there",
	 "mount -t bpf bpf " RXE_BPFFS_ROOT},
	{"memlock limit", probe_memlock, NULL, OPTIONAL,
	 "bounds rxed's packet buffers when it lacks CAP_IPC_LOCK", "ulimit -l unlimited"},
	LIBRARY("libbpf", "libbpf.so.1", "libbpf1"),
	LIBRARY("libxdp", "libxdp.so.1", "libxdp1"),
	LIBRARY("libnl-route", "libnl-route-3.so.200", "libnl-route-3-200"),
	LIBRARY("liburcu", "liburcu-qsbr.so.8", "liburcu8"),
	LIBRARY("ISA-L", "libisal.so.2", "libisal2"),
	{"libibverbs", probe_library, "libibverbs.so.1", NEEDED, "verbs programs are linked to it",
	 "apt install libibverbs1"},
	{"rxe provider", probe_provider, "rxe.driver", NEEDED,
	 "libibverbs finds the device's driver by it", "apt install ibverbs-providers"},
	{"librdmacm", probe_library, "librdmacm.so.1", OPTIONAL,
	 "programs of rdma_cm are linked to it", "apt install librdmacm1"},
	{"rdma", probe_program, "rdma", NEEDED, "creates the devices", "apt install iproute2"},
	{"ibv_devinfo", probe_program, "ibv_devinfo", OPTIONAL,
	 "shows the devices; ibv_rc_pingpong too", "apt install ibverbs-utils"},
	{"rping", probe_program, "rping", OPTIONAL, "tests rdma_cm", "apt install rdmacm-utils"},
	{"ib_send_bw", probe_program, "ib_send_bw", OPTIONAL, "measures", "apt install perftest"},
	{"bpftool", probe_program, "bpftool", OPTIONAL, "reads and sets the tunables without rxe",
	 "apt install bpftool"},
	{"a running rxed", probe_daemon, NULL, OPTIONAL, "serves the devices of this run directory",
	 "start rxed as root, or give --rundir DIR"},
};

static const char *const word[] = {[OK] = "ok", [LACKS] = "lacks", [UNKNOWN] = "unknown"};

static enum outcome examine(const struct probe *p)
{
	struct finding f = {"", ""};
	enum outcome out = p->run(p->arg, &f);

	printf("%-8s%-22s%s\n", out == LACKS && p->need == NEEDED ? "MISSING" : word[out], p->what,
	       f.text);
	if (out == LACKS)
		printf("        %s: %s\n        to get it: %s\n", need_word[p->need], p->why,
		       *f.get ? f.get : p->get);
	return out;
}

/* The last lines: what this user can do here, and what takes root. */
static void conclude(unsigned int missing, bool may_start, bool running)
{
	if (missing) {
		printf("\n%u needed thing%s missing: rxed cannot run here yet.\n", missing,
		       missing == 1 ? " is" : "s are");
		return;
	}
	if (may_start) {
		puts("\nNothing that is needed is missing.");
		return;
	}
	printf("\nAs this user: programs run under `rxe run`%s.\n"
	       "Needs root: starting rxed, making and deleting devices (rxe rdma link), setting "
	       "parameters (rxe param set).\n",
	       running ? ", served by the running rxed" : " once root has started rxed");
}

int cmd_doctor(int argc, char **argv)
{
	struct cli_opts opts = {0};
	int n = cli_options(argc, argv, &opts);
	bool may_start = true, running = false;
	unsigned int missing = 0;

	if (n != 0 || opts.json) {
		cli_fail("usage: rxe doctor [--rundir DIR]");
		return 2;
	}
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		enum outcome out = examine(&probes[i]);

		missing += out == LACKS && probes[i].need == NEEDED;
		may_start &= out != LACKS || probes[i].need != FOR_RXED;
		running |= out == OK && probes[i].run == probe_daemon;
	}
	conclude(missing, may_start, running);
	return missing ? 1 : 0;
}
