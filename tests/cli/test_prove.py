"""prove and verify on the golden 2 KiB request, with the parameters of make_params.py; slow parts are made once."""
import os
import re
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

from harness import (BAD_PROOF, BINARY, C1, CORRUPT, CommandTest, INVALID, IO, NOT_FOUND, PARAMS, ROOT, STEM_2K, TMP,
                     USAGE, c1_inner, compact, cuzk, environment, on_terminal, wrap)

MADE = {}  # the proof and what was said while it was made


def setUpModule():
    path = os.path.join(TMP, "cli-test-proof.bin")
    if os.path.exists(path):
        os.unlink(path)
    run = cuzk("prove", "--kind", "porep", "--input", C1, "--dir", PARAMS, "--out", path, "--json")
    MADE.update(run=run, path=path)
    if run.code == 0:
        MADE["proof"] = Path(path).read_bytes()


class ProofTest(CommandTest):
    def prove(self, *more, input=C1, params=PARAMS, out=None):
        return cuzk("prove", "--kind", "porep", "--input", input, "--dir", params, "--out", out or self.tmp / "proof.bin",
                    *more)

    def verify(self, *more, proof=None, input=C1, params=PARAMS):
        return cuzk("verify", "--kind", "porep", "--input", input, "--dir", params, "--proof", proof or MADE["path"], *more)


