#!/usr/bin/env python3
"""Goodput of `berth` and its rivals, on replays of real traces (scenarios: goodput_scenarios.py).

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/goodput.py [--seeds N] [--only TEXT] [--objective services]
        [--policies a,b] [--jobs N]

For each scenario and seed: the goodput of every policy, the bound, and changes. Then the bars: how far `berth` is below the best online
rival at worst, its share of the way from `static-even` to `clairvoyant` where that way is at least 0.02, its share of `clairvoyant`,
its changes compared with ekya's and astraea's, and the mean gain over each rival with the figures that MIGRator's paper published.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

from goodput_scenarios import write_all

RIVALS = ["static-even", "paris", "ekya", "astraea", "migrator"]
YARDSTICKS = ["static-best", "clairvoyant"]
PUBLISHED = {"ekya": 17, "astraea": 21, "paris": 20}
CONTENDED = 0.02

# A replay: goodput and changes by policy. "bound" is one of the goodputs.
Run = collections.namedtuple("Run", "name goodput changes")
# The difference between berth and the best online rival, as a share of that rival's goodput.
Comparison = collections.namedtuple("Comparison", "share run rival")


def key_of(objective):
    return "goodput_mean_of_services" if objective == "services" else "goodput"


def replay(path, policies, seed=1, settings=()):
    """The answer of `berth replay`, with `settings` for --set; the program's message if it fails."""
    command = [os.environ["BERTH_PROGRAM"], "replay", path, "--policies", ",".join(policies), "--seed", str(seed), "--format", "json",
               *(word for setting in settings for word in ("--set", setting))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def figures(answer, key):
    values = {policy["name"]: policy.get(key) for policy in answer["policies"] if not policy.get("infeasible")}
    if "bound" in answer:
        values["bound"] = answer["bound"][key]
    return values


def changes_of(answer):
    return {policy["name"]: policy["changes"] for policy in answer["policies"] if not policy.get("infeasible")}


def run_all(scenarios, policies, seeds, key, jobs):
    """Yields a Run for each (name, path) and seed, in that order, several at a time."""
    tasks = [(name, path, seed) for name, path in scenarios for seed in seeds]

    def run(task):
        name, path, seed = task
        answer = replay(path, policies, seed)
        return Run(f"{name} {seed}", figures(answer, key), changes_of(answer))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run, tasks)


def known_policies():
    text = subprocess.run([os.environ["BERTH_PROGRAM"], "replay", "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in ["berth", *RIVALS, *YARDSTICKS] if name in text]


def heading(columns):
    return f"{'':28}" + "".join(f"{column:>12}" for column in columns)


def row(run, columns):
    return f"{run.name:28}" + "".join(f"{run.goodput.get(column, float('nan')):>12.4f}" for column in columns)


def with_both(runs, first, second):
    """The runs in which both policies have a goodput."""
    return [run for run in runs if run.goodput.get(first) and run.goodput.get(second)]


def worst_compared_with_rivals(runs):
    """The minimum of berth's goodput over the best online rival's, minus 1. None without rivals."""
    found = []
    for run in runs:
        rivals = {rival: run.goodput[rival] for rival in RIVALS if run.goodput.get(rival)}
        if rivals:
            best = max(rivals, key=rivals.get)
            found.append(Comparison(run.goodput["berth"] / rivals[best] - 1, run.name, best))
    return min(found, default=None)


def share_of_way(runs):
    """(berth's share of the way from static-even to clairvoyant over sums, contended runs); the share is None without such a run."""
    way = [(run.goodput["berth"] - run.goodput["static-even"], run.goodput["clairvoyant"] - run.goodput["static-even"])
           for run in with_both(runs, "static-even", "clairvoyant")]
    way = [(ours, all_of_it) for ours, all_of_it in way if all_of_it >= CONTENDED]
    return (sum(ours for ours, _ in way) / sum(all_of_it for _, all_of_it in way) if way else None), len(way)


def mean_ratio(runs, other):
    """The mean of berth's goodput over another's. None if no run has both."""
    ratios = [run.goodput["berth"] / run.goodput[other] for run in with_both(runs, "berth", other)]
    return sum(ratios) / len(ratios) if ratios else None


def has_retraining(run):
    scenario = run.name.split()[0]
    return not scenario.endswith("-none")


def gains_in_words(runs, rival):
    """Berth's mean gain with models that retrain, without, and the published figure."""
    words = []
    for title, chosen in [("with retraining", [run for run in runs if has_retraining(run)]),
                          ("without", [run for run in runs if not has_retraining(run)])]:
        if (ratio := mean_ratio(chosen, rival)) is not None:
            words.append(f"{title} {100 * (ratio - 1):+.1f} %")
    if rival in PUBLISHED:
        words.append(f"MIGRator published {PUBLISHED[rival]:+} %")
    return "; ".join(words)


def gain_over_sums(runs, other):
    """Berth's goodput over another's, both summed over all runs, minus 1."""
    both = with_both(runs, "berth", other)
    return sum(run.goodput["berth"] for run in both) / sum(run.goodput[other] for run in both) - 1


def changes_compared(runs, other):
    """(berth's changes, the other's) in the runs that both have."""
    both = with_both(runs, "berth", other)
    return sum(run.changes["berth"] for run in both), sum(run.changes[other] for run in both)


def summary(runs):
    """The bars in words."""
    lines = []
    if worst := worst_compared_with_rivals(runs):
        lines.append(f"least against the best online rival: {100 * worst.share:+.2f} % ({worst.run}, {worst.rival})   bar: -0.50 %")
    share, count = share_of_way(runs)
    if share is not None:
        lines.append(f"way from static-even to clairvoyant, {count} contended runs: {100 * share:.1f} %   bar: 60 %")
    for other, text in [("clairvoyant", "   bar: 97 %"), ("bound", ""), ("static-best", "")]:
        if (ratio := mean_ratio(runs, other)) is not None:
            lines.append(f"mean share of {'the bound' if other == 'bound' else other}: {100 * ratio:.2f} %{text}")
    changing = [name for name in ["berth", "clairvoyant", *RIVALS] if any(name in run.changes for run in runs)]
    lines.append("changes: " + ", ".join(f"{name} {sum(run.changes.get(name, 0) for run in runs)}" for name in changing))
    for rival in RIVALS:
        if (ratio := mean_ratio(runs, rival)) is not None:
            lines.append(f"mean gain over {rival}: {100 * (ratio - 1):+.1f} %   ({gains_in_words(runs, rival)})")
    return lines


def measure(policies, objective, seeds, only, jobs, scenarios=None):
    """Runs and prints it all; returns the runs."""
    columns = [*policies, "bound"]
    print(heading(columns), flush=True)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        written = [(name, path) for name, path in write_all(folder, objective, scenarios=scenarios) if only in name]
        for run in run_all(written, policies, range(1, seeds + 1), key_of(objective), jobs):
            runs.append(run)
            print(row(run, columns), flush=True)
    print()
    print("\n".join(summary(runs)), flush=True)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--objective", choices=["services", "requests"], default="services")
    parser.add_argument("--policies", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="replays at a time")
    options = parser.parse_args()
    policies = options.policies.split(",") if options.policies else known_policies()
    if not measure(policies, options.objective, options.seeds, options.only, options.jobs):
        sys.exit("no scenario has such a name")


if __name__ == "__main__":
    main()
