/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_text: any text as a scalar of YAML 1.1 that reads back to the same bytes: plain, in double quotes with escapes
 * (section 9.3.1), or, where it is no UTF-8, as !!binary (base64, RFC 4648). Pure.
 */
#ifndef SQUALL_YAML_TEXT_H
#define SQUALL_YAML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The tag of what is base64, as a parser gives it. */
#define YAML_TAG_BINARY "tag:yaml.org,2002:binary"

void yaml_text_write(const char *text, FILE *to);

/*
 * Base64 to text. White space is passed over. -EINVAL: it is no base64, or has a NUL; -E2BIG: it does not fit into
 * size, its NUL included.
 */
int yaml_text_decode(const char *base64, char *out, size_t size);

#endif
