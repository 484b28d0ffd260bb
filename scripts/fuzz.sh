#!/usr/bin/env bash
# Builds the fuzz targets (clang) and runs each with its corpus. Usage: scripts/fuzz.sh SECONDS [TARGET ...]
# New inputs go to build/fuzz/corpus/TARGET; the committed corpus (fuzz/corpus/TARGET) is only read. A crash leaves its
# input under build/fuzz/crashes/ and ends the run with status 1.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:?usage: scripts/fuzz.sh SECONDS [TARGET ...]}"
shift
scripts/setup.sh build fuzz
cmake --preset fuzz >/dev/null
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(find src -name '*_fuzz.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort)
fi
if [ ${#targets[@]} -eq 0 ]; then
  echo "no fuzz targets"
  exit 1
fi
cmake --build --preset fuzz --target "${targets[@]}"

run_target() {
  local target="$1" binary work crashes committed log runs
  local corpus dictionary
  binary="$(find build/fuzz -type f -name "$target" -perm -u+x | head -1)"
  work="build/fuzz/corpus/$target"
  crashes="build/fuzz/crashes/$target-"
  mkdir -p "$work" "$(dirname "$crashes")"
  corpus=("$work")
  committed="fuzz/corpus/${target%_fuzz}"
  [ -d "$committed" ] && corpus+=("$committed")
  dictionary=()
  [ -f "fuzz/${target%_fuzz}.dict" ] && dictionary=("-dict=fuzz/${target%_fuzz}.dict")
  log="build/fuzz/$target.log"
  if ASAN_OPTIONS=allocator_may_return_null=1 "$binary" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
      -print_final_stats=1 -artifact_prefix="$crashes" "${dictionary[@]}" "${corpus[@]}" >"$log" 2>&1; then
    runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    echo "$target: clean, $runs inputs in $seconds s"
  else
    echo "$target: FAILED"
    tail -40 "$log"
    return 1
  fi
}
# One a core at a time.
export -f run_target
export seconds
printf '%s\0' "${targets[@]}" | xargs -0 -P "$(nproc)" -I '{}' bash -c 'run_target {}'
