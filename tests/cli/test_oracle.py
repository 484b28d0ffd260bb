"""A verifier that shares no code with ours (tests/oracle/verify_groth16.mjs, on @noble/curves) accepts the proof that
`cuzk prove` makes, and refuses it with any byte or any public input changed.

The public inputs are stated here, from upstream's vector, and not asked of the program under test."""
import unittest

import oracle
from harness import C1, CommandTest, PARAMS, STEM_2K, c1_inner, cuzk

# Challenges 18 and 2 with their parents, as porep_id number 5 has them.
NODES = [18, 17, 16, 17, 17, 16, 0, 53, 41, 53, 47, 32, 31, 4, 38, 18, 18, 18,
         2, 1, 1, 1, 0, 1, 0, 30, 28, 55, 63, 63, 36, 37, 36, 2, 2, 2]


def public_inputs():
    document = c1_inner()
    commitments = [int.from_bytes(bytes(document[key]), "little") for key in ("replica_id", "comm_d", "comm_r")]
    return commitments + NODES


class Oracle(CommandTest):
    def oracle(self, proof, inputs, *more):
        return oracle.verify(self, PARAMS / (STEM_2K + ".vk"), proof, inputs, *more)

    def test_proof(self):
        proof = self.tmp / "proof.bin"
        self.assert_ok(cuzk("prove", "--kind", "porep", "--input", C1, "--dir", PARAMS, "--out", proof))
        code, output = self.oracle(proof, public_inputs(), "--mutations")
        self.assertEqual((code, output), (0, "proof 0: accepted\nproof 0: refused with every change\n"))
        # The checks above can fail: another input is refused.
        inputs = public_inputs()
        inputs[5] += 1
        self.assertEqual(self.oracle(proof, inputs), (1, "proof 0: refused\n"))


if __name__ == "__main__":
    oracle.install_or_skip()
    unittest.main()
