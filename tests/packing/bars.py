#!/usr/bin/env python3
"""Random demands on ParvaGPU's public profiles: how often the minimum is proven, how large the gap, how long it takes.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/packing/bars.py [COUNT [SEED]]

Two rows: COUNT demands of 2 to 11 models (rates over three decades, targets of a random scenario, kept where the plan has at most
40 GPUs), and COUNT / 20 demands of 100 models (copies of the 11 with a speed of their own) on about 1,000 GPUs.
"""

import csv
import os
import random
import sys
import tempfile

from pack_program import (PROFILE_OF_SIZE, SKIPPED, models, pack, profile_folder, scenario_demands, why_skipped,
                          write_demands)


def small_demands(rng):
    targets = rng.choice(scenario_demands()[1:])
    chosen = rng.sample(targets, rng.randint(2, len(targets)))
    return [(model, f"{10 ** rng.uniform(1.5, 4.6):.1f}", target) for model, _, target in chosen]


def write_copies(path, rng, count):
    """A profile file of `count` models in Berth's own form."""
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["model", "gpu", "profile", "batch", "processes", "requests_per_second", "latency_ms"])
        for number in range(count):
            speed = rng.uniform(0.8, 1.25)
            with open(os.path.join(profile_folder(), models()[number % 11] + ".csv"), encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    processes = int(row["Workload Number"])
                    if float(row["Throughput"]) > 0:
                        latency_ms = float(row["Latency"]) * 1000 / speed
                        possible = int(row["Batch size"]) * processes * 1000 / latency_ms  # the source's digits are few
                        rate = min(float(row["Throughput"]) * processes * speed, possible)
                        writer.writerow([f"m{number:03}", "A100-80GB", PROFILE_OF_SIZE[int(row["Mig instance"])],
                                         row["Batch size"], processes, f"{rate:.3f}", f"{latency_ms:.2f}"])


def large_demands(rng, count):
    scenarios = scenario_demands()[1:]
    demands = []
    for number in range(count):
        model, rate, target = rng.choice(scenarios)[number % 11]
        demands.append((f"m{number:03}", f"{(float(rate) + 50) * rng.uniform(8, 22):.1f}", target))
    return demands


def summary(name, answers, out):
    gaps = [answer["gpus"] - answer["bound"] for answer in answers]
    proven = sum(answer["proven"] for answer in answers)
    free = sum(answer["largest_free_proven"] for answer in answers)
    counts = sum(answer["slice_count_proven"] for answer in answers)
    seconds = sorted(answer["seconds"] for answer in answers)
    sizes = sorted(answer["gpus"] for answer in answers)
    worst = max(100 * gap / max(1, answer["gpus"]) for gap, answer in zip(gaps, answers))
    print(f"{name}: {len(answers)} demands, {sizes[0]} to {sizes[-1]} GPUs; proven {proven}; largest gap {max(gaps)} GPUs, "
          f"{worst:.2f} %; largest free slice proven {free}, slice count proven {counts}; seconds: median "
          f"{seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}", file=out, flush=True)
    return proven / len(answers), max(gaps), worst, seconds[-1]


def run_small(count, seed, out):
    rng = random.Random(seed)
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "demand.csv")
        while len(answers) < count:
            write_demands(path, small_demands(rng))
            answer = pack(path)
            if answer["gpus"] <= 40:
                answers.append(answer)
    return summary("2 to 11 models", answers, out)


def run_large(count, seed, out):
    rng = random.Random(seed)
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "demand.csv")
        profiles = os.path.join(folder, "profiles.csv")
        for _ in range(count):
            write_copies(profiles, rng, 100)
            write_demands(path, large_demands(rng, 100))
            answers.append(pack(path, profiles=profiles, profile_format="csv"))
    return summary("100 models", answers, out)


if __name__ == "__main__":
    WHY = why_skipped()
    if WHY:
        print("skipped:", WHY)
        sys.exit(SKIPPED)
    COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    run_small(COUNT, SEED, sys.stdout)
    run_large(max(1, COUNT // 20), SEED, sys.stdout)
