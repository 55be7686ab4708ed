#!/usr/bin/env python3
"""`berth ledger weights` end to end: every GPU, one GPU, bad input."""

import json
import os
import subprocess
import unittest
from math import lcm
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60


def berth(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)


class Weights(unittest.TestCase):
    def printed(self, *arguments):
        run = berth("ledger", "weights", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def gpus(self, *arguments):
        answer = json.loads(self.printed(*arguments, "--format", "json"))
        self.assertEqual(answer["berth"], 1)
        return answer["gpus"]

    def refused(self, *arguments):
        run = berth("ledger", "weights", *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        return run.stderr.removeprefix("berth: ").rstrip("\n")

    def test_an_a100(self):
        [gpu] = self.gpus("--gpu", "A100-80GB")
        self.assertEqual((gpu["gpu"], gpu["capacity"]), ("A100-80GB", 56))
        self.assertEqual({each["profile"]: each["weight"] for each in gpu["profiles"]},
                         {"1g.10gb": 8, "1g.10gb+me": 8, "1g.20gb": 14, "2g.20gb": 16, "3g.40gb": 28, "4g.40gb": 32,
                          "7g.80gb": 56, "full": 56})
        self.assertEqual(gpu["profiles"][0], {"profile": "1g.10gb", "weight": 8, "compute_slices": 1, "memory_slices": 1,
                                              "dominant": "compute", "is_unverified": False})
        self.assertEqual(gpu["over_capacity"], [{"profiles": ["4g.40gb", "3g.40gb"], "weight": 60},
                                                {"profiles": ["4g.40gb", "2g.20gb", "1g.20gb"], "weight": 62}])
        self.assertEqual(gpu["equal_shares"], [{"count": 2, "weight": 28}, {"count": 4, "weight": 14},
                                               {"count": 7, "weight": 8}, {"count": 8, "weight": 7}])

    def test_every_gpu_weighs_what_its_geometry_says(self):
        gpus = self.gpus()
        self.assertEqual(len(gpus), len({gpu["gpu"] for gpu in gpus}))
        with_mig = [gpu for gpu in gpus if len(gpu["profiles"]) > 1]
        self.assertGreaterEqual(len(with_mig), 12)
        for gpu in with_mig:
            geometry = json.loads(berth("mig", "profiles", "--gpu", gpu["gpu"], "--format", "json").stdout)
            compute, memory = geometry["compute_slices"], geometry["units"]
            capacity = lcm(compute, memory)
            self.assertEqual(gpu["capacity"], capacity)
            wanted = {each["profile"]: max(capacity // compute * each["compute_slices"], capacity // memory * each["length"])
                      for each in geometry["profiles"]} | {"full": capacity}
            self.assertEqual({each["profile"]: each["weight"] for each in gpu["profiles"]}, wanted)

    def test_a_gpu_without_mig_is_whole(self):
        [gpu] = self.gpus("--gpu", "T4")
        self.assertEqual((gpu["capacity"], gpu["over_capacity"]), (1000, []))
        self.assertEqual(gpu["profiles"], [{"profile": "full", "weight": 1000, "compute_slices": None, "memory_slices": None,
                                            "dominant": None, "is_unverified": False}])
        self.assertIn({"count": 4, "weight": 250}, gpu["equal_shares"])

    def test_the_table(self):
        table = self.printed("--gpu", "A100-80")
        self.assertEqual(table.splitlines()[:4], ["A100-80GB: capacity 56",
                                                  "profile     weight  compute  memory  dominant",
                                                  "1g.10gb          8      1/7     1/8   compute",
                                                  "1g.10gb+me       8      1/7     1/8   compute"])
        self.assertIn("4g.40gb + 3g.40gb weigh 60 of 56", table)
        self.assertNotIn("?", table)
        self.assertIn("? marks what no primary source confirms", self.printed("--gpu", "H200"))
        self.assertIn("Software shares weigh their fraction of the capacity: 1/2 is 28, 1/4 is 14, 1/7 is 8", table)
        everything = self.printed()
        self.assertEqual(everything, self.printed())
        self.assertLessEqual(max(map(len, everything.splitlines())), 120)
        self.assertIn("L40S-48GB: capacity 1000, without MIG", everything)

    def test_bad_input_prints_nothing(self):
        self.assertTrue(self.refused("--gpu", "A100").startswith("--gpu: wanted one GPU, found \"A100\""))
        self.assertIn("B300 is known by name only", self.refused("--gpu", "B300"))
        self.assertTrue(self.refused("--gpu", "").startswith("--gpu: wanted a GPU"))
        self.assertIn("--format", self.refused("--format", "xml"))


if __name__ == "__main__":
    unittest.main()
