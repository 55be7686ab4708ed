#!/usr/bin/env python3
"""`berth journal usage`: what a `berth up` has recorded as events of a ledger, against `GET /v1/usage`, which an oracle
here divides by itself; over kills, restarts and windows."""

import datetime
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from collections import Counter
from fractions import Fraction
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 300
GPUS = 4
HOUR_US = 3_600_000_000
MICRO_USD_PER_HOUR = 3_673_001
SLICES = {"1g.10gb": (1, 8), "2g.20gb": (2, 16), "3g.40gb": (4, 28), "full": (8, 56)}  # units and weight of 56

PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,2g.20gb,8,1,220,36
m,A100-80GB,3g.40gb,8,1,330,24
"""

SCENARIO = f"""berth: 1
fleet: [{{gpu: A100-80GB, count: {GPUS}, usd_per_gpu_hour: 3.673001}}]
window_seconds: 20
services:
  - {{name: a, tenant: red, slo: {{latency_ms: 100}}, profile: {{format: csv, path: profile.csv, model: m}},
     arrivals: {{format: rps-text, path: a.txt, from_second: 30, seconds: 120}}, accuracy: {{before: 0.6, after: 0.9}},
     retraining: {{every_seconds: 50, offset_seconds: 10, seconds_on: {{1g: 20, 2g: 10}}}}}}
  - {{name: b, tenant: blue, slo: {{latency_ms: 100}}, profile: {{format: csv, path: profile.csv, model: m}},
     arrivals: {{format: poisson, requests_per_second: 250, seconds: 120}}}}
