"""Malformed requests: each is refused in under a second with the class invalid-input and the field's name, before any
parameter file is touched (the folder of parameters does not exist, which would be another error)."""
import base64
import copy
import json
import os
import unittest

from harness import (C1, CommandTest, INVALID, IO, NOT_FOUND, USAGE, c1_inner, compact, cuzk, wrap)

MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001
NOT_CANONICAL = list(MODULUS.to_bytes(32, "little"))


def changed(document, path, value):
    """A copy of the document with the value at path (keys and indices) replaced; a function is applied."""
    document = copy.deepcopy(document)
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    return document


def without(document, path):
    document = copy.deepcopy(document)
    at = document
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return document


def reversed_keys(value):
    if isinstance(value, dict):
        return {k: reversed_keys(v) for k, v in reversed(value.items())}
    return [reversed_keys(v) for v in value] if isinstance(value, list) else value


def without_phantoms(value):
    if isinstance(value, dict):
        return {k: without_phantoms(v) for k, v in value.items() if k != "_h"}
    return [without_phantoms(v) for v in value] if isinstance(value, list) else value


class InputTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.inner = c1_inner()

    def prove(self, document, *more):
        path = self.file("c1.json", document)
        return cuzk("prove", "--kind", "porep", "--input", path, "--dir", self.tmp / "none", "--out",
                    self.tmp / "proof.bin", *more)

    def verify(self, document):
        path = self.file("c1.json", document)
        proof = self.file("proof.in", b"\x00" * 192)
        return cuzk("verify", "--kind", "porep", "--input", path, "--dir", self.tmp / "none", "--proof", proof)

    def refused(self, document, *words):
        run = self.prove(document)
        self.assert_fails(run, INVALID, *words)
        self.assertLess(run.seconds, 1, str(run))
        self.assertNotIn("proof.bin", self.files())
        return run


class Accepted(InputTest):
    """Forms that clients send; with these the command gets as far as the missing parameters."""

    def test_forms(self):
        for name, document in {
            "bare": compact(self.inner),
            "spaced": json.dumps(self.inner, indent=1),
            "wrapper": wrap(self.inner),
            "wrapper, keys reversed": compact(reversed_keys(json.loads(wrap(compact(reversed_keys(self.inner)))))),
            "no phantom fields": compact(without_phantoms(self.inner)),
            "unknown key": compact({**self.inner, "unknown": {"a": [1, {}]}}),
        }.items():
            with self.subTest(name):
                self.assert_fails(self.prove(document), NOT_FOUND, ".params", "hint: ")

    def test_standard_input_and_pipe(self):
        run = cuzk("prove", "--kind", "porep", "--input", "-", "--dir", self.tmp / "none", "--out", self.tmp / "p",
                   input=compact(self.inner))
        self.assert_fails(run, NOT_FOUND, ".params")
        read, write = os.pipe()
        os.write(write, b'{"SectorNum":')
        os.close(write)
        run = cuzk("prove", "--kind", "porep", "--input", f"/dev/fd/{read}", "--dir", self.tmp / "none", "--out",
                   self.tmp / "p", pass_fds=[read])
        os.close(read)
        self.assert_fails(run, INVALID)


class Files(InputTest):
    def run_on(self, path):
        return cuzk("prove", "--kind", "porep", "--input", path, "--dir", self.tmp, "--out", self.tmp / "p")

    def test_absent(self):
        self.assert_fails(self.run_on(self.tmp / "none.json"), NOT_FOUND, "none.json")

    def test_folder(self):
        self.assert_fails(self.run_on(self.tmp), IO, "folder")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable(self):
        path = self.file("c1.json", b"{}")
        path.chmod(0)
        self.assert_fails(self.run_on(path), IO, "c1.json")

    def test_huge(self):
        path = self.tmp / "huge.json"
        with open(path, "wb") as f:
            f.truncate(1 << 40)
        run = self.run_on(path)
        self.assert_fails(run, INVALID, "huge.json")
        self.assertLess(run.seconds, 1)

    def test_empty_and_not_json(self):
        for content in (b"", b" ", b"\x00" * 64, b"\xff\xfe", b"[]", b"{}", b"null", b"7", b'"x"', b"{" * 100000,
                        b"[" * 100000):
            with self.subTest(content=content[:8]):
                self.refused(content)


