#!/usr/bin/env python3
"""The rules of share/prometheus: valid, each alert fires and is silent where it should, and each has a page's section."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT / "scripts/detail"))
from observe_tools import find_tool, why_missing  # noqa: E402: found by the line above

RULES = ROOT / "share/prometheus"
ALERTS = (RULES / "alerts.yml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/how_to/alerts.md").read_text(encoding="utf-8")
WANTED = {"BerthDown", "BerthReadOnly", "BerthStepsSlow", "BerthPlanStale", "BerthPlanningPaused", "BerthGpuLost",
          "BerthActionsFail", "BerthServiceWaits", "BerthSpeedDrift", "BerthForecastOff", "BerthXid", "BerthServiceBurnFast",
          "BerthServiceBurnSlow"}


def alerts():
    """The text of each alert, by name."""
    return dict(re.findall(r"- alert: (\w+)\n(.*?)(?=\n\s*\n|\Z)", ALERTS, re.DOTALL))


class Rules(unittest.TestCase):
    def test_every_alert_says_how_bad_it_is_and_where_to_read_on(self):
        self.assertEqual(set(alerts()), WANTED)
        sections = set(re.findall(r"^## (\w+)$", PAGE, re.MULTILINE))
        self.assertEqual(sections, WANTED)
        for name, text in alerts().items():
            with self.subTest(name):
                self.assertRegex(text, r"labels: \{severity: (page|ticket)\}")
                self.assertIn("summary: ", text)
                self.assertIn(f"runbook: docs/how_to/alerts.md#{name.lower()}\n", text + "\n")
                severity = re.search(r"severity: (\w+)", text)[1]
                section = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
                self.assertIn(f"{severity.capitalize()}.\n", section)

    def test_every_alert_is_tried(self):
        tried = (RULES / "alerts_test.yml").read_text(encoding="utf-8") + \
            (RULES / "alerts_slow_test.yml").read_text(encoding="utf-8")
        for name in WANTED:
            fires = re.findall(rf"alertname: {name}\n\s+exp_alerts:", tried)
            silent = re.findall(rf"\{{eval_time: \w+, alertname: {name}\}}", tried)
            self.assertTrue(fires, f"{name} never fires")
            self.assertTrue(silent or name == "BerthServiceBurnSlow", f"{name} is never silent")
        self.assertIn('service="good"', tried, "the silent service of BerthServiceBurnSlow")

    def test_promtool(self):
        promtool = find_tool("promtool")
        if not promtool:
            self.skipTest(why_missing("promtool"))
        for words in (["check", "rules", "recording.yml", "alerts.yml"],
                      ["test", "rules", "alerts_test.yml", "alerts_slow_test.yml"]):
            run = subprocess.run([promtool, *words], cwd=RULES, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("SUCCESS", run.stdout)


if __name__ == "__main__":
    unittest.main()
