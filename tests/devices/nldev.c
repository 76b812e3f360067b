/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_RDMA: hand-made requests, well-formed and hostile, against the
 * answers of the kernel's nldev (UABI.md section 5 and the driver's output).
 */
#include "env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "authority.h"
#include "netns.h"
#include "uapi/nldev.h"
#include "uapi/uverbs.h"

#define SEQ 0x1234
#define PID 0x5678

static struct rxe_netns *ns;
static struct rxe_peer root, user;

/* ---- requests --------------------------------------------------------------- */

static struct {
	char buf[8192] __attribute__((aligned(8)));
	size_t len;
} req;

static struct nlmsghdr *hdr(void)
{
	return (struct nlmsghdr *)req.buf;
}

static void start(int op, uint16_t flags)
{
	memset(&req, 0, sizeof(req));
	req.len = NLMSG_HDRLEN;
	*hdr() = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = SEQ,
		.nlmsg_pid = PID,
	};
}

static void put(int type, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = NLA_HDRLEN + len, .nla_type = type};

	memcpy(req.buf + req.len, &a, sizeof(a));
	memcpy(req.buf + req.len + NLA_HDRLEN, data, len);
	req.len += NLA_ALIGN(NLA_HDRLEN + len);
	hdr()->nlmsg_len = req.len;
}

static void put_u32(int type, uint32_t v)
{
	put(type, &v, sizeof(v));
}

static void put_str(int type, const char *s)
{
	put(type, s, strlen(s) + 1);
}

/* ---- answers ---------------------------------------------------------------- */

static char answer[65536] __attribute__((aligned(8)));
static size_t answer_len;
static unsigned int datagrams;

static void take(void *arg, const void *msg, size_t len)
{
	(void)arg;
	assert_in_range(len, NLMSG_HDRLEN, RXE_NLDEV_BATCH);
	assert_true(answer_len + len <= sizeof(answer));
	memcpy(answer + answer_len, msg, len);
	answer_len += len;
	datagrams++;
}

static int send_as(struct rxe_peer *peer)
{
	answer_len = 0;
	datagrams = 0;
	return rxe_nldev_handle(peer, req.buf, req.len, take, NULL);
}

/* Message n of the answer, checked to be whole; NULL behind the last. */
static struct nlmsghdr *message(unsigned int n)
{
	size_t pos = 0;
	struct nlmsghdr *nlh;

	while (pos < answer_len) {
		nlh = (void *)(answer + pos);
		assert_true(nlh->nlmsg_len >= NLMSG_HDRLEN && nlh->nlmsg_len <= answer_len - pos);
		assert_int_equal(nlh->nlmsg_seq, SEQ);
		assert_int_equal(nlh->nlmsg_pid, PID);
		if (!n--)
			return nlh;
		pos += NLMSG_ALIGN(nlh->nlmsg_len);
	}
	return NULL;
}

static struct nlattr *attr_in(void *start_of, size_t len, int type)
{
	char *pos = start_of;

