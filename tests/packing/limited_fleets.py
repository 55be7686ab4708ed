#!/usr/bin/env python3
"""Random fleets with limited counts, tenants apart or together: `berth pack` compared with an integer program in HiGHS.

    BERTH_PROGRAM=build/release/berth python3 tests/packing/limited_fleets.py [--seed 1] [--count 500] [--jobs 1] [--seconds 60]

Needs highspy (pip install highspy). The instances are of 2 to 5 GPU models, 1 to 6 tenants and at most 60 GPUs. Three quarters of the
fleets have limited counts, which come from a hidden plan (exactly, with a few more or a few fewer GPUs), from a share of what the
cheapest plan without limits takes, or at random; of these two thirds keep tenants apart, so that half of all fleets do both.
The integer program has counts of slices by demand and counts of GPUs by tenant and partition; the partitions are enumerated here, from
the places in docs/explanation/geometry.md, with no code of the program.

The bars: no fleet refused for which HiGHS finds a plan, no plan more than 3 % more expensive than the best of HiGHS, no plan reported
as proven that HiGHS beats, and no proven refusal that it contradicts.
"""

import argparse
import concurrent.futures
import csv
import functools
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fractions import Fraction

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
SKIPPED = 77
BAR = Fraction(103, 100)
GPUS_MAX = 60
LATENCY_MS = 100
PROFILED_MS = 10  # of every row

# Plain profiles: (length in placement units, starts, compute slices).
SEVEN = [(1, range(7), 1), (2, (0, 2, 4), 2), (4, (0, 4), 3), (4, (0,), 4), (8, (0,), 7)]
FOUR = [(1, range(4), 1), (2, (0, 2), 2), (4, (0,), 4)]
TWELVE = [(3, (0, 3, 6, 9), 1), (6, (0, 6), 2), (12, (0,), 4)]
WHOLE = [(1, (0,), 1)]


@dataclass(frozen=True)
class Model:
    """A GPU model: names of its plain profiles by size, their places, the speed of all of it, a usual price in USD per hour."""
    name: str
    profiles: tuple
    places: list = field(hash=False, compare=False)
    speed: float
    price: float


MODELS = [
    Model("A100-40GB", ("1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"), SEVEN, 7, 2.7),
    Model("A100-80GB", ("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"), SEVEN, 7.5, 3.4),
    Model("A30-24GB", ("1g.6gb", "2g.12gb", "4g.24gb"), FOUR, 3.6, 1.2),
    Model("H100-80GB-SXM5", ("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"), SEVEN, 14, 6.9),
    Model("H200-141GB", ("1g.18gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"), SEVEN, 16, 8.1),
    Model("RTX-PRO-6000-Blackwell-96GB", ("1g.24gb", "2g.48gb", "4g.96gb"), TWELVE, 9, 2.9),
    Model("T4-16GB", ("full",), WHOLE, 1, 0.35),
    Model("L4-24GB", ("full",), WHOLE, 1.9, 0.7),
    Model("V100-16GB", ("full",), WHOLE, 2.3, 1.9),
    Model("L40S-48GB", ("full",), WHOLE, 5.5, 1.8),
]


@functools.cache
def partitions(model):
    """The maximal multisets of profiles (counts by profile) that have places on one GPU."""
    found = set()

    def extend(busy, counts, first):
        found.add(counts)
        for index in range(first, len(model.places)):
            length, starts, _ = model.places[index]
            for start in starts:
                units = ((1 << length) - 1) << start
                if not busy & units:
                    extend(busy | units, counts[:index] + (counts[index] + 1,) + counts[index + 1:], index)

    extend(0, (0,) * len(model.places), 0)
    return sorted(one for one in found
                  if not any(one != other and all(a <= b for a, b in zip(one, other)) for other in found))


@dataclass
class Instance:
    models: list
    prices: list  # micro-USD per hour
    counts: list  # None: unlimited
    demands: list  # (name, tenant, rate in thousandths of a request per second)
    rates: list  # by demand: {(offer, profile): thousandths of a request per second}
    apart: bool
    kind: str

    def pools(self):
        """The demands' groups that may share a GPU."""
        tenants = sorted({tenant for _, tenant, _ in self.demands}) if self.apart else [None]
        return [[d for d, demand in enumerate(self.demands) if tenant in (None, demand[1])] for tenant in tenants]


def draw_prices(rng, models):
    style = rng.choice(["usual", "usual", "varied", "round", "equal"])
    if style == "equal":
        return [1_000_000] * len(models)
    if style == "round":
        return [500_000 * max(1, round(2 * model.price)) for model in models]
    spread = 0.0 if style == "usual" else 0.5
    return [round(1e6 * model.price * (1 + spread * rng.uniform(-1, 1)), -rng.choice([0, 3, 4])) for model in models]


