/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The IP addressing annex: header and service ids (ip_header.h). */
#include "cm/ip_header.h"

#include <errno.h>
#include <string.h>

#define VERSION_OFF 0
#define IP_OFF	    1
#define PORT_OFF    2
#define SRC_OFF	    4
#define DST_OFF	    20

static void put_ip(uint8_t *out, const uint8_t gid[16], bool v6)
{
	if (v6)
		memcpy(out, gid, 16);
	else
		memcpy(out + 12, gid + 12, 4); /* an IPv4 address lies in the last word */
}

void cm_ip_header_put(uint8_t out[CM_IP_HEADER_LEN], const struct cm_ip_header *h)
{
	memset(out, 0, CM_IP_HEADER_LEN);
	out[IP_OFF] = (h->v6 ? 6 : 4) << 4;
	out[PORT_OFF] = (uint8_t)(h->src_port >> 8);
	out[PORT_OFF + 1] = (uint8_t)h->src_port;
	put_ip(out + SRC_OFF, h->src, h->v6);
	put_ip(out + DST_OFF, h->dst, h->v6);
}

static void get_ip(uint8_t gid[16], const uint8_t *in, bool v6)
{
	if (v6) {
		memcpy(gid, in, 16);
		return;
	}
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, in + 12, 4);
}

int cm_ip_header_get(const uint8_t *priv, size_t len, struct cm_ip_header *h)
{
	uint8_t version;

	if (len < CM_IP_HEADER_LEN || priv[VERSION_OFF] != 0)
		return -EINVAL;
	version = priv[IP_OFF] >> 4;
	if (version != 4 && version != 6)
		return -EINVAL;
	h->v6 = version == 6;
	h->src_port = (uint16_t)(priv[PORT_OFF] << 8 | priv[PORT_OFF + 1]);
	get_ip(h->src, priv + SRC_OFF, h->v6);
	get_ip(h->dst, priv + DST_OFF, h->v6);
	return 0;
}

uint64_t cm_service_id(uint16_t ps, uint16_t port)
{
	return (uint64_t)ps << 16 | port;
}

bool cm_service_port(uint64_t service_id, uint16_t *ps, uint16_t *port)
{
	*ps = (uint16_t)(service_id >> 16);
	*port = (uint16_t)service_id;
	return service_id >> 32 == 0;
}
