"""As test_end_to_end.py: PoRep and updates of 2 KiB, the thirteen partitions of a non-interactive PoRep, and every kind at
8 MiB, there with our own sealer and from the files that it writes. Prints times and memory."""
import shlex
import unittest

import oracle
from end_to_end import EndToEnd, told
from generated import sector
from harness import cuzk, wrap
from test_end_to_end import MINER, RANDOMNESS, array, sealed


class Small(EndToEnd):
    def porep(self, number, seed=b"\5" * 32):
        c1 = sealed(number, 42, 3).c1(seed)
        return ["--kind", "porep", "--c1", str(self.file("c1.json", wrap(c1, sector_number=42))), "--miner-id", str(MINER)]

    def test_porep(self):
        """V1; synthetic challenges; V1_1 is in test_prove.py."""
        for number in (0, 10):
            self.prove_and_verify("porep-2k", self.porep(number))

    def test_non_interactive(self):
        self.prove_and_verify("porep-2k", self.porep(15, bytes(32)))

    def test_snap(self):
        old = sealed(5, 7, 1)
        update = sector.Update(old, b"".join(sealed(5, 8, 2).data))
        content = array([update.partition_proof()])
        words = ["--kind", "snap", "--vanilla", str(self.file("v.json", content)), "--registered-proof", "0",
                 "--comm-r-old", old.comm_r.hex(), "--comm-r-new", update.comm_r_new.hex(), "--comm-d-new",
                 update.comm_d_new.hex(), "--sector-num", "7", "--miner-id", str(MINER)]
        self.prove_and_verify("snap-2k", words)
        self.prove_and_verify("snap-2k", self.synthetic("snap", 0))


class EightMebibytes(EndToEnd):
    """A sector is sealed, then updated; proofs are made from its files."""

    def setUp(self):
        super().setUp()
        self.store = self.tmp / "store"
        run = cuzk("bench", "seal", "--registered-proof", 6, "--out", self.store, "--sector-number", 7, "--miner-id", MINER,
                   "--json")
        self.assert_ok(run)
        told("seal 8 MiB", run)
        self.old = run.json

    def update(self):
        run = cuzk("bench", "seal-update", "--registered-proof", 1, "--dir", self.store, "--sector-number", 7, "--miner-id",
                   MINER, "--seed", "07" * 32, "--json")
        self.assert_ok(run)
        told("update 8 MiB", run)
        return run.json

    def words(self, command):
        """The `cuzk prove` command that a command of ours ends in, but for --out."""
        run = cuzk(*command, "--json")
        self.assert_ok(run)
        words = shlex.split(run.json["prove_command"])
        at = words.index("--out")
        return words[2:at] + words[at + 2:]

    def post(self, command, number, comm_r, replica, cache):
        return self.words(["bench", "gen-vanilla", command, "--registered-proof", number, "--sector-number", 7, "--randomness",
                           RANDOMNESS.hex(), "--comm-r", comm_r, "--sealed", replica, "--cache", cache, "-o",
                           self.tmp / "vanilla.json"])

    def test_porep(self):
        self.prove_and_verify("porep-8m", shlex.split(self.old["prove_command"])[2:-2])

    def test_posts(self):
        files = self.old["comm_r"], self.old["sealed"], self.old["cache"]
        self.prove_and_verify("winning-8m", self.post("winning-post", 1, *files))
        self.prove_and_verify("window-8m", self.post("window-post", 6, *files))
        new = self.update()
        self.prove_and_verify("window-8m", self.post("window-post", 11, new["comm_r_new"], new["replica"],
                                                     new["replica_cache"]))

    def test_snap(self):
        command = shlex.split(self.update()["vanilla_command"])[1:]
        self.prove_and_verify("snap-8m", self.words([*command, "-o", self.tmp / "vanilla.json"]))


if __name__ == "__main__":
    oracle.install_or_skip()
    unittest.main()
