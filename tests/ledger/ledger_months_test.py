#!/usr/bin/env python3
"""What the writer of large files knows of them (ledger_months.py) is what the oracle and the program say of small ones.
Without a program the oracle alone is asked.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import ledger_months
import ledger_oracle

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
KNOBS = [{}, {"months": 1, "is_open": True}, {"months": 2, "start": "2027-12", "prefix": "b-"},
         {"months": 13, "start": "2000-02", "gpus": 5}]
LINES = 4000


def figures(rows):
    return {row["key"]: {"gpu_us": row["gpu_us"], "grains": row["grains"]} for row in rows}


class Months(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "months.jsonl")

    def test_are_known_without_a_ledger(self):
        for seed, knobs in enumerate(KNOBS):
            with self.subTest(seed=seed, **knobs):
                expected = ledger_months.write_months(self.path, LINES, seed, **knobs)
                with open(self.path, "rb") as file:
                    oracle = ledger_oracle.ledger_of_bytes(file.read())
                report = oracle.report()
                self.assertEqual({key: report[key] for key in expected["report"]}, expected["report"])
                self.assertEqual(report["lines"], LINES)
                for by, wanted in expected["by"].items():
                    self.assertEqual(figures(oracle.cost(by)["rows"]), wanted)
                if os.path.exists(PROGRAM):
                    self.assertEqual(self.ask("ledger", "report"), report)
                    for by, wanted in expected["by"].items():
                        self.assertEqual(figures(self.ask("cost", "--by", by)["rows"]), wanted)

    def ask(self, *words):
        words = [PROGRAM, *words, "--events", self.path, "--format", "json"]
        result = subprocess.run(words, capture_output=True, check=True, timeout=120)
        return json.loads(result.stdout)

    def test_have_the_parts_that_they_promise(self):
        expected = ledger_months.write_months(self.path, 100_000, 1)
        counts, lines = expected["report"], 100_000
        for found, part in ((counts["duplicates"], 0.30), (expected["late"], 0.10), (counts["overlaps"], 0.01),
                            (expected["voids"], 0.01)):
            self.assertAlmostEqual(found / lines, part, delta=part / 8)
        self.assertEqual(counts["refused_close"], 5)   # one beside each close
        self.assertAlmostEqual(os.path.getsize(self.path) / lines, 190, delta=8)

    def test_are_the_same_bytes_again(self):
        files = []
        for _ in range(2):
            ledger_months.write_months(self.path, LINES, 7)
            with open(self.path, "rb") as file:
                files.append(file.read())
        self.assertEqual(*files)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
