#!/usr/bin/env python3
"""Runs spin over models/daemon.pml.

Usage: check.py             the model must hold
       check.py --faults    also with memory for one job at a time; and each of its deliberate faults must be found
       check.py -D...       one variant; where it fails, how it came to that is printed

Exit status 77 where spin or a C compiler is missing.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "daemon.pml"
ONE_AT_A_TIME = ["-DREQUEST=2", "-DTOTAL=9"]  # memory for one job beside one request
# With what is found there: an assertion, or somebody who waits for ever.
FAULTS = [
    (["-DBREAK_ATTACH"], "assertion violated"),
    (["-DBREAK_ANSWER_BEFORE_JOURNAL"], "assertion violated"),
    (["-DBREAK_ACCEPTED_WHILE_DRAINING"], "assertion violated"),
    (["-DBREAK_DRAIN_CANCELS_ALL"], "assertion violated"),
    (["-DBREAK_NOTHING_IS_GIVEN_UP"], "invalid end state"),
    (["-DBREAK_WITNESSES_STAY"], "invalid end state"),
    (ONE_AT_A_TIME + ["-DBREAK_REQUESTS_FILL_MEMORY"], "invalid end state"),
]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
    return done.stdout + done.stderr, done.returncode


def check(options, compiler, trail=False):
    """What spin says: (states, None) where the model holds, else (states, the finding)."""
    with tempfile.TemporaryDirectory() as folder:
        out, status = run(["spin", "-a", *options, str(MODEL)], folder)
        if status != 0 or not (Path(folder) / "pan.c").exists():
            sys.exit(f"spin refuses the model:\n{out}")
        # Optimising the verifier takes minutes, running it without some seconds.
        out, status = run([compiler, "-O0", "-w", "-DSAFETY", "-DVECTORSZ=2048", "-o", "pan", "pan.c"], folder)
        if status != 0:
            sys.exit(f"the verifier does not compile:\n{out}")
        out, _ = run(["./pan", "-m200000", "-n", "-w22"], folder)
        states = re.search(r"(\d+) states, stored", out)
        finding = re.search(r"^pan:\d+: (.*)$", out, re.M)
        complete = states and "errors: 0" in out and not re.search(r"max search depth too small|out of memory", out)
        if finding and trail:
            print(run(["spin", "-t", "-p", *options, str(MODEL)], folder)[0])
        if not finding and not complete:
            sys.exit(f"the search is not complete:\n{out}")
        return int(states.group(1)), finding.group(1) if finding else None


def main():
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not shutil.which("spin") or not compiler:
        print("spin or a C compiler is missing")
        return 77
    if sys.argv[1:] != ["--faults"]:
        states, finding = check(sys.argv[1:], compiler, trail=True)
        print(f"{states} states, {finding or 'holds'}")
        return 1 if finding else 0
    states, finding = check(ONE_AT_A_TIME, compiler, trail=True)
    print(f"{' '.join(ONE_AT_A_TIME)}: {states} states, {finding or 'holds'}")
    failed = finding is not None
    for options, expected in FAULTS:
        states, finding = check(options, compiler)
        found = finding is not None and finding.startswith(expected)
        print(f"{' '.join(options)}: {'found' if found else 'NOT FOUND'} ({(finding or 'holds')[:60]})")
        failed |= not found
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
