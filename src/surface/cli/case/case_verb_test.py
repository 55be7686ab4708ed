#!/usr/bin/env python3
"""`berth case` end to end: every step recomputed from its journal, options, bad input, interrupts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shared"))
from terminal import run_on_terminal, without_progress

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/buying/scenario.yaml"
STEPS = ["whole-peak", "whole-tracking", "slices", "reconfiguration", "scaling", "commitments"]
HINDSIGHT = [True, True, True, True, False, True]
KEYS = ["name", "hindsight", "holds", "how", "gpus_mean", "gpus_max", "gpu_seconds", "cost_micro_usd",
        "cost_micro_usd_per_million_in_time", "requests", "in_time", "slo_attainment_worst_service", "utilisation",
        "saves_of_first", "saves_of_second"]
PRICE = 3_673_000  # micro-dollars per GPU-hour, of the example
COMMITTED = 2_314_000
SECONDS = 2400
HOUR_US = 3_600_000_000
DEADLINE_SECONDS = 400


def case(*arguments, attainment="0.99"):
    return subprocess.run([PROGRAM, "case", *map(str, arguments), "--attainment", attainment], capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS, check=False)


class Run:
    """The journal of one step."""

    def __init__(self, path):
        self.counts = []  # (microsecond, GPUs from then on)
        self.on, self.slices_on = {}, defaultdict(set)
        self.requests, self.in_time = defaultdict(int), defaultdict(int)
        self.profiles = set()
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            assert row["policy"] == path.stem
            getattr(self, row["type"], lambda row: None)(row)

    def gpu_on(self, row):
        assert row["gpu"] not in self.on
        self.on[row["gpu"]] = row["t_us"]
        self.counts.append((row["t_us"], len(self.on)))

    def gpu_off(self, row):
        assert not self.slices_on[row["gpu"]], "a GPU is given back with slices on it"
        del self.on[row["gpu"]]
        self.counts.append((row["t_us"], len(self.on)))

    def slice_created(self, row):
        since = self.on[row["gpu"]]
        assert since == 0 or row["t_us"] >= since + 60_000_000, "a slice on a GPU that is not there yet"
        self.slices_on[row["gpu"]].add((row["profile"], row["start"]))
        self.profiles.add(row["profile"])

    def slice_destroyed(self, row):
        self.slices_on[row["gpu"]].remove((row["profile"], row["start"]))

    def second(self, row):
        self.requests[row["service"]] += row["requests"]
        self.in_time[row["service"]] += row["in_time"]

    def gpu_us(self, count_of=lambda count: count):
        """GPU-microseconds until the end of the run."""
        ends = [at for at, _ in self.counts[1:]] + [SECONDS * 1_000_000]
        return sum(count_of(count) * (end - at) for (at, count), end in zip(self.counts, ends, strict=True))

    def worst(self):
        return min(Fraction(self.in_time[service], self.requests[service]) for service in self.requests)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        journals = Path(cls.folder.name) / "journals"
        run = case(EXAMPLE, "--format", "json", "--journal", journals, "--committed-micro-usd-per-gpu-hour", COMMITTED)
        assert (run.returncode, without_progress(run.stderr)) == (0, ""), run.stderr
        cls.text = run.stdout
        cls.answer = json.loads(run.stdout)
        cls.steps = {step["name"]: step for step in cls.answer["steps"]}
        cls.runs = {path.stem: Run(path) for path in journals.iterdir()}

    def refused(self, *arguments, **options):
        run = case(*arguments, **options)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)
        return run.stderr

    def test_the_steps_in_order_with_their_keys(self):
        self.assertEqual(list(self.answer), ["berth", "attainment", "small", "steps"])
        self.assertEqual((self.answer["berth"], self.answer["attainment"], self.answer["small"]), (1, 0.99, False))
        self.assertEqual(list(self.steps), STEPS)
        self.assertEqual([step["hindsight"] for step in self.steps.values()], HINDSIGHT)
        for step in self.steps.values():
            self.assertEqual(list(step), KEYS)
        self.assertEqual(set(self.runs), set(STEPS))

    def test_cost_and_attainment_counted_again_from_the_journals(self):
        for name, run in self.runs.items():
            step = self.steps[name]
            self.assertEqual(step["gpu_seconds"], run.gpu_us() / 1_000_000, name)
            self.assertEqual(step["gpus_max"], max(count for _, count in run.counts), name)
            self.assertAlmostEqual(step["gpus_mean"], run.gpu_us() / 1_000_000 / SECONDS, 9, name)
            cost = Fraction(run.gpu_us() * PRICE, HOUR_US) if name != "commitments" else Fraction(step["cost_micro_usd"])
            self.assertEqual(step["cost_micro_usd"], round(cost), name)
            self.assertEqual((step["requests"], step["in_time"]), (sum(run.requests.values()), sum(run.in_time.values())), name)
            self.assertEqual(step["cost_micro_usd_per_million_in_time"], round(cost * 1_000_000 / step["in_time"]), name)
            self.assertAlmostEqual(step["slo_attainment_worst_service"], float(run.worst()), 12, name)
            self.assertEqual(step["holds"], run.worst() >= Fraction(99, 100), name)
        self.assertEqual(len({step["requests"] for step in self.steps.values()}), 1)

    def test_the_cheapest_number_is_committed(self):
        run, step = self.runs["scaling"], self.steps["commitments"]

        def cost(committed):
            rest = run.gpu_us(lambda count: max(0, count - committed))
            return round(Fraction(committed * SECONDS * 1_000_000 * COMMITTED + rest * PRICE, HOUR_US))

        most = self.steps["scaling"]["gpus_max"]
        self.assertEqual(step["cost_micro_usd"], min(cost(committed) for committed in range(most + 1)))
        committed = int(re.match(r"(\d+) GPUs? committed", step["how"])[1])
        self.assertEqual(step["cost_micro_usd"], cost(committed))
        self.assertEqual(step["gpu_seconds"], run.gpu_us(lambda count: max(count, committed)) / 1_000_000)
        self.assertEqual((step["in_time"], step["holds"]), (self.steps["scaling"]["in_time"], self.steps["scaling"]["holds"]))

    def test_savings_are_those_of_the_costs(self):
        first, second = (self.steps[name]["cost_micro_usd"] for name in STEPS[:2])
        for step in self.steps.values():
            self.assertAlmostEqual(step["saves_of_first"], 1 - step["cost_micro_usd"] / first, 12)
            self.assertAlmostEqual(step["saves_of_second"], 1 - step["cost_micro_usd"] / second, 12)

    def test_what_each_step_may_do(self):
        for name in ("whole-peak", "whole-tracking"):
            self.assertEqual(self.runs[name].profiles, {"full"}, name)
        for name in ("whole-peak", "slices", "reconfiguration"):
            self.assertEqual({at for at, _ in self.runs[name].counts}, {0}, name)
        self.assertNotEqual({at for at, _ in self.runs["scaling"].counts}, {0})
        for name in ("whole-peak", "slices", "reconfiguration", "scaling"):
            self.assertTrue(self.steps[name]["holds"], name)
        for step in self.steps.values():
            shares = step["utilisation"]
            self.assertEqual(list(shares), ["allocated", "busy", "effective"])
            self.assertTrue(0 < shares["effective"] <= shares["busy"] <= shares["allocated"] <= 1 + 1e-9, step["name"])

    def test_the_same_bytes_again_and_no_commitments_without_a_price(self):
        run = case(EXAMPLE, "--format", "json", "--provision-seconds", "60", "--seed", "1")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(json.loads(run.stdout)["steps"], self.answer["steps"][:-1])

    def test_a_table_says_what_it_saves(self):
        with tempfile.TemporaryDirectory() as name:
            process, out, shown = run_on_terminal(
                [PROGRAM, "case", str(EXAMPLE), "--attainment", "0.99", "--report", f"{name}/report"], DEADLINE_SECONDS)
            self.assertEqual(process.returncode, 0)
            self.assertIn("<svg", Path(name, "report/index.html").read_text(encoding="utf-8"))
        self.assertIn(b"whole-peak", shown)
        text = " ".join(out.decode().split())
        self.assertRegex(text, r"Cut, rearrange and scale the GPUs by berth: \$[\d.]+ instead of \$[\d.]+ for whole GPUs at the peak")
        for name, is_hindsight in zip(STEPS[:-1], HINDSIGHT, strict=False):
            self.assertEqual(f"{name} (hindsight)" in text, is_hindsight)

    def test_bad_input_changes_nothing(self):
        good = EXAMPLE.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            def scenario(old, new):
                path = Path(name) / "scenario.yaml"
                path.write_text(good.replace(old, new).replace("path: ", f"path: {EXAMPLE.parent}/"), encoding="utf-8")
                return path
            for old, new, part in [
                    ("scaling: {provision_seconds: 60}\n", "", "wanted scaling: {provision_seconds: ...} or --provision-seconds"),
                    (", usd_per_gpu_hour: 3.673", "", "fleet: wanted usd_per_gpu_hour, found none"),
                    ("fleet: [{", "fleet: [{gpu: A30, count: 1, usd_per_gpu_hour: 1}, {", "wanted a single GPU model"),
                    ("provision_seconds: 60", "provision_seconds: -1", "provision_seconds"),
                    ("provision_seconds: 60", "provision_second: 60", "did you mean provision_seconds?")]:
                self.assertIn(part, self.refused(scenario(old, new), "--journal", f"{name}/out"), (old, new))
            for words, part in [(["--provision-seconds", "x"], "--provision-seconds: wanted"), (["--seed", "-1"], "--seed: wanted"),
                                (["--committed-micro-usd-per-gpu-hour", "1.5"], "--committed-micro-usd-per-gpu-hour: wanted"),
                                (["--format", "yaml"], "--format: wanted table or json"), (["--report", ""], "--report: wanted a folder"),
                                (["--journal", ""], "--journal: wanted a folder")]:
                self.assertIn(part, self.refused(EXAMPLE, *words))
            self.assertIn("--attainment: wanted", self.refused(EXAMPLE, attainment="1.5"))
            self.assertIn("cannot read", self.refused(Path(name) / "none.yaml"))
            self.assertEqual([path.name for path in Path(name).iterdir()], ["scenario.yaml"])

    def test_an_interrupt_writes_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            command = [PROGRAM, "case", str(EXAMPLE), "--attainment", "0.99", "--journal", f"{name}/j", "--report", f"{name}/r"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(0.5)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=DEADLINE_SECONDS)
            self.assertEqual((process.returncode, out), (130, ""))
            self.assertIn("interrupted; nothing was written", err)
            self.assertEqual([path for path in Path(name).rglob("*") if path.is_file()], [])


if __name__ == "__main__":
    unittest.main()
