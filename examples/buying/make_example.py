#!/usr/bin/env python3
"""Writes the files of this folder: invented spot availability, demand by the hour, pods and requests. The same files each
time: nothing is drawn but from a fixed seed."""

import json
import math
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
GAP_SECONDS = 600
WINDOW_TICKS = 70 * 3600 // GAP_SECONDS


def spells(rng, ticks, mean_here_hours, mean_away_hours):
    """Availability whose spells are mostly short, some very long (Pareto)."""
    text, is_away = "", rng.random() < 0.3
    while len(text) < ticks:
        mean = (mean_away_hours if is_away else mean_here_hours) * 3600 / GAP_SECONDS
        length = max(1, round(mean / 3 * rng.paretovariate(1.5)))
        text += ("1" if is_away else "0") * length
        is_away = not is_away
    return text[:ticks]


def write_windows(rng):
    zones = {"zone-a": (5, 2), "zone-b": (3, 4), "zone-c": (12, 1)}
    with open(HERE / "windows.jsonl", "w", encoding="ascii") as file:
        for window in range(4):
            for zone, (here, away) in zones.items():
                line = {"series": zone, "window": str(window), "gap_seconds": GAP_SECONDS,
                        "unavailable": spells(rng, WINDOW_TICKS, here, away)}
                file.write(json.dumps(line) + "\n")


def write_demand(rng):
    """Ten weeks of GPUs in use: growth, working days, a project that ends."""
    with open(HERE / "demand.csv", "w", encoding="ascii") as file:
        file.write("hour,units\n")
        for hour in range(10 * 168):
            day, at = divmod(hour, 24)
            is_working = day % 7 < 5 and 8 <= at < 20
            units = 12 + hour / 160 + (6 if is_working else 0) + (8 if 400 <= hour < 1000 else 0)
            file.write(f"{hour},{max(0, round(rng.gauss(units, 1.5)))}\n")
    (HERE / "plans.csv").write_text("name,term_hours,micro_usd_per_hour\non-demand,0,3673000\nmonth,720,2314000\n")


def write_pods(rng):
    """Notebooks on parts of GPUs, trainings on several, and work without any."""
    kinds = [("notebook", 4000, 16384, 1, 250, ""), ("serving", 8000, 32768, 1, 500, "l4|a10g"),
             ("training", 24000, 196608, 4, 1000, "a100|h100"), ("finetune", 12000, 98304, 1, 1000, ""),
             ("batch", 8000, 16384, 0, 0, "")]
    with open(HERE / "pods.csv", "w", encoding="ascii") as file:
        file.write("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n")
        for number in range(40):
            kind, *rest = rng.choices(kinds, weights=(14, 10, 3, 7, 6))[0]
            file.write(f"{kind}-{number},{','.join(map(str, rest))}\n")


def write_requests(rng):
    """A day of requests per second: day and night, and a jump at each full hour that dies down."""
    with open(HERE / "requests.txt", "w", encoding="ascii") as file:
        for second in range(86400):
            day = 1 - math.cos(2 * math.pi * (second % 86400) / 86400)
            jump = 1.5 * math.exp(-(second % 3600) / 300)
            mean = 6 + 14 * day + 12 * jump
            file.write(f"{max(0, round(rng.gauss(mean, math.sqrt(mean))))}\n")


if __name__ == "__main__":
    for write in (write_windows, write_demand, write_pods, write_requests):
        write(random.Random(write.__name__))
