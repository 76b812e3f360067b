# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCEv2 frames made by hand for the selftests, with an ICRC that owes nothing
to the code under test (zlib, masking by the rule), and the means to send them
from another network namespace."""

import ctypes
import ipaddress
import os
import socket
import struct
import zlib

ROCE_PORT = 4791
UD_SEND_ONLY = 0x64
RC_SEND_ONLY = 0x04
RC_WRITE_ONLY = 0x0a
RC_READ_REQUEST = 0x0c
RC_ACK = 0x11
ACK_REQ = 0x80000000
ETH_LEN = 14


def bth(opcode, qpn, psn=0, pad=0, pkey=0xffff, flags=0):
    return struct.pack(">BBHII", opcode, flags | pad << 4, pkey, qpn, psn)


def deth(qkey, sqpn):
    return struct.pack(">II", qkey, sqpn)


def reth(va, rkey, length):
    return struct.pack(">QII", va, rkey, length)


def aeth(syndrome, msn=0):
    return struct.pack(">I", syndrome << 24 | msn)


def ipv4_checksum(header):
    s = sum(struct.unpack(">10H", header))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def ip_header(src, dst, payload_len, ttl=64):
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    if src.version == 6:
        return struct.pack(">IHBB", 6 << 28, payload_len, socket.IPPROTO_UDP, ttl) + \
            src.packed + dst.packed
    h = struct.pack(">BBHHHBBH", 0x45, 0, 20 + payload_len, 0x1234, 0x4000, ttl,
                    socket.IPPROTO_UDP, 0) + src.packed + dst.packed
    return h[:10] + struct.pack(">H", ipv4_checksum(h)) + h[12:]


def masked_bits(ip_version):
    """Byte offsets from the IP header -> bits that the ICRC reads as ones."""
    if ip_version == 4:
        ip_len, bits = 20, {1: 0xff, 8: 0xff, 10: 0xff, 11: 0xff}
    else:
        ip_len, bits = 40, {0: 0x0f, 1: 0xff, 2: 0xff, 3: 0xff, 7: 0xff}
    bits.update({ip_len + 6: 0xff, ip_len + 7: 0xff, ip_len + 8 + 4: 0xff})
    return bits


def icrc(packet):
    """The four ICRC bytes of a packet that begins with its IP header."""
    p = bytearray(packet)
    for at, bits in masked_bits(p[0] >> 4).items():
        p[at] |= bits
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(p)))


def frame(dmac, smac, src, dst, ib, sport=0xc000):
    """A frame around ib (BTH to the end of the padding), ICRC behind it."""
    udp = struct.pack(">HHHH", sport, ROCE_PORT, 8 + len(ib) + 4, 0)
    ip = ip_header(src, dst, 8 + len(ib) + 4)
    ethertype = b"\x08\x00" if len(ip) == 20 else b"\x86\xdd"
    packet = ip + udp + ib
    return dmac + smac + ethertype + packet + icrc(packet)


def flipped(data, byte, bit):
    return data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1:]


def raw_socket(netns, netdev, protocol=0):
    """An AF_PACKET socket on a netdev of another namespace, given by path;
    protocol 3 (ETH_P_ALL): it receives too."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    away = os.open(netns, os.O_RDONLY)
    clone_newnet = 0x40000000
    if libc.setns(away, clone_newnet):
        raise OSError(ctypes.get_errno(), "setns " + netns)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    s.bind((netdev, protocol))
    libc.setns(home, clone_newnet)
    os.close(home)
    os.close(away)
    return s


def mac(text):
    return bytes(int(x, 16) for x in text.split(":"))
