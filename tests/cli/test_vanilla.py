"""Vanilla proofs: what `cuzk bench gen-vanilla` writes, without a sector and from the files of one, and the sectors
that `cuzk bench seal` and `seal-update` make. Those of 2 KiB are compared byte for byte with a sealer in Python. That
synthetic proofs are valid is checked by the prover's own checks (it gets as far as the missing parameters), and
independently by test_generated.py."""
import base64
import json
import sys
import unittest

from harness import CORRUPT, CommandTest, INVALID, IO, NOT_FOUND, ROOT, UNSUPPORTED, USAGE, cuzk

sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from vanilla.merkle import poseidon_node  # noqa: E402
from vanilla.sector import Sector, Update  # noqa: E402
from vanilla_commands import ONES, SEED, TICKET, GenVanilla, SealTest, u64  # noqa: E402

# A vanilla proof's bytes in upstream's wire formats.
WINNING = {0: 36816, 3: 164064, 4: 167760}
WINDOW = {5: 5680, 10: 5680, 13: 24960, 14: 25520}
SNAP = {0: (1, 15064), 3: (16, 561768)}


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
            self.accepted(result)

    def test_window(self):
        for proof, size in WINDOW.items():
            result = self.generate("window-post", "--registered-proof", proof, "--sectors", 2, "--sector-number", 5)
            blobs = self.blobs()
            self.assertEqual([len(b) for b in blobs], [size] * 2)
            self.assertEqual([u64(b[:8]) for b in blobs], [5, 6])
            self.assertEqual([s["comm_r"] for s in result["sectors"]], [b[8:40].hex() for b in blobs])
            self.accepted(result)

    def test_the_seed_decides(self):
        texts = []
        for name, arguments in (("a", []), ("b", []), ("c", ["--seed", ONES]), ("d", ["--randomness", ONES])):
            self.generate("winning-post", "--registered-proof", 0, *arguments, out=name)
            texts.append((self.tmp / name).read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len(set(texts)), 3)

    def test_proofs_by_name(self):
        for command, number, name in (("winning-post", 0, "StackedDrgWinning2KiBV1"),
                                      ("window-post", 10, "StackedDrgWindow2KiBV1_1"),
                                      ("snap-prove", 0, "StackedDrg2KiBV1"), ("porep", 5, "StackedDrg2KiBV1_1")):
            with self.subTest(name):
                texts = [self.generate(command, "--registered-proof", proof, out=out)["registered_proof_name"]
                         for proof, out in ((number, "number"), (name, "name"))]
                self.assertEqual(texts, [name, name])
                self.assertEqual((self.tmp / "number").read_bytes(), (self.tmp / "name").read_bytes())

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
            self.accepted(result)


class Porep(GenVanilla):
    def test_small_sizes(self):
        for proof in (0, 1, 5, 6):
            result = self.generate("porep", "--registered-proof", proof, "--sector-number", 7, "--miner-id", 2000)
            self.assertEqual(json.loads((self.tmp / "out.json").read_text())["SectorNum"], 7)
            self.accepted(result)
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
        self.accepted(result)

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


PROVER = b"\xe8\x07" + bytes(30)  # of miner 1000


def nodes(factor):
    return b"".join((i * factor + 1).to_bytes(32, "little") for i in range(64))


