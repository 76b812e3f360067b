// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * On-demand paging by plain libibverbs, within one device: regions whose memory
 * is not there yet, or not whole, or all there is; advice on them. One behaviour
 * a run; says what was wrong, and exits 1.
 *
 *   on_demand DEVICE GID_INDEX TEST
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include "fault_verbs.h"

#define AREA (64 * PAGE)
#define HOLE (AREA / 2) /* a page that is never mapped */

static struct bed bed;
static struct pair p;
static struct ibv_mr *mr; /* of ordinary memory */
static char mem[PAGE];

static void *map(void *at, size_t len, int prot)
{
	void *m = mmap(at, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	CHECK(m != MAP_FAILED);
	return m;
}

/* Addresses that nothing is mapped at. */
static char *unmapped(size_t len)
{
	char *m = map(NULL, len, PROT_NONE);

	CHECK(!munmap(m, len));
	return m;
}

static enum ibv_wc_status result(enum ibv_wr_opcode op, struct span local, struct span remote)
{
	CHECK(!post(p.a, op, local, remote, 1));
	return next_wc(bed.cq).status;
}

static void reconnect(void)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc;

	CHECK(!ibv_modify_qp(p.a, &reset, IBV_QP_STATE));
	CHECK(!ibv_modify_qp(p.b, &reset, IBV_QP_STATE));
	while (poll_within(bed.cq, &wc, 0))
		;
	connect_qp(&bed, p.a, p.b->qp_num);
	connect_qp(&bed, p.b, p.a->qp_num);
}

static struct span at(const struct ibv_mr *of, const void *addr, uint32_t len)
{
	return (struct span){(uintptr_t)addr, len, of->lkey};
}

/* ---- the tests ------------------------------------------------------------------------ */

static void capabilities(void)
{
	const uint32_t datagram =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
	struct ibv_device_attr_ex d;

	CHECK(!ibv_query_device_ex(bed.ctx, NULL, &d));
	CHECK(d.odp_caps.general_caps == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	CHECK(d.odp_caps.per_transport_caps.ud_odp_caps == datagram);
	CHECK(d.odp_caps.per_transport_caps.uc_odp_caps == (datagram | IBV_ODP_SUPPORT_WRITE));
	CHECK(d.odp_caps.per_transport_caps.rc_odp_caps ==
	      (datagram | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC));
}

/* Registered first and mapped later, in part. */
static void explicit_region(void)
{
	char *area = unmapped(AREA);
	struct ibv_mr *odp;

	CHECK(!ibv_reg_mr(bed.pd, area, AREA, ALL_ACCESS) && errno == EFAULT);
	odp = ibv_reg_mr(bed.pd, area, AREA, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	CHECK(odp);
	strcpy(mem, "on demand");
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 10), at(odp, area, 10)) ==
	      IBV_WC_REM_ACCESS_ERR);
	reconnect();
	map(area, HOLE, PROT_READ | PROT_WRITE);
	map(area + HOLE + PAGE, AREA - HOLE - PAGE, PROT_READ | PROT_WRITE);
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 10), at(odp, area + HOLE - 10, 10)) ==
	      IBV_WC_SUCCESS);
	CHECK(!strcmp(area + HOLE - 10, "on demand"));
	CHECK(result(IBV_WR_RDMA_WRITE, at(odp, area + HOLE - 10, 10),
		     at(odp, area + HOLE + PAGE, 10)) == IBV_WC_SUCCESS);
	CHECK(!strcmp(area + HOLE + PAGE, "on demand"));
	CHECK(result(IBV_WR_RDMA_READ, at(mr, mem + 100, 10), at(odp, area + HOLE + PAGE, 10)) ==
	      IBV_WC_SUCCESS);
	CHECK(!strcmp(mem + 100, "on demand"));
	CHECK(result(IBV_WR_ATOMIC_FETCH_AND_ADD, at(odp, area + 16, 8), at(odp, area + 8, 8)) ==
	      IBV_WC_SUCCESS);
	CHECK(*(uint64_t *)(area + 8) == 1);
	/* Over the hole, and out of what was registered. */
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 20), at(odp, area + HOLE - 10, 20)) ==
	      IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 20), at(odp, area + AREA - 10, 20)) ==
	      IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK(result(IBV_WR_RDMA_WRITE, at(odp, area + HOLE, 8), at(mr, mem, 8)) ==
	      IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK(!ibv_dereg_mr(odp));
}

/* What a mapping forbids is forbidden, whatever the region's access says. */
static void protection(void)
{
	char *area = map(NULL, AREA, PROT_READ);
	struct ibv_mr *odp = ibv_reg_mr(bed.pd, area, AREA, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);

	CHECK(odp);
	memset(mem, 'x', 8);
	CHECK(result(IBV_WR_RDMA_WRITE, at(odp, area, 8), at(mr, mem, 8)) == IBV_WC_SUCCESS);
	CHECK(!mem[0]);
	CHECK(result(IBV_WR_RDMA_READ, at(odp, area, 8), at(mr, mem, 8)) == IBV_WC_LOC_PROT_ERR);
	reconnect();
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 8), at(odp, area, 8)) == IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK(!mprotect(area, AREA, PROT_READ | PROT_WRITE));
	CHECK(result(IBV_WR_RDMA_WRITE, at(mr, mem, 8), at(odp, area, 8)) == IBV_WC_SUCCESS);
	CHECK(!ibv_dereg_mr(odp));
}

