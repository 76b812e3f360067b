/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libbpf prints becomes debug lines of the log: callers say in their own
 * words what failed, libbpf's explanations are for those who ask.
 */
#ifndef RXE_LOG_LIBBPF_H
#define RXE_LOG_LIBBPF_H

/* Once, before the first call of libbpf. libbpf may then print from any thread. */
void rxe_log_libbpf(void);

#endif
