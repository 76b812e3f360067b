/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared rings and doorbells of a client that changes them while they are
 * read. All of that memory is closed to the engine: each instruction that
 * touches it faults, the input changes some of it, the instruction runs alone,
 * and the memory is closed again. So no two reads need agree, not even two of
 * one field, and a run can be repeated exactly. (Single steps are x86's; on
 * another machine the memory changes between the engine's runs only.)
 *
 * Input: u16 length of the world's steps, the steps (world.c), then what the
 * client does to the memory: one record for each touch, over and over.
 */
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "doorbell.h"
#include "kernel_compat.h"
#include "world.h"

#define ARENA	   (8u << 20)
#define MAX_STEPS  60
#define TRAP_FLAG  0x100
#define MAX_RINGS  64
#define HDR_WORDS  3
#define IDLE_TURNS 260 /* until a doorbell has become quiet */

static struct {
	uint8_t *mem;
	size_t used;
	size_t ring[MAX_RINGS]; /* where each begins */
	unsigned int nr_rings;
	struct fuzz_input hostile, all_hostile;
	bool closed;
	unsigned long touched;
	struct sigaction old_segv;
} arena;

static struct rxe_doorbell bell;
static struct rxe_doorbell_set bells;
static struct rxe_db_entry *bell_slots[RXE_DOORBELL_SLOTS];
static struct rxe_db_entry entries[W_QPS];

/* ---- the client ------------------------------------------------------------------------- */

/*
 * The very bytes that are about to be touched (NULL: not known), an index of a
 * ring or one of its header's other words, a byte of an element, any byte.
 */
static void change(uint8_t *touched)
{
	static const size_t hdr[] = {offsetof(struct rxe_queue_buf, producer_index),
				     offsetof(struct rxe_queue_buf, consumer_index),
				     offsetof(struct rxe_queue_buf, index_mask),
				     offsetof(struct rxe_queue_buf, log2_elem_size)};
	uint8_t what, *ring;
	uint32_t v;

	if (!arena.hostile.left)
		arena.hostile = arena.all_hostile;
	what = fuzz_u8(&arena.hostile);
	if (what < 0x60)
		return; /* this touch finds it as it was */
	if (what < 0xa0) {
		v = what & 1 ? fuzz_u32(&arena.hostile) : fuzz_u8(&arena.hostile);
		if (touched && touched + sizeof(v) <= arena.mem + arena.used)
			memcpy(touched, &v, sizeof(v));
		return;
	}
	ring = arena.mem + arena.ring[fuzz_u8(&arena.hostile) % arena.nr_rings];
	if (what < 0xd0) {
		v = what & 1 ? fuzz_u32(&arena.hostile) : fuzz_u8(&arena.hostile);
		memcpy(ring + hdr[what >> 1 & 3], &v, sizeof(v));
	} else if (what < 0xf0) {
		v = fuzz_u16(&arena.hostile) % 4096;
		if (ring + sizeof(struct rxe_queue_buf) + v < arena.mem + arena.used)
			ring[sizeof(struct rxe_queue_buf) + v] = fuzz_u8(&arena.hostile);
	} else {
		v = fuzz_u32(&arena.hostile) % (uint32_t)arena.used;
		arena.mem[v] = fuzz_u8(&arena.hostile);
	}
}

static void protect(int prot)
{
	fuzz_assert(!mprotect(arena.mem, (arena.used + 4095) & ~(size_t)4095, prot));
}

static bool within(const void *p)
{
	return (const uint8_t *)p >= arena.mem && (const uint8_t *)p < arena.mem + ARENA;
}

#ifdef __x86_64__
static void on_touch(int sig, siginfo_t *si, void *context)
{
	ucontext_t *c = context;

	if (!arena.closed || !within(si->si_addr)) {
		sigaction(sig, &arena.old_segv, NULL); /* a fault of its own: once more */
		return;
	}
	protect(PROT_READ | PROT_WRITE);
	arena.touched++;
	change(si->si_addr);
	c->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int sig, siginfo_t *si, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)si;
	c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	if (arena.closed)
		protect(PROT_NONE);
}

