#!/usr/bin/env python3
"""Measures the figures of the README on this machine and writes them as JSON under bench/results/.

Usage: scripts/bench_cpu.py [--out FILE] [--runs N] [--only NAME,...] [--blst DIR]
Names: digest-32g, setup-2k, prove-2k, verify-2k, winning-32g, witness-2k, witness-32g, compile-32g, input-32g, blst. Each
figure is the median of N runs (digest-32g, setup-2k and winning-32g are run once unless named by --only). Run it on a quiet
machine: it says how busy the machine was. With --blst, a built blst (its folder), the comparison of bench/ runs too. Without
it everything takes five to eight minutes on two cores, once built.
"""
import argparse
import datetime
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
CUZK = BUILD / "bin" / "cuzk"
C1 = ROOT / "tests" / "golden" / "c1-2kib.json"
SEED = "00" * 31 + "01"


def chip():
    fields = {}
    for line in open("/proc/cpuinfo"):
        if ":" in line:
            key, value = line.split(":", 1)
            fields.setdefault(key.strip(), value.strip())
    flags = fields.get("flags", "").split()
    return {
        "model": fields.get("model name", "unknown"), "family_model_stepping":
        "/".join(fields.get(key, "?") for key in ("cpu family", "model", "stepping")),
        "mhz": float(fields.get("cpu MHz", 0)), "cores": len(os.sched_getaffinity(0)),
        "features": [flag for flag in ("adx", "bmi2", "avx2", "avx512f", "avx512ifma", "sha_ni") if flag in flags],
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    }


def commit():
    text = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout
    changed = subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no"],
                             capture_output=True, text=True).stdout
    return text.strip() + ("+changes" if changed.strip() else "")


