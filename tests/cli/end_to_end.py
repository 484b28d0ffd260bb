"""What the tests from data to a verified proof have in common: parameters, proving, and who has to agree."""
import os
import shutil
from pathlib import Path

import oracle
from generated import check, generate
from harness import BAD_PROOF, INVALID, PARAMS, SEED, TMP, CommandTest, cuzk


def told(what, run):
    print(f"{what}: {run.seconds:.1f} s, {run.json['peak_rss_bytes'] >> 20} MiB", flush=True)


class EndToEnd(CommandTest):
    """Parameters of 2 KiB circuits are those that make_params.py made; others are made when first wanted, a folder each,
    and dropped with the class."""
    made = {}

    @classmethod
    def tearDownClass(cls):
        for folder in cls.made.values():
            shutil.rmtree(folder)
        cls.made.clear()

    def parameters(self, circuit):
        if circuit.endswith("-2k"):
            return PARAMS
        if circuit not in self.made:
            folder = Path(TMP) / f"e2e-{os.getpid()}-{circuit}"
            run = cuzk("setup", "--circuit", circuit, "--dir", folder, "--seed", SEED, "--json", timeout=3000)
            self.assert_ok(run)
            told(f"setup {circuit}", run)
            self.made[circuit] = folder
        return self.made[circuit]

    def prove_and_verify(self, circuit, words):
        """The input is checked by Python, proved, and the proof verified by us and by the other verifier, with the
        public inputs that Python has; with one of them changed, both refuse."""
        partitions = check(words)
        folder = self.parameters(circuit)
        proof = self.tmp / "proof.bin"
        run = cuzk("prove", *words, "--dir", folder, "--out", proof, "--json", timeout=3000)
        self.assert_ok(run)
        told(f"prove {circuit}", run)
        self.assertEqual((run.json["circuit"], run.json["partitions"]), (circuit, len(partitions)))
        data = proof.read_bytes()
        self.assertEqual(len(data), 192 * len(partitions))
        verify = ["verify", *words, "--dir", folder, "--proof"]
        self.assert_ok(cuzk(*verify, proof))
        key = folder / cuzk("circuit", "info", circuit, "--json").json["vk_file"]
        accepted = "".join(f"proof {k}: accepted\n" for k in range(len(partitions)))
        self.assertEqual(oracle.verify(self, key, proof, partitions), (0, accepted))
        for k in range(len(partitions)):
            bad = bytearray(data)
            bad[192 * k + 60] ^= 1
            self.assert_fails(cuzk(*verify, self.file("bad.bin", bytes(bad))), BAD_PROOF)
        if len(partitions) > 1:
            swapped = data[192:384] + data[:192] + data[384:]
            self.assert_fails(cuzk(*verify, self.file("bad.bin", swapped)), BAD_PROOF)
        self.assert_fails(cuzk(*verify, self.file("bad.bin", data[:-192])), INVALID)
        partitions[-1][-1] += 1
        code, output = oracle.verify(self, key, proof, partitions)
        self.assertEqual((code, output.splitlines()[-1]), (1, f"proof {len(partitions) - 1}: refused"))

    def synthetic(self, kind, number, *options):
        words, _ = generate(self, kind, number, "--synthetic", *options)
        return words
