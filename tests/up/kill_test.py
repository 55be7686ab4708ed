#!/usr/bin/env python3
"""`berth up` is killed at random times while clients write to it, and started again on the same folder: what it has
answered must still be true. The auditor knows the API only; it shares no code with the server.

BERTH_KILLS (30), BERTH_SEED (random), BERTH_SPEED (20); BERTH_GO_ON=1 goes on after a violation. A run that fails keeps
its folder: `state` is the server's, `killed/N` what kill N left there since the last audit without a violation, `log`
the server's stderr, `violations` all that was found. The same seed gives the same delays and choices, but not the same
interleaving.

A kill counts if a write was acknowledged since the start before it. About half of the writes have an Idempotency-Key:
the auditor sends some of them again, and those that got no answer."""

import os
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "crash"))
from kill_loop import run_crash  # noqa: E402


class Kill(unittest.TestCase):
    def test_what_was_answered_is_true_after_a_kill(self):
        seed = int(os.environ.get("BERTH_SEED", random.SystemRandom().randrange(1_000_000)))
        found = run_crash(int(os.environ.get("BERTH_KILLS", "30")), seed, float(os.environ.get("BERTH_SPEED", "20")),
                          os.environ.get("BERTH_GO_ON") == "1")
        if found:
            self.fail(found)


if __name__ == "__main__":
    unittest.main()
