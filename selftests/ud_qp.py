# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A UD QP through pyverbs that takes what comes, for selftests that send
frames made by hand."""

import time

from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR
import pyverbs.enums as e

GRH_LEN = 40
SLOT = 512
DEPTH = 64


class UdQp:
    def __init__(self, dev, qkey, max_inline_data=0):
        self.ctx = Context(name=dev)
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 2 * DEPTH)
        self.mr = MR(self.pd, DEPTH * SLOT, e.IBV_ACCESS_LOCAL_WRITE)
        cap = QPCap(max_send_wr=DEPTH, max_recv_wr=DEPTH, max_inline_data=max_inline_data)
        init = QPInitAttr(qp_type=e.IBV_QPT_UD, scq=self.cq, rcq=self.cq, cap=cap)
        attr = QPAttr(port_num=1)
        attr.qkey = qkey
        self.qp = QP(self.pd, init, attr)
        for slot in range(DEPTH):
            self.post(slot)

    def post(self, slot):
        sge = SGE(self.mr.buf + slot * SLOT, SLOT, self.mr.lkey)
        self.qp.post_recv(RecvWR(wr_id=slot, num_sge=1, sg=[sge]))

    def receive(self):
        """Payloads of the completions that are there now, GRH cut off."""
        out = []
        n, wcs = self.cq.poll(16)
        for wc in wcs[:n] if n else []:
            if wc.status != e.IBV_WC_SUCCESS:
                raise RuntimeError("completion status %d" % wc.status)
            data = self.mr.read(wc.byte_len, wc.wr_id * SLOT)
            out.append(bytes(data[GRH_LEN:]))
            self.post(wc.wr_id)
        return out

    def wait_for(self, payload, seconds):
        """Everything received up to payload, which is the last; None in time."""
        got, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            got += self.receive()
            if payload in got:
                return got
            time.sleep(0.001)
        return None
