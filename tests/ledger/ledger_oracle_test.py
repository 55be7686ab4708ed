#!/usr/bin/env python3
"""Cases computed by hand for the oracle of the ledger, and laws that it must keep on random files. Exit 0: all hold.

A price of p for t microseconds is p x t grains; 3,600,000,000 grains are a micro-dollar: p for one hour costs p.
"""

import json
import random
import sys
from collections import Counter

import ledger_oracle
import ledger_random
from ledger_oracle import DAY_US, GRAINS, Ledger, LedgerError, decimal, ledger_of, ledger_of_bytes, month_start_us

HOUR = 3_600_000_000
NOVEMBER, DECEMBER = month_start_us("2026-11"), month_start_us("2026-12")
JANUARY = month_start_us("2027-01")
RANDOM_FILES = 100
numbers = iter(range(1, 10**6))


def new_id(given: str | None) -> str:
    return given or f"e{next(numbers)}"


def price(amount: int, from_us: int = NOVEMBER - DAY_US, sku: str = "A", name: str | None = None) -> dict:
    return {"type": "price", "id": new_id(name), "sku": sku, "from_us": from_us, "micro_usd_per_gpu_hour": amount}


def gpu(from_us: int, to_us: int, capacity: int = 56, name: str | None = None, device: str = "g", sku: str = "A",
        **owner) -> dict:
    return {"type": "gpu", "id": new_id(name), "gpu": device, "sku": sku, "capacity": capacity, "from_us": from_us,
            "to_us": to_us, **owner}


def use(from_us: int, to_us: int, weight: int = 56, tenant: str = "t", piece: str = "0", name: str | None = None,
        device: str = "g", role: str = "inference", service: str = "s") -> dict:
    return {"type": "use", "id": new_id(name), "gpu": device, "slice": piece, "weight": weight, "tenant": tenant,
            "service": service, "role": role, "from_us": from_us, "to_us": to_us}


def credit(amount: int, at_us: int, tenant: str = "t", name: str | None = None, **expires) -> dict:
    return {"type": "credit", "id": new_id(name), "tenant": tenant, "at_us": at_us, "micro_usd": amount,
            "reason": "slo", **expires}


def budget(amount: int, from_us: int = NOVEMBER, hard: bool = True, tenant: str = "t", name: str | None = None) -> dict:
    return {"type": "budget", "id": new_id(name), "tenant": tenant, "from_us": from_us, "micro_usd_per_month": amount,
            "hard": hard}


def rate(amount: int, from_us: int = NOVEMBER, currency: str = "EUR") -> dict:
    return {"type": "rate", "id": new_id(None), "currency": currency, "from_us": from_us, "micro_per_usd": amount}


def void(of: str, name: str | None = None) -> dict:
    return {"type": "void", "id": new_id(name), "of": of}


def close(month: str, name: str | None = None) -> dict:
    return {"type": "close", "id": new_id(name), "month": month}


def equal(found: object, wanted: object) -> None:
    assert found == wanted, f"\nfound  {found}\nwanted {wanted}"


def figures(ledger: Ledger) -> list[tuple]:
    """(month, tenant, role, of, gpu_us, grains, micro_usd) of all rows of the report."""
    return [(month["month"], row["tenant"], row["role"], row["of"], row["gpu_us"], int(row["grains"]), row["micro_usd"])
            for month in ledger.report()["months"] for row in month["rows"]]


def reasons(ledger: Ledger) -> list[tuple[int, str]]:
    return [(line["line"], line["reason"]) for line in ledger.refused]


# Reading

def test_bad_lines() -> None:
    good = price(5, name="p")
    text = json.dumps(good)
    bad = [json.dumps({**good, "more": 1}), json.dumps({key: good[key] for key in good if key != "sku"}),
           text[:-1] + ', "i\\u0064": "p"}', text.replace(": 5}", ": 5.0}"), text.replace(": 5}", ": 5e0}"),
           text.replace(": 5}", ": true}"), text.replace(": 5}", ": -1}"), text.replace(": 5}", f": {10**15 + 1}}}"),
           text.replace(": 5}", ": NaN}"), text.replace('"p"', '"\\ud800"'), text.replace('"p"', '"' + "é" * 65 + '"'),
           text + " " * 4096, "[]", "1", "{}", "{" + text, text + text, "", text.replace("price", "prices"),
           json.dumps({**good, "from_us": ledger_oracle.TIME_FIRST_US - 1}), "[" * 4000,
           json.dumps(gpu(5 + NOVEMBER, 5 + NOVEMBER)), json.dumps(gpu(NOVEMBER, ledger_oracle.TIME_END_US)),
           json.dumps(gpu(NOVEMBER, DECEMBER, capacity=0)), json.dumps(use(NOVEMBER, DECEMBER, weight=10**6 + 1)),
           json.dumps(use(NOVEMBER, DECEMBER, tenant="")), json.dumps(use(NOVEMBER, DECEMBER, role="idle")),
           json.dumps(close("2026-13")), json.dumps(close("2101-01")), json.dumps({**budget(1), "hard": 1}),
           json.dumps({**credit(1, NOVEMBER), "expires_us": None})]
    for line in bad:
        try:
            ledger_of_bytes(f"{text}\n{line}\n{text}\n".encode(), "f")
        except LedgerError as error:
            assert str(error).startswith("f:2: "), error
        else:
            raise AssertionError(f"accepted: {line}")


