#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check-layers.sh lets a good tree pass and finds each kind of bad include.
set -euo pipefail
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check-layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# file, its include, ok or bad
try() {
	rm -rf "${tree:?}"/*
	for header in lib/err.h lib/core/csum.h lib/pio/pio.h gen/flow.h rx/loop.h tui/form.h cmd/run.h examples/fwd/fwd.h \
		examples/gw/gw.h tests/wire.h; do
		mkdir -p "$tree/${header%/*}"
		echo "#include <stddef.h>" >"$tree/$header"
	done
	mkdir -p "$tree/${1%/*}"
	printf '#include <stdio.h>\n# include %s\n' "$2" >"$tree/$1"
	if "$check" "$tree" >"$tree/said" 2>&1; then result=ok; else result=bad; fi
	if [ $result != "$3" ]; then
		echo "$1 includes $2: found $result, expected $3"
		failed=1
	elif [ $result = bad ] && ! grep -q "^$1:2: " "$tree/said"; then
		echo "$1 includes $2: the place is not named:"
		cat "$tree/said"
		failed=1
	fi
}

try lib/core/x.h '"csum.h"' ok
try lib/core/x.h '"lib/err.h"' bad
try lib/x.c '"lib/core/csum.h"' ok
try lib/x.c '"lib/pio/pio.h"' bad
try lib/x.c '"gen/flow.h"' bad
try lib/pio/x.c '"pio.h"' ok
try lib/pio/x.c '"lib/err.h"' ok
try lib/pio/x.c '"gen/flow.h"' bad
try gen/x.c '"lib/pio/pio.h"' ok
try gen/x.c '"rx/loop.h"' bad
try gen/x.c '"cmd/run.h"' bad
try rx/x.c '"gen/flow.h"' bad
try rx/x.c '"../gen/flow.h"' bad
try rx/x.c '<gen/flow.h>' bad
try rx/x.c '"tui/form.h"' bad
try tui/x.c '"lib/err.h"' ok
try tui/x.c '"rx/loop.h"' bad
try tui/x.c '"cmd/run.h"' bad
try cmd/x.c '"tui/form.h"' ok
try cmd/x.c '"tests/wire.h"' bad
try examples/fwd/x.c '"lib/pio/pio.h"' ok
try examples/fwd/x.c '"fwd.h"' ok
try examples/fwd/x.c '"gen/flow.h"' bad
try examples/fwd/x.c '"examples/gw/gw.h"' bad
try lib/x.c '"examples/fwd/fwd.h"' bad
try tests/x.c '"cmd/run.h"' ok
try tests/x.c '"examples/fwd/fwd.h"' bad
try lib/pio/x.c '"made.skel.h"' ok
exit $failed
