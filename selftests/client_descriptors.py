# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A hostile unprivileged client, by the protocol of include/rxe/ipc.h:
descriptors whose close() takes as long as it likes, sockets of others to be
answered on, requests that make rxed log. After each, rxed must answer."""

import array
import os
import signal
import socket
import struct
import sys

MAGIC, F_REPLY_FD = 0x31435852, 1
OPEN, SYSFS_SYNC, STAT = 1, 7, 8
EINVAL, EPROTO = 22, 71
LINGER_S, ANSWER_S = 60, 10
NOBODY = 65534


def request(kind, payload=b"", flags=0):
    return struct.pack("=IHHIi", MAGIC, kind, flags, len(payload), 0) + payload


def rights(fds):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    s.settimeout(ANSWER_S)
    return s


def status(s):
    return struct.unpack("=i", s.recv(70000)[12:16])[0]


def must_answer(path):
    s = connect(path)
    s.send(request(SYSFS_SYNC, b"class/infiniband"))
    status(s)


def lingering():
    """A socket whose last close() waits: its peer does not read."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1)
    c = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    c.setblocking(False)
    try:
        while True:
            c.send(b"x" * 65536)
    except BlockingIOError:
        pass
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER_S))
    return c, (server, peer)


def let_go(c):
    """At once, so that rxed's is the last close(); if ours is it after all, and
    waits, a signal ends that."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    c.close()
    signal.setitimer(signal.ITIMER_REAL, 0)


def expect(what, got, want):
    print("%s: %s" % (what, got))
    if got != want:
        sys.exit("%s: %s, not %s" % (what, got, want))


def linger_request(path):
    """With a request that takes none, and with a message that is no request."""
    for message, answer in ((request(STAT), -EINVAL), (b"no request", None)):
        c, keep = lingering()
        s = connect(path)
        s.sendmsg([message], rights([c.fileno()]))
        let_go(c)
        if answer is None:
            expect("not a message", s.recv(100), b"")
        else:
            expect("descriptors that it does not take", status(s), answer)
        must_answer(path)
        del keep


def linger_many(path):
    """More than a request may have: the kernel must not close them for rxed."""
    pairs = [lingering() for _ in range(2)]
    s = connect(path)
    s.sendmsg([request(STAT)], rights([0] * 100 + [c.fileno() for c, _ in pairs]))
    for c, _ in pairs:
        let_go(c)
    must_answer(path)


def linger_unread(path):
    """In messages that rxed does not read any more when the client is gone."""
    for _ in range(4):
        c, keep = lingering()
        s = connect(path)
        s.send(b"no request")
        for _ in range(8):
            try:
                s.sendmsg([request(STAT)], rights([c.fileno()]))
            except (BrokenPipeError, ConnectionResetError):
                break
        let_go(c)
        s.close()
        must_answer(path)
        del keep


def linger_reply(path):
    c, _keep = lingering()
    s = connect(path)
    s.sendmsg([request(SYSFS_SYNC, b"class/infiniband", F_REPLY_FD)], rights([c.fileno()]))
    let_go(c)
    must_answer(path)


def reply_foreign(path, foreign):
    """Answers bear root's credentials: only to a pair of the client's own user."""
    ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    others = [foreign, socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
              socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)]
    s = connect(path)
    for mine, given in others + [ours]:
        s.sendmsg([request(SYSFS_SYNC, b"class/infiniband", F_REPLY_FD)], rights([given.fileno()]))
        given.close()
        mine.settimeout(ANSWER_S)
    expect("a pair of its own", len(ours[0].recv(100)), 16)
    for mine, _ in others:  # asked before, so what is not there does not come any more
        mine.setblocking(False)
        try:
            got = mine.recv(100)
        except (BlockingIOError, ConnectionResetError):
            got = b""
        expect("another socket", got, b"")
    s.send(request(SYSFS_SYNC, b"class/infiniband", F_REPLY_FD))
    expect("none", status(s), -EINVAL)


def log_flood(path):
    m = os.open("/dev/null", os.O_RDWR)
    s = connect(path)
    for _ in range(int(sys.argv[3])):
        s.sendmsg([request(OPEN, struct.pack("=Ii", 99, 0))], rights([m, m]))
        if status(s) != -EPROTO:
            sys.exit("a wrong version was not refused")


def main():
    path, what = sys.argv[1] + "/rxed.sock", sys.argv[2]
    roots = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    if what == "reply_foreign":
        reply_foreign(path, roots)
    else:
        globals()[what](path)


main()
