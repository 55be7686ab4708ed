#!/usr/bin/env python3
"""Events of one week, as a ledger reads them: two nodes of four A100-80GB GPUs, five tenants.

    make_example.py > week.jsonl

Slices are re-cut in the morning and in the evening, a price changes in the middle of a day, one line comes twice, one is
taken back and written again, the month is closed, and one line comes after that. Always the same bytes.
"""

import json
import sys
import zlib
from datetime import datetime, timezone

MONDAY = datetime(2026, 11, 16, tzinfo=timezone.utc)
HOUR_US = 3_600_000_000
MINUTE_US = 60_000_000
WEEK_HOURS = 168
REPORTED_EVERY_HOURS = 6  # a use that goes on is reported so often
CAPACITY = 56
WEIGHTS = {"1g.10gb": 8, "2g.20gb": 16, "3g.40gb": 28, "4g.40gb": 32, "7g.80gb": 56}
SHARED_SKU, OWNED_SKU = "a100-80gb", "a100-80gb.reserved"

# A layout: slices with who uses them for what; the last two, where given, are hours behind the beginning of the layout and before
# its end in which the slice is not used. A slice that nobody uses is not listed; a stranded one is nobody's.
STRANDED = ("", "", "stranded")
CHAT_DAY = [("4g.40gb@0", "acme", "chat", "inference"), ("3g.40gb@4", "acme", "embeddings", "inference")]
CHAT_NIGHT = [("7g.80gb@0", "acme", "chat", "retraining", 0.1, 3.3)]
TWO_MODELS = [("3g.40gb@0", "bluebird", "vision", "inference"), ("3g.40gb@4", "corvid", "speech", "inference")]
VISION_NIGHT = [("7g.80gb@0", "bluebird", "vision", "retraining", 0.2, 5.1)]
FRAUD_DAY = [("2g.20gb@0", "evergreen", "fraud", "inference"), ("2g.20gb@2", "evergreen", "ranking", "inference"),
             ("1g.10gb@4", "delta", "notebooks", "job", 1.6, 2.4), ("1g.10gb@5", "delta", "notebooks", "job", 2.3, 4.5),
             ("1g.10gb@6", *STRANDED)]
FRAUD_WEEKEND = [("2g.20gb@0", "evergreen", "fraud", "inference"), ("1g.10gb@3", "delta", "notebooks", "job", 10.4, 31.2),
                 ("1g.10gb@2", *STRANDED), ("1g.10gb@6", *STRANDED)]
NOTEBOOKS_DAY = [("1g.10gb@0", "delta", "notebooks", "job", 1.2, 3.8), ("1g.10gb@1", "delta", "notebooks", "job", 2.1, 2.2),
                 ("1g.10gb@2", "evergreen", "features", "job", 0.4, 6.0), ("1g.10gb@3", "corvid", "labels", "job", 3.3, 1.9),
                 ("3g.40gb@4", "delta", "summaries", "inference")]
BATCH_NIGHT = [("7g.80gb@0", "corvid", "transcripts", "job", 0.3, 1.7)]
TRAINING = [("7g.80gb@0", "acme", "pretraining", "job", 6.2, 2.7)]
HELD_DAY = [("3g.40gb@0", "corvid", "speech", "reserved"), ("2g.20gb@4", "bluebird", "vision", "inference"),
            ("1g.10gb@6", *STRANDED)]
FRAUD_MODEL = [("7g.80gb@0", "evergreen", "fraud", "retraining", 0.3, 2.2)]
EMPTY = []


def every_day(morning, evening, by_day, by_night, days=range(7)):
    """Layouts with the hours at which they begin: one by day, one by night."""
    layouts = [] if morning == 0 else [(0, by_night)]
    for day in days:
        layouts += [(24 * day + morning, by_day), (24 * day + evening, by_night)]
    return layouts


# What stands on a GPU from which hour on. None: whole and not used, without a partition to make.
GPUS = {
    "node-1/gpu-0": every_day(7, 20, CHAT_DAY, CHAT_NIGHT),
    "node-1/gpu-1": [(0, TWO_MODELS), (92, VISION_NIGHT), (103, TWO_MODELS)],
    "node-1/gpu-2": every_day(8, 19, FRAUD_DAY, [FRAUD_DAY[0], ("3g.40gb@4", "corvid", "transcripts", "job", 1.1, 4.0)], range(5)) +
                    [(120, FRAUD_WEEKEND)],
    "node-1/gpu-3": every_day(8, 21, NOTEBOOKS_DAY, BATCH_NIGHT, range(5)) + [(130, EMPTY), (146, BATCH_NIGHT), (158, EMPTY)],
    "node-2/gpu-0": [(0, TRAINING), (100, EMPTY)],
    "node-2/gpu-1": [(0, TRAINING), (100, EMPTY)],
    "node-2/gpu-2": every_day(6, 22, HELD_DAY, VISION_NIGHT),
    "node-2/gpu-3": [(30, FRAUD_MODEL), (56, TWO_MODELS), (128, FRAUD_MODEL)],
}
FIRST_HOURS = {"node-2/gpu-3": 30}  # rented on Tuesday
OWNED = {"node-2/gpu-0": "acme", "node-2/gpu-1": "acme"}


def instant_us(hours):
    return int(MONDAY.timestamp()) * 1_000_000 + round(hours * 3600) * 1_000_000


