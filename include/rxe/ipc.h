/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol between the preload library (or the rxe command) and rxed: a
 * unix SEQPACKET socket, RXE_RUNDIR/rxed.sock, one request and its replies at
 * a time, and the shared doorbell page.
 *
 * Every message is struct rxe_ipc_hdr, then `len` bytes; descriptors travel
 * as SCM_RIGHTS. Numbers are in host order: both ends are one machine. The
 * daemon trusts nothing in it.
 *
 * A command fd (/dev/infiniband/uverbsN) IS such a socket, so the kernel ends
 * the context exactly when the last copy of it is closed. A forked child that
 * uses its parent's socket sends a socket of its own with RXE_IPC_F_REPLY_FD
 * (the last descriptor of the message) and gets the reply there. It is one of a
 * SEQPACKET pair made by a process of the connection's user; any other socket is
 * closed and the request not carried out. A request with more descriptors than
 * it takes is answered -EINVAL.
 */
#ifndef RXE_IPC_H
#define RXE_IPC_H

#include <stddef.h>
#include <stdint.h>

#define RXE_IPC_MAGIC	   0x31435852u /* "RXC1" */
#define RXE_IPC_VERSION	   1u
#define RXE_IPC_MAX_LEN	   65536u /* payload of one message */
#define RXE_IPC_MAX_FDS	   20
#define RXE_SOCKET_NAME	   "rxed.sock"
#define RXE_DEFAULT_RUNDIR "/run/rxe"
/* /dev/infiniband/uverbsN is the character device MAJOR:(MINOR_BASE + N). */
#define RXE_UVERBS_MAJOR      231
#define RXE_UVERBS_MINOR_BASE 192

enum rxe_ipc_type {
	RXE_IPC_OPEN =
		1, /* struct rxe_ipc_open; fds: [0] own /proc/self/mem, [1] own /proc/self/maps */
	RXE_IPC_WRITE,	       /* the bytes of one write() to the command fd */
	RXE_IPC_IOCTL,	       /* struct rxe_ipc_ioctl */
	RXE_IPC_MMAP,	       /* struct rxe_ipc_mmap; reply fd [0]: the sealed memfd */
	RXE_IPC_CHANNEL_CLOSE, /* uint32_t channel id: its last fd was closed */
	RXE_IPC_NETLINK,       /* netlink messages; replies the same, MORE until the last;
				* fds [0]: the namespace that a NET_NS_FD attribute names */
	RXE_IPC_SYSFS_SYNC,    /* path below /sys ("class/...", no NUL): bring it up to date */
	RXE_IPC_STAT,	       /* replies: text lines "SCOPE NAME VALUE\n", MORE until the last */
	RXE_IPC_QP_FLAGS,      /* struct rxe_ipc_qp_flags */
	RXE_IPC_CM_OPEN,       /* /dev/infiniband/rdma_cm; reply: struct rxe_ipc_cm_open_reply */
	RXE_IPC_CM_WRITE,      /* struct rxe_ipc_cm_write; reply: the bytes of the response */
	RXE_IPC_ECE,	       /* struct rxe_ipc_ece, and the same as its reply */
	RXE_IPC_PARAM_OPEN,    /* path of a module parameter below /sys (no NUL), to write it */
	RXE_IPC_REFUSED,       /* reply to whatever is asked: no connection, status says why */
};

#define RXE_IPC_F_REPLY_FD 1u /* request: answer on the last descriptor */
#define RXE_IPC_F_MORE	   2u /* reply: another one follows */

struct rxe_ipc_hdr {
	uint32_t magic;
	uint16_t type; /* a reply repeats its request's */
	uint16_t flags;
	uint32_t len;
	int32_t status; /* reply: 0 or negative errno; a request has 0 */
};

/*
 * After PARAM_OPEN the connection is the parameter's file: whatever is sent on
 * it, without a header, is one write. RXE_IPC_PARAM_FENCE asks what became of
 * the writes since the last one: an int32_t, 0 or the first's negative errno.
 */
#define RXE_IPC_PARAM_FENCE "\xff"

/* OPEN: what this connection is. NETLINK, SYSFS_SYNC and STAT need no OPEN. */
struct rxe_ipc_open {
	uint32_t version;
	int32_t uverbs_minor; /* N of /dev/infiniband/uverbsN */
};
/*
 * Its reply; fds: [0] the doorbell memfd (nr_workers pages of
 * RXE_DOORBELL_STRIDE bytes), [1..nr_workers] each worker's eventfd.
 */
struct rxe_ipc_open_reply {
	uint32_t nr_workers;
	uint32_t doorbell_size;
};

struct rxe_ipc_mmap {
	uint64_t offset; /* as given to mmap() */
	uint64_t length;
};
struct rxe_ipc_mmap_reply {
	uint64_t file_offset; /* where in the memfd the mapping begins */
};

/*
 * Creation flags (IB_UVERBS_QP_CREATE_*) of a UD QP that is in RESET, for those
 * that the provider would not pass on: BLOCK_MULTICAST_LOOPBACK.
 */
struct rxe_ipc_qp_flags {
	uint32_t qp_handle;
	uint32_t create_flags;
};

