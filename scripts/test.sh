#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh: installs what is missing, builds, and runs every check and test. The last lines are ctest's summary.
set -euo pipefail
. "$(dirname "$0")/common.sh"

need_root "the tests send and receive in network namespaces of their own, and load BPF programs"
say "packages, then the release build, then every check and test: format, layers, file size, shellcheck, clang and" \
	"clang-tidy, unit, conformance and end-to-end tests, a short run of each fuzzer, and tests again under ASan and UBSan," \
	"TSan and the ownership map"
"$root/scripts/deps.sh" test
"$root/scripts/build.sh" release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
# What must work here: a test that cannot have it fails, it does not skip.
export SQUALL_REQUIRE=${SQUALL_REQUIRE-loop,afpacket,afxdp,bpf}
exec ctest --test-dir "$root/build/release" --parallel "$(test_jobs)" --output-on-failure --no-tests=error </dev/null
