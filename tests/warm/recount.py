#!/usr/bin/env python3
"""The published rules of warm pools again, minute by minute and in the plainest form: an independent count for the tests
of `berth warm`. It shares no code with the program and is slow."""

import bisect
import collections
import csv
import math
from fractions import Fraction

FIXED = {"fixed-5m": 5, "fixed-10m": 10, "fixed-20m": 20, "fixed-60m": 60, "fixed-120m": 120}
HYBRID = {"hybrid": 240, "hybrid-1h": 60}


class Trace:
    """Apps in the order of their first rows; those without an invocation are left out."""

    def __init__(self, counts, minutes):
        self.counts = {app: row for app, row in counts.items() if any(row)}
        self.minutes = minutes


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        rows = [(app, int(minute), int(count)) for app, minute, count in list(csv.reader(file))[1:]]
    minutes = max(minute for _, minute, _ in rows) + 1
    counts = {}
    for app, minute, count in rows:
        counts.setdefault(app, [0] * minutes)[minute] += count
    return Trace(counts, minutes)


def read_azure(path):
    with open(path, encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    minutes = len(header) - 4
    counts = {}
    for row in rows:
        total = counts.setdefault(row[1], [0] * minutes)
        for minute, count in enumerate(row[4:]):
            total[minute] += int(count)
    return Trace(counts, minutes)


def read_sizes(path):
    sizes = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            size = max(1, math.ceil(Fraction(row["AverageAllocatedMb_pct50"])))
            sizes[row["HashApp"]] = max(size, sizes.get(row["HashApp"], 1))
    return sizes


def fixed_span(_, minutes):
    return 1, minutes


def hybrid_span(gaps, limit):
    """From the gaps so far to the minutes after an invoked one in which the app is loaded."""
    inside = sorted(gap for gap in gaps if gap < limit)
    if len(gaps) - len(inside) > len(inside):
        mean = Fraction(sum(gaps), len(gaps))
        return max(1, math.floor(Fraction(85, 100) * mean)), math.ceil(Fraction(115, 100) * mean)
    squares = sum(count**2 for count in collections.Counter(inside).values())
    if limit * squares > 5 * len(inside) ** 2:
        head, tail = (next(gap for gap in sorted(set(inside)) if 100 * bisect.bisect_right(inside, gap) >= percent * len(inside))
                      for percent in (5, 99))
        return max(1, math.floor(Fraction(9, 10) * head)), math.ceil(Fraction(11, 10) * (tail + 1))
    return 1, limit


def loaded_by_span(row, span, parameter):
    """Whether the app is loaded, in each minute."""
    loaded = []
    gaps, last, first_minute, last_minute = [], None, 0, 0
    for minute, count in enumerate(row):
        loaded.append(last is not None and first_minute <= minute - last <= last_minute)
        if count > 0:
            if last is not None:
                gaps.append(minute - last)
            last = minute
            first_minute, last_minute = span(gaps, parameter)
    return loaded


def loaded_at_best(row, cold_minutes, load_seconds):
    """The cheapest choice for each gap, with the future known."""
    loaded = [False] * len(row)
    last = None
    for minute, count in enumerate(row):
        if count == 0:
            continue
        choices = []
        if last is not None:
            choices.append((60 * (minute - last - 1), range(last + 1, minute + 1)))
        choices += [(load_seconds, [minute]), (60 * cold_minutes, [])]
        for each in min(choices, key=lambda choice: choice[0])[1]:
            loaded[each] = True
        last = minute
    return loaded


def count_minutes(row, loaded):
    """Cold starts, idle minutes and preloads of an app."""
    cold = sum(count > 0 and not there for count, there in zip(row, loaded))
    idle = sum(count == 0 and there for count, there in zip(row, loaded))
    preloads = sum(there and (minute == 0 or not (loaded[minute - 1] or row[minute - 1] > 0)) for minute, there in enumerate(loaded))
    return cold, idle, preloads


def half_to_even(value):
    return round(value)


def at_rank(shares, percent):
    rank = Fraction(percent * (len(shares) - 1), 100)
    low = math.floor(rank)
    high = min(low + 1, len(shares) - 1)
    return shares[low] + (rank - low) * (shares[high] - shares[low])


def shares_of(trace, cold):
    shares = sorted(Fraction(100 * cold[app], sum(row)) for app, row in trace.counts.items())
    avoidable = sum(Fraction(100 * (cold[app] - 1), sum(row)) for app, row in trace.counts.items()) / max(1, len(shares))
    return {"cold_share": {f"p{percent}": float(at_rank(shares, percent)) if shares else None for percent in (50, 75, 90)},
            "avoidable_share": float(avoidable) if shares else None}


def figures(trace, loaded, cold_minutes, load_seconds, price):
    """The figures of a policy that has named the loaded minutes of each app."""
    each = {app: count_minutes(row, loaded[app]) for app, row in trace.counts.items()}
    cold, idle, preloads = (sum(counted[index] for counted in each.values()) for index in range(3))
    idle_seconds = 60 * idle + load_seconds * preloads
    cost = None if price is None else half_to_even(Fraction(price * (idle_seconds + 60 * cold_minutes * cold), 3600))
    return {"cold_starts": cold, **shares_of(trace, {app: counted[0] for app, counted in each.items()}), "idle_minutes": idle,
            "preloads": preloads, "idle_seconds": idle_seconds, "wait_seconds": load_seconds * cold,
            "cost_minutes": idle + cold_minutes * cold, "cost_micro_usd": cost}


def loaded_minutes(trace, policy, cold_minutes, load_seconds):
    """The loaded minutes of each app under a published rule."""
    if policy in FIXED:
        return {app: loaded_by_span(row, fixed_span, FIXED[policy]) for app, row in trace.counts.items()}
    if policy in HYBRID:
        return {app: loaded_by_span(row, hybrid_span, HYBRID[policy]) for app, row in trace.counts.items()}
    return {app: loaded_at_best(row, cold_minutes, load_seconds) for app, row in trace.counts.items()}


def cache(trace, sizes, memory, policy):
    """Cold starts of each app with a cache of `memory` MiB."""
    cold = dict.fromkeys(trace.counts, 0)
    entries = {}  # app: [rank, invoked minutes since it entered]
    clock, step, used = 0.0, 0, 0
    for minute in range(trace.minutes):
        for app, row in trace.counts.items():
            if row[minute] == 0:
                continue
            step += 1
            if app not in entries:
                cold[app] += 1
                if sizes[app] > memory:
                    continue
                while used + sizes[app] > memory:
                    lowest = min(entries, key=lambda each: (entries[each][0], each.encode()))
                    used -= sizes[lowest]
                    rank = entries.pop(lowest)[0]
                    if policy == "greedy-dual":
                        clock = rank
                entries[app] = [0, 0]
                used += sizes[app]
            entries[app][1] += 1
            entries[app][0] = step if policy == "lru" else clock + entries[app][1] / sizes[app]
    return cold


def bound(trace, sizes, memory):
    """The fewest cold starts, an app in part allowed."""
    seen, total = set(), Fraction(0)
    for minute in range(trace.minutes):
        invoked = [app for app, row in trace.counts.items() if row[minute] > 0]
        room = memory
        for app in sorted(invoked, key=lambda each: sizes[each]):
            if app not in seen:
                total += 1
                continue
            used = min(room, sizes[app])
            room -= used
            total += 1 - Fraction(used, sizes[app])
        seen.update(invoked)
    return math.ceil(total)
