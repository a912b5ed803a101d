#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh [--rounds N] [--seconds S] [tx|rx|loop|start|rate ...]: measures this machine with build/release/squall, side
# by side with trafgen where it can be compared, in interleaved rounds. All five parts unless some are named; about seven
# minutes. Figures want a machine that does nothing else.
set -euo pipefail
. "$(dirname "$0")/common.sh"

need_root "to make network namespaces and send raw frames"
"$root/scripts/deps.sh" test
"$root/scripts/build.sh" release
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$root/scripts/bench" "$@"
