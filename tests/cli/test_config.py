"""`cuzk config`: what is accepted, what is refused and how it is told, where values come from, and that the documentation
and the packaged example follow the table of keys."""
import re
import unittest

from harness import CommandTest, INVALID, NOT_FOUND, OK, ROOT, USAGE, cuzk, environment


def keys():
    return cuzk("config", "keys", "--json").json["keys"]


class Check(CommandTest):
    def config(self, text):
        return self.file("cuzk.toml", text)

    def test_good(self):
        run = cuzk("config", "check", "-c", self.config('[memory]\ntotal_budget = "1.5TiB"\n'))
        self.assert_ok(run)
        self.assertEqual(run.out, "the configuration can be used\n")

    def test_all_errors_with_their_lines(self):
        path = self.config('[memory]\ntotal_budgt = "64GiB"\nsafety_margin = "1Gib"\n\n[gpus]\ngpu_threads = "all"\n')
        run = cuzk("config", "check", "-c", path)
        self.assertEqual(run.code, INVALID, str(run))
        lines = run.out.splitlines()
        self.assertEqual(lines[0], f"error: {path}:2:1: unknown key 'memory.total_budgt'; did you mean memory.total_budget?")
        self.assertIn(f"error: {path}:3:1: memory.safety_margin: '1Gib' is no size", lines[1])
        self.assertIn(f"error: {path}:6:1: gpus.gpu_threads: must be a whole number", lines[2])
        self.assertEqual(len(lines), 4)
        json = cuzk("config", "check", "-c", path, "--json")
        self.assertEqual((json.code, json.json["ok"], json.json["exit_status"]), (INVALID, False, INVALID))
        self.assertEqual([f["severity"] for f in json.json["findings"]], ["error"] * 3)
        self.assertEqual(json.json["findings"][0]["where"], f"{path}:2:1")

    def test_deprecated_keys_are_warned_of(self):
        run = cuzk("config", "check", "-c", self.config('[srs]\npreload = ["porep-32g"]\n[synthesis]\npartition_workers = 3\n'))
        self.assert_ok(run)
        self.assertIn("warning: ", run.out)
        self.assertIn("srs.preload is deprecated and ignored. Use residency.preload.", run.out)
        self.assertIn("synthesis.partition_workers is deprecated", run.out)

    def test_a_wrong_path_is_an_error(self):
        missing = self.tmp / "none.toml"
        for command in ("check", "print"):
            self.assert_fails(cuzk("config", command, "--config", missing), NOT_FOUND, str(missing))
        run = cuzk("config", "check", env=environment(CUZK_CONFIG=missing))
        self.assert_fails(run, NOT_FOUND, str(missing))
        self.assert_fails(cuzk("serve", "--config", missing), NOT_FOUND, str(missing))
        # As the reference's program is called.
        self.assert_fails(cuzk("--config", missing), NOT_FOUND, str(missing))

    def test_serve_starts_with_nothing_but_a_good_one(self):
        path = self.config("[daemon]\nlisen = 'x'\n")
        run = cuzk("serve", "-c", path)
        self.assertEqual(run.code, INVALID, str(run))
        self.assertIn(f"error: {path}:2:1: unknown key 'daemon.lisen'; did you mean daemon.listen?", run.err)
        self.assertIn("cuzk serve: invalid-input: the configuration has 1 error", run.err)

    def test_addresses(self):
        """What the daemon would refuse to listen on is told before; the reference's example has such an address."""
        path = self.config('[daemon]\nlisten = "0.0.0.0:9820"\nstatus_listen = "0.0.0.0:9821"\n')
        run = cuzk("config", "check", "-c", path)
        self.assertEqual(run.code, INVALID, str(run))
        self.assertRegex(run.out, rf"^error: {path}:2: daemon.listen: other machines can reach 0.0.0.0:9820, .*"
                                  r"tls.certificate and tls.key, .*daemon.allow_insecure\n")
        self.assertIn(f"error: {path}:3: daemon.status_listen: other machines can reach 0.0.0.0:9821", run.out)
        self.assert_ok(cuzk("config", "check", "-c", path, "--daemon.allow_insecure", "true"))
        tls = ["--tls.certificate", "c", "--tls.key", "k"]
        run = cuzk("config", "check", "-c", path, *tls)
        self.assertNotIn("daemon.listen", run.out)
        self.assertIn("daemon.status_listen", run.out)
        for address in ("nonsense", "unix://relative", "127.0.0.1", "127.0.0.1:x"):
            run = cuzk("config", "check", "-l", address)
            self.assertEqual(run.code, INVALID, str(run))
            self.assertIn("error: --daemon.listen: daemon.listen: ", run.out)
        for address in ("127.0.0.1:1", "[::1]:1", "localhost:1", "unix:///a"):
            self.assert_ok(cuzk("config", "check", "-l", address))

    def test_flags_are_checked(self):
        run = cuzk("config", "check", "--memory.total_budget", "lots")
        self.assertEqual(run.code, INVALID)
        self.assertIn("error: option --memory.total_budget: memory.total_budget: 'lots' is no size", run.out)
        self.assert_fails(cuzk("config", "check", "--memory.total_budget", "1GiB", "--memory.total_budget", "2GiB"), USAGE,
                          "more than once")
        self.assert_fails(cuzk("config", "check", "--memory.nonsense", "1"), USAGE)


