/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps behind fake_bpf.c, as bpftool would reach them.
 */
#ifndef FUZZ_FAKE_BPF_H
#define FUZZ_FAKE_BPF_H

#include "input.h"
#include "rxe/params.h"

void fake_bpf_set(enum rxe_param_id id, uint32_t v);
uint32_t fake_bpf_get(enum rxe_param_id id);

#endif
