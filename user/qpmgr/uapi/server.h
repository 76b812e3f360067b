/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The socket that clients connect to: RUNDIR/rxed.sock (include/rxe/ipc.h).
 * Control thread.
 */
#ifndef RXE_SERVER_H
#define RXE_SERVER_H

#include <stddef.h>

struct rxe_server;
struct uctx;

/*
 * Listens in rundir. -EADDRINUSE when a live instance answers there; err is
 * one line that says what to do.
 */
int rxe_server_start(const char *rundir, struct rxe_server **out, char *err, size_t errlen);
/*
 * Ends every connection and removes the socket. Connections whose QPs are
 * still letting go keep s; the process is about to end.
 */
void rxe_server_stop(struct rxe_server *s);
/*
 * The connection that opened ctx ends, as if its client had closed it: soon,
 * not within this call. The client reads what was sent, then an end of file.
 */
void rxe_server_hang_up(const struct uctx *ctx);

#endif
