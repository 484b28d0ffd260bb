"""The daemon and its clients, whole: `cuzk serve` on a Unix socket with the 2 KiB winning circuit."""
import base64
import json
import os
import signal
import socket
import subprocess
import time
import unittest
import urllib.request

from daemon import DaemonTest
from harness import (BINARY, C1, INTERNAL, INVALID, IO, NOT_FOUND, OK, PARAMS, RESOURCE, TMP, UNSUPPORTED, USAGE, cuzk,
                     environment)

JOB_FAILED, JOB_CANCELLED, JOB_TIMED_OUT = 20, 21, 22


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Serve(DaemonTest):
    """One daemon for what leaves it as it was."""
    @classmethod
    def setUpClass(cls):
        import tempfile
        from pathlib import Path
        from daemon import Daemon
        cls.folder = tempfile.TemporaryDirectory(dir=TMP, prefix="cli-test-")
        cls.http = free_port()
        cls.running = Daemon(Path(cls.folder.name), "--daemon.status_listen", f"127.0.0.1:{cls.http}", "--log-level", "debug")
        cls.running.start()

    @classmethod
    def tearDownClass(cls):
        cls.running.__exit__()
        cls.folder.cleanup()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=10) as answer:
            return answer.read().decode()

    def test_single(self):
        run = self.running.ask("bench", "single", *self.winning(), "--dir", PARAMS)
        self.assert_ok(run)
        # The reference's lines, and one of ours.
        lines = run.out.lstrip("\n").splitlines()
        self.assertEqual(lines[0], "=== Proof Result ===")
        self.assertEqual(lines[1], "status:    COMPLETED")
        self.assertRegex(lines[2], r"^job_id:    [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assertRegex(lines[3], r"^timings:   total=\d+ ms \(queue=\d+ ms, srs=\d+ ms, synth=\d+ ms, gpu=\d+ ms\)$")
        self.assertRegex(lines[4], r"^wall time: \d+ ms$")
        self.assertRegex(lines[5], r"^proof:     192 bytes \(hex: [0-9a-f]{384}\)$")
        self.assertEqual(lines[6], "verified:  yes, 1 partition")
        self.assertEqual(len(lines), 7)

    def test_the_proof_is_one_that_verify_takes(self):
        run = self.running.ask("bench", "single", *self.winning("02"), "--dir", PARAMS, "--json")
        self.assert_ok(run)
        self.assertTrue(run.json["ok"] and run.json["verified"])
        proof = self.file("proof.bin", bytes.fromhex(run.json["proof"]))
        words = ["--kind" if w == "-t" else w for w in self.winning("02")]
        self.assert_ok(cuzk("verify", *words, "--dir", PARAMS, "--proof", proof))

    def test_without_a_verifying_key_it_says_so(self):
        run = self.running.ask("bench", "single", *self.winning(), "--dir", self.tmp)
        self.assert_ok(run)
        self.assertRegex(run.out, r"(?m)^verified:  no: there is no verifying key: .*\.vk$")
        self.assertFalse(self.running.ask("bench", "single", *self.winning(), "--no-verify", "--json").json["verified"])

    def test_a_proof_of_something_else_is_noticed(self):
        """With the verifying key of another circuit no proof verifies."""
        key = next(p for p in PARAMS.glob("v28-proof-of-spacetime-fallback-*.vk")
                   if p.name != cuzk("circuit", "info", "winning-2k", "--json").json["vk_file"])
        run = self.running.ask("bench", "single", *self.winning(), "--vk", key)
        self.assertNotEqual(run.code, OK)
        self.assertNotIn("COMPLETED", run.out)

    def test_failed_jobs(self):
        path = self.file("bad.json", json.dumps([base64.b64encode(b"\0" * 500).decode()]))
        words = ["-t", "winning", "--registered-proof", 0, "--vanilla", path]
        run = self.running.ask("bench", "single", *words)
        self.assertEqual(run.code, JOB_FAILED, str(run))
        self.assertIn("status:    FAILED", run.out)
        self.assertRegex(run.out, r"(?m)^error:     .+ \[invalid-input\]$")
        run = self.running.ask("bench", "single", *words, "--json")
        self.assertEqual((run.code, run.json["ok"], run.json["status"], run.json["error_class"]),
                         (JOB_FAILED, False, "FAILED", "invalid-input"))
        run = self.running.ask("bench", "batch", *words, "--count", 2)
        self.assertEqual(run.code, JOB_FAILED)
        self.assertIn("failed:        2", run.out)

    def test_batch(self):
        for concurrency in (1, 3):
            run = self.running.ask("bench", "batch", *self.winning(), "--count", 4, "-j", concurrency, "--dir", PARAMS)
            self.assert_ok(run)
            self.assertRegex(run.out, rf"^=== Batch Benchmark ===\nproof type:  winning\ncount:       4\n"
                                      rf"concurrency: {concurrency}\n\n")
            for i in range(1, 5):
                self.assertRegex(run.out, rf"(?m)^  \[{i}/4\] COMPLETED — \d+\.\ds \(prove=\d+ ms, queue=\d+ ms\)$")
            self.assertRegex(run.out, r"\n\n=== Batch Summary ===\ntotal time:    \d+\.\ds\ncompleted:     4\n"
                                      r"failed:        0\nwall time:     avg=\d+\.\ds min=\d+\.\ds max=\d+\.\ds\n"
                                      r"prove time:    avg=\d+\.\ds min=\d+\.\ds max=\d+\.\ds\n"
                                      r"throughput:    \d+\.\d{3} proofs/min \(\d+\.\ds/proof\)\nverified:      4\n$")
        run = self.running.ask("bench", "batch", *self.winning(), "-c", 2, "--dir", PARAMS, "--json")
        self.assertEqual((run.json["completed"], run.json["verified"], len(run.json["proofs"])), (2, 2, 2))

    def test_stress(self):
        run = self.running.ask("bench", "stress", *self.winning(), "--clients", 4, "--jobs", 5, "--cancel-percent", 30,
                               "--mixed-priorities", "--evict", "winning-2k", "--evict-every", 2, "--dir", PARAMS, "--json")
        self.assertEqual(run.code, OK, str(run))
        result = run.json
        self.assertEqual((result["wrong_proofs"], result["failed"], result["call_errors"]), (0, 0, 0), str(run))
        self.assertEqual(result["completed"] + result["cancelled"], 20)
        self.assertEqual(result["verified"], result["completed"])

    def test_submit_await(self):
        run = self.running.ask("submit", *self.winning("03"), "--id", "job with blanks", "--json")
        self.assert_ok(run)
        self.assertEqual((run.json["job_id"], run.json["attached"]), ("job with blanks", False))
        out = self.tmp / "proof.bin"
        run = self.running.ask("await", "job with blanks", "--out", out, *self.winning("03"), "--dir", PARAMS)
        self.assert_ok(run)
        self.assertIn("verified:  yes, 1 partition", run.out)
        self.assertEqual(out.stat().st_size, 192)
        # The same again is the same job; without the request nothing can be verified.
        self.assertTrue(self.running.ask("submit", *self.winning("03"), "--id", "job with blanks", "--json").json["attached"])
        run = self.running.ask("await", "job with blanks")
        self.assert_ok(run)
        self.assertIn("verified:  no: the request was not given", run.out)
        self.assert_fails(self.running.ask("await", "nobody"), NOT_FOUND, "nobody")
        self.assert_fails(self.running.ask("cancel", "nobody"), NOT_FOUND, "nobody")

    def test_status(self):
        for command in (["status"], ["bench", "status"]):
            run = self.running.ask(*command)
            self.assert_ok(run)
            self.assertRegex(run.out, r"^=== cuzk daemon status ===\nuptime:           \d+s\nproofs completed: \d+\n"
                                      r"proofs failed:    \d+\npinned memory:    \d+ / \d+ bytes\n")
            self.assertRegex(run.out, r"(?m)^  \[0\] CPU.* — \d+ MiB / \d+ MiB VRAM — \w+")
        json_status = self.running.ask("status", "--json").json
        self.assertTrue(json_status["ready"])
        self.assertEqual(set(json.loads(self.get("/status"))) & {"uptime_secs", "memory", "pipelines", "counters"},
                         {"uptime_secs", "memory", "pipelines", "counters"})
        self.get("/livez")
        self.get("/readyz")

    def test_metrics(self):
        self.assert_ok(self.running.ask("bench", "single", *self.winning(), "--no-verify"))
        for text in (self.running.ask("metrics").out, self.running.ask("bench", "metrics").out, self.get("/metrics")):
            self.assertRegex(text, r"(?m)^cuzk_proofs_completed_total [1-9]")
            self.assertRegex(text, r'(?m)^cuzk_proofs_completed\{proof_kind="winning_post"\} [1-9]')
            self.assertRegex(text, r'(?m)^cuzk_jobs_accepted_total\{proof_kind="winning_post"\} [1-9]')

    def test_preload_evict(self):
        run = self.running.ask("preload", "winning-2k")
        self.assertRegex(run.out, r"^winning-2k (already loaded|loaded in \d+ ms)\n$")
        self.assertEqual(self.running.ask("bench", "preload", "-c", "winning-2k").out, "winning-2k already loaded\n")
        self.assertRegex(self.running.ask("evict", "winning-2k").out, r"^winning-2k evicted, .* freed\n$")
        self.assertEqual(self.running.ask("evict", "winning-2k").out, "winning-2k was not loaded\n")
        self.assertNotEqual(self.running.ask("preload", "winning-3k").code, OK)
        # Parameters that are not there.
        self.assert_fails(self.running.ask("preload", "winning-32g"), NOT_FOUND, "559e581f022bb4e4")

    def test_log(self):
        self.assert_ok(self.running.ask("bench", "single", *self.winning(), "--no-verify", "--id", "a,b\n\x1b[31mred"))
        deadline = time.monotonic() + 10
        while "TIMELINE" not in self.running.text() and time.monotonic() < deadline:
            time.sleep(0.1)
        text = self.running.text()
        self.assertRegex(text, r"(?m) info cuzk starts .*version=")
        self.assertRegex(text, r"(?m) info job finished .*job_id=")
        self.assertRegex(text, r"(?m)^TIMELINE,\d+,GPU_END,a\\x2cb\\x0a\\x1b\[31mred,worker=0,partition=0,gpu_ms=\d+$")
        self.assertNotIn("\x1b", text)

    def test_a_second_daemon_is_refused(self):
        run = cuzk("serve", "--listen", self.running.address, "--srs.param_cache", PARAMS, "--daemon.state_directory",
                   self.tmp / "other", env=self.running.env)
        self.assertNotEqual(run.code, OK)
        self.assertIn(str(self.running.socket), run.err)
        run = cuzk("serve", "--listen", f"unix://{self.tmp}/s2", "--srs.param_cache", PARAMS, "--daemon.state_directory",
                   self.running.folder / "state", env=self.running.env)
        self.assertNotEqual(run.code, OK)
        self.assertIn("journal", run.err)
        self.assert_ok(self.running.ask("status"))


class Life(DaemonTest):
    def test_sigterm_drains(self):
        with self.daemon() as daemon:
            self.assert_ok(daemon.ask("bench", "single", *self.winning(), "--dir", PARAMS))
            code, seconds = daemon.stop()
            self.assertEqual(code, OK, daemon.text())
            self.assertLess(seconds, 30)
            self.assertFalse(daemon.socket.exists())
            self.assertRegex(daemon.text(), r"(?m) info draining ")
            self.assertRegex(daemon.text(), r"(?m) info cuzk ends$")
            self.assertEqual(daemon.ask("status").code, IO)

    def test_running_work_is_finished(self):
        with self.daemon() as daemon:
            work = subprocess.Popen([BINARY, "bench", "batch", *map(str, self.winning()), "--count", "1", "--dir", str(PARAMS),
                                     "--addr", daemon.address, "--json"], stdout=subprocess.PIPE, env=daemon.env)
            deadline = time.monotonic() + 60
            while "SYNTH_START" not in daemon.text() and time.monotonic() < deadline:
                time.sleep(0.02)
            code, _ = daemon.stop(signal.SIGINT)
            self.assertEqual(code, OK, daemon.text())
            result = json.loads(work.communicate(timeout=60)[0])
            self.assertEqual((result["completed"], result["verified"]), (1, 1))

    def test_submitted_jobs_outlive_kill_9(self):
        with self.daemon() as daemon:
            for i in range(5):
                self.assert_ok(daemon.ask("submit", *self.winning(f"0{i}"), "--id", f"job-{i}"))
            daemon.process.kill()
            daemon.process.wait()
            daemon.start()  # takes over the stale socket and the journal
            for i in range(5):
                run = daemon.ask("await", f"job-{i}", "--timeout", "120s", *self.winning(f"0{i}"), "--dir", PARAMS, "--json")
                self.assertEqual((run.code, run.json["verified"]), (OK, True), str(run))
            self.assertEqual(daemon.stop()[0], OK)

    def test_second_signal_ends_at_once(self):
        with self.daemon("--daemon.drain_timeout", "1h") as daemon:
            work = subprocess.Popen([BINARY, "bench", "batch", *map(str, self.winning()), "--count", "500", "-j", "20",
                                     "--addr", daemon.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=daemon.env)
            self.addCleanup(work.wait)
            self.addCleanup(work.kill)
            time.sleep(1)
            daemon.send(signal.SIGTERM)
            time.sleep(0.1)
            code, seconds = daemon.stop()
            self.assertIn(code, (-signal.SIGTERM, OK))  # OK where the queue was refused and drained in that time
            self.assertLess(seconds, 10)

    def test_start_errors_before_anything_listens(self):
        good = ["--srs.param_cache", PARAMS, "--listen", f"unix://{self.tmp}/s"]
        cases = [(["--srs.param_cache", self.tmp / "none"], NOT_FOUND, "srs.param_cache"),
                 (["--residency.preload", "nonsense-2k"], USAGE, "nonsense-2k"),
                 (["--gpus.devices", "3"], USAGE, "gpus.devices: "),
                 (["--residency.cache_directory", "/dev/null/x"], IO, "/dev/null/x"),
                 (["--tls.certificate", self.tmp / "c.pem", "--tls.key", self.tmp / "k.pem"], None, "c.pem"),
                 (["--auth.tokens", self.tmp / "tokens"], None, "tokens"),
                 (["--listen", "0.0.0.0:0"], INVALID, "daemon.allow_insecure"),
                 (["--listen", "nonsense"], INVALID, "nonsense")]
        for more, code, word in cases:
            with self.subTest(more=more):
                flags = [f for pair in zip(good[::2], good[1::2]) if pair[0] not in more for f in pair]
                run = cuzk("serve", *flags, *more, timeout=60)
                self.assertIn(run.code, range(1, 13), str(run))
                if code is not None:
                    self.assertEqual(run.code, code, str(run))
                self.assertIn(word, run.err, str(run))
                self.assertFalse((self.tmp / "s").exists())

    def test_the_tests_are_told_at_once_of_one_that_does_not_start(self):
        start = time.monotonic()
        with self.assertRaisesRegex(AssertionError, "ended with status 2;(.|\n)*nonsense-2k"):
            self.daemon("--residency.preload", "nonsense-2k").start()
        self.assertLess(time.monotonic() - start, 20)

    def test_what_never_fits_is_refused_at_once(self):
        """A PoRep too, whose circuit only the beginning of its input tells."""
        with self.daemon("--memory.total_budget", "100MB") as daemon:
            run = daemon.ask("bench", "single", "-t", "porep", "--c1", C1, "--miner-id", 1, "--sector-num", 7)
            self.assert_fails(run, UNSUPPORTED, "100000000 bytes", "[a retry will not help]")
            self.assertRegex(daemon.ask("metrics").out,
                             r'(?m)^cuzk_refusals_total\{proof_kind="porep_c2",reason="too-large"\} 1$')

    def test_preload_and_configuration_file(self):
        path = self.file("cuzk.toml", '[residency]\npreload = ["winning-2k"]\n[logging]\nformat = "json"\n')
        with self.daemon("-c", path, CUZK_LOGGING_LEVEL="debug") as daemon:
            deadline = time.monotonic() + 60
            while "preloaded" not in daemon.text() and time.monotonic() < deadline:
                time.sleep(0.1)
            events = [json.loads(line) for line in daemon.text().splitlines() if line.startswith("{")]
            self.assertIn("preloaded", [e["message"] for e in events])
            self.assertEqual(daemon.ask("preload", "winning-2k").out, "winning-2k already loaded\n")
            self.assertEqual(daemon.stop()[0], OK)

    def faulty(self, faults):
        """A batch of three against a daemon whose first worker process fails on purpose; its metrics."""
        with self.daemon("--worker-faults", faults, "--worker-faulty-processes", 1) as daemon:
            run = daemon.ask("bench", "batch", *self.winning(), "--count", 3, "--dir", PARAMS, "--json")
            self.assertEqual((run.code, run.json["completed"], run.json["verified"]), (OK, 3, 3), str(run))
            metrics = daemon.ask("metrics").out
            self.assertEqual(daemon.stop()[0], OK)
            return metrics

    def test_a_worker_that_crashes_is_replaced(self):
        """The first task loads, the second proves."""
        metrics = self.faulty("crash@2")
        self.assertRegex(metrics, r"(?m)^cuzk_device_faults_total 1$")
        self.assertRegex(metrics, r"(?m)^cuzk_proofs_failed_total 0$")

    def test_a_wrong_proof_does_not_leave(self):
        metrics = self.faulty("wrong-proof@2")
        self.assertRegex(metrics, r"(?m)^cuzk_wrong_proofs_total [1-9]")
        self.assertRegex(metrics, r"(?m)^cuzk_proofs_failed_total 0$")

    def test_systemd_is_told(self):
        path = self.tmp / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            os.chdir(self.tmp)  # a short name
            notify.bind("notify")
            notify.settimeout(60)
            with self.daemon(NOTIFY_SOCKET=path, WATCHDOG_USEC=1000000) as daemon:
                said = set()
                while not {b"READY=1", b"WATCHDOG=1"} <= said:
                    said.update(notify.recv(4096).split(b"\n"))
                daemon.send(signal.SIGTERM)
                while b"STOPPING=1" not in said:
                    said.update(notify.recv(4096).split(b"\n"))
                self.assertEqual(daemon.process.wait(60), OK)

    def test_tokens(self):
        port = free_port()
        tokens = self.file("tokens", "reader read-read-read-read\nsubmitter submit-submit-submit\n")
        tokens.chmod(0o600)
        with self.daemon("--listen", f"127.0.0.1:{port}", "--auth.tokens", tokens) as daemon:
            tcp = f"127.0.0.1:{port}"
            self.assert_fails(cuzk("status", "--addr", tcp), USAGE)
            reader, submitter = self.file("r", "read-read-read-read\n"), self.file("s", "submit-submit-submit\n")
            self.assert_ok(cuzk("status", "--addr", tcp, "--token-file", reader))
            words = ["bench", "single", *self.winning(), "--no-verify", "--addr", tcp]
            self.assert_fails(cuzk(*words, "--token-file", reader), USAGE)
            self.assert_ok(cuzk(*words, env=environment(CUZK_TOKEN_FILE=submitter)))
            self.assertEqual(daemon.stop()[0], OK)


class Nobody(DaemonTest):
    def test_there_is_no_daemon(self):
        for command in (["status"], ["metrics"], ["preload", "winning-2k"], ["evict", "winning-2k"], ["await", "x"],
                        ["cancel", "x"], ["bench", "status"], ["bench", "single", *self.winning()],
                        ["bench", "batch", *self.winning()], ["bench", "stress", *self.winning()]):
            run = cuzk(*command, "--addr", f"unix://{self.tmp}/none")
            self.assert_fails(run, IO, "there is no such socket", "hint: is the daemon running?")
            self.assertEqual(run.out, "")
        self.assert_fails(cuzk("status", "--addr", "nonsense"), USAGE)

    def test_inputs_are_looked_at_first(self):
        nowhere = ["--addr", f"unix://{self.tmp}/none"]
        self.assert_fails(cuzk("bench", "single", "-t", "nonsense", *nowhere), USAGE, "porep")
        self.assert_fails(cuzk("bench", "single", "-t", "PoRep", *nowhere), USAGE, "--c1")
        self.assert_fails(cuzk("bench", "single", "-t", "wpost", *nowhere), USAGE, "--vanilla")
        self.assert_fails(cuzk("submit", "-t", "porep", "--c1", self.tmp / "none", *nowhere), NOT_FOUND)
        self.assert_fails(cuzk("submit", *self.winning(), "--priority", "urgent", *nowhere), USAGE, "critical")
        self.assert_fails(cuzk("submit", *self.winning(), "--deadline", "soon", *nowhere), USAGE, "--deadline")

    def test_as_the_references_programs(self):
        for name, words, expected in (("cuzk-bench", ["-a", f"unix://{self.tmp}/none", "--log-level", "info", "status"], IO),
                                      ("cuzk-daemon", ["-c", self.tmp / "none.toml"], NOT_FOUND)):
            link = self.tmp / name
            link.symlink_to(BINARY)
            run = subprocess.run([link, *map(str, words)], capture_output=True, env=environment(), timeout=60)
            self.assertEqual(run.returncode, expected, run.stderr)


if __name__ == "__main__":
    unittest.main()
