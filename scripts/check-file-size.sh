#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-file-size.sh: no C file is longer than 400 lines, so that each keeps to one concept.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
limit=400

c_files
long=$(wc -l "${files[@]}" | awk -v limit=$limit '$2 != "total" && $1 > limit { print $2 ": " $1 " lines" }')
[ -z "$long" ] || die "longer than $limit lines, split them:"$'\n'"$long"
say "file size: none of ${#files[@]} files is longer than $limit lines"
