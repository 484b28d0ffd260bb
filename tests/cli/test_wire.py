"""The daemon as its clients know it: every call, by a gRPC client that shares no code with ours and knows only the
messages of the reference."""
import base64
import functools
import signal
import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path

import wire
from daemon import Daemon, DaemonTest
from harness import PARAMS, cuzk
from kinds import Request, vanilla_json
from wire import Client, INVALID_ARGUMENT, NOT_FOUND, OK, OUT_OF_RANGE, RESOURCE_EXHAUSTED, UNAVAILABLE

LOW, NORMAL, HIGH, CRITICAL = "LOW", "NORMAL", "HIGH", "CRITICAL"
KINDS = {"winning": "WINNING_POST", "window": "WINDOW_POST_PARTITION", "snap": "SNAP_DEALS_UPDATE"}


def base64_of(data):
    return "base64:" + base64.b64encode(data).decode()


def submission(name="winning-2KiB", **fields):
    """The message of one of upstream's vectors."""
    vector = Request(name)
    out = {"proof_kind": KINDS[vector.kind], "registered_proof": int(vector.options["registered-proof"]),
           "sector_size": 2048, "miner_id": 1000, "vanilla_proofs": [base64_of(blob) for blob in vector.blobs]}
    for key in ("randomness", "comm_r_old", "comm_r_new", "comm_d_new"):
        if key.replace("_", "-") in vector.options:
            out[key] = base64_of(bytes.fromhex(vector.options[key.replace("_", "-")]))
    return {**out, **fields}


@functools.cache
def wrapped_c1():
    """A C1 in the wrapper that Curio puts around it. (Upstream's vector has a prover id that no miner has.)"""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "c1.json"
    run = cuzk("bench", "gen-vanilla", "porep", "--registered-proof", 5, "--sector-number", 7, "--miner-id", 1000, "-o", path)
    assert run.code == 0, str(run)
    return folder, path


def porep(**fields):
    """Some seconds of work."""
    return {"proof_kind": "POREP_SEAL_COMMIT", "sector_size": 2048, "vanilla_proof": f"@{wrapped_c1()[1]}",
            "miner_id": 1000, "sector_number": 7, **fields}


class WireTest(DaemonTest):
    flags = ()

    def setUp(self):
        super().setUp()
        self.running = self.enterContext(Daemon(self.tmp, *self.flags))
        self.client = self.client_of(self.running)

    def client_of(self, running):
        out = Client(running.address)
        self.addCleanup(out.kill)
        return out

    def prove(self, request, **options):
        return self.client.reply("Prove", {"submit": request}, **options)["result"]

    def assert_verifies(self, result, name="winning-2KiB"):
        self.assertEqual(result["status"], "COMPLETED", result["error_message"])
        vector = Request(name)
        words = vector.arguments()
        vanilla = self.file("vanilla.json", vanilla_json(vector.blobs))
        proof = self.file("proof.bin", base64.b64decode(result["proof"]))
        self.assert_ok(cuzk("verify", *words, "--vanilla", vanilla, "--dir", PARAMS, "--proof", proof))


