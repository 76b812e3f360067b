/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of CM messages, and the IP addressing header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "unit/cm_bed.h"
#include "cm/ip_header.h"

/* A field changes its own bits and no other. */
static void fields_are_apart(void **state)
{
	(void)state;
	for (int f = 0; f < CM_FIELD_COUNT; f++) {
		uint8_t zero[CM_MAD_LEN] = {0}, ones[CM_MAD_LEN];
		unsigned int bits = 0, kept = 0;

		memset(ones, 0xff, sizeof(ones));
		cm_put(zero, (enum cm_field)f, UINT64_MAX);
		cm_put(ones, (enum cm_field)f, 0);
		for (int i = 0; i < CM_MAD_LEN; i++) {
			assert_int_equal(zero[i], (uint8_t)~ones[i]);
			bits += (unsigned int)__builtin_popcount(zero[i]);
			kept += (unsigned int)__builtin_popcount(ones[i]);
		}
		assert_int_equal(bits + kept, 8 * CM_MAD_LEN);
		assert_int_equal(__builtin_popcountll(cm_get(zero, (enum cm_field)f)), bits);
		assert_int_equal(cm_get(ones, (enum cm_field)f), 0);
	}
}

static void fields_keep_values(void **state)
{
	uint8_t mad[CM_MAD_LEN];

	(void)state;
	cm_mad_init(mad, CM_MSG_REQ, 0x2fd31c632ull);
	cm_put(mad, CM_REQ_QPN, 0x123456);
	cm_put(mad, CM_REQ_REMOTE_TIMEOUT, 20);
	cm_put(mad, CM_REQ_TRANSPORT, 1);
	cm_put(mad, CM_REQ_FLOW_CONTROL, 1);
	cm_put(mad, CM_REQ_SERVICE_ID, 0x0123456789abcdefull);
	assert_int_equal(cm_get(mad, CM_REQ_QPN), 0x123456);
	assert_int_equal(mad[CM_MAD_HDR + 43], 20 << 3 | 1 << 1 | 1);
	assert_int_equal(cm_get(mad, CM_REQ_SERVICE_ID), 0x0123456789abcdefull);
	assert_int_equal(mad[CM_MAD_HDR + 8], 0x01);
	assert_int_equal(cm_mad_check(mad, sizeof(mad)), CM_MSG_REQ);
}

static void others_are_refused(void **state)
{
	static const struct {
		enum cm_field f;
		uint64_t bad;
	} faults[] = {
		{CM_BASE_VERSION, 2}, {CM_MGMT_CLASS, 4},	    {CM_CLASS_VERSION, 1},
		{CM_METHOD, 1},	      {CM_ATTR_ID, CM_MSG_REQ - 1}, {CM_ATTR_ID, CM_MSG_LAST + 1},
		{CM_ATTR_ID, 0xffff},
	};
	uint8_t mad[CM_MAD_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		cm_mad_init(mad, CM_MSG_REP, 1);
		cm_put(mad, faults[i].f, faults[i].bad);
		assert_int_equal(cm_mad_check(mad, sizeof(mad)), -EINVAL);
	}
	cm_mad_init(mad, CM_MSG_REP, 1);
	assert_int_equal(cm_mad_check(mad, sizeof(mad) - 1), -EINVAL);
	assert_int_equal(cm_mad_check(mad, 0), -EINVAL);
}

static void private_data_sizes(void **state)
{
	static const struct {
		enum cm_msg msg;
		size_t len;
	} sizes[] = {
		{CM_MSG_REQ, 92},   {CM_MSG_MRA, 222},	    {CM_MSG_REJ, 148},
		{CM_MSG_REP, 196},  {CM_MSG_RTU, 224},	    {CM_MSG_DREQ, 220},
		{CM_MSG_DREP, 224}, {CM_MSG_SIDR_REQ, 216}, {CM_MSG_SIDR_REP, 136},
	};
	uint8_t mad[CM_MAD_LEN];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *p = cm_private_data(mad, sizes[i].msg, &len);

		assert_int_equal(len, sizes[i].len);
		assert_ptr_equal(p + len, mad + CM_MAD_LEN);
	}
}

/* Field by field: the padding between them means nothing. */
static void assert_same_header(const struct cm_ip_header *a, const struct cm_ip_header *b)
{
	assert_int_equal(a->v6, b->v6);
	assert_int_equal(a->src_port, b->src_port);
	assert_memory_equal(a->src, b->src, sizeof(a->src));
	assert_memory_equal(a->dst, b->dst, sizeof(a->dst));
}

static void ip_header(void **state)
{
	struct cm_ip_header h = {.src_port = 0xbb98}, back;
	uint8_t bytes[CM_IP_HEADER_LEN];
	static const uint8_t v4[4] = {10, 9, 0, 2};

	(void)state;
	h.src[10] = h.src[11] = h.dst[10] = h.dst[11] = 0xff;
	memcpy(h.src + 12, v4, 4);
	memcpy(h.dst + 12, v4, 4);
	cm_ip_header_put(bytes, &h);
	assert_int_equal(bytes[1], 0x40);
	assert_memory_equal(bytes + 16, v4, 4);
	assert_int_equal(cm_ip_header_get(bytes, sizeof(bytes), &back), 0);
	assert_same_header(&h, &back);
	h.v6 = true;
	memset(h.src, 0xfd, 16);
	cm_ip_header_put(bytes, &h);
	assert_int_equal(cm_ip_header_get(bytes, sizeof(bytes), &back), 0);
	assert_same_header(&h, &back);
	assert_int_equal(cm_ip_header_get(bytes, sizeof(bytes) - 1, &back), -EINVAL);
	bytes[1] = 0x50;
	assert_int_equal(cm_ip_header_get(bytes, sizeof(bytes), &back), -EINVAL);
	bytes[0] = 1;
	assert_int_equal(cm_ip_header_get(bytes, sizeof(bytes), &back), -EINVAL);
}

static void service_ids(void **state)
{
	uint16_t ps, port;

	(void)state;
	assert_int_equal(cm_service_id(0x106, 0x1c06), 0x1061c06);
	assert_true(cm_service_port(0x1111c06, &ps, &port));
	assert_int_equal(ps, 0x111);
	assert_int_equal(port, 0x1c06);
	assert_false(cm_service_port(0x1000000001061c06ull, &ps, &port));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_apart),   cmocka_unit_test(fields_keep_values),
		cmocka_unit_test(others_are_refused), cmocka_unit_test(private_data_sizes),
		cmocka_unit_test(ip_header),	      cmocka_unit_test(service_ids),
	};

	return cmocka_run_group_tests_name("cm_mad", tests, NULL, NULL);
}
