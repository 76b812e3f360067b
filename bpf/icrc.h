/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the ICRC of a RoCEv2 frame right? Covers the IP header to the end of the
 * padding with the fields that change under way read as ones (PROTOCOL.md,
 * rule 1), by the folding of crc_fold.h.
 *
 * "Head" is what ends with the BTH, masked and reduced to five words; "body"
 * the rest up to the ICRC, a multiple of 4. Body bytes come straight from the
 * packet while they are in its linear part, else from a copy in the scratch
 * area; the functions take which as the constant `copied`.
 */
#ifndef RXE_BPF_ICRC_H
#define RXE_BPF_ICRC_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <rxe/wire.h>
#include "crc_fold.h"
#include "parse.h"

#define BODY_MAX   (RXE_MAX_EXT_LEN + RXE_MAX_IB_MTU)
#define BODY_SHORT 520 /* below it, no memory stage */
#define CHUNK	   128
#define CHUNKS_MAX (BODY_MAX / CHUNK + 1)

/*
 * Per CPU; a program is not preempted by another of its kind. The sizes leave
 * room for what the verifier believes offsets could be.
 */
struct icrc_scratch {
	__u8 zeros[304]; /* before the packet's words; never written */
	__u8 w[FOLD_TAIL + BODY_MAX + 2 * CHUNK];
	__u8 copy[2 * (BODY_MAX + RXE_ICRC_LEN)];
	__u32 body_off; /* in the frame */
	__u32 body_len;
	__u32 done; /* body bytes the memory stage has taken */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icrc_scratch);
} icrc_scratch SEC(".maps");

/* What the two sources of the body end in. */
struct icrc_end {
	__u64 y[FOLD_WORDS]; /* words for the tables, from state 0 */
	__u32 last;	     /* four bytes behind them, if body_len is odd in words */
	__u32 stored;	     /* the ICRC in the frame */
};

/*
 * Make clang read the scratch area again. The verifier knows nothing of what
 * it holds, so all paths that meet here go on as one.
 */
static __always_inline void forget(void)
{
	asm volatile("" : : : "memory");
}

/* @need bytes of the body at @off, or NULL where they are not to be had. */
static __always_inline const __u8 *body_at(struct xdp_md *ctx, struct icrc_scratch *s, __u32 off,
					   const __u32 need, const bool copied)
{
	__u8 *p;

	opaque(off);
	if (off > BODY_MAX)
		return NULL;
	if (copied)
		return s->copy + off;
	off += s->body_off & 0xff;
	p = (__u8 *)(long)ctx->data + off;
	opaque(p);
	if (p + need > (__u8 *)(long)ctx->data_end)
		return NULL;
	return p;
}

/* The word of the memory stage that the body's byte @off goes to. */
static __always_inline __u8 *w_at(struct icrc_scratch *s, __u32 off)
{
	opaque(off);
	return off > BODY_MAX ? NULL : s->w + FOLD_TAIL + off;
}

/*
 * The body's bytes that the memory stage takes: all but the residual, the
 * tail and an odd half word.
 */
static __always_inline __u32 fold_len(const struct icrc_scratch *s)
{
	return (s->body_len & ~7u) - FOLD_RESIDUAL - FOLD_TAIL;
}

/* Memory stage in chunks, as far as the source and the body reach. */
static __always_inline void fold_chunks(struct xdp_md *ctx, struct icrc_scratch *s,
					const bool copied)
{
	__u32 done = s->done, len = fold_len(s), i;

	for (i = 0; i < CHUNKS_MAX; i++) {
		const __u8 *p;
		__u8 *w;

		if (done + CHUNK > len)
			break;
		p = body_at(ctx, s, done, CHUNK, copied);
		w = w_at(s, done);
		if (!p || !w)
			break;
		fold_bytes(w, p, CHUNK / 8);
		done += CHUNK;
	}
	s->done = done;
	forget();
}

/* One power of two less than a chunk, if the rest of the stage has it. */
static __always_inline bool fold_part(struct xdp_md *ctx, struct icrc_scratch *s, const __u32 part,
				      const bool copied)
{
	__u32 done = s->done;
	const __u8 *p;
	__u8 *w;

	if (!((fold_len(s) - done) & part))
		return true;
	p = body_at(ctx, s, done, part, copied);
	w = w_at(s, done);
	if (!p || !w)
		return false;
	fold_bytes(w, p, part / 8);
	s->done = done + part;
	forget();
	return true;
}

