#!/usr/bin/env python3
"""The headroom that each model needs for 99 % in time, with Poisson arrivals and slices that are fully loaded without it.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/packing/headroom.py [SCENARIO ...]

For each model of a scenario of ParvaGPU's, alone, with its rate and target: the slices of the plan for that rate serve C requests
per second. They are replayed at C / headroom; the smallest headroom (steps of 1 %) with which 99 % are in time is found by halving.
"""

import math
import os
import sys
import tempfile

from pack_program import SKIPPED, pack, scenario_demands, why_skipped, write_demands

ATTAINMENT = 0.99
HEADROOM_PERCENT_MAX = 400


def replayed(folder, model, target, carried, percent):
    """(share in time, p99 in ms) of a plan that can serve `carried`, at carried / (percent %)."""
    path = os.path.join(folder, "demand.csv")
    rate = math.floor(carried * 100 / percent * 1000) / 1000
    write_demands(path, [(model, f"{rate:.3f}", target)])
    answer = pack(path, "--headroom", f"{percent / 100:.2f}", "--verify")
    figures = answer["verification"]["demands"][0]
    return figures["slo_attainment"], figures["latency_p99_ms"]


def needed(folder, model, target, carried):
    """(headroom in percent, what it gives, what none gives)."""
    brim = replayed(folder, model, target, carried, 100)
    low, high = 100, 101
    if brim[0] >= ATTAINMENT:
        return 100, brim, brim
    while replayed(folder, model, target, carried, high)[0] < ATTAINMENT and high < HEADROOM_PERCENT_MAX:
        low, high = high, 100 + 2 * (high - 100)
    while high - low > 1:
        middle = (low + high) // 2
        if replayed(folder, model, target, carried, middle)[0] >= ATTAINMENT:
            high = middle
        else:
            low = middle
    return high, replayed(folder, model, target, carried, high), brim


def run(scenarios, out):
    print("scenario  model         target ms   carried/s  full: in time  p99 ms  headroom  in time   p99 ms", file=out)
    with tempfile.TemporaryDirectory() as folder:
        for number in scenarios:
            for model, rate, target in scenario_demands()[number - 1]:
                path = os.path.join(folder, "demand.csv")
                write_demands(path, [(model, rate, target)])
                carried = sum(one["requests_per_second"] for one in pack(path)["slices"])
                percent, cured, brim = needed(folder, model, target, carried)
                print(f"{number:8}  {model:12}  {target:>9}  {carried:10.1f}  {100 * brim[0]:12.2f}%  {brim[1]:6.1f}  "
                      f"{percent / 100:8.2f}  {100 * cured[0]:6.2f}%  {cured[1]:7.1f}", file=out, flush=True)


if __name__ == "__main__":
    WHY = why_skipped()
    if WHY:
        print("skipped:", WHY)
        sys.exit(SKIPPED)
    run([int(number) for number in sys.argv[1:]] or [4, 5, 6], sys.stdout)
