# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One side of an RC connection through pyverbs, for selftests whose two
programs work step by step: what they tell each other goes over TCP. Also
posts work requests made by hand, for which rdma-core has no verb."""

import argparse
import ctypes
import errno
import json
import re
import socket
import struct
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mem_alloc import posix_memalign
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PORT = 18515
SIZE = 1 << 16
FLUSH_GLOBAL = 1 << 8          # IB_ACCESS_FLUSH_GLOBAL
LOCAL = e.IBV_ACCESS_LOCAL_WRITE
REMOTE = LOCAL | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
QP_ACCESS = REMOTE | e.IBV_ACCESS_REMOTE_ATOMIC | FLUSH_GLOBAL
WR_FLUSH, WR_ATOMIC_WRITE = 14, 15
WC_FLUSH, WC_ATOMIC_WRITE = 8, 9


def check(ok, what):
    if not ok:
        sys.exit("FAILED: " + what)


def refused(code, fn, *args):
    """fn(*args) fails with this errno."""
    try:
        fn(*args)
    except PyverbsRDMAError as ex:
        check(ex.error_code == code, "errno %d, not %d, of %r" % (ex.error_code, code, fn))
        return
    check(False, "%r%r was not refused" % (fn, args))


class Wire:
    """JSON lines between the two programs."""

    def __init__(self, server):
        if server:
            self.sock = socket.create_connection((server, PORT), 30)
        else:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("", PORT))
            s.listen(1)
            s.settimeout(30)
            self.sock = s.accept()[0]
        self.sock.settimeout(60)
        self.lines = self.sock.makefile("r")

    def say(self, **what):
        self.sock.sendall((json.dumps(what) + "\n").encode())

    def hear(self):
        line = self.lines.readline()
        check(line, "the other side has ended")
        return json.loads(line)

    def swap(self, **what):
        self.say(**what)
        return self.hear()


def rings():
    """Addresses of the rings in shared memory that are mapped now."""
    with open("/proc/self/maps") as f:
        return {int(m.group(1), 16) for m in
                re.finditer(r"^([0-9a-f]+)-.*memfd:rxe-ring", f.read(), re.M)}


class Side:
    def __init__(self, access=REMOTE):
        p = argparse.ArgumentParser()
        p.add_argument("-d", required=True)
        p.add_argument("-g", type=int, required=True)
        p.add_argument("-t", dest="test", required=True)
        p.add_argument("server", nargs="?")
        self.args = p.parse_args()
        self.is_client = bool(self.args.server)
        self.ctx = Context(name=self.args.d)
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 256)
        # Its own memory: pyverbs frees what it allocated when an MR moves.
        self.mr = MR(self.pd, SIZE, access, posix_memalign(SIZE, 4096))
        self.wire = Wire(self.args.server)
        self.qp = None

    def new_qp(self, pd=None):
        cap = QPCap(max_send_wr=64, max_recv_wr=64, max_inline_data=64)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=1)
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = QP_ACCESS
        return QP(pd or self.pd, init, attr)

    def connect(self, pd=None):
        """A new QP, connected to the other side's new one; the old one goes."""
        if self.qp:
            self.qp.close()
        while self.cq.poll(16)[0]:
            pass
        before = rings()
        self.qp = self.new_qp(pd)
        self.rings = rings() - before
        self.join(self.qp)

    def join(self, qp):
        peer = self.wire.swap(qpn=qp.qp_num, gid=self.ctx.query_gid(1, self.args.g).gid)
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = QP_ACCESS
        attr.dest_qp_num = peer["qpn"]
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.min_rnr_timer = 12
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        gr = GlobalRoute(dgid=GID(peer["gid"]), sgid_index=self.args.g)
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=gr)
        qp.to_rts(attr)
        self.wire.swap(ready=True)

    # ---- work requests

    def sge(self, off=0, length=8, mr=None):
        mr = mr or self.mr
        return SGE(mr.buf + off, length, mr.lkey)

    def recv(self, qp=None):
        (qp or self.qp).post_recv(RecvWR(num_sge=1, sg=[self.sge(SIZE // 2, 4096)]))

    def post(self, opcode, rkey=0, addr=0, length=8, inv=None, qp=None, sge=None):
        wr = SendWR(opcode=opcode, num_sge=1, sg=[sge or self.sge(0, length)],
                    send_flags=e.IBV_SEND_SIGNALED)
        if opcode in (e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_READ):
            wr.set_wr_rdma(rkey, addr)
        if inv is not None:
            wr.imm_data = inv
        (qp or self.qp).post_send(wr)

    def wc(self, status=e.IBV_WC_SUCCESS):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            n, wcs = self.cq.poll(1)
            if n:
                check(wcs[0].status == status,
                      "completion status %d, not %d" % (wcs[0].status, status))
                return wcs[0]
        sys.exit("FAILED: no completion")

    def do(self, opcode, *args, status=e.IBV_WC_SUCCESS, **kw):
        self.post(opcode, *args, **kw)
        return self.wc(status)

    def write(self, rkey, addr, length=8, **kw):
        return self.do(e.IBV_WR_RDMA_WRITE, rkey, addr, length, **kw)

    def by_hand(self, opcode, operands, data=b""):
        """A send WQE (struct rxe_send_wqe) straight into the ring. The doorbell
        is that of the empty WRITE behind it."""
        for base in self.rings:
            log2, mask = struct.unpack("II", ctypes.string_at(base, 8))
            if log2 >= 8:       # receive WQEs of one SGE are smaller
                break
        at = struct.unpack("I", ctypes.string_at(base + 128, 4))[0]
        wqe = struct.pack("=QIIII", 0, 0, opcode, e.IBV_SEND_SIGNALED, 0) + operands
        wqe = wqe.ljust(208, b"\0") + data
        ctypes.memmove(base + 384 + (at << log2), wqe, len(wqe))
        ctypes.memmove(base + 128, struct.pack("I", (at + 1) & mask), 4)
        self.post(e.IBV_WR_RDMA_WRITE, 0, 0, 0)

    def flush(self, rkey, addr, length, kind=1, level=0):
        self.by_hand(WR_FLUSH, struct.pack("=QIIBB", addr, length, rkey, kind, level))

    def atomic_write(self, rkey, addr, value):
        self.by_hand(WR_ATOMIC_WRITE, struct.pack("=QI", addr, rkey), struct.pack("=Q", value))

    def peek(self, off=0):
        return struct.unpack("=Q", ctypes.string_at(self.mr.buf + off, 8))[0]

    def poke(self, value, off=0):
        self.mr.write(struct.pack("=Q", value), 8, off)


def main(tests, access=REMOTE):
    side = Side(access)
    tests[side.args.test](side)
    side.wire.swap(end=True)
    if side.qp:
        side.qp.close()
