"""A daemon for whole-program tests, in a temporary folder, on a Unix socket; and winning proofs to ask it for."""
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from harness import BINARY, CommandTest, IO, PARAMS, RESOURCE, cuzk, environment

START_SECONDS = 60


class Daemon:
    def __init__(self, folder, *flags, listen=None, prefix=(), **variables):
        self.folder = Path(folder)
        # Paths of sockets are at most 107 bytes long, and temporary folders may be deep.
        self.short = tempfile.TemporaryDirectory(prefix="cuzk-")
        self.socket = Path(self.short.name) / "s"
        self.address = f"unix://{self.socket}"
        self.log = self.folder / f"log-{time.monotonic_ns()}"
        self.arguments = [*prefix, BINARY, "serve", "--listen", listen or self.address, "--srs.param_cache", str(PARAMS),
                          "--srs.check_digests", "false", "--daemon.state_directory", str(self.folder / "state"),
                          "--memory.safety_margin", "100MB", *map(str, flags)]
        self.env = environment(**variables)
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.short.cleanup()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)
        end = time.monotonic() + START_SECONDS
        while True:
            run = self.ask("status", "--wait-ready", "1s")
            code = self.process.poll()
            if code is None and run.code == 0:
                return
            if code is not None or run.code not in (IO, RESOURCE) or time.monotonic() > end:
                self.__exit__()
                how = "is not ready" if code is None else f"ended with status {code}"
                raise AssertionError(f"the daemon did not start: it {how}; {run}\n{self.text()}")

    def text(self):
        return self.log.read_text(errors="replace")

    def ask(self, *arguments, **options):
        """A command of the client with --addr in the right place."""
        return cuzk(*arguments, "--addr", self.address, env=self.env, **options)

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM, timeout=90):
        """Exit status, and the seconds it took."""
        start = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(timeout), time.monotonic() - start


class DaemonTest(CommandTest):
    def winning(self, seed="01"):
        """Arguments that say what is to be proved: one synthetic winning proof of a 2 KiB sector."""
        path = self.tmp / f"winning-{seed}.json"
        if not path.exists():
            run = cuzk("bench", "gen-vanilla", "winning-post", "--synthetic", "--registered-proof", 0, "--seed", seed * 32,
                       "-o", path, "--json")
            self.assert_ok(run)
            (self.tmp / f"winning-{seed}.said").write_text(run.out)
        said = json.loads((self.tmp / f"winning-{seed}.said").read_text())
        return ["-t", "winning", "--registered-proof", 0, "--vanilla", path, "--randomness", said["randomness"]]

    def daemon(self, *flags, **options):
        return Daemon(self.tmp, *flags, **options)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))
