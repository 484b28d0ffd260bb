"""setup: what it says, what it refuses, and that an interrupted or failing run leaves nothing behind."""
import resource
import signal
import subprocess
import time
import unittest

from harness import BINARY, CommandTest, IO, NOT_FOUND, RESOURCE, SEED, STEM_2K, USAGE, cuzk, environment


def at_most_8_gb():
    resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, 8_000_000_000))


class Setup(CommandTest):
    def start(self, *more, **options):
        return subprocess.Popen([BINARY, "setup", "--circuit", "porep-2k", "--dir", str(self.tmp / "d"), *more],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **options)

    def wait_for_temporary(self, process, bytes_wanted):
        """Until the parameters' temporary file has some bytes; False where the process ended before."""
        while process.poll() is None:
            for path in (self.tmp / "d").glob("*.tmp-*"):
                if path.stat().st_size >= bytes_wanted:
                    return True
            time.sleep(0.05)
        return False

    def test_seeds(self):
        for seed in ("", "00", "0" * 63, "0" * 65, "g" * 64):
            with self.subTest(seed=seed):
                path = self.file("seed", seed + "\n")
                self.assert_fails(cuzk("setup", "--circuit", "porep-2k", "--dir", self.tmp / "d", "--seed-file", path), USAGE)
                if seed:
                    run = cuzk("setup", "--circuit", "porep-2k", "--dir", self.tmp / "d", "--seed", seed)
                    self.assert_fails(run, USAGE, "64 hexadecimal digits")
                    self.assertNotIn(seed, run.err.split("64 hexadecimal")[0] if len(seed) > 4 else "")
        self.assert_fails(cuzk("setup", "--circuit", "porep-2k", "--dir", self.tmp / "d", "--seed-file", self.tmp / "no"),
                          NOT_FOUND)
        self.assertEqual(self.files(), ["seed"])

    def test_does_not_overwrite(self):
        for suffix in (".params", ".vk"):
            with self.subTest(suffix=suffix):
                path = self.file(STEM_2K + suffix, b"precious")
                run = cuzk("setup", "--circuit", "porep-2k", "--dir", self.tmp, "--seed", SEED)
                self.assert_fails(run, USAGE, "--force", STEM_2K + suffix)
                self.assertEqual(path.read_bytes(), b"precious")
                self.assertEqual(self.files(), [STEM_2K + suffix])
                path.unlink()

    def test_folder_that_cannot_be_made(self):
        self.assert_fails(cuzk("setup", "--circuit", "porep-2k", "--dir", self.file("file", b"") / "d"), IO, "file")

    def test_too_large_for_this_machine(self):
        run = cuzk("setup", "--circuit", "porep-32g", "--dir", self.tmp / "d", preexec_fn=at_most_8_gb)
        self.assert_fails(run, RESOURCE, "memory", "ulimit -v")
        self.assertLess(run.seconds, 1)
        self.assertEqual(self.files(), [])

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                process = self.start("--seed", SEED)
                self.assertTrue(self.wait_for_temporary(process, 1), "setup ended before it was interrupted")
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number)
                self.assertIn(b"DEVELOPMENT ONLY", err)
                self.assertIn(b"no partial output", err)
                self.assertEqual(out, b"")
                self.assertEqual(self.files(self.tmp / "d"), [])

    def test_disk_that_fills_up(self):
        """A limit on the size of files stands for a full disk: writing fails in the middle of the parameters."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        process = self.start("--seed", SEED, "--json", preexec_fn=limit)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, IO, err)
        self.assertIn(b".params", err)
        self.assertIn(b'"class": "io"', out)
        self.assertEqual(self.files(self.tmp / "d"), [])


if __name__ == "__main__":
    unittest.main()
