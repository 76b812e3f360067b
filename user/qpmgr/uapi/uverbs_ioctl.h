/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA_VERBS_IOCTL as ipc.h carries it: reading a request's attributes and
 * writing a reply's. Every offset and length in a request is checked here.
 */
#ifndef RXE_UVERBS_IOCTL_H
#define RXE_UVERBS_IOCTL_H

#include "uapi/uverbs.h"

struct uioctl {
	const uint8_t *payload;
	size_t len;
	const struct rxe_ipc_ioctl *hdr;
	const struct rxe_ipc_attr *attrs;
};

/* 0 or -EINVAL. The request keeps pointing into payload. */
int uioctl_parse(struct uioctl *req, const void *payload, size_t len);
const struct rxe_ipc_attr *uioctl_attr(const struct uioctl *req, uint16_t id);
/* Input bytes of an attribute, inline or not; NULL and 0 when absent. */
const void *uioctl_bytes(const struct uioctl *req, uint16_t id, size_t *len);
/* An unmarshalled input number of at most 8 bytes; false when absent. */
bool uioctl_u64(const struct uioctl *req, uint16_t id, uint64_t *value);

#define UIOCTL_MAX_ATTRS 16
struct uioctl_reply {
	struct rxe_ipc_ioctl hdr;
	struct rxe_ipc_attr attrs[UIOCTL_MAX_ATTRS];
	uint8_t bytes[8192];
	size_t used;
	bool overflow;
};
void uioctl_reply_init(struct uioctl_reply *r);
void uioctl_put(struct uioctl_reply *r, uint16_t id, uint16_t index, const void *p, size_t len);
/* The descriptor that goes with the reply becomes this attribute's value. */
void uioctl_put_fd(struct uioctl_reply *r, uint16_t id, uint16_t index);
void uioctl_send(struct uioctl_reply *r, ureply reply, void *arg, int fd);

/* uverbs.c */
void uverbs_invoke_write(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg);

#endif
