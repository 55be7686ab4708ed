#!/usr/bin/env python3
"""Every bar of the planner in one table, each with its reference. `scripts/bench planner` builds and runs it.

    BERTH_DATA=DATA BERTH_PROGRAM=build/bench/berth BERTH_BENCH_FOLDER=build/bench/bench
        python3 tests/planner/bars.py [--only goodput,fleet] [--seeds 3] [--ilp-seconds 120] [--jobs N] [--quick]

The parts, in the order in which they run; each also prints its details and the command that repeats it alone:
  goodput       replays of real traces: berth, the online rivals, clairvoyant and the bound, for both objectives (goodput.py)
  changes       the changes of those runs, compared with ekya's and astraea's
  weights       what estimating the worth of an answer costs, on random windows whose past differs (weights.py)
  sweep         the same scenarios with a change that costs 0 to 120 s (sweep.py)
  ilp           the one-GPU search compared with Cbc on the integer program of the same model (integer_program.py)
  one-gpu       one GPU, 4 tenants, 200 slots: time and gap of plans on real traces (one_gpu_windows.py), and on random problems
                (src/planner/one_gpu/one_gpu_bench.cc)
  fleet         1,000 GPUs of 3 models, 100 tenants, 200 slots (src/planner/many_gpus/fleet_bench.cc)
  control-loop  an hour of 4 GPUs and 4 tenants (control_loop.py)
  size          berth size on examples/sizing, with the contribution of each idea
A part without its data is skipped, with the reason. A missed bar is no failure of the command: the exit status is 1 if
a part could not be run, 77 if all were skipped. --quick runs a little of every part within minutes; its figures are meaningless.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import control_loop
import goodput
import goodput_scenarios
import integer_program
import one_gpu_windows
import sweep
import weights
from planner_bench import counters

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
ASTRAEA_GAIN = 0.005  # with at least this much more goodput there may be more changes than astraea's
SIZE_POLICIES = ["shared", "whole", "static-best", "paris", "ekya", "astraea", "migrator", "berth"]
QUICK_SCENARIOS = goodput_scenarios.SCENARIOS[:2]
QUICK_POLICIES = ["berth", "static-even", "ekya", "astraea", "static-best", "clairvoyant"]


@dataclass
class Bar:
    """A figure and its limit: `at` is "at least", "at most", "below", or "" if it is only shown."""
    name: str
    measured: float | None
    form: str  # a format of one figure, with its unit
    compared_with: str
    at: str = ""
    limit: float = 0
    is_excused: str = ""  # the reason why a missed bar counts as met

    @property
    def is_met(self):
        if not self.at or self.is_excused:
            return True
        if self.measured is None:
            return False
        if self.at == "at least":
            return self.measured >= self.limit
        return self.measured < self.limit or (self.at == "at most" and self.measured == self.limit)

    def cells(self):
        measured = "none" if self.measured is None else self.form.format(self.measured)
        if not self.at:
            return [self.name, "shown", measured, self.compared_with, ""]
        verdict = "met" if self.is_met else "MISSED"
        if self.measured is not None:
            verdict += " by " + self.form.format(abs(self.measured - self.limit)).replace("+", "")
        if self.is_excused:
            verdict = f"met: {self.is_excused}"
        return [self.name, f"{self.at} {self.form.format(self.limit)}", measured, self.compared_with, verdict]


def goodput_runs(options, policies, known):
    """{objective: runs}, made once for all parts that need them."""
    if not known:
        for objective in ("services", "requests"):
            print(f"\n# BERTH_DATA=.. BERTH_PROGRAM=.. python3 tests/planner/goodput.py --objective {objective} --seeds {options.seeds}"
                  f" --policies {','.join(policies)}", flush=True)
            known[objective] = goodput.measure(policies, objective, options.seeds, "", options.jobs,
                                               QUICK_SCENARIOS if options.quick else None)
    return known


def goodput_bars(runs, objective):
    name = f"goodput, {objective}"
    worst = goodput.worst_compared_with_rivals(runs)
    way, count = goodput.share_of_way(runs)
    gains = {rival: goodput.mean_ratio(runs, rival) for rival in goodput.RIVALS}
    compared_with_clairvoyant = [f"{100 * ratio:.2f} % of {other}" for other in ("bound", "static-best")
                                 if (ratio := goodput.mean_ratio(runs, other)) is not None]
    bars = [Bar(f"{name}: against the best online rival, worst run", 100 * worst.share, "{:+.2f} %", f"{worst.rival}, {worst.run}",
                "at least", -0.5),
            Bar(f"{name}: way from static-even to clairvoyant", None if way is None else 100 * way, "{:.1f} %", f"{count} contended runs",
                "at least", 60),
            Bar(f"{name}: mean share of clairvoyant", 100 * goodput.mean_ratio(runs, "clairvoyant"), "{:.2f} %",
                "; ".join(compared_with_clairvoyant), "at least", 97)]
    for rival, ratio in gains.items():
        if ratio is not None:
            bars.append(Bar(f"{name}: mean gain over {rival}", 100 * (ratio - 1), "{:+.1f} %", goodput.gains_in_words(runs, rival)))
    return bars


def run_goodput(options, known):
    policies = QUICK_POLICIES if options.quick else goodput.known_policies()
    return [bar for objective, runs in goodput_runs(options, policies, known).items() for bar in goodput_bars(runs, objective)]


def changes_bars(runs, objective):
    bars = []
    for rival in ("ekya", "astraea"):
        ours, theirs = goodput.changes_compared(runs, rival)
        gain = goodput.gain_over_sums(runs, rival)
        is_excused = rival == "astraea" and ours > theirs and gain >= ASTRAEA_GAIN
        bars.append(Bar(f"changes, {objective}: against {rival}", ours, "{:,.0f}", f"goodput {100 * gain:+.2f} %", "at most", theirs,
                        f"goodput is {100 * gain:.2f} % higher" if is_excused else ""))
    return bars


def run_changes(options, known):
    runs_by_objective = goodput_runs(options, ["berth", "ekya", "astraea"], known)
    return [bar for objective, runs in runs_by_objective.items() for bar in changes_bars(runs, objective)]


def run_weights(options, _):
    seed, count = 101, 2 if options.quick else 100
    print(f"\n# BERTH_DATA=.. BERTH_PROGRAM=.. python3 tests/planner/weights.py --seed {seed} --windows {count}", flush=True)
    outcomes = weights.measure(seed, count, options.jobs)
    worst = weights.worst_over_known(outcomes)
    return [Bar(f"estimated weights, {count} windows: share of known ones", 100 * (1 + weights.mean_over_known(outcomes)), "{:.2f} %",
                f"worst {100 * worst.over_known():+.2f} % ({worst.name})", "at least", 100 * weights.BAR)]


def run_sweep(options, _):
    costs = [0, 60] if options.quick else sweep.COSTS
    print(f"\n# BERTH_DATA=.. BERTH_PROGRAM=.. python3 tests/planner/sweep.py --costs {','.join(map(str, costs))}", flush=True)
    points = sweep.measure(costs, "", 1, "services", options.jobs, QUICK_SCENARIOS if options.quick else None)
    worst = sweep.worst_of(points)
    below = {point.cost: f"{100 * point.below_best:+.2f}" for point in points}
    return [Bar(f"a change costs {costs[0]} to {costs[-1]} s: against static-even, worst run", 100 * worst.worst, "{:+.2f} %",
                f"{worst.worst_name}, {worst.cost} s", "at least", -0.5),
            Bar(f"a change costs {costs[0]} to {costs[-1]} s: mean below static-best", 100 * sweep.mean_below_best(points), "{:+.2f} %",
                "by cost: " + ", ".join(f"{cost} s {text}" for cost, text in below.items()), "at most", 1)]


def run_ilp(options, _):
    count, seconds = (4, 3) if options.quick else (integer_program.COUNT, options.ilp_seconds)
    print(f"\n# BERTH_BENCH_FOLDER=.. python3 tests/planner/integer_program.py --count {count} --seconds {seconds:g}", flush=True)
    instances = integer_program.measure(count, seconds, options.jobs)
    finished = [instance for instance in instances if integer_program.is_finished(instance)]
    same = sum(map(integer_program.is_same_optimum, instances))
    agreeing = sum(map(integer_program.agrees, instances))
    return [Bar("integer program: the same optimum, proven by both", same, "{:.0f}", f"Cbc finished {len(finished)} within {seconds:g} s",
                "at least", count),
            Bar("integer program: nothing of Cbc's contradicts ours", agreeing, "{:.0f}", "no schedule of either above the other's bound",
                "at least", count),
            Bar("integer program: ours proven optimal", sum(map(integer_program.is_proven, instances)), "{:.0f}", f"of {count}", "at least",
                count),
            Bar("integer program: median of Cbc's time over ours", integer_program.median_ratio(instances), "{:,.0f}",
                f"a lower bound: {count - len(finished)} counted until they were stopped", "at least", 1000)]


def bench(module, filter_text):
    print(f"\n# $BERTH_BENCH_FOLDER/berth_{module}_bench --benchmark_filter='{filter_text}'", flush=True)
    found = counters(module, filter_text)
    for name, figures in found.items():
        own = {key: value for key, value in figures.items() if re.search("ms_|gap|proven|misses", key)}
        print(f"{name}\n   " + ", ".join(f"{key} {value:.4g}" for key, value in own.items()), flush=True)
    return found


def window_bars(plans, title):
    figures = one_gpu_windows.figures(plans)
    return [Bar(f"{title}: time, p99", figures["ms_p99"], "{:.2f} ms", f"median {figures['ms_p50']:.2f} ms, {len(plans)} plans", "below",
                10),
            Bar(f"{title}: gap, p99", figures["gap_p99"], "{:.3f} %",
                f"median {figures['gap_p50']:.3f} %; proven optimal {figures['proven']:.0f} %", "at most", 0.5)]


def run_one_gpu(options, _):
    """On traces with the policy's own limits. On random problems the bar is for the gap that is good enough there; what exact searches
    prove is shown."""
    count = 3 if options.quick else one_gpu_windows.PLANS
    print(f"\n# BERTH_DATA=.. BERTH_PROGRAM=.. python3 tests/planner/one_gpu_windows.py --plans {count}", flush=True)
    plans = one_gpu_windows.measure("", count)
    bars = window_bars([plan for plan in plans if not one_gpu_windows.retrains(plan)], "one GPU, 4 tenants, traces")
    bars += window_bars([plan for plan in plans if one_gpu_windows.retrains(plan)], "one GPU, 4 tenants, traces, retraining")
    for name, figures in bench("one_gpu", "^solve/services:4/slots:200/").items():
        arguments = {key: int(value) for key, value in re.findall("([a-z]+):([0-9]+)", name)}
        title = "one GPU, 4 tenants, random" + (", retraining" if arguments["retraining"] else "")
        if arguments["gap"] == 0:
            bars.append(Bar(f"{title}: proven, {arguments['nodes']:,} nodes", figures["proven%"], "{:.0f} %",
                            f"p99: {figures['ms_p99']:.1f} ms, gap {figures['gap%_p99']:.3f} %"))
            continue
        bars += [Bar(f"{title}: time, p99", figures["ms_p99"], "{:.2f} ms", f"median {figures['ms_p50']:.2f} ms", "below", 10),
                 Bar(f"{title}: gap, p99", figures["gap%_p99"], "{:.3f} %",
                     f"median {figures['gap%_p50']:.3f} %; {arguments['gap'] / 100} % is good enough", "at most", 0.5)]
    return bars


def run_fleet(options, _):
    """With --quick: a small fleet, measured in the same way."""
    filter_text = "^small_fleet/8/8/3000/" if options.quick else "^large_fleet_of_three_models/"
    bars = []
    for name, figures in bench("fleet", filter_text).items():
        retraining = re.search("large_fleet_of_three_models/([0-9]+)", name)
        title = f"1,000 GPUs, {retraining.group(1)} % retrain" if retraining else "8 GPUs"
        bars += [Bar(f"{title}: time, worst of {figures['iterations']}", figures["ms_worst"], "{:.0f} ms",
                     f"median {figures['ms_median']:.0f} ms", "below", 1000),
                 Bar(f"{title}: gap, worst", figures.get("gap_worst_percent"), "{:.3f} %",
                     f"median {figures.get('gap_median_percent', float('nan')):.3f} %; floors missed {figures['misses_floors']:.0f} times",
                     "at most", 1)]
    return bars


def run_control_loop(options, _):
    seconds, only = (600, "60-calm") if options.quick else (control_loop.SECONDS, "")
    print(f"\n# BERTH_DATA=.. BERTH_PROGRAM=.. python3 tests/planner/control_loop.py --seconds {seconds}", flush=True)
    loops = control_loop.measure(only, seconds)
    times = {loop.name: control_loop.times_faster(loop) for loop in loops}
    slowest = min(times, key=times.get)
    return [Bar(f"control loop: {seconds} s of 4 GPUs and 4 tenants, times faster", times[slowest], "{:.0f}",
                f"{slowest}, the slowest of {len(times)}", "at least", 100)]


def gpus_text(answer):
    price = answer["cost_micro_usd_per_hour"]
    return f"{answer['name']} {answer['gpus'] or 'none'}" + (f" (${price / 1e6:.3f})" if price else "")


def run_size(options, _):
    policies = ["shared", "whole", "berth"] if options.quick else SIZE_POLICIES
    arguments = ["size", "examples/sizing/scenario.yaml", "--attainment", "0.99", "--seeds", "1", "--max-gpus", "24", "--policies",
                 ",".join(policies), "--ideas"]
    print(f"\n# $BERTH_PROGRAM {' '.join(arguments)}", flush=True)
    done = subprocess.run([os.environ["BERTH_PROGRAM"], *arguments, "--format", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    answer = json.loads(done.stdout)
    for policy in answer["policies"]:
        print(f"{gpus_text(policy):28} worst share {policy['slo_attainment_worst_service']}")
    whole = answer["ideas"][0]["gpus"]
    ideas = []
    for idea in answer["ideas"][1:]:
        share = f" ({-100 * idea['gpus_saved'] / whole:+.0f} %)" if whole and idea["gpus_saved"] is not None else ""
        ideas.append(f"+ {idea['adds']} {idea['gpus'] or 'none'}{share}")
    ours = next(policy for policy in answer["policies"] if policy["name"] == "berth")
    others = [policy for policy in answer["policies"] if policy is not ours]
    price = ours["cost_micro_usd_per_hour"]
    return [Bar("size: four services, 99 % in time, $ an hour", price and price / 1e6, "{:.3f}",
                f"GPUs: {', '.join(map(gpus_text, others))}"),
            Bar("size: GPUs, idea by idea", ours["gpus"], "{:.0f}", f"whole GPUs {whole}, {', '.join(ideas)}")]


PARTS = {"goodput": run_goodput, "changes": run_changes, "weights": run_weights, "sweep": run_sweep, "ilp": run_ilp,
         "one-gpu": run_one_gpu, "fleet": run_fleet, "control-loop": run_control_loop, "size": run_size}
NEEDS = {"goodput": ["BERTH_DATA", "BERTH_PROGRAM"], "changes": ["BERTH_DATA", "BERTH_PROGRAM"],
         "weights": ["BERTH_DATA", "BERTH_PROGRAM"], "sweep": ["BERTH_DATA", "BERTH_PROGRAM"],
         "ilp": ["BERTH_BENCH_FOLDER"], "one-gpu": ["BERTH_DATA", "BERTH_PROGRAM", "BERTH_BENCH_FOLDER"],
         "fleet": ["BERTH_BENCH_FOLDER"], "control-loop": ["BERTH_DATA", "BERTH_PROGRAM"], "size": ["BERTH_PROGRAM"]}


def print_table(bars):
    rows = [["bar", "wanted", "measured", "compared with", ""]] + [bar.cells() for bar in bars]
    # Long cells are last, so that one long remark does not widen the table.
    rows = [[name, wanted, measured, verdict, compared_with] for name, wanted, measured, compared_with, verdict in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    print()
    for row in rows:
        print((f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]}").rstrip())
    wanted = [bar for bar in bars if bar.at]
    print(f"\n{sum(bar.is_met for bar in wanted)} of {len(wanted)} bars met")


def names_of(text):
    names = text.split(",")
    for name in names:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"wanted some of {', '.join(PARTS)}, found: {name}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=names_of, default=list(PARTS), metavar="NAMES", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=3, help="of goodput and changes")
    parser.add_argument("--ilp-seconds", type=float, default=integer_program.SECONDS, help="of the processor for Cbc, each instance")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="replays or instances at a time; what is timed runs alone")
    parser.add_argument("--quick", action="store_true", help="a few cases of each, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        options.seeds = 1
    bars, known, remarks = [], {}, []
    has_failed = False
    for name in (name for name in PARTS if name in options.only):
        missing = [variable for variable in NEEDS[name] if not os.environ.get(variable)]
        if missing:
            remarks.append(f"{name}: skipped, {' and '.join(missing)} not set")
            continue
        begin = time.monotonic()
        print(f"\n== {name}: scripts/bench planner --only {name}", flush=True)
        try:
            bars += PARTS[name](options, known)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:  # the other parts take hours: they continue
            has_failed = True
            remarks.append(f"{name}: failed: {error}")
        print(f"== {name}: {time.monotonic() - begin:.0f} s", flush=True)
    print_table(bars)
    print("\n".join([*remarks, *(["quick: the figures say nothing"] if options.quick else [])]))
    sys.exit(1 if has_failed else 0 if bars else SKIPPED)


if __name__ == "__main__":
    main()