/*
 * WRITE reply: the bytes for the caller's response pointer (none when the
 * command has no response). When fds came along, [0] is a channel: its number
 * in the receiving process goes to the __u32 at fd_offset of the response, and
 * channel_id names it in later calls (the fields "comp_channel").
 */
struct rxe_ipc_write_reply {
	uint32_t fd_offset;
	uint32_t channel_id;
	/* response bytes */
};

/*
 * IOCTL: RDMA_VERBS_IOCTL. The ioctl's own attributes follow, each as struct
 * rxe_ipc_attr, then the bytes that attributes longer than 8 point at, each
 * at data_off from the start of the payload (this header; a multiple of 8).
 * Of CORE_OUT and UHW_OUT no bytes are sent; a descriptor that is an input
 * (comp_channel) is sent as its channel id. A descriptor in reply to
 * INVOKE_WRITE is a channel whose number becomes the first __u32 of CORE_OUT,
 * as in every response that has one. The reply has the same shape with only the attributes that were written: index tells which attribute of
 * the request; kind, what to do with it.
 */
struct rxe_ipc_ioctl {
	uint16_t object_id;
	uint16_t method_id;
	uint16_t num_attrs;
	uint16_t reserved;
	uint32_t driver_id;
	uint32_t channel_id; /* reply: of the descriptor sent along */
};
enum rxe_ipc_attr_kind {
	RXE_ATTR_BYTES, /* reply: copy len bytes to the attribute's pointer: those
				 * at data_off, or, when that is 0, the first of data */
	RXE_ATTR_DATA,	/* reply: store data in the attribute itself (idr) */
	RXE_ATTR_FD,	/* reply: store the received descriptor's number */
};
struct rxe_ipc_attr {
	uint16_t attr_id;
	uint16_t len;	/* as in the ioctl; reply: bytes written */
	uint16_t flags; /* as in the ioctl; the caller's gets VALID_OUTPUT set */
	uint16_t index; /* position in the caller's array */
	uint16_t kind;	/* enum rxe_ipc_attr_kind (reply) */
	uint16_t reserved;
	uint32_t data_off; /* of the bytes, from the start of the payload; 0: none */
	uint64_t data;	   /* as in the ioctl (inline value, handle or pointer) */
};

/*
 * An rdma_cm file: the connection that CM_OPEN came by, for commands, and a
 * pipe whose read end (fds [0] of the reply) is the program's descriptor. The
 * pipe has a byte for each event; GET_EVENT by CM_WRITE answers -EAGAIN when
 * there is none.
 */
struct rxe_ipc_cm_open_reply {
	uint64_t cookie; /* names the file in MIGRATE_ID; nobody can guess it */
};
/* Then cmd_len bytes of one write(), then what its pointer leads to. */
struct rxe_ipc_cm_write {
	uint32_t cmd_len;
	uint32_t extra_len; /* SET_OPTION: the value; MIGRATE_ID: the old file's cookie */
};
/*
 * ECE: enhanced connection establishment of a QP (ibv_query_ece, ibv_set_ece).
 * The vendor is this device's; of the options only those in RXE_ECE_OPTIONS
 * are known, the others are taken off. With a peer of another vendor none are.
 */
#define RXE_ECE_VENDOR	0xffffffu /* as vendor_id of ibv_query_device */
#define RXE_ECE_KNOWN	(1u << 0) /* the peer is this implementation; changes nothing */
#define RXE_ECE_OPTIONS RXE_ECE_KNOWN
struct rxe_ipc_ece {
	uint32_t qp_handle;
	uint32_t set;
	uint32_t vendor_id, options;
};
/* /dev/infiniband/rdma_cm is a misc device: MAJOR, and a minor of ours. */
#define RXE_RDMA_CM_MAJOR 10
#define RXE_RDMA_CM_MINOR 58
#define RXE_RDMA_CM_ABI	  4

/*
 * Doorbell page, one per (context, worker), shared. Read-write for the client:
 * bits, summary. Written by rxed only: need_wakeup (a client that writes it
 * delays only itself).
 *
 * To ring for a QP: set its bit, then the summary bit (both release), then a
 * full barrier, then if need_wakeup is set write 1 to the worker's eventfd.
 * The slot of a QP is its uverbs handle % RXE_DOORBELL_SLOTS; the worker is
 * worker[slot] in page 0. RXE_DOORBELL_CLOSED there: the QP takes no send work
 * requests in its state (below RTS), and posting fails with EINVAL.
 */
#define RXE_DOORBELL_CLOSED 0xff
#define RXE_DOORBELL_SLOTS  4096u
#define RXE_DOORBELL_WORDS  (RXE_DOORBELL_SLOTS / 64)
#define RXE_DOORBELL_STRIDE 8192u
struct rxe_doorbell_page {
	uint32_t need_wakeup;
	uint32_t pad0[15];
	uint64_t summary; /* bit i: bits[i] is not zero */
	uint64_t pad1[7];
	uint64_t bits[RXE_DOORBELL_WORDS];
	uint8_t worker[RXE_DOORBELL_SLOTS]; /* page 0 only; rxed writes */
};
_Static_assert(RXE_DOORBELL_WORDS == 64, "one summary word covers all slots");
_Static_assert(sizeof(struct rxe_doorbell_page) <= RXE_DOORBELL_STRIDE, "fits its stride");

#endif
