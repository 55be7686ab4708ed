"""What `berth serve` says about itself: series, usage for a ledger, memory, batch times, metrics."""

import collections
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest

import local_serve
import onnx_bytes

# Triton's names do not keep to the rules of Prometheus.
TRITON = "nv_inference_"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def samples_of(text):
    """By name and labels. Each family must have a head, and each sample must belong to the family before it."""
    samples, kinds = {}, {}
    family = None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in kinds and line.split(" ", 3)[3], line
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family, line
            kinds[name] = kind
            continue
        name, labels, value = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)+)\})? (\S+)', line).groups()
        suffixes = ["_bucket", "_sum", "_count"] if kinds[family] == "histogram" else [""]
        assert name in [family + suffix for suffix in suffixes], line
        if not name.startswith(TRITON):
            assert (kinds[family] == "counter") == name.endswith("_total"), line
        assert (name, labels) not in samples, line
        samples[name, labels] = float(value)
    return samples


class Figures(local_serve.Case):
    def start(self, *words):
        serve = self.serve(*words)
        for model in self.repository.iterdir():
            if model.is_dir():
                self.wait_until(lambda: serve.ask("GET", f"/v2/models/{model.name}/ready")[0] == 200, f"{model} ready")
        return serve

    def setUp(self):
        super().setUp()
        self.add("double", onnx_bytes.twice(2))
        self.add("other", onnx_bytes.twice(3))
        self.files = self.repository.parent / (self.repository.name + ".files")
        self.files.mkdir()
        self.addCleanup(lambda: shutil.rmtree(self.files))

    def points(self, serve, query=""):
        status, answer = serve.json("GET", "/berth/v1/series?limit=500&step=1" + query)
        self.assertEqual(status, 200, answer)
        return answer["items"]

    def test_series_count_each_request_once(self):
        series = self.files / "series.jsonl"
        serve = self.start("--series", str(series))
        statuses = collections.Counter()
        for i in range(120):
            statuses[serve.infer("double", [[i, 1]] * (1 + i % 3))[0]] += 1
            if i % 3 == 0:
                statuses[serve.infer("other", [[i, 1, 2]], parameters={"timeout": 1})[0]] += 1
        self.assertEqual(serve.infer("double", [[1, 2, 3]])[0], 400)
        self.assertTrue(set(statuses) <= {200, 429, 504}, statuses)
        time.sleep(1.1)
        self.assertEqual(serve.infer("double", [[1, 2]])[0], 200)
        everything = self.points(serve)
        sums = {key: sum(point[key] for point in everything) for key in everything[0] if type(everything[0][key]) is int}
        self.assertEqual(sums["requests"], 161)
        self.assertEqual(sums["in_time"] + sums["late"], statuses[200] + 1)
        self.assertEqual((sums["rejected"], sums["expired"]), (statuses[429], statuses[504]))
        self.assertEqual(sums["dropped"], sums["rejected"] + sums["expired"] + sums["failed"] + sums["cancelled"])
        double = self.points(serve, "&model=double")
        self.assertEqual(sum(point["rows"] for point in double), 241)
        self.assertTrue(any(point["latency_p99_ms"] for point in double))
        self.assertEqual(serve.json("GET", "/berth/v1/series?model=none")[0], 404)
        self.assertEqual(serve.json("GET", "/berth/v1/series?step=7")[0], 400)
        self.assertEqual(serve.end()[0], 0)

        lines = lines_of(series)
        self.assertEqual(sum(line["requests"] for line in lines), 161)
        self.assertEqual(sum(line["in_time"] + line["late"] for line in lines), statuses[200] + 1)
        self.assertEqual({line["version"] for line in lines}, {"1"})
        self.assertEqual(len({(line["second"], line["model"]) for line in lines}), len(lines))
        for line in lines:
            self.assertEqual(sum(count for _, count in line["latency_buckets"]), line["in_time"] + line["late"])

    def ledger(self, path, *words):
        command = [str(local_serve.PROGRAM), "ledger", "report", "--events", str(path), "--format", "json", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_ledger_accepts_the_usage(self):
        usage = self.files / "usage.jsonl"
        config = self.files / "config.yaml"
        keys = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("acme", "beta")}
        rows = "".join(f"  - {{name: {name}, key_sha256: {key}, weight: 1}}\n" for name, key in keys.items())
        config.write_text("tenants:\n" + rows)
        used = collections.Counter()
        for round in range(3):
            serve = self.serve("--usage", str(usage), "--config", str(config))
            self.wait_until(lambda: self.infer_as(serve, "acme") == 200, "an answer")
            for i in range(200):
                self.infer_as(serve, ("acme", "beta")[i % 2])
            status, _, body = serve.ask("GET", "/berth/v1/usage", None, {"Authorization": "Bearer acme"})
            items = json.loads(body)["items"]
            self.assertEqual([(item["tenant"], item["model"]) for item in items], [("acme", "double"), ("beta", "double")])
            self.assertEqual(items[1]["requests"], 100)
            self.assertIsNone(items[0]["prompt_tokens"])
            for item in items:
                used[item["tenant"]] += item["device_us"]
            self.assertEqual(serve.ask("GET", "/berth/v1/usage")[0], 401)
            self.assertEqual(serve.end()[0], 0)
        report = self.ledger(usage, "--refused", str(self.files / "refused"))
        events = lines_of(usage)
        self.assertEqual(report["accepted"], len(events))
        self.assertEqual((self.files / "refused").read_text(), "")
        self.assertEqual(report["unbacked_us"], 0)
        uses = [event for event in events if event["type"] == "use"]
        self.assertEqual({use["slice"] for use in uses}, {"acme/double", "beta/double"})
        lanes = len(os.sched_getaffinity(0))
        for tenant, device_us in used.items():
            mine = [use for use in uses if use["tenant"] == tenant]
            weights = sum(use["weight"] for use in mine) * lanes
            self.assertLessEqual(weights, device_us)
            self.assertGreater(weights, device_us - len(mine) * lanes - 3 * 1000)
        gpus = [event for event in events if event["type"] == "gpu"]
        self.assertTrue(all(gpu["gpu"].startswith("cpu@") and gpu["sku"] == "cpu" for gpu in gpus))

    def infer_as(self, serve, tenant):
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]})
        return serve.ask("POST", "/v2/models/double/infer", body, {"Authorization": f"Bearer {tenant}"})[0]

    def test_a_clock_that_went_back_writes_nothing_until_it_has_caught_up(self):
        usage = self.files / "usage.jsonl"
        host = socket.gethostname()
        until_us = (int(time.time()) + 3600) * 1_000_000
        before = {"type": "gpu", "id": "x", "gpu": f"cpu@{host}", "sku": "cpu", "capacity": 1000000}
        line = json.dumps({**before, "from_us": until_us - 5, "to_us": until_us}) + "\n"
        usage.write_text(line + '{"type":"gp')  # a crash left it unfinished
        serve = self.start("--usage", str(usage))
        self.assertEqual(serve.infer("double", [[1, 2]])[0], 200)
        self.assertGreater(serve.json("GET", "/berth/v1/usage")[1]["items"][0]["device_us"], 0)
        self.assertEqual(serve.end()[0], 0)
        self.assertEqual(usage.read_text(), line)

    def test_a_simulated_device_is_the_gpu_of_the_ledger(self):
        device = self.files / "device.yaml"
        device.write_text(
            'berth: 1\nname: "some card"\nlanes: 4\nmemory: 1GiB\nbatch_max: 8\n'
            "load: {seconds: 0.01, bytes_per_second: 1000000000}\n"
            'models:\n  "*": {latency_ms: [[1, 150], [8, 150]], bytes: 1000000}\n'
        )
        usage = self.files / "usage.jsonl"
        serve = self.start("--device", f"simulated:{device}", "--usage", str(usage))
        for _ in range(10):
            self.assertEqual(serve.infer("double", [[1, 2]])[0], 200)
        [item] = serve.json("GET", "/berth/v1/usage")[1]["items"]
        self.assertGreater(item["device_us"], 1_500_000)
        model = serve.json("GET", "/berth/v1/memory")[1]["models"][0]
        self.assertEqual((model["reserved_bytes"], model["measured_bytes"], model["load_us"]), (1_000_000, None, 11_000))
        self.assertIn('berth_device_info{device="simulated: some card"} 1', serve.ask("GET", "/metrics")[2].decode())
        self.assertEqual(serve.end()[0], 0)
        uses = [event for event in lines_of(usage) if event["type"] == "use"]
        self.assertEqual({use["gpu"] for use in uses}, {"some card"})
        weights = sum(use["weight"] for use in uses)
        self.assertLessEqual(abs(weights - item["device_us"] / 4), len(uses) + 1)
        self.assertEqual(self.ledger(usage)["unbacked_us"], 0)

    def test_models_of_backends_are_counted_too(self):
        class Backend(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                answer = b'{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *words):
                pass

        backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        self.addCleanup(backend.server_close)
        self.addCleanup(backend.shutdown)
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        config = self.files / "config.yaml"
        url = f"http://127.0.0.1:{backend.server_port}"
        config.write_text(f"backends:\n  - {{name: llm, url: '{url}', models: [chat, idle]}}\n")
        series = self.files / "series.jsonl"
        serve = self.start("--config", str(config), "--series", str(series))
        for _ in range(3):
            status, answer = serve.json("POST", "/v1/chat/completions", {"model": "chat", "messages": []})
            self.assertEqual(status, 200, answer)
        self.wait_until(lambda: sum(p["in_time"] for p in self.points(serve, "&model=chat")) == 3, "three answers")
        for point in self.points(serve, "&model=idle"):
            self.assertEqual((point["requests"], point["batches"], point["rows"]), (0, None, None))
        [item] = serve.json("GET", "/berth/v1/usage")[1]["items"]
        want = {"tenant": "default", "model": "chat", "requests": 3, "device_us": None, "prompt_tokens": 15}
        self.assertEqual(item, {**want, "completion_tokens": 21})
        samples_of(serve.ask("GET", "/metrics")[2].decode())
        self.assertEqual(serve.end()[0], 0)
        lines = lines_of(series)
        self.assertEqual({(line["model"], line["version"], line["rows"]) for line in lines}, {("chat", None, None)})
        self.assertEqual(sum(line["requests"] for line in lines), 3)

    def test_memory_and_batch_times(self):
        serve = self.start("--memory", "64MiB")
        for _ in range(5):
            self.assertEqual(serve.infer("double", [[1, 2], [3, 4]])[0], 200)
        status, memory = serve.json("GET", "/berth/v1/memory")
        self.assertEqual(status, 200)
        self.assertEqual(memory["limit_bytes"], 64 << 20)
        self.assertGreater(memory["base_bytes"], 1 << 20)
        self.assertIsNone(memory["device_free_bytes"])
        double, other = memory["models"]
        self.assertEqual((double["state"], other["state"]), ("resident", "cold"))
        self.assertEqual(memory["reserved_bytes"], double["reserved_bytes"] + other["reserved_bytes"])
        self.assertGreater(double["load_us"], 0)
        self.assertIsNone(double["lease_until"])
        serve.json("POST", "/v2/repository/models/other/load", {"parameters": {"lease_seconds": 60}})
        leased = serve.json("GET", "/berth/v1/memory")[1]["models"][1]
        self.assertEqual(leased["state"], "resident")
        self.assertRegex(leased["lease_until"], r"^\d{4}-\d\d-\d\dT.*Z$")
        serve.json("POST", "/v2/repository/models/other/unload", {})
        self.assertEqual(serve.json("GET", "/berth/v1/memory")[1]["models"][1]["state"], "unavailable")

        self.wait_until(lambda: serve.json("GET", "/berth/v1/times")[1]["items"][0]["sha256"], "the sum of the file")
        times = serve.json("GET", "/berth/v1/times")[1]
        self.assertEqual(times["device"], "cpu")
        self.assertLess(abs(times["started_us"] / 1e6 - time.time()), 60)
        item = times["items"][0]
        content = (self.repository / "double/1/model.onnx").read_bytes()
        self.assertEqual(item["sha256"], hashlib.sha256(content).hexdigest())
        self.assertEqual((item["model"], item["version"], item["batch"], item["count"]), ("double", "1", 2, 5))
        self.assertGreaterEqual(item["sum_squares"] * item["count"], item["sum_us"] ** 2)

    def test_metrics(self):
        serve = self.start()
        for _ in range(7):
            self.assertEqual(serve.infer("double", [[1, 2], [3, 4]])[0], 200)
        status, headers, body = serve.ask("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        samples = samples_of(body.decode())
        labels = 'model="double",version="1"'
        self.assertEqual(samples["nv_inference_request_success", labels], 7)
        self.assertEqual(samples["nv_inference_count", labels], 14)
        self.assertEqual(samples["nv_inference_exec_count", labels], 7)
        self.assertGreater(samples["nv_inference_request_duration_us", labels], 0)
        self.assertEqual(samples["nv_inference_pending_request_count", labels], 0)
        self.assertEqual(samples["berth_model_loads_total", labels], 1)
        self.assertEqual(samples["berth_memory_limit_bytes", None], 2 << 30)
        if promtool := shutil.which("promtool"):
            done = subprocess.run([promtool, "check", "metrics"], input=body, capture_output=True)
            remarks = (done.stdout + done.stderr).decode().splitlines()
            self.assertEqual([remark for remark in remarks if not remark.startswith(TRITON)], [])

    def test_files_that_cannot_be_written(self):
        serve = local_serve.Serve(self.repository, "--series", str(self.files / "none" / "file"))
        serve.process.wait(30)
        status, errors = serve.end()
        self.assertEqual(status, 1)
        self.assertIn("none/file: cannot open: No such file", errors)
        if not pathlib.Path("/dev/full").exists():
            return
        serve = self.start("--series", "/dev/full")
        for _ in range(3):
            self.assertEqual(serve.infer("double", [[1, 2]])[0], 200)
            time.sleep(1)
        status, errors = serve.end()
        self.assertEqual(status, 0)
        self.assertEqual(errors.count("/dev/full: cannot write"), 1, errors)


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
