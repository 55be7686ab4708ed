#!/usr/bin/env python3
"""200 traced writes, as Jaeger has them: none is missing, parents are right, and plans belong to the writes they follow."""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
sys.path.insert(0, str(ROOT / "scripts/detail"))
from observe_tools import find_tool, free_port, jaeger_config, why_missing  # noqa: E402: found by the line above

WRITES = 200
DEADLINE_SECONDS = 60
SERVICES, GPUS = 12, 8
SCENARIO = f"""berth: 1
fleet: [{{gpu: A100-80GB, count: {GPUS}, usd_per_gpu_hour: 1}}]
window_seconds: 200
fidelity: rates
services: []
"""
ROWS = [{"model": "m", "gpu": "A100-80GB", "profile": profile, "batch": batch, "processes": 1, "requests_per_second": rate,
         "latency_ms": latency} for profile, batch, rate, latency in (("1g.10gb", 4, 100, 40), ("2g.20gb", 8, 220, 36))]


def service(rate):
    """A service with load, so that a plan gives it slices."""
    return {"spec": {"slo": {"latency_ms": 100}, "profile": {"format": "csv", "model": "m", "rows": ROWS},
                     "arrivals": {"format": "poisson", "requests_per_second": rate, "seconds": 600, "repeat": True},
                     "expects": {"requests_per_second": rate}}}


class Span:
    """One of Jaeger's."""

    def __init__(self, found):
        self.trace, self.id, self.name = found["traceID"], found["spanID"], found["operationName"]
        self.begin, self.end = found["startTime"], found["startTime"] + found["duration"]
        self.tags = {tag["key"]: tag["value"] for tag in found["tags"]}
        places = [(each["refType"], (each["traceID"], each["spanID"])) for each in found["references"]]
        # Jaeger shows both as references: a parent is of the same trace, links are of others.
        self.parent = next((place for kind, place in places if kind == "CHILD_OF"), None)
        self.links = [place for kind, place in places if kind == "FOLLOWS_FROM"]

    @property
    def place(self):
        return self.trace, self.id


