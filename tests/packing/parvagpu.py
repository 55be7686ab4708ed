#!/usr/bin/env python3
"""ParvaGPU's six scenarios (SC'24): our proven minimum and ParvaGPU's own plans, all judged by the same checker.

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/packing/parvagpu.py

ParvaGPU's plans come from its repository. Their start numbers do not follow the memory units of a GPU and some are illegal as
written, so the slices of each GPU are placed anew; sizes and points are unchanged.
"""

import csv
import json
import os
import sys
import tempfile
from decimal import Decimal

from pack_program import (DATA, PROFILE_OF_SIZE, SKIPPED, models, pack, profile_folder, scenario_demands, why_skipped,
                          write_demands)

LENGTH = {1: 1, 2: 2, 3: 4, 4: 4, 7: 8}
STARTS = {1: range(7), 2: (0, 2, 4), 3: (0, 4), 4: (0,), 7: (0,)}
PROCESS_LIMITS = (3, 5)


def placed(sizes):
    """Legal starts for slices of these sizes on one A100, in their order, or nothing."""
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    starts = [None] * len(sizes)

    def visit(depth, busy):
        if depth == len(order):
            return True
        size = sizes[order[depth]]
        for start in STARTS[size]:
            units = set(range(start, start + LENGTH[size]))
            if units & busy:
                continue
            starts[order[depth]] = start
            if visit(depth + 1, busy | units):
                return True
        return False

    return starts if visit(0, set()) else None


def throughputs():
    """Requests per second of a slice, as a decimal text that the checker reads exactly: (model, size, batch, processes)."""
    table = {}
    for model in models():
        with open(os.path.join(profile_folder(), model + ".csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                size, batch, processes = (int(row[key]) for key in ("Mig instance", "Batch size", "Workload Number"))
                table[model, size, batch, processes] = Decimal(row["Throughput"]) * processes
    return table


def parvagpu_plan(scenario):
    """ParvaGPU's plan in our form: GPUs are pairs (node, GPU), counted once each."""
    path = os.path.join(DATA, "parvagpu", "deployment", f"SLO{scenario}_ParvaGPU_deploy.csv")
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    gpus = sorted({(int(row["Num instance"]), int(row["Num GPU"])) for row in rows})
    rates = throughputs()
    slices = []
    for number, gpu in enumerate(gpus):
        own = [row for row in rows if (int(row["Num instance"]), int(row["Num GPU"])) == gpu]
        sizes = [int(row["Instance size"]) for row in own]
        for row, size, start in zip(own, sizes, placed(sizes)):
            batch, processes = int(row["Batch size"]), int(row["Num proc"])
            slices.append({"gpu": number, "profile": PROFILE_OF_SIZE[size], "start": start, "model": row["Model"],
                           "batch": batch, "processes": processes,
                           "requests_per_second": rates[row["Model"], size, batch, processes]})
    return {"gpus": len(gpus), "slices": sorted(slices, key=lambda one: (one["gpu"], one["start"]))}


def plan_text(plan):
    """JSON with throughputs digit by digit."""
    slices = [json.dumps({**one, "requests_per_second": "@"}).replace('"@"', str(one["requests_per_second"]))
              for one in plan["slices"]]
    return f'{{"gpus": {plan["gpus"]}, "slices": [{", ".join(slices)}]}}'


def without_surplus(plan, demands):
    """The plan without slices that its demands do not need, the slowest first, and how many those were."""
    left = {model: sum(one["requests_per_second"] for one in plan["slices"] if one["model"] == model) - Decimal(rate)
            for model, rate, _ in demands}
    kept = []
    for one in sorted(plan["slices"], key=lambda one: one["requests_per_second"]):
        if one["requests_per_second"] <= left[one["model"]]:
            left[one["model"]] -= one["requests_per_second"]
        else:
            kept.append(one)
    gpus = sorted({one["gpu"] for one in kept})
    numbered = [{**one, "gpu": gpus.index(one["gpu"])} for one in kept]
    return ({"gpus": len(gpus), "slices": sorted(numbered, key=lambda one: (one["gpu"], one["start"]))},
            len(plan["slices"]) - len(kept))


def verdict(demand_path, plan, processes_max, folder):
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(plan_text(plan))
    answer = pack(demand_path, "--max-processes", str(processes_max), "--check", path, status=None)
    return "accepted" if answer["status"] == 0 else answer["error"].strip().split("refused: ")[-1]


def without_outliers(folder):
    """The profiles without rows whose throughput jumps by 40 % after it had settled (grew by less than 15 %)."""
    dropped = []
    for model in models():
        with open(os.path.join(profile_folder(), model + ".csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        kept = []
        for row in rows:
            own = sorted((int(r["Batch size"]), float(r["Throughput"])) for r in rows
                         if r["Mig instance"] == row["Mig instance"] and float(r["Throughput"]) > 0
                         and r["Workload Number"] == row["Workload Number"]
                         and int(r["Batch size"]) < int(row["Batch size"]))
            settled = len(own) >= 2 and own[-1][1] < 1.15 * own[-2][1]
            if settled and float(row["Throughput"]) > 1.4 * own[-1][1]:
                dropped.append((model, row["Mig instance"], row["Batch size"], row["Workload Number"]))
            else:
                kept.append(row)
        with open(os.path.join(folder, model + ".csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)
    return dropped


def run(out):
    """Prints the table; returns one dict per row."""
    results = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cleaned:
        dropped = without_outliers(cleaned)
        print("          most        our   proven                   without  ParvaGPU's        surplus  the checker on it\n"
              "scenario  processes   GPUs  bound   slices  seconds  outliers  GPUs    slices  slices   without those",
              file=out)
        for number, demands in enumerate(scenario_demands(), start=1):
            path = os.path.join(folder, "demand.csv")
            write_demands(path, demands)
            theirs = parvagpu_plan(number)
            trimmed, surplus = without_surplus(theirs, demands)
            for limit in PROCESS_LIMITS:
                ours = pack(path, "--max-processes", str(limit))
                careful = pack(path, "--max-processes", str(limit), profiles=cleaned)
                row = {"scenario": number, "limit": limit, "ours": ours, "careful": careful, "theirs": theirs["gpus"],
                       "verdict": verdict(path, trimmed, limit, folder)}
                results.append(row)
                print(f"{number:8}  {limit:9}  {ours['gpus']:5}  {ours['bound'] if ours['proven'] else '-':5}  "
                      f"{len(ours['slices']):7}  {ours['seconds']:7.2f}  {careful['gpus']:8}  {theirs['gpus']:4}  "
                      f"{len(theirs['slices']):8}  {surplus:6}   {row['verdict']}", file=out)
        print("\nOutliers (model/size/batch/processes), a throughput that jumps by 40 % after it had settled:\n  "
              + ", ".join("/".join(row) for row in dropped), file=out)
    return results


if __name__ == "__main__":
    WHY = why_skipped()
    if WHY:
        print("skipped:", WHY)
        sys.exit(SKIPPED)
    run(sys.stdout)
