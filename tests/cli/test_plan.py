"""plan: what it says, and that it is what setup and prove really take.

Arguments: circuits; each is set up, proved and verified, and compared. Without arguments only what plan says is tested.
`--time` compares times too."""
import json
import os
import resource
import sys
import unittest

from generated import generate
from harness import CommandTest, PARAMS, RESOURCE, SEED, USAGE, cuzk
from kinds import Request, vanilla_json

MEMORY_TOLERANCE = 0.10
# Of a proof: processor time and time on the wall. Other work changes both, through caches and memory too, and by more than
# this: on a machine that is not quiet the figures are told and not judged. Of a setup, which waits for the disk, only
# processor time, of which the kernel takes more for a large file than for the sample that plan writes.
TIME_TOLERANCE = {"prove": 0.10, "setup": 0.20}
TRIES = 3
MEMORY_BOUND = 24_000_000_000

# The registered proofs of the circuits that have a request generated for them.
NUMBERS = {"porep-2k": 5, "porep-8m": 6, "snap-2k": 0, "snap-8m": 1, "window-2k": 10, "window-8m": 11, "winning-2k": 0}
CIRCUITS = []
COMPARE_TIMES = False
QUIET = os.getloadavg()[0] < 0.5 * len(os.sched_getaffinity(0))


def plan(circuit, work, *options):
    run = cuzk("plan", "--circuit", circuit, "--for", work, "--json", *options)
    assert run.code == 0, str(run)
    return run.json


