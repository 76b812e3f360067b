#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the commands of a recorded session and compares with what the kernel's driver printed.

usage: rdma_reference.py FILE [--exact] [--keep REGEX] [--skip REGEX]

FILE has blocks "$ command", its output, "[exit N]". Lines are compared as a set of shapes: names and
order of fields, and values where they are words; numbers and keys only with --exact. What differs on
purpose is in ON_PURPOSE, and in docs/rdma-tool.md for people. Prints one line per command; fails
when one of them differs for longer than PATIENCE (the netdev's events come to rxed in their time).
"""
import argparse
import json
import re
import subprocess
import sys
import time

PATIENCE = 5

# The driver has no such counters; they follow its own.
MORE_COUNTERS = ["roce_adp_retrans", "roce_slow_restart"]

VARIES = [
    (r"\b[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}\b", "GUID"),
    (r"\b(src-addr|dst-addr) \S+", r"\1 ADDR"),
    (r"\bcomm (?!\[)\S+", "comm NAME"),
    (r"\bpid \d+", "pid N"),
    (r"\blocal_dma_lkey 0x[0-9a-f]+", "local_dma_lkey KEY"),
    (r"\bnetdev_index \d+", "netdev_index N"),
    (r"caps: <.*", "caps"),  # ON_PURPOSE: only what this device does, see docs
]
NUMBERS = [(r"\b0x[0-9a-f]+\b", "KEY"), (r"\b\d+-\d+\b", "RANGE"), (r"(?<![\w/])\d+(?![\w/])", "N")]
# Where a number or a string is this run's.
JSON_VARIES = {"node_guid", "sys_image_guid", "comm", "src-addr", "dst-addr", "pid", "netdev_index",
               "local_dma_lkey", "caps", "rkey", "lkey"}


def blocks(path):
    cmd, out = None, []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("$ "):
            cmd, out = line[2:], []
        elif cmd and line.startswith("[exit "):
            yield cmd, out, int(line[6:-1])
            cmd = None
        else:
            out.append(line)


def drop_more(line):
    for name in MORE_COUNTERS:
        line = re.sub(r"\b%s \d+ " % name, "", line)
    return line


def text_shapes(lines, exact):
    shapes = set()
    for line in lines:
        line = drop_more(line)
        for pattern, to in VARIES + ([] if exact else NUMBERS):
            line = re.sub(pattern, to, line)
        shapes.add(line.rstrip())
    return shapes


def json_shape(obj, exact):
    fields = []
    for key, value in obj:
        if key in MORE_COUNTERS:
            continue
        kind = type(value).__name__
        if key in JSON_VARIES or (not exact and not isinstance(value, str)) or \
                isinstance(value, list):
            fields.append((key, kind))
        else:
            fields.append((key, kind, value))
    return tuple(fields)


def is_json(cmd):
    return re.search(r" -\w*j", cmd)


def shapes(cmd, lines, exact):
    lines = [l for l in lines if l.strip() and not l.startswith("Error: ")]  # why, from rxed
    if is_json(cmd) and lines and lines[0].startswith("["):
        return {json_shape(o, exact)
                for o in json.loads("\n".join(lines), object_pairs_hook=list)}
    return text_shapes(lines, exact)


def run(cmd):
    p = subprocess.run(["bash", "-c", cmd], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, check=False, timeout=60)
    return p.stdout.splitlines(), p.returncode


def compare(cmd, want_lines, want_rc, exact):
    """None, or what differs."""
    want = shapes(cmd, want_lines, exact)
    end = time.monotonic() + PATIENCE
    while True:
        lines, rc = run(cmd)
        got = shapes(cmd, lines, exact)
        if got == want and rc == want_rc:
            return None
        if time.monotonic() > end:
            break
        time.sleep(0.2)
    diff = ["status %d, the driver's %d" % (rc, want_rc)] if rc != want_rc else []
    diff += ["only the driver: %s" % (s,) for s in sorted(want - got, key=str)]
    diff += ["only here:       %s" % (s,) for s in sorted(got - want, key=str)]
    return diff


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file")
    ap.add_argument("--exact", action="store_true")
    ap.add_argument("--keep", default="")
    ap.add_argument("--skip", default="$^")
    args = ap.parse_args()
    failed, seen = 0, set()
    for cmd, lines, rc in blocks(args.file):
        if cmd in seen or not re.search(args.keep, cmd) or re.search(args.skip, cmd):
            continue
        seen.add(cmd)
        diff = compare(cmd, lines, rc, args.exact)
        print("%s: %s" % ("differs" if diff else "equal", cmd))
        for line in diff or []:
            print("  " + line)
        failed += bool(diff)
    if not seen:
        print("no command was compared")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