"""


def berth(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False)


def write_scenario(folder, text=SCENARIO):
    folder.mkdir()
    (folder / "profile.csv").write_text(PROFILE)
    (folder / "a.txt").write_text("".join(f"{40 + 400 * (second // 40 % 2)}\n" for second in range(150)))
    (folder / "scenario.yaml").write_text(text)
    return folder / "scenario.yaml"


def micros(text):
    """The microseconds of an RFC 3339 time with six decimals."""
    at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")
    since = at - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def text_of(unix_us):
    """The inverse of `micros`."""
    at = datetime.datetime.fromtimestamp(0, datetime.timezone.utc) + datetime.timedelta(microseconds=unix_us)
    return at.isoformat()


def events_of(path, kind):
    return [event for event in map(json.loads, Path(path).read_text().splitlines()) if event["type"] == kind]


def times_of_report(report):
    """GPU microseconds by tenant, service and role."""
    times = Counter()
    for month in report["months"]:
        for row in month["rows"]:
            times[row["tenant"], row["service"], row["role"]] += row["gpu_us"]
    return times


def keys_of(interval):
    """Who pays for it: (tenant, service, role), for each of the holders; none: it is idle, or stranded."""
    if interval["state"] == "held":
        return [(holder["tenant"], holder["service"], interval["role"]) for holder in interval["holders"]]
    return {"changing": [("", "", "reconfiguration")], "foreign": [("foreign", "foreign", "reserved")],
            "lost": [("", "", "lost")], "free": []}[interval["state"]]


def weight_of(interval):
    """The weight of a slice; for the rest of one that waits for others to leave, and for a lost GPU, 7 of 56 per unit."""
    units, weight = SLICES.get(interval["profile"], (0, 0))
    return weight if interval["units"] == units else 7 * interval["units"]


def times_of_usage(items):
    """The same from the lists of the API: the uses of each piece by weight, all else as idle."""
    times = Counter()
    by_gpu = {}
    for item in items:
        item["span"] = micros(item["from"]), micros(item["to"])
        by_gpu.setdefault(item["gpu"], []).append(item)
    for intervals in by_gpu.values():
        borders = sorted({border for item in intervals for border in item["span"]})
        for begin, end in zip(borders, borders[1:]):
            uses = []
            for item in intervals:
                if not item["span"][0] <= begin < item["span"][1]:
                    continue
                keys = keys_of(item)
                uses += [(key, Fraction(weight_of(item), len(keys))) for key in keys]
            whole = max(56, sum(weight for _, weight in uses))
            for key, weight in uses:
                times[key] += (end - begin) * weight / whole
            times["idle"] += (end - begin) * (1 - Fraction(sum(weight for _, weight in uses)) / whole)
    return times


class JournalUsage(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.data = self.folder / "data"
        self.process = None
        self.addCleanup(self.kill)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
            self.process = None

    def start(self, *words):
        self.process = subprocess.Popen([PROGRAM, "up", *map(str, words), "--data", self.data, "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("ready "), line)
        self.address = line.split()[1]

    def run_up(self, *words):
        run = berth("up", *words, "--data", self.data, "--listen", "127.0.0.1:0")
        self.assertEqual(run.returncode, 0, run.stderr)

    def get(self, path):
        key = (self.data / "admin.key").read_text().strip()
        request = urllib.request.Request(self.address + path, headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())

    def usage(self, until):
        """All pages, up to an instant."""
        items, path = [], "v1/usage?limit=500&to=" + urllib.parse.quote(until)
        while True:
            answer = self.get(path)
            items += answer["items"]
            token = answer["metadata"]["continue"]
            if not token:
                return items
            path = f"v1/usage?limit=500&to={urllib.parse.quote(until)}&continue={urllib.parse.quote(token)}"

    def wait_for(self, condition):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def wait_seconds_of_the_world(self, seconds):
        until = micros(self.get("v1/status")["time"]) + seconds * 1_000_000
        self.wait_for(lambda: micros(self.get("v1/status")["time"]) >= until)

    def fault(self, *words):
        run = berth("sim", "fault", *words, "--data", self.data)
        self.assertEqual(run.returncode, 0, run.stderr)

    def export(self, name, *words):
        path = self.folder / name
        run = berth("journal", "usage", self.data, "--out", path, *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = path.read_text().count("\n")
        self.assertTrue(run.stdout.startswith(f"{path}: {lines} lines, "), run.stdout)
        return path

    def report(self, *words, duplicates=0):
        run = berth("ledger", "report", *words, "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["accepted"] + duplicates, report["lines"])
        self.assertEqual((report["duplicates"], report["conflicts"], report["overlaps"]), (duplicates, 0, 0))
        self.assertEqual((report["unpriced_us"], report["unbacked_us"]), (0, 0))
        return report

    def assert_adds_up(self, path):
        """The rows are the cost of the GPUs, to the grain."""
        report = self.report("--events", path)
        gpu_us = sum(gpu["to_us"] - gpu["from_us"] for gpu in events_of(path, "gpu"))
        self.assertEqual(sum(times_of_report(report).values()), gpu_us)
        grains = sum(int(row["grains"]) for month in report["months"] for row in month["rows"])
        self.assertEqual(grains, gpu_us * MICRO_USD_PER_HOUR)
        self.assertEqual(grains, int(report["grains"]))
        self.assertEqual(grains, report["micro_usd"] * 3_600_000_000 + int(report["carried_grains"]))
        return report, gpu_us

    def assert_is_usage(self, path, items):
        """The times of a file that covers these intervals; each cell may round them by a microsecond."""
        report, gpu_us = self.assert_adds_up(path)
        self.assertEqual(gpu_us, GPUS * (max(micros(item["to"]) for item in items) -
                                         min(micros(item["from"]) for item in items)))
        times = times_of_report(report)
        wanted = times_of_usage(items)
        cells = len(events_of(path, "gpu"))
        lost = wanted.pop(("", "", "lost"), 0)
        stranded = times.pop(("", "", "stranded"), 0)
        self.assertLessEqual(abs(wanted.pop("idle") + lost - times.pop(("", "", "idle"), 0) - stranded), cells)
        self.assertGreaterEqual(stranded + cells, lost)
        self.assertEqual(times.keys(), wanted.keys())
        for key, time_us in times.items():
            self.assertLessEqual(abs(time_us - wanted[key]), cells, key)
        return times

    def assert_ends_at_one_instant(self, path):
        """The instant."""
        ends = {}
        for gpu in events_of(path, "gpu"):
            ends[gpu["gpu"]] = max(gpu["to_us"], ends.get(gpu["gpu"], 0))
        self.assertEqual((len(ends), len(set(ends.values()))), (GPUS, 1), ends)
        return ends["gpu-0"]

    def test_a_running_world_that_is_killed(self):
        scenario = write_scenario(self.folder / "scenario",
                                  SCENARIO.replace("seconds: 120}", "seconds: 120, repeat: true}"))
        self.start("--scenario", scenario, "--speed", "40")
        self.fault("foreign_slice", "gpu-3", "--profile", "1g.10gb", "--start", "6")
        self.wait_seconds_of_the_world(50)
        self.fault("lose", "gpu-2")
        self.wait_seconds_of_the_world(10)
        self.fault("return", "gpu-2")
        self.wait_seconds_of_the_world(20)
        # It ends for all GPUs at one instant, the latest recorded, also while the server runs.
        before = micros(self.get("v1/status")["time"])
        self.wait_for(lambda: self.assert_ends_at_one_instant(self.export("now.jsonl", "--to", "now")) >= before)
        for name, words in (("all.jsonl", ()), ("now.jsonl", ("--to", "now"))):
            self.assert_ends_at_one_instant(self.export(name, *words))
        self.kill()
        cut = self.export("killed.jsonl")
        self.assertEqual(cut.read_bytes(), self.export("now.jsonl", "--to", "now").read_bytes())
        self.assert_ends_at_one_instant(cut)
        self.start("--speed", "40")
        self.fault("lose", "gpu-0")
        self.wait_seconds_of_the_world(40)
        self.fault("return", "gpu-0")
        self.wait_seconds_of_the_world(40)

        # Cut at an instant, it has everything that the API lists until then.
        until = self.get("v1/status")["time"]
        items = self.usage(until)
        self.wait_for(lambda: berth("journal", "usage", self.data, "--out", os.devnull, "--to", until).returncode == 0)
        times = self.assert_is_usage(self.export("cut.jsonl", "--to", until), items)
        self.assertLessEqual({("red", "a", "inference"), ("red", "a", "retraining"), ("blue", "b", "inference"),
                              ("", "", "reconfiguration"), ("foreign", "foreign", "reserved")}, times.keys())
        lost = [use for use in events_of(self.folder / "cut.jsonl", "use") if use["slice"] == "gpu-2:0-7"]
        self.assertEqual({(use["role"], use["weight"]) for use in lost}, {("stranded", 56)})
        self.assertGreaterEqual(sum(use["to_us"] - use["from_us"] for use in lost), 10_000_000)

        # A ledger on disk counts nothing twice, in whatever order files arrive.
        end = max(gpu["to_us"] for gpu in events_of(cut, "gpu"))
        first, second = cut, self.export("second.jsonl", "--from", text_of(end))
        self.assert_adds_up(second)
        ledger = self.folder / "ledger"
        for path in (first, second, second, first):
            run = berth("ledger", "ingest", "--ledger", ledger, "--events", path)
            self.assertEqual(run.returncode, 0, run.stderr)
        both = self.folder / "both.jsonl"
        both.write_bytes(first.read_bytes() + second.read_bytes())
        whole = self.report("--events", both, duplicates=1)  # the price
        in_ledger = berth("ledger", "report", "--ledger", ledger, "--format", "json")
        in_ledger = json.loads(in_ledger.stdout)
        self.assertEqual(in_ledger["months"], whole["months"])
        self.assertEqual((in_ledger["conflicts"], in_ledger["overlaps"]), (0, 0))

    def test_exports_to_full_hours_are_final(self):
        scenario = write_scenario(self.folder / "scenario")
        self.run_up("--scenario", scenario, "--speed", "max", "--until", "3700")
        first = self.export("first.jsonl", "--to", "hour")
        self.assertEqual(self.assert_ends_at_one_instant(first) % HOUR_US, 0)
        self.run_up("--speed", "max", "--until", "7400")
        second = self.export("second.jsonl", "--to", "hour")
        self.assertTrue(second.read_bytes().startswith(first.read_bytes()))
        self.assertEqual(self.assert_ends_at_one_instant(second), self.assert_ends_at_one_instant(first) + HOUR_US)
        self.assert_adds_up(second)

    def test_a_world_that_is_over_is_written_to_its_end(self):
        scenario = write_scenario(self.folder / "scenario")
        self.run_up("--scenario", scenario, "--speed", "max", "--until", "end")
        first = self.export("first.jsonl")
        _, gpu_us = self.assert_adds_up(first)
        self.assertEqual(gpu_us, GPUS * 120 * 1_000_000)
        self.run_up("--speed", "max", "--until", "end")
        self.assertEqual(self.export("second.jsonl").read_bytes(), first.read_bytes())
        self.assertEqual(self.export("first.jsonl").read_bytes(), first.read_bytes())

    def test_windows_one_behind_the_other_are_the_whole(self):
        scenario = write_scenario(self.folder / "scenario")
        self.run_up("--scenario", scenario, "--speed", "max", "--until", "110")
        begin = events_of(self.export("all.jsonl"), "price")[0]["from_us"]
        times = [text_of(begin + offset) for offset in (0, 33_333_333, 77_000_000, 110_000_000)]
        parts = [self.export(f"{number}.jsonl", "--from", from_, "--to", to)
                 for number, (from_, to) in enumerate(zip(times, times[1:]))]
        joined = self.folder / "joined.jsonl"
        joined.write_bytes(b"".join(path.read_bytes() for path in parts))
        report = self.report("--events", joined, duplicates=2)  # the price
        self.assertEqual(int(report["grains"]), GPUS * 110_000_000 * MICRO_USD_PER_HOUR)
        whole, _ = self.assert_adds_up(self.export("whole.jsonl", "--to", times[-1]))
        self.assertEqual(report["grains"], whole["grains"])
        self.assertEqual(self.report("--events", self.folder / "all.jsonl"), whole)

    def test_bad_words_are_refused(self):
        scenario = write_scenario(self.folder / "scenario")
        self.run_up("--scenario", scenario, "--speed", "max", "--until", "20")
        out = self.folder / "out.jsonl"
        begin = events_of(self.export("all.jsonl"), "price")[0]["from_us"]
        early = text_of(begin + 5_000_000)
        for words, message in [
                ([self.folder, "--out", out], "which has no journal.db"),
                ([self.data], "--out is required"),
                ([self.data, "--out", ""], "--out: wanted a file"),
                ([self.data, "--out", out, "--from", "yesterday"], "--from: wanted a time of RFC 3339, such as "),
                ([self.data, "--out", out, "--to", "Now"], ", or now or hour, found "),
                ([self.data, "--out", out, "--from", "now"], "--from: wanted a time of RFC 3339, such as "),
                ([self.data, "--out", out, "--to", "2000-01-01T00:00:00Z"], "--to: wanted a time that is recorded, "),
                ([self.data, "--out", out, "--from", "2090-01-01T00:00:00Z"], "--from: wanted a time that is recorded, "),
                ([self.data, "--out", out, "--from", early, "--to", early], "wanted --from before --to, found "),
        ]:
            with self.subTest(words=words):
                run = berth("journal", "usage", *words)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(message, run.stderr)
                self.assertFalse(out.exists())
        run = berth("journal", "usage", self.data, "--out", self.folder / "none" / "out.jsonl")
        self.assertEqual((run.returncode, run.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
