"""A third-party client of the daemon: tests/wire/client.mjs, on @grpc/grpc-js."""
import json
import subprocess
import threading

import npm
from harness import ROOT

WIRE = ROOT / "tests" / "wire"
OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
RESOURCE_EXHAUSTED, OUT_OF_RANGE, UNAVAILABLE, UNAUTHENTICATED, PERMISSION_DENIED = 8, 11, 14, 16, 7
PATIENCE = 300  # seconds; a machine that tests anything else beside this is slow


def install_client_or_skip():
    npm.install_or_skip(WIRE, "@grpc/grpc-js")


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
