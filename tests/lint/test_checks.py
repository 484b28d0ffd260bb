"""The static checks find what they are there to find: each rule is broken once in a small tree."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Tree(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        self.write("src/base/CMakeLists.txt", "cuzk_module(base)\n")
        self.write("src/base/a.hpp", "#pragma once\n#include <vector>\nstd::vector<int> f();\n")
        self.write("src/field/CMakeLists.txt", "cuzk_module(field DEPENDS base)\n")
        self.write("src/field/b.hpp", '#pragma once\n#include "base/a.hpp"\n')
        self.write("src/circuit/CMakeLists.txt", "cuzk_module(circuit DEPENDS base LIBRARIES Some::library)\n")
        self.write("src/circuit/c.hpp", "#pragma once\n")
        self.write("src/format/CMakeLists.txt", "cuzk_module(format DEPENDS base\n  circuit)\n")
        self.write("src/format/d.cpp", '#include <simdjson.h>\n#include "circuit/c.hpp"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_check(self, script, *arguments):
        run = subprocess.run([sys.executable, str(SCRIPTS / script), *arguments, str(self.root)],
                             capture_output=True, text=True)
        return run.returncode, run.stdout

    def assert_found(self, result, words):
        code, output = result
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)
        self.assertIn("1 findings", output)


class Includes(Tree):
    def check(self):
        return self.run_check("check_includes.py")

    def test_clean_tree_passes(self):
        code, output = self.check()
        self.assertEqual((code, output), (0, "4 files, 0 findings\n"))

    def test_upward_dependency(self):
        self.write("src/field/CMakeLists.txt", "cuzk_module(field DEPENDS base circuit)\n")
        self.assert_found(self.check(), "L1 field names L3 circuit: upwards")

    def test_unnamed_module(self):
        self.write("src/circuit/c.hpp", '#pragma once\n#include "field/b.hpp"\n')
        self.assert_found(self.check(), "src/circuit/c.hpp:2: includes field/, which cuzk_module(circuit) does not name")

    def test_library_is_no_dependency(self):
        self.write("src/circuit/CMakeLists.txt", "cuzk_module(circuit DEPENDS base LIBRARIES field)\n")
        self.write("src/circuit/c.hpp", '#pragma once\n#include "field/b.hpp"\n')
        self.assert_found(self.check(), "does not name")

    def test_circle_within_a_layer(self):
        self.write("src/circuit/CMakeLists.txt", "cuzk_module(circuit DEPENDS base format)\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("circle: circuit -> format -> circuit", output)

    def test_library_in_a_low_layer(self):
        self.write("src/field/b.hpp", "#pragma once\n#include <simdjson.h>\n")
        self.assert_found(self.check(), "<simdjson.h> is no part of the standard library")

    def test_tbb_belongs_to_parallel(self):
        self.write("src/field/b.hpp", "#pragma once\n#include <tbb/parallel_for.h>\n")
        self.assert_found(self.check(), "tbb/parallel_for.h")
        self.write("src/field/b.hpp", "#pragma once\n")
        self.write("src/parallel/CMakeLists.txt", "cuzk_module(parallel DEPENDS base)\n")
        self.write("src/parallel/p.cpp", "#include <tbb/parallel_for.h>\n")
        self.assertEqual(self.check()[0], 0)

    def test_device_code_of_the_upper_layers(self):
        self.write("src/format/e.cu", '#include "circuit/c.hpp"\n')
        self.assert_found(self.check(), "device code includes circuit/ of L3")

    def test_gtest_only_in_tests(self):
        self.write("src/field/b_test.cpp", "#include <gtest/gtest.h>\n")
        self.assertEqual(self.check()[0], 0)
        self.write("src/field/b.cpp", "#include <gtest/gtest.h>\n")
        self.assert_found(self.check(), "src/field/b.cpp:1")

    def test_path_that_does_not_exist(self):
        self.write("src/field/b.hpp", '#pragma once\n#include "a.hpp"\n')
        self.assert_found(self.check(), "is not a file under src/")

    def test_environment_and_printing(self):
        self.write("src/field/b.cpp", '#include <cstdlib>\nauto x = std::getenv("X");\n')
        self.assert_found(self.check(), "src/field/b.cpp:2: reads or writes the environment")
        self.write("src/field/b.cpp", '#include <cstdio>\nvoid f() {\n  std::printf("%d", 1);\n}\n')
        self.assert_found(self.check(), "src/field/b.cpp:3: prints")
        self.write("src/field/b.cpp", '// getenv("X") in a comment\nconst char* s = "printf(1)"; int snprintf(int);\n')
        self.assertEqual(self.check()[0], 0)

    def test_empty_tree_fails(self):
        for name in ("base/a.hpp", "field/b.hpp", "circuit/c.hpp", "format/d.cpp"):
            (self.root / "src" / name).unlink()
        self.assertEqual(self.check()[0], 1)


class Headers(Tree):
    def check(self, *more):
        return self.run_check("check_headers.py", "--cache", str(self.root / "cache"), *more)

    def test_clean_tree_passes(self):
        for _ in range(2):  # the second time from the cache
            self.assertEqual(self.check(), (0, "3 headers, 0 do not compile alone\n"))

    def test_missing_include(self):
        self.write("src/field/b.hpp", "#pragma once\nstd::string f();\n")
        for _ in range(2):
            code, output = self.check()
            self.assertEqual(code, 1)
            self.assertIn("field/b.hpp does not compile alone", output)

    def test_missing_guard(self):
        self.write("src/field/b.hpp", "struct X {};\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("field/b.hpp does not begin with #pragma once", output)

    def test_cache_sees_a_change_below(self):
        self.write("src/field/b.hpp", '#pragma once\n#include "base/a.hpp"\ninline int g() { return f()[0]; }\n')
        self.assertEqual(self.check()[0], 0)
        self.write("src/base/a.hpp", "#pragma once\n")
        self.assertEqual(self.check()[0], 1)

    def build(self, text):
        """As if a source of this text had been compiled."""
        self.write("src/field/b.cpp", text)
        self.write("build/b.o", "")
        self.write("build/compile_commands.json", json.dumps([{
            "directory": str(self.root / "build"), "file": str(self.root / "src/field/b.cpp"),
            "command": "c++ -c -o b.o b.cpp"}]))
        self.age(10, "src/field/b.cpp", "src/field/b.hpp", "src/base/a.hpp")
        return ("--built", str(self.root / "build"))

    def age(self, seconds, *names):
        for name in names:
            os.utime(self.root / name, (time.time() - seconds,) * 2)

    def test_what_an_object_had_first_is_not_compiled_again(self):
        # Were they compiled, both would be refused; so the object is what is believed.
        self.write("src/base/a.hpp", "#pragma once\nstd::string f();\n")
        self.write("src/field/b.hpp", '// Words.\n#pragma once\n\n#include "base/a.hpp"\nstd::string g();\n')
        built = self.build('/* More\n words. */\n#include "field/b.hpp"\nint x;\n')
        self.assertEqual(self.check(*built)[0], 0)
        self.age(-10, "src/base/a.hpp")  # newer than the object: b.hpp alone is known, and a.hpp is compiled
        code, output = self.check(*built)
        self.assertEqual(code, 1)
        self.assertNotIn("field/b.hpp does not", output)
        self.assertIn("base/a.hpp does not", output)
        (self.root / "build/b.o").unlink()
        self.assertIn("2 do not", self.check(*built)[1])

    def test_what_something_stands_before_is_compiled(self):
        self.write("src/field/b.hpp", "#pragma once\nstd::string f();\n")
        for before in ("#include <string>", "#define X", "#if 1", "using int32 = int;", '#include "base/a.hpp"'):
            built = self.build(before + '\n#include "field/b.hpp"\n')
            self.assertEqual(self.check(*built)[0], 1, before)


class Text(Tree):
    def test_length(self):
        self.assertEqual(self.run_check("check_text.py", "length")[0], 0)
        self.write("src/field/b.cpp", "\n" * 661)
        self.assert_found(self.run_check("check_text.py", "length"), "src/field/b.cpp: more than")

    def test_blanks(self):
        self.write("src/field/b.cpp", "int x; \n")
        self.assert_found(self.run_check("check_text.py", "length"), "src/field/b.cpp:1: blanks")
        self.write("src/field/b.cpp", "\tint x;\n")
        self.assert_found(self.run_check("check_text.py", "length"), "src/field/b.cpp:1: tab")

    def test_docs(self):
        good = "See `src/field/b.hpp`, `field/b.hpp`, [b](src/field/b.hpp#x), `a/b c`, <https://x.y/z>, `src/field/`.\n"
        self.write("README.md", good + "```\nsrc/none.hpp\n```\n")
        self.assertEqual(self.run_check("check_text.py", "docs")[0], 0)
        for bad in ("`src/field/none.hpp`", "`field/none.hpp`", "[x](docs/none.md)", "`cuzk_x` in `scripts/none.sh`"):
            self.write("README.md", good + "\n" + bad + "\n")
            self.assert_found(self.run_check("check_text.py", "docs"), "README.md:3")


class Kernels(Tree):
    LOG = """ptxas info    : Compiling entry function '_Z4fastv' for 'sm_90'
