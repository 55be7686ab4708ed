#!/usr/bin/env python3
"""`berth profile` with the real engine: files and URLs, what is stored, what does not fit, bad input, interrupts and kills."""

import hashlib
import http.server
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "serving"), str(HERE.parent / "optimize")]

import local_serve  # noqa: E402
import onnx_bytes  # noqa: E402
from rows import Draws, write_npz  # noqa: E402

EXAMPLE = HERE.parents[1] / "examples/tier"
DEADLINE_SECONDS = 120
COLUMNS = 32
QUICK = ("--seconds", "0.05")


def perceptron():
    return onnx_bytes.layers([COLUMNS, 64, 8])


def fixed_rows(rows):
    nodes = [onnx_bytes.node("Add", ["x", "x"], ["y"])]
    return onnx_bytes.model(nodes, [onnx_bytes.value_info("x", [rows, COLUMNS])], [onnx_bytes.value_info("y", [rows, COLUMNS])])


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "net.onnx"
        self.model.write_bytes(perceptron())
        self.database = self.folder / "profiles.db"

    def command(self, *words):
        return [str(local_serve.PROGRAM), "profile", *map(str, words), "--out", str(self.database)]

    def profile(self, *words, **more):
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False, cwd=self.folder, **more)

    def measured(self, *words, **more):
        """The run in its JSON."""
        run = self.profile(*words, "--format", "json", **more)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        return json.loads(run.stdout)["run"]

    def assert_refused(self, run, *parts, status=2):
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertFalse(self.database.exists())

    def count_of_runs(self):
        if not self.database.exists():
            return 0
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM runs").fetchone()[0]


