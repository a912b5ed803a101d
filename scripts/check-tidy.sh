#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-tidy.sh [FILE-REGEX...]: clang-tidy finds nothing (.clang-tidy says what it looks for), in all C files or in
# those that match.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"

scripts/build.sh clang # clang-tidy reads how clang compiles each file, and the headers that the build makes
# A bound on the paths per function, a quarter of the usual one: a fifth of the time, and the same findings so far.
bound=(-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=50000)
said=$(run-clang-tidy-14 -quiet -p build/clang -j "$(nproc)" "${bound[@]}" "$@" 2>/dev/null) || {
	printf '%s\n' "$said" | sed 's/\x1b\[[0-9;]*m//g' | grep -E ': (error|warning|note):' | awk '!seen[$0]++'
	die "clang-tidy's findings are above"
}
say "tidy: nothing found"
