// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Limits of a device by plain libibverbs: as many objects as are reported can
 * be had and one more is refused, again after they were given back; sizes up
 * to those reported. And many cycles of creating and destroying.
 *
 *   limits DEVICE GID_INDEX fill KIND MAX	MAX: how many there are to be
 *   limits DEVICE GID_INDEX size KIND MAX
 *   limits DEVICE GID_INDEX cycle KIND TIMES
 */
#include <dirent.h>
#include "fault_verbs.h"

static struct bed bed;
static struct ibv_device *device;
static struct ibv_device_attr attr;
static char mem[2 * PAGE];

/* ---- objects ---------------------------------------------------------------------------- */

static void *new_context(void)
{
	return ibv_open_device(device);
}

static int free_context(void *o)
{
	return ibv_close_device(o);
}

static void *new_pd(void)
{
	return ibv_alloc_pd(bed.ctx);
}

static int free_pd(void *o)
{
	return ibv_dealloc_pd(o);
}

static void *new_mr(void)
{
	return ibv_reg_mr(bed.pd, mem, PAGE, ALL_ACCESS);
}

static int free_mr(void *o)
{
	return ibv_dereg_mr(o);
}

static void *new_mw(void)
{
	return ibv_alloc_mw(bed.pd, IBV_MW_TYPE_1);
}

static int free_mw(void *o)
{
	return ibv_dealloc_mw(o);
}

static void *new_cq(void)
{
	return ibv_create_cq(bed.ctx, 1, NULL, NULL, 0);
}

static int free_cq(void *o)
{
	return ibv_destroy_cq(o);
}

static void *new_channel(void)
{
	return ibv_create_comp_channel(bed.ctx);
}

static int free_channel(void *o)
{
	return ibv_destroy_comp_channel(o);
}

static void *new_qp_of(enum ibv_qp_type type, uint32_t wr, uint32_t sge, uint32_t inline_data)
{
	struct ibv_qp_init_attr a = {
		.send_cq = bed.cq,
		.recv_cq = bed.cq,
		.cap = {wr, wr, sge, sge, inline_data},
		.qp_type = type,
	};

	return ibv_create_qp(bed.pd, &a);
}

static void *new_any_qp(void)
{
	static unsigned int n;

	return new_qp_of(n++ % 2 ? IBV_QPT_RC : IBV_QPT_UD, 1, 1, 0);
}

static int free_any_qp(void *o)
{
	return ibv_destroy_qp(o);
}

static void *new_ah(void)
{
	struct ibv_ah_attr a = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = bed.gid, .sgid_index = bed.gid_index, .hop_limit = 1},
	};

	return ibv_create_ah(bed.pd, &a);
}

static int free_ah(void *o)
{
	return ibv_destroy_ah(o);
}

static void *new_srq_of(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = wr, .max_sge = sge}};

	return ibv_create_srq(bed.pd, &a);
}

static void *new_srq(void)
{
	return new_srq_of(1, 1);
}

static int free_srq(void *o)
{
	return ibv_destroy_srq(o);
}

/* `own`: of its kind the program has one beside those that it counts. */
static const struct kind {
	const char *name;
	void *(*make)(void);
	int (*release)(void *o);
	unsigned int own;
	const int *reported; /* NULL: ibv_query_device() does not say */
} kinds[] = {
	{"context", new_context, free_context, 1, NULL},  {"pd", new_pd, free_pd, 1, &attr.max_pd},
	{"mr", new_mr, free_mr, 0, &attr.max_mr},	  {"mw", new_mw, free_mw, 0, &attr.max_mw},
	{"channel", new_channel, free_channel, 0, NULL},  {"cq", new_cq, free_cq, 1, &attr.max_cq},
	{"qp", new_any_qp, free_any_qp, 0, &attr.max_qp}, {"ah", new_ah, free_ah, 0, &attr.max_ah},
	{"srq", new_srq, free_srq, 0, &attr.max_srq},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	fprintf(stderr, "no kind %s\n", name);
	exit(2);
}

static unsigned int own_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	CHECK(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static unsigned int own_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned int n = 0;

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") != NULL;
	fclose(f);
	return n;
}

/* ---- how many ---------------------------------------------------------------------------- */

