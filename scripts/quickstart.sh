#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh: installs what is missing, builds squall, and measures a veth pair with it: one squall sends 1,000 VLAN
# tagged flows, another receives them. Ends with a table; exit 1 when anything was lost. Leaves build/release behind.
set -euo pipefail
. "$(dirname "$0")/common.sh"
squall=$root/build/release/squall
name=squall-quick-$$
flows=1000
vlan=100
tmp=
receiver=

lab() {
	"$root/scripts/lab.sh" --name "$name" "$@"
}

cleanup() {
	[ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true
	lab down 2>/dev/null || true
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# The receiver says when its filter is active: only then is it of use to send.
wait_until_receiving() {
	for ((i = 0; i < 200; i++)); do
		if grep -q 'filter is active' "$tmp/recv.log"; then return 0; fi
		kill -0 "$receiver" 2>/dev/null || break
		sleep 0.05
	done
	cat "$tmp/recv.log" >&2
	die "squall recv did not start receiving"
}

number() { # file, jq path
	jq -e "$2" "$1" || die "no $2 in what squall reported: $(head -c 400 "$1")"
}

row() {
	printf '  %-10s %10s %12s %12s %14s\n' "$@"
}

result_row() { # label, file, direction
	row "$1" "$(number "$2" ".end.$3.packets")" "$(number "$2" ".end.$3.bytes_l2")" \
		"$(number "$2" ".end.$3.pps | round")" "$(number "$2" ".end.$3.bps_l1 | round")"
}

need_root "to make network namespaces and send raw frames"
say "this installs the Debian packages that are missing, builds squall, makes two network namespaces joined by a veth" \
	"pair, sends from one to the other for 3 seconds, and removes the namespaces"
"$root/scripts/deps.sh" build
"$root/scripts/build.sh" release

trap cleanup EXIT
trap 'exit 130' INT TERM HUP
tmp=$(mktemp -d)
lab up

say "squall recv -i vb --idle 2s"
ip netns exec "$name-b" "$squall" recv -i vb --idle 2s -d 60s --no-tui --json -y \
	</dev/null >"$tmp/recv.json" 2>"$tmp/recv.log" &
receiver=$!
wait_until_receiving

send=(send -i va --dst-ip 10.77.0.2 --flows "$flows" --vlan "$vlan" --pps 100k -d 3s)
say "squall ${send[*]}"
ip netns exec "$name-a" "$squall" "${send[@]}" --no-tui --json -y </dev/null >"$tmp/send.json" 2>"$tmp/send.log" || {
	cat "$tmp/send.log" >&2
	die "squall send failed: its message is above"
}
wait "$receiver" || {
	cat "$tmp/recv.log" >&2
	die "squall recv failed: its message is above"
}
receiver=

sent=$(number "$tmp/send.json" .end.tx.packets)
received=$(number "$tmp/recv.json" .end.rx.packets)
echo
row "" packets "bytes (L2)" packets/s "bit/s (L1)"
result_row sent "$tmp/send.json" tx
result_row received "$tmp/recv.json" rx
row lost $((sent - received)) "" "" ""
echo
[ "$sent" -gt 0 ] || die "nothing was sent"
[ "$sent" = "$received" ] || die "$sent packets were sent and $received received: that should not happen on a veth pair"
echo "Nothing was lost: $sent packets of $flows flows, VLAN $vlan, arrived."
