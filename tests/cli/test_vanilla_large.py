"""Vanilla proofs that take long to make: whole partitions, the largest sectors, and an 8 MiB sector from its data."""
import unittest

from vanilla_commands import ONES, SealTest, u64


class Large(SealTest):
    def test_full_partition(self):
        result = self.generate("window-post", "--sectors", 2349)
        blobs = self.blobs()
        self.assertEqual([u64(b[:8]) for b in blobs], list(range(1, 2350)))
        self.assertEqual({len(b) for b in blobs}, {24960})
        self.assertEqual(len({b[8:40] for b in blobs}), 2349)
        self.assertLess(result["peak_rss_bytes"], 200e6)
        self.accepted(result)

    def test_64g(self):
        self.accepted(self.generate("snap-prove", "--registered-proof", 4))
        self.assertEqual([len(b) for b in self.blobs()], [575528] * 16)
        self.accepted(self.generate("porep", "--registered-proof", 9))
        self.accepted(self.generate("window-post", "--registered-proof", 14, "--sectors", 2300))

    def test_512m(self):
        for command, proof in (("winning-post", 2), ("window-post", 7), ("window-post", 12), ("snap-prove", 2),
                               ("porep", 2), ("porep", 7)):
            self.accepted(self.generate(command, "--registered-proof", proof))

    def test_8m_from_data(self):
        for number in (6, 16):
            sealed = self.seal("--registered-proof", number, folder=f"d{number}")
            self.assertLess(sealed["peak_rss_bytes"], 400e6)
            self.accepted(sealed)
        sealed = self.seal("--registered-proof", 1)
        updated = self.update("--registered-proof", 1, "--seed", ONES)
        for command, proof in (("winning-post", 1), ("window-post", 6), ("window-post", 11)):
            self.from_files(command, "--registered-proof", proof, "--sector-number", 7, "--comm-r", updated["commdr"],
                            "--sealed", updated["replica"], "--cache", updated["replica_cache"])
        result = self.from_files("snap-prove", "--registered-proof", 1,
                                 *self.words(self.snap_arguments(sealed, updated)))
        self.assertEqual((result["partitions"], len(self.blobs())), (4, 4))


if __name__ == "__main__":
    unittest.main()
