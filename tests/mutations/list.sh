# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Deliberate breakages, one line each, sourced by run.sh:
#
#   m NAME WHO FILE SED-SCRIPT WHAT
#
# WHO must notice: sim (the simulation), unit (the unit tests, which also look
# where the simulation cannot), bpf (tests/bpf, as root) or icrc (tests/unit/icrc.c).
# SED-SCRIPT changes exactly one line, found by what it says, within its function
# where the words alone are not enough.
# shellcheck disable=SC2016
T=user/qpmgr/transport

# ---- PSNs ---------------------------------------------------------------------------
m psn-no-wrap sim $T/psn.h 's/(int32_t)((a - b) << 8) >> 8/(int32_t)(a - b)/' \
	'PSNs are compared without the wrap'
m psn-wrong-half sim $T/psn.h 's/((a - b) << 8) >> 8/((a - b) << 7) >> 7/' \
	'the sign of a PSN difference is the wrong bit'
m dup-off-by-one sim $T/responder.c '/^static void rx_rc/,/^}/s/if (diff < 0)/if (diff < -1)/' \
	'the last PSN again is taken for a gap'
m read-resp-psn sim $T/read.c '/^static int build/,/^}/s/rxe_qp_pktinfo(qp, response_opcode(slot, last), cur)/rxe_qp_pktinfo(qp, response_opcode(slot, last), slot->slot.rd.start_psn)/' \
	'every READ response has the PSN of the first'

# ---- duplicates -------------------------------------------------------------------------
m dup-write-executes sim $T/responder.c \
	'/^static void rx_rc/,/^}/s/if (diff < 0) {/if (diff < 0 \&\& !(info->op->flags \& RXE_F_WRITE)) {/' \
	'a duplicate WRITE is executed'
m dup-atomic-executes sim $T/responder.c \
	'/^static void rx_rc/,/^}/s/if (diff < 0) {/if (diff < 0 \&\& !(info->op->flags \& RXE_F_ATOMIC)) {/' \
	'a duplicate atomic is executed again'
m dup-atomic-forgets sim $T/read.c '/^static void duplicate_atomic/,/^}/s/x->copy.result = res->result;//' \
	'a duplicate atomic is answered, not with the saved value'
m dup-not-acked sim $T/responder.c '/^static void rx_duplicate/,/^}/s/qp->resp.ack_pending = true;/(void)0;/' \
	'a duplicate SEND or WRITE is not acknowledged'
m dup-read-any-key unit $T/read.c '/^static bool read_matches/,/^}/s/info->rkey == res->rkey \&\& //' \
	'a duplicate READ may name another rkey'
m dup-read-beyond unit $T/read.c '/^static bool read_matches/,/^}/s/info->len <= res->length - off \&\& //' \
	'a duplicate READ may ask for more than the first'
m replay-moves-ack sim $T/retire.c '/^static void retired/,/^}/s/if (x->slot.replay)/if (0)/' \
	'the answer to a duplicate sets the acknowledged PSN back'
m later-answers-go-on unit $T/read.c '/^static void duplicate_read/,/^}/s/abort_later(qp, info->psn);//' \
	'after a peer has gone back, answers to what it asked later still leave'

# ---- READ ------------------------------------------------------------------------------------
m read-retry-offset sim $T/read.c '/^static int build/,/^}/s/rxe_psn_diff(cur, slot->slot.rd.base_psn)/rxe_psn_diff(cur, slot->slot.rd.start_psn)/' \
	'a repeated READ is answered from its start'
m read-retry-middle unit $T/read.c '/^static enum rxe_op response_opcode/,/^}/s/== slot->slot.rd.start_psn/== slot->slot.rd.base_psn/' \
	'a repeated READ is answered by MIDDLEs, without a FIRST'
m read-retry-va sim $T/requester.c '/^static struct rxe_pktinfo make_headers/,/^}/s/w->remote_addr + c->offset/w->remote_addr/' \
	'a READ goes on at the address where it began'
