"""A third-party client of the daemon: tests/wire/client.mjs, on @grpc/grpc-js."""
import json
import os
import shutil
import subprocess
import sys
import threading

from harness import ROOT

WIRE = ROOT / "tests" / "wire"
OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
RESOURCE_EXHAUSTED, OUT_OF_RANGE, UNAVAILABLE, UNAUTHENTICATED, PERMISSION_DENIED = 8, 11, 14, 16, 7
PATIENCE = 300  # seconds; a machine that tests anything else beside this is slow


def install_client():
    """The client's packages; the reason where there are none."""
    if (WIRE / "node_modules" / "@grpc" / "grpc-js").is_dir():
        return None
    if shutil.which("npm") is None:
        return "npm is not installed"
    run = subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"], cwd=WIRE,
                         capture_output=True, text=True, timeout=300)
    return None if run.returncode == 0 else "npm install failed: " + run.stderr[-500:]


def install_client_or_skip():
    reason = install_client()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(1 if os.environ.get("CI") else 77)


class Client:
    """One process of the client. call() waits for the answer, begin() does not."""

    def __init__(self, address, *certificates):
        self.process = subprocess.Popen(["node", WIRE / "client.mjs", address, *map(str, certificates)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers, self.next = {}, 0
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.changed:
                self.answers[answer["n"]] = answer
                answer["order"] = len(self.answers)
                self.changed.notify_all()

    def begin(self, method, request=None, **options):
        self.next += 1
        command = {"n": self.next, "method": method, "request": request or {}, **options}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.next

    def answered(self, n):
        return n in self.answers

    def answer(self, n, timeout=PATIENCE):
        with self.changed:
            if not self.changed.wait_for(lambda: n in self.answers, timeout):
                raise AssertionError(f"no answer in {timeout} s")
            return self.answers[n]

    def call(self, method, request=None, **options):
        return self.answer(self.begin(method, request, **options))

    def reply(self, method, request=None, **options):
        answer = self.call(method, request, **options)
        assert answer["code"] == OK, answer
        return answer["reply"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
