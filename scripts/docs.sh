#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh write|check DOCGEN FORM FILE ...: writes the files that the option table makes, or shows how they differ.
set -euo pipefail

action=$1 docgen=$2 failed=0
shift 2
while (($# >= 2)); do
	if [[ $action == write ]]; then
		mkdir -p "$(dirname "$2")"
		"$docgen" "$1" >"$2"
	elif ! diff -u "$2" <("$docgen" "$1"); then
		failed=1
	fi
	shift 2
done
((failed == 0)) || echo "these files differ from the option table: cmake --build BUILD --target docs" >&2
exit "$failed"
