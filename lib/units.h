/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units: the numbers people type and read.
 *
 * Parsers take the whole string (white space around it and between number and unit is passed over, trailing junk is an
 * error), are case-insensitive except where a unit needs it, use no locale, and return 0, -EINVAL (not a number of this
 * kind) or -ERANGE. Decimal fractions are kept exact down to the stated resolution. Pure and thread-safe.
 */
#ifndef SQUALL_UNITS_H
#define SQUALL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rates are kept in millionths: 0.5 pps is 500000. */
#define RATE_MICRO 1000000ULL

enum rate_kind {
	RATE_UNSET,
	RATE_UNLIMITED,
	RATE_VALUE,   /* micro packets or bits a second */
	RATE_PERCENT, /* micro percent of the link speed */
};

enum rate_layer {
	RATE_L1 = 1, /* preamble, start delimiter and inter-frame gap included: + 20 bytes a frame */
	RATE_L2,     /* the frame with its FCS */
	RATE_L3,     /* without Ethernet header, tags and FCS */
};

struct rate {
	enum rate_kind kind;
	enum rate_layer layer; /* bit rates only; RATE_L1 when not said */
	uint64_t micro;
};

/* A share of something, in 10^-12; set: it was given, be it 0. */
struct ratio {
	bool set;
	uint64_t pico;
};

/* "0.05", "5%", "0", "1": 0 to 1, rounded to 10^-12. */
int units_parse_ratio(const char *s, struct ratio *out);
/* As it would be typed, exactly: "0.05"; "" when it was not given. Returns buf. */
char *units_format_ratio(const struct ratio *r, char *buf, size_t size);

/*
 * "1M", "2.5k", "0.5", "1e6", "14.88Mpps", "100 kp/s", "1Ki"; "80%" is a percentage of the link's speed;
 * 0, unlimited, none, line-rate, linerate, max, off: RATE_UNLIMITED. Below one millionth but not 0: -ERANGE.
 */
int units_parse_pps(const char *s, struct rate *out);
/* The same with bps, bit/s, bit, bits, b/s and a layer: "10G", "10Gbps", "2.5Gbit/s", "9.5Gbpsl2", "100Mbps l1". */
int units_parse_bps(const char *s, struct rate *out);

/* "30s", "5m", "1h", "1.5s", "200ms", "50us", "10ns", "1h30m", "0". A bare number other than 0 is refused: the unit is
 * needed. */
int units_parse_time(const char *s, uint64_t *ns);

/* "64", "9000", "64B"; plain decimal. */
int units_parse_size(const char *s, uint64_t *bytes);

/* Whole numbers: "1000", "1k", "2M" (decimal), "1e6". No fraction may be left over. */
int units_parse_count(const char *s, uint64_t *n);

/* For people: "14.88 M", "100 k", "1.25 G": three or four digits and an SI prefix. Returns buf. */
char *units_format_si(double v, char *buf, size_t size);
/* The same with its unit: "14.88 Mpps", "5 pps"; "-" when there is no such figure. UNITS_STR is room for any. */
#define UNITS_STR 32
char *units_format_with(double v, const char *unit, char *buf, size_t size);
/* "1.500 s", "2 m 30 s", "20 us". */
char *units_format_time(uint64_t ns, char *buf, size_t size);
/* "2:05", "1:02:05"; fine: "2:05.250". Rounded to what is shown. */
char *units_format_clock(uint64_t ns, bool fine, char *buf, size_t size);
/* A rate as it would be typed again: "100k", "0.5", "80%", "unlimited"; empty for RATE_UNSET. */
char *units_format_rate(const struct rate *r, char *buf, size_t size);

#endif
