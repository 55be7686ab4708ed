#!/usr/bin/env python3
"""The dashboards of share/grafana: as tools/dashboards writes them, with valid queries for metrics that exist."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT / "scripts/detail"))
from observe_tools import find_tool, why_missing  # noqa: E402: found by the line above

BOARDS = sorted((ROOT / "share/grafana").glob("*.json"))
METRICS_PAGE = ROOT / "docs/reference/metrics.md"
OTHER_SOURCES = [ROOT / "src/serving/figures/metric_families.cc", ROOT / "src/gpu/device/device_metrics.cc"]
SUFFIXES = ("_bucket", "_count", "_sum")  # of histograms
METRIC = re.compile(r"\b(?:berth|nv|process|DCGM)_\w+\b")


def board(path):
    return json.loads(path.read_text(encoding="utf-8"))


def queries(path):
    return [target["expr"] for panel in board(path)["panels"] for target in panel.get("targets", [])]


def with_values(query):
    """The query with values in place of Grafana's variables."""
    query = query.replace("$__rate_interval", "5m")
    return re.sub(r"\$(tenant|service)\b", ".*", query)


def rule_queries():
    """What the rules of share/prometheus ask for."""
    text = "".join((ROOT / "share/prometheus" / name).read_text(encoding="utf-8") for name in ("recording.yml", "alerts.yml"))
    return re.findall(r"expr: (.*?)(?=\n {6,8}\w+: |\n {6}- |\n\n|\Z)", text, re.DOTALL)


class Boards(unittest.TestCase):
    def test_are_those_of_the_script(self):
        run = subprocess.run([ROOT / "tools/dashboards", "--check"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertEqual([path.stem for path in BOARDS], ["fleet", "money", "planner", "service", "serving"])

    def test_have_what_grafana_needs(self):
        for path in BOARDS:
            with self.subTest(path.name):
                shown = board(path)
                self.assertEqual(shown["uid"], f"berth-{path.stem}")
                self.assertEqual([each["name"] for each in shown["templating"]["list"]], ["datasource", "tenant", "service"])
                self.assertEqual(len({panel["id"] for panel in shown["panels"]}), len(shown["panels"]))
                for panel in shown["panels"]:
                    place = panel["gridPos"]
                    self.assertLessEqual(place["x"] + place["w"], 24)
                    if panel["type"] != "row":
                        self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
                        self.assertEqual(panel["datasource"]["uid"], "${datasource}")
                self.check_no_overlap(shown["panels"])

    def check_no_overlap(self, panels):
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells

    def test_every_metric_exists(self):
        if not METRICS_PAGE.exists():
            self.skipTest(f"{METRICS_PAGE} is missing")
        known = set(re.findall(r"`(\w+)", METRICS_PAGE.read_text(encoding="utf-8")))
        for source in OTHER_SOURCES:
            known |= set(re.findall(r'"(\w+)"', source.read_text(encoding="utf-8")))
        for name, asked in [(path.name, queries(path)) for path in BOARDS] + [("rules", rule_queries())]:
            for query in asked:
                for metric in METRIC.findall(re.sub(r"berth:[\w:]+", "", re.sub(r'"[^"]*"', '""', query))):
                    base = next((metric.removesuffix(end) for end in SUFFIXES if metric.endswith(end)), metric)
                    self.assertTrue({metric, base} & known, f"{name}: {metric} in {query}")

    def test_queries_are_valid(self):
        promtool = find_tool("promtool")
        if not promtool:
            self.skipTest(why_missing("promtool"))
        rules = [{"record": f"board:{path.stem}:{number}", "expr": with_values(query)}
                 for path in BOARDS for number, query in enumerate(queries(path))]
        self.assertGreater(len(rules), 70)
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "boards", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            run = subprocess.run([promtool, "check", "rules", file.name], capture_output=True, text=True, timeout=60,
                                 check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
