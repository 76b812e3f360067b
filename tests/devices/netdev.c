/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices on a real netdev: created, kept equal to it through every kind of
 * change, deleted with it; and next hops of a real peer. In network
 * namespaces of this process's own, joined by a veth pair: va here, vb there.
 */
#include "env.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gid.h"
#include "group.h"
#include "neigh.h"
#include "netns.h"

static struct rxe_netns *ns;
static struct rxe_dev *dev;
static pid_t peer; /* a process that does nothing but keep the other namespace */
static char err[512];

/* ---- surroundings ------------------------------------------------------------- */

static void start_peer(void)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	peer = fork();
	assert_true(peer >= 0);
	if (!peer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void peer_sh(const char *cmd)
{
	env_sh("nsenter --net=/proc/%d/ns/net %s", (int)peer, cmd);
}

static int set_up(void **state)
{
	(void)state;
	env_start();
	start_peer();
	env_sh("ip link set lo up");
	env_sh("ip link add va address 52:54:00:09:00:02 type veth peer name vb netns %d",
	       (int)peer);
	env_sh("ip addr add 10.9.0.2/24 dev va");
	env_sh("ip link set va up");
	peer_sh("ip addr add 10.9.0.3/24 dev vb");
	peer_sh("ip link set vb address 52:54:00:09:00:03 up");
	assert_int_equal(rxe_netns_self(&ns), 0);
	dev = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	env_stop();
	rxe_netns_put(ns);
	(void)!system("ip link delete va 2>/dev/null; ip link delete vc 2>/dev/null");
	kill(peer, SIGKILL);
	waitpid(peer, NULL, 0);
	return 0;
}

static void create(void)
{
	int ret = rxe_dev_create(ns, "rxe0", "va", &dev, err, sizeof(err));

	if (ret)
		fail_msg("rxe_dev_create: %d: %s", ret, err);
}

static bool has_gid(void *arg)
{
	union rxe_ip ip = env_ip(arg);

	return rxe_gid_find(dev->gids, &ip) >= 0;
}

static bool lacks_gid(void *arg)
{
	return !has_gid(arg);
}

static bool dp_has(const char *text)
{
	union rxe_ip ip = env_ip(text);

	for (unsigned int i = 0; i < env.nr_addrs; i++) {
		if (!memcmp(&env.addrs[i], &ip, sizeof(ip)))
			return true;
	}
	return false;
}

#define LINK_LOCAL "fe80::5054:ff:fe09:2"

/* ---- creating and deleting ------------------------------------------------------ */

static void a_device_shows_its_netdev(void **state)
{
	(void)state;
	create();
	assert_int_equal(dev->index, 0);
	assert_int_equal(dev->minor, 0);
	assert_true(dev->node_guid == 0x505400fffe090002ull);
	assert_int_equal(dev->hca.mtu, 1024);
	assert_int_equal(dev->hca.ud_mtu, 1024);
	assert_true(dev->hca.port_up);
	assert_int_equal(dev->hca.limits.max_cqe, 32767);
	assert_true(has_gid("10.9.0.2"));
	assert_true(dp_has("10.9.0.2"));
	assert_int_equal(env.opened, 1);
	assert_int_equal(env.attached, 1);
	assert_string_equal(env_sysfs("class/infiniband/rxe0/node_guid"), "5054:00ff:fe09:0002");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/state"), "4: ACTIVE");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gids/1"),
			    "0000:0000:0000:0000:0000:ffff:0a09:0002");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gid_attrs/types/1"),
			    "RoCE v2");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1"), "va");
	assert_non_null(env_sysfs("class/infiniband/rxe0/ports/1/gids/31"));
	assert_string_equal(env_sysfs("class/infiniband_verbs/uverbs0/dev"), "231:192");
	assert_string_equal(env_sysfs("class/infiniband_verbs/uverbs0/ibdev"), "rxe0");
	rxe_dev_delete(dev);
	assert_int_equal(env.gone, 1);
	assert_int_equal(env.detached, 1);
	assert_int_equal(env.closed, 1);
	assert_null(env_sysfs("class/infiniband/rxe0/node_guid"));
	assert_null(env_sysfs("class/infiniband_verbs/uverbs0/dev"));
}

