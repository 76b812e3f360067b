/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sysfs-like tree below RUNDIR/sys that libibverbs and tools read in
 * place of /sys: real directories in devices/virtual, links to them in class,
 * files with the kernel driver's contents. Control thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device_attr.h"
#include "log.h"
#include "netns.h"
#include "rxed.h"
#include "sysfs_file.h"
#include "sysfs_list.h"
#include "sysfs_param.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define VALUE_LEN 128

#define DEV_DIR	   "devices/virtual/infiniband"
#define UVERBS_DIR "devices/virtual/infiniband_verbs"

/* ---- the files of a device ---------------------------------------------------- */

/* Relative to the device's directory; contents that never change. */
static const struct {
	const char *path, *value;
} constants[] = {
	{"fw_ver", ""},
	{"node_type", "1: CA"},
	{"ports/1/cap_mask", "0x00010000"},
	{"ports/1/lid", "0x0"},
	{"ports/1/lid_mask_count", "0"},
	{"ports/1/link_layer", "Ethernet"},
	{"ports/1/pkeys/0", "0xffff"},
	{"ports/1/rate", "10 Gb/sec (1X FDR10)"},
	{"ports/1/sm_lid", "0x0"},
	{"ports/1/sm_sl", "0"},
	{"ports/1/hw_counters/lifespan", "12"},
	{"power/async", "disabled"},
	{"power/control", "auto"},
	{"power/runtime_active_kids", "0"},
	{"power/runtime_active_time", "0"},
	{"power/runtime_enabled", "disabled"},
	{"power/runtime_status", "unsupported"},
	{"power/runtime_suspended_time", "0"},
	{"power/runtime_usage", "0"},
	{"device/numa_node", "-1"},
};

static void show_guid(const struct rxe_dev *dev, char *buf)
{
	uint64_t g = dev->node_guid;

	snprintf(buf, VALUE_LEN, "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48),
		 (unsigned int)(g >> 32 & 0xffff), (unsigned int)(g >> 16 & 0xffff),
		 (unsigned int)(g & 0xffff));
}

static void show_desc(const struct rxe_dev *dev, char *buf)
{
	snprintf(buf, VALUE_LEN, "%.64s", dev->node_desc);
}

static void show_netdev(const struct rxe_dev *dev, char *buf)
{
	snprintf(buf, VALUE_LEN, "%s", dev->netdev);
}

static void show_uevent(const struct rxe_dev *dev, char *buf)
{
	snprintf(buf, VALUE_LEN, "NAME=%s", dev->name);
}

static void show_state(const struct rxe_dev *dev, char *buf)
{
	bool active = rxe_dev_port_state(dev) == RXE_PORT_ACTIVE;

	snprintf(buf, VALUE_LEN, "%s", active ? "4: ACTIVE" : "1: DOWN");
}

static void show_phys_state(const struct rxe_dev *dev, char *buf)
{
	static const char *const names[] = {
		[RXE_PHYS_POLLING] = "Polling",
		[RXE_PHYS_DISABLED] = "Disabled",
		[RXE_PHYS_LINK_UP] = "LinkUp",
	};
	unsigned int state = rxe_dev_phys_state(dev);

	snprintf(buf, VALUE_LEN, "%u: %s", state, names[state]);
}

static const struct {
	const char *path;
	void (*show)(const struct rxe_dev *dev, char *buf);
} attributes[] = {
	{"node_guid", show_guid},
	{"sys_image_guid", show_guid},
	{"node_desc", show_desc},
	{"parent", show_netdev},
	{"uevent", show_uevent},
	{"ports/1/state", show_state},
	{"ports/1/phys_state", show_phys_state},
};

#define HW_NAME(SYM, name) [RXE_HW_##SYM] = #name,
static const char *const hw_names[RXE_HW_DRIVER_COUNT] = {RXE_HW_COUNTERS(HW_NAME)};

/*
 * The IB port counters. Data counts 4-byte words (IBTA 16.1.3.5); what this
 * device cannot count, or what cannot happen to it, is 0 as the driver's.
 */
