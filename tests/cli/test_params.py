"""params inspect and check on the small golden file, whole and damaged in each way."""
import struct
import unittest

from harness import CORRUPT, CommandTest, GOLDEN, IO, NOT_FOUND, STEM_2K, cuzk

GOOD = (GOLDEN / "groth16-mul.params").read_bytes()
VK_BYTES = 868 + 96 * 2  # ic 2
# Offsets of the counts of h, l, a, b_g1, b_g2 in the file: 3, 2, 3, 1, 1 points.
COUNTS = {"ic": 864, "h": 1060, "l": 1352, "a": 1548, "b_g1": 1840, "b_g2": 1940}
P = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab


def patched(offset, replacement):
    return GOOD[:offset] + replacement + GOOD[offset + len(replacement):]


class Params(CommandTest):
    def check(self, content, *more, name="x.params"):
        return cuzk("params", "check", self.file(name, content), *more)

    def test_good(self):
        self.assertEqual(len(GOOD), 2136)
        for more in ([], ["--quick"], ["--subgroup"]):
            run = self.check(GOOD, *more)
            self.assert_ok(run)
            self.assertIn("sound", run.out)
        run = cuzk("params", "inspect", self.tmp / "x.params", "--json")
        self.assert_ok(run)
        self.assertEqual(run.json["points"], {"ic": 2, "h": 3, "l": 2, "a": 3, "b_g1": 1, "b_g2": 1})
        self.assertEqual(run.json["bytes"], 2136)

    def test_key_beside(self):
        self.file("x.vk", GOOD[:VK_BYTES])
        self.assertTrue(self.checked_json()["vk_file_agrees"])
        other = bytearray(GOOD[:VK_BYTES])
        other[868:964], other[964:1060] = GOOD[964:1060], GOOD[868:964]  # two ic points swapped
        self.file("x.vk", bytes(other))
        self.assert_fails(self.check(GOOD), CORRUPT, "x.vk", "differs")
        self.file("x.vk", GOOD[:100])
        self.assert_fails(self.check(GOOD), CORRUPT, "x.vk")
        self.assert_fails(cuzk("params", "check", self.tmp / "x.vk"), CORRUPT, "x.vk")
        self.file("x.vk", GOOD[:VK_BYTES])
        self.assert_ok(cuzk("params", "check", self.tmp / "x.vk"))
        self.assertEqual(cuzk("params", "inspect", self.tmp / "x.vk", "--json").json["points"], {"ic": 2})

    def checked_json(self):
        run = cuzk("params", "check", self.file("x.params", GOOD), "--json")
        self.assert_ok(run)
        return run.json

    def test_cut_anywhere_and_too_long(self):
        for length in list(range(0, len(GOOD), 13)) + [0, 1, 863, 864, 867, 868, 1060, 1064, 2135]:
            with self.subTest(length=length):
                self.assert_fails(self.check(GOOD[:length]), CORRUPT, "x.params")
                self.assert_fails(self.check(GOOD[:length], "--quick"), CORRUPT, "x.params")
        self.assert_fails(self.check(GOOD + b"\x00"), CORRUPT, "x.params")
        self.assert_fails(self.check(GOOD + GOOD), CORRUPT, "x.params")

    def test_counts(self):
        for name, offset in COUNTS.items():
            count = struct.unpack(">I", GOOD[offset:offset + 4])[0]
            for bad in (0, count - 1, count + 1, 0xffffffff, 0x80000000, count << 24):
                with self.subTest(section=name, count=bad):
                    if bad == count:
                        continue
                    self.assert_fails(self.check(patched(offset, struct.pack(">I", bad)), "--quick"), CORRUPT)

    def test_points(self):
        for name, offset in COUNTS.items():
            size = 192 if name == "b_g2" else 96
            first = offset + 4
            for kind, replacement in {
                "infinity": b"\x40" + b"\x00" * (size - 1),
                "zero": b"\x00" * size,
                "compressed flag": bytes([GOOD[first] | 0x80]),
                "sign flag": bytes([GOOD[first] | 0x20]),
                "infinity flag": bytes([GOOD[first] | 0x40]),
                "x is p": P.to_bytes(48, "big"),
                "x too large": b"\x1f" + b"\xff" * 47,
                "off the curve": bytes([GOOD[first] ^ 1]),
                "y changed": GOOD[first:first + size - 1] + bytes([GOOD[first + size - 1] ^ 1]),
            }.items():
                with self.subTest(section=name, kind=kind):
                    run = self.check(patched(first, replacement), "--json")
                    self.assertEqual(run.code, CORRUPT, str(run))
                    error = run.json["error"]
                    self.assertTrue(first <= error["offset"] < first + size, str(run))
                    self.assertIn(name, error["field"])

    def test_every_point_of_the_key(self):
        offset = 0
        for size in (96, 96, 192, 192, 96, 192):
            with self.subTest(offset=offset):
                for content in (patched(offset, bytes([GOOD[offset] ^ 1])), patched(offset, b"\x40" + b"\x00" * (size - 1))):
                    self.assert_fails(self.check(content, "--quick"), CORRUPT)
            offset += size

    def test_other_circuit(self):
        self.assert_fails(self.check(GOOD, "--circuit", "porep-2k", "--quick"), CORRUPT)
        self.file(STEM_2K + ".params", GOOD)
        self.assert_fails(cuzk("params", "check", "--circuit", "porep-2k", "--dir", self.tmp, "--quick"), CORRUPT,
                          "hint: ")

    def test_files(self):
        for command in ("inspect", "check"):
            self.assert_fails(cuzk("params", command, self.tmp / "none.params"), NOT_FOUND, "none.params")
            run = cuzk("params", command, self.tmp)
            self.assertIn(run.code, (CORRUPT, IO), str(run))


if __name__ == "__main__":
    unittest.main()
