# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two clients' contexts of one device: keys and address handles of the one, or
of another PD, in work requests of the other. Each must end in an error
completion, with no byte moved."""

import sys
import time

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
import pyverbs.enums as e

SIZE = 512
SECRET = b"belongs to one client only......"
REMOTE = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
QKEY = 0x11111111


class Client:
    def __init__(self, dev, gid, ctx=None):
        self.ctx = ctx or Context(name=dev)
        self.gid_index = gid
        self.pd = PD(self.ctx)
        self.mr = MR(self.pd, SIZE, REMOTE)
        self.mr.write(SECRET, len(SECRET))
        self.cq = CQ(self.ctx, 32)
        gr = GlobalRoute(dgid=self.ctx.query_gid(1, gid), sgid_index=gid)
        self.ah_attr = AHAttr(gr=gr, is_global=1, port_num=1)
        self.ah = AH(self.pd, attr=self.ah_attr)

    def qp(self, kind):
        return QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq,
                                      cap=QPCap(max_send_wr=4, max_recv_wr=4)), self.attr(kind))

    @staticmethod
    def attr(kind):
        if kind != e.IBV_QPT_UD:
            return None
        attr = QPAttr(port_num=1)
        attr.qkey = QKEY
        return attr

    def wait(self):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            n, wcs = self.cq.poll(1)
            if n:
                return wcs[0]
            time.sleep(0.001)
        sys.exit("no completion")

    def expect(self, what, status):
        got = self.wait().status
        print("%s: %s" % (what, got))
        if got != status:
            sys.exit("%s: completion status %d, not %d" % (what, got, status))

    def connect(self, a, b):
        for x, y in ((a, b), (b, a)):
            attr = QPAttr(port_num=1)
            attr.dest_qp_num, attr.path_mtu = y.qp_num, e.IBV_MTU_1024
            attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
            attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
            attr.qp_access_flags = REMOTE
            attr.ah_attr = self.ah_attr
            x.to_rts(attr)

    def pair(self):
        a, b = self.qp(e.IBV_QPT_RC), self.qp(e.IBV_QPT_RC)
        self.connect(a, b)
        return a, b


def untouched(*mrs):
    for mr in mrs:
        if bytes(mr.read(len(SECRET), 0)) != SECRET:
            sys.exit("memory was written")


def local_keys(mine, others):
    """As a source, as the target of a READ, and in a receive."""
    for mr in others:
        sge = SGE(mr.buf, 64, mr.lkey)
        a, b = mine.pair()
        a.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[sge],
                           send_flags=e.IBV_SEND_SIGNALED))
        mine.expect("SEND from it", e.IBV_WC_LOC_PROT_ERR)
        a, b = mine.pair()
        read = SendWR(opcode=e.IBV_WR_RDMA_READ, num_sge=1, sg=[sge],
                      send_flags=e.IBV_SEND_SIGNALED)
        read.set_wr_rdma(mine.mr.rkey, mine.mr.buf)
        a.post_send(read)
        mine.expect("READ into it", e.IBV_WC_LOC_PROT_ERR)
        a, b = mine.pair()
        b.post_recv(RecvWR(num_sge=1, sg=[sge]))
        a.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1,
                           sg=[SGE(mine.mr.buf + 64, 64, mine.mr.lkey)],
                           send_flags=e.IBV_SEND_SIGNALED))
        both = sorted([mine.wait().status, mine.wait().status])
        if both != sorted([e.IBV_WC_LOC_PROT_ERR, e.IBV_WC_REM_OP_ERR]):
            sys.exit("receive into it: %r" % both)
    untouched(mine.mr, *others)


def remote_keys(mine, others):
    for mr in others:
        for op in e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_READ:
            a, b = mine.pair()
            wr = SendWR(opcode=op, num_sge=1, sg=[SGE(mine.mr.buf + 64, 64, mine.mr.lkey)],
                        send_flags=e.IBV_SEND_SIGNALED)
            wr.set_wr_rdma(mr.rkey, mr.buf)
            a.post_send(wr)
            mine.expect("operation %d on it" % op, e.IBV_WC_REM_ACCESS_ERR)
    untouched(mine.mr, *others)


def address_handles(mine, others):
    for ah in others:
        a = mine.qp(e.IBV_QPT_UD)
        wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mine.mr.buf, 64, mine.mr.lkey)],
                    send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_ud(ah, a.qp_num, QKEY)
        a.post_send(wr)
        mine.expect("along it", e.IBV_WC_LOC_QP_OP_ERR)
    # and one's own works
    a = mine.qp(e.IBV_QPT_UD)
    wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mine.mr.buf, 64, mine.mr.lkey)],
                send_flags=e.IBV_SEND_SIGNALED)
    wr.set_wr_ud(mine.ah, a.qp_num, QKEY)
    a.post_send(wr)
    mine.expect("along its own", e.IBV_WC_SUCCESS)


def main(dev, gid, case):
    mine = Client(dev, int(gid))
    other = Client(dev, int(gid))                   # another client
    pd = Client(dev, int(gid), ctx=mine.ctx)        # another PD
    if case == "lkeys":
        local_keys(mine, [other.mr, pd.mr])
    elif case == "rkeys":
        remote_keys(mine, [other.mr, pd.mr])
    else:
        address_handles(mine, [other.ah, pd.ah])


main(*sys.argv[1:])