static void refusals_say_why_and_leave_nothing(void **state)
{
	(void)state;
	assert_int_equal(rxe_dev_create(ns, "rxe0", "nosuch", NULL, err, sizeof(err)), -ENODEV);
	assert_non_null(strstr(err, "nosuch"));
	assert_int_equal(
		rxe_dev_create(ns, "rxe0", "a-name-too-long-for-a-netdev", NULL, err, sizeof(err)),
		-ENODEV);
	assert_int_equal(rxe_dev_create(ns, "a/b", "va", NULL, err, sizeof(err)), -EINVAL);
	env.open_error = -EBUSY;
	assert_int_equal(rxe_dev_create(ns, "rxe0", "va", NULL, err, sizeof(err)), -EBUSY);
	assert_non_null(strstr(err, "refuses"));
	assert_null(env_sysfs("class/infiniband/rxe0/node_guid"));
	env.open_error = 0;
	env.attach_err = -ENOMEM;
	assert_int_equal(rxe_dev_create(ns, "rxe0", "va", NULL, err, sizeof(err)), -ENOMEM);
	assert_non_null(strstr(err, "worker"));
	assert_null(env_sysfs("class/infiniband/rxe0/node_guid"));
	assert_true(env.opened == 1 && env.closed == 1);
	env.attach_err = 0;
	env_sh("ip link set va mtu 300");
	assert_int_equal(rxe_dev_create(ns, "rxe0", "va", NULL, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "MTU 300"));
	env_sh("ip link set va mtu 1500");
	create();
	assert_int_equal(rxe_dev_create(ns, "rxe1", "va", NULL, err, sizeof(err)), -EEXIST);
	assert_non_null(strstr(err, "rxe0"));
	env_sh("ip link add vc type veth peer name vd");
	assert_int_equal(rxe_dev_create(ns, "rxe0", "vc", NULL, err, sizeof(err)), -EEXIST);
	assert_int_equal(env.opened, 2);
	assert_true(TAILQ_FIRST(&rxed.devs) == dev && !TAILQ_NEXT(dev, link));
}

static void a_netdev_without_an_address_is_taken(void **state)
{
	(void)state;
	env_sh("ip link add vc type veth peer name vd");
	assert_int_equal(rxe_dev_create(ns, "rxe0", "vc", &dev, err, sizeof(err)), 0);
	assert_int_equal(rxe_gid_count(dev->gids), 0);
	assert_false(dev->hca.port_up);
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/phys_state"), "3: Disabled");
}

static void the_loopback_netdev_is_taken(void **state)
{
	union rxe_ip ip = env_ip("127.0.0.1");
	struct rxe_route *route;

	(void)state;
	assert_int_equal(rxe_dev_create(ns, "rxelo", "lo", &dev, err, sizeof(err)), 0);
	assert_int_equal(dev->hca.mtu, 4096);
	assert_true(dev->hca.port_up);
	assert_int_equal(rxe_gid_find(dev->gids, &ip), 1);
	assert_int_equal(rxe_route_resolve(dev, &ip, &ip, NULL, NULL, &route), 0);
	assert_true(route->local);
	rxe_route_put(route);
}

static bool no_devices(void *arg)
{
	(void)arg;
	return TAILQ_EMPTY(&rxed.devs);
}

static void a_deleted_netdev_takes_its_device_along(void **state)
{
	(void)state;
	create();
	env_sh("ip link delete va");
	assert_true(env_wait(no_devices, NULL, 2000));
	assert_int_equal(env.gone, 1);
	assert_null(env_sysfs("class/infiniband/rxe0/node_guid"));
}

static void a_netdev_that_moves_away_counts_as_deleted(void **state)
{
	(void)state;
	create();
	env_sh("ip link set va netns %d", (int)peer);
	assert_true(env_wait(no_devices, NULL, 2000));
}

static void indices_grow_and_minors_are_reused(void **state)
{
	(void)state;
	create();
	rxe_dev_delete(dev);
	create();
	assert_int_equal(dev->index, 1);
	assert_int_equal(dev->minor, 0);
}

