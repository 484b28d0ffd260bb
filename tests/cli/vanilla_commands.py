"""What the tests of `cuzk bench gen-vanilla`, `seal` and `seal-update` share."""
import base64
import json
import shlex

from harness import CommandTest, NOT_FOUND, cuzk

ONES = "01" * 32
TICKET, SEED = "07" * 32, "09" * 32


def u64(data):
    return int.from_bytes(data, "little")


class GenVanilla(CommandTest):
    def generate(self, command, *arguments, out="out.json"):
        run = cuzk("bench", "gen-vanilla", command, "--synthetic", "-o", self.tmp / out, "--json", *arguments)
        self.assert_ok(run)
        self.assertEqual(run.err, "")
        self.assertEqual(run.json["bytes"], (self.tmp / out).stat().st_size)
        return run.json

    def accepted(self, result):
        """The prover, called as the result says, has nothing against the input and looks for parameters."""
        words = shlex.split(result["prove_command"])
        self.assertEqual(words[:2], ["cuzk", "prove"])
        words[words.index("--out") + 1] = self.tmp / "proof.bin"
        self.assert_fails(cuzk(*words[1:], "--dir", self.tmp / "none"), NOT_FOUND, ".params")

    def blobs(self, out="out.json"):
        return [base64.b64decode(text, validate=True) for text in json.loads((self.tmp / out).read_text())]


class SealTest(GenVanilla):
    def seal(self, *arguments, folder="d", sector=7):
        run = cuzk("bench", "seal", "--out", self.tmp / folder, "--ticket", TICKET, "--porep-seed", SEED,
                   "--sector-number", sector, "--json", *arguments)
        self.assert_ok(run)
        return run.json

    def update(self, *arguments, folder="d"):
        run = cuzk("bench", "seal-update", "--dir", self.tmp / folder, "--sector-number", 7, "--json", *arguments)
        self.assert_ok(run)
        return run.json

    def from_files(self, command, *arguments):
        run = cuzk("bench", "gen-vanilla", command, "-o", self.tmp / "out.json", "--json", *arguments)
        self.assert_ok(run)
        self.assertFalse(run.json["synthetic"])
        self.accepted(run.json)
        return run.json

    def snap_arguments(self, sealed, updated):
        return {"--orig-commdr": sealed["commdr"], "--update-commdr": updated["commdr"],
                "--sector-key": sealed["sealed"], "--sector-key-cache": sealed["cache"],
                "--replica": updated["replica"], "--replica-cache": updated["replica_cache"]}

    @staticmethod
    def words(arguments):
        return [word for pair in arguments.items() for word in pair]
