/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A daemon for tests of the preload library: it speaks include/rxe/ipc.h and
 * answers from what it was asked, so that a test sees what arrived. One
 * process, one thread; it knows nothing of RDMA.
 */
#ifndef FAKE_RXED_H
#define FAKE_RXED_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Commands of write() beside the real ones. Each has a core struct of
 * {u64 response; u64 arg; u64 arg2} and answers one u64.
 */
enum fake_command {
	FAKE_ECHO = 100,     /* arg */
	FAKE_SUM,	     /* of arg2 bytes of the client's memory at arg */
	FAKE_DIE,	     /* no answer: the daemon exits */
	FAKE_CLOSED_CHANNEL, /* the last id that CHANNEL_CLOSE named */
	FAKE_CONTEXTS,	     /* open command connections */
	FAKE_NEED_WAKEUP,    /* sets need_wakeup of worker arg to arg2 */
	FAKE_DOORBELL,	     /* bits of worker arg, words or-ed; clears them */
	FAKE_WAKEUPS,	     /* eventfd count of worker arg; clears it */
	FAKE_ASIDE,	     /* requests that came with a reply socket */
};
struct fake_request {
	uint32_t command;
	uint16_t in_words, out_words;
	uint64_t response;
	uint64_t arg, arg2;
};

#define FAKE_WORKERS	2
#define FAKE_MMAP_SKEW	4096 /* file_offset of every mapping */
#define FAKE_DUMP_PARTS 600  /* datagrams of a netlink dump */
#define FAKE_DUMP_SIZE	2048 /* bytes of each */

/*
 * Called first in main(): makes a run directory with a device rxe0 / uverbs0
 * and starts the program again with RXE_RUNDIR set to it, since the library
 * reads it once. Returns in the second run.
 */
void fake_rundir(char **argv);
/* Removes the run directory. */
void fake_rundir_remove(void);

pid_t fake_rxed_start(void);
void fake_rxed_stop(pid_t pid);

#define FAKE_NODE "/dev/infiniband/uverbs0"

/* Around a group of tests: a daemon, and a command descriptor of its device. */
extern pid_t fake_daemon;
extern int fake_cmd;
int fake_setup(void **state);
int fake_teardown(void **state);
/* All that main() does: the exit status of the group `tests` in a run directory. */
#define FAKE_RUN(argv, tests) \
	(fake_rundir(argv), fake_end(cmocka_run_group_tests(tests, fake_setup, fake_teardown)))
int fake_end(int failed);

/* One of the commands above on fd: its answer, or -errno. */
int64_t fake_call(int fd, enum fake_command command, uint64_t arg, uint64_t arg2);

#endif
