# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One victim in host 1, its peer in host 2 (played here, packet by packet), and
a stranger in a third namespace. Each case says what may reach the victim's QP
and what must not, by the counter that must move and memory that must not."""

import argparse
import socket
import struct
import subprocess
import sys
import time

import roce
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
import pyverbs.enums as e
from ud_qp import UdQp

ETH_P_ALL = 3
PEER_QPN = 0x20
RQ_PSN, SQ_PSN = 0x1000, 0x2000
SIZE = 4096
SECRET = b"untouched secret"
FORGED = b"forged by others"
REMOTE = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
NAK_PSN, NAK_INVALID, NAK_ACCESS = 0x60, 0x61, 0x62
QKEY = 0x11111111
PATIENCE = 5


def parse():
    p = argparse.ArgumentParser()
    for name in "dev rxe gid peer_ns other_ns netdev dmac src dst dst2 stranger src6 dst6".split():
        p.add_argument("--" + name.replace("_", "-"), required=True)
    p.add_argument("--bad-icrc", action="store_true")
    p.add_argument("case")
    return p.parse_args()


def expect(what, got, want):
    if got != want:
        sys.exit("%s: %r, not %r" % (what, got, want))


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.002)


class Wire:
    def __init__(self, a):
        self.a = a
        self.peer = roce.raw_socket(a.peer_ns, a.netdev, ETH_P_ALL)
        self.peer.settimeout(0.2)
        self.other = roce.raw_socket(a.other_ns, "br0")
        self.qpn = 0

    def counter(self, name):
        out = subprocess.run([self.a.rxe, "stat"], capture_output=True, text=True, check=True)
        return sum(int(x[2]) for x in map(str.split, out.stdout.splitlines()) if x[1] == name)

    def send(self, ib, src=None, dst=None, by=None):
        a = self.a
        frame = roce.frame(roce.mac(a.dmac), roce.mac("02:00:00:00:00:77"), src or a.src,
                           dst or a.dst, ib)
        if a.bad_icrc:
            frame = roce.flipped(frame, len(frame) - 1, 0)
        (by or self.peer).send(frame)

    def dropped(self, counter, ib, **how):
        """The frame arrives, and is dropped for this very reason."""
        before = self.counter(counter)
        self.send(ib, **how)
        until(counter, lambda: self.counter(counter) > before)
        expect(counter, self.counter(counter), before + 1)

    def answers(self, seconds=0.3):
        """(opcode, psn, AETH syndrome) of what the victim sent to its peer."""
        out, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                f, addr = self.peer.recvfrom(9000)
            except socket.timeout:
                continue
            if addr[2] == socket.PACKET_OUTGOING or f[12:14] != b"\x08\x00" or f[23] != 17 or \
                    f[36:38] != struct.pack(">H", roce.ROCE_PORT):
                continue
            bth = f[42:]
            expect("the answer goes to", f[30:34], socket.inet_aton(self.a.src))
            out.append((bth[0], struct.unpack(">I", bth[8:12])[0] & 0xffffff, bth[12]))
        return out


class Victim:
    """An RC QP in RTS, connected to host 2's address, with memory to write to."""

    def __init__(self, a, wire, state=e.IBV_QPS_RTS):
        self.wire = wire
        self.ctx = Context(name=a.dev)
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 16)
        self.mr = MR(self.pd, SIZE, REMOTE)
        self.fill(self.mr)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                          cap=QPCap(max_send_wr=8, max_recv_wr=8))
        self.qp = QP(self.pd, init)
        self.qpn = self.qp.qp_num
        self.psn = RQ_PSN
        if state == e.IBV_QPS_RESET:
            return
        attr = self.attributes(a)
        self.qp.to_init(attr)
        self.recv()
        if state == e.IBV_QPS_INIT:
            return
        self.qp.to_rts(attr)
        if state == e.IBV_QPS_ERR:
            self.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)

    @staticmethod
    def attributes(a):
        dgid = GID("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" %
                   tuple(socket.inet_aton(a.src)))
        gr = GlobalRoute(dgid=dgid, sgid_index=int(a.gid))
        attr = QPAttr(port_num=1)
        attr.dest_qp_num, attr.path_mtu = PEER_QPN, e.IBV_MTU_1024
        attr.rq_psn, attr.sq_psn = RQ_PSN, SQ_PSN
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 18, 7, 7
        attr.qp_access_flags = REMOTE
        attr.ah_attr = AHAttr(gr=gr, is_global=1, port_num=1)
        return attr

    @staticmethod
    def fill(mr):
        mr.write(SECRET, len(SECRET))

    def recv(self):
        self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf + 1024, 1024, self.mr.lkey)]))

    def memory(self, mr=None):
        return bytes((mr or self.mr).read(len(SECRET), 0))

    def untouched(self, mr=None):
        expect("memory", self.memory(mr), SECRET)

    def write_ib(self, psn=None, pkey=0xffff, va=None, rkey=None):
        """A WRITE of FORGED; by default one that nothing is wrong with."""
        psn = self.psn if psn is None else psn
        return roce.bth(roce.RC_WRITE_ONLY, self.qpn, psn | roce.ACK_REQ, pkey=pkey) + \
            roce.reth(self.mr.buf if va is None else va,
                      self.mr.rkey if rkey is None else rkey, len(FORGED)) + FORGED

    def works(self):
        """The rightful peer writes and is acknowledged: nothing was disturbed."""
        self.wire.answers(0.05)
        self.wire.send(self.write_ib())
        until("the peer's WRITE", lambda: self.memory() == FORGED)
        expect("answer", [x for x in self.wire.answers() if x[1] == self.psn],
               [(roce.RC_ACK, self.psn, 0x1f)])
        self.psn += 1
        self.fill(self.mr)


