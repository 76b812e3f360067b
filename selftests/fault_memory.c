/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a region changes after its registration: unmapped, protected,
 * emptied, replaced, cut off. Every kind of access from either side then ends
 * with the status it must, changes nothing that may not be written, and shows
 * nothing that may not be read.
 *
 *   fault_memory DEVICE GID_INDEX CHANGE
 */
#include "fault_verbs.h"

#include <sys/mman.h>
#include <unistd.h>

#define LEN	512
#define BEFORE	0x11 /* bytes of the region when it was registered */
#define NEW	0x22 /* of what replaced it */
#define PAYLOAD 0x33

static struct bed bed;

/* ---- what happens to the pages ------------------------------------------------------ */

static void *map_at(void *at, int prot, int flags, int fd)
{
	void *p = mmap(at, PAGE, prot, MAP_FIXED | flags, fd, 0);

	CHECK(p == at);
	return p;
}

static int file_of(int byte)
{
	char page[PAGE];
	int fd = memfd_create("file", MFD_CLOEXEC);

	memset(page, byte, sizeof(page));
	CHECK(fd >= 0 && write(fd, page, sizeof(page)) == PAGE);
	return fd;
}

static void unmap(char *p)
{
	CHECK(!munmap(p, PAGE));
}

static void forbid(char *p)
{
	CHECK(!mprotect(p, PAGE, PROT_NONE));
}

static void make_readonly(char *p)
{
	CHECK(!mprotect(p, PAGE, PROT_READ));
}

static void empty(char *p)
{
	CHECK(!madvise(p, PAGE, MADV_DONTNEED));
}

static void replace(char *p)
{
	memset(map_at(p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1), NEW, PAGE);
}

/* As a library's text is mapped: a forced write would make a private copy. */
static void replace_readonly(char *p)
{
	int fd = file_of(NEW);

	map_at(p, PROT_READ, MAP_PRIVATE, fd);
	close(fd);
}

static void replace_forbidden(char *p)
{
	replace(p);
	forbid(p);
}

/* The page lies behind the end of its file: SIGBUS. */
static void cut_off(char *p)
{
	int fd = file_of(NEW);

	map_at(p, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	CHECK(!ftruncate(fd, 0));
	close(fd);
}

static const struct change {
	const char *name;
	void (*make)(char *page);
	bool readable, writable;
	int holds; /* afterwards */
} changes[] = {
	{"none", NULL, true, true, BEFORE},
	{"munmap", unmap, false, false, 0},
	{"prot_none", forbid, false, false, BEFORE},
	{"prot_read", make_readonly, true, false, BEFORE},
	{"dontneed", empty, true, true, 0},
	{"replaced", replace, true, true, NEW},
	{"replaced_readonly", replace_readonly, true, false, NEW},
	{"replaced_forbidden", replace_forbidden, false, false, NEW},
	{"truncated", cut_off, false, false, 0},
};

/* ---- accesses -------------------------------------------------------------------------- */

/* What one access was made of: the page that changed and an ordinary one beside it. */
struct access {
	const struct change *change;
	char *page, *other;
	struct ibv_mr *mr, *other_mr;
	struct pair pair;
	struct ibv_wc send, recv; /* of the QP that posts, of its peer */
};

static char *new_page(int byte)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	memset(p, byte, PAGE);
	return p;
}

static void set_up(struct access *a)
{
	a->page = new_page(BEFORE);
	a->other = new_page(PAYLOAD);
	a->mr = ibv_reg_mr(bed.pd, a->page, PAGE, ALL_ACCESS);
	a->other_mr = ibv_reg_mr(bed.pd, a->other, PAGE, ALL_ACCESS);
	CHECK(a->mr && a->other_mr);
	a->pair = new_pair(&bed);
	a->recv.status = a->send.status = 0;
}

/* Completions until the one that was posted has ended (and its receive, if any). */
static void complete(struct access *a, bool receives)
{
	bool sent = false, received = !receives;

	while (!sent || !received) {
		struct ibv_wc wc = next_wc(bed.cq);

		if (wc.qp_num == a->pair.a->qp_num) {
			a->send = wc;
			sent = true;
		} else {
			a->recv = wc;
			received = true;
		}
	}
}

static void local(struct access *a, enum ibv_wr_opcode op)
{
	uint32_t len = op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : LEN;
	bool receives = op == IBV_WR_SEND;

	if (receives)
		CHECK(!post_recv(a->pair.b, span_of(a->other_mr, 0, LEN), 2));
	CHECK(!post(a->pair.a, op, span_of(a->mr, 0, len), span_of(a->other_mr, 0, len), 1));
	complete(a, receives && a->change->readable);
}

