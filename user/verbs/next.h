/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that this library stands in front of: one list, from which the
 * table of the originals and its resolver are made.
 *
 * Include this first: the originals must not be inline or renamed here.
 */
#ifndef RXE_VERBS_NEXT_H
#define RXE_VERBS_NEXT_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What glibc exports without declaring it (old binaries, fortified ones). */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int ver, const char *path, struct stat *st);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);
int __fxstatat(int ver, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int ver, int dir, const char *path, struct stat64 *st, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room);
ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t len, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t len, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t room, int flags, struct sockaddr *addr,
		       socklen_t *addrlen);

/* clang-format off */
#define RXE_INTERPOSED(X) \
	X(open) X(open64) X(openat) X(openat64) \
	X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) \
	X(fflush) X(fclose) X(fopen) X(fopen64) X(freopen) X(freopen64) \
	X(opendir) X(scandir) X(scandir64) X(chdir) \
	X(access) X(eaccess) X(euidaccess) X(faccessat) \
	X(stat) X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) \
	X(fstatat) X(fstatat64) X(statx) \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat) X(__fxstat64) \
	X(__fxstatat) X(__fxstatat64) \
	X(readlink) X(readlinkat) X(__readlink_chk) X(__readlinkat_chk) \
	X(realpath) X(__realpath_chk) X(canonicalize_file_name) \
	X(getxattr) X(lgetxattr) X(listxattr) X(llistxattr) \
	X(write) X(ioctl) X(mmap) X(mmap64) \
	X(close) X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64) X(closefrom) X(close_range) \
	X(socket) X(bind) X(connect) X(send) X(sendto) X(sendmsg) \
	X(recv) X(recvfrom) X(recvmsg) X(__recv_chk) X(__recvfrom_chk)
/* clang-format on */

#define RXE_NEXT_MEMBER(name) __typeof__(&name) name;
struct rxe_next {
	RXE_INTERPOSED(RXE_NEXT_MEMBER)
};
/* NULL where this libc has no such function, and before they are resolved. */
extern struct rxe_next rxe_next;

/* Fills rxe_next; done by the constructor, or by what comes before it. */
void rxe_next_resolve(void);

/*
 * The original of name. A program only calls names that its libc exports, so
 * NULL means: too early.
 */
#define RXE_NEXT(name)                                              \
	(__builtin_expect(rxe_next.name != NULL, 1) ? rxe_next.name \
						    : (rxe_next_resolve(), rxe_next.name))

#endif
