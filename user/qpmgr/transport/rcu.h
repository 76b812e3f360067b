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

/*
 * In place of rcu_assign_pointer() and rcu_dereference(), whose barriers the
 * sanitizer does not see.
 */
#define rxe_rcu_assign(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)
#define rxe_rcu_get(p)	     __atomic_load_n(&(p), __ATOMIC_CONSUME)

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
