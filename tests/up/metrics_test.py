#!/usr/bin/env python3
"""`GET /metrics` of `berth up`: what it shows are the sums of what the API shows, and Prometheus accepts it."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path

from series_test import DEADLINE_SECONDS, PROGRAM, Server, wait_for

SAMPLE = re.compile(r"^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,7g.80gb,8,1,700,12
"""
OBJECTIVE = 0.9


def find_promtool():
    """Debian's promtool, if it is there."""
    named = os.environ.get("BERTH_PROMTOOL") or shutil.which("promtool")
    if named:
        return named
    cache = os.environ.get("BERTH_OBSERVE", os.path.expanduser("~/.cache/berth/observe"))
    found = sorted(glob.glob(f"{cache}/**/promtool", recursive=True))
    return found[0] if found else None


class Scrape:
    """A text of metrics."""

    def __init__(self, text):
        self.text = text
        self.lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.samples = {}
        for line in self.lines:
            name, labels, value = SAMPLE.match(line).groups()
            key = (name, frozenset(LABEL.findall(labels or "")))
            if key in self.samples:
                raise AssertionError(f"twice: {line}")
            self.samples[key] = float(value)

    def of(self, name, **labels):
        """The samples of a name that have these labels, by all their labels."""
        wanted = set(labels.items())
        return {key[1]: value for key, value in self.samples.items() if key[0] == name and wanted <= key[1]}

    def sum(self, name, **labels):
        """Of these samples."""
        return sum(self.of(name, **labels).values())

    def one(self, name, **labels):
        """The only one of them."""
        (value,) = self.of(name, **labels).values()
        return value


def scrape(server):
    """The metrics of a server."""
    request = urllib.request.Request(server.url + "/metrics", headers={"Authorization": "Bearer " + server.key})
    with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
        content_type = reply.headers["Content-Type"]
        if content_type != "text/plain; version=0.0.4; charset=utf-8":
            raise AssertionError(content_type)
        return Scrape(reply.read().decode())


