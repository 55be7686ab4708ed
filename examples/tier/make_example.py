#!/usr/bin/env python3
"""Writes measurements.csv (what the forest learns from) and detector.csv (the workload to be placed). Nothing here was measured:
throughput follows a roofline of a tier's figures, with a fixed cost per batch, saturation by batch and 3 % of noise."""

import math
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 20
BATCHES = (1, 2, 4, 8, 16, 32)
# Name: TFLOPS, GB per second, milliseconds before a batch begins, samples at which half of the TFLOPS is used. The figures of
# tiers.yaml, which are those of the table of GPU models.
TIERS = {
    "a30-1g": (41.25, 233.25, 0.55, 2.0),
    "t4": (65.0, 320.0, 0.60, 3.0),
    "l4": (121.0, 300.0, 0.45, 4.0),
    "a30": (165.0, 933.0, 0.50, 6.0),
    "a100": (312.0, 1555.0, 0.45, 10.0),
}
# Group: workloads as (name, FLOPs of a row, bytes of activations of a row, parameters).
MODELS = {
    "convolutional-s": [("224", 1.1e9, 2.0e7, 3.5e6), ("320", 2.3e9, 4.1e7, 3.5e6)],
    "convolutional-m": [("224", 8.2e9, 9.5e7, 2.6e7), ("320", 1.7e10, 1.9e8, 2.6e7)],
    "convolutional-l": [("224", 2.3e10, 1.6e8, 6.0e7), ("320", 4.7e10, 3.3e8, 6.0e7)],
    "encoder-s": [("128", 1.4e9, 3.0e7, 1.4e7), ("256", 2.9e9, 6.4e7, 1.4e7)],
    "encoder-m": [("128", 2.2e10, 1.5e8, 1.1e8), ("256", 4.6e10, 3.2e8, 1.1e8)],
    "encoder-l": [("128", 7.8e10, 3.7e8, 3.4e8)],
    "segmentation": [("512", 6.1e10, 7.4e8, 3.1e7), ("256", 1.5e10, 1.9e8, 3.1e7)],
    "ranking": [("small", 4.0e7, 2.5e6, 5.0e6), ("large", 3.0e8, 9.0e6, 4.2e7)],
}
DETECTOR = ("detector", "640", 1.65e10, 2.4e8, 1.1e7)
HEAD = "group,workload,tier,batch,processes,samples_per_second,latency_ms,flops,activation_bytes,parameters,weight_bytes\n"
EFFICIENCY = 0.42


def latency_ms(tier, batch, workload, draws):
    tflops, gb_per_second, start_ms, half_batch = TIERS[tier]
    _, flops, activation_bytes, parameters = workload
    work = batch * flops / 1e10
    used = EFFICIENCY * (work / (work + half_batch * 0.1) * 0.8 + 0.2)
    compute_ms = batch * flops / (tflops * 1e12 * used) * 1e3
    memory_ms = (batch * activation_bytes * 2 + parameters * 2) / (gb_per_second * 1e9 * 0.7) * 1e3
    return (start_ms + math.hypot(compute_ms, memory_ms)) * math.exp(draws.gauss(0, 0.03))


def rows(group, workload, tiers, draws):
    name, flops, activation_bytes, parameters = workload
    lines = []
    for tier in tiers:
        for batch in BATCHES:
            milliseconds = latency_ms(tier, batch, workload, draws)
            lines.append(f"{group},{name},{tier},{batch},1,{batch * 1e3 / milliseconds:.2f},{milliseconds:.3f},"
                         f"{flops:.0f},{activation_bytes:.0f},{parameters:.0f},{2 * parameters:.0f}\n")
    return lines


def main():
    draws = random.Random(SEED)
    lines = [HEAD]
    for group, workloads in MODELS.items():
        for workload in workloads:
            lines += rows(group, workload, TIERS, draws)
    (HERE / "measurements.csv").write_text("".join(lines), encoding="utf-8")
    group, *workload = DETECTOR
    (HERE / "detector.csv").write_text("".join([HEAD, *rows(group, workload, ["a30-1g"], draws)]), encoding="utf-8")


if __name__ == "__main__":
    main()
