"""What the whole-program tests share. The environment names the binary (CUZK_BINARY), the folder of parameters made by
make_params.py (CUZK_TEST_PARAMS) and a folder for temporary files on a disk (CUZK_TEST_TMP)."""
import base64
import json
import os
import pty
import select
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
C1 = GOLDEN / "c1-2kib.json"
BINARY = os.environ.get("CUZK_BINARY", str(ROOT / "build/release/bin/cuzk"))
PARAMS = Path(os.environ.get("CUZK_TEST_PARAMS", ROOT / "build/porep-2k-params"))
TMP = os.environ.get("CUZK_TEST_TMP", str(ROOT / "build"))
SEED = "00" * 31 + "01"
STEM_2K = ("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
           "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f")

OK, INTERNAL, USAGE, INVALID, UNSATISFIED, BAD_PROOF, NOT_FOUND, CORRUPT, IO, RESOURCE, UNSUPPORTED = range(11)
# Those whom a shell starts in the background ignore SIGINT, and what they start does too; not in these tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
CLASSES = ["", "internal", "usage", "invalid-input", "unsatisfied", "bad-proof", "not-found", "corrupt", "io", "resource",
           "unsupported", "device-fault", "device-unusable"]


class Run:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if k != "FIL_PROOFS_PARAMETER_CACHE"}
    # Compiled circuits are kept beside the binary, not in the home folder of who runs the tests.
    env["CUZK_CACHE_DIR"] = str(Path(BINARY).parent / "test-cache")
    env.update({k: str(v) for k, v in changes.items()})
    return env


def cuzk(*arguments, input=None, env=None, timeout=900, **options):
    """Runs the binary with pipes for its output."""
    start = time.monotonic()
    run = subprocess.run([BINARY, *map(str, arguments)], input=input, capture_output=True, env=env or environment(),
                         timeout=timeout, **options)
    return Run(run.returncode, run.stdout.decode(), run.stderr.decode(), time.monotonic() - start)


def on_terminal(*arguments, env=None, timeout=900):
    """Runs the binary with stderr on a pseudo-terminal of 80 columns; (exit status, what the terminal got)."""
    master, slave = pty.openpty()
    process = subprocess.Popen([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=slave, env=env or environment(TERM="xterm"))
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                got = os.read(master, 65536)
            except OSError:  # the other side was closed
                break
            if not got:
                break
            seen += got
    process.stdout.read()
    process.stdout.close()
    code = process.wait(timeout=10)
    os.close(master)
    return code, seen.decode()


class CommandTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=TMP, prefix="cli-test-")
        self.addCleanup(temporary.cleanup)
        self.tmp = Path(temporary.name)

    def file(self, name, content):
        path = self.tmp / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def assert_ok(self, run):
        self.assertEqual(run.code, OK, str(run))

    def assert_fails(self, run, code, *words):
        """Exit status, one line that names the class and has these words, and nothing on stdout."""
        self.assertEqual(run.code, code, str(run))
        first = run.err.splitlines()[0] if run.err else ""
        self.assertRegex(first, rf"^cuzk .*: {CLASSES[code]}: ", str(run))
        self.assertIn("[retry: ", first)
        for word in words:
            self.assertIn(word, run.err, str(run))

    def files(self, directory=None):
        return sorted(p.name for p in (directory or self.tmp).iterdir())


def c1_inner():
    """The golden C1 document, bare, as Python sees it."""
    document = json.loads(C1.read_bytes())
    return json.loads(base64.b64decode(document["Phase1Out"])) if "Phase1Out" in document else document


def compact(document):
    return json.dumps(document, separators=(",", ":")).encode()


def wrap(inner, sector_number=7, sector_size=2048):
    if not isinstance(inner, bytes):
        inner = compact(inner)
    return compact({"SectorNum": sector_number, "Phase1Out": base64.b64encode(inner).decode(), "SectorSize": sector_size})
