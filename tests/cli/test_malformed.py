"""Attacks on requests of winning, window and snap beyond the rules that test_requests.py goes through one by one: damage
anywhere, parts of valid proofs put together wrongly, JSON and files made to cost time or memory. Each is refused in under
a second with a class and a place, before any parameter file is looked for, and nothing is written."""
import base64
import json
import os
import random
import resource
import unittest

from generated import generate
from harness import GOLDEN, CommandTest, INVALID, IO, NOT_FOUND, USAGE, cuzk
from kinds import NOT_CANONICAL, Request, replaced, u64, vanilla_json

VECTORS = ("winning-2KiB", "window-2KiB-v1_1", "snap-2KiB-k0")


class MalformedTest(CommandTest):
    def run_words(self, *words, **options):
        """The run; its seconds are the least of elapsed and processor time, so that other work fails no test."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = cuzk(*words, **options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        run.seconds = min(run.seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return run

    def prove(self, request, content=None, path=None, more=(), **changes):
        path = self.file("v.json", content) if path is None else path
        return self.run_words("prove", *request.arguments(**changes), "--vanilla", path, "--dir", self.tmp / "none", "--out",
                              self.tmp / "proof.bin", *more)

    def refused(self, run, *places, codes=(INVALID,)):
        self.assertIn(run.code, codes, str(run))
        self.assert_fails(run, run.code, *places)
        self.assertLess(run.seconds, 1, str(run))
        self.assertFalse([name for name in self.files() if "proof.bin" in name], self.files())


class Bytes(MalformedTest):
    def requests(self):
        for name in VECTORS:
            yield Request(name)

    def one_bad(self, request, i, bad):
        return self.prove(request, vanilla_json([*request.blobs[:i], bad, *request.blobs[i + 1:]]))

    def test_lengths_that_overflow(self):
        """Counts whose size in bytes is 2^64 or 2^63, or that a signed number cannot hold."""
        for request in self.requests():
            fields = [48 + 8 * 32 + 4 + 64, 32] if request.kind == "snap" else [40, 48, 56 + 4 + 64, 56 + 4 + 72]
            for at in fields:
                for length in ((1 << 59) + 7, 1 << 59, 1 << 60, (1 << 58) - 1, (1 << 63) + 1, (1 << 64) - 1):
                    with self.subTest(request.kind, at=at, length=length):
                        self.refused(self.one_bad(request, 0, replaced(request.blobs[0], at, u64(length))),
                                     "vanilla_proofs[0]", "offset")
            at = 48 + 8 * 32 if request.kind == "snap" else 56
            for variant in (1, 2, 3, 255, (1 << 32) - 1):
                with self.subTest(request.kind, variant=variant):
                    bad = replaced(request.blobs[0], at, variant.to_bytes(4, "little"))
                    self.refused(self.one_bad(request, 0, bad), "vanilla_proofs[0]")

    def test_bits_anywhere(self):
        choose = random.Random(3)
        for request in self.requests():
            for _ in range(60):
                i = choose.randrange(len(request.blobs))
                blob = request.blobs[i]
                at, bit = choose.randrange(len(blob)), 1 << choose.randrange(8)
                with self.subTest(request.kind, blob=i, at=at, bit=bit):
                    self.refused(self.one_bad(request, i, replaced(blob, at, bytes([blob[at] ^ bit]))))

    def test_cut_anywhere(self):
        choose = random.Random(4)
        for request in self.requests():
            for length in [choose.randrange(len(request.blobs[0])) for _ in range(20)]:
                with self.subTest(request.kind, length=length):
                    self.refused(self.one_bad(request, 0, request.blobs[0][:length]), "vanilla_proofs[0]")

    def test_spliced(self):
        """Two valid proofs, the first's head with the second's tail."""
        request = Request("window-2KiB-v1_1")
        first, second = request.blobs
        for at in (8, 40, 56, 56 + 556, 5680 - 64, 5680 - 32):
            with self.subTest(at=at):
                self.refused(self.one_bad(request, 0, first[:at] + second[at:]), "vanilla_proofs[0]")

    def test_of_another_kind_or_size(self):
        for request in self.requests():
            for other in self.requests():
                if other.kind != request.kind:
                    with self.subTest(request.kind, other=other.kind):
                        self.refused(self.prove(request, vanilla_json(other.blobs)), "vanilla_proofs")
        large = (GOLDEN / "window-32GiB-v1_1-s5.bin").read_bytes()
        self.refused(self.prove(Request("window-2KiB-v1_1"), vanilla_json([large])), "vanilla_proofs[0]", "sector 5")

    def test_sectors_of_32_gib(self):
        request = Request("window-2KiB-v1_1")
        first, second = ((GOLDEN / f"window-32GiB-v1_1-s{n}.bin").read_bytes() for n in (5, 9))
        large = {"registered_proof": 13}
        self.assert_fails(self.prove(request, vanilla_json([first, second]), **large), NOT_FOUND, ".params")
        self.refused(self.prove(request, vanilla_json([second, first]), **large), "vanilla_proofs[1]", "sector 5")
        self.refused(self.prove(request, vanilla_json([first] * 2350), **large), "2350", "2349")
        bad = replaced(second, len(second) - 500, NOT_CANONICAL)
        self.refused(self.prove(request, vanilla_json([first, bad]), **large), "vanilla_proofs[1]", "sector 9")

    def test_partitions(self):
        """Partitions swapped, missing, repeated, and one of another update of the same sector."""
        words, _ = generate(self, "snap", 1, "--synthetic")
        path = self.tmp / "snap-1.json"
        good = json.loads(path.read_text())
        generate(self, "snap", 1, "--synthetic", "--seed", "07" * 32)
        other = json.loads(path.read_text())

        def prove(texts):
            path.write_text(json.dumps(texts))
            return self.run_words("prove", *words, "--dir", self.tmp / "none", "--out", self.tmp / "proof.bin")

        self.assert_fails(prove(good), NOT_FOUND, ".params")
        self.refused(prove([good[1], good[0], *good[2:]]), "partition 0")
        self.refused(prove([*good[:2], good[3], good[2]]), "partition 2")
        self.refused(prove([*good[:3], other[3]]), "partition 3")
        self.refused(prove(other), "partition 0")
        self.refused(prove(good[:3]), "3", "4")
        self.refused(prove([*good, good[0]]), "5", "4")
        self.refused(prove([good[0]] * 4), "partition 1")


class Documents(MalformedTest):
    def test_json(self):
        for name in VECTORS:
            request = Request(name)
            good = vanilla_json(request.blobs).decode()
            text = json.loads(good)[0]
            for what, bad in {
                "cut in a text": good[:500], "twice": good + good, "object": json.dumps({"0": text}),
                "numbers": json.dumps([[1, 2, 3]]), "deep": "[" * 1000000, "deep and closed": "[" * 1000000 + "]" * 1000000,
                "deep objects": '{"a":' * 100000, "not UTF-8": b'["\xff\xfe"]', "NUL": good[:20] + "\0" + good[21:],
                "NUL behind": good + "\0", "escaped NUL": '["\\u0000"]', "escaped half": '["\\ud800"]', "NaN": "[NaN]",
                "single quotes": good.replace('"', "'"), "many": json.dumps([""] * 100000),
                "many proofs": json.dumps(["AAAA"] * 100000), "many numbers": json.dumps([0] * 100000),
                "long number": "[" + "9" * 1000000 + "]", "long text": '["' + "A" * 10000000 + '"]',
                "blank": " " * 10000000, "comment": "//" + good, "mark": b"\xef\xbb\xbf" + good.encode(),
                "wide": good.encode("utf-16"),
            }.items():
                with self.subTest(request.kind, json=what):
                    self.refused(self.prove(request, bad))

    def test_nul_bytes_of_hexadecimal_fields(self):
        """They cannot come as arguments; in JSON texts they can."""
        request = Request("window-2KiB-v1_1")
        text = base64.b64encode(request.blobs[0]).decode()
        for bad in (text[:40] + "\\u0000" + text[40:], "\\u0000" + text, text + "\\u0000", "\\u0000"):
            with self.subTest(bad=bad[:12]):
                self.refused(self.prove(request, f'["{bad}"]'), "vanilla_proofs[0]")


class Options(MalformedTest):
    def test_given_twice(self):
        for name in VECTORS:
            request = Request(name)
            for option, value in {"kind": request.kind, "vanilla": "x", **request.options}.items():
                with self.subTest(request.kind, twice=option):
                    run = self.prove(request, vanilla_json(request.blobs), more=["--" + option, value])
                    self.refused(run, "--" + option, codes=(USAGE,))

    def test_commitments_in_each_others_place(self):
        request = Request("snap-2KiB-k0")
        for a, b in (("comm-r-old", "comm-r-new"), ("comm-r-old", "comm-d-new"), ("comm-r-new", "comm-d-new")):
            with self.subTest(swapped=(a, b)):
                self.refused(self.prove(request, vanilla_json(request.blobs), **{
                    a.replace("-", "_"): request.options[b], b.replace("-", "_"): request.options[a]}), "partition 0")

    def test_long_and_odd(self):
        request = Request("window-2KiB-v1_1")
        good = vanilla_json(request.blobs)
        for bad in ("é" * 32, "a" * 100000, "\n" + "0" * 63, "baga6ea4seaq" + "a" * 52, "-1", "--help"):
            with self.subTest(randomness=bad[:20]):
                self.refused(self.prove(request, good, randomness=bad), codes=(INVALID, USAGE))
        for bad in ("10 ", "+10", "0x0a", "1e1", "10.0", str(1 << 64), str((1 << 64) + 10), "9" * 10000):
            with self.subTest(registered_proof=bad[:20]):
                self.refused(self.prove(request, good, registered_proof=bad), "registered_proof")


class Files(MalformedTest):
    def test_what_is_no_file(self):
        request = Request("winning-2KiB")
        for path, codes in (("", (USAGE, NOT_FOUND)), ("/dev/null", (INVALID,)), ("/proc/self/mem", (INVALID, IO)),
                            ("x" * 300, (IO, INVALID, NOT_FOUND)), (self.tmp / "a\nb", (NOT_FOUND,))):
            with self.subTest(path):
                self.refused(self.prove(request, path=path), codes=codes)

    def test_endless(self):
        """What cannot become a document is given up early, in time and in memory."""
        for options in (Request("winning-2KiB").arguments(), Request("snap-2KiB-k0").arguments()):
            run = self.run_words("prove", *options, "--vanilla", "/dev/zero", "--dir", self.tmp / "none", "--out",
                                 self.tmp / "proof.bin", "--json")
            self.assertEqual((run.code, run.json["error"]["file"]), (INVALID, "/dev/zero"))
            self.assertLess(run.seconds, 1)
            self.assertLess(run.json["peak_rss_bytes"], 64 << 20)
        for content in ("/dev/zero", "/dev/urandom"):
            run = self.run_words("prove", "--kind", "porep", "--c1", content, "--dir", self.tmp / "none", "--out",
                                 self.tmp / "proof.bin", "--json")
            self.assertEqual((run.code, run.json["error"]["file"]), (INVALID, content))
            self.assertLess(run.seconds, 1)
            self.assertLess(run.json["peak_rss_bytes"], 64 << 20)

    def test_pipes_of_every_length(self):
        """What is read in pieces arrives whole; the pieces end at 4 KiB, 1 MiB, 2 MiB and so on."""
        request = Request("winning-2KiB")
        for length in (4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, 5 << 20):
            blanks = " " * (length - 15)
            for content in ('["AAAA"' + blanks + ',"AAAA"]', '["AAAA","AAAA"]' + blanks):
                self.assertEqual(len(content), length)
                with self.subTest(length=length):
                    run = self.run_words("prove", *request.arguments(), "--vanilla", "-", "--dir", self.tmp / "none", "--out",
                                         self.tmp / "proof.bin", input=content.encode())
                    self.refused(run, "has 2 sectors, needs 1")
                    self.refused(self.prove(request, content), "has 2 sectors, needs 1")

    def test_sparse(self):
        """As long as may be, and only zeros."""
        path = self.tmp / "sparse"
        with open(path, "wb") as f:
            f.truncate((512 << 20) - 1)
        self.refused(self.prove(Request("window-2KiB-v1_1"), path=path), "sparse")
        with open(path, "r+b") as f:
            f.truncate((2 << 30) - 1)
        run = self.run_words("prove", "--kind", "porep", "--c1", path, "--dir", self.tmp / "none", "--out",
                             self.tmp / "proof.bin")
        self.refused(run, "sparse")

    def test_outputs(self):
        request = Request("winning-2KiB")
        path = self.file("v.json", vanilla_json(request.blobs))
        os.mkfifo(self.tmp / "pipe")
        for out, codes in ((self.tmp, (USAGE,)), (self.tmp / "none" / "p", (NOT_FOUND,)), (self.tmp / "pipe", (USAGE,)),
                           ("/dev/full", (USAGE,)), ("", (USAGE, NOT_FOUND, IO)), (path / "p", (IO, NOT_FOUND, USAGE)),
                           ("/proc/p", (IO, NOT_FOUND)), (self.tmp / ("x" * 300), (IO,))):
            with self.subTest(out=str(out)[:40]):
                run = self.run_words("prove", *request.arguments(), "--vanilla", path, "--dir", self.tmp / "none", "--out", out)
                self.refused(run, codes=codes)
        self.assertEqual(path.read_bytes(), vanilla_json(request.blobs))


if __name__ == "__main__":
    unittest.main()
