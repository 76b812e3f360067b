# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends to a live UD QP one frame per bit with that bit flipped, and a valid
frame after every few: the receive queue is in order, so once the valid one
has completed, whatever a flipped one would have done is done."""

import argparse
import sys

import roce
from ud_qp import UdQp

QKEY = 0x11111111
BATCH = 16


def parse():
    p = argparse.ArgumentParser()
    for name in "dev netns netdev dmac smac src dst bits".split():
        p.add_argument("--" + name, required=True)
    return p.parse_args()


class Sender:
    def __init__(self, a, qpn):
        self.sock = roce.raw_socket(a.netns, a.netdev)
        self.a, self.qpn, self.psn = a, qpn, 0

    def make(self, payload):
        self.psn += 1
        ib = roce.bth(roce.UD_SEND_ONLY, self.qpn, self.psn) + roce.deth(QKEY, 0x20) + payload
        return roce.frame(roce.mac(self.a.dmac), roce.mac(self.a.smac), self.a.src, self.a.dst, ib)

    def send(self, frame):
        self.sock.send(frame)


def choose(frame, which):
    """(byte, bit) of the packet: those that the ICRC masks, or all the others."""
    masked = roce.masked_bits(frame[roce.ETH_LEN] >> 4)
    for at in range(len(frame) - roce.ETH_LEN):
        for bit in range(8):
            if bool(masked.get(at, 0) >> bit & 1) == (which == "masked"):
                yield roce.ETH_LEN + at, bit


def main():
    a = parse()
    qp = UdQp(a.dev, QKEY)
    out = Sender(a, qp.qp.qp_num)
    probe = b"p" * 32
    bits = list(choose(out.make(probe), a.bits))
    wrong = []
    for start in range(0, len(bits), BATCH):
        batch = bits[start:start + BATCH]
        for byte, bit in batch:
            out.send(roce.flipped(out.make(probe), byte, bit))
        fence = b"fence%08d" % start + bytes(3)
        out.send(out.make(fence))
        got = qp.wait_for(fence, 10)
        if got is None:
            print("the valid frame after bits", batch, "never completed")
            return 1
        arrived = len(got) - 1
        if arrived != (len(batch) if a.bits == "masked" else 0):
            wrong.append((batch, arrived))
    print("%d bits" % len(bits))
    for batch, arrived in wrong:
        print("%d of the frames with bits %s flipped completed" % (arrived, batch))
    return 1 if wrong else 0


sys.exit(main())