m read-retry-length sim $T/requester.c '/^static struct cut cut_packet/,/^}/s/c.reth_len = w->length - c.offset;/c.reth_len = w->length;/' \
	'a READ goes on with the length of the whole'
m read-any-psn sim $T/completer.c '/^static void rx_data/,/^}/s/!clear || !w || info->psn != req->una ||/!w ||/' \
	'a READ response is taken whatever its PSN'
m ack-skips-read sim $T/completer.c '/^static bool ack_before/,/^}/s/if (w->wr->flags & RXE_F_ANSWERED)/if (0)/' \
	'a coalesced ACK skips a READ still pending'
m read-short unit $T/completer.c '/^static bool read_shape_ok/,/^}/s/pkt->payload_len == want/pkt->payload_len <= want/' \
	'a READ response may be too short'
m fence-ignored sim $T/requester.c '/^static bool start_wqe/,/^}/s/(w->flags & RXE_SEND_FENCE) && req->rd_open/0/' \
	'a fence does not wait for READs'
m rd-atomic-off-by-one sim $T/requester.c '/^static bool start_rd_atomic/,/^}/s/qp->req.rd_out >= qp->attr.max_rd_atomic/qp->req.rd_out > qp->attr.max_rd_atomic/' \
	'one READ more than max_rd_atomic is out'
m rd-atomic-leak sim $T/completer.c '/^static void wqe_acked/,/^}/s/qp->req.rd_out--;/(void)0;/' \
	'READs that are answered still count as out'
m too-many-reads unit $T/read.c '/^static struct rxe_rd_res \*free_resource/,/^}/s/res->slot && !res->slot->slot.replay/0/' \
	'a peer may have more READs out than max_dest_rd_atomic'

# ---- acknowledgement, retries -----------------------------------------------------------------------
m ack-loses-last sim $T/completer.c '/^static bool ack_before/,/^}/s/rxe_psn_diff(end, w->last_psn) <= 0/rxe_psn_diff(end, w->last_psn) <= 1/' \
	'an ACK of the last packet does not end its message'
m ack-one-early sim $T/completer.c '/^static bool ack_before/,/^}/s/rxe_psn_diff(end, w->last_psn) <= 0/rxe_psn_diff(end, w->last_psn) < 0/' \
	'a message is done when all but its last packet is acknowledged'
m ack-forgotten unit $T/retire.c '/^static void retired/,/^}/s/resp->ack_pending |= x->slot.ack_req/resp->ack_pending = x->slot.ack_req/' \
	'a packet that asks for no ACK takes back the one that is due'
m ack-before-copy sim $T/retire.c '/^uint32_t rxe_resp_run/,/^}/s/!x->busy && //' \
	'acknowledged and completed before the bytes are in place'
m ack-count-off-by-one unit $T/retire.c '/^static void retired/,/^}/s/resp->unacked >= every/resp->unacked > every/' \
	'an ACK comes after max_packet_per_ack packets and one'
m no-ack-request sim $T/requester.c '/^static bool wants_ack/,/^}/s/c->last || //' \
	'the end of a message asks for no ACK'
m no-farewell unit $T/retire.c '/^void rxe_resp_farewell/,/^}/s/send_ack(qp);/(void)0;/' \
	'a QP that is destroyed does not repeat its last ACK'
m seq-nak-acks-nothing sim $T/completer.c '/^static void rx_nak/,/^}/s/ack_before(qp, info->psn);/(void)0;/' \
	'a sequence NAK does not acknowledge what came before'
m nak-every-packet unit $T/responder.c '/^static void rx_rc/,/^}/s/if (!qp->resp.nak_sent)/if (1)/' \
	'every packet after a gap gets a NAK'
m nak-once-for-all unit $T/responder.c '/^static void accept_data/,/^}/s/resp->nak_sent = false;/(void)0;/' \
	'the second gap gets no NAK'
m stale-nak unit $T/retire.c '/^static bool retire_nak/,/^}/s/x->slot.psn != qp->resp.psn/0/' \
	'a NAK leaves though its gap has closed meanwhile'
