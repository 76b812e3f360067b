/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hostile client for selftests: it speaks include/rxe/ipc.h by itself and
 * uses what belongs to another context of the same device, which it plays too.
 * Prints what it tries; the first thing that is not refused ends it.
 *
 *	raw_client RUNDIR MINOR handles|mmap|doorbells|credentials
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/ipc.h"

#define NR_PDS 40 /* so that the victim's handles are no handles of the other's */

struct client {
	const char *rundir;
	int minor;
	int sock;
	uint32_t nr_workers;
	struct rxe_doorbell_page *page;
	int efd[RXE_IPC_MAX_FDS];
	uint32_t async; /* channel id */
};

/* The victim's objects. */
struct objects {
	uint32_t pd, mr, lkey, channel, cq, qp, ah;
	uint64_t ring; /* mmap() offset, not yet mapped */
};

static uint8_t memory[8192] __attribute__((aligned(4096)));
static uint8_t buf[RXE_IPC_MAX_LEN];

static void die(const char *what, int err)
{
	fprintf(stderr, "raw_client: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static void want(const char *what, int got, int want)
{
	printf("%s: %s\n", what, strerror(-got));
	if (got == want)
		return;
	fprintf(stderr, "raw_client: %s: %d, not %d\n", what, got, want);
	exit(1);
}

/* ---- the protocol --------------------------------------------------------------- */

static int request(struct client *c, uint16_t type, const void *payload, size_t len, const int *fds,
		   unsigned int nr_fds, struct rxe_ipc_msg *reply)
{
	struct rxe_ipc_hdr hdr = {.type = type};
	struct iovec iov = {(void *)payload, len};
	int err = rxe_ipc_send_wait(c->sock, hdr, &iov, 1, fds, nr_fds);

	*reply = (struct rxe_ipc_msg){.buf = buf, .size = sizeof(buf)};
	if (!err)
		err = rxe_ipc_recv_wait(c->sock, reply);
	if (err)
		die("talking to rxed", err);
	return reply->hdr.status;
}

/* One write() command; its response to resp, driver data to uhw. */
static int command(struct client *c, uint32_t number, const void *in, size_t in_len, void *resp,
		   size_t resp_len, void *uhw, size_t uhw_len)
{
	struct {
		struct ib_uverbs_cmd_hdr h;
		uint8_t bytes[256];
	} msg = {.h = {.command = number}};
	struct rxe_ipc_msg reply;
	int err;

	memcpy(msg.bytes, in, in_len);
	msg.h.in_words = (sizeof(msg.h) + in_len) / 4;
	msg.h.out_words = (resp_len + uhw_len) / 4;
	err = request(c, RXE_IPC_WRITE, &msg, sizeof(msg.h) + in_len, NULL, 0, &reply);
	if (!err) {
		const uint8_t *at = buf + sizeof(struct rxe_ipc_write_reply);

		memcpy(resp, at, resp_len);
		if (uhw_len)
			memcpy(uhw, at + resp_len, uhw_len);
	}
	rxe_ipc_close_fds(&reply, 0);
	return err;
}

#define CALL(c, NUM, in, out) \
	command(c, IB_USER_VERBS_CMD_##NUM, &(in), sizeof(in) / 4 * 4, &(out), sizeof(out), NULL, 0)
#define TELL(c, NUM, in) \
	command(c, IB_USER_VERBS_CMD_##NUM, &(in), sizeof(in) / 4 * 4, NULL, 0, NULL, 0)

static uint32_t channel_of_reply(void)
{
	return ((struct rxe_ipc_write_reply *)buf)->channel_id;
}

static int open_with(struct client *c, int memfd, int mapsfd)
{
	struct rxe_ipc_open in = {.version = RXE_IPC_VERSION, .uverbs_minor = c->minor};
	int fds[2] = {memfd, mapsfd}, err;
	const struct rxe_ipc_open_reply *out = (void *)buf;
	struct rxe_ipc_msg reply;

	err = request(c, RXE_IPC_OPEN, &in, sizeof(in), fds, 2, &reply);
	if (err)
		return err;
	c->nr_workers = out->nr_workers;
	c->page =
		mmap(NULL, out->doorbell_size, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0], 0);
	if (c->page == MAP_FAILED)
		die("mapping the doorbells", errno);
	for (uint32_t i = 0; i < c->nr_workers; i++)
		c->efd[i] = reply.fds[1 + i];
	return 0;
}

static void connect_client(struct client *c)
{
	c->sock = rxe_ipc_connect(c->rundir);
	if (c->sock < 0)
		die("connecting", c->sock);
}

static void open_client(struct client *c)
{
	struct ib_uverbs_get_context in = {0};
	struct ib_uverbs_get_context_resp out;
	int err;

	connect_client(c);
	err = open_with(c, open("/proc/self/mem", O_RDWR), open("/proc/self/maps", O_RDONLY));
	if (!err)
		err = CALL(c, GET_CONTEXT, in, out);
	if (err)
		die("opening the device", err);
	c->async = channel_of_reply();
}

/* ---- objects ------------------------------------------------------------------------ */

static uint32_t alloc_pd(struct client *c)
{
	struct ib_uverbs_alloc_pd in = {0};
	struct ib_uverbs_alloc_pd_resp out;
	int err = CALL(c, ALLOC_PD, in, out);

	if (err)
		die("a PD", err);
	return out.pd_handle;
}

static int reg_mr(struct client *c, uint32_t pd, struct ib_uverbs_reg_mr_resp *out)
{
	struct ib_uverbs_reg_mr in = {
		.start = (uintptr_t)memory,
		.hca_va = (uintptr_t)memory,
		.length = sizeof(memory),
		.pd_handle = pd,
		.access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	};

	return CALL(c, REG_MR, in, *out);
}

static int create_cq(struct client *c, int channel, uint32_t *handle)
{
	struct ib_uverbs_create_cq in = {.cqe = 15, .comp_channel = channel};
	struct ib_uverbs_create_cq_resp out;
	struct rxe_create_cq_resp uhw;
	int err = command(c, IB_USER_VERBS_CMD_CREATE_CQ, &in, sizeof(in), &out, sizeof(out), &uhw,
			  sizeof(uhw));

	*handle = out.cq_handle;
	return err;
}

static int create_qp(struct client *c, uint32_t pd, uint32_t cq, uint32_t *handle, uint64_t *ring)
{
	struct ib_uverbs_create_qp in = {
		.pd_handle = pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = 4,
		.max_recv_wr = 4,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = IBV_QPT_UD,
	};
	struct ib_uverbs_create_qp_resp out;
	struct rxe_create_qp_resp uhw;
	int err = command(c, IB_USER_VERBS_CMD_CREATE_QP, &in, sizeof(in), &out, sizeof(out), &uhw,
			  sizeof(uhw));

	*handle = out.qp_handle;
	*ring = uhw.sq_mi.offset;
	return err;
}

/* To the device's own first IPv4 address, so that nobody need answer. */
static int create_ah(struct client *c, uint32_t pd, const uint8_t dgid[16], int sgid_index,
		     uint32_t *handle)
{
	struct ib_uverbs_create_ah in = {
		.pd_handle = pd,
		.attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = sgid_index}},
	};
	struct ib_uverbs_create_ah_resp out;
	struct rxe_create_ah_resp uhw;
	int err;

	memcpy(in.attr.grh.dgid, dgid, 16);
	err = command(c, IB_USER_VERBS_CMD_CREATE_AH, &in, sizeof(in), &out, sizeof(out), &uhw,
		      sizeof(uhw));
	*handle = out.ah_handle;
	return err;
}

/* A group needs no neighbour; the index of some IPv4 GID does. */
static const uint8_t group[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};

static int any_ah(struct client *c, uint32_t pd, uint32_t *handle)
{
	int err = -EINVAL;

	for (int i = 0; i < 8 && err; i++)
		err = create_ah(c, pd, group, i, handle);
	return err;
}

static void make_objects(struct client *c, struct objects *o)
{
	struct ib_uverbs_create_comp_channel in = {0};
	struct ib_uverbs_create_comp_channel_resp out;
	struct ib_uverbs_reg_mr_resp mr;
	int err;

	for (int i = 0; i < NR_PDS; i++)
		o->pd = alloc_pd(c);
	err = CALL(c, CREATE_COMP_CHANNEL, in, out);
	o->channel = channel_of_reply();
	/* As many of each, so that the last handle is only the victim's. */
	for (int i = 0; i < 3 && !err; i++) {
		err = reg_mr(c, o->pd, &mr);
		err = err ? err : create_cq(c, -1, &o->cq);
		err = err ? err : create_qp(c, o->pd, o->cq, &o->qp, &o->ring);
		err = err ? err : any_ah(c, o->pd, &o->ah);
	}
	if (err)
		die("the victim's objects", err);
	o->mr = mr.mr_handle;
	o->lkey = mr.lkey;
}

/* ---- what is tried ---------------------------------------------------------------- */

/* The victim's objects still answer their owner. */
static void victim_is_well(struct client *c, const struct objects *o)
{
	struct ib_uverbs_query_qp in = {.qp_handle = o->qp};
	struct ib_uverbs_query_qp_resp out;
	struct ib_uverbs_req_notify_cq arm = {.cq_handle = o->cq};

	want("the victim queries its QP", CALL(c, QUERY_QP, in, out), 0);
	want("the victim arms its CQ", TELL(c, REQ_NOTIFY_CQ, arm), 0);
}

static void foreign_parents(struct client *x, const struct objects *o)
{
	struct ib_uverbs_reg_mr_resp mr;
	uint32_t pd = alloc_pd(x), cq, handle;
	uint64_t ring;
	int err = create_cq(x, -1, &cq);

	if (err)
		die("a CQ", err);
	want("an MR in the other's PD", reg_mr(x, o->pd, &mr), -EINVAL);
	want("a QP in the other's PD", create_qp(x, o->pd, cq, &handle, &ring), -EINVAL);
	want("a QP on the other's CQ", create_qp(x, pd, o->cq, &handle, &ring), -EINVAL);
	want("an AH in the other's PD", any_ah(x, o->pd, &handle), -EINVAL);
	want("a CQ on the other's channel", create_cq(x, o->channel, &handle), -EINVAL);
}

static void foreign_objects(struct client *x, const struct objects *o)
{
	struct ib_uverbs_dealloc_pd pd = {.pd_handle = o->pd};
	struct ib_uverbs_dereg_mr mr = {.mr_handle = o->mr};
	struct ib_uverbs_destroy_cq cq = {.cq_handle = o->cq};
	struct ib_uverbs_destroy_cq_resp cq_out;
	struct ib_uverbs_req_notify_cq arm = {.cq_handle = o->cq};
	struct ib_uverbs_modify_qp modify = {
		.qp_handle = o->qp, .attr_mask = IBV_QP_STATE, .qp_state = IBV_QPS_ERR};
	struct ib_uverbs_query_qp query = {.qp_handle = o->qp};
	struct ib_uverbs_query_qp_resp query_out;
	struct ib_uverbs_attach_mcast attach = {.qp_handle = o->qp};
	struct ib_uverbs_detach_mcast detach = {.qp_handle = o->qp};
	struct ib_uverbs_destroy_qp qp = {.qp_handle = o->qp};
	struct ib_uverbs_destroy_qp_resp qp_out;
	struct ib_uverbs_destroy_ah ah = {.ah_handle = o->ah};
	struct rxe_ipc_qp_flags flags = {.qp_handle = o->qp};
	struct rxe_ipc_msg reply;

	memcpy(attach.gid, group, sizeof(group));
	memcpy(detach.gid, group, sizeof(group));
	want("deallocating its PD", TELL(x, DEALLOC_PD, pd), -EINVAL);
	want("deregistering its MR", TELL(x, DEREG_MR, mr), -EINVAL);
	want("destroying its CQ", CALL(x, DESTROY_CQ, cq, cq_out), -EINVAL);
	want("arming its CQ", TELL(x, REQ_NOTIFY_CQ, arm), -EINVAL);
	want("modifying its QP", TELL(x, MODIFY_QP, modify), -EINVAL);
	want("querying its QP", CALL(x, QUERY_QP, query, query_out), -EINVAL);
	want("attaching its QP", TELL(x, ATTACH_MCAST, attach), -EINVAL);
	want("detaching its QP", TELL(x, DETACH_MCAST, detach), -EINVAL);
	want("flags of its QP",
	     request(x, RXE_IPC_QP_FLAGS, &flags, sizeof(flags), NULL, 0, &reply), -EINVAL);
	want("destroying its QP", CALL(x, DESTROY_QP, qp, qp_out), -EINVAL);
	want("destroying its AH", TELL(x, DESTROY_AH, ah), -EINVAL);
	/* Not an error, and without effect: the descriptor may be gone already. */
	request(x, RXE_IPC_CHANNEL_CLOSE, &o->channel, sizeof(o->channel), NULL, 0, &reply);
}

static void try_handles(struct client *victim, struct client *x)
{
	struct objects o;
	uint32_t handle;

	make_objects(victim, &o);
	foreign_parents(x, &o);
	foreign_objects(x, &o);
	victim_is_well(victim, &o);
	want("the victim's channel is open", create_cq(victim, o.channel, &handle), 0);
}

/* Rings are found by offset: only one's own, and each once. */
static void try_mmap(struct client *victim, struct client *x)
{
	struct rxe_ipc_mmap in = {.length = 4096};
	struct rxe_ipc_msg reply;
	struct objects o;

	make_objects(victim, &o);
	in.offset = o.ring;
	want("mapping the other's ring", request(x, RXE_IPC_MMAP, &in, sizeof(in), NULL, 0, &reply),
	     -EINVAL);
	in.length = 1ull << 40;
	want("more than there is", request(victim, RXE_IPC_MMAP, &in, sizeof(in), NULL, 0, &reply),
	     -EINVAL);
	in.length = 4096;
	in.offset += 64;
	want("into the middle", request(victim, RXE_IPC_MMAP, &in, sizeof(in), NULL, 0, &reply),
	     -EINVAL);
	in.offset -= 64;
	want("the owner's", request(victim, RXE_IPC_MMAP, &in, sizeof(in), NULL, 0, &reply), 0);
	want("shrinking it", ftruncate(reply.fds[0], 0) ? -errno : 0, -EPERM);
	want("growing it", ftruncate(reply.fds[0], 1 << 30) ? -errno : 0, -EPERM);
	rxe_ipc_close_fds(&reply, 0);
	want("once more", request(victim, RXE_IPC_MMAP, &in, sizeof(in), NULL, 0, &reply), -EINVAL);
}

static uint64_t cpu_ns(int pid)
{
	struct timespec t;
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &t))
		die("the daemon's clock", errno);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int daemon_pid(int sock)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		die("the daemon's pid", errno);
	return cred.pid;
}

