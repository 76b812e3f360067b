/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The GID table: real addresses of the netdev only, an index that keeps its
 * meaning for the device's life, and a hole where an address is missing.
 */
#include "gid.h"

#include <errno.h>
#include <string.h>
#include "rxe/bpf_abi.h"
#include "log.h"
#include "neigh.h"

static bool is_link_local(const union rxe_ip *ip)
{
	return ip->raw[0] == 0xfe && (ip->raw[1] & 0xc0) == 0x80;
}

static int find_used(const struct rxe_gid_entry *tbl, const union rxe_ip *ip)
{
	for (int i = 0; i < RXE_GID_TBL_LEN; i++) {
		if (tbl[i].used && rxe_ip_equal(&tbl[i].ip, ip))
			return i;
	}
	return -ENOENT;
}

static int find_unused(const struct rxe_gid_entry *tbl, const union rxe_ip *ip)
{
	if (is_link_local(ip) && !tbl[0].used)
		return 0;
	for (int i = 1; i < RXE_GID_TBL_LEN; i++) {
		if (!tbl[i].used)
			return i;
	}
	return -ENOSPC;
}

int rxe_gid_add(struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip)
{
	int i = find_used(tbl, ip);

	if (i >= 0 && tbl[i].valid)
		return -EEXIST;
	if (i < 0)
		i = find_unused(tbl, ip);
	if (i < 0)
		return i;
	tbl[i] = (struct rxe_gid_entry){.ip = *ip, .valid = true, .used = true};
	return i;
}

int rxe_gid_del(struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip)
{
	int i = rxe_gid_find(tbl, ip);

	if (i >= 0)
		tbl[i].valid = false;
	return i;
}

int rxe_gid_find(const struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip)
{
	int i = find_used(tbl, ip);

	return i >= 0 && tbl[i].valid ? i : -ENOENT;
}

unsigned int rxe_gid_count(const struct rxe_gid_entry tbl[RXE_GID_TBL_LEN])
{
	unsigned int n = 0;

	for (int i = 0; i < RXE_GID_TBL_LEN; i++)
		n += tbl[i].valid;
	return n;
}

/* ---- table and datapath together ------------------------------------------ */

/* True when the device has a new GID. */
static bool gid_up(struct rxe_dev *dev, const union rxe_ip *ip)
{
	char text[RXE_IP_STRLEN];
	int i = rxe_gid_add(dev->gids, ip), err;

	if (i == -ENOSPC)
		log_warn("device %s: address %s gets no GID: all %d indices have meant an address "
			 "already; delete and add the device to start afresh",
			 dev->name, rxe_ip_str(ip, text), RXE_GID_TBL_LEN);
	if (i < 0)
		return false;
	err = dev->dp_ops->addr_set(dev->dp, ip, RXE_ADDR_UNICAST);
	if (err) {
		log_err("device %s: giving address %s to the datapath: %s; GID %d is not offered",
			dev->name, rxe_ip_str(ip, text), strerror(-err), i);
		dev->gids[i].valid = false;
		return false;
	}
	log_info("device %s: GID %d is %s", dev->name, i, rxe_ip_str(ip, text));
	return true;
}

static bool gid_down(struct rxe_dev *dev, const union rxe_ip *ip)
{
	char text[RXE_IP_STRLEN];
	int i = rxe_gid_del(dev->gids, ip);

	if (i < 0)
		return false;
	dev->dp_ops->addr_clear(dev->dp, ip);
	log_info("device %s: GID %d (%s) is gone", dev->name, i, rxe_ip_str(ip, text));
	return true;
}

struct sync {
	struct rxe_dev *dev;
	bool seen[RXE_GID_TBL_LEN];
	bool changed;
};

static void sync_addr(void *arg, const struct rxe_ifaddr *a)
{
	struct sync *s = arg;
	int i;

	if (!a->ready)
		return;
	s->changed |= gid_up(s->dev, &a->ip);
	i = rxe_gid_find(s->dev->gids, &a->ip);
	if (i >= 0)
		s->seen[i] = true;
}

int rxe_gid_sync(struct rxe_dev *dev)
{
	struct sync s = {.dev = dev};
	int err = rxe_rtnl_addrs(dev->rtnl, dev->ifindex, sync_addr, &s);

	if (err)
		return err;
	for (int i = 0; i < RXE_GID_TBL_LEN; i++) {
		if (dev->gids[i].valid && !s.seen[i])
			s.changed |= gid_down(dev, &dev->gids[i].ip);
	}
	return s.changed;
}

void rxe_gid_announce(struct rxe_dev *dev)
{
	rxe_sysfs_write_dev(dev);
	rxe_neigh_recheck(dev->ns);
	rxe_uverbs_dev_event(dev, RXE_EV_GID_CHANGE);
}

void rxe_gid_addr_event(struct rxe_dev *dev, enum rxe_rtnl_change c, const struct rxe_ifaddr *a)
{
	bool changed;

	if (c == RXE_RTNL_NEW && a->ready)
		changed = gid_up(dev, &a->ip);
	else
		changed = gid_down(dev, &a->ip);
	if (changed)
		rxe_gid_announce(dev);
}