class Wrapper(InputTest):
    def test_base64(self):
        good = json.loads(wrap(self.inner))
        text = good["Phase1Out"]
        for name, bad in {
            "character": "!" + text[1:], "url alphabet": text[:1000] + "-_" + text[1002:], "padding cut": text[:-1],
            "padding added": text + "=", "white space": text[:500] + "\n" + text[500:], "cut": text[: len(text) // 2 + 1],
            "empty": "",
        }.items():
            with self.subTest(name):
                self.refused(compact({**good, "Phase1Out": bad}), "Phase1Out" if bad else "")
        for bad in (None, 7, [text], {"x": 1}):
            self.refused(compact({**good, "Phase1Out": bad}), "Phase1Out")

    def test_sector_size_and_number(self):
        for size in (0, 2047, 8388608, -1, "2048", None, 2048.5):
            with self.subTest(size=size):
                self.refused(wrap(self.inner, sector_size=size), "SectorSize")
        for number in (-1, "7", None, 1 << 64, 1.5):
            with self.subTest(number=number):
                self.refused(wrap(self.inner, sector_number=number), "SectorNum")

    def test_keys(self):
        good = json.loads(wrap(self.inner))
        for key in good:
            with self.subTest(key=key):
                self.refused(compact({k: v for k, v in good.items() if k != key}), key)
        self.refused(wrap(self.inner)[:-1] + b',"SectorNum":7}', "SectorNum")

    def test_cut_anywhere(self):
        document = wrap(self.inner)
        for length in list(range(0, 80)) + list(range(80, len(document), len(document) // 60)) + [len(document) - 1]:
            with self.subTest(length=length):
                self.refused(document[:length])


class Document(InputTest):
    def test_cut_anywhere(self):
        document = compact(self.inner)
        for length in list(range(0, 60, 3)) + list(range(60, len(document), len(document) // 60)) + [len(document) - 1]:
            with self.subTest(length=length):
                self.refused(document[:length])

    def test_trailing(self):
        self.refused(compact(self.inner) + b"x")
        self.refused(compact(self.inner) + b"{}")

    def test_missing_keys(self):
        for key in self.inner:
            with self.subTest(key=key):
                self.refused(compact(without(self.inner, [key])), key)
        for key in self.inner["vanilla_proofs"]["StackedDrg2KiBV1"][0][0]:
            with self.subTest(key=key):
                self.refused(compact(without(self.inner, ["vanilla_proofs", "StackedDrg2KiBV1", 0, 1, key])), key,
                             "partition 0")

    def test_digests(self):
        for key in ("comm_r", "comm_d", "replica_id", "seed", "ticket"):
            for name, value in {"short": [0] * 31, "long": [0] * 33, "256": [256] + [0] * 31, "-1": [-1] + [0] * 31,
                                "text": "00" * 32, "null": None, "fraction": [1.5] + [0] * 31, "object": {}}.items():
                with self.subTest(key=key, value=name):
                    self.refused(compact(changed(self.inner, [key], value)), key)
        for key in ("comm_r", "comm_d", "replica_id"):
            with self.subTest(key=key):
                self.refused(compact(changed(self.inner, [key], NOT_CANONICAL)), key)
        for key in ("comm_r", "comm_d", "seed"):
            with self.subTest(key=key, value="zero"):
                self.refused(compact(changed(self.inner, [key], [0] * 32)), key)

    def test_registered_proof_and_tag(self):
        for name in ("StackedDrg2KiBV2", "", "StackedDrg32GiBV1_1", "StackedDrg8MiBV1_1", 5, None):
            with self.subTest(name=name):
                self.refused(compact(changed(self.inner, ["registered_proof"], name)))
        proofs = self.inner["vanilla_proofs"]["StackedDrg2KiBV1"]
        for tag in ("StackedDrg2KiBV1_1", "StackedDrg8MiBV1", "x"):
            self.refused(compact(changed(self.inner, ["vanilla_proofs"], {tag: proofs})), "vanilla_proofs")
        self.refused(compact(changed(self.inner, ["vanilla_proofs"], proofs)), "vanilla_proofs")

    def test_partitions_and_challenges(self):
        proofs = self.inner["vanilla_proofs"]["StackedDrg2KiBV1"]
        for name, bad in {"none": [], "two": proofs * 2, "empty": [[]], "one challenge": [proofs[0][:1]],
                          "three challenges": [proofs[0] + proofs[0][:1]],
                          "challenges swapped": [proofs[0][::-1]], "challenge twice": [proofs[0][:1] * 2]}.items():
            with self.subTest(name):
                self.refused(compact(changed(self.inner, ["vanilla_proofs", "StackedDrg2KiBV1"], bad)), "vanilla_proofs")

    def test_every_value_of_a_challenge_counts(self):
        """Each leaf, root, sibling, row, parent, index and node of a challenge is checked against something."""
        top = ["vanilla_proofs", "StackedDrg2KiBV1", 0, 0]
        challenge = self.inner
        for step in top:
            challenge = challenge[step]
        digests, numbers = [], []

        def walk(value, path):
            if isinstance(value, dict):
                for key, inner in value.items():
                    walk(inner, path + [key])
            elif isinstance(value, list) and len(value) == 32 and all(isinstance(v, int) for v in value):
                digests.append(path)
            elif isinstance(value, list):
                for index, inner in enumerate(value):
                    walk(inner, path + [index])
            elif isinstance(value, int):
                numbers.append(path)

        walk(challenge, [])
        self.assertGreater(len(digests), 400)
        self.assertGreater(len(numbers), 50)
        for path in digests[::7]:
            with self.subTest(path=path):
                self.refused(compact(changed(self.inner, top + path, lambda d: [d[0] ^ 1] + d[1:])), "vanilla_proofs")
        for path in digests[::40]:
            if "parents" in path and path[0] in ("labeling_proofs", "encoding_proof"):
                continue  # bytes for SHA-256, not field elements; checked above
            with self.subTest(path=path, value="not canonical"):
                self.refused(compact(changed(self.inner, top + path, NOT_CANONICAL)), "vanilla_proofs")
        for path in numbers:
            with self.subTest(path=path):
                self.refused(compact(changed(self.inner, top + path, lambda n: n ^ 1)), "vanilla_proofs")
                self.refused(compact(changed(self.inner, top + path, 1 << 40)), "vanilla_proofs")

    def test_public_values_must_fit(self):
        for key in ("comm_r", "comm_d", "replica_id", "seed"):
            with self.subTest(key=key):
                self.refused(compact(changed(self.inner, [key], lambda d: [d[0] ^ 1] + d[1:])))

    def test_json_error_names_the_place(self):
        path = self.file("c1.json", compact(changed(self.inner, ["comm_r"], NOT_CANONICAL)))
        error = cuzk("prove", "--kind", "porep", "--input", path, "--dir", self.tmp / "none", "--out", self.tmp / "p",
                     "--json").json["error"]
        self.assertEqual((error["class"], error["field"], error["file"]), ("invalid-input", "comm_r", str(path)))
        self.assertGreater(error["offset"], 0)

    def test_verify_reads_the_same_way(self):
        self.assert_fails(self.verify(compact(changed(self.inner, ["comm_r"], NOT_CANONICAL))), INVALID, "comm_r")
        self.assert_fails(self.verify(wrap(self.inner, sector_size=8388608)), INVALID, "SectorSize")


if __name__ == "__main__":
    unittest.main()
