#!/usr/bin/env python3
"""`berth cost --report` and `berth invoice` apart from their pages: options, answers, bad input."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60
HOUR_US = 3_600_000_000
NOVEMBER_US = 1_793_491_200_000_000

EVENTS = [
    {"type": "price", "id": "p", "sku": "a", "from_us": NOVEMBER_US, "micro_usd_per_gpu_hour": 2_000_000},
    {"type": "gpu", "id": "g", "gpu": "g", "sku": "a", "capacity": 2, "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + 48 * HOUR_US},
    {"type": "use", "id": "u", "gpu": "g", "slice": "0", "weight": 1, "tenant": "t", "service": "s", "role": "job",
     "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + 10 * HOUR_US},
    {"type": "budget", "id": "b", "tenant": "t", "from_us": NOVEMBER_US, "micro_usd_per_month": 20_000_000, "hard": False},
    {"type": "close", "id": "c", "month": "2026-11"},
]


class CostPage(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.events = self.folder / "events.jsonl"
        self.events.write_text("".join(json.dumps(event) + "\n" for event in EVENTS), encoding="utf-8")

    def run_verb(self, verb, *arguments):
        return subprocess.run([PROGRAM, verb, "--events", self.events, *arguments], capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS, check=False)

    def cost_page(self, *arguments):
        """The printed text, and the page."""
        run = self.run_verb("cost", "--report", self.folder / "out", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout, (self.folder / "out/index.html").read_text(encoding="utf-8")

    def refused(self, *arguments):
        run = self.run_verb("cost", *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        return run.stderr

    def test_alone_it_answers_by_tenant(self):
        printed, page = self.cost_page()
        self.assertEqual(printed, self.run_verb("cost", "--by", "tenant").stdout)
        self.assertIn("$96.00 in 2 days for 48.00 GPU-hours", page)
        self.assertIn("November 2026 until 2026-11-03 00:00 UTC", page)

    def test_beside_a_question_it_covers_the_same_days(self):
        printed, page = self.cost_page("--by", "day", "--since", "2026-11-02", "--format", "json")
        self.assertEqual([row["key"] for row in json.loads(printed)["rows"]], ["2026-11-02"])
        self.assertIn("$48.00 in 1 day for 24.00 GPU-hours", page)

    def test_it_can_stand_at_an_instant(self):
        printed, page = self.cost_page("--budgets", "--as-of", "2026-11-01T05:00:00Z", "--format", "json")
        self.assertEqual(json.loads(printed)["budgets"][0]["spent_micro_usd"], 5_000_000)
        self.assertIn("$10.00 in 1 day for 5.00 GPU-hours", page)
        self.assertIn("November 2026 until 2026-11-01 05:00 UTC", page)
        self.assertIn("$10.00 in 1 day for 5.00 GPU-hours", self.cost_page("--as-of", "2026-11-01T05:00:00Z")[1])

    def test_bad_options_leave_no_folder(self):
        out = self.folder / "out"
        self.assertIn("wanted one of --by, --budgets, --why and --report, found none", self.refused())
        self.assertIn("--as-of: wanted a time in UTC", self.refused("--report", out, "--as-of", "now"))
        self.assertIn("--report: wanted a folder", self.refused("--report", ""))
        self.assertIn("--as-of: wanted only with --budgets or --report", self.refused("--by", "day", "--as-of", "now"))
        self.events.write_text("{}\n", encoding="utf-8")
        self.assertIn("events.jsonl:1", self.refused("--report", out))
        self.assertFalse(out.exists())

    def test_an_invoice_has_the_hash_of_its_closed_month(self):
        words = ("--tenant", "t", "--month", "2026-11")
        answer = json.loads(self.run_verb("invoice", *words, "--format", "json").stdout)
        self.assertRegex(answer["month_hash"], "^[0-9a-f]{64}$")
        self.assertIn(f"Hash of the closed month: {answer['month_hash']}", self.run_verb("invoice", *words).stdout)
        self.assertIn(answer["month_hash"], self.run_verb("invoice", *words, "--format", "html").stdout)
        self.assertNotIn(answer["month_hash"], self.run_verb("invoice", *words, "--format", "csv").stdout)
        later = json.loads(self.run_verb("invoice", "--tenant", "t", "--month", "2026-12", "--format", "json").stdout)
        self.assertIsNone(later["month_hash"])


if __name__ == "__main__":
    unittest.main()
