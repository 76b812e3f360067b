// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What arrives at the daemon, and what comes back, for every call on a command
 * descriptor and every path that is ours. Linked with the library in front of
 * libc, as if preloaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <netinet/in.h> /* before the uapi headers, which then yield to it */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rdma_user_rxe.h>
#include "fake_rxed.h"

#define SYSFS "/sys/class/infiniband/rxe0"

/* ---- paths ------------------------------------------------------------------------- */

static void node_looks_like_a_device(void **state)
{
	struct stat st;
	struct statx stx;

	(void)state;
	assert_int_equal(stat(FAKE_NODE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(231, 192));
	assert_int_equal(lstat(FAKE_NODE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(fstat(fake_cmd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(231, 192));
	assert_int_equal(fstatat(fake_cmd, "", &st, AT_EMPTY_PATH), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(statx(AT_FDCWD, FAKE_NODE, 0, STATX_BASIC_STATS, &stx), 0);
	assert_int_equal(stx.stx_rdev_minor, 192);
	assert_int_equal(access(FAKE_NODE, R_OK | W_OK), 0);
	assert_int_equal(access(FAKE_NODE, X_OK), -1);
	assert_int_equal(access("/dev/infiniband/uverbs1", F_OK), -1);
	assert_int_equal(open("/dev/infiniband/uverbs1", O_RDWR), -1);
}

static void flags_of_open_are_kept(void **state)
{
	int fd = open(FAKE_NODE, O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	assert_int_equal(fcntl(fake_cmd, F_GETFD), FD_CLOEXEC);
	close(fd);
	fd = open(FAKE_NODE, O_RDWR | O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fake_call(fd, FAKE_ECHO, 77, 0), 77);
	close(fd);
	assert_int_equal(open(FAKE_NODE, O_RDWR | O_DIRECTORY), -1);
	assert_int_equal(errno, ENOTDIR);
}

static void read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_non_null(fgets(line, size, f));
	fclose(f);
}

static void sysfs_is_the_daemons(void **state)
{
	char line[64];
	struct dirent *de;
	int dir, fd, found = 0;
	DIR *d;

	(void)state;
	read_line(SYSFS "/node_type", line, sizeof(line));
	assert_string_equal(line, "1: CA\n");
	read_line("/sys//class/./infiniband/rxe0/ports/1/state", line, sizeof(line));
	assert_string_equal(line, "4: ACTIVE\n");
	dir = open(SYSFS "/ports", O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "1/state", O_RDONLY);
	assert_int_equal(read(fd, line, sizeof(line)), 10);
	close(fd);
	close(dir);
	d = opendir("/sys/class/infiniband");
	assert_non_null(d);
	while ((de = readdir(d)))
		found += !strcmp(de->d_name, "rxe0");
	closedir(d);
	assert_int_equal(found, 1);
	assert_null(fopen("/sys/class/infiniband/rxe1/node_type", "r"));
	read_line("/sys/class/net/lo/mtu", line, sizeof(line)); /* the kernel's */
}

static void counters_are_fresh(void **state)
{
	char one[64], two[64];

	(void)state;
	read_line(SYSFS "/ports/1/hw_counters/sent_pkts", one, sizeof(one));
	read_line(SYSFS "/ports/1/hw_counters/sent_pkts", two, sizeof(two));
	assert_int_equal(atoi(two), atoi(one) + 1);
}

static void names_are_canonical(void **state)
{
	char *name = realpath(FAKE_NODE, NULL);

	(void)state;
	assert_string_equal(name, FAKE_NODE);
	free(name);
	name = realpath("/usr/../usr/./lib", NULL);
	assert_string_equal(name, "/usr/lib");
	free(name);
}

/* ---- write ---------------------------------------------------------------------------- */

static void memory_is_reached_by_the_mem_fd(void **state)
{
	unsigned char bytes[100];

	(void)state;
	memset(bytes, 3, sizeof(bytes));
	assert_int_equal(fake_call(fake_cmd, FAKE_SUM, (uintptr_t)bytes, sizeof(bytes)), 300);
}

static void a_response_is_cut_to_what_was_asked(void **state)
{
	unsigned char resp[200] = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_device core;
	} q = {{IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(q) / 4, 100 / 4}, {(uintptr_t)resp}};

	(void)state;
	assert_int_equal(write(fake_cmd, &q, sizeof(q)), sizeof(q));
	assert_int_equal(resp[99], 0x5a);
	assert_int_equal(resp[100], 0);
}

static void errors_are_errno(void **state)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint32_t pd, pad;
	} dealloc = {.hdr = {IB_USER_VERBS_CMD_DEALLOC_PD, sizeof(dealloc) / 4, 0}};

	(void)state;
	assert_int_equal(write(fake_cmd, &dealloc, sizeof(dealloc)), sizeof(dealloc));
	assert_int_equal(fake_call(fake_cmd, 250, 0, 0), -EOPNOTSUPP);
	assert_int_equal(write(fake_cmd, "abc", 3), -1);
	assert_int_equal(errno, EINVAL);
}

static int make_channel(void)
{
	struct ib_uverbs_create_comp_channel_resp resp = {.fd = 9999};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_comp_channel core;
	} q = {{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(q) / 4, sizeof(resp) / 4},
	       {(uintptr_t)&resp}};

	assert_int_equal(write(fake_cmd, &q, sizeof(q)), sizeof(q));
	return resp.fd;
}

static int64_t create_cq(int channel)
{
	struct ib_uverbs_create_cq_resp resp = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
	} q = {{IB_USER_VERBS_CMD_CREATE_CQ, sizeof(q) / 4, sizeof(resp) / 4},
	       {.response = (uintptr_t)&resp, .comp_channel = channel}};

	if (write(fake_cmd, &q, sizeof(q)) != sizeof(q))
		return -errno;
	return resp.cq_handle;
}