def write_scenario(folder, services, gpus=2, rate=3):
    """A scenario with that many services, all with one slice in the layout of policy fixed, while there are slices."""
    (folder / "profile.csv").write_text(PROFILE)
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: 3.5}}]", "window_seconds: 200",
             "layout:"]
    for gpu in range(gpus):
        places = [(gpu * 7 + start, start) for start in range(7) if gpu * 7 + start < services]
        slices = ", ".join(f"{{profile: 1g.10gb, start: {start}, service: s{service}}}" for service, start in places)
        if places:
            lines.append(f"  - {{gpu: {gpu}, slices: [{slices}]}}")
    if services == 0:
        lines[-1] = "layout: []"
    lines.append("services:" if services else "services: []")
    for index in range(services):
        lines.append(f"  - {{name: s{index}, tenant: t{index % 50}, slo: {{latency_ms: 100, attainment: {OBJECTIVE}}}, "
                     f"profile: {{format: csv, path: profile.csv, model: m}}, "
                     f"arrivals: {{format: poisson, requests_per_second: {rate}, seconds: 600, repeat: true}}}}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Metrics(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.server = None

    def tearDown(self):
        if self.server is not None:
            self.server.process.kill()
            self.server.process.wait()
            self.server.process.stdout.close()
        self.temporary.cleanup()

    def start(self, *words, speed="20"):
        self.server = Server(self.folder / "state", speed, *words)

    def start_scenario(self, services, gpus=2, speed="20"):
        self.start("--scenario", write_scenario(self.folder, services, gpus), "--policy", "fixed", speed=speed)

    def scrape_at(self, second):
        """The first scrape at that second of the world or later."""
        wait_for(lambda: scrape(self.server).one("berth_world_second") >= second)
        return scrape(self.server)

    def check_with_promtool(self, text):
        """Status 0, and no remark."""
        promtool = find_promtool()
        if promtool is None:
            self.skipTest("no promtool: set BERTH_PROMTOOL, or unpack Debian's prometheus into ~/.cache/berth/observe")
        checked = subprocess.run([promtool, "check", "metrics"], input=text, text=True, capture_output=True)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def expect_sums_of_series(self, seen):
        """The counters of services are the sums of /v1/series over the seconds before that of the scrape."""
        second = int(seen.one("berth_world_second"))
        end = self.to_time(second)
        wait_for(lambda: any(point["to"] >= end for point in self.server.points("&step=1&from=" + end[:19] + "Z")))
        points = [point for point in self.server.points("&step=1") if point["to"] <= end]
        self.assertEqual(seen.sum("berth_service_requests_total"), sum(point["requests"] for point in points))
        for outcome in ("in_time", "late", "dropped"):
            self.assertEqual(seen.sum("berth_service_answers_total", outcome=outcome),
                             sum(point[outcome] for point in points), outcome)
        self.assertEqual(seen.sum("berth_service_latency_seconds_count"),
                         sum(point["in_time"] + point["late"] for point in points))

    def to_time(self, second):
        """The text of a second of the world."""
        begin = self.server.points("&step=1")[0]["from"]
        at = datetime.fromisoformat(begin.replace("Z", "+00:00")).timestamp() + second
        micros = round(at * 1e6)
        return datetime.utcfromtimestamp(micros // 1_000_000).strftime("%Y-%m-%dT%H:%M:%S") + f".{micros % 1_000_000:06}Z"

    def usage(self, begin, end):
        """The GPU-seconds of /v1/usage by state between two times of the world."""
        items, after = [], ""
        while True:
            page = self.server.get(f"/v1/usage?limit=500&from={begin}&to={end}{after}")[1]
            items += page["items"]
            if page["metadata"]["continue"] is None:
                break
            after = "&continue=" + page["metadata"]["continue"]
        units = {}
        for item in items:
            units[item["gpu"]] = max(units.get(item["gpu"], 0), item["start"] + item["units"])
        seconds = {}
        for item in items:
            share = (parsed(item["to"] or end) - parsed(item["from"])) * item["units"] / units[item["gpu"]]
            seconds[item["state"]] = seconds.get(item["state"], 0) + share
        return seconds

    def expect_usage(self, seen):
        """The GPU-seconds are those of /v1/usage up to the second of the scrape."""
        seconds = self.usage(self.to_time(0), self.to_time(int(seen.one("berth_world_second"))))
        for labels, value in seen.of("berth_gpu_seconds_total").items():
            self.assertAlmostEqual(value, seconds.get(dict(labels)["state"], 0), delta=1e-3, msg=labels)

    def test_the_demo(self):
        self.start()
        seen = self.scrape_at(30)
        self.check_with_promtool(seen.text)
        self.expect_sums_of_series(seen)
        self.expect_usage(seen)
        self.assertEqual(seen.sum("berth_gpus"), 8)
        self.assertAlmostEqual(seen.sum("berth_gpu_seconds_total"), 8 * seen.one("berth_world_second"), delta=1e-3)
        self.assertGreater(seen.sum("berth_service_batches_total"), 0)
        self.assertGreater(seen.sum("berth_plans_total"), 0)
        self.assertGreater(seen.one("berth_plan_solve_seconds_count"), 0)
        self.assertGreater(seen.one("berth_journal_commit_seconds_count"), 0)
        self.assertGreater(seen.one("process_resident_memory_bytes"), 1e6)
        status = self.server.get("/v1/status")[1]
        self.assertAlmostEqual(seen.sum("berth_cost_usd_per_hour"), status["cost_micro_usd_per_hour"] / 1e6, delta=1e-6)
        later = self.scrape_at(int(seen.one("berth_world_second")) + 20)
        self.expect_sums_of_series(later)
        self.expect_usage(later)

    def test_it_needs_the_key_and_knows_routes_by_their_patterns(self):
        self.start()
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.server.url + "/metrics", timeout=DEADLINE_SECONDS)
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()
        self.server.get("/v1/gpus/gpu-0")
        self.server.get("/v1/gpus/canary-of-a-path")
        self.server.get("/canary-of-no-route")
        seen = scrape(self.server)
        counted = {tuple(dict(labels)[name] for name in ("method", "route", "code"))
                   for labels in seen.of("berth_http_request_seconds_count")}
        self.assertLessEqual({("GET", "/metrics", "401"), ("GET", "/v1/gpus/{id}", "200"),
                              ("GET", "/v1/gpus/{id}", "404"), ("GET", "", "404")}, counted)
        self.assertNotIn("canary", seen.text)
        self.assertNotIn(self.server.key, seen.text)

    def test_an_empty_world(self):
        self.start_scenario(0)
        seen = self.scrape_at(5)
        self.check_with_promtool(seen.text)
        self.assertEqual(seen.of("berth_service_requests_total"), {})
        self.assertEqual(seen.of("berth_plan_age_seconds"), {})
        self.assertEqual(seen.sum("berth_gpu_seconds_total", state="free"), 2 * seen.one("berth_world_second"))

    def test_a_world_of_faults(self):
        self.start_scenario(10)
        for order in ({"kind": "fail_create", "node": "node-0", "times": 2}, {"kind": "lose", "gpu": "gpu-0"},
                      {"kind": "slow", "node": "node-0", "seconds": 3}):
            self.fault(order)
        seen = self.scrape_at(60)
        self.check_with_promtool(seen.text)
        self.assertEqual(seen.sum("berth_gpus", health="lost"), 1)
        self.assertGreater(seen.sum("berth_gpu_seconds_total", state="lost"), 0)
        waits = seen.of("berth_service_waiting")
        self.assertEqual({dict(labels)["service"]: dict(labels)["reason"] for labels in waits}, self.why_unplaced())
        self.assertEqual(set(waits.values()), {1})
        self.assertEqual(set(seen.of("berth_service_objective_ratio").values()), {OBJECTIVE})
        self.expect_usage(seen)
        self.fault({"kind": "return", "gpu": "gpu-0"})
        later = self.scrape_at(int(seen.one("berth_world_second")) + 60)
        self.assertGreater(later.sum("berth_plan_actions_total", outcome="failed"), 0)
        self.expect_usage(later)
        self.expect_sums_of_series(later)

    def why_unplaced(self):
        """The reason of the condition Placed of each service of which it is False."""
        reasons = {}
        for item in self.server.get("/v1/services")[1]["items"]:
            for condition in item["status"]["conditions"]:
                if condition["type"] == "Placed" and condition["status"] == "False":
                    reasons[item["metadata"]["name"]] = condition["reason"]
        return reasons

    def fault(self, order):
        request = urllib.request.Request(self.server.url + "/v1/sim/faults", json_bytes(order),
                                         {"Authorization": "Bearer " + self.server.key,
                                          "Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=DEADLINE_SECONDS).close()

    def test_a_thousand_services(self):
        self.start_scenario(1000, gpus=143, speed="5")
        seen = self.scrape_at(10)
        self.check_with_promtool(seen.text)
        self.assertLessEqual(len(seen.lines), 10_000)
        self.assertGreater(len(seen.lines), 5_000)
        self.assertGreater(seen.sum("berth_service_requests_total", overflow="true"), 0)
        self.expect_sums_of_series(seen)
        later = self.scrape_at(int(seen.one("berth_world_second")) + 5)
        self.assertEqual(set(seen.of("berth_service_requests_total")), set(later.of("berth_service_requests_total")))

    def test_counters_begin_with_each_process(self):
        self.start_scenario(5)
        self.scrape_at(30)
        self.server.end(signal.SIGTERM)
        self.start()
        seen = scrape(self.server)
        self.assertGreaterEqual(seen.one("berth_world_second"), 30)
        self.assertLess(seen.sum("berth_gpu_seconds_total"), 2 * seen.one("berth_world_second"))
        self.assertLess(seen.sum("berth_service_requests_total"), 15 * seen.one("berth_world_second") / 2)

    def test_series_max(self):
        config = self.folder / "berth.yaml"
        config.write_text("metrics: {series_max: 1000}")
        self.start("--config", config)
        self.assertLessEqual(len(self.scrape_at(10).lines), 1_000)
        self.server.end(signal.SIGTERM)
        config.write_text("metrics: {series_max: 999}")
        refused = subprocess.run([PROGRAM, "up", "--data", self.folder / "state", "--config", config],
                                 capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("metrics.series_max", refused.stderr)


def parsed(text):
    """Seconds since 1970 of a time."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def json_bytes(value):
    """As a body."""
    return json.dumps(value).encode()


if __name__ == "__main__":
    unittest.main()
