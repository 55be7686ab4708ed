#!/usr/bin/env python3
"""`scripts/observe --check`: the demo, seen by Prometheus and, where it is built, by Jaeger."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", "")
sys.path.insert(0, str(ROOT / "scripts/detail"))
from observe_tools import find_tool, why_missing  # noqa: E402: found by the line above


class Observe(unittest.TestCase):
    def run_observe(self, *words):
        return subprocess.run([ROOT / "scripts/observe", *words], capture_output=True, text=True, timeout=400, check=False)

    def test_check(self):
        if not os.path.exists(PROGRAM):
            self.skipTest("BERTH_PROGRAM names no program")
        if not find_tool("prometheus") or not find_tool("promtool"):
            self.skipTest(why_missing("prometheus"))
        if not (ROOT / "docs/reference/metrics.md").exists():
            self.skipTest("this berth up has no /metrics")
        run = self.run_observe("--check")
        print(run.stdout, end="")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("check: promtool accepts /metrics: ", run.stdout)
        self.assertIn("and evaluates 21 rules; alerts: none", run.stdout)
        self.assertIn("check: money.json: 9 of 9 queries find a series", run.stdout)

    def test_a_folder_of_no_world_is_refused(self):
        run = self.run_observe("--data", "/nowhere")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("--data: wanted the folder of a running berth up", run.stderr)


if __name__ == "__main__":
    unittest.main()
