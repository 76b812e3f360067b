/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading and writing CM messages by the tables of mad.h. */
#include "cm/mad.h"

#include <errno.h>
#include <string.h>

#define METHOD_SEND 3

static const struct {
	int8_t byte;
	uint8_t bit, width;
} fields[CM_FIELD_COUNT] = {
#define FIELD(name, byte, bit, width) [CM_##name] = {byte, bit, width},
	CM_FIELDS(FIELD)
#undef FIELD
};

static const struct {
	const char *name;
	uint8_t priv;
} messages[CM_MSG_LAST + 1] = {
#define MESSAGE(name, id, priv) [id] = {#name, priv},
	CM_MESSAGES(MESSAGE)
#undef MESSAGE
};

#define MASK(width) ((width) == 64 ? UINT64_MAX : (1ull << (width)) - 1)

/* The bytes that hold a field, and how far its last bit is from their end. */
static unsigned int span(enum cm_field f, unsigned int *shift)
{
	unsigned int end = fields[f].bit + fields[f].width, bytes = (end + 7) / 8;

	*shift = bytes * 8 - end;
	return bytes;
}

uint64_t cm_get(const uint8_t *mad, enum cm_field f)
{
	const uint8_t *p = mad + CM_MAD_HDR + fields[f].byte;
	unsigned int shift, bytes = span(f, &shift);
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v >> shift & MASK(fields[f].width);
}

void cm_put(uint8_t *mad, enum cm_field f, uint64_t value)
{
	uint8_t *p = mad + CM_MAD_HDR + fields[f].byte;
	unsigned int shift, bytes = span(f, &shift);
	uint64_t mask = MASK(fields[f].width) << shift, v = value << shift & mask;

	for (unsigned int i = bytes; i-- > 0; v >>= 8, mask >>= 8)
		p[i] = (uint8_t)((p[i] & ~mask) | v);
}

void cm_mad_init(uint8_t *mad, enum cm_msg msg, uint64_t tid)
{
	memset(mad, 0, CM_MAD_LEN);
	cm_put(mad, CM_BASE_VERSION, 1);
	cm_put(mad, CM_MGMT_CLASS, CM_CLASS_VALUE);
	cm_put(mad, CM_CLASS_VERSION, 2);
	cm_put(mad, CM_METHOD, METHOD_SEND);
	cm_put(mad, CM_TID, tid);
	cm_put(mad, CM_ATTR_ID, msg);
}

int cm_mad_check(const uint8_t *mad, size_t len)
{
	uint64_t id;

	if (len != CM_MAD_LEN || cm_get(mad, CM_BASE_VERSION) != 1 ||
	    cm_get(mad, CM_MGMT_CLASS) != CM_CLASS_VALUE || cm_get(mad, CM_CLASS_VERSION) != 2 ||
	    cm_get(mad, CM_METHOD) != METHOD_SEND)
		return -EINVAL;
	id = cm_get(mad, CM_ATTR_ID);
	return id >= CM_MSG_FIRST && id <= CM_MSG_LAST ? (int)id : -EINVAL;
}

uint8_t *cm_private_data(uint8_t *mad, enum cm_msg msg, size_t *len)
{
	*len = CM_MAD_LEN - CM_MAD_HDR - messages[msg].priv;
	return mad + CM_MAD_HDR + messages[msg].priv;
}

const char *cm_msg_name(enum cm_msg msg)
{
	return msg >= CM_MSG_FIRST && msg <= CM_MSG_LAST ? messages[msg].name : "?";
}