/*
 * Every bit of every page of one's own: they name no QP of another context,
 * and a QP of one's own that may not send (RESET) does not.
 */
static void try_doorbells(struct client *victim, struct client *x)
{
	struct timespec quiet = {0, 300000000};
	uint32_t pd = alloc_pd(x), cq, qp;
	struct objects o;
	uint64_t ring, before, one = 1;

	make_objects(victim, &o);
	if (create_cq(x, -1, &cq) || create_qp(x, pd, cq, &qp, &ring))
		die("a QP", EINVAL);
	for (int round = 0; round < 100; round++)
		for (uint32_t w = 0; w < x->nr_workers; w++) {
			struct rxe_doorbell_page *page =
				(void *)((char *)x->page + w * RXE_DOORBELL_STRIDE);

			memset(page->bits, 0xff, sizeof(page->bits));
			__atomic_store_n(&page->summary, UINT64_MAX, __ATOMIC_SEQ_CST);
			if (write(x->efd[w], &one, sizeof(one)) < 0)
				die("ringing", errno);
		}
	victim_is_well(victim, &o);
	/* The worker's byte of a slot is its client's own business. */
	memset(x->page->worker, 0xee, sizeof(x->page->worker));
	victim_is_well(victim, &o);
	before = cpu_ns(daemon_pid(x->sock));
	nanosleep(&quiet, NULL);
	before = cpu_ns(daemon_pid(x->sock)) - before;
	printf("in 300 ms of quiet the daemon took %llu us\n", (unsigned long long)before / 1000);
	if (before > 150000000)
		die("the daemon is busy with bits that mean nothing", EBUSY);
}

