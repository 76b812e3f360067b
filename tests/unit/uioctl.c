/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ioctl requests as a client may forge them: every offset is checked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "uapi/uverbs_ioctl.h"

/* What uverbs_ioctl.c calls and these tests do not reach. */
int uctx_get_context(struct uctx *ctx)
{
	(void)ctx;
	return 0;
}

int uverbs_open_async(struct uctx *ctx, int *fd)
{
	(void)ctx;
	(void)fd;
	return -EMFILE;
}

void uverbs_fill_port(const struct rxe_dev *dev, struct ib_uverbs_query_port_resp *r)
{
	(void)dev;
	(void)r;
}

void uverbs_invoke_write(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg)
{
	(void)ctx;
	(void)bytes;
	(void)len;
	reply(arg, -ENOSYS, NULL, 0, -1);
}

int umr_advise(struct uctx *ctx, uint32_t pd_handle, uint64_t advice, uint64_t flags,
	       const struct ib_uverbs_sge *sge)
{
	(void)ctx, (void)pd_handle, (void)advice, (void)flags, (void)sge;
	return 0;
}

struct message {
	struct rxe_ipc_ioctl h;
	struct rxe_ipc_attr a[2];
	uint8_t bytes[32];
};

static struct message good(void)
{
	struct message m = {.h = {.num_attrs = 2}};

	m.a[0] = (struct rxe_ipc_attr){.attr_id = 5, .len = 4, .data = 0x1234};
	m.a[1] = (struct rxe_ipc_attr){
		.attr_id = 6, .len = 32, .data_off = offsetof(struct message, bytes)};
	memset(m.bytes, 7, sizeof(m.bytes));
	return m;
}

static void reads_inline_and_pointed_at(void **state)
{
	struct message m = good();
	struct uioctl req;
	uint64_t v;
	size_t len;

	(void)state;
	assert_int_equal(uioctl_parse(&req, &m, sizeof(m)), 0);
	assert_true(uioctl_u64(&req, 5, &v));
	assert_int_equal(v, 0x1234);
	assert_memory_equal(uioctl_bytes(&req, 6, &len), m.bytes, 32);
	assert_int_equal(len, 32);
	assert_null(uioctl_bytes(&req, 99, &len));
	assert_false(uioctl_u64(&req, 6, &v));
}

static void refuses_forged_sizes(void **state)
{
	struct uioctl req;
	struct message m;

	(void)state;
	for (size_t n = 0; n < offsetof(struct message, bytes) + 32; n++) {
		m = good();
		assert_int_equal(uioctl_parse(&req, &m, n), -EINVAL);
	}
	m = good();
	m.h.num_attrs = 0xffff;
	assert_int_equal(uioctl_parse(&req, &m, sizeof(m)), -EINVAL);
	m = good();
	m.a[1].data_off = 0xfffffff0u;
	assert_int_equal(uioctl_parse(&req, &m, sizeof(m)), -EINVAL);
	m = good();
	m.a[1].data_off = 8; /* into the header */
	assert_int_equal(uioctl_parse(&req, &m, sizeof(m)), -EINVAL);
	m = good();
	m.a[1].len = 33;
	assert_int_equal(uioctl_parse(&req, &m, sizeof(m)), -EINVAL);
}

static uint8_t reply_bytes[16384];
static size_t reply_len;
static int reply_status;

static void take_reply(void *arg, int status, const void *bytes, size_t len, int fd)
{
	(void)arg;
	(void)fd;
	reply_status = status;
	reply_len = len;
	if (len)
		memcpy(reply_bytes, bytes, len);
}

