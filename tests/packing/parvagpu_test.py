#!/usr/bin/env python3
"""The bars of packing on public data: proven minima, never more GPUs than ParvaGPU's. Skips (77) without data or program."""

import io
import random
import sys
import tempfile
import unittest

from pack_program import SKIPPED, pack, scenario_demands, why_skipped, write_demands
from parvagpu import run

SECONDS_MAX = 10
THEIR_GPUS = [2, 3, 5, 7, 13, 16]


class ParvaGpu(unittest.TestCase):
    def test_six_scenarios(self):
        rows = run(io.StringIO())
        self.assertEqual([row["theirs"] for row in rows if row["limit"] == 5], THEIR_GPUS)
        for row in rows:
            with self.subTest(scenario=row["scenario"], limit=row["limit"]):
                self.assertTrue(row["ours"]["proven"])
                self.assertEqual(row["ours"]["gpus"], row["ours"]["bound"])
                self.assertLess(row["ours"]["seconds"], SECONDS_MAX)
                if row["limit"] == 5:
                    self.assertEqual(row["verdict"], "accepted")
                if row["verdict"] == "accepted":
                    self.assertLessEqual(row["ours"]["gpus"], row["theirs"])

    def test_random_demands(self):
        """2 to 11 models, up to 40 GPUs: proven on 95 %, else one GPU from the bound."""
        rng = random.Random(20)
        scenarios = scenario_demands()
        proven = 0
        count = 40
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(count):
                targets = rng.choice(scenarios[1:])
                chosen = rng.sample(targets, rng.randint(2, len(targets)))
                demands = [(model, f"{10 ** rng.uniform(1, 4.3):.1f}", target) for model, _, target in chosen]
                path = folder + "/demand.csv"
                write_demands(path, demands)
                answer = pack(path)
                if answer["gpus"] > 40:
                    proven += 1 if answer["proven"] else 0
                    continue
                self.assertLessEqual(answer["gpus"], answer["bound"] + 1, demands)
                proven += answer["proven"]
        self.assertGreaterEqual(proven, 0.95 * count)


if __name__ == "__main__":
    WHY = why_skipped()
    if WHY:
        print("skipped:", WHY)
        sys.exit(SKIPPED)
    unittest.main()
