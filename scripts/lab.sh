#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A laboratory of two network namespaces joined by a veth pair.
set -euo pipefail
. "$(dirname "$0")/common.sh"

usage() {
	cat <<'TEXT'
usage: lab.sh [--name PREFIX] [--queues N] up | down | exec a|b COMMAND...

  up     makes the namespaces PREFIX-a and PREFIX-b (PREFIX is squall-lab unless given) and a veth pair between them,
         with N transmit and receive queues (2): va in a, 10.77.0.1/24 and fd77::1/64; vb in b, 10.77.0.2/24 and
         fd77::2/64. A lab that is up stays as it is.
  down   removes them; no harm when there are none
  exec   runs COMMAND in one of the two namespaces:
         lab.sh exec b squall recv -i vb
TEXT
}

prefix=squall-lab
queues=2
while [ $# -gt 0 ]; do
	case "$1" in
	--name | --queues)
		[ $# -ge 2 ] || die "$1 needs a value"
		[ "$1" = --name ] && prefix=$2 || queues=$2
		shift 2
		;;
	-h | --help)
		usage
		exit 0
		;;
	-*) die "unknown option $1; lab.sh --help lists them" ;;
	*) break ;;
	esac
done
[[ $queues =~ ^[1-9][0-9]*$ ]] || die "--queues $queues: a number from 1 is needed"
[[ $prefix =~ ^[A-Za-z0-9_.-]+$ ]] || die "--name $prefix: only letters, digits, dot, dash and underscore"
a=$prefix-a
b=$prefix-b

down() {
	for ns in "$a" "$b"; do
		if [ -e "/run/netns/$ns" ]; then
			ip netns del "$ns"
		fi
	done
}

is_up() {
	[[ $(ip -n "$a" addr show dev va 2>/dev/null) == *fd77::1/64* &&
		$(ip -n "$b" addr show dev vb 2>/dev/null) == *fd77::2/64* ]]
}

up() {
	trap 'down; die "the lab could not be made: the message is above"' EXIT
	down
	ip netns add "$a"
	ip netns add "$b"
	ip link add va netns "$a" numtxqueues "$queues" numrxqueues "$queues" type veth \
		peer name vb netns "$b" numtxqueues "$queues" numrxqueues "$queues"
	for side in "$a va 1" "$b vb 2"; do
		read -r ns dev host <<<"$side"
		ip -n "$ns" link set lo up
		# No duplicate address detection: the address can be used at once.
		ip netns exec "$ns" sysctl -qw "net.ipv6.conf.$dev.accept_dad=0" "net.ipv6.conf.$dev.router_solicitations=0"
		ip -n "$ns" addr add "10.77.0.$host/24" dev "$dev"
		ip -n "$ns" link set "$dev" up
		ip -n "$ns" addr add "fd77::$host/64" dev "$dev" nodad
	done
	trap - EXIT
}

verb=${1-}
case "$verb" in
up | down | exec) need_root "to make and enter network namespaces" ;;
*)
	usage >&2
	exit 2
	;;
esac
command -v ip >/dev/null || die "the ip command is missing: apt-get install iproute2"
case "$verb" in
up)
	if is_up; then
		say "lab $prefix is up already"
	else
		up
		say "lab $prefix is up: va 10.77.0.1, fd77::1 in $a; vb 10.77.0.2, fd77::2 in $b"
	fi
	;;
down)
	down
	say "lab $prefix is down"
	;;
exec)
	[ $# -ge 3 ] || die "exec needs a namespace (a or b) and a command"
	case "$2" in
	a) ns=$a ;;
	b) ns=$b ;;
	*) die "exec $2: the namespaces are a and b" ;;
	esac
	is_up || die "lab $prefix is not up: lab.sh up"
	exec ip netns exec "$ns" "${@:3}"
	;;
esac
