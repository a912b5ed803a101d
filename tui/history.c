/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include "lib/clock.h"

#include <string.h>

void history_add(struct history *h, uint64_t elapsed_ns, uint64_t packets)
{
	uint64_t ns = elapsed_ns - h->ns;
	uint64_t seconds = ns / NS_PER_S;
	double pps;

	if (elapsed_ns < h->ns || !seconds)
		return;
	if (seconds > HISTORY_SECONDS)
		seconds = HISTORY_SECONDS;
	pps = (double)(packets - h->packets) * NS_PER_S / (double)ns;
	memmove(h->pps + seconds, h->pps, (HISTORY_SECONDS - seconds) * sizeof(h->pps[0]));
	for (uint64_t i = 0; i < seconds; i++)
		h->pps[i] = pps;
	h->n = h->n + seconds < HISTORY_SECONDS ? h->n + (unsigned)seconds : HISTORY_SECONDS;
	h->ns = elapsed_ns;
	h->packets = packets;
}

double history_top(const struct history *h, unsigned n)
{
	double top = 0;

	for (unsigned i = 0; i < n && i < h->n; i++)
		top = h->pps[i] > top ? h->pps[i] : top;
	return top;
}
