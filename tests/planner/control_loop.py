#!/usr/bin/env python3
"""How much faster than real time a replay with `berth` runs: one hour of 4 GPUs and 4 tenants, on one core.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/control_loop.py [--only TEXT] [--seconds N]

The time is the processor time of the whole command `berth replay --policies berth`: reading, the simulated world, every plan, and the
bound that each replay prints. One after the other.
"""

import argparse
import collections
import resource
import sys
import tempfile

from goodput import replay
from goodput_scenarios import write_all

SCENARIOS = [(4, 4, 60, "calm", "none"), (4, 4, 80, "bursty", "long"), (4, 4, 100, "bursty", "none"), (4, 4, 120, "bursty", "on")]
SECONDS = 3600

Loop = collections.namedtuple("Loop", "name seconds processor_seconds")


def times_faster(loop):
    return loop.seconds / loop.processor_seconds


def run_one(name, path, seconds):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    replay(path, ["berth"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Loop(name, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(only="", seconds=SECONDS):
    """Runs and prints it; returns the Loops."""
    loops = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_all(folder, seconds=seconds, scenarios=SCENARIOS):
            if only in name:
                loops.append(run_one(name, path, seconds))
                print(f"{name:28}{seconds} s simulated in {loops[-1].processor_seconds:.1f} s of the processor: "
                      f"{times_faster(loops[-1]):.0f} times faster", flush=True)
    return loops


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    options = parser.parse_args()
    loops = measure(options.only, options.seconds)
    if not loops:
        sys.exit("no scenario has such a name")
    print(f"least: {min(map(times_faster, loops)):.0f} times faster   bar: 100")


if __name__ == "__main__":
    main()