static void renaming(void **state)
{
	struct rxe_dev *other;

	(void)state;
	create();
	env_sh("ip link add vc type veth peer name vd");
	assert_int_equal(rxe_dev_create(ns, "rxe1", "vc", &other, err, sizeof(err)), 0);
	assert_int_equal(rxe_dev_rename(dev, "rxe1"), -EEXIST);
	assert_int_equal(rxe_dev_rename(dev, "a/b"), -EINVAL);
	assert_int_equal(rxe_dev_rename(dev, "rxe0"), 0);
	assert_int_equal(rxe_dev_rename(dev, "foo0"), 0);
	assert_true(rxe_dev_by_name("foo0") == dev);
	assert_null(rxe_dev_by_name("rxe0"));
	assert_null(env_sysfs("class/infiniband/rxe0/node_type"));
	assert_string_equal(env_sysfs("class/infiniband/foo0/node_type"), "1: CA");
	assert_string_equal(env_sysfs("class/infiniband_verbs/uverbs0/ibdev"), "foo0");
	assert_string_equal(env_sysfs("class/infiniband/foo0/uevent"), "NAME=foo0");
}

/* ---- following the netdev ---------------------------------------------------------- */

static void gids_follow_the_addresses(void **state)
{
	(void)state;
	create();
	assert_true(env_wait(has_gid, LINK_LOCAL, 5000)); /* tentative at first */
	assert_true(dev->gids[0].valid);
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gids/0"),
			    "fe80:0000:0000:0000:5054:00ff:fe09:0002");
	assert_true(dp_has(LINK_LOCAL));
	env_sh("ip addr add 10.9.0.77/24 dev va");
	assert_true(env_wait(has_gid, "10.9.0.77", 2000));
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gids/2"),
			    "0000:0000:0000:0000:0000:ffff:0a09:004d");
	assert_int_equal(env.events[RXE_EV_GID_CHANGE], 2);
	env_sh("ip addr del 10.9.0.77/24 dev va");
	assert_true(env_wait(lacks_gid, "10.9.0.77", 2000));
	assert_false(dp_has("10.9.0.77"));
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gids/2"),
			    "0000:0000:0000:0000:0000:0000:0000:0000");
	env_sh("ip addr add 10.9.0.78/24 dev va");
	env_sh("ip addr add 10.9.0.77/24 dev va");
	assert_true(env_wait(has_gid, "10.9.0.77", 2000));
	assert_true(dev->gids[2].valid);
	assert_true(dev->gids[3].valid);
}

static bool port_is(void *arg)
{
	return dev->hca.port_up == *(bool *)arg;
}

static void the_port_follows_the_link(void **state)
{
	bool up = true, down = false;

	(void)state;
	create();
	env_sh("ip link set va down");
	assert_true(env_wait(port_is, &down, 2000));
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/state"), "1: DOWN");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/phys_state"), "3: Disabled");
	assert_int_equal(env.events[RXE_EV_PORT_ERR], 1);
	assert_int_equal(rxe_dev_counter(dev, RXE_HW_LINK_DOWNED), 100 + RXE_HW_LINK_DOWNED + 1);
	env_sh("ip link set va up");
	assert_true(env_wait(port_is, &up, 2000));
	assert_int_equal(env.events[RXE_EV_PORT_ACTIVE], 1);
	peer_sh("ip link set vb down"); /* no carrier */
	assert_true(env_wait(port_is, &down, 2000));
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/phys_state"), "2: Polling");
}

/* An XDP program that does nothing, on va; its id. */
static uint32_t load_prog(int *fd)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	*fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "adopted", "GPL", pass, 2, NULL);
	assert_true(*fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(*fd, &info, &len), 0);
	return info.id;
}

static bool is_detached(void *arg)
{
	return dev->detached == *(bool *)arg;
}

/* A program that the datapath needs is taken off and put back, in each mode. */
static void the_port_follows_the_program(void **state)
{
	static const uint32_t modes[] = {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE};
	bool up = true, down = false;
	int fd;

	(void)state;
	env.needs_prog = load_prog(&fd);
	for (size_t i = 0; i < 2; i++) {
		create();
		assert_int_equal(bpf_xdp_attach(dev->ifindex, fd, modes[i], NULL), 0);
		env_sh("ip link set va mtu 1400"); /* an event behind that of attaching */
		env_sh("ip link set va mtu 1500");
		assert_int_equal(bpf_xdp_detach(dev->ifindex, modes[i], NULL), 0);
		assert_true(env_wait(port_is, &down, 2000));
		assert_true(dev->detached);
		assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/state"), "1: DOWN");
		assert_int_equal(bpf_xdp_attach(dev->ifindex, fd, modes[i], NULL), 0);
		assert_true(env_wait(port_is, &up, 2000));
		assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/state"), "4: ACTIVE");
		/* While the link is down nothing tells of it: seen when it comes up. */
		env_sh("ip link set va down");
		assert_true(env_wait(port_is, &down, 2000));
		assert_int_equal(bpf_xdp_detach(dev->ifindex, modes[i], NULL), 0);
		env_sh("ip link set va up");
		assert_true(env_wait(is_detached, &(bool){true}, 2000));
		assert_false(dev->hca.port_up);
		rxe_dev_delete(dev);
	}
	close(fd);
}

