"""Malformed requests of the kinds other than PoRep: each is refused in under a second, with its class and its place
named, before any parameter file is looked for (their folder does not exist, which would be another error)."""
import base64
import os
import unittest

from harness import BAD_PROOF, CommandTest, INVALID, IO, NOT_FOUND, USAGE, cuzk
from kinds import NOT_CANONICAL, Request, flipped, replaced, u64, vanilla_json

# Where fields lie in a 2 KiB PoSt proof: sector, comm_r, sectors, openings, then openings of 556 bytes.
COMM_R, SECTORS, OPENINGS, FIRST, OPENING = 8, 40, 48, 56, 556
# In an opening of variant Single: variant, root, leaf, levels, then 240 bytes a level: hashes, seven of them, index.
ROOT, LEAF, LEVELS, LEVEL0, INDEX0 = 4, 36, 68, 76, 76 + 232
# In a 2 KiB update: comm_c, apex leaves, challenges, then three openings a challenge.
APEX, CHALLENGES, SNAP_FIRST = 32, 32 + 8 + 256, 32 + 8 + 256 + 8


class RequestTest(CommandTest):
    def run_on(self, request, content, command="prove", extra=(), **changes):
        path = content if isinstance(content, (str, os.PathLike)) else self.file("vanilla", content)
        arguments = [command, *request.arguments(**changes), "--dir", self.tmp / "none", *extra]
        if path != "":
            arguments += ["--vanilla", path]
        if command == "prove":
            arguments += ["--out", self.tmp / "proof.bin"]
        else:
            arguments += ["--proof", self.file("proof.in", b"\x00" * 192)]
        return cuzk(*arguments)

    def accepted(self, request, content, extra=(), **changes):
        self.assert_fails(self.run_on(request, content, extra=extra, **changes), NOT_FOUND, ".params", "cuzk setup",
                          request.circuit)

    def refused(self, request, content, *words, code=INVALID, **changes):
        run = self.run_on(request, content, **changes)
        self.assert_fails(run, code, *words)
        self.assertLess(run.seconds, 1, str(run))
        self.assertNotIn("proof.bin", self.files())
        return run


class Accepted(RequestTest):
    def test_vectors(self):
        for name in ("winning-2KiB", "window-2KiB-v1", "window-2KiB-v1_1", "window-2KiB-v1_1-padded", "snap-2KiB-k0"):
            with self.subTest(name):
                request = Request(name)
                self.accepted(request, vanilla_json(request.blobs))

    def test_forms_of_the_file(self):
        for name in ("winning-2KiB", "window-2KiB-v1_1-padded", "snap-2KiB-k0"):
            request = Request(name)
            good = vanilla_json(request.blobs)
            for form in (request.blobs[0], good + b"\n", b" [\n" + good[1:], good.replace(b"/", b"\\/")):
                with self.subTest(name, form=form[:8]):
                    self.accepted(request, form)
            run = cuzk("prove", *request.arguments(), "--vanilla", "-", "--dir", self.tmp / "none", "--out",
                       self.tmp / "p", input=good)
            self.assert_fails(run, NOT_FOUND, ".params")

    def test_names_of_kinds_and_proofs(self):
        for name, kinds, proofs in (
                ("winning-2KiB", ("winning-post", "winningpost"), ("StackedDrgWinning2KiBV1",)),
                ("window-2KiB-v1_1", ("wpost", "window-post", "windowpost"),
                 ("StackedDrgWindow2KiBV1_1", "StackedDrgWindow2KiBV1_2")),
                ("snap-2KiB-k0", ("snap-deals", "update"), ("StackedDrg2KiBV1",))):
            request = Request(name)
            for kind in kinds:
                with self.subTest(kind):
                    run = cuzk("prove", *request.arguments()[2:], "--kind", kind, "--dir", self.tmp / "none", "--vanilla",
                               self.file("v", vanilla_json(request.blobs)), "--out", self.tmp / "p")
                    self.assert_fails(run, NOT_FOUND, ".params")
            for proof in proofs:
                with self.subTest(proof):
                    self.accepted(request, vanilla_json(request.blobs), registered_proof=proof)

    def test_options_that_agree(self):
        request = Request("window-2KiB-v1_1")
        good = vanilla_json(request.blobs)
        for sector in (5, 9):
            self.accepted(request, good, sector_num=sector, miner_id=1000)
        # Since V1_2 challenges do not depend on it, so any is taken.
        for partition in (0, 1, 2**32 - 1):
            self.accepted(request, good, partition=partition)
        winning = Request("winning-2KiB")
        self.accepted(winning, vanilla_json(winning.blobs), sector_num=77, partition=3)
        snap = Request("snap-2KiB-k0")
        self.accepted(snap, vanilla_json(snap.blobs), sector_num=123, miner_id=1)


