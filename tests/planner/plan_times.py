#!/usr/bin/env python3
"""How long `berth plan` takes on large fleets (large_fleets.py), with and without reasons.

    BERTH_PROGRAM=build/release/berth python3 tests/planner/plan_times.py [--gpus 1000,3000] [--services 100] [--at 0]
        [--reasons 20] [--no-layout]

Half of the GPUs are A100-80GB, three tenths H100-80GB-SXM5, the others L4-24GB; all services retrain. Times are processor time in
seconds: `all` of the command, `plan` of the same command without reasons, `reasons` the difference.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import large_fleets


def fleet_of(gpus):
    counts = {"A100-80GB": gpus * 5 // 10, "H100-80GB-SXM5": gpus * 3 // 10}
    counts["L4-24GB"] = gpus - sum(counts.values())
    return ",".join(f"{gpu}={count}" for gpu, count in counts.items())


def run(*words):
    """The answer, and the seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([os.environ["BERTH_PROGRAM"], "plan", *map(str, words), "--format", "json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(gpus, options):
    with tempfile.TemporaryDirectory() as folder:
        words = ["--gpus", fleet_of(gpus), "--services", options.services, *([] if options.layout else ["--no-layout"])]
        path = large_fleets.scenario(Path(folder), *map(str, words))
        answer, seconds = run(path, "--at", options.at, "--reasons", options.reasons)
        _, without = run(path, "--at", options.at, "--reasons", 0)
    return (f"{gpus:8,}{len(answer['actions']):10,}{answer['reasons']['computed']:9}{answer['reasons']['what_ifs']:10}{seconds:8.1f}"
            f"{without:8.1f}{seconds - without:9.1f}{100 * answer['gap']:8.2f}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--gpus", default="1000,3000")
    arguments.add_argument("--services", type=int, default=100)
    arguments.add_argument("--at", type=int, default=0)
    arguments.add_argument("--reasons", default="20")
    arguments.add_argument("--no-layout", dest="layout", action="store_false")
    options = arguments.parse_args()
    print(f"{'GPUs':>8}{'steps':>10}{'computed':>9}{'searches':>10}{'all':>8}{'plan':>8}{'reasons':>9}{'gap %':>8}")
    for gpus in options.gpus.split(","):
        print(measure(int(gpus), options), flush=True)


if __name__ == "__main__":
    sys.exit(main())
