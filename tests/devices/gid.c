/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The GID table's rules (PROTOCOL rule 30), and the arithmetic of MTUs, GUIDs
 * and device names. No kernel involved.
 */
#include "env.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device.h"
#include "gid.h"
#include "neigh.h"

static struct rxe_gid_entry tbl[RXE_GID_TBL_LEN];

static int add(const char *text)
{
	union rxe_ip ip = env_ip(text);

	return rxe_gid_add(tbl, &ip);
}

static int del(const char *text)
{
	union rxe_ip ip = env_ip(text);

	return rxe_gid_del(tbl, &ip);
}

static int find(const char *text)
{
	union rxe_ip ip = env_ip(text);

	return rxe_gid_find(tbl, &ip);
}

static int clear(void **state)
{
	(void)state;
	memset(tbl, 0, sizeof(tbl));
	return 0;
}

static void index_0_waits_for_the_link_local_address(void **state)
{
	(void)state;
	assert_int_equal(add("10.0.0.1"), 1);
	assert_int_equal(add("2001:db8::1"), 2);
	assert_false(tbl[0].valid);
	assert_int_equal(add("fe80::1"), 0);
	assert_int_equal(add("fe80::2"), 3);
	assert_int_equal(rxe_gid_count(tbl), 4);
}

static void an_index_keeps_its_meaning(void **state)
{
	(void)state;
	assert_int_equal(add("10.0.0.1"), 1);
	assert_int_equal(add("10.0.0.2"), 2);
	assert_int_equal(add("10.0.0.1"), -EEXIST);
	assert_int_equal(del("10.0.0.1"), 1);
	assert_false(tbl[1].valid);
	assert_int_equal(find("10.0.0.1"), -ENOENT);
	assert_int_equal(del("10.0.0.1"), -ENOENT);
	assert_int_equal(add("10.0.0.3"), 3); /* not the hole */
	assert_int_equal(add("10.0.0.1"), 1); /* back at its own */
	assert_int_equal(find("10.0.0.1"), 1);
}

static void a_full_table_refuses_strangers_only(void **state)
{
	char text[32];

	(void)state;
	for (int i = 1; i < RXE_GID_TBL_LEN; i++) {
		snprintf(text, sizeof(text), "10.0.0.%d", i);
		assert_int_equal(add(text), i);
	}
	assert_int_equal(add("10.0.1.1"), -ENOSPC);
	assert_int_equal(add("fe80::1"), 0); /* its place was kept */
	assert_int_equal(del("10.0.0.7"), 7);
	assert_int_equal(add("10.0.1.1"), -ENOSPC);
	assert_int_equal(add("10.0.0.7"), 7);
}

static void mtus(void **state)
{
	(void)state;
	assert_int_equal(rxe_ib_mtu_of_netdev(1500), 1024);
	assert_int_equal(rxe_ib_mtu_of_netdev(9000), 4096);
	assert_int_equal(rxe_ib_mtu_of_netdev(576), 256);
	assert_int_equal(rxe_ib_mtu_of_netdev(4180), 4096);
	assert_int_equal(rxe_ib_mtu_of_netdev(4179), 2048);
	assert_int_equal(rxe_ib_mtu_of_netdev(339), 0);
	assert_int_equal(rxe_ib_mtu_of_netdev(68), 0);
	assert_int_equal(rxe_ib_mtu_of_netdev(65536), 4096); /* lo */
	assert_int_equal(rxe_netdev_mtu_for(4096), 4180);
	assert_int_equal(rxe_netdev_mtu_for(256), 1280); /* IPv6 stays on */
	for (int i = 1; i <= 5; i++)
		assert_int_equal(rxe_mtu_to_enum(128u << i), i);
	assert_int_equal(rxe_mtu_to_enum(1500), 3);
	assert_int_equal(rxe_mtu_to_enum(255), 0);
}

static void guids(void **state)
{
	const uint8_t mac[6] = {0x52, 0x54, 0x00, 0x09, 0x00, 0x02};

	(void)state;
	/* reference: a driver on this MAC says 5054:00ff:fe09:0002 */
	assert_true(rxe_mac_to_guid(mac) == 0x505400fffe090002ull);
}

static void names(void **state)
{
	char longest[RXE_DEV_NAME_MAX + 1];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[RXE_DEV_NAME_MAX] = 0;
	assert_null(rxe_dev_name_fault("rxe0"));
	assert_null(rxe_dev_name_fault("rxe_eth0.100"));
	assert_non_null(rxe_dev_name_fault(""));
	assert_non_null(rxe_dev_name_fault(".."));
	assert_non_null(rxe_dev_name_fault("a/b"));
	assert_non_null(rxe_dev_name_fault("rxe%d"));
	assert_non_null(rxe_dev_name_fault("a b"));
	assert_non_null(rxe_dev_name_fault("a\nb"));
	assert_non_null(rxe_dev_name_fault(longest));
	longest[RXE_DEV_NAME_MAX - 1] = 0;
	assert_null(rxe_dev_name_fault(longest));
}

static void multicast_macs(void **state)
{
	union rxe_ip v4 = env_ip("239.129.2.3"), v6 = env_ip("ff0e::1:2345:6789");
	uint8_t mac[6];

	(void)state;
	assert_true(rxe_ip_is_multicast(&v4));
	assert_true(rxe_ip_is_multicast(&v6));
	v4 = env_ip("10.0.0.1");
	assert_false(rxe_ip_is_multicast(&v4));
	v4 = env_ip("239.129.2.3");
	rxe_multicast_mac(&v4, mac);
	assert_memory_equal(mac, ((uint8_t[]){0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}), 6);
	rxe_multicast_mac(&v6, mac);
	assert_memory_equal(mac, ((uint8_t[]){0x33, 0x33, 0x23, 0x45, 0x67, 0x89}), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(index_0_waits_for_the_link_local_address, clear),
		cmocka_unit_test_setup(an_index_keeps_its_meaning, clear),
		cmocka_unit_test_setup(a_full_table_refuses_strangers_only, clear),
		cmocka_unit_test(mtus),
		cmocka_unit_test(guids),
		cmocka_unit_test(names),
		cmocka_unit_test(multicast_macs),
	};

	return cmocka_run_group_tests_name("gid", tests, NULL, NULL);
}
