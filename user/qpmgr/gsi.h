/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QP1 of every device: MADs between the control thread, which understands
 * them, and the control worker, which has the packets.
 */
#ifndef RXE_GSI_H
#define RXE_GSI_H

#include "rxed.h"

/*
 * Control thread. Sends RXE_GSI_MAX bytes from dev's address sip to dip; the
 * next hop is resolved first. Nothing is promised: it is a datagram.
 */
struct rxe_gsi_to {
	union rxe_ip sip, dip;
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
};
void rxe_gsi_send_mad(struct rxe_dev *dev, const struct rxe_gsi_to *to, const uint8_t *mad);
/* Control thread: what waits for a next hop of dev is dropped. */
void rxe_gsi_dev_gone(struct rxe_dev *dev);
/* The control worker, in an engine's gsi_rx. */
void rxe_gsi_received(struct rxe_hca *hca, const struct rxe_pkt *pkt);

/* Implemented by uapi/ucma_cm.c: a MAD from `from` to `to` of dev. Control thread. */
void rxe_cm_mad(struct rxe_dev *dev, const union rxe_ip *from, const union rxe_ip *to,
		const uint8_t *mad, uint32_t len);

#endif
