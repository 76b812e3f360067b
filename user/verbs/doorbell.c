// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Doorbells: tells the worker of a QP that its send queue has work, through
 * shared pages (include/rxe/ipc.h, struct rxe_doorbell_page), without a system
 * call while the worker is awake.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "verbs/internal.h"

int rxe_doorbell_init(struct rxe_doorbell *db, struct rxe_ipc_msg *msg)
{
	const struct rxe_ipc_open_reply *open = msg->buf;
	struct stat st;
	void *pages;

	if (msg->hdr.len < sizeof(*open) || !open->nr_workers ||
	    msg->nr_fds != open->nr_workers + 1 ||
	    open->doorbell_size < (uint64_t)open->nr_workers * RXE_DOORBELL_STRIDE ||
	    fstat(msg->fds[0], &st) || st.st_size < open->doorbell_size)
		return -EPROTO;
	pages = mmap(NULL, open->doorbell_size, PROT_READ | PROT_WRITE, MAP_SHARED, msg->fds[0], 0);
	if (pages == MAP_FAILED)
		return -errno;
	db->pages = pages;
	db->size = open->doorbell_size;
	db->nr_workers = open->nr_workers;
	for (unsigned int i = 0; i < db->nr_workers; i++) {
		atomic_store(&db->eventfd[i], rxe_fd_private(msg->fds[i + 1]));
		msg->fds[i + 1] = -1;
	}
	return 0;
}

void rxe_doorbell_free(struct rxe_doorbell *db)
{
	if (!db->pages)
		return;
	munmap(db->pages, db->size);
	for (unsigned int i = 0; i < db->nr_workers; i++)
		rxe_fd_private_close(atomic_load(&db->eventfd[i]));
	db->pages = NULL;
}

static struct rxe_doorbell_page *page_of(const struct rxe_doorbell *db, unsigned int worker)
{
	return (void *)((char *)db->pages + (size_t)worker * RXE_DOORBELL_STRIDE);
}

int rxe_doorbell_ring(struct rxe_doorbell *db, uint32_t qp_handle)
{
	uint32_t slot = qp_handle % RXE_DOORBELL_SLOTS, word = slot / 64;
	uint8_t worker = __atomic_load_n(&page_of(db, 0)->worker[slot], __ATOMIC_RELAXED);
	struct rxe_doorbell_page *page;

	if (worker >= db->nr_workers)
		return -EINVAL;
	page = page_of(db, worker);
	__atomic_fetch_or(&page->bits[word], 1ull << (slot % 64), __ATOMIC_RELEASE);
	/*
	 * The worker sets need_wakeup, then looks at summary once more before it
	 * sleeps: in one order of all four, one of the two is seen.
	 */
	__atomic_fetch_or(&page->summary, 1ull << word, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&page->need_wakeup, __ATOMIC_SEQ_CST)) {
		const uint64_t one = 1;
		int saved = errno;

		/* EAGAIN: the counter is full, so the worker is being woken already. */
		if (syscall(SYS_write,
			    atomic_load_explicit(&db->eventfd[worker], memory_order_relaxed), &one,
			    sizeof(one)) < 0)
			errno = saved;
	}
	return 0;
}
