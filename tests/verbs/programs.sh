#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ordinary programs under the preload library behave as without it: the same
# output, the same exit status, nothing on stderr. TAP. Usage: programs.sh LIBRARY
lib=$1
[ -r "$lib" ] || { echo "usage: $0 LIBRARY" >&2; exit 2; }
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
n=0 failed=0

result() { # NAME STATUS
	n=$((n + 1))
	if [ "$2" = 0 ]; then echo "ok $n $1"; else echo "not ok $n $1"; failed=1; fi
}

same() { # NAME COMMAND...: run both ways
	name=$1; shift
	if ! command -v "$1" >/dev/null; then
		n=$((n + 1)); echo "ok $n $name # SKIP no $1"; return
	fi
	"$@" >"$dir/plain.out" 2>"$dir/plain.err"; echo "status $?" >>"$dir/plain.out"
	LD_PRELOAD=$lib "$@" >"$dir/pre.out" 2>"$dir/pre.err"; echo "status $?" >>"$dir/pre.out"
	cmp -s "$dir/plain.out" "$dir/pre.out" && cmp -s "$dir/plain.err" "$dir/pre.err"
	rc=$?
	[ $rc = 0 ] || diff "$dir/plain.out" "$dir/pre.out" | sed 's/^/# /'
	[ $rc = 0 ] || diff "$dir/plain.err" "$dir/pre.err" | sed 's/^/# /'
	result "$name" $rc
}

same "ls" ls -lR /usr/include/rdma
same "ls of sysfs" ls /sys/class /sys/class/net
same "missing file" cat /no/such/file
same "shell pipeline" sh -c 'echo one two | tr a-z A-Z | (read a b; echo $b $a); exit 3'
same "bash redirections" bash -c 'exec 9>/dev/null; echo x >&9; exec 9>&-; cat <<<here; echo $(echo sub)'
same "awk" awk 'BEGIN { while (("cat /etc/passwd" | getline l) > 0) n++; print n }'
same "tar" sh -c 'tar cf - -C /usr/include rdma | tar tf -'
same "find and xargs" sh -c 'find /usr/include/rdma -type f | sort | xargs -n 4 wc -c'
same "sort in threads" sh -c 'seq 100000 | sort --parallel=4 -rn | tail -1'
same "git" git --version
same "python" python3 -c 'import os, json; print(json.dumps(sorted(os.listdir("/etc"))[:5]))'
same "python subprocess" python3 -c '
import subprocess
for shell in (False, True):
    print(subprocess.run(["echo", "a"] if not shell else "echo b", shell=shell,
                         capture_output=True, close_fds=True).stdout)'
same "python threads and fork" python3 -c '
import os, threading
def work(): os.close(os.dup(0))
ts = [threading.Thread(target=work) for _ in range(20)]
[t.start() for t in ts]; [t.join() for t in ts]
pid = os.fork()
if pid == 0: os.closerange(3, 4096); os._exit(7)
print(os.waitpid(pid, 0)[1] >> 8)'
same "python sockets" python3 -c '
import socket
a, b = socket.socketpair()
a.sendmsg([b"x", b"yz"]); print(b.recv(10))
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.bind((0, 0)); print(s.getsockname()[1])
u = socket.socket(type=socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
c = socket.socket(type=socket.SOCK_DGRAM); c.connect(u.getsockname()); c.send(b"hello")
print(u.recvfrom(10)[0])' 
same "compiler" sh -c 'echo "int main(void){return 0;}" | cc -x c - -o /dev/null && echo built'
same "iproute2" ip -o link show lo
same "perl" perl -e 'open(F, "<", "/etc/passwd"); @l = <F>; print scalar(@l), "\n"; system("true"); print "$?\n"'

# The library exports what it stands in front of and nothing else.
if command -v nm >/dev/null; then
	nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sort >"$dir/exported"
	sed -n '/define RXE_INTERPOSED/,/^$/p' "$(dirname "$0")/../../user/verbs/next.h" |
		grep -o 'X([a-z0-9_]*)' | tr -d 'X()' >"$dir/listed"
	echo ibv_open_device >>"$dir/listed" # poll.c
	echo ibv_rereg_mr >>"$dir/listed" # rereg.c
	printf 'ibv_query_ece\nibv_set_ece\n' >>"$dir/listed" # ece.c
	sort -uo "$dir/listed" "$dir/listed"
	diff "$dir/listed" "$dir/exported" | sed 's/^/# /'
	cmp -s "$dir/listed" "$dir/exported"
	result "exports" $?
fi
echo "1..$n"
exit $failed
