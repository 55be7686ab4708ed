#!/usr/bin/env python3
"""The goodput of `berth` as a change costs more: a sweep over `changes: {plumbing_seconds: C}`.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/sweep.py [--costs 0,1,5] [--only TEXT] [--seed N]
        [--objective services] [--jobs N]

All scenarios of goodput_scenarios.py, one seed, each with every cost. For each cost: the mean goodput of `berth`, `static-even` and
`static-best`, how far `berth` is below `static-even` at worst, and how far below `static-best`, which knows the whole trace, on average.
A static layout has this cost only if a slice serves again after it retrained. `static-best` takes long to find, so it is
searched for once, with the lowest cost: with a higher one its goodput could only be lower.
"""

import argparse
import collections
import concurrent.futures
import os
import sys
import tempfile

from goodput import figures, key_of, replay
from goodput_scenarios import write_all

COSTS = [0, 1, 5, 15, 30, 60, 120]

# Shares: berth / static-even - 1 at worst, with the scenario; (static-best - berth) / static-best on average.
Point = collections.namedtuple("Point", "cost berth static_even static_best worst worst_name below_best changes")


def run_one(path, objective, seed, with_best):
    policies = ["berth", "static-even"] + (["static-best"] if with_best else [])
    answer = replay(path, policies, seed)
    return {**figures(answer, key_of(objective)), "changes": answer["policies"][0]["changes"]}


def point_of(cost, rows):
    """From {scenario: {policy: goodput}}."""
    def mean(values):
        return sum(values) / len(rows)

    worst, name = min((row["berth"] / row["static-even"] - 1, name) for name, row in rows.items())
    return Point(cost, mean(row["berth"] for row in rows.values()), mean(row["static-even"] for row in rows.values()),
                 mean(row["static-best"] for row in rows.values()), worst, name,
                 mean((row["static-best"] - row["berth"]) / row["static-best"] for row in rows.values()),
                 sum(row["changes"] for row in rows.values()))


def points(costs, names, results):
    """A Point for each cost, as the results come, by cost and then scenario."""
    best = {}
    for cost in costs:
        rows = {name: next(results) for name in names}
        best = best or {name: row["static-best"] for name, row in rows.items()}
        yield point_of(cost, {name: {**row, "static-best": best[name]} for name, row in rows.items()})


def measure(costs, only, seed, objective, jobs, scenarios=None):
    """Runs and prints the sweep; returns its points."""
    costs = sorted(costs)
    print(f"{'cost, s':>8}{'berth':>10}{'static-even':>13}{'static-best':>13}{'worst against':>15}{'mean below':>14}{'changes':>9}")
    print(f"{'':8}{'':10}{'':13}{'':13}{'static-even':>15}{'static-best':>14}")
    measured = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = []
        for cost in costs:
            inside = os.path.join(folder, str(cost))
            os.mkdir(inside)
            written = write_all(inside, objective, [f"changes: {{plumbing_seconds: {cost}}}"], scenarios=scenarios)
            chosen = [(name, path) for name, path in written if only in name]
            tasks += [(path, cost == costs[0]) for _, path in chosen]
        if not chosen:
            sys.exit("no scenario has such a name")
        results = pool.map(lambda task: run_one(task[0], objective, seed, task[1]), tasks)
        for point in points(costs, [name for name, _ in chosen], results):
            measured.append(point)
            print(f"{point.cost:8}{point.berth:10.4f}{point.static_even:13.4f}{point.static_best:13.4f}{100 * point.worst:13.2f} %"
                  f"{100 * point.below_best:12.2f} %{point.changes:9}   {point.worst_name}", flush=True)
    print("\n".join(summary(measured)), flush=True)
    return measured


def worst_of(measured):
    return min(measured, key=lambda point: point.worst)


def mean_below_best(measured):
    return sum(point.below_best for point in measured) / len(measured)


def summary(measured):
    worst = worst_of(measured)
    return [f"least against static-even: {100 * worst.worst:+.2f} % ({worst.worst_name}, {worst.cost} s)   bar: -0.50 %",
            f"mean below static-best: {100 * mean_below_best(measured):.2f} %   bar: 1 %"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--costs", type=lambda text: [int(cost) for cost in text.split(",")], default=COSTS, help="seconds")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--objective", choices=["services", "requests"], default="services")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="replays at a time")
    options = parser.parse_args()
    measure(options.costs, options.only, options.seed, options.objective, options.jobs)


if __name__ == "__main__":
    main()
