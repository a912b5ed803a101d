/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_row: the table as data, and the text of a value to and from its field. For option*.c and for forms.
 *
 * Rows are constant. A source (command line or file) is used by one thread.
 */
#ifndef SQUALL_OPTION_ROW_H
#define SQUALL_OPTION_ROW_H

#include "option.h"

#include <stddef.h>

enum option_type {
	OPTION_TYPE_BOOL,
	OPTION_TYPE_U16,
	OPTION_TYPE_HEX16, /* read and written in either base */
	OPTION_TYPE_U32,
	OPTION_TYPE_SIZE,
	OPTION_TYPE_COUNT,
	OPTION_TYPE_TIME,
	OPTION_TYPE_RATIO,
	OPTION_TYPE_PPS,
	OPTION_TYPE_BPS,
	OPTION_TYPE_ENUM,
	OPTION_TYPE_IP,
	OPTION_TYPE_PREFIX,
	OPTION_TYPE_MAC,
	OPTION_TYPE_CPUS,
	OPTION_TYPE_PORTS,
	OPTION_TYPE_FILTERS,
	OPTION_TYPE_STRING,
	OPTION_TYPE_FILE,
};

/* The longest time in ns: added to any clock it fits into 64 bits. */
#define OPTION_TIME_MAX ((uint64_t)INT64_MAX)

/* The C type of a pointer to a field f of each type. */
#define OPTION_POINTER_BOOL(f)    bool *
#define OPTION_POINTER_U16(f)     uint16_t *
#define OPTION_POINTER_HEX16(f)   uint16_t *
#define OPTION_POINTER_U32(f)     uint32_t *
#define OPTION_POINTER_SIZE(f)    uint32_t *
#define OPTION_POINTER_COUNT(f)   uint64_t *
#define OPTION_POINTER_TIME(f)    uint64_t *
#define OPTION_POINTER_RATIO(f)   struct ratio *
#define OPTION_POINTER_PPS(f)     struct rate *
#define OPTION_POINTER_BPS(f)     struct rate *
#define OPTION_POINTER_ENUM(f)    int *
#define OPTION_POINTER_IP(f)      struct ip *
#define OPTION_POINTER_PREFIX(f)  struct prefix *
#define OPTION_POINTER_MAC(f)     struct mac *
#define OPTION_POINTER_CPUS(f)    struct config_cpus *
#define OPTION_POINTER_PORTS(f)   struct config_ports *
#define OPTION_POINTER_FILTERS(f) struct config_filters *
#define OPTION_POINTER_STRING(f)  char(*)[sizeof(f)]
#define OPTION_POINTER_FILE(f)    char(*)[sizeof(f)]

