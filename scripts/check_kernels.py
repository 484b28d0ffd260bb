#!/usr/bin/env python3
"""Reads what ptxas says of each kernel and checks that none spills more registers than is allowed to it.

Usage: scripts/check_kernels.py LOG [--allow FILE] [--compiled 75,90,...] [--spills 90,...]
LOG: the output of a build with -DCUZK_KERNEL_REPORT=ON. FILE (default: cmake/kernel_spills.txt) has lines
"BYTES KERNEL # reason": KERNEL is found in the mangled name, BYTES are those stored for registers that did not fit.
--compiled: architectures that there must be kernels for. --spills: those where spills count (default: all).
"""
import argparse
import re
import sys
from pathlib import Path

COMPILING = re.compile(r"Compiling entry function '(\S+)' for '(sm_\d+\w*)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def kernels(text):
    """(name, architecture, bytes of spill stores, registers) of every kernel that a log names."""
    found = {}
    current = None
    for line in text.splitlines():
        if match := COMPILING.search(line):
            current = match.groups()
            found[current] = [0, 0]
        elif current and (match := SPILLS.search(line)):
            found[current][0] = max(found[current][0], int(match.group(2)))
        elif current and (match := REGISTERS.search(line)):
            found[current][1] = int(match.group(1))
            current = None
    return [(name, architecture, *numbers) for (name, architecture), numbers in found.items()]


def allowances(text):
    """(bytes, part of a kernel's name) of each line."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        line, _, reason = line.partition("#")
        if not line.strip():
            continue
        if not reason.strip():
            raise SystemExit(f"line {number}: an allowance needs a reason")
        allowed, kernel = line.split()
        out.append((int(allowed), kernel))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--allow", type=Path, default=Path(__file__).resolve().parents[1] / "cmake/kernel_spills.txt")
    parser.add_argument("--compiled", default="")
    parser.add_argument("--spills", default="")
    arguments = parser.parse_args()
    found = kernels(arguments.log.read_text(errors="replace"))
    rules = allowances(arguments.allow.read_text())
    counted = {f"sm_{number}" for number in arguments.spills.split(",") if number}
    findings = []
    for name, architecture, spilled, registers in sorted(found):
        allowed = max((size for size, part in rules if part in name), default=0)
        if spilled > allowed and (not counted or architecture in counted):
            findings.append(f"{name} for {architecture}: {spilled} bytes spilled with {registers} registers,"
                            f" {allowed} allowed")
    for number in filter(None, arguments.compiled.split(",")):
        if not any(kernel[1] == f"sm_{number}" for kernel in found):
            findings.append(f"no kernel was compiled for sm_{number}")
    if not found:
        findings.append("the log names no kernel")
    print("\n".join(findings + [f"{len(found)} kernels, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
