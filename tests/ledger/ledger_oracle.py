#!/usr/bin/env python3
"""Oracle of the ledger: events in, reports out; small, slow and exact (whole numbers and fractions only).

    ledger_oracle.py report  --events FILE [--refused FILE]
    ledger_oracle.py cost    --events FILE --by tenant|service|sku|role|gpu|day [--since DATE] [--until DATE]
    ledger_oracle.py cost    --events FILE --budgets --as-of 2026-11-17T12:00:00Z
    ledger_oracle.py invoice --events FILE --tenant T --month M [--idle keep|proportional] [--currency EUR]
    ledger_oracle.py focus   --events FILE --month M

each prints one JSON object; `focus` prints what the lines of the FOCUS file must hold. Written from MONEY.md, part 2,
alone. A grain is a micro-dollar / 3,600,000,000, so that price x microseconds is a whole number of grains.
A file that is no list of events, or an answer that does not exist, is a message and status 2.
"""

import argparse
import datetime
import json
import re
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from fractions import Fraction
from functools import lru_cache
from typing import Callable, Iterable, Iterator, NamedTuple

Event = dict                       # one accepted or refused object, as in the file
Place = tuple                      # what two events can collide in: ("use", gpu, slice), ("price", sku), ...
Key = tuple[str, str, str, str]    # tenant, service, sku, role

DAY_US = 86_400_000_000
GRAINS = 3_600_000_000             # grains of a micro-dollar, and microseconds of an hour
MICROS = 1_000_000
LINE_BYTES_MAX = 4096
STRING_BYTES_MAX = 128
WEIGHT_MAX = 10**6
MONEY_MAX = 10**15
REASONS = {"duplicate": "duplicates", "conflict": "conflicts", "overlap": "overlaps", "closed": "refused_closed",
           "void": "refused_void", "close": "refused_close"}   # reason: its counter in the report
VOIDABLE = ("use", "gpu", "credit", "budget")
ROLES = ("inference", "retraining", "job", "reserved", "reconfiguration", "stranded")
NOBODYS_ROLES = ("reconfiguration", "stranded")
CREDIT_REASONS = ("slo", "prepaid", "free", "goodwill")
COST_KEYS = ("tenant", "service", "sku", "role", "gpu", "day")


class LedgerError(Exception):
    """Bad input, or a question without an answer."""


# Calendar: days are counted from 1970-01-01, months are texts like 2026-11, which sort as they should.

EPOCH = datetime.date(1970, 1, 1).toordinal()


def day_of(date: str) -> int:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date):
        raise LedgerError(f"no date: {date}")
    try:
        return datetime.date.fromisoformat(date).toordinal() - EPOCH
    except ValueError as error:
        raise LedgerError(f"no date: {date}") from error


def date_of(day: int) -> str:
    return datetime.date.fromordinal(EPOCH + day).isoformat()


@lru_cache(maxsize=None)
def month_of_day(day: int) -> str:
    return date_of(day)[:7]


