# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads a capture of one RC connection's WRITEs or SENDs: the largest number of
request PSNs that were on the wire without an ACK. On the wire an ACK is seen
before its requester sees it, so this never exceeds what the requester had."""

import struct
import sys

ETH, IPV4, UDP, BTH = 14, 20, 8, 12
RC_ACK = 0x11
RC_REQUESTS = range(0x00, 0x0c)		# SEND and WRITE, first to only with immediate


def frames(path):
    with open(path, "rb") as f:
        order = "<" if f.read(24)[:4] == b"\xd4\xc3\xb2\xa1" else ">"
        while len(h := f.read(16)) == 16:
            yield f.read(struct.unpack(order + "IIII", h)[2])


def distance(a, b):
    """a - b in 24-bit circular arithmetic."""
    d = (a - b) & 0xffffff
    return d - 0x1000000 if d & 0x800000 else d


def main(path):
    first = acked = None
    worst = requests = 0
    for f in frames(path):
        bth = f[ETH + IPV4 + UDP:][:BTH]
        if len(bth) < BTH:
            continue
        psn = struct.unpack(">I", bth[8:])[0] & 0xffffff
        if bth[0] in RC_REQUESTS:
            requests += 1
            if acked is None:
                first, acked = psn, (psn - 1) & 0xffffff
            worst = max(worst, distance(psn, acked))
        elif bth[0] == RC_ACK and acked is not None and distance(psn, acked) > 0:
            acked = psn
    if first is None:
        sys.exit("no request in " + path)
    print(worst, requests)


main(sys.argv[1])
