#!/usr/bin/env python3
"""Checks the inputs of `cuzk prove` as upstream's vanilla verifiers do: every hash chain, challenge, parent, label,
column and commitment, recomputed in Python integers from the specification. Shares no code with the engine.

  check_vanilla.py --kind porep --input C1.json [--miner-id N [--sector N]]
  check_vanilla.py --kind winning|window --vanilla FILE... --registered-proof N --randomness HEX [--partition-index N]
  check_vanilla.py --kind snap --vanilla FILE... --registered-proof N --comm-r-old HEX --comm-r-new HEX --comm-d-new HEX

FILE is a JSON list of base64 strings or one proof as it is. For snap --partition-index N checks one partition alone.
--sample N hashes N challenges of each partition (PoRep, snap) or N sectors (window), the first and the last among them;
form, indices and roots are always checked for all. --public-inputs FILE writes the public inputs as verify_groth16.mjs
reads them: a line each, hexadecimal, an empty line between partitions.
Exit status: 0 valid, 1 invalid (the first fault, and where, on stdout), 2 wrong usage.
"""
import argparse
import sys
from pathlib import Path

from vanilla.merkle import Sample
from vanilla.parse import Invalid, read_blobs
from vanilla.porep import Porep
from vanilla.post import Post
from vanilla.snap import Snap


def thirty_two_bytes(text):
    data = bytes.fromhex(text)
    if len(data) != 32:
        raise ValueError
    return data


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", required=True, choices=["porep", "winning", "window", "snap"])
    parser.add_argument("--input", "--c1", type=Path, help="the output of commit phase 1, bare or wrapped")
    parser.add_argument("--vanilla", type=Path, nargs="+", action="extend", default=[])
    parser.add_argument("--registered-proof", type=int)
    for name in ("randomness", "comm-r-old", "comm-r-new", "comm-d-new"):
        parser.add_argument(f"--{name}", type=thirty_two_bytes)
    parser.add_argument("--partition-index", "--partition", type=int)
    parser.add_argument("--miner-id", type=int)
    parser.add_argument("--sector", "--sector-num", type=int)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--sample-seed", type=int, default=1)
    parser.add_argument("--public-inputs", type=Path)
    options = parser.parse_args(words)
    needed = {"porep": ["input"], "snap": ["registered_proof", "comm_r_old", "comm_r_new", "comm_d_new"]}
    for name in needed.get(options.kind, ["registered_proof", "randomness"]):
        if getattr(options, name) is None:
            parser.error(f"--{name.replace('_', '-')} is needed for {options.kind}")
    if options.kind != "porep" and not options.vanilla:
        parser.error(f"--vanilla is needed for {options.kind}")
    return options


def check(options):
    """The public inputs of every partition, after everything was checked."""
    sample = Sample(options.sample, options.sample_seed)
    if options.kind == "porep":
        request = Porep(options.input.read_bytes(), options.input.name)
        request.check(sample, options.miner_id, options.sector)
    elif options.kind == "snap":
        request = Snap(read_blobs(options.vanilla), options.registered_proof, options.comm_r_old, options.comm_r_new,
                       options.comm_d_new, options.partition_index)
        request.check(sample)
    else:
        request = Post(options.kind, read_blobs(options.vanilla), options.registered_proof, options.randomness,
                       options.partition_index or 0)
        request.check(sample)
    return request.public_inputs()


def main(words=None):
    options = arguments(words)
    try:
        inputs = check(options)
    except Invalid as error:
        print(f"invalid: {error}")
        return 1
    if options.public_inputs:
        options.public_inputs.write_text("\n".join("".join(f"{x:x}\n" for x in part) for part in inputs))
    print(f"valid: {options.kind}, {len(inputs)} partition(s), {sum(map(len, inputs))} public inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
