#!/usr/bin/env python3
"""Large files of events for the ledger, and what can be known of them without one.

    ledger_months.py --lines N --seed S --out FILE [--gpus 500] [--months 5] [--start 2026-10] [--prefix WORD] [--open]

The same options give the same bytes. Every month has a fleet whose slices change from day to day, prices that change at any
moment, GPUs that come and go, some without a price, some that nobody pays for. Of the lines 30 % are duplicates (half of
them in another spelling), 10 % come late (by days, some after the close of their month), 1 % overlap, 1 % are voids (some
before their target); each month is closed two days later, the last one before the last of the late lines. --open leaves the
closes out. --prefix begins the names of GPUs and skus, so that two files have nothing to do with each other.

FILE.expected.json says what the report must say: its counters, and the price of all paid GPU time in grains (price x
microseconds) by sku, GPU and day. It is computed from the plan of the fleet, not from the lines. Memory does not grow with
the lines beyond the late ones; ten million lines take a minute.
"""

import argparse
import json
import math
import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ledger_oracle import DAY_US, date_of, month_after, month_start_us

SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
GPUS_MAX = 500
LINES_PER_GPU_MIN = 2_000    # for fewer lines there are fewer GPUs, unless --gpus says how many
CLOSE_DELAY_DAYS = 2
# Parts of all lines.
DUPLICATES, LATE, OVERLAPS, VOIDS, CONFLICTS = 0.30, 0.105, 0.01, 0.01, 0.0005
USES = 1 - DUPLICATES - OVERLAPS - VOIDS - CONFLICTS
REPLACED = 0.5               # of the voided uses
CUT = 0.4                    # of the GPUs, each day: other slices
FILL = 0.002                 # of all lines: what is kept back for the end, which comes out even with duplicates
# Fields of 16 bits of one random number decide about a use.
BITS = 1 << 16
RECENT, OLD, TARGETS = 1 << 14, 1 << 16, 1 << 12   # lines at hand for duplicates, from the whole past, for overlaps and voids
FLUSH_LINES = 1 << 13

MIG = [[("7g", 56)], [("4g", 32), ("3g", 28)], [("3g", 28), ("2g", 16), ("1g", 8)], [("3g", 28), ("3h", 28)],
       [("2g", 16), ("2h", 16), ("2i", 16), ("1g", 8)], [("1m", 14), ("2g", 16), ("3g", 28)],
       [(f"1{letter}", 8) for letter in "ghijklm"]]
SHARES = [[("s0", 1000)], [("s0", 333), ("s1", 333), ("s2", 333)], [("s0", 250), ("s1", 125), ("s2", 600)],
          [("s0", 1), ("s1", 998)]]
# sku: capacity, layouts, micro-dollars an hour at first (None: never a price), weight of its GPUs.
SKUS = {"h100": (56, MIG, 3_673_001, 50), "a100": (56, MIG, 2_210_003, 30), "l4": (1000, SHARES, 804_800, 12),
        "b200": (56, MIG, 6_250_000, 5), "lent": (56, MIG, None, 3)}
LATE_PRICE = "b200"          # has its first price days after its first use
TENANTS = [f"t{number}" for number in range(24)]
SERVICES = ["chat", "rank", "ocr", "tts", "asr", "ads", "fraud", "index"]
ROLES = ["inference"] * 4 + ["job"] * 4 + ["retraining", "reserved"]


class Paid(NamedTuple):
    """Time of a GPU that somebody pays for."""

    from_us: int
    to_us: int
    sku: str


class Slice(NamedTuple):
    """A slice of the present day: its uses follow each other."""

    gpu: str
    head: str        # of a line, behind the id, up to the time
    first_us: int
    step_us: int


def text_of(event: dict) -> str:
    return json.dumps(event, separators=(",", ":")) + "\n"


