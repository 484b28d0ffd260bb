"""The daemon in a control group of 2 GiB: it sees the limit, keeps to it, and says no to what cannot fit. For root, where
the memory controller can be used."""
import os
import re
import sys
import unittest
from pathlib import Path

from daemon import DaemonTest
from harness import OK, PARAMS, cuzk
from kinds import Request, vanilla_json

LIMIT = 2 << 30
JOB_FAILED = 20


def parents():
    """Folders in which a group can be made, and the names of a limit, of the most that was used, and of what was killed."""
    names = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    if "memory" in names:
        yield (Path("/sys/fs/cgroup/memory" + names["memory"]), "memory.limit_in_bytes", "memory.max_usage_in_bytes",
               "memory.oom_control")
    if "" in names:
        yield Path("/sys/fs/cgroup" + names[""]), "memory.max", "memory.peak", "memory.events"


class Group:
    """None could be made where `path` is None."""
    def __init__(self):
        self.path = None
        for parent, limit, most, killed in parents():
            path = parent / f"cuzk-test-{os.getpid()}"
            try:
                path.mkdir()
                (path / limit).write_text(str(LIMIT))
            except OSError:
                if path.is_dir():
                    path.rmdir()
                continue
            self.path, self.limit, self.most, self.killed = path, path / limit, path / most, path / killed
            return

    def most_bytes(self):
        return int(self.most.read_text())

    def kills(self):
        return int(re.search(r"(?m)^oom_kill (\d+)$", self.killed.read_text())[1])


class Limited(DaemonTest):
    def setUp(self):
        super().setUp()
        self.group = Group()
        if self.group.path is None:
            self.skipTest("no control group can be made here")
        self.addCleanup(self.group.path.rmdir)

    def single(self, daemon, *words):
        return daemon.ask("bench", "single", *words, "--dir", PARAMS, "--json")

    def test_it_keeps_to_the_limit(self):
        enter = ["sh", "-c", f'echo $$ > {self.group.path}/cgroup.procs && exec "$@"', "sh"]
        snap = Request("snap-2KiB-k0")
        words = ["-t" if word == "--kind" else word for word in snap.arguments()]
        words += ["--vanilla", self.file("snap.json", vanilla_json(snap.blobs))]
        c1 = self.tmp / "c1.json"
        self.assert_ok(cuzk("bench", "gen-vanilla", "porep", "--registered-proof", 5, "--sector-number", 7, "--miner-id", 1000,
                            "-o", c1))
        with self.daemon(prefix=enter) as daemon:
            budget = re.search(r"memory budget bytes=(\d+) origin=(.*)", daemon.text())
            self.assertIn(self.group.limit.name, budget[2])
            self.assertEqual(int(budget[1]), LIMIT - 100_000_000)  # the margin that these tests give
            for _ in range(2):
                for job in (words, self.winning()):
                    run = self.single(daemon, *job)
                    self.assertEqual((run.code, run.json["verified"]), (OK, True), str(run))
            # A PoRep of 2 KiB needs more, and is told so; the rest goes on.
            run = self.single(daemon, "-t", "porep", "--c1", c1, "--sector-num", 7, "--miner-id", 1000)
            porep = (run.code, run.json.get("error_class"))
            self.assertIn(porep, ((OK, None), (JOB_FAILED, "resource")), str(run))
            self.assert_ok(self.single(daemon, *self.winning("02")))
            print(f"limit {LIMIT >> 20} MiB, budget {int(budget[1]) >> 20} MiB, most {self.group.most_bytes() >> 20} MiB with "
                  f"the page cache, {self.group.kills()} killed; a PoRep: {porep}", file=sys.stderr)
            self.assertEqual(daemon.stop()[0], OK)
        self.assertEqual(self.group.kills(), 0)


if __name__ == "__main__":
    unittest.main()
