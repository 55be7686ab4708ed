#!/usr/bin/env python3
"""Compares `berth replay` with the oracle on random small scenarios without random arrivals.

    fuzz.py --program PATH_TO_BERTH [--count 100] [--seed 1] [--keep FOLDER]

Latencies, arrivals, due times and targets lie mostly on a coarse grid, so that many events share a microsecond. A
failing scenario is named by its seed and, with --keep, its files are left in FOLDER.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile

import compare
import make_inputs

SLICES = {  # legal layouts: (profile, start)
    "A100-80GB": [[("3g.40gb", 4), ("1g.10gb", 0), ("1g.10gb", 1), ("2g.20gb", 2)],
                  [("4g.40gb", 0), ("2g.20gb", 4), ("1g.10gb", 6)], [("7g.80gb", 0)], [("full", 0)],
                  [("1g.10gb", start) for start in range(7)], [("3g.40gb", 0), ("3g.40gb", 4)]],
    "A30-24GB": [[("2g.12gb", 2), ("1g.6gb", 0), ("1g.6gb", 1)], [("4g.24gb", 0)], [("2g.12gb", 0), ("2g.12gb", 2)]],
}
PROFILES = {"A100-80GB": ["1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"],
            "A30-24GB": ["1g.6gb", "2g.12gb", "4g.24gb"]}
SIZES = ["1g", "2g", "3g", "4g", "7g"]


def profile_rows(rng, model):
    """A table with gaps, and latencies on a grid of 5 ms or off it, not monotone."""
    rows = []
    for gpu, names in PROFILES.items():
        for name in names:
            for processes in rng.sample([1, 2, 3, 4], rng.randint(1, 3)):
                for batch in sorted(rng.sample([1, 2, 3, 4, 6, 8, 16], rng.randint(1, 4))):
                    latency = rng.choice([5 * rng.randint(1, 40), round(rng.uniform(1, 200), 4)])
                    rate = rng.choice([10 * rng.randint(1, 20), round(1000 * batch * processes / latency, 3)])
                    rows.append((model, gpu, name, batch, processes, rate, latency))
    return rows


def retraining(rng):
    block = {"every_seconds": rng.choice([1, 2, 2.5, 3, 5, 7]), "offset_seconds": rng.choice([0, 0, 1, 0.5, 2.25]),
             "swap_seconds": rng.choice([0, 0, 0.5, 1, 2]), "unfinished": rng.choice(["abandon", "continue"])}
    block["seconds_on"] = {size: rng.choice([0.5, 1, 1.5, 2, 2.5, 3, 4.005, 6]) for size in SIZES if rng.random() < 0.8}
    block["seconds_on"].setdefault("7g", 1)
    return block


def service(rng, index, folder, seconds):
    trace = f"trace{index}.csv"
    grid = rng.choice([1, 5000, 50000])
    times = [rng.randrange(seconds * 10**6 // grid) * grid for _ in range(rng.choice([3, 60, 600, 1500]))]
    write(folder, trace, make_inputs.trace(times + rng.choices(times, k=len(times) // 4)))
    if rng.random() < 0.7:
        arrivals = {"format": "azure-llm", "path": trace}
    else:
        arrivals = {"format": "constant", "requests_per_second": rng.choice([20, 7, 33.3, 100, 0.7]), "seconds": seconds,
                    "scale": rng.choice([1, 1, 1.5])}
    block = {"name": f"s{index}", "profile": {"format": "csv", "path": "profiles.csv", "model": f"m{index}"},
             "slo": {"latency_ms": rng.choice([100, 200, 250, 333.3335, 500, 1000])}, "arrivals": arrivals,
             "drop": rng.choice(["early", "never"]), "weight": rng.choice([1, 2, 0.25]),
             "batching": {"slo_factor": rng.choice([0.45, 0.5, 0.9, 1, 1.5]), "max_processes": rng.randint(1, 4)}}
    if rng.random() < 0.3:
        arrivals["seconds"] = rng.randint(1, seconds + 3)
    if rng.random() < 0.6:
        block["accuracy"] = {"before": rng.choice([0.5, 0.123456, 0]), "after": rng.choice([1, 0.875, 0.9])}
        block["retraining"] = retraining(rng)
    return block


def scenario(rng, folder):
    """Writes a scenario and its files to `folder`; the path of the scenario."""
    fleet = [rng.choice(list(SLICES)) for _ in range(rng.randint(1, 2))]
    services = [service(rng, index, folder, rng.randint(3, 12)) for index in range(rng.randint(1, 3))]
    layout, trained = [], set()
    for index, model in enumerate(fleet):
        pieces = rng.choice(SLICES[model])
        layout.append({"gpu": index, "slices": [slice_of(rng, piece, services, trained) for piece in pieces]})
    for block in services:  # each has a slice to serve on
        if not any(s["service"] == block["name"] and "role" not in s for gpu in layout for s in gpu["slices"]):
            layout.append({"gpu": len(fleet), "slices": [{"profile": "7g.80gb", "start": 0, "service": block["name"]}]})
            fleet.append("A100-80GB")
    tree = {"berth": 1, "fleet": [{"gpu": model, "count": 1, "usd_per_gpu_hour": rng.choice([3.673, 1, 0.333333])}
                                  for model in fleet],
            "interference": rng.choice([[1], [1, 1.1, 1.25], [1, 2], [1.5, 1, 3]]), "layout": layout, "services": services}
    rows = [row for index in range(len(services)) for row in profile_rows(rng, f"m{index}")]
    write(folder, "profiles.csv", make_inputs.profile(rows))
    return write(folder, "scenario.yaml", json.dumps(tree, indent=1))


def slice_of(rng, piece, services, trained):
    """A slice for any service; it may retrain if its service has no retraining slice yet (`trained`)."""
    owner = rng.choice(services)
    block = {"profile": piece[0], "start": piece[1], "service": owner["name"]}
    if "retraining" in owner and owner["name"] not in trained and rng.random() < 0.5:
        block["role"] = "retraining"
        trained.add(owner["name"])
    return block


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run_seed(program, seed, keep):
    """True if program and oracle agree on the scenario of this seed."""
    with tempfile.TemporaryDirectory() as folder:
        path = scenario(random.Random(seed), folder)
        try:
            differences = compare.compare(program, path, None, False)
        except ValueError as reason:
            differences = [str(reason)]
        failed = [line for line in differences if not line.startswith("note")]
        if failed and keep:
            shutil.copytree(folder, os.path.join(keep, f"seed{seed}"), dirs_exist_ok=True)
    for line in ([f"FAILED seed {seed}"] if failed else []) + failed[:compare.SHOWN_MAX]:
        print(line)
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    agreed = [run_seed(options.program, options.seed + i, options.keep) for i in range(options.count)]
    print(f"{sum(agreed)} of {len(agreed)} scenarios agree, seeds {options.seed} to {options.seed + options.count - 1}")
    sys.exit(0 if all(agreed) else 1)


if __name__ == "__main__":
    main()
