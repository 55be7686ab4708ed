#!/usr/bin/env python3
"""Estimates of start times: what each line must hold, and how good they are beside the obvious answer.

    sched_estimates.py --trace T --trace-format own|philly|shockwave --gpus N [options of the world] \\
        --log L --estimates E

prints for each policy, over the jobs that do not start at once: how many starts p90 holds for in percent, and the mean
pinball loss at 0.5 and 0.9 beside that of the quantiles (nearest rank) of the last 500 waits above 0 of jobs of that
size that have started by then; 0 where there is none.
"""

import argparse
import json
import sys
from bisect import bisect_left, insort
from collections import defaultdict, deque
from typing import Callable

import sched_input
import sched_replay
import sched_rules
from sched_replay import Timeline

WAITS_LAST = 500
Quantiles = tuple[int, int]


def read_estimates(path: str, policy: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(text) for text in file]
    return [line for line in lines if line.get("policy") == policy]


def errors_of(policy: str, path: str, timeline: Timeline) -> list[str]:
    """One line for each job, at its submit, in order of time; p50 <= p90; both t_s where it starts at once."""
    rows = {job.name: job.row for job in timeline.jobs}
    seen: set[int] = set()
    last = 0
    for line in read_estimates(path, policy):
        row = rows.get(line.get("job"))
        times = [line.get(key) for key in ("t_s", "start_p50_s", "start_p90_s")]
        if row is None or row in seen or any(type(second) is not int for second in times):
            return [f"estimates: a job unknown or twice, or times that are none: {line}"]
        seen.add(row)
        if times[0] != timeline.jobs[row].submit_s or times[0] < last or times != sorted(times):
            return [f"estimates: wanted the submit, in order, then p50 <= p90: {line}"]
        if timeline.first_start_s[row] == times[0] and times[2] != times[0]:
            return [f"estimates: the job starts at once: {line}"]
        last = times[0]
    return [] if len(seen) == len(rows) else [f"estimates: {len(rows) - len(seen)} jobs without a line"]


def pinball(quantile: float, found: int, wanted: int) -> float:
    return quantile * (wanted - found) if wanted >= found else (1 - quantile) * (found - wanted)


class LastWaits:
    """The last 500 waits above 0 of one size, and sorted."""

    def __init__(self) -> None:
        self.order: deque[int] = deque()
        self.values: list[int] = []

    def add(self, wait: int) -> None:
        self.order.append(wait)
        insort(self.values, wait)
        if len(self.order) > WAITS_LAST:
            del self.values[bisect_left(self.values, self.order.popleft())]

    def quantile(self, percent: int) -> int:
        return self.values[max(1, -(-len(self.values) * percent // 100)) - 1] if self.values else 0


def obvious_answers(timeline: Timeline) -> dict[int, Quantiles]:
    """Start times by row; waits of those that start at the instant of the submit count already."""
    jobs = timeline.jobs
    starts = sorted((second, row) for row, second in timeline.first_start_s.items())
    waits: dict[int, LastWaits] = defaultdict(LastWaits)
    answers, at = {}, 0
    for job in sorted(jobs, key=lambda job: (job.submit_s, job.row)):
        while at < len(starts) and starts[at][0] <= job.submit_s:
            second, row = starts[at]
            at += 1
            if second > jobs[row].submit_s:
                waits[jobs[row].gpus].add(second - jobs[row].submit_s)
        last = waits[job.gpus]
        answers[job.row] = (job.submit_s + last.quantile(50), job.submit_s + last.quantile(90))
    return answers


def quality(timeline: Timeline, answer: Callable[[int], Quantiles]) -> tuple[float, float, float]:
    """Percent of starts that p90 holds for, mean pinball losses at 0.5 and 0.9; of those that wait."""
    held, losses, count = 0, [0.0, 0.0], 0
    for job in timeline.jobs:
        start = timeline.first_start_s[job.row]
        if start == job.submit_s:
            continue
        count += 1
        half, most = answer(job.row)
        held += start <= most
        losses[0] += pinball(0.5, half, start)
        losses[1] += pinball(0.9, most, start)
    return 100 * held / max(count, 1), losses[0] / max(count, 1), losses[1] / max(count, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sched_rules.add_world(parser)
    parser.add_argument("--log", required=True)
    parser.add_argument("--estimates", required=True)
    arguments = parser.parse_args()
    jobs, _ = sched_input.load(arguments.trace, arguments.trace_format, arguments.tenants, arguments.gpus)
    logs: dict[str, list[dict]] = defaultdict(list)
    with open(arguments.log, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            logs[line["policy"]].append(line)
    for policy in [policy for policy in sched_input.ESTIMATE_POLICIES if policy in logs]:
        timeline = sched_replay.timeline_of(policy, jobs, sched_rules.options_of(arguments), logs[policy])
        rows = {job.name: job.row for job in jobs}
        ours = {rows[line["job"]]: (line["start_p50_s"], line["start_p90_s"])
                for line in read_estimates(arguments.estimates, policy)}
        for name, answers in (("ours", ours), ("obvious", obvious_answers(timeline))):
            held, half, most = quality(timeline, answers.__getitem__)
            print(f"{policy} {name}: p90 holds {held:.2f} %, pinball 0.5 {half:.1f}, 0.9 {most:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
