/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a stage of the engine runs: at once for each packet (or doorbell), or
 * once after the burst, as the fast_* tunables say (DESIGN 6); and the counts
 * of both.
 */
#ifndef RXE_STAGE_H
#define RXE_STAGE_H

#include <stdbool.h>

struct rxe_qp;

/* Those of a QP. The arbiter, which hands packets to the wire, is a device's. */
enum rxe_stage { RXE_STAGE_REQ, RXE_STAGE_COMP, RXE_STAGE_RESP, RXE_STAGE_COUNT };

/*
 * The stage has got something to do. True: the caller runs it now. False: it
 * was put off, and the QP is in the run queue.
 */
bool rxe_stage_direct(struct rxe_qp *qp, enum rxe_stage s);
/* The stage runs now, from the run queue: what was put off of it is done. */
void rxe_stage_run(struct rxe_qp *qp, enum rxe_stage s);
/* What was put off will not be done. */
void rxe_stage_forget(struct rxe_qp *qp);

/* The QP has given a packet to ops->pkt_send: flushes it, or leaves that to the end of the burst. */
void rxe_stage_sent(struct rxe_qp *qp);

#endif