class Print(CommandTest):
    def test_origins(self):
        path = self.file("c.toml", '[memory]\nsafety_margin = "1GiB"\n[logging]\nlevel = "warn"\n')
        env = environment(CUZK_LOGGING_LEVEL="debug", CUZK_CONFIG=path)
        run = cuzk("config", "print", "--origin", "-l", "unix:///a", "-l", "127.0.0.1:1", env=env)
        self.assert_ok(run)
        self.assertRegex(run.out, rf'(?m)^safety_margin = "1GiB" +# {re.escape(str(path))}:2$')
        self.assertRegex(run.out, r'(?m)^level = "debug" +# CUZK_LOGGING_LEVEL$')
        self.assertRegex(run.out, r'(?m)^listen = \["unix:///a", "127.0.0.1:1"\] +# --daemon.listen$')
        self.assertRegex(run.out, r'(?m)^total_budget = "auto" +# default$')
        values = cuzk("config", "print", "--json", env=env).json["values"]
        self.assertEqual(values["logging.level"], {"value": '"debug"', "origin": "CUZK_LOGGING_LEVEL"})
        self.assertEqual(set(values), {k["key"] for k in keys()})

    def test_what_is_printed_gives_the_same(self):
        first = cuzk("config", "print", "--memory.total_budget", "1.5TiB", "--gpus.devices", "0,1")
        self.assert_ok(first)
        path = self.file("printed.toml", first.out)
        second = cuzk("config", "print", "-c", path)
        self.assert_ok(second)
        self.assertEqual(second.out, first.out)
        self.assertEqual(second.err, "")

    def test_every_key_has_its_twin_and_its_flag(self):
        for key in keys():
            if key["use"] != "used" or not key["default"] or key["default"] == '""':
                continue
            value = key["default"].strip('"[]').replace('"', "")
            if not value:
                continue
            env = environment(**{key["environment"]: value})
            printed = cuzk("config", "print", "--json", env=env).json["values"][key["key"]]
            self.assertEqual(printed, {"value": key["default"], "origin": key["environment"]}, key["key"])
        help = cuzk("serve", "--help").out
        for key in keys():
            self.assertEqual(key["flag"] in help, key["use"] == "used", key["key"])


class Documents(CommandTest):
    def test_documentation_is_of_this_table(self):
        text = (ROOT / "docs" / "config.md").read_text()
        tables = cuzk("config", "keys", "--markdown").out
        self.assertIn(tables.strip(), text, "docs/config.md: put in what `cuzk config keys --markdown` writes")

    def test_packaged_example(self):
        path = ROOT / "packaging" / "cuzk.toml"
        run = cuzk("config", "check", "-c", path)
        self.assertEqual((run.code, run.out), (OK, "the configuration can be used\n"))
        # What is commented out is right too.
        whole = re.sub(r"(?m)^#(?=\w+ = )", "", path.read_text())
        self.assertGreater(whole.count("\n"), 20)
        run = cuzk("config", "check", "-c", self.file("whole.toml", whole))
        self.assertEqual((run.code, run.out), (OK, "the configuration can be used\n"))


if __name__ == "__main__":
    unittest.main()
