#!/usr/bin/env bash
# On a CUDA machine that has only a compiler, CMake and CUDA: builds the CUDA forms of the layers L0-L3, checks the
# device forms against the CPU forms, also under compute-sanitizer, proves circuits of every kind, runs the benches, and
# leaves one JSON file for each kind of result, rewritten whenever a step ends.
#
# Usage: scripts/gpu.sh [OPTION ...]
#   --results DIR   where the files go (default: build/gpu-results; what is worth keeping goes to bench/results/)
#   --build DIR     programs built before, anywhere below DIR: builds nothing
#   --sppark DIR --blst DIR   checkouts of the two: sums and transforms side by side with sppark's too
#   --commit NAME   that the files name (default: the checkout's)
#   --only LIST     of check,sanitize,prove,bench,peers,large, by commas (default: all of them)
#   --limit SECONDS for everything (default: 590); steps beyond it are cut short or skipped, and say so
# Exit status 1 where a step failed.
set -euo pipefail
results="" build="" sppark="" blst="" commit="" limit=590
only=check,sanitize,prove,bench,peers,large
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || { echo "gpu.sh: $1 needs a value" >&2; exit 2; }
  case "$1" in
    --results) mkdir -p "$2" && results="$(realpath "$2")" ;;
    --build) build="$(realpath "$2")" ;;
    --sppark) sppark="$(realpath "$2")" ;;
    --blst) blst="$(realpath "$2")" ;;
    --commit) commit="$2" ;;
    --only) only="$2" ;;
    --limit) limit="$2" ;;
    *) echo "gpu.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift 2
done
cd "$(dirname "$0")/.."
if [ -z "$results" ]; then
  mkdir -p build/gpu-results
  results="$(realpath build/gpu-results)"
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0

command -v nvidia-smi >/dev/null || { echo "gpu.sh: there is no nvidia-smi here, so no NVIDIA driver" >&2; exit 2; }
gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits | head -1; }
chip="$(gpu name)"
memory_mib="$(gpu memory.total)"
short_chip="$(printf '%s' "${chip##* }" | tr '[:upper:]' '[:lower:]')"
date="$(date -u +%F)"
[ -n "$commit" ] || commit="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
cuda="$(command -v nvcc >/dev/null && nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true)"
build_seconds=0

wants() { [[ ",$only," == *",$1,"* ]]; }
say() { printf '== %4d s  %s\n' "$SECONDS" "$*"; }

# write_results KIND: the file of a kind from the lines in $work/KIND, each a JSON object.
write_results() {
  {
    printf '{\n  "chip": "%s",\n  "driver": "%s",\n  "sm_clock_mhz": %s,\n' "$chip" "$(gpu driver_version)" \
      "$(gpu clocks.sm)"
    printf '  "cuda": "%s",\n  "commit": "%s",\n  "date": "%s",\n' "$cuda" "$commit" "$date"
    printf '  "build_seconds": %d,\n  "results": [\n' "$build_seconds"
    sed -e 's/^/    /' -e '$!s/$/,/' "$work/$1"
    printf '  ]\n}\n'
  } >"$results/.$1.new"
  mv "$results/.$1.new" "$results/$1-$short_chip-$date.json"
}

# record NAME TOOL STATUS MILLISECONDS: the line of a step; 124 is the time limit.
record() {
  printf '{"step": "%s", "tool": "%s", "status": %d, "milliseconds": %d}\n' "$@" >>"$work/gpu-checks"
}

# step KIND NAME SECONDS COMMAND ...: runs it alone within its time; the JSON objects that it prints are lines of KIND.
step() {
  local kind="$1" name="$2" seconds="$3" left=$((limit - SECONDS)) status=0 begin
  shift 3
  if [ "$left" -lt 5 ]; then
    say "$name: skipped, no time is left"
    record "$name" none 124 0
    failed=1
    write_results gpu-checks
    return
  fi
  say "$name"
  begin=$(date +%s%3N)
  timeout -k 5 $((seconds < left ? seconds : left)) "$@" >"$work/log" 2>&1 || status=$?
  record "$name" none "$status" $(($(date +%s%3N) - begin))
  if [ "$status" -ne 0 ]; then
    failed=1
    echo "   status $status; its last lines:"
    tail -n 20 "$work/log"
  elif [ "$kind" = gpu-checks ]; then
    tail -n 1 "$work/log"
  fi
  if [ "$kind" != gpu-checks ] && grep '^{.*}$' "$work/log" >"$work/new"; then
    cat "$work/new"
    cat "$work/new" >>"$work/$kind"
    write_results "$kind"
  fi
  write_results gpu-checks
}

# sanitize CHECK TOOL: a small run under a tool of compute-sanitizer; for the background.
sanitize() {
  local name status=0 begin log left=$((limit - SECONDS))
  name="$(basename "$1")"
  log="$work/$name.$2"
  begin=$(date +%s%3N)
  left=$((left < 120 ? left : 120))
  timeout -k 5 $((left > 1 ? left : 1)) \
    compute-sanitizer --tool "$2" --error-exitcode 3 "$1" --small >"$log" 2>&1 || status=$?
  record "$name" "$2" "$status" $(($(date +%s%3N) - begin))
  if [ "$status" -ne 0 ]; then
    printf '   %s of %s: status %d; its last lines:\n%s\n' "$2" "$name" "$status" "$(tail -n 20 "$log")"
  fi
}

if [ -z "$build" ]; then
  say "build"
  build=build/gpu
  options=(-DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON)
  options+=(-DCMAKE_CUDA_ARCHITECTURES="$(gpu compute_cap | tr -d .)")
  [ -z "$sppark" ] || options+=(-DCUZK_SPPARK_DIR="$sppark" -DCUZK_BLST_DIR="$blst")
  command -v ninja >/dev/null && options+=(-G Ninja)
  cmake -S . -B "$build" "${options[@]}" >/dev/null
  cmake --build "$build" -j "$(nproc)" --target cuda_programs
  build_seconds=$SECONDS
fi
programs() { find "$build" -type f -name "$1" -perm -u+x | sort; }
program() { programs "$1" | head -1; }
mapfile -t checks < <(programs 'cuzk_*_cuda_check')
[ ${#checks[@]} -gt 0 ] || { echo "gpu.sh: there is no CUDA check below $build" >&2; exit 2; }
touch "$work/gpu-checks"

if wants check; then
  for check in "${checks[@]}"; do
    case "$(basename "$check")" in
      cuzk_prove_cuda_check) ;;
      cuzk_evaluate_cuda_check)
        circuits=(winning-2k window-2k snap-2k porep-2k winning-32g)
        [ "$memory_mib" -lt 40000 ] || circuits+=(porep-32g snap-32g window-32g)
        step evaluate evaluate 90 "$check" "${circuits[@]}"
        ;;
      *) step gpu-checks "$(basename "$check")" 120 "$check" ;;
    esac
  done