def test_good_lines() -> None:
    lines = [json.dumps(price(5, name="p" + "é" * 63)), json.dumps(price(0, from_us=NOVEMBER)),
             json.dumps(use(NOVEMBER, DECEMBER, tenant="", service="", role="stranded")),
             json.dumps(gpu(NOVEMBER, DECEMBER, owner="o"))]
    lines[0] += " " * (4096 - len(lines[0]))
    data = b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n\r\n\n"
    equal(ledger_of_bytes(data).report()["accepted"], 4)
    equal(ledger_of_bytes(b"").report()["lines"], 0)


def test_same_values_in_another_spelling() -> None:
    one = '{"type":"price","id":"p","sku":"A/b","from_us":1793491200000000,"micro_usd_per_gpu_hour":7}'
    two = ('{ "micro_usd_per_gpu_hour" : 7,"s\\u006bu":"\\u0041\\/b","id":"p","from_us":1793491200000000,'
           '"type":"price"}\t')
    other = one.replace(":7}", ":8}")
    ledger = ledger_of_bytes("\n".join([one, two, other, other]).encode())
    # the first line of an id counts: the fourth line is compared with it, not with the third
    equal(reasons(ledger), [(2, "duplicate"), (3, "conflict"), (4, "conflict")])


# Acceptance

def test_order_of_reasons() -> None:
    events = [price(5, from_us=NOVEMBER, name="p"), close("2026-11"),
              price(5, from_us=NOVEMBER),                 # conflict comes before closed
              price(5, from_us=DECEMBER - 1),             # closed
              price(5, from_us=DECEMBER),                 # the end of the month itself is open
              price(5, from_us=DECEMBER - 1, sku="B", name="q"),   # closed
              price(5, from_us=DECEMBER - 1, sku="B", name="q"),   # duplicate of a refused one
              price(5, from_us=DECEMBER - 2, sku="B", name="q"),   # conflict with a refused one
              close("2026-11"), close("2027-01"), close("2026-12"), close("2027-02")]   # close twice; accepted; close
    equal(reasons(ledger_of(events)), [(3, "conflict"), (4, "closed"), (6, "closed"), (7, "duplicate"), (8, "conflict"),
                                       (9, "close"), (10, "close"), (12, "close")])


def test_overlaps_and_voids() -> None:
    hour = [NOVEMBER + i * HOUR for i in range(9)]
    events = [use(hour[0], hour[2], name="u"), use(hour[1], hour[3], name="v"),   # overlap
              use(hour[2], hour[3], name="w"),                                   # touching is none
              use(hour[1], hour[3], piece="1"),                                  # another slice
              void("u"), use(hour[1], hour[2], name="x"),                        # u blocks nothing any more
              use(hour[1], hour[3], name="v"),                                   # v is not revived: a duplicate
              void("u"), void("v"), void("nobody yet"),                          # all accepted
              use(hour[4], hour[5], name="nobody yet"),                          # accepted, voided at once
              use(hour[4], hour[5], name="y"),                                   # so it blocks nothing
              void("y", name="z"), void("z"), void("me", name="me"),             # a void is not voided
              budget(1, name="b"), budget(2), void("b"), budget(3)]              # second from this moment; then free
    ledger = ledger_of(events)
    equal(reasons(ledger), [(2, "overlap"), (7, "duplicate"), (14, "void"), (15, "void"), (17, "conflict")])
    report = ledger.report()
    equal((report["accepted"], report["voided"], report["refused_void"]), (14, 4, 2))   # voided: u, nobody yet, y, b
    other = ledger_of(events, unknown_void_is_refused=True)
    equal(reasons(other), sorted(reasons(ledger) + [(10, "void")]))
    equal(other.report()["voided"], 4)


