#!/usr/bin/env python3
"""`berth spot` end to end: the example, zones, the lines of --runs recomputed, bad input."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shared"))
from terminal import without_progress  # noqa: E402

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/buying/windows.jsonl"
POLICIES = ["on-demand", "greedy", "uniform-progress", "optimal", "berth"]
DEADLINE_SECONDS = 300
TASK_SECONDS = 48 * 3600


def spot(*arguments):
    return subprocess.run([PROGRAM, "spot", *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False)


def line(series="a", window="0", ticks="0" * 432, gap=600):
    return json.dumps({"series": series, "window": window, "gap_seconds": gap, "unavailable": ticks}) + "\n"


def recount(run, window, gap):
    """Ticks of spot and on demand, restarts, and whether it was missed, from the decisions of a line."""
    restart, done, held, switches = 0, 0, "n", 0
    for tick, now in enumerate(run["decisions"]):
        before = "n" if held == "s" and window[tick] == "1" else held
        if now != "n" and now != before:
            restart, switches = run["restart_s"], switches + 1
        if now != "n":
            done, restart = done + max(gap - restart, 0), max(restart - gap, 0)
        held = now
    assert done >= TASK_SECONDS, (done, run)
    return (run["decisions"].count("s"), run["decisions"].count("o"), switches,
            len(run["decisions"]) * gap > run["deadline_s"])


class Spot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def windows(self, *lines):
        path = self.folder / "windows.jsonl"
        path.write_text("".join(lines))
        return path

    def answer(self, *arguments):
        run = spot(*arguments, "--format", "json")
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, ""))
        return {each["policy"]: each for each in json.loads(run.stdout)["policies"]}

    def test_fine_ticks_take_little_memory(self):
        """2,250 ticks of 32 s with thousands of states each, for which a table of paths would take 1.2 GB."""
        ticks = "".join("1" if (tick // 112) % 5 == 4 else "0" for tick in range(3_000))
        path = self.windows(line(ticks=ticks, gap=32))
        arguments = ["--windows", path, "--policies", "optimal", "--task-hours", 18, "--deadline-hours", 20,
                     "--restart-hours", 0.1, "--format", "json"]
        limit = 400 << 20
        run = subprocess.run([PROGRAM, "spot", *map(str, arguments)], capture_output=True, text=True, check=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, ""))
        optimal = json.loads(run.stdout)["policies"][0]
        self.assertEqual((optimal["missed"], optimal["total_micro_usd"]), (0, 23_986_802))

    def refused(self, *arguments):
        run = spot(*arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        return run.stderr.removeprefix("berth: ").rstrip("\n")

    def test_the_example_counted_again(self):
        path = self.folder / "runs.jsonl"
        answer = self.answer("--windows", EXAMPLE, "--runs", path)
        self.assertEqual(list(answer), POLICIES)
        windows = {(each["series"], each["window"]): each for each in map(json.loads, EXAMPLE.read_text().splitlines())}
        counted = {policy: [0, 0, 0, 0, 0] for policy in POLICIES}
        for run in map(json.loads, path.read_text().splitlines()):
            window = windows[run["series"], run["window"]]
            ticks = (*recount(run, window["unavailable"], window["gap_seconds"]), 1)
            counted[run["policy"]] = [a + b for a, b in zip(counted[run["policy"]], ticks, strict=True)]
        for policy, (on_spot, on_demand, switches, missed, runs) in counted.items():
            found = answer[policy]
            self.assertEqual((found["runs"], found["switches"], found["missed"]), (runs, switches, missed))
            micro_usd = Fraction(on_spot * 973_100 + on_demand * 3_060_000, 6)
            self.assertEqual(found["total_micro_usd"], round(micro_usd))
            self.assertEqual(found["average_usd"], f"{float(micro_usd / runs / 10**6):.10f}")
            self.assertEqual(sum(group["runs"] for group in found["groups"]), runs)
        costs = {policy: found["total_micro_usd"] for policy, found in answer.items()}
        self.assertEqual(min(costs, key=costs.get), "optimal")
        self.assertLess(costs["berth"], costs["uniform-progress"])
        self.assertEqual(answer["berth"]["missed"], 0)
        self.assertEqual([each["hindsight"] for each in answer.values()], [False, False, False, True, False])

    def test_zones_together_are_one_market(self):
        path = self.folder / "runs.jsonl"
        apart = self.answer("--windows", EXAMPLE, "--policies", "berth,optimal")
        together = self.answer("--windows", EXAMPLE, "--policies", "berth,optimal", "--zones", "together", "--runs", path)
        self.assertEqual(together["berth"]["runs"] * 3, apart["berth"]["runs"])
        self.assertLess(float(together["optimal"]["average_usd"]), float(apart["optimal"]["average_usd"]))
        for run in map(json.loads, path.read_text().splitlines()):
            self.assertEqual((run["series"], len(run["zones"])), ("", run["decisions"].count("s")))

    def test_a_table_says_what_to_do(self):
        run = spot("--windows", EXAMPLE, "--policies", "on-demand,optimal,berth", "--restart-hours", "0.05")
        self.assertEqual(run.returncode, 0)
        self.assertIn("optimal (hindsight)", run.stdout)
        self.assertRegex(run.stdout, r"Run such jobs by berth: \$[0-9.]+ a run, [0-9.]+% less than on demand")
        self.assertIn("0 of 24 deadlines missed", run.stdout.replace("\n  ", " "))

    def test_bad_input_writes_nothing(self):
        good, runs, report = self.windows(line()), self.folder / "runs.jsonl", self.folder / "page"
        for words, message in [
                (["--restart-hours", "0.0001"], "--restart-hours: wanted a number of hours up to 100000 that is a whole number of "
                                                'seconds, found "0.0001"'),
                (["--deadline-hours", "48"], "--deadline-hours: wanted at least the task and a restart (172800 s + 360 s), found "
                                             "172800 s"),
                (["--deadline-hours", "52,52.0"], "--deadline-hours: wanted each once, found 187200 s twice"),
                (["--deadline-hours", "73"], "window \"0\" of \"a\": wanted at least the deadline, 262800 s, found 432 ticks of "
                                             "600 s"),
                (["--policies", "berht"], "berht"),
                (["--spot", "0.00000001"], "--spot: wanted dollars per hour above 0"),
                (["--zones", "both"], '--zones: wanted apart or together, found "both"'),
                (["--format", "yaml"], '--format: wanted table or json, found "yaml"')]:
            self.assertIn(message, self.refused("--windows", good, "--runs", runs, "--report", report, *words))
        for text, message in [(line(ticks="01x"), "unavailable: wanted 0 and 1 only, found \"x\" as character 3"),
                              (line() + line(), ":2:1: wanted each window of a series once"), ("", "wanted at least one window")]:
            self.assertIn(message, self.refused("--windows", self.windows(text), "--runs", runs, "--report", report))
        self.assertIn("--report: wanted a folder", self.refused("--windows", good, "--report", ""))
        self.assertFalse(runs.exists() or report.exists())


if __name__ == "__main__":
    unittest.main()
