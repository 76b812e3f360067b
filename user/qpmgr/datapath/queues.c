// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Queue counts by ethtool, else by rtnetlink (sysfs shows another netns). */
#include "datapath/queues.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/route/link.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int by_ethtool(const char *netdev, struct rxe_queue_counts *q)
{
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq ifr = {.ifr_data = (void *)&ch};
	int fd, err;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	strncpy(ifr.ifr_name, netdev, IFNAMSIZ - 1);
	err = ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
	close(fd);
	if (err)
		return err;
	q->rx = ch.combined_count + ch.rx_count;
	q->tx = ch.combined_count + ch.tx_count;
	return 0;
}

static int by_netlink(const char *netdev, struct rxe_queue_counts *q)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct rtnl_link *link = NULL;
	int err;

	if (!sk)
		return -ENOMEM;
	err = nl_connect(sk, NETLINK_ROUTE);
	if (!err)
		err = rtnl_link_get_kernel(sk, 0, netdev, &link);
	if (!err) {
		q->rx = rtnl_link_get_num_rx_queues(link);
		q->tx = rtnl_link_get_num_tx_queues(link);
		rtnl_link_put(link);
	}
	nl_socket_free(sk);
	return err ? -ENODEV : 0;
}

int rxe_queue_counts(const char *netdev, struct rxe_queue_counts *q)
{
	int err = by_ethtool(netdev, q);

	if (err)
		err = by_netlink(netdev, q);
	if (err)
		return err;
	if (!q->rx)
		q->rx = 1;
	if (!q->tx)
		q->tx = 1;
	return 0;
}
