# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory windows, invalidation, FLUSH and ATOMIC_WRITE between two hosts: the
server owns the memory, the client reaches for it."""

import errno

from rc_pair import *
from pyverbs.mr import MW, MWBind, MWBindInfo

BINDABLE = LOCAL | e.IBV_ACCESS_MW_BIND
ACCESS_ERR = e.IBV_WC_REM_ACCESS_ERR


def bind_1(s, mw, length, access=e.IBV_ACCESS_REMOTE_WRITE):
    s.qp.bind_mw(mw, MWBind(MWBindInfo(s.mr, s.mr.buf, length, access), e.IBV_SEND_SIGNALED))
    check(s.wc().opcode == e.IBV_WC_BIND_MW, "opcode of a bind")
    return mw.rkey


def bind_2(s, mw, length, access=e.IBV_ACCESS_REMOTE_WRITE, status=e.IBV_WC_SUCCESS):
    wr = SendWR(opcode=e.IBV_WR_BIND_MW, num_sge=0, sg=[], send_flags=e.IBV_SEND_SIGNALED)
    wr.set_bind_wr(mw, MWBindInfo(s.mr, s.mr.buf, length, access))
    s.qp.post_send(wr)
    s.wc(status)
    return wr.rkey


def owner_tries(s, steps):
    """Both sides: each step is (what the owner does, what the client does)."""
    for own, reach in steps:
        s.connect()
        if s.is_client:
            reach(s, **s.wire.hear())
        else:
            s.wire.say(**own(s))
        s.wire.swap(step=True)


def type_1(s):
    mw = None if s.is_client else MW(s.pd, e.IBV_MW_TYPE_1)

    def bind(s):
        return {"rkey": bind_1(s, mw, 4096), "addr": s.mr.buf}

    def within(s, rkey, addr):
        s.write(rkey, addr, 4096)
        s.write(rkey, addr + 4088)

    def beyond(s, rkey, addr):
        s.write(rkey, addr + 4090, status=ACCESS_ERR)

    def read(s, rkey, addr):
        s.do(e.IBV_WR_RDMA_READ, rkey, addr, status=ACCESS_ERR)

    def unbind(s):
        rkey = bind_1(s, mw, 4096)
        return {"rkey": rkey, "new": bind_1(s, mw, 0), "addr": s.mr.buf}

    def old_key(s, rkey, new, addr):
        s.write(rkey, addr, status=ACCESS_ERR)

    def new_key(s, rkey, new, addr):
        s.write(new, addr, status=ACCESS_ERR)

    owner_tries(s, [(bind, within), (bind, beyond), (bind, read), (unbind, old_key),
                    (unbind, new_key)])
    if mw:
        mw.close()


def type_2(s):
    windows = []

    def bind(s):
        s.recv()
        # A new one each time: pyverbs keeps the key of the first.
        windows.append(MW(s.pd, e.IBV_MW_TYPE_2))
        return {"rkey": bind_2(s, windows[-1], 4096), "addr": s.mr.buf}

    s.connect()
    if s.is_client:
        at = s.wire.hear()
        s.write(at["rkey"], at["addr"], 4096)
        s.do(e.IBV_WR_SEND_WITH_INV, inv=at["rkey"])
        s.wire.swap(sent=True)
        s.write(at["rkey"], at["addr"], status=ACCESS_ERR)
    else:
        at = bind(s)
        s.wire.say(**at)
        wc = s.wc()
        check(wc.wc_flags & e.IBV_WC_WITH_INV, "IBV_WC_WITH_INV is set")
        check(wc.imm_data == at["rkey"], "invalidated_rkey is the window's")
        s.wire.swap(sent=True)
    s.wire.swap(step=True)

    def bind_and_invalidate(s):
        at = bind(s)
        s.do(e.IBV_WR_LOCAL_INV, inv=at["rkey"])
        return at

    owner_tries(s, [(bind_and_invalidate, lambda s, rkey, addr: s.write(rkey, addr,
                                                                        status=ACCESS_ERR))])
    for mw in windows:
        mw.close()


def forged(s):
    """Keys that are near, an other QP's window, an MR that lets nobody in."""
    windows = []

    def bind(s):
        windows.append(MW(s.pd, e.IBV_MW_TYPE_2))
        return {"rkey": bind_2(s, windows[-1], 4096), "addr": s.mr.buf, "mr": s.mr.rkey}

    def near(bits):
        return lambda s, rkey, addr, mr: s.write(rkey ^ bits, addr, status=ACCESS_ERR)

    def region(s, rkey, addr, mr):
        s.write(mr, addr, status=ACCESS_ERR)

    steps = [(bind, near(1 << bit)) for bit in (0, 7, 8, 15, 30, 31)]
    owner_tries(s, steps + [(bind, region)])

    # a window belongs to one QP: another one of the same program and PD is refused
    s.connect()
    other = s.new_qp()
    s.join(other)
    if s.is_client:
        at = s.wire.hear()
        s.write(at["rkey"], at["addr"])
        s.post(e.IBV_WR_RDMA_WRITE, at["rkey"], at["addr"], qp=other)
        s.wc(ACCESS_ERR)
        s.write(at["rkey"], at["addr"])     # the right one still works
    else:
        s.wire.say(**bind(s))
    s.wire.swap(step=True)
    other.close()
    for mw in windows:
        mw.close()