static void refused(const struct kind *k)
{
	errno = 0;
	CHECK(!k->make());
	CHECK(errno == ENOMEM);
}

/* All of them, one in place of another, all again. */
static void fill(const struct kind *k, unsigned int max)
{
	unsigned int n = max - k->own;
	void **o = calloc(n, sizeof(*o));

	CHECK(o && (!k->reported || *k->reported == (int)max));
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < n; i++) {
			o[i] = k->make();
			if (!o[i])
				fprintf(stderr, "number %u of %u\n", i + 1, n);
			CHECK(o[i]);
		}
		refused(k);
		refused(k);
		CHECK(!k->release(o[n / 2]));
		o[n / 2] = k->make();
		CHECK(o[n / 2]);
		refused(k);
		for (unsigned int i = 0; i < n; i++)
			CHECK(!k->release(o[i]));
	}
	free(o);
}

/* ---- how large ------------------------------------------------------------------------------ */

static void *cq_of(uint32_t n)
{
	return ibv_create_cq(bed.ctx, n, NULL, NULL, 0);
}

static void *qp_of_wrs(uint32_t n)
{
	return new_qp_of(IBV_QPT_RC, n, 1, 0);
}

static void *qp_of_sges(uint32_t n)
{
	return new_qp_of(IBV_QPT_UD, 1, n, 0);
}

static void *qp_of_inline(uint32_t n)
{
	return new_qp_of(IBV_QPT_UC, 1, 1, n);
}

static void *srq_of_wrs(uint32_t n)
{
	return new_srq_of(n, 1);
}

static void *srq_of_sges(uint32_t n)
{
	return new_srq_of(1, n);
}

static const struct size {
	const char *name;
	void *(*make)(uint32_t n);
	int (*release)(void *o);
	const int *reported;
} sizes[] = {
	{"cqe", cq_of, free_cq, &attr.max_cqe},
	{"qp_wr", qp_of_wrs, free_any_qp, &attr.max_qp_wr},
	{"sge", qp_of_sges, free_any_qp, &attr.max_sge},
	{"inline", qp_of_inline, free_any_qp, NULL},
	{"srq_wr", srq_of_wrs, free_srq, &attr.max_srq_wr},
	{"srq_sge", srq_of_sges, free_srq, &attr.max_srq_sge},
};

static void size(const char *name, uint32_t max)
{
	const struct size *s = sizes;
	void *o;

	while (strcmp(s->name, name))
		CHECK(++s < sizes + sizeof(sizes) / sizeof(sizes[0]));
	CHECK(!s->reported || *s->reported == (int)max);
	o = s->make(max);
	CHECK(o && !s->release(o));
	errno = 0;
	CHECK(!s->make(max + 1) && errno == EINVAL);
}

/* ---- how often ------------------------------------------------------------------------------- */

static void cycle(const struct kind *k, unsigned int times)
{
	unsigned int fds, maps;

	CHECK(!k->release(k->make())); /* what the libraries keep for themselves */
	fds = own_descriptors();
	maps = own_mappings();
	for (unsigned int i = 0; i < times; i++) {
		void *o = k->make();

		if (!o)
			fprintf(stderr, "number %u\n", i + 1);
		CHECK(o && !k->release(o));
	}
	CHECK(own_descriptors() == fds && own_mappings() == maps);
}

int main(int argc, char **argv)
{
	CHECK(argc == 6);
	open_device(&bed, argv[1], atoi(argv[2]));
	device = bed.ctx->device;
	CHECK(!ibv_query_device(bed.ctx, &attr));
	bed.pd = ibv_alloc_pd(bed.ctx);
	bed.cq = ibv_create_cq(bed.ctx, 1, NULL, NULL, 0);
	CHECK(bed.pd && bed.cq);
	if (!strcmp(argv[3], "fill"))
		fill(find_kind(argv[4]), atoi(argv[5]));
	else if (!strcmp(argv[3], "size"))
		size(argv[4], atoi(argv[5]));
	else if (!strcmp(argv[3], "cycle"))
		cycle(find_kind(argv[4]), atoi(argv[5]));
	else
		return 2;
	CHECK(!ibv_destroy_cq(bed.cq) && !ibv_dealloc_pd(bed.pd));
	return ibv_close_device(bed.ctx);
}
