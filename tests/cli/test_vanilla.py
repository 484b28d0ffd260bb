"""Vanilla proofs: what `cuzk bench gen-vanilla` writes without a sector. That the contents are valid is checked by the
prover's own checks (a command that gets as far as the missing parameters has accepted its input), and independently by
check_vanilla.py."""
import base64
import json
import unittest

from harness import CommandTest, INVALID, IO, NOT_FOUND, UNSUPPORTED, USAGE, cuzk

ONES = "01" * 32
# A vanilla proof's bytes in upstream's wire formats.
WINNING = {0: 36816, 3: 164064, 4: 167760}
WINDOW = {5: 5680, 10: 5680, 13: 24960, 14: 25520}
SNAP = {0: (1, 15064), 3: (16, 561768), 4: (16, 575528)}


def u64(data):
    return int.from_bytes(data, "little")


class GenVanilla(CommandTest):
    def generate(self, command, *arguments, out="out.json"):
        run = cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp / out, "--json", *arguments)
        self.assert_ok(run)
        self.assertEqual(run.err, "")
        self.assertEqual(run.json["bytes"], (self.tmp / out).stat().st_size)
        return run.json

    def blobs(self, out="out.json"):
        return [base64.b64decode(text, validate=True) for text in json.loads((self.tmp / out).read_text())]


class Post(GenVanilla):
    def test_winning(self):
        for proof, size in WINNING.items():
            result = self.generate("winning-post", "--registered-proof", proof, "--sector-number", 77,
                                   "--randomness", ONES)
            (blob,) = self.blobs()
            self.assertEqual((len(blob), result["proof_bytes"]), (size, size))
            self.assertEqual(u64(blob[:8]), 77)
            self.assertEqual((result["randomness"], result["synthetic"], result["miner_id"]), (ONES, True, 1000))
            self.assertEqual(result["sectors"], [{"sector": 77, "comm_r": blob[8:40].hex()}])

    def test_window(self):
        for proof, size in WINDOW.items():
            result = self.generate("window-post", "--registered-proof", proof, "--sectors", 2, "--sector-number", 5)
            blobs = self.blobs()
            self.assertEqual([len(b) for b in blobs], [size] * 2)
            self.assertEqual([u64(b[:8]) for b in blobs], [5, 6])
            self.assertEqual([s["comm_r"] for s in result["sectors"]], [b[8:40].hex() for b in blobs])

    def test_full_partition(self):
        result = self.generate("window-post", "--sectors", 2349)
        blobs = self.blobs()
        self.assertEqual([u64(b[:8]) for b in blobs], list(range(1, 2350)))
        self.assertEqual({len(b) for b in blobs}, {24960})
        self.assertEqual(len({b[8:40] for b in blobs}), 2349)
        self.assertLess(result["peak_rss_bytes"], 200e6)

    def test_the_seed_decides(self):
        texts = []
        for name, arguments in (("a", []), ("b", []), ("c", ["--seed", ONES]), ("d", ["--randomness", ONES])):
            self.generate("winning-post", "--registered-proof", 0, *arguments, out=name)
            texts.append((self.tmp / name).read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len(set(texts)), 3)

    def test_randomness_is_masked(self):
        run = cuzk("bench", "gen-vanilla", "winning-post", "--synthetic", "--registered-proof", 0, "--randomness",
                   "ff" * 32, "-o", self.tmp / "a", "--json")
        self.assertEqual(run.json["randomness"], "ff" * 31 + "3f")
        self.assertIn("two top bits", run.err)


class Snap(GenVanilla):
    def test_sizes(self):
        for proof, (partitions, size) in SNAP.items():
            result = self.generate("snap-prove", "--registered-proof", proof, "--sector-number", 9)
            self.assertEqual([len(b) for b in self.blobs()], [size] * partitions)
            self.assertEqual((result["partitions"], result["sector"]), (partitions, 9))
            commitments = {result[name] for name in ("comm_r_old", "comm_r_new", "comm_d_new")}
            self.assertEqual({len(c) for c in commitments}, {64})
            self.assertEqual(len(commitments), 3)


