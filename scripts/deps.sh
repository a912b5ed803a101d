#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [build|test]: installs the Debian packages that squall is built with (build) or also tested with (test, the
# default). Only what is missing is installed: with nothing missing it is instant and works offline.
# docs/dependencies.md says why each package is there.
set -euo pipefail
. "$(dirname "$0")/common.sh"

build=(
	gcc libc6-dev cmake ninja-build pkgconf
	libmnl-dev libjansson-dev libyaml-dev libpcap-dev libncurses-dev libcmocka-dev
	libbpf-dev libxdp-dev clang bpftool
)
lab=(iproute2 procps jq)
check=(
	clang-format clang-tidy libclang-rt-14-dev shellcheck mandoc
	valgrind tcpdump tshark netsniff-ng ethtool iputils-ping libcap2-bin util-linux python3
)

case "${1-test}" in
build) wanted=("${build[@]}" "${lab[@]}") ;;
test) wanted=("${build[@]}" "${lab[@]}" "${check[@]}") ;;
*) die "usage: deps.sh [build|test]" ;;
esac

installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null) || true
missing=()
for package in "${wanted[@]}"; do
	grep -qx "$package installed" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
	say "packages: all ${#wanted[@]} are installed"
	exit 0
fi

command -v apt-get >/dev/null || die "this is not Debian (no apt-get); install what matches: ${missing[*]}"
need_root "to install ${missing[*]}"
say "packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update </dev/null || die "apt-get update failed: is there a network and a right /etc/apt/sources.list?"
apt-get -qq -y --no-install-recommends install "${missing[@]}" </dev/null >/dev/null ||
	die "apt-get could not install ${missing[*]}: its message is above"
