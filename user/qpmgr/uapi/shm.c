/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory shared with a client: one sealed memfd for each ring, found by the
 * mmap() offset that the create command reported, mapped once by the client
 * (as the driver's pending mmaps are), so that no descriptor stays behind.
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_compat.h"

static int sealed_memfd(size_t size)
{
	int fd = memfd_create("rxe-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before 6.3 */
		fd = memfd_create("rxe-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

struct ushm *ushm_new(struct uctx *ctx, size_t size)
{
	struct ushm *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = (size + 4095) & ~(size_t)4095;
	s->fd = sealed_memfd(s->size);
	if (s->fd < 0)
		goto fail;
	s->map = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED)
		goto fail_fd;
	s->offset = ctx->next_offset;
	ctx->next_offset += s->size;
	TAILQ_INSERT_TAIL(&ctx->shms, s, link);
	return s;
fail_fd:
	close(s->fd);
fail:
	free(s);
	return NULL;
}

struct ushm *ushm_new_ring(struct uctx *ctx, size_t bytes, uint32_t slots, uint32_t log2_elem,
			   struct rxe_ring *ring, struct mminfo *mi)
{
	struct ushm *s = ushm_new(ctx, bytes);

	if (!s)
		return NULL;
	rxe_ring_init(ring, s->map, slots, log2_elem);
	mi->offset = s->offset;
	mi->size = (uint32_t)bytes;
	return s;
}

void ushm_free(struct uctx *ctx, struct ushm *s)
{
	if (!s)
		return;
	TAILQ_REMOVE(&ctx->shms, s, link);
	munmap(s->map, s->size);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

int uverbs_mmap(struct uctx *ctx, uint64_t offset, uint64_t length, int *fd)
{
	struct ushm *s;

	TAILQ_FOREACH (s, &ctx->shms, link)
		if (s->offset == offset && s->fd >= 0)
			break;
	if (!s || length > s->size)
		return -EINVAL;
	*fd = s->fd;
	s->fd = -1;
	return 0;
}