class Calls(WireTest):
    def test_prove(self):
        for name in ("winning-2KiB", "window-2KiB-v1_1"):
            with self.subTest(name):
                result = self.prove(submission(name, request_id=f"id of {name}"))
                self.assertEqual(result["job_id"], f"id of {name}")
                self.assertEqual(len(base64.b64decode(result["proof"])), 192)
                self.assertGreaterEqual(result["total_ms"], result["gpu_compute_ms"])
                self.assert_verifies(result, name)

    def test_any_partition_index(self):
        self.assert_verifies(self.prove(submission("window-2KiB-v1_1", partition_index=3)), "window-2KiB-v1_1")

    def test_submit_and_await(self):
        submitted = self.client.reply("SubmitProof", submission(request_id="a"))
        self.assertEqual(submitted["job_id"], "a")
        self.assertEqual(submitted["assigned_gpu"], "")
        result = self.client.reply("AwaitProof", {"job_id": "a"})
        self.assert_verifies(result)
        again = self.client.reply("AwaitProof", {"job_id": "a"})
        self.assertEqual(again["proof"], result["proof"])
        made = self.client.reply("SubmitProof", submission())["job_id"]
        self.assertRegex(made, r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assert_verifies(self.client.reply("AwaitProof", {"job_id": made}))

    def test_unknown_jobs_and_kinds(self):
        answer = self.client.call("AwaitProof", {"job_id": "nobody's"})
        self.assertEqual((answer["code"], answer["details"]), (NOT_FOUND, "job not found: nobody's"))
        for number in (0, 9):
            for method in ("SubmitProof", "Prove"):
                request = submission(proof_kind=number)
                answer = self.client.call(method, request if method == "SubmitProof" else {"submit": request})
                self.assertEqual((answer["code"], answer["details"]), (INVALID_ARGUMENT, f"invalid proof_kind: {number}"))
        answer = self.client.call("Prove", {})
        self.assertEqual((answer["code"], answer["details"]), (INVALID_ARGUMENT, "missing submit field"))

    def test_status_metrics_preload_evict(self):
        self.assertEqual(self.client.reply("EvictSRS", {"circuit_id": "winning-2k"}),
                         {"was_loaded": False, "freed_bytes": 0})
        self.assertFalse(self.client.reply("PreloadSRS", {"circuit_id": "winning-2k"})["already_loaded"])
        self.assertTrue(self.client.reply("PreloadSRS", {"circuit_id": "winning-2k"})["already_loaded"])
        status = self.client.reply("GetStatus")
        (srs,) = status["loaded_srs"]
        self.assertEqual((srs["circuit_id"], srs["tier"], srs["ref_count"]), ("winning-2k", "HOT", 0))
        self.assertGreater(srs["size_bytes"], 1_000_000)
        self.assertEqual(len(status["gpus"]), 1)
        self.assertEqual(self.prove(submission())["status"], "COMPLETED")
        status = self.client.reply("GetStatus")
        self.assertEqual((status["total_proofs_completed"], status["total_proofs_failed"]), (1, 0))
        evicted = self.client.reply("EvictSRS", {"circuit_id": "winning-2k"})
        self.assertTrue(evicted["was_loaded"])
        self.assertGreater(evicted["freed_bytes"], 1_000_000)
        self.assertEqual(self.client.reply("GetStatus")["loaded_srs"], [])
        text = self.client.reply("GetMetrics")["prometheus_text"]
        for line in ("cuzk_proofs_completed_total 1", "cuzk_proofs_failed_total 0", "cuzk_queue_depth 0",
                     'cuzk_proofs_completed{proof_kind="winning_post"} 1', "cuzk_running_jobs 0"):
            self.assertIn(line, text)
        # The name that GetStatus tells is one that the calls take.
        self.client.reply("PreloadSRS", {"circuit_id": "window-2k"})
        (srs,) = self.client.reply("GetStatus")["loaded_srs"]
        self.assertEqual(srs["circuit_id"], "wpost-2k")
        self.assertTrue(self.client.reply("PreloadSRS", {"circuit_id": "wpost-2k"})["already_loaded"])
        self.assertTrue(self.client.reply("EvictSRS", {"circuit_id": "wpost-2k"})["was_loaded"])
        answer = self.client.call("PreloadSRS", {"circuit_id": "porep-3k"})
        self.assertIn("porep-3k", answer["details"])
        self.assertNotEqual(answer["code"], OK)

    def test_health_and_reflection(self):
        for service in ("", "cuzk.v1.ProvingEngine"):
            end = time.monotonic() + 10  # the server looks every second
            while self.client.reply("Check", {"service": service})["status"] != 1 and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(self.client.reply("Check", {"service": service})["status"], 1)
        self.assertEqual(self.client.call("Check", {"service": "other"})["code"], NOT_FOUND)
        listed = self.client.reply("ServerReflectionInfo", {"list_services": ""})["list_services_response"]["service"]
        names = {service["name"] for service in listed}
        self.assertLessEqual({"cuzk.v1.ProvingEngine", "grpc.health.v1.Health"}, names)
        files = self.client.reply("ServerReflectionInfo", {"file_containing_symbol": "cuzk.v1.ProvingEngine"})
        descriptor = base64.b64decode(files["file_descriptor_response"]["file_descriptor_proto"][0])
        for word in (b"cuzk.v1", b"SubmitProofRequest", b"vanilla_proofs", b"EvictSRS"):
            self.assertIn(word, descriptor)

    def test_failures_are_no_errors_of_the_call(self):
        short = submission(randomness=base64_of(bytes(31)))
        cases = {"randomness must be exactly 32 bytes, got 31": short,
                 "vanilla": submission(vanilla_proofs=[]),
                 "8 are needed, 0 are left": submission(vanilla_proofs=[base64_of(b"\1" * 40)]),
                 "registered": submission(registered_proof=77)}
        broken = Request("winning-2KiB").blobs[0]
        cases["is not the hash of comm_c and comm_r_last"] = submission(vanilla_proofs=[base64_of(broken[:-60] + bytes(32) + broken[-28:])])
        cases["C1 parse failed"] = porep(vanilla_proof=base64_of(b"{}"))
        cases["comm_r_old must be exactly 32 bytes"] = submission("snap-2KiB-k0", comm_r_old=base64_of(b""))
        for text, request in cases.items():
            with self.subTest(text):
                result = self.prove(request)
                self.assertEqual(result["status"], "FAILED")
                self.assertIn(text, result["error_message"])
                self.assertEqual(result["proof"], "")
        self.assert_verifies(self.prove(submission()))


class Identity(WireTest):
    """A job is an id and the bytes of its request."""

    def test_same_bytes_attach(self):
        first = [self.client.begin("Prove", {"submit": porep(request_id="p")}) for _ in range(3)]
        results = [self.client.answer(n)["reply"]["result"] for n in first]
        self.assertEqual({r["status"] for r in results}, {"COMPLETED"})
        self.assertEqual(len({r["proof"] for r in results}), 1)
        self.assertEqual(self.prove(porep(request_id="p"))["proof"], results[0]["proof"])
        self.assertEqual(self.client.reply("GetStatus")["total_proofs_completed"], 1)

    def test_other_bytes_are_another_job(self):
        names = ("winning-2KiB", "window-2KiB-v1_1")
        calls = [self.client.begin("Prove", {"submit": submission(name, request_id="same")}) for name in names]
        for name, call in zip(names, calls):
            self.assert_verifies(self.client.answer(call)["reply"]["result"], name)

    def test_after_failure_and_cancellation_it_runs_again(self):
        bad = submission(request_id="x", randomness=base64_of(bytes(31)))
        self.assertEqual(self.prove(bad)["status"], "FAILED")
        self.assertEqual(self.prove(bad)["status"], "FAILED")
        self.assert_verifies(self.prove(submission(request_id="x")))
        self.client.reply("SubmitProof", porep(request_id="c"))
        self.client.reply("CancelProof", {"job_id": "c"})
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "c"})["status"], "CANCELLED")
        self.assertEqual(self.prove(porep(request_id="c"))["status"], "COMPLETED")
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "c"})["status"], "COMPLETED")