def date_us(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()) * 1_000_000


def drawn(name, limit):
    """A number from 0 to below the limit that looks like chance."""
    return zlib.crc32(name.encode()) % limit


class Week:
    """The uses of the week, with the time at which each line is written."""

    def __init__(self):
        self.uses = []  # (written at, event)
        self.sequence = dict.fromkeys(GPUS, 0)

    def add(self, gpu, slice_name, owner, from_us, to_us):
        tenant, service, role = owner
        weight = CAPACITY if slice_name == "whole" else WEIGHTS[slice_name.split("@")[0]]
        if tenant and weight == 8 and role == "job":  # notebooks end when people do
            to_us -= drawn(f"{gpu}{slice_name}{from_us}", 50) * MINUTE_US
        step_us = REPORTED_EVERY_HOURS * HOUR_US
        while from_us < to_us:
            until_us = min(to_us, (from_us // step_us + 1) * step_us)
            self.sequence[gpu] += 1
            self.uses.append((until_us, {"type": "use", "id": f"{gpu}:{self.sequence[gpu]:04}", "gpu": gpu, "slice": slice_name,
                                         "weight": weight, "tenant": tenant, "service": service, "role": role,
                                         "from_us": from_us, "to_us": until_us}))
            from_us = until_us

    def add_gpu(self, gpu, layouts):
        for number, (hour, layout) in enumerate(layouts):
            begin_us = instant_us(hour)
            end_us = instant_us(layouts[number + 1][0] if number + 1 < len(layouts) else WEEK_HOURS)
            if number > 0 and layout:
                cut_us = (95 + drawn(f"{gpu}/{hour}", 140)) * 1_000_000
                self.add(gpu, "whole", ("", "", "reconfiguration"), begin_us, begin_us + cut_us)
                begin_us += cut_us
            for slice_name, *owner, in layout:
                late, early = owner[3:] or (0, 0)
                self.add(gpu, slice_name, tuple(owner[:3]), begin_us + round(late * 60) * MINUTE_US,
                         end_us - round(early * 60) * MINUTE_US)


def events():
    yield {"type": "price", "id": "price-1", "sku": SHARED_SKU, "from_us": date_us("2026-10-01"), "micro_usd_per_gpu_hour": 3_670_000}
    yield {"type": "price", "id": "price-2", "sku": OWNED_SKU, "from_us": date_us("2026-10-01"), "micro_usd_per_gpu_hour": 2_210_000}
    yield {"type": "rate", "id": "rate-1", "currency": "EUR", "from_us": date_us("2026-11-01"), "micro_per_usd": 921_437}
    for tenant, dollars, hard in (("acme", 4200, False), ("bluebird", 1500, False), ("corvid", 760, True), ("delta", 400, True)):
        yield {"type": "budget", "id": f"budget-{tenant}", "tenant": tenant, "from_us": date_us("2026-11-01"),
               "micro_usd_per_month": dollars * 1_000_000, "hard": hard}
    yield {"type": "credit", "id": "credit-1", "tenant": "delta", "at_us": date_us("2026-11-02"), "micro_usd": 40_000_000,
           "reason": "free", "expires_us": date_us("2026-12-01")}
    yield {"type": "credit", "id": "credit-2", "tenant": "corvid", "at_us": date_us("2026-11-10"), "micro_usd": 900_000_000,
           "reason": "prepaid"}
    for gpu in GPUS:
        event = {"type": "gpu", "id": f"{gpu}:paid", "gpu": gpu, "sku": OWNED_SKU if gpu in OWNED else SHARED_SKU,
                 "capacity": CAPACITY, "from_us": instant_us(FIRST_HOURS.get(gpu, 0)), "to_us": instant_us(WEEK_HOURS)}
        yield event | ({"owner": OWNED[gpu]} if gpu in OWNED else {})
    week = Week()
    for gpu, layouts in GPUS.items():
        week.add_gpu(gpu, layouts)
    yield from arrivals(sorted(week.uses, key=lambda use: (use[0], use[1]["id"])))


def arrivals(uses):
    """The uses in the order in which they come, with what goes wrong on the way."""
    late = next(event for at_us, event in uses if event["service"] == "transcripts" and at_us >= instant_us(146 + 6))
    doubled = next(event for _, event in uses if event["service"] == "ranking" and event["from_us"] >= instant_us(56))
    wrong = next(event for _, event in uses if event["service"] == "features" and event["from_us"] >= instant_us(80))
    price_us = instant_us(61.5)
    has_price = False
    for at_us, event in uses:
        if at_us > price_us and not has_price:
            yield {"type": "price", "id": "price-3", "sku": SHARED_SKU, "from_us": price_us, "micro_usd_per_gpu_hour": 3_390_000}
            has_price = True
        if event is late:
            continue
        if event is not wrong:
            yield event
            continue
        yield event | {"tenant": "delta"}
        yield {"type": "void", "id": "void-1", "of": event["id"]}
        yield event | {"id": event["id"] + "b"}
        yield doubled
    yield {"type": "credit", "id": "credit-3", "tenant": "evergreen", "at_us": instant_us(160), "micro_usd": 12_500_000, "reason": "slo"}
    yield {"type": "close", "id": "close-2026-11", "month": "2026-11"}
    yield late


def main():
    for event in events():
        sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
