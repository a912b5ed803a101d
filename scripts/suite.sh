#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite.sh PRESET LABEL-REGEX [NOT-REGEX]: builds the preset, any warning an error, and runs the tests in it that have
# such a label and none of the other kind.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || [ $# = 3 ] || die "usage: suite.sh PRESET LABEL-REGEX [NOT-REGEX]"

"$root/scripts/build.sh" "$1" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
# -R: gcc 12's thread sanitizer does not know the address space that newer kernels randomise over.
exec setarch -R ctest --test-dir "$root/build/$1" --parallel "$(test_jobs)" --output-on-failure --no-tests=error -L "$2" ${3:+-LE "$3"}