class Porep(GenVanilla):
    def accepted(self, document, out="proof.bin", *more):
        """The prover has nothing against the input and looks for parameters."""
        run = cuzk("prove", "--kind", "porep", "--input", document, "--dir", self.tmp / "none", "--out", self.tmp / out)
        self.assert_fails(run, NOT_FOUND, ".params")

    def test_small_sizes(self):
        for proof in (0, 1, 5, 6):
            result = self.generate("porep", "--registered-proof", proof, "--sector-number", 7, "--miner-id", 2000)
            self.assertEqual(json.loads((self.tmp / "out.json").read_text())["SectorNum"], 7)
            self.accepted(self.tmp / "out.json")
            verify = cuzk("verify", "--kind", "porep", "--input", self.tmp / "out.json", "--dir", self.tmp / "none",
                          "--proof", self.file("proof", b"\0" * 192), "--miner-id", 2001)
            self.assert_fails(verify, INVALID, "replica_id")
            self.assertEqual((result["sector"], result["miner_id"], result["partitions"]), (7, 2000, 1))

    def test_check_value(self):
        result = self.generate("porep", "--registered-proof", 8, "--sector-number", 42, "--ticket", "03" * 32,
                               "--porep-seed", "05" * 32, "--bare")
        self.assertEqual(result["replica_id"], "b39b155cadd50bfec5e25e735231f7dfb8379bd66c550976fd0c643878d8283c")
        document = json.loads((self.tmp / "out.json").read_text())
        (partitions,) = document["vanilla_proofs"].values()
        self.assertEqual([len(p) for p in partitions], [18] * 10)
        nodes = [challenge["labeling_proofs"][0]["node"] for challenge in partitions[0]]
        self.assertEqual(nodes[:4], [999107171, 177540748, 399633391, 508140623])
        self.assertEqual([c["column"]["index"] for c in partitions[0][0]["replica_column_proofs"]["exp_parents"]],
                         [566510881, 291421123, 589853588, 864544968, 706845254, 22717351, 134274207, 82091131])
        self.accepted(self.tmp / "out.json")

    def test_wrapped_is_the_bare_document(self):
        common = ["--registered-proof", 5]
        self.generate("porep", *common, "--bare", out="bare")
        self.generate("porep", *common, out="wrapped")
        wrapped = json.loads((self.tmp / "wrapped").read_text())
        self.assertEqual(base64.b64decode(wrapped["Phase1Out"]), (self.tmp / "bare").read_bytes())
        self.assertEqual(wrapped["SectorSize"], 2048)

    def test_proofs_that_cannot_be_faked(self):
        for proof in (10, 15, 18, "StackedDrg2KiBV1_1_Feat_SyntheticPoRep"):
            run = cuzk("bench", "gen-vanilla", "porep", "--registered-proof", proof, "-o", self.tmp / "c1")
            self.assert_fails(run, UNSUPPORTED, "comm_r", "cuzk bench seal")
        self.assertEqual(self.files(), [])


class Refused(CommandTest):
    def test_arguments(self):
        for command, *arguments in (
                ["winning-post", "--registered-proof", "5"], ["window-post", "--registered-proof", "3"],
                ["winning-post", "--registered-proof", "15"], ["winning-post", "--registered-proof", "x"],
                ["snap-prove", "--registered-proof", "5"], ["porep", "--registered-proof", "20"],
                ["winning-post", "--randomness", "00"], ["winning-post", "--seed", "zz" * 32],
                ["window-post", "--sectors", "0"], ["window-post", "--sectors", "2350"],
                ["window-post", "--registered-proof", "14", "--sectors", "2301"], ["winning-post", "--sectors", "2"],
                ["window-post", "--sectors", "3", "--sector-number", str(2**64 - 2)],
                ["porep", "--porep-seed", "00" * 32], ["porep", "--ticket", "1"], ["porep", "--miner-id", "-1"],
                ["window-post", "--sector-number", "-1"], ["window-post", "--sectors", "-1"],
                ["window-post", "--partition", str(2**32)], ["snap-prove", "--sector-number", str(2**64)]):
            with self.subTest(command=command, arguments=arguments):
                run = cuzk("bench", "gen-vanilla", command, "--synthetic", *arguments, "-o", self.tmp / "out")
                self.assert_fails(run, USAGE)
                self.assertEqual(self.files(), [])

    def test_unwritable_output(self):
        for command in ("winning-post", "window-post", "snap-prove", "porep"):
            run = cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp / "none" / "out")
            self.assert_fails(run, NOT_FOUND, "none/out")
            self.assertLess(run.seconds, 1)
            self.assert_fails(cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp), IO)


if __name__ == "__main__":
    unittest.main()
