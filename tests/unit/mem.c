/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Client memory: copies both ways, faults, what registration checks, a client
 * that execs or exits, one whose page never comes (a FUSE file), and what a
 * copy that was given up may still write.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"
#include "mapping.h"
#include "disposal.h"
#include "mem.h"
#include "stalling_file.h"

/* The only thing mem.c asks of an MR; here an MR is its memory. */
struct rxe_mem *rxe_mr_mem(const struct rxe_mr *mr)
{
	return (struct rxe_mem *)mr;
}

static struct rxe_mem_queue *queue;
static int wakefd;
static struct rxe_copy *last_done;

static void wake(void *arg)
{
	uint64_t one = 1;

	(void)arg;
	assert_int_equal(write(wakefd, &one, 8), 8);
}

static void done(struct rxe_copy *c)
{
	last_done = c;
}

/* Those of client memories that are there: each holds two until nobody uses it. */
static int descriptors;

int __real_rxe_mem_new(int memfd, int mapsfd, struct rxe_mem **out);
int __wrap_rxe_mem_new(int memfd, int mapsfd, struct rxe_mem **out);
void __wrap_rxe_dispose_fd(int fd);

int __wrap_rxe_mem_new(int memfd, int mapsfd, struct rxe_mem **out)
{
	__atomic_fetch_add(&descriptors, 2, __ATOMIC_RELAXED);
	return __real_rxe_mem_new(memfd, mapsfd, out);
}

void __wrap_rxe_dispose_fd(int fd)
{
	close(fd);
	__atomic_fetch_sub(&descriptors, 1, __ATOMIC_RELEASE);
}

static struct rxe_mem *open_own(void)
{
	struct rxe_mem *m;

	assert_int_equal(rxe_mem_new(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				     open("/proc/self/maps", O_RDONLY | O_CLOEXEC), &m),
			 0);
	return m;
}

static bool reap(int timeout_ms)
{
	struct pollfd p = {.fd = wakefd, .events = POLLIN};
	uint64_t n;

	last_done = NULL;
	while (!rxe_mem_reap(queue)) {
		if (poll(&p, 1, timeout_ms) <= 0)
			return false;
		assert_int_equal(read(wakefd, &n, 8), 8);
	}
	return true;
}

static int copy_wait(struct rxe_copy *c)
{
	c->done = done;
	if (rxe_mem_copy(queue, c) == -EINPROGRESS) {
		assert_true(reap(5000));
		assert_ptr_equal(last_done, c);
	}
	return c->status;
}

static struct rxe_copy one(enum rxe_copy_kind kind, struct rxe_range *r, struct iovec *v)
{
	return (struct rxe_copy){.kind = kind, .nranges = 1, .nlocal = 1, .range = r, .local = v};
}

struct check {
	struct rxe_mem_check c;
	sem_t done;
};

static void checked(struct rxe_mem_check *c)
{
	sem_post(&caa_container_of(c, struct check, c)->done);
}

static int check_wait(struct rxe_mem *m, uint64_t va, uint64_t len, bool write)
{
	struct check k = {.c = {.va = va, .len = len, .write = write, .done = checked}};
	int err;

	sem_init(&k.done, 0, 0);
	err = rxe_mem_check(m, &k.c);
	if (err)
		return err;
	sem_wait(&k.done);
	sem_destroy(&k.done);
	return k.c.status;
}

