"""Runs the verifier that shares no code with ours: tests/oracle/verify_groth16.mjs, on @noble/curves."""
import subprocess

import npm
from harness import ROOT

ORACLE = ROOT / "tests" / "oracle"


def install_or_skip():
    npm.install_or_skip(ORACLE, "@noble/curves")


def verify(test, key, proof, inputs, *more):
    """(exit status, output). `inputs`: a list of public inputs, or one such list a proof."""
    lists = inputs if inputs and isinstance(inputs[0], list) else [inputs]
    text = "\n\n".join("\n".join(f"{x:x}" for x in each) for each in lists) + "\n"
    run = subprocess.run(["node", ORACLE / "verify_groth16.mjs", key, proof, test.file("inputs", text), *more],
                         capture_output=True, text=True, timeout=1200)
    return run.returncode, run.stdout + run.stderr
