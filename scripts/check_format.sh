#!/usr/bin/env bash
# Checks that clang-format would change nothing. Usage: scripts/check_format.sh [--fix] [FILE ...]; default: all files.
# Exit status 77 (skipped, for ctest) where clang-format is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo "clang-format is not installed: skipped"; exit 77; }
mode=(--dry-run --Werror)
if [ "${1:-}" = --fix ]; then
  mode=(-i)
  shift
fi
if [ $# -gt 0 ]; then
  printf '%s\0' "$@"
else
  find src apps tests \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
fi | xargs -0 -P "$(nproc)" -n 8 clang-format "${mode[@]}"
