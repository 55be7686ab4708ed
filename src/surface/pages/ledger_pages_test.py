#!/usr/bin/env python3
"""Opens the pages of `berth cost` and `berth invoice` in headless Chromium, of a usual week and of names, numbers and amounts
that are not usual: light, dark and narrow without texts that overlap, and printed. Their figures are those of the JSON.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FOLDER keeps the pictures and the prints.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page_browser import DEADLINE_SECONDS, browse, check_layout, check_picture, find_chromium

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
MAKE_WEEK = ROOT / "examples/ledger/make_example.py"
HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
MONDAY_US = 20_773 * DAY_US  # 2026-11-16
NAMES = ["<script>alert(1)</script>", "שלום עולם", "\U0001f600 team", "\u202egnp.exe", "a" * 128, "W" * 60 + " " + "W" * 60,
         '"><img src=x onerror=alert(1)>', "\u0000\u0007bell", "{{headline}}", "</title></svg>", "مرحبا 123 abc", " ", "&amp;"]


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        week = folder / "week.jsonl"
        with week.open("wb") as file:
            subprocess.run([sys.executable, MAKE_WEEK], check=True, stdout=file, timeout=DEADLINE_SECONDS)
        check_cost(chromium, folder, week)
        check_invoice(chromium, folder, week)
        for title, events in {"names": unusual_names(), "many": many_tenants(), "amounts": large_amounts(),
                              "nothing": nothing_used(), "empty": []}.items():
            check_unusual(chromium, folder, title, events)
    return 0


def run(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True, timeout=DEADLINE_SECONDS).stdout


def check_cost(chromium, folder, events):
    answer = json.loads(run("cost", "--events", events, "--by", "tenant", "--format", "json", "--report", folder / "cost"))
    page = folder / "cost/index.html"
    text = page.read_text(encoding="utf-8")
    assert run("cost", "--events", events, "--report", folder / "cost").split()[0] == "tenant"
    assert page.read_text(encoding="utf-8") == text
    assert len(answer["rows"]) == 6
    for row in answer["rows"]:
        assert f"<b>{dollars(row['micro_usd'])}</b>" in text, row
    assert text.count("<figure") == 6  # days, four budgets, GPUs
    assert "closed, corrected later" in text and "<h3>Changes of prices</h3>" in text
    check_drawn(chromium, folder, page, "cost", printed_pages_max=3)


def check_invoice(chromium, folder, events):
    words = ["invoice", "--events", events, "--tenant", "corvid", "--month", "2026-11", "--idle", "proportional", "--currency", "EUR"]
    answer = json.loads(run(*words, "--format", "json"))
    page = folder / "invoice.html"
    page.write_text(run(*words, "--format", "html"), encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert re.fullmatch("[0-9a-f]{64}", answer["month_hash"]) and answer["month_hash"] in text
    shown = re.findall(r'<data value="([^"]+)">', text)
    amounts = [line["micro"] for line in answer["lines"]] + [-credit["micro"] for credit in answer["credits"]]
    assert sum(amounts) == answer["total_micro"]
    for micro in [*amounts, answer["total_micro"]]:
        assert decimal(micro) in shown, micro
    check_drawn(chromium, folder, page, "invoice", printed_pages_max=2)


def check_unusual(chromium, folder, title, events):
    file = folder / f"{title}.jsonl"
    file.write_text("".join(json.dumps({"id": f"e{i}"} | event) + "\n" for i, event in enumerate(events)), encoding="utf-8")
    run("cost", "--events", file, "--report", folder / title)
    pages = [folder / title / "index.html"]
    tenants = [event["tenant"] for event in events if event["type"] == "use"]
    if tenants:
        pages.append(folder / f"{title}.html")
        pages[1].write_text(run("invoice", "--events", file, "--tenant", tenants[0], "--month", "2026-11", "--format", "html",
                                "--idle", "proportional"), encoding="utf-8")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text and "<img" not in text and "\u202e" not in text
        check_layout(chromium, folder, page)


def check_drawn(chromium, folder, page, name, printed_pages_max):
    assert "{{" not in page.read_text(encoding="utf-8")
    pictures = {mode: check_picture(chromium, folder, page.as_uri(), mode) for mode in ("light", "dark")}
    check_layout(chromium, folder, page)
    printed = folder / "print.pdf"
    browse(chromium, folder, page.as_uri(), "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    count = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert 1 <= count <= printed_pages_max, f"{name}: {count} printed pages"
    if "BERTH_SCREENSHOT" in os.environ:
        for mode, picture in [*pictures.items(), ("print", printed)]:
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"{name}_{mode}{picture.suffix}")


def decimal(micro):
    return f"{'-' if micro < 0 else ''}{abs(micro) // 10**6}.{abs(micro) % 10**6:06}"


def dollars(micro_usd):
    """Rounded to the cent, half to even."""
    cents, rest = divmod(micro_usd, 10_000)
    cents += rest > 5_000 or (rest == 5_000 and cents % 2)
    return f"${cents // 100:,}.{cents % 100:02}"


# Events without their ids.


def price(at_us, micro_usd):
    return {"type": "price", "sku": "<b>h100</b>", "from_us": at_us, "micro_usd_per_gpu_hour": micro_usd}


def gpu(name, from_us, to_us, owner=None):
    event = {"type": "gpu", "gpu": name, "sku": "<b>h100</b>", "capacity": 56, "from_us": from_us, "to_us": to_us}
    return event | ({} if owner is None else {"owner": owner})


def use(name, tenant, from_us, to_us, role="job", service="s"):
    return {"type": "use", "gpu": name, "slice": "0", "weight": 28, "tenant": tenant, "service": service, "role": role,
            "from_us": from_us, "to_us": to_us}


def budget(tenant, micro_usd):
    return {"type": "budget", "tenant": tenant, "from_us": MONDAY_US - 30 * DAY_US, "micro_usd_per_month": micro_usd, "hard": True}


def unusual_names():
    events = [price(MONDAY_US - DAY_US, 3_000_000), price(MONDAY_US + 30 * HOUR_US, 3_100_000)]
    for number, name in enumerate(NAMES):
        events += [gpu(name, MONDAY_US, MONDAY_US + 3 * DAY_US, name if number % 2 else None),
                   use(name, name, MONDAY_US + number * HOUR_US, MONDAY_US + 2 * DAY_US, service=name),
                   budget(name, 300_000_000),
                   {"type": "credit", "tenant": name, "at_us": MONDAY_US, "micro_usd": 20_000_000, "reason": "slo"}]
    return [*events, {"type": "close", "month": "2026-11"}]


def many_tenants():
    events = [price(MONDAY_US - 40 * DAY_US + k * 2 * DAY_US, 3_000_000 - k * 9_999) for k in range(30)]
    for number in range(30):
        name = f"team-{number:02}"
        events += [gpu(name, MONDAY_US - 30 * DAY_US, MONDAY_US + 20 * DAY_US, name if number % 3 == 0 else None),
                   budget(name, (number + 1) * 10_000_000)]
        events += [use(name, name, MONDAY_US + day * DAY_US, MONDAY_US + day * DAY_US + number * HOUR_US // 2 + 1)
                   for day in range(-30, 20)]
    return [*events, {"type": "close", "month": "2026-10"},
            use("team-01", "team-02", MONDAY_US - 25 * DAY_US + 20 * HOUR_US, MONDAY_US - 25 * DAY_US + 23 * HOUR_US)]


def large_amounts():
    events = [price(MONDAY_US - DAY_US, 10**15), budget("t0", 1), budget("t1", 10**15)]
    for number in range(300):
        events += [gpu(f"g{number}", MONDAY_US, MONDAY_US + 3 * DAY_US),
                   use(f"g{number}", f"t{number % 3}", MONDAY_US, MONDAY_US + 3 * DAY_US - number * HOUR_US // 10)]
    return events


def nothing_used():
    return [price(MONDAY_US - DAY_US, 2), gpu("g", MONDAY_US, MONDAY_US + DAY_US), budget("t", 0)]


if __name__ == "__main__":
    sys.exit(main())
