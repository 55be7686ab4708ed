"""Tiers, cases and figures of `berth tier evaluate` once more, from the data alone, in fractions. Shares no code with it."""

import csv
import json
import math
import pathlib
import re
from dataclasses import dataclass, field
from fractions import Fraction

SHARES = {"1g": Fraction(1, 7), "2g": Fraction(2, 7), "3g": Fraction(1, 2), "4g": Fraction(4, 7), "7g": Fraction(1)}


def slices(price):
    return [(name, Fraction(price) * share) for name, share in SHARES.items()]


TIERS = {
    "gavel": [("k80", Fraction("0.45")), ("p100", Fraction("1.46")), ("v100", Fraction("2.48"))],
    "sia": [("aws", Fraction("0.526")), ("rtx", Fraction("0.70")), ("quad", Fraction("1.10")), ("dgx-ext", Fraction("2.744"))],
    "miso": slices("2.744"),
    "parvagpu": slices("3.673"),
}
FRACTIONS = [Fraction(text) for text in ("0", "0.3", "0.5", "0.7", "0.85", "0.95")]
LATENCIES = [Fraction(text) for text in ("1.15", "1.5", "2.5", "5", "10")]
RATES = [Fraction(text) for text in ("0.15", "0.5", "1.5", "5")]


@dataclass
class Table:
    tiers: list                                    # (name, price), the cheapest first
    services: bool
    workloads: dict = field(default_factory=dict)  # (group, name): {tier: [(batch, processes, per second, latency in ms)]}

    def __post_init__(self):
        self.tiers = sorted(self.tiers, key=lambda tier: tier[1])
        self.names = [name for name, _ in self.tiers]
        self.price = dict(self.tiers)

    def add(self, group, name, tier, batch, processes, rate, latency=None):
        if tier in self.price and rate != 0:
            rows = self.workloads.setdefault((group, name), {}).setdefault(tier, [])
            rows.append((batch, processes, rate, latency))

    def of(self, workload):
        """Its tiers in the order of prices."""
        return [tier for tier in self.names if tier in self.workloads[workload]]


# ---------------------------------------------------------------------------------------------------------------- readers


def read_gavel(path, tiers):
    table = Table(tiers, False)
    for tier, entries in json.loads(pathlib.Path(path).read_text(), parse_float=str, parse_int=str).items():
        for key, entry in entries.items():
            job, scale = re.fullmatch(r"""\(['"](.*)['"], (\d+)\)""", key).groups()
            if scale != "1":
                continue
            found = re.fullmatch(r"(.*) \(batch size (\d+)\)", job)
            model, batch = (found[1], int(found[2])) if found else (job, 1)
            table.add(model, f"batch {batch}", tier, batch, 1, batch * Fraction(entry["null"]))
    return table


def read_miso(path, tiers):
    table = Table(tiers, False)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            batch, seconds = int(row["batch"]), Fraction(row["median_s_per_iter"])
            if seconds:
                table.add(row["model"], f"batch {batch}", row["mig_slice"][:2], batch, 1, batch / seconds)
    return table


def read_sia(path, tiers):
    table = Table(tiers, False)
    for app in sorted(folder for folder in pathlib.Path(path, "traces").iterdir() if folder.is_dir()):
        measured = {}
        for tier in table.names:
            file = app / f"placements-{tier}.csv"
            if file.exists():
                with open(file, newline="", encoding="utf-8") as lines:
                    rows = [row for row in csv.DictReader(lines) if row["placement"] == "1"]
                measured[tier] = {int(row["local_bsz"]): Fraction(row["step_time"]) for row in rows if Fraction(row["step_time"])}
        for batch in sorted({batch for batches in measured.values() for batch in batches}):
            for tier, batches in measured.items():
                if not batches:
                    continue
                there = min(batches, key=lambda other: (Fraction(max(other, batch), min(other, batch)), other))
                if abs(math.log(there / batch)) < 0.09:
                    table.add(app.name, f"batch {batch}", tier, there, 1, there / batches[there])
    return table


