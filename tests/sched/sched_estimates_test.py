#!/usr/bin/env python3
"""`berth schedule --estimates`: what every line must hold on random lists, and how good they are on public traces.

Without BERTH_DATA the traces are left out, which is said; without a program all is skipped (77).
"""

import os
import subprocess
import sys
import tempfile

import sched_estimates_table
import sched_input
import sched_random
import sched_replay
import sched_estimates
from sched_input import ESTIMATE_POLICIES
from sched_program_test import PROGRAM, SECONDS_MAX, read

SEEDS = range(25)
TRACES = ("Philly, 500 GPUs", "Philly, 600 GPUs", "Shockwave")
# Where fewer jobs wait, chance decides.
FEW = 100


def run(case: sched_random.Case, folder: str, trace: str, out: str) -> None:
    arguments = [{"jobs.csv": trace}.get(one, one) for one in sched_random.arguments_of(case)]
    subprocess.run([PROGRAM, "schedule", *arguments, "--policies", ",".join(ESTIMATE_POLICIES), "--log", out + ".log",
                    "--estimates", out], cwd=folder, check=True, capture_output=True, timeout=SECONDS_MAX)


def random_errors(seed: int) -> list[str]:
    """Lines as they must be, twice the same bytes, and names decide nothing."""
    case = sched_random.make_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        sched_random.write_case(case, folder)
        run(case, folder, "jobs.csv", "one")
        run(case, folder, "jobs.csv", "two")
        errors = [] if read(folder, "one") == read(folder, "two") else ["two runs differ"]
        tenants = os.path.join(folder, "tenants.csv") if case.tenants else None
        jobs, _ = sched_input.load(os.path.join(folder, "jobs.csv"), "own", tenants, case.options.gpus)
        for policy in ESTIMATE_POLICIES:
            lines = sched_estimates.read_estimates(os.path.join(folder, "one.log"), policy)
            timeline = sched_replay.timeline_of(policy, jobs, case.options, lines)
            errors += sched_estimates.errors_of(policy, os.path.join(folder, "one"), timeline)
        if case.swapped:
            run(case, folder, "swapped.csv", "swapped")
            errors += swap_errors(case, folder)
    return errors


def swap_errors(case: sched_random.Case, folder: str) -> list[str]:
    swap = dict([case.swapped, case.swapped[::-1]])

    def lines(name: str, names: dict[str, str]) -> list[dict]:
        return [line | {"job": names.get(line["job"], line["job"])}
                for policy in ESTIMATE_POLICIES
                for line in sched_estimates.read_estimates(os.path.join(folder, name), policy)]

    return [] if lines("swapped", {}) == lines("one", swap) else ["names decide more than names"]


def file_errors() -> list[str]:
    """Nothing is written where the run fails, or where both files are one."""
    with tempfile.TemporaryDirectory() as folder:
        sched_random.write_text(folder, "jobs.csv", "job,submit_s,gpus,duration_s\na,0,9,1\n")
        errors = []
        for further in (["--estimates", "e"], ["--estimates", "e", "--log", "e"], ["--estimates", ""]):
            result = subprocess.run([PROGRAM, "schedule", "--trace", "jobs.csv", "--gpus", "8", *further], cwd=folder,
                                    capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            if result.returncode != 2 or os.path.exists(os.path.join(folder, "e")):
                errors.append(f"{further}: status {result.returncode}, or something is written")
        return errors


def trace_errors() -> list[str]:
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for job_list in sched_estimates_table.all_lists(folder):
            if not job_list.name.startswith(TRACES):
                continue
            wrong, qualities = sched_estimates_table.quality_of(job_list, folder)
            errors += [f"{job_list.name}: {error}" for error in wrong]
            errors += [f"{job_list.name}: {policy}: {sched_estimates_table.cell(quality)}"
                       for policy, quality in qualities.items() if not quality.is_good() and quality.count >= FEW]
    return errors


def main() -> int:
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    errors = file_errors()
    for seed in SEEDS:
        errors += [f"seed {seed}: {error}" for error in random_errors(seed)]
    if os.path.exists(os.path.join(sched_estimates_table.DATA, sched_estimates_table.PHILLY)):
        errors += trace_errors()
    else:
        print("without traces: BERTH_DATA names no folder that has them")
    for error in errors:
        print(error)
    print(f"{len(SEEDS)} random lists, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
