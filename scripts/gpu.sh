#!/usr/bin/env bash
# On a CUDA machine that has only a compiler, CMake and CUDA: builds the CUDA forms of the layers L0-L3, checks the
# device forms against the CPU forms, also under compute-sanitizer, runs the benches, and leaves a JSON result.
# Usage: scripts/gpu.sh [RESULT_DIRECTORY [COMMIT]]   (default: bench/results, and the checkout's own commit)
set -euo pipefail
cd "$(dirname "$0")/.."
results="${1:-bench/results}"
mkdir -p "$results"
started=$SECONDS
architecture="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)"
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S . -B build/gpu "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON \
  -DCMAKE_CUDA_ARCHITECTURES="$architecture" >/dev/null
cmake --build build/gpu -j "$(nproc)" --target cuda_programs
build_s=$((SECONDS - started))

failed=0
checks=()
for check in $(find build/gpu -type f -name '*_cuda_check' -perm -u+x | sort); do
  name="$(basename "$check")"
  for tool in none memcheck racecheck initcheck synccheck; do
    command=("$check")
    if [ "$tool" != none ]; then
      command -v compute-sanitizer >/dev/null || continue
      command=(compute-sanitizer --tool "$tool" --error-exitcode 3 "$check" --small)
    fi
    begin=$(date +%s%3N)
    status=0
    "${command[@]}" || status=$?
    [ $status -eq 0 ] || failed=1
    checks+=("$(printf '{"check": "%s", "tool": "%s", "status": %d, "milliseconds": %d}' "$name" "$tool" "$status" \
      $(($(date +%s%3N) - begin)))")
  done
done
[ ${#checks[@]} -gt 0 ] || { echo "no CUDA check was built"; exit 1; }

# Each leaves one JSON object a line.
benches=()
lines="$(mktemp)"
trap 'rm -f "$lines"' EXIT
for bench in $(find build/gpu -type f -name '*_cuda_bench' -perm -u+x | sort); do
  if "$bench" "$lines"; then
    mapfile -t -O ${#benches[@]} benches <"$lines"
  else
    failed=1
  fi
done
{
  printf '{\n  "chip": "%s",\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
  printf '  "driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
  printf '  "sm_clock": "%s",\n' "$(nvidia-smi --query-gpu=clocks.sm --format=csv,noheader | head -1)"
  printf '  "cuda": "%s",\n' "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
  printf '  "commit": "%s",\n' "${2:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}"
  printf '  "date": "%s",\n  "build_seconds": %d,\n  "checks": [\n' "$(date -u +%F)" "$build_s"
  printf '    %s' "${checks[0]}"
  printf ',\n    %s' "${checks[@]:1}"
  printf '\n  ],\n  "benches": ['
  if [ ${#benches[@]} -gt 0 ]; then
    printf '\n    %s' "${benches[0]}"
    [ ${#benches[@]} -eq 1 ] || printf ',\n    %s' "${benches[@]:1}"
  fi
  printf '\n  ]\n}\n'
} >"$results/gpu_checks.json"
cat "$results/gpu_checks.json"
exit $failed
