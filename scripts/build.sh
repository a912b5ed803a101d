#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [PRESET [CMAKE-OPTION...]]: configures and builds one preset of CMakePresets.json, release unless named, in
# build/PRESET. Silent but for one line; the whole output when it fails.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
preset=${1-release}
log=build/$preset.log

mkdir -p build
say "building build/$preset"
{
	cmake --preset "$preset" --log-level=WARNING "${@:2}" &&
		cmake --build --preset "$preset" --parallel "$(nproc)" -- --quiet
} </dev/null >"$log" 2>&1 || {
	cat "$log" >&2
	die "the build of $preset failed: the output is above, and in $log"
}