class Waiting(WireTest):
    flags = "--scheduler.abandoned_after", "1s"

    def test_await_with_a_timeout(self):
        self.client.reply("SubmitProof", porep(request_id="slow"))
        start = time.monotonic()
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "slow", "timeout_ms": 300})["status"], "TIMEOUT")
        self.assertGreaterEqual(time.monotonic() - start, 0.3)
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "slow"})["status"], "COMPLETED")

    def test_cancel_queued_and_running(self):
        jobs = ["first", "second", "third"]
        for job in jobs:
            self.client.reply("SubmitProof", porep(request_id=job, registered_proof=jobs.index(job)))
        time.sleep(0.5)
        self.client.reply("CancelProof", {"job_id": "third"})
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "third"})["status"], "CANCELLED")
        self.assertTrue(self.client.reply("CancelProof", {"job_id": "first"})["was_running"])
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "first"})["status"], "CANCELLED")
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "second"})["status"], "COMPLETED")
        self.assertFalse(self.client.reply("CancelProof", {"job_id": "second"})["was_running"])
        self.assertFalse(self.client.reply("CancelProof", {"job_id": "nobody's"})["was_running"])

    def test_a_dead_client_is_waited_for_and_then_given_up(self):
        other = Client(self.running.address)
        self.addCleanup(other.kill)
        other.begin("Prove", {"submit": porep(request_id="dead")})
        time.sleep(1)
        other.kill()
        time.sleep(2)  # nobody may ask for it meanwhile: that would be somebody who waits
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "dead"})["status"], "CANCELLED")
        self.assert_verifies(self.prove(submission()))

    def test_a_retry_attaches_within_the_grace_time(self):
        first = self.client.begin("Prove", {"submit": porep(request_id="again")}, cancel_after_ms=500)
        self.assertEqual(self.client.answer(first)["code"], wire.CANCELLED)
        self.assertEqual(self.prove(porep(request_id="again"))["status"], "COMPLETED")
        self.assertEqual(self.client.reply("GetStatus")["total_proofs_completed"], 1)

    def test_critical_overtakes_low(self):
        self.prove(submission())  # what it needs is loaded
        jobs = [self.client.reply("SubmitProof", porep(request_id=f"low {i}", priority=LOW, registered_proof=i))["job_id"]
                for i in range(5)]
        low = [self.client.begin("AwaitProof", {"job_id": job}) for job in jobs]
        time.sleep(0.5)
        critical = [self.client.begin("Prove", {"submit": submission(request_id=f"critical {i}", sector_number=i)})
                    for i in range(2)]
        answers = [self.client.answer(n) for n in critical]
        for answer in answers:
            self.assert_verifies(answer["reply"]["result"])
        # At most the partition that was on the device came before them.
        self.assertLessEqual(sum(self.client.answered(n) for n in low), 1)
        for n in low:
            self.assertEqual(self.client.answer(n)["reply"]["status"], "COMPLETED")
        order = [self.client.answer(n)["order"] for n in low]
        self.assertEqual(order, sorted(order))


