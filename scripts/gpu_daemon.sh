#!/usr/bin/env bash
# The product on the GPUs of this machine: parameters, proofs and the daemon with a worker process a GPU; workers that are
# killed and contexts that are lost in the middle of work; where there are several GPUs, the choice of some. Every proof
# is verified by the client.
#
# Usage: scripts/gpu_daemon.sh --cuzk PROGRAM [OPTION ...]
#   --cuzk PROGRAM   built with CUZK_CUDA
#   --results DIR    where gpu-daemon-CHIP-DATE.json goes (default: build/gpu-results)
#   --commit NAME    that the file names (default: the checkout's)
#   --work DIR       for parameters and inputs, kept (default: a temporary folder)
#   --only LIST      of small,faults,choice,groups,porep-32g,window-32g,snap-32g (default: small,faults,choice); groups
#                    (partitions proved together) need 5 GB in the folder, the large kinds 50 GB and 110 GB on the GPU each
# Exit status 1 where something failed.
set -euo pipefail
cuzk="" results="" commit="" work="" only=small,faults,choice
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || { echo "gpu_daemon.sh: $1 needs a value" >&2; exit 2; }
  case "$1" in
    --cuzk) cuzk="$(realpath "$2")" ;;
    --results) mkdir -p "$2" && results="$(realpath "$2")" ;;
    --commit) commit="$2" ;;
    --work) mkdir -p "$2" && work="$(realpath "$2")" ;;
    --only) only="$2" ;;
    *) echo "gpu_daemon.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift 2
done
[ -n "$cuzk" ] || { echo "gpu_daemon.sh: --cuzk is needed" >&2; exit 2; }
cd "$(dirname "$0")/.."
if [ -z "$results" ]; then
  mkdir -p build/gpu-results
  results="$(realpath build/gpu-results)"
fi
[ -n "$commit" ] || commit="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
temporary="$(mktemp -d)"
[ -n "$work" ] || work="$temporary"
export FIL_PROOFS_PARAMETER_CACHE="$work/params" CUZK_CACHE_DIR="$work/cache" CUZK_ADDRESS="unix://$temporary/s"
export CUZK_SRS_CHECK_DIGESTS=false  # the parameters are our own
mkdir -p "$work/params" "$work/cache"
daemon="" failed=0
trap '[ -z "$daemon" ] || kill -9 "$daemon" 2>/dev/null || true; rm -rf "$temporary"' EXIT

wants() { [[ ",$only," == *",$1,"* ]]; }
say() { printf '== %4d s  %s\n' "$SECONDS" "$*"; }

# step NAME COMMAND ...: runs it; what a bench says in JSON goes into the results, without the proofs.
step() {
  local name="$1" status=0 begin line
  shift
  begin=$(date +%s%3N)
  "$@" >"$temporary/out" 2>"$temporary/err" || status=$?
  line=""
  if [[ "$name" =~ ^(single|batch|memory) ]]; then
    line="$(tr -d '\n' <"$temporary/out" | tr -s ' ' | sed -E 's/"proof": "[0-9a-f]*", //g')"
    [[ "$line" == "{"*"}" ]] || line=""
  fi
  printf '{"step": "%s", "status": %d, "milliseconds": %d%s}\n' "$name" "$status" $(($(date +%s%3N) - begin)) \
    "${line:+, \"said\": $line}" | tee -a "$temporary/lines" | cut -c 1-300
  [ "$status" -eq 0 ] && return
  failed=1
  tail -n 15 "$temporary/err" "$temporary/out"
}

