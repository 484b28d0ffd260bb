"""The folder of compiled circuits: used, refused where it is damaged or foreign, and never the reason for a failure."""
import os
import stat
import unittest
from pathlib import Path

from harness import CommandTest, SEED, cuzk, environment

CIRCUIT = "window-2k"


class Cache(CommandTest):
    def setUp(self):
        super().setUp()
        self.cache = self.tmp / "cache"

    def setup_with(self, *more, circuit=CIRCUIT, env=None, **options):
        """`cuzk setup`, the quickest command that needs a circuit. Its parameters must always be the same."""
        run = cuzk("setup", "--circuit", circuit, "--dir", self.tmp / "params", "--seed", SEED, "--force", "--json", *more,
                   env=env, **options)
        self.assert_ok(run)
        key = Path(run.json["vk_file"]).read_bytes()
        if circuit == CIRCUIT:
            self.assertEqual(getattr(Cache, "key", key), key)
            Cache.key = key
        run.source = run.json["circuit_source"]
        run.warnings = [line for line in run.err.splitlines() if line.startswith("warning")]
        return run

    def file_of(self, circuit=CIRCUIT):
        (path,) = self.cache.glob(circuit + "-v*.circuit")
        return path

    def test_kept_and_used(self):
        first = self.setup_with("--cache-dir", self.cache)
        self.assertEqual((first.source, first.warnings), ("compiled, cached", []))
        self.assertEqual(stat.S_IMODE(self.cache.stat().st_mode), 0o700)
        second = self.setup_with("--cache-dir", self.cache)
        self.assertEqual((second.source, second.warnings), ("cache", []))
        self.assertIn("loading the circuit", [s["name"] for s in second.json["stages"]])
        self.assertEqual(len(self.files(self.cache)), 1)

    def test_off(self):
        run = self.setup_with("--no-cache", env=environment(CUZK_CACHE_DIR=self.cache))
        self.assertEqual((run.source, run.warnings), ("compiled", []))
        self.assertFalse(self.cache.exists())

    def test_where(self):
        """--cache-dir before CUZK_CACHE_DIR before XDG_CACHE_HOME before HOME; without any of them none is kept."""
        names = ("CUZK_CACHE_DIR", "XDG_CACHE_HOME", "HOME")
        homes = {name: self.tmp / name for name in names}
        places = {"CUZK_CACHE_DIR": homes["CUZK_CACHE_DIR"], "XDG_CACHE_HOME": homes["XDG_CACHE_HOME"] / "cuzk",
                  "HOME": homes["HOME"] / ".cache" / "cuzk"}
        run = self.setup_with("--cache-dir", self.cache, env=environment(**homes))
        self.assertTrue(self.file_of().exists())
        for k, name in enumerate(names):
            env = environment(**homes)
            for other in names[:k]:
                del env[other]
            run = self.setup_with(env=env)
            self.assertEqual(run.source, "compiled, cached", name)
            self.assertEqual(len(self.files(places[name])), 1, name)
        env = {k: v for k, v in env.items() if k not in names}
        self.assertEqual(self.setup_with(env=env).source, "compiled")
        # XDG wants relative paths ignored.
        env["XDG_CACHE_HOME"] = "relative"
        self.assertEqual(self.setup_with(env=env, cwd=self.tmp).source, "compiled")

    def test_damaged(self):
        self.setup_with("--cache-dir", self.cache)
        path = self.file_of()
        good = path.read_bytes()
        flip = lambda at: good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]
        for name, bad in (("magic", flip(0)), ("version", flip(8)), ("digest", flip(100)), ("content", flip(len(good) // 2)),
                          ("last byte", flip(len(good) - 1)), ("cut", good[: len(good) // 2]), ("cut by one", good[:-1]),
                          ("head only", good[:128]), ("empty", b""), ("one more byte", good + b"\0"),
                          ("something else", b"<html></html>" * 100)):
            with self.subTest(name):
                path.write_bytes(bad)
                run = self.setup_with("--cache-dir", self.cache)
                self.assertEqual(run.source, "compiled, cached")
                self.assertEqual(len(run.warnings), 1, str(run))
                self.assertIn(str(path), run.warnings[0])
                self.assertEqual(path.read_bytes(), good, "the file was not made anew")

    def test_of_another_circuit(self):
        self.setup_with("--cache-dir", self.cache)
        self.setup_with("--cache-dir", self.cache, circuit="winning-2k")
        good = self.file_of().read_bytes()
        self.file_of().write_bytes(self.file_of("winning-2k").read_bytes())
        run = self.setup_with("--cache-dir", self.cache)
        self.assertEqual((run.source, len(run.warnings)), ("compiled, cached", 1), str(run))
        self.assertEqual(self.file_of().read_bytes(), good)

    def test_cannot_be_written(self):
        """Only a warning: a file in place of the folder, a folder in place of the file."""
        blocked = self.file("blocked", b"")
        run = self.setup_with("--cache-dir", blocked / "cache")
        self.assertEqual(run.source, "compiled")
        self.assertGreaterEqual(len(run.warnings), 1, str(run))
        self.setup_with("--cache-dir", self.cache)
        path = self.file_of()
        path.unlink()
        path.mkdir()
        run = self.setup_with("--cache-dir", self.cache)
        self.assertEqual(run.source, "compiled")
        self.assertGreaterEqual(len(run.warnings), 1, str(run))

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_folder_without_permission(self):
        self.cache.mkdir(mode=0o500)
        run = self.setup_with("--cache-dir", self.cache)
        self.assertEqual((run.source, len(run.warnings)), ("compiled", 1), str(run))


if __name__ == "__main__":
    unittest.main()