def run(arguments):
    """(parsed --json of the command, measured from outside: wall seconds, CPU seconds, peak resident bytes)"""
    start = time.monotonic()
    environment = {**os.environ, "CUZK_CACHE_DIR": str(BUILD / "circuits")}
    process = subprocess.Popen([str(CUZK), *map(str, arguments), "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"cuzk {' '.join(map(str, arguments))} failed: {output.decode()[-2000:]}")
    return json.loads(output), {"wall_seconds": round(wall, 4), "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 4),
                                "peak_rss_bytes": usage.ru_maxrss * 1024}


def stages_of(result):
    return {stage["name"]: stage["seconds"] for stage in result["stages"]}


def median_of(samples):
    """Key by key; samples are flat or nested dictionaries of numbers."""
    out = {}
    for key, value in samples[0].items():
        values = [sample[key] for sample in samples]
        out[key] = median_of(values) if isinstance(value, dict) else round(statistics.median(values), 6)
    return out


def digest_32g(_):
    result, measured = run(["circuit", "digest", "porep-32g"])
    expected = "00c8d133cb5e24480e19e32a22060aa22e5ed5c9a2e42c09270a58f91a78365f"
    if result["digest"] != expected:
        sys.exit("the digest of porep-32g is wrong")
    return {**measured, "digest": result["digest"]}


def setup_2k(folder):
    result, measured = run(["setup", "--circuit", "porep-2k", "--dir", folder, "--seed", SEED, "--force"])
    return {**measured, "stages": stages_of(result)}


def prove_2k(folder):
    result, measured = run(["prove", "--kind", "porep", "--input", C1, "--dir", folder, "--out", Path(folder) / "proof.bin"])
    stages = stages_of(result)
    loading = sum(stages.get(name, 0) for name in
                  ("compiling the circuit", "keeping the circuit", "loading the circuit", "verifying key", "parameters"))
    return {**measured, "seconds_with_circuit_and_parameters_loaded": round(result["seconds"] - loading, 4), "stages": stages}


def verify_2k(folder):
    result, measured = run(["verify", "--kind", "porep", "--input", C1, "--dir", folder, "--proof",
                            Path(folder) / "proof.bin"])
    return {**measured, "stages": stages_of(result)}


def google_benchmark(target, pattern):
    binary = next(BUILD.glob(f"src/*/{target}"))
    text = subprocess.run([str(binary), f"--benchmark_filter={pattern}", "--benchmark_format=json",
                           "--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true"],
                          capture_output=True, text=True, check=True).stdout
    return {b["run_name"]: {"real": round(b["real_time"], 4), "cpu": round(b["cpu_time"], 4), "unit": b["time_unit"]}
            for b in json.loads(text)["benchmarks"] if b["aggregate_name"] == "median"}


def plan(circuit, work, folder):
    """What `cuzk plan` says at this moment."""
    said = run(["plan", "--circuit", circuit, "--for", work, "--dir", folder])[0]
    return {"peak_bytes": said["peak_bytes"], "seconds": said["estimated_seconds"],
            "cpu_seconds": said["estimated_cpu_seconds"]}


def winning_32g(folder):
    """Setup, proof and verification of Winning PoSt at 32 GiB, each beside what plan said of it."""
    vanilla = Path(folder) / "winning.json"
    made = run(["bench", "gen-vanilla", "winning-post", "--registered-proof", 3, "--synthetic", "-o", vanilla])[0]
    request = shlex.split(made["prove_command"])[2:]
    for option in ("--dir", "--out"):
        if option in request:
            del request[request.index(option):request.index(option) + 2]
    proof = Path(folder) / "winning.bin"
    out = {"setup": {"plan": plan("winning-32g", "setup", folder)}, "prove": {}, "verify": {}}
    result, measured = run(["setup", "--circuit", "winning-32g", "--dir", folder, "--seed", SEED, "--force"])
    out["setup"].update({**measured, "stages": stages_of(result)})
    out["prove"]["plan"] = plan("winning-32g", "prove", folder)
    result, measured = run(["prove", *request, "--dir", folder, "--out", proof])
    out["prove"].update({**measured, "stages": stages_of(result)})
    out["verify"] = run(["verify", *request, "--dir", folder, "--proof", proof])[1]
    return out


# Packed witness of one partition (PoSt: of one request): the bench, and the benchmark in it.
WITNESSES = {"porep-32g": ("cuzk_filecoin_bench", "packed_witness_32g$"),
             "snap-32g": ("cuzk_filecoin_bench", "snap_witness_32g$"),
             "window-32g": ("cuzk_filecoin_bench", "witness/window_32g/"),
             "window-32g, hashes of the check kept": ("cuzk_filecoin_bench", "witness/window_32g_hashes_known"),
             "winning-32g": ("cuzk_filecoin_bench", "witness/winning_32g$"),
             "winning-32g, hashes of the check kept": ("cuzk_filecoin_bench", "witness/winning_32g_hashes_known")}

# Structure of one partition, compiled.
COMPILATIONS = {name: ("cuzk_filecoin_bench", f"compile/{name.replace('-', '_')}$")
                for name in ("porep-32g", "snap-32g", "window-32g")}


def on_one_core(target, pattern, repetitions):
    """One benchmark in a process of its own, on one core: median times, its counters, the process's peak memory with the
    input's included."""
    binary = next(BUILD.glob(f"src/*/{target}"))
    cores = sorted(os.sched_getaffinity(0))
    process = subprocess.Popen([str(binary), f"--benchmark_filter={pattern}", "--benchmark_format=json",
                                f"--benchmark_repetitions={repetitions}"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores[-1:]))
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{target} {pattern} failed")
    samples = [b for b in json.loads(text)["benchmarks"] if b["run_type"] == "iteration"]
    out = {key: round(statistics.median(b[key] for b in samples), 3) for key in ("real_time", "cpu_time")}
    out["unit"] = samples[0]["time_unit"]
    if "bytes" in samples[0]:
        out["witness_bytes"] = int(samples[0]["bytes"])
    return {**out, "process_peak_rss_bytes": usage.ru_maxrss * 1024}


def blst(directory):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([str(next(BUILD.glob("**/cuzk_blst_compare"))), f"--json={out.name}"], check=True)
        return json.load(open(out.name))


def build(blst_directory):
    subprocess.run([str(ROOT / "scripts/setup.sh"), "build", "bench"], check=True)
    options = [f"-DCUZK_BLST_DIR={blst_directory}"] if blst_directory else []
    subprocess.run(["cmake", "--preset", "bench", *options], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(BUILD)], cwd=ROOT, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--blst", type=Path)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    build(options.blst)
    results = {}

    def measure(name, once, function):
        if only and name not in only:
            return
        print(f"{name} ...", file=sys.stderr, flush=True)
        samples = [function() for _ in range(1 if once and not only else options.runs)]
        texts = {k: v for k, v in samples[0].items() if isinstance(v, str)}
        numbers = [{k: v for k, v in s.items() if not isinstance(v, str)} for s in samples]
        results[name] = {"runs": len(samples), **median_of(numbers), **texts}

    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-") as folder:
        needs_params = not only or only & {"setup-2k", "prove-2k", "verify-2k"}
        if needs_params:
            first = setup_2k(folder)
            measure("setup-2k", True, lambda: first if not only else setup_2k(folder))
            prove_2k(folder)  # warms the page cache
        measure("prove-2k", False, lambda: prove_2k(folder))
        measure("verify-2k", False, lambda: verify_2k(folder))
        measure("winning-32g", True, lambda: winning_32g(folder))
    for name, target, pattern in (("witness-2k", "cuzk_filecoin_bench", "packed_witness_2k"),
                                  ("input-32g", "cuzk_format_bench", "read_.*_32g")):
        if not only or name in only:
            print(f"{name} ...", file=sys.stderr, flush=True)
            results[name] = google_benchmark(target, pattern)
    for name, benches in (("witness-32g", WITNESSES), ("compile-32g", COMPILATIONS)):
        if not only or name in only:
            print(f"{name} ...", file=sys.stderr, flush=True)
            results[name] = {circuit: on_one_core(*bench, options.runs) for circuit, bench in benches.items()}
    measure("digest-32g", True, lambda: digest_32g(None))
    if options.blst and (not only or "blst" in only):
        results["blst"] = blst(options.blst)

    now = datetime.datetime.now(datetime.timezone.utc)
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    document = {"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(), "chip": chip(), "compiler": f"g++ {compiler}",
                "load_before": load_before, "results": results}
    out = options.out or ROOT / "bench" / "results" / f"cpu-{now.strftime('%Y-%m-%d')}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=2) + "\n")
    print(out)


if __name__ == "__main__":
    sys.exit(main())
