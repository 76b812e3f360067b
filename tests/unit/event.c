/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event channels: records come out in order, those of a destroyed object
 * vanish unread, and a program that reads late loses none.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "uapi/uverbs.h"

struct rxed rxed;

/* event.c's senders ask these of the engine's objects. */
void *rxe_cq_owner(const struct rxe_cq *cq)
{
	return (void *)cq;
}

void *rxe_srq_owner(const struct rxe_srq *srq)
{
	return (void *)srq;
}

void *rxe_qp_owner(const struct rxe_qp *qp)
{
	return (void *)qp;
}

static void unread_events_vanish_with_their_object(void **state)
{
	uint64_t a = 0xaaaa, b = 0xbbbb, got;
	uint32_t sent_a = 0, sent_b = 0;
	int fd;
	struct uchannel *ch = uchannel_new(8, &fd);

	(void)state;
	uchannel_send(ch, &a, &sent_a);
	uchannel_send(ch, &b, &sent_b);
	uchannel_send(ch, &a, &sent_a);
	uchannel_send(ch, &b, &sent_b);
	assert_int_equal(read(fd, &got, 8), 8);
	assert_int_equal(got, a);
	assert_int_equal(uchannel_take_back(ch, a), 1);
	assert_int_equal(sent_a, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read(fd, &got, 8), 8);
		assert_int_equal(got, b);
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(read(fd, &got, 8), -1);
	uchannel_free(ch);
	assert_int_equal(read(fd, &got, 8), 0); /* the end, not a hang */
	close(fd);
}

static int forged_fd = -1;
static unsigned int reads;

/* In place of libc's: the program puts back at once whatever is taken out. */
ssize_t read(int fd, void *buf, size_t len)
{
	ssize_t n = syscall(SYS_read, fd, buf, len);

	if (forged_fd >= 0 && ++reads < 1000 && n > 0)
		assert_int_equal(write(forged_fd, buf, (size_t)n), n);
	return n;
}

/* A program may open its end for writing, by /proc, and write records of its own. */
static void a_writer_cannot_keep_take_back_busy(void **state)
{
	uint64_t a = 0xaaaa;
	uint32_t sent = 0;
	char path[32];
	int fd;
	struct uchannel *ch = uchannel_new(8, &fd);

	(void)state;
	for (int i = 0; i < 3; i++)
		uchannel_send(ch, &a, &sent);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	forged_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(forged_fd >= 0);
	assert_int_equal(uchannel_take_back(ch, a), sent);
	assert_in_range(reads, sent, sent + 1);
	close(forged_fd);
	forged_fd = -1;
	uchannel_free(ch);
	close(fd);
}

#define MANY 20000

static int reader_fd;
static uint64_t got_n;

static void stop(struct rxe_task *t)
{
	(void)t;
	rxe_loop_stop(rxed.loop);
}

static void *reader(void *arg)
{
	uint64_t v;

	while (got_n < MANY && read(reader_fd, &v, 8) == 8 && v == got_n)
		got_n++;
	rxe_loop_post(rxed.loop, arg);
	return NULL;
}

static void nothing_is_lost_when_the_program_reads_late(void **state)
{
	struct rxe_task done = {.cb = stop};
	struct uchannel *ch = uchannel_new(8, &reader_fd);
	uint32_t sent = 0;
	pthread_t t;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		uchannel_send(ch, &i, &sent);
	assert_int_equal(sent, MANY);
	assert_true(ch->overflow_len > 0);
	assert_int_equal(uchannel_take_back(ch, MANY + 1), 0);
	pthread_create(&t, NULL, reader, &done);
	rxe_loop_run(rxed.loop); /* drains the overflow until the reader is done */
	pthread_join(t, NULL);
	assert_int_equal(got_n, MANY);
	uchannel_free(ch);
	close(reader_fd);
}

static int setup(void **state)
{
	(void)state;
	rxed.loop = rxe_loop_new();
	return rxed.loop ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unread_events_vanish_with_their_object),
		cmocka_unit_test(a_writer_cannot_keep_take_back_busy),
		cmocka_unit_test(nothing_is_lost_when_the_program_reads_late),
	};

	return cmocka_run_group_tests_name("event", tests, setup, NULL);
}