/* Who it is the kernel says, not the client; memory is a file, not a pid. */
static void send_credentials(struct client *c, pid_t pid)
{
	struct rxe_ipc_hdr hdr = {.magic = RXE_IPC_MAGIC, .type = RXE_IPC_STAT};
	struct iovec iov = {&hdr, sizeof(hdr)};
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	struct ucred cred = {.pid = pid};

	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_CREDENTIALS;
	cm->cmsg_len = CMSG_LEN(sizeof(cred));
	memcpy(CMSG_DATA(cm), &cred, sizeof(cred));
	if (sendmsg(c->sock, &msg, 0) < 0)
		die("sending credentials", errno);
}

static void try_credentials(struct client *victim, struct client *x)
{
	struct client third = {.rundir = x->rundir, .minor = x->minor};
	struct rxe_ipc_msg reply = {.buf = buf, .size = sizeof(buf)};
	struct ib_uverbs_reg_mr_resp mr;
	struct objects o;
	uint32_t ah;

	make_objects(victim, &o);
	connect_client(&third);
	send_credentials(&third, 1);
	do {
		want("asking as process 1", rxe_ipc_recv_wait(third.sock, &reply), 0);
		want("its answer", reply.hdr.status, 0);
	} while (reply.hdr.flags & RXE_IPC_F_MORE);
	want("no memory of its own",
	     open_with(&third, open("/dev/null", O_RDWR), open("/proc/self/maps", O_RDONLY)),
	     -EINVAL);
	want("files the wrong way round",
	     open_with(&third, open("/proc/self/maps", O_RDONLY), open("/proc/self/mem", O_RDWR)),
	     -EINVAL);
	open_client(&third);
	want("memory by its own file", reg_mr(&third, alloc_pd(&third), &mr), 0);
	/* which the log tells of, naming the process */
	want("an empty GID index", create_ah(&third, 0, group, 31, &ah), -EINVAL);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	pause(); /* whoever started it looks what rxed says of it */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct client *victim, struct client *x);
	} modes[] = {
		{"handles", try_handles},
		{"mmap", try_mmap},
		{"doorbells", try_doorbells},
		{"credentials", try_credentials},
	};
	struct client victim = {0}, x = {0};

	if (argc != 4)
		return 2;
	victim.rundir = x.rundir = argv[1];
	victim.minor = x.minor = atoi(argv[2]);
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[3], modes[i].name))
			continue;
		open_client(&victim);
		open_client(&x);
		modes[i].run(&victim, &x);
		return 0;
	}
	return 2;
}
