/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may do what (DESIGN D8b): clients of every kind connect to a socket as
 * rxed's is, among them those that change after they have connected.
 */
#include "env.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include "authority.h"
#include "netns.h"

#define NOBODY 65534

static struct sockaddr_un addr = {.sun_family = AF_UNIX};
static int listener;

/* ---- clients: before and after they connect; in a process of their own ------------ */

static int nothing(void)
{
	return 0;
}

static int become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);
}

static int set_caps(uint32_t caps)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {
		{.effective = caps, .permitted = caps, .inheritable = caps}};

	return (int)syscall(SYS_capset, &h, d);
}

static int drop_caps(void)
{
	return set_caps(0);
}

/* As a service that runs under its own user with one capability. */
static int become_nobody_with_net_admin(void)
{
	if (prctl(PR_SET_KEEPCAPS, 1) || become_nobody() || set_caps(1u << CAP_NET_ADMIN))
		return -1;
	return prctl(PR_SET_DUMPABLE, 1); /* execve does this */
}

/* As after execve of a program with file capabilities. */
static int gain_caps_by_exec(void)
{
	return prctl(PR_SET_DUMPABLE, 0);
}

static int become_nobody_for_now(void)
{
	return seteuid(NOBODY);
}

static int become_root_again(void)
{
	return seteuid(0);
}

static int own_user_namespace(void)
{
	return become_nobody() || prctl(PR_SET_DUMPABLE, 1) ||
	       unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

static int leave(void)
{
	_exit(0);
}

static pid_t start_client(int (*before)(void), int (*after)(void), int done)
{
	pid_t pid = fork();
	int fd;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (before())
		_exit(77);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (connect(fd, (void *)&addr, sizeof(addr)))
		_exit(1);
	if (after() || write(done, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* The peer as rxed sees it once the client has done all that it does. */
static void meet(int (*before)(void), int (*after)(void), struct rxe_peer *peer)
{
	int done[2], fd, status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(done), 0);
	pid = start_client(before, after, done[1]);
	close(done[1]);
	if (read(done[0], &byte, 1) != 1) {
		waitpid(pid, &status, 0);
		pid = 0;
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
			fail_msg("the client could not connect");
		if (WEXITSTATUS(status) == 77) {
			close(done[0]);
			skip();
		}
	}
	close(done[0]);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(rxe_peer_from_socket(fd, peer), 0);
	close(fd);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void assert_authority(const struct rxe_peer *peer, bool net_admin, bool net_raw,
			     bool bpf_admin)
{
	assert_int_equal(peer->net_admin, net_admin);
	assert_int_equal(peer->net_raw, net_raw);
	assert_int_equal(peer->bpf_admin, bpf_admin);
}

/* ---- the tests --------------------------------------------------------------------- */

static void root_may_everything(void **state)
{
	struct rxe_netns *self;
	struct rxe_peer peer;

	(void)state;
	meet(nothing, nothing, &peer);
	assert_authority(&peer, true, true, true);
	assert_int_equal(peer.uid, 0);
	assert_true(peer.comm[0]);
	assert_int_equal(rxe_netns_self(&self), 0);
	assert_ptr_equal(peer.ns, self);
	rxe_netns_put(self);
	rxe_peer_release(&peer);
	assert_null(peer.ns);
}

static void an_ordinary_user_may_nothing(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(become_nobody, nothing, &peer);
	assert_authority(&peer, false, false, false);
	assert_int_equal(peer.uid, NOBODY);
	rxe_peer_release(&peer);
}

static void root_without_capabilities_may_nothing(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(drop_caps, nothing, &peer);
	assert_authority(&peer, false, false, false);
	rxe_peer_release(&peer);
}

static void one_capability_gives_what_it_says(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(become_nobody_with_net_admin, nothing, &peer);
	assert_authority(&peer, true, false, true);
	rxe_peer_release(&peer);
}

static void privilege_gained_after_connecting_does_not_count(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(become_nobody_for_now, become_root_again, &peer);
	assert_authority(&peer, false, false, false);
	rxe_peer_release(&peer);
	meet(become_nobody_with_net_admin, gain_caps_by_exec, &peer);
	assert_authority(&peer, false, false, false);
	rxe_peer_release(&peer);
}

static void root_of_a_user_namespace_rules_there_only(void **state)
{
	struct rxe_netns *self;
	struct rxe_peer peer;

	(void)state;
	meet(own_user_namespace, nothing, &peer);
	assert_authority(&peer, true, true, false);
	assert_int_equal(rxe_netns_self(&self), 0);
	assert_ptr_not_equal(peer.ns, self);
	rxe_netns_put(self);
	rxe_peer_release(&peer);
}

static int own_user_namespace_only(void)
{
	return become_nobody() || prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER);
}

static void root_of_a_user_namespace_has_no_say_over_the_hosts_network(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(own_user_namespace_only, nothing, &peer);
	assert_authority(&peer, false, false, false);
	rxe_peer_release(&peer);
}

static void a_client_that_is_gone_may_nothing(void **state)
{
	struct rxe_peer peer;

	(void)state;
	meet(nothing, leave, &peer);
	assert_authority(&peer, false, false, false);
	rxe_peer_release(&peer);
}

static int listen_somewhere(void **state)
{
	(void)state;
	/* not abstract: those are of one network namespace */
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/rxe-authority-%d", (int)getpid());
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return bind(listener, (void *)&addr, sizeof(addr)) || chmod(addr.sun_path, 0666) ||
	       listen(listener, 4);
}

static int close_listener(void **state)
{
	(void)state;
	return unlink(addr.sun_path) || close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_may_everything),
		cmocka_unit_test(an_ordinary_user_may_nothing),
		cmocka_unit_test(root_without_capabilities_may_nothing),
		cmocka_unit_test(one_capability_gives_what_it_says),
		cmocka_unit_test(privilege_gained_after_connecting_does_not_count),
		cmocka_unit_test(root_of_a_user_namespace_rules_there_only),
		cmocka_unit_test(root_of_a_user_namespace_has_no_say_over_the_hosts_network),
		cmocka_unit_test(a_client_that_is_gone_may_nothing),
	};

	if (geteuid()) {
		print_message("skipped: playing other users needs root\n");
		return 0;
	}
	return cmocka_run_group_tests_name("authority", tests, listen_somewhere, close_listener);
}
