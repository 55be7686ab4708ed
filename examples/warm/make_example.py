#!/usr/bin/env python3
"""Writes apps.csv (when 36 invented apps are invoked, for a day) and sizes.csv (the memory of each). Nothing here was measured: a third
is called by a timer, some of them late or not at all; a third at random; and a third in bursts while somebody works with it.

    python3 make_example.py [--apps N --minutes N --seed N --out FOLDER]
"""

import argparse
import random
from pathlib import Path

PERIODS = (5, 10, 15, 30, 60, 60, 120, 240)
HERE = Path(__file__).resolve().parent


def by_timer(rng, minutes):
    """A period, with delays in some apps and omissions in others."""
    period = rng.choice(PERIODS)
    delay = max(1, period // 15) if rng.random() < 0.4 else 0
    missing = 0.1 if rng.random() < 0.3 else 0
    for minute in range(rng.randrange(period), minutes, period):
        if rng.random() >= missing:
            yield minute + rng.randint(0, delay), 1


def at_random(rng, minutes):
    mean = rng.choice((8, 20, 45, 90, 300))
    minute = rng.expovariate(1 / mean)
    while minute < minutes:
        yield int(minute), 1 + int(rng.expovariate(1))
        minute += rng.expovariate(1 / mean)


def in_bursts(rng, minutes):
    pause = rng.choice((60, 120, 240))
    minute = rng.expovariate(1 / pause)
    while minute < minutes:
        for _ in range(2 + int(rng.expovariate(1 / 6))):
            yield int(minute), 1 + int(rng.expovariate(1 / 3))
            minute += rng.expovariate(1 / 3)
        minute += rng.expovariate(1 / pause)


KINDS = {"timer": by_timer, "random": at_random, "burst": in_bursts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", type=int, default=36)
    parser.add_argument("--minutes", type=int, default=1440)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with (open(arguments.out / "apps.csv", "w", encoding="utf-8") as apps,
          open(arguments.out / "sizes.csv", "w", encoding="utf-8") as sizes):
        apps.write("app,minute,invocations\n")
        sizes.write("HashApp,AverageAllocatedMb_pct50\n")
        for number in range(arguments.apps):
            kind = list(KINDS)[number % len(KINDS)]
            name = f"{kind}-{number // len(KINDS) + 1}"
            counts = {}
            for minute, count in KINDS[kind](rng, arguments.minutes):
                counts[minute] = counts.get(minute, 0) + count
            for minute in sorted(counts):
                if minute < arguments.minutes:
                    apps.write(f"{name},{minute},{counts[minute]}\n")
            sizes.write(f"{name},{rng.choice((200, 400, 700, 1100, 2500))}\n")


if __name__ == "__main__":
    main()
