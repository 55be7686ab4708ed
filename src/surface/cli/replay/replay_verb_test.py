#!/usr/bin/env python3
"""`berth replay` end to end: exit statuses, outputs, interrupts. Runs the program itself on the bundled example."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "src/surface/cli/shared"))
from terminal import run_on_terminal, without_progress  # noqa: E402

PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/quickstart"
DEADLINE_SECONDS = 120


def berth(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=DEADLINE_SECONDS, **options)


def wait_until(condition, what):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def outputs(self, name):
        return ["--report", self.folder / name, "--journal", self.folder / (name + ".jsonl")]

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def test_same_bytes_twice(self):
        quick = ["replay", EXAMPLE / "scenario.yaml", "--policies", "fixed,shared,paris", "--format", "json"]
        first, second = berth(*quick, *self.outputs("a")), berth(*quick, *self.outputs("b"))
        self.assertEqual((first.returncode, without_progress(first.stderr)), (0, b""))
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual((self.folder / "a.jsonl").read_bytes(), (self.folder / "b.jsonl").read_bytes())
        self.assertEqual((self.folder / "a/index.html").read_bytes(), (self.folder / "b/index.html").read_bytes())
        self.assertEqual(self.files(), ["a", "a.jsonl", "a/index.html", "b", "b.jsonl", "b/index.html"])
        other_seed = berth(*quick, "--seed", "2")
        self.assertNotEqual(first.stdout, other_seed.stdout)

    def test_the_agreed_share_changes_nothing(self):
        text = (EXAMPLE / "scenario.yaml").read_text()
        for path in EXAMPLE.iterdir():
            if path.name != "scenario.yaml":
                (self.folder / path.name).write_bytes(path.read_bytes())
        outputs = []
        for attainment in ("", ", attainment: 0.999"):
            changed = re.sub(r"(slo: \{latency_ms: [0-9.]+)", rf"\g<1>{attainment}", text)
            self.assertEqual(changed == text, not attainment)
            (self.folder / "scenario.yaml").write_text(changed)
            run = berth("replay", self.folder / "scenario.yaml", "--policies", "fixed,static-even", "--format", "json",
                        "--journal", self.folder / "journal.jsonl")
            plan = berth("plan", self.folder / "scenario.yaml", "--at", "600", "--format", "json")
            self.assertEqual((run.returncode, plan.returncode), (0, 0), run.stderr + plan.stderr)
            outputs.append((run.stdout, plan.stdout, (self.folder / "journal.jsonl").read_bytes()))
        self.assertEqual(outputs[0], outputs[1])

    def test_journal_recounts_the_figures(self):
        run = berth("replay", EXAMPLE / "scenario.yaml", "--policies", "fixed,shared", "--format", "json", *self.outputs("a"))
        self.assertEqual(run.returncode, 0, run.stderr)
        counted = {}
        created_later = {}
        for line in (self.folder / "a.jsonl").read_text().splitlines():
            record = json.loads(line)
            if record["type"] == "second":
                sums = counted.setdefault((record["policy"], record["service"]), {})
                for key in ("requests", "in_time", "late", "dropped", "unfinished", "accuracy_sum_micro"):
                    sums[key] = sums.get(key, 0) + record[key]
            elif record["type"] in ("slice_created", "slice_destroyed") and record["t_us"] > 0:
                created_later[record["policy"]] = created_later.get(record["policy"], 0) + 1
        for policy in json.loads(run.stdout)["policies"]:
            self.assertEqual(policy["changes"], created_later.get(policy["name"], 0))
            for service in policy["services"]:
                sums = counted[policy["name"], service["name"]]
                for key in ("requests", "in_time", "late", "dropped", "unfinished"):
                    self.assertEqual(sums[key], service[key], (policy["name"], service["name"], key))
                self.assertAlmostEqual(sums["accuracy_sum_micro"] / 1e6 / sums["requests"], service["goodput"], places=9)

    def test_bad_input_writes_nothing(self):
        text = (EXAMPLE / "scenario.yaml").read_text()
        broken = self.folder / "broken.yaml"
        for wrong in (text.replace("berth: 1", "berth: 2"), text + "\nfoo: 1\n", "\0\1\2", "", "[" * 5000):
            broken.write_text(wrong)
            run = berth("replay", broken, *self.outputs("a"))
            self.assertEqual((run.returncode, run.stdout), (2, b""))
            self.assertRegex(run.stderr.decode(), r"^berth: .+\n$")
            self.assertEqual(self.files(), ["broken.yaml"])

    def test_interrupt_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            old = self.folder / "a.jsonl"
            old.write_text("what was there\n")
            command = [PROGRAM, "replay", EXAMPLE / "scenario.yaml", *self.outputs("a")]
            process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            # The partial journal shows that the run has begun; static-best takes seconds.
            wait_until(lambda: list(self.folder.glob("*.part")) or process.poll() is not None, "the journal")
            process.send_signal(number)
            out, err = process.communicate(timeout=DEADLINE_SECONDS)
            self.assertEqual((process.returncode, out), (130, b""), err)
            self.assertIn(b"interrupted", err)
            self.assertEqual(self.files(), ["a.jsonl"])
            self.assertEqual(old.read_text(), "what was there\n")

    def test_progress_on_a_terminal_only(self):
        command = [PROGRAM, "replay", str(EXAMPLE / "scenario.yaml"), "--policies", "shared,static-even"]
        process, out, shown = run_on_terminal(command, DEADLINE_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(shown.decode(), r"shared +1/3  \[[#.]{24}\] +\d+ %  0:\d\d")
        self.assertTrue(shown.endswith(b"\r\x1b[K"))
        self.assertNotIn(b"\x1b", out)
        self.assertEqual(without_progress(berth(*command[1:]).stderr), b"")

    def test_closed_stdout_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            run = subprocess.run([PROGRAM, "replay", str(EXAMPLE / "scenario.yaml"), "--policies", "fixed"],
                                 stdout=full, stderr=subprocess.PIPE, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 1)

    def test_example_is_what_its_generator_writes(self):
        subprocess.run([sys.executable, EXAMPLE / "make_example.py", self.folder], check=True)
        for path in self.folder.iterdir():
            self.assertEqual(path.read_bytes(), (EXAMPLE / path.name).read_bytes(), path.name)

    def test_table_fits_and_is_aligned(self):
        run = berth("replay", EXAMPLE / "scenario.yaml", "--policies", "fixed,shared,whole,paris")
        lines = run.stdout.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 120)
        self.assertTrue(any(re.match(r"whole\* +-", line) for line in lines))


if __name__ == "__main__":
    unittest.main()