m ghost-ack unit $T/completer.c '/^void rxe_comp_rx/,/^}/s/if (behind >= -1)/if (1)/' \
	'an old ACK counts'
m unsent-acked unit $T/completer.c '/^void rxe_comp_rx/,/^}/s/rxe_psn_diff(info->psn, req->sent_psn) >= 0/0/' \
	'what was never sent is acknowledged'
m retry-storm unit $T/completer.c '/^static void retry_now/,/^}/s/!qp->comp.retried && //' \
	'every NAK is a retry at once'
m retry-never-reset unit $T/completer.c '/^static void progress/,/^}/s/comp->retry_left = qp->attr.retry_cnt;//' \
	'progress does not restore the retries'
m rnr-never-reset unit $T/completer.c '/^static void progress/,/^}/s/comp->rnr_left = qp->attr.rnr_retry;//' \
	'progress does not restore the RNR retries'
m rnr-loses-built unit $T/completer.c '/^static void progress/,/^}/s/rxe_req_go_back(qp);/(void)0;/' \
	'what was built when the peer refused is never sent if it accepts after all'
m rnr-seven-ends unit $T/completer.c '/^static void rx_rnr/,/^}/s/qp->attr.rnr_retry != 7/1/' \
	'an rnr_retry of 7 ends'
m rnr-wrong-timer unit $T/completer.c '/^static void rx_rnr/,/^}/s/qp->engine->now + wait/qp->engine->now + timeout_ns(qp)/' \
	'RNR waits for the retransmit timer'
m go-back-wrong-wqe sim $T/requester.c '/^void rxe_req_go_back/,/^}/s/req->cur = req->ack;/(void)0;/' \
	'a retry goes back in PSNs, not in WQEs'
m window-off-by-one unit $T/requester.c '/^static bool window_open/,/^}/s/< (int32_t)send_window(qp)/<= (int32_t)send_window(qp)/' \
	'one packet more than max_req_comp_gap is out'
m credit-leak unit $T/requester.c '/^static bool has_credit/,/^}/s/req->credit_limit) <= 0/req->credit_limit) <= 1/' \
	'one request more than the credits allow'
m pad-not-zero unit $T/requester.c '/^static bool fill/,/^}/s/c->len, NULL, rxe_pad(c->len)/c->len, NULL, 0/' \
	'the pad shows old memory'

# ---- the responder ---------------------------------------------------------------------------------------
m msn-not-counted unit $T/responder.c '/^static void accept_data/,/^}/s/resp->msn = rxe_psn_add(resp->msn, 1);/(void)0;/' \
	'the MSN does not count SENDs and WRITEs'
m msn-not-counted-read unit $T/read.c '/^enum rxe_fault rxe_read_rx/,/^}/s/resp->msn = rxe_psn_add(resp->msn, 1);/(void)0;/' \
	'the MSN does not count READs'
m recv-overrun sim $T/responder.c '/^static enum rxe_fault take_send/,/^}/s/resp->rwqe->length - resp->rwqe_used/resp->rwqe->length/' \
	'of a long message only each packet must fit into the receive buffer'
m write-stays sim $T/responder.c '/^static void take_write/,/^}/s/resp->va += len;//' \
	'every packet of a WRITE goes to the first one'"'"'s place'
m rkey-first-byte sim $T/responder.c '/^static enum rxe_fault begin_write/,/^}/s/info->va, info->len, IB_UVERBS/info->va, 1, IB_UVERBS/' \
	'the range of a WRITE is found out only when part of it is written'
m imm-length sim $T/responder.c '/^static void describe_completion/,/^}/s/write ? resp->length/write ? 0/' \
	'RECV_RDMA_WITH_IMM says no length'
m uc-hole sim $T/responder.c '/^static void rx_uc/,/^}/s/info->psn != qp->resp.psn || start/start/' \
	'UC does not notice a gap inside a message'
m read-not-permitted unit $T/responder.c 's/{RXE_F_READ, IB_UVERBS_ACCESS_REMOTE_READ}/{RXE_F_READ, 0}/' \
	'a QP without remote read lets itself be read'
