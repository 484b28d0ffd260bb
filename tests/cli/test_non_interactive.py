"""A non-interactive PoRep of a 2 KiB sector, from data to thirteen verified proofs; and a synthetic one's request.

The sector is the development sealer's (`cuzk bench seal`)."""
import base64
import json
import unittest

from harness import BAD_PROOF, CommandTest, INVALID, PARAMS, cuzk

NON_INTERACTIVE, SYNTHETIC = 15, 10
PARTITIONS = 13


class NonInteractive(CommandTest):
    def seal(self, proof):
        run = cuzk("bench", "seal", "--registered-proof", proof, "--out", self.tmp / "sector", "--json")
        self.assert_ok(run)
        return run.json

    def request(self, sealed):
        return ["--kind", "porep", "--c1", sealed["c1"], "--sector-num", sealed["sector"], "--miner-id",
                sealed["miner_id"], "--dir", PARAMS]

    def test_from_data_to_proofs(self):
        sealed = self.seal(NON_INTERACTIVE)
        proof = self.tmp / "proof.bin"
        run = cuzk("prove", *self.request(sealed), "--out", proof, "--json", timeout=3000)
        self.assert_ok(run)
        self.assertEqual((run.json["registered_proof"], run.json["partitions"]),
                         ("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", PARTITIONS))
        good = proof.read_bytes()
        self.assertEqual(len(good), PARTITIONS * 192)
        self.assertEqual(len({good[i:i + 192] for i in range(0, len(good), 192)}), PARTITIONS)
        run = cuzk("verify", *self.request(sealed), "--proof", proof, "--json")
        self.assert_ok(run)
        self.assertEqual((run.json["partitions"], run.json["replica_id_checked"]), (PARTITIONS, True))
        # The order of partitions counts, and so does their number.
        swapped = good[192:384] + good[:192] + good[384:]
        run = cuzk("verify", *self.request(sealed), "--proof", self.file("swapped", swapped))
        self.assert_fails(run, BAD_PROOF, "2 of 13 proofs do not verify: 0, 1", "partition 0")
        for bad in (good[:-192], good[:192], good + good[:192]):
            run = cuzk("verify", *self.request(sealed), "--proof", self.file("bad", bad))
            self.assert_fails(run, INVALID)

    def test_one_partition_missing(self):
        sealed = self.seal(NON_INTERACTIVE)
        document = json.loads((self.tmp / "sector" / "c1.json").read_bytes())
        inner = json.loads(base64.b64decode(document["Phase1Out"])) if "Phase1Out" in document else document
        (partitions,) = inner["vanilla_proofs"].values()
        self.assertEqual(len(partitions), PARTITIONS)
        partitions.pop()
        run = cuzk("prove", "--kind", "porep", "--c1", self.file("c1", json.dumps(inner)), "--dir", self.tmp / "none",
                   "--out", self.tmp / "p")
        self.assert_fails(run, INVALID, "vanilla_proofs", "13")
        self.assertEqual(sealed["registered_proof"], NON_INTERACTIVE)

    def test_synthetic(self):
        sealed = self.seal(SYNTHETIC)
        proof = self.tmp / "proof.bin"
        self.assert_ok(cuzk("prove", *self.request(sealed), "--out", proof, timeout=900))
        run = cuzk("verify", *self.request(sealed), "--proof", proof, "--json")
        self.assert_ok(run)
        self.assertEqual((run.json["registered_proof"], run.json["partitions"]),
                         ("StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 1))


if __name__ == "__main__":
    unittest.main()
