# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share; to be sourced.

# shellcheck disable=SC2034 # for those who source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=$(basename "$0")

say() {
	echo "== $*" >&2
}

die() {
	echo "$me: $*" >&2
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || die "needs root ($1): run it with sudo"
}

# How many tests run at a time: the kernel makes most of them wait, for sockets that close and interfaces that go.
test_jobs() {
	echo $((2 * $(nproc)))
}

# Fills `files` with every C file of the tree in the current directory.
c_files() {
	shopt -s globstar nullglob
	files=({lib,gen,rx,tui,cmd,examples,tests,scripts}/**/*.[ch])
	[ ${#files[@]} -gt 0 ] || die "no C files in $PWD"
}