static void copies_both_ways_over_many_ranges(void **state)
{
	char a[100], b[60], local[160], local2[2][80];
	struct rxe_mem *m = open_own();
	struct rxe_range r[2] = {{(void *)m, (uintptr_t)a, 100}, {(void *)m, (uintptr_t)b, 60}};
	struct iovec v = {local, 160}, v2[2] = {{local2[0], 80}, {local2[1], 80}};
	struct rxe_copy c = {
		.kind = RXE_COPY_READ, .nranges = 2, .nlocal = 1, .range = r, .local = &v};

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(copy_wait(&c), 0);
	assert_memory_equal(local, a, 100);
	assert_memory_equal(local + 100, b, 60);

	memset(local2, 'x', sizeof(local2));
	c = (struct rxe_copy){
		.kind = RXE_COPY_WRITE, .nranges = 2, .nlocal = 2, .range = r, .local = v2};
	assert_int_equal(copy_wait(&c), 0);
	assert_int_equal(a[0], 'x');
	assert_int_equal(b[59], 'x');
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

static void atomics_return_the_old_value(void **state)
{
	struct rxe_mem *m = open_own();
	uint64_t word = 41;
	struct rxe_range r = {(void *)m, (uintptr_t)&word, 8};
	struct rxe_copy c = {.kind = RXE_COPY_FETCH_ADD, .nranges = 1, .range = &r, .swap_add = 1};

	(void)state;
	assert_int_equal(copy_wait(&c), 0);
	assert_int_equal(c.result, 41);
	assert_int_equal(word, 42);
	c = (struct rxe_copy){
		.kind = RXE_COPY_CMP_SWAP, .nranges = 1, .range = &r, .compare = 7, .swap_add = 9};
	assert_int_equal(copy_wait(&c), 0);
	assert_int_equal(c.result, 42);
	assert_int_equal(word, 42);
	c.compare = 42;
	assert_int_equal(copy_wait(&c), 0);
	assert_int_equal(word, 9);
	c = (struct rxe_copy){
		.kind = RXE_COPY_STORE, .nranges = 1, .range = &r, .swap_add = 1ull << 40};
	assert_int_equal(copy_wait(&c), 0);
	assert_true(word == 1ull << 40);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

/*
 * Two pages of which the second faults: it lies behind the end of its file.
 * (An unmapped hole could be filled by the copy thread's own allocations.)
 */
static char *half_there(void)
{
	int fd = memfd_create("half", MFD_CLOEXEC);
	char *p;

	assert_int_equal(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	close(fd);
	return p;
}

/* Many copies of one stretch, queued together: each gets its own bytes and status. */
static void copies_in_a_row_keep_apart(void **state)
{
	enum { N = 30, LEN = 256 };
	static char local[N][LEN];
	struct rxe_mem *m = open_own();
	char *p = half_there();
	struct rxe_copy c[N];
	struct rxe_range r[N];
	struct iovec v[N];
	unsigned int n = 0;

	(void)state;
	for (int kind = RXE_COPY_WRITE; kind >= RXE_COPY_READ; kind--) {
		uint64_t one_wake;

		for (int i = 0; i < N; i++) {
			if (kind == RXE_COPY_WRITE)
				memset(local[i], i + 1, LEN);
			else
				memset(local[i], 0, LEN);
			r[i] = (struct rxe_range){(void *)m, (uintptr_t)p + i * LEN, LEN};
			v[i] = (struct iovec){local[i], LEN};
			c[i] = one(kind, &r[i], &v[i]);
			c[i].done = done;
			assert_int_equal(rxe_mem_copy(queue, &c[i]), -EINPROGRESS);
		}
		for (n = 0; n < N;) {
			struct pollfd pfd = {.fd = wakefd, .events = POLLIN};

			n += rxe_mem_reap(queue);
			if (n == N)
				break;
			assert_int_equal(poll(&pfd, 1, 5000), 1);
			assert_int_equal(read(wakefd, &one_wake, 8), 8);
		}
		for (int i = 0; i < N; i++) {
			assert_int_equal(c[i].status, i < 4096 / LEN ? 0 : -EFAULT);
			if (i < 4096 / LEN)
				assert_int_equal(local[i][LEN - 1], i + 1);
		}
	}
	munmap(p, 8192);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

static void a_page_that_is_not_there_is_a_fault(void **state)
{
	struct rxe_mem *m = open_own();
	char *p = half_there();
	char local[64];
	struct rxe_range r = {(void *)m, (uintptr_t)p + 4096 - 32, 64};
	struct iovec v = {local, 64};
	struct rxe_copy c = one(RXE_COPY_READ, &r, &v);

	(void)state;
	assert_int_equal(copy_wait(&c), -EFAULT);
	munmap(p, 8192);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

static void registration_checks_the_mapping(void **state)
{
	struct rxe_mem *m = open_own();
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t va = (uintptr_t)p;

	(void)state;
	assert_int_equal(check_wait(m, va, 3 * 4096, true), 0);
	mprotect(p + 4096, 4096, PROT_READ);
	assert_int_equal(check_wait(m, va, 3 * 4096, false), 0);
	assert_int_equal(check_wait(m, va, 3 * 4096, true), -EFAULT);
	mprotect(p + 4096, 4096, PROT_NONE);
	assert_int_equal(check_wait(m, va, 3 * 4096, false), -EFAULT);
	munmap(p + 4096, 4096);
	assert_int_equal(check_wait(m, va, 3 * 4096, false), -EFAULT);
	assert_int_equal(check_wait(m, va, 4096, true), 0);
	assert_int_equal(check_wait(m, UINT64_MAX - 10, 100, false), -EFAULT);
	munmap(p, 3 * 4096);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

/*
 * Kernels without PROCMAP_QUERY: the text (here a file, which knows no query).
 * What a long name of a mapping says is not another mapping.
 */
static void the_text_of_long_names(void **state)
{
	int fd = memfd_create("maps", MFD_CLOEXEC);
	char pad[512];

	(void)state;
	assert_true(fd >= 0);
	memset(pad, 'x', sizeof(pad));
	/* The second line's name goes on where a buffer of 512 bytes ends. */
	dprintf(fd,
		"10000-11000 rw-p 0 0:0 0\n20000-21000 r--p 0 0:0 0 %.*s"
		"20000-21000 rw-p 0 0:0 0 /x\n21000-22000 rw-p 0 0:0 0\n",
		511 - (int)strlen("20000-21000 r--p 0 0:0 0 "), pad);
	assert_int_equal(rxe_mapping_check(fd, 0x10000, 0x1000, true), 0);
	assert_int_equal(rxe_mapping_check(fd, 0x20000, 0x1000, false), 0);
	assert_int_equal(rxe_mapping_check(fd, 0x20000, 0x1000, true), -EFAULT);
	assert_int_equal(rxe_mapping_check(fd, 0x20000, 0x2000, false), 0);
	assert_int_equal(rxe_mapping_check(fd, 0x21000, 0x1000, true), 0);
	/* and a name that begins there with a mapping that is none */
	assert_int_equal(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	dprintf(fd, "10000-11000 rw-p 0 0:0 0 %.*s30000-31000 rw-p 0 0:0 0 /x\n",
		511 - (int)strlen("10000-11000 rw-p 0 0:0 0 "), pad);
	assert_int_equal(rxe_mapping_check(fd, 0x30000, 0x1000, true), -EFAULT);
	close(fd);
}

/* The mem fd itself would write, and read, whatever the protection. */
static void copies_keep_to_what_the_mapping_allows_now(void **state)
{
	struct rxe_mem *m = open_own();
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rxe_range r = {(void *)m, (uintptr_t)p + 4064, 64};
	char local[64] = "payload";
	struct iovec v = {local, 64};
	struct rxe_copy c;

	(void)state;
	c = one(RXE_COPY_WRITE, &r, &v);
	assert_int_equal(copy_wait(&c), 0);
	mprotect(p + 4096, 4096, PROT_READ);
	if (!rxe_mapping_check_again(open("/proc/self/maps", O_RDONLY), (uintptr_t)p + 4096, 1,
				     true))
		skip(); /* this kernel cannot say */
	strcpy(local, "another");
	c = one(RXE_COPY_WRITE, &r, &v);
	assert_int_equal(copy_wait(&c), -EFAULT);
	assert_string_equal(p + 4064, "payload");
	c = one(RXE_COPY_READ, &r, &v);
	assert_int_equal(copy_wait(&c), 0);
	r = (struct rxe_range){(void *)m, (uintptr_t)p + 4096, 8};
	c = (struct rxe_copy){.kind = RXE_COPY_FETCH_ADD, .nranges = 1, .range = &r, .swap_add = 1};
	assert_int_equal(copy_wait(&c), -EFAULT);
	mprotect(p + 4096, 4096, PROT_NONE);
	c = one(RXE_COPY_READ, &r, &v);
	v.iov_len = 8;
	assert_int_equal(copy_wait(&c), -EFAULT);
	munmap(p, 8192);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

static void only_the_right_files_are_taken(void **state)
{
	struct rxe_mem *m;

	(void)state;
	assert_int_equal(
		rxe_mem_new(open("/dev/zero", O_RDWR), open("/proc/self/maps", O_RDONLY), &m),
		-EINVAL);
	assert_int_equal(rxe_mem_new(open("/proc/self/mem", O_RDWR),
				     open("/proc/self/status", O_RDONLY), &m),
			 -EINVAL);
	assert_int_equal(rxe_mem_new(-1, -1, &m), -EINVAL);
}

/* A child hands its descriptors over the fork and waits to be killed. */
static pid_t child_with_memory(uint64_t **word, int fds[3], bool exec_later)
{
	int ready[2], go[2];
	pid_t pid;
	char c;

	*word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		**word = 1;
		assert_int_equal(write(ready[1], "r", 1), 1);
		if (read(go[0], &c, 1) == 1 && exec_later) {
			dup2(go[0], 0);
			execl("/bin/cat", "cat", NULL);
		}
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fds[0] = open(path, O_RDWR | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fds[1] = open(path, O_RDONLY | O_CLOEXEC);
	fds[2] = go[1];
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	return pid;
}

/* The descriptor stays with the old address space, whatever the pid does. */
static void after_exec_nothing_is_reached(void **state)
{
	uint64_t *word, local = 77;
	struct iovec v = {&local, 8};
	struct rxe_range r;
	struct rxe_copy c;
	struct rxe_mem *m;
	char path[64], exe[64];
	int fds[3], tries;
	pid_t pid = child_with_memory(&word, fds, true);

	(void)state;
	assert_int_equal(rxe_mem_new(fds[0], fds[1], &m), 0);
	r = (struct rxe_range){(void *)m, (uintptr_t)word, 8};
	c = one(RXE_COPY_WRITE, &r, &v);
	assert_int_equal(copy_wait(&c), 0);
	assert_int_equal(write(fds[2], "x", 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	for (tries = 0; tries < 5000; tries++) {
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);

		if (n > 3 && !memcmp(exe + n - 3, "cat", 3))
			break;
		usleep(1000);
	}
	assert_int_not_equal(tries, 5000);
	c = one(RXE_COPY_WRITE, &r, &v);
	assert_int_equal(copy_wait(&c), -EFAULT);
	close(fds[2]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	c = one(RXE_COPY_READ, &r, &v);
	assert_int_equal(copy_wait(&c), -EFAULT);
	rxe_mem_kill(m);
	rxe_mem_put(m);
}

static void a_page_that_never_comes_is_given_up(void **state)
{
	struct rxe_mem *m, *other = open_own();
	char local[64] = "untouched", mine[64] = "mine";
	struct stalling_file file;
	struct rxe_range r, r2;
	struct iovec v = {local, 64};
	struct check behind = {.c = {.va = (uintptr_t)mine, .len = 1, .done = checked}};
	struct rxe_copy c, c2;
	uint64_t now;
	char *p;

	(void)state;
	sem_init(&behind.done, 0, 0);
	if (stalling_file_open(&file))
		skip();
	/*
	 * The other one's thread starts before: both "clients" are this process,
	 * whose mmap lock the blocked access will hold.
	 */
	r2 = (struct rxe_range){(void *)other, (uintptr_t)mine, 64};
	c2 = one(RXE_COPY_READ, &r2, &v);
	assert_int_equal(copy_wait(&c2), 0);
	strcpy(local, "untouched");
	m = open_own();
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file.fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	r = (struct rxe_range){(void *)m, (uintptr_t)p, 64};
	c = one(RXE_COPY_READ, &r, &v);
	c.done = done;
	assert_int_equal(rxe_mem_copy(queue, &c), -EINPROGRESS);
	assert_false(reap(100));

	/* Another client is not held up. */
	c2 = one(RXE_COPY_READ, &r2, &v);
	assert_int_equal(copy_wait(&c2), 0);
	assert_string_equal(local, "mine");

	/* Its registrations wait, and are given up with it. */
	assert_int_equal(rxe_mem_check(m, &behind.c), 0);
	strcpy(local, "untouched");
	now = rxe_now_ns();
	assert_int_equal(rxe_mem_expire(now), 0);
	/* Not for the time that we were stopped ourselves. */
	now += 10 * RXE_MEM_DEADLINE_NS;
	for (uint64_t t = 0; t <= RXE_MEM_DEADLINE_NS; t += RXE_MEM_EXPIRE_PERIOD_NS)
		assert_int_equal(rxe_mem_expire(now + t), 0);
	now += RXE_MEM_DEADLINE_NS + RXE_MEM_EXPIRE_PERIOD_NS;
	assert_int_equal(rxe_mem_expire(now), 1);
	assert_true(reap(1000));
	assert_ptr_equal(last_done, &c);
	assert_int_equal(c.status, -EFAULT);
	assert_int_equal(sem_trywait(&behind.done), 0);
	assert_int_equal(behind.c.status, -EFAULT);
	assert_int_equal(rxe_mem_check(m, &behind.c), -EFAULT);
	c2 = one(RXE_COPY_READ, &r, &v);
	assert_int_equal(copy_wait(&c2), -EFAULT);

	/* When the thread wakes after all, it leaves alone what was given up. */
	stalling_file_release(&file);
	assert_false(reap(50));
	assert_string_equal(local, "untouched");
	munmap(p, 4096);
	rxe_mem_put(m);
	rxe_mem_kill(other);
	rxe_mem_put(other);
}

/* ---- killed at a chosen call ------------------------------------------------------- */

/* pread() or pwrite() of mem.c that stops, when its turn has come, until it is let go. */
struct gate {
	int countdown; /* stops at 0; negative: never */
	sem_t there, go;
};
static struct gate read_gate = {.countdown = -1}, write_gate = {.countdown = -1};

ssize_t __real_pread(int fd, void *buf, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *buf, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t at);

static void pass(struct gate *g)
{
	int before = __atomic_load_n(&g->countdown, __ATOMIC_ACQUIRE);

	if (before < 0)
		return;
	if (__atomic_fetch_sub(&g->countdown, 1, __ATOMIC_ACQ_REL))
		return;
	sem_post(&g->there);
	while (sem_wait(&g->go) && errno == EINTR)
		;
}

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at)
{
	pass(&read_gate);
	return __real_pread(fd, buf, n, at);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t n, off_t at)
{
	pass(&write_gate);
	return __real_pwrite(fd, buf, n, at);
}

static void shut(struct gate *g, int after)
{
	sem_init(&g->there, 0, 0);
	sem_init(&g->go, 0, 0);
	__atomic_store_n(&g->countdown, after, __ATOMIC_RELEASE);
}

static void wait_there(struct gate *g)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 5;
	while (sem_timedwait(&g->there, &end) && errno == EINTR)
		;
	if (__atomic_exchange_n(&g->countdown, -1, __ATOMIC_ACQ_REL) >= 0)
		fail_msg("the call that was to stop never came");
}

/* Ours is not the last reference: its thread has one until it is done. */
static void put_and_wait(struct rxe_mem *m, int others)
{
	int tries = 0;

	rxe_mem_put(m);
	while (__atomic_load_n(&descriptors, __ATOMIC_ACQUIRE) > 2 * others && tries++ < 5000)
		usleep(1000);
	assert_int_equal(__atomic_load_n(&descriptors, __ATOMIC_ACQUIRE), 2 * others);
}

static void start_copy(struct rxe_copy *c)
{
	c->done = done;
	assert_int_equal(rxe_mem_copy(queue, c), -EINPROGRESS);
}

/* Killed between its read and its write: nothing is written. */
static void a_killed_atomic_writes_nothing(void **state)
{
	struct rxe_mem *m = open_own();
	uint64_t word = 41;
	struct rxe_range r = {(void *)m, (uintptr_t)&word, 8};
	struct rxe_copy c = {.kind = RXE_COPY_FETCH_ADD, .nranges = 1, .range = &r, .swap_add = 1};

	(void)state;
	shut(&read_gate, 1); /* the first touches the page */
	start_copy(&c);
	wait_there(&read_gate);
	rxe_mem_kill(m);
	assert_true(reap(1000));
	sem_post(&read_gate.go);
	put_and_wait(m, 0);
	assert_int_equal(c.status, -EFAULT);
	assert_int_equal(word, 41);
}

/* Killed while another client's atomic has the turn: its own never begins. */
static void a_killed_atomic_does_not_take_its_turn(void **state)
{
	struct rxe_mem *first = open_own(), *second = open_own();
	uint64_t word[2] = {1, 1};
	struct rxe_range r[2] = {{(void *)first, (uintptr_t)&word[0], 8},
				 {(void *)second, (uintptr_t)&word[1], 8}};
	struct rxe_copy c[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		c[i] = (struct rxe_copy){.kind = i ? RXE_COPY_STORE : RXE_COPY_FETCH_ADD,
					 .nranges = 1,
					 .range = &r[i],
					 .swap_add = 7};
	shut(&read_gate, 1);
	start_copy(&c[0]);
	wait_there(&read_gate);
	start_copy(&c[1]);
	assert_false(reap(50)); /* it waits */
	rxe_mem_kill(second);
	assert_true(reap(1000));
	put_and_wait(second, 1); /* gone before the turn comes */
	sem_post(&read_gate.go);
	assert_true(reap(1000));
	assert_int_equal(c[0].status, 0);
	assert_int_equal(c[1].status, -EFAULT);
	assert_int_equal(word[0], 8);
	assert_int_equal(word[1], 1);
	rxe_mem_kill(first);
	rxe_mem_put(first);
}

/* Killed in the write of one page: the pages behind it stay as they are. */
static void a_killed_write_ends_with_its_page(void **state)
{
	enum { LEN = 3 * 4096 };
	char *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rxe_mem *m = open_own();
	static char local[LEN - 100];
	struct rxe_range r = {(void *)m, (uintptr_t)p + 100, sizeof(local)};
	struct iovec v = {local, sizeof(local)};
	struct rxe_copy c = one(RXE_COPY_WRITE, &r, &v);

	(void)state;
	memset(local, 'x', sizeof(local));
	shut(&write_gate, 1);
	start_copy(&c);
	wait_there(&write_gate);
	rxe_mem_kill(m);
	sem_post(&write_gate.go);
	put_and_wait(m, 0);
	assert_true(reap(1000));
	assert_int_equal(c.status, -EFAULT);
	assert_int_equal(p[100], 'x');
	assert_int_equal(p[8191], 'x'); /* that was under way: cannot be called back */
	assert_int_equal(p[8192], 0);
	assert_int_equal(p[LEN - 1], 0);
	munmap(p, LEN);
}

/* Killed while a batch is made one by one: those behind are not made. */
static void a_killed_batch_ends_where_it_is(void **state)
{
	enum { N = 20, LEN = 256 };
	char *p = half_there(), local[N][LEN];
	struct rxe_mem *m = open_own();
	uint64_t word = 0;
	struct rxe_range r[N], hold = {(void *)m, (uintptr_t)&word, 8};
	struct rxe_copy c[N], first = {.kind = RXE_COPY_FETCH_ADD, .nranges = 1, .range = &hold};
	struct iovec v[N];

	(void)state;
	memset(local, 'x', sizeof(local));
	shut(&read_gate, 0); /* all the others are queued behind this one */
	start_copy(&first);
	wait_there(&read_gate);
	for (int i = 0; i < N; i++) {
		r[i] = (struct rxe_range){(void *)m, (uintptr_t)p + i * LEN, LEN};
		v[i] = (struct iovec){local[i], LEN};
		c[i] = one(RXE_COPY_WRITE, &r[i], &v[i]);
		start_copy(&c[i]);
	}
	/* The atomic's write, the batch's two pages, two one by one: then the gate. */
	shut(&write_gate, 5);
	sem_post(&read_gate.go);
	wait_there(&write_gate);
	memset(p, 0, 4096);
	rxe_mem_kill(m);
	sem_post(&write_gate.go);
	put_and_wait(m, 0);
	rxe_mem_reap(queue);
	for (int i = 0; i < N; i++)
		assert_int_equal(c[i].status, -EFAULT);
	assert_int_equal(p[2 * LEN], 'x'); /* that was under way */
	for (int i = 3 * LEN; i < 4096; i++)
		assert_int_equal(p[i], 0);
	munmap(p, 8192);
}

static int setup(void **state)
{
	struct rxe_mem_waker w = {.wake = wake};

	(void)state;
	wakefd = eventfd(0, 0);
	queue = rxe_mem_queue_new(&w);
	return queue ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_both_ways_over_many_ranges),
		cmocka_unit_test(atomics_return_the_old_value),
		cmocka_unit_test(copies_in_a_row_keep_apart),
		cmocka_unit_test(a_page_that_is_not_there_is_a_fault),
		cmocka_unit_test(registration_checks_the_mapping),
		cmocka_unit_test(the_text_of_long_names),
		cmocka_unit_test(copies_keep_to_what_the_mapping_allows_now),
		cmocka_unit_test(only_the_right_files_are_taken),
		cmocka_unit_test(after_exec_nothing_is_reached),
		cmocka_unit_test(a_page_that_never_comes_is_given_up),
		cmocka_unit_test(a_killed_atomic_writes_nothing),
		cmocka_unit_test(a_killed_atomic_does_not_take_its_turn),
		cmocka_unit_test(a_killed_write_ends_with_its_page),
		cmocka_unit_test(a_killed_batch_ends_where_it_is),
	};

	return cmocka_run_group_tests_name("mem", tests, setup, NULL);
}
