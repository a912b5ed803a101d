/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_tree: a directory to stand for the machine's root, with the files of /proc and /sys that a test writes.
 */
#ifndef SQUALL_TESTS_FAKE_TREE_H
#define SQUALL_TESTS_FAKE_TREE_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char tree[64];

/* cmocka's set-up and tear-down of a test. */
static int tree_make(void **state)
{
	(void)state;
	snprintf(tree, sizeof(tree), "/tmp/squall-tree-XXXXXX");
	return mkdtemp(tree) ? 0 : -1;
}

static int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int tree_remove(void **state)
{
	(void)state;
	return nftw(tree, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file, and the directories that it is in. path begins with a slash; with one at its end it is a directory. */
static void tree_put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", tree, path);
	for (char *slash = strchr(full + strlen(tree) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	if (full[strlen(full) - 1] == '/')
		return;
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

#endif
