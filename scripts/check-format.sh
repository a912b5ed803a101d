#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-format.sh: every C file is as clang-format 14 would write it (.clang-format); `clang-format -i FILE` makes it so.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"

c_files
clang-format --dry-run -Werror "${files[@]}" || die "the places above are not formatted: clang-format -i makes them so"
say "format: ${#files[@]} files are as clang-format writes them"
