"""driver_soak.py BERTH [--from SEED] [--seeds N] [--seconds S] [--jobs N]: seeds of driver troubles
(tests/up/drivers/swarm.py says what).

N seeds, or as many as begin within S seconds, so many at once (2). Each that fails prints its troubles and keeps its
folder; the last line counts them. The exit status is 1 if one failed, 77 where GPUs cannot be changed."""

import argparse
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/up/drivers"))
sys.dont_write_bytecode = True
SEEDS_MAX = 1_000_000


def main():
    """Runs them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--from", type=int, default=1000, dest="first")
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    words = parser.parse_args()
    os.environ["BERTH_PROGRAM"] = words.berth
    import swarm  # reads the environment
    swarm.require_all()
    until = None if words.seconds is None else time.monotonic() + words.seconds
    sys.exit(1 if swarm.run_swarm(words.first, words.seeds or SEEDS_MAX, words.jobs, until) else 0)


if __name__ == "__main__":
    main()