def draw_rates(rng, models):
    """What each kind of slice gives of one demand: roughly its share of the GPU, not all kinds, seldom an outlier."""
    size = 10 ** rng.uniform(1, 3)
    bend = rng.uniform(0.75, 1.05)
    least = rng.choice([0, 0, 0, 0.1, 0.25])  # of a GPU: smaller slices have too little memory
    rates = {}
    for offer, model in enumerate(models):
        if rng.random() < 0.12 and len(models) > 1:
            continue
        taste = rng.uniform(0.7, 1.4)
        slices = max(compute for _, _, compute in model.places)
        for profile, (_, _, compute) in enumerate(model.places):
            share = compute / slices
            if share < least or rng.random() < 0.05:
                continue
            rate = size * taste * model.speed * share ** bend * rng.uniform(0.9, 1.1)
            if rng.random() < 0.04:
                rate *= rng.uniform(0.4, 1.8)
            rates[offer, profile] = max(1, round(1000 * rate, -rng.choice([0, 2, 3])))
    return rates


def hidden_plan(rng, instance, gpus):
    """GPUs by offer of a random plan of this many GPUs; sets the rates that it carries. None: some demand gets nothing."""
    pools = instance.pools()
    sums = [0] * len(instance.demands)
    used = [0] * len(instance.models)
    likes = [rng.random() ** 2 for _ in instance.models]
    for number in range(gpus):
        pool = pools[number] if number < len(pools) else rng.choice(pools)
        offer = rng.choices(range(len(likes)), likes)[0]
        used[offer] += 1
        for profile, count in enumerate(rng.choice(partitions(instance.models[offer]))):
            for _ in range(count):
                takers = [d for d in pool if (offer, profile) in instance.rates[d]]
                if takers:
                    taker = rng.choice(takers)
                    sums[taker] += instance.rates[taker][offer, profile]
    if not all(sums):
        return None
    slack = rng.choice([1, 1, 0.99, 0.95, 0.85])
    instance.demands = [(name, tenant, max(1, int(total * slack)))
                        for (name, tenant, _), total in zip(instance.demands, sums)]
    return used


