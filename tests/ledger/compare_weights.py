#!/usr/bin/env python3
"""What tenants pay for one week under other ideas of what a slice is worth.

    compare_weights.py PROGRAM EVENTS.jsonl

The slices of the file are named PROFILE@START on GPUs with seven compute and eight memory slices. Prints dollars by
tenant: by dominant share (as in the file), by compute share, by memory share (both through PROGRAM, with other weights), and
as OpenCost does by default, where whoever asks for a GPU device is charged for a GPU, also if the device is a slice.
"""

import json
import os
import subprocess
import sys
import tempfile

import ledger_oracle

COMPUTE, MEMORY = 7, 8
SLICES = {"1g.10gb": (1, 1), "1g.20gb": (1, 2), "2g.20gb": (2, 2), "3g.40gb": (3, 4), "4g.40gb": (4, 4), "7g.80gb": (7, 8), "whole": (7, 8)}
GRAINS = ledger_oracle.GRAINS


def with_shares(events, index, capacity):
    """The events with the compute (0) or memory (1) slices as weights."""
    for event in events:
        if event["type"] == "gpu":
            yield {**event, "capacity": capacity}
        elif event["type"] == "use":
            yield {**event, "weight": SLICES[event["slice"].split("@")[0]][index]}
        else:
            yield event


def costs(program, events):
    """micro_usd by tenant, "" is nobody's; what tenants own and do not use is theirs."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
        file.flush()
        text = subprocess.run([program, "cost", "--events", file.name, "--by", "tenant", "--format", "json"],
                              capture_output=True, text=True, check=True).stdout
    return {row["key"]: row["micro_usd"] for row in json.loads(text)["rows"]}


def opencost(events):
    """Each use pays for a whole GPU."""
    ledger = ledger_oracle.ledger_of(events)
    skus = {gpu["gpu"]: gpu["sku"] for gpu in ledger.of_type("gpu")}
    grains = {}
    for use in ledger.of_type("use"):
        prices = sorted((price["from_us"], price["micro_usd_per_gpu_hour"]) for price in ledger.of_type("price")
                        if price["sku"] == skus[use["gpu"]])
        for (begin, micro_usd), end in zip(prices, [begin for begin, _ in prices[1:]] + [use["to_us"]]):
            length = min(use["to_us"], end) - max(use["from_us"], begin)
            grains[use["tenant"]] = grains.get(use["tenant"], 0) + max(0, length) * micro_usd
    return {tenant: total // GRAINS for tenant, total in grains.items()}


def dollars(micro_usd):
    """With cents, half up."""
    cents = (micro_usd + 5_000) // 10_000
    return f"{cents // 100}.{cents % 100:02}"


def main():
    program, path = sys.argv[1:]
    with open(path, "rb") as file:
        events = ledger_oracle.parse_file(file.read(), os.path.basename(path))
    columns = {"dominant": costs(program, events), "compute": costs(program, with_shares(events, 0, COMPUTE)),
               "memory": costs(program, with_shares(events, 1, MEMORY)), "OpenCost": opencost(events)}
    tenants = sorted(set().union(*columns.values()), key=lambda tenant: (tenant == "", tenant))
    print(f"{'':12}" + "".join(f"{name:>12}" for name in columns))
    for tenant in [*tenants, None]:
        amounts = [sum(column.values()) if tenant is None else column.get(tenant, 0) for column in columns.values()]
        name = {None: "total", "": "nobody"}.get(tenant, tenant)
        print(f"{name:12}" + "".join(f"{dollars(amount):>12}" for amount in amounts))


if __name__ == "__main__":
    main()