start() {
  rm -rf "$temporary/state"
  "$cuzk" serve --daemon.listen "$CUZK_ADDRESS" --daemon.state_directory "$temporary/state" "$@" \
    >"$temporary/serve.log" 2>&1 &
  daemon=$!
  step "ready" "$cuzk" status --wait-ready 60s
}
stop() {
  kill -TERM "$daemon"
  step "$1" wait "$daemon"
  daemon=""
}
metric() { "$cuzk" metrics | sed -n "s/^$1 //p"; }
is() { # is NAME METRIC VALUE
  local value
  value="$(metric "$2")"
  step "$1: $2 is ${value:-absent}" test "${value:-absent}" = "$3"
}
# The most host memory that the daemon and its workers have had, and the device memory in use now.
memory() {
  local pid out=""
  for pid in "$daemon" $(pgrep -P "$daemon"); do
    out+="${out:+, }$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")"
  done
  printf '{"peak_host_kib": [%s], "device_mib": [%s]}' "$out" \
    "$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | paste -s -d ,)"
}
worker_of() { pgrep -P "$daemon" | sed -n "$(($1 + 1))p"; }

# Inputs and parameters of a circuit; sets `request`.
prepare() {
  local kind="${1%-*}" proof
  local input="$work/$1.json"
  case "$1" in
    porep-2k) proof=5 ;; porep-32g) proof=8 ;;
    winning-2k) proof=0 ;; winning-32g) proof=3 ;;
    window-2k) proof=10 ;; window-32g) proof=13 ;;
    snap-2k) proof=0 ;; snap-8m) proof=1 ;; snap-32g) proof=3 ;;
  esac
  [ -e "$work/$1.made" ] || step "setup $1" "$cuzk" setup --circuit "$1" --seed "$(printf '07%.0s' {1..32})" --json
  touch "$work/$1.made"
  local make=porep more=()
  case "$kind" in
    winning) make=winning-post ;;
    window) make=window-post ;;
    snap) make=snap-prove ;;
  esac
  [ "$1" != window-32g ] || more=(--sectors 2349)
  [ -e "$input" ] || step "input $1" "$cuzk" bench gen-vanilla "$make" --synthetic --registered-proof "$proof" \
    "${more[@]}" -o "$input" --json
  [ -e "$input.said" ] || cp "$temporary/out" "$input.said"
  local said
  said="$(tr -d '\n' <"$input.said")"
  field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$said"; }
  request=(--type "$kind" --registered-proof "$proof")
  case "$kind" in
    porep) request=(--type porep --c1 "$input") ;;
    snap) request+=(--vanilla "$input" --comm-r-old "$(field comm_r_old)" --comm-r-new "$(field comm_r_new)"
      --comm-d-new "$(field comm_d_new)") ;;
    *) request+=(--vanilla "$input" --randomness "$(field randomness)") ;;
  esac
}
batch() { step "batch $1 of $2, $3 at once" "$cuzk" bench batch "${request[@]}" --count "$2" -j "$3" --json; }