static bool mtu_is(void *arg)
{
	return dev->hca.mtu == *(uint32_t *)arg;
}

static bool netdev_mtu_is(void *arg)
{
	return dev->netdev_mtu == *(uint32_t *)arg;
}

static void the_mtu_follows_the_netdev_and_the_tunables(void **state)
{
	uint32_t want;

	(void)state;
	create();
	env_sh("ip link set va mtu 9000");
	want = 4096;
	assert_true(env_wait(mtu_is, &want, 2000));
	env.params[RXE_PARAM_DEFAULT_MTU] = 1000;
	env.params[RXE_PARAM_MTU] = 512;
	want = 512;
	assert_true(env_wait(mtu_is, &want, 2000));
	assert_int_equal(dev->hca.ud_mtu, 512);
	want = 1280;
	assert_true(env_wait(netdev_mtu_is, &want, 2000));
	env.params[RXE_PARAM_MTU] = 2048;
	want = 2048;
	assert_true(env_wait(mtu_is, &want, 2000));
	assert_int_equal(dev->netdev_mtu, 2048 + 84);
	assert_int_equal(dev->hca.ud_mtu, 1000);
	env_sh("test \"$(ip -o link show va | grep -o 'mtu [0-9]*')\" = 'mtu 2132'");
	env.params[RXE_PARAM_MTU] = 0;
	env_sh("ip link set va mtu 9000");
	want = 4096;
	assert_true(env_wait(mtu_is, &want, 2000));
	env.max_ib_mtu = 2048;
	want = 2048;
	assert_true(env_wait(mtu_is, &want, 2000));
}

static bool named(void *arg)
{
	return !strcmp(dev->netdev, arg);
}

static bool mac_ends(void *arg)
{
	return env.mac[5] == *(uint8_t *)arg;
}

static void name_and_mac_of_the_netdev_may_change(void **state)
{
	uint8_t last = 0x22;

	(void)state;
	create();
	env_sh("ip link set va address 52:54:00:09:00:22");
	assert_true(env_wait(mac_ends, &last, 2000));
	assert_true(dev->node_guid == 0x505400fffe090002ull); /* for life */
	env_sh("ip link set va down; ip link set va name vc; ip link set vc up");
	assert_true(env_wait(named, "vc", 2000));
	assert_string_equal(env_sysfs("class/infiniband/rxe0/parent"), "vc");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1"), "vc");
}

static void counters_are_written_when_asked_for(void **state)
{
	(void)state;
	create();
	dev->link_downed = 5;
	assert_int_equal(
		rxe_sysfs_sync("class/infiniband/rxe0/ports/1/hw_counters/link_downed", ns), 0);
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/hw_counters/link_downed"),
			    "117");
	assert_string_equal(env_sysfs("class/infiniband/rxe0/ports/1/counters/port_xmit_data"),
			    "28");
	assert_int_equal(rxe_sysfs_sync("class/infiniband/nosuch/ports/1/hw_counters/x", ns),
			 -ENOENT);
	assert_int_equal(rxe_sysfs_sync("../../etc/passwd", ns), -ENOENT);
}

/* ---- next hops ------------------------------------------------------------------------ */

struct answer {
	int calls, err;
	struct rxe_route *route;
};

static void answered(void *arg, int error, struct rxe_route *route)
{
	struct answer *a = arg;

	a->calls++;
	a->err = error;
	a->route = route;
}

static bool has_answer(void *arg)
{
	return ((struct answer *)arg)->calls;
}

static int start_resolve(const char *from, const char *to, struct answer *a)
{
	union rxe_ip sip = env_ip(from), dip = env_ip(to);

	memset(a, 0, sizeof(*a));
	return rxe_route_resolve(dev, &sip, &dip, answered, a, &a->route);
}

/* The route, however it came; NULL with a->err on failure. */
static struct rxe_route *resolve(const char *from, const char *to, struct answer *a)
{
	a->err = start_resolve(from, to, a);
	if (a->err == -EINPROGRESS && !env_wait(has_answer, a, 5000))
		fail_msg("no answer for %s", to);
	return a->err ? NULL : a->route;
}