static int64_t create_cq_ex(int channel)
{
	struct ib_uverbs_ex_create_cq_resp resp = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_create_cq core;
	} q = {{IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ,
		sizeof(q.core) / 8, sizeof(resp) / 8},
	       {.response = (uintptr_t)&resp},
	       {.comp_channel = channel}};

	if (write(fake_cmd, &q, sizeof(q)) != sizeof(q))
		return -errno;
	return resp.base.cq_handle;
}

static void channels_travel_as_ids(void **state)
{
	int channel = make_channel(), copy;
	char word[8];
	int64_t id;

	(void)state;
	assert_true(channel >= 0 && channel != 9999);
	assert_int_equal(read(channel, word, sizeof(word)), 8);
	assert_string_equal(word, "channel");
	id = create_cq(channel);
	assert_true(id > 0);
	assert_int_equal(create_cq_ex(channel), id);
	assert_int_equal(create_cq(-1), (uint32_t)-1);
	assert_int_equal(create_cq(1), -EBADF);
	assert_int_equal(create_cq_ex(fake_cmd), -EBADF);
	copy = dup(channel);
	close(channel);
	assert_int_not_equal(fake_call(fake_cmd, FAKE_CLOSED_CHANNEL, 0, 0), id);
	assert_int_equal(create_cq(copy), id);
	close(copy);
	assert_int_equal(fake_call(fake_cmd, FAKE_CLOSED_CHANNEL, 0, 0), id);
}

/* ---- doorbell ---------------------------------------------------------------------------- */

static void ring(uint32_t qp)
{
	uint32_t bad_wr = 7;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
		uint32_t qp_handle, wr_count, sge_count, wqe_size;
	} q = {{IB_USER_VERBS_CMD_POST_SEND, sizeof(q) / 4, 1}, (uintptr_t)&bad_wr, qp, 0, 0, 208};

	assert_int_equal(write(fake_cmd, &q, sizeof(q)), sizeof(q));
	assert_int_equal(bad_wr, 0);
}

static void doorbells_reach_the_qps_worker(void **state)
{
	(void)state;
	ring(3);
	ring(3);
	ring(4096 + 5);
	assert_int_equal(fake_call(fake_cmd, FAKE_DOORBELL, 1, 0), 1 << 3 | 1 << 5);
	assert_int_equal(fake_call(fake_cmd, FAKE_DOORBELL, 0, 0), 0);
	ring(64 * 8 + 2);
	assert_int_equal(fake_call(fake_cmd, FAKE_DOORBELL, 0, 0), 1 << 2);
	assert_int_equal(fake_call(fake_cmd, FAKE_WAKEUPS, 0, 0), 0);
	fake_call(fake_cmd, FAKE_NEED_WAKEUP, 0, 1);
	ring(2);
	ring(3);
	assert_int_equal(fake_call(fake_cmd, FAKE_WAKEUPS, 0, 0), 1);
	assert_int_equal(fake_call(fake_cmd, FAKE_WAKEUPS, 1, 0), 0);
}

/* ---- ioctl ---------------------------------------------------------------------------------- */

#define MAX_ATTRS 8
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static struct call *attr(struct call *c, uint16_t id, uint16_t len, uint64_t data)
{
	c->attrs[c->hdr.num_attrs++] =
		(struct ib_uverbs_attr){.attr_id = id, .len = len, .flags = 1, .data = data};
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attrs[0]);
	return c;
}

static struct call begin(uint16_t object, uint16_t method)
{
	return (struct call){.hdr = {.length = sizeof(struct ib_uverbs_ioctl_hdr),
				     .object_id = object,
				     .method_id = method,
				     .driver_id = 14}};
}

static void attributes_go_both_ways(void **state)
{
	struct call c = begin(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	char resp[48] = {0};

	(void)state;
	attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 1);
	attr(&c, UVERBS_ATTR_QUERY_PORT_RESP, sizeof(resp), (uintptr_t)resp);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	assert_int_equal(resp[47], 0x41);
	assert_int_equal(c.attrs[0].flags, 1);
	assert_int_equal(c.attrs[1].flags, 1 | UVERBS_ATTR_F_VALID_OUTPUT);
}

