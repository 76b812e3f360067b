/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the CM's state machine share: finding ids, sending with
 * and without retries, ending.
 */
#ifndef RXE_CM_INT_H
#define RXE_CM_INT_H

#include <errno.h>
#include <string.h>
#include "cm/cm.h"

/* cm.c */
struct cm_id *cm_find_local(struct cm *cm, uint32_t local_id);
struct cm_id *cm_find_remote(struct cm *cm, uint64_t guid, uint32_t remote_id);
struct cm_id *cm_find_qpn(struct cm *cm, uint64_t guid, uint32_t qpn);
/* The id that a message between known ids is for, from the peer that it has. */
struct cm_id *cm_find_pair(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
bool cm_same_peer(const struct cm_id *id, const struct cm_path *path);
void cm_hash_remote(struct cm_id *id);
void cm_hash_qpn(struct cm_id *id);
void cm_unhash_peer(struct cm_id *id);
void cm_id_free(struct cm_id *id);

/* Zeroes id->mad and writes the header and both communication ids. */
void cm_form(struct cm_id *id, enum cm_msg msg);
/* Copies private data into a formed MAD. -EINVAL: too long. */
int cm_put_priv(uint8_t *mad, enum cm_msg msg, const void *priv, size_t len);
/* Tells the owner of the CM that a message came again (or, sent: is sent again). */
void cm_again(struct cm *cm, const struct cm_path *path, bool sent, const uint8_t *mad);
/* Sends id->mad: once, or until cm_stop() with the retries of the id. */
void cm_send_once(struct cm_id *id);
void cm_send_tracked(struct cm_id *id, uint64_t timeout_ns);
void cm_stop(struct cm_id *id);
void cm_emit(struct cm_id *id, struct cm_event *ev);
void cm_emit_kind(struct cm_id *id, enum cm_event_kind kind, int status);
/* Fills ev->priv with the private data of a received message. */
void cm_event_priv(struct cm_event *ev, const uint8_t *mad, enum cm_msg msg);
/* Connection over: the numbers rest until packets of it are gone. */
void cm_enter_timewait(struct cm_id *id);
/* To IDLE; frees an id without owner. True: it is gone. */
bool cm_reset(struct cm_id *id);

/* connect.c */
void cm_rx_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_rep(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_rtu(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_mra(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_rej(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_send_rej(struct cm_id *id, enum cm_rej reason, const void *info, size_t info_len);
/* disconnect.c */
void cm_rx_dreq(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_drep(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
/* sidr.c */
void cm_rx_sidr_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
void cm_rx_sidr_rep(struct cm *cm, const struct cm_path *path, const uint8_t *mad);

#endif
