#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-shell.sh: shellcheck finds nothing in the shell scripts.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"

shopt -s globstar nullglob
files=(scripts/*.sh tests/**/*.sh .ci/run)
shellcheck "${files[@]}" || die "shellcheck's findings are above"
say "shell: nothing found in ${#files[@]} scripts"
