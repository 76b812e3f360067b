/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one door to liburcu (qsbr). A worker is a registered reader, passes a
 * quiescent state between bursts and is offline while it sleeps (DESIGN D5).
 * ThreadSanitizer does not know liburcu 0.13, so it is told here what a grace
 * period orders.
 */
#ifndef RXE_RCU_H
#define RXE_RCU_H

#include <urcu-qsbr.h>

#ifdef __SANITIZE_THREAD__
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
#define rxe_rcu_release(p) AnnotateHappensBefore(__FILE__, __LINE__, p)
#define rxe_rcu_acquire(p) AnnotateHappensAfter(__FILE__, __LINE__, p)
#else
#define rxe_rcu_release(p) ((void)(p))
#define rxe_rcu_acquire(p) ((void)(p))
#endif

#endif