def respelled(line: str, draw: int) -> str:
    """The same values in other bytes: from another key on, with spaces, or with an escape."""
    fields = line[2:-2].split(',"')
    turn = 1 + draw % (len(fields) - 1)
    fields = fields[turn:] + fields[:turn]
    if draw & 0x1800 == 0:
        return '{ "' + ', "'.join(fields) + " }\n"
    turned = '{"' + ',"'.join(fields) + "}\n"
    return turned.replace('"id":"', '"\\u0069d":"', 1) if draw & 0xE000 == 0 else turned


class Fleet:
    """What is paid for, by plan: GPUs with their times, skus with their prices."""

    def __init__(self, rng: random.Random, names: list[str], prefix: str, months: list[str]) -> None:
        self.rng = rng
        self.prefix = prefix
        self.months = months
        self.first_us, self.end_us = month_start_us(months[0]), month_start_us(month_after(months[-1]))
        kinds = rng.choices(list(SKUS), [sku[3] for sku in SKUS.values()], k=len(names))
        self.kinds = dict(zip(names, kinds))
        self.paid = {name: self.times_of(kind) for name, kind in self.kinds.items()}
        self.covers = {name: merged(paid) for name, paid in self.paid.items()}
        self.prices: dict[str, dict[int, int]] = {}
        for kind, sku in SKUS.items():
            if sku[2] is not None:
                self.prices[prefix + kind] = self.prices_of(kind, sku[2])

    def times_of(self, kind: str) -> list[Paid]:
        rng, sku = self.rng, self.prefix + kind
        draw = rng.random()
        if draw < 0.45:
            return [Paid(self.first_us, self.end_us + rng.randrange(3) * 5 * DAY_US, sku)]
        if draw < 0.80:
            starts = [month_start_us(month) for month in self.months] + [self.end_us]
            return [Paid(start, end, sku) for start, end in zip(starts, starts[1:])]
        if draw < 0.97:
            moments = sorted(rng.sample(range(self.first_us, self.end_us), 2 * rng.randrange(1, 5)))
            if len(moments) > 2 and rng.random() < 0.5:
                moments[2] = moments[1]   # the next one follows at once
            skus = [self.prefix + rng.choice(list(SKUS)) if rng.random() < 0.3 else sku for _ in moments]
            return [Paid(start, end, skus[i]) for i, (start, end) in enumerate(zip(moments[::2], moments[1::2]))]
        return []

    def prices_of(self, kind: str, first: int) -> dict[int, int]:
        rng = self.rng
        start = self.first_us + 9 * DAY_US + 1 if kind == LATE_PRICE else self.first_us - DAY_US
        prices = {start: first}
        for month in self.months:
            begin, end = month_start_us(month), month_start_us(month_after(month))
            moments = rng.sample(range(begin, end), rng.randrange(1, 4)) + rng.choice([[], [begin], [begin + DAY_US]])
            prices.update({moment: first * rng.randrange(70, 131) // 100 + rng.randrange(97) for moment in moments
                           if moment > start})
        return prices

    def unbacked_us(self, gpu: str, from_us: int, to_us: int) -> int:
        """What nobody pays for of a use."""
        return to_us - from_us - sum(max(0, min(to_us, end) - max(from_us, start)) for start, end in self.covers[gpu])

    def cells(self) -> Iterator[tuple[str, str, int, int, int | None]]:
        """Paid time, divided by prices and midnights: gpu, sku, day, microseconds, price."""
        schedules = {sku: sorted(prices.items()) for sku, prices in self.prices.items()}
        for gpu, paid in self.paid.items():
            for time in paid:
                schedule = schedules.get(time.sku, [])
                starts = [start for start, _ in schedule]
                at_us = time.from_us
                while at_us < time.to_us:
                    place = bisect_right(starts, at_us)
                    day = at_us // DAY_US
                    end_us = min(time.to_us, (day + 1) * DAY_US, *starts[place:place + 1])
                    yield gpu, time.sku, day, end_us - at_us, schedule[place - 1][1] if place else None
                    at_us = end_us

    def expected(self) -> dict:
        """Grains and microseconds of all paid time."""
        sums = {by: defaultdict(lambda: [0, 0]) for by in ("sku", "gpu", "day")}
        grains = unpriced_us = 0
        for gpu, sku, day, length_us, price in self.cells():
            cost = length_us * (price or 0)
            grains += cost
            unpriced_us += length_us if price is None else 0
            for by, key in (("sku", sku), ("gpu", gpu), ("day", date_of(day))):
                sums[by][key][0] += length_us
                sums[by][key][1] += cost
        figures = {by: {key: {"gpu_us": us, "grains": str(cost)} for key, (us, cost) in sorted(entries.items())}
                   for by, entries in sums.items()}
        return {"grains": str(grains), "unpriced_us": unpriced_us, "by": figures}


