/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times that the XDP program leaves in front of packets. What stands in front of one that has none is an older
 * packet's, or nothing of ours, so three things have to be true before it is believed: it bears the run's key, it was
 * not read before, and the program has never yet failed to write one. The last is for chunks that the kernel wrote, and
 * then used again for another packet without showing the first, as it does when the ring is full.
 */
#include "afxdp_program.h"
#include "afxdp_queue.h"
#include "bpf/times.h"

#include "lib/clock.h"
#include "lib/core/types.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/*
 * What CLOCK_MONOTONIC is ahead here of that of the initial time namespace, which the program's clock is of. Modulo
 * 2^64; the kernel tells seconds and nanoseconds.
 */
static uint64_t namespace_ahead_ns(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t s = 0, ns = 0;

	if (!f) /* a kernel without time namespaces */
		return 0;
	if (fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) != 2)
		s = ns = 0;
	fclose(f);
	return (uint64_t)s * NS_PER_S + (uint64_t)ns;
}

void afxdp_times_open(struct afxdp_rx *rx)
{
	rx->to_mono_ns = namespace_ahead_ns();
	afxdp_times_clocks(rx);
}

void afxdp_times_clocks(struct afxdp_rx *rx)
{
	rx->to_wall_ns = clock_offset_ns(CLOCK_MONOTONIC, CLOCK_REALTIME);
}

/* The time in front of a packet, which is then there no more. False: there is none. */
static inline bool take_time(unsigned char *data, uint64_t key, uint64_t *ns)
{
	unsigned char *at = data - sizeof(struct packet_time);
	unsigned char *proof = at + offsetof(struct packet_time, proof);

	*ns = core_get64(at + offsetof(struct packet_time, ns));
	if ((*ns ^ core_get64(proof)) != key)
		return false;
	core_put64(proof, 0);
	return true;
}

void afxdp_times_take(struct afxdp_rx *rx, const struct pio_frame *f, unsigned n, bool in_chain)
{
	const uint64_t key = rx->times->key;
	const uint64_t now = clock_mono_ns();
	/* Read after the ring: what is there was counted before. */
	const bool all = !__atomic_load_n(rx->times->untimed, __ATOMIC_RELAXED);
	uint64_t *const arrivals = rx->q.arrivals_ns;
	uint64_t first = 0, last = 0;
	unsigned packets = 0, untimed = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!in_chain) {
			if (all && take_time(f[i].data, key, &last)) {
				last += rx->to_mono_ns;
			} else {
				last = now;
				untimed++;
			}
			if (!packets++)
				first = last;
			if (arrivals)
				arrivals[i] = last;
		}
		in_chain = f[i].flags & PIO_MORE;
	}
	if (untimed)
		stats_add(&rx->q.stats.rx.untimed, untimed);
	if (packets)
		pio_note_arrival(&rx->q, first + rx->to_wall_ns, last + rx->to_wall_ns);
}
