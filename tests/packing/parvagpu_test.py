#!/usr/bin/env python3
"""The bars of packing on public data: proven minima, never more GPUs than ParvaGPU's. Skips (77) without data or program."""

import io
import sys
import unittest

from bars import run_large, run_small
from pack_program import SKIPPED, why_skipped
from parvagpu import run

SECONDS_MAX = 10
SLOW_FACTOR = 3  # other work may run on the machine at the same time
THEIR_GPUS = [2, 3, 5, 7, 13, 16]


class ParvaGpu(unittest.TestCase):
    def test_six_scenarios(self):
        rows = run(io.StringIO())
        self.assertEqual([row["theirs"] for row in rows if row["limit"] == 5], THEIR_GPUS)
        for row in rows:
            with self.subTest(scenario=row["scenario"], limit=row["limit"]):
                self.assertTrue(row["ours"]["proven"])
                self.assertEqual(row["ours"]["gpus"], row["ours"]["bound"])
                self.assertLess(row["ours"]["seconds"], SLOW_FACTOR * SECONDS_MAX)
                if row["limit"] == 5:
                    self.assertEqual(row["verdict"], "accepted")
                if row["verdict"] == "accepted":
                    self.assertLessEqual(row["ours"]["gpus"], row["theirs"])

    def test_random_demands(self):
        """2 to 11 models, up to 40 GPUs: proven on 95 %, else one GPU from the bound."""
        proven, gap, _, _ = run_small(40, 20, io.StringIO())
        self.assertGreaterEqual(proven, 0.95)
        self.assertLessEqual(gap, 1)

    def test_a_hundred_models_on_a_thousand_gpus(self):
        _, _, gap_percent, seconds = run_large(1, 20, io.StringIO())
        self.assertLessEqual(gap_percent, 0.5)
        self.assertLess(seconds, SLOW_FACTOR * SECONDS_MAX)


if __name__ == "__main__":
    WHY = why_skipped()
    if WHY:
        print("skipped:", WHY)
        sys.exit(SKIPPED)
    unittest.main()
