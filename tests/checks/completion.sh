#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# completion.sh FILE: what bash offers after some words.
set -euo pipefail
# shellcheck source=/dev/null
. "$1"
failed=0

# expect "WORDS" "OFFERED": the last word is being typed.
expect() {
	local got
	mapfile -t COMP_WORDS < <(tr ' ' '\n' <<<"$1")
	# shellcheck disable=SC2034 # the completion reads it
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_squall
	got="${COMPREPLY[*]}"
	[[ $got == "$2" ]] || {
		echo "after '$1': offered '$got', not '$2'" >&2
		failed=1
	}
}

expect "squall " "send recv pair reflect devices help version"
expect "squall rec" "recv"
expect "squall pair --rx-" "--rx-interface --rx-queues --rx-frames --rx-mode --rx-port --rx-cidr"
expect "squall help d" "devices"
expect "squall --pp" "--pps"
expect "squall send --flow" "--flows --flow-order --flow-walk --flow-label"
expect "squall recv --pp" ""
expect "squall recv --idl" "--idle"
expect "squall send --mode " "udp tcp-syn icmp-echo imix raw pcap receive"
expect "squall -m r" "raw receive"
expect "squall --flow-order = s" "sequential"
expect "squall --flow-order =" "sequential random"
expect "squall --pps " ""
expect "squall --star" "--start"
expect "squall recv --no-t" "--no-tui"
exit "$failed"
