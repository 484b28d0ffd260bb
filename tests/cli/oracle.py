"""Runs the verifier that shares no code with ours: tests/oracle/verify_groth16.mjs, on @noble/curves."""
import os
import shutil
import subprocess
import sys

from harness import ROOT

ORACLE = ROOT / "tests" / "oracle"


def install():
    """The oracle's package; the reason where there is none."""
    if (ORACLE / "node_modules" / "@noble" / "curves").is_dir():
        return None
    if shutil.which("npm") is None:
        return "npm is not installed"
    run = subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"], cwd=ORACLE,
                         capture_output=True, text=True, timeout=300)
    return None if run.returncode == 0 else "npm install failed: " + run.stderr[-500:]


def install_or_skip():
    reason = install()
    if reason:
        print(f"skipped: {reason}")
        # Continuous integration has the packages; a silent skip there would hide that nothing was checked.
        sys.exit(1 if os.environ.get("CI") else 77)


def verify(test, key, proof, inputs, *more):
    """(exit status, output). `inputs`: a list of public inputs, or one such list a proof."""
    lists = inputs if inputs and isinstance(inputs[0], list) else [inputs]
    text = "\n\n".join("\n".join(f"{x:x}" for x in each) for each in lists) + "\n"
    run = subprocess.run(["node", ORACLE / "verify_groth16.mjs", key, proof, test.file("inputs", text), *more],
                         capture_output=True, text=True, timeout=1200)
    return run.returncode, run.stdout + run.stderr
