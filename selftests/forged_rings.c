/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client that writes whatever it likes into the rings it shares with rxed,
 * while rxed reads them: opcodes, counts, lengths, keys and addresses of
 * another client, indices and geometry. That other client's memory is neither
 * read nor written, and its traffic goes on. Rings are found in
 * /proc/self/maps; libibverbs is used only to make the objects.
 *
 *	forged_rings DEVICE GID_INDEX SECONDS SEED
 *	forged_rings DEVICE GID_INDEX source
 *
 * "source": a datagram whose work request claims another source address.
 */
#include "fault_verbs.h"

#include <inttypes.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SIZE	  (16 * PAGE)
#define MAGIC	  0x7e57c0dedeadbea7ull /* fills the victim's memory */
#define MAX_RINGS 64
#define BURST_MS  8

static struct bed bed;

static char *pages(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* ---- the victim: has traffic of its own, and looks after its memory ------------------- */

static void fill(uint64_t *p, uint64_t value)
{
	for (size_t i = 0; i < SIZE / sizeof(*p); i++)
		p[i] = value;
}

static void one_write(struct pair *p, struct ibv_mr *mr, uint64_t n)
{
	uint64_t *data = mr->addr;

	for (int i = 0; i < PAGE / 8; i++)
		data[i] = n;
	CHECK(!post(p->a, IBV_WR_RDMA_WRITE, span_of(mr, 0, PAGE), span_of(mr, PAGE, PAGE), n));
	CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
	for (int i = 0; i < 2 * PAGE / 8; i++)
		CHECK(data[i] == n);
}

static _Noreturn void victim(const char *dev, int gid_index, int sock)
{
	struct pollfd told = {.fd = sock, .events = POLLIN};
	uint64_t *secret, rounds = 0;
	struct ibv_mr *mr, *own;
	struct pair p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_bed(&bed, dev, gid_index);
	secret = (uint64_t *)pages();
	fill(secret, MAGIC);
	mr = ibv_reg_mr(bed.pd, secret, SIZE, ALL_ACCESS);
	own = ibv_reg_mr(bed.pd, pages(), SIZE, ALL_ACCESS);
	CHECK(mr && own);
	p = new_pair(&bed);
	exchange(sock, p.a, mr);
	while (!poll(&told, 1, 0))
		one_write(&p, own, ++rounds);
	for (size_t i = 0; i < SIZE / sizeof(*secret); i++)
		CHECK(secret[i] == MAGIC);
	printf("the victim had %" PRIu64 " rounds\n", rounds);
	exit(rounds < 10);
}

/* ---- the forger ----------------------------------------------------------------------- */

static struct endpoint target; /* the victim's */
static struct ibv_mr *own;     /* a region of one's own */
static struct rxe_queue_buf *rings[MAX_RINGS];
static size_t ring_size[MAX_RINGS];
static int nr_rings;
static const void *doorbells, *doorbells_end;
static bool scribbling;

struct rng {
	uint64_t state;
	uint32_t wild; /* 1 in so many numbers is out of the ordinary */
};

static uint32_t rnd(struct rng *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state >> 16;
}

#define PICK(r, array) ((array)[rnd(r) % (sizeof(array) / sizeof((array)[0]))])

static bool is_doorbell(const void *p)
{
	return p >= doorbells && p < doorbells_end;
}

/*
 * What is mapped now: rxed calls it rxe-ring. Before there are any, it is the
 * doorbell pages; those are left alone here, since without them nothing is looked at.
 */
static void find_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];

	CHECK(f);
	nr_rings = 0;
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "memfd:rxe-ring") && nr_rings < MAX_RINGS) {
			CHECK(sscanf(line, "%lx-%lx", &from, &to) == 2);
			if (is_doorbell((void *)from))
				continue;
			rings[nr_rings] = (void *)from;
			ring_size[nr_rings++] = to - from;
		}
	fclose(f);
}

static uint64_t an_address(struct rng *r)
{
	uint64_t own_addr = (uintptr_t)own->addr;
	const uint64_t some[] = {
		target.addr,
		target.addr + PAGE,
		own_addr,
		own_addr + SIZE - 8,
		own_addr + SIZE - 1,
		UINT64_MAX - 7,
		0,
		(uintptr_t)rings[0],
		target.addr + SIZE - 1,
		UINT64_MAX >> 1,
		own_addr - PAGE,
	};

	return PICK(r, some);
}

static uint32_t a_key(struct rng *r)
{
	const uint32_t some[] = {target.rkey, own->lkey, own->rkey,	 0,
				 UINT32_MAX,  rnd(r),	 target.rkey ^ 1};

	return PICK(r, some);
}

static uint32_t a_number(struct rng *r)
{
	const uint32_t some[] = {0,    1,     2,       8,	 31,	     33,	  255,
				 4096, 65536, 1 << 30, 1u << 31, UINT32_MAX, rnd(r) % 64, rnd(r)};

	return PICK(r, some);
}

/* A burst's numbers are ordinary mostly, so that more of a WQE is looked at, or wild. */
static uint32_t often(struct rng *r, uint32_t ordinary)
{
	return rnd(r) % r->wild ? ordinary : a_number(r);
}

