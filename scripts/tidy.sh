#!/usr/bin/env bash
# clang-tidy over the files that changed since a commit, or over those named. Slow, so not part of the tests.
# Usage: scripts/tidy.sh [--since COMMIT] [FILE.cpp ...]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build lint
[ -f build/release/compile_commands.json ] || cmake --preset release >/dev/null
files=()
if [ "${1:-}" = --since ]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$2" -- '*.cpp')
else
  files=("$@")
fi
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find src apps -name '*.cpp' ! -name '*_bench.cpp' ! -name '*_fuzz.cpp')
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 1 clang-tidy --quiet -p build/release
