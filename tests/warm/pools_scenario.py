#!/usr/bin/env python3
"""Writes a scenario with services that are quiet between bursts: tests and scripts/bench warm replay it.

    tests/warm/pools_scenario.py FOLDER [--services 10] [--gpus 2] [--hours 24] [--seed 1] [--pool TEXT]

Half of the services have regular gaps (each within a minute of its own, 12 to 60 minutes), the others gaps between 5 and 60
minutes. A burst lasts one to three minutes with one to six requests per second. TEXT is the value of `warm_pool`.
"""

import argparse
import pathlib
import random

USD_PER_GPU_HOUR = 4
#: profile, requests per second, latency in ms of a full batch of 8
POINTS = [("1g.10gb", 12, 640), ("2g.20gb", 26, 300), ("3g.40gb", 40, 195), ("4g.40gb", 52, 150), ("7g.80gb", 88, 89)]


def gaps_of(index, draw):
    """The minutes of quiet, one after the other."""
    if index % 2 == 0:
        period = 12 + 12 * (index // 2)
        while True:
            yield max(5, min(60, period + draw.choice([-1, 0, 0, 1])))
    while True:
        yield draw.randint(5, 60)


def counts_of(index, draw, seconds):
    """Requests by second."""
    counts = {}
    gaps = gaps_of(index, draw)
    now = 60 * draw.randint(1, 20)
    while now < seconds:
        rate = draw.randint(1, 6)
        end = now + draw.randint(60, 180)
        for second in range(now, min(end, seconds)):
            if (requests := draw.choice([rate - 1, rate, rate, rate + 1])) > 0:
                counts[second] = requests
        now = end + 60 * next(gaps) + draw.randint(0, 30)
    return counts


def profile_rows():
    lines = ["model,gpu,profile,batch,processes,requests_per_second,latency_ms"]
    for profile, rate, latency in POINTS:
        lines.append(f"m,A100-80GB,{profile},8,1,{rate},{latency}")
        lines.append(f"m,A100-80GB,{profile},1,1,{rate / 4:g},{latency / 2:g}")
    return "\n".join(lines) + "\n"


def write(folder, services=10, gpus=2, hours=24, seed=1, pool=None, answer_seconds=30):
    """Returns the path of the scenario."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.csv").write_text(profile_rows(), encoding="utf-8")
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: {USD_PER_GPU_HOUR}}}]", "services:"]
    for index in range(services):
        counts = counts_of(index, random.Random(f"{seed} {index}"), hours * 3600)
        last = hours * 3600 - 1
        counts.setdefault(last, 0)
        rows = "".join(f"{second},{requests}\n" for second, requests in sorted(counts.items()))
        (folder / f"s{index}.csv").write_text("second,requests\n" + rows, encoding="utf-8")
        lines += [f"  - name: s{index}", "    profile: {format: csv, path: profile.csv, model: m}",
                  "    slo: {latency_ms: 1500}", f"    answer_seconds: {answer_seconds}", "    start_seconds: {runtime: 3, model: 4}",
                  f"    arrivals: {{format: csv, path: s{index}.csv, seconds: {hours * 3600}}}"]
        if pool:
            lines.append(f"    warm_pool: {pool}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--services", type=int, default=10)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool")
    words = parser.parse_args()
    print(write(words.folder, words.services, words.gpus, words.hours, words.seed, words.pool))


if __name__ == "__main__":
    main()
