#!/usr/bin/env python3
"""Seeds of driver troubles (drivers/swarm.py): `berth up` manages simulated GPUs whose calls are refused, fail, are
slow or hang, whose other clients create and destroy instances, that are lost, reset and rebooted, while `berth up` and
its hands are killed. Then the devices are as the journal and the API say, and nothing of others was touched.

BERTH_FROM (0), BERTH_SEEDS (20), BERTH_JOBS (2): which seeds, how many at once."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "drivers"))
import swarm  # noqa: E402


class DriverSwarm(unittest.TestCase):
    def test_all_is_as_it_must_be_after_troubles(self):
        words = [int(os.environ.get(name, default))
                 for name, default in (("BERTH_FROM", 0), ("BERTH_SEEDS", 20), ("BERTH_JOBS", 2))]
        self.assertEqual(swarm.run_swarm(*words), 0, "seeds failed; their folders are named above")


if __name__ == "__main__":
    swarm.require_all()
    unittest.main()