/* Mostly a key that belongs to the address: one's own, or the other client's. */
static uint64_t a_place(struct rng *r, uint32_t *key)
{
	bool mine = rnd(r) & 1;

	if (rnd(r) % r->wild == 0) {
		*key = a_key(r);
		return an_address(r);
	}
	*key = mine ? own->rkey : target.rkey;
	return (mine ? (uintptr_t)own->addr : target.addr) + rnd(r) % 8 * PAGE;
}

static void forge_sges(struct rng *r, struct rxe_dma_info *dma, size_t room)
{
	dma->length = often(r, 64);
	dma->num_sge = often(r, 1);
	dma->cur_sge = often(r, 0);
	dma->sge_offset = often(r, 0);
	dma->resid = often(r, 64);
	for (size_t i = 0; (i + 1) * sizeof(struct rxe_sge) <= room && i < 4; i++) {
		dma->sge[i].addr = a_place(r, &dma->sge[i].lkey);
		dma->sge[i].length = often(r, 64);
	}
}

static void forge_send(struct rng *r, struct rxe_send_wqe *w, size_t size)
{
	uint32_t key;

	w->wr.wr_id = rnd(r);
	w->wr.opcode = rnd(r) % 18;
	w->wr.send_flags = rnd(r) % r->wild ? IBV_SEND_SIGNALED : rnd(r);
	w->wr.ex.invalidate_rkey = a_key(r);
	w->wr.wr.rdma.remote_addr = a_place(r, &key);
	w->wr.wr.atomic.rkey = key;
	if (rnd(r) & 1) {
		w->wr.wr.rdma.rkey = key;
	} else if (rnd(r) % r->wild == 0) {
		w->wr.wr.mw.length = a_number(r);
		w->wr.wr.mw.mr_lkey = a_key(r);
		w->wr.wr.mw.mw_rkey = a_key(r);
		w->wr.wr.mw.access = a_number(r);
	}
	w->state = rnd(r) % 6;
	w->first_psn = rnd(r);
	w->last_psn = rnd(r);
	w->iova = an_address(r);
	forge_sges(r, &w->dma, size - sizeof(*w));
}

/* As whichever queue has elements of that size; a CQ's are filled with noise. */
static void forge_element(struct rng *r, struct rxe_queue_buf *q, size_t size)
{
	static const uint32_t sizes[] = {64, 128, 256, 512, 1024};
	size_t elem = PICK(r, sizes), room = size - sizeof(*q), n = room / elem;
	uint8_t *at;

	if (size < sizeof(*q) + elem)
		return;
	at = q->data + elem * (rnd(r) % n);
	if (elem >= 256)
		forge_send(r, (void *)at, elem);
	else if (elem == 128)
		forge_sges(r, &((struct rxe_recv_wqe *)at)->dma,
			   elem - sizeof(struct rxe_recv_wqe));
	else
		for (size_t i = 0; i < elem; i++)
			at[i] = rnd(r);
}

static void spoil_header(struct rng *r, struct rxe_queue_buf *q)
{
	switch (rnd(r) % 3) {
	case 0:
		q->producer_index = a_number(r);
		break;
	case 1:
		q->consumer_index = a_number(r);
		break;
	default:
		q->index_mask = a_number(r);
		q->log2_elem_size = a_number(r);
	}
}

static void scribble(struct rng *r)
{
	int i = rnd(r) % nr_rings;

	if (rnd(r) % r->wild == 0)
		spoil_header(r, rings[i]);
	else if (rnd(r) % 8 == 0)
		rings[i]->producer_index = (rings[i]->producer_index + 1) % DEPTH;
	else
		forge_element(r, rings[i], ring_size[i]);
}

/* By hand: the provider would believe its rings. */
static void ring(const struct ibv_qp *qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send post;
	} cmd = {
		.hdr = {IB_USER_VERBS_CMD_POST_SEND, sizeof(cmd) / 4, 1},
		.post = {.qp_handle = qp->handle, .wqe_size = sizeof(struct ib_uverbs_send_wr)},
	};
	struct ib_uverbs_post_send_resp resp;

	cmd.post.response = (uintptr_t)&resp;
	CHECK(write(bed.ctx->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd));
}

static void *scribbler(void *arg)
{
	while (__atomic_load_n(&scribbling, __ATOMIC_RELAXED))
		scribble(arg);
	return NULL;
}

