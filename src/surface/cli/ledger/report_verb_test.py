#!/usr/bin/env python3
"""The table of `berth ledger report` where GPUs have no price: hours all the same, and commands that give a price."""

import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
HOUR_US = 3_600_000_000
BEGIN_US = 490_000 * HOUR_US  # 2025-11-24T16:00:00Z


def gpu(name, sku, hours, begin=0):
    return {"type": "gpu", "id": f"{name}@{begin}", "gpu": name, "sku": sku, "capacity": 56,
            "from_us": BEGIN_US + begin * HOUR_US, "to_us": BEGIN_US + (begin + hours) * HOUR_US}


def use(name, tenant, weight, hours, role="inference"):
    return {"type": "use", "id": f"{name}/{tenant}", "gpu": name, "slice": f"{name}-{tenant}", "weight": weight,
            "tenant": tenant, "service": "s" if tenant else "", "role": role, "from_us": BEGIN_US,
            "to_us": BEGIN_US + hours * HOUR_US}


def price(sku, micro_usd, begin=0):
    return {"type": "price", "id": f"price {sku} {begin}", "sku": sku, "from_us": BEGIN_US + begin * HOUR_US,
            "micro_usd_per_gpu_hour": micro_usd}


class ReportWithoutPrices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "events.jsonl"

    def report(self, *events):
        """The lines of the table by their first words, and all of the text."""
        if events:
            self.path.write_text("".join(json.dumps(event) + "\n" for event in events))
        run = subprocess.run([PROGRAM, "ledger", "report", "--events", self.path], capture_output=True, text=True,
                             check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertLessEqual(max(map(len, run.stdout.splitlines())), 120)
        rows = {}
        for line in run.stdout.splitlines():
            words = line.replace(" %", "%").split()
            if len(words) == 4:
                rows.setdefault(words[0], tuple(words[1:]))
        return rows, run.stdout

    def commands(self, text):
        return [line.strip() for line in text.splitlines() if line.startswith("  berth price event ")]

    def test_the_hours_are_there_and_the_command_gives_a_price(self):
        rows, text = self.report(gpu("g", "A100-80GB", 10), use("g", "red", 28, 10), use("g", "blue", 14, 4))
        self.assertEqual(rows["red"], ("5.00", "0.00", "-"))
        self.assertEqual(rows["blue"], ("1.00", "0.00", "-"))
        self.assertEqual(rows["idle"], ("4.00", "0.00", "-"))
        self.assertEqual(rows["total"], ("10.00", "0.00", "-"))
        self.assertIn("The bill has no prices: 10.00 GPU-hours cost nothing.", text)
        self.assertIn("berth price list", text)
        command, = self.commands(text)
        words = shlex.split(command.replace(" N", " 2.5"))
        line = subprocess.run([PROGRAM, *words[1:]], capture_output=True, text=True, check=True).stdout
        with self.path.open("a") as file:
            file.write(line)
        rows, text = self.report()
        self.assertEqual((rows["red"][:2], rows["total"][:2]), (("5.00", "12.50"), ("10.00", "25.00")))
        self.assertNotIn("price", text)

    def test_some_time_without_a_price(self):
        rows, text = self.report(price("A", 2_000_000, begin=5), gpu("g", "A", 10), gpu("h", "it's B", 2),
                                 use("g", "red", 56, 10), use("h", "red", 56, 1))
        self.assertEqual(rows["red"], ("11.00", "10.00", "100.0%"))
        self.assertEqual(rows["total"], ("12.00", "10.00", "100.0%"))
        self.assertIn("7.00 GPU-hours had no price: they cost nothing.", text)
        skus = [shlex.split(command) for command in self.commands(text)]
        self.assertEqual([words[words.index("--sku") + 1] for words in skus], ["A", "it's B"])
        self.assertEqual({words[words.index("--from") + 1] for words in skus}, {"2025-11-24T16:00:00.000000Z"})

    def test_a_price_of_0_is_a_price(self):
        rows, text = self.report(price("A", 0), gpu("g", "A", 10), use("g", "", 14, 8, "reconfiguration"))
        self.assertEqual(rows["reconfiguration"][:2], ("2.00", "0.00"))
        self.assertEqual(rows["idle"][:2], ("8.00", "0.00"))
        self.assertNotIn("no price", text)

    def test_at_most_ten_are_named(self):
        _, text = self.report(*(gpu(f"g{number}", f"sku-{number:02}", 1) for number in range(12)))
        self.assertEqual(len(self.commands(text)), 10)
        self.assertIn("  and 2 more\n", text)


if __name__ == "__main__":
    unittest.main()
