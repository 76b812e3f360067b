/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Constants of newer kernels that Debian 12's headers (6.1) do not have yet.
 * The one place for them; each says which kernel brought it.
 */
#ifndef RXE_KERNEL_COMPAT_H
#define RXE_KERNEL_COMPAT_H

#include <linux/fs.h>
#include <linux/if_xdp.h>
#include <linux/types.h>
#include <sys/mman.h>
#include <sys/socket.h>

#ifndef XDP_USE_SG /* 6.6 */
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD /* 6.6 */
#define XDP_PKT_CONTD (1 << 0)
#endif
/* enum bpf_attach_type, 6.6 (enumerators: a name of our own) */
#define RXE_BPF_TCX_INGRESS 46
#define RXE_BPF_TCX_EGRESS  47
#ifndef SO_PEERPIDFD /* 6.5 */
#define SO_PEERPIDFD 77
#endif
#ifndef MFD_NOEXEC_SEAL /* 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* rdma/ib_user_verbs.h, ib_user_ioctl_verbs.h, 6.2 (enumerators: names of our own) */
#define RXE_WR_FLUSH		    14 /* enum ib_uverbs_wr_opcode */
#define RXE_WR_ATOMIC_WRITE	    15
#define RXE_WC_OP_FLUSH		    8 /* enum ib_uverbs_wc_opcode */
#define RXE_WC_OP_ATOMIC_WRITE	    9
#define RXE_ACCESS_FLUSH_GLOBAL	    (1 << 8) /* enum ib_uverbs_access_flags */
#define RXE_ACCESS_FLUSH_PERSISTENT (1 << 9)
/* enum ib_placement_type and ib_selectivity_level; FETH has them too */
#define RXE_FLUSH_GLOBAL     1
#define RXE_FLUSH_PERSISTENT 2
#define RXE_FLUSH_RANGE	     0
#define RXE_FLUSH_MR	     1

/* rdma_user_rxe.h, 6.2: the arm `flush` of struct rxe_send_wr's union. */
struct rxe_flush_wr {
	__aligned_u64 remote_addr;
	__u32 length;
	__u32 rkey;
	__u8 type;
	__u8 level;
};

/*
 * struct sched_attr, first version: linux/sched/types.h cannot be included
 * beside sched.h of this glibc.
 */
struct rxe_sched_attr {
	__u32 size;
	__u32 sched_policy;
	__u64 sched_flags;
	__s32 sched_nice;
	__u32 sched_priority;
	__u64 sched_runtime;
	__u64 sched_deadline;
	__u64 sched_period;
};

#ifndef PROCMAP_QUERY /* 6.11 */
struct procmap_query {
	__u64 size;
	__u64 query_flags;
	__u64 query_addr;
	__u64 vma_start;
	__u64 vma_end;
	__u64 vma_flags;
	__u64 vma_page_size;
	__u64 vma_offset;
	__u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 vma_name_size;
	__u32 build_id_size;
	__u64 vma_name_addr;
	__u64 build_id_addr;
};
#define PROCMAP_QUERY		   _IOWR('f', 17, struct procmap_query)
#define PROCMAP_QUERY_VMA_READABLE 0x01
#define PROCMAP_QUERY_VMA_WRITABLE 0x02
#endif

#endif
