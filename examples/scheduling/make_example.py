#!/usr/bin/env python3
"""Writes the inputs of this folder: `python3 make_example.py`. Everything is generated, from one seed; no real cluster.

The cluster: 24 nodes of 8 GPUs, 10 of 4 and 6 of 2, three models. The pods: mostly shares and single GPUs, some with
several; a few name models, two gangs of four. The jobs: four tenants that submit over a week, most jobs short, some
that take half a day on 8 GPUs; half of them with an estimate, which is off by up to a half.
"""

import csv
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("A100-80GB-shared", "V100", "T4")   # no name of the MIG catalogue: these GPUs are not partitioned


def write(name: str, header: str, rows: list[list]) -> None:
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def nodes() -> list[list]:
    kinds = [(8, 96_000, 786_432, MODELS[0])] * 14 + [(8, 128_000, 1_048_576, MODELS[1])] * 10
    kinds += [(4, 64_000, 262_144, MODELS[1])] * 10 + [(2, 96_000, 393_216, MODELS[2])] * 6
    return [[f"node-{i:02}", cpu, memory, gpus, model] for i, (gpus, cpu, memory, model) in enumerate(kinds)]


def pods(rng: random.Random) -> list[list]:
    rows = []
    for i in range(600):
        kind = rng.random()
        if kind < 0.10:
            gpus, milli = 0, 0
        elif kind < 0.55:
            gpus, milli = 1, rng.choice((100, 200, 250, 300, 460, 500, 500, 700, 810))
        elif kind < 0.93:
            gpus, milli = 1, 1000
        else:
            gpus, milli = rng.choice((2, 2, 4, 8)), 1000
        cpu = 1000 * rng.choice((1, 2, 4, 6, 8, 12)) * max(1, gpus)
        spec = rng.choice(("", "", "", "", MODELS[0], f"{MODELS[0]}|{MODELS[1]}")) if gpus else ""
        gang = f"training-{i // 300}" if i % 300 in (10, 11, 12, 13) else ""
        rows.append([f"pod-{i:03}", cpu, 2048 * (cpu // 1000), gpus, milli, spec, gang])
    return rows


def jobs(rng: random.Random) -> list[list]:
    rows = []
    for _ in range(500):
        tenant = rng.choices(("vision", "language", "speech", "notebooks"), (4, 3, 2, 3))[0]
        gpus = 1 if tenant == "notebooks" else rng.choice((1, 1, 2, 4, 8))
        duration = round(60 * 10 ** rng.uniform(0.5, 2 if tenant == "notebooks" else 2.9))
        estimate = round(duration * rng.uniform(0.7, 1.5)) if rng.random() < 0.5 else ""
        submit = round(rng.uniform(0, 7 * 86_400) if rng.random() < 0.7 else 86_400 * rng.randrange(7) + rng.uniform(32_400, 43_200))
        priority = 1 if rng.random() < 0.05 else 0
        deadline = submit + 3 * duration + 3600 if rng.random() < 0.1 else ""
        rows.append([submit, gpus, duration, tenant, estimate, priority, 600, deadline])
    rows.sort(key=lambda row: row[0])
    return [[f"job-{i:03}", *row[:6], row[6], "true", row[7]] for i, row in enumerate(rows)]


def main() -> None:
    rng = random.Random(22)
    write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model", nodes())
    write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,gang", pods(rng))
    write("jobs.csv", "job,submit_s,gpus,duration_s,tenant,estimate_s,priority,checkpoint_s,preemptible,deadline_s", jobs(rng))
    write("tenants.csv", "tenant,parent,guaranteed,limit,weight",
          [["research", "", 24, "", 1], ["vision", "research", 16, "", 2], ["language", "research", 8, "", 1],
           ["speech", "", 8, 24, 1], ["notebooks", "", 0, 8, 1]])


if __name__ == "__main__":
    main()
