"""prove and verify of the kinds other than PoRep on upstream's 2 KiB vectors, and the independent verifier on the proofs.

Arguments: the kinds ("window", "winning", "snap"); a proof of each is made once. The public inputs that the independent
verifier gets are stated in upstream's vectors, and not asked of the program under test."""
import sys
import unittest
from pathlib import Path

import oracle
from harness import BAD_PROOF, CORRUPT, CommandTest, INVALID, PARAMS, cuzk
from kinds import Request, flipped, parameter_stem, vanilla_json

VECTORS = {"window": ("window-2KiB-v1", "window-2KiB-v1_1", "window-2KiB-v1_1-padded"), "winning": ("winning-2KiB",),
           "snap": ("snap-2KiB-k0",)}
KINDS = list(VECTORS)
MADE = {}  # by vector: the run that proved it


class KindTest(CommandTest):
    def requests(self):
        for kind in KINDS:
            for name in VECTORS[kind]:
                yield Request(name)

    def proved(self, request):
        """What proving said; the proof is in its JSON."""
        if request.name not in MADE:
            MADE[request.name] = cuzk("prove", *request.arguments(), "--vanilla",
                                      self.file("vanilla", vanilla_json(request.blobs)), "--dir", PARAMS, "--out",
                                      self.tmp / "made.bin", "--json")
            self.assert_ok(MADE[request.name])
            self.assertEqual((self.tmp / "made.bin").read_bytes(), bytes.fromhex(MADE[request.name].json["proof"]))
        return MADE[request.name].json

    def proof(self, request):
        return bytes.fromhex(self.proved(request)["proof"])

    def verify(self, request, proof, *more, blobs=None, **changes):
        path = self.file("vanilla", vanilla_json(blobs or request.blobs))
        return cuzk("verify", *request.arguments(**changes), "--vanilla", path, "--dir", PARAMS, "--proof",
                    self.file("proof.bin", proof), *more)


class Prove(KindTest):
    def test_result(self):
        for request in self.requests():
            with self.subTest(request.name):
                result = self.proved(request)
                self.assertEqual((result["ok"], result["kind"], result["circuit"], result["partitions"]),
                                 (True, request.kind, request.circuit, 1))
                self.assertIn("2KiB", result["registered_proof"])
                self.assertEqual(len(self.proof(request)), 192)
                self.assertEqual(MADE[request.name].err, "")

    def test_partition_index_of_v1(self):
        """Before V1_2 the partition decides challenges; the request is refused under another one."""
        if "window" not in KINDS:
            self.skipTest("another kind")
        request = Request("window-2KiB-v1")
        self.assert_fails(self.verify(request, self.proof(request), partition=1), BAD_PROOF)
        request = Request("window-2KiB-v1_1")
        self.assert_ok(self.verify(request, self.proof(request), partition=1))


class Verify(KindTest):
    def test_accepts(self):
        for request in self.requests():
            with self.subTest(request.name):
                run = self.verify(request, self.proof(request), "--json")
                self.assert_ok(run)
                self.assertEqual((run.json["valid"], run.json["kind"]), (True, request.kind))
                self.assertLess(run.seconds, 2)
                if request.kind == "snap":
                    # Nothing of the vanilla proofs is needed.
                    self.assert_ok(cuzk("verify", *request.arguments(), "--dir", PARAMS, "--proof",
                                        self.file("p", self.proof(request))))

    def test_changed_bytes_are_refused(self):
        for request in self.requests():
            proof = self.proof(request)
            for offset in range(0, 192, 5):
                with self.subTest(request.name, offset=offset):
                    self.assert_fails(self.verify(request, flipped(proof, offset)), BAD_PROOF)
            for bad in (b"", proof[:-1], proof + b"\0", proof * 2):
                self.assert_fails(self.verify(request, bad), INVALID)

    def test_other_statements_are_refused(self):
        for request in self.requests():
            proof = self.proof(request)
            with self.subTest(request.name):
                if request.kind == "snap":
                    for key in ("comm_r_old", "comm_r_new", "comm_d_new"):
                        other = flipped(bytes.fromhex(request.vector[key]), 3).hex()
                        self.assert_fails(self.verify(request, proof, **{key: other}), BAD_PROOF)
                    continue
                other = flipped(bytes.fromhex(request.vector["randomness"]), 3).hex()
                self.assert_fails(self.verify(request, proof, randomness=other), BAD_PROOF)
                # The sector's number, and its comm_r.
                for offset in (0, 8):
                    blobs = [flipped(request.blobs[0], offset, 2), *request.blobs[1:]]
                    self.assert_fails(self.verify(request, proof, blobs=blobs), BAD_PROOF)
                # What is not bound: the openings are the witness.
                blobs = [flipped(request.blobs[0], len(request.blobs[0]) - 32), *request.blobs[1:]]
                self.assert_ok(self.verify(request, proof, blobs=blobs))

    def test_proof_of_another_request(self):
        if "window" not in KINDS:
            self.skipTest("another kind")
        v1, padded = Request("window-2KiB-v1"), Request("window-2KiB-v1_1-padded")
        self.assert_fails(self.verify(v1, self.proof(padded)), BAD_PROOF)
        self.assert_fails(self.verify(padded, self.proof(v1)), BAD_PROOF)


class Parameters(KindTest):
    def test_check(self):
        for kind in KINDS:
            circuit = kind + "-2k"
            run = cuzk("params", "check", "--circuit", circuit, "--dir", PARAMS, "--json")
            self.assert_ok(run)
            self.assertTrue(run.json["vk_file_agrees"])

    def test_of_another_circuit(self):
        for request in self.requests():
            other = "window-2k" if request.kind == "winning" else "winning-2k"
            source = PARAMS / (parameter_stem(other) + ".params")
            if not source.exists():
                continue
            path = self.tmp / (parameter_stem(request.circuit) + ".params")
            path.write_bytes(source.read_bytes())
            with self.subTest(request.name):
                run = cuzk("prove", *request.arguments(), "--vanilla",
                           self.file("vanilla", vanilla_json(request.blobs)), "--dir", self.tmp, "--out", self.tmp / "p")
                self.assert_fails(run, CORRUPT, "another circuit", str(path))
                self.assertLess(run.seconds, 2)
                self.assert_fails(cuzk("params", "check", "--circuit", request.circuit, path), CORRUPT)


class Oracle(KindTest):
    def test_agrees(self):
        for request in self.requests():
            with self.subTest(request.name):
                key = PARAMS / (parameter_stem(request.circuit) + ".vk")
                proof = self.file("proof.bin", self.proof(request))
                inputs = request.public_inputs
                self.assertEqual(len(inputs), request.vector["num_inputs_with_one"] - 1)
                self.assertEqual(oracle.verify(self, key, proof, inputs), (0, "proof 0: accepted\n"))
                inputs[-1] += 1
                self.assertEqual(oracle.verify(self, key, proof, inputs), (1, "proof 0: refused\n"))


if __name__ == "__main__":
    oracle.install_or_skip()
    if len(sys.argv) > 1 and not sys.argv[-1].startswith("-"):
        KINDS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
