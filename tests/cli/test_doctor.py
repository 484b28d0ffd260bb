"""`cuzk doctor`: what it finds where things are right and where they are not, what it says to do, and its exit status."""
import os
import resource
import socket
import unittest

from harness import CORRUPT, CommandTest, INVALID, IO, NOT_FOUND, OK, SEED, USAGE, cuzk, environment

CIRCUIT, OTHER = "window-2k", "winning-2k"


class Doctor(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files_of = {}

    def setUp(self):
        super().setUp()
        self.params, self.cache = self.tmp / "params", self.tmp / "cache"
        self.params.mkdir()
        self.socket = self.tmp / "run" / "s"

    def with_parameters(self, circuit=CIRCUIT):
        """Puts real parameters of the circuit into the folder; they are made once."""
        if circuit not in self.files_of:
            run = cuzk("setup", "--circuit", circuit, "--dir", self.params, "--seed", SEED, "--json")
            self.assert_ok(run)
            path = self.params / os.path.basename(run.json["params_file"])
            self.files_of[circuit] = path.name, path.read_bytes()
        name, content = self.files_of[circuit]
        (self.params / name).write_bytes(content)
        return self.params / name

    def doctor(self, *more, listen=None, **options):
        return cuzk("doctor", "--dir", self.params, "--cache-dir", self.cache, "--listen",
                    listen or f"unix://{self.socket}", *more, **options)

    def examine(self, check, *more, code=OK, **options):
        """The findings of a check; every one that is bad or a warning says what to do."""
        run = self.doctor(*more, "--json", **options)
        self.assertEqual(run.code, code, str(run))
        said = run.json
        self.assertEqual(said["ok"], code == OK)
        self.assertEqual(said.get("exit_status", OK), code)
        health = [finding["health"] for finding in said["findings"]]
        self.assertEqual((said["bad"], said["warnings"]), (health.count("bad"), health.count("warning")))
        self.assertEqual(said["bad"] > 0, code != OK)
        for finding in said["findings"]:
            if finding["health"] in ("bad", "warning"):
                self.assertTrue(finding["advice"], finding)
            self.assertEqual("class" in finding, finding["health"] == "bad")
        return [finding for finding in said["findings"] if finding["check"] == check]

    def one(self, check, *more, **options):
        findings = self.examine(check, *more, **options)
        self.assertEqual(len(findings), 1, findings)
        return findings[0]

    def test_all_there(self):
        file = self.with_parameters()
        before = self.files(self.params)
        finding = self.one("parameters")
        self.assertEqual((finding["health"], finding["circuit"], finding["file"], finding["digest"]),
                         ("ok", CIRCUIT, str(file), "not binding"))
        self.assertEqual(finding["bytes"], file.stat().st_size)
        run = self.doctor()
        self.assert_ok(run)
        for check in ("program", "devices", "parameters", "disk", "cache", "memory", "limits", "sockets"):
            self.assertRegex(run.out, rf"(?m)^(ok|note|warning) +{check} ", run.out)
        self.assertNotRegex(run.out, r"(?m)^bad")
        self.assertEqual((self.files(self.params), self.files(self.cache)), (before, []), "it leaves nothing")
        self.assertFalse(self.socket.parent.exists())

    def test_program_and_devices(self):
        self.with_parameters()
        program = self.one("program")
        self.assertEqual(program["version"], cuzk("version", "--json").json["version"])
        devices = self.examine("devices")
        if not any("gpu" in finding for finding in devices):  # a build without CUDA says so
            self.assertIn("no CUDA", devices[0]["message"])
            self.assertIn("cuda", devices[0]["advice"])

    def test_parameters_missing(self):
        finding = self.one("parameters", code=NOT_FOUND)
        self.assertIn(str(self.params), finding["message"])
        finding = self.one("parameters", "--circuit", CIRCUIT, code=NOT_FOUND)
        self.assertIn(f"cuzk setup --circuit {CIRCUIT}", finding["advice"])
        self.with_parameters()
        findings = self.examine("parameters", "--circuit", CIRCUIT, "--circuit", "porep-32g", code=NOT_FOUND)
        self.assertEqual([f["health"] for f in findings], ["bad", "ok"])
        self.assertIn("fetch", findings[0]["advice"])
        self.params = self.tmp / "nowhere"
        self.assertIn("no folder", self.one("parameters", code=NOT_FOUND)["message"])
        run = self.doctor()
        self.assertEqual(run.code, NOT_FOUND)
        self.assertRegex(run.out, r"(?m)^bad +parameters .*nowhere\n +-> ")
        self.assertRegex(run.out, r"(?m)^1 thing is bad, \d+ warnings?$")

    def test_parameters_damaged(self):
        file = self.with_parameters()
        good = file.read_bytes()
        flip = lambda at: good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]
        for name, content, word in (
                ("empty", b"", "empty"), ("web page", b"<!DOCTYPE html>\n<html>404</html>" * 9, "web page"),
                ("text", b"version https://git-lfs.github.com/spec/v1\n" * 9, "text"),
                ("cut", good[:-1], ""), ("cut in half", good[:len(good) // 2], ""), ("longer", good + b"\0", ""),
                ("flipped in the key", flip(10), "alpha_g1"), ("flipped in a count", flip(867), ""),
                ("another circuit's", self.content_of(OTHER), "")):
            with self.subTest(name):
                file.write_bytes(content)
                finding = self.one("parameters", code=CORRUPT)
                self.assertEqual((finding["circuit"], finding["class"]), (CIRCUIT, "corrupt"))
                self.assertIn(word, finding["message"])
                self.assertIn(str(file), finding["message"])
                self.assertIn("remove the file", finding["advice"])
        file.unlink()
        file.mkdir()
        self.one("parameters", code=CORRUPT)

    def content_of(self, circuit):
        path = self.with_parameters(circuit)
        content = path.read_bytes()
        path.unlink()
        return content

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_parameters_without_permission(self):
        self.with_parameters().chmod(0)
        self.one("parameters", code=IO)

    def test_digests_of_development_sizes_do_not_bind(self):
        self.with_parameters()
        self.assertEqual(self.one("parameters", "--digests")["digest"], "not binding")

    def test_leftovers(self):
        self.with_parameters()
        (self.params / "x.params.tmp-0123456789abcdef").write_bytes(b"12345")
        finding = self.examine("parameters")[1]
        self.assertEqual((finding["health"], finding["temporary_files"]), ("note", ["x.params.tmp-0123456789abcdef"]))
        self.assertIn("5 bytes", finding["message"])

    def test_disk(self):
        self.with_parameters()
        self.assertEqual(self.one("disk")["health"], "note")
        # Sound or not, a large file tells how fast the disk is.
        file = self.with_parameters()
        with open(file, "wb") as out:
            for _ in range(96):
                out.write(os.urandom(1 << 20))
            os.fsync(out.fileno())
        finding = self.one("disk", code=CORRUPT)
        self.assertEqual(finding["file"], str(file))
        self.assertTrue(finding["bytes_per_second"] > 1e6 or "not known" in finding["message"], finding)

    def test_cache(self):
        self.with_parameters()
        finding = self.one("cache")
        self.assertEqual((finding["health"] in ("ok", "warning"), finding["folder"]), (True, str(self.cache)))
        self.assertGreater(finding["free_bytes"], 0)
        self.cache = self.file("blocked", b"") / "cache"
        finding = self.one("cache", code=IO)
        self.assertIn("--cache-dir", finding["advice"])
        env = {k: v for k, v in environment().items() if k not in ("CUZK_CACHE_DIR", "XDG_CACHE_HOME", "HOME")}
        run = cuzk("doctor", "--dir", self.params, "--json", env=env)
        self.assertIn("no folder", [f for f in run.json["findings"] if f["check"] == "cache"][0]["message"])
        self.assertNotEqual(run.code, OK)

    def test_memory(self):
        self.with_parameters()

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, 8_000_000_000))

        total, circuit = self.examine("memory", preexec_fn=limit)
        least = min(8_000_000_000, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        self.assertTrue(least // 2 < total["budget_bytes"] < least, total)
        self.assertEqual(circuit["circuit"], CIRCUIT)
        self.assertLess(circuit["needed_bytes"], total["budget_bytes"])
        findings = self.examine("memory", "--circuit", "porep-32g", code=NOT_FOUND, preexec_fn=limit)
        self.assertEqual((findings[1]["health"], findings[1]["class"]), ("bad", "resource"))
        self.assertGreater(findings[1]["needed_bytes"], 40_000_000_000)

    def test_limits(self):
        self.with_parameters()
        for number, health in ((256, "warning"), (4096, "ok")):
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
            files, locked = self.examine("limits", preexec_fn=limit)
            self.assertEqual((files["value"], files["health"]), (number, health))
            self.assertEqual(locked["limit"], "locked memory")
        self.assertIn("LimitNOFILE", self.examine(
            "limits", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))[0]["advice"])

    def test_unix_sockets(self):
        self.with_parameters()
        finding = self.one("sockets")
        self.assertEqual((finding["health"], finding["state"]), ("ok", "free"))
        self.socket.parent.mkdir()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.socket))
            server.listen()
            finding = self.one("sockets")
            self.assertEqual((finding["health"], finding["state"]), ("note", "in use"))
        self.assertEqual(self.one("sockets")["state"], "stale")
        self.assertTrue(self.socket.exists())
        self.socket.unlink()
        self.socket.write_bytes(b"")
        self.assertIn("something else", self.one("sockets", code=USAGE)["message"])
        self.assertEqual(self.socket.read_bytes(), b"")
        self.one("sockets", listen="unix://" + "x" * 200, code=USAGE)
        blocked = self.file("blocked", b"")
        self.one("sockets", listen=f"unix://{blocked}/s", code=IO)

    def test_ports(self):
        self.with_parameters()
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            address = "127.0.0.1:%d" % server.getsockname()[1]
            self.assertEqual(self.one("sockets", listen=address)["state"], "in use")
        self.assertEqual(self.one("sockets", listen=address)["state"], "free")
        self.assertEqual([f["state"] for f in self.examine("sockets", "--listen", address)], ["free", "free"])
        for wrong in ("nonsense", "127.0.0.1", ":", "127.0.0.1:", "192.0.2.1:9820", "127.0.0.1:99999999"):
            with self.subTest(wrong):
                self.one("sockets", listen=wrong, code=USAGE)

    def test_default_address(self):
        run = cuzk("doctor", "--dir", self.params, "--cache-dir", self.cache, "--json")
        addresses = [f["address"] for f in run.json["findings"] if f["check"] == "sockets"]
        self.assertEqual(addresses, ["unix:///run/curio/cuzk.sock"])

    def test_configuration(self):
        """What the configuration says is looked at, what is wrong with it is told, and options go before it."""
        if "--config" not in cuzk("doctor", "--help").out:
            self.skipTest("built without the daemon")
        self.with_parameters()
        other, token = self.tmp / "other", self.file("tokens", b"")
        other.mkdir()

        # Variables go before the file.
        env = {name: value for name, value in environment().items() if not name.startswith("CUZK_")}

        def config(*lines):
            return self.file("cuzk.toml", "\n".join(lines))

        def found(check, *more, code=OK):
            run = cuzk("doctor", "--config", self.tmp / "cuzk.toml", "--json", *more, env=env)
            self.assertEqual(run.code, code, str(run))
            return [f for f in run.json["findings"] if f["check"] == check]

        good = [f'daemon.listen = ["unix://{self.socket}", "127.0.0.1:1"]', f'daemon.state_directory = "{self.tmp}/state"',
                f'srs.param_cache = "{self.params}"', f'residency.cache_directory = "{self.cache}"',
                'memory.total_budget = "1GiB"', f'auth.tokens = "{token}"']
        config(*good)
        self.assertEqual([f["health"] for f in found("config")], ["ok"])
        self.assertEqual([f["circuit"] for f in found("parameters")], [CIRCUIT])
        self.assertEqual([f["address"] for f in found("sockets")], [f"unix://{self.socket}", "127.0.0.1:1"])
        self.assertEqual(found("memory")[0]["budget_bytes"], 1 << 30)
        self.assertEqual(found("cache")[0]["folder"], str(self.cache))
        self.assertEqual([(f["health"], f["key"]) for f in found("files")], [("ok", "auth.tokens")])
        self.assertEqual(found("state")[0]["health"], "ok")
        self.assertFalse((self.tmp / "state").exists())
        self.assertEqual([f["address"] for f in found("sockets", "--listen", "127.0.0.1:2")], ["127.0.0.1:2"])
        self.assertEqual(found("parameters", "--dir", other, code=NOT_FOUND)[0]["folder"], str(other))
        # What systemd gives counts where the file is silent.
        env |= {"CACHE_DIRECTORY": f"{self.tmp}/given:{self.tmp}/more", "STATE_DIRECTORY": f"{self.tmp}/kept"}
        config(good[0], good[2], *good[4:])
        self.assertEqual(found("cache")[0]["folder"], f"{self.tmp}/given")
        self.assertIn(f"{self.tmp}/kept", found("state")[0]["message"])
        config(*good)
        self.assertEqual(found("cache")[0]["folder"], str(self.cache))
        config(*good, f'residency.preload = ["{OTHER}"]')
        self.assertEqual([(f["circuit"], f["health"]) for f in found("parameters", code=NOT_FOUND)],
                         [(CIRCUIT, "ok"), (OTHER, "bad")])
        config(*good, 'tls.certificate = "/nowhere/chain.pem"', f'tls.key = "{token}"')
        self.assertEqual([(f["key"], f["health"]) for f in found("files", code=NOT_FOUND)],
                         [("tls.certificate", "bad"), ("tls.key", "ok"), ("auth.tokens", "ok")])
        config(f'daemon.state_directory = "{token}/state"', *good[2:])
        self.assertEqual(found("state", code=IO)[0]["health"], "bad")
        config("srs.param_cash = 1")
        self.assertIn("srs.param_cache", found("config", "--dir", self.params, code=INVALID)[0]["message"])
        self.assertIn("no-such.toml", cuzk("doctor", "--config", "no-such.toml", "--json").out)

    def test_unknown_circuit(self):
        self.assert_fails(self.doctor("--circuit", "porep-3k"), USAGE, "porep-3k", "porep-32g")


if __name__ == "__main__":
    unittest.main()
