#!/usr/bin/env python3
"""The traces and the log of requests of a `berth up`, as a collector and a reader of stderr see them."""

import collections
import datetime
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from collector import Collector, children, named

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60
STOP_SECONDS = 8
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ROWS = [{"model": "m", "gpu": "A100-80GB", "profile": "1g.10gb", "batch": 4, "processes": 1,
         "requests_per_second": 100, "latency_ms": 40},
        {"model": "m", "gpu": "A100-80GB", "profile": "2g.20gb", "batch": 8, "processes": 1,
         "requests_per_second": 220, "latency_ms": 36}]
SCENARIO = """berth: 1
fleet: [{gpu: A100-80GB, count: 4, usd_per_gpu_hour: 1}]
window_seconds: 200
fidelity: rates
services: []
"""


def service(label="a", latency_ms=100):
    """A service with load, so that a plan gives it slices."""
    return {"metadata": {"labels": {"write": label}},
            "spec": {"slo": {"latency_ms": latency_ms}, "profile": {"format": "csv", "model": "m", "rows": ROWS},
                     "arrivals": {"format": "poisson", "requests_per_second": 50, "seconds": 600, "repeat": True},
                     "expects": {"requests_per_second": 50}}}


class Traces(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.state = self.folder / "state"
        (self.folder / "scenario.yaml").write_text(SCENARIO)
        self.collectors = []
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        for collector in self.collectors:
            collector.close()
        self.temporary.cleanup()

    def collector(self, mode="well"):
        self.collectors.append(Collector(mode))
        return self.collectors[-1]

    def start(self, collector, *words, **variables):
        """Until it answers."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        if collector:
            environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        environment.update(variables)
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0", *words, "--scenario",
                 self.folder / "scenario.yaml"], stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("ready "), self.log())
        self.url = line.split()[1].rstrip("/")
        self.key = (self.state / "admin.key").read_text().strip()

    def send(self, method, path, body=None, **headers):
        """Status, headers and JSON."""
        sent = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                return reply.status, reply.headers, json.loads(reply.read())
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.loads(error.read())

    def stop(self):
        """Its exit status, and how long it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        self.process = None
        return status, time.monotonic() - began

    def log(self):
        return (self.folder / "log").read_text()

    def lines(self, event):
        lines = [json.loads(line) for line in self.log().splitlines()]
        return [line for line in lines if line["event"] == event]

    def test_each_write_is_a_trace_with_its_commit(self):
        collector = self.collector()
        self.start(collector)
        ids = [self.send("PUT", "/v1/tenants/t", {})[1]["X-Request-Id"]]
        for index in range(20):
            status, headers, _ = self.send("PUT", f"/v1/tenants/t/services/s{index}", service())
            self.assertEqual(status, 201)
            ids.append(headers["X-Request-Id"])
        ids.append(self.send("DELETE", "/v1/tenants/t/services/none")[1]["X-Request-Id"])
        self.send("GET", "/v1/services?limit=1")
        self.assertEqual(self.stop()[0], 0)
        spans = collector.spans()
        servers = {span.attributes["berth.request_id"]: span for span in spans if span.kind == 2}
        self.assertEqual(set(servers), set(ids))
        for each in servers.values():
            self.assertIsNone(each.parent)
            self.assertEqual(len(each.trace), 32)
            self.assertLessEqual(each.begin, each.end)
            wanted = [] if each.attributes["http.response.status_code"] == "404" else ["journal.commit"]
            self.assertEqual([name for name in children(spans, each) if name != "plan"], wanted, str(each))
        for commit in named(spans, "journal.commit"):
            [parent] = [span for span in spans if span.id == commit.parent]
            self.assertLessEqual(parent.begin, commit.begin)
            if parent.kind == 2:
                self.assertLessEqual(commit.end, parent.end)
        self.assertEqual(servers[ids[1]].name, "PUT /v1/tenants/{t}/services/{name}")
        self.assertEqual(servers[ids[1]].attributes["http.response.status_code"], "201")
        self.assertEqual(len({span.trace for span in servers.values()}), len(ids))
        self.assertEqual(len({span.id for span in spans}), len(spans))

    def test_a_plan_belongs_to_the_writes_it_follows(self):
        collector = self.collector()
        self.start(collector, "--speed", "20")
        self.send("PUT", "/v1/tenants/t", {})
        self.send("PUT", "/v1/tenants/t/services/s", service())
        spans = collector.wait_for(lambda spans: named(spans, "plan"))
        [put] = named(spans, "PUT /v1/tenants/{t}/services/{name}")
        plan = next(span for span in named(spans, "plan") if span.parent == put.id)
        self.assertEqual(plan.trace, put.trace)
        names = collections.Counter(children(spans, plan))
        self.assertEqual((names["solve"], names["journal.commit"]), (1, 1), names)
        self.assertGreaterEqual(names["slice.create"], 1)
        self.assertGreaterEqual(names["slice.assign"], 1)
        actions = [span for span in spans if span.parent == plan.id and span.name.startswith("slice.")]
        self.assertEqual({span.attributes["berth.outcome"] for span in actions}, {"done"})
        self.assertEqual(plan.end, max(span.end for span in actions))
        self.assertEqual(int(plan.attributes["berth.plan.actions"]), len(actions))
        for child in (span for span in spans if span.parent == plan.id):
            self.assertLessEqual(plan.begin, child.begin, str(child))
            self.assertLessEqual(child.end, plan.end, str(child))
        # A drain and a removal: orders about that GPU, and about the service's slices.
        gpu = actions[0].attributes["berth.gpu"]
        self.send("POST", f"/v1/gpus/{gpu}/drain", {"reason": "a test"})
        spans = collector.wait_for(lambda spans: self.plans_below(spans, "POST /v1/gpus/{id}/drain"))
        [drain] = self.plans_below(spans, "POST /v1/gpus/{id}/drain")
        self.assertIn("slice.destroy", children(spans, drain))
        self.send("DELETE", "/v1/tenants/t/services/s")
        spans = collector.wait_for(lambda spans: self.plans_below(spans, "DELETE /v1/tenants/{t}/services/{name}"))
        [removal] = self.plans_below(spans, "DELETE /v1/tenants/{t}/services/{name}")
        self.assertIn("slice.destroy", children(spans, removal))
        self.assertEqual(removal.attributes["berth.plan.ordered"], True)

    def plans_below(self, spans, name):
        """The plans whose parent is the span of that write."""
        writes = {(span.trace, span.id) for span in named(spans, name)}
        return [span for span in named(spans, "plan") if (span.trace, span.parent) in writes]

    def test_one_plan_for_several_writes_links_to_the_later_ones(self):
        collector = self.collector()
        self.start(collector, "--speed", "20")
        self.send("PUT", "/v1/tenants/t", {})
        self.send("PUT", "/v1/planning", {"paused": True, "reason": "a test"})
        for index in range(3):
            self.send("PUT", f"/v1/tenants/t/services/s{index}", service())
        self.send("PUT", "/v1/planning", {"paused": False, "reason": "a test"})
        spans = collector.wait_for(lambda spans: [span for span in named(spans, "plan") if len(span.links) == 2])
        puts = sorted(named(spans, "PUT /v1/tenants/{t}/services/{name}"), key=lambda span: span.begin)
        [plan] = [span for span in named(spans, "plan") if span.parent == puts[0].id]
        self.assertEqual(plan.links, [(span.trace, span.id) for span in puts[1:]])

    def test_the_context_of_a_caller_is_continued(self):
        collector = self.collector()
        self.start(collector)
        given = f"00-{TRACE}-{PARENT}-01"
        self.send("PUT", "/v1/tenants/sampled", {}, traceparent=given, tracestate="a=1,b=2")
        self.send("GET", "/v1/tenants", traceparent=given)
        self.send("PUT", "/v1/tenants/unsampled", {}, traceparent=f"00-{TRACE}-{PARENT}-00")
        self.send("GET", "/v1/gpus", traceparent=f"00-{TRACE}-{PARENT}-00")
        self.send("GET", "/v1/nodes")
        self.send("PUT", "/v1/tenants/malformed", {}, traceparent=f"00-{TRACE.upper()}-{PARENT}-01")
        self.stop()
        servers = [span for span in collector.spans() if span.kind == 2]
        below = [span for span in servers if span.trace == TRACE]
        self.assertEqual([span.name for span in below], ["PUT /v1/tenants/{t}", "GET /v1/tenants"])
        self.assertEqual([(span.parent, span.state) for span in below], [(PARENT, "a=1,b=2"), (PARENT, "")])
        [other] = [span for span in servers if span.trace != TRACE]
        self.assertEqual((other.name, other.parent), ("PUT /v1/tenants/{t}", None))
        logged = {line["request_id"]: line["trace_id"] for line in self.lines("request")}
        self.assertEqual([trace for trace in logged.values() if trace == TRACE], [TRACE, TRACE])
        self.assertIn(other.trace, logged.values())

    def test_no_secret_is_in_a_line_or_a_span(self):
        collector = self.collector()
        self.start(collector, OTEL_EXPORTER_OTLP_HEADERS="api-key=canary-exporter",
                   OTEL_METRICS_EXPORTER="otlp")
        self.send("PUT", "/v1/tenants/t", {"metadata": {"labels": {"canary-key": "canary-label"}}})
        self.send("PUT", "/v1/tenants/t/services/s", service("canary-label"), Idempotency_Key="canary-idempotency",
                  X_Canary="canary-header", baggage="canary-baggage", traceparent=f"00-{TRACE}-{PARENT}-01")
        self.send("GET", "/v1/canary-path?x=canary-query")
        self.assertEqual(self.send("GET", "/v1/gpus", Authorization="Bearer canary-bearer")[0], 401)
        self.assertEqual(self.send("POST", "/v1/login", {"token": "canary-token"})[0], 401)
        self.stop()
        spans = "".join(json.dumps(body) for body in collector.taken())
        self.assertIn(TRACE, spans)
        for text in (self.log(), spans):
            self.assertNotIn("canary", text)
            self.assertNotIn(self.key, text)
        self.assertIn("canary-exporter", collector.text())  # only where it belongs
        self.assertNotIn(self.key, collector.text())

    def test_lines_have_time_level_and_requests(self):
        self.start(None)
        _, headers, _ = self.send("PUT", "/v1/tenants/t", {}, traceparent=f"00-{TRACE}-{PARENT}-00")
        self.send("GET", "/v1/gpus")
        self.send("GET", "/v1/none")
        self.send("GET", "/v1/gpus", Authorization="Bearer no")
        self.stop()
        for line in map(json.loads, self.log().splitlines()):
            self.assertEqual(list(line)[:3], ["event", "time", "level"])
            at = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
            self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - at).total_seconds()), DEADLINE_SECONDS)
            self.assertIn(line["level"], ("info", "warning", "error"))
        write, none, unauthorized = self.lines("request")
        self.assertEqual((write["request_id"], write["trace_id"], write["method"], write["route"], write["status"]),
                         (headers["X-Request-Id"], TRACE, "PUT", "/v1/tenants/{t}", 201))
        self.assertGreater(write["ms"], 0)
        self.assertTrue(write["peer"].startswith("127.0.0.1:"))
        self.assertEqual((none["status"], none["route"], none["trace_id"]), (404, None, None))
        self.assertEqual((unauthorized["status"], unauthorized["route"]), (401, "/v1/gpus"))

    def test_every_answer_has_an_id(self):
        self.start(None)
        ids = [self.send(*words)[1]["X-Request-Id"] for words in
               (("GET", "/v1/status"), ("GET", "/v1/none"), ("PUT", "/v1/tenants/t", {}), ("PUT", "/v1/tenants/t", {"x": 1}),
                ("DELETE", "/v1/tenants/t"), ("POST", "/v1/login", {"token": "x"}))]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertNotIn(None, ids)

    def test_an_outage_is_one_warning_and_a_stop_is_quick(self):
        for mode in ("silent", 503):
            with self.subTest(mode):
                collector = self.collector(mode)
                self.start(collector)
                for index in range(50):
                    self.send("PUT", f"/v1/tenants/t{index}", {})
                deadline = time.monotonic() + DEADLINE_SECONDS
                while not collector.text() and time.monotonic() < deadline:
                    time.sleep(0.05)
                status, seconds = self.stop()
                self.assertEqual(status, 0)
                self.assertLess(seconds, STOP_SECONDS)
                warnings = [line["message"] for line in self.lines("warning") if "spans are not taken" in line["message"]]
                self.assertEqual(len(warnings), 1, self.log())
                (self.folder / "log").write_text("")

    def test_bad_variables(self):
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317"}
        run = subprocess.run([PROGRAM, "up", "--data", self.state, "--until", "1"], capture_output=True, text=True,
                             env=environment, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("OTEL_EXPORTER_OTLP_ENDPOINT: wanted a URL", run.stderr)
        self.assertFalse(self.state.exists())
        collector = self.collector()
        self.start(collector, OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_TRACES_SAMPLER="sometimes")
        self.send("PUT", "/v1/tenants/t", {})
        self.stop()
        self.assertEqual(collector.text(), "")
        self.assertEqual([line["message"].split(":")[0] for line in self.lines("warning")], ["OTEL_EXPORTER_OTLP_PROTOCOL"])
        self.start(collector, OTEL_TRACES_SAMPLER="sometimes")
        self.send("PUT", "/v1/tenants/u", {})
        self.stop()
        self.assertIn("OTEL_TRACES_SAMPLER", self.log())
        self.assertEqual(len([span for span in collector.spans() if span.kind == 2]), 1)

    def test_the_sampler_is_obeyed(self):
        collector = self.collector()
        self.start(collector, OTEL_TRACES_SAMPLER="always_off")
        self.send("PUT", "/v1/tenants/t", {}, traceparent=f"00-{TRACE}-{PARENT}-01")
        self.stop()
        self.assertEqual(collector.text(), "")


if __name__ == "__main__":
    unittest.main()