static void a_reply_reads_back(void **state)
{
	struct uioctl_reply r;
	struct uioctl back;
	size_t len;

	(void)state;
	uioctl_reply_init(&r);
	uioctl_put(&r, 1, 0, "0123456789abc", 13);
	uioctl_put_fd(&r, 2, 1);
	uioctl_put(&r, 3, 2, "xyz0123456", 10);
	uioctl_send(&r, take_reply, NULL, -1);
	assert_int_equal(reply_status, 0);
	assert_int_equal(uioctl_parse(&back, reply_bytes, reply_len), 0);
	assert_memory_equal(uioctl_bytes(&back, 1, &len), "0123456789abc", 13);
	assert_memory_equal(uioctl_bytes(&back, 3, &len), "xyz0123456", 10);
	assert_int_equal(uioctl_attr(&back, 2)->kind, RXE_ATTR_FD);
}

/* ---- the GID table ------------------------------------------------------------- */

static struct rxe_dev gid_dev = {.ifindex = 7};
static struct uctx gid_ctx = {.dev = &gid_dev, .opened = true};

static int query_table(uint64_t size, uint16_t room, uint64_t flags)
{
	struct {
		struct rxe_ipc_ioctl h;
		struct rxe_ipc_attr a[4];
	} m = {.h = {.object_id = UVERBS_OBJECT_DEVICE,
		     .method_id = UVERBS_METHOD_QUERY_GID_TABLE,
		     .num_attrs = 4}};

	m.a[0] = (struct rxe_ipc_attr){
		.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, .len = 8, .data = size};
	m.a[1] = (struct rxe_ipc_attr){
		.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, .len = 4, .data = flags};
	m.a[2] = (struct rxe_ipc_attr){.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
				       .len = room};
	m.a[3] = (struct rxe_ipc_attr){.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
				       .len = 8};
	reply_len = 0;
	uverbs_ioctl(&gid_ctx, &m, sizeof(m), take_reply, NULL);
	return reply_status;
}

/* Entry i as the caller sees it; it has 2. */
static const struct ib_uverbs_gid_entry *entry(unsigned int i, uint64_t size)
{
	static struct uioctl back;
	const uint8_t *bytes;
	size_t len;
	uint64_t n;

	assert_int_equal(uioctl_parse(&back, reply_bytes, reply_len), 0);
	memcpy(&n,
	       reply_bytes +
		       uioctl_attr(&back, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES)->data_off,
	       sizeof(n));
	assert_int_equal(n, 2);
	bytes = uioctl_bytes(&back, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, &len);
	assert_int_equal(len, 2 * size);
	return (const void *)(bytes + i * size);
}

static void gid_table_of_any_entry_size(void **state)
{
	static const uint64_t sizes[] = {sizeof(struct ib_uverbs_gid_entry), 40, 24};
	const struct ib_uverbs_gid_entry *e;

	(void)state;
	gid_dev.gids[1].valid = true;
	gid_dev.gids[1].ip.raw[15] = 0x11;
	gid_dev.gids[5].valid = true; /* 2 to 4 are holes */
	gid_dev.gids[5].ip.raw[15] = 0x55;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(query_table(sizes[i], (uint16_t)(4 * sizes[i]), 0), 0);
		e = entry(0, sizes[i]);
		assert_int_equal(((const uint8_t *)e)[15], 0x11);
		assert_int_equal(e->gid_index, 1);
		e = entry(1, sizes[i]);
		assert_int_equal(e->gid_index, 5);
		assert_int_equal(e->port_num, 1);
		if (sizes[i] >= sizeof(*e))
			assert_int_equal(e->netdev_ifindex, 7);
	}
	assert_int_equal(query_table(32, 32, 0), -EINVAL); /* room for one of two */
	assert_int_equal(query_table(32, 65, 0), -EINVAL);
	assert_int_equal(query_table(0, 64, 0), -EINVAL);
	assert_int_equal(query_table(32, 16, 0), -EINVAL);
	assert_int_equal(query_table(32, 64, 1), -EINVAL);
	assert_int_equal(query_table(16384, 49152, 0), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_inline_and_pointed_at),
		cmocka_unit_test(refuses_forged_sizes),
		cmocka_unit_test(a_reply_reads_back),
		cmocka_unit_test(gid_table_of_any_entry_size),
	};

	return cmocka_run_group_tests_name("uioctl", tests, NULL, NULL);
}
