/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The P_Key and GID tables of a device through every call that libibverbs has
 * for them, for selftests.
 *
 *	tables DEVICE HOLE	HOLE: a GID index that has lost its address
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GIDS 256

static void want(const char *what, long got, long want)
{
	printf("%s: %ld\n", what, got);
	if (got == want)
		return;
	fprintf(stderr, "tables: %s: %ld, not %ld\n", what, got, want);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		exit(2);
	ibv_free_device_list(list);
	return ctx;
}

static void pkeys(struct ibv_context *ctx, const struct ibv_port_attr *port)
{
	__be16 pkey = 0;

	want("pkey_tbl_len", port->pkey_tbl_len, 1);
	want("P_Key 0", ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	want("its value", be16toh(pkey), 0xffff);
	want("its index", ibv_get_pkey_index(ctx, 1, htobe16(0xffff)), 0);
	want("P_Key 1", ibv_query_pkey(ctx, 1, 1, &pkey), -1);
	want("index of another", ibv_get_pkey_index(ctx, 1, htobe16(0x8001)), -1);
	want("P_Key of port 2", ibv_query_pkey(ctx, 2, 0, &pkey), -1);
}

/* Entry by entry the same as the table, and holes in between. */
static void entries(struct ibv_context *ctx, const struct ibv_port_attr *port,
		    const struct ibv_gid_entry *table, int n, int hole)
{
	struct ibv_gid_entry e;
	union ibv_gid gid;
	int at = 0;

	for (int i = 0; i < port->gid_tbl_len; i++) {
		int err = ibv_query_gid_ex(ctx, 1, i, &e, 0);

		want("ibv_query_gid", ibv_query_gid(ctx, 1, i, &gid), 0);
		if (err) {
			want("an empty entry", err, ENODATA);
			continue;
		}
		if (at == n || memcmp(&e, &table[at], sizeof(e)) || memcmp(&gid, &e.gid, 16)) {
			fprintf(stderr, "tables: GID %d is another than in the table\n", i);
			exit(1);
		}
		want("index", e.gid_index, i);
		want("port", e.port_num, 1);
		want("type", e.gid_type, IBV_GID_TYPE_ROCE_V2);
		want("has a netdev", e.ndev_ifindex > 0, 1);
		at++;
	}
	want("entries", at, n);
	want("the hole", ibv_query_gid_ex(ctx, 1, hole, &e, 0), ENODATA);
	want("beyond the table", ibv_query_gid_ex(ctx, 1, port->gid_tbl_len, &e, 0), EINVAL);
	want("another port", ibv_query_gid_ex(ctx, 2, 0, &e, 0), EINVAL);
	want("flags", ibv_query_gid_ex(ctx, 1, 0, &e, 1), EINVAL);
}

int main(int argc, char **argv)
{
	struct ibv_gid_entry table[MAX_GIDS];
	struct ibv_context *ctx;
	struct ibv_port_attr port;
	int n;

	if (argc != 3)
		return 2;
	ctx = open_device(argv[1]);
	want("port", ibv_query_port(ctx, 1, &port), 0);
	pkeys(ctx, &port);
	n = (int)ibv_query_gid_table(ctx, table, MAX_GIDS, 0);
	want("link-local, IPv4, IPv6 and one more", n, 4);
	want("room for too few", ibv_query_gid_table(ctx, table, 2, 0), -EINVAL);
	want("flags", ibv_query_gid_table(ctx, table, MAX_GIDS, 1), -EINVAL);
	entries(ctx, &port, table, n, atoi(argv[2]));
	ibv_close_device(ctx);
	return 0;
}
