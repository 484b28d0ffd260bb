#!/usr/bin/env python3
"""Each header of src/ and apps/ compiles alone, that is includes what it uses, and is guarded.

Usage: check_headers.py [--compiler g++] [--jobs N] [--cache DIR] [--built BUILD] [--skip FOLDER]... [ROOT]
                        [-- extra compiler flags]
With --built, a header that an object in that build folder has compiled first of all is not compiled again: what stands
first in a source file had nothing before it, and so had what stands first in such a header. An object counts where it is
newer than its source and than those headers. With --cache, neither is a header that compiled with the same files before.
--skip leaves out the headers of a folder under src/ or apps/, for a build that lacks its libraries.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = ("src", "apps")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def flags_of(root):
    folders = [f"-I{root / folder}" for folder in (*FOLDERS, "tests")]
    return ["-std=c++20", '-DCUZK_GOLDEN_DIR=""', "-Wall", "-Wextra", "-Wno-missing-field-initializers", *folders]


def directives(path):
    """The lines of a file that are neither blank nor comment."""
    return [line.strip() for line in COMMENT.sub("", path.read_text()).splitlines() if line.strip()]


def first_include(path):
    """What the file includes before anything else, as it is written there; None where it begins otherwise."""
    for line in directives(path):
        if line != "#pragma once":
            found = re.fullmatch(r'#\s*include\s*["<]([^">]+)[">]', line)
            return found.group(1) if found else None
    return None


def compiled_first(build, headers):
    """Names of the headers that some object of the build folder had first; headers: name to path."""
    found = set()
    commands = build / "compile_commands.json"
    for entry in json.loads(commands.read_text()) if commands.exists() else []:
        words = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
        source = Path(entry["file"])
        output = Path(entry["directory"]) / words[words.index("-o") + 1] if "-o" in words else None
        if source.suffix != ".cpp" or output is None or not output.exists() or not source.exists():
            continue
        made = output.stat().st_mtime
        path = source
        while path.stat().st_mtime <= made:
            name = first_include(path)
            if name not in headers or name in found:
                break
            path = headers[name]
            if path.stat().st_mtime <= made:
                found.add(name)
    return found


@functools.lru_cache(maxsize=None)
def digest(path):
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def unchanged(record):
    """Whether a record of the cache names files that are still as they were."""
    try:
        return all(digest(path) == value for path, value in json.loads(record.read_text()).items())
    except (OSError, ValueError):
        return False


def check(compiler, flags, header, cache):
    """None where the header compiles alone, else the compiler's words."""
    command = [compiler, *flags, "-fsyntax-only", "-x", "c++", "-"]
    record = cache / hashlib.sha256(shlex.join([*command, header]).encode()).hexdigest() if cache else None
    if record and unchanged(record):
        return None
    with tempfile.TemporaryDirectory() as folder:
        rule = Path(folder) / "rule"
        run = subprocess.run([*command, "-MD", "-MF", rule, "-MT", "x"], input=f'#include "{header}"\n',
                             capture_output=True, text=True)
        if run.returncode != 0:
            return run.stderr
        if record:
            files = rule.read_text().replace("\\\n", " ").split()[1:]
            record.write_text(json.dumps({path: digest(path) for path in files if path != "-"}))
    return None


def arguments_of(command_line):
    extra = []
    if "--" in command_line:
        split = command_line.index("--")
        command_line, extra = command_line[:split], command_line[split + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--built", type=Path)
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    return parser.parse_args(command_line), extra


def main():
    options, extra = arguments_of(sys.argv[1:])
    root = options.root.resolve()
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    headers = {}
    for folder in FOLDERS:
        headers |= {str(p.relative_to(root / folder)): p for p in sorted((root / folder).rglob("*.hpp"))}
    headers = {name: path for name, path in headers.items() if not any(Path(name).is_relative_to(s) for s in options.skip)}
    bad = set()
    for name, path in headers.items():
        if directives(path)[:1] != ["#pragma once"]:
            bad.add(name)
            print(f"{name} does not begin with #pragma once")
    built = compiled_first(options.built, headers) if options.built else set()
    # gtest and the like are there wherever the tests are built; format/ needs simdjson, as its module does.
    flags = flags_of(root) + extra
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = {name: pool.submit(check, options.compiler, flags, name, options.cache) for name in headers if name not in built}
        for name, result in work.items():
            if result.result() is not None:
                bad.add(name)
                print(f"{name} does not compile alone:\n{result.result()}")
    known = f" ({len(built)} known from {options.built})" if built else ""
    print(f"{len(headers)} headers{known}, {len(bad)} do not compile alone")
    return 1 if bad or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