/* Fresh objects: the first forgery that rxed meets brings a QP into ERR. */
static void burst(struct rng *r)
{
	static const uint32_t wildness[] = {4, 16, 100, 1000};
	struct rng second = {rnd(r) | 1, PICK(r, wildness)};
	int64_t until = now_ms() + BURST_MS;
	struct pair p;
	pthread_t t;

	r->wild = second.wild;
	bed.cq = ibv_create_cq(bed.ctx, 4 * DEPTH, NULL, NULL, 0);
	CHECK(bed.cq);
	p = new_pair(&bed);
	for (int i = 0; i < DEPTH - 1; i++)
		CHECK(!post_recv(p.b, span_of(own, 0, SIZE), i));
	find_rings();
	CHECK(nr_rings == 5); /* a CQ, two queues of each QP */
	__atomic_store_n(&scribbling, true, __ATOMIC_RELAXED);
	CHECK(!pthread_create(&t, NULL, scribbler, &second));
	while (now_ms() < until) {
		for (int i = 0; i < 20; i++)
			scribble(r);
		ring(p.a);
		ring(p.b);
	}
	__atomic_store_n(&scribbling, false, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	free_pair(&p);
	CHECK(!ibv_destroy_cq(bed.cq));
}

static void forge(const char *dev, int gid_index, int seconds, struct rng *r)
{
	int64_t until = now_ms() + 1000 * seconds;
	int bursts = 0;

	open_device(&bed, dev, gid_index);
	bed.pd = ibv_alloc_pd(bed.ctx);
	own = ibv_reg_mr(bed.pd, pages(), SIZE, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	CHECK(bed.pd && own);
	find_rings();
	CHECK(nr_rings == 1);
	doorbells = rings[0];
	doorbells_end = (char *)rings[0] + ring_size[0];
	for (; now_ms() < until; bursts++)
		burst(r);
	printf("%d bursts\n", bursts);
	for (size_t i = 0; i < SIZE / 8; i++)
		CHECK(((uint64_t *)own->addr)[i] != MAGIC);
	CHECK(!ibv_dereg_mr(own) && !ibv_dealloc_pd(bed.pd));
}

/* ---- a datagram's source ---------------------------------------------------------------- */

#define QKEY 0x1234

static struct ibv_qp *datagram_qp(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp_init_attr init = {
		.send_cq = bed.cq,
		.recv_cq = bed.cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(bed.pd, &init);

	CHECK(qp);
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static struct rxe_queue_buf *send_queue(void)
{
	find_rings();
	for (int i = 0; i < nr_rings; i++)
		if (rings[i]->log2_elem_size >= 8 && rings[i]->producer_index == 1)
			return rings[i];
	CHECK(!"the send queue is among the rings");
	return NULL;
}

/* The same work request again, its address vector another host's, as its AV tells it. */
static void post_forged(const struct ibv_qp *qp)
{
	struct rxe_queue_buf *q = send_queue();
	size_t size = 1ul << q->log2_elem_size;
	struct rxe_send_wqe *w = (void *)(q->data + size);

	memcpy(w, q->data, size);
	w->state = 0;
	w->dma.resid = w->dma.length;
	w->dma.cur_sge = w->dma.sge_offset = 0;
	memset(&w->wr.wr.ud.av, 0x42, sizeof(w->wr.wr.ud.av));
	w->wr.wr.ud.av.network_type = 1; /* IPv4 */
	__atomic_store_n(&q->producer_index, 2, __ATOMIC_RELEASE);
	ring(qp);
}

/* The GRH that arrives with the forged one is that of the honest one. */
static void forge_source(const char *dev, int gid_index)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
	struct ibv_send_wr *bad, wr = {.num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_qp *from, *at;
	struct ibv_sge sge;
	uint8_t *p;

	open_bed(&bed, dev, gid_index);
	to.grh =
		(struct ibv_global_route){.dgid = bed.gid, .sgid_index = gid_index, .hop_limit = 1};
	p = (uint8_t *)pages();
	own = ibv_reg_mr(bed.pd, p, SIZE, ALL_ACCESS);
	CHECK(own);
	at = datagram_qp();
	from = datagram_qp();
	for (int i = 0; i < 2; i++)
		CHECK(!post_recv(at, span_of(own, i * PAGE, PAGE), i));
	sge = sge_of(span_of(own, 2 * PAGE, 32));
	wr.sg_list = &sge;
	wr.wr.ud.ah = ibv_create_ah(bed.pd, &to);
	wr.wr.ud.remote_qpn = at->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(wr.wr.ud.ah && !ibv_post_send(from, &wr, &bad));
	CHECK(!next_wc(bed.cq).status);
	post_forged(from);
	CHECK(!next_wc(bed.cq).status);
	/* IPv4 in the last 20 of 40 bytes: source at 32, destination at 36. */
	CHECK(!memcmp(p + 32, bed.gid.raw + 12, 4));
	CHECK(!memcmp(p + PAGE + 32, p + 32, 8));
}

int main(int argc, char **argv)
{
	struct rng r;
	int sock[2], status;
	pid_t pid;

	if (argc == 4 && !strcmp(argv[3], "source")) {
		forge_source(argv[1], atoi(argv[2]));
		return 0;
	}
	if (argc != 5)
		return 2;
	r.state = strtoull(argv[4], NULL, 0) | 1;
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		victim(argv[1], atoi(argv[2]), sock[1]);
	CHECK(read(sock[0], &target, sizeof(target)) == sizeof(target));
	CHECK(write(sock[0], &target, sizeof(target)) == sizeof(target));
	/* Its poll() hears of the rest only: it has read that already. */
	forge(argv[1], atoi(argv[2]), atoi(argv[3]), &r);
	CHECK(write(sock[0], "x", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return 0;
}
