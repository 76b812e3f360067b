/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arithmetic of MTUs, GUIDs and names of devices, apart from the devices
 * themselves, so that it can be tested alone.
 */
#include "device.h"

#include <ctype.h>
#include <string.h>

uint32_t rxe_ib_mtu_floor(uint32_t bytes)
{
	uint32_t mtu = RXE_MAX_IB_MTU;

	while (mtu >= RXE_MIN_IB_MTU && mtu > bytes)
		mtu /= 2;
	return mtu >= RXE_MIN_IB_MTU ? mtu : 0;
}

uint32_t rxe_ib_mtu_of_netdev(uint32_t netdev_mtu)
{
	return netdev_mtu < RXE_MAX_HDR_LEN ? 0 : rxe_ib_mtu_floor(netdev_mtu - RXE_MAX_HDR_LEN);
}

uint32_t rxe_netdev_mtu_for(uint32_t ib_mtu)
{
	uint32_t mtu = ib_mtu + RXE_MAX_HDR_LEN;

	return mtu < RXE_MIN_IPV6_MTU ? RXE_MIN_IPV6_MTU : mtu;
}

uint32_t rxe_mtu_to_enum(uint32_t bytes)
{
	uint32_t value = 0;

	for (uint32_t mtu = RXE_MIN_IB_MTU; mtu <= RXE_MAX_IB_MTU && mtu <= bytes; mtu *= 2)
		value++;
	return value;
}

uint64_t rxe_mac_to_guid(const uint8_t mac[6])
{
	uint8_t eui[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	uint64_t guid = 0;

	for (int i = 0; i < 8; i++)
		guid = guid << 8 | eui[i];
	return guid;
}

const char *rxe_dev_name_fault(const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return "it is empty";
	if (len >= RXE_DEV_NAME_MAX)
		return "it is longer than 63 characters";
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return "it names a directory";
	for (size_t i = 0; i < len; i++) {
		if (!isgraph((unsigned char)name[i]) || strchr("/%:", name[i]))
			return "it holds a space, '/', '%', ':' or an unprintable character";
	}
	return NULL;
}