/* What stands behind the words of the tables; @off is where they begin. */
static __always_inline bool body_end(struct xdp_md *ctx, struct icrc_scratch *s, __u32 off,
				     struct icrc_end *end, const bool copied)
{
	__u32 half = s->body_len & 4;
	const __u8 *p = body_at(ctx, s, off, RXE_ICRC_LEN, copied);

	if (!p)
		return false;
	end->last = *(const __u32 *)p;
	p = body_at(ctx, s, off + half, RXE_ICRC_LEN, copied);
	if (!p)
		return false;
	end->stored = *(const __u32 *)p;
	return true;
}

/* Behind the chunks of a body of BODY_SHORT or more. */
static __always_inline bool long_rest(struct xdp_md *ctx, struct icrc_scratch *s,
				      struct icrc_end *end, const bool copied)
{
	const __u8 *p;
	__u32 done;
	__u8 *w;

	if (!fold_part(ctx, s, 64, copied) || !fold_part(ctx, s, 32, copied) ||
	    !fold_part(ctx, s, 16, copied) || !fold_part(ctx, s, 8, copied))
		return false;
	done = s->done;
	p = body_at(ctx, s, done, FOLD_RESIDUAL + FOLD_TAIL, copied);
	w = w_at(s, done);
	if (!p || !w)
		return false;
	*(__u64 *)w = 0; /* the gathers at the border read it */
	fold_residual(end->y, p, w);
	fold_last(end->y, p + FOLD_RESIDUAL);
	return body_end(ctx, s, done + FOLD_RESIDUAL + FOLD_TAIL, end, copied);
}

/* FOLD_TAIL <= body_len < BODY_SHORT, the head in end->y. */
static __always_inline bool short_body(struct xdp_md *ctx, struct icrc_scratch *s,
				       struct icrc_end *end, const bool copied)
{
	__u32 words = (s->body_len - FOLD_TAIL) / 8, fives, off = 0, i;
	const __u8 *p;

	if (words > BODY_SHORT / 8)
		return false;
	fives = words * 205 >> 10; /* words / 5 */
	words -= fives * 5;
	fold_first(end->y);
	for (i = 0; i < 4 && i < words; i++, off += 8) {
		p = body_at(ctx, s, off, 8, copied);
		if (!p)
			return false;
		fold_one(end->y, p);
	}
	for (i = 0; i < BODY_SHORT / 40 && i < fives; i++, off += 40) {
		p = body_at(ctx, s, off, 40, copied);
		if (!p)
			return false;
		fold_five(end->y, p);
	}
	p = body_at(ctx, s, off, FOLD_TAIL, copied);
	if (!p)
		return false;
	fold_last(end->y, p);
	return body_end(ctx, s, off + FOLD_TAIL, end, copied);
}

/* The body from s->done on, and the ICRC, into the scratch area. */
static __always_inline bool copy_body(struct xdp_md *ctx, struct icrc_scratch *s)
{
	__u32 done = s->done, len = s->body_len - done + RXE_ICRC_LEN;

	opaque(done);
	opaque(len);
	if (done > BODY_MAX || !len || len > BODY_MAX + RXE_ICRC_LEN)
		return false;
	return !bpf_xdp_load_bytes(ctx, (s->body_off & 0xff) + done, s->copy + done, len);
}

/* Is all of the body, and the ICRC, in the linear part? */
static __always_inline bool is_linear(struct xdp_md *ctx, const struct icrc_scratch *s)
{
	return s->body_off + s->body_len + RXE_ICRC_LEN <= ctx->data_end - ctx->data;
}

static __always_inline bool long_body(struct xdp_md *ctx, struct icrc_scratch *s,
				      struct icrc_end *end)
{
	__u64 *w = (__u64 *)s->w;
	int i;

#pragma unroll
	for (i = 0; i < FOLD_WORDS; i++)
		w[i] = end->y[i];
	fold_chunks(ctx, s, false);
	if (is_linear(ctx, s))
		return long_rest(ctx, s, end, false);
	if (!copy_body(ctx, s))
		return false;
	fold_chunks(ctx, s, true);
	return long_rest(ctx, s, end, true);
}

