"""The part of scripts/detail/scheduling_bench.py about `berth schedule --slot`: how often what it is so sure of comes true."""

import csv
import json
import os
import random
import tempfile
from typing import NamedTuple

from bar_table import print_columns

GPUS = 600
WANTED_GPUS = (8, 16, 32, 64)
QUESTIONS = 600
CLASSES = {"below 0.1": 0.1, "0.1 to 0.5": 0.5, "0.5 to 0.9": 0.9, "0.9 and more": 2}   # each below its number


class Run(NamedTuple):
    """A job of the log."""
    gpus: int
    start: int
    end: int


def philly_runs(bench, trace):
    """Each job as fifo runs it, from its log: without a preemption."""
    with open(trace, encoding="utf-8") as file:
        gpus = [int(float(row["num_gpus"])) for row in csv.DictReader(file) if row["timestamp"]]
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.jsonl")
        bench.berth.measure("schedule", "--trace", trace, "--trace-format", "philly", "--gpus", GPUS, "--policies", "fifo", "--log", log)
        with open(log, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
    starts = {entry["job"]: entry["t_s"] for entry in entries if entry["type"] == "start"}
    return [Run(gpus[int(entry["job"])], starts[entry["job"]], entry["t_s"]) for entry in entries if entry["type"] == "finish"]


def slots(bench):
    bench.bars.part(f"slots: fifo, Philly on {GPUS} GPUs, one hour at seconds at which the GPUs are not free: what was so sure, and what came true")
    trace = os.path.join(bench.data, "philly", "philly_jobs.csv")
    runs = philly_runs(bench, trace)
    chance, last = random.Random(1), max(run.end for run in runs)
    found = {name: [] for name in CLASSES}
    for _ in range(20 if bench.is_quick else QUESTIONS):
        at, wanted = chance.randrange(last // 10, last * 3 // 4), chance.choice(WANTED_GPUS)
        running = [run for run in runs if run.start <= at < run.end]
        free = GPUS - sum(run.gpus for run in running)
        if free >= wanted:
            continue
        slot = bench.berth.measure("schedule", "--trace", trace, "--trace-format", "philly", "--gpus", GPUS, "--policies", "fifo",
                                   "--slot", f"gpus={wanted} hours=1", "--at", at).json
        held = free + sum(run.gpus for run in running if run.end <= slot["start_s"]) >= wanted
        found[next(name for name, end in CLASSES.items() if slot["confidence"] < end)].append((slot["confidence"], held))
    rows = [[name, len(answers), f"{sum(sure for sure, _ in answers) / len(answers):.2f}",
             f"{sum(held for _, held in answers) / len(answers):.2f}"] for name, answers in found.items() if answers]
    print_columns(["confidence", "answers", "mean", "came true"], rows)
    for label, answers, mean, came_true in rows:
        bench.bars.show(f"confidence {label}, {answers} answers, {mean} on average: came true", float(came_true))


PARTS = {"slots": slots}
