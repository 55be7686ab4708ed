"""Scenarios for the planner's goodput, written from the public traces and profiles under BERTH_DATA.

Each is named after its contents: tenants, GPUs, load (mean work over the capacity of the GPUs with each service's best slices, in percent),
calm or bursty arrivals, and retraining: none, on, or long (longer than the planning window).
"""

import csv
import gzip
import os
import random

# ParvaGPU's third scenario, in milliseconds.
TARGETS = {"bert": 4294, "densenet121": 126, "densenet169": 150, "densenet201": 119, "inceptionv3": 282, "mobilenetv2": 113,
           "resnet101": 144, "resnet152": 146, "resnet50": 138, "vgg16": 227, "vgg19": 265}
SECONDS = 1800
HISTORY = 3600
PROCESSES_MAX = 3
SLO_FACTOR = 0.45
SMS_OF_SLICE = 14
SMS_OF_GPU = 98

# tenants, GPUs, load in per cent, arrivals, retraining
SCENARIOS = [
    (2, 1, 80, "calm", "none"), (2, 1, 110, "bursty", "on"), (3, 1, 90, "bursty", "none"), (4, 1, 100, "calm", "on"),
    (4, 1, 70, "bursty", "long"), (4, 2, 120, "calm", "none"), (4, 2, 70, "bursty", "on"), (5, 2, 90, "calm", "long"),
    (6, 2, 110, "bursty", "none"), (3, 3, 100, "calm", "long"), (6, 3, 80, "bursty", "on"), (6, 4, 60, "calm", "on"),
    (6, 4, 100, "bursty", "none"), (4, 4, 120, "bursty", "on"),
]


def data(*parts):
    return os.path.join(os.environ["BERTH_DATA"], *parts)


def name_of(tenants, gpus, load, arrivals, retraining):
    return f"t{tenants}-g{gpus}-{load}-{arrivals}-{retraining}"


def requests_per_sm(model):
    """The maximum requests per second of one SM on any slice, by the default rule for operating points."""
    best = 0.0
    with open(data("parvagpu", "prof_data", model + ".csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            processes, latency_ms = int(row["Workload Number"]), float(row["Latency"]) * 1000
            if processes <= PROCESSES_MAX and 0 < latency_ms < SLO_FACTOR * TARGETS[model]:
                best = max(best, float(row["Throughput"]) * processes / (SMS_OF_SLICE * int(row["Mig instance"])))
    return best


def twitter():
    if not hasattr(twitter, "counts"):
        with gzip.open(data("twitter", "requests_per_second_14days.txt.gz"), "rt", encoding="utf-8") as file:
            twitter.counts = [int(line) for line in file if line.strip()]
    return twitter.counts


def window_of(rng, seconds):
    """A window of the trace, and its mean; neither the window nor the hour before it has gaps in the record."""
    counts = twitter()
    while True:
        start = rng.randrange(HISTORY, len(counts) - seconds)
        seen = counts[start - HISTORY:start + seconds]
        if sum(1 for count in seen if count == 0) * 100 < len(seen):
            return start, sum(counts[start:start + seconds]) / seconds


def arrivals_of(rng, kind, requests_per_second, seconds):
    """Calm: the trace's level over a minute; bursty: over a few seconds, so that its spikes are multiplied with the load."""
    start, mean = window_of(rng, seconds)
    smooth = 60 if kind == "calm" else rng.choice([3, 5, 10])
    path = data("twitter", "requests_per_second_14days.txt.gz")
    return (f"{{format: rps-text, path: {path}, from_second: {start}, seconds: {seconds}, "
            f"scale: {requests_per_second / mean:.4f}, smooth_seconds: {smooth}}}")


def retraining_of(rng, kind):
    """Lines of a service; the times on larger slices follow MISO's concave speeds."""
    if kind == "none" or rng.random() < 0.2:
        return []
    every = 200 if kind == "on" else 600
    small = rng.randint(60, 180) if kind == "on" else rng.randint(300, 900)
    speeds = {"1g": 1, "2g": 1.8, "3g": 2.4, "4g": 2.7, "7g": 4}
    times = ", ".join(f"{size}: {small / speed:.0f}" for size, speed in speeds.items())
    before = rng.uniform(0.6, 0.8)
    return [f"    accuracy: {{before: {before:.3f}, after: {before + rng.uniform(0.08, 0.2):.3f}}}",
            f"    retraining: {{every_seconds: {every}, offset_seconds: {rng.randrange(0, every, 10)}, seconds_on: {{{times}}}}}"]


def text_of(tenants, gpus, load, arrivals, retraining, objective="services", extra=(), seconds=SECONDS, draw="",
            write_arrivals=arrivals_of):
    """The file. `draw` is part of the seed: other models, windows and retrainings of the same kind. `write_arrivals` is called as
    arrivals_of is."""
    rng = random.Random(f"{tenants} {gpus} {load} {arrivals} {retraining}{draw}")
    models = rng.sample(sorted(TARGETS), tenants)
    shares = [rng.uniform(0.4, 1.6) for _ in models]
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: 3.673}}]", f"objective: {objective}",
             *extra, "services:"]
    for model, share in zip(models, shares):
        rate = requests_per_sm(model) * SMS_OF_GPU * gpus * load / 100 * share / sum(shares)
        path = data("parvagpu", "prof_data", model + ".csv")
        lines += [f"  - name: {model}", f"    profile: {{format: parvagpu, path: {path}, model: {model}}}",
                  f"    slo: {{latency_ms: {TARGETS[model]}}}", f"    arrivals: {write_arrivals(rng, arrivals, rate, seconds)}"]
        lines += retraining_of(rng, retraining)
    return "\n".join(lines) + "\n"


def write_all(folder, objective="services", extra=(), seconds=SECONDS, scenarios=None):
    """Writes the scenarios, those above unless given; `extra` are lines of the file. Returns (name, path) of each."""
    written = []
    for scenario in scenarios or SCENARIOS:
        path = os.path.join(folder, f"{name_of(*scenario)}-{objective}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_of(*scenario, objective=objective, extra=extra, seconds=seconds))
        written.append((name_of(*scenario), path))
    return written
