#!/usr/bin/env python3
"""Checks that includes go downwards only (docs/adr/0002-layers-checked-by-script.md).

  1. A file of a module includes its own module and those that its cuzk_module() names; a named module lies in a lower
     layer or in the same one, and the modules of one layer do not depend on each other in a circle.
  2. L0-L3 except format/ include the standard library, POSIX and compiler intrinsics only; parallel/ also oneTBB.
  3. .cu and .cuh files include modules of L0-L2 only.
  4. Nothing in src/ reads the environment, and nothing outside tests and benches prints.

Usage: check_includes.py [ROOT]; exit status 1 and one line a finding where a rule is broken.
"""
import re
import sys
from pathlib import Path

LAYERS = [
    ["base", "parallel"],
    ["field", "curve", "pairing", "hash"],
    ["gpu", "ntt", "msm", "matrix"],
    ["circuit", "filecoin", "format", "srs", "groth16"],
    ["budget", "residency", "queue", "worker", "engine"],
    ["telemetry", "config", "server", "client", "fleet"],
]
LAYER_OF = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}
LIBRARY_FREE_LAYERS = 3  # L0..L3

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list fstream functional future
initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex
new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span sstream stack stdexcept stop_token streambuf string string_view strstream syncstream
system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
version
assert.h errno.h fcntl.h inttypes.h limits.h sched.h signal.h stddef.h stdint.h stdio.h stdlib.h string.h time.h
unistd.h sys/mman.h sys/random.h sys/resource.h sys/stat.h sys/types.h sys/uio.h sys/wait.h
immintrin.h x86intrin.h cpuid.h arm_neon.h
""".split())
TBB = re.compile(r"(tbb|oneapi/tbb)(/|\.h$)")
CUDA = re.compile(r"(cuda|cub|thrust|nvtx3)[/_.]|cuda_runtime\.h|cuda_runtime_api\.h|nvml\.h|dlfcn\.h")
TEST_LIBRARIES = re.compile(r"(gtest|gmock|rapidcheck|benchmark)(/|\.h$)")
SOURCE_SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
TEST_FILE = re.compile(r"_(test|bench|fuzz|check)\.(cpp|cu)$|_test_\w+\.(hpp|cpp|cuh)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ENVIRONMENT = re.compile(r"\b(getenv|secure_getenv|setenv|putenv)\s*\(|\benviron\b")
PRINTING = re.compile(r"\bstd::(cout|cerr|clog)\b|\b(printf|fprintf|puts|fputs|putchar|perror)\s*\(")
PRINTING_ALLOWED = {"src/base/assert.cpp"}  # the last words of a bug


def module_dependencies(root):
    """{module: set of modules named in its cuzk_module(), DEPENDS part}"""
    dependencies = {}
    for listing in sorted((root / "src").glob("*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", listing.read_text())
        for name, body in re.findall(r"cuzk_module\(\s*(\w+)([^)]*)\)", text):
            named = re.search(r"\bDEPENDS\b(.*?)(?:\bLIBRARIES\b|$)", body, re.S)
            dependencies.setdefault(name, set()).update(named.group(1).split() if named else [])
    return dependencies


def strip_comments(text):
    """The text without comments and string contents, line numbers kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: '""' if m.group(0)[0] == '"' else "\n" * m.group(0).count("\n"), text)


def check_modules(dependencies, complain):
    for module, named in dependencies.items():
        where = f"src/{module}/CMakeLists.txt"
        if module not in LAYER_OF:
            complain(where, 0, f"module '{module}' has no layer in scripts/check_includes.py")
            continue
        for other in sorted(named):
            if other not in LAYER_OF:
                complain(where, 0, f"'{other}' is no module")
            elif LAYER_OF[other] > LAYER_OF[module]:
                complain(where, 0, f"L{LAYER_OF[module]} {module} names L{LAYER_OF[other]} {other}: upwards")
        path, seen = [module], set()

        def visit(current):
            for other in sorted(dependencies.get(current, ())):
                if other == module:
                    complain(where, 0, "circle: " + " -> ".join(path + [other]))
                elif other not in seen:
                    seen.add(other)
                    path.append(other)
                    visit(other)
                    path.pop()

        visit(module)


def check_file(root, path, module, named, complain):
    where = str(path.relative_to(root))
    is_test = bool(TEST_FILE.search(path.name)) or "test_support" in path.parts
    text = path.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        if quote == '"':
            other = target.split("/")[0]
            if target.startswith("support/") and is_test:
                continue  # tests/support
            if not (root / "src" / target).is_file():
                complain(where, number, f'"{target}" is not a file under src/ (includes are relative to src/)')
            elif other != module and other not in named:
                complain(where, number, f"includes {other}/, which cuzk_module({module}) does not name")
            elif path.suffix in (".cu", ".cuh") and LAYER_OF.get(other, 9) > 2:
                complain(where, number, f"device code includes {other}/ of L{LAYER_OF.get(other)}")
            continue
        if target in STANDARD or (is_test and TEST_LIBRARIES.match(target)):
            continue
        if LAYER_OF[module] > LIBRARY_FREE_LAYERS or module == "format":
            continue
        if module == "parallel" and TBB.match(target):
            continue
        if (module == "gpu" or path.suffix in (".cu", ".cuh")) and CUDA.match(target):
            continue
        complain(where, number, f"<{target}> is no part of the standard library, which is all that {module}/ may use")
    for number, line in enumerate(strip_comments(text).splitlines(), 1):
        if ENVIRONMENT.search(line) and not is_test:
            complain(where, number, "reads or writes the environment: only apps/ may")
        if PRINTING.search(line) and not is_test and where not in PRINTING_ALLOWED:
            complain(where, number, "prints: the core reports through its results and base/progress.hpp")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    findings = []

    def complain(where, line, what):
        findings.append(f"{where}:{line}: {what}" if line else f"{where}: {what}")

    dependencies = module_dependencies(root)
    check_modules(dependencies, complain)
    files = 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SOURCE_SUFFIXES:
            continue
        module = path.relative_to(root / "src").parts[0]
        if module not in dependencies:
            complain(str(path.relative_to(root)), 0, f"src/{module}/ has no cuzk_module()")
            continue
        if module in LAYER_OF:
            files += 1
            check_file(root, path, module, dependencies[module], complain)
    if files == 0:
        findings.append(f"{root}/src: no source files found")
    for finding in findings:
        print(finding)
    print(f"{files} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