def merged(paid: list[Paid]) -> list[tuple[int, int]]:
    """Intervals that touch are one."""
    covers: list[tuple[int, int]] = []
    for from_us, to_us, _ in paid:
        if covers and covers[-1][1] == from_us:
            covers[-1] = (covers[-1][0], to_us)
        else:
            covers.append((from_us, to_us))
    return covers


class Lines:
    """The file: lines in their order, what may be repeated of them, and how many there are of each kind."""

    def __init__(self, rng: random.Random, file) -> None:
        self.rng = rng
        self.file = file
        self.pending: list[str] = []
        self.count = 0
        self.fresh = 0
        self.counts: Counter = Counter()
        self.recent: list[str] = []
        self.old: list[str] = []
        self.duplicate_limit = round(BITS * DUPLICATES / (1 - DUPLICATES))
        self.id_digits, self.id_at = "", 0

    def new_id(self) -> str:
        if self.id_at == len(self.id_digits):
            self.id_digits, self.id_at = self.rng.randbytes(1 << 16).hex(), 0
        digits, at = self.id_digits, self.id_at
        self.id_at = at + 32
        return (f"{digits[at:at + 8]}-{digits[at + 8:at + 12]}-{digits[at + 12:at + 16]}-{digits[at + 16:at + 20]}-"
                f"{digits[at + 20:at + 32]}")

    def put(self, line: str) -> None:
        """A line with a new id, and perhaps duplicates of earlier ones."""
        self.write(line)
        self.fresh += 1
        if len(self.recent) < RECENT:
            self.recent.append(line)
        else:
            self.recent[self.fresh % RECENT] = line
        if self.fresh % 32 == 0:
            if len(self.old) < OLD:
                self.old.append(line)
            else:
                self.old[self.rng.randrange(OLD)] = line
        draw = self.rng.getrandbits(32)
        if draw % BITS < self.duplicate_limit:
            self.repeat(draw >> 16)

    def repeat(self, draw: int) -> None:
        pool = self.old if draw % 10 == 0 and self.old else self.recent
        line = pool[int(self.rng.random() * len(pool))]
        self.counts["duplicates"] += 1
        self.write(line if draw & 0x100 else respelled(line, self.rng.getrandbits(16)))

    def put_refused(self, line: str, reason: str) -> None:
        self.counts[reason] += 1
        self.put(line)

    def put_conflict(self, line: str) -> None:
        """Not to be repeated: it is the first line of its id that a duplicate has the values of."""
        self.counts["conflicts"] += 1
        self.write(line)

    def write(self, line: str) -> None:
        self.count += 1
        self.pending.append(line)
        if len(self.pending) >= FLUSH_LINES:
            self.flush()

    def flush(self) -> None:
        self.file.write("".join(self.pending))
        self.pending.clear()


