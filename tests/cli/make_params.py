"""Makes the parameters that the whole-program tests use, unless they are there and younger than the binary.

Not a test of setup's bytes: those are compared with known answers in the tests of groth16/."""
import os
import sys

from harness import BINARY, PARAMS, SEED, STEM_2K, cuzk


def main():
    params = PARAMS / (STEM_2K + ".params")
    key = PARAMS / (STEM_2K + ".vk")
    if key.exists() and params.exists() and key.stat().st_mtime > os.stat(BINARY).st_mtime:
        print(f"using {params}")
        return 0
    run = cuzk("setup", "--circuit", "porep-2k", "--dir", PARAMS, "--seed", SEED, "--force", "--json", timeout=1200)
    print(run)
    if run.code != 0:
        return 1
    result = run.json
    assert result["ok"] and result["development_only"] and "DEVELOPMENT ONLY" in run.err
    assert os.path.getsize(params) == result["params_bytes"] == 1114707768
    assert os.path.getsize(key) == result["vk_bytes"] == 4708
    assert open(params, "rb").read(4708) == key.read_bytes()
    return 0


if __name__ == "__main__":
    sys.exit(main())
