#!/usr/bin/env python3
"""`berth schedule` gives the sums of completion of two public traces that two implementations agree on. Skips (77)
without a program, or without the traces, which lie in the folder that BERTH_DATA names.

    sched_anchors_test.py [--rules]    sched_rules.py too, which takes minutes
"""

import glob
import json
import os
import subprocess
import sys
from typing import NamedTuple

import sched_input
import sched_rules
from sched_input import Options

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
DATA = os.environ.get("BERTH_DATA", "")
SECONDS_MAX = 120
PHILLY = "philly/philly_jobs.csv"
SHOCKWAVE = "shockwave/traces/120_*.trace"
Sums = dict[str, int]


class Anchor(NamedTuple):
    trace_format: str
    trace: str   # a pattern of one file
    options: Options
    sums: Sums


ANCHORS = (
    Anchor("philly", PHILLY, Options(600), {
        "fifo": 8718496893, "skip": 3710993330, "sjf": 1606356622, "easy": 6606814004, "las": 1184353029,
        "srpt": 1204580529}),
    Anchor("philly", PHILLY, Options(500), {
        "fifo": 46709189224, "skip": 12895075821, "sjf": 2187266937, "easy": 28276183915, "las": 1722748749,
        "srpt": 1524660489}),
    Anchor("shockwave", SHOCKWAVE, Options(32, round_seconds=120, restart_seconds=20), {
        "fifo": 1267027, "skip": 1016524, "sjf": 994174, "easy": 1266542, "las": 1316001, "srpt": 878021}))


def sums_of_program(anchor: Anchor, trace: str) -> Sums:
    words = [PROGRAM, "schedule", "--trace", trace, "--trace-format", anchor.trace_format, "--policies",
             ",".join(anchor.sums), "--format", "json"]
    for name, value in anchor.options._asdict().items():
        words += ["--" + name.replace("_", "-"), str(value)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    if result.returncode != 0:
        print(f"status {result.returncode}: {result.stderr.strip()}")
        return {}
    return {one["policy"]: one["completion_seconds"]["sum"] for one in json.loads(result.stdout)["policies"]}


def sums_of_rules(anchor: Anchor, trace: str) -> Sums:
    jobs, tree = sched_input.load(trace, anchor.trace_format, None, anchor.options.gpus)
    return {policy: sched_rules.completion_sum(jobs, sched_rules.lines_of(policy, jobs, tree, anchor.options))
            for policy in anchor.sums}


def main() -> int:
    traces = [glob.glob(os.path.join(DATA, anchor.trace)) for anchor in ANCHORS]
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    if not DATA or not all(traces):
        print(f"skipped: BERTH_DATA names no folder with {PHILLY} and {SHOCKWAVE}")
        return 77
    count = 0
    for anchor, found in zip(ANCHORS, traces):
        for sums_of in (sums_of_program, sums_of_rules)[:2 if "--rules" in sys.argv else 1]:
            sums = sums_of(anchor, found[0])
            for policy, total in anchor.sums.items():
                if sums.get(policy) != total:
                    count += 1
                    print(f"{sums_of.__name__}: {anchor.trace_format} on {anchor.options.gpus} GPUs: {policy}: wanted "
                          f"{total}, found {sums.get(policy)}")
    print(f"{sum(len(anchor.sums) for anchor in ANCHORS)} sums, {count} wrong")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