m short-middle unit $T/responder.c '/^static enum rxe_fault check_length/,/^}/s/len != qp->mtu/len > qp->mtu/' \
	'FIRST and MIDDLE may be short'
m always-solicited unit $T/retire.c '/^static bool complete_recv/,/^}/s/x->slot.solicited/true/' \
	'every receive is a solicited event'
m access-not-told sim $T/retire.c '/^static bool retire_fault/,/^}/s/faults\[f\].event != NO_EVENT/0/' \
	'a violation raises no event'
m atomic-misaligned sim $T/read.c '/^static enum rxe_fault begin_atomic(/,/^}/s/info->va & 7/info->va \& 3/' \
	'an atomic may be at four bytes'
m flush-any-region unit $T/read.c '/^static enum rxe_fault begin_flush/,/^}/s/info->rkey, access, &mr/info->rkey, 0, \&mr/' \
	'FLUSH does not look at what the region allows'

# ---- keys, windows, invalidation ----------------------------------------------------------------------------
m range-end sim $T/mr.c '/^int rxe_mr_check/,/^}/s/> mr->len - len)/> mr->len - len + 1)/' \
	'a range may end one byte late'
m range-wide sim $T/mr.c '/^int rxe_mr_check/,/^}/s/len > mr->len || //' \
	'a range may be longer than its region or window'
m access-ignored unit $T/mr.c '/^int rxe_mr_check/,/^}/s/ || (mr->access & access) != access//' \
	'what a region allows is not looked at'
m pd-ignored unit $T/mr.c '/^int rxe_mr_check/,/^}/s/mr->pdn != pdn || //' \
	'keys of another PD are good'
m key-by-index sim $T/mr.c '/^struct rxe_mr \*rxe_key_get/,/^}/s/__ATOMIC_RELAXED) == key/__ATOMIC_RELAXED) >> 8 == key >> 8/' \
	'the low byte of a key is not compared'
m window-of-any-qp unit $T/mw.c '/^int rxe_rkey_get/,/^}/s/mr->qp_id != qp_id/0/' \
	'a type 2 window of another QP is good'
m use-after-invalidate sim $T/mw.c '/^int rxe_mw_invalidate/,/^}/s/\*old = lead_to(mw, NULL);/*old = NULL;/' \
	'an invalidated window stays open'
m rebind unit $T/mw.c '/^static int check_window/,/^}/s/mw->key.cur || //' \
	'a type 2 window is bound again while it is bound'
m inv-overtakes unit $T/local.c '/^static bool is_fenced/,/^}/s/return qp->req.head != qp->req.cur;/return false;/' \
	'LOCAL_INV does not wait for the requests before it'
m local-twice unit $T/local.c '/^enum rxe_local rxe_local_run/,/^}/s/if (!w->started)/if (1)/' \
	'a BIND_MW or LOCAL_INV that has to wait is executed again'
m leaving-any-window unit $T/read.c '/^static int lookup_leaving/,/^}/s/ || x->slot.inv_rkey != rkey//' \
	'a key that is gone reads through another window that is being ended'
m mr-under-window unit $T/mr.c '/^int rxe_mr_close/,/^}/s/: -EBUSY;/: 0;/' \
	'a region goes from under its windows'

# ---- ends -----------------------------------------------------------------------------------------------------
m flush-while-copying unit $T/flush.c '/^static bool flush_window/,/^}/s/if (w->pending)/if (0)/' \
	'a WQE is flushed while its buffers are still written'
m flush-order sim $T/flush.c 's/if (!qp->init.sq.buf || !flush_window(qp))/if (!qp->init.sq.buf)/' \
	'posted WQEs are flushed, those in flight are not'
m flush-keeps-elements unit $T/flush.c '/^static uint32_t flush_ring/,/^}/s/rxe_ring_consume(r);//' \
	'flushed elements are not given back'
m last-wqe-twice sim $T/flush.c '/^static void last_wqe_reached/,/^}/s/if (qp->last_wqe)/if (0)/' \
	'LAST_WQE_REACHED comes again and again'