class Sealed(SealTest):
    def check_cache(self, folder, expected):
        """The Python sealer's files, except for the folder that t_aux names."""
        present = {path.name: path.read_bytes() for path in self.tmp.joinpath(folder).iterdir()}
        t_aux, path = present.pop("t_aux"), str(folder).encode()
        expected = dict(expected)
        expected_t_aux = expected.pop("t_aux", None)
        self.assertEqual(present, expected)
        if expected_t_aux:
            named = len(path).to_bytes(8, "little") + path
            self.assertEqual(t_aux.count(named), 5)
            self.assertEqual(t_aux.replace(named, bytes(8)), expected_t_aux)

    def test_2k_is_what_python_seals(self):
        data, replaced = nodes(0x010203040506), nodes(0x0a0b0c0d0e)
        for number in (0, 5, 10, 15):
            folder = f"d{number}"
            sealed = self.seal("--registered-proof", number, "--data", self.file("data", data), folder=folder)
            sector = Sector(number, data, PROVER, 7, bytes.fromhex(TICKET))
            wrapped = json.loads((self.tmp / folder / "c1.json").read_text())
            self.assertEqual(base64.b64decode(wrapped["Phase1Out"]), sector.c1(bytes.fromhex(SEED)))
            self.assertEqual((wrapped["SectorNum"], wrapped["SectorSize"]), (7, 2048))
            self.check_cache(sealed["cache"], sector.files())
            self.assertEqual((self.tmp / folder / "sealed" / "s-t01000-7").read_bytes(), b"".join(sector.replica))
            self.assertEqual((sealed["comm_d"], sealed["comm_r"]), (sector.comm_d.hex(), sector.comm_r.hex()))
            updated = self.update("--data", self.file("new", replaced), folder=folder)
            update = Update(sector, replaced)
            self.check_cache(updated["replica_cache"], update.files())
            self.assertEqual((self.tmp / folder / "update" / "s-t01000-7").read_bytes(), b"".join(update.replica))
            self.assertEqual([updated["comm_r_old"], updated["comm_r_new"], updated["comm_d_new"]],
                             [sector.comm_r.hex(), update.comm_r_new.hex(), update.comm_d_new.hex()])

    def test_2k_vanilla_proofs_from_files(self):
        data, replaced = nodes(0x010203040506), nodes(0x0a0b0c0d0e)
        sealed = self.seal("--data", self.file("data", data))
        updated = self.update("--data", self.file("new", replaced))
        sector = Sector(5, data, PROVER, 7, bytes.fromhex(TICKET))
        update = Update(sector, replaced)
        randomness = bytes([5]) * 32
        for command, proof, count in (("winning-post", 0, 66), ("window-post", 5, 10), ("window-post", 10, 10)):
            common = ["--registered-proof", proof, "--sector-number", 7, "--randomness", randomness.hex()]
            for comm_r in (sealed["commdr"], sealed["comm_r"]):
                self.from_files(command, *common, "--comm-r", comm_r, "--sealed", sealed["sealed"], "--cache",
                                sealed["cache"])
                self.assertEqual(self.blobs(), [sector.post(randomness, count)])
            self.from_files(command, *common, "--comm-r", updated["commdr"], "--sealed", updated["replica"], "--cache",
                            updated["replica_cache"])
            self.assertEqual(self.blobs(), [sector.post(randomness, count, updated=update)])
        result = self.from_files("snap-prove", "--registered-proof", 0,
                                 *self.words(self.snap_arguments(sealed, updated)))
        self.assertEqual(self.blobs(), [update.partition_proof()])
        self.assertEqual([result["comm_r_old"], result["comm_r_new"], result["comm_d_new"]],
                         [sector.comm_r.hex(), update.comm_r_new.hex(), update.comm_d_new.hex()])

    def test_two_sectors_of_a_window(self):
        first = self.seal("--data", self.file("data", b"one"))
        second = self.seal("--data", self.file("data", b"two"), folder="e", sector=8)
        self.from_files("window-post", "--registered-proof", 10, "--sector-number", 7, 8, "--comm-r", first["comm_r"],
                        second["commdr"], "--sealed", first["sealed"], second["sealed"], "--cache", first["cache"],
                        second["cache"])
        self.assertEqual([u64(b[:8]) for b in self.blobs()], [7, 8])
        (self.tmp / "out.json").unlink()
        run = cuzk("bench", "gen-vanilla", "window-post", "--registered-proof", 10, "--sector-number", 8, 7, "--comm-r",
                   second["comm_r"], first["comm_r"], "--sealed", second["sealed"], first["sealed"], "--cache",
                   second["cache"], first["cache"], "-o", self.tmp / "out.json")
        self.assert_fails(run, INVALID, "ascend")
        self.assertNotIn("out.json", self.files())

    def test_data(self):
        """Any data up to 127/128 of the sector; an empty file is a sector without data."""
        sealed = self.seal("--data", "/dev/null")
        self.assertEqual(sealed["comm_d"], "fc7e928296e516faade986b28f92d44a4f24b935485223376a799027bc18f833")
        padded = self.seal("--data", self.file("padded", bytes(2048)), folder="p")
        self.assertEqual(padded["comm_r"], sealed["comm_r"])
        for content in (bytes(2033), bytes(2049), bytes(31) + b"\x40" + bytes(2016)):
            run = cuzk("bench", "seal", "--out", self.tmp / "x", "--data", self.file("data", content))
            self.assert_fails(run, INVALID, str(self.tmp / "data"))
            self.assertNotIn("x", self.files())

    def test_nothing_is_replaced_without_force(self):
        sealed = self.seal()
        run = cuzk("bench", "seal", "--out", self.tmp / "d", "--sector-number", 7)
        self.assert_fails(run, USAGE, sealed["sealed"], "--force")
        self.assertEqual(self.seal("--force", "--seed", ONES)["sealed"], sealed["sealed"])
        self.update()
        run = cuzk("bench", "seal-update", "--dir", self.tmp / "d", "--sector-number", 7)
        self.assert_fails(run, USAGE, "--force")

    def test_seal_refuses(self):
        for arguments in (["--registered-proof", "8"], ["--registered-proof", "7"]):
            self.assert_fails(cuzk("bench", "seal", "--out", self.tmp / "x", *arguments), UNSUPPORTED, "8MiB")
        run = cuzk("bench", "seal-update", "--dir", self.tmp / "x")
        self.assert_fails(run, NOT_FOUND, "p_aux", "hint: ", "cuzk bench seal")
        self.seal()
        run = cuzk("bench", "seal-update", "--dir", self.tmp / "d", "--sector-number", 7, "--registered-proof", 1)
        self.assert_fails(run, CORRUPT, "s-t01000-7")
        self.assertEqual(self.files(), ["d"])

    def test_wrong_sectors_are_named(self):
        """Each file of another sector, missing or cut; the error has the file, and nothing is written."""
        sealed, other = self.seal(), self.seal("--seed", ONES, folder="e")
        updated, other_update = self.update(), self.update("--seed", ONES, folder="e")
        post = {"--comm-r": sealed["commdr"], "--sealed": sealed["sealed"], "--cache": sealed["cache"]}
        common = ["--registered-proof", 5, "--sector-number", 7]

        def refused(command, fixed, arguments, code, *words):
            run = cuzk("bench", "gen-vanilla", command, "-o", self.tmp / "out.json", *fixed, *self.words(arguments))
            self.assert_fails(run, code, *words)
            self.assertLess(run.seconds, 5, str(run))
            self.assertEqual(self.files(), ["d", "e"])

        refused("window-post", common, {**post, "--comm-r": other["commdr"]}, INVALID, "p_aux", "sector 7", "comm_r")
        refused("window-post", common, {**post, "--sealed": other["sealed"]}, CORRUPT, "tree-r-last", "sector 7")
        refused("window-post", common, {**post, "--cache": other["cache"]}, INVALID, other["cache"], "comm_r")
        refused("window-post", common, {**post, "--comm-r": updated["commdr"]}, INVALID, "comm_r", "hint: ", "update")
        refused("window-post", common, {**post, "--cache": self.tmp}, NOT_FOUND, "p_aux")
        refused("window-post", common, {**post, "--comm-r": sealed["sealed"]}, INVALID, "s-t01000-7")
        refused("window-post", common, {**post, "--comm-r": "bagboea"}, INVALID, "--comm-r")
        refused("window-post", common, {**post, "--comm-r": "00" * 32}, INVALID, "--comm-r", "zero")
        refused("winning-post", ["--registered-proof", 1], post, CORRUPT, "s-t01000-7", "2048 bytes")
        snap = self.snap_arguments(sealed, updated)
        foreign = self.snap_arguments(other, other_update)
        for name, words in (("--orig-commdr", ["comm_r_old", "p_aux"]), ("--update-commdr", ["comm_r_new", "p_aux"]),
                            ("--sector-key", ["tree-r-last"]), ("--sector-key-cache", ["p_aux"]),
                            ("--replica", ["tree-r-last"]), ("--replica-cache", ["p_aux", "comm_c"])):
            with self.subTest(argument=name):
                code = CORRUPT if words == ["tree-r-last"] else INVALID
                refused("snap-prove", ["--registered-proof", 0], {**snap, name: foreign[name]}, code, *words)