class Jaeger(unittest.TestCase):
    def setUp(self):
        for path, why in ((PROGRAM, f"no {PROGRAM}"), (find_tool("jaeger"), why_missing("jaeger"))):
            if not path or not os.path.exists(path):
                self.skipTest(why)
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.ports = {name: free_port() for name in ("jaeger", "jaeger_grpc", "otlp")}
        (self.folder / "jaeger.yaml").write_text(jaeger_config(self.ports))
        (self.folder / "scenario.yaml").write_text(SCENARIO)
        self.start([find_tool("jaeger"), "--config", self.folder / "jaeger.yaml"])
        self.wait_until(lambda: self.ask_jaeger("/api/services") is not None, "an answer of Jaeger")

    def start(self, words, **more):
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_berth(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{self.ports['otlp']}"
        state = self.folder / "state"
        process = self.start([PROGRAM, "up", "--data", state, "--listen", "127.0.0.1:0", "--speed", "20", "--scenario",
                              self.folder / "scenario.yaml"], env=environment)
        line = process.stdout.readline()
        self.assertTrue(line.startswith("ready "), (self.folder / "log").read_text())
        self.url = line.split()[1].rstrip("/")
        self.key = (state / "admin.key").read_text().strip()
        return process

    def wait_until(self, is_true, what):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_true():
            self.assertLess(time.monotonic(), deadline, f"waited for {what}")
            time.sleep(0.2)

    def ask_jaeger(self, path):
        """Null while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['jaeger']}{path}", timeout=30) as reply:
                return json.loads(reply.read())["data"] or []
        except (urllib.error.URLError, ConnectionError):
            return None

    def spans(self):
        traces = self.ask_jaeger(f"/api/traces?service=berth&limit={10 * WRITES}") or []
        return [Span(each) for trace in traces for each in trace["spans"]]

    def send(self, method, path, body=None):
        """Status and X-Request-Id."""
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), {
            "Authorization": "Bearer " + self.key, "Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                return reply.status, reply.headers["X-Request-Id"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["X-Request-Id"]

    def write(self, rng):
        """One write, and what it is about: a service's name, a GPU's or nothing."""
        name, gpu = f"s{rng.randrange(SERVICES)}", f"gpu-{rng.randrange(GPUS)}"
        kind = rng.random()
        if kind < 0.6:
            return (*self.send("PUT", f"/v1/tenants/t/services/{name}", service(round(rng.uniform(20, 120), 3))), name)
        if kind < 0.75:
            return (*self.send("DELETE", f"/v1/tenants/t/services/{name}"), name)
        if kind < 0.9:
            return (*self.send("POST", f"/v1/gpus/{gpu}/{rng.choice(('drain', 'uncordon'))}", {"reason": "a test"}), gpu)
        return (*self.send("PUT", "/v1/tenants/other", {"metadata": {"labels": {"n": str(rng.random())}}}), None)

    def test_writes_and_their_plans(self):
        berth = self.start_berth()
        rng = random.Random(1)
        wanted = {}  # by request: status, and what it is about
        status, request = self.send("PUT", "/v1/tenants/t", {})
        wanted[request] = (status, None)
        while len(wanted) < WRITES:
            status, request, about = self.write(rng)
            wanted[request] = (status, about)
            time.sleep(rng.choice((0, 0, 0.1)))
        time.sleep(1)  # 20 s of the world: the last plans
        berth.send_signal(signal.SIGTERM)
        self.assertEqual(berth.wait(DEADLINE_SECONDS), 0)
        self.assertLessEqual({status for status, _ in wanted.values()}, {200, 201, 404})
        self.wait_until(lambda: len(self.writes(self.spans())) >= WRITES, f"{WRITES} writes in Jaeger")
        spans = self.spans()
        self.check_writes(spans, wanted)
        self.check_plans(spans, wanted)

    def writes(self, spans):
        return {span.tags["berth.request_id"]: span for span in spans if "berth.request_id" in span.tags}

    def check_writes(self, spans, wanted):
        writes = self.writes(spans)
        self.assertEqual(set(writes), set(wanted))
        children = collections.defaultdict(list)
        for span in spans:
            children[span.parent].append(span)
        for request, (status, about) in wanted.items():
            write = writes[request]
            self.assertEqual(int(write.tags["http.response.status_code"]), status)
            self.assertIsNone(write.parent)
            commits = [each for each in children[write.place] if each.name == "journal.commit"]
            # To open a GPU that is open changes nothing, so nothing is recorded.
            counts = {0} if status >= 300 else {0, 1} if "gpu" in (about or "") else {1}
            self.assertIn(len(commits), counts, f"{write.name}: {status}")
            for each in commits:
                self.assertTrue(write.begin <= each.begin and each.end <= write.end + 1, write.name)

    def check_plans(self, spans, wanted):
        """Each is below a write or on its own, has all its actions, and links to writes that came no earlier."""
        by_place = {span.place: span for span in spans}
        writes = {span.place: request for request, span in self.writes(spans).items()}
        plans = [span for span in spans if span.name == "plan"]
        followed = collections.Counter()  # plans of each write
        for plan in plans:
            below = [span for span in spans if span.parent == plan.place]
            actions = [span for span in below if span.name.startswith("slice.")]
            self.assertEqual(int(plan.tags["berth.plan.actions"]), len(actions))
            self.assertEqual(len(below) - len(actions), 2, [span.name for span in below])  # solve, journal.commit
            if plan.parent is None:
                self.assertEqual(plan.links, [])
                continue
            followed.update([plan.parent, *plan.links])
            begins = [by_place[place].begin for place in (plan.parent, *plan.links)]
            self.assertEqual(begins[0], min(begins), "the oldest write is the parent")
            self.assertLessEqual(max(begins), plan.begin + 1)
            gpus = {action.tags["berth.gpu"] for action in actions}
            for place in (plan.parent, *plan.links):
                status, about = wanted[writes[place]]
                self.assertLess(status, 300, "a refused write has no plan")
                self.assertIsNotNone(about, "a plan is about services, GPUs and nodes")
                if about.startswith("gpu-"):
                    self.assertIn(about, gpus)
        self.assertEqual({count for count in followed.values() if count > 1}, set(), "a write has one plan at most")
        self.assertGreater(len(followed), WRITES // 20)
        print(f"{WRITES} writes, {len(plans)} plans, {len(followed)} writes with a plan, {len(spans)} spans")


if __name__ == "__main__":
    unittest.main()