def test_void_that_waits_leaves_prices_alone() -> None:
    events = [void("p"), void("x"), price(10, name="p"), gpu(NOVEMBER, NOVEMBER + HOUR, owner="o"),
              gpu(NOVEMBER, NOVEMBER + HOUR, name="x")]   # overlap, as always, though it would be voided at once
    ledger = ledger_of(events)
    equal(reasons(ledger), [(5, "overlap")])
    equal(figures(ledger), [("2026-11", "o", "idle", None, HOUR, 10 * HOUR, 10)])
    equal(ledger.report()["voided"], 0)


# From time to money

def test_largest_remainder() -> None:
    # 5 us at price 1, three uses of weight 1 and capacity 7: N = 5, each floor(5/7) = 0 remainder 5, idle floor(20/7)
    # = 2 remainder 6. Three grains are left: idle first (6), then the first slices by bytes: "10", "2", "9".
    events = [price(1), gpu(NOVEMBER, NOVEMBER + 5, 7, owner="o")]
    events += [use(NOVEMBER, NOVEMBER + 5, 1, tenant=f"t{piece}", piece=piece) for piece in ("9", "10", "2")]
    equal([row[1:6] for row in figures(ledger_of(events))],
          [("o", "idle", None, 3, 3), ("t10", "inference", None, 1, 1), ("t2", "inference", None, 1, 1)])
    # 1 us, capacity 2, one use of weight 1: both have 0 remainder 1; idle is last.
    events = [price(1), gpu(NOVEMBER, NOVEMBER + 1, 2), use(NOVEMBER, NOVEMBER + 1, 1)]
    equal(figures(ledger_of(events)), [("2026-11", "t", "inference", None, 1, 1, 0)])


def test_more_weight_than_capacity() -> None:
    # W = 5 of capacity 3: D = 5, no idle. N = 7 x 2 = 14: 14 x 2/5 = 5 r 3, 14 x 3/5 = 8 r 2: one grain to the first.
    # gpu_us: 2 x 2/5 = 0 r 4, 2 x 3/5 = 1 r 1: one to the first.
    events = [price(7), gpu(NOVEMBER, NOVEMBER + 2, 3), use(NOVEMBER, NOVEMBER + 2, 2, "a", "0"),
              use(NOVEMBER, NOVEMBER + 2, 3, "b", "1")]
    equal([row[1:6] for row in figures(ledger_of(events))],
          [("a", "inference", None, 1, 6), ("b", "inference", None, 1, 8)])


def test_cuts() -> None:
    # Weight 1 of 2: a cell of an odd number of grains gives its spare one to the use. Cells, in us from midnight:
    midnight = NOVEMBER + DAY_US
    events = [price(1), price(3, from_us=midnight + 2), gpu(midnight - 3, midnight + 4, 2),
              use(midnight - 3, midnight + 3, 1)]
    # [-3, 0): N = 3: 2 and 1.  [0, 2): N = 2: 1 and 1.  [2, 3): N = 3: 2 and 1.  [3, 4): N = 3, all idle.
    # gpu_us: 2 and 1, 1 and 1, 1 and 0, 0 and 1.
    equal([row[1:6] for row in figures(ledger_of(events))],
          [("", "idle", None, 3, 6), ("t", "inference", None, 4, 5)])
    equal([row["key"] for row in ledger_of(events).cost("day")["rows"]], ["2026-11-01", "2026-11-02"])
    # Midnight alone: 4 us without a cut would be 2 and 2; [-3, 0) gives 2 and 1, [0, 1) gives 1 and 0.
    events = [price(1), gpu(midnight - 3, midnight + 1, 2), use(midnight - 3, midnight + 1, 1)]
    equal([row[1:6] for row in figures(ledger_of(events))],
          [("", "idle", None, 1, 1), ("t", "inference", None, 3, 3)])