static void watch(void)
{
	struct sigaction touch = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	fuzz_assert(!sigaction(SIGSEGV, &touch, &arena.old_segv));
	fuzz_assert(!sigaction(SIGTRAP, &step, NULL));
}

static void engine_enter(void)
{
	arena.closed = true;
	protect(PROT_NONE);
}
#else
static void watch(void)
{
}

static void engine_enter(void)
{
	change(NULL);
}
#endif

static void engine_leave(void)
{
	if (!arena.closed)
		return;
	arena.closed = false;
	protect(PROT_READ | PROT_WRITE);
}

static void *ring_alloc(size_t bytes)
{
	void *p = arena.mem + arena.used;

	fuzz_assert(arena.used + bytes <= ARENA && arena.nr_rings < MAX_RINGS);
	if (arena.closed) /* a ring more while the engine is at work: open it all */
		fuzz_assert(!mprotect(arena.mem, ARENA, PROT_READ | PROT_WRITE));
	arena.ring[arena.nr_rings++] = arena.used;
	arena.used += bytes;
	return p;
}

/* ---- doorbells --------------------------------------------------------------------------- */

static void bell_start(struct world *w)
{
	memset(&bell, 0, sizeof(bell));
	memset(&bells, 0, sizeof(bells));
	memset(bell_slots, 0, sizeof(bell_slots));
	bell.page = (void *)(arena.mem + arena.used);
	memset(bell.page, 0, sizeof(*bell.page));
	arena.used += RXE_DOORBELL_STRIDE;
	bell.slots = bell_slots;
	bell.efd = -1;
	rxe_doorbell_init(&bell);
	for (int i = 0; i < W_QPS; i++) {
		entries[i].qp = w->qp[i].qp;
		rxe_doorbell_attach(&bell, &entries[i], (uint32_t)i * 65);
	}
}

/* QPs may have been made anew meanwhile. */
static void bell_ring(struct world *w, uint8_t how)
{
	for (int i = 0; i < W_QPS; i++)
		entries[i].qp = w->qp[i].qp;
	bell.page->bits[how & 63] |= 1ull << (how & 63);
	bell.page->summary |= 1ull << (how & 63);
	engine_enter();
	rxe_doorbell_rang(&bells, &bell);
	for (int i = 0; i < (how & 0x40 ? IDLE_TURNS : 2); i++)
		rxe_doorbells_scan(&bells);
	rxe_doorbells_need_wakeup(&bells, true);
	rxe_doorbells_pending(&bells);
	engine_leave();
}

static void bell_stop(void)
{
	for (int i = 0; i < W_QPS; i++)
		rxe_doorbell_detach(&bell, &entries[i]);
	rxe_doorbell_leave(&bells, &bell);
	rxe_doorbells_free(&bells);
}

/* ---- the target --------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t len;
	const uint8_t *at = fuzz_block(&in, size, &len);
	struct fuzz_input steps = {at, len};
	struct world w;

	if (!arena.mem) {
		arena.mem = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		fuzz_assert(arena.mem != MAP_FAILED);
		sim_ring_alloc = ring_alloc;
		watch();
	}
	arena.used = arena.nr_rings = 0;
	arena.hostile = arena.all_hostile = in;
	world_init(&w, &steps);
	bell_start(&w);
	w.engine_enter = engine_enter;
	w.engine_leave = engine_leave;
	for (int i = 0; i < MAX_STEPS && steps.left && arena.nr_rings + 2 < MAX_RINGS; i++) {
		uint8_t how = *steps.at;

		world_step(&w);
		if (how & 0x80)
			bell_ring(&w, how);
	}
	bell_stop();
	world_fini(&w);
	return 0;
}
