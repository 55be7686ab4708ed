#!/usr/bin/env python3
"""How good `berth schedule --estimates` is on many lists, beside the obvious answer, as a table in Markdown.

    BERTH_PROGRAM=build/release/berth BERTH_DATA=../shared/data sched_estimates_table.py [--lists WORD,WORD]

`--lists`: part of the names, else all. Each cell: percent of the starts that p90 holds for; pinball loss at 0.5 and at
0.9 as a share of that of the obvious answer (quantiles of the last 500 waits of jobs of that size that have started).
Cells outside of 85 to 95 %, or above 1, are marked with !. Exit status 1 if a line breaks a rule, 77 without a program.
"""

import argparse
import glob
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from typing import NamedTuple

import sched_estimates
import sched_input
import sched_replay
from sched_input import ESTIMATE_POLICIES, Options

PROGRAM, DATA = os.environ.get("BERTH_PROGRAM", ""), os.environ.get("BERTH_DATA", "")
PHILLY = "philly/philly_jobs.csv"
SHOCKWAVE = {"120_0.2_5_100_40_25": 32, "220_0.2_5_100_25_4": 64, "460_0.2_5_100_10_1": 128,
             "900_0.2_5_1000_5_15": 256, "900_0.2_5_100_5_15": 256}
SECONDS_MAX = 600
COVERAGE = (85, 95)


class JobList(NamedTuple):
    name: str
    trace: str
    trace_format: str
    options: Options
    tenants: str | None = None


class Quality(NamedTuple):
    count: int
    holds: float      # percent
    loss_half: float  # of the obvious answer's
    loss_most: float

    def is_good(self) -> bool:
        return COVERAGE[0] <= self.holds <= COVERAGE[1] and self.loss_half <= 1 and self.loss_most <= 1


# Lists

def philly_lists(folder: str) -> list[JobList]:
    with open(os.path.join(DATA, PHILLY), encoding="utf-8") as file:
        header, *rows = [line for line in file.read().splitlines() if line]
    middle = len(rows) // 2
    parts = [("Philly", rows, (450, 500, 550, 600, 700)), ("Philly, even rows", rows[::2], (250, 300)),
             ("Philly, odd rows", rows[1::2], (250, 300)), ("Philly, first half", rows[:middle], (500, 600)),
             ("Philly, second half", rows[middle:], (500, 600))]
    lists = []
    for number, (name, part, sizes) in enumerate(parts):
        path = os.path.join(folder, f"philly{number}.csv")
        write(path, [header] + part)
        lists += [JobList(f"{name}, {gpus} GPUs", path, "philly", Options(gpus)) for gpus in sizes]
    return lists


def shockwave_lists() -> list[JobList]:
    lists = []
    for name, gpus in SHOCKWAVE.items():
        path = glob.glob(os.path.join(DATA, f"shockwave/traces/{name}*.trace"))[0]
        for share in (0.75, 1, 1.25):
            size = int(gpus * share)
            options = Options(size, round_seconds=120, restart_seconds=20)
            lists.append(JobList(f"Shockwave {name.split('_')[0]} ({name.split('_')[3]}), {size} GPUs", path,
                                 "shockwave", options))
    return lists


def write(path: str, lines: list[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines) + "\n")


def generated(path: str, seed: int, load: float, share: float, noise: float) -> None:
    """2,000 jobs of four tenants for 64 GPUs, some with estimates that are wrong by e to the power of `noise`."""
    rng = random.Random(f"estimates {seed}")
    jobs = [(rng.choices((1, 2, 4, 8, 16), (50, 15, 15, 15, 5))[0], max(30, int(math.exp(rng.gauss(7.5, 1.4)))))
            for _ in range(2000)]
    gap = sum(gpus * duration for gpus, duration in jobs) / len(jobs) / (64 * load)
    now, lines = 0.0, ["job,submit_s,gpus,duration_s,tenant,estimate_s,priority"]
    for row, (gpus, duration) in enumerate(jobs):
        now += rng.expovariate(1 / gap)
        estimate = max(1, int(duration * math.exp(rng.gauss(0, noise)))) if rng.random() < share else ""
        tenant = rng.choices(("research", "ads", "search", "infra"), (4, 3, 2, 1))[0]
        priority = rng.choices((0, 1), (9, 1))[0]
        lines.append(f"j{row},{int(now)},{gpus},{duration},{tenant},{estimate},{priority}")
    write(path, lines)


