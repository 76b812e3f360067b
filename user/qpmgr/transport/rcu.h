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

/*
 * What a reader did before a quiescent state comes before what a writer does
 * after a grace period: all of it by way of one word.
 */
#ifdef __SANITIZE_THREAD__
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
__attribute__((weak)) char rxe_rcu_word;
#define RXE_RCU_READ_BEFORE() AnnotateHappensBefore(__FILE__, __LINE__, &rxe_rcu_word)
#define RXE_RCU_WRITE_AFTER() AnnotateHappensAfter(__FILE__, __LINE__, &rxe_rcu_word)
#else
#define RXE_RCU_READ_BEFORE() ((void)0)
#define RXE_RCU_WRITE_AFTER() ((void)0)
#endif

/* A registered reader holds nothing of what it has read. */
static inline void rxe_rcu_quiescent(void)
{
	RXE_RCU_READ_BEFORE();
	rcu_quiescent_state();
}

/* The same until rcu_thread_online(). */
static inline void rxe_rcu_offline(void)
{
	RXE_RCU_READ_BEFORE();
	rcu_thread_offline();
}

/* Waits until every reader has passed a quiescent state. No reader calls it. */
static inline void rxe_rcu_synchronize(void)
{
	synchronize_rcu();
	RXE_RCU_WRITE_AFTER();
}

#endif
