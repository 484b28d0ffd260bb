"""A daemon that is killed with a gigabyte of jobs in its journal is back in service within seconds, and proves them."""
import base64
import json
import os
import sys
import time
import unittest

from daemon import DaemonTest
from harness import OK, PARAMS

JOBS, BYTES = 20, 52 << 20  # as those of 32 GiB PoReps
SECONDS = 10


class Restart(DaemonTest):
    def large(self, seed):
        """A winning proof's request, made as large by what follows its vanilla proof, which is ignored."""
        words = self.winning(seed)
        at = words.index("--vanilla") + 1
        blobs = [base64.b64decode(blob) for blob in json.loads(words[at].read_text())]
        blobs[0] += bytes(BYTES - len(blobs[0]))
        words[at] = self.file(f"large-{seed}.json", json.dumps([base64.b64encode(b).decode() for b in blobs]).encode())
        return words

    def test_back_in_service(self):
        jobs = {f"job-{i}": f"{i:02}" for i in range(JOBS)}
        with self.daemon("--worker-faults", "hang@*") as daemon:
            for job, seed in jobs.items():
                words = self.large(seed)
                self.assert_ok(daemon.ask("submit", *words, "--id", job))
                words[words.index("--vanilla") + 1].unlink()
            daemon.process.kill()
            daemon.process.wait()
            journal = [daemon.folder / "state" / ("journal.sqlite" + suffix) for suffix in ("", "-wal")]
            size = sum(os.path.getsize(path) for path in journal if path.exists())
            self.assertGreater(size, JOBS * BYTES)
            for path in journal:  # to be read from the disk
                with open(path, "rb") as file:
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            daemon.arguments = daemon.arguments[:-2]  # no faults
            start = time.monotonic()
            daemon.start()
            seconds = time.monotonic() - start
            said = json.loads(daemon.ask("status", "--json").out)
            print(f"{size / 1e9:.2f} GB of journal, load {os.getloadavg()[0]:.1f}: ready after {seconds:.2f} s",
                  file=sys.stderr)
            self.assertLess(seconds, SECONDS)
            for job, seed in jobs.items():
                run = daemon.ask("await", job, "--timeout", "120s", *self.winning(seed), "--dir", PARAMS, "--json")
                self.assertEqual((run.code, run.json.get("status")), (OK, "COMPLETED"), f"{run}\n{said}")
                self.assertTrue(run.json["verified"])
            self.assertEqual(daemon.stop()[0], OK)


if __name__ == "__main__":
    unittest.main()
