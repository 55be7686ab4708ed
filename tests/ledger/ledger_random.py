#!/usr/bin/env python3
"""Random event files for the ledger: nasty, but every line is well-formed.

    ledger_random.py --seed N [--events 60] [--gpus 3] [--slices 4] [--tenants 3] [--skus 2] [--months 4]
                     [--start 2026-11] [--no-duplicates] [--no-conflicts] [--no-overlaps] [--no-bad-voids]
                     [--no-closes] [--no-bad-closes] [--crlf] [--bom]

prints a file; the same options give the same bytes. Few things and few moments, so that they collide: borders lie on
midnights, ends of months, each other, or a microsecond beside. With no conflicts, no overlaps, no bad voids and no
closes any order of the lines gives the same report; with closes any order between two closes does.
"""

import argparse
import json
import random
import sys
from collections import defaultdict

from ledger_oracle import (CREDIT_REASONS, DAY_US, NOBODYS_ROLES, ROLES, TIME_END_US, TIME_FIRST_US, month_after,
                           month_start_us)

STARTS = ["2026-11", "2026-11", "2027-12", "2028-01", "2000-01", "2099-12", "2100-09"]   # leap years, both ends of time
TENANTS = ["vision", "a", "ab", "Ünal", "\U0001f600x", "\uffeez", 'q"\\,te', "A", "</b>\t&"]
SERVICES = ["s", "chat", "é\u0001", "a;b,c"]
SLICES = ["0", "1", "10", "\U0001f600", "\uffee", "2", "11"]
WEIGHTS = [1, 2, 3, 5, 7, 8, 13, 14, 16, 28, 32, 56, 97, 999_983, 10**6]
CAPACITIES = [56, 56, 7, 1, 2, 11, 55, 97, 999_983, 10**6]
PRICES = [0, 1, 2, 7, 3_600_000, 3_673_000, 2_210_000_003, 999_999_937, 10**15 - 11, 10**15]
AMOUNTS = [0, 1, 999, 10**6, 77_777_777, 10**9 + 7, 10**12, 10**15]
RATES = [0, 1, 333_333, 920_000, 500_000, 1_000_000, 157_000_003, 10**15]
CURRENCIES = ["EUR", "JPY"]
GPU_LENGTHS_US = [1, 7, 3_600_000_001, DAY_US, 5 * DAY_US, 12 * DAY_US + 1, 20 * DAY_US, 35 * DAY_US]
USE_LENGTHS_US = [1, 2, 13, 1_000_003, 3_600_000_000, DAY_US // 2, DAY_US, 3 * DAY_US - 1, 17 * DAY_US]
KINDS = {"price": 8, "gpu": 14, "use": 42, "credit": 6, "budget": 4, "rate": 3, "void": 9, "close": 6, "duplicate": 6,
         "conflict": 5}
TRIES = 8


class Writer:
    """Keeps what was written, so that later lines can collide with it or avoid it."""

    def __init__(self, rng: random.Random, **knobs) -> None:
        self.rng = rng
        self.count: int = knobs.pop("events", 60)
        self.gpus = [f"gpu-{i}" for i in range(knobs.pop("gpus", 3))]
        self.slices = (SLICES + [f"x{i}" for i in range(50)])[:knobs.pop("slices", 4)]
        self.tenants = rng.sample(TENANTS, min(len(TENANTS), knobs.pop("tenants", 3)))
        self.skus = [f"sku{i}" for i in range(knobs.pop("skus", 2))]
        start = knobs.pop("start", None) or rng.choice(STARTS)
        self.months = [start]
        for _ in range(knobs.pop("months", 4) - 1):
            if self.months[-1] < "2100-12":
                self.months.append(month_after(self.months[-1]))
        self.allowed = {name: knobs.pop(name, True) for name in
                        ("duplicates", "conflicts", "overlaps", "bad_voids", "closes", "bad_closes")}
        assert not knobs, f"unknown knobs: {sorted(knobs)}"
        self.first_us = month_start_us(start)
        self.end_us = min(month_start_us(month_after(self.months[-1])), TIME_END_US)
        self.moments: list[int] = []
        self.written: list[dict | str] = []
        self.events: list[dict] = []
        self.taken: dict[tuple, list[tuple[int, int]]] = defaultdict(list)   # intervals by what may not overlap
        self.starts: set[tuple] = set()                                      # (type, thing, from_us)
        self.ids = 0
        self.reserved: list[str] = []                                        # voided, still to come
        self.last_closed: str | None = None

    # Moments and intervals

    def moment(self) -> int:
        time_us = self.moment_anywhere()
        if self.rng.random() < 0.12:
            time_us += self.rng.choice([-1, 1, 1, 997])
        time_us = max(TIME_FIRST_US, self.first_us - DAY_US, min(time_us, self.end_us - 1))
        self.moments.append(time_us)
        return time_us

    def moment_anywhere(self) -> int:
        rng, draw = self.rng, self.rng.random()
        if draw < 0.35 and self.moments:
            return rng.choice(self.moments)
        if draw < 0.45:
            return month_start_us(rng.choice(self.months))
        first, end = self.window()
        if draw < 0.75:
            return rng.randrange(first // DAY_US, end // DAY_US + 1) * DAY_US
        return rng.randrange(first, end)

    def window(self) -> tuple[int, int]:
        """Mostly the month that goes with the place in the file, so that closes come in time; else everything."""
        if self.rng.random() < 0.4:
            return self.first_us, self.end_us
        month = self.months[self.current_month()]
        return month_start_us(month), min(month_start_us(month_after(month)), self.end_us)

    def current_month(self) -> int:
        return min(len(self.written) * len(self.months) // self.count, len(self.months) - 1)

    def interval(self, lengths: list[int]) -> tuple[int, int]:
        begin = self.moment()
        end = self.moment() if self.rng.random() < 0.4 else begin + self.rng.choice(lengths)
        if end <= begin:
            end = begin + self.rng.choice(lengths)
        return begin, min(end, TIME_END_US - 1)

    def inside_gpu(self, name: str) -> tuple[int, int]:
        """An interval that begins in one of the gpu, where there is one."""
        if not self.taken[("gpu", name)] or self.rng.random() < 0.25:
            return self.interval(USE_LENGTHS_US)
        first, end = self.rng.choice(self.taken[("gpu", name)])
        begin = self.rng.choice([first, self.rng.randrange(first, end), max(first, (end - 1) // DAY_US * DAY_US)])
        stop = self.rng.choice([end, begin + self.rng.choice(USE_LENGTHS_US), begin + self.rng.choice(USE_LENGTHS_US)])
        self.moments.append(begin)
        return begin, min(stop, TIME_END_US - 1)

    def free_interval(self, place: tuple) -> tuple[int, int] | None:
        """Free where it can be; else None, or sometimes one that overlaps if that is allowed."""
        lengths = GPU_LENGTHS_US if place[0] == "gpu" else USE_LENGTHS_US
        careless = self.allowed["overlaps"] and self.rng.random() < 0.1
        for _ in range(TRIES):
            begin, end = self.interval(lengths) if place[0] == "gpu" else self.inside_gpu(place[1])
            if self.taken[place] and self.rng.random() < 0.3:   # right behind another one
                begin = self.rng.choice(self.taken[place])[1]
                end = min(begin + self.rng.choice(lengths), TIME_END_US - 1)
            is_free = all(end <= other_begin or other_end <= begin for other_begin, other_end in self.taken[place])
            if begin < end and (is_free or careless):
                self.taken[place].append((begin, end))
                return begin, end
        return None

    # Events

    def new_id(self, kind: str) -> str:
        is_awaited = kind in ("use", "gpu", "credit") or self.allowed["bad_voids"]
        if self.reserved and is_awaited and self.rng.random() < 0.2:
            return self.reserved.pop()
        self.ids += 1
        return f"{self.rng.choice(['', '', 'ü', '-'])}{kind[0]}{self.ids}"

    def write(self, event: dict) -> None:
        self.events.append(event)
        self.written.append(event if self.rng.random() < 0.8 else respelled(self.rng, event))

    def write_from(self, kind: str, name: str, value: str, **fields) -> None:
        """A price, budget or rate: in force from a moment."""
        from_us = self.moment()
        if (kind, value, from_us) in self.starts and not self.allowed["conflicts"]:
            return
        self.starts.add((kind, value, from_us))
        self.write({"type": kind, "id": self.new_id(kind), name: value, "from_us": from_us, **fields})

    def price(self) -> None:
        self.write_from("price", "sku", self.rng.choice(self.skus), micro_usd_per_gpu_hour=self.rng.choice(PRICES))

    def budget(self) -> None:
        amount = self.rng.choice(AMOUNTS + [self.rng.randrange(10**10)])
        self.write_from("budget", "tenant", self.rng.choice(self.tenants), micro_usd_per_month=amount,
                        hard=self.rng.random() < 0.5)

    def rate(self) -> None:
        self.write_from("rate", "currency", self.rng.choice(CURRENCIES), micro_per_usd=self.rng.choice(RATES))

    def gpu(self) -> None:
        rng = self.rng
        name = rng.choice(self.gpus)
        interval = self.free_interval(("gpu", name))
        if interval is None:
            return
        event = {"type": "gpu", "id": self.new_id("gpu"), "gpu": name, "sku": rng.choice(self.skus),
                 "capacity": rng.choice(CAPACITIES), "from_us": interval[0], "to_us": interval[1]}
        if rng.random() < 0.35:
            event["owner"] = rng.choice(self.tenants)
        self.write(event)

    def use(self) -> None:
        rng = self.rng
        name = rng.choice(self.gpus) if rng.random() < 0.95 else "gpu-nowhere"
        piece = rng.choice(self.slices)
        interval = self.free_interval(("use", name, piece))
        if interval is None:
            return
        role = rng.choice(ROLES)
        tenant, service = rng.choice(self.tenants), rng.choice(SERVICES[:rng.choice([1, 4])])
        if role in NOBODYS_ROLES and rng.random() < 0.6:
            tenant, service = "", ""
        self.write({"type": "use", "id": self.new_id("use"), "gpu": name, "slice": piece, "weight": rng.choice(WEIGHTS),
                    "tenant": tenant, "service": service, "role": role, "from_us": interval[0], "to_us": interval[1]})

    def credit(self) -> None:
        rng = self.rng
        event = {"type": "credit", "id": self.new_id("credit"), "tenant": rng.choice(self.tenants),
                 "at_us": self.moment(), "micro_usd": rng.choice(AMOUNTS), "reason": rng.choice(CREDIT_REASONS)}
        if rng.random() < 0.5:
            expires_us = self.moment()
            event["expires_us"] = expires_us if expires_us > event["at_us"] else event["at_us"] + 1
        self.write(event)

    def void(self) -> None:
        rng, draw = self.rng, self.rng.random()
        mine = [event["id"] for event in self.events if event["type"] in ("use", "gpu", "credit", "budget")]
        others = [event["id"] for event in self.events if event["type"] in ("price", "rate", "void", "close")]
        event = {"type": "void", "id": self.new_id("void")}
        if draw < 0.2:
            self.ids += 1
            event["of"] = f"late{self.ids}"
            self.reserved.append(event["of"])
        elif draw < 0.35 and self.allowed["bad_voids"]:
            event["of"] = rng.choice(others * 3 + ["never", event["id"]])
        elif mine:
            event["of"] = rng.choice(mine[-5:] if rng.random() < 0.4 else mine)
        else:
            return
        self.write(event)

    def close(self) -> None:
        rng = self.rng
        current = self.months[self.current_month()]
        due = self.months[0] if self.last_closed is None else month_after(self.last_closed)
        if self.allowed["bad_closes"] and self.last_closed and rng.random() < 0.25:   # repeated, skipped, long ago
            month = rng.choice([self.last_closed, month_after(due), self.months[0]])
        elif due < current or rng.random() < 0.05:
            month = due if self.last_closed else rng.choice(self.months[:self.current_month() + 1])
        else:
            return
        if month > "2100-12":
            return
        if self.last_closed is None or month == due:
            self.last_closed = month
        self.write({"type": "close", "id": self.new_id("close"), "month": month})

    def duplicate(self) -> None:
        if self.events and self.allowed["duplicates"]:
            event = self.rng.choice(self.events)
            self.written.append(dict(event) if self.rng.random() < 0.4 else respelled(self.rng, event))

    def conflict(self) -> None:
        """A known id with other values; what an own moment or place would forbid too is left to the other kinds."""
        if not self.events or not self.allowed["conflicts"]:
            return
        event = dict(self.rng.choice(self.events))
        numbers = [name for name in ("weight", "capacity", "micro_usd", "micro_per_usd") if name in event]
        if numbers:
            name = self.rng.choice(numbers)
            event[name] = event[name] - 1 if event[name] > 1 else event[name] + 1
        elif self.rng.random() < 0.5:
            event = {"type": "rate", "id": event["id"], "currency": "EUR", "from_us": self.moment(), "micro_per_usd": 5}
        else:
            event = {"type": "void", "id": event["id"], "of": self.rng.choice(self.events)["id"]}
        self.write(event)   # may be drawn again as a duplicate

    def run(self) -> list[dict | str]:
        kinds = [kind for kind in KINDS if kind != "close" or self.allowed["closes"]]
        for kind in ["price"] * len(self.skus) + ["gpu"] * len(self.gpus):
            if self.rng.random() < 0.7:
                getattr(self, kind)()
        steps = 0
        while len(self.written) < self.count and steps < 20 * self.count:
            steps += 1
            getattr(self, self.rng.choices(kinds, [KINDS[kind] for kind in kinds])[0])()
        if not self.allowed["bad_voids"]:
            self.keep_promises()
        return self.written

    def keep_promises(self) -> None:
        """Voided ids that are still to come, come."""
        for name in self.reserved:
            self.write({"type": "credit", "id": name, "tenant": self.tenants[0], "at_us": self.moment(), "micro_usd": 5,
                        "reason": "slo"})


def random_events(rng: random.Random, **knobs) -> list[dict | str]:
    """Events as dictionaries, some as lines in another spelling. Knobs: events, gpus, slices, tenants, skus, months,
    start; and duplicates, conflicts, overlaps, bad_voids, closes, bad_closes: False keeps them out."""
    return Writer(rng, **knobs).run()


def line_of(event: dict | str) -> str:
    return event if isinstance(event, str) else json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def file_of(events: list[dict | str], end: str = "\n") -> bytes:
    return "".join(line_of(event) + end for event in events).encode()


# Spellings

def respelled(rng: random.Random, event: dict) -> str:
    """The same object in other bytes: order of keys, spaces, escapes."""
    items = list(event.items())
    rng.shuffle(items)
    fields = [f"{spelled_text(rng, name)}{space(rng)}:{space(rng)}{spelled(rng, value)}" for name, value in items]
    return "{" + space(rng) + f"{space(rng)},{space(rng)}".join(fields) + space(rng) + "}" + space(rng)


def space(rng: random.Random) -> str:
    return rng.choice(["", "", " ", "  ", "\t"])


def spelled(rng: random.Random, value: object) -> str:
    return spelled_text(rng, value) if isinstance(value, str) else json.dumps(value)


def spelled_text(rng: random.Random, text: str) -> str:
    return '"' + "".join(spelled_character(rng, character) for character in text) + '"'


def spelled_character(rng: random.Random, character: str) -> str:
    if rng.random() < 0.15:
        units = character.encode("utf-16-be")
        pattern = rng.choice(["\\u{:04x}", "\\u{:04X}"])
        return "".join(pattern.format(int.from_bytes(units[i:i + 2], "big")) for i in range(0, len(units), 2))
    if character == "/" and rng.random() < 0.5:
        return "\\/"
    return json.dumps(character, ensure_ascii=False)[1:-1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes a random file of ledger events.")
    parser.add_argument("--seed", type=int, required=True)
    for name, value in {"events": 60, "gpus": 3, "slices": 4, "tenants": 3, "skus": 2, "months": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--start")
    for name in ("duplicates", "conflicts", "overlaps", "bad-voids", "closes", "bad-closes"):
        parser.add_argument(f"--no-{name}", dest=name.replace("-", "_"), action="store_false")
    parser.add_argument("--crlf", action="store_true")
    parser.add_argument("--bom", action="store_true")
    knobs = vars(parser.parse_args())
    seed, crlf, bom = (knobs.pop(name) for name in ("seed", "crlf", "bom"))
    data = file_of(random_events(random.Random(seed), **knobs), "\r\n" if crlf else "\n")
    sys.stdout.buffer.write(b"\xef\xbb\xbf" * bom + data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
