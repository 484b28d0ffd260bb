"""What `cuzk bench gen-vanilla --synthetic` makes is valid: every hash chain, challenge and commitment recomputed by the
independent checker. Sectors of 2 KiB, everything in full; test_generated_large.py has the others."""
import json
import base64
import unittest

from generated import FAMILIES, Invalid, check, generate
from harness import CommandTest

SECTORS = {"window": ("--sectors", 2)}


class Generated(CommandTest):
    def test_every_registered_proof(self):
        for kind, families in FAMILIES.items():
            for number in families:
                with self.subTest(kind=kind, number=number):
                    words, _ = generate(self, kind, number, "--synthetic", *SECTORS.get(kind, ()))
                    partitions = check(words)
                    self.assertEqual(len(partitions), 1)

    def test_seeds(self):
        for kind, families in FAMILIES.items():
            made = set()
            for seed in ("01" * 32, "02" * 32, "01" * 32):
                words, run = generate(self, kind, families[-1], "--synthetic", "--seed", seed)
                check(words)
                made.add((self.tmp / f"{kind}-{families[-1]}.json").read_bytes())
            self.assertEqual(len(made), 2, kind)

    def test_window_of_a_later_partition(self):
        """V1 challenges depend on the partition and the position in it, those of V1_1 do not."""
        words, _ = generate(self, "window", 5, "--synthetic", "--sectors", 2, "--partition", 3)
        check(words)
        at = words.index("--partition")
        with self.assertRaises(Invalid):
            check(words[:at] + words[at + 2:])
        words, _ = generate(self, "window", 10, "--synthetic", "--sectors", 2, "--partition", 3)
        at = words.index("--partition")
        check(words[:at] + words[at + 2:])

    def test_identities(self):
        words, _ = generate(self, "porep", 5, "--synthetic", "--miner-id", 123456789, "--sector-number", 1 << 40)
        check(words)
        with self.assertRaises(Invalid):
            check([*words, "--miner-id", "123456788"])
        words, _ = generate(self, "winning", 0, "--synthetic", "--sector-number", (1 << 63) + 5,
                            "--randomness", "00" * 31 + "1f")
        check(words)

    def test_the_checker_sees_damage(self):
        words, _ = generate(self, "snap", 0, "--synthetic")
        path = self.tmp / "snap-0.json"
        proof = bytearray(base64.b64decode(json.loads(path.read_bytes())[0]))
        proof[5000] ^= 4
        path.write_text(json.dumps([base64.b64encode(proof).decode()]))
        with self.assertRaises(Invalid):
            check(words)


if __name__ == "__main__":
    unittest.main()