#define NO_COUNTER RXE_HW_COUNT
static const struct {
	const char *name;
	enum rxe_hw_counter counter;
	uint32_t divisor;
} port_counters[] = {
	{"VL15_dropped", NO_COUNTER, 1},
	{"excessive_buffer_overrun_errors", NO_COUNTER, 1},
	{"link_downed", RXE_HW_LINK_DOWNED, 1},
	{"link_error_recovery", NO_COUNTER, 1},
	{"local_link_integrity_errors", NO_COUNTER, 1},
	{"multicast_rcv_packets", NO_COUNTER, 1},
	{"multicast_xmit_packets", NO_COUNTER, 1},
	{"port_rcv_constraint_errors", NO_COUNTER, 1},
	{"port_rcv_data", RXE_HW_RCVD_BYTES, 4},
	{"port_rcv_errors", NO_COUNTER, 1},
	{"port_rcv_packets", RXE_HW_RCVD_PKTS, 1},
	{"port_rcv_remote_physical_errors", NO_COUNTER, 1},
	{"port_rcv_switch_relay_errors", NO_COUNTER, 1},
	{"port_xmit_constraint_errors", NO_COUNTER, 1},
	{"port_xmit_data", RXE_HW_SENT_BYTES, 4},
	{"port_xmit_discards", NO_COUNTER, 1},
	{"port_xmit_packets", RXE_HW_SENT_PKTS, 1},
	{"port_xmit_wait", NO_COUNTER, 1},
	{"symbol_error", NO_COUNTER, 1},
	{"unicast_rcv_packets", NO_COUNTER, 1},
	{"unicast_xmit_packets", NO_COUNTER, 1},
};

/* ---- writing -------------------------------------------------------------------- */

/* "DIR/NAME/file" below RUNDIR/sys. */
__attribute__((format(printf, 4, 5))) static int put(const char *dir, const char *name,
						     const char *value, const char *fmt, ...)
{
	char file[256], path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(file, sizeof(file), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	return rxe_sysfs_put(path, value);
}

static int put_dev(const struct rxe_dev *dev, const char *file, const char *value)
{
	return put(DEV_DIR, dev->name, value, "%s", file);
}

static int write_gid(const struct rxe_dev *dev, unsigned int i)
{
	const struct rxe_gid_entry *g = &dev->gids[i];
	char text[VALUE_LEN] = "";
	int err, len = 0;

	for (int k = 0; k < 16; k += 2)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%02x%02x", k ? ":" : "",
				g->valid ? g->ip.raw[k] : 0, g->valid ? g->ip.raw[k + 1] : 0);
	err = put(DEV_DIR, dev->name, text, "ports/1/gids/%u", i);
	/* Reading the type of a hole fails on a kernel, and libibverbs then says v1. */
	if (!err)
		err = put(DEV_DIR, dev->name, g->valid ? "RoCE v2" : "IB/RoCE v1",
			  "ports/1/gid_attrs/types/%u", i);
	if (!err)
		err = put(DEV_DIR, dev->name, g->valid ? dev->netdev : "",
			  "ports/1/gid_attrs/ndevs/%u", i);
	return err;
}

static int write_counters(const struct rxe_dev *dev)
{
	char value[VALUE_LEN];
	int err = 0;

	for (unsigned int i = 0; !err && i < RXE_HW_DRIVER_COUNT; i++) {
		snprintf(value, sizeof(value), "%" PRIu64, rxe_dev_counter(dev, i));
		err = put(DEV_DIR, dev->name, value, "ports/1/hw_counters/%s", hw_names[i]);
	}
	for (unsigned int i = 0; !err && i < COUNT(port_counters); i++) {
		enum rxe_hw_counter c = port_counters[i].counter;
		uint64_t n = c == NO_COUNTER ? 0 : rxe_dev_counter(dev, c);

		snprintf(value, sizeof(value), "%" PRIu64, n / port_counters[i].divisor);
		err = put(DEV_DIR, dev->name, value, "ports/1/counters/%s", port_counters[i].name);
	}
	return err;
}

/* In the order of their numbers, as enum cm_msg; the last two the CM does not take. */
static const char *const cm_names[RXE_CM_KINDS] = {
	"req", "mra", "rej", "rep", "rtu", "dreq", "drep", "sidr_req", "sidr_rep", "lap", "apr",
};
static const char *const cm_dirs[RXE_CM_COUNTS] = {
	[RXE_CM_TX_MSGS] = "cm_tx_msgs",
	[RXE_CM_TX_RETRIES] = "cm_tx_retries",
	[RXE_CM_RX_MSGS] = "cm_rx_msgs",
	[RXE_CM_RX_DUPLICATES] = "cm_rx_duplicates",
};

static int write_cm_counters(const struct rxe_dev *dev)
{
	char value[VALUE_LEN];
	int err = 0;

	for (int d = 0; d < RXE_CM_COUNTS; d++)
		for (int i = 0; !err && i < RXE_CM_KINDS; i++) {
			snprintf(value, sizeof(value), "%" PRIu64, dev->cm_msgs[d][i]);
			err = put(DEV_DIR, dev->name, value, "ports/1/%s/%s", cm_dirs[d],
				  cm_names[i]);
		}
	return err;
}