mapfile -t uuids < <(nvidia-smi --query-gpu=uuid --format=csv,noheader)
gpus=${#uuids[@]}
chip="$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
short_chip="$(printf '%s' "${chip##* }" | tr '[:upper:]' '[:lower:]')"
say "$gpus GPUs"

if wants small; then
  start
  for circuit in winning-2k window-2k snap-2k porep-2k winning-32g; do
    prepare "$circuit"
    step "single $circuit" "$cuzk" bench single "${request[@]}" --json
    batch "$circuit" 16 8
  done
  prepare porep-2k
  batch porep-2k 48 12
  for ((g = 0; g < gpus; ++g)); do
    step "GPU $g has proved" grep -q "TIMELINE,.*GPU_END,.*worker=$g" "$temporary/serve.log"
  done
  stop "SIGTERM while idle"
fi

if wants faults; then
  prepare porep-2k
  for ((g = 0; g < gpus; ++g)); do
    start
    "$cuzk" preload porep-2k >/dev/null
    (
      sleep 0.3
      kill -9 "$(worker_of "$g")"
    ) &
    batch "porep-2k over a kill -9 of worker $g" 32 8
    is "worker $g killed" cuzk_device_faults_total 1
    is "worker $g killed" cuzk_proofs_failed_total 0
    stop "SIGTERM after the kill"
  done
  # The first task loads; the fourth loses the context by a trap on the device, which no later call survives.
  start --worker-faults trap@4 --worker-faulty-processes 1
  batch "porep-2k over a lost context" 32 8
  is "context lost" cuzk_device_faults_total "$gpus"  # the first process of each
  is "context lost" cuzk_proofs_failed_total 0
  stop "SIGTERM after the lost context"
fi

if wants choice; then
  prepare winning-2k
  last=$((gpus - 1))
  start --gpus.devices "$last"
  step "one device by number" test "$("$cuzk" metrics | grep -c '^cuzk_device_up')" -eq 1
  batch winning-2k 4 2
  stop "SIGTERM"
  start --gpus.devices "${uuids[last]}"
  step "one device by UUID" grep -q "${uuids[last]}" <("$cuzk" status --json)
  batch winning-2k 4 2
  stop "SIGTERM"
  export CUDA_VISIBLE_DEVICES=$last
  start
  step "one device by CUDA_VISIBLE_DEVICES" test "$("$cuzk" metrics | grep -c '^cuzk_device_up')" -eq 1
  batch winning-2k 4 2
  stop "SIGTERM"
  unset CUDA_VISIBLE_DEVICES
  step "a device that is not there is refused" bash -c "! '$cuzk' serve --gpus.devices $gpus 2>'$temporary/refused'"
fi

# Of one job: the same moment of the log.
together() {
  grep -h "TIMELINE,.*GPU_START" "$temporary/serve.log" | cut -d, -f2,4 | sort | uniq -c |
    awk -v most="$1" '$1 >= most {found = 1} END {exit !found}'
}
alone() { ! together 2; }
both_loaded() {
  start "$@"
  step "preload snap-8m" "$cuzk" preload snap-8m --json
  step "preload winning-2k" "$cuzk" preload winning-2k --json
}
if wants groups; then
  prepare winning-2k
  winning=("${request[@]}")
  prepare snap-8m  # four partitions
  both_loaded --gpus.max_group 1
  batch snap-8m 6 3
  step "one partition at a time" alone
  stop "SIGTERM after single partitions"
  both_loaded
  batch snap-8m 6 3
  step "partitions are proved together" together 2
  "$cuzk" bench batch "${request[@]}" --count 24 -j 6 --json >"$temporary/within" 2>&1 &
  within=$!
  sleep 1
  for k in 1 2 3 4 5 6 7 8; do
    step "Winning PoSt $k within the batch" "$cuzk" bench single "${winning[@]}" --json
    sleep "0.1$k"
  done
  step "the batch with Winning PoSts within" wait "$within"
  is "Winning PoSts" cuzk_proofs_failed_total 0
  is "Winning PoSts" cuzk_device_faults_total 0
  stop "SIGTERM after the groups"
  both_loaded
  (
    sleep 0.5
    kill -9 "$(worker_of 0)"
  ) &
  batch snap-8m 8 4
  is "a group's worker killed" cuzk_device_faults_total 1
  is "a group's worker killed" cuzk_proofs_failed_total 0
  stop "SIGTERM after the kill in a group"
fi

for circuit in porep-32g window-32g snap-32g; do
  wants "$circuit" || continue
  say "$circuit"
  prepare "$circuit"
  start
  step "preload $circuit" "$cuzk" preload "$circuit" --json
  step "single $circuit" "$cuzk" bench single "${request[@]}" --json
  [ "$circuit" = snap-32g ] || batch "$circuit" 3 2
  step "memory of $circuit" memory
  grep -h TIMELINE "$temporary/serve.log" | tail -n 40 >"$results/timeline-$circuit.txt" || true
  "$cuzk" metrics >"$results/metrics-$circuit.txt"
  stop "SIGTERM"
  rm -rf "$work/params" && mkdir "$work/params"
  rm -f "$work"/*.made
done

{
  printf '{\n  "chip": "%s",\n  "gpus": %d,\n  "commit": "%s",\n  "date": "%s",\n  "results": [\n' "$chip" "$gpus" \
    "$commit" "$(date -u +%F)"
  sed -e 's/^/    /' -e '$!s/$/,/' "$temporary/lines"
  printf '  ]\n}\n'
} >"$results/gpu-daemon-$short_chip-$(date -u +%F).json"
say "done, $(grep -c '"status": 0,' "$temporary/lines") of $(wc -l <"$temporary/lines") steps right"
exit $failed
