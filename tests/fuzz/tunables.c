/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tunables: any 4 bytes in any map, as `bpftool map update` puts them there;
 * any words behind `rxe param`; and the engine under whatever is read then.
 * What rxed uses is within the table's range; what rxe sets is, too; limits
 * read at a device's creation give rings whose size is what they hold.
 *
 * Steps: 0 a map gets a value; 1 words for rxe param; 2 a QP's and an SRQ's
 * rings under the limits; 3 a step of the transport's world (world.c).
 */
#include <fcntl.h>
#include <unistd.h>
#include "common/param_table.h"
#include "fake_bpf.h"
#include "params.h"
#include "quiet_log.h"
#include "world.h"

#define main rxe_main
#include "cli/main.c"
#undef main

#define MAX_STEPS 100
#define MAX_WORDS 8

static struct rxe_params *params;

/* ---- in place of the other subcommands ------------------------------------------------ */

int cmd_run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int cmd_rdma(int argc, char **argv)
{
	return cmd_run(argc, argv);
}

int cmd_stat(int argc, char **argv)
{
	return cmd_run(argc, argv);
}

int cmd_demo(int argc, char **argv)
{
	return cmd_run(argc, argv);
}

int cmd_doctor(int argc, char **argv)
{
	return cmd_run(argc, argv);
}

/* ---- steps --------------------------------------------------------------------------- */

static bool in_range(enum rxe_param_id id, uint32_t v)
{
	return v >= rxe_param_table[id].min && v <= rxe_param_table[id].max;
}

static void map_value(struct fuzz_input *in)
{
	enum rxe_param_id id = fuzz_u8(in) % RXE_PARAM_COUNT;
	uint32_t v = fuzz_u32(in), used;

	fake_bpf_set(id, v);
	used = rxe_param(params, id);
	fuzz_assert(in_range(id, used) && (used == v || !in_range(id, v)));
}

/* Getopt goes on where the run before stopped, which another process would not. */
static void forget_options(void)
{
	char *none[] = {"rxe", NULL};

	optind = 0;
	getopt(1, none, "");
}

/* Every map but those that were out of range before stays in it. */
static void words(struct fuzz_input *in)
{
	char *argv[MAX_WORDS + 3] = {"rxe", "param"}, text[512];
	uint32_t before[RXE_PARAM_COUNT];
	int argc = 2;
	size_t len;
	const uint8_t *p = fuzz_block(in, sizeof(text) - 1, &len);

	if (len)
		memcpy(text, p, len);
	text[len] = 0;
	for (char *w = strtok(text, " "); w && argc < MAX_WORDS + 2; w = strtok(NULL, " "))
		argv[argc++] = w;
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++)
		before[id] = fake_bpf_get(id);
	forget_options();
	rxe_main(argc, argv);
	unsetenv("RXE_RUNDIR");
	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++)
		fuzz_assert(fake_bpf_get(id) == before[id] || in_range(id, fake_bpf_get(id)));
}

static void rings(struct fuzz_input *in)
{
	struct rxe_limits lim = sim_limits;
	struct rxe_qp_geometry g;
	uint32_t a[5];

	lim.max_qp_wr = rxe_param(params, RXE_PARAM_MAX_QP_WR);
	lim.max_inline = rxe_param(params, RXE_PARAM_MAX_INLINE_DATA);
	lim.max_cqe = (1u << rxe_param(params, RXE_PARAM_MAX_LOG_CQE)) - 1;
	for (int i = 0; i < 5; i++)
		a[i] = fuzz_u8(in) & 1 ? fuzz_u32(in) : fuzz_u8(in);
	if (rxe_qp_ring_geometry(&lim, a[0], a[1], a[2], a[3], a[4], &g))
		return;
	fuzz_assert(a[0] <= lim.max_qp_wr && a[1] <= lim.max_qp_wr && a[4] <= lim.max_inline);
	fuzz_assert(g.sq_slots > a[0] && g.rq_slots > a[1]);
	fuzz_assert(g.sq_bytes >= ((size_t)g.sq_slots << g.sq_log2_elem));
	fuzz_assert(g.rq_bytes >= ((size_t)g.rq_slots << g.rq_log2_elem));
	fuzz_assert(1ull << g.sq_log2_elem >= sizeof(struct rxe_send_wqe) + a[4]);
}

/* As a worker does at each turn. */
static void take_params(struct rxe_engine_params *p)
{
	p->crc_disable = rxe_param(params, RXE_PARAM_CRC_DISABLE);
	p->fast_comp = rxe_param(params, RXE_PARAM_FAST_COMP);
	p->fast_req = rxe_param(params, RXE_PARAM_FAST_REQ);
	p->fast_resp = rxe_param(params, RXE_PARAM_FAST_RESP);
	p->fast_arb = rxe_param(params, RXE_PARAM_FAST_ARB);
	p->nsec_per_packet = rxe_param(params, RXE_PARAM_NSEC_PER_PACKET);
	p->nsec_per_kbyte = rxe_param(params, RXE_PARAM_NSEC_PER_KBYTE);
	p->max_packet_per_ack = rxe_param(params, RXE_PARAM_MAX_PACKET_PER_ACK);
	p->max_skb_per_qp = rxe_param(params, RXE_PARAM_MAX_SKB_PER_QP);
	p->max_req_comp_gap = rxe_param(params, RXE_PARAM_MAX_REQ_COMP_GAP);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char err[512] = "";

	quiet_log = true;
	(void)argc;
	(void)argv;
	dup2(null, 1); /* what rxe prints there; libFuzzer's own is on stderr */
	close(null);
	if (rxe_params_open(RXE_BPFFS_ROOT "/fuzz", &params, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct world w;

	for (unsigned int id = 0; id < RXE_PARAM_COUNT; id++)
		fake_bpf_set(id, rxe_param_table[id].def);
	world_init(&w, &in);
	for (int i = 0; i < MAX_STEPS && in.left; i++) {
		switch (fuzz_u8(&in) & 3) {
		case 0:
			map_value(&in);
			break;
		case 1:
			words(&in);
			break;
		case 2:
			rings(&in);
			break;
		default:
			world_step(&w);
			take_params(rxe_engine_params(w.h.engine));
		}
	}
	world_fini(&w);
	return 0;
}