# ---- cases ------------------------------------------------------------------------

def source(a, w):
    v = Victim(a, w)
    v.works()
    w.dropped("drop_wrong_peer", v.write_ib(), src=a.stranger, by=w.other)
    w.dropped("drop_wrong_peer", v.write_ib(), src=a.src6, dst=a.dst6, by=w.other)
    w.dropped("drop_own_source", v.write_ib(), src=a.dst, by=w.other)
    expect("answers", w.answers(), [])
    v.untouched()
    v.works()


def destination(a, w):
    """Another address of the victim's device is not the one it is connected by."""
    v = Victim(a, w)
    w.dropped("drop_wrong_peer", v.write_ib(), dst=a.dst2)
    v.untouched()
    v.works()


def pkey(a, w):
    v = Victim(a, w)
    w.dropped("drop_pkey", v.write_ib(pkey=0x8001))
    w.dropped("drop_pkey", v.write_ib(pkey=0x0000))
    v.untouched()
    w.send(v.write_ib(pkey=0x7fff))     # a limited member of our partition
    until("a limited member's WRITE", lambda: v.memory() == FORGED)


def qkey(a, w):
    u = UdQp(a.dev, QKEY)

    def ib(key, text):
        return roce.bth(roce.UD_SEND_ONLY, u.qp.qp_num) + roce.deth(key, PEER_QPN) + text
    w.dropped("drop_qkey", ib(QKEY + 1, b"wrong Q_Key "))
    w.dropped("drop_qkey", ib(0x80000000 | QKEY, b"top bit set "))
    w.dropped("drop_pkey", roce.bth(roce.UD_SEND_ONLY, u.qp.qp_num, pkey=0x8001) +
              roce.deth(QKEY, PEER_QPN) + b"wrong P_Key ")
    w.send(ib(QKEY, b"the right one   "))
    expect("received", u.wait_for(b"the right one   ", PATIENCE), [b"the right one   "])


def refused(a, w, va=0, rkey=0, mr=None, code=NAK_ACCESS, use_va=None):
    """The connected peer itself asks for what it may not have: a NAK, no byte moved."""
    v = Victim(a, w)
    w.answers(0.05)
    other = mr(v) if mr else None
    target = other or v.mr
    w.send(v.write_ib(va=target.buf + va, rkey=target.rkey + rkey))
    expect("answer", w.answers(), [(roce.RC_ACK, v.psn, code)])
    v.untouched()
    v.untouched(target)


def foreign_pd(v):
    v.pd2 = PD(v.ctx)
    mr = MR(v.pd2, SIZE, REMOTE)
    v.fill(mr)
    return mr


def other_client(v):
    v.ctx2 = Context(name=v.ctx.name)
    v.pd2 = PD(v.ctx2)
    mr = MR(v.pd2, SIZE, REMOTE)
    v.fill(mr)
    return mr


