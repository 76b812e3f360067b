# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibv_rereg_mr(): every combination of flags, under traffic, and what becomes of
who used the region as it was."""

import errno

from rc_pair import *

TRANS, PD_, ACCESS = (e.IBV_REREG_MR_CHANGE_TRANSLATION, e.IBV_REREG_MR_CHANGE_PD,
                      e.IBV_REREG_MR_CHANGE_ACCESS)
ACCESS_ERR = e.IBV_WC_REM_ACCESS_ERR
WRITABLE = LOCAL | e.IBV_ACCESS_REMOTE_WRITE


def under_traffic(s):
    """The client writes all the time to what both old and new region cover."""
    s.connect()
    if s.is_client:
        at = s.wire.hear()
        s.write(at["rkey"], at["addr"], 4096)
        s.wire.say(started=True)
        s.wire.sock.setblocking(False)
        n = 0
        while True:
            s.poke(n)
            for _ in range(16):
                s.post(e.IBV_WR_RDMA_WRITE, at["rkey"], at["addr"], 4096)
            for _ in range(16):
                s.wc()
            n += 16
            try:
                if s.wire.sock.recv(1, socket.MSG_PEEK):
                    break
            except BlockingIOError:
                pass
        s.wire.sock.settimeout(60)
        check(s.wire.hear()["enough"], "told to end")
        return
    buf, key = s.mr.buf, (s.mr.lkey, s.mr.rkey)
    s.wire.say(rkey=s.mr.rkey, addr=buf)
    s.wire.hear()
    end = time.monotonic() + 60
    n = 0
    while n < 600 or s.peek() < 1000:   # the client's count, as it arrives
        check(time.monotonic() < end, "no traffic after %d re-registrations" % n)
        n += 1
        flags = (TRANS, ACCESS, TRANS | ACCESS)[n % 3]
        access = (REMOTE if n % 2 else WRITABLE) if flags & ACCESS else 0
        length = (SIZE if n % 4 < 2 else 4096) if flags & TRANS else 0
        s.mr.rereg(flags, None, buf if flags & TRANS else 0, length, access)
        check((s.mr.lkey, s.mr.rkey) == key, "the keys stay")
    s.wire.say(enough=True)


def new_pd(s):
    s.connect()
    if s.is_client:
        at = s.wire.hear()
        s.write(at["rkey"], at["addr"])
        s.wire.swap(written=True)
        s.wire.swap(moved=True)
        s.write(at["rkey"], at["addr"], status=ACCESS_ERR)
        s.wire.swap(refused=True)
        s.connect()
        s.write(at["rkey"], at["addr"])
        s.wire.swap(done=True)
        return
    other = PD(s.ctx)
    s.wire.say(rkey=s.mr.rkey, addr=s.mr.buf)
    s.wire.swap(written=True)
    s.mr.rereg(PD_, other, 0, 0, 0)
    s.wire.swap(moved=True)
    s.wire.swap(refused=True)
    s.connect(other)
    s.wire.swap(done=True)
    s.qp.close()
    s.qp = None
    s.mr.rereg(PD_ | ACCESS, s.pd, 0, 0, LOCAL)
    other.close()


def new_place(s):
    """Another buffer: the old address is closed, the new one open, at once."""
    s.connect()
    if s.is_client:
        at = s.wire.hear()
        s.write(at["rkey"], at["addr"], 64)
        s.wire.swap(written=True)
        new = s.wire.hear()
        s.write(new["rkey"], new["addr"], 64)
        s.write(at["rkey"], at["addr"], 64, status=ACCESS_ERR)
        s.wire.swap(done=True)
        return
    old, spare = s.mr.buf, posix_memalign(SIZE, 4096)
    s.wire.say(rkey=s.mr.rkey, addr=old)
    s.wire.swap(written=True)
    s.recv()            # into the old place: its buffer is no part of the region now
    s.mr.rereg(TRANS | ACCESS | PD_, s.pd, spare, SIZE, WRITABLE)
    s.wire.say(rkey=s.mr.rkey, addr=spare)
    s.wire.swap(done=True)
    s.mr.rereg(TRANS, None, old, SIZE, 0)


def stale_receive(s):
    """A receive WQE that names the old place is an error of its own side."""
    s.connect()
    s.wire.swap(ready=True)
    if s.is_client:
        s.wire.hear()
        s.do(e.IBV_WR_SEND, status=e.IBV_WC_REM_OP_ERR)
        s.connect()
        s.wire.hear()
        s.do(e.IBV_WR_SEND)
        return
    old, spare = s.mr.buf, posix_memalign(SIZE, 4096)
    s.recv()
    s.mr.rereg(TRANS, None, spare, SIZE, 0)
    s.wire.say(posted=True)
    s.wc(e.IBV_WC_LOC_PROT_ERR)
    s.connect()
    s.mr.rereg(TRANS, None, old, SIZE, 0)
    s.recv()
    s.wire.say(posted=True)
    s.wc()


def refusals(s):
    if s.is_client:
        return
    mr = s.mr
    refused(errno.EINVAL, mr.rereg, 0, None, 0, 0, 0)
    refused(errno.EINVAL, mr.rereg, 8, None, 0, 0, 0)
    refused(errno.EINVAL, mr.rereg, ACCESS, None, 0, 0, e.IBV_ACCESS_REMOTE_WRITE)
    refused(errno.EOPNOTSUPP, mr.rereg, ACCESS, None, 0, 0, e.IBV_ACCESS_ZERO_BASED)
    refused(errno.EFAULT, mr.rereg, TRANS, None, 4096, 4096, 0)     # nothing is mapped there
    check(s.peek() is not None and mr.length == SIZE, "the region is what it was")


TESTS = {f.__name__: f for f in (under_traffic, new_pd, new_place, stale_receive, refusals)}

if __name__ == "__main__":
    main(TESTS)