class Files(Folder):
    def test_every_size_is_measured_and_stored(self):
        run = self.measured(self.model, *QUICK, "--batches", "8,1", "--processes", "2,1")
        self.assertEqual([(point["processes"], point["batch"]) for point in run["points"]], [(1, 1), (1, 8), (2, 1), (2, 8)])
        for point in run["points"]:
            self.assertTrue(point["fits"])
            self.assertLessEqual(point["mean_us_low"], point["mean_us"])
            self.assertLessEqual(point["mean_us"], point["mean_us_high"])
            self.assertLessEqual(0, point["p50_us"])
            self.assertLessEqual(point["p50_us"], point["p99_us"])
            self.assertGreater(point["batches"], 1)
            self.assertGreaterEqual(point["memory_bytes"], run["memory_at_load_bytes"] * 0.9)
            # The loop of a process has little beside its batches.
            rate = point["processes"] * point["batch"] * 1e6 / point["mean_us"]
            self.assertAlmostEqual(point["rows_per_second"] / rate, 1, delta=0.2)
        self.assertEqual(run["model"]["sha256"], hashlib.sha256(self.model.read_bytes()).hexdigest())
        self.assertEqual((run["model"]["name"], run["model"]["flops"]), ("net", 2 * (COLUMNS * 64 + 64 * 8)))
        self.assertEqual((run["machine"]["device"], run["machine"]["threads"]), ("cpu", 1))
        self.assertIn("ONNX Runtime", run["machine"]["engine"])
        self.assertLess(abs(run["started_us"] / 1e6 - time.time()), DEADLINE_SECONDS)
        self.assertEqual((run["id"], run["as"], run["fixed_batch"]), (1, None, None))
        again = self.measured(self.model, *QUICK, "--batches", "1", "--processes", "1", "--as", "A30-24GB:1g.6gb", "--model", "other")
        self.assertEqual((again["id"], again["as"], again["model"]["name"]), (2, "A30-24GB:1g.6gb", "other"))
        self.assertEqual(self.count_of_runs(), 2)

    def test_the_table_names_what_it_shows(self):
        run = self.profile(self.model, *QUICK, "--batches", "1,4", "--processes", "1")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for part in ("net (", "parameters", "rows/s", "95 % interval", "memory", "Run 1 in "):
            self.assertIn(part, run.stdout)

    def test_a_fixed_first_dimension_is_measured_alone(self):
        self.model.write_bytes(fixed_rows(3))
        write_npz(self.folder / "rows.npz", x=(Draws(1).normals(2 * COLUMNS), (2, COLUMNS)))  # fewer rows than a batch
        run = self.measured(self.model, *QUICK, "--processes", "1", "--inputs", "rows.npz")
        self.assertEqual([point["batch"] for point in run["points"]], [3])
        self.assertEqual(run["fixed_batch"], 3)
        text = self.profile(self.model, *QUICK, "--processes", "1").stdout
        self.assertIn("only a batch of 3 was measured", text)

    def test_sizes_of_any_length_need_rows(self):
        nodes = [onnx_bytes.node("Add", ["x", "x"], ["y"])]
        shape = ["N", "length"]
        self.model.write_bytes(onnx_bytes.model(nodes, [onnx_bytes.value_info("x", shape)], [onnx_bytes.value_info("y", shape)]))
        self.assert_refused(self.profile(self.model, *QUICK), "--inputs", "[-1, -1]")
        write_npz(self.folder / "rows.npz", x=(Draws(1).normals(5 * 7), (5, 7)))
        run = self.measured(self.model, *QUICK, "--inputs", "rows.npz", "--batches", "1,8", "--processes", "1")
        self.assertEqual([point["batch"] for point in run["points"]], [1, 8])
        self.assertIsNone(run["model"]["activation_bytes"])

    def test_a_batch_that_does_not_fit_is_a_point(self):
        """Outputs of 4 MiB for a row, in processes that may not have more than 1.5 GiB."""
        nodes = [onnx_bytes.node("MatMul", ["x", "w"], ["y"])]
        weights = [onnx_bytes.weights("w", [1, 1 << 20], [1.0] * (1 << 20))]
        self.model.write_bytes(onnx_bytes.model(nodes, [onnx_bytes.value_info("x", ["N", 1])], [onnx_bytes.value_info("y", ["N", 1 << 20])], weights))
        size = 3 << 29

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        run = self.measured(self.model, *QUICK, "--batches", "1,512", "--processes", "1", preexec_fn=limit)
        small, large = run["points"]
        self.assertTrue(small["fits"])
        self.assertEqual((large["fits"], large["batches"], large["mean_us"], large["memory_bytes"]), (False, 0, None, None))

    def test_bad_input(self):
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"no model")
        (self.folder / "rows.npz").write_bytes(b"no archive")
        write_npz(self.folder / "narrow.npz", x=([1.0], (1, 1)))
        for words, parts in (
                ([], ("either a model's file or --url",)),
                ([self.model, "--url", "http://127.0.0.1:1", "--model", "m"], ("found both",)),
                ([self.folder / "absent.onnx"], ("absent.onnx",)),
                ([broken], ("broken.onnx",)),
                ([self.model, "--batches", "0"], ("--batches", '"0"')),
                ([self.model, "--batches", "1,1"], ("--batches", "twice")),
                ([self.model, "--processes", "x"], ("--processes",)),
                ([self.model, "--seconds", "0"], ("--seconds",)),
                ([self.model, "--seconds", "nan"], ("--seconds",)),
                ([self.model, "--device", "gpu"], ("--device", "cuda:N")),
                ([self.model, "--as", "A30-24GB"], ("--as", "GPU:PROFILE")),
                ([self.model, "--as", "A30-24GB:9g"], ("--as", "9g")),
                ([self.model, "--inputs", "rows.npz"], ("rows.npz",)),
                ([self.model, "--inputs", "narrow.npz"], ("narrow.npz", '"x"')),
                ([self.model, "--engine", "absent.so"], ("absent.so",)),
                (["--url", "127.0.0.1:8000", "--model", "m"], ("--url", "http://")),
                (["--url", "http://127.0.0.1:8000"], ("--model",)),
                (["--url", "http://127.0.0.1:8000", "--model", "a/b"], ("--model",)),
                (["--url", "http://127.0.0.1:8000", "--model", "m", "--device", "cpu"], ("--device",))):
            with self.subTest(words=words):
                self.assert_refused(self.profile(*words), *parts)

    def test_a_database_of_another_program_is_refused_at_once(self):
        self.database.write_text("not a database, and long enough that nobody takes it for an empty file" * 20)
        before = self.database.read_bytes()
        run = self.profile(self.model, "--seconds", "1000")
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertIn("profiles.db", run.stderr)
        self.assertEqual(self.database.read_bytes(), before)

    def workers_of(self, process):
        """Processes that it started."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) == process.pid:
                    found.append(int(folder.name))
            except OSError:
                pass
        return found

    def ended_by(self, how):
        self.measured(self.model, *QUICK, "--batches", "1", "--processes", "1")
        process = subprocess.Popen(self.command(self.model, "--seconds", "1000"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.time() + DEADLINE_SECONDS
        while len(self.workers_of(process)) < 2 and time.time() < deadline:
            time.sleep(0.02)
        workers = self.workers_of(process)
        self.assertEqual(len(workers), 2)
        process.send_signal(how)
        out, err = process.communicate(timeout=DEADLINE_SECONDS)
        while any(os.path.exists(f"/proc/{worker}/exe") for worker in workers) and time.time() < deadline:
            time.sleep(0.02)
        self.assertFalse([worker for worker in workers if os.path.exists(f"/proc/{worker}/exe")])
        self.assertEqual(out, "")
        self.assertEqual(self.count_of_runs(), 1)
        return process.returncode, err

    def test_an_interrupt_leaves_no_run(self):
        status, message = self.ended_by(signal.SIGINT)
        self.assertEqual(status, 130, message)

    def test_a_kill_leaves_no_run_and_no_process(self):
        self.assertEqual(self.ended_by(signal.SIGKILL)[0], -signal.SIGKILL)
        self.assertEqual(self.measured(self.model, *QUICK, "--batches", "1", "--processes", "1")["id"], 2)


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that takes JSON alone."""

    protocol_version = "HTTP/1.1"
    metadata = {"name": "m", "versions": ["1"], "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}], "outputs": []}

    def setup(self):
        self.server.connections.append(self.client_address)
        super().setup()

    def log_message(self, *_):
        pass

    def say(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v2":
            return self.say(200, '{"name": "plain", "version": "7", "extensions": []}')
        return self.say(200, json.dumps({**self.metadata, **self.server.changed}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.shapes.append(tuple(body["inputs"][0]["shape"]))
        self.say(*self.server.answer)


class Urls(Folder):
    def plain_server(self, answer=(200, '{"outputs": []}'), **changed):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        server.answer, server.changed, server.shapes = answer, changed, []
        server.connections = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_address[1]}"

    def test_a_server_that_takes_json(self):
        server, url = self.plain_server()
        run = self.measured("--url", url + "/", "--model", "m", *QUICK, "--batches", "1,3", "--processes", "1,2")
        self.assertEqual((run["model"]["name"], run["model"]["url"], run["machine"]["engine"]), ("m", url, "plain 7"))
        self.assertEqual([point["batch"] for point in run["points"]], [1, 3, 1, 3])
        self.assertEqual(set(server.shapes), {(1, 2), (3, 2)})
        self.assertEqual(len(server.connections), 2)  # they are kept
        self.assertIsNone(run["memory_at_load_bytes"])
        self.assertGreaterEqual(len(server.shapes), sum(point["batches"] for point in run["points"]))
        self.assertEqual((run["model"]["flops"], run["memory_at_load_bytes"], run["points"][0]["memory_bytes"]), (None, None, None))

    def test_rows_of_a_file_and_a_fixed_batch(self):
        server, url = self.plain_server(inputs=[{"name": "x", "datatype": "FP32", "shape": [4, 2]}])
        write_npz(self.folder / "rows.npz", x=([1.0, 2.0], (1, 2)))
        run = self.measured("--url", url, "--model", "m", *QUICK, "--inputs", "rows.npz", "--processes", "1")
        self.assertEqual((run["fixed_batch"], set(server.shapes)), (4, {(4, 2)}))

    def test_servers_that_answer_otherwise(self):
        for answer, changed, parts in (
                ((500, '{"error": "on fire"}'), {}, ("500", "on fire")),
                ((200, '{"outputs": [{"name": "y", "shape": [1], "datatype": "FP32", "data": [NaN]}]}'), {}, ("/infer",)),
                ((200, '{"outputs": [{"name": "y", "shape": [1], "datatype": "FP32", "data": [null]}]}'), {}, ('"y"', "found null")),
                ((200, "{}"), {"inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, -5]}]}, ("shape", "found [-1,-5]")),
                ((200, "[]"), {}, ("outputs",)),
                ((200, "{}"), {"inputs": []}, ("inputs",)),
                ((200, "{}"), {"inputs": [{"name": "x", "datatype": "FP31", "shape": [1]}]}, ("FP31",)),
                ((200, "{}"), {"inputs": [{"name": "x", "datatype": "FP16", "shape": [-1]}]}, ("FP16",))):
            with self.subTest(answer=answer, changed=changed):
                _, url = self.plain_server(answer, **changed)
                self.assert_refused(self.profile("--url", url, "--model", "m", *QUICK), *parts)

    def test_no_server(self):
        self.assert_refused(self.profile("--url", "http://127.0.0.1:1", "--model", "m"), "127.0.0.1", status=7)


class Tiers(Folder):
    """`berth tier predict --db` on what `berth profile` has written."""

    def setUp(self):
        super().setUp()
        self.tiers = EXAMPLE / "tiers.yaml"
        self.tier("train", "--data", EXAMPLE / "measurements.csv", "--tiers", self.tiers, "--out", "forest")
        self.run_on_a30 = self.measured(self.model, *QUICK, "--batches", "1,4,8", "--processes", "1,2", "--as", "A30-24GB:1g.6gb")

    def tier(self, *words, status=0):
        run = subprocess.run([str(local_serve.PROGRAM), "tier", *map(str, words)], capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS, check=False, cwd=self.folder)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def predict(self, target, forest="forest"):
        run = self.tier("predict", "--db", self.database, "--name", "net", "--tiers", self.tiers, "--model", forest, "--target", target,
                        "--format", "json")
        answer = json.loads(run.stdout)
        return answer, {tier["name"]: tier for tier in answer["tiers"]}

    def test_what_was_measured_counts_for_the_tier_of_its_label(self):
        answer, tiers = self.predict("requests_per_second=100 latency_ms=1000")
        self.assertEqual((answer["group"], answer["kind"]), ("net", "services"))
        self.assertEqual({name: tier["basis"] for name, tier in tiers.items()},
                         {name: "measured" if name == "a30-1g" else "predicted" for name in ("a30-1g", "t4", "l4", "a30", "a100")})
        most = max(point["rows_per_second"] for point in self.run_on_a30["points"])
        self.assertAlmostEqual(tiers["a30-1g"]["per_second"]["median"] / most, 1, 6)
        self.assertEqual((answer["choice"]["tier"], answer["choice"]["probability"]), ("a30-1g", 1))
        # Half of the latency is for waiting: no batch of a microsecond's target is in time on what was measured.
        _, tiers = self.predict("requests_per_second=100 latency_ms=0.001")
        self.assertEqual(tiers["a30-1g"]["probability"], 0)

    def test_a_job_has_its_fastest_size(self):
        answer, tiers = self.predict("samples_per_second=1", self.forest_of_jobs())
        most = max(point["rows_per_second"] for point in self.run_on_a30["points"])
        self.assertEqual(answer["kind"], "jobs")
        self.assertAlmostEqual(tiers["a30-1g"]["per_second"]["median"] / most, 1, 6)

    def forest_of_jobs(self):
        lines = (EXAMPLE / "measurements.csv").read_text().splitlines()
        head = lines[0].split(",")
        kept = [name for name in head if name != "latency_ms"]
        rows = {}
        for line in lines[1:]:
            row = dict(zip(head, line.split(",")))
            rows.setdefault((row["group"], row["workload"], row["tier"]), ",".join(row[name] for name in kept))
        (self.folder / "jobs.csv").write_text("\n".join([",".join(kept), *rows.values()]) + "\n")
        self.tier("train", "--data", "jobs.csv", "--tiers", self.tiers, "--out", "jobs")
        return "jobs"

    def test_a_model_that_was_not_profiled_there(self):
        refused = self.tier("predict", "--db", self.database, "--name", "absent", "--tiers", self.tiers, "--model", "forest", "--target",
                            "requests_per_second=1 latency_ms=9", status=2)
        self.assertIn("--name", refused.stderr)
        (self.folder / "other.yaml").write_text("tiers: [{name: t4, gpu: T4, usd_per_hour: 1}]\n")
        (self.folder / "rules.yaml").write_text("rules: [{otherwise: t4}]\n")
        refused = self.tier("predict", "--db", self.database, "--name", "net", "--tiers", "other.yaml", "--rules", "rules.yaml", "--target",
                            "requests_per_second=1 latency_ms=9", status=2)
        self.assertIn("on one of the tiers", refused.stderr)


class Served(local_serve.Case):
    def test_a_simulated_device_is_as_slow_as_its_file(self):
        """Sleeps are precise, so that the medians hold on a busy machine too."""
        self.add("net", perceptron())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        device = pathlib.Path(folder.name) / "device.yaml"
        device.write_text("berth: 1\nname: made-up\norigin: \"made up\"\nlanes: 1\nmemory: 1000000000\nbatch_max: 64\n"
                          "load: {seconds: 0.05, bytes_per_second: 1000000000}\n"
                          "models:\n  net: {latency_ms: [[1, 20], [64, 83]], bytes: 1000000}\n")
        serve = self.serve("--device", f"simulated:{device}", "--policy", "eager")
        run = self.profile(serve, "net", "--batches", "1,32", "--processes", "1", "--seconds", "0.5", "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = json.loads(run.stdout)["run"]
        self.assertEqual([point["batch"] for point in result["points"]], [1, 32])
        for point, wanted_ms in zip(result["points"], (20, 51)):
            self.assertGreaterEqual(point["p50_us"] / 1000, wanted_ms)
            self.assertLess(point["p50_us"] / 1000, wanted_ms * 1.5)
        self.assertIn("made-up", result["machine"]["device"])
        self.assertIsNone(result["memory_at_load_bytes"], "a simulated device measures no memory")
        self.assertEqual({point["memory_bytes"] for point in result["points"]}, {None})
        self.assertIn("berth", result["machine"]["engine"])
        refused = self.profile(serve, "absent")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("absent", refused.stderr)

    def test_the_memory_of_a_model_is_what_its_server_measured(self):
        self.add("net", perceptron())
        serve = self.serve("--device", "cpu")
        run = self.profile(serve, "net", "--batches", "1", "--processes", "1", "--seconds", "0.2", "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = json.loads(run.stdout)["run"]
        self.assertGreater(result["memory_at_load_bytes"], 0)
        self.assertGreaterEqual(result["points"][0]["memory_bytes"], result["memory_at_load_bytes"])

    def profile(self, serve, model, *words):
        command = [local_serve.PROGRAM, "profile", "--url", f"http://{serve.http}", "--model", model, *words, "--out",
                   self.repository.parent / f"{self.repository.name}.db"]
        self.addCleanup((self.repository.parent / f"{self.repository.name}.db").unlink, missing_ok=True)
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
