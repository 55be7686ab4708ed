#!/usr/bin/env python3
"""The one-GPU search compared with Cbc on the integer program of the same model: 4 tenants, 20 slots, random instances.

    BERTH_BENCH_FOLDER=build/bench/bench python3 tests/planner/integer_program.py [--count 100] [--seconds 120] [--jobs N]

Ours stops at gap 0, or at 20 million nodes with a gap. Cbc stops after --seconds of the processor. The results at that point are still compared:
the best schedule of each must lie between the other's and its bound. Cbc's time up to there is a lower bound of the
time that it needs, and the median of the ratios one of the median: Cbc needs --seconds of 1,000 times our median for it to show a factor
of 1,000.
"""

import argparse
import collections
import concurrent.futures
import math
import os
import statistics
import subprocess

from planner_bench import counters

COUNT = 100
SECONDS = 120
OURS_EXACT = 1e-9
RIVAL_EXACT = 1e-6  # the library's tolerance
HANGS_AFTER = 4  # times the limit, and a minute

# Objectives, bounds and milliseconds of processor time. All None if the instance was killed.
Instance = collections.namedtuple("Instance", "seed ours ours_bound ours_ms rival rival_bound rival_ms")


def run_one(seed, seconds):
    try:
        found = counters("one_gpu", f"^against_integer_program/seed:{seed}/", HANGS_AFTER * seconds + 60,
                         {"BERTH_RIVAL_SECONDS": str(seconds)})
    except subprocess.TimeoutExpired:
        return Instance(seed, *[None] * 6)
    figures = next(iter(found.values()))
    return Instance(seed, *[figures[name] for name in Instance._fields[1:]])


def was_killed(instance):
    return instance.ours is None


def is_near(first, second, share):
    return math.isfinite(second) and abs(first - second) <= share * max(1.0, abs(second))


def is_proven(instance):
    return not was_killed(instance) and is_near(instance.ours_bound, instance.ours, OURS_EXACT)


def is_finished(instance):
    return not was_killed(instance) and is_near(instance.rival_bound, instance.rival, RIVAL_EXACT)


def agrees(instance):
    """No schedule of either is above the other's bound: if both are proven, they have the same optimum."""
    if was_killed(instance):
        return False
    slack = RIVAL_EXACT * max(1.0, abs(instance.ours))
    return instance.rival <= instance.ours_bound + slack and instance.rival_bound >= instance.ours - slack


def is_same_optimum(instance):
    return agrees(instance) and is_proven(instance) and is_finished(instance)


def fate(instance):
    if was_killed(instance):
        return "killed: Cbc did not keep to its limit"
    if not agrees(instance):
        return "CONTRADICTS"
    if is_same_optimum(instance):
        return "same optimum"
    unproven = [name for name, has in (("ours", is_proven(instance)), ("Cbc", is_finished(instance))) if not has]
    below = 100 * (instance.ours - instance.rival) / abs(instance.ours)
    return f"{' and '.join(unproven)} not proven; Cbc's best {abs(below):.2f} % {'below' if below >= 0 else 'ABOVE'} ours"


def line(instance):
    if was_killed(instance):
        return f"{instance.seed:5}  {fate(instance)}"
    return (f"{instance.seed:5}{instance.ours:16.10g}{instance.rival:16.10g}{instance.rival_bound:16.10g}{instance.ours_ms:10.1f}"
            f"{instance.rival_ms:11.0f}{instance.rival_ms / instance.ours_ms:9.0f}  {fate(instance)}")


def median_ratio(instances):
    """The median of Cbc's time over ours; an unfinished run counts with the time until it was stopped. None if all were killed."""
    ratios = [instance.rival_ms / instance.ours_ms for instance in instances if not was_killed(instance)]
    return statistics.median(ratios) if ratios else None


def summary(instances, seconds):
    finished = [instance for instance in instances if is_finished(instance)]
    lines = [f"ours proven optimal on {sum(map(is_proven, instances))} of {len(instances)}",
             f"Cbc finished {len(finished)} of {len(instances)} within {seconds:g} s; the same optimum, proven by both, on "
             f"{sum(map(is_same_optimum, instances))}",
             f"nothing of either contradicts the other on {sum(map(agrees, instances))} of {len(instances)}"]
    if (ratio := median_ratio(instances)) is not None:
        middle = statistics.median(instance.ours_ms for instance in instances if not was_killed(instance))
        lines.append(f"ours at the median {middle:.1f} ms; Cbc takes {ratio:.0f} times as long at the median, "
                     f"unfinished ones counted until they were stopped   bar: 1,000")
    return lines


def measure(count, seconds, jobs):
    """Runs and prints it; returns the Instances."""
    print(f"{'seed':>5}{'ours':>16}{'Cbc':>16}{'its bound':>16}{'ours, ms':>10}{'Cbc, ms':>11}{'ratio':>9}")
    instances = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for instance in pool.map(lambda seed: run_one(seed, seconds), range(count)):
            instances.append(instance)
            print(line(instance), flush=True)
    print("\n".join(summary(instances, seconds)), flush=True)
    return instances


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help="instances, up to 100")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the processor for Cbc, each instance")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="instances at a time")
    options = parser.parse_args()
    measure(options.count, options.seconds, options.jobs)


if __name__ == "__main__":
    main()
