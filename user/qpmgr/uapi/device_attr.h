/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attributes of a device that several of the kernel's interfaces report
 * (uverbs, NETLINK_RDMA, sysfs), so that they report the same.
 */
#ifndef RXE_DEVICE_ATTR_H
#define RXE_DEVICE_ATTR_H

#include "rxed.h"

/* enum ib_device_cap_flags of the kernel: what this device really does. */
enum {
	RXE_CAP_BAD_PKEY_CNTR = 1 << 1,
	RXE_CAP_BAD_QKEY_CNTR = 1 << 2,
	RXE_CAP_CHANGE_PHY_PORT = 1 << 5,
	RXE_CAP_UD_AV_PORT_ENFORCE = 1 << 6,
	RXE_CAP_PORT_ACTIVE_EVENT = 1 << 10,
	RXE_CAP_SYS_IMAGE_GUID = 1 << 11,
	RXE_CAP_RC_RNR_NAK_GEN = 1 << 12,
	RXE_CAP_SRQ_RESIZE = 1 << 13,
	RXE_CAP_MEM_WINDOW = 1 << 17,
	RXE_CAP_MEM_MGT_EXTENSIONS = 1 << 21, /* LOCAL_INV, SEND_WITH_INV */
	RXE_CAP_MEM_WINDOW_TYPE_2B = 1 << 24,
};
/* Those beyond 32 bits, which no enumerator holds. */
#define RXE_CAP_FLUSH_GLOBAL (1ull << 38)
#define RXE_CAP_ATOMIC_WRITE (1ull << 40)
#define RXE_DEVICE_CAPS                                                                    \
	(RXE_CAP_BAD_PKEY_CNTR | RXE_CAP_BAD_QKEY_CNTR | RXE_CAP_CHANGE_PHY_PORT |         \
	 RXE_CAP_UD_AV_PORT_ENFORCE | RXE_CAP_PORT_ACTIVE_EVENT | RXE_CAP_SYS_IMAGE_GUID | \
	 RXE_CAP_RC_RNR_NAK_GEN | RXE_CAP_SRQ_RESIZE | RXE_CAP_MEM_WINDOW |                \
	 RXE_CAP_MEM_MGT_EXTENSIONS | RXE_CAP_MEM_WINDOW_TYPE_2B | RXE_CAP_FLUSH_GLOBAL |  \
	 RXE_CAP_ATOMIC_WRITE)
#define RXE_PORT_CAPS  (1u << 16) /* IB_PORT_CM_SUP */
#define RXE_DRIVER_ID  14	  /* RDMA_DRIVER_RXE */
#define RXE_UVERBS_ABI 2

/* enum ib_port_state and the physical state of IBTA 14.2.5.6. */
enum { RXE_PORT_DOWN = 1, RXE_PORT_ACTIVE = 4 };
enum { RXE_PHYS_POLLING = 2, RXE_PHYS_DISABLED = 3, RXE_PHYS_LINK_UP = 5 };

static inline uint8_t rxe_dev_port_state(const struct rxe_dev *dev)
{
	return dev->netdev_up ? RXE_PORT_ACTIVE : RXE_PORT_DOWN;
}

/* As the driver: without carrier it polls, administratively down is disabled. */
static inline uint8_t rxe_dev_phys_state(const struct rxe_dev *dev)
{
	if (dev->netdev_up)
		return RXE_PHYS_LINK_UP;
	return dev->netdev_admin_up ? RXE_PHYS_POLLING : RXE_PHYS_DISABLED;
}

#endif
