"""scripts/gpu.sh on programs made up for it: what it leaves where steps pass, fail, hang and run out of time."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gpu.sh"

NVIDIA_SMI = """case "$*" in
  *=name*) echo "NVIDIA Made-Up";;
  *memory.total*) echo 143771;;
  *driver_version*) echo 580.0;;
  *clocks.sm*) echo 1980;;
esac
"""


class GpuScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        self.program("bin/nvidia-smi", NVIDIA_SMI)
        # Runs what stands after the tool and the exit code; finds an error in one program.
        self.program("bin/compute-sanitizer", '[[ "$2-$5" != racecheck-*msm* ]] || exit 3\nexec "${@:5}"\n')
        self.program("built/a/cuzk_ntt_cuda_check", 'echo "ntt: 0 wrong"\n')
        self.program("built/b/cuzk_msm_cuda_check", 'echo "0 wrong"\n')

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/usr/bin/env bash\n" + text)
        path.chmod(0o755)

    def run_script(self, *options):
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        where = ["--build", self.folder / "built", "--results", self.folder / "out", "--commit", "abc"]
        done = subprocess.run([SCRIPT, *where, *options], env=environment, capture_output=True, text=True, timeout=60,
                              check=False)
        files = {path.name.split("-made-up-")[0]: json.loads(path.read_text())
                 for path in (self.folder / "out").iterdir()}
        return done, files

    @staticmethod
    def steps(files):
        return {(line["step"], line["tool"]): line["status"] for line in files["gpu-checks"]["results"]}

    def test_checks_alone_and_under_each_tool(self):
        done, files = self.run_script("--only", "check,sanitize")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        steps = self.steps(files)
        tools = ["none", "memcheck", "racecheck", "initcheck", "synccheck"]
        self.assertEqual(steps, {(f"cuzk_{name}_cuda_check", tool): 3 if (name, tool) == ("msm", "racecheck") else 0
                                 for name in ("ntt", "msm") for tool in tools})
        self.assertEqual(files["gpu-checks"]["chip"], "NVIDIA Made-Up")
        self.assertEqual(files["gpu-checks"]["commit"], "abc")

    def test_lines_of_benches_by_kind_and_a_failed_step_loses_no_other(self):
        self.program("built/cuzk_ntt_cuda_bench", 'echo \'{"bench": "x", "ms": 1.5}\'\necho words\nexit 2\n')
        self.program("built/cuzk_msm_cuda_bench", 'echo "{\\"msm\\": \\"$*\\"}"\n')
        self.program("built/cuzk_field_cuda_bench", 'echo \'{"field": "y"}\'\n')
        self.program("built/cuzk_sppark_msm_bench", 'echo \'{"peer": "p", "ratio": 2}\'\n')
        done, files = self.run_script("--only", "bench,peers")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(files["ntt"]["results"], [{"bench": "x", "ms": 1.5}])
        self.assertIn({"msm": "--log2 18 22"}, files["msm"]["results"])
        self.assertEqual(files["field"]["results"], [{"field": "y"}])
        self.assertEqual(files["peers"]["results"], [{"peer": "p", "ratio": 2}])
        self.assertEqual(self.steps(files)["ntt", "none"], 2)
        self.assertEqual(self.steps(files)["sppark-msm", "none"], 0)

    def test_a_hang_is_cut_short_and_what_is_left_is_skipped(self):
        self.program("built/cuzk_prove_cuda_check", 'echo \'{"circuit": "c"}\'\nsleep 50\n')
        done, files = self.run_script("--only", "prove", "--limit", "7")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(files["prove-check"]["results"], [{"circuit": "c"}])
        self.assertEqual(self.steps(files), {(name, "none"): 124 for name in ("prove-2k", "prove-8m", "snap-8m")})
        self.assertIn("prove-8m: skipped", done.stdout)

    def test_everything_right(self):
        (self.folder / "built/b/cuzk_msm_cuda_check").unlink()
        done, files = self.run_script("--only", "check,sanitize")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(files["gpu-checks"]["results"]), 5)

    def test_no_programs_and_bad_options(self):
        self.assertEqual(self.run_script("--wrong", "1")[0].returncode, 2)
        for path in (self.folder / "built").rglob("cuzk*"):
            path.unlink()
        self.assertEqual(self.run_script()[0].returncode, 2)


if __name__ == "__main__":
    unittest.main()
