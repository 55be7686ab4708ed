#!/usr/bin/env python3
"""Every query of the dashboards finds a series, in a world of faults next to GPUs of this machine (simulated) and a model
server; and an alert fires there."""

import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
for folder in ("scripts/detail", "tests/up", "tests/serving"):
    sys.path.insert(0, str(ROOT / folder))
from observe_tools import find_tool, why_missing  # noqa: E402: found by the lines above
import local_serve  # noqa: E402
import local_up  # noqa: E402
import onnx_bytes  # noqa: E402

# What this test does not bring about: judged forecasts, batches that are slower than their table, a card that says what is free.
NOT_HERE = ("berth_forecast_", "berth_service_speed_factor", "berth_device_free_bytes")
PATIENCE_SECONDS = 150


def load_observe():
    loader = importlib.machinery.SourceFileLoader("observe", str(ROOT / "scripts/observe"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("observe", loader))
    loader.exec_module(module)
    return module


def require_everything():
    """Ends the test as skipped where something is missing."""
    if not find_tool("prometheus"):
        reason = why_missing("prometheus")
    elif not (ROOT / "docs/reference/metrics.md").exists():
        reason = "this berth up has no /metrics"
    else:
        return
    print(f"skipped: {reason}")
    sys.exit(77)


require_everything()
local_up.require_simulator()
local_serve.require_engine()
observe = load_observe()
if os.geteuid() != 0:
    print("skipped: not root, and nobody else may change GPUs")
    sys.exit(77)


class Faults(local_up.Case):
    def service(self, name):
        """The file of the example's service under another name, with an objective."""
        text = (ROOT / "examples/live/service.yaml").read_text(encoding="utf-8")
        path = self.folder / f"{name}.yaml"
        path.write_text(text.replace("name: tagger", f"name: {name}").replace("slo: {", "slo: {attainment: 0.99, ", 1))
        return path

    def start_demo(self):
        """A demo with a lost GPU, a service with an objective, and one without a slice."""
        up = self.start("--speed", 30).ready()
        for words in (["apply", "-f", self.service("tagger")], ["sim", "fault", "lose", "gpu-0"]):
            self.assertEqual(up.client(*words)[0], 0, words)
        return up

    def start_devices(self):
        machine = self.machine("[{gpu: H100-80GB-SXM5, count: 2, mig: false}]")
        up = self.local(machine, "--device-metrics", "127.0.0.1:0", data=self.folder / "devices")
        machine.do("fault", "--gpu", 0, "--xid", 31, "--times", 100_000, "--rate", 2)
        return up

    def start_serve(self):
        repository = Path(tempfile.mkdtemp(dir=self.folder))
        model = repository / "double/1"
        model.mkdir(parents=True)
        (model / "model.onnx").write_bytes(onnx_bytes.twice(2))
        time.sleep(local_serve.SETTLE_SECONDS)
        serve = local_serve.Serve(repository, "--memory", "64MiB").ready()
        self.addCleanup(serve.end)
        self.is_over = threading.Event()
        self.addCleanup(self.is_over.set)
        threading.Thread(target=self.keep_asking, args=(serve,), daemon=True).start()
        return serve

    def keep_asking(self, serve):
        while not self.is_over.wait(0.2):
            try:
                serve.infer("double", [[1, 2]])
            except OSError:
                return

    def start_prometheus(self, up, devices, serve):
        def job(name, target, more):
            return {"job_name": name, "static_configs": [{"targets": [target]}], **more}
        key = {"authorization": {"credentials_file": str(up.data / "admin.key")}}
        address = re.search(r"//(.*?)/", devices.lines("device_metrics")[0]["url"])[1]
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                  "rule_files": [str(path) for path in observe.RULES],
                  "scrape_configs": [job("berth", re.search(r"//(.*?)/", up.url)[1], key), job("berth_devices", address, {}),
                                     job("berth_serve", serve.http, {})]}
        path = self.folder / "prometheus.json"
        path.write_text(json.dumps(config))
        self.ports = {"prometheus": observe.free_port()}
        process = subprocess.Popen([find_tool("prometheus"), "--config.file", path, "--storage.tsdb.path", self.folder / "tsdb",
                                    "--web.listen-address", f"127.0.0.1:{self.ports['prometheus']}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))

    def url(self, name):
        return f"http://127.0.0.1:{self.ports[name]}"

    def ask(self, expression):
        try:
            return observe.query(self, expression)
        except OSError:
            return []

    def missing(self, without):
        return [query for query in without if not any(metric in query for metric in NOT_HERE)]

    def test_every_query_finds_a_series(self):
        up = self.start_demo()
        self.start_prometheus(up, self.start_devices(), self.start_serve())
        wanted = {}
        for path in sorted(observe.DASHBOARDS.glob("*.json")):
            for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
                for target in panel.get("targets", []):
                    query = target["expr"].replace("$__rate_interval", "20s").replace("$tenant", ".*").replace("$service", ".*")
                    wanted[query] = f"{path.stem}: {panel['title']}"
        self.assertGreater(len(wanted), 70)
        wait = PATIENCE_SECONDS + time.monotonic()
        has_closed = False
        while wanted and time.monotonic() < wait:
            wanted = {query: panel for query, panel in wanted.items() if not self.ask(query)}
            if not has_closed and self.ask('berth_service_objective_ratio{service="tagger"}'):
                for gpu in range(8):
                    up.client("cordon", f"gpu-{gpu}", "--reason", "test")
                self.assertEqual(up.client("apply", "-f", self.service("late"))[0], 0)
                has_closed = True
            time.sleep(1)
            if self.missing(wanted) == []:
                break
        self.assertEqual(self.missing(wanted), [])
        firing = local_up.wait_until(lambda: self.ask('ALERTS{alertname="BerthXid", alertstate="firing"}'), "an alert")
        self.assertEqual(firing[0]["metric"]["xid"], "31")
        print(f"without a series: {sorted(wanted.values())}")


if __name__ == "__main__":
    unittest.main()
