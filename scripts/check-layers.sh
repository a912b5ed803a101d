#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-layers.sh [DIRECTORY]: every #include goes down (docs/design.md, section 2). DIRECTORY is the source tree, this
# one unless given.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "${1-$root}" || die "no such directory: ${1-$root}"

# Which layers a layer may include, itself included. Longest name first: lib/core is not lib.
allowed() {
	case "$1" in
	lib/core) echo lib/core ;;
	lib/pio) echo lib/pio lib/core lib ;;
	lib) echo lib lib/core ;;
	gen) echo gen lib/pio lib/core lib ;;
	rx) echo rx lib/pio lib/core lib ;;
	tui) echo tui lib ;;
	cmd) echo cmd tui gen rx lib/pio lib/core lib ;;
	examples/*) echo "$1 lib/pio lib/core lib" ;;
	scripts) echo scripts rx lib/pio lib/core lib ;;
	tests) echo tests cmd tui gen rx lib/pio lib/core lib ;;
	esac
}

layer() { # of a path
	case "$1" in
	lib/core/*) echo lib/core ;;
	lib/pio/*) echo lib/pio ;;
	examples/*/*) echo "${1%/"${1#examples/*/}"}" ;;
	*) echo "${1%%/*}" ;;
	esac
}

c_files
bad=0
complain() {
	echo "$1:$2: $3" >&2
	bad=$((bad + 1))
}

while IFS=: read -r file line text; do
	[[ $text =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*([\"\<])([^\"\>]+)[\"\>] ]] || continue
	quote=${BASH_REMATCH[1]}
	name=${BASH_REMATCH[2]}
	if [[ $name == *..* ]]; then
		complain "$file" "$line" "$name: an include names its file from the top of the tree, or beside it"
		continue
	fi
	if [ "$quote" = '"' ] && [ -e "${file%/*}/$name" ]; then
		path=${file%/*}/$name
	elif [ -e "$name" ]; then
		path=$name
	else # the system's, a library's, or made by the build beside its user
		continue
	fi
	from=$(layer "$file")
	to=$(layer "$path")
	if [[ " $(allowed "$from") " != *" $to "* ]]; then
		complain "$file" "$line" "$from must not include $to ($name)"
	fi
done < <(grep -Hn '#[[:space:]]*include' "${files[@]}")

[ $bad = 0 ] || die "$bad includes go up or sideways"
say "layers: the includes of ${#files[@]} files go down"
