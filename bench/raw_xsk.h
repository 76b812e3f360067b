/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What raw_xsk and its XDP program agree on. */
#ifndef RAW_XSK_H
#define RAW_XSK_H

#define RAW_XSK_ETHERTYPE 0x88b5 /* IEEE 802: local experiments */

#endif
