#!/usr/bin/env python3
"""Debian's Prometheus scrapes a `berth up` whose GPUs fail: no scrape fails, and what it stores grows by the sums of
/v1/series and /v1/usage. BERTH_PROMETHEUS_SECONDS: how long (20); BERTH_PROMETHEUS: the program."""

import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

import metrics_test
from series_test import DEADLINE_SECONDS, wait_for

SECONDS = float(os.environ.get("BERTH_PROMETHEUS_SECONDS", "20"))
EVERY_SECONDS = 5 if SECONDS >= 120 else 1


def find_prometheus():
    """Debian's prometheus, if it is there."""
    named = os.environ.get("BERTH_PROMETHEUS") or shutil.which("prometheus")
    if named:
        return named
    cache = os.environ.get("BERTH_OBSERVE", os.path.expanduser("~/.cache/berth/observe"))
    found = [path for path in sorted(glob.glob(f"{cache}/**/bin/prometheus", recursive=True)) if os.path.isfile(path)]
    return found[0] if found else None


def free_port():
    """A port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus(metrics_test.Metrics):
    """Its own tests only: those of the base are run where they are."""

    def setUp(self):
        super().setUp()
        self.prometheus = None

    def tearDown(self):
        if self.prometheus is not None:
            self.prometheus.send_signal(signal.SIGTERM)
            self.prometheus.wait(DEADLINE_SECONDS)
        super().tearDown()

    def start_prometheus(self, program):
        config = self.folder / "prometheus.yml"
        target = self.server.url.removeprefix("http://")
        config.write_text(f"""
scrape_configs:
  - job_name: berth
    scrape_interval: {EVERY_SECONDS}s
    scrape_timeout: {EVERY_SECONDS}s
    authorization: {{credentials_file: {self.folder}/state/admin.key}}
    static_configs: [{{targets: ["{target}"]}}]
""")
        address = f"127.0.0.1:{free_port()}"
        self.api = f"http://{address}/api/v1/query?query="
        log = open(self.folder / "prometheus.log", "w")
        self.prometheus = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb",
             f"--web.listen-address={address}", "--log.level=warn"], stdout=log, stderr=log)
        log.close()
        wait_for(self.is_scraping)

    def is_scraping(self):
        try:
            return bool(self.query("berth_world_second"))
        except OSError:
            return False

    def query(self, text):
        """The result of an instant query or a range of samples."""
        with urllib.request.urlopen(self.api + urllib.parse.quote(text), timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())["data"]["result"]

    def samples(self, text):
        """All samples of the run, summed over series: by time."""
        sums = {}
        for series in self.query(f"{text}[{int(SECONDS) + 600}s]"):
            for at, value in series["values"]:
                sums[at] = sums.get(at, 0) + float(value)
        return sums

    def disturb(self, seconds):
        """Loses, slows and returns GPUs of the demo."""
        rng = random.Random(1)
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            gpu = f"gpu-{rng.randrange(8)}"
            for order in ({"kind": rng.choice(["lose", "fail_create", "fail_destroy"]), "gpu": gpu},
                          {"kind": "slow", "gpu": gpu, "seconds": 2}):
                self.fault(order)
            time.sleep(1)
            self.fault({"kind": "return", "gpu": gpu})

    def test_prometheus_stores_what_happened(self):
        program = find_prometheus()
        if program is None:
            self.skipTest("no prometheus: set BERTH_PROMETHEUS, or unpack Debian's into ~/.cache/berth/observe")
        self.start(speed="5")
        self.start_prometheus(program)
        self.disturb(SECONDS)
        ups = self.samples("up")
        self.assertGreaterEqual(len(ups), SECONDS / EVERY_SECONDS * 0.8)
        self.assertEqual(set(ups.values()), {1}, ups)
        worlds = self.samples("berth_world_second")
        requests = self.samples("berth_service_requests_total")
        gpu_seconds = self.samples("berth_gpu_seconds_total")
        first, last = min(worlds), max(worlds)
        self.assertGreater(worlds[last], worlds[first] + SECONDS)
        wait_for(lambda: self.server.points("&step=1")[-1]["to"] >= self.to_time(worlds[last]))
        begin, end = self.to_time(worlds[first]), self.to_time(worlds[last])
        arrived = sum(point["requests"] for point in self.server.points("&step=1") if begin < point["to"] <= end)
        self.assertEqual(requests[last] - requests[first], arrived)
        self.assertAlmostEqual(gpu_seconds[last] - gpu_seconds[first], 8 * (worlds[last] - worlds[first]), delta=1e-3)
        used = {labels["state"]: value for labels, value in
                ((series["metric"], float(series["values"][-1][1]) - float(series["values"][0][1]))
                 for series in self.query(f"berth_gpu_seconds_total[{int(SECONDS) + 600}s]"))}
        for state, seconds in self.usage_between(worlds[first], worlds[last]).items():
            self.assertAlmostEqual(used[state], seconds, delta=1e-3, msg=state)
        print(f"{len(ups)} scrapes; {arrived} requests in {worlds[last] - worlds[first]:.0f} seconds of the world; {used}")

    def usage_between(self, first, last):
        """GPU-seconds of /v1/usage by state."""
        return self.usage(self.to_time(first), self.to_time(last))


def load_tests(loader, _tests, _pattern):
    """Only the test of this file."""
    del loader
    return unittest.TestSuite([Prometheus("test_prometheus_stores_what_happened")])


if __name__ == "__main__":
    unittest.main()