class Options(RequestTest):
    def test_missing_and_foreign(self):
        window, snap = Request("window-2KiB-v1_1"), Request("snap-2KiB-k0")
        for request, option in ((window, "randomness"), (window, "registered_proof"), (snap, "registered_proof"),
                                (snap, "comm_r_old"), (snap, "comm_r_new"), (snap, "comm_d_new")):
            with self.subTest(request.kind, option=option):
                self.refused(request, vanilla_json(request.blobs), "needs --" + option.replace("_", "-"), code=USAGE,
                             **{option: None})
        for request in (window, snap):
            self.refused(request, "", "needs --vanilla", code=USAGE)
            self.refused(request, vanilla_json(request.blobs), "takes no --c1", code=USAGE, c1="x")
        self.refused(window, vanilla_json(window.blobs), "takes no --comm-r-old", code=USAGE, comm_r_old="00" * 32)
        self.refused(snap, vanilla_json(snap.blobs), "takes no --randomness", code=USAGE, randomness="00" * 32)
        self.refused(snap, vanilla_json(snap.blobs), "takes no --partition", code=USAGE, partition=0)
        run = cuzk("prove", "--kind", "porep", "--vanilla", "x", "--c1", "y", "--out", self.tmp / "p")
        self.assert_fails(run, USAGE, "takes no --vanilla")
        self.assert_fails(cuzk("prove", "--kind", "porep", "--out", self.tmp / "p"), USAGE, "needs --c1")
        # An update is verified without its vanilla proofs, a PoSt is not.
        self.assert_fails(self.run_on(window, "", command="verify"), USAGE, "needs --vanilla")
        self.assert_fails(self.run_on(snap, "", command="verify"), BAD_PROOF, "point a of the proof")

    def test_registered_proof(self):
        for name, wrong in (("winning-2KiB", (5, 10, 15, -1, "", "x", "StackedDrgWindow2KiBV1", 2**64)),
                            ("window-2KiB-v1_1", (0, 4, 15, "StackedDrgWinning2KiBV1")),
                            ("snap-2KiB-k0", (5, "StackedDrg2KiBV1_1"))):
            request = Request(name)
            for proof in wrong:
                with self.subTest(name, proof=proof):
                    if proof == "":
                        self.refused(request, vanilla_json(request.blobs), "registered-proof", code=USAGE,
                                     registered_proof=proof)
                        continue
                    self.refused(request, vanilla_json(request.blobs), "field registered_proof", registered_proof=proof)
            # Another sector size: the first count that differs is named.
            for proof in {"winning": (1, 2, 3, 4), "window": (6, 7, 8, 9, 11, 12, 13, 14), "snap": (1, 2, 3, 4)}[
                    request.kind]:
                with self.subTest(name, proof=proof):
                    self.refused(request, vanilla_json(request.blobs), "vanilla_proofs", registered_proof=proof)
        # V1's challenges of the second sector are others.
        request = Request("window-2KiB-v1_1")
        self.refused(request, vanilla_json(request.blobs), "vanilla_proofs[1]", "sector 9", registered_proof=5)
        request = Request("window-2KiB-v1")
        self.refused(request, vanilla_json(request.blobs), "vanilla_proofs[0]", "bad too: vanilla_proofs[1] (sector 9)",
                     partition=1)

    def test_bytes32(self):
        for name, options in (("window-2KiB-v1_1", ("randomness",)), ("winning-2KiB", ("randomness",)),
                              ("snap-2KiB-k0", ("comm_r_old", "comm_r_new", "comm_d_new"))):
            request = Request(name)
            good = vanilla_json(request.blobs)
            for option in options:
                flag = "--" + option.replace("_", "-")
                for bad in ("00" * 31, "00" * 33, "00"):
                    with self.subTest(flag, bad=bad):
                        self.refused(request, good, flag, f"has {len(bad) // 2} bytes, needs 32", "field " + option,
                                     **{option: bad})
                for bad in ("0" * 63, "zz" * 32, "0x" + "00" * 31, " " + "00" * 31 + "0"):
                    with self.subTest(flag, bad=bad):
                        self.refused(request, good, flag, "hexadecimal", **{option: bad})
                for bad in (NOT_CANONICAL.hex(), "ff" * 32):
                    with self.subTest(flag, bad=bad):
                        self.refused(request, good, "canonical", "field " + option, **{option: bad})
        snap = Request("snap-2KiB-k0")
        for option in ("comm_r_old", "comm_r_new", "comm_d_new"):
            self.refused(snap, vanilla_json(snap.blobs), "is zero", "field " + option, **{option: "00" * 32})

    def test_commitments_as_cids(self):
        """multibase base32 of CIDv1, codec, multihash and the commitment; the prefixes are go-fil-commcid's."""
        def cid(prefix, text):
            return "b" + base64.b32encode(bytes.fromhex(prefix) + bytes.fromhex(text)).decode().lower().rstrip("=")

        snap = Request("snap-2KiB-k0")
        good = vanilla_json(snap.blobs)
        cids = {"comm_r_old": cid("0182e20381e80220", snap.vector["comm_r_old"]),
                "comm_r_new": cid("0182e20381e80220", snap.vector["comm_r_new"]),
                "comm_d_new": cid("0181e203922020", snap.vector["comm_d_new"])}
        self.assertTrue(cids["comm_r_old"].startswith("bagboea4b5abc") and cids["comm_d_new"].startswith("baga6ea4seaq"))
        self.accepted(snap, good, **cids)
        swapped = {"comm_r_new": cids["comm_d_new"], "comm_d_new": cids["comm_r_new"]}
        for name, value in (*swapped.items(), ("comm_r_old", cids["comm_r_old"][:-1]), ("comm_r_old", "bag"),
                            ("comm_d_new", cids["comm_d_new"] + "a"), ("comm_d_new", cids["comm_d_new"].upper()),
                            ("comm_r_old", cids["comm_r_old"][:20] + "1" + cids["comm_r_old"][21:])):
            with self.subTest(name, value=value):
                self.refused(snap, good, "field " + name, "--" + name.replace("_", "-"), **{name: value})

    def test_others_that_do_not_fit(self):
        window, winning, snap = Request("window-2KiB-v1_1"), Request("winning-2KiB"), Request("snap-2KiB-k0")
        self.refused(window, vanilla_json(window.blobs), "the challenge is leaf", "sector 5",
                     randomness="00" * 32)
        self.refused(winning, vanilla_json(winning.blobs), "is 77, but --sector-num is 78", "sector_id", sector_num=78)
        self.refused(window, vanilla_json(window.blobs), "no sector 6", sector_num=6)
        one = "01" + "00" * 31
        for option, word in (("comm_r_old", "comm_r_old"), ("comm_r_new", "comm_r_new"), ("comm_d_new", "comm_d_new")):
            self.refused(snap, vanilla_json(snap.blobs), word, "partition 0", **{option: one})
        swapped = {"comm_r_old": snap.vector["comm_r_new"], "comm_r_new": snap.vector["comm_r_old"]}
        self.refused(snap, vanilla_json(snap.blobs), "comm_c", **swapped)
        for bad in ("-1", "x", str(2**64)):
            self.refused(winning, vanilla_json(winning.blobs), "", code=USAGE, sector_num=bad)
            self.refused(winning, vanilla_json(winning.blobs), "", code=USAGE, miner_id=bad)
        self.refused(window, vanilla_json(window.blobs), "", code=USAGE, partition=2**32)


