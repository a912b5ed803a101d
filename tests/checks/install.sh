#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh BUILD: `cmake --install` puts everything in its place, the installed program runs, its manual page is sound.
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$1" --prefix "$prefix" >/dev/null
for file in bin/squall share/man/man1/squall.1 share/bash-completion/completions/squall share/doc/squall/LICENSE; do
	[ -s "$prefix/$file" ] || {
		echo "not installed: $file; there is:"
		find "$prefix" -type f
		exit 1
	}
done
"$prefix/bin/squall" --version | grep -q squall
mandoc -T lint -W warning "$prefix/share/man/man1/squall.1"
bash -n "$prefix/share/bash-completion/completions/squall"
