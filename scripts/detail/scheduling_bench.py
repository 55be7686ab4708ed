#!/usr/bin/env python3
"""Bars of `berth place` and `berth schedule`, by the program itself, rivals in the same run.

    BERTH_DATA=DATA python3 scripts/detail/scheduling_bench.py BERTH [--only fill,philly] [--quick]

Pods, on the nine public lists of the FGD paper that are at hand ($BERTH_DATA/openb), seeds 42 to 51 (placement_bars.py):
reproduce  the six published policies at 100 and 130 % demand: distance from the published mean, in its standard deviations
fill       allocated at 130 % demand, all policies
churn      allocated while pods come and go, all policies, seeds 42 to 44
slices     every GPU as an A100-80GB that can be partitioned: first, best, berth; berth with 0, 1 and 3 moves
decisions  time of a decision of berth on each list, the others beside it
nodes5000  5,000 nodes, 10,000 and 50,000 pods: the default list again and again in its order, names made unique
gpus10     500 nodes of 10 GPUs, node i of model i mod 5, with 128,000 CPU milli and 1,000,000 MiB; 5,000 pods with one whole GPU,
           1,000 CPU milli and 1,000 MiB, pod i for the models i mod 5 and (i + 1) mod 5. Shown beside: pairs of models, CPU and
           memory drawn anew for each pod (CPU 1,000 to 10,999 milli, memory 1,000 to 50,999 MiB, Python's random, seed 1), so
           that no two pods are alike
variants   45 lists that nothing was tuned on: the nine with half of the nodes, less CPU, other shares of a GPU, smaller nodes, or
           nodes and pods drawn again (placement_variants.py); fill and churn, fgd and berth

Jobs (job_bars.py):
estimates  when jobs that wait will start: how often p90 holds, and pinball losses beside those of the obvious answer, quantiles of
           the last 500 waits of the size; Philly on 500 and 600 GPUs, the five Shockwave traces
philly     82,247 jobs on 500 and 600 GPUs, all policies: completion, preemptions and makespan against las
shockwave  five traces with estimates, rounds of 120 s, restarts of 20 s, all policies: makespan / bound, completion / srpt, worst rho
time       Philly: processor seconds of all policies together and of berth alone; beside it a list on which nearly all jobs wait
slots      how sure --slot is and how often that comes true, Philly (slot_bars.py)

Every command runs on one core. The table at the end has every bar, and figures without one: losses stand beside gains. The
exit status is 1 if a bar is missed. --quick takes fewer seeds and repetitions: it shows that every part runs, and its
figures are not those of the bars.
"""

import argparse
import os
import sys
from typing import NamedTuple

import job_bars
import placement_bars
import placement_variants
import slot_bars
from bar_table import BarTable
from one_core import Program

PARTS = {**placement_bars.PARTS, **placement_variants.PARTS, **job_bars.PARTS, **slot_bars.PARTS}


class Bench(NamedTuple):
    """What the parts work with."""
    berth: Program
    data: str       # the folder with the public traces
    is_quick: bool
    bars: BarTable


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="BERTH")
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="fewer seeds and repetitions")
    arguments = parser.parse_args()
    data = os.environ.get("BERTH_DATA", "")
    if not data:
        sys.exit("scheduling_bench: BERTH_DATA does not name the folder with the public traces")
    names = arguments.only.split(",")
    for name in names:
        if name not in PARTS:
            parser.error(f"--only: wanted some of {','.join(PARTS)}, found {name}")
    bench = Bench(Program(os.path.abspath(arguments.program)), data, arguments.quick, BarTable())
    for name in PARTS:
        if name in names:
            PARTS[name](bench)
    bench.bars.print()
    if arguments.quick:
        print("quick: fewer seeds and repetitions, the figures are not those of the bars")
    print(f"scheduling_bench: {bench.bars.missed} bars missed")
    sys.exit(1 if bench.bars.missed else 0)


if __name__ == "__main__":
    main()