def test_unpriced_and_unbacked() -> None:
    # gpu 0 h to 4 h, price from 3 h: 3 h unpriced. Uses: -1 h to 1 h: 1 h outside; 3 h to 6 h: 2 h; no such gpu: 1 h.
    events = [price(4, from_us=NOVEMBER + 3 * HOUR), gpu(NOVEMBER, NOVEMBER + 4 * HOUR, owner="o"),
              use(NOVEMBER - HOUR, NOVEMBER + HOUR), use(NOVEMBER + 3 * HOUR, NOVEMBER + 6 * HOUR, 28, piece="1"),
              use(NOVEMBER, NOVEMBER + HOUR, device="h"), gpu(NOVEMBER, NOVEMBER + 5, sku="never priced", device="i")]
    ledger = ledger_of(events)
    report = ledger.report()
    equal((report["unpriced_us"], report["unbacked_us"]), (3 * HOUR + 5, 4 * HOUR))
    equal([row[1:] for row in figures(ledger)], [("o", "idle", None, 2 * HOUR + HOUR // 2, 2 * HOUR, 2),
                                                 ("t", "inference", None, HOUR + HOUR // 2, 2 * HOUR, 2)])
    # cost shows time without a price too
    equal(ledger.cost("gpu")["rows"], [{"key": "g", "gpu_us": 4 * HOUR, "grains": str(4 * HOUR), "micro_usd": 4},
                                       {"key": "i", "gpu_us": 5, "grains": "0", "micro_usd": 0}])


# Booking

def test_carry() -> None:
    # 1.5 micro-dollars in November: 1 and half a one carried; 0.75 in January: 0.5 + 0.75 = 1 and a quarter carried.
    events = [price(1), gpu(NOVEMBER, NOVEMBER + HOUR * 3 // 2, name="g"), use(NOVEMBER, NOVEMBER + HOUR * 3 // 2),
              gpu(JANUARY, JANUARY + HOUR * 3 // 4), use(JANUARY, JANUARY + HOUR * 3 // 4)]
    ledger = ledger_of(events)
    equal([(row[0], row[6]) for row in figures(ledger)], [("2026-11", 1), ("2027-01", 1)])
    equal(ledger.report()["carried_grains"], str(GRAINS // 4))


def test_corrections() -> None:
    # November closed with 2 h for t. Then: the use is voided: -2 micro for t, +2 for idle, in December. Closed. Then u
    # with one hour less 1 us, for t: +1 micro less 1 grain for t, the reverse for idle, in January. The carries of the
    # corrections of November: t: floor((3.6e9 - 1)/3.6e9) = 0, carried 3.6e9 - 1; idle: floor((-3.6e9 + 1)/3.6e9) = -1,
    # carried 1.
    events = [price(1), gpu(NOVEMBER, NOVEMBER + 2 * HOUR), use(NOVEMBER, NOVEMBER + 2 * HOUR, name="u"),
              close("2026-11"), void("u"), close("2026-12"), use(NOVEMBER, NOVEMBER + HOUR - 1)]
    wanted = [("2026-11", "t", "inference", None, 2 * HOUR, 2 * HOUR, 2),
              ("2026-12", "", "idle", "2026-11", 2 * HOUR, 2 * HOUR, 2),
              ("2026-12", "t", "inference", "2026-11", -2 * HOUR, -2 * HOUR, -2),
              ("2027-01", "", "idle", "2026-11", 1 - HOUR, 1 - HOUR, -1),
              ("2027-01", "t", "inference", "2026-11", HOUR - 1, HOUR - 1, 0)]
    ledger = ledger_of(events)
    equal(figures(ledger), wanted)
    report = ledger.report()
    equal((report["carried_grains"], report["micro_usd"], report["grains"]), (str(HOUR), 1, str(2 * HOUR)))
    equal([month["closed"] for month in report["months"]], [True, True, False])
    # One more close books January as it is; in February the missing grain comes: t: 1 + (3.6e9 - 1) = one micro-dollar.
    events += [close("2027-01"), use(NOVEMBER + HOUR - 1, NOVEMBER + HOUR)]
    equal(figures(ledger_of(events)), wanted + [("2027-02", "", "idle", "2026-11", -1, -1, 0),
                                                ("2027-02", "t", "inference", "2026-11", 1, 1, 1)])


def test_first_close_closes_all_before() -> None:
    # The first close is of December: November is booked as itself. What comes late for October is a correction.
    october = NOVEMBER - DAY_US
    events = [price(1), gpu(NOVEMBER, NOVEMBER + HOUR), gpu(DECEMBER, DECEMBER + HOUR), close("2026-12"),
              gpu(october, october + HOUR)]
    ledger = ledger_of(events)
    equal([row[0:1] + row[3:] for row in figures(ledger)],
          [("2026-11", None, HOUR, HOUR, 1), ("2026-12", None, HOUR, HOUR, 1), ("2027-01", "2026-10", HOUR, HOUR, 1)])
    # Usage of January itself and the correction stand side by side: correction before usage, each with its own carry.
    events += [gpu(JANUARY, JANUARY + HOUR // 2)]
    equal([row[2:] for row in figures(ledger_of(events))][2:],
          [("idle", "2026-10", HOUR, HOUR, 1), ("idle", None, HOUR // 2, HOUR // 2, 0)])


def test_correction_without_grains() -> None:
    # A free GPU: the row of November has no grains and is not shown, nor is its correction, but both are booked.
    events = [price(0), gpu(NOVEMBER, NOVEMBER + HOUR, name="x"), close("2026-11"), void("x"), close("2026-12")]
    ledger = ledger_of(events)
    equal(ledger.report()["months"], [])
    equal([(month, row.gpu_us) for month in sorted(ledger.months) for row in ledger.months[month]],
          [("2026-11", HOUR), ("2026-12", -HOUR)])


# Cost and budgets

def test_cost() -> None:
    day = NOVEMBER + DAY_US
    events = [price(2), gpu(NOVEMBER + 23 * HOUR, day + HOUR, owner="o"), use(day, day + HOUR, 14)]
    ledger = ledger_of(events)
    # day 1: one hour idle, 2 micro. Day 2: 2 micro, a quarter for t.
    equal(ledger.cost("tenant")["rows"],
          [{"key": "o", "gpu_us": HOUR * 7 // 4, "grains": str(HOUR * 7 // 2), "micro_usd": 3},
           {"key": "t", "gpu_us": HOUR // 4, "grains": str(HOUR // 2), "micro_usd": 0}])
    equal([row["key"] for row in ledger.cost("service")["rows"]], ["", "s"])
    late, early = ledger.cost("day", since="2026-11-02")["rows"], ledger.cost("sku", until="2026-11-02")["rows"]
    equal([(row["key"], row["micro_usd"]) for row in late + early], [("2026-11-02", 2), ("A", 2)])
    equal(ledger.cost("role", since="2026-11-02", until="2026-11-02")["rows"], [])


def test_budgets() -> None:
    # 48 micro on the 1st and 2nd, 24 a day later. On the 10th at 12:00: 2 x 48 + 7 x 24 + 12 = 276. Last 7 full days:
    # 168, 20 full days left: floor(168 x 20 / 7) = 480, forecast 756. Budget 551: half is 275.5, reached on the 10th;
    # 80 % is 440.8: not yet.
    events = [price(2), price(1, from_us=NOVEMBER + 2 * DAY_US), gpu(NOVEMBER - 5 * DAY_US, DECEMBER),
              use(NOVEMBER - 5 * DAY_US, DECEMBER), budget(1), void("b"),
              budget(7, from_us=NOVEMBER + DAY_US, name="b"), budget(551, from_us=NOVEMBER + 2 * DAY_US, hard=False),
              budget(9, from_us=NOVEMBER + 12 * DAY_US)]
    state = {"tenant": "t", "spent_micro_usd": 276, "reached": {"50": "2026-11-10", "80": None, "100": None},
             "forecast_micro_usd": 756, "state": "ok"}
    equal(ledger_of(events).budgets("2026-11-10T12:00:00Z"), {"berth": 1, "budgets": [state]})
    # On the 3rd at 00:00: 96 spent, 2 full days (96), 28 days left: 96 + floor(96 x 28 / 2) = 1440.
    state = ledger_of(events).budgets("2026-11-03T00:00:00Z")["budgets"][0]
    equal((state["spent_micro_usd"], state["forecast_micro_usd"]), (96, 1440))
    # On the 1st at 12:00, with the first budget of 1: reached on that day, no full day yet.
    state = ledger_of(events).budgets("2026-11-01T12:00:00Z")["budgets"][0]
    equal(state, {"tenant": "t", "spent_micro_usd": 24, "reached": dict.fromkeys(["50", "80", "100"], "2026-11-01"),
                  "forecast_micro_usd": 24, "state": "hard"})
    # On the 14th the budget of 9 is in force: reached on the 1st, before it was.
    equal(ledger_of(events).budgets("2026-11-14T00:00:00Z")["budgets"][0]["reached"]["100"], "2026-11-01")
    # A month later nothing is used; the budget of 9 goes on.
    state = ledger_of(events).budgets("2026-12-31T23:59:59Z")["budgets"][0]
    equal(state, {"tenant": "t", "spent_micro_usd": 0, "reached": {"50": None, "80": None, "100": None},
                  "forecast_micro_usd": 0, "state": "ok"})


def test_as_of_cuts_cells() -> None:
    # t has weight 1 of 2 for 2,000,001 us from midnight. At this price a us is a micro-dollar: until 1 s it is half of
    # N = 3.6e9 x 10^6 grains, 500,000 micro-dollars.
    end = NOVEMBER + 2_000_001
    events = [price(GRAINS), gpu(NOVEMBER, end, 2), use(NOVEMBER, end, 1), budget(10**6)]
    state = ledger_of(events).budgets("2026-11-01T00:00:01Z")["budgets"][0]
    equal((state["spent_micro_usd"], state["reached"]["50"], state["state"]), (500_000, "2026-11-01", "ok"))


# Invoices

def hours_of(tenant: str, start: int, hours: int, **more) -> list[dict]:
    return [gpu(start, start + hours * HOUR, device=f"g{tenant}{start}"),
            use(start, start + hours * HOUR, tenant=tenant, device=f"g{tenant}{start}", **more)]


def test_credits() -> None:
    # Due: November 10, December 10. By (expires, at, id): x (expires at the end of November), then b and d, given
    # before a, then c. November: x 4, b 2, d 4 of 5. December: d 1, a 5, c 4 of 9. Given too late for both: y; expired
    # before both: w.
    events = [price(1)] + hours_of("t", NOVEMBER, 10) + hours_of("t", DECEMBER, 10)
    events += [credit(9, NOVEMBER, name="c"), credit(5, NOVEMBER + 2, name="a", expires_us=JANUARY),
               credit(5, NOVEMBER + 1, name="d", expires_us=JANUARY),
               credit(2, NOVEMBER + 1, name="b", expires_us=JANUARY),
               credit(4, NOVEMBER + 5, name="x", expires_us=DECEMBER),
               credit(1, JANUARY, name="y", expires_us=JANUARY + 1), credit(5, NOVEMBER, tenant="other"),
               credit(3, NOVEMBER - HOUR, name="w", expires_us=NOVEMBER)]
    ledger = ledger_of(events)
    invoices = [ledger.invoice("t", month) for month in ("2026-11", "2026-12")]
    equal([[(c["id"], c["micro_usd"]) for c in invoice["credits"]] for invoice in invoices],
          [[("x", 4), ("b", 2), ("d", 4)], [("d", 1), ("a", 5), ("c", 4)]])
    equal([invoice["total_micro_usd"] for invoice in invoices], [0, 0])


def test_closed_month_keeps_its_credits() -> None:
    events = [price(1)] + hours_of("t", NOVEMBER, 10) + hours_of("t", DECEMBER, 10)
    events += [credit(4, NOVEMBER, name="a"), rate(2_000_000), close("2026-11"), void("a"),
               credit(12, NOVEMBER, name="b"), rate(3_000_000, from_us=NOVEMBER + 1)]
    ledger = ledger_of(events)
    november, december = (ledger.invoice("t", month, currency="EUR") for month in ("2026-11", "2026-12"))
    equal((november["closed"], november["credits"]), (True, [{"id": "a", "micro_usd": 4, "micro": 8}]))
    equal((november["total_micro_usd"], november["total_micro"]), (6, 12))
    equal(december["credits"], [{"id": "b", "micro_usd": 10, "micro": 30}])


def test_negative_sum() -> None:
    events = [price(1)] + hours_of("t", NOVEMBER, 10, name="u") + [close("2026-11"), void("u"), credit(5, NOVEMBER)]
    invoice = ledger_of(events).invoice("t", "2026-12")
    equal((invoice["total_micro_usd"], invoice["credits"], invoice["closed"]), (-10, [], False))


def test_proportional() -> None:
    # a paid 2, b 1, c -3 (its November was voided), nobody 7 idle (7 hours) and 5 stranded, of sku A; 9 idle of sku B.
    events = [price(1), price(1, sku="B")] + hours_of("c", NOVEMBER, 3, name="u") + [close("2026-11"), void("u")]
    events += hours_of("a", DECEMBER, 2) + hours_of("b", DECEMBER, 1)
    events += hours_of("", DECEMBER, 5, role="stranded", service="")
    events += [gpu(DECEMBER, DECEMBER + 4 * HOUR, device="i"), gpu(DECEMBER, DECEMBER + 9 * HOUR, device="j", sku="B")]
    # The voided hours of November are idle now: a correction of +3 for nobody. Shares a : b = 2 : 1.
    # correction 3: 2 and 1. Idle 4: 8/3 = 2 r 2, 4/3 = 1 r 1: 3 and 1. Stranded 5: 10/3 = 3 r 1, 5/3 = 1 r 2: 3 and 2.
    ledger = ledger_of(events)
    found = {tenant: [(line["role"], line["class"], line["micro_usd"]) for line in
                      ledger.invoice(tenant, "2026-12", "proportional")["lines"]] for tenant in ("a", "b", "c", "")}
    equal(found, {
        "a": [("shared", "correction", 2), ("shared", "usage", 3), ("shared", "usage", 3), ("inference", "usage", 2)],
        "b": [("shared", "correction", 1), ("shared", "usage", 1), ("shared", "usage", 2), ("inference", "usage", 1)],
        "c": [("inference", "correction", -3)], "": [("idle", "usage", 9)]})
    total = sum(ledger.invoice(tenant, "2026-12", "proportional")["total_micro_usd"] for tenant in found)
    equal(total, sum(row.micro_usd for row in ledger.rows("2026-12")))
    equal([line["role"] for line in ledger.invoice("", "2026-12")["lines"]], ["idle", "idle", "stranded", "idle"])


def test_currency() -> None:
    # Two lines of 1 and 2, a credit of 1; rate 0.75: total 2 x 0.75 = 1.5, half to even: 2. 0.75, 1.5, -0.75: floors
    # 0, 1, -1 sum to 0, two are left: the largest remainders are 0.75 and 0.5: 1 + 2 - 1 = 2.
    events = [price(1)] + hours_of("t", NOVEMBER, 1, service="a") + hours_of("t", NOVEMBER + DAY_US, 2, service="b")
    events += [credit(1, NOVEMBER, name="c"), rate(750_000), rate(1, from_us=DECEMBER), rate(9, currency="JPY")]
    invoice = ledger_of(events).invoice("t", "2026-11", currency="EUR")
    equal([line["micro"] for line in invoice["lines"]], [1, 2])
    equal(invoice["credits"], [{"id": "c", "micro_usd": 1, "micro": 1}])
    equal((invoice["total_micro_usd"], invoice["total_micro"]), (2, 2))
    # Half to even down: 1 x 0.5 = 0.5: 0.
    events = [price(1)] + hours_of("t", NOVEMBER, 1) + [rate(500_000)]
    equal(ledger_of(events).invoice("t", "2026-11", currency="EUR")["total_micro"], 0)
    try:
        ledger_of(events).invoice("t", "2026-10", currency="EUR")
    except LedgerError:
        return
    raise AssertionError("no rate, but an invoice")


def test_focus() -> None:
    # 1.5 h at 10^6 an hour; 10^6 micro-dollars of credit. 9 us of idle: 9 / 3.6e9 h = 2.5e-9: half to even 0.000000002.
    events = [price(10**6), gpu(NOVEMBER, NOVEMBER + HOUR * 3 // 2 + 9), use(NOVEMBER, NOVEMBER + HOUR * 3 // 2),
              credit(10**6, NOVEMBER)]
    focus = ledger_of(events).focus("2026-11")
    equal([(line["SubAccountId"], line["ChargeCategory"], line["BilledCost"], line.get("PricingQuantity"))
           for line in focus["lines"]],
          [("", "Usage", "0.000000", "0.000000002"), ("t", "Usage", "1.500000", "1.500000000"),
           ("t", "Credit", "-1.000000", None)])
    equal(focus["billed_cost"], "0.500000")


def test_decimals() -> None:
    equal([decimal(value, 6) for value in (0, -1, 1_234_567, -10**6)],
          ["0.000000", "-0.000001", "1.234567", "-1.000000"])


# Laws on random files

def random_file(seed: int, **knobs: bool) -> list[dict]:
    events = ledger_random.random_events(random.Random(seed), **knobs)
    return ledger_oracle.parse_file(ledger_random.file_of(events))


def check_money(ledger: Ledger) -> None:
    report = ledger.report()
    equal(int(report["grains"]), report["micro_usd"] * GRAINS + int(report["carried_grains"]))
    assert all(0 <= carry < GRAINS for carry in ledger.carries.values())
    by_key = Counter()
    for rows in ledger.months.values():
        for row in rows:
            by_key[row.tenant, row.service, row.sku, row.role] += row.grains
    counted = Counter()
    for sums in ledger.count().values():
        for key, (_, grains) in sums.items():
            counted[key] += grains
    equal({key: n for key, n in by_key.items() if n}, {key: n for key, n in counted.items() if n})
    for by in ledger_oracle.COST_KEYS:
        rows = ledger.cost(by)["rows"]
        equal(sum(int(row["grains"]) for row in rows), int(report["grains"]))
        equal(sum(row["gpu_us"] for row in rows), sum(gpu["to_us"] - gpu["from_us"] for gpu in ledger.of_type("gpu")))


def check_invoices(ledger: Ledger) -> None:
    spent_credits = Counter()
    for month in sorted(ledger.months):
        tenants = {row.tenant for row in ledger.rows(month)} | {""}
        for idle in ("keep", "proportional"):
            invoices = [ledger.invoice(tenant, month, idle) for tenant in tenants]
            equal(sum(line["micro_usd"] for invoice in invoices for line in invoice["lines"]),
                  sum(row.micro_usd for row in ledger.rows(month)))
            for shown in (credit for invoice in invoices for credit in invoice["credits"]):
                spent_credits[idle, shown["id"]] += shown["micro_usd"]
        focus = ledger.focus(month)
        keep = sum(ledger.invoice(tenant, month)["total_micro_usd"] for tenant in tenants)
        equal(focus["billed_cost"], decimal(keep, 6))
    assert all(amount <= ledger.seen[name]["micro_usd"] for (_, name), amount in spent_credits.items())


def test_random_money() -> None:
    for seed in range(RANDOM_FILES):
        ledger = ledger_of(random_file(seed))
        check_money(ledger)
        check_invoices(ledger)


def test_closed_rows_never_change() -> None:
    """What a prefix of the file books for its closed months is what the whole file shows for them."""
    for seed in range(RANDOM_FILES // 2):
        events = random_file(seed)
        whole = ledger_of(events)
        begin = ledger_of(events[:len(events) * 2 // 3])
        for month in sorted(begin.months):
            if begin.is_closed(month):
                equal(begin.months[month], whole.months[month])
                for tenant in {row.tenant for row in whole.rows(month)}:
                    equal(begin.invoice(tenant, month), whole.invoice(tenant, month))


def test_duplicates_change_no_row() -> None:
    for seed in range(RANDOM_FILES // 2):
        rng = random.Random(seed)
        events = random_file(seed, duplicates=False)
        repeated: list[dict] = []
        for event in events:
            repeated.append(event)
            if rng.random() < 0.3:
                repeated.append(rng.choice(repeated))
        one, two = ledger_of(events).report(), ledger_of(repeated).report()
        added = len(repeated) - len(events)
        equal(two["lines"], one["lines"] + added)
        same = [name for name in one if name not in ("lines", "duplicates", "conflicts")]
        equal({name: two[name] for name in same}, {name: one[name] for name in same})
        equal(two["duplicates"] + two["conflicts"], one["duplicates"] + one["conflicts"] + added)


def shuffled_between_closes(rng: random.Random, events: list[dict]) -> list[dict]:
    result: list[dict] = []
    segment: list[dict] = []
    for event in events + [None]:
        if event is not None and event["type"] != "close":
            segment.append(event)
            continue
        rng.shuffle(segment)
        result += segment + [event] * (event is not None)
        segment = []
    return result


def test_order_does_not_matter() -> None:
    for seed in range(RANDOM_FILES):
        rng = random.Random(seed)
        events = random_file(seed, conflicts=False, overlaps=False, bad_voids=False, closes=seed % 2 == 0)
        one = ledger_of(events)
        report = one.report()
        equal((report["conflicts"], report["overlaps"], report["refused_void"]), (0, 0, 0))
        two = ledger_of(shuffled_between_closes(rng, events))
        equal(two.report(), report)
        for month in report["months"]:
            for tenant in {row["tenant"] for row in month["rows"]}:
                equal(two.invoice(tenant, month["month"]), one.invoice(tenant, month["month"]))


def test_generator() -> None:
    """The same bytes for the same seed, and files that reach all cases."""
    def make(seed: int) -> bytes:
        return ledger_random.file_of(ledger_random.random_events(random.Random(seed)))

    assert make(5) == make(5) != make(6)
    totals = Counter()
    for seed in range(RANDOM_FILES // 2):
        report = ledger_of_bytes(make(seed)).report()
        totals.update({name: value for name, value in report.items() if type(value) is int and value})
        classes = [row["class"] for month in report["months"] for row in month["rows"]]
        totals["corrections"] += classes.count("correction")
    assert all(totals[name] > 5 for name in (*ledger_oracle.REASONS.values(), "voided", "corrections")), totals


def main() -> int:
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    return 0


if __name__ == "__main__":
    sys.exit(main())