static void remote(struct access *a, enum ibv_wr_opcode op)
{
	uint32_t len = op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : LEN;
	bool receives = op == IBV_WR_SEND;

	if (receives)
		CHECK(!post_recv(a->pair.b, span_of(a->mr, 0, LEN), 2));
	CHECK(!post(a->pair.a, op, span_of(a->other_mr, 0, len), span_of(a->mr, 0, len), 1));
	complete(a, receives);
}

static bool all_are(const char *p, size_t len, int byte)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

/* Is what the page holds what it held after the change? Looks with its own eyes. */
static bool page_untouched(struct access *a)
{
	if (!strcmp(a->change->name, "munmap") || !strcmp(a->change->name, "truncated"))
		return true;
	CHECK(!mprotect(a->page, PAGE, PROT_READ));
	return all_are(a->page, PAGE, a->change->holds);
}

enum direction { READS, WRITES, BOTH };

struct kind {
	const char *name;
	void (*run)(struct access *a, enum ibv_wr_opcode op);
	enum ibv_wr_opcode op;
	enum direction page;	       /* what is done to the page */
	enum ibv_wc_status send, recv; /* when that is not allowed */
};

static const struct kind kinds[] = {
	{"SEND from it", local, IBV_WR_SEND, READS, IBV_WC_LOC_PROT_ERR, 0},
	{"WRITE from it", local, IBV_WR_RDMA_WRITE, READS, IBV_WC_LOC_PROT_ERR, 0},
	{"READ into it", local, IBV_WR_RDMA_READ, WRITES, IBV_WC_LOC_PROT_ERR, 0},
	{"atomic result into it", local, IBV_WR_ATOMIC_FETCH_AND_ADD, WRITES, IBV_WC_LOC_PROT_ERR,
	 0},
	{"receive into it", remote, IBV_WR_SEND, WRITES, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR},
	{"remote WRITE to it", remote, IBV_WR_RDMA_WRITE, WRITES, IBV_WC_REM_ACCESS_ERR, 0},
	{"remote READ of it", remote, IBV_WR_RDMA_READ, READS, IBV_WC_REM_ACCESS_ERR, 0},
	{"remote atomic on it", remote, IBV_WR_ATOMIC_FETCH_AND_ADD, BOTH, IBV_WC_REM_ACCESS_ERR,
	 0},
};

static bool allowed(const struct change *c, enum direction d)
{
	return (d == READS || c->writable) && (d == WRITES || c->readable);
}

static bool right_contents(struct access *a, const struct kind *k, bool ok)
{
	/* Of a local atomic only the result is lost: it was executed. */
	size_t executed = k->run == local && k->op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 0;

	if (!ok) {
		if (!page_untouched(a))
			return false;
		/* A refused access shows nothing of it. */
		return all_are(a->other + executed, PAGE - executed, PAYLOAD);
	}
	if (k->op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return true; /* the units look at what these do */
	return k->page == READS ? all_are(a->other, LEN, a->change->holds)
				: all_are(a->page, LEN, PAYLOAD);
}

static bool one(const struct change *change, const struct kind *k)
{
	struct access a = {.change = change};
	bool ok = allowed(change, k->page), good;

	set_up(&a);
	if (change->make)
		change->make(a.page);
	k->run(&a, k->op);
	good = a.send.status == (ok ? IBV_WC_SUCCESS : k->send) &&
	       a.recv.status == (ok ? IBV_WC_SUCCESS : k->recv);
	if (!good)
		printf("%s, %s: send %s, receive %s\n", change->name, k->name,
		       ibv_wc_status_str(a.send.status), ibv_wc_status_str(a.recv.status));
	if (!right_contents(&a, k, ok)) {
		printf("%s, %s: wrong contents\n", change->name, k->name);
		good = false;
	}
	free_pair(&a.pair);
	CHECK(!ibv_dereg_mr(a.mr) && !ibv_dereg_mr(a.other_mr));
	munmap(a.page, PAGE);
	munmap(a.other, PAGE);
	return good;
}

int main(int argc, char **argv)
{
	bool good = true;

	if (argc != 4)
		return 2;
	open_bed(&bed, argv[1], atoi(argv[2]));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (!strcmp(changes[i].name, argv[3])) {
			for (size_t j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++)
				good = one(&changes[i], &kinds[j]) && good;
			return !good;
		}
	fprintf(stderr, "fault_memory: no change %s\n", argv[3]);
	return 2;
}