class Files(RequestTest):
    def test_absent_folder_huge(self):
        request = Request("winning-2KiB")
        self.refused(request, self.tmp / "none", "none", code=NOT_FOUND)
        self.refused(request, self.tmp, "folder", code=IO)
        huge = self.tmp / "huge"
        with open(huge, "wb") as f:
            f.truncate(1 << 40)
        self.refused(request, huge, "huge")

    def test_not_an_array_of_base64(self):
        for name in ("winning-2KiB", "snap-2KiB-k0"):
            request = Request(name)
            good = vanilla_json(request.blobs)
            for bad in (b"", b" ", b"[]", b"{}", b"null", b"7", b'"AAAA"', b"[7]", b"[null]", b'[["AAAA"]]', b'["AAAA"',
                        b'["AAAA",]', b'["AAAA"]x', b"[" * 100000, b"hello", good[:-1], good[:-2], good + b"x", good + good,
                        good[:100] + b"!" + good[101:], good[:100] + b"\\n" + good[102:], good[:1000] + b"\n" + good[1001:],
                        good[:100] + good[101:], b'["="]', b'["AAA"]', good[:100] + b"-_" + good[102:]):
                with self.subTest(name, bad=bad[:8]):
                    self.refused(request, bad, "vanilla" if len(bad) < 10 and bad.strip() else "")

    def test_array_cut_anywhere(self):
        request = Request("window-2KiB-v1_1")
        good = vanilla_json(request.blobs)
        for length in [*range(0, 40), *range(40, len(good), len(good) // 40), len(good) - 1]:
            with self.subTest(length=length):
                self.refused(request, good[:length])


class Proofs(RequestTest):
    """The bytes of the vanilla proofs themselves."""

    def test_number_of_proofs(self):
        for name, wrong in (("winning-2KiB", (2, 3)), ("window-2KiB-v1_1", (3, 100)), ("snap-2KiB-k0", (2, 16)),
                            ("winning-2KiB", (5000,))):
            request = Request(name)
            for count in wrong:
                with self.subTest(name, count=count):
                    blobs = (request.blobs * count)[:count] if count < 1000 else [b"\0"] * count
                    self.refused(request, vanilla_json(blobs), "vanilla_proofs")

    def test_truncated_and_trailing(self):
        for name in ("winning-2KiB", "window-2KiB-v1_1", "snap-2KiB-k0"):
            request = Request(name)
            last = request.blobs[-1]
            place = f"vanilla_proofs[{len(request.blobs) - 1}]"
            for bad in (b"", last[:7], last[:8], last[:40], last[:100], last[:len(last) // 2], last[:-1], last + b"\0",
                        last + last):
                with self.subTest(name, length=len(bad)):
                    self.refused(request, vanilla_json([*request.blobs[:-1], bad]), place)
            # As a single raw file too.
            if len(request.blobs) == 1:
                for bad in (last[:-1], last + b"\0", last[:100]):
                    self.refused(request, bad, place)

    def test_huge_declared_lengths(self):
        huge = [u64(x) for x in (2**63, 2**64 - 1, 2**32, 10**6)]
        post = {"sectors": SECTORS, "inclusion_proofs": OPENINGS, "path": FIRST + LEVELS, "hashes": FIRST + LEVEL0}
        for name in ("winning-2KiB", "window-2KiB-v1_1"):
            request = Request(name)
            for field, offset in post.items():
                for value in (*huge, u64(0), u64(3)):
                    with self.subTest(name, field=field, value=value):
                        bad = [replaced(request.blobs[0], offset, value), *request.blobs[1:]]
                        self.refused(request, vanilla_json(bad), "vanilla_proofs[0]." , field)
        request = Request("snap-2KiB-k0")
        for field, offset in {"apex_leafs": APEX, "challenge_proofs": CHALLENGES, "path": SNAP_FIRST + LEVELS,
                              "hashes": SNAP_FIRST + LEVEL0}.items():
            for value in (*huge, u64(0), u64(3)):
                with self.subTest("snap", field=field, value=value):
                    self.refused(request, vanilla_json([replaced(request.blobs[0], offset, value)]), "vanilla_proofs[0].",
                                 field, "partition 0")

    def test_fields(self):
        request = Request("window-2KiB-v1_1")
        first, second = request.blobs
        for name, bad, words in (
                ("variant Sub", replaced(second, FIRST, b"\1\0\0\0"), ("inclusion_proofs[0]",)),
                ("index 8", replaced(second, FIRST + INDEX0, u64(8)), ("index",)),
                ("comm_r not canonical", replaced(second, COMM_R, NOT_CANONICAL), ("comm_r", "canonical")),
                ("leaf not canonical", replaced(second, FIRST + LEAF, NOT_CANONICAL), ("leaf", "canonical")),
                ("comm_r", flipped(second, COMM_R), ("comm_r", "comm_c")),
                ("comm_c", flipped(second, len(second) - 64), ("comm_r", "comm_c")),
                ("comm_r_last", flipped(second, len(second) - 32), ("comm_r",)),
                ("root", flipped(second, FIRST + 3 * OPENING + ROOT), ("inclusion_proofs[3].root", "comm_r_last")),
                ("sector number", replaced(second, 0, u64(10)), ("sector 10",))):
            with self.subTest(name):
                run = self.refused(request, vanilla_json([first, bad]), "vanilla_proofs[1]", *words)
                self.assertNotIn("bad too", run.err)

    def test_order_of_sectors(self):
        request = Request("window-2KiB-v1_1")
        self.refused(request, vanilla_json(request.blobs[::-1]), "vanilla_proofs[1].sector_id", "must ascend", "sector 5")
        self.refused(request, vanilla_json(request.blobs[:1] * 2), "vanilla_proofs[1].sector_id", "twice")
        run = self.run_on(request, vanilla_json(request.blobs[::-1]), command="verify")
        self.assert_fails(run, INVALID, "must ascend")

    def test_one_flipped_byte_is_named(self):
        request = Request("window-2KiB-v1_1")
        for k, sector in ((0, 5), (1, 9)):
            for opening in (0, 9):
                for offset in (LEAF, LEVEL0 + 8, LEVEL0 + 240 + 8 + 6 * 32):
                    with self.subTest(sector=sector, opening=opening, offset=offset):
                        blobs = list(request.blobs)
                        blobs[k] = flipped(blobs[k], FIRST + opening * OPENING + offset)
                        run = self.run_on(request, vanilla_json(blobs), extra=["--json"])
                        self.assertEqual(run.code, INVALID, str(run))
                        error = run.json["error"]
                        self.assertEqual(error["sector"], sector)
                        self.assertIn(f"vanilla_proofs[{k}].vanilla_proof.sectors[0].inclusion_proofs[{opening}]",
                                      error["field"])
                        self.assertNotIn("bad too", error["message"])
        both = [flipped(blob, FIRST + LEAF) for blob in request.blobs]
        run = self.refused(request, vanilla_json(both), "bad too: vanilla_proofs[1] (sector 9)", "sector 5)")

    def test_flipped_bytes_of_an_update(self):
        request = Request("snap-2KiB-k0")
        blob = request.blobs[0]
        for offset in (0, APEX + 8, SNAP_FIRST + ROOT, SNAP_FIRST + LEAF, SNAP_FIRST + LEVEL0 + 8,
                       SNAP_FIRST + OPENING + LEAF, SNAP_FIRST + OPENING + 364 + LEAF, len(blob) - 9 * 32):
            with self.subTest(offset=offset):
                self.refused(request, vanilla_json([flipped(blob, offset)]), "vanilla_proofs[0]", "partition 0")


class Porep(CommandTest):
    def test_options_that_contradict_the_input(self):
        from harness import C1, c1_inner, wrap
        common = ["prove", "--kind", "porep", "--dir", self.tmp / "none", "--out", self.tmp / "p"]
        wrapped = self.file("w.json", wrap(c1_inner()))
        for kind in ("porep-c2", "seal-commit"):
            run = cuzk("prove", "--kind", kind, "--c1", C1, "--dir", self.tmp / "none", "--out", self.tmp / "p")
            self.assert_fails(run, NOT_FOUND, ".params")
        for proof in (5, "StackedDrg2KiBV1_1"):
            self.assert_fails(cuzk(*common, "--c1", C1, "--registered-proof", proof), NOT_FOUND, ".params")
        for proof in (0, 8, 10, "StackedDrg2KiBV1"):
            self.assert_fails(cuzk(*common, "--c1", C1, "--registered-proof", proof), INVALID, "registered_proof",
                              "StackedDrg2KiBV1_1")
        self.assert_fails(cuzk(*common, "--c1", wrapped, "--sector-num", 7), NOT_FOUND, ".params")
        self.assert_fails(cuzk(*common, "--c1", wrapped, "--sector-num", 8), INVALID, "SectorNum", "is 7")
        # The vector's replica id is no miner's: told before anything is proved.
        run = cuzk(*common, "--c1", wrapped, "--miner-id", 1000)
        self.assert_fails(run, INVALID, "replica_id", "sector 7")
        self.assertLess(run.seconds, 1)


if __name__ == "__main__":
    unittest.main()