/* The device, and its route to the peer. */
static struct rxe_route *create_and_resolve(void)
{
	struct rxe_route *r;
	struct answer a;

	create();
	r = resolve("10.9.0.2", "10.9.0.3", &a);
	assert_non_null(r);
	return r;
}

static void assert_mac(const struct rxe_route *r, uint8_t last)
{
	uint8_t mac[6];

	rxe_route_mac(r, mac);
	assert_memory_equal(mac, ((uint8_t[]){0x52, 0x54, 0x00, 0x09, 0x00, last}), 6);
}

static void a_neighbour_is_resolved_once_and_shared(void **state)
{
	struct rxe_route *r, *again;
	struct answer b;

	(void)state;
	r = create_and_resolve();
	assert_false(r->local);
	assert_mac(r, 3);
	again = resolve("10.9.0.2", "10.9.0.3", &b);
	assert_ptr_equal(again, r);
	assert_int_equal(b.calls, 0); /* known at once */
	rxe_route_put(r);
	rxe_route_put(again);
}

static void ipv6_neighbours_too(void **state)
{
	struct rxe_route *r;
	struct answer a;

	(void)state;
	create();
	env_sh("ip addr add 2001:db8::2/64 dev va nodad");
	peer_sh("ip addr add 2001:db8::3/64 dev vb nodad");
	assert_true(env_wait(has_gid, "2001:db8::2", 2000));
	r = resolve("2001:db8::2", "2001:db8::3", &a);
	assert_non_null(r);
	assert_mac(r, 3);
	rxe_route_put(r);
}

static void own_and_multicast_addresses_need_no_neighbour(void **state)
{
	struct rxe_route *r;
	uint8_t mac[6];
	struct answer a;

	(void)state;
	create();
	assert_int_equal(start_resolve("10.9.0.2", "10.9.0.2", &a), 0);
	assert_true(a.route->local);
	assert_mac(a.route, 2);
	rxe_route_put(a.route);
	assert_int_equal(start_resolve("10.9.0.2", "239.1.2.3", &a), 0);
	r = a.route;
	assert_false(r->local);
	rxe_route_mac(r, mac);
	assert_memory_equal(mac, ((uint8_t[]){0x01, 0x00, 0x5e, 1, 2, 3}), 6);
	rxe_route_put(r);
}

static void a_gateway_is_resolved_in_place_of_the_destination(void **state)
{
	struct rxe_route *r;
	struct answer a;

	(void)state;
	create();
	env_sh("ip route add 10.77.0.0/16 via 10.9.0.3 dev va");
	r = resolve("10.9.0.2", "10.77.1.1", &a);
	assert_non_null(r);
	assert_mac(r, 3);
	rxe_route_put(r);
}

static void unreachable_destinations_fail_in_time(void **state)
{
	struct answer a, b;

	(void)state;
	create();
	assert_null(resolve("10.9.0.2", "10.9.0.99", &a)); /* nobody answers */
	assert_int_equal(a.err, -EHOSTUNREACH);
	assert_int_equal(a.calls, 1);
	assert_int_equal(start_resolve("10.9.0.2", "2001:db8::9", &b), -EAFNOSUPPORT);
	assert_int_equal(start_resolve("10.9.0.2", "10.9.0.255", &b), -ENETUNREACH);
	env_sh("ip addr add 2001:db8::2/64 dev va nodad");
	assert_true(env_wait(has_gid, "2001:db8::2", 2000));
	assert_int_equal(start_resolve("2001:db8::2", "2001:db9::1", &b), -ENETUNREACH);
}

static void a_cancelled_wait_is_never_answered(void **state)
{
	struct answer a, b;

	(void)state;
	create();
	assert_int_equal(start_resolve("10.9.0.2", "10.9.0.98", &a), -EINPROGRESS);
	assert_int_equal(start_resolve("10.9.0.2", "10.9.0.98", &b), -EINPROGRESS);
	rxe_route_cancel(&a);
	assert_true(env_wait(has_answer, &b, 5000));
	assert_int_equal(a.calls, 0);
}

static void deleting_the_device_answers_who_waits(void **state)
{
	struct answer a;

	(void)state;
	create();
	assert_int_equal(start_resolve("10.9.0.2", "10.9.0.97", &a), -EINPROGRESS);
	rxe_dev_delete(dev);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.err, -ENODEV);
}

struct expect_mac {
	const struct rxe_route *r;
	uint8_t last;
};

