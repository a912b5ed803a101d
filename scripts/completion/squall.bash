# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion for squall, made from its option table.
_squall() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=send words=

	case ${COMP_WORDS[1]} in
	recv | devices) verb=${COMP_WORDS[1]} ;;
	esac
	# --name=value comes as three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $prev in
	-i | --interface) words=$(ip -br link 2>/dev/null | sed 's/[@ ].*//') ;;
	--backend) return ;;
	--queues) return ;;
	--cpus) return ;;
	--xdp-mode) words="auto native-zc native generic" ;;
	--rx-frames) return ;;
	--busy-poll) return ;;
	--napi-defer) words="auto on off" ;;
	-m | --mode) words="udp raw receive" ;;
	--src-ip) return ;;
	--dst-ip) return ;;
	--src-mac) return ;;
	--dst-mac) return ;;
	--src-port) return ;;
	--dst-port) return ;;
	--flows) return ;;
	--flow-order) words="sequential random" ;;
	-s | --packet-size) return ;;
	--vlan) return ;;
	--ethertype) return ;;
	--payload-byte) return ;;
	--pps) return ;;
	--bps) return ;;
	-d | --duration) return ;;
	-n | --count) return ;;
	--burst) return ;;
	--catch-up) return ;;
	--rx-mode) words="none generated-flow udp-port tcp-port cidr keep-management all" ;;
	--rx-port) return ;;
	--rx-cidr) return ;;
	--filter) return ;;
	--idle) return ;;
	--interval) return ;;
	-c | --config) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	*)
		case $verb in
		send) words="--interface --backend --queues --cpus --qdisc --xdp-mode --rx-frames --busy-poll --napi-defer --mode --src-ip --dst-ip --src-mac --dst-mac --src-port --dst-port --vary-dst-port --flows --flow-order --packet-size --vlan --ethertype --payload-byte --pps --bps --duration --count --burst --catch-up --strict-rate --rx-mode --rx-port --rx-cidr --filter --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --config --dump-config --yes --forget --help --version" ;;
		recv) words="--interface --backend --queues --cpus --xdp-mode --rx-frames --busy-poll --napi-defer --src-ip --dst-ip --duration --count --rx-mode --rx-port --rx-cidr --filter --idle --allow-match-all --json --json-stream --csv --interval --quiet --verbose --no-tui --config --dump-config --yes --forget --help --version" ;;
		devices) words="--json --json-stream --verbose --no-tui --yes --help --version" ;;
		esac
		[[ $COMP_CWORD -eq 1 && $cur != -* ]] && words="send recv devices help version"
		[[ $prev == help ]] && words="send recv devices"
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _squall squall