def read_parvagpu(path, tiers):
    table = Table(tiers, True)
    for file in sorted(pathlib.Path(path, "prof_data").glob("*.csv")):
        with open(file, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                processes, rate = int(row["Workload Number"]), Fraction(row["Throughput"])
                if processes <= 3:
                    table.add(file.stem, file.stem, row["Mig instance"] + "g", int(row["Batch size"]), processes, rate * processes,
                              1000 * Fraction(row["Latency"]))
    return table


def read_csv(path, tiers):
    with open(path, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    services = any(row.get("latency_ms") and Fraction(row["samples_per_second"]) for row in rows)
    table = Table(tiers, services)
    for row in rows:
        table.add(row["group"], row["workload"], row["tier"], int(row["batch"]), int(row["processes"]),
                  Fraction(row["samples_per_second"]), Fraction(row["latency_ms"]) if services and row["latency_ms"] else None)
    return table


READERS = {"gavel": read_gavel, "sia": read_sia, "miso": read_miso, "parvagpu": read_parvagpu, "csv": read_csv}


def read(source, path, tiers=None):
    return READERS[source](path, tiers or TIERS[source])


# ------------------------------------------------------------------------------------------------------------------ cases


@dataclass
class Case:
    group: str
    workload: str
    rate: Fraction          # T, or R
    limit: Fraction | None  # L in ms
    attained: dict          # x by tier, in the order of prices
    costs: dict             # of the tiers that keep the target
    miss: Fraction          # what a miss costs


def most_within(rows, limit):
    return max([rate for _, _, rate, latency in rows if latency < Fraction("0.45") * limit], default=Fraction(0))


def job_cases(table, key, fractions):
    attained = {tier: table.workloads[key][tier][0][2] for tier in table.of(key)}
    if len(attained) < 2:
        return
    most = max(attained.values())
    fastest = next(tier for tier in attained if attained[tier] == most)
    for fraction in fractions:
        rate = fraction * most
        costs = {tier: table.price[tier] / x for tier, x in attained.items() if x >= rate}
        yield Case(*key, rate, None, attained, costs, costs[fastest])


def service_cases(table, key, reference, latencies, rates):
    rows = table.workloads[key]
    single = [row[3] for row in rows.get(reference, []) if row[:2] == (1, 1)]
    if not single:
        return
    for multiple in latencies:
        limit = multiple * single[0] / Fraction("0.45")
        attained = {tier: most_within(rows[tier], limit) for tier in table.of(key)}
        for share in rates:
            rate = share * attained[reference]
            costs = {tier: table.price[tier] * math.ceil(rate / x) for tier, x in attained.items() if x > 0}
            yield Case(*key, rate, limit, attained, costs, costs[reference])


def cases_of(table, source, fractions=None, latencies=None, rates=None):
    reference = "7g" if source == "parvagpu" else table.names[-1]
    for key in table.workloads:
        if table.services:
            yield from service_cases(table, key, reference, latencies or LATENCIES, rates or RATES)
        else:
            yield from job_cases(table, key, fractions or FRACTIONS)


# ---------------------------------------------------------------------------------------------------------------- figures


def charged(case, tier):
    return case.costs.get(tier, case.miss)


def best_of(case):
    return min(case.costs, key=lambda tier: case.costs[tier])  # the first, cheapest, of equal ones


def rank(values, percent):
    return sorted(values)[math.ceil(Fraction(percent * len(values), 100)) - 1]


def figures(cases, chosen, measured):
    ratios = [charged(case, tier) / case.costs[best_of(case)] for case, tier in zip(cases, chosen, strict=True)]
    return {
        "ratio_mean": float(sum(ratios) / len(ratios)),
        "ratio_p50": float(rank(ratios, 50)),
        "ratio_p95": float(rank(ratios, 95)),
        "missed": float(Fraction(sum(tier not in case.costs for case, tier in zip(cases, chosen)), len(cases))),
        "measurements_mean": float(Fraction(sum(measured), len(cases))),
    }


def step_up(case, measure):
    tiers = list(case.attained)
    known = tiers[: measure + 1]
    for tier in known:
        if tier in case.costs:
            return tier
    return tiers[len(known)] if len(known) < len(tiers) else tiers[-1]


def rivals(cases, measure):
    """Figures of the policies that need no estimate."""
    counts = [min(measure, len(case.attained) - 1) for case in cases]
    return {
        "cheapest": figures(cases, [list(case.attained)[0] for case in cases], [0] * len(cases)),
        "biggest": figures(cases, [list(case.attained)[-1] for case in cases], [0] * len(cases)),
        "step-up": figures(cases, [step_up(case, measure) for case in cases], counts),
    }


def calibration(cases, lines):
    bins = []
    for low, high in ((0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 2)):
        inside = [(line["probability"], line["chosen"] in case.costs) for case, line in zip(cases, lines)
                  if low <= line["probability"] < high]
        count = len(inside)
        bins.append({"from": low, "cases": count, "stated": sum(stated for stated, _ in inside) / count if count else 0,
                     "kept": sum(kept for _, kept in inside) / count if count else 0})
    return bins


# ------------------------------------------------------------------------------------------------------------------ lines


def faults_of(case, line, measure, sure):
    """What is wrong with a line of --log, in words."""
    anchor, measured, chosen = list(case.attained)[0], line["measured"], line["chosen"]
    known = [anchor, *measured]
    target = line["target"] if case.limit is None else (line["target"]["requests_per_second"], line["target"]["latency_ms"])
    wanted = float(case.rate) if case.limit is None else (float(case.rate), float(case.limit))
    checks = {
        "the workload": (line["group"], line["workload"]) == (case.group, case.workload),
        "the target": target == wanted,
        "the anchor": line["anchor"] == anchor,
        "measured: tiers that have the workload": all(tier in case.attained for tier in measured),
        "measured: no tier twice, and not the anchor": len({anchor, *measured}) == len(known),
        "measured: not too often": len(measured) <= measure,
        "chosen: a tier that has the workload": chosen in case.attained,
        "the cost": line["cost"] == float(charged(case, chosen)),
        "the best tier": line["best"] == best_of(case),
        "its cost": line["best_cost"] == float(case.costs[best_of(case)]),
        "kept": line["kept"] == (chosen in case.costs),
        "the probability": 0 <= line["probability"] <= 1,
        "certain of what is known": chosen not in known or line["probability"] == (chosen in case.costs),
        "known to miss: only if all are": chosen not in known or chosen in case.costs or set(known) == set(case.attained),
        "unsure: only if no known tier keeps it": chosen in known or line["probability"] >= sure
        or not any(tier in case.costs for tier in known),
    }
    return [what for what, holds in checks.items() if not holds]