def month_of(time_us: int) -> str:
    return month_of_day(time_us // DAY_US)


def month_after(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + 1:04}-01" if number == 12 else f"{year:04}-{number + 1:02}"


def month_start_us(month: str) -> int:
    return day_of(month + "-01") * DAY_US


def month_end_us(month: str) -> int:
    return month_start_us(month_after(month))


def time_us_of(text: str) -> int:
    """Microseconds of a time like 2026-11-17T12:00:00Z."""
    match = re.fullmatch(r"([0-9-]{10})T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])Z", text)
    if not match:
        raise LedgerError(f"no time: {text}")
    hour, minute, second = (int(part) for part in match.groups()[1:])
    return day_of(match[1]) * DAY_US + ((hour * 60 + minute) * 60 + second) * MICROS


TIME_FIRST_US = day_of("2000-01-01") * DAY_US
TIME_END_US = day_of("2101-01-01") * DAY_US


# Reading: bytes to events. Everything here is about one line at a time.

def is_integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def is_text(value: object) -> bool:
    if type(value) is not str:
        return False
    try:
        return len(value.encode()) <= STRING_BYTES_MAX
    except UnicodeEncodeError:   # half a surrogate pair
        return False


def is_time(value: object) -> bool:
    return is_integer(value, TIME_FIRST_US, TIME_END_US - 1)


def is_money(value: object) -> bool:
    return is_integer(value, 0, MONEY_MAX)


def is_weight(value: object) -> bool:
    return is_integer(value, 1, WEIGHT_MAX)


def is_bool(value: object) -> bool:
    return type(value) is bool


def is_month(value: object) -> bool:
    return type(value) is str and re.fullmatch(r"(20[0-9][0-9]|2100)-(0[1-9]|1[0-2])", value) is not None


def one_of(words: Iterable[str]) -> Callable[[object], bool]:
    return lambda value: type(value) is str and value in words


FIELDS: dict[str, dict[str, Callable[[object], bool]]] = {
    "price": {"sku": is_text, "from_us": is_time, "micro_usd_per_gpu_hour": is_money},
    "gpu": {"gpu": is_text, "sku": is_text, "capacity": is_weight, "from_us": is_time, "to_us": is_time,
            "owner": is_text},
    "use": {"gpu": is_text, "slice": is_text, "weight": is_weight, "tenant": is_text, "service": is_text,
            "role": one_of(ROLES), "from_us": is_time, "to_us": is_time},
    "credit": {"tenant": is_text, "at_us": is_time, "micro_usd": is_money, "reason": one_of(CREDIT_REASONS),
               "expires_us": is_time},
    "budget": {"tenant": is_text, "from_us": is_time, "micro_usd_per_month": is_money, "hard": is_bool},
    "rate": {"currency": is_text, "from_us": is_time, "micro_per_usd": is_money},
    "void": {"of": is_text},
    "close": {"month": is_month},
}
OPTIONAL = {("gpu", "owner"), ("credit", "expires_us")}


def unrepeated(pairs: list[tuple[str, object]]) -> dict:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key is repeated")
    return fields


def no_integer(text: str) -> None:
    raise ValueError(f"{text} is no integer")


def parse_event(line: bytes) -> Event:
    """The event of one line; ValueError says what is wrong with it."""
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"more than {LINE_BYTES_MAX} bytes")
    event = json.loads(line.decode("utf-8"), object_pairs_hook=unrepeated, parse_float=no_integer,
                       parse_constant=no_integer)
    if type(event) is not dict or type(event.get("type")) is not str or event["type"] not in FIELDS:
        raise ValueError("no object of a known type")
    check_fields(event)
    if "to_us" in event and event["from_us"] >= event["to_us"]:
        raise ValueError("from_us is not before to_us")
    if event["type"] == "use" and event["role"] not in NOBODYS_ROLES and "" in (event["tenant"], event["service"]):
        raise ValueError("a use of this role needs a tenant and a service")
    return event


def check_fields(event: Event) -> None:
    kind = event["type"]
    checks = {"type": is_text, "id": is_text, **FIELDS[kind]}
    unknown = set(event) - set(checks)
    missing = {name for name in checks if name not in event and (kind, name) not in OPTIONAL}
    if unknown or missing:
        raise ValueError(f"unknown {sorted(unknown)}, missing {sorted(missing)}")
    for name, value in event.items():
        if not checks[name](value):
            raise ValueError(f"the value of {name} is wrong")