class Kinds(WireTest):
    """The large kinds, by the other client and by ours."""
    def test_snap(self):
        name = "snap-2KiB-k0"
        # As Curio's remote prover sends it: without a sector size.
        self.assert_verifies(self.prove(submission(name, request_id="s", sector_size=0)), name)
        vector = Request(name)
        words = ["-t" if word == "--kind" else word for word in vector.arguments()]
        vanilla = self.file("snap.json", vanilla_json(vector.blobs))
        run = self.running.ask("bench", "single", *words, "--vanilla", vanilla, "--dir", PARAMS, "--json")
        self.assertEqual((run.code, run.json["verified"]), (OK, True), str(run))

    def test_porep(self):
        result = self.prove(porep(request_id="p"))
        self.assertEqual(result["status"], "COMPLETED", result["error_message"])
        proof = self.file("porep.bin", base64.b64decode(result["proof"]))
        self.assert_ok(cuzk("verify", "--kind", "porep", "--c1", wrapped_c1()[1], "--miner-id", 1000, "--dir", PARAMS, "--proof", proof))
        run = self.running.ask("bench", "single", "-t", "porep", "--c1", wrapped_c1()[1], "--sector-num", 7, "--miner-id", 1000,
                               "--dir", PARAMS, "--json")
        self.assertEqual((run.code, run.json["verified"]), (OK, True), str(run))


class Limits(WireTest):
    flags = "--daemon.message_limit", "1MiB", "--scheduler.max_jobs", 3

    def test_message_sizes(self):
        limit = 1 << 20
        for size, code in ((limit - 100, OK), (limit + 1, OUT_OF_RANGE), (2 * limit, OUT_OF_RANGE)):
            with self.subTest(size):
                answer = self.client.call("Prove", {"submit": porep(vanilla_proof=base64_of(b"{" + bytes(size - 1)))})
                self.assertIn(answer["code"], (code, RESOURCE_EXHAUSTED if code != OK else code), answer)
        self.assert_verifies(self.prove(submission()))

    def test_a_full_queue_refuses_at_once(self):
        jobs = [self.client.reply("SubmitProof", porep(request_id=f"{i}", registered_proof=i))["job_id"]
                for i in range(3)]
        start = time.monotonic()
        answer = self.client.call("Prove", {"submit": submission()})
        self.assertLess(time.monotonic() - start, 2)
        self.assertEqual(answer["code"], RESOURCE_EXHAUSTED, answer)
        for job in jobs:
            self.client.reply("CancelProof", {"job_id": job})
            self.client.reply("AwaitProof", {"job_id": job})
        self.assert_verifies(self.prove(submission()))


class Life(WireTest):
    def test_a_stale_socket(self):
        self.running.process.kill()
        self.running.process.wait()
        self.assertTrue(self.running.socket.exists())
        self.running.start()
        self.assertEqual(self.client_of(self.running).reply("GetStatus")["total_proofs_completed"], 0)
        self.assertEqual(self.running.stop()[0], 0)
        self.assertFalse(self.running.socket.exists())

    def test_kill_and_restart_keep_submitted_jobs(self):
        for job in ("one", "three"):
            self.client.reply("SubmitProof", porep(request_id=job, registered_proof=len(job)))
        self.client.reply("SubmitProof", submission(request_id="won"))
        self.assertEqual(self.client.reply("AwaitProof", {"job_id": "won"})["status"], "COMPLETED")
        time.sleep(0.5)
        self.running.process.kill()
        self.running.process.wait()
        start = time.monotonic()
        self.running.start()
        self.assertLess(time.monotonic() - start, 10)
        client = self.client_of(self.running)
        for job in ("one", "three", "won"):
            self.assertEqual(client.reply("AwaitProof", {"job_id": job})["status"], "COMPLETED", job)
        self.assertEqual(self.running.stop()[0], 0)

    def test_signals_drain(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                if self.running.process.poll() is not None:
                    self.running.start()
                client = self.client_of(self.running)
                call = client.begin("Prove", {"submit": porep(request_id=f"s{number}")})
                time.sleep(1)
                self.running.send(number)
                time.sleep(0.2)
                late = client.call("Prove", {"submit": submission()})
                self.assertEqual(late["code"], UNAVAILABLE, late)
                self.assertEqual(client.answer(call)["reply"]["result"]["status"], "COMPLETED")
                self.assertEqual(self.running.process.wait(timeout=60), 0)

    def test_slow_senders_disturb_nobody(self):
        running = self.running
        stop = threading.Event()

        def trickle():
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(running.socket))
                for byte in b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(1000):
                    if stop.wait(0.1):
                        return
                    try:
                        s.send(bytes([byte]))
                    except OSError:
                        return
        threads = [threading.Thread(target=trickle) for _ in range(20)]
        for thread in threads:
            thread.start()
        result = self.prove(submission())
        self.assertEqual(result["status"], "COMPLETED")
        stop.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    wire.install_client_or_skip()
    unittest.main()