fi

if wants sanitize && ! command -v compute-sanitizer >/dev/null; then
  say "there is no compute-sanitizer here: nothing runs under it"
elif wants sanitize; then
  say "small runs under compute-sanitizer, several at a time"
  at_once=$((memory_mib / 3000))
  [ "$at_once" -le "$(nproc)" ] || at_once="$(nproc)"
  [ "$at_once" -le 12 ] || at_once=12
  # racecheck takes longest.
  for tool in racecheck memcheck initcheck synccheck; do
    for check in "${checks[@]}"; do
      while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
      sanitize "$check" "$tool" &
    done
  done
  wait
  ! grep -v '"tool": "none"' "$work/gpu-checks" | grep -qv '"status": 0,' || failed=1
  grep -v '"tool": "none"' "$work/gpu-checks"
  write_results gpu-checks
fi

prove="$(program cuzk_prove_cuda_check)"
if wants prove && [ -n "$prove" ]; then
  step prove-check prove-2k 90 "$prove" --witnesses 3 winning-2k window-2k snap-2k porep-2k winning-32g
  step prove-check prove-8m 60 "$prove" winning-8m window-8m porep-8m
  step prove-check snap-8m 90 "$prove" snap-8m
fi

if wants bench; then
  bench="$(program cuzk_ntt_cuda_bench)"
  [ -z "$bench" ] || step ntt ntt 60 "$bench"
  bench="$(program cuzk_msm_cuda_bench)"
  if [ -n "$bench" ]; then
    step msm msm-sizes 60 "$bench" --log2 18 22
    step msm msm-large 60 "$bench" --group g1 --log2 24 26 --repeat 3
    step msm msm-skewed 60 "$bench" --log2 20 20 --skewed
    step msm msm-tables 60 "$bench" --group g1 --log2 24 24 --multiples 12 --entries 28 --prepared
    step msm msm-selection 60 "$bench" --log2 22 22 --witnesses 10
    step msm msm-streamed 60 "$bench" --group g1 --log2 24 24 --streamed 22
  fi
  for bench in $(programs 'cuzk_*_cuda_bench'); do
    name="$(basename "$bench")"
    name="${name#cuzk_}"
    name="${name%_cuda_bench}"
    case "$name" in ntt | msm) ;; *) step "$name" "$name" 60 "$bench" ;; esac
  done
fi

if wants peers; then
  for kind in ntt msm; do
    bench="$(program "cuzk_sppark_${kind}_bench")"
    [ -z "$bench" ] || step peers "sppark-$kind" 100 "$bench"
  done
fi

# One GPU for all ten partitions of a sector of 32 GiB: 109 GB.
if wants large && [ -n "$prove" ] && [ "$memory_mib" -ge 110000 ]; then
  step prove-check porep-32g 150 "$prove" --device-setup porep-32g --witnesses 10 --multiples 3 --log2-entries 28
fi
say "done"
exit $failed