/* device/net/IF and device/infiniband_verbs/uverbsN: directories that tools look for. */
static int write_device_dir(const struct rxe_dev *dev)
{
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), DEV_DIR "/%s/device/net", dev->name);
	if (!rxe_sysfs_exists(path, dev->netdev))
		rxe_sysfs_remove(path); /* the netdev had another name */
	snprintf(path, sizeof(path), DEV_DIR "/%s/device/net/%s", dev->name, dev->netdev);
	err = rxe_sysfs_mkdir(path);
	if (err)
		return err;
	snprintf(path, sizeof(path), DEV_DIR "/%s/device/infiniband_verbs/uverbs%u", dev->name,
		 dev->minor);
	return rxe_sysfs_mkdir(path);
}

static int write_uverbs(const struct rxe_dev *dev)
{
	char name[32], value[VALUE_LEN], link[PATH_MAX], target[PATH_MAX];
	uint32_t minor = RXE_UVERBS_MINOR_BASE + dev->minor;
	int err;

	snprintf(name, sizeof(name), "uverbs%u", dev->minor);
	snprintf(value, sizeof(value), "%u:%u", RXE_UVERBS_MAJOR, minor);
	err = put(UVERBS_DIR, name, value, "dev");
	if (!err)
		err = put(UVERBS_DIR, name, dev->name, "ibdev");
	snprintf(value, sizeof(value), "%u", RXE_UVERBS_ABI);
	if (!err)
		err = put(UVERBS_DIR, name, value, "abi_version");
	snprintf(value, sizeof(value), "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s\nDEVMODE=0666",
		 RXE_UVERBS_MAJOR, minor, name);
	if (!err)
		err = put(UVERBS_DIR, name, value, "uevent");
	snprintf(link, sizeof(link), "class/infiniband_verbs/%s", name);
	snprintf(target, sizeof(target), "../../" UVERBS_DIR "/%s", name);
	return err ? err : rxe_sysfs_link(link, target);
}

static int write_files(const struct rxe_dev *dev)
{
	char value[VALUE_LEN];
	int err = 0;

	for (unsigned int i = 0; !err && i < COUNT(constants); i++)
		err = put_dev(dev, constants[i].path, constants[i].value);
	for (unsigned int i = 0; !err && i < COUNT(attributes); i++) {
		attributes[i].show(dev, value);
		err = put_dev(dev, attributes[i].path, value);
	}
	for (unsigned int i = 0; !err && i < RXE_GID_TBL_LEN; i++)
		err = write_gid(dev, i);
	return err;
}

/* ---- exclusive mode: what each network namespace sees ------------------------------- */

/*
 * netns/INO/class/... has links to the devices of namespace INO. The directory
 * netns is there in exclusive mode only: then programs look for classes below it.
 */
#define NETNS_DIR "netns"

static int link_for_netns(const struct rxe_dev *dev, const char *dir)
{
	unsigned long long ino = rxe_netns_ino(dev->rdma_ns);
	char link[PATH_MAX], target[PATH_MAX];
	int err;

	snprintf(link, sizeof(link), "%s/%llu/class/infiniband/%s", dir, ino, dev->name);
	snprintf(target, sizeof(target), "../../../../" DEV_DIR "/%s", dev->name);
	err = rxe_sysfs_link(link, target);
	snprintf(link, sizeof(link), "%s/%llu/class/infiniband_verbs/uverbs%u", dir, ino,
		 dev->minor);
	snprintf(target, sizeof(target), "../../../../" UVERBS_DIR "/uverbs%u", dev->minor);
	if (!err)
		err = rxe_sysfs_link(link, target);
	snprintf(link, sizeof(link), "%s/%llu/class/infiniband_verbs/abi_version", dir, ino);
	if (!err)
		err = rxe_sysfs_link(link, "../../../../class/infiniband_verbs/abi_version");
	return err;
}

static void unlink_for_netns(const struct rxe_dev *dev)
{
	unsigned long long ino = rxe_netns_ino(dev->rdma_ns);
	char link[PATH_MAX];

	snprintf(link, sizeof(link), NETNS_DIR "/%llu/class/infiniband/%s", ino, dev->name);
	rxe_sysfs_remove(link);
	snprintf(link, sizeof(link), NETNS_DIR "/%llu/class/infiniband_verbs/uverbs%u", ino,
		 dev->minor);
	rxe_sysfs_remove(link);
}

/* Made aside and put in place whole, so that nobody sees a part of it. */
void rxe_sysfs_netns_mode(void)
{
	bool exclusive = rxed.netns_mode == RXE_NETNS_EXCLUSIVE;
	struct rxe_dev *dev;
	int err = 0;

	if (exclusive) {
		rxe_sysfs_remove(NETNS_DIR ".new");
		err = rxe_sysfs_mkdir(NETNS_DIR ".new");
		TAILQ_FOREACH (dev, &rxed.devs, link)
			if (!err)
				err = link_for_netns(dev, NETNS_DIR ".new");
	}
	if (!err)
		err = rxe_sysfs_swap(NETNS_DIR, exclusive ? NETNS_DIR ".new" : NULL);
	if (err)
		log_err("writing which network namespace sees which device below %s/sys: %s; check "
			"space and permissions there",
			rxed.rundir, strerror(-err));
}