def generated_lists(folder: str) -> list[JobList]:
    tenants = os.path.join(folder, "tenants.csv")
    write(tenants, ["tenant,parent,guaranteed,limit,weight", "lab,,32,,1", "research,lab,16,,2", "ads,lab,8,,1",
                    "prod,,16,,1", "search,prod,8,32,1", "infra,prod,0,,1"])
    lists = []
    for seed, (load, share, noise, word) in enumerate(((0.9, 0, 0, "no estimates"), (1.0, 1, 0, "exact estimates"),
                                                       (1.0, 1, 0.5, "estimates e^0.5"),
                                                       (1.0, 0.5, 0.5, "half of them with estimates e^0.5"))):
        path = os.path.join(folder, f"own{seed}.csv")
        generated(path, seed, load, share, noise)
        lists.append(JobList(f"Generated, four tenants, {word}", path, "own", Options(64), tenants))
    return lists


def all_lists(folder: str) -> list[JobList]:
    has_data = bool(DATA) and os.path.exists(os.path.join(DATA, PHILLY))
    return (philly_lists(folder) + shockwave_lists() if has_data else []) + generated_lists(folder)


# Quality

def quality_of(job_list: JobList, folder: str) -> tuple[list[str], dict[str, Quality]]:
    """What is wrong with the lines, and how good they are by policy."""
    log, estimates = os.path.join(folder, "log.jsonl"), os.path.join(folder, "estimates.jsonl")
    options = [part for name, value in job_list.options._asdict().items()
               for part in ("--" + name.replace("_", "-"), str(value))]
    subprocess.run([PROGRAM, "schedule", "--trace", job_list.trace, "--trace-format", job_list.trace_format, *options,
                    "--policies", ",".join(ESTIMATE_POLICIES), "--log", log, "--estimates", estimates]
                   + (["--tenants", job_list.tenants] if job_list.tenants else []),
                   check=True, capture_output=True, timeout=SECONDS_MAX)
    jobs, _ = sched_input.load(job_list.trace, job_list.trace_format, job_list.tenants, job_list.options.gpus)
    lines = defaultdict(list)
    with open(log, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            lines[line["policy"]].append(line)
    errors, qualities = [], {}
    for policy in ESTIMATE_POLICIES:
        timeline = sched_replay.timeline_of(policy, jobs, job_list.options, lines[policy])
        errors += sched_estimates.errors_of(policy, estimates, timeline)
        qualities[policy] = compared(policy, estimates, timeline)
    return errors, qualities


def compared(policy: str, estimates: str, timeline: sched_replay.Timeline) -> Quality:
    rows = {job.name: job.row for job in timeline.jobs}
    ours = {rows[line["job"]]: (line["start_p50_s"], line["start_p90_s"])
            for line in sched_estimates.read_estimates(estimates, policy)}
    holds, half, most = sched_estimates.quality(timeline, ours.__getitem__)
    _, obvious_half, obvious_most = sched_estimates.quality(timeline,
                                                            sched_estimates.obvious_answers(timeline).__getitem__)
    count = sum(timeline.first_start_s[job.row] > job.submit_s for job in timeline.jobs)
    return Quality(count, holds, half / obvious_half if obvious_half else 0, most / obvious_most if obvious_most else 0)


def cell(quality: Quality) -> str:
    text = f"{quality.holds:.1f} %, {quality.loss_half:.2f}, {quality.loss_most:.2f}"
    return text if quality.is_good() else text + " !"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", default="")
    words = parser.parse_args().lists.split(",")
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    count = good = wrong = 0
    print("| List | " + " | ".join(f"`{policy}`" for policy in ESTIMATE_POLICIES) + " |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for job_list in all_lists(folder):
            if not any(word in job_list.name for word in words):
                continue
            errors, qualities = quality_of(job_list, folder)
            wrong += len(errors)
            for error in errors:
                print(f"{job_list.name}: {error}", file=sys.stderr)
            print(f"| {job_list.name} | " + " | ".join(cell(one) for one in qualities.values()) + " |", flush=True)
            count += len(qualities)
            good += sum(one.is_good() for one in qualities.values())
    print(f"\n{good} of {count}: p90 holds for {COVERAGE[0]} to {COVERAGE[1]} %, both losses at most the obvious ones")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