class StoredZeros(SealTest):
    def zeros(self, log2_base, trees, sub, top):
        """A replica of zeros (a sparse file) and its cache, the trees hashed in Python."""
        cache = self.tmp / "cache"
        cache.mkdir()
        rows = [bytes(32)]
        for _ in range(log2_base // 3):
            rows.append(poseidon_node([rows[-1]] * 8))
        upper = b"".join(row * (1 << log2_base - 3 * j) for j, row in enumerate(rows) if j >= 3)
        for i in range(trees):
            suffix = f"-{i}" if trees > 1 else ""
            (cache / f"sc-02-data-tree-r-last{suffix}.dat").write_bytes(upper)
        root = rows[-1]
        for arity in (sub, top):
            root = poseidon_node([root] * arity) if arity else root
        (cache / "p_aux").write_bytes(poseidon_node([root, root]) + root)
        with open(self.tmp / "sealed", "wb") as replica:
            replica.truncate(32 * trees << log2_base)
        comm_r = poseidon_node([poseidon_node([root, root]), root])
        return ["--sealed", self.tmp / "sealed", "--cache", cache, "--comm-r", comm_r.hex()]

    def test_files_of_every_size(self):
        """32 and 64 GiB replicas, of which only what is opened is read."""
        for proofs, shape in (((2, 7), (24, 1, 0, 0)), ((3, 13), (27, 8, 8, 0)), ((4, 14), (27, 16, 8, 2))):
            with self.subTest(shape=shape):
                files = self.zeros(*shape)
                for command, proof in zip(("winning-post", "window-post"), proofs):
                    self.from_files(command, "--registered-proof", proof, "--randomness", ONES, *files)
                # Another root of one base tree.
                last = sorted((self.tmp / "cache").glob("sc-02-data-tree-r-last*"), key=lambda path: len(path.name))[-1]
                last.write_bytes(last.read_bytes()[:-32] + b"\1" + bytes(31))
                run = cuzk("bench", "gen-vanilla", "window-post", "--registered-proof", proofs[1], *files, "-o",
                           self.tmp / "none.json")
                self.assert_fails(run, CORRUPT, "comm_r_last", "p_aux")
                for path in [*(self.tmp / "cache").iterdir(), self.tmp / "sealed"]:
                    path.unlink()
                (self.tmp / "cache").rmdir()


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
                ["window-post", "--sealed", "x"], ["snap-prove", "--replica", "x"],
                ["window-post", "--partition", str(2**32)], ["snap-prove", "--sector-number", str(2**64)]):
            with self.subTest(command=command, arguments=arguments):
                run = cuzk("bench", "gen-vanilla", command, "--synthetic", *arguments, "-o", self.tmp / "out")
                self.assert_fails(run, USAGE)
                self.assertEqual(self.files(), [])

    def test_neither_synthetic_nor_files(self):
        for arguments in (["winning-post"], ["window-post", "--sealed", "x"], ["snap-prove"],
                          ["window-post", "--comm-r", "a", "--sealed", "x", "--cache", "y", "--sector-number", "1",
                           "2"],
                          ["winning-post", "--comm-r", "a", "b", "--sealed", "x", "x", "--cache", "y", "y",
                           "--sector-number", "1", "2"]):
            run = cuzk("bench", "gen-vanilla", *arguments, "-o", self.tmp / "out")
            self.assert_fails(run, USAGE)

    def test_output_is_named_as_the_reference_names_it(self):
        for command in ("winning-post", "window-post", "snap-prove"):
            out = self.tmp / command
            self.assert_ok(cuzk("bench", "gen-vanilla", command, "--synthetic", "--registered-proof",
                                10 if command == "window-post" else 0, "--output", out))
            self.assertGreater(out.stat().st_size, 1000)

    def test_unwritable_output(self):
        for command in ("winning-post", "window-post", "snap-prove", "porep"):
            run = cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp / "none" / "out")
            self.assert_fails(run, NOT_FOUND, "none/out")
            self.assertLess(run.seconds, 1)
            self.assert_fails(cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp), IO)


if __name__ == "__main__":
    unittest.main()