/* For every row of a table: does not compile when the row's type is not that of its field. */
#define OPTION_FIELD(f) (((struct config *)0)->f)
#define OPTION_CHECK(id, name, letters, type, field, ...) \
	_Static_assert(_Generic(&OPTION_FIELD(field), OPTION_POINTER_##type(OPTION_FIELD(field)) : 1, default : 0), \
		       "option " name ": the type of the row does not fit its field in struct config");

/* For the run; each stream's, which has the run's unless it says otherwise; a stream's alone, in a file. */
enum option_scope { OPTION_SCOPE_RUN, OPTION_SCOPE_STREAM, OPTION_SCOPE_STREAM_ONLY };

enum option_section {
#define OPTION_SECTION_ENUM(id, title) OPTION_SECTION_##id,
	OPTION_SECTIONS(OPTION_SECTION_ENUM)
#undef OPTION_SECTION_ENUM
		OPTION_SECTION_COUNT
};

struct option_choice {
	const char *name; /* NULL ends a list */
	int value;
};

struct option_row {
	const char *name;
	const char *letters;
	enum option_type type;
	size_t offset, size; /* of the field */
	const char *text;
	const char *arg;
	unsigned verbs;
	enum option_scope scope;
	enum option_section section;
	const char *help;
	/* What only some rows have. */
	uint64_t min, max; /* max 0: as far as the type goes */
	const struct option_choice *choices;
	const char *recv_text;  /* default for recv, where it is another than text */
	const char *pair_text;  /* and for pair */
	const char *zero_word;  /* a word for 0, which min does not keep out */
	const char *expects;    /* what a value is, where its type does not say it */
	const char *never;      /* a value that is refused, */
	const char *never_why;  /* and why */
	bool command_line_only; /* not in a file */
};

extern const struct option_row option_rows[OPTION_TOTAL];
extern const char *const option_section_titles[OPTION_SECTION_COUNT];

struct option_verb {
	const char *name;
	enum verb verb;
	const char *help;
};

#define OPTION_VERBS 5
extern const struct option_verb option_verbs[OPTION_VERBS];

/* The verbs that move packets. */
#define OPTION_VERBS_MOVE (VERB_SEND | VERB_RECV | VERB_PAIR | VERB_REFLECT)

const char *option_verb_name(enum verb verb);
const struct option_row *option_find(const char *name); /* by its exact long name; NULL: none */
const char *option_nearest(const char *name, enum verb verb);
const char *option_default(const struct option_row *row, enum verb verb);
/* Sets every option that was not given to the default of cfg->verb. */
void option_defaults(struct config *cfg);

/* Where values come from; seen tells lists that go on from lists that replace an earlier source's. */
struct option_source {
	struct config *cfg;
	struct problems *p; /* NULL: problems are not wanted */
	enum verb verb;     /* whose options are taken */
	bool senders;       /* the sender's, too: a receiver reads its file for the streams in it */
	const char *file;   /* NULL: the command line */
	const char *stream; /* the name of the stream whose item is read; NULL: none */
	unsigned long line;
	uint64_t seen[4];
};

/* Adds a problem about an option ("pps", told as "--pps" on the command line), with the place in a file in front. */
void option_problem(const struct option_source *src, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads text into the row's field and marks it given; on a problem the field stays as it was. */
void option_set(struct option_source *src, const struct option_row *row, const char *text);

static inline const void *option_field(const struct option_row *row, const struct config *cfg)
{
	return (const char *)cfg + row->offset;
}

/* Text to field: 0, -EINVAL (not of this kind), -ERANGE, -E2BIG (a list or text too long). Lists are extended. */
int option_read(const struct option_row *row, const char *text, void *field);
/* What a value must be, for -EINVAL ("a whole number") and for -E2BIG ("at most 16 ports"). */
const char *option_expects(const struct option_row *row);
char *option_limit(const struct option_row *row, char *buf, size_t size);

/* The field as it would be typed; "" when it is not set. Returns buf; any value fits into OPTION_TEXT_MAX. */
#define OPTION_TEXT_MAX 2560
char *option_format(const struct option_row *row, const void *field, char *buf, size_t size);
/* "0 to 4094"; "" when a value has no order. Returns buf. */
char *option_range(const struct option_row *row, char *buf, size_t size);
/* "a, b, c" of an enum. Returns buf. */
char *option_choices(const struct option_row *row, char *buf, size_t size);
bool option_is_list(const struct option_row *row);
/* What help says after the sentence: "default 32; 1 to 256". verbs: one, or all that the row has. Returns buf. */
#define OPTION_FACTS_MAX 512
char *option_facts(const struct option_row *row, unsigned verbs, char *buf, size_t size);

static inline bool option_bit(const uint64_t *words, unsigned id)
{
	return words[id / 64] >> (id % 64) & 1;
}
static inline void option_bit_set(uint64_t *words, unsigned id)
{
	words[id / 64] |= 1ULL << (id % 64);
}

/*
 * A file of options, read into memory. NULL when it cannot be read or is not YAML, which is told. option_yaml_free()
 * releases it and takes NULL.
 */
struct option_yaml;
struct option_yaml *option_yaml_load(struct option_source *src);
/* The same of a text that is src->file's. */
struct option_yaml *option_yaml_parse(struct option_source *src, const char *text, size_t len);
void option_yaml_free(struct option_yaml *y);

/* The file's values for the run; its problems name file and line. */
void option_yaml_read(struct option_source *src, struct option_yaml *y);
/*
 * The file's streams, each over what src->cfg has by now, the command line's options (a bit each in `line`) among that.
 * -ENOMEM.
 */
int option_yaml_streams(struct option_source *src, struct option_yaml *y, const uint64_t line[4]);

#endif