	while (len >= NLA_HDRLEN) {
		struct nlattr *a = (void *)pos;

		assert_true(a->nla_len >= NLA_HDRLEN && a->nla_len <= len);
		if (a->nla_type == type)
			return a;
		if ((size_t)NLA_ALIGN(a->nla_len) >= len)
			break;
		pos += NLA_ALIGN(a->nla_len);
		len -= NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

static void *attr(struct nlmsghdr *nlh, int type)
{
	struct nlattr *a = attr_in((char *)nlh + NLMSG_HDRLEN, nlh->nlmsg_len - NLMSG_HDRLEN, type);

	return a ? (char *)a + NLA_HDRLEN : NULL;
}

static uint64_t attr_u64(struct nlmsghdr *nlh, int type)
{
	uint64_t v;

	assert_non_null(attr(nlh, type));
	memcpy(&v, attr(nlh, type), sizeof(v));
	return v;
}

static uint32_t attr_u32(struct nlmsghdr *nlh, int type)
{
	uint32_t v;

	assert_non_null(attr(nlh, type));
	memcpy(&v, attr(nlh, type), sizeof(v));
	return v;
}

static uint8_t attr_u8(struct nlmsghdr *nlh, int type)
{
	assert_non_null(attr(nlh, type));
	return *(uint8_t *)attr(nlh, type);
}

/* The error of the one message that is the whole answer. */
static int error_of(struct nlmsghdr *nlh)
{
	struct nlmsgerr *e = NLMSG_DATA(nlh);

	assert_non_null(nlh);
	assert_int_equal(nlh->nlmsg_type, NLMSG_ERROR);
	assert_true(nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(*e)));
	assert_int_equal(e->msg.nlmsg_seq, SEQ);
	return e->error;
}

static int refused(struct rxe_peer *peer)
{
	assert_int_equal(send_as(peer), 0);
	assert_null(message(1));
	return error_of(message(0));
}

/* The text of an extended acknowledgement, or NULL. */
static const char *why(void)
{
	struct nlmsghdr *nlh = message(0);
	size_t skip = NLMSG_LENGTH(sizeof(struct nlmsgerr));
	struct nlattr *a;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	a = attr_in((char *)nlh + skip, nlh->nlmsg_len - skip, NLMSGERR_ATTR_MSG);
	return a ? (char *)a + NLA_HDRLEN : NULL;
}

/* ---- surroundings ------------------------------------------------------------- */

static int set_up(void **state)
{
	(void)state;
	env_start();
	env_sh("ip link add va address 52:54:00:09:00:02 type veth peer name vb");
	env_sh("ip link add vc type veth peer name vd");
	env_sh("ip addr add 10.9.0.2/24 dev va; ip link set va up; ip link set vb up");
	assert_int_equal(rxe_netns_self(&ns), 0);
	root = (struct rxe_peer){.ns = ns, .net_admin = true, .net_raw = true, .bpf_admin = true};
	user = (struct rxe_peer){.ns = ns, .uid = 1000};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	env_stop();
	rxe_netns_put(ns);
	env_sh("ip link delete va; ip link delete vc");
	return 0;
}

static void link_request(const char *name, const char *type, const char *netdev)
{
	start(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	put_str(RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_str(RDMA_NLDEV_ATTR_LINK_TYPE, type);
	put_str(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
}

static void add(const char *name, const char *netdev)
{
	link_request(name, "rxe", netdev);
	assert_int_equal(refused(&root), 0);
}

/* ---- what the tools ask --------------------------------------------------------- */

static void link_add_and_delete(void **state)
{
	(void)state;
	add("rxe0", "va");
	assert_non_null(rxe_dev_by_name("rxe0"));
	start(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(refused(&root), 0);
	assert_null(rxe_dev_by_name("rxe0"));
	assert_int_equal(refused(&root), -EINVAL);
}

static void link_add_fails_as_the_kernels(void **state)
{
	(void)state;
	add("rxe0", "va");
	link_request("rxe0", "rxe", "va");
	assert_int_equal(refused(&root), -EEXIST);
	assert_non_null(why());
	link_request("rxe1", "rxe", "va");
	assert_int_equal(refused(&root), -EEXIST);
	link_request("rxe1", "rxe", "nosuch");
	assert_int_equal(refused(&root), -ENODEV);
	assert_non_null(strstr(why(), "nosuch"));
	link_request("rxe1", "nosuch", "vc");
	assert_int_equal(refused(&root), -EINVAL);
	link_request("rxe1", "rxe", "vc");
	assert_int_equal(refused(&user), -EPERM);
	assert_non_null(strstr(why(), "CAP_NET_ADMIN"));
	link_request("", "rxe", "vc");
	assert_int_equal(refused(&root), -EINVAL);
	link_request("rxe%d", "rxe", "vc");
	assert_int_equal(refused(&root), -EINVAL);
	start(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	put_str(RDMA_NLDEV_ATTR_DEV_NAME, "rxe1");
	put_str(RDMA_NLDEV_ATTR_NDEV_NAME, "vc");
	assert_int_equal(refused(&root), -EINVAL);
}

static void check_device(struct nlmsghdr *nlh, uint32_t index, const char *name)
{
	assert_int_equal(nlh->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));
	assert_int_equal(attr_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX), index);
	assert_string_equal(attr(nlh, RDMA_NLDEV_ATTR_DEV_NAME), name);
	assert_int_equal(attr_u32(nlh, RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	assert_int_equal(attr_u8(nlh, RDMA_NLDEV_ATTR_DEV_NODE_TYPE), 1);
	assert_non_null(attr(nlh, RDMA_NLDEV_ATTR_CAP_FLAGS));
	assert_non_null(attr(nlh, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID));
	assert_non_null(attr(nlh, RDMA_NLDEV_ATTR_DEV_DIM));
}

static void devices_are_dumped_and_got(void **state)
{
	(void)state;
	start(RDMA_NLDEV_CMD_GET, NLM_F_DUMP | NLM_F_ACK);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(message(0)->nlmsg_type, NLMSG_DONE); /* no device: only DONE */
	assert_null(message(1));
	add("rxe0", "va");
	add("rxe1", "vc");
	start(RDMA_NLDEV_CMD_GET, NLM_F_DUMP | NLM_F_ACK);
	assert_int_equal(send_as(&user), 0);
	check_device(message(0), 0, "rxe0");
	check_device(message(1), 1, "rxe1");
	assert_true(message(0)->nlmsg_flags & NLM_F_MULTI);
	assert_true(attr_u64(message(0), RDMA_NLDEV_ATTR_NODE_GUID) == 0x505400fffe090002ull);
	assert_int_equal(message(2)->nlmsg_type, NLMSG_DONE);
	assert_null(message(3)); /* a dump ends with DONE, without an acknowledgement */

	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(send_as(&user), 0);
	check_device(message(0), 1, "rxe1");
	assert_int_equal(message(0)->nlmsg_flags, 0);
	assert_int_equal(error_of(message(1)), 0);
	assert_int_equal(datagrams, 2);

	start(RDMA_NLDEV_CMD_GET, 0); /* libnl asks for no acknowledgement */
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(send_as(&user), 0);
	assert_null(message(1));

	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 7);
	assert_int_equal(refused(&user), -EINVAL);
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	assert_int_equal(refused(&user), -EINVAL);
}

static void ports_tell_state_and_netdev(void **state)
{
	struct rxe_peer foreign = user;

	(void)state;
	add("rxe0", "va");
	start(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(attr_u8(message(0), RDMA_NLDEV_ATTR_PORT_STATE), 4);
	assert_int_equal(attr_u8(message(0), RDMA_NLDEV_ATTR_PORT_PHYS_STATE), 5);
	assert_string_equal(attr(message(0), RDMA_NLDEV_ATTR_NDEV_NAME), "va");
	foreign.ns = NULL; /* some other namespace */
	assert_int_equal(send_as(&foreign), 0);
	assert_null(attr(message(0), RDMA_NLDEV_ATTR_NDEV_NAME));

	start(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	assert_int_equal(refused(&user), -EINVAL);
	start(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(refused(&user), -EINVAL);

	start(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_PORT_INDEX), 1);
	assert_int_equal(message(1)->nlmsg_type, NLMSG_DONE);
	start(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(message(0)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(int *)NLMSG_DATA(message(0)), -EINVAL);
}

static void chardevs(void **state)
{
	(void)state;
	add("rxe0", "vc");
	add("rxe1", "va");
	start(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_str(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(send_as(&user), 0);
	assert_null(message(1));
	assert_string_equal(attr(message(0), RDMA_NLDEV_ATTR_CHARDEV_NAME), "uverbs1");
	assert_true(attr_u64(message(0), RDMA_NLDEV_ATTR_CHARDEV_ABI) == 2);
	assert_true(attr_u64(message(0), RDMA_NLDEV_ATTR_CHARDEV) == (231 << 8 | 193));
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID), 14);

	start(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_str(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "umad");
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(refused(&user), -ENOENT);
	start(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_str(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	assert_int_equal(refused(&user), -EINVAL);
}

static void system_and_namespace_mode(void **state)
{
	struct rxe_peer foreign = user;

	(void)state;
	add("rxe0", "va");
	foreign.ns = NULL;
	start(RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(attr_u8(message(0), RDMA_NLDEV_SYS_ATTR_NETNS_MODE), 1);
	assert_int_equal(attr_u8(message(0), RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK), 1);
	start(RDMA_NLDEV_CMD_SYS_SET, NLM_F_ACK);
	put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, "\0", 1);
	assert_int_equal(refused(&user), -EPERM);
	assert_int_equal(refused(&root), 0);
	/* exclusive: a device is seen from its own namespace only */
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(refused(&foreign), -EINVAL);
	start(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	assert_int_equal(send_as(&foreign), 0);
	assert_int_equal(message(0)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(send_as(&user), 0);
	check_device(message(0), 0, "rxe0");
	start(RDMA_NLDEV_CMD_SYS_SET, NLM_F_ACK);
	put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, "\2", 1);
	assert_int_equal(refused(&root), -EINVAL);
}

static void renaming(void **state)
{
	(void)state;
	add("rxe0", "va");
	start(RDMA_NLDEV_CMD_SET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_str(RDMA_NLDEV_ATTR_DEV_NAME, "foo0");
	assert_int_equal(refused(&user), -EPERM);
	assert_int_equal(refused(&root), 0);
	assert_non_null(rxe_dev_by_name("foo0"));
	add("rxe0", "vc");
	start(RDMA_NLDEV_CMD_SET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_str(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	assert_int_equal(refused(&root), -EEXIST);
}

static void resources_are_summed_up(void **state)
{
	static const char *const names[] = {"pd", "cq",	 "qp",	"cm_id",
					    "mr", "ctx", "srq", "comp_cntr"};
	/* with the PD, CQ and QP of QP1 */
	static const uint64_t counts[] = {1, 1, 4, 0, 0, 0, 5, 0};
	struct nlattr *table, *entry;
	size_t off = 0;

	(void)state;
	add("rxe0", "va");
	rxe_dev_by_index(0)->nr_qp = 3;
	rxe_dev_by_index(0)->hca.nr_srqs = 5;
	start(RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP);
	assert_int_equal(send_as(&user), 0);
	table = (void *)((char *)attr(message(0), RDMA_NLDEV_ATTR_RES_SUMMARY) - NLA_HDRLEN);
	for (unsigned int i = 0; i < 8; i++) {
		char *in = (char *)table + NLA_HDRLEN + off;
		struct nlattr *name, *curr;
		uint64_t n;

		entry = (void *)in;
		assert_true(off + NLA_HDRLEN < table->nla_len);
		assert_int_equal(entry->nla_type, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		name = attr_in(in + NLA_HDRLEN, entry->nla_len - NLA_HDRLEN,
			       RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
		curr = attr_in(in + NLA_HDRLEN, entry->nla_len - NLA_HDRLEN,
			       RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
		assert_string_equal((char *)name + NLA_HDRLEN, names[i]);
		memcpy(&n, (char *)curr + NLA_HDRLEN, sizeof(n));
		assert_int_equal(n, counts[i]);
		off += NLA_ALIGN(entry->nla_len);
	}
	assert_int_equal(off + NLA_HDRLEN, table->nla_len);
}

/* ---- objects ------------------------------------------------------------------ */

#define NR_PDS 300

/* The entries of every table in the answer: how many, with rising numbers. */
static unsigned int count_entries(int table, int entry, int id)
{
	unsigned int n = 0, last = 0;
	struct nlmsghdr *nlh;

	for (unsigned int i = 0; (nlh = message(i)) && nlh->nlmsg_type != NLMSG_DONE; i++) {
		struct nlattr *t =
			attr_in((char *)nlh + NLMSG_HDRLEN, nlh->nlmsg_len - NLMSG_HDRLEN, table);
		size_t off = 0;

		assert_int_equal(attr_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX), 0);
		assert_non_null(t);
		while (off + NLA_HDRLEN < t->nla_len) {
			struct nlattr *e = (void *)((char *)t + NLA_HDRLEN + off), *num;
			uint32_t v;

			assert_int_equal(e->nla_type, entry);
			num = attr_in((char *)e + NLA_HDRLEN, e->nla_len - NLA_HDRLEN, id);
			assert_non_null(num);
			memcpy(&v, (char *)num + NLA_HDRLEN, sizeof(v));
			assert_true(!n || v > last);
			last = v;
			n++;
			off += NLA_ALIGN(e->nla_len);
		}
	}
	return n;
}

static void objects_fill_as_many_messages_as_they_need(void **state)
{
	static struct upd pds[NR_PDS];
	static struct uobj *objects[NR_PDS + 1];
	struct rxe_peer peer = {.pid = 77};
	struct uctx ctx = {.peer = &peer, .res = 3};

	(void)state;
	add("rxe0", "va");
	for (uint32_t i = 0; i < NR_PDS; i++) {
		pds[i].o.res = NR_PDS - i; /* the answer is sorted */
		pds[i].o.ctx = &ctx;
		objects[i] = &pds[i].o;
	}
	env.objects = objects;
	env.objects_kind = UOBJ_PD;
	start(RDMA_NLDEV_CMD_RES_PD_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(send_as(&user), 0);
	assert_true(datagrams > 2);
	assert_int_equal(count_entries(RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
				       RDMA_NLDEV_ATTR_RES_PDN),
			 NR_PDS + 1); /* and QP1's */

	start(RDMA_NLDEV_CMD_RES_PD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, 17);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_PDN), 17);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_CTXN), 3);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_PID), 77);
	assert_null(attr(message(0), RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY));
	start(RDMA_NLDEV_CMD_RES_PD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, NR_PDS + 1);
	assert_int_equal(refused(&user), -ENOENT);
	/* one without a number; on a port, which PDs have not; of a port that is not there */
	start(RDMA_NLDEV_CMD_RES_PD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(refused(&user), -EINVAL);
	put_u32(RDMA_NLDEV_ATTR_RES_PDN, 17);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(refused(&user), -EINVAL);
	start(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(message(0)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(int *)NLMSG_DATA(message(0)), -EINVAL);
}

static void keys_are_for_administrators(void **state)
{
	struct rxe_peer peer = {.pid = 77};
	struct uctx ctx = {.peer = &peer};
	struct upd pd = {.o = {.ctx = &ctx, .res = 1}};
	struct umr mr = {.o = {.ctx = &ctx, .res = 5}, .pd = &pd, .length = 4096};
	struct uobj *objects[] = {&mr.o, NULL};

	(void)state;
	add("rxe0", "va");
	env.objects = objects;
	env.objects_kind = UOBJ_MR;
	start(RDMA_NLDEV_CMD_RES_MR_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_RES_MRN, 5);
	assert_int_equal(send_as(&root), 0);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_LKEY), 0x11);
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_RKEY), 0x22);
	assert_int_equal(attr_u64(message(0), RDMA_NLDEV_ATTR_RES_MRLEN), 4096);
	assert_int_equal(send_as(&user), 0);
	assert_null(attr(message(0), RDMA_NLDEV_ATTR_RES_LKEY));
	assert_null(attr(message(0), RDMA_NLDEV_ATTR_RES_RKEY));
	assert_int_equal(attr_u32(message(0), RDMA_NLDEV_ATTR_RES_PDN), 1);
}

/* An SRQ whose QPs' numbers do not fit into a message is an error, not a crash. */
static void an_entry_too_long_for_a_message(void **state)
{
	static struct uqp qps[400];
	static struct uobj *objects[401];
	struct rxe_peer peer = {.pid = 77};
	struct uctx ctx = {.peer = &peer};
	struct upd pd = {.o = {.ctx = &ctx, .res = 1}};
	static struct usrq srq;

	(void)state;
	add("rxe0", "va");
	srq.o.ctx = &ctx;
	srq.pd = &pd;
	for (uint32_t i = 0; i < 400; i++) {
		qps[i].o.ctx = &ctx;
		qps[i].qpn = 16 + 2 * i; /* no two of them adjacent */
		qps[i].srq = &srq;
		objects[i] = &qps[i].o;
	}
	env.objects = objects;
	env.objects_kind = UOBJ_QP;
	start(RDMA_NLDEV_CMD_RES_SRQ_GET, NLM_F_DUMP);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	env.srq = &srq.o;
	assert_int_equal(send_as(&user), 0);
	assert_int_equal(message(0)->nlmsg_type, NLMSG_DONE);
	assert_int_equal(*(int *)NLMSG_DATA(message(0)), -EMSGSIZE);
}

static void what_is_not_offered_is_refused(void **state)
{
	(void)state;
	add("rxe0", "va");
	start(RDMA_NLDEV_CMD_STAT_SET, NLM_F_ACK); /* whose counters, which mode? */
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(refused(&root), -EINVAL);
	start(RDMA_NLDEV_CMD_RES_QP_GET_RAW, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(refused(&root), -EINVAL);
	assert_int_equal(refused(&user), -EPERM);
	start(RDMA_NLDEV_CMD_SET, NLM_F_DUMP);
	assert_int_equal(refused(&root), -EOPNOTSUPP);
	start(RDMA_NLDEV_NUM_OPS, NLM_F_ACK);
	assert_int_equal(refused(&root), -EINVAL);
	start(0, NLM_F_ACK);
	assert_int_equal(refused(&root), -EINVAL);
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	hdr()->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NLDEV_CMD_GET);
	assert_int_equal(refused(&root), -EINVAL);
}

/* ---- hostile bytes ----------------------------------------------------------------- */

static void short_and_lying_headers(void **state)
{
	(void)state;
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	req.len = NLMSG_HDRLEN - 1;
	assert_int_equal(send_as(&root), -EINVAL);
	assert_int_equal(answer_len, 0);
	for (uint32_t len = 0; len < NLMSG_HDRLEN; len++) {
		start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
		hdr()->nlmsg_len = len;
		assert_int_equal(send_as(&root), 0);
		assert_int_equal(answer_len, 0);
	}
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	hdr()->nlmsg_len = UINT32_MAX;
	assert_int_equal(send_as(&root), 0);
	assert_int_equal(answer_len, 0);
	/* not a request, and control messages: acknowledged when asked, nothing else */
	start(RDMA_NLDEV_CMD_DELLINK, 0);
	hdr()->nlmsg_flags = 0;
	assert_int_equal(send_as(&root), 0);
	assert_int_equal(answer_len, 0);
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	hdr()->nlmsg_type = NLMSG_NOOP;
	assert_int_equal(refused(&root), 0);
	/* longer than any request */
	start(RDMA_NLDEV_CMD_GET, 0);
	req.len = sizeof(req.buf);
	hdr()->nlmsg_len = req.len;
	assert_int_equal(refused(&root), -EMSGSIZE);
}

static void bad_attributes(void **state)
{
	struct nlattr *a;

	(void)state;
	add("rxe0", "va");
	/* a u32 of 3 bytes */
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put(RDMA_NLDEV_ATTR_DEV_INDEX, "\0\0", 3);
	assert_int_equal(refused(&root), -EINVAL);
	/* nla_len below its header, and beyond the message */
	for (int len = 0; len < 64; len++) {
		start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
		put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
		a = (void *)(req.buf + NLMSG_HDRLEN);
		a->nla_len = len;
		if (len != 8)
			assert_int_equal(refused(&root), -EINVAL);
	}
	/* strings without an end, or too long */
	link_request("rxe1", "rxe", "vc");
	put(RDMA_NLDEV_ATTR_NDEV_NAME, "vc", 2);
	assert_int_equal(refused(&root), -EINVAL);
	link_request("rxe1", "rxe", "a-netdev-name-beyond-16");
	assert_int_equal(refused(&root), -EINVAL);
	link_request("rxe1", "rxe", "vc");
	put(RDMA_NLDEV_ATTR_DEV_NAME, "", 0);
	assert_int_equal(refused(&root), -EINVAL);
	assert_null(rxe_dev_by_name("rxe1"));
	/* a trailing stump of an attribute is ignored, as the kernel does */
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	req.len += 2;
	hdr()->nlmsg_len = req.len;
	assert_int_equal(send_as(&root), 0);
	check_device(message(0), 0, "rxe0");
	/* attributes without a meaning here, also of numbers beyond the last */
	start(RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	put(0x3fff, "junk", 4);
	put_str(RDMA_NLDEV_ATTR_FW_VERSION, "junk");
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	assert_int_equal(send_as(&root), 0);
	check_device(message(0), 0, "rxe0");
}

static void several_requests_in_one_send(void **state)
{
	char two[256];
	size_t one;

	(void)state;
	add("rxe0", "va");
	start(RDMA_NLDEV_CMD_GET, 0);
	put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	one = req.len;
	memcpy(two, req.buf, one);
	memcpy(req.buf + one, two, one);
	req.len = 2 * one;
	assert_int_equal(send_as(&root), 0);
	check_device(message(0), 0, "rxe0");
	check_device(message(1), 0, "rxe0");
	req.len = 2 * one - 1; /* the second is cut: only the first is answered */
	assert_int_equal(send_as(&root), 0);
	assert_null(message(1));
}

/* Random bytes and random damage to good requests; sanitizers watch. */
static void random_bytes(void **state)
{
	(void)state;
	srand(1);
	add("rxe0", "va");
	for (int i = 0; i < 20000; i++) {
		start(rand() % 32, (uint16_t)(rand() & 0xffff));
		for (int k = rand() % 4; k > 0; k--)
			put(rand() % 100, answer + rand() % 64, (size_t)(rand() % 40));
		for (int k = rand() % 4; k > 0; k--)
			req.buf[(size_t)rand() % req.len] = (char)rand();
		memcpy(&hdr()->nlmsg_seq, &(uint32_t){SEQ}, 4);
		send_as(rand() % 2 ? &user : &root);
	}
}

#define NLDEV_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NLDEV_TEST(link_add_and_delete),
		NLDEV_TEST(link_add_fails_as_the_kernels),
		NLDEV_TEST(devices_are_dumped_and_got),
		NLDEV_TEST(ports_tell_state_and_netdev),
		NLDEV_TEST(chardevs),
		NLDEV_TEST(system_and_namespace_mode),
		NLDEV_TEST(renaming),
		NLDEV_TEST(resources_are_summed_up),
		NLDEV_TEST(objects_fill_as_many_messages_as_they_need),
		NLDEV_TEST(keys_are_for_administrators),
		NLDEV_TEST(an_entry_too_long_for_a_message),
		NLDEV_TEST(what_is_not_offered_is_refused),
		NLDEV_TEST(short_and_lying_headers),
		NLDEV_TEST(bad_attributes),
		NLDEV_TEST(several_requests_in_one_send),
		NLDEV_TEST(random_bytes),
	};

	env_private_netns();
	return cmocka_run_group_tests_name("nldev", tests, NULL, NULL);
}
