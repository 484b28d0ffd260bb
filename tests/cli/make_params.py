"""Makes the parameters that the whole-program tests use, unless they are there and younger than the binary.

Usage: make_params.py CIRCUIT ...

Not a test of setup's bytes: those are compared with known answers in the tests of groth16/."""
import os
import sys

from harness import BINARY, PARAMS, SEED, cuzk

# What a 2 KiB PoRep's files have at upstream.
KNOWN_BYTES = {"porep-2k": (1114707768, 4708)}


def make(circuit):
    names = cuzk("circuit", "info", circuit, "--json").json
    params, key = PARAMS / names["params_file"], PARAMS / names["vk_file"]
    said = PARAMS / f"{circuit}.setup.json"  # for test_plan.py
    if said.exists() and key.exists() and params.exists() and key.stat().st_mtime > os.stat(BINARY).st_mtime:
        print(f"using {params}")
        return True
    run = cuzk("setup", "--circuit", circuit, "--dir", PARAMS, "--seed", SEED, "--force", "--json", timeout=1200)
    print(run)
    if run.code != 0:
        return False
    result = run.json
    said.write_text(run.out)
    assert result["ok"] and result["development_only"] and "DEVELOPMENT ONLY" in run.err
    sizes = os.path.getsize(params), os.path.getsize(key)
    assert sizes == (result["params_bytes"], result["vk_bytes"]) and sizes[0] == names["params_bytes"], sizes
    assert sizes == KNOWN_BYTES.get(circuit, sizes), sizes
    with open(params, "rb") as f:
        assert f.read(sizes[1]) == key.read_bytes()
    return True


def main():
    return 0 if all([make(circuit) for circuit in sys.argv[1:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
