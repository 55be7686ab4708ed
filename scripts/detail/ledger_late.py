"""A file of events whose lines come late, so that closed months are counted again and again: for ledger_bench.py.

Six months of a fleet, of which the first five are closed two days after their end while lines still come. Of the lines 30 %
are duplicates of any earlier line; of the uses 10 % come up to 100,000 lines later than they should; 1 % of the lines overlap
a use, 1 % void any earlier one; prices change at any moment. The same arguments give the same bytes.
"""

import heapq
import json
import random
from collections.abc import Iterator
from typing import NamedTuple

from ledger_months import month_after
from ledger_oracle import DAY_US, month_start_us

DUPLICATES, LATE, OVERLAPS, VOIDS = 0.30, 0.10, 0.01, 0.01   # the second of the uses, the others of the lines
LATE_LINES_MAX = 100_000
PRICES = 60
CLOSED_MONTHS = 5
SKUS = ["h100", "a100", "l4", "b200", "h200"]
TENANTS = [f"t{number}" for number in range(30)]
SERVICES = [f"service-{number}" for number in range(8)]
ROLES = ["inference", "job", "retraining", "reserved"]


class Shape(NamedTuple):
    """Of a fleet: how many GPUs, and how many slices each has all the time."""

    gpus: int
    slices: int


class Writer:
    def __init__(self, lines: int, seed: int, shape: Shape) -> None:
        self.rng = random.Random(seed)
        self.wanted = lines
        self.shape = shape
        self.lines: list[str] = []
        self.use_ids: list[str] = []
        self.months = ["2026-10"]
        while len(self.months) <= CLOSED_MONTHS:
            self.months.append(month_after(self.months[-1]))
        self.first_us = month_start_us(self.months[0])
        self.end_us = month_start_us(month_after(self.months[-1]))

    def put(self, kind: str, **fields) -> str:
        name = f"{self.rng.getrandbits(96):024x}"
        self.lines.append(json.dumps({"type": kind, "id": name, **fields}, separators=(",", ":")) + "\n")
        return name

    def price(self, sku: str, from_us: int) -> None:
        self.put("price", sku=sku, from_us=from_us, micro_usd_per_gpu_hour=self.rng.randrange(800_000, 6_000_000))

    def fleet(self) -> None:
        for sku in SKUS:
            self.price(sku, self.first_us - DAY_US)
        for gpu in range(self.shape.gpus):
            self.put("gpu", gpu=f"g{gpu}", sku=self.rng.choice(SKUS), capacity=8 * self.shape.slices, from_us=self.first_us,
                     to_us=self.end_us, owner=self.rng.choice(TENANTS))

    def uses(self) -> Iterator[dict]:
        """By time; those of a slice follow each other."""
        share = (1 - DUPLICATES - OVERLAPS - VOIDS) * 0.997   # a few are after the end of the last month
        step_us = (self.end_us - self.first_us) * self.shape.gpus * self.shape.slices / (self.wanted * share)
        heap = [(self.first_us + int(self.rng.random() * step_us), gpu, place)
                for gpu in range(self.shape.gpus) for place in range(self.shape.slices)]
        heapq.heapify(heap)
        while heap:
            from_us, gpu, place = heap[0]
            to_us = from_us + int(step_us * self.rng.uniform(0.3, 1.0))
            next_us = from_us + int(step_us * self.rng.uniform(1.0, 1.0001)) + 1
            if to_us > self.end_us:
                heapq.heappop(heap)
                continue
            heapq.heapreplace(heap, (next_us, gpu, place))
            yield {"gpu": f"g{gpu}", "slice": f"1g.10gb@{place}", "weight": 8, "tenant": self.rng.choice(TENANTS),
                   "service": self.rng.choice(SERVICES), "role": self.rng.choice(ROLES), "from_us": from_us, "to_us": to_us}

    def clutter(self, use: dict) -> None:
        """What comes with a use: duplicates, a void of any earlier use, an overlap."""
        per_use = 1 / (1 - DUPLICATES - OVERLAPS - VOIDS)
        while self.rng.random() < DUPLICATES:
            self.lines.append(self.lines[int(self.rng.random() * len(self.lines))])
        if self.rng.random() < VOIDS * per_use and self.use_ids:
            self.put("void", of=self.use_ids[int(self.rng.random() * len(self.use_ids))])
        if self.rng.random() < OVERLAPS * per_use:
            self.put("use", **{**use, "from_us": use["from_us"] + 1_000})

    def run(self) -> list[str]:
        rng = self.rng
        prices = sorted((rng.randrange(self.first_us, self.end_us), rng.choice(SKUS)) for _ in range(PRICES))
        closes = [(month_start_us(month_after(month)) + 2 * DAY_US, month) for month in self.months[:CLOSED_MONTHS]]
        late: list[tuple[int, int, dict]] = []   # when it is due, in lines
        self.fleet()
        for number, use in enumerate(self.uses()):
            while prices and prices[0][0] <= use["from_us"]:
                from_us, sku = prices.pop(0)
                self.price(sku, from_us)
            while closes and closes[0][0] <= use["from_us"]:
                self.put("close", month=closes.pop(0)[1])
            while late and late[0][0] <= len(self.lines):
                self.use_ids.append(self.put("use", **heapq.heappop(late)[2]))
            if rng.random() < LATE:
                heapq.heappush(late, (len(self.lines) + rng.randrange(LATE_LINES_MAX), number, use))
            else:
                self.use_ids.append(self.put("use", **use))
            self.clutter(use)
        for _, _, use in sorted(late, key=lambda entry: entry[:2]):
            self.put("use", **use)
        return self.lines


def write_late(path: str, lines: int, seed: int, shape: Shape) -> int:
    """Writes about so many lines, and returns how many."""
    written = Writer(lines, seed, shape).run()
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
        file.writelines(written)
    return len(written)