def read_only(v):
    mr = MR(v.pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
    v.fill(mr)
    return mr


def rkeys(a, w):
    refused(a, w, rkey=1)                       # the key byte
    refused(a, w, rkey=0x100)                   # another index
    refused(a, w, va=-1)
    refused(a, w, va=SIZE - len(FORGED) + 1)    # its end sticks out
    refused(a, w, va=0xffffffffffff0000 - 0x7fffffffffff)
    refused(a, w, mr=foreign_pd)
    refused(a, w, mr=other_client)
    refused(a, w, mr=read_only)


def read_forged(a, w):
    """A READ of another client's memory: no byte of it comes."""
    v = Victim(a, w)
    mr = other_client(v)
    w.answers(0.05)
    w.send(roce.bth(roce.RC_READ_REQUEST, v.qpn, v.psn | roce.ACK_REQ) +
           roce.reth(mr.buf, mr.rkey, SIZE))
    expect("answer", w.answers(), [(roce.RC_ACK, v.psn, NAK_ACCESS)])


def psn(a, w):
    """Guessed PSNs, though from the right address: nothing is executed, and the
    connection goes on."""
    v = Victim(a, w)
    v.works()
    for ahead in 1, 0x1000, 0x400000, 0x7fffff:
        w.dropped("out_of_seq_request", v.write_ib(psn=(v.psn + ahead) & 0xffffff))
    for behind in 0x2, 0x1000, 0x400000, 0x800000:
        w.dropped("duplicate_request", v.write_ib(psn=(v.psn - behind) & 0xffffff))
    v.untouched()
    naks = [x for x in w.answers() if x[2] & 0xe0 == NAK_PSN]
    expect("NAKs for one gap", len(naks), 1)
    v.works()


def ack(a, w):
    """Acknowledgements of strangers, and of PSNs that were not sent."""
    v = Victim(a, w)
    sge = SGE(v.mr.buf, 64, v.mr.lkey)
    v.qp.post_send(SendWR(wr_id=7, opcode=e.IBV_WR_SEND, num_sge=1, sg=[sge],
                          send_flags=e.IBV_SEND_SIGNALED))
    sent = w.answers()
    expect("sent", (sent[0][0], sent[0][1]), (roce.RC_SEND_ONLY, SQ_PSN))

    def an_ack(psn, syndrome=0x1f):
        return roce.bth(roce.RC_ACK, v.qpn, psn & 0xffffff) + roce.aeth(syndrome, 1)
    w.dropped("drop_wrong_peer", an_ack(SQ_PSN), src=a.stranger, by=w.other)
    w.dropped("drop_wrong_peer", an_ack(SQ_PSN, NAK_INVALID), src=a.stranger, by=w.other)
    for psn in SQ_PSN + 1, SQ_PSN + 0x400000, SQ_PSN - 1:
        before = w.counter("rcvd_pkts")
        w.send(an_ack(psn))
        until("the ACK", lambda: w.counter("rcvd_pkts") > before)
        expect("completions", v.cq.poll(1)[0], 0)
    w.send(an_ack(SQ_PSN))
    wcs = []
    until("the completion", lambda: wcs.extend(v.cq.poll(1)[1]) or wcs)
    expect("completion", (wcs[0].wr_id, wcs[0].status), (7, e.IBV_WC_SUCCESS))


def states(a, w):
    # A QP that never left RESET is not known to the XDP program.
    for state, reason in ((e.IBV_QPS_RESET, "drop_no_qp"), (e.IBV_QPS_INIT, "drop_qp_state"),
                          (e.IBV_QPS_ERR, "drop_qp_state")):
        v = Victim(a, w, state)
        w.dropped(reason, v.write_ib())
        v.untouched()
        expect("answers", w.answers(0.1), [])
        qpn = v.qpn
        v.qp.close()
        w.dropped("drop_no_qp", roce.bth(roce.RC_WRITE_ONLY, qpn, RQ_PSN) +
                  roce.reth(v.mr.buf, v.mr.rkey, len(FORGED)) + FORGED)
        v.untouched()


CASES = [source, destination, pkey, qkey, rkeys, read_forged, psn, ack, states]


def main():
    a = parse()
    case = {f.__name__: f for f in CASES}[a.case]
    case(a, Wire(a))


main()
