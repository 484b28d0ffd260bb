"""From data to a verified proof: sectors of 2 KiB sealed (and updated) in Python, and inputs that gen-vanilla makes
without a sector, proved and verified; then the verifier that shares no code with ours accepts the proofs with the public
inputs that the independent checker computed. Winning and window here; test_end_to_end_large.py has the others."""
import base64
import json
import unittest

import oracle
from end_to_end import EndToEnd
from generated import graph, sector

MINER = 1000
RANDOMNESS = bytes(range(7, 39))


def sealed(number, sector_number, salt):
    data = b"".join(int.to_bytes((i + 1) ** 9 * 0x1000003 + salt, 32, "little") for i in range(64))
    return sector.Sector(number, data, graph.prover_id(MINER), sector_number, bytes([salt]) * 32)


def array(blobs):
    return json.dumps([base64.b64encode(blob).decode() for blob in blobs])


class Sealed(EndToEnd):
    """Proofs of sectors that our own sealer has nothing to do with."""

    def test_winning(self):
        proof = sealed(5, 77, 9).post(RANDOMNESS, 66)
        for name, content in (("raw", proof), ("array", array([proof]))):
            self.prove_and_verify("winning-2k", ["--kind", "winning", "--vanilla", str(self.file(name, content)),
                                                 "--registered-proof", "0", "--randomness", RANDOMNESS.hex()])

    def test_window(self):
        """A partition of two, the second with another replica since its update; V1 in partition 1, then V1_1."""
        first, second = sealed(5, 7, 1), sealed(5, 9, 2)
        update = sector.Update(second, b"".join(first.data))
        for number, indices in ((5, (20, 30)), (10, (0, 0))):
            content = array([first.post(RANDOMNESS, 10, indices[0]), second.post(RANDOMNESS, 10, indices[1], update)])
            self.prove_and_verify("window-2k", ["--kind", "window", "--vanilla", str(self.file("v.json", content)),
                                                "--registered-proof", str(number), "--partition", "1", "--randomness",
                                                RANDOMNESS.hex()])

    def test_window_of_one_sector(self):
        content = array([sealed(5, 1 << 40, 1).post(RANDOMNESS, 10)])
        self.prove_and_verify("window-2k", ["--kind", "window", "--vanilla", str(self.file("v.json", content)),
                                            "--registered-proof", "10", "--randomness", RANDOMNESS.hex()])


class Synthetic(EndToEnd):
    """Inputs without a sector, as gen-vanilla makes them."""

    def test_posts(self):
        self.prove_and_verify("winning-2k", self.synthetic("winning", 0))
        self.prove_and_verify("window-2k", self.synthetic("window", 5, "--sectors", 2, "--partition", 3))


if __name__ == "__main__":
    oracle.install_or_skip()
    unittest.main()