static bool route_mac_is(void *arg)
{
	const struct expect_mac *e = arg;
	uint8_t mac[6];

	rxe_route_mac(e->r, mac);
	return mac[5] == e->last;
}

static void a_route_follows_the_neighbour_and_the_gateway(void **state)
{
	struct expect_mac e = {.last = 0x33};
	struct rxe_route *r;

	(void)state;
	r = create_and_resolve();
	e.r = r;
	env_sh("ip neigh replace 10.9.0.3 lladdr 52:54:00:09:00:33 dev va");
	assert_true(env_wait(route_mac_is, &e, 2000));
	env_sh("ip neigh replace 10.9.0.44 lladdr 52:54:00:09:00:44 dev va");
	env_sh("ip route add 10.9.0.3/32 via 10.9.0.44 dev va");
	e.last = 0x44;
	assert_true(env_wait(route_mac_is, &e, 2000));
	rxe_route_put(r);
}

static bool is_local(void *arg)
{
	return ((struct rxe_route *)arg)->local;
}

static void a_route_becomes_local_with_the_address(void **state)
{
	struct rxe_route *r;

	(void)state;
	r = create_and_resolve();
	env_sh("ip addr add 10.9.0.3/24 dev va");
	assert_true(env_wait(is_local, r, 2000));
	rxe_route_put(r);
}

static void a_forgotten_neighbour_is_asked_for_again(void **state)
{
	struct expect_mac e = {.last = 0x35};
	struct rxe_route *r;

	(void)state;
	r = create_and_resolve();
	e.r = r;
	peer_sh("ip link set vb address 52:54:00:09:00:35");
	env_sh("ip neigh flush dev va");
	assert_true(env_wait(route_mac_is, &e, 5000));
	rxe_route_put(r);
}

/* More events than the socket holds, none of them read meanwhile. */
static void lost_events_are_made_up_for(void **state)
{
	(void)state;
	create();
	env_sh("for i in $(seq 0 15); do for j in $(seq 0 255); do "
	       "echo route add 10.200.$i.$j/32 dev va; done; done | ip -batch -");
	env_sh("ip addr add 10.19.0.88/24 dev va");
	env_sh("ip addr del 10.9.0.2/24 dev va; ip link set va mtu 700");
	assert_true(env_wait(has_gid, "10.19.0.88", 5000));
	assert_true(env_wait(lacks_gid, "10.9.0.2", 5000));
	assert_true(env_wait(mtu_is, &(uint32_t){512}, 5000));
	assert_true(dp_has("10.19.0.88"));
}

/* ---- multicast groups ---------------------------------------------------------- */

/* Is va a member, for the network and for the link? arg: "GROUP MAC". */
static bool is_member(void *arg)
{
	char cmd[256], ip[64], mac[32];

	assert_int_equal(sscanf(arg, "%63s %31s", ip, mac), 2);
	snprintf(cmd, sizeof(cmd),
		 "m=$(ip maddr show dev va); echo \"$m\" | grep -qw 'inet6*  *%s' && "
		 "echo \"$m\" | grep -q 'link  *%s'",
		 ip, mac);
	return system(cmd) == 0;
}

static bool is_no_member(void *arg)
{
	return !is_member(arg);
}

#define GROUP4 "239.129.2.3 01:00:5e:01:02:03"
#define GROUP6 "ff0e::aa:bbcc 33:33:00:aa:bb:cc"

static void join(const char *ip)
{
	union rxe_ip gid = env_ip(ip);

	assert_int_equal(rxe_group_join(dev, &gid), 0);
	assert_true(dp_has(ip));
}

static void leave(const char *ip)
{
	union rxe_ip gid = env_ip(ip);

	rxe_group_leave(dev, &gid);
	assert_false(dp_has(ip));
}

static void groups_are_joined_and_left(void **state)
{
	(void)state;
	create();
	join("239.129.2.3");
	join("ff0e::aa:bbcc");
	assert_true(is_member(GROUP4));
	assert_true(is_member(GROUP6));
	leave("239.129.2.3");
	assert_false(is_member(GROUP4));
	assert_true(is_member(GROUP6));
	leave("ff0e::aa:bbcc");
	assert_false(is_member(GROUP6));
	assert_true(LIST_EMPTY(&dev->groups));
	assert_true(LIST_EMPTY(&dev->group_socks));
}

