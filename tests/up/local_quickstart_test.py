#!/usr/bin/env python3
"""The quickstart on simulated GPUs that `berth up` manages, 40 times as fast as the clock: every change is carried out, and the
goodput is about that of the replay. How near it comes at speed 1, where plans take effect without delay, `scripts/bench local`
measures (docs/reference/benchmarks.md)."""

import json
import subprocess
import unittest

from local_quickstart import live, replay
from local_up import PROGRAM, Case, require_managing

SPEED = 40
# At this speed a plan that takes 0.1 s on a busy machine takes effect 4 s late; up to 5 % were seen.
DIFFERENCE_MAX = 0.1


class Quickstart(Case):
    def test_it_does_about_what_the_replay_does(self):
        wanted, found = replay(self.folder, seed=1), live(self.folder, SPEED, seed=1)
        print(f"goodput {found.mean:.4f}, replay {wanted.mean:.4f}")
        self.assertEqual(found.requests, wanted.requests)
        self.assertLess(abs(found.mean / wanted.mean - 1), DIFFERENCE_MAX)
        rows = subprocess.run([PROGRAM, "journal", "export", self.data], capture_output=True, text=True, check=True).stdout
        ends = [json.loads(line)["body"] for line in rows.splitlines() if '"kind":"DeviceEnded"' in line]
        self.assertGreater(len(ends), 10)
        self.assertEqual({end["outcome"] for end in ends}, {"done"})


if __name__ == "__main__":
    require_managing()
    unittest.main()
