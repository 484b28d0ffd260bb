"""Commands that need no parameters: help, version, circuits; usage errors; where output goes."""
import os
import subprocess
import unittest

from harness import (BINARY, C1, CommandTest, IO, NOT_FOUND, STEM_2K, USAGE, cuzk, environment,
                     on_terminal)


class Help(CommandTest):
    def test_help_of_every_command(self):
        top = cuzk("--help")
        self.assert_ok(top)
        for command in ("setup", "prove", "verify", "params", "circuit", "version"):
            self.assertIn(command, top.out)
        for command in (["setup"], ["prove"], ["verify"], ["params", "inspect"], ["params", "check"],
                        ["circuit", "list"], ["circuit", "info"], ["circuit", "digest"], ["version"]):
            run = cuzk(*command, "--help")
            self.assert_ok(run)
            self.assertIn("Examples:", run.out)
            self.assertIn("cuzk " + " ".join(command), run.out)
            self.assertIn("--json", run.out)
            self.assertEqual(run.err, "")

    def test_version(self):
        self.assertRegex(cuzk("version").out, r"^cuzk \d+\.\d+\.\d+ ")
        self.assertRegex(cuzk("version", "--json").json["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(cuzk("version", "--json", "--threads", "1").json["threads"], 1)

    def test_timing(self):
        self.assertIn("peak memory", cuzk("version", "--timing").out)
        self.assertNotIn("peak memory", cuzk("version").out)

    def test_peak_memory_is_its_own(self):
        """Whoever starts it may be larger; getrusage alone would say so."""
        ballast = bytearray(os.urandom(1 << 20)) * 200
        peak = cuzk("version", "--json").json["peak_rss_bytes"]
        self.assertLess(peak, len(ballast) // 2)
        self.assertGreater(peak, 1 << 20)


class Usage(CommandTest):
    def test_wrong_command_lines(self):
        for arguments in ([], ["nonsense"], ["params"], ["circuit"], ["prove"], ["prove", "--kind", "porep"],
                          ["version", "--nonsense"], ["version", "--threads", "0"], ["version", "--threads", "x"],
                          ["version", "extra"], ["circuit", "digest"], ["circuit", "digest", "porep-2k", "extra"],
                          ["circuit", "digest", "porep-2k", "--challenges", "19"],
                          ["verify", "--kind", "porep", "--input", "x", "--proof", "y", "--miner-id", "-1"],
                          ["params", "check", "--quick", "--subgroup", "x"], ["params", "check"],
                          ["setup", "--circuit", "porep-2k", "--seed", "00", "--seed-file", "x"]):
            with self.subTest(arguments=arguments):
                run = cuzk(*arguments)
                self.assert_fails(run, USAGE)
                self.assertEqual(run.out, "")
                run = cuzk(*arguments, "--json")
                self.assertEqual(run.code, USAGE)
                self.assertEqual((run.json["ok"], run.json["error"]["class"]), (False, "usage"))
                self.assertFalse(run.json["error"]["retry_helps"])

    def test_a_worker_by_hand(self):
        """It is for the daemon alone: not in the help, and refused without its socket."""
        self.assertNotIn("worker", cuzk("--help").out)
        for arguments in ([], ["--help"], ["--fd=3"], ["--fd=1"], ["--fd=0", "--device=cpu"]):
            with self.subTest(arguments=arguments):
                run = cuzk("worker", *arguments)
                self.assertEqual(run.code, USAGE)
                self.assertEqual(run.out, "")
                self.assertIn("worker", run.err)

    def test_unknown_circuit_lists_the_known(self):
        for command in (["circuit", "info"], ["circuit", "digest"], ["params", "check", "--circuit"],
                        ["setup", "--circuit"]):
            self.assert_fails(cuzk(*command, "porep-3k"), USAGE, "porep-3k", "porep-2k", "porep-64g", "snap-32g",
                              "window-32g", "winning-2k")

    def test_kinds(self):
        common = ["--input", C1, "--dir", self.tmp]
        self.assert_fails(cuzk("prove", "--kind", "nonsense", "--out", self.tmp / "p", *common), USAGE, "porep")
        self.assert_fails(cuzk("verify", "--kind", "nonsense", "--proof", "p", *common), USAGE, "porep")
        for kind in ("porep", "snap", "window", "winning"):
            self.assertIn(kind, cuzk("prove", "--kind", "nonsense", "--out", self.tmp / "p", *common).err)
            self.assertIn(kind, cuzk("prove", "--help").out)
        self.assertEqual(self.files(), [])


class Circuits(CommandTest):
    def test_list(self):
        run = cuzk("circuit", "list", "--json")
        self.assert_ok(run)
        circuits = {c["circuit"]: c for c in run.json["circuits"]}
        for name in ("porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g"):
            self.assertIn(name, circuits)
            self.assertIn(name, cuzk("circuit", "list").out)
        # shared/spec of upstream's circuits: constraints and log2 of the domain.
        for name, kind, constraints, log2_domain in (
                ("porep-32g", "porep", 130278541, 27), ("snap-2k", "snap", 1705039, 21),
                ("snap-32g", "snap", 81049499, 27), ("window-2k", "window", 21866, 15),
                ("window-32g", "window", 125279217, 27), ("winning-2k", "winning", 90750, 17),
                ("winning-32g", "winning", 370590, 19)):
            circuit = circuits[name]
            self.assertEqual((circuit["kind"], circuit["constraints"], circuit["log2_domain"]),
                             (kind, constraints, log2_domain), name)
        self.assertEqual(len(circuits), 41)

    def test_info(self):
        run = cuzk("circuit", "info", "porep-32g", "--json").json
        self.assertEqual((run["inputs"], run["aux"], run["constraints"], run["log2_domain"]),
                         (328, 130169893, 130278541, 27))
        self.assertEqual((run["sector_bytes"], run["partitions"], run["challenges_per_partition"], run["proof_bytes"]),
                         (1 << 35, 10, 18, 1920))
        run = cuzk("circuit", "info", "porep-2k", "--json").json
        self.assertEqual(run["params_file"], STEM_2K + ".params")
        self.assertEqual(run["vk_file"], STEM_2K + ".vk")
        self.assertEqual(run["params_bytes"], 1114707768)
        self.assertIn("2,687,921", cuzk("circuit", "info", "porep-2k").out)
        run = cuzk("circuit", "info", "window-32g", "--json").json
        self.assertEqual((run["inputs"], run["aux"], run["a_aux_density"], run["b_aux_density"], run["partitions"],
                          run["sectors_per_partition"], run["challenges_per_partition"], run["proof_bytes"]),
                         (25840, 126902376, 96179805, 91925766, 1, 2349, 23490, 192))
        self.assertIn("0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc", run["params_file"])
        run = cuzk("circuit", "info", "snap-32g", "--json").json
        self.assertEqual((run["partitions"], run["challenges_per_partition"], run["proof_bytes"]), (16, 86, 3072))

    def test_digest(self):
        run = cuzk("circuit", "digest", "porep-2k", "--json")
        self.assert_ok(run)
        result = run.json
        self.assertEqual(result["digest"], "55243c3d8800ddf0ccd7e8f75dbab05392ef83f1bdc098bb27c294766781cfeb")
        self.assertEqual((result["inputs"], result["aux"], result["constraints"]), (40, 2685673, 2687921))
        self.assertEqual((result["a_aux_density"], result["b_input_density"], result["b_aux_density"]),
                         (2674908, 1, 685521))
        self.assertGreater(result["seconds"], 0)
        self.assertGreater(result["peak_rss_bytes"], 0)

    def test_digest_of_every_kind(self):
        for name, *more, digest in (
                ("winning-2k", "be2536b53059cdab99f7325747dc6fdcbd38be25fa4295792320af8b11dcabb5"),
                ("window-2k", "ffa5dc2bf140c1ffabe792257baf962cfe208844b7a00e8b84851d1ecb788293"),
                ("snap-2k", "a7ad8f624ccb52cf15f8d744b1424c8ba4392a7720b0f1dccd2941633921ac57")):
            run = cuzk("circuit", "digest", name, *more, "--json")
            self.assert_ok(run)
            self.assertEqual(run.json["digest"], digest, name)
        one = cuzk("circuit", "digest", "window-32g", "--sectors", 1, "--json").json
        self.assertEqual((one["sectors"], one["constraints"], one["aux"], one["inputs"]), (1, 53333, 54024, 12))
        self.assert_fails(cuzk("circuit", "digest", "window-2k", "--sectors", 3), USAGE, "--sectors")
        self.assert_fails(cuzk("circuit", "digest", "porep-2k", "--sectors", 1), USAGE, "--sectors")
        self.assert_fails(cuzk("circuit", "digest", "snap-2k", "--challenges", 1), USAGE, "--challenges")

    def test_digest_of_fewer_challenges(self):
        run = cuzk("circuit", "digest", "porep-2k", "--challenges", "1")
        self.assert_ok(run)
        self.assertTrue(run.out.startswith("d07b46233c6489922e1f88c653f442a9ce19664ba5d6b5afa711f6ed80ae74d7  porep-2k"))


class Progress(CommandTest):
    def test_terminal_shows_rate_and_time_left(self):
        code, seen = on_terminal("circuit", "digest", "porep-512m")
        self.assertEqual(code, 0)
        self.assertRegex(seen, r"digest: \d+ %, [\d.]+ labels/s, [\d.]+ m?s left")

    def test_pipe_shows_nothing(self):
        self.assertEqual(cuzk("circuit", "digest", "porep-512m").err, "")


class Output(CommandTest):
    def test_full_disk_on_stdout(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([BINARY, "version"], stdout=full, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(run.returncode, IO)
        self.assertIn(b"standard output", run.stderr)

    def test_json_error_has_its_place(self):
        missing = self.tmp / "none.params"
        run = cuzk("params", "inspect", missing, "--json")
        self.assertEqual(run.code, NOT_FOUND)
        error = run.json["error"]
        self.assertEqual((error["class"], error["file"], error["retry_helps"]), ("not-found", str(missing), False))
        self.assertEqual(run.json["exit_status"], NOT_FOUND)

    def test_names_cannot_draw_on_the_terminal(self):
        run = cuzk("params", "inspect", self.tmp / "a\x1b[2Jb.params")
        self.assertEqual(run.code, NOT_FOUND)
        self.assertNotIn("\x1b", run.err)

    def test_parameter_folder_from_the_environment(self):
        folder = self.tmp / "cache"
        run = cuzk("params", "inspect", "--circuit", "porep-2k", env=environment(FIL_PROOFS_PARAMETER_CACHE=folder))
        self.assert_fails(run, NOT_FOUND, str(folder / STEM_2K), "hint: ", "cuzk setup --circuit porep-2k")
        run = cuzk("params", "inspect", "--circuit", "porep-2k", "--dir", self.tmp,
                   env=environment(FIL_PROOFS_PARAMETER_CACHE=folder))
        self.assert_fails(run, NOT_FOUND, str(self.tmp / STEM_2K))
        run = cuzk("circuit", "info", "porep-2k", env=environment(FIL_PROOFS_PARAMETER_CACHE=""))
        self.assert_ok(run)


if __name__ == "__main__":
    unittest.main()
