#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh [--rounds N] [--seconds S] [PART...]: measures this machine with build/release/squall, in interleaved rounds
# side by side with what it can be compared with: trafgen, a bare loop around AF_XDP's rings (bench/bare_xsk.c) and
# testpmd, which is left out where it is missing (apt-get install dpdk-dev librte-net-af-xdp23). All parts unless some
# are named; about fifty minutes, half of it for the rates and what is paced. Figures want a machine that does nothing else.
#
#   tx rx         AF_PACKET: sending beside trafgen; receiving
#   loop          the generator on a sink in memory: time and instructions per packet, of flows, mixes and captures
#   start rate    time to the first packet; how exact the rate is
#   xdp-tx        AF_XDP: sending on veth and on a sink (ifb), one and two queues
#   xdp-user      user time per packet sent at full rate
#   xdp-rx        receiving on veth, and whether every packet is accounted for
#   xdp-ir        instructions per packet, sent and received (callgrind)
#   pacing        how packets are spaced, beside trafgen, tcpreplay and iperf3 (each where it is installed)
#   poisson       how near to a Poisson process --spacing poisson comes
#   sleep         what --pacing sleep costs, and keeps
#   impair        what a wire in memory lost, doubled and reordered of 6 x 100,000,000 packets, and what was counted
#   pair          on veth at half of what the sender can do: whether anything is lost
#   delay         latency of a wire in memory whose delay is known
#   receive       time per packet received on a wire in memory, measured in full
set -euo pipefail
. "$(dirname "$0")/common.sh"

need_root "to make network namespaces and send raw frames"
"$root/scripts/deps.sh" test
"$root/scripts/build.sh" release
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$root/scripts/bench" "$@"