def bad_invalidation(s):
    """An ordinary MR is not invalidated, by nobody."""
    s.connect()
    if s.is_client:
        s.do(e.IBV_WR_SEND_WITH_INV, inv=s.wire.hear()["mr"])
        s.wire.swap(sent=True)
    else:
        s.recv()
        s.wire.say(mr=s.mr.rkey)
        s.wc(e.IBV_WC_REM_INV_REQ_ERR)
        s.wire.swap(sent=True)
    s.connect()
    if not s.is_client:
        s.do(e.IBV_WR_LOCAL_INV, inv=s.mr.lkey, status=e.IBV_WC_LOC_QP_OP_ERR)
    s.connect()     # and works as before
    s.recv()
    s.wire.swap(posted=True)
    s.post(e.IBV_WR_SEND)
    s.wc()
    s.wc()


def bound_mr_stays(s):
    s.connect()
    if s.is_client:
        return
    mr = MR(s.pd, 4096, BINDABLE)
    mw = MW(s.pd, e.IBV_MW_TYPE_2)
    wr = SendWR(opcode=e.IBV_WR_BIND_MW, num_sge=0, sg=[], send_flags=e.IBV_SEND_SIGNALED)
    wr.set_bind_wr(mw, MWBindInfo(mr, mr.buf, 4096, e.IBV_ACCESS_REMOTE_READ))
    s.qp.post_send(wr)
    s.wc()
    refused(errno.EINVAL, mr.close)
    refused(errno.EBUSY, mr.rereg, e.IBV_REREG_MR_CHANGE_ACCESS, None, 0, 0, LOCAL)
    s.do(e.IBV_WR_LOCAL_INV, inv=wr.rkey)
    mr.close()
    # bound again, and freed with its MR still there
    bind_2(s, mw, 0, status=e.IBV_WC_MW_BIND_ERR)
    mw.close()


def cycles(s):
    if s.is_client:
        return
    for n in range(10000):
        MW(s.pd, 1 + n % 2).close()


def flush(s):
    """WRITE, FLUSH, then a look at the memory; what is refused."""
    s.connect()
    if s.is_client:
        at = s.wire.hear()
        for level in (0, 1):
            s.poke(0x1122334455667788 + level)
            s.post(e.IBV_WR_RDMA_WRITE, at["rkey"], at["addr"])
            s.flush(at["rkey"], at["addr"], 8, level=level)
            s.wc()
            check(s.wc().opcode == WC_FLUSH, "opcode of a FLUSH")
            s.wc()
            s.wire.swap(flushed=True)
            s.wire.swap(seen=True)
    else:
        s.wire.say(rkey=s.mr.rkey, addr=s.mr.buf)
        for level in (0, 1):
            s.wire.swap(flushed=True)
            check(s.peek() == 0x1122334455667788 + level, "what was flushed is there")
            s.wire.swap(seen=True)

    closed = None if s.is_client else MR(s.pd, 4096, REMOTE)    # without FLUSH_GLOBAL

    def refuse(status, **change):
        s.connect()
        if s.is_client:
            at = s.wire.hear()
            s.flush(at["closed"] if change.get("closed") else at["rkey"] ^ change.get("xor", 0),
                    at["addr"], change.get("length", 8), change.get("kind", 1))
            s.wc(status)
        else:
            s.wire.say(rkey=s.mr.rkey, addr=s.mr.buf, closed=closed.rkey)
        s.wire.swap(step=True)

    refuse(ACCESS_ERR, xor=0x100, length=0)     # the rkey counts at length 0 too
    refuse(ACCESS_ERR, length=SIZE + 1)
    refuse(ACCESS_ERR, closed=True)
    refuse(e.IBV_WC_REM_INV_REQ_ERR, kind=2)    # persistence: the QP has no such flag
    refuse(e.IBV_WC_LOC_QP_OP_ERR, kind=4)
    if closed:
        closed.close()


