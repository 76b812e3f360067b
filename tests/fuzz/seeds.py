#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the seeds of the fuzz targets, from the driver's captures in
tests/pcaps and from the languages that the targets read (see each target's
first comment and world.c).  seeds.py CORPUS_DIR; what is there already under
other names (inputs that crashed once) stays."""
import glob
import os
import re
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


# ---- uverbs (uverbs.c, rdma/ib_user_verbs.h) ----------------------------------

P = struct.pack
MEM = 0x10000000                    # room.h
GID4 = bytes(10) + b'\xff\xff' + bytes([10, 9, 0, 0])
GROUP = bytes(10) + b'\xff\xff' + bytes([224, 0, 1, 7])
RESP = P('<Q', 0x1000)
CMD = {n: i for i, n in enumerate(
    'GET_CONTEXT QUERY_DEVICE QUERY_PORT ALLOC_PD DEALLOC_PD CREATE_AH MODIFY_AH QUERY_AH '
    'DESTROY_AH REG_MR REG_SMR REREG_MR QUERY_MR DEREG_MR ALLOC_MW BIND_MW DEALLOC_MW '
    'CREATE_COMP_CHANNEL CREATE_CQ RESIZE_CQ DESTROY_CQ POLL_CQ PEEK_CQ REQ_NOTIFY_CQ CREATE_QP '
    'QUERY_QP MODIFY_QP DESTROY_QP POST_SEND POST_RECV ATTACH_MCAST DETACH_MCAST CREATE_SRQ '
    'MODIFY_SRQ QUERY_SRQ DESTROY_SRQ'.split())}
WRITE_CMD, EX_CMD, IOCTL_RAW, IOCTL, MMAP, SCRIBBLE, BELL, MESSAGE = 0, 3, 5, 6, 7, 8, 9, 10
SECOND = 0x80


def cmd(name, payload=b'', client=0):
    return bytes([client | WRITE_CMD, CMD[name]]) + block(payload)


def ex_cmd(name, payload, driver_words=0):
    return bytes([EX_CMD, CMD[name]]) + block(payload) + bytes([driver_words])


def ioctl(obj, method, *attrs):
    b = bytes([IOCTL, obj, method, len(attrs)])
    for ident, data, out_len in attrs:
        flag = 0x80 if ident & 0x1000 else 0
        b += bytes([flag | ident & 0x3f | 0x40]) + block(data)
        if len(data) <= 8:
            b += P('<H', out_len)
    return b


def message(kind, payload=b'', flags=0, fds=0):
    return bytes([MESSAGE, kind, flags, fds]) + block(payload)


def dest(sgid=1):
    return GID4 + P('<IHHBBBBBBBB', 0, 0, 0, sgid, 64, 0, 0, 0, 0, 1, 1)


def modify(state, mask, dest_qpn=16, qp=0, sgid=1, qkey=0x4321):
    return cmd('MODIFY_QP', dest(sgid) + dest(sgid) +
               P('<IIIIIIIHHBBBBBBBBBBBBBB2x', qp, mask, qkey, 0, 0, dest_qpn, 0x0f, 0, 0, state, 0,
                 3, 0, 0, 1, 1, 12, 1, 14, 3, 3, 0, 0))


def start():
    return cmd('GET_CONTEXT', RESP) + cmd('ALLOC_PD', RESP)


def reg_mr(access=0x0f, start=MEM):
    return cmd('REG_MR', RESP + P('<QQQII', start, 8192, start, 0, access))


def create_cq(channel=-1, cqe=7):
    return cmd('CREATE_CQ', RESP + P('<QIIiI', 0x77, cqe, 0, channel, 0))


def create_qp(kind, srq=0, is_srq=0, wr=3):
    return cmd('CREATE_QP', RESP + P('<QIIIIIIIIIBBBB', 0x88, 0, 0, 0, srq, wr, wr, 1, 1, 64, 0,
                                     kind, is_srq, 0))


def to_rts(kind, sgid=1):
    masks = {2: (0x39, 0x121181 | 0x8000, 0x12e01), 3: (0x39, 0x101181, 0x10001),
             4: (0x71, 1, 0x10001)}[kind]
    return b''.join(modify(i + 1, m, sgid=sgid) for i, m in enumerate(masks))


def post(opcode, rkey=0, remote=MEM):
    """A WQE into the SQ (mapped first), a receive into the RQ, then the doorbell."""
    w = P('<QIIII', 1, 0, opcode, 2, 0) + P('<QII', remote, rkey, 0)
    w = w.ljust(184, b'\0') + P('<IIIIIIQII', 64, 64, 0, 1, 0, 0, MEM, 64, 0x100)
    r = P('<QQIIIIIIQII', 2, 0, 64, 64, 0, 1, 0, 0, MEM, 64, 0x100)
    b = bytes([SCRIBBLE, 1]) + P('<H', 384) + block(r) + bytes([SCRIBBLE, 1]) + P('<H', 128) + \
        block(P('<I', 1))
    b += bytes([SCRIBBLE, 0]) + P('<H', 384) + block(w) + bytes([SCRIBBLE, 0]) + P('<H', 128) + \
        block(P('<I', 1))
    return b + bytes([BELL, 0, BELL, 0])


def rings():
    return bytes([MMAP, 3]) + P('<H', 4096) + bytes([MMAP, 4]) + P('<H', 4096) + \
        bytes([MMAP, 2]) + P('<H', 4096)


def uverbs_seeds():
    yield 'device', start() + cmd('QUERY_DEVICE', RESP) + cmd('QUERY_PORT', RESP + b'\1' + bytes(7)) + \
        ex_cmd('QUERY_DEVICE', bytes(8)) + cmd('DEALLOC_PD', P('<I', 0))
    yield 'mr', start() + reg_mr() + cmd('REREG_MR', RESP + P('<IIQQQII', 0, 5, MEM, 4096, MEM, 0, 1)) + \
        cmd('ALLOC_MW', RESP + P('<IB3x', 0, 1)) + cmd('ALLOC_MW', RESP + P('<IB3x', 0, 2)) + \
        cmd('DEALLOC_MW', P('<I', 0)) + cmd('DEREG_MR', P('<I', 0)) + reg_mr(start=MEM + 65536)
    yield 'cq', start() + cmd('CREATE_COMP_CHANNEL', RESP) + create_cq(0) + \
        cmd('RESIZE_CQ', RESP + P('<II', 0, 31)) + cmd('REQ_NOTIFY_CQ', P('<II', 0, 0)) + \
        ex_cmd('CREATE_CQ', P('<QIIiIII', 1, 7, 0, -1, 0, 0, 0)) + \
        cmd('DESTROY_CQ', RESP + P('<II', 0, 0)) + message(5, P('<I', 0))
    for kind, name in ((2, 'rc'), (3, 'uc'), (4, 'ud')):
        base = start() + reg_mr() + create_cq() + create_qp(kind)
        for sgid in (0, 1):
            yield '%s%d' % (name, sgid), base + to_rts(kind, sgid) + rings() + post(2) + \
                cmd('QUERY_QP', RESP + P('<II', 0, 0x1fffff)) + modify(4, 1) + modify(6, 1) + \
                cmd('DESTROY_QP', RESP + P('<II', 0, 0))
        yield name + '-write', base + to_rts(kind) + rings() + post(0, 0x100)
    yield 'srq', start() + reg_mr() + create_cq() + \
        cmd('CREATE_SRQ', RESP + P('<QIIII', 0x99, 0, 7, 1, 0)) + create_qp(2, 0, 1) + \
        cmd('MODIFY_SRQ', P('<IIII', 0, 2, 0, 3)) + \
        cmd('MODIFY_SRQ', P('<IIIIQ', 0, 1, 31, 0, MEM)) + \
        cmd('QUERY_SRQ', RESP + P('<II', 0, 0)) + cmd('DESTROY_SRQ', RESP + P('<II', 0, 0))
    ah = GID4 + P('<IBBBBHBBBBBB', 0, 1, 64, 0, 0, 0, 0, 0, 0, 1, 1, 0)
    yield 'ud-group', start() + create_cq() + create_qp(4) + to_rts(4) + \
        cmd('CREATE_AH', RESP + P('<QII', 1, 0, 0) + ah) + \
        cmd('ATTACH_MCAST', GROUP + P('<IHH', 0, 0, 0)) + cmd('ATTACH_MCAST', GROUP + P('<IHH', 0, 0, 0)) + \
        cmd('DETACH_MCAST', GROUP + P('<IHH', 0, 0, 0)) + cmd('DESTROY_AH', P('<I', 0)) + \
        message(9, P('<II', 0, 2)) + message(12, P('<IIII', 0, 1, 0xffffff, 1))
    yield 'ioctl', ioctl(0, 3, (0, b'', 4), (1, b'', 8)) + ioctl(16, 0, (0, bytes(8), 0)) + \
        ioctl(0, 2, (0, b'\1', 1), (1, b'', 48)) + ioctl(0, 6, (0, P('<I', 1), 4), (1, P('<I', 1), 4),
                                                        (2, bytes(4), 4), (3, b'', 32)) + \
        ioctl(0, 5, (0, P('<Q', 32), 8), (1, bytes(4), 4), (2, b'', 1024), (3, b'', 8)) + \
        ioctl(0, 0, (2, P('<Q', 3), 8), (0, bytes(8), 8), (1, b'', 4)) + \
        ioctl(0, 0, (2, P('<Q', 0x80000012), 8), (0, P('<QIIiIII', 1, 7, 0, -1, 0, 0, 0), 0),
              (1, b'', 64), (0x1001, b'', 64))
    yield 'messages', b''.join(message(k, bytes(16)) for k in range(14)) + \
        message(7, b'class/infiniband/rxe0/ports/1/hw_counters/sent_pkts') + message(8) + \
        message(2, bytes(24), 1, 1) + bytes([11]) + block(b'1CXR' + bytes(20))
    yield 'two-clients', start() + reg_mr() + bytes([SECOND | 0x40 | WRITE_CMD, 0]) + block(RESP) + \
        cmd('ALLOC_PD', RESP, SECOND) + cmd('DEREG_MR', P('<I', 0), SECOND)


# ---- netlink (nldev.c, rtnl.c) -------------------------------------------------


def attr(kind, data):
    b = P('<HH', 4 + len(data), kind) + data
    return b + bytes(-len(b) % 4)


def string(kind, text):
    return attr(kind, text.encode() + b'\0')


def u32(kind, v):
    return attr(kind, P('<I', v))


def nl(op, *attrs, dump=False):
    return bytes([op | (0x40 if dump else 0)]) + block(b''.join(attrs))


def nldev_seeds():
    dev = u32(1, 0)
    port = u32(3, 1)
    yield 'show', b'\0' + nl(1, dump=True) + nl(1, dev) + nl(5, dev, port) + nl(5, dev, dump=True) + \
        nl(6) + nl(9, dump=True) + nl(9, dev) + nl(15, string(69, 'uverbs'), dev) + \
        nl(15, string(69, 'rdma_cm'))
    yield 'admin', b'\7' + nl(3, string(2, 'rxe1'), string(65, 'rxe'), string(51, 'fz1')) + \
        nl(2, u32(1, 1), string(2, 'other')) + nl(4, u32(1, 1)) + nl(7, attr(66, b'\0')) + \
        nl(2, dev, u32(68, 0)) + nl(4, dev)
    yield 'refused', b'\0' + nl(3, string(2, 'rxe1'), string(65, 'rxe'), string(51, 'fz1')) + \
        nl(2, dev, string(2, 'other')) + nl(4, dev)
    for op in range(10, 30):
        yield 'op%d' % op, b'\7' + nl(op, dev, port, dump=True) + nl(op, dev, port, u32(26, 1))
    two = P('<IHHII', 24, 5 << 10 | 1, 1, 9, 9) + dev
    yield 'send', b'\7\x80' + block(two + two) + b'\x80' + block(two[:20]) + \
        b'\x80' + block(P('<IHHII', 0xffffffff, 5 << 10 | 1, 0x305, 9, 9))


def rtnl_seeds():
    def msg(kind, head, *attrs):
        b = head + b''.join(attrs)
        return block(P('<IHHII', 16 + len(b), kind, 0, 0, 0) + b)

    ip4, ip6, mac = bytes([10, 9, 0, 0]), bytes.fromhex('fd' + '00' * 14 + '0a'), bytes(range(2, 8))
    xdp = b''.join([u32(4, 1), u32(5, 2), u32(6, 3), u32(7, 4)])
    yield 'link', msg(16, P('<BBHiII', 0, 0, 1, 3, 0x11043, 0), string(3, 'fz0'), attr(1, mac),
                      u32(4, 1500), attr(43, xdp)) + msg(17, P('<BBHiII', 0, 0, 772, 1, 1, 0),
                                                         string(3, 'lo'))
    yield 'addr', msg(20, P('<BBBBI', 2, 31, 0, 0, 3), attr(1, ip4), attr(2, ip4), u32(8, 0x80)) + \
        msg(21, P('<BBBBI', 10, 64, 0x40, 253, 3), attr(1, ip6))
    yield 'neigh', msg(28, P('<BBHiHBB', 2, 0, 0, 3, 2, 0, 1), attr(1, ip4), attr(2, mac)) + \
        msg(29, P('<BBHiHBB', 10, 0, 0, 3, 4, 0, 1), attr(1, ip6))
    yield 'route', msg(24, P('<BBBBBBBBI', 2, 32, 0, 0, 254, 0, 0, 1, 0), attr(1, ip4), u32(4, 3),
                       attr(7, ip4), attr(5, ip4)) + \
        msg(24, P('<BBBBBBBBI', 2, 32, 0, 0, 254, 0, 0, 1, 0), u32(4, 3),
            attr(18, P('<H', 10) + ip6))


# ---- rdma_cm (rdma_cm.c, rdma/rdma_user_cm.h) ------------------------------------

UCMA = {n: i for i, n in enumerate(
    'CREATE_ID DESTROY_ID BIND_IP RESOLVE_IP RESOLVE_ROUTE QUERY_ROUTE CONNECT LISTEN ACCEPT '
    'REJECT DISCONNECT INIT_QP_ATTR GET_EVENT GET_OPTION SET_OPTION NOTIFY JOIN_IP_MCAST '
    'LEAVE_MCAST MIGRATE_ID QUERY BIND RESOLVE_ADDR JOIN_MCAST'.split())}
CM_CMD, CM_WRITE, CM_EVENTS, CM_ANY, CM_MADE, CM_ANSWER, CM_GONE = 0, 3, 4, 5, 6, 7, 8
TCP, UDP = 0x106, 0x111
REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP = range(9)


def ucma(name, which, payload, extra=b'', f=0):
    return bytes([f << 7 | CM_CMD, UCMA[name], which]) + block(payload) + block(extra)


def sin(host, port):
    return P('<H', 2) + P('>H', port) + bytes([10, 9, 0, host]) + bytes(20)


def create_id(ps, f=0, uid=1):
    return ucma('CREATE_ID', 0, P('<QQHB5x', uid, 0x1000, ps, 4 if ps == UDP else 2), f=f)


def conn_param(priv=b'hello'):
    return P('<II', 17, 0) + priv.ljust(256, b'\0') + bytes([len(priv), 0, 1, 1, 1, 7, 7, 1])


def get_events(f=0, n=3):
    return bytes([f << 7 | CM_EVENTS, n])


def listener(ps, f=1):
    return create_id(ps, f, 9) + ucma('BIND_IP', 0, P('<Q', 0) + sin(0, 7000) + bytes(4), f=f) + \
        ucma('LISTEN', 0, P('<II', 0, 5), f=f)


def caller(ps, host, which=0):
    return create_id(ps) + ucma('RESOLVE_IP', which, sin(0, 0) + sin(host, 7000) + P('<II', 0, 1000)) + \
        get_events() + ucma('RESOLVE_ROUTE', which, P('<II', 0, 1000)) + get_events() + \
        ucma('QUERY_ROUTE', which, P('<QII', 0, 0, 0)) + \
        ucma('CONNECT', which, conn_param() + P('<IIII', 0, 0, 0xffffff, 1))


def answer_mad(msg, at=0, xor=b'', flags=0):
    return bytes([CM_ANSWER, flags | msg, at]) + block(xor)


def rdma_cm_seeds():
    for ps, name in ((TCP, 'tcp'), (UDP, 'udp')):
        # Ids of the first file come first: the caller is 0, the listener 1 and
        # what it accepts 1 once it has been taken from its list's head.
        accept = b''.join(ucma('ACCEPT', n, P('<Q', 5) + conn_param() + P('<IIII', 0, 0, 0, 0), f=1)
                          for n in (1, 2))
        yield 'self-' + name, listener(ps) + caller(ps, 0) + get_events(1) + accept + get_events() + \
            ucma('ACCEPT', 0, P('<Q', 0) + conn_param()[:-1] + b'\0' + P('<IIII', 0, 0, 0, 0)) + \
            get_events(1) + ucma('INIT_QP_ATTR', 0, P('<QII', 0, 0, 1)) + \
            ucma('DISCONNECT', 0, P('<I', 0)) + get_events(1) + get_events() + \
            ucma('DESTROY_ID', 0, P('<QII', 0, 0, 0))
        yield 'reject-' + name, listener(ps) + caller(ps, 0) + get_events(1) + \
            ucma('REJECT', 1, P('<IBB2x', 0, 4, 28) + b'busy'.ljust(256, b'\0'), f=1) + get_events()
        yield 'wire-' + name, caller(ps, 1) + answer_mad(MRA, flags=0x80) + caller(ps, 1) + \
            answer_mad(SIDR_REP if ps == UDP else REP, flags=0x80) + get_events() + \
            answer_mad(DREQ, flags=0x80) + caller(ps, 1) + answer_mad(REJ, 34, b'\0\x1c', 0x80) + \
            get_events()
    yield 'options', create_id(TCP) + ucma('SET_OPTION', 0, P('<QIIII', 0, 0, 0, 0, 1), b'\7') + \
        ucma('SET_OPTION', 0, P('<QIIII', 0, 0, 0, 1, 4), P('<I', 1)) + \
        ucma('SET_OPTION', 0, P('<QIIII', 0, 0, 0, 3, 1), b'\x10') + \
        ucma('QUERY', 0, P('<QII', 0, 0, 0)) + ucma('QUERY', 0, P('<QII', 0, 0, 1)) + \
        ucma('QUERY', 0, P('<QII', 0, 0, 2)) + ucma('NOTIFY', 0, P('<II', 0, 4)) + \
        ucma('MIGRATE_ID', 0x40, P('<QII', 0, 0, 0), f=1)
    yield 'mcast', create_id(UDP) + ucma('BIND_IP', 0, P('<Q', 0) + sin(0, 0) + bytes(4)) + \
        ucma('JOIN_IP_MCAST', 0, P('<QQ', 0, 3) + P('<HH', 2, 0) + bytes([224, 0, 1, 7]) + bytes(20) +
             bytes(4)) + get_events() + ucma('LEAVE_MCAST', 0, P('<QII', 0, 0, 0)) + \
        ucma('JOIN_MCAST', 0, P('<QQIHH', 0, 3, 0, 16, 0) + sin(0, 0)[:4] + bytes([224, 0, 1, 8]) +
             bytes(120)) + bytes([CM_GONE])
    yield 'storage', create_id(TCP) + ucma('BIND', 0, P('<IHH', 0, 16, 0) + sin(0, 7001)[:16] +
                                           bytes(112)) + \
        create_id(TCP) + ucma('RESOLVE_ADDR', 0, P('<IIHHI', 0, 1000, 0, 16, 0) + bytes(128) +
                              sin(1, 7000)[:16] + bytes(112)) + get_events()
    for path in sorted(glob.glob(os.path.join(PCAPS, 'cm_*.pcap'))):
        mads = [p[20:276] for p in roce(path) if p[0] == 0x64 and p[5:8] == b'\0\0\1']
        out = b''.join(bytes([CM_ANY, 1]) + block(m) for m in mads[:6])
        yield os.path.basename(path)[:-5], listener(TCP) + listener(UDP) + out
    for msg in range(9):
        yield 'made%d' % msg, listener(TCP) + bytes([CM_MADE, 1, msg]) + \
            block(P('>II', 5, 5) + P('>Q', TCP << 16 | 7000) + bytes(range(100)))


# ---- tunables (tunables.c) --------------------------------------------------------


def params():
    """The names in include/rxe/params.h, in order."""
    with open(os.path.join(HERE, '..', '..', 'include', 'rxe', 'params.h')) as f:
        return re.findall(r'P\([A-Z_0-9]+, *([a-z_0-9]+), *"', f.read())


def tunables_seeds():
    names = params()
    world = b''.join(b'\3' + x for x in (recv(RC), made(RC, 4, payload=4), send(RC, 2),
                                         send(RC, 0, length=60), made(RC, 0x11)))
    yield 'values', b''.join(b'\0' + bytes([i]) + P('<I', v) for i in range(len(names))
                             for v in (0, 1, 0xffffffff, 64)) + world
    for v in (0, 0xffffffff):
        yield 'engine%d' % (v & 1), b''.join(b'\0' + bytes([i]) + P('<I', v)
                                             for i in range(len(names))) + world
    yield 'words', b''.join(b'\1' + block(w.encode()) for w in
                            ['', '-j', 'list', '-j list', 'get mtu', '--rundir /x/y.z get max_qp',
                             'get', 'set mtu', 'nonsense', '-z', '--rundir / list'] +
                            ['set %s %s' % (n, v) for n, v in zip(names, [
                                '0', '-1', '4294967296', '0x10', ' ', '1e3', '99999999999999999999',
                                '010', '+5', '7 8'] * 4)])
    yield 'rings', b''.join(b'\2' + bytes([0, n, 0, n, 0, 4, 0, 4, 0, 64]) for n in (0, 1, 255)) + \
        b'\2' + (b'\1' + P('<I', 0xffffffff)) * 5 + b'\2' + (b'\1' + P('<I', 1 << 20)) * 2 + bytes(6)


RING_SEEDS = ('ops0', 'ops1', 'ops4', 'wrs0', 'wrs1', 'wrs3', 'wrs4', 'write', 'read', 'bind',
              'errors', 'group')
# Touch by touch (rings.c): mostly nothing, now and then an index, a geometry word or a byte.
HOSTILE = b''.join(bytes(9) + bytes([0xa0 | i & 7, i % 15, 255 - i, i, 0, 0]) +
                   bytes(4) + bytes([0xd0 | i & 15, i % 15, 7 * i & 255, i & 1, 0x7f]) +
                   bytes(i % 5) + bytes([0x60, 5 + i, 0, 0x61, 0, i, 0, 0x80])
                   for i in range(24))


def main():
    corpus = sys.argv[1]
    for name, data in world_seeds():
        write(corpus, 'packets', name, data)
        if name in RING_SEEDS:
            write(corpus, 'rings', name, block(data) + HOSTILE)
    for name, data in uverbs_seeds():
        write(corpus, 'uverbs', name, data)
    for name, data in nldev_seeds():
        write(corpus, 'nldev', name, data)
    for name, data in rdma_cm_seeds():
        write(corpus, 'rdma_cm', name, data)
    for name, data in tunables_seeds():
        write(corpus, 'tunables', name, data)
    for name, data in rtnl_seeds():
        write(corpus, 'rtnl', name, data)


if __name__ == '__main__':
    main()