static void unknown_methods_are_refused(void **state)
{
	struct call c = begin(UVERBS_OBJECT_DM, 0);

	(void)state;
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	c.hdr.length--;
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ioctl(0, RDMA_VERBS_IOCTL, &c), -1);
}

static void descriptors_come_by_ioctl(void **state)
{
	struct call c = begin(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	char word[8];
	int fd;

	(void)state;
	attr(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	fd = c.attrs[0].data_s64;
	assert_int_equal(read(fd, word, sizeof(word)), 8);
	c = begin(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	attr(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	attr(&c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, fd);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	assert_int_equal(c.attrs[0].data, create_cq(fd));
	c.attrs[1].data = 0;
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), -1);
	assert_int_equal(errno, EBADF);
	close(fd);
}

static void commands_are_invoked(void **state)
{
	struct call c = begin(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	struct ib_uverbs_create_comp_channel q = {0};
	struct ib_uverbs_create_comp_channel_resp resp = {0};
	struct ib_uverbs_create_cq cq = {0};
	struct ib_uverbs_create_cq_resp cq_resp = {0};
	char uhw[13] = "driver data";

	(void)state;
	attr(&c, UVERBS_ATTR_CORE_IN, sizeof(q), q.response);
	attr(&c, UVERBS_ATTR_CORE_OUT, sizeof(resp), (uintptr_t)&resp);
	attr(&c, UVERBS_ATTR_WRITE_CMD, 8, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	cq.comp_channel = resp.fd;
	c = begin(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	attr(&c, UVERBS_ATTR_UHW_IN, sizeof(uhw), (uintptr_t)uhw);
	attr(&c, UVERBS_ATTR_CORE_IN, sizeof(cq), (uintptr_t)&cq);
	attr(&c, UVERBS_ATTR_CORE_OUT, sizeof(cq_resp), (uintptr_t)&cq_resp);
	attr(&c, UVERBS_ATTR_WRITE_CMD, 8, IB_USER_VERBS_CMD_CREATE_CQ);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	assert_int_equal(cq_resp.cq_handle, create_cq(resp.fd));
	assert_int_equal(cq_resp.cqe, 'd');
	assert_int_equal(cq.comp_channel, resp.fd); /* the caller's stays as it was */
	cq.comp_channel = 0;
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), -1);
	assert_int_equal(errno, EBADF);
	close(resp.fd);
}

/*
 * The kernel's driver writes a resized SRQ's mminfo where the driver data
 * points: so does the library, whichever way the command goes.
 */
static void driver_data_that_points_back(void **state)
{
	struct mminfo mi[3];
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_srq core;
		uint64_t addr;
	} q = {{IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(q) / 4, 0}, {0}, (uintptr_t)&mi[1]};
	struct call c = begin(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	(void)state;
	memset(mi, 0, sizeof(mi));
	assert_int_equal(write(fake_cmd, &q, sizeof(q)), sizeof(q));
	assert_int_equal(mi[1].size, 0x33333333);
	assert_int_equal(mi[1].pad, 0x33333333);
	assert_int_equal(mi[0].pad | mi[2].offset, 0);
	attr(&c, UVERBS_ATTR_UHW_IN, sizeof(q.addr), q.addr);
	attr(&c, UVERBS_ATTR_CORE_IN, sizeof(q.core), (uintptr_t)&q.core);
	attr(&c, UVERBS_ATTR_WRITE_CMD, 8, IB_USER_VERBS_CMD_MODIFY_SRQ);
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	assert_int_equal(mi[1].size, 0x44444444);
	assert_int_equal(mi[0].pad | mi[2].offset, 0);
	c.attrs[0].data = 0; /* nowhere */
	assert_int_equal(ioctl(fake_cmd, RDMA_VERBS_IOCTL, &c), 0);
	assert_int_equal(c.hdr.num_attrs, 3);
}

/* ---- mmap -------------------------------------------------------------------------------------- */

static void rings_are_mapped(void **state)
{
	uint64_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fake_cmd, 0x3000);

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(*p, 0x3000);
	assert_int_equal(munmap(p, 8192), 0);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fake_cmd, 0), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_looks_like_a_device),
		cmocka_unit_test(flags_of_open_are_kept),
		cmocka_unit_test(sysfs_is_the_daemons),
		cmocka_unit_test(counters_are_fresh),
		cmocka_unit_test(names_are_canonical),
		cmocka_unit_test(memory_is_reached_by_the_mem_fd),
		cmocka_unit_test(a_response_is_cut_to_what_was_asked),
		cmocka_unit_test(errors_are_errno),
		cmocka_unit_test(channels_travel_as_ids),
		cmocka_unit_test(doorbells_reach_the_qps_worker),
		cmocka_unit_test(attributes_go_both_ways),
		cmocka_unit_test(unknown_methods_are_refused),
		cmocka_unit_test(descriptors_come_by_ioctl),
		cmocka_unit_test(commands_are_invoked),
		cmocka_unit_test(driver_data_that_points_back),
		cmocka_unit_test(rings_are_mapped),
	};

	(void)argc;
	return FAKE_RUN(argv, tests);
}
