#!/usr/bin/env python3
"""What-if: the recording of a `berth up`, replayed: `berth replay --journal-in` and `berth journal scenario`."""

import datetime
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 300
SECONDS = 120

PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,2g.20gb,8,1,220,36
m,A100-80GB,3g.40gb,8,1,330,24
"""

SCENARIO = """berth: 1
fleet: [{gpu: A100-80GB, count: 1, usd_per_gpu_hour: 2}]
window_seconds: 20
observation_delay_seconds: 2
services:
  - {name: a, tenant: t, slo: {latency_ms: 100}, profile: {format: csv, path: profile.csv, model: m},
     arrivals: {format: rps-text, path: a.txt, from_second: 30, seconds: 120}, accuracy: {before: 0.6, after: 0.9},
     retraining: {every_seconds: 50, offset_seconds: 10, seconds_on: {1g: 20, 2g: 10}}}
  - {name: b, tenant: t, slo: {latency_ms: 100}, profile: {format: csv, path: profile.csv, model: m},
     arrivals: {format: poisson, requests_per_second: 250, seconds: 120}}
"""


def berth(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS)


def up(data, *words):
    run = berth("up", "--data", data, "--speed", "max", "--listen", "127.0.0.1:0", *words)
    assert run.returncode == 0, run.stderr
    return data


def figures(*words):
    run = berth("replay", "--format", "json", *words)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def without_names(policy):
    """The figures of a policy, without names."""
    services = [{key: value for key, value in service.items() if key != "name"} for service in policy["services"]]
    return {key: value for key, value in policy.items() if key not in ("name", "notes")} | {"services": services}


def of_policies(result, *names):
    return [next(policy for policy in result["policies"] if policy["name"] == name) for name in names]


def recorded_requests(data, from_second=0):
    """By sqlite3 alone: those that the rows of the journal count, from a second on."""
    with sqlite3.connect(f"file:{data}/journal.db?mode=ro", uri=True) as journal:
        bodies = [json.loads(body) for (body,) in journal.execute("SELECT body FROM journal WHERE kind = 'Seconds'")]
    return sum(count for body in bodies for second, count in enumerate(body["arrivals"], body["from_second"])
               if second >= from_second)


class WhatIf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "profile.csv").write_text(PROFILE)
        (cls.folder / "a.txt").write_text("".join(f"{40 + 60 * (second // 40)}\n" for second in range(150)))
        cls.scenario = cls.folder / "scenario.yaml"
        cls.scenario.write_text(SCENARIO)
        cls.data = up(cls.folder / "data", "--scenario", cls.scenario, "--until", "end")
        cls.demo = up(cls.folder / "demo", "--until", "240")

    def epoch(self, data):
        with sqlite3.connect(f"file:{data}/journal.db?mode=ro", uri=True) as journal:
            (body,) = journal.execute("SELECT body FROM journal WHERE kind = 'Opened'").fetchone()
        return json.loads(body)["epoch_us"]

    def time_at(self, second, data=None):
        at = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
        return (at + datetime.timedelta(microseconds=self.epoch(data or self.data) + 1_000_000 * second)).isoformat()

    def test_a_run_to_its_end_has_the_figures_of_its_scenario(self):
        original = figures(self.scenario, "--policies", "berth,static-even")
        again = figures("--journal-in", self.data)
        self.assertEqual([policy["name"] for policy in again["policies"]], ["recorded", "berth", "static-even"])
        self.assertEqual(again["simulated_seconds"], SECONDS)
        self.assertEqual([service["name"] for service in again["policies"][0]["services"]], ["t.a", "t.b"])
        recorded, planned, static = of_policies(again, "recorded", "berth", "static-even")
        first, second = map(without_names, of_policies(original, "berth", "static-even"))
        self.assertEqual(without_names(recorded), first)
        self.assertEqual(without_names(planned), first)
        self.assertEqual(without_names(static), second)
        self.assertEqual(again["bound"], original["bound"])

    def test_the_scenario_that_is_written_has_the_same_figures(self):
        out = self.folder / "out"
        window = ("--from", self.time_at(30), "--to", self.time_at(100))
        run = berth("journal", "scenario", self.data, *window, "-o", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("70 s, 2 services", run.stdout)
        policies = ("--policies", "berth,static-even,fixed")
        written = figures(out / "scenario.yaml", *policies)
        read = figures("--journal-in", self.data, *window, *policies)
        self.assertEqual(written.pop("scenario"), str(out / "scenario.yaml"))
        self.assertEqual(read.pop("scenario"), str(self.data))
        self.assertEqual(written, read)
        self.assertIn("# the policies begin with a layout of their own", (out / "scenario.yaml").read_text())

    def test_every_request_comes_once(self):
        for data in (self.data, self.demo):
            result = figures("--journal-in", data, "--policies", "recorded")
            self.assertEqual(result["policies"][0]["requests"], recorded_requests(data))
        parts = [figures("--journal-in", self.data, "--policies", "recorded", "--from", self.time_at(begin), "--to",
                         self.time_at(end))["policies"][0]["requests"] for begin, end in ((0, 45), (45, SECONDS))]
        self.assertEqual(sum(parts), recorded_requests(self.data))

    def test_the_planner_does_on_the_demo_what_it_did(self):
        recorded, planned = figures("--journal-in", self.demo, "--policies", "recorded,berth")["policies"]
        self.assertEqual(recorded["requests"], planned["requests"])
        self.assertLess(abs(recorded["goodput"] - planned["goodput"]), 0.02 * recorded["goodput"])

    def test_more_gpus_help(self):
        with_more = figures("--journal-in", self.data, "--policies", "recorded,berth", "--add-gpus", "A100-80GB=1")
        without = figures("--journal-in", self.data, "--policies", "recorded,berth")
        self.assertEqual(with_more["policies"][0], without["policies"][0])
        self.assertGreater(with_more["policies"][1]["goodput"], without["policies"][1]["goodput"])
        self.assertAlmostEqual(with_more["cost_micro_usd_fleet"], 2 * without["cost_micro_usd_fleet"], delta=1)

    def test_each_policy_has_a_row_on_the_recorded_fleet_beside_the_larger_one(self):
        journal = self.folder / "more.jsonl"
        words = ("--journal-in", self.data, "--add-gpus", "A100-80GB=1")
        with_more = figures(*words, "--journal", journal)
        without = figures("--journal-in", self.data)
        names = ["recorded", "berth", "berth (recorded fleet)", "static-even", "static-even (recorded fleet)"]
        self.assertEqual([policy["name"] for policy in with_more["policies"]], names)
        fleets = [(policy.get("gpus_fleet"), policy.get("cost_micro_usd_fleet")) for policy in with_more["policies"]]
        one, two = without["cost_micro_usd_fleet"], with_more["cost_micro_usd_fleet"]
        self.assertEqual(fleets, [(None, None), (2, two), (1, one), (2, two), (1, one)])
        for name in ("berth", "static-even"):
            (again,), (alone,) = of_policies(with_more, name + " (recorded fleet)"), of_policies(without, name)
            again = {key: value for key, value in again.items() if key not in ("gpus_fleet", "cost_micro_usd_fleet")}
            self.assertEqual(without_names(again), without_names(alone))
        records = [json.loads(line) for line in journal.read_text().splitlines()]
        self.assertEqual(list(dict.fromkeys(record["policy"] for record in records)), names)
        self.assertEqual({record["gpu"] for record in records if record["policy"] == names[2] and "gpu" in record}, {0})
        table = berth("replay", *words, "--policies", "berth", "--report", self.folder / "more")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertRegex(table.stdout, r"\nberth +2 +\$0.13\d* .*\nberth +1 +\$0.06\d* ")
        self.assertRegex(table.stdout, r"berth with 1 more GPU: \S+ in time instead of \S+, goodput .*, for \$0.06\d* more")
        self.assertIn("berth (recorded fleet)", (self.folder / "more/index.html").read_text())

    def test_a_late_window_needs_no_early_rows(self):
        endless = self.folder / "endless.yaml"
        endless.write_text(SCENARIO.replace("seconds: 120}", "seconds: 120, repeat: true}") + "history_seconds: 60\n")
        data = up(self.folder / "long", "--scenario", endless, "--until", "100")
        up(data, "--until", "800")  # the first process has left a snapshot
        window = ("--from", self.time_at(750, data), "--policies", "recorded,berth")
        late = figures("--journal-in", data, *window)
        self.assertEqual(late["simulated_seconds"], 50 - 2)  # without what the observation delay holds back
        with sqlite3.connect(data / "journal.db") as journal:
            journal.execute("UPDATE journal SET wall_us = wall_us + 1 WHERE sequence = 10")
        journal.close()
        self.assertEqual(figures("--journal-in", data, *window), late)
        run = berth("replay", "--journal-in", data, "--from", self.time_at(699, data))
        self.assertEqual(run.returncode, 1)
        self.assertIn("row 10", run.stderr)
        self.assertEqual(late["policies"][0]["requests"], recorded_requests(data, 750))

    def test_bad_words_are_refused(self):
        late, early = self.time_at(90), self.time_at(30)
        cases = [
            (["--from", "yesterday"], '--from: wanted a time of RFC 3339'),
            (["--from", late, "--to", early], "wanted --from at least a second before --to"),
            (["--from", late, "--to", late], "wanted --from at least a second before --to"),
            (["--from", "2001-01-01T00:00:00Z"], "--from: wanted a time that is recorded"),
            (["--to", self.time_at(SECONDS + 2)], "--to: wanted a time that is recorded"),
            (["--policies", "recorded,best"], 'found "best"'),
            (["--add-gpus", "A100-80GB"], "--add-gpus: wanted MODEL=COUNT"),
            (["--add-gpus", "A101=1"], '--add-gpus: wanted a GPU, found "A101"'),
            (["--add-gpus", "A100-80GB=0"], "--add-gpus: wanted a count of at least 1"),
            (["--add-gpus", "A100-80GB=x"], "--add-gpus: wanted a whole number"),
            (["--add-gpus", "A100-80GB=100000"], "--add-gpus: wanted at most 100000 GPUs in all"),
            ([str(self.scenario)], "wanted either SCENARIO or --journal-in"),
        ]
        for words, message in cases:
            with self.subTest(words=words):
                run = berth("replay", "--journal-in", self.data, *words)
                self.assertEqual(run.returncode, 2)
                self.assertEqual(run.stdout, "")
                self.assertIn(message, run.stderr)
        for words, message in [(["--journal-in", self.folder], "which has no journal.db"), ([], "found neither"),
                               ([self.scenario, "--from", early], "--from: wanted --journal-in, too"),
                               ([self.scenario, "--policies", "recorded"], 'found "recorded"')]:
            with self.subTest(words=words):
                run = berth("replay", *words)
                self.assertEqual(run.returncode, 2)
                self.assertIn(message, run.stderr)
        run = berth("journal", "scenario", self.folder, "-o", self.folder / "nothing")
        self.assertEqual(run.returncode, 2)
        self.assertFalse((self.folder / "nothing").exists())


if __name__ == "__main__":
    unittest.main()