m reset-keeps-message sim $T/retire.c '/^void rxe_resp_reset/,/^}/s/resp->msg = RXE_MSG_NONE;//' \
	'a QP that was reset waits for the rest of a message'
m reset-keeps-fault sim $T/retire.c '/^void rxe_resp_reset/,/^}/s/resp->nak_sent = resp->fault = /resp->nak_sent = /' \
	'a QP that was reset after a fault stays deaf'
m sqd-never-drained sim $T/completer.c '/^static void check_drained/,/^}/s/qp->attr.sq_draining = false;//' \
	'a send queue drains for ever'

# ---- SRQ, CQ, UD, multicast ---------------------------------------------------------------------------------------
m limit-wrong-count unit $T/srq.c '/^static bool give_back/,/^}/s/count(srq) < srq->limit/count(srq) <= srq->limit/' \
	'the limit event comes one WQE early'
m limit-again sim $T/srq.c '/^static bool give_back/,/^}/s/srq->limit = 0;/(void)0;/' \
	'the limit event comes more than once for an arming'
m resize-loses unit $T/srq.c '/^static void move/,/^}/s/srq->ring.index + i/i/' \
	'a resize moves the wrong WQEs'
m cq-overrun unit $T/cq.c '/^int rxe_cq_post/,/^}/s/rxe_ring_next(r, r->index) == rxe_ring_consumer(r)/0/' \
	'a full CQ is written over'
m grh-not-counted unit $T/datagram.c '/^void rxe_dgram_rx/,/^}/s/rxe_resp_take_rwqe(qp, pkt->payload_len + RXE_GRH_LEN/rxe_resp_take_rwqe(qp, pkt->payload_len/' \
	'the GRH does not count against the receive buffer'
m qkey-ignored unit $T/datagram.c '/^void rxe_dgram_rx/,/^}/s/info->qkey != qp->attr.qkey/0/' \
	'any Q_Key is good'
m peer-ignored unit $T/engine.c '/^enum rxe_hw_counter rxe_engine_check_qp/,/^}/s/!same_ip(&pkt->sip, &qp->attr.addr.dip) || //' \
	'anybody may send to a connected QP'
m group-one-member sim $T/mcast.c '/^void rxe_mcast_rx/,/^}/s/deliver_copy(last, pkt, info);/(void)0;/' \
	'of a group only one QP gets the datagram'
m deaf-hears sim $T/mcast.c '/^static bool wants/,/^}/s/qp->init.block_self_lb && //;/^static bool wants/,/^}/s/info->src_qpn == qp->init.qpn/0/' \
	'BLOCK_SELF_MCAST_LB does not block'

# ---- the ICRC and the parser ------------------------------------------------------------------------------------------
m icrc-ttl icrc user/common/icrc.c '/^static uint32_t mask_ip/,/^}/s/out\[8\] = 0xff;//' \
	'the ICRC covers the TTL'
m icrc-seed icrc user/common/icrc.c 's/rxe_icrc_add(RXE_ICRC_SEED,/rxe_icrc_add(0xffffffffu,/' \
	'the ICRC begins without the eight bytes of ones'
m bpf-fragment bpf bpf/parse.h 's/#define IPV4_FRAG_FIELDS 0x3fff.*/#define IPV4_FRAG_FIELDS 0x2000/' \
	'the last fragment of a datagram is taken for a frame'
m bpf-options bpf bpf/parse.h '/rxe_bpf_counter parse_ipv4/,/^}/s/if (ip->ihl > 5)/if (ip->ihl > 6)/' \
	'IPv4 options are read as UDP'
m bpf-lengths bpf bpf/parse.h '/^static __always_inline bool rxe_malformed/,/^}/s/ || f->udp_len != f->l4_claim//' \
	'UDP and IP lengths may disagree'
m bpf-beyond-frame bpf bpf/parse.h '/^static __always_inline bool rxe_malformed/,/^}/s/> frame_len/> frame_len + 4/' \
	'a frame may claim more than it brought'
