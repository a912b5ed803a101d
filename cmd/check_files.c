/* SPDX-License-Identifier: Apache-2.0 */
#include "check_files.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct named {
	const char *option, *path;
};

/* What goes to a device, as to /dev/null, is in nobody's way. */
static bool is_same(const char *a, const char *b)
{
	struct stat of_a, of_b;
	const bool have_a = !stat(a, &of_a), have_b = !stat(b, &of_b);

	if (have_a && have_b)
		return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino && !S_ISCHR(of_a.st_mode);
	return !have_a && !have_b && strcmp(a, b) == 0;
}

static void check_one(const struct named *out, const struct named *other, struct problems *p)
{
	if (!other->path[0] || strcmp(other->path, "-") == 0 || !is_same(out->path, other->path))
		return;
	problem_add(p, out->option, "%s is the file of %s, too: what is in it would be lost", out->path, other->option);
}

void check_files(const struct config *cfg, struct problems *p)
{
	const struct named written[] = {
		{"--capture", cfg->capture}, {"--histograms", cfg->histograms}, {"--write", cfg->write_file}};
	const struct named read[] = {
		{"--pcap", cfg->pcap}, {"--payload-file", cfg->payload_file}, {"--config", cfg->config_file}};
	const unsigned n_written = sizeof(written) / sizeof(written[0]);
	const unsigned n_read = sizeof(read) / sizeof(read[0]);

	for (unsigned i = 0; i < n_written; i++) {
		if (!written[i].path[0] || strcmp(written[i].path, "-") == 0)
			continue;
		for (unsigned k = 0; k < n_read; k++)
			check_one(&written[i], &read[k], p);
		for (unsigned k = 0; k < i; k++)
			check_one(&written[i], &written[k], p);
		for (unsigned k = 0; k < cfg->n_streams; k++) {
			const struct named of_stream = {"a stream's payload-file", cfg->streams[k].payload_file};

			check_one(&written[i], &of_stream, p);
		}
	}
}
