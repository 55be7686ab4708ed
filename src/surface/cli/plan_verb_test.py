#!/usr/bin/env python3
"""`berth plan` as a user meets it: the answer's parts and how they agree, the same bytes twice, conflicts, bad input."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/quickstart"
DEADLINE_SECONDS = 300
TYPES = ["create", "destroy", "assign", "keep"]


def plan(*arguments):
    return subprocess.run([PROGRAM, "plan", *map(str, arguments)], capture_output=True, timeout=DEADLINE_SECONDS)


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def answer(self, *arguments):
        run = plan(*arguments, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return json.loads(run.stdout)

    def scenario(self, rate, floor=""):
        """One GPU, two services, profiles of whole tenths."""
        profile = self.folder / "profiles.csv"
        rows = "".join(f"{model},A100-80GB,{name},1,1,{10 * size},{100 / size:.4f}\n" for model in ("a", "b")
                       for name, size in (("1g.10gb", 1), ("2g.20gb", 2), ("3g.40gb", 3), ("4g.40gb", 4), ("7g.80gb", 7)))
        header = (EXAMPLE / "profiles.csv").read_text().splitlines()[0]
        self.assertEqual(header.count(","), rows.splitlines()[0].count(","))
        profile.write_text(header + "\n" + rows)
        text = "berth: 1\nfleet: [{gpu: A100-80GB, count: 1}]\nservices:\n"
        for name in ("a", "b"):
            text += (f"  - name: {name}\n    profile: {{format: csv, path: profiles.csv, model: {name}}}\n"
                     f"    slo: {{latency_ms: 400}}\n    arrivals: {{format: poisson, requests_per_second: {rate}, seconds: 300}}\n{floor}")
        path = self.folder / "scenario.yaml"
        path.write_text(text)
        return path

    def check(self, answer):
        self.assertLessEqual(answer["objective"], answer["bound"])
        gap = (answer["bound"] - answer["objective"]) / abs(answer["bound"])
        self.assertAlmostEqual(answer["gap"], gap, places=9)
        self.assertEqual(answer["proven"], answer["gap"] == 0)
        self.assertGreater(answer["expires_second"], answer["second"])
        for action in answer["actions"]:
            self.assertIn(action["type"], TYPES)
            reason = action["reason"]
            if action["type"] == "keep":
                self.assertGreaterEqual(reason["gain"], -1e-6)
                continue
            self.assertIn("what", reason["rejected"])
            if reason["gain"] is not None:
                self.assertGreaterEqual(reason["gain"], -1e-6)
                self.assertAlmostEqual(reason["gain"], answer["objective"] - reason["rejected"]["objective"], places=6)

    def test_from_the_layout_of_the_file(self):
        answer = self.answer(EXAMPLE / "scenario.yaml", "--at", 300)
        self.check(answer)
        standing = {(0, 4), (0, 0), (0, 2), (1, 4), (1, 0)}
        told = {(action["gpu"], action["start"]) for action in answer["actions"] if action["type"] in ("keep", "destroy", "assign")}
        self.assertLessEqual(standing, told)
        self.assertGreater(answer["promised_gain"], 0)
        self.assertLess(answer["objective_of_search"], answer["objective"])
        self.assertTrue([action for action in answer["actions"] if action["type"] != "keep"])
        self.assertNotIn("services", answer)
        self.assertNotIn("solve_ms", answer)
        self.assertNotIn("reasons_ms", answer)

    def test_explain_and_timings_add_to_the_same_plan(self):
        path = self.scenario(20)
        answer = self.answer(path, "--at", 100)
        self.check(answer)
        more = self.answer(path, "--at", 100, "--explain", "--timings")
        self.assertGreater(more.pop("solve_ms"), 0)
        self.assertGreater(more.pop("reasons_ms"), 0)
        services = more.pop("services")
        self.assertEqual([service["name"] for service in services], ["a", "b"])
        for service in services:
            self.assertGreater(service["forecast_requests_per_second"], 10)
            self.assertGreater(service["capacity_requests_per_second"], 0)
        self.assertEqual(more, answer)

    def test_same_bytes_twice(self):
        path = self.scenario(25)
        for form in ("json", "table"):
            runs = [plan(path, "--at", 50, "--explain", "--format", form).stdout for _ in range(2)]
            self.assertEqual(runs[0], runs[1])
            self.assertTrue(runs[0])

    def test_the_table_shortens_what_would_be_done_instead(self):
        arguments = (EXAMPLE / "scenario.yaml", "--at", 300)
        table = plan(*arguments).stdout.decode()
        long_ones = 0
        for action in self.answer(*arguments)["actions"]:
            steps = action["reason"].get("rejected", {"what": ""})["what"].split(", ")
            if len(steps) > 2:
                long_ones += 1
                self.assertIn(f"  {steps[0]}, {steps[1]} and {len(steps) - 2} more\n", table)
                self.assertNotIn(", ".join(steps[:3]), table)
        self.assertGreater(long_ones, 0)

    def test_floors_that_cannot_all_be_kept_are_named(self):
        floor = "    floor: {attainment: 0.99}\n"
        kept = self.answer(self.scenario(15, floor), "--at", 20)
        self.assertEqual((kept["conflict"], kept["floors_unmet"]), ([], None))
        path = self.scenario(45, floor)
        short = self.answer(path, "--at", 250)
        self.assertEqual(short["conflict"], ["a.floor", "b.floor"])
        self.assertEqual(short["floors_unmet"], {"because": "conflict", "minimal": True})
        table = plan(path, "--at", 250).stdout.decode()
        self.assertIn("not all floors can be met: a.floor and b.floor cannot all be met", table)

    def test_bad_input_is_told_and_nothing_is_printed(self):
        path = self.scenario(20)
        for arguments, wanted in [((path, "--at", "soon"), "--at"), ((path, "--at", 300), "before the end of the run"),
                                  ((self.folder / "none.yaml", "--at", 0), "none.yaml"),
                                  ((path, "--at", 0, "--format", "xml"), "--format")]:
            run = plan(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, b""))
            self.assertIn(wanted, run.stderr.decode())


if __name__ == "__main__":
    sys.exit(unittest.main())