int rxe_sysfs_write_dev(struct rxe_dev *dev)
{
	char path[PATH_MAX], target[PATH_MAX];
	int err = write_files(dev);

	if (!err)
		err = write_counters(dev);
	if (!err)
		err = write_cm_counters(dev);
	if (!err)
		err = write_device_dir(dev);
	snprintf(path, sizeof(path), DEV_DIR "/%s/subsystem", dev->name);
	if (!err)
		err = rxe_sysfs_link(path, "../../../../class/infiniband");
	if (!err)
		err = write_uverbs(dev);
	/* Last, so that whoever finds the device finds all of it. */
	snprintf(path, sizeof(path), "class/infiniband/%s", dev->name);
	snprintf(target, sizeof(target), "../../" DEV_DIR "/%s", dev->name);
	if (!err)
		err = rxe_sysfs_link(path, target);
	if (!err && rxed.netns_mode == RXE_NETNS_EXCLUSIVE)
		err = link_for_netns(dev, NETNS_DIR);
	if (err)
		log_err("device %s: writing its files below %s/sys: %s; check space and "
			"permissions there",
			dev->name, rxed.rundir, strerror(-err));
	return err;
}

void rxe_sysfs_remove_dev(struct rxe_dev *dev)
{
	char path[PATH_MAX];

	if (rxed.netns_mode == RXE_NETNS_EXCLUSIVE)
		unlink_for_netns(dev);
	snprintf(path, sizeof(path), "class/infiniband/%s", dev->name);
	rxe_sysfs_remove(path);
	snprintf(path, sizeof(path), "class/infiniband_verbs/uverbs%u", dev->minor);
	rxe_sysfs_remove(path);
	snprintf(path, sizeof(path), UVERBS_DIR "/uverbs%u", dev->minor);
	rxe_sysfs_remove(path);
	snprintf(path, sizeof(path), DEV_DIR "/%s", dev->name);
	rxe_sysfs_remove(path);
}

int rxe_sysfs_init(void)
{
	int err;

	rxe_sysfs_remove(""); /* an earlier run's */
	err = rxe_sysfs_mkdir(DEV_DIR);
	if (!err)
		err = rxe_sysfs_mkdir(UVERBS_DIR);
	if (!err)
		err = rxe_sysfs_mkdir("class/infiniband");
	if (!err)
		err = rxe_sysfs_put("class/infiniband_verbs/abi_version", "6");
	if (!err)
		err = rxe_sysfs_mkdir("class/misc/rdma_cm");
	if (!err)
		err = rxe_sysfs_put("class/misc/rdma_cm/abi_version", "4");
	if (!err)
		err = rxe_sysfs_put("class/misc/rdma_cm/dev", "10:58");
	if (!err)
		err = rxe_sysfs_init_params();
	if (err)
		log_err("making %s/sys: %s; check that rxed may write there", rxed.rundir,
			strerror(-err));
	return err;
}

/* ---- files that change while nobody looks ------------------------------------------ */

/* The device that a path below /sys is about, and what follows its directory. */
static struct rxe_dev *dev_of_path(const char *path, const char **rest)
{
	char name[RXE_DEV_NAME_MAX];
	const char *p = strstr(path, "infiniband/"), *slash;

	if (!p)
		return NULL;
	p += strlen("infiniband/");
	slash = strchr(p, '/');
	if (!slash || (size_t)(slash - p) >= sizeof(name))
		return NULL;
	memcpy(name, p, (size_t)(slash - p));
	name[slash - p] = 0;
	*rest = slash + 1;
	return rxe_dev_by_name(name);
}

int rxe_sysfs_sync(const char *path, const struct rxe_netns *ns)
{
	const char *rest;
	struct rxe_dev *dev = dev_of_path(path, &rest);

	if (!strncmp(path, RXE_MERGED_DIR "/", strlen(RXE_MERGED_DIR "/")))
		return rxe_sysfs_sync_list(path, ns);
	if (rxe_sysfs_is_param(path))
		return rxe_sysfs_sync_param(path);
	if (!dev)
		return -ENOENT;
	if (!strncmp(rest, "ports/1/cm_", 11))
		return write_cm_counters(dev);
	if (strncmp(rest, "ports/1/hw_counters", 19) && strncmp(rest, "ports/1/counters", 16))
		return 0; /* always up to date */
	return write_counters(dev);
}