/* One socket takes 20 IPv4 groups; a group left makes room for another. */
static void more_groups_than_a_socket_takes(void **state)
{
	char ip[32];

	(void)state;
	create();
	for (int i = 0; i < 50; i++) {
		snprintf(ip, sizeof(ip), "239.1.1.%d", i);
		join(ip);
	}
	join("239.129.2.3");
	assert_true(is_member(GROUP4));
	leave("239.129.2.3");
	leave("239.1.1.7");
	join("239.129.2.3");
	for (int i = 0; i < 50; i++) {
		snprintf(ip, sizeof(ip), "239.1.1.%d", i);
		leave(ip);
	}
	assert_true(is_member(GROUP4));
	leave("239.129.2.3");
	assert_true(LIST_EMPTY(&dev->group_socks));
}

static void groups_outlive_the_link(void **state)
{
	bool down = false, up = true;

	(void)state;
	create();
	join("239.129.2.3");
	join("ff0e::aa:bbcc");
	env_sh("ip link set va down");
	assert_true(env_wait(port_is, &down, 2000));
	env_sh("ip link set va up");
	assert_true(env_wait(port_is, &up, 2000));
	assert_true(is_member(GROUP4));
	assert_true(env_wait(is_member, GROUP6, 2000));
	env_sh("ip link set va mtu 1000"); /* no IPv6: the kernel forgets */
	assert_true(env_wait(is_no_member, GROUP6, 2000));
	env_sh("ip link set va mtu 1500");
	assert_true(env_wait(is_member, GROUP6, 5000));
	assert_true(is_member(GROUP4));
	leave("239.129.2.3");
	leave("ff0e::aa:bbcc");
	assert_false(is_member(GROUP6));
}

static void a_group_that_cannot_be_joined_leaves_nothing(void **state)
{
	union rxe_ip gid = env_ip("ff0e::aa:bbcc");

	(void)state;
	env_sh("ip link set va mtu 1000");
	create();
	assert_true(rxe_group_join(dev, &gid) < 0);
	assert_false(dp_has("ff0e::aa:bbcc"));
	assert_true(LIST_EMPTY(&dev->groups));
	assert_true(LIST_EMPTY(&dev->group_socks));
	rxe_group_leave(dev, &gid); /* harmless */
}

#define NETDEV_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NETDEV_TEST(a_device_shows_its_netdev),
		NETDEV_TEST(refusals_say_why_and_leave_nothing),
		NETDEV_TEST(a_netdev_without_an_address_is_taken),
		NETDEV_TEST(the_loopback_netdev_is_taken),
		NETDEV_TEST(a_deleted_netdev_takes_its_device_along),
		NETDEV_TEST(a_netdev_that_moves_away_counts_as_deleted),
		NETDEV_TEST(indices_grow_and_minors_are_reused),
		NETDEV_TEST(renaming),
		NETDEV_TEST(gids_follow_the_addresses),
		NETDEV_TEST(the_port_follows_the_link),
		NETDEV_TEST(the_port_follows_the_program),
		NETDEV_TEST(the_mtu_follows_the_netdev_and_the_tunables),
		NETDEV_TEST(name_and_mac_of_the_netdev_may_change),
		NETDEV_TEST(counters_are_written_when_asked_for),
		NETDEV_TEST(a_neighbour_is_resolved_once_and_shared),
		NETDEV_TEST(ipv6_neighbours_too),
		NETDEV_TEST(own_and_multicast_addresses_need_no_neighbour),
		NETDEV_TEST(a_gateway_is_resolved_in_place_of_the_destination),
		NETDEV_TEST(unreachable_destinations_fail_in_time),
		NETDEV_TEST(a_cancelled_wait_is_never_answered),
		NETDEV_TEST(deleting_the_device_answers_who_waits),
		NETDEV_TEST(a_route_follows_the_neighbour_and_the_gateway),
		NETDEV_TEST(a_route_becomes_local_with_the_address),
		NETDEV_TEST(a_forgotten_neighbour_is_asked_for_again),
		NETDEV_TEST(lost_events_are_made_up_for),
		NETDEV_TEST(groups_are_joined_and_left),
		NETDEV_TEST(more_groups_than_a_socket_takes),
		NETDEV_TEST(groups_outlive_the_link),
		NETDEV_TEST(a_group_that_cannot_be_joined_leaves_nothing),
	};

	env_private_netns();
	return cmocka_run_group_tests_name("netdev", tests, NULL, NULL);
}
