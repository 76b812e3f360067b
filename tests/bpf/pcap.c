// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The frames of the captures in tests/pcaps; see pcap.h.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap.h"

#define PCAP_MAGIC 0xa1b2c3d4u

struct pcap_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snaplen, linktype;
};

struct pcap_record {
	uint32_t sec, usec, captured, original;
};

static unsigned int one_file(const char *path,
			     void (*fn)(void *arg, const char *file, struct frame *f, bool roce),
			     void *arg)
{
	static struct frame f;
	struct pcap_header header;
	struct pcap_record rec;
	unsigned int n = 0;
	FILE *in = fopen(path, "rb");

	if (!in || fread(&header, sizeof(header), 1, in) != 1 || header.magic != PCAP_MAGIC)
		goto out;
	while (fread(&rec, sizeof(rec), 1, in) == 1 && rec.captured <= FRAME_MAX &&
	       fread(f.bytes, 1, rec.captured, in) == rec.captured) {
		f.len = rec.captured;
		fn(arg, strrchr(path, '/') + 1, &f, frame_parse(&f));
		n++;
	}
out:
	if (in)
		fclose(in);
	return n;
}

unsigned int pcap_for_each(void (*fn)(void *arg, const char *file, struct frame *f, bool roce),
			   void *arg)
{
	const char *dir = getenv("RXE_PCAP_DIR");
	char pattern[4096];
	unsigned int n = 0;
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/*.pcap", dir ? dir : "tests/pcaps");
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++)
		n += one_file(found.gl_pathv[i], fn, arg);
	globfree(&found);
	return n;
}
