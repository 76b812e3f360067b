/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Module parameters: files for reading, and what a write to one does. */
#include "sysfs_param.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/param_table.h"
#include "params.h"
#include "rxed.h"
#include "sysfs_file.h"

#define PARAM_DIR "module/rdma_rxe/parameters"
#define NET_DIR	  "module/rdma_rxe_net/parameters" /* of the page: the mtu */
#define MTU_FILE  NET_DIR "/mtu"

static int put(unsigned int id)
{
	char path[256], value[16];

	snprintf(path, sizeof(path), PARAM_DIR "/%s", rxe_param_table[id].name);
	snprintf(value, sizeof(value), "%u", rxe_param(rxed.params, id));
	return rxe_sysfs_put(path, value);
}

static int put_all(void)
{
	int err = 0;

	for (unsigned int id = 0; !err && id < RXE_PARAM_COUNT; id++)
		err = put(id);
	return err;
}

int rxe_sysfs_init_params(void)
{
	int err = put_all();

	return err ? err : rxe_sysfs_put(MTU_FILE, ""); /* write only */
}

bool rxe_sysfs_is_param(const char *path)
{
	return !strncmp(path, PARAM_DIR, strlen(PARAM_DIR)) ||
	       !strncmp(path, NET_DIR, strlen(NET_DIR));
}

enum rxe_param_id rxe_sysfs_param(const char *path)
{
	if (!strcmp(path, MTU_FILE))
		return RXE_PARAM_MTU;
	if (strncmp(path, PARAM_DIR "/", strlen(PARAM_DIR "/")))
		return RXE_PARAM_COUNT;
	return rxe_param_find(path + strlen(PARAM_DIR "/"));
}

int rxe_sysfs_sync_param(const char *path)
{
	enum rxe_param_id id = rxe_sysfs_param(path);

	if (id == RXE_PARAM_COUNT)
		return put_all();
	return put(id);
}

static bool is_boolean(const struct rxe_param_desc *d)
{
	return !strcmp(d->unit, "boolean");
}

int rxe_sysfs_store_param(enum rxe_param_id id, const char *text, size_t len)
{
	const struct rxe_param_desc *d = &rxe_param_table[id];
	unsigned long long v;
	char number[32], *end;
	int err;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len || len >= sizeof(number) || !isdigit((unsigned char)text[0]))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = 0;
	errno = 0;
	v = strtoull(number, &end, 0);
	if (errno || *end)
		return -EINVAL;
	if (is_boolean(d) && v) /* nonzero is true */
		v = 1;
	if (v < d->min || v > d->max)
		return -EINVAL;
	err = rxe_param_set(rxed.params, id, (uint32_t)v);
	if (!err)
		rxe_dev_params_changed();
	return err;
}
