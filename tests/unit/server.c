/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server when clients are too many: those of one user, and all of them
 * when there is no descriptor left.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "disposal.h"
#include "common/ipc.h"
#include "loop.h"
#include "rxed.h"
#include "authority.h"
#include "uapi/server.h"

struct rxed rxed;
/* Here at once: these tests count descriptors. */
void rxe_dispose_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static uid_t user; /* whose the next clients are */
static unsigned int known, accepts;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __real_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int err = __real_getsockopt(fd, level, name, value, len);

	if (!err && level == SOL_SOCKET && name == SO_PEERCRED)
		((struct ucred *)value)->uid = user;
	return err;
}

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	accepts++;
	return __real_accept4(fd, addr, len, flags);
}

int rxe_peer_from_socket(int fd, struct rxe_peer *peer)
{
	(void)fd;
	peer->uid = user;
	known++;
	return 0;
}

void rxe_peer_release(struct rxe_peer *peer)
{
	(void)peer;
}

/* What requests lead to is not linked: nobody asks anything here. */

static char dir[] = "/tmp/rxe-server-XXXXXX";

static void stop_loop(struct rxe_timer *t)
{
	(void)t;
	rxe_loop_stop(rxed.loop);
}

static void pass(unsigned int turns)
{
	struct rxe_timer t = {.cb = stop_loop};

	while (turns--) {
		rxe_loop_timer(rxed.loop, &t, 0);
		rxe_loop_run(rxed.loop);
	}
}

static int client(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	return fd;
}

static void join(int fd)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/" RXE_SOCKET_NAME, dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

/* The server closed it, having said why. */
static bool sent_away(int fd)
{
	struct rxe_ipc_hdr h;
	ssize_t n;

	while ((n = recv(fd, &h, sizeof(h), MSG_DONTWAIT)) > 0)
		assert_int_equal(h.type, RXE_IPC_REFUSED);
	return !n || (n < 0 && errno == ECONNRESET);
}

static void without_descriptors_a_client_is_sent_away(void **state)
{
	struct rlimit old, few;
	int fd[3];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (int i = 0; i < 3; i++)
		fd[i] = client();
	few = old;
	few.rlim_cur = fd[2] + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	known = accepts = 0;
	for (int i = 0; i < 2; i++)
		join(fd[i]);
	pass(10);
	assert_int_equal(known, 0);
	assert_true(sent_away(fd[0]) && sent_away(fd[1]));
	assert_int_equal(accepts, 4); /* one that fails and one for the spare, each; then quiet */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	join(fd[2]);
	pass(5);
	assert_int_equal(known, 1);
	assert_false(sent_away(fd[2]));
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	pass(3);
}

/* One user's own share is used up: others, and root, are still served. */
static void a_user_has_a_share(void **state)
{
	enum { SHARE = 4096 };
	static int fd[SHARE + 1];
	struct rlimit old, many;
	int other = client(), root = client();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	many = old;
	many.rlim_cur = 3 * SHARE;
	if (many.rlim_max < many.rlim_cur || setrlimit(RLIMIT_NOFILE, &many))
		skip();
	user = 1000;
	known = 0;
	for (int i = 0; i <= SHARE; i++) {
		fd[i] = client();
		join(fd[i]);
		pass(1);
	}
	pass(3);
	assert_int_equal(known, SHARE);
	assert_false(sent_away(fd[SHARE - 1]));
	assert_true(sent_away(fd[SHARE]));
	user = 1001;
	join(other);
	pass(3);
	user = 0;
	join(root);
	pass(3);
	assert_int_equal(known, SHARE + 2);
	close(fd[0]); /* one goes, one comes */
	pass(3);
	user = 1000;
	close(fd[SHARE]);
	fd[SHARE] = client();
	join(fd[SHARE]);
	pass(3);
	assert_false(sent_away(fd[SHARE]));
	for (int i = 1; i <= SHARE; i++)
		close(fd[i]);
	close(other);
	close(root);
	pass(SHARE / 16);
	user = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static int setup(void **state)
{
	char err[256];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	rxed.loop = rxe_loop_new();
	return rxed.loop ? rxe_server_start(dir, &rxed.server, err, sizeof(err)) : -1;
}

static int teardown(void **state)
{
	(void)state;
	rxe_server_stop(rxed.server);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_descriptors_a_client_is_sent_away),
		cmocka_unit_test(a_user_has_a_share),
	};

	return cmocka_run_group_tests_name("server", tests, setup, teardown);
}
