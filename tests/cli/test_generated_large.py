"""As test_generated.py, for the sector sizes from 8 MiB to 64 GiB: form, indices, challenges, parents and roots of
everything, hash chains of all of PoRep and Winning and of a sample of the others. Prints what was made, in what time and
memory."""
import time
import unittest

from generated import FAMILIES, SIZES, check, generate
from harness import CommandTest

SAMPLE = 2
MOST_SECTORS = {"32g": 2349, "64g": 2300}


class GeneratedLarge(CommandTest):
    def one(self, kind, number, *options):
        words, run = generate(self, kind, number, "--synthetic", *options)
        path = self.tmp / f"{kind}-{number}.json"
        start = time.monotonic()
        partitions = check(words, *(("--sample", SAMPLE) if kind in ("window", "snap") else ()))
        print(f"{kind} {number} {SIZES[number % 5]}: {path.stat().st_size} bytes, made in {run.seconds:.2f} s and "
              f"{run.json['peak_rss_bytes'] >> 20} MiB, checked in {time.monotonic() - start:.1f} s, {len(partitions)} "
              f"partitions", flush=True)
        path.unlink()

    def test_sizes(self):
        for kind, families in FAMILIES.items():
            for first in families:
                for size in range(1, 5):
                    with self.subTest(kind=kind, number=first + size):
                        self.one(kind, first + size, *(("--sectors", 2) if kind == "window" else ()))

    def test_full_window_partitions(self):
        for first in FAMILIES["window"]:
            for size in (3, 4):
                with self.subTest(number=first + size):
                    self.one("window", first + size, "--sectors", MOST_SECTORS[SIZES[size]])


if __name__ == "__main__":
    unittest.main()
