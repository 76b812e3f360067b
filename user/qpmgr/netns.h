/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network namespaces that devices live in or clients come from, counted and
 * unique per namespace. Control thread.
 */
#ifndef RXE_NETNS_H
#define RXE_NETNS_H

#include <stdbool.h>
#include <stdint.h>

struct rxe_netns;

/* Takes over fd (a /proc/.../ns/net descriptor, or SIOCGSKNS). */
int rxe_netns_from_fd(int fd, struct rxe_netns **out);
int rxe_netns_self(struct rxe_netns **out); /* rxed's own */
void rxe_netns_get(struct rxe_netns *ns);
void rxe_netns_put(struct rxe_netns *ns);
int rxe_netns_fd(const struct rxe_netns *ns);
uint64_t rxe_netns_ino(const struct rxe_netns *ns); /* as in net:[INO] */
/* Runs the following calls in ns until rxe_netns_leave(); do not nest. */
int rxe_netns_enter(struct rxe_netns *ns);
void rxe_netns_leave(void);

#endif