/* One region for the whole address space, also for what comes later. */
static void implicit_region(void)
{
	struct ibv_mr *all = ibv_reg_mr(bed.pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	char stack[32] = "implicit", *heap, *area;

	CHECK(!ibv_reg_mr(bed.pd, NULL, SIZE_MAX, ALL_ACCESS));
	CHECK(all);
	heap = malloc(100000);
	area = map(NULL, AREA, PROT_READ | PROT_WRITE);
	CHECK(heap);
	CHECK(result(IBV_WR_RDMA_WRITE, at(all, stack, 9), at(all, heap + 50000, 9)) ==
	      IBV_WC_SUCCESS);
	CHECK(result(IBV_WR_RDMA_READ, at(all, area + PAGE - 4, 9), at(all, heap + 50000, 9)) ==
	      IBV_WC_SUCCESS);
	CHECK(!strcmp(area + PAGE - 4, "implicit"));
	CHECK(!post_recv(p.b, at(all, area, 100), 7));
	CHECK(result(IBV_WR_SEND, at(all, stack, 9), at(all, NULL, 0)) == IBV_WC_SUCCESS);
	CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
	CHECK(!strcmp(area, "implicit") || !strcmp(area + PAGE - 4, "implicit"));
	CHECK(result(IBV_WR_RDMA_WRITE, at(all, stack, 9), at(all, (void *)8, 9)) ==
	      IBV_WC_REM_ACCESS_ERR);
	reconnect();
	CHECK(result(IBV_WR_RDMA_WRITE, at(all, stack, 9),
		     at(all, (void *)(UINTPTR_MAX - 16), 9)) == IBV_WC_REM_ACCESS_ERR);
	reconnect();
	free(heap);
	CHECK(!ibv_dereg_mr(all));
}

static long faults(void)
{
	struct rusage u;

	CHECK(!getrusage(RUSAGE_SELF, &u));
	return u.ru_minflt;
}

static void advice(void)
{
	char *area = map(NULL, AREA, PROT_READ | PROT_WRITE), *other = map(NULL, PAGE, PROT_READ);
	struct ibv_mr *odp = ibv_reg_mr(bed.pd, area, AREA, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *ro = ibv_reg_mr(bed.pd, area, AREA, IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *all = ibv_reg_mr(bed.pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	const enum ibv_advise_mr_advice read = IBV_ADVISE_MR_ADVICE_PREFETCH,
					write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ibv_sge two[2] = {{(uintptr_t)area, AREA / 2, 0},
				 {(uintptr_t)area + AREA / 2, AREA / 2, 0}};
	struct ibv_sge *s = two;
	struct ibv_pd *pd = ibv_alloc_pd(bed.ctx);
	long before;

	CHECK(odp && ro && all && pd);
	two[0].lkey = two[1].lkey = odp->lkey;
	CHECK(!ibv_advise_mr(bed.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, two, 2));
	before = faults();
	for (char *c = area; c < area + AREA; c += PAGE)
		*c = 1;
	CHECK(faults() - before < AREA / PAGE / 2); /* they were there */
	CHECK(!ibv_advise_mr(bed.pd, read, 0, s, 1));
	CHECK(ibv_advise_mr(bed.pd, read, 0, s, 0) == EINVAL);
	CHECK(ibv_advise_mr(bed.pd, read, 2, s, 1) == EINVAL);
	CHECK(ibv_advise_mr(bed.pd, 77, 0, s, 1) == EOPNOTSUPP);
	CHECK(ibv_advise_mr(pd, read, 0, s, 1) == EINVAL); /* a region of another domain */
	s->length = AREA + 1;
	CHECK(ibv_advise_mr(bed.pd, read, 0, s, 1) == EFAULT);
	s->length = 8;
	s->lkey = mr->lkey; /* not on demand */
	CHECK(ibv_advise_mr(bed.pd, read, 0, s, 1) == EINVAL);
	s->lkey = ro->lkey;
	CHECK(!ibv_advise_mr(bed.pd, read, 0, s, 1));
	CHECK(ibv_advise_mr(bed.pd, write, 0, s, 1) == EPERM);
	*s = (struct ibv_sge){(uintptr_t)other, 8, all->lkey};
	CHECK(!ibv_advise_mr(bed.pd, read, IBV_ADVISE_MR_FLAG_FLUSH, s, 1));
	CHECK(ibv_advise_mr(bed.pd, write, IBV_ADVISE_MR_FLAG_FLUSH, s, 1) == EFAULT);
	CHECK(!ibv_advise_mr(bed.pd, write, 0, s, 1)); /* nobody waits for the outcome */
	CHECK(!ibv_dealloc_pd(pd));
	CHECK(!ibv_dereg_mr(odp) && !ibv_dereg_mr(ro) && !ibv_dereg_mr(all));
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"capabilities", capabilities},
	{"explicit_region", explicit_region},
	{"protection", protection},
	{"implicit_region", implicit_region},
	{"advice", advice},
};

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	open_bed(&bed, argv[1], atoi(argv[2]));
	mr = ibv_reg_mr(bed.pd, mem, sizeof(mem), ALL_ACCESS);
	CHECK(mr);
	p = new_pair(&bed);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, argv[3]))
			continue;
		tests[i].run();
		free_pair(&p);
		CHECK(!ibv_dereg_mr(mr) && !ibv_destroy_cq(bed.cq) && !ibv_dealloc_pd(bed.pd));
		return ibv_close_device(bed.ctx);
	}
	fprintf(stderr, "no test %s\n", argv[3]);
	return 2;
}
