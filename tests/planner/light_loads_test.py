#!/usr/bin/env python3
"""Where a static layout answers at least 99.9 % in time, `berth` has at most 0.1 points less than the better of `static-even` and
`whole`, and the replay ends with a verdict that says so. Ten scenarios: light_loads.py."""

import json
import os
import subprocess
import tempfile
import unittest

from light_loads import SCENARIOS, write_all

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
SECONDS = 900
ENOUGH = 0.999
SHORTFALL_MAX = 0.001


def replay(path, *words):
    done = subprocess.run([PROGRAM, "replay", path, "--policies", "whole,static-even,berth", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@unittest.skipUnless(PROGRAM, "BERTH_PROGRAM names no program")
class LightLoads(unittest.TestCase):
    def test_berth_loses_nothing_where_nothing_is_to_be_gained(self):
        self.assertEqual(len(SCENARIOS), 10)
        with tempfile.TemporaryDirectory() as folder:
            for name, path in write_all(folder, SECONDS).items():
                with self.subTest(name):
                    policies = json.loads(replay(path, "--format", "json"))["policies"]
                    shares = {each["name"]: each["slo_attainment"] for each in policies if "infeasible" not in each}
                    static = max(shares.get("whole", 0), shares["static-even"])
                    self.assertGreaterEqual(static, ENOUGH, "no light load")
                    self.assertGreaterEqual(shares["berth"], static - SHORTFALL_MAX)

    def test_the_last_words_are_a_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            words = replay(write_all(folder, 60)["constant"]).split("\n\n")[-1]
            verdict = " ".join(words[words.index("Verdict: "):].split())
            self.assertTrue(verdict.startswith("Verdict: a static layout is enough here: static-even has a goodput of"), verdict)
            self.assertNotIn("whole", verdict)


if __name__ == "__main__":
    unittest.main()