def parse_file(data: bytes, name: str = "events") -> list[Event]:
    """All events of a file, in the order of its lines; raises LedgerError with file and line."""
    lines = [line.removesuffix(b"\r") for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    while lines and not lines[-1].strip(b" \t"):
        lines.pop()
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(parse_event(line))
        except (ValueError, RecursionError) as error:
            raise LedgerError(f"{name}:{number}: {error}") from error
    return events


# Splitting: a whole number into whole numbers that sum to it.

def apportion(total: int, numerators: list[int], denominator: int) -> list[int]:
    """Floors of numerator / denominator; what `total` has more goes one each to the largest remainders.

    Ties go to the first.
    """
    parts = [numerator // denominator for numerator in numerators]
    left = total - sum(parts)
    by_remainder = sorted(range(len(parts)), key=lambda i: -(numerators[i] % denominator))   # stable: ties in order
    for i in by_remainder[:left]:
        parts[i] += 1
    assert sum(parts) == total
    return parts


def split(total: int, weights: list[int]) -> list[int]:
    """`total` in proportion to `weights`."""
    return apportion(total, [total * weight for weight in weights], sum(weights))


# The ledger

class Share(NamedTuple):
    """What one use, or idle, gets of one cell."""
    start_us: int
    gpu: str
    key: Key
    gpu_us: int
    grains: int


class Row(NamedTuple):
    tenant: str
    service: str
    sku: str
    role: str
    kind: str          # `class` in the report
    of: str | None
    gpu_us: int
    grains: int
    micro_usd: int

    def order(self) -> tuple[bytes, ...]:
        """By bytes of the key, null first: `of` is never an empty text."""
        return tuple((part or "").encode() for part in self[:6])

    def shown(self) -> dict:
        return {"tenant": self.tenant, "service": self.service, "sku": self.sku, "role": self.role, "class": self.kind,
                "of": self.of, "gpu_us": self.gpu_us, "grains": str(self.grains), "micro_usd": self.micro_usd}


def place_of(event: Event) -> Place:
    names = {"price": ("sku",), "gpu": ("gpu",), "use": ("gpu", "slice"), "credit": ("tenant",), "budget": ("tenant",),
             "rate": ("currency",)}[event["type"]]
    return (event["type"], *(event[name] for name in names))


class Ledger:
    """Takes events in the order of arrival and books months; after `finish` all outputs are methods.

    A void of an id that was not seen yet is accepted and waits for it; with `unknown_void_is_refused` it waits all the
    same but counts as refused.
    """

    def __init__(self, unknown_void_is_refused: bool = False) -> None:
        self.unknown_void_is_refused = unknown_void_is_refused
        self.lines = 0
        self.counters: Counter[str] = Counter()              # by reason
        self.refused: list[dict] = []
        self.voided = 0
        self.seen: dict[str, Event] = {}                     # the first event of each id, refused or not
        self.awaited: set[str] = set()                       # ids voided before they came
        self.live: dict[Place, list[Event]] = defaultdict(list)   # accepted and not voided
        self.last_closed: str | None = None
        self.at_close: list[tuple[str, dict[Place, list[Event]]]] = []   # month, the live credits and rates then
        self.months: dict[str, list[Row]] = {}               # booked, rows in order
        self.carries: dict[tuple, int] = defaultdict(int)    # by tenant, service, sku, role, class, of
        self.booked: dict[tuple[str, Key], list[int]] = defaultdict(lambda: [0, 0])   # gpu_us, grains with corrections

    # Acceptance

    def take(self, event: Event) -> None:
        self.lines += 1
        reason = self.reason_against(event)
        if reason:
            self.counters[reason] += 1
            self.refused.append({"line": self.lines, "id": event["id"], "reason": reason})

    def reason_against(self, event: Event) -> str | None:
        """Accepts the event, or says why not."""
        if event["id"] in self.seen:
            return "duplicate" if self.seen[event["id"]] == event else "conflict"
        self.seen[event["id"]] = event
        if event["type"] == "void":
            return self.take_void(event["of"])
        if event["type"] == "close":
            return self.take_close(event["month"])
        return self.take_fact(event)

    def take_fact(self, event: Event) -> str | None:
        others = self.live[place_of(event)]
        if event["type"] in ("price", "budget", "rate") and any(e["from_us"] == event["from_us"] for e in others):
            return "conflict"
        if event["type"] in ("gpu", "use") and any(overlap_us(e, event) for e in others):
            return "overlap"
        if event["type"] == "price" and self.last_closed and event["from_us"] < month_end_us(self.last_closed):
            return "closed"
        others.append(event)
        if event["id"] in self.awaited and event["type"] in VOIDABLE:
            self.drop(event)
        return None

    def take_void(self, of: str) -> str | None:
        if of not in self.seen:
            self.awaited.add(of)
            return "void" if self.unknown_void_is_refused else None
        if self.seen[of]["type"] not in VOIDABLE:
            return "void"
        self.drop(self.seen[of])
        return None

    def drop(self, event: Event) -> None:
        others = self.live[place_of(event)]
        if event in others:   # neither refused nor voided before
            others.remove(event)
            self.voided += 1

    def take_close(self, month: str) -> str | None:
        if self.last_closed and month != month_after(self.last_closed):
            return "close"
        counted = self.count()
        first_close = self.last_closed is None
        for booked in sorted({m for m in counted if m < month and first_close} | {month}):
            self.book(booked, counted)
        self.last_closed = month
        self.at_close.append((month, {place: list(events) for place, events in self.live.items()
                                      if place[0] in ("credit", "rate")}))
        return None

    def finish(self) -> "Ledger":
        """The end of the file: the months not closed are booked."""
        counted = self.count()
        months = {m for m in counted if self.last_closed is None or m > self.last_closed}
        if self.last_closed:
            months.add(month_after(self.last_closed))
        for month in sorted(months):
            self.book(month, counted)
        return self

    # From time to money

    def of_type(self, kind: str) -> list[Event]:
        return [event for place, events in self.live.items() if place[0] == kind for event in events]

    def shares(self, cut_us: int | None = None) -> Iterator[Share]:
        """All cells as known now, split; `cut_us` is one more border."""
        uses_of_gpu = defaultdict(list)
        for use in self.of_type("use"):
            uses_of_gpu[use["gpu"]].append(use)
        for gpu in self.of_type("gpu"):
            prices = sorted(self.live[("price", gpu["sku"])], key=lambda price: price["from_us"])
            uses = [use for use in uses_of_gpu[gpu["gpu"]] if overlap_us(use, gpu)]
            for start, end, inside in cells(gpu, uses, prices, cut_us):
                yield from shares_of_cell(gpu, price_at(prices, start), start, end, inside)

    def count(self) -> dict[str, dict[Key, list[int]]]:
        """month: key: [gpu_us, grains], as known now."""
        months: dict[str, dict[Key, list[int]]] = {}
        for share in self.shares():
            sums = months.setdefault(month_of(share.start_us), {}).setdefault(share.key, [0, 0])
            sums[0] += share.gpu_us
            sums[1] += share.grains
        return months

    def unpriced_us(self) -> int:
        total = 0
        for gpu in self.of_type("gpu"):
            first = min((price["from_us"] for price in self.live[("price", gpu["sku"])]), default=gpu["to_us"])
            total += max(0, min(first, gpu["to_us"]) - gpu["from_us"])
        return total

    def unbacked_us(self) -> int:
        return sum(use["to_us"] - use["from_us"] - sum(overlap_us(use, gpu) for gpu in self.live[("gpu", use["gpu"])])
                   for use in self.of_type("use"))

    # Booking

    def book(self, month: str, counted: dict[str, dict[Key, list[int]]]) -> None:
        """Books the usage of `month` and corrections of all months that were closed before."""
        rows = [self.book_row(month, month, key, *sums) for key, sums in counted.get(month, {}).items()]
        if self.last_closed:
            keys = {(m, key) for m in counted for key in counted[m]} | set(self.booked)
            for closed, key in sorted(pair for pair in keys if pair[0] <= self.last_closed):
                now = counted.get(closed, {}).get(key, [0, 0])
                before = self.booked[closed, key]
                if now != before:
                    rows.append(self.book_row(month, closed, key, now[0] - before[0], now[1] - before[1]))
        self.months[month] = sorted(rows, key=Row.order)

    def book_row(self, month: str, of: str, key: Key, gpu_us: int, grains: int) -> Row:
        """The row of `month` for grains of the month `of`: its usage if they are the same, else a correction."""
        whole_key = (*key, "usage", None) if of == month else (*key, "correction", of)
        micro_usd, self.carries[whole_key] = divmod(grains + self.carries[whole_key], GRAINS)
        self.booked[of, key][0] += gpu_us
        self.booked[of, key][1] += grains
        return Row(*whole_key, gpu_us, grains, micro_usd)

    def is_closed(self, month: str) -> bool:
        return self.last_closed is not None and month <= self.last_closed

    # Outputs

    def rows(self, month: str) -> list[Row]:
        """The rows that are shown: those without grains have no money either."""
        return [row for row in self.months.get(month, []) if row.grains != 0]

    def report(self) -> dict:
        months = [{"month": month, "closed": self.is_closed(month),
                   "micro_usd": sum(row.micro_usd for row in self.rows(month)),
                   "rows": [row.shown() for row in self.rows(month)]}
                  for month in sorted(self.months) if self.rows(month)]
        return {"berth": 1, "lines": self.lines, "accepted": self.lines - sum(self.counters.values()),
                **{name: self.counters[reason] for reason, name in REASONS.items()},
                "voided": self.voided, "unpriced_us": self.unpriced_us(), "unbacked_us": self.unbacked_us(),
                "grains": str(sum(share.grains for share in self.shares())),
                "carried_grains": str(sum(self.carries.values())),
                "micro_usd": sum(month["micro_usd"] for month in months), "months": months}

    def cost(self, by: str, since: str | None = None, until: str | None = None) -> dict:
        """Cells as known now, by one key, of the days from `since` to before `until`."""
        sums: dict[str, list[int]] = {}
        for share in self.shares():
            day = share.start_us // DAY_US
            if (since is None or day >= day_of(since)) and (until is None or day < day_of(until)):
                names = (*share.key, share.gpu, date_of(day))
                total = sums.setdefault(names[COST_KEYS.index(by)], [0, 0])
                total[0] += share.gpu_us
                total[1] += share.grains
        rows = [{"key": key, "gpu_us": sums[key][0], "grains": str(sums[key][1]), "micro_usd": sums[key][1] // GRAINS}
                for key in sorted(sums, key=str.encode) if sums[key] != [0, 0]]
        return {"berth": 1, "by": by, "rows": rows}

    def budgets(self, as_of: str) -> dict:
        as_of_us = time_us_of(as_of)
        month = month_of(as_of_us)
        spent: dict[str, Counter[int]] = defaultdict(Counter)   # tenant: day: grains of the month until then
        for share in self.shares(as_of_us):
            if month_start_us(month) <= share.start_us < as_of_us:
                spent[share.key[0]][share.start_us // DAY_US] += share.grains
        in_force = {}
        for budget in sorted(self.of_type("budget"), key=lambda budget: budget["from_us"]):
            if budget["from_us"] <= as_of_us:
                in_force[budget["tenant"]] = budget
        return {"berth": 1, "budgets": [budget_state(in_force[tenant], spent[tenant], as_of_us)
                                        for tenant in sorted(in_force, key=str.encode)]}

    # Invoices

    def known(self, month: str, place: Place) -> list[Event]:
        """The live events of a place: for a closed month those at its close."""
        for closed, live in self.at_close:
            if month <= closed:
                return live.get(place, [])
        return self.live[place]

    def invoice(self, tenant: str, month: str, idle: str = "keep", currency: str = "USD") -> dict:
        lines, credits = self.lines_and_credits(tenant, month, idle)
        amounts = [line.micro_usd for line in lines] + [-micro_usd for _, micro_usd in credits]
        total, micros = self.converted(amounts, month, currency)
        shown_lines = [{**line.shown(), "micro": micro} for line, micro in zip(lines, micros)]
        shown_credits = [{"id": name, "micro_usd": micro_usd, "micro": -micro}
                         for (name, micro_usd), micro in zip(credits, micros[len(lines):])]
        return {"berth": 1, "tenant": tenant, "month": month, "closed": self.is_closed(month), "currency": currency,
                "lines": shown_lines, "credits": shown_credits, "total_micro_usd": sum(amounts), "total_micro": total}

    def lines_and_credits(self, tenant: str, month: str, idle: str) -> tuple[list[Row], list[tuple[str, int]]]:
        """The lines of one invoice and its credits (id, micro_usd), after all earlier months took theirs."""
        taken: Counter[str] = Counter()   # micro_usd by credit
        for earlier in sorted(m for m in self.months if m < month):
            self.take_credits(tenant, earlier, self.invoice_lines(tenant, earlier, idle), taken)
        lines = self.invoice_lines(tenant, month, idle)
        return lines, self.take_credits(tenant, month, lines, taken)

    def invoice_lines(self, tenant: str, month: str, idle: str) -> list[Row]:
        lines = []
        for row in self.rows(month):
            if row.tenant == "" and idle == "proportional":
                lines += [line for line in self.shared(row, month) if line.tenant == tenant]
            elif row.tenant == tenant:
                lines.append(row)
        return sorted(lines, key=Row.order)

    def shared(self, row: Row, month: str) -> list[Row]:
        """A row of nobody, as lines of those who used its sku; itself if nobody did."""
        sums: Counter[str] = Counter()
        for other in self.rows(month):
            if other.tenant != "" and other.sku == row.sku:
                sums[other.tenant] += other.micro_usd
        payers = sorted((tenant for tenant in sums if sums[tenant] > 0), key=str.encode)
        if not payers:
            return [row]
        weights = [sums[tenant] for tenant in payers]
        parts = zip(payers, split(row.gpu_us, weights), split(row.grains, weights), split(row.micro_usd, weights))
        lines = [row._replace(tenant=tenant, role="shared", gpu_us=gpu_us, grains=grains, micro_usd=micro_usd)
                 for tenant, gpu_us, grains, micro_usd in parts]
        return [line for line in lines if line.grains or line.micro_usd]

    def take_credits(self, tenant: str, month: str, lines: list[Row], taken: Counter[str]) -> list[tuple[str, int]]:
        """Credits applied to these lines, in order; adds them to `taken`."""
        due = sum(line.micro_usd for line in lines)
        usable = [credit for credit in self.known(month, ("credit", tenant)) if credit["at_us"] < month_end_us(month)
                  and credit.get("expires_us", TIME_END_US) > month_start_us(month)]
        applied = []
        for credit in sorted(usable, key=lambda c: (c.get("expires_us", TIME_END_US), c["at_us"], c["id"].encode())):
            micro_usd = min(due, credit["micro_usd"] - taken[credit["id"]])
            if micro_usd > 0:
                applied.append((credit["id"], micro_usd))
                taken[credit["id"]] += micro_usd
                due -= micro_usd
        return applied

    def converted(self, amounts: list[int], month: str, currency: str) -> tuple[int, list[int]]:
        """The total in `currency` and the amounts so that they sum to it."""
        if currency == "USD":
            return sum(amounts), amounts
        rates = [rate for rate in self.known(month, ("rate", currency)) if rate["from_us"] < month_end_us(month)]
        if not rates:
            raise LedgerError(f"no rate of {currency} for {month}")
        rate = max(rates, key=lambda rate: rate["from_us"])["micro_per_usd"]
        total = round(Fraction(sum(amounts) * rate, MICROS))   # half to even
        return total, apportion(total, [amount * rate for amount in amounts], MICROS)

    # Export

    def focus(self, month: str) -> dict:
        """What each line of the FOCUS file of `month` holds, rows first, and the sum of BilledCost."""
        lines = [focus_line(row.tenant, row.micro_usd, row) for row in self.rows(month)]
        tenants = {row.tenant for row in self.rows(month)}
        for tenant in sorted(tenants, key=str.encode):
            _, credits = self.lines_and_credits(tenant, month, "keep")
            lines += [focus_line(tenant, -micro_usd, None) for _, micro_usd in credits]
        total = sum(Fraction(line["BilledCost"]) for line in lines)
        return {"month": month, "billed_cost": decimal(int(total * MICROS), 6), "lines": lines}


def overlap_us(first: Event, second: Event) -> int:
    return max(0, min(first["to_us"], second["to_us"]) - max(first["from_us"], second["from_us"]))


def cells(gpu: Event, uses: list[Event], prices: list[Event],
          cut_us: int | None) -> Iterator[tuple[int, int, list[Event]]]:
    """Elementary intervals of a gpu interval, in order, with the uses in each by slice."""
    begin, end = gpu["from_us"], gpu["to_us"]
    borders = {time for use in uses for time in (use["from_us"], use["to_us"])}
    borders |= {price["from_us"] for price in prices} | {cut_us or begin}
    borders |= set(range(begin - begin % DAY_US, end, DAY_US))
    times = [begin, *sorted(time for time in borders if begin < time < end), end]
    waiting = sorted(uses, key=lambda use: use["from_us"], reverse=True)   # the next one is the last
    inside: list[Event] = []
    for start, stop in zip(times, times[1:]):
        while waiting and waiting[-1]["from_us"] <= start:
            inside.append(waiting.pop())
        inside = [use for use in inside if use["to_us"] > start]
        yield start, stop, sorted(inside, key=lambda use: use["slice"].encode())


def price_at(prices: list[Event], time_us: int) -> int:
    """Of prices by from_us; 0 before the first."""
    index = bisect_right([price["from_us"] for price in prices], time_us)
    return prices[index - 1]["micro_usd_per_gpu_hour"] if index else 0


def shares_of_cell(gpu: Event, price: int, start: int, stop: int, uses: list[Event]) -> Iterator[Share]:
    keys = [(use["tenant"], use["service"], gpu["sku"], use["role"]) for use in uses]
    weights = [use["weight"] for use in uses]
    if sum(weights) < gpu["capacity"]:
        keys.append((gpu.get("owner", ""), "", gpu["sku"], "idle"))
        weights.append(gpu["capacity"] - sum(weights))
    for key, gpu_us, grains in zip(keys, split(stop - start, weights), split(price * (stop - start), weights)):
        yield Share(start, gpu["gpu"], key, gpu_us, grains)


def budget_state(budget: Event, spent_on: Counter[int], as_of_us: int) -> dict:
    """`spent_on`: the tenant's grains of the month until as_of_us, by day."""
    month = month_of(as_of_us)
    first, today, end = month_start_us(month) // DAY_US, as_of_us // DAY_US, month_end_us(month) // DAY_US
    spent = sum(spent_on.values()) // GRAINS
    limit = budget["micro_usd_per_month"]
    reached: dict[str, str | None] = {"50": None, "80": None, "100": None}
    for percent in reached:
        for day in range(today, first - 1, -1):
            by_then = sum(spent_on[d] for d in range(first, day + 1)) // GRAINS
            if by_then * 100 >= int(percent) * limit:
                reached[percent] = date_of(day)
    full_days = range(max(first, today - 7), today)
    days_left = end - -(-as_of_us // DAY_US)
    recent = sum(spent_on[day] for day in full_days)
    more = recent * days_left // (len(full_days) * GRAINS) if full_days else 0
    state = "ok" if spent < limit else "hard" if budget["hard"] else "soft"
    return {"tenant": budget["tenant"], "spent_micro_usd": spent, "reached": reached,
            "forecast_micro_usd": spent + more, "state": state}


def decimal(value: int, places: int) -> str:
    """value / 10^places, exactly."""
    whole, part = divmod(abs(value), 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{places}}"


def focus_line(tenant: str, micro_usd: int, row: Row | None) -> dict:
    """Columns of a row, or of an applied credit (None)."""
    cost = decimal(micro_usd, 6)
    line = {"BilledCost": cost, "EffectiveCost": cost, "ListCost": cost, "ContractedCost": cost, "SubAccountId": tenant}
    if row is None:
        return {**line, "ChargeCategory": "Credit", "ChargeClass": ""}
    hours = decimal(round(Fraction(row.gpu_us * 10**9, GRAINS)), 9)   # half to even
    return {**line, "PricingQuantity": hours, "PricingUnit": "GPU-Hours", "ChargeCategory": "Usage",
            "ChargeClass": "Correction" if row.kind == "correction" else "",
            "Tags": {"service": row.service, "role": row.role}}


def ledger_of(events: Iterable[Event], **options: bool) -> Ledger:
    ledger = Ledger(**options)
    for event in events:
        ledger.take(event)
    return ledger.finish()


def ledger_of_bytes(data: bytes, name: str = "events", **options: bool) -> Ledger:
    return ledger_of(parse_file(data, name), **options)


def ledger_of_file(path: str, **options: bool) -> Ledger:
    with open(path, "rb") as file:
        return ledger_of_bytes(file.read(), path, **options)


# Command line

def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Oracle of the ledger.")
    commands = parser.add_subparsers(dest="command", required=True)
    report, cost, invoice, focus = (commands.add_parser(name) for name in ("report", "cost", "invoice", "focus"))
    for command in (report, cost, invoice, focus):
        command.add_argument("--events", required=True)
        command.add_argument("--refuse-unknown-void", action="store_true", help="the other reading of `void`")
    report.add_argument("--refused")
    question = cost.add_mutually_exclusive_group(required=True)
    question.add_argument("--by", choices=COST_KEYS)
    question.add_argument("--budgets", action="store_true")
    for name in ("--since", "--until", "--as-of"):
        cost.add_argument(name)
    invoice.add_argument("--tenant", required=True)
    invoice.add_argument("--idle", choices=("keep", "proportional"), default="keep")
    invoice.add_argument("--currency", default="USD")
    for command in (invoice, focus):
        command.add_argument("--month", required=True)
    options = parser.parse_args()
    if options.command == "cost" and options.budgets and not options.as_of:
        parser.error("--budgets needs --as-of")
    return options


def answer(ledger: Ledger, options: argparse.Namespace) -> dict:
    if options.command == "report":
        return ledger.report()
    if options.command == "cost":
        if options.budgets:
            return ledger.budgets(options.as_of)
        return ledger.cost(options.by, options.since, options.until)
    if not is_month(options.month):
        raise LedgerError(f"no month: {options.month}")
    if options.command == "invoice":
        return ledger.invoice(options.tenant, options.month, options.idle, options.currency)
    return ledger.focus(options.month)


def main() -> int:
    options = arguments()
    try:
        ledger = ledger_of_file(options.events, unknown_void_is_refused=options.refuse_unknown_void)
        print(json.dumps(answer(ledger, options), ensure_ascii=False))
    except (LedgerError, OSError) as error:
        print(f"ledger_oracle: {error}", file=sys.stderr)
        return 2
    if options.command == "report" and options.refused:
        with open(options.refused, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in ledger.refused)
    return 0


if __name__ == "__main__":
    sys.exit(main())