def atomic_write(s):
    s.connect()
    if s.is_client:
        at = s.wire.hear()
        s.atomic_write(at["rkey"], at["addr"] + 16, 0x8877665544332211)
        wc = s.wc()
        check(wc.opcode == WC_ATOMIC_WRITE and wc.byte_len == 8, "completion")
        s.wc()
        s.wire.swap(written=True)
    else:
        s.poke(0, 8)
        s.poke(0, 16)
        s.poke(0, 24)
        s.wire.say(rkey=s.mr.rkey, addr=s.mr.buf)
        s.wire.swap(written=True)
        check([s.peek(8), s.peek(16), s.peek(24)] == [0, 0x8877665544332211, 0], "8 bytes")

    def refuse(status, xor, off):
        s.connect()
        if s.is_client:
            at = s.wire.hear()
            s.atomic_write(at["rkey"] ^ xor, at["addr"] + off, 1)
            s.wc(status)
        else:
            s.wire.say(rkey=s.mr.rkey, addr=s.mr.buf)
        s.wire.swap(step=True)

    refuse(e.IBV_WC_REM_INV_REQ_ERR, 0, 4)
    refuse(ACCESS_ERR, 0x100, 0)
    refuse(ACCESS_ERR, 0, SIZE)


def access_flags(s):
    """What registration takes and refuses, with the kernel's errnos."""
    if s.is_client:
        return
    for good in (BINDABLE, REMOTE | FLUSH_GLOBAL, e.IBV_ACCESS_REMOTE_READ,
                 LOCAL | e.IBV_ACCESS_RELAXED_ORDERING):
        MR(s.pd, 4096, good).close()
    for code, bad in ((errno.EINVAL, e.IBV_ACCESS_REMOTE_WRITE),
                      (errno.EINVAL, e.IBV_ACCESS_REMOTE_ATOMIC),
                      (errno.EINVAL, LOCAL | 1 << 10),
                      (errno.EINVAL, LOCAL | 1 << 9),       # no persistent memory here
                      (errno.EOPNOTSUPP, LOCAL | e.IBV_ACCESS_ZERO_BASED)):
        refused(code, MR, s.pd, 4096, bad)


def offered(s):
    """The capability bits say what works, and no more."""
    ex = s.ctx.query_device_ex()
    flags = ex.orig_attr.device_cap_flags
    check(flags & (1 << 17) and flags & (1 << 21) and flags & (1 << 24), "windows, 2B, extensions")
    check(not flags & (1 << 23), "2A is not offered")
    more = ex.device_cap_flags_ex
    check(more & (1 << 38) and more & (1 << 40), "FLUSH_GLOBAL, ATOMIC_WRITE")
    check(not more & (1 << 39), "FLUSH_PERSISTENT is not offered")
    check(more & 0xffffffff == flags, "both words agree")
    check(ex.orig_attr.max_mw == (1 << 19) - 1, "max_mw")


TESTS = {f.__name__: f for f in (type_1, type_2, forged, bad_invalidation, bound_mr_stays, cycles,
                                 flush, atomic_write, access_flags, offered)}
REMOTE_TESTS = ("flush", "atomic_write")

if __name__ == "__main__":
    main(TESTS, REMOTE | FLUSH_GLOBAL if any(t in sys.argv for t in REMOTE_TESTS) else BINDABLE)
