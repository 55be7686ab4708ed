#!/usr/bin/env python3
"""Tunes the parameters of a policy that repartitions during the run, by one rule for all of them.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/tune.py ekya|astraea|migrator|berth
        [--start ekya.period_seconds=10]... [--parameters period_seconds,gain_min] [--rounds N] [--only TEXT] [--jobs N]

Coordinate descent over the grid below, from the program's defaults or --start. One parameter after the other is varied, the others are kept: one
that has its default takes each value of its grid; one that was set moves to the next smaller or larger value as long as that is
better. Better is a mean goodput over the scenarios of goodput_scenarios.py that is higher by at least 0.0001. Repeated
until nothing changes. The objective is services, one seed. Prints each setting with its mean goodput, changes and seconds of work, then
the chosen one and the defaults, scenario by scenario. paris has no parameters.

    ... tune.py ekya --try period_seconds=200 --try period_seconds=10,horizon_seconds=30

prints the given settings instead, without a search.
"""

import argparse
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import tempfile

from goodput_scenarios import write_all

KEY = "goodput_mean_of_services"
ENOUGH = 0.0001

# In the order in which they are varied: the most important first.
GRIDS = {
    "ekya": {
        "period_seconds": [5, 10, 20, 50, 100, 200],
        "horizon_seconds": [10, 20, 30, 60, 120, 200],
        "gain_min": [0, 0.002, 0.004, 0.008, 0.016, 0.03],
        "capacity_factor": [0.9, 0.94, 0.97, 1.0, 1.03, 1.06, 1.1],
        "nearness_weight": [0.001, 0.005, 0.01, 0.02, 0.05, 0.1],  # at 0 the thief would have no influence
    },
    "astraea": {
        "period_seconds": [2, 5, 10, 20, 50, 200],
        "horizon_seconds": [10, 20, 30, 60, 120, 200],
        "target_level": [0.5, 0.7, 0.8, 0.9, 0.97],
        "gain_min": [0, 0.002, 0.005, 0.01, 0.02, 0.03],
        "capacity_factor": [0.9, 0.94, 0.97, 1.0, 1.03, 1.06, 1.1],
        "retraining_weight": [0, 0.25, 0.5, 1],
    },
    "migrator": {
        "period_seconds": [10, 20, 50, 100, 200],
        "block_seconds": [5, 10, 20, 50, 100],
        "block_growth": [1, 1.5, 2, 3, 5],
        "gain_min": [0, 0.002, 0.005, 0.01, 0.02, 0.03],
        "change_factor": [1, 1.5, 2, 3, 5],
        "horizon_seconds": [50, 100, 200],
        "capacity_factor": [0.9, 0.94, 0.97, 1.0, 1.03, 1.06, 1.1],
        "patience_seconds": [0, 5, 10, 20],
        "gap_allowed": [0, 0.0005, 0.005],
        "nodes_max": [0, 20, 200],
    },
    "berth": {
        "period_seconds": [2, 5, 10, 20],
        "tail_seconds": [25, 50, 100, 200, 400],
        "gain_min_seconds": [0, 0.25, 0.5, 1, 2, 4],
        "nodes_max": [1000, 5000, 20000],
    },
}


def text_of(settings):
    return ",".join(f"{name}={value:g}" for name, value in settings.items()) or "defaults"


def settings_of(text, policy):
    """From "ekya.period_seconds=10" or "period_seconds=10", several with commas."""
    settings = {}
    for part in filter(None, text.split(",")):
        name, value = part.split("=")
        settings[name.removeprefix(policy + ".")] = float(value)
    return settings


class Bench:
    """Runs settings on all scenarios, each once."""

    def __init__(self, policy, scenarios, options):
        self.policy, self.scenarios, self.options = policy, scenarios, options
        self.known = {}

    def replay(self, path, settings):
        command = [os.environ["BERTH_PROGRAM"], "replay", path, "--policies", self.policy, "--seed", str(self.options.seed), "--format",
                   "json"]
        for name, value in settings.items():
            command += ["--set", f"{self.policy}.{name}={value:g}"]
        answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["policies"][0]
        if answer.get("infeasible"):
            sys.exit(f"{path}: {answer['infeasible']}")
        return answer[KEY], answer["changes"]

    def run(self, settings):
        """[(goodput, changes)] by scenario."""
        text = text_of(settings)
        if text not in self.known:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
                self.known[text] = list(pool.map(lambda path: self.replay(path, settings), self.scenarios.values()))
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            changes = sum(figures[1] for figures in self.known[text])
            print(f"{self.goodput(settings):9.5f} {changes:6} changes {seconds:7.1f} s  {text}", flush=True)
        return self.known[text]

    def goodput(self, settings):
        figures = self.known.get(text_of(settings)) or self.run(settings)
        return sum(value for value, _ in figures) / len(figures)


def ordered(settings, grid):
    """The same settings in canonical order, so that a setting runs only once."""
    return {name: settings[name] for name in grid if name in settings}


def next_values(values, value):
    """The next smaller and the next larger value of the grid."""
    return [other for other in [max((v for v in values if v < value), default=None), min((v for v in values if v > value), default=None)]
            if other is not None]


def turn(bench, values, name, settings):
    """The settings with the best value of one parameter that the rule finds."""
    def tried(values, settings):
        for value in values:
            candidate = ordered({**settings, name: value}, GRIDS[bench.policy])
            if bench.goodput(candidate) >= bench.goodput(settings) + ENOUGH:
                return candidate
        return settings

    if name not in settings:
        for value in values:
            settings = tried([value], settings)
        return settings
    while (better := tried(next_values(values, settings[name]), settings)) != settings:
        settings = better
    return settings


def descend(bench, grid, settings, rounds):
    bench.run(settings)
    for number in range(rounds):
        before = settings
        for name, values in grid.items():
            settings = turn(bench, values, name, settings)
        print(f"after round {number + 1}: {text_of(settings)}", flush=True)
        if settings == before:
            break
    return settings


def compare(bench, settings):
    print(f"\n{'':28}{'defaults':>10}{'changes':>9}{'chosen':>10}{'changes':>9}")
    for name, default, chosen in zip(bench.scenarios, bench.run({}), bench.run(settings)):
        print(f"{name:28}{default[0]:10.4f}{default[1]:9}{chosen[0]:10.4f}{chosen[1]:9}")
    print(f"{'mean, total':28}{bench.goodput({}):10.4f}{sum(f[1] for f in bench.run({})):9}"
          f"{bench.goodput(settings):10.4f}{sum(f[1] for f in bench.run(settings)):9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", choices=GRIDS)
    parser.add_argument("--start", action="append", default=[], help="parameter=value, instead of the default")
    parser.add_argument("--try", dest="tries", action="append", default=[], help="only this setting: parameter=value,...")
    parser.add_argument("--parameters", default="", help="only these are varied")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="scenarios whose name contains one of these, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="replays at a time")
    options = parser.parse_args()
    grid = {name: values for name, values in GRIDS[options.policy].items()
            if not options.parameters or name in options.parameters.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        scenarios = {name: path for name, path in write_all(folder, "services")
                     if any(text in name for text in options.only.split(","))}
        bench = Bench(options.policy, scenarios, options)
        if options.tries:
            for text in options.tries:
                bench.run(settings_of(text, options.policy))
            return
        start = ordered(settings_of(",".join(options.start), options.policy), GRIDS[options.policy])
        compare(bench, descend(bench, grid, start, options.rounds))


if __name__ == "__main__":
    main()