def draw_counts(rng, instance, used, free_counts):
    """The limits, and what kind they are."""
    style = rng.choice(["hidden", "hidden", "hidden", "fewer", "looser", "share", "share", "random"])
    if style == "share":
        # Part of what a cheap plan without limits takes, enough of the others to make up for it.
        room = max(1, sum(used))
        counts = [int(n * rng.uniform(0.2, 0.9)) if n else rng.choice([None, None, rng.randint(room // 2, 2 * room)])
                  for n in free_counts(instance)]
    elif style == "random":
        counts = [rng.choice([None, rng.randint(0, sum(used))]) for _ in used]
    else:
        change = {"hidden": (0, 0), "fewer": (-1, 0), "looser": (0, 3)}[style]
        counts = [max(0, n + rng.randint(*change)) for n in used]
    while sum(n or 0 for n in counts) > GPUS_MAX:
        counts[max(range(len(counts)), key=lambda o: counts[o] or 0)] -= 1
    return counts, style


def draw(seed, free_counts):
    """A random instance. `free_counts`: the GPUs by offer of a cheap plan of an instance."""
    rng = random.Random(f"limited fleets {seed}")
    # Before the attempts: those with tenants apart fail more often, and would become fewer.
    limited = rng.random() < 0.75
    apart = rng.random() < (2 / 3 if limited else 0.5)
    while True:
        models = rng.sample(MODELS, rng.randint(2, 5))
        tenants = rng.randint(2 if apart else 1, 6)
        count = rng.randint(tenants, 12)
        demands = [(f"m{d}", f"t{d if d < tenants else rng.randrange(tenants)}", 0) for d in range(count)]
        instance = Instance(models, [int(price) for price in draw_prices(rng, models)], [None] * len(models), demands,
                            [draw_rates(rng, models) for _ in demands], apart, "unlimited")
        if not all(instance.rates):
            continue
        pools = len(instance.pools())
        used = hidden_plan(rng, instance, rng.randint(max(2, pools), rng.choice([8, 20, 40, GPUS_MAX])))
        if used is None:
            continue
        if limited:
            instance.counts, instance.kind = draw_counts(rng, instance, used, free_counts)
        if sum(free_counts(instance)) <= GPUS_MAX:
            return instance


def exact(thousandths):
    return f"{thousandths // 1000}.{thousandths % 1000:03}"


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def batch_of(rate):
    """The smallest batch that gives the rate, in thousandths of a request per second."""
    return math.ceil(rate * PROFILED_MS / 1_000_000)


def write(instance, folder):
    """The files of an instance, and the program's arguments."""
    paths = {name: os.path.join(folder, name + ".csv") for name in ("demand", "profiles", "fleet")}
    write_csv(paths["demand"], ["model", "requests_per_second", "latency_ms", "tenant"],
              [(name, exact(rate), LATENCY_MS, tenant) for name, tenant, rate in instance.demands])
    write_csv(paths["profiles"], ["model", "gpu", "profile", "batch", "processes", "requests_per_second", "latency_ms"],
              [(instance.demands[d][0], instance.models[o].name, instance.models[o].profiles[p], batch_of(rate), 1,
                exact(int(rate)), PROFILED_MS)
               for d, rates in enumerate(instance.rates) for (o, p), rate in sorted(rates.items())])
    write_csv(paths["fleet"], ["gpu", "count", "usd_per_gpu_hour"],
              [(model.name, "unlimited" if count is None else count, f"{price // 1_000_000}.{price % 1_000_000:06}")
               for model, count, price in zip(instance.models, instance.counts, instance.prices)])
    return ["--fleet", paths["fleet"], "--profiles", paths["profiles"], "--profile-format", "csv",
            "--demand", paths["demand"]] + (["--no-share", "tenant"] if instance.apart else [])


@dataclass
class Answer:
    """Of the program (in processor seconds) or of HiGHS (in seconds). Cost in micro-USD per hour; None: no plan."""
    cost: int = None
    proven: bool = False
    bound: int = None
    seconds: float = 0.0
    counts: list = None


def processor_seconds():
    """Of the programs that this process has run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_berth(instance):
    with tempfile.TemporaryDirectory() as folder:
        begun = processor_seconds()
        result = subprocess.run([PROGRAM, "pack", *write(instance, folder), "--format", "json"], capture_output=True, text=True,
                                timeout=1200, check=False)
        seconds = processor_seconds() - begun
    if result.returncode == 2 and "found no" in result.stderr:
        return Answer(proven="not proven" not in result.stderr, seconds=seconds)
    if result.returncode == 2 and "found that no plan exists" in result.stderr:
        return Answer(proven=True, seconds=seconds)
    if result.returncode != 0:
        raise RuntimeError(f"status {result.returncode}: {result.stderr}")
    plan = json.loads(result.stdout)
    used = {(s["gpu"], s["gpu_model"]) for s in plan["slices"]}
    counts = [sum(1 for _, name in used if name == model.name) for model in instance.models]
    return Answer(plan["cost_micro_usd_per_hour"], plan["proven"], plan["bound"], seconds, counts)


def run_highs(instance, seconds, nodes=2 ** 31 - 1):
    """The best plan that HiGHS finds within these seconds and nodes."""
    import highspy
    highs = highspy.Highs()
    for option, value in [("output_flag", False), ("threads", 1), ("time_limit", seconds), ("mip_rel_gap", 1e-9),
                          ("mip_feasibility_tolerance", 1e-9), ("mip_max_nodes", nodes)]:
        highs.setOptionValue(option, value)
    infinity = highspy.kHighsInf
    columns = 0

    def add_column(cost):
        nonlocal columns
        highs.addCol(cost, 0, infinity, 0, [], [])
        highs.changeColIntegrality(columns, highspy.HighsVarType.kInteger)
        columns += 1
        return columns - 1

    slices = [{kind: add_column(0) for kind in rates} for rates in instance.rates]
    gpus = []  # (pool, offer, partition, column)
    pools = instance.pools()
    for pool in range(len(pools)):
        for offer, model in enumerate(instance.models):
            gpus += [(pool, offer, part, add_column(instance.prices[offer] / 1e6)) for part in partitions(model)]

    def add_row(lower, upper, entries):
        highs.addRow(lower, upper, len(entries), [c for c, _ in entries], [float(f) for _, f in entries])

    for d, (_, _, rate) in enumerate(instance.demands):
        add_row(1.0, infinity, [(column, instance.rates[d][kind] / rate) for kind, column in slices[d].items()])
    for pool, demands in enumerate(pools):
        for offer, model in enumerate(instance.models):
            for profile in range(len(model.profiles)):
                needs = [(slices[d][offer, profile], -1) for d in demands if (offer, profile) in slices[d]]
                holds = [(c, part[profile]) for p, o, part, c in gpus if (p, o) == (pool, offer) and part[profile]]
                if needs:
                    add_row(0, infinity, needs + holds)
    for offer, count in enumerate(instance.counts):
        if count is not None:
            add_row(0, count, [(c, 1) for _, o, _, c in gpus if o == offer])
    begun = time.monotonic()
    highs.run()
    answer = Answer(seconds=time.monotonic() - begun)
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        answer.proven = True
        return answer
    values = list(highs.getSolution().col_value)
    if highs.getInfo().primal_solution_status != 2:
        return answer
    whole = [round(value) for value in values]
    # Whole numbers are checked again exactly: a plan that misses a rate by a rounding is none.
    for d, (_, _, rate) in enumerate(instance.demands):
        if sum(instance.rates[d][kind] * whole[column] for kind, column in slices[d].items()) < rate:
            return answer
    answer.counts = [sum(whole[c] for _, o, _, c in gpus if o == offer) for offer in range(len(instance.models))]
    answer.cost = sum(price * count for price, count in zip(instance.prices, answer.counts))
    answer.proven = status == highspy.HighsModelStatus.kOptimal
    answer.bound = highs.getInfo().mip_dual_bound * 1e6
    return answer


def cheap_counts(instance):
    """By nodes, not by time: a seed's fleet is the same everywhere."""
    return run_highs(instance, 60, nodes=1).counts or [1] * len(instance.models)


@dataclass
class Outcome:
    seed: str
    instance: Instance
    berth: Answer
    highs: Answer

    def refused(self):
        return self.berth.cost is None and self.highs.cost is not None

    def excess(self):
        """By how much the program's plan is more expensive; below 0: cheaper."""
        if not self.berth.cost or not self.highs.cost:
            return 0.0
        return self.berth.cost / self.highs.cost - 1

    def wrong_proof(self):
        """A bound above a plan that exists."""
        if self.highs.cost is None:
            return self.highs.proven and self.berth.cost is not None
        return self.berth.proven and self.berth.cost is None or self.berth.cost is not None and self.berth.bound > self.highs.cost

    def line(self):
        def cost(answer):
            return ("none" if answer.cost is None else f"{answer.cost / 1e6:.3f}") + ("!" if answer.proven else "")

        one = self.instance
        remarks = [word for word, holds in [("REFUSED", self.refused()), ("WORSE", self.excess() > float(BAR) - 1),
                                            ("worse", 0.01 < self.excess() <= float(BAR) - 1),
                                            ("WRONG PROOF", self.wrong_proof())] if holds]
        return (f"{self.seed:>8} {one.kind:9} {'apart' if one.apart else 'shared':6} {len(one.models)} models {len(one.pools())} pools "
                f"{len(one.demands):2} demands {sum(self.highs.counts or self.berth.counts or [0]):3} GPUs  berth {cost(self.berth):>10} "
                f"{self.berth.seconds:6.2f} s  HiGHS {cost(self.highs):>10} {self.highs.seconds:6.2f} s {100 * self.excess():+7.2f} % "
                f"{' '.join(remarks)}")


def measure(seed, seconds):
    instance = draw(seed, cheap_counts)
    return Outcome(seed, instance, run_berth(instance), run_highs(instance, seconds))


def summary(outcomes):
    feasible = [one for one in outcomes if one.highs.cost is not None]
    both = [one for one in outcomes if one.instance.apart and one.instance.kind != "unlimited"]
    times = sorted(one.berth.seconds for one in outcomes)
    refused = sum(one.refused() for one in outcomes)
    worse = [sum(one.excess() > limit for one in outcomes) for limit in (1e-9, 0.01, float(BAR) - 1)]
    wrong = sum(one.wrong_proof() for one in outcomes)
    lines = [
        f"{len(outcomes)} fleets, {len(both)} of them limited and apart; HiGHS found plans for {len(feasible)} and proved "
        f"{sum(one.highs.proven for one in outcomes)} of its answers, berth {sum(one.berth.proven for one in outcomes)}",
        f"feasible ones refused: {refused}; found only by berth: "
        f"{sum(one.berth.cost is not None and one.highs.cost is None for one in outcomes)}; wrong proofs: {wrong}",
        f"more expensive than HiGHS: {worse[0]}, by more than 1 %: {worse[1]}, by more than 3 %: {worse[2]}, at most "
        f"{100 * max(one.excess() for one in outcomes):.2f} %; cheaper: {sum(one.excess() < -1e-9 for one in outcomes)}",
        f"processor seconds of berth: median {times[len(times) // 2]:.2f}, 95 %: {times[len(times) * 95 // 100]:.2f}, most {times[-1]:.2f}",
    ]
    return lines, refused == worse[2] == wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="of the fleets")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first fleet")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="for HiGHS, per fleet")
    parser.add_argument("--write", metavar="DIR", help="write the files of fleet --first there, and run nothing")
    options = parser.parse_args()
    if options.write:
        print(" ".join(write(draw(f"{options.seed}/{options.first}", cheap_counts), options.write)))
        return 0
    if not PROGRAM:
        print("skipped: BERTH_PROGRAM is not set: the path of the program berth")
        return SKIPPED
    seeds = [f"{options.seed}/{number}" for number in range(options.first, options.first + options.count)]
    outcomes = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(measure, seeds, [options.seconds] * len(seeds)):
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
    lines, is_met = summary(outcomes)
    print("\n" + "\n".join(lines) + f"\nbar: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