ptxas info    : Function properties for _Z4fastv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z4slowv' for 'sm_75'
    640 bytes stack frame, 96 bytes spill stores, 80 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 640 bytes cumulative stack size
"""

    def check(self, *options):
        self.write("build.log", self.LOG)
        self.write("allow.txt", "# none but these\n64 nowhere # a reason\n" + self.allowed)
        run = subprocess.run([sys.executable, str(SCRIPTS / "check_kernels.py"), str(self.root / "build.log"), "--allow",
                              str(self.root / "allow.txt"), *options], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_spills(self):
        self.allowed = "80 slow # too few\n"
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("_Z4slowv for sm_75: 96 bytes spilled with 255 registers, 80 allowed", output)
        self.assertNotIn("fast", output)
        self.assertEqual(self.check("--spills", "90")[0], 0)
        self.allowed = "96 slow # as many as there are\n"
        self.assertEqual(self.check()[0], 0)

    def test_architectures(self):
        self.allowed = "96 slow # enough\n"
        self.assertEqual(self.check("--compiled", "75,90")[0], 0)
        code, output = self.check("--compiled", "75,90,120")
        self.assertEqual(code, 1)
        self.assertIn("no kernel was compiled for sm_120", output)

    def test_an_empty_log_and_an_allowance_without_reason(self):
        self.allowed = "96 slow\n"
        self.assertIn("needs a reason", self.check()[1])
        self.allowed = ""
        self.LOG = "nothing\n"
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