class Writer:
    """Writes the months of a fleet, day after day."""

    def __init__(self, lines: int, seed: int, file, gpus: int | None = None, months: int = 5, start: str = "2026-10",
                 prefix: str = "", is_open: bool = False) -> None:
        self.rng = random.Random(seed)
        self.wanted = lines
        count = gpus or max(4, min(GPUS_MAX, lines // LINES_PER_GPU_MIN))
        self.names = [f"{prefix}g{number}" for number in range(count)]
        self.months = [start]
        while len(self.months) < months:
            self.months.append(month_after(self.months[-1]))
        self.fleet = Fleet(self.rng, self.names, prefix, self.months)
        self.first_us = self.fleet.first_us
        self.days = (self.fleet.end_us - self.first_us) // DAY_US
        self.lines = Lines(self.rng, file)
        self.is_open = is_open
        self.due: dict[int, list[str]] = defaultdict(list)     # by day: late lines, prices, GPUs; without effect on counters
        self.due_count = 0
        self.unbacked_us = 0
        self.plain: list[str] = []                             # uses that are never voided
        self.voidable: list[str] = []
        self.refused_ids: list[str] = []
        self.voided_ids: list[str] = []
        self.offsets_us = {name: self.rng.choice([0, 0, self.rng.randrange(DAY_US)]) for name in self.names}
        self.layouts: dict[str, int] = {}
        self.heads: dict[str, list[str]] = {}
        slices = sum(sum(map(len, SKUS[kind][1])) / len(SKUS[kind][1]) for kind in self.fleet.kinds.values())
        self.slices_of_all_days = self.slices_left = slices * self.days   # of those to come, about
        self.slots = max(1, math.ceil(lines * USES / self.slices_left / 0.85))   # uses of a slice in a day, at most

    def later(self, day: int, event: dict | str) -> None:
        self.due[day].append(event if isinstance(event, str) else text_of(event))
        self.due_count += 1

    def event(self, kind: str, **fields) -> dict:
        return {"type": kind, "id": self.lines.new_id(), **fields}

    # What is known before the first day

    def plan(self) -> None:
        for sku, prices in self.fleet.prices.items():
            for from_us, amount in sorted(prices.items()):
                self.plan_price(sku, from_us, amount)
        for gpu, paid in self.fleet.paid.items():
            for time in paid:
                self.plan_gpu(gpu, time)
        for number, month in enumerate(self.months):
            begin = month_start_us(month)
            day = (begin - self.first_us) // DAY_US
            self.later(day, self.event("rate", currency="EUR", from_us=begin, micro_per_usd=920_000 + number))
            for tenant in TENANTS[number::5]:
                at_us = begin + self.rng.randrange(20 * DAY_US)
                amount = self.rng.randrange(10**10)
                self.later(day + 20, self.event("credit", tenant=tenant, at_us=at_us, micro_usd=amount, reason="slo",
                                                expires_us=at_us + 90 * DAY_US))
                self.later(day + 1, self.event("budget", tenant=tenant, from_us=begin, micro_usd_per_month=10**10,
                                               hard=number % 2 == 0))

    def plan_price(self, sku: str, from_us: int, amount: int) -> None:
        """Comes before its month is closed; some come after the time for which they count."""
        event = self.event("price", sku=sku, from_us=from_us, micro_usd_per_gpu_hour=amount)
        day = max(0, (from_us - self.first_us) // DAY_US)
        end = day + (0 if from_us < self.first_us else self.rng.choice([-3, -1, 0, 1, 4]))
        ends = (month_start_us(month_after(month)) for month in self.months)
        last_day = (next(end for end in ends if from_us < end) - self.first_us) // DAY_US - 1
        self.later(max(0, min(end, last_day)), event)

    def plan_gpu(self, gpu: str, time: Paid) -> None:
        rng = self.rng
        capacity = SKUS[time.sku.removeprefix(self.fleet.prefix)][0]
        fields = {"gpu": gpu, "sku": time.sku, "capacity": capacity, "from_us": time.from_us, "to_us": time.to_us}
        if rng.random() < 0.2:
            fields["owner"] = rng.choice(TENANTS)
        day = (time.from_us - self.first_us) // DAY_US + (rng.randrange(1, 45) if rng.random() < 0.05 else 0)
        if rng.random() < 0.04:   # first a wrong one, which is taken back
            wrong = self.event("gpu", **{**fields, "capacity": 7, "to_us": time.to_us - 1})
            self.later(day, wrong)
            self.later(day, self.event("void", of=wrong["id"]))
            self.lines.counts["voided"] += 1
        self.later(day, self.event("gpu", **fields))
        if rng.random() < 0.04:
            third_us = (time.to_us - time.from_us) // 3
            self.later(day + 1, self.event("gpu", **{**fields, "from_us": time.from_us + third_us}))
            self.lines.counts["overlaps"] += 1

    # A day

    def run(self) -> None:
        self.plan()
        closes = {(month_start_us(month_after(month)) - self.first_us) // DAY_US + CLOSE_DELAY_DAYS: month
                  for month in self.months}
        for day in range(self.days):
            if day in closes:
                self.close(closes[day])
            slices = self.slices_of_day(day)
            due = self.due.pop(day, [])
            self.put_due(due[:len(due) // 2])
            for slot in range(self.slots):
                self.put_slot(slices, slot, day)
            self.slices_left -= len(slices)
            self.put_due(due[len(due) // 2:])
        self.end()

    def put_due(self, lines: list[str]) -> None:
        self.due_count -= len(lines)
        for line in lines:
            self.lines.put(line)

    def end(self) -> None:
        """The last close, with late lines before and after it; then duplicates, until there are as many lines as wanted."""
        left = self.wanted - self.lines.count
        self.lines.duplicate_limit = round(BITS * 0.9 * max(0.0, left / (self.due_count + 4) - 1))
        for day in sorted(self.due):
            if day > self.days + 1 and self.months:
                self.close(self.months[-1])
                self.months = []
            self.put_due(self.due[day])
        if self.months:
            self.close(self.months[-1])
        left = self.wanted - self.lines.count
        if left < 0:
            raise SystemExit(f"ledger_months: {self.wanted} lines are too few for {len(self.names)} GPUs in {self.days} days")
        for _ in range(left):
            self.lines.repeat(self.rng.getrandbits(16))
        self.lines.flush()

    def close(self, month: str) -> None:
        """Closes, and says a few things that come too late."""
        if self.is_open:
            return
        lines, rng = self.lines, self.rng
        end_us = month_start_us(month_after(month))
        lines.put(text_of(self.event("close", month=month)))
        lines.put_refused(text_of(self.event("close", month=month)), "refused_close")
        sku = rng.choice(list(self.fleet.prices))
        for from_us, reason in ((end_us - rng.randrange(1, DAY_US), "refused_closed"), (min(self.fleet.prices[sku]), "conflicts")):
            lines.put_refused(text_of(self.event("price", sku=sku, from_us=from_us, micro_usd_per_gpu_hour=1)), reason)

    def slices_of_day(self, day: int) -> list[Slice]:
        """On some GPUs they are new; making them takes a minute or two, which nobody uses."""
        rng, slices = self.rng, []
        for gpu in self.names:
            begin_us = self.first_us + day * DAY_US + self.offsets_us[gpu]
            end_us = begin_us + DAY_US
            if gpu not in self.layouts or rng.random() < CUT:
                begin_us = self.cut(gpu, begin_us)
            step_us = (end_us - begin_us) // self.slots
            slices += [Slice(gpu, head, begin_us, step_us) for head in self.heads[gpu]]
        return slices

    def cut(self, gpu: str, begin_us: int) -> int:
        """Another layout, and who has its slices. Returns when they can be used."""
        rng = self.rng
        capacity, layouts, _, _ = SKUS[self.fleet.kinds[gpu]]
        is_first = gpu not in self.layouts
        self.layouts[gpu] = rng.randrange(len(layouts))
        self.heads[gpu] = [self.head(gpu, name, weight, *self.holder()) for name, weight in layouts[self.layouts[gpu]]]
        if is_first:
            return begin_us
        ready_us = begin_us + rng.randrange(40 * SECOND_US, 130 * SECOND_US)
        head = self.head(gpu, "all", capacity, "", "", "reconfiguration")
        self.lines.put(f'{{"type":"use","id":"{self.lines.new_id()}{head}{begin_us},"to_us":{ready_us}}}\n')
        self.lines.counts["uses"] += 1
        self.unbacked_us += self.fleet.unbacked_us(gpu, begin_us, ready_us)
        return ready_us

    def holder(self) -> tuple[str, str, str]:
        if self.rng.random() < 0.05:
            return "", "", "stranded"
        return self.rng.choice(TENANTS), self.rng.choice(SERVICES), self.rng.choice(ROLES)

    @staticmethod
    def head(gpu: str, name: str, weight: int, tenant: str, service: str, role: str) -> str:
        return (f'","gpu":"{gpu}","slice":"{name}","weight":{weight},"tenant":"{tenant}","service":"{service}",'
                f'"role":"{role}","from_us":')

    def chance_of_use(self, slot: int, slices: int) -> float:
        """Of each slice in each slot to come, so that the lines come out as wanted."""
        per_use = (1 + (OVERLAPS + VOIDS * (1 + REPLACED / 2)) / USES) / (1 - DUPLICATES)
        cuts = CUT * len(self.names) * self.slices_left / self.slices_of_all_days * self.days
        kept = self.wanted * FILL + 40 + 8 * len(self.months)
        left = self.wanted - kept - self.lines.count - (self.due_count + cuts) / (1 - DUPLICATES)
        slots_left = self.slices_left * self.slots - slot * slices
        return left / per_use / max(1, slots_left)

    def put_slot(self, slices: list[Slice], slot: int, day: int) -> None:
        """The uses of one slot, most of them now."""
        chance = round(BITS * min(1.0, self.chance_of_use(slot, len(slices))))
        late_limit = round(BITS * LATE / USES)
        other_limit = round(BITS * (OVERLAPS + VOIDS + CONFLICTS) / USES)
        voidable_limit = BITS - BITS // 40
        draw_bits, new_id, put, covers = self.rng.getrandbits, self.lines.new_id, self.lines.put, self.fleet.covers
        for gpu, head, first_us, step_us in slices:
            bits = draw_bits(64)
            if bits % BITS >= chance:
                continue
            from_us = first_us + slot * step_us
            to_us = from_us + step_us
            if bits & 0x10000:   # else it follows the one before
                from_us += (bits >> 20) % (step_us // 4)
                to_us -= (bits >> 24) % (step_us // 4)
            cover = covers[gpu]
            if len(cover) != 1 or from_us < cover[0][0] or to_us > cover[0][1]:
                self.unbacked_us += self.fleet.unbacked_us(gpu, from_us, to_us)
            name = new_id()
            line = f'{{"type":"use","id":"{name}{head}{from_us},"to_us":{to_us}}}\n'
            kind = bits >> 48
            if kind < late_limit:
                self.later(day + self.delay_days(bits >> 20), line)
            else:
                put(line)
                if kind >= voidable_limit:
                    self.keep(self.voidable, line)
                elif kind & 7 == 0:
                    self.keep(self.plain, line)
            if bits >> 32 & 0xFFFF < other_limit:
                self.put_other(day)

    def delay_days(self, draw: int) -> int:
        """Mostly a few days; few months, which are beyond the close."""
        self.lines.counts["late"] += 1
        return 1 + draw % 4 if draw & 0xF0 else 5 + draw % 40

    def keep(self, lines: list[str], line: str) -> None:
        if len(lines) < TARGETS:
            lines.append(line)
        else:
            lines[self.rng.randrange(TARGETS)] = line

    def put_other(self, day: int) -> None:
        """An overlap, a void or a conflict."""
        draw = self.rng.random() * (OVERLAPS + VOIDS + CONFLICTS)
        if not self.plain or not self.voidable:
            return
        if draw < OVERLAPS:
            self.put_overlap()
        elif draw < OVERLAPS + VOIDS:
            self.put_void(day)
        else:
            line = self.rng.choice(self.plain)
            self.lines.put_conflict(line.replace('"weight":', '"weight":9', 1))

    def put_overlap(self) -> None:
        """With a use that counts: it begins before that one ends, by a microsecond or more."""
        event = json.loads(self.rng.choice(self.plain))
        length = event["to_us"] - event["from_us"]
        shift = self.rng.choice([length - 1, 1 - length, 0, self.rng.randrange(length)])
        event.update(id=self.lines.new_id(), from_us=event["from_us"] + shift, to_us=event["to_us"] + shift)
        event.update(tenant=self.rng.choice(TENANTS), service="chat", role="job")
        self.keep(self.refused_ids, event["id"])
        self.lines.put_refused(text_of(event), "overlaps")

    def put_void(self, day: int) -> None:
        draw, lines = self.rng.random(), self.lines
        if draw < 0.60:
            self.void_use()
        elif draw < 0.75:
            self.void_before_use(day)
        elif draw < 0.85 and self.refused_ids:   # without effect
            lines.put(text_of(self.event("void", of=self.rng.choice(self.refused_ids))))
        elif draw < 0.95 and self.voided_ids:    # without effect
            lines.put(text_of(self.event("void", of=self.rng.choice(self.voided_ids))))
        else:
            target = self.event("void", of="nobody")
            lines.put(text_of(target))
            lines.put_refused(text_of(self.event("void", of=target["id"])), "refused_void")
            lines.counts["voids"] += 1
        lines.counts["voids"] += 1

    def void_use(self) -> None:
        """A use that was written; another tenant may have had that time, which may be wrong again."""
        at = self.rng.randrange(len(self.voidable))
        self.voidable[at], self.voidable[-1] = self.voidable[-1], self.voidable[at]
        event = json.loads(self.voidable.pop())
        self.lines.put(text_of(self.event("void", of=event["id"])))
        self.lines.counts["voided"] += 1
        self.keep(self.voided_ids, event["id"])
        if self.rng.random() >= REPLACED:
            self.unbacked_us -= self.fleet.unbacked_us(event["gpu"], event["from_us"], event["to_us"])
            return
        event.update(id=self.lines.new_id(), tenant=self.rng.choice(TENANTS), service="ocr", role="job")
        line = text_of(event)
        self.lines.put(line)
        self.keep(self.voidable, line)

    def void_before_use(self, day: int) -> None:
        """The use comes a day later, and never counts: not even for what it would overlap."""
        event = json.loads(self.rng.choice(self.plain))
        event.update(id=self.lines.new_id(), slice="never")
        event["from_us"] += self.rng.randrange(1000)
        self.lines.put(text_of(self.event("void", of=event["id"])))
        self.lines.counts["voided"] += 1
        self.later(day + 1, event)

    def expected(self) -> dict:
        counts = self.lines.counts
        reasons = ("duplicates", "conflicts", "overlaps", "refused_closed", "refused_void", "refused_close")
        report = {"lines": self.lines.count, "accepted": self.lines.count - sum(counts[reason] for reason in reasons),
                  **{reason: counts[reason] for reason in reasons}, "voided": counts["voided"], "unbacked_us": self.unbacked_us}
        sums = self.fleet.expected()
        report.update(unpriced_us=sums["unpriced_us"], grains=sums["grains"])
        return {"report": report, "late": counts["late"], "voids": counts["voids"], "by": sums["by"]}


def write_months(path: str, lines: int, seed: int, **knobs) -> dict:
    """Writes the file, and what is expected of it beside it, and returns that. Knobs: gpus, months, start, prefix and
    is_open, as of the command."""
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as file:
        writer = Writer(lines, seed, file, **knobs)
        writer.run()
    expected = writer.expected()
    with open(path + ".expected.json", "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=1)
    return expected


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--gpus", type=int, default=None)
    parser.add_argument("--months", type=int, default=5)
    parser.add_argument("--start", default="2026-10")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--open", action="store_true", dest="is_open")
    words = vars(parser.parse_args())
    expected = write_months(words.pop("out"), words.pop("lines"), words.pop("seed"), **words)
    print(json.dumps({**expected["report"], "late": expected["late"], "voids": expected["voids"]}, indent=1))


if __name__ == "__main__":
    main()
