#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the seeds of the fuzz targets, from the driver's captures in
tests/pcaps and from the languages that the targets read (see each target's
first comment and world.c).  seeds.py CORPUS_DIR; what is there already under
other names (inputs that crashed once) stays."""
import glob
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PCAPS = os.path.join(HERE, '..', 'pcaps')


def write(corpus, target, name, data):
    d = os.path.join(corpus, target)
    os.makedirs(d, exist_ok=True)
    with open(os.path.join(d, 'seed-' + name), 'wb') as f:
        f.write(data)


def frames(path):
    """Each frame of a classic little-endian pcap."""
    with open(path, 'rb') as f:
        data = f.read()
    at = 24
    while at + 16 <= len(data):
        caplen = struct.unpack_from('<I', data, at + 8)[0]
        yield data[at + 16:at + 16 + caplen]
        at += 16 + caplen


def roce(path):
    """The bytes from BTH to pad of each RoCEv2 packet."""
    for f in frames(path):
        kind = f[12:14]
        at = 14 + (f[14] & 15) * 4 if kind == b'\x08\x00' else 14 + 40
        if kind not in (b'\x08\x00', b'\x86\xdd') or f[at + 2:at + 4] != b'\x12\xb7':
            continue
        length = struct.unpack_from('>H', f, at + 4)[0]
        yield f[at + 8:at + length - 4]


def block(b):
    return struct.pack('<H', len(b)) + b


# ---- the transport's world (world.c) -----------------------------------------

RC, RC_SRQ, RTR, UC, UD, UD2 = range(6)
RAW, MADE, SEND, RECV, POLL, STATE, LATER, COND, FINISH, WINDOW, SRQ = \
    0, 1, 4, 6, 7, 8, 9, 10, 11, 12, 13
NEAR = struct.pack('<H', 64)        # an address within the region


def made(qp, op, how=0, psn=0, va=NEAR, key=0, dma=4, syndrome=0x1f, payload=None):
    b = bytes([MADE, qp, op, how, psn & 255]) + va + bytes([key, dma, syndrome])
    return b + (b'' if payload is None else bytes([payload]))


def send(qp, opcode, flags=2, sges=1, key=0, length=4, access=0):
    b = bytes([SEND, qp, opcode, flags, sges])
    b += (NEAR + bytes([length, 0])) * sges
    return b + NEAR + bytes([key, key, 5, length, length]) + struct.pack('<H', access)


def recv(qp):
    return bytes([RECV, qp, 1]) + NEAR + bytes([60, 0])


def world_seeds():
    for path in sorted(glob.glob(os.path.join(PCAPS, '*.pcap'))):
        name = os.path.basename(path)[:-5]
        out = b''
        for i, p in enumerate(q for q in roce(path) if 12 <= len(q) <= 320):
            qp = {0: RC, 1: UC, 3: UD}.get(p[0] >> 5, RC)
            p = p[:8] + struct.pack('>I', (p[8] & 0x80) << 24 | (0xfffffd + i) & 0xffffff) + p[12:]
            out += bytes([RAW, 0x80 | qp << 4]) + block(p)
            if len(out) > 1200:
                break
        yield name, b''.join(recv(q) for q in range(6)) + out
    ops = list(range(0x15)) + [0x16, 0x17, 0x1c, 0x1d]
    for qp in (RC, RC_SRQ, UC, UD):
        out = recv(qp)
        for op in ops:
            out += made(qp, op, payload=15)
        yield 'ops%d' % qp, out
        out = b''
        for op in (0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15):
            out += send(qp, op, access=0x0f) + made(qp, 0x11) + bytes([POLL, 0])
        yield 'wrs%d' % qp, out
    yield 'write', b''.join([recv(RC), made(RC, 6, dma=45, payload=15), made(RC, 7, payload=15),
                             made(RC, 9, payload=15), bytes([POLL, 1])])
    yield 'read', b''.join([send(RC, 4, length=45), made(RC, 0x0d, psn=0, payload=15),
                            made(RC, 0x0e, payload=15), made(RC, 0x0f, payload=15),
                            bytes([LATER, 200, 24, POLL, 0])])
    yield 'bind', b''.join([send(RC, 8, access=0x0f), made(RC, 10, key=5, payload=4),
                            bytes([WINDOW, 0]), made(RC, 0x17, key=5, payload=4)])
    yield 'errors', b''.join([made(RC, 10, key=2, payload=4), send(RC, 0), bytes([STATE, RC, 0]),
                              bytes([STATE, RC, 8]), made(RC, 0x11, syndrome=0x60),
                              bytes([COND, 0x47]), send(RC, 0), bytes([FINISH, 0, COND, 0]),
                              bytes([SRQ, 9, SRQ, 4, LATER, 255, 30])])
    yield 'group', b''.join([recv(UD), recv(UD2), made(UD, 4, how=2, payload=4),
                             made(UD, 4, how=32, payload=15), send(UD, 2, access=1)])


RING_SEEDS = ('ops0', 'ops1', 'ops4', 'wrs0', 'wrs1', 'wrs3', 'wrs4', 'write', 'read', 'bind',
              'errors', 'group')
# Touch by touch (rings.c): mostly nothing, now and then an index, a geometry word or a byte.
HOSTILE = b''.join(bytes(9) + bytes([0x60 | i & 7, i % 15, 255 - i, i, 0, 0]) +
                   bytes(4) + bytes([0xa0 | i & 15, i % 15, 7 * i & 255, i & 1, 0x7f])
                   for i in range(24))


def main():
    corpus = sys.argv[1]
    for name, data in world_seeds():
        write(corpus, 'packets', name, data)
        if name in RING_SEEDS:
            write(corpus, 'rings', name, block(data) + HOSTILE)


if __name__ == '__main__':
    main()
