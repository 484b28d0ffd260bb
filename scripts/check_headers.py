#!/usr/bin/env python3
"""Compiles every header of src/ and apps/ alone: each includes what it uses and is guarded.

Usage: check_headers.py [--compiler g++] [--jobs N] [--cache DIR] [--skip FOLDER]... [ROOT] [-- extra compiler flags]
With --cache, a header whose preprocessed text was seen to compile before is not compiled again. --skip leaves out the
headers of a folder under src/ or apps/, for a build that lacks its libraries.
"""
import argparse
import concurrent.futures
import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path


def flags_of(root):
    folders = [f"-I{root / folder}" for folder in ("src", "apps", "tests")]
    return ["-std=c++20", '-DCUZK_GOLDEN_DIR=""', "-Wall", "-Wextra", "-Wno-missing-field-initializers", *folders]


def check(compiler, flags, header, cache):
    """None where the header compiles alone, else the compiler's words."""
    # Twice, so that a header without a guard is found out.
    unit = f'#include "{header}"\n#include "{header}"\n'
    key = None
    if cache:
        text = subprocess.run([compiler, *flags, "-E", "-P", "-x", "c++", "-"], input=unit, capture_output=True, text=True)
        if text.returncode != 0:
            return text.stderr
        key = cache / hashlib.sha256((shlex.join([compiler, *flags]) + text.stdout).encode()).hexdigest()
        if key.exists():
            return None
    run = subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=unit, capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr
    if key:
        key.touch()
    return None


def main():
    arguments = sys.argv[1:]
    extra = []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, extra = arguments[:split], arguments[split + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    headers = sorted(p.relative_to(root / "src") for p in (root / "src").rglob("*.hpp"))
    headers += sorted(p.relative_to(root / "apps") for p in (root / "apps").rglob("*.hpp"))
    headers = [h for h in headers if not any(h.is_relative_to(folder) for folder in options.skip)]
    # gtest and the like are there wherever the tests are built; format/ needs simdjson, as its module does.
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(check, options.compiler, flags_of(root) + extra, str(h), options.cache) for h in headers]
        for header, result in zip(headers, work):
            if result.result() is not None:
                failures += 1
                print(f"{header} does not compile alone:\n{result.result()}")
    print(f"{len(headers)} headers, {failures} do not compile alone")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
