# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion for squall, made from its option table.
_squall() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=send words=

	case ${COMP_WORDS[1]} in
	send | recv | pair | reflect | devices) verb=${COMP_WORDS[1]} ;;
	esac
	# --name=value comes as three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $prev in
	-i | --interface) words=$(ip -br link 2>/dev/null | sed 's/[@ ].*//') ;;
	-r | --rx-interface) words=$(ip -br link 2>/dev/null | sed 's/[@ ].*//') ;;
	--backend) return ;;
	--queues) return ;;
	--rx-queues) return ;;
	--cpus) return ;;
	--xdp-mode) words="auto native-zc native generic" ;;
	--rx-frames) return ;;
	--busy-poll) return ;;
	--napi-defer) words="auto on off" ;;
	-m | --mode) words="udp tcp-syn icmp-echo imix raw pcap receive" ;;
	--src-ip) return ;;
	--dst-ip) return ;;
	--src-mac) return ;;
	--dst-mac) return ;;
	--src-port) return ;;
	--dst-port) return ;;
	--flows) return ;;
	--flow-order) words="sequential random" ;;
	--flow-walk) words="step cross" ;;
	--vary) return ;;
	--seed) return ;;
	-s | --packet-size) return ;;
	--imix) return ;;
	--vlan) return ;;
	--vlan-priority) return ;;
	--outer-vlan) return ;;
	--outer-type) words="0x88a8 0x8100" ;;
	--mpls) return ;;
	--tunnel) return ;;
	--dscp) return ;;
	--ecn) return ;;
	--ttl) return ;;
	--ip-id) return ;;
	--flow-label) return ;;
	--udp-checksum) words="on off bad" ;;
	--tcp-flags) return ;;
	--ethertype) return ;;
	--payload-byte) return ;;
	--payload-text) return ;;
	--payload-hex) return ;;
	--payload-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--payload-pattern) words="none count8 count16 count32" ;;
	--run-id) return ;;
	--clock) words="auto same-host ptp" ;;
	--pps) return ;;
	--bps) return ;;
	-d | --duration) return ;;
	-n | --count) return ;;
	--burst) return ;;
	--spacing) words="constant poisson" ;;
	--burst-profile) return ;;
	--pacing) words="precise sleep" ;;
	--catch-up) return ;;
	--max-loss) return ;;
	--max-duplicates) return ;;
	--max-reordered) return ;;
	--max-latency-p99) return ;;
	--min-rate) return ;;
	--rx-mode) words="none generated-flow udp-port tcp-port cidr keep-management all" ;;
	--rx-port) return ;;
	--rx-cidr) return ;;
	--filter) return ;;
	--idle) return ;;
	--respond) return ;;
	--capture) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--capture-limit) return ;;
	--snaplen) return ;;
	--linger) return ;;
	--flow-report) return ;;
	--flow-limit) return ;;
	--histograms) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--window) return ;;
	--interval) return ;;
	--pcap) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--pcap-timing) words="rate original" ;;
	--pcap-speed) return ;;
	--loop) return ;;
	--pcap-truncated) words="refuse skip pad" ;;
	--pcap-too-large) words="refuse skip" ;;
	--pcap-max-gap) return ;;
	--pcap-preload) return ;;
	--rewrite-mac) return ;;
	--rewrite-ip) return ;;
	--rewrite-vlan) return ;;
	-c | --config) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--write) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	*)
		case $verb in
		send) words="--interface --backend --queues --cpus --qdisc --xdp-mode --rx-frames --busy-poll --napi-defer --mode --src-ip --dst-ip --src-mac --dst-mac --src-port --dst-port --vary-dst-port --flows --flow-order --flow-walk --vary --seed --packet-size --imix --vlan --vlan-priority --vlan-dei --outer-vlan --outer-type --mpls --tunnel --dscp --ecn --ttl --df --ip-id --flow-label --udp-checksum --tcp-flags --ethertype --payload-byte --payload-text --payload-hex --payload-file --payload-pattern --stamp --run-id --clock --pps --bps --duration --count --burst --spacing --burst-profile --pacing --catch-up --strict-rate --rx-mode --rx-port --rx-cidr --filter --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --start --pcap --pcap-timing --pcap-speed --pcap-loop --loop --pcap-truncated --pcap-too-large --pcap-max-gap --pcap-preload --rewrite-mac --rewrite-ip --rewrite-vlan --config --dump-config --dry-run --write --yes --forget --help --version" ;;
		recv) words="--interface --backend --queues --cpus --xdp-mode --rx-frames --busy-poll --napi-defer --src-ip --dst-ip --run-id --clock --duration --count --max-loss --max-duplicates --max-reordered --max-latency-p99 --min-rate --rx-mode --rx-port --rx-cidr --filter --idle --respond --capture --capture-limit --snaplen --measure --per-flow --flow-report --flow-limit --histograms --window --host-times --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --start --config --dump-config --yes --forget --help --version" ;;
		pair) words="--interface --rx-interface --backend --queues --rx-queues --cpus --qdisc --xdp-mode --rx-frames --busy-poll --napi-defer --mode --src-ip --dst-ip --src-mac --dst-mac --src-port --dst-port --vary-dst-port --flows --flow-order --flow-walk --vary --seed --packet-size --imix --vlan --vlan-priority --vlan-dei --outer-vlan --outer-type --mpls --tunnel --dscp --ecn --ttl --df --ip-id --flow-label --udp-checksum --tcp-flags --ethertype --payload-byte --payload-text --payload-hex --payload-file --payload-pattern --stamp --run-id --clock --pps --bps --duration --count --burst --spacing --burst-profile --pacing --catch-up --strict-rate --max-loss --max-duplicates --max-reordered --max-latency-p99 --min-rate --rx-mode --rx-port --rx-cidr --filter --idle --respond --capture --capture-limit --snaplen --calibrate --subtract-floor --linger --measure --per-flow --flow-report --flow-limit --histograms --window --host-times --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --start --pcap --pcap-timing --pcap-speed --pcap-loop --loop --pcap-truncated --pcap-too-large --pcap-max-gap --pcap-preload --rewrite-mac --rewrite-ip --rewrite-vlan --config --dump-config --dry-run --write --yes --forget --help --version" ;;
		reflect) words="--interface --backend --queues --cpus --xdp-mode --rx-frames --busy-poll --napi-defer --src-ip --dst-ip --duration --count --min-rate --rx-mode --rx-port --rx-cidr --filter --idle --respond --capture --capture-limit --snaplen --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --start --config --dump-config --yes --forget --help --version" ;;
		devices) words="--json --json-stream --verbose --no-tui --yes --help --version" ;;
		esac
		[[ $COMP_CWORD -eq 1 && $cur != -* ]] && words="send recv pair reflect devices help version"
		[[ $prev == help ]] && words="send recv pair reflect devices "
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _squall squall
