#!/usr/bin/env python3
"""What `berth schedule` says to people: one of a kind has no s, large numbers have separators, small ones their digits; what
docs/first_steps/scheduling.md shows is what is printed.
Skips (77) without a program.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
HEADER = "job,tenant,submit_s,gpus,duration_s\n"
SECONDS_MAX = 60
ROOT = Path(__file__).resolve().parents[2]


class TextTest(unittest.TestCase):
    def text(self, rows: list[str], *words: str | int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "jobs.csv"
            trace.write_text(HEADER + "".join(row + "\n" for row in rows), encoding="utf-8")
            result = subprocess.run([PROGRAM, "schedule", "--trace", trace, *map(str, words)], capture_output=True, text=True,
                                    timeout=SECONDS_MAX, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return " ".join(result.stdout.split())

    def test_one_job_on_one_gpu(self) -> None:
        self.assertTrue(self.text(["a,x,0,1,5"], "--gpus", 1).startswith("1 job on 1 GPU; "))
        self.assertTrue(self.text(["a,x,0,1,5", "b,x,0,1,5"], "--gpus", 1_000).startswith("2 jobs on 1,000 GPUs; "))

    def test_policies_that_tie_are_as_good(self) -> None:
        text = self.text(["a,x,0,1,283"], "--gpus", 1, "--policies", "fifo,skip,sjf")
        self.assertIn("fifo: 283 s mean completion; skip is as good; as good as sjf, which knows the durations.", text)

    def test_free_gpus_have_separators(self) -> None:
        text = self.text(["a,x,0,14,500", "b,x,1,1000000000,500"], "--gpus", 1_000_000_000, "--policies", "fifo", "--why", "b",
                         "--at", 2)
        self.assertIn("999,999,986 of 1,000,000,000 GPUs are free", text)

    def test_little_work_ahead_has_its_digits(self) -> None:
        rows = [f"j{i},x,{i * 10},1,2" for i in range(60)] + ["a,x,1000,1,30", "b,x,1001,1,30", "c,x,1002,1,30"]
        text = self.text(rows, "--gpus", 1, "--policies", "fifo", "--why", "c", "--at", 1_003, "--format", "table")
        self.assertRegex(text, r"Ahead of it: 1 job, expected to take 0\.0*[1-9][0-9]{2} GPU-hours\.")

    def test_the_page_shows_what_is_printed(self) -> None:
        page = (ROOT / "docs" / "first_steps" / "scheduling.md").read_text(encoding="utf-8")
        block = next(part for part in page.split("```") if part.startswith("text\n$") and " --why " in part)
        command, shown = block.removeprefix("text\n$ ").replace("\\\n", "").split("\n", 1)
        words = command.split()
        self.assertEqual(words[0], "build/release/berth")
        result = subprocess.run([PROGRAM, *words[1:]], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual((result.stdout, result.stderr), (shown, ""))


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
