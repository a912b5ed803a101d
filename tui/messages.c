/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#include <stdio.h>
#include <string.h>

static void line_ends(struct messages *m)
{
	static const char name[] = "squall: ";
	const char *from = m->part;

	m->part[m->part_len] = '\0';
	if (strncmp(from, name, strlen(name)) == 0)
		from += strlen(name);
	if (*from)
		snprintf(m->line[m->n++ % MESSAGES_MAX], MESSAGE_LEN, "%s", from);
	m->part_len = 0;
}

void messages_add(struct messages *m, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			line_ends(m);
		else if (m->part_len < MESSAGE_LEN - 1)
			m->part[m->part_len++] = text[i];
	}
}

unsigned messages_kept(const struct messages *m)
{
	return m->n < MESSAGES_MAX ? m->n : MESSAGES_MAX;
}

const char *messages_get(const struct messages *m, unsigned i)
{
	return m->line[(m->n - messages_kept(m) + i) % MESSAGES_MAX];
}

bool message_warns(const char *line)
{
	return strncmp(line, "warning", strlen("warning")) == 0;
}
