/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client with a page that never comes: of a FUSE file whose server does not
 * answer, or of a userfaultfd that nobody reads. An operation that touches it
 * must end all the same, with an error.
 *
 *   fault_blocked DEVICE GID_INDEX fuse|uffd SIDE [busy]
 *
 * SIDE: local (SEND from the page) or remote (WRITE to it). With `busy` other
 * threads of the client wait for its mmap lock, one of them in a registration.
 * Says "blocked" once the operation is posted, "ended STATUS" when it has ended.
 */
#include "fault_verbs.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stalling_file.h"

#define SKIP 4

static struct bed bed;
static char ordinary[PAGE] __attribute__((aligned(PAGE)));

static void *fuse_page(void)
{
	static struct stalling_file file;

	if (stalling_file_open(&file)) {
		printf("no FUSE: %s\n", strerror(errno));
		exit(SKIP);
	}
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.fd, 0);
}

static void *uffd_page(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *p;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api)) {
		printf("no userfaultfd: %s\n", strerror(errno));
		exit(SKIP);
	}
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	reg.range.start = (uintptr_t)p;
	reg.range.len = PAGE;
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &reg));
	return p;
}

/* Threads start before: their stacks are mapped, too. */
static int stage;

static void await_stage(int n)
{
	struct timespec tick = {0, 1000000};

	while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) < n)
		nanosleep(&tick, NULL);
}

static void enter_stage(int n)
{
	struct timespec while_it_blocks = {0, 300000000};

	nanosleep(&while_it_blocks, NULL); /* the copy, then a writer, holds the lock by then */
	__atomic_store_n(&stage, n, __ATOMIC_RELEASE);
}

/* Wants the mmap lock for itself, so that later readers wait behind it. */
static void *map_for_ever(void *arg)
{
	struct timespec tick = {0, 1000000};

	await_stage(1);
	for (;;) {
		void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(p != MAP_FAILED);
		munmap(p, PAGE);
		nanosleep(&tick, NULL);
	}
	return arg;
}

static void *register_for_ever(void *arg)
{
	struct timespec tick = {0, 1000000};

	/* One before: this thread's heap is mapped then. */
	for (int i = 0;; i++) {
		struct ibv_mr *mr = ibv_reg_mr(bed.pd, ordinary, PAGE, ALL_ACCESS);

		/* Fails once the memory of this client is given up. */
		if (mr)
			ibv_dereg_mr(mr);
		nanosleep(&tick, NULL);
		if (!i)
			await_stage(2);
	}
	return arg;
}

static void start(void *(*fn)(void *))
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, fn, NULL));
}

int main(int argc, char **argv)
{
	struct ibv_mr *mr, *other;
	struct pair p;
	void *page;
	int err;

	if (argc < 5)
		return 2;
	page = !strcmp(argv[3], "fuse") ? fuse_page() : uffd_page();
	CHECK(page != MAP_FAILED);
	open_bed(&bed, argv[1], atoi(argv[2]));
	mr = ibv_reg_mr(bed.pd, page, PAGE, ALL_ACCESS);
	other = ibv_reg_mr(bed.pd, ordinary, PAGE, ALL_ACCESS);
	CHECK(mr && other);
	p = new_pair(&bed);
	start(map_for_ever);
	start(register_for_ever);
	if (!strcmp(argv[4], "local"))
		err = post(p.a, IBV_WR_SEND, span_of(mr, 0, 64), (struct span){0}, 1);
	else
		err = post(p.a, IBV_WR_RDMA_WRITE, span_of(other, 0, 64), span_of(mr, 0, 64), 1);
	CHECK(!err);
	if (argc > 5) {
		enter_stage(1);
		enter_stage(2);
	}
	say("blocked");
	printf("ended %s\n", ibv_wc_status_str(next_wc(bed.cq).status));
	fflush(stdout);
	for (;;)
		pause();
}
