#!/usr/bin/env python3
"""`berth plan` end to end: the parts of the answer and their consistency, the same bytes twice, conflicts, bad input."""

import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "tests/planner"))
sys.path.insert(0, str(ROOT / "src/surface/cli/shared"))
import large_fleets  # noqa: E402
from terminal import without_progress  # noqa: E402

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
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, b""))
        return json.loads(run.stdout)

    def scenario(self, rate, floor=""):
        """One GPU, two services, profiles in whole tenths."""
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
            self.assertIn("cost_of_change", reason)
            self.assertEqual(reason["of"], "action" if "gain" in reason else "gpu")
            if "gain" not in reason:
                self.assertNotIn("rejected", reason)
                continue
            self.assertIn("what", reason["rejected"])
            if reason["gain"] is None:
                continue
            self.assertAlmostEqual(reason["gain"], answer["objective"] - reason["rejected"]["objective"], places=6)
            if reason["gain_of_gpu"] is not None:
                self.assertLessEqual(reason["gain"], reason["gain_of_gpu"] + 1e-6)
            if reason["gain"] < -1e-6:
                self.assertGreaterEqual(answer["better_found"], reason["rejected"]["objective"] - 1e-6)
        changing = [action for action in answer["actions"] if action["type"] != "keep"]
        computed = [action for action in changing if "gain" in action["reason"]]
        self.assertEqual(answer["reasons"]["computed"], len(computed))
        self.assertEqual(answer["reasons"]["not_computed"], len(changing) - len(computed))
        if "better_found" in answer:
            self.assertGreater(answer["better_found"], answer["objective"])
            self.assertLessEqual(answer["better_found"], answer["bound"])

    def test_from_the_layout_of_the_file(self):
        answer = self.answer(EXAMPLE / "scenario.yaml", "--at", 300)
        self.check(answer)
        standing = {(0, 4), (0, 0), (0, 2), (1, 4), (1, 0)}
        reported = {(action["gpu"], action["start"]) for action in answer["actions"] if action["type"] in ("keep", "destroy", "assign")}
        self.assertLessEqual(standing, reported)
        self.assertGreater(answer["promised_gain"], 0)
        self.assertTrue([action for action in answer["actions"] if action["type"] != "keep"])
        self.assertNotIn("services", answer)
        self.assertNotIn("solve_ms", answer)
        self.assertNotIn("reasons_ms", answer)

    def test_reasons_of_some_steps_or_of_all(self):
        arguments = (EXAMPLE / "scenario.yaml", "--at", 300)
        every = self.answer(*arguments, "--reasons", "all")
        self.check(every)
        self.assertEqual(every["reasons"]["not_computed"], 0)
        self.assertTrue(every["reasons"]["are_largest"])
        changing = [action for action in every["actions"] if action["type"] != "keep"]
        for count in (0, 1, 5):
            some = self.answer(*arguments, "--reasons", count)
            self.check(some)
            self.assertEqual(some["reasons"]["computed"], count)
            self.assertLessEqual(some["reasons"]["what_ifs"], 2 * count)
            # The same plan, step by step; only reasons are absent.
            for key in ("objective", "bound", "nodes", "promised_gain"):
                self.assertEqual(some[key], every[key])
            self.assertEqual([{**action, "reason": 0} for action in some["actions"]],
                             [{**action, "reason": 0} for action in every["actions"]])
        table = plan(*arguments, "--reasons", 5).stdout.decode()
        self.assertIn(f"reasons were computed for 5 of {len(changing)} steps", table)
        self.assertNotIn("reasons were computed for", plan(*arguments, "--reasons", "all").stdout.decode())

    def test_a_better_plan_is_a_remark(self):
        """If searches without a step find a better plan than the engine's, the engine's plan is still the answer."""
        found = 0
        for second in (300, 600):
            arguments = (EXAMPLE / "scenario.yaml", "--at", second)
            answer = self.answer(*arguments, "--reasons", "all")
            none = self.answer(*arguments, "--reasons", 0)
            self.assertNotIn("better_found", none)
            self.assertEqual(none["objective"], answer["objective"])
            table = plan(*arguments, "--reasons", "all").stdout.decode()
            self.assertEqual("a better plan was found" in table, "better_found" in answer)
            found += "better_found" in answer
        self.assertGreater(found, 0)

    def test_the_plan_is_the_one_that_a_replay_carries_out(self):
        text = (EXAMPLE / "scenario.yaml").read_text()
        path = self.folder / "scenario.yaml"
        path.write_text(text[:text.index("layout:")] + text[text.index("services:"):])
        for name in EXAMPLE.iterdir():
            if name.name != "scenario.yaml" and name.is_file():
                (self.folder / name.name).write_bytes(name.read_bytes())
        journal = self.folder / "journal.jsonl"
        run = subprocess.run([PROGRAM, "replay", path, "--policies", "berth", "--journal", journal], capture_output=True,
                             timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 0)
        drained = {}  # slices that are destroyed or get another owner stop serving when the plan takes effect
        for line in map(json.loads, journal.read_text().splitlines()):
            if line["type"] == "draining":
                drained.setdefault(line["t_us"], set()).add((line["gpu"], line["profile"], line["start"]))
        period_us = 5_000_000
        seconds = [us // 1_000_000 for us in sorted(drained) if us % period_us == 0][:4]
        self.assertEqual(len(seconds), 4)
        for second in seconds:
            actions = self.answer(path, "--at", second, "--reasons", 0)["actions"]
            now = {kind: {(action["gpu"], action["profile"], action["start"]) for action in actions
                          if action["type"] == kind and action["at_second"] == second}
                   for kind in ("create", "destroy", "assign")}
            self.assertEqual(now["destroy"] | (now["assign"] - now["create"]), drained[second * 1_000_000], second)

    def test_a_large_fleet_is_answered_soon_and_shows_progress(self):
        """Reasons examine only the GPUs that a step affects, so their time hardly depends on the size of the fleet."""
        path = large_fleets.scenario(self.folder / "fleet", "--gpus", "A100-80GB=120,H100-80GB-SXM5=60,L4-24GB=20",
                                     "--services", "30", "--seconds", "300")
        terminal, child_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        run = subprocess.Popen([PROGRAM, "plan", path, "--at", "60", "--explain", "--format", "json"], stderr=child_end,
                               stdout=subprocess.PIPE, env={**os.environ, "TERM": "xterm"})
        os.close(child_end)
        answer = json.loads(run.communicate(timeout=DEADLINE_SECONDS)[0])
        self.check(answer)
        self.assertEqual(answer["reasons"]["computed"], 20)
        self.assertLessEqual(answer["reasons"]["what_ifs"], 40)
        self.assertGreater(answer["reasons"]["not_computed"], 500)
        self.assertEqual(len(answer["services"]), 30)
        # With this many services a search considers only a few of them, so it has no bound.
        self.assertEqual({action["reason"]["gain_slack"] for action in answer["actions"]
                          if "gain" in action["reason"] and action["type"] != "keep"}, {None})
        drawn = os.read(terminal, 1 << 16).decode()
        for part in ("plan ", "reasons ", "1/2", "2/2"):
            self.assertIn(part, drawn)

    def test_pinned_slices_of_the_first_layout_are_steps(self):
        """They exist from the first layout on, even on GPUs that no service gains by."""
        path = self.scenario(2)
        pins = "    pins: [{gpu: 1, profile: 1g.10gb, start: 6}, {gpu: 2, profile: 2g.20gb, start: 4}]\n"
        path.write_text(path.read_text().replace("count: 1", "count: 3") + pins)
        answer = self.answer(path, "--at", 0)
        self.check(answer)
        steps = {(action["type"], action["gpu"], action["profile"], action["start"], action["service"]) for action in answer["actions"]}
        for gpu, profile, start in ((1, "1g.10gb", 6), (2, "2g.20gb", 4)):
            for step in ("create", "assign"):
                self.assertIn((step, gpu, profile, start, "b"), steps)

    def test_an_interrupt_ends_it_while_reasons_are_computed(self):
        path = large_fleets.scenario(self.folder / "fleet", "--gpus", "A100-80GB=120", "--services", "30", "--seconds", "300")
        terminal, child_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        run = subprocess.Popen([PROGRAM, "plan", path, "--at", "60", "--reasons", "all"], stderr=child_end,
                               stdout=subprocess.PIPE, env={**os.environ, "TERM": "xterm"})
        os.close(child_end)
        drawn = b""
        while b"reasons" not in drawn:
            drawn += os.read(terminal, 1 << 16)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.communicate(timeout=DEADLINE_SECONDS)[0], b"")
        self.assertEqual(run.returncode, 130)

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

    def test_a_word_that_should_be_a_subcommand_is_named(self):
        run = plan("histroy", "--data", self.folder)
        self.assertEqual((run.returncode, run.stdout), (2, b""))
        self.assertRegex(run.stderr.decode(), r'^berth: wanted with --data one of .*history.*, found "histroy"; did you mean history\?\n')

    def test_bad_input_is_reported_and_nothing_is_printed(self):
        path = self.scenario(20)
        for arguments, wanted in [((path, "--at", "soon"), "--at"), ((path, "--at", 300), "before the end of the run"),
                                  ((self.folder / "none.yaml", "--at", 0), "none.yaml"),
                                  ((path, "--at", 0, "--format", "xml"), "--format"),
                                  ((path, "--at", 0, "--reasons", "some"), "--reasons"),
                                  ((path, "--at", 0, "--reasons", "-1"), "--reasons")]:
            run = plan(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, b""))
            self.assertIn(wanted, run.stderr.decode())


if __name__ == "__main__":
    sys.exit(unittest.main())