class Prove(ProofTest):
    def test_result(self):
        run = MADE["run"]
        self.assert_ok(run)
        self.assertEqual(run.err, "", "something was drawn or said though stderr is no terminal")
        result = run.json
        self.assertEqual((result["ok"], result["command"], result["kind"], result["registered_proof"], result["circuit"],
                          result["partitions"]), (True, "prove", "porep", "StackedDrg2KiBV1_1", "porep-2k", 1))
        self.assertEqual(len(MADE["proof"]), 192)
        self.assertEqual(bytes.fromhex(result["proof"]), MADE["proof"])
        self.assertGreater(result["seconds"], 0)
        self.assertGreater(result["peak_rss_bytes"], 100 << 20)
        self.assertGreater(len(result["stages"]), 4)
        self.assertTrue(all(stage["seconds"] >= 0 and stage["name"] for stage in result["stages"]))

    def test_parameters_absent(self):
        for params in (self.tmp, self.tmp / "none"):
            run = self.prove(params=params)
            self.assert_fails(run, NOT_FOUND, STEM_2K + ".params", "hint: ", "cuzk setup")
            self.assertLess(run.seconds, 2)
            self.assertEqual(self.files(), [])

    def test_parameters_damaged(self):
        """Sparse files with the true head: cut short, too long, and zeros instead of points."""
        size = os.path.getsize(PARAMS / (STEM_2K + ".params"))
        with open(PARAMS / (STEM_2K + ".params"), "rb") as f:
            head = f.read(1 << 20)
        bad = self.tmp / (STEM_2K + ".params")
        for name, content, length in (
            ("empty", b"", 0), ("key cut", head[:1000], 1000), ("cut in half", head, size // 2),
            ("cut by one", head, size - 1), ("one too long", head, size + 1), ("other file", os.urandom(4096), size),
            ("counts do not add up", head, size), ("h is short", head[:4708] + struct.pack(">I", 7) + head[4712:], size),
        ):
            with self.subTest(name):
                bad.write_bytes(content)
                os.truncate(bad, length)
                run = self.prove(params=self.tmp)
                self.assert_fails(run, CORRUPT, str(bad), "hint: ")
                self.assertEqual(self.files(), [bad.name])
        # Everything there but the points: the counts of l, a, b_g1, b_g2 stand where they must.
        counts = [4194303, 2685673, 2674948, 685522, 685522]
        with open(bad, "r+b") as f:
            offset = 4708
            for count in counts:
                f.seek(offset)
                f.write(struct.pack(">I", count))
                offset += 4 + 96 * count
        os.truncate(bad, size)
        run = self.prove("--json", params=self.tmp)
        self.assertEqual(run.code, CORRUPT, str(run))
        self.assertIn("h[", run.json["error"]["field"])

    def test_output_that_cannot_be_written(self):
        self.assert_fails(self.prove(out=self.tmp / "none" / "p"), NOT_FOUND, "none")
        self.assert_fails(self.prove(out=self.tmp), USAGE, "folder")
        os.mkfifo(self.tmp / "pipe")
        self.assert_fails(self.prove(out=self.tmp / "pipe"), USAGE, "device")
        self.assertEqual(self.files(), ["pipe"])

    def test_interrupted(self):
        process = subprocess.Popen([BINARY, "prove", "--kind", "porep", "--input", str(C1), "--dir", str(PARAMS), "--out",
                                    str(self.tmp / "p")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        while process.poll() is None and not self.files():
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(out, b"")
        self.assertEqual(self.files(), [])

    def test_terminal_shows_progress(self):
        code, seen = on_terminal("params", "check", PARAMS / (STEM_2K + ".params"))
        self.assertEqual(code, 0)
        self.assertIn("\r", seen)
        self.assertRegex(seen, r"\d+ %, [\d.]+ [MkG]? ?points/s, [\d.]+ m?s left")
        for line in re.split(r"[\r\n]", re.sub(r"\x1b\[K", "", seen)):
            self.assertLess(len(line), 80)
        code, seen = on_terminal("params", "check", PARAMS / (STEM_2K + ".params"), "--quiet")
        self.assertEqual((code, seen), (0, ""))
        code, seen = on_terminal("params", "check", PARAMS / (STEM_2K + ".params"), env=environment(TERM="dumb"))
        self.assertEqual((code, seen), (0, ""))


class Verify(ProofTest):
    def test_accepts(self):
        run = self.verify("--json")
        self.assert_ok(run)
        self.assertEqual((run.json["valid"], run.json["partitions"]), (True, 1))
        self.assert_ok(self.verify(input=self.file("wrapped.json", wrap(c1_inner()))))
        self.assertIn("valid proof", self.verify().out)

    def test_key_sources(self):
        key = (PARAMS / (STEM_2K + ".vk")).read_bytes()
        self.assert_ok(self.verify("--vk", self.file("some.vk", key), params=self.tmp / "none"))
        # Without the .vk file the head of the parameters serves.
        os.symlink(PARAMS / (STEM_2K + ".params"), self.tmp / (STEM_2K + ".params"))
        self.assert_ok(self.verify(params=self.tmp))
        self.assert_fails(self.verify(params=self.tmp / "none"), NOT_FOUND, ".vk", "hint: ")
        self.assert_fails(self.verify("--vk", self.tmp / "none.vk"), NOT_FOUND, "none.vk")
        self.assert_fails(self.verify("--vk", self.file("cut.vk", key[:-1])), CORRUPT, "cut.vk")
        other = (ROOT / "tests/golden/c1-2kib-test.vk").read_bytes()
        self.assert_fails(self.verify("--vk", self.file("other.vk", other)), BAD_PROOF)
        small = (ROOT / "tests/golden/groth16-mul.params").read_bytes()[:1060]
        run = self.verify("--vk", self.file("small.vk", small))
        self.assertIn(run.code, (CORRUPT, INVALID), str(run))

    def test_any_changed_byte_is_refused(self):
        for offset in range(192):
            for flip in (0x01, 0x80):
                bad = bytearray(MADE["proof"])
                bad[offset] ^= flip
                run = self.verify(proof=self.file("bad.bin", bytes(bad)))
                self.assert_fails(run, BAD_PROOF, "bad.bin" if "offset" in run.err else "")

    def test_points_swapped(self):
        proof = MADE["proof"]
        self.assert_fails(self.verify(proof=self.file("p", proof[144:] + proof[48:144] + proof[:48])), BAD_PROOF)
        identity = b"\xc0" + b"\x00" * 47
        self.assert_fails(self.verify(proof=self.file("p", identity + proof[48:])), BAD_PROOF)

    def test_wrong_length(self):
        proof = MADE["proof"]
        for bad in (b"", proof[:-1], proof + b"\x00", proof * 2):
            run = self.verify(proof=self.file("p", bad))
            self.assert_fails(run, INVALID, str(self.tmp / "p"))
        self.assert_fails(self.verify(proof=self.tmp / "none"), NOT_FOUND, "none")
        self.assert_fails(self.verify(proof=self.tmp), IO, "folder")

    def test_other_public_inputs(self):
        # A well-formed request with another replica id, commitment or seed is a request for another proof.
        for key in ("replica_id", "comm_r", "seed"):
            document = c1_inner()
            document[key][0] ^= 1
            with self.subTest(key=key):
                self.assert_fails(self.verify(input=self.file("c1.json", compact(document))), BAD_PROOF)

    def test_miner(self):
        # The vector's prover id is 32 times 9, which is no miner's; so no miner id fits.
        run = self.verify("--miner-id", "1000", "--sector", "7")
        self.assert_fails(run, INVALID, "replica_id")
        self.assert_fails(self.verify("--miner-id", "1000"), USAGE, "--sector")
        self.assert_fails(self.verify("--miner-id", "1000", input=self.file("w.json", wrap(c1_inner()))), INVALID,
                          "replica_id")

    def test_speed(self):
        stages = {stage["name"]: stage["seconds"] for stage in self.verify("--json").json["stages"]}
        self.assertLess(stages["verifying"], 0.1)


if __name__ == "__main__":
    unittest.main()