def timed(*arguments):
    """The JSON of a command that succeeds, and its processor seconds."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    run = cuzk(*arguments, "--json", timeout=3000)
    assert run.code == 0, str(run)
    return run.json, used() - before


class Says(CommandTest):
    def test_every_circuit(self):
        for circuit in (c["circuit"] for c in cuzk("circuit", "list", "--json").json["circuits"]):
            for work in ("prove", "setup"):
                with self.subTest(circuit, work=work):
                    said = plan(circuit, work, "--no-time")
                    self.assertEqual(said["peak_bytes"], max(stage["bytes"] for stage in said["plan"]))
                    self.assertEqual(said["fits"], said["peak_bytes"] <= said["memory_bytes"])
                    self.assertNotIn("estimated_seconds", said)
                    self.assertGreater(said["memory_bytes"], 1 << 26)

    def test_gpu(self):
        """Parameters are nearly all that is resident on a GPU, and never more than some percent of the rest."""
        for circuit in ("porep-32g", "snap-32g", "window-32g", "winning-32g"):
            with self.subTest(circuit):
                params = cuzk("circuit", "info", circuit, "--json").json["params_bytes"]
                said = plan(circuit, "prove", "--no-time")["gpu"]
                self.assertGreater(said["resident_bytes"], params)
                self.assertLess(said["resident_bytes"], params * 1.06)
                self.assertLess(said["scratch_bytes"], 32 << 30)
                self.assertLess(said["host_bytes"], 8 << 30)
                self.assertLess(96 * 370590, said["multiple_bytes"])
                self.assertLess(said["multiple_bytes"], said["resident_bytes"] / 2)
        self.assertNotIn("gpu", plan("winning-32g", "setup", "--no-time"))

    def test_times(self):
        for work in ("prove", "setup"):
            with self.subTest(work):
                said = plan("window-2k", work, "--dir", self.tmp)
                self.assertAlmostEqual(sum(stage["seconds"] for stage in said["plan"]), said["estimated_seconds"], 4)
                self.assertTrue(all(stage["seconds"] >= 0 for stage in said["plan"]))
        self.assertEqual(self.files(), [])

    def test_partitions(self):
        said = [plan("winning-2k", "prove", "--partitions", n) for n in (1, 100)]
        self.assertEqual(said[0]["peak_bytes"], said[1]["peak_bytes"])
        # Most is done once a partition; a partition of so small a circuit takes about as long as what is done once.
        self.assertGreater(said[1]["estimated_seconds"], 10 * said[0]["estimated_seconds"])
        self.assertEqual(plan("porep-32g", "prove", "--no-time")["partitions"], 10)

    def test_threads(self):
        few, many = (plan("porep-2k", "prove", "--no-time", "--threads", n)["peak_bytes"] for n in (1, 64))
        self.assertGreater(many, few)
        self.assertLess(many, few + 63 * 10_000_000)
        # Measuring itself takes little.
        self.assertLess(plan("winning-2k", "setup", "--dir", self.tmp, "--threads", 512)["peak_rss_bytes"], 800_000_000)

    def test_text(self):
        run = cuzk("plan", "--circuit", "winning-2k", "--no-time")
        self.assert_ok(run)
        for word in ("sum h", "at most", "fits", "physical memory" if "cgroup" not in run.out else "cgroup"):
            self.assertIn(word, run.out)

    def test_wrong_use(self):
        self.assert_fails(cuzk("plan", "--circuit", "porep-3k"), USAGE, "porep-2k")
        self.assert_fails(cuzk("plan"), USAGE, "--circuit")
        self.assert_fails(cuzk("plan", "--circuit", "porep-2k", "--for", "verify"), USAGE, "--for")
        self.assert_fails(cuzk("plan", "--circuit", "porep-2k", "--for", "setup", "--partitions", 2), USAGE, "partitions")
        self.assert_fails(cuzk("plan", "--circuit", "porep-2k", "--partitions", 0), USAGE, "--partitions")

    def test_commands_refuse_by_the_same_number(self):
        def at_most_8_gb():
            resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, 8_000_000_000))

        options = "--circuit", "window-64g"
        run = cuzk("plan", *options, "--for", "setup", "--no-time", preexec_fn=at_most_8_gb)
        self.assert_ok(run)
        self.assertIn("does NOT fit into 8.00 GB (the limit of the address space, ulimit -v)", run.out)
        number = run.out.split("at most ")[1].split(" of memory")[0]
        run = cuzk("setup", *options, "--dir", self.tmp / "d", preexec_fn=at_most_8_gb)
        self.assert_fails(run, RESOURCE, number, "8.00 GB", "ulimit -v")


class Takes(CommandTest):
    def compare(self, circuit, work, said, run, after, cpu_seconds=None):
        """Memory is judged; returns whether the times are right."""
        real = run["peak_rss_bytes"]
        print(f"{circuit} {work}: {real / 1e6:.1f} MB, plan said {said['peak_bytes'] / 1e6:.1f} "
              f"({100 * (said['peak_bytes'] / real - 1):+.1f} %); {cpu_seconds or 0:.2f} s of processor time, plan said "
              f"{said['estimated_cpu_seconds']:.2f} before and {after['estimated_cpu_seconds']:.2f} after; "
              f"{run['seconds']:.2f} s, plan said {said['estimated_seconds']:.2f}, {after['estimated_seconds']:.2f}",
              flush=True)
        self.assertLess(abs(said["peak_bytes"] - real), MEMORY_TOLERANCE * real)
        self.assertLess(real, MEMORY_BOUND)

        def right(seconds, key):
            estimates = said[key], after[key]
            tolerance = TIME_TOLERANCE[work]
            return (1 - tolerance) * min(estimates) < seconds < (1 + tolerance) * max(estimates)
        if not COMPARE_TIMES or not QUIET or cpu_seconds is None:
            return True
        return right(cpu_seconds, "estimated_cpu_seconds") and (
            work == "setup" or right(run["seconds"], "estimated_seconds"))

    def request(self, circuit):
        """The options of prove and verify: upstream's vector where there is one of that size, else a generated one."""
        if circuit == "winning-32g":
            vector = Request("winning-32GiB")
            return [*vector.arguments(), "--vanilla", self.file("vanilla", vanilla_json(vector.blobs))]
        return generate(self, circuit.split("-")[0], NUMBERS[circuit], "--synthetic")[0]

    def test_memory(self):
        for circuit in CIRCUITS:
            with self.subTest(circuit):
                made = PARAMS / f"{circuit}.setup.json"
                folder = PARAMS if made.exists() else self.tmp
                said = plan(circuit, "setup", "--dir", folder)
                cpu_seconds = None
                if made.exists():
                    setup = json.loads(made.read_text())
                else:
                    setup, cpu_seconds = timed("setup", "--circuit", circuit, "--dir", self.tmp, "--seed", SEED)
                right = self.compare(circuit, "setup", said, setup, plan(circuit, "setup", "--dir", folder), cpu_seconds)
                self.assertTrue(right, "the time of the setup")

                words = self.request(circuit)
                proof = self.tmp / "proof.bin"
                for _ in range(TRIES):
                    said = plan(circuit, "prove", "--dir", folder)
                    made, cpu_seconds = timed("prove", *words, "--dir", folder, "--out", proof)
                    right = self.compare(circuit, "prove", said, made, plan(circuit, "prove", "--dir", folder),
                                         cpu_seconds)
                    self.assert_ok(cuzk("verify", *words, "--dir", folder, "--proof", proof))
                    if right:
                        break
                self.assertTrue(right, f"the time of the proof, {TRIES} times")


if __name__ == "__main__":
    CIRCUITS = [word for word in sys.argv[1:] if not word.startswith("-")]
    COMPARE_TIMES = "--time" in sys.argv
    unittest.main(argv=sys.argv[:1], defaultTest="Takes" if CIRCUITS else "Says")
