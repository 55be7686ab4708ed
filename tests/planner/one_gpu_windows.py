#!/usr/bin/env python3
"""Plans of one GPU and 4 tenants in windows of 200 s, as they occur for `berth` on real traces: time, gap, the share proven optimal.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/one_gpu_windows.py [--only TEXT] [--plans N]

Each plan is that of `berth plan --at SECOND --reasons 0 --timings`: with forecasts, from the layout that `berth` has by then, and
with the limits that the policy has in a replay. Time and gap are those of the policy's own search. One after the other.
"""

import argparse
import collections
import json
import math
import os
import subprocess
import sys
import tempfile

from goodput_scenarios import write_all

SCENARIOS = [(4, 1, 60, "calm", "none"), (4, 1, 80, "bursty", "none"), (4, 1, 100, "bursty", "none"), (4, 1, 120, "calm", "none"),
             (4, 1, 70, "bursty", "long"), (4, 1, 80, "bursty", "on"), (4, 1, 100, "calm", "on"), (4, 1, 120, "calm", "long")]
SECONDS = 900
FIRST_SECOND = 25
LAST_SECOND = 600  # later windows are cut short by the end of the run
PLANS = 25

Plan = collections.namedtuple("Plan", "scenario second ms gap is_proven")


def retrains(plan):
    return not plan.scenario.endswith("-none")


def seconds_of(plans):
    """Evenly spaced instants over the run."""
    return [FIRST_SECOND + (LAST_SECOND - FIRST_SECOND) * index // max(1, plans - 1) for index in range(plans)]


def plan_at(name, path, second):
    command = [os.environ["BERTH_PROGRAM"], "plan", path, "--at", str(second), "--reasons", "0", "--format", "json", "--timings"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    answer = json.loads(done.stdout)
    return Plan(name, second, answer["solve_ms"], 100 * answer["gap"], answer["proven"])


def percentile(values, share):
    """The smallest value that a share `share` of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def figures(plans):
    """Time in ms, gap in percent, and the share that is proven optimal in percent."""
    return {"ms_p50": percentile([plan.ms for plan in plans], 0.5), "ms_p99": percentile([plan.ms for plan in plans], 0.99),
            "gap_p50": percentile([plan.gap for plan in plans], 0.5), "gap_p99": percentile([plan.gap for plan in plans], 0.99),
            "proven": 100 * sum(plan.is_proven for plan in plans) / len(plans)}


def line(name, plans):
    found = figures(plans)
    return (f"{name:28}{found['ms_p50']:10.2f}{found['ms_p99']:10.2f}{found['gap_p50']:10.3f}{found['gap_p99']:10.3f}"
            f"{found['proven']:8.0f} %{len(plans):8}")


def measure(only="", plans=PLANS):
    """Runs and prints it; returns the Plans."""
    print(f"{'':28}{'ms, p50':>10}{'ms, p99':>10}{'gap %, p50':>10}{'p99':>10}{'proven':>10}{'plans':>8}")
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_all(folder, seconds=SECONDS, scenarios=SCENARIOS):
            if only not in name:
                continue
            found = [plan_at(name, path, second) for second in seconds_of(plans)]
            print(line(name, found), flush=True)
            measured += found
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--plans", type=int, default=PLANS, help="of each scenario")
    options = parser.parse_args()
    plans = measure(options.only, options.plans)
    if not plans:
        sys.exit("no scenario has such a name")
    for title, chosen in [("without retraining", [plan for plan in plans if not retrains(plan)]),
                          ("with retraining", [plan for plan in plans if retrains(plan)])]:
        if chosen:
            print(line(title, chosen))
    print("bar: below 10 ms at p99 with a gap of at most 0.5 % at p99")


if __name__ == "__main__":
    main()