/* body_len < FOLD_TAIL: nothing to fold, on from the @crc of the head. */
static __always_inline bool tiny_body(struct xdp_md *ctx, struct icrc_scratch *s,
				      struct icrc_end *end, __u32 *crc, const bool copied)
{
	const __u8 *tables = crc32_tables();
	__u32 len = s->body_len & ~7u, off = 0, i;

	for (i = 0; i < FOLD_WORDS && off < len; i++, off += 8) {
		const __u8 *p = body_at(ctx, s, off, 8, copied);

		if (!p)
			return false;
		*crc = crc32_word(tables, *crc, word_at(p));
	}
	return body_end(ctx, s, off, end, copied);
}

/* The CRC state behind the last whole word; false: the frame ended before. */
static __always_inline bool body_crc(struct xdp_md *ctx, struct icrc_scratch *s,
				     struct icrc_end *end, __u32 *crc)
{
	bool copied = false, ok;

	if (s->body_len >= BODY_SHORT) {
		ok = long_body(ctx, s, end);
	} else {
		if (!is_linear(ctx, s)) {
			if (!copy_body(ctx, s))
				return false;
			copied = true;
		}
		if (s->body_len < FOLD_TAIL) {
			*crc = crc32_five(crc32_tables(), end->y);
			return copied ? tiny_body(ctx, s, end, crc, true)
				      : tiny_body(ctx, s, end, crc, false);
		}
		ok = copied ? short_body(ctx, s, end, true) : short_body(ctx, s, end, false);
	}
	*crc = crc32_five(crc32_tables(), end->y);
	return ok;
}

/*
 * The head as five words: of IPv4 its 40 bytes, masked; of IPv6 the last 40 of
 * 60, the first 20 as a CRC state in front of them.
 */
static __always_inline bool head_words(struct xdp_md *ctx, const struct icrc_scratch *s,
				       const struct rxe_frame *f, __u64 *y)
{
	__u32 crc = RXE_ICRC_SEED, off = s->body_off - FOLD_TAIL;
	const __u8 *tables = crc32_tables();
	const __u8 *p;

	opaque(off);
	p = (__u8 *)(long)ctx->data + (off & 0xff);
	if (p + FOLD_TAIL > (__u8 *)(long)ctx->data_end)
		return false;
	if (f->v6) {
		const __u8 *ip = (__u8 *)(long)ctx->data + (f->l3_off & 0x1f);

		if (ip + 20 > (__u8 *)(long)ctx->data_end)
			return false;
		/* Traffic class, flow label, hop limit. */
		crc = crc32_word(tables, crc, word_at(ip) | 0xff000000ffffff0full);
		crc = crc32_word(tables, crc, word_at(ip + 8));
		crc = crc32_half(tables, crc, *(const __u32 *)(ip + 16));
		y[0] = word_at(p) ^ crc;
		y[1] = word_at(p + 8);
	} else {
		/* TOS; TTL, header checksum. */
		y[0] = (word_at(p) | 0xff00) ^ crc;
		y[1] = word_at(p + 8) | 0xffff00ff;
	}
	y[2] = word_at(p + 16);
	y[3] = word_at(p + 24) | 0xffff0000; /* UDP checksum */
	y[4] = word_at(p + 32) | 0xff;	     /* BTH: FECN, BECN, reserved */
	return true;
}

/*
 * @f must have passed rxe_malformed(): lengths are sane and inside the frame.
 * False on any failure to read the frame.
 */
static __always_inline bool rxe_icrc_ok(struct xdp_md *ctx, const struct rxe_frame *f)
{
	struct icrc_end end;
	__u32 zero = 0, crc;
	struct icrc_scratch *s = bpf_map_lookup_elem(&icrc_scratch, &zero);

	if (!s)
		return false;
	s->body_off = f->bth_off + RXE_BTH_LEN;
	s->body_len = f->udp_len - sizeof(struct udphdr) - RXE_BTH_LEN - RXE_ICRC_LEN;
	s->done = 0;
	forget();
	if (!head_words(ctx, s, f, end.y) || !body_crc(ctx, s, &end, &crc))
		return false;
	if (s->body_len & 4)
		crc = crc32_half(crc32_tables(), crc, end.last);
	return end.stored == ~crc;
}

#endif
