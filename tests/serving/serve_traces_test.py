#!/usr/bin/env python3
"""The spans of requests to a `berth serve`: the model's own, and those that a backend answers."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import local_serve
import onnx_bytes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "up"))

from collector import Collector, children, named  # noqa: E402

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
BACKEND = pathlib.Path(__file__).with_name("openai_backend.py")


def request(rows=1):
    inputs = [{"name": "x", "datatype": "FP32", "shape": [rows, 2], "data": [1.0] * (2 * rows)}]
    return json.dumps({"inputs": inputs})


class Traced(local_serve.Case):
    def setUp(self):
        super().setUp()
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    def traced(self, **variables):
        """The environment of a server that sends its spans to the collector."""
        return mock.patch.dict(os.environ, {"OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url, **variables})

    def test_a_request_waits_for_its_load_and_its_batch(self):
        self.add("twice", onnx_bytes.twice(2))
        with self.traced():
            serve = self.serve()
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "a=canary", "x-canary": "canary"}
        self.assertEqual(serve.ask("POST", "/v2/models/twice/infer", request(3), headers)[0], 200)
        self.assertEqual(serve.ask("POST", "/v2/models/twice/infer", request(2))[0], 200)
        unsampled = {"traceparent": f"00-{TRACE}-{PARENT}-00"}
        self.assertEqual(serve.ask("POST", "/v2/models/twice/infer", request(), unsampled)[0], 200)
        self.assertEqual(serve.ask("POST", "/v2/models/none/infer", request())[0], 404)
        status, errors = serve.end()
        self.assertEqual((status, errors), (0, ""))
        spans = self.collector.spans()
        first, second, unknown = sorted(named(spans, "infer"), key=lambda span: span.begin)
        self.assertEqual((first.trace, first.parent, first.kind), (TRACE, PARENT, 2))
        self.assertEqual(children(spans, first), ["batch", "load", "queue"])
        self.assertEqual(children(spans, second), ["batch", "queue"])
        self.assertIsNone(second.parent)
        self.assertEqual(unknown.attributes["error.type"], "unknown")
        [batch] = [span for span in named(spans, "batch") if span.parent == first.id]
        self.assertEqual({key: batch.attributes[key] for key in
                          ("berth.rows", "berth.requests", "berth.model", "berth.version", "berth.device")},
                         {"berth.rows": "3", "berth.requests": "1", "berth.model": "twice", "berth.version": "1",
                          "berth.device": batch.attributes["berth.device"]})
        for span in spans:
            for parent in (each for each in spans if each.id == span.parent):
                self.assertLessEqual(parent.begin, span.begin, str(span))
                self.assertLessEqual(span.end, parent.end, str(span))
        self.assertNotIn("canary", self.collector.text())

    def test_refusals_before_the_model_are_seen(self):
        self.add("twice", onnx_bytes.twice(2))
        with self.traced():
            serve = self.serve()
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        large = {**headers, "Content-Length": str(1 << 40), "Expect": "100-continue"}
        for path, body, sent, status in (
                ("/v2/models/twice/infer", "{", headers, 400),
                ("/v2/models/twice/infer", request(), {**headers, "Content-Type": "text/html"}, 415),
                ("/v2/models/twice/infer", None, large, 413),
                ("/v2/models/twice/guess", "{}", headers, 404),
                ("/v2/models/twice/infer", "{", {"traceparent": f"00-{TRACE}-{PARENT}-00"}, 400)):
            self.assertEqual(serve.ask("POST", path, body, sent)[0], status, path)
        self.assertEqual(serve.ask("GET", "/v2/nothing", None, headers)[0], 404)
        self.assertEqual(serve.end(), (0, ""))
        spans = sorted(self.collector.spans(), key=lambda span: span.begin)
        self.assertEqual([(span.name, span.attributes["error.type"], span.attributes.get("berth.model"))
                          for span in spans],
                         [("infer", "malformed", "twice"), ("infer", "malformed", "twice"),
                          ("infer", "too_large", "twice"), ("POST", "unknown", None)])
        self.assertEqual({(span.trace, span.parent, span.kind) for span in spans}, {(TRACE, PARENT, 2)})

    def test_metrics_go_to_the_collector(self):
        self.add("twice", onnx_bytes.twice(2))
        with self.traced(OTEL_METRICS_EXPORTER="otlp", OTEL_METRIC_EXPORT_INTERVAL="100"):
            serve = self.serve()
        self.assertEqual(serve.ask("POST", "/v2/models/twice/infer", request())[0], 200)
        families = self.collector.wait_for_metric("berth_requests_total", lambda points: any(
            point.get("asDouble") == 1 for point in points))
        scraped = serve.ask("GET", "/metrics")[2].decode()
        named_there = {line.split()[2] for line in scraped.splitlines() if line.startswith("# TYPE ")}
        self.assertEqual(set(families), named_there)
        self.assertIn('berth_otlp_items_total{signal="metrics",outcome="sent"}', scraped)
        self.assertEqual(serve.end(), (0, ""))

    def test_requests_of_one_batch_are_linked(self):
        self.add("twice", onnx_bytes.twice(2))
        (self.repository.parent / "device.yaml").write_text(local_serve.device_file(200, {"twice": 1000}, "1GiB"))
        with self.traced():
            serve = self.serve("--device", f"simulated:{self.repository.parent / 'device.yaml'}")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            serve.ask("POST", "/v2/models/twice/infer", request())[0])) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [200] * 6)
        serve.end()
        spans = self.collector.spans()
        servers = {(span.trace, span.id): span for span in named(spans, "infer")}
        batches = named(spans, "batch")
        self.assertEqual(len(batches), 6)
        for batch in batches:
            self.assertEqual(len(batch.links), int(batch.attributes["berth.requests"]) - 1)
            self.assertNotIn((batch.trace, batch.parent), batch.links)
            self.assertLessEqual(set(batch.links), set(servers))
        self.assertTrue(any(batch.links for batch in batches))

    def test_a_backend_gets_the_span_as_its_parent(self):
        backend = subprocess.Popen([sys.executable, BACKEND, "--models", "tiny"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(backend.wait)
        self.addCleanup(backend.stdin.close)
        self.addCleanup(backend.stdout.close)
        port = int(backend.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.yaml"
            config.write_text(f"backends:\n  - {{name: other, url: 'http://127.0.0.1:{port}', models: [tiny]}}\n")
            with self.traced():
                serve = local_serve.Serve(None, "--config", str(config)).ready()
            body = json.dumps({"model": "tiny", "messages": [{"role": "user", "content": "canary"}]})
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
            self.assertEqual(serve.ask("POST", "/v1/chat/completions", body, headers)[0], 200)
            self.assertEqual(serve.ask("POST", "/v1/chat/completions", body)[0], 200)
            self.assertEqual(serve.ask("POST", "/v1/chat/completions", "{")[0], 400)
            self.assertEqual(serve.ask("POST", "/v1/chat/completions", body.replace("tiny", "none"))[0], 404)
            serve.end()
        first, second, *refused = sorted(named(self.collector.spans(), "POST /v1/chat/completions"),
                                         key=lambda span: span.begin)
        self.assertEqual([span.attributes["http.response.status_code"] for span in refused], ["400", "404"])
        self.assertEqual((first.trace, first.parent), (TRACE, PARENT))
        self.assertIsNone(second.parent)
        self.assertEqual(first.attributes["http.response.status_code"], "200")
        self.assertEqual(first.attributes["gen_ai.request.model"], "tiny")
        self.assertNotIn("canary", self.collector.text())


class Endpoint(unittest.TestCase):
    def test_a_bad_one_is_bad_input(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"OTEL_EXPORTER_OTLP_ENDPOINT": "x"}):
            serve = local_serve.Serve(folder)
            status, errors = serve.end(None)
        self.assertEqual(status, 2)
        self.assertIn("OTEL_EXPORTER_OTLP_ENDPOINT: wanted a URL", errors)


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
