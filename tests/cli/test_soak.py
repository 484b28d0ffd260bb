"""Hours of a daemon in some minutes: many clients, cancellations and evictions, with memory watched all the time.
Usage: test_soak.py [JOBS]: jobs of each of 32 clients; 60 where nothing is said."""
import json
import subprocess
import sys
import unittest

from daemon import DaemonTest
from harness import BINARY, OK, PARAMS, cuzk
from kinds import Request, vanilla_json
from process_tree import ANONYMOUS, DESCRIPTORS, MEMORY, THREADS, Samples

CLIENTS, JOBS, ROUNDS = 32, 60, 4
MIB = 1 << 20
TOLERANCE = 1.02  # of the budget


class Soak(DaemonTest):
    def stress(self, daemon, words, clients, jobs, *more):
        run = subprocess.run([BINARY, "bench", "stress", *map(str, words), "--clients", str(clients), "--jobs", str(jobs), *more,
                              "--dir", str(PARAMS), "--addr", daemon.address, "--json"], capture_output=True, text=True,
                             env=daemon.env)
        self.assertEqual(run.returncode, OK, run.stdout + run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual((said["wrong_proofs"], said["failed"], said["call_errors"]), (0, 0, 0), run.stdout)
        self.assertEqual(said["completed"] + said["cancelled"], clients * jobs)
        self.assertEqual(said["verified"], said["completed"])
        return said

    def window(self):
        """The cheapest of all circuits: 0.3 s of processor time a proof, where the daemon and its client take 14 ms."""
        vector = Request("window-2KiB-v1_1")
        words = ["-t" if word == "--kind" else word for word in vector.arguments()]
        return [*words, "--vanilla", self.file("window.json", vanilla_json(vector.blobs))]

    def test_many_clients_leave_nothing_behind(self):
        words = self.window()
        with self.daemon("--memory.total_budget", "1GiB") as daemon:
            self.stress(daemon, words, CLIENTS, 1)  # what is made once is made
            said = {"completed": 0, "cancelled": 0, "stress_seconds": 0, "refusals": 0}
            with Samples(daemon.process.pid) as samples:
                for _ in range(ROUNDS):
                    # While they work the circuit is in use nearly always, and evicting it is mostly refused; so once between.
                    one = self.stress(daemon, words, CLIENTS, JOBS // ROUNDS, "--cancel-percent", "10", "--mixed-priorities",
                                      "--evict", "window-2k", "--evict-every", "2")
                    said = {key: said[key] + one[key] for key in said}
                    self.assertIn("evicted", daemon.ask("evict", "window-2k").out)
            self.assertGreater(said["cancelled"], CLIENTS * JOBS / 50)
            metrics = daemon.ask("metrics").out
            self.assertRegex(metrics, r"(?m)^cuzk_wrong_proofs_total 0$")
            memory, descriptors, threads = (samples.means(c) for c in (MEMORY, DESCRIPTORS, THREADS))
            print(f"{said['completed']} completed, {said['cancelled']} cancelled, {said['refusals']} refusals in "
                  f"{said['stress_seconds']:.0f} s; MiB {[round(m / MIB, 1) for m in memory]}, most "
                  f"{samples.most(MEMORY) / MIB:.0f}; descriptors {descriptors}, most {samples.most(DESCRIPTORS)}; threads "
                  f"{threads}, most {samples.most(THREADS)}", file=sys.stderr)
            # The first quarter has what is learnt and filled once.
            self.assertLess(memory[3], memory[1] + 24 * MIB)
            self.assertLess(descriptors[3], descriptors[1] + 4)
            self.assertLess(threads[3], threads[1] + 4)
            self.assertLess(samples.most(MEMORY), 1024 * MIB * TOLERANCE)
            self.assertEqual(daemon.stop()[0], OK)


class Budget(Soak):
    """Circuits that push each other out of a budget that has room for one of them at a time."""
    def porep(self):
        path = self.tmp / "c1.json"
        self.assert_ok(cuzk("bench", "gen-vanilla", "porep", "--registered-proof", 5, "--sector-number", 7, "--miner-id", 1000,
                            "-o", path))
        return ["-t", "porep", "--c1", path, "--sector-num", 7, "--miner-id", 1000]

    def test_memory_stays_within_the_budget(self):
        budget = 1900 * MIB
        porep, winning = self.porep(), self.winning()
        with self.daemon("--memory.total_budget", budget, "--memory.eviction_min_idle", "0s") as daemon:
            with Samples(daemon.process.pid) as samples:
                for words in (porep, winning, porep):
                    self.stress(daemon, words, 2, 1)
            used = [int(line.split()[-1]) for line in daemon.ask("metrics").out.splitlines()
                    if line.startswith("cuzk_memory_budget_bytes")]
            self.assertEqual(used, [budget])
            print(f"budget {budget / MIB:.0f} MiB; most {samples.most(MEMORY) / MIB:.0f} MiB, of them "
                  f"{samples.most(ANONYMOUS) / MIB:.0f} MiB without a file", file=sys.stderr)
            self.assertLess(samples.most(MEMORY), budget * TOLERANCE)
            self.assertEqual(daemon.stop()[0], OK)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        JOBS = int(sys.argv.pop(1))
    unittest.main()
