/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Closing what clients own. The last close() of a file runs in whoever closes:
 * a TCP socket with SO_LINGER, a file of a FUSE server, or a unix socket with
 * such a file in an unread message hold the closing thread for as long as
 * their owner likes. So rxed's threads never close such a descriptor: a small
 * pool of threads does, and one that is held is replaced.
 */
#ifndef RXE_DISPOSAL_H
#define RXE_DISPOSAL_H

/* Threads that may be held at a time; then descriptors wait for one to return. */
#define RXE_DISPOSAL_MAX 64

/*
 * Takes fd, a descriptor that came from a client or a connection to one, and
 * closes it soon, on another thread; less than 0 is none. Any thread; never
 * waits for the close. Without memory to queue it, fd stays open. Nothing waits
 * for the pool at exit: the kernel does not linger for an exiting process.
 */
void rxe_dispose_fd(int fd);

#endif
