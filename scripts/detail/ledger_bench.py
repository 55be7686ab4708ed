"""Bars of the ledger, by the program itself, one table.

    python3 scripts/detail/ledger_bench.py BERTH [--lines 10000000] [--only conservation,speed] [--folder DIR]

The files are those of tests/ledger/ledger_months.py. --folder keeps them for the next run; a ledger on disk never stays.

conservation  five months with duplicates, late lines, overlaps, voids, prices and closes: `verify`, which counts again in a
              second way, and what the plan of the fleet costs, which is known without a ledger: by sku, GPU and day
speed         `report` of that file on one core, three times; memory beside the mapped file
late          `report` of files of a tenth of the lines whose closed months are counted again for late lines
              (scripts/detail/ledger_late.py): of many GPUs with few slices, and of few GPUs with many
close         one month of so many lines is on disk: its close (ingest and report), then late lines (ingest and report of each)
ingest        a further tenth of the lines, where a tenth is on disk, and where all are
opencost      one week of a p5.48xlarge: what OpenCost's formula says that each tenant costs, and what we say. A pod that uses a
              slice is billed for a GPU there (opencost#3828); what its containers request is said in PODS

The load of the machine stands beside each part. Kills: scripts/soak ledger.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/ledger"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/detail"))
from ledger_late import Shape, write_late  # noqa: E402  (needs the path)
from ledger_months import write_months  # noqa: E402
from ledger_oracle import DAY_US, GRAINS, month_start_us  # noqa: E402

HOUR_US = 3_600_000_000
MEMORY_SAMPLE_SECONDS = 0.003
SPEED_RUNS = 3
LATE_LINES = 3
SPARSE = Shape(2_000, 7)   # each use of days, of which each has few: no bar
LATE_SHAPES = {"200 GPUs": Shape(200, 7), "10 GPUs": Shape(10, 24), "2,000 GPUs": SPARSE}
MONTH, NEXT_MONTH = "2026-10", "2026-11"
COUNTED = ("sku", "gpu", "day")


class Bars:
    """Prints figures with their bars."""

    def __init__(self):
        self.missed = 0

    def show(self, what, found, most=None, least=None, unit=""):
        good = (most is None or found <= most) and (least is None or found >= least)
        self.missed += not good
        bar = f"at most {most:,}" if most is not None else f"at least {least:,}" if least is not None else ""
        verdict = "" if not bar else "met" if good else "MISSED"
        text = f"{found:,}" if isinstance(found, int) else f"{found:,.2f}"
        print(f"  {what:<64} {text:>16} {unit:<8} {bar:<18} {verdict}", flush=True)

    def part(self, title):
        one, five, _ = os.getloadavg()
        print(f"{title} (load of the machine {one:.1f}, {five:.1f})", flush=True)


class Run(NamedTuple):
    seconds: float
    processor_seconds: float
    own_bytes: int       # of memory, without mapped files: the most that was seen
    resident_bytes: int  # with them
    text: str


def own_bytes(process):
    """Memory that no file stands behind."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            return next((1024 * int(line.split()[1]) for line in file if line.startswith("RssAnon")), 0)
    except OSError:
        return 0


def run(*words):
    """Runs a command to its end, which must be good."""
    with tempfile.TemporaryFile(mode="w+") as out:
        begun = time.monotonic()
        process = subprocess.Popen(list(map(str, words)), stdout=out)
        most = 0
        while True:
            most = max(most, own_bytes(process))
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(MEMORY_SAMPLE_SECONDS)
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        sys.exit(f"ledger_bench: {' '.join(map(str, words))} ended with {process.returncode}: {text[-2000:]}")
    return Run(seconds, used.ru_utime + used.ru_stime, most, 1024 * used.ru_maxrss, text)


class Work:
    """Files and ledgers, made when they are needed."""

    def __init__(self, program, lines, folder, ledgers):
        self.program = program
        self.lines = lines
        self.folder = folder
        self.ledgers = ledgers
        self.filled = {}   # the seconds that the first ingest of a ledger took

    def file(self, name, lines, seed, **knobs):
        path = os.path.join(self.folder, f"{name}.{lines}.jsonl")
        if not os.path.exists(path + ".expected.json"):
            write_months(path, lines, seed, **knobs)
        return path

    def five_months(self):
        return self.file("five_months", self.lines, 1)

    def expected(self, path):
        with open(path + ".expected.json", encoding="utf-8") as file:
            return json.load(file)

    def month_ledger(self, lines):
        """One month of so many lines, on disk."""
        ledger = os.path.join(self.ledgers, f"month.{lines}")
        if ledger not in self.filled:
            self.filled[ledger] = self.ingest(ledger, self.month_file(lines)).seconds
        return ledger

    def month_file(self, lines):
        return self.file("month", lines, 2, months=1, start=MONTH, is_open=True)

    def expensive_gpus(self, path, count):
        """Those that cost most are paid for all the time."""
        gpus = self.expected(path)["by"]["gpu"]
        return sorted(gpus, key=lambda gpu: (-int(gpus[gpu]["grains"]), gpu))[:count]

    def ingest(self, ledger, path):
        return run(self.program, "ledger", "ingest", "--ledger", ledger, "--events", path)

    def ingest_event(self, ledger, event):
        path = os.path.join(self.ledgers, "event.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")
        return self.ingest(ledger, path)

    def report(self, *words):
        return run(self.program, "ledger", "report", *words, "--format", "json")


def different(found, wanted):
    """Keys with other figures."""
    return sum(found.get(key) != wanted.get(key) for key in found | wanted)


def conservation(work, bars):
    path = work.five_months()
    expected = work.expected(path)
    wanted = expected["report"]
    bars.part("conservation: " + ", ".join(f"{wanted[key]:,} {key}" for key in ("lines", "duplicates", "overlaps", "voided")) +
              f", {expected['late']:,} late, {expected['voids']:,} voids")
    verified = run(work.program, "ledger", "verify", "--events", path, "--format", "json")
    differences = json.loads(verified.text)["differences"]
    bars.show("verify: differences", differences if isinstance(differences, int) else len(differences), most=0)
    report = json.loads(work.report("--events", path).text)
    grains = int(report["grains"])
    bars.show("paid time x its prices, counted without a ledger: grains off", abs(grains - int(wanted["grains"])), most=0)
    bars.show("counters that are not as written", different({key: report[key] for key in wanted}, wanted), most=0)
    for by in COUNTED:
        rows = json.loads(run(work.program, "cost", "--events", path, "--by", by, "--format", "json").text)["rows"]
        found = {row["key"]: {"gpu_us": row["gpu_us"], "grains": row["grains"]} for row in rows}
        bars.show(f"of {len(expected['by'][by])} {by}s off, time or grains", different(found, expected["by"][by]), most=0)
    booked = report["micro_usd"] * GRAINS + int(report["carried_grains"])
    bars.show("micro-dollars x 3.6e9 + carried: grains off", abs(booked - grains), most=0)
    rows = [row for month in report["months"] for row in month["rows"]]
    bars.show("rows of all months, corrections too: grains off", abs(sum(int(row["grains"]) for row in rows) - grains), most=0)
    bars.show("rows", len(rows))
    bars.show("verify", verified.seconds, unit="s")


def speed(work, bars):
    path = work.five_months()
    bars.part(f"speed: report of {work.lines:,} lines, {os.path.getsize(path) / work.lines:.0f} bytes each, on one core")
    words = ["taskset", "-c", "0", work.program, "ledger", "report", "--events", path, "--format", "json"]
    runs = [run(*words) for _ in range(SPEED_RUNS)]
    seconds = sorted(each.seconds for each in runs)
    bars.show(f"best of {SPEED_RUNS}", round(work.lines / seconds[0]), least=1_000_000, unit="lines/s")
    bars.show(f"median of {SPEED_RUNS}", round(work.lines / seconds[SPEED_RUNS // 2]), unit="lines/s")
    processor = min(each.processor_seconds for each in runs)
    bars.show("best by processor seconds, waits not counted", round(work.lines / processor), least=800_000, unit="lines/s")
    bars.show("memory without mapped files", max(each.own_bytes for each in runs) / work.lines, most=200, unit="B/line")
    mapped = max(each.resident_bytes for each in runs) - os.path.getsize(path)
    bars.show("memory, most, less the file", max(0, mapped) / work.lines, most=200, unit="B/line")


def best_report(work, path):
    """The run with the least processor time, on one core."""
    words = ["taskset", "-c", "0", work.program, "ledger", "report", "--events", path, "--format", "json"]
    return min((run(*words) for _ in range(SPEED_RUNS)), key=lambda each: each.processor_seconds)


def late(work, bars):
    bars.part("late: report of files with late lines, on one core")
    for name, shape in LATE_SHAPES.items():
        path = os.path.join(work.folder, f"late.{name}.{work.lines // 10}.jsonl")
        if not os.path.exists(path):
            write_late(path, work.lines // 10, 7, shape)
        best = best_report(work, path)
        report = json.loads(best.text)
        rows = [row for month in report["months"] for row in month["rows"]]
        corrections = sum(row["of"] is not None for row in rows)
        bars.show(f"{name}: rows, of them {corrections:,} corrections, of {report['lines']:,} lines", len(rows))
        bars.show(f"{name}: best of {SPEED_RUNS} by processor seconds", round(report["lines"] / best.processor_seconds),
                  least=None if shape == SPARSE else 800_000, unit="lines/s")


def close(work, bars):
    ledger = work.month_ledger(work.lines)
    bars.part(f"close: a month of {work.lines:,} lines on disk")
    taken = work.ingest_event(ledger, {"type": "close", "id": "close", "month": MONTH})
    reported = work.report("--ledger", ledger)
    if not json.loads(reported.text)["months"][0]["closed"]:
        sys.exit("ledger_bench: the month is not closed")
    bars.show("close: ingest", taken.seconds, unit="s")
    bars.show("close: report", reported.seconds, unit="s")
    bars.show("close: both", taken.seconds + reported.seconds, most=10, unit="s")
    late = []
    for number, gpu in enumerate(work.expensive_gpus(work.month_file(work.lines), LATE_LINES)):
        from_us = month_start_us(MONTH) + (12 + 8 * number) * DAY_US
        taken = work.ingest_event(ledger, {"type": "use", "id": f"late {number}", "gpu": gpu, "slice": "late", "weight": 8,
                                           "tenant": "late", "service": "late", "role": "job", "from_us": from_us,
                                           "to_us": from_us + HOUR_US})
        reported = work.report("--ledger", ledger)
        rows = [row for month in json.loads(reported.text)["months"] for row in month["rows"]]
        if not any(row["of"] == MONTH and row["tenant"] == "late" for row in rows):
            sys.exit("ledger_bench: a late line made no correction")
        late.append((taken.seconds, reported.seconds))
    bars.show(f"a late line: ingest, worst of {LATE_LINES}", max(taken for taken, _ in late), most=1, unit="s")
    bars.show(f"a late line: report, worst of {LATE_LINES}", max(reported for _, reported in late), most=1, unit="s")
    bars.show(f"a late line: both, worst of {LATE_LINES}", max(map(sum, late)), most=1, unit="s")


def ingest(work, bars):
    further_lines = work.lines // 10
    further = work.file("further", further_lines, 3, months=1, start=NEXT_MONTH, is_open=True)
    bars.part(f"ingest: batches of 10,000 lines, durable, and what is derived from them; {further_lines:,} further lines")
    for lines in (further_lines, work.lines):
        ledger = work.month_ledger(lines)
        bars.show(f"{lines:,} lines into an empty ledger", round(lines / work.filled[ledger]), least=100_000, unit="lines/s")
        taken = work.ingest(ledger, further)
        rate = round(further_lines / taken.seconds)
        bars.show(f"{further_lines:,} further lines into {lines:,}", rate, least=100_000, unit="lines/s")
        bars.show("  by processor seconds", round(further_lines / taken.processor_seconds), unit="lines/s")


# One p5.48xlarge, and OpenCost's prices of parts where a node's price is not split by its owner.
NODE_MICRO_USD_PER_HOUR, NODE_GPUS, NODE_CPUS, NODE_RAM_GB = 55_040_000, 8, 192, 2048
DEFAULT_CPU, DEFAULT_RAM_GB, DEFAULT_GPU = Fraction(31_611, 10**6), Fraction(4_237, 10**6), Fraction(95, 100)
CAPACITY = 56
WEEK_HOURS = 168
WHOLE, LARGE, MEDIUM = ("7g", 56), ("4g", 32), ("3g", 28)
NIGHTS = [(24 * day + 20, 24 * day + 30) for day in range(6)]
DAYS = [(24 * day + 8, 24 * day + 18) for day in range(5)]
# Pods: tenant, GPU, slice, hours of the week, vCPUs and GB of memory that it requests.
PODS = [*(("training", gpu, WHOLE, [(0, 96), (97, 168)], 22, 240) for gpu in range(4)),
        ("chat", 4, LARGE, [(0, 168)], 8, 64), ("embeddings", 4, MEDIUM, [(0, 168)], 4, 32),
        ("chat", 5, WHOLE, DAYS, 8, 64), ("batch", 5, WHOLE, NIGHTS, 24, 256),
        *(("notebooks", 6, (f"1g@{place}", 8), DAYS, 4, 16) for place in range(4)), ("vision", 6, MEDIUM, [(0, 168)], 4, 32),
        ("batch", 7, WHOLE, NIGHTS[4:], 24, 256)]


def week_events():
    """Every GPU costs an eighth of the node."""
    begin_us = month_start_us(NEXT_MONTH) + 15 * DAY_US
    yield {"type": "price", "id": "price", "sku": "h100", "from_us": begin_us,
           "micro_usd_per_gpu_hour": NODE_MICRO_USD_PER_HOUR // NODE_GPUS}
    for gpu in range(NODE_GPUS):
        yield {"type": "gpu", "id": f"gpu {gpu}", "gpu": f"gpu-{gpu}", "sku": "h100", "capacity": CAPACITY, "from_us": begin_us,
               "to_us": begin_us + WEEK_HOURS * HOUR_US}
    for number, (tenant, gpu, (name, weight), hours, _, _) in enumerate(PODS):
        for begin, end in hours:
            yield {"type": "use", "id": f"use {number} {begin}", "gpu": f"gpu-{gpu}", "slice": f"{tenant} {name}", "weight": weight,
                   "tenant": tenant, "service": tenant, "role": "job", "from_us": begin_us + begin * HOUR_US,
                   "to_us": begin_us + end * HOUR_US}


def opencost_prices():
    """Of a vCPU, a GB and a GPU for an hour in micro-dollars: the defaults, scaled so that together they are the node's price."""
    whole = NODE_CPUS * DEFAULT_CPU + NODE_RAM_GB * DEFAULT_RAM_GB + NODE_GPUS * DEFAULT_GPU
    return [part * NODE_MICRO_USD_PER_HOUR / whole for part in (DEFAULT_CPU, DEFAULT_RAM_GB, DEFAULT_GPU)]


def dollars(micro_usd):
    """With cents, half to even."""
    cents = round(Fraction(micro_usd, 10_000))
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def opencost(work, bars):
    bars.part("opencost: one week of a p5.48xlarge at 55.04 dollars an hour")
    path = os.path.join(work.ledgers, "week.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in week_events())
    rows = json.loads(run(work.program, "cost", "--events", path, "--by", "tenant", "--format", "json").text)["rows"]
    ours = {row["key"]: (Fraction(int(row["grains"]), GRAINS), Fraction(row["gpu_us"], HOUR_US)) for row in rows}
    cpu, ram, gpu = opencost_prices()
    node = NODE_MICRO_USD_PER_HOUR * WEEK_HOURS
    theirs = {}
    for tenant, _, _, hours, cpus, ram_gb in PODS:
        length = sum(end - begin for begin, end in hours)
        cost, gpu_hours = theirs.get(tenant, (0, 0))
        theirs[tenant] = (cost + length * (gpu + cpus * cpu + ram_gb * ram), gpu_hours + length)
    theirs[""] = (node - sum(cost for cost, _ in theirs.values()),
                  NODE_GPUS * WEEK_HOURS - sum(hours for _, hours in theirs.values()))
    print("  tenant         GPU-hours, OpenCost's       ours in $   OpenCost's in $        error in $")
    for tenant in sorted(theirs, key=lambda name: (name == "", name)):
        cost, hours = ours[tenant]
        their_cost, their_hours = theirs[tenant]
        print(f"  {tenant or 'idle':<14} {float(hours):9.2f} {their_hours:>13} {dollars(cost):>15} {dollars(their_cost):>17} "
              f"{dollars(their_cost - cost):>17}")
    print(f"  a GPU's hour: ours {dollars(Fraction(NODE_MICRO_USD_PER_HOUR, NODE_GPUS))}, OpenCost's {dollars(gpu)} dollars, "
          f"{round(100 * gpu * NODE_GPUS / NODE_MICRO_USD_PER_HOUR)} % of the server")
    alone = sum(gpu * sum(end - begin for begin, end in pod[3]) for pod in PODS)
    paid = sum(cost for tenant, (cost, _) in ours.items() if tenant)
    print(f"  if these pods asked for GPUs alone, their tenants would pay {dollars(alone)} dollars there, {dollars(paid)} here")
    error = sum(abs(theirs[tenant][0] - ours[tenant][0]) for tenant in theirs if tenant)
    print(f"  tenants' bills are wrong by {dollars(error)} dollars in sum, {round(100 * error / node)} % of the week's {dollars(node)}")
    off = sum(cost for cost, _ in ours.values()) - node
    bars.show("ours: tenants and idle against the node's week, grains off", abs(int(off * GRAINS)), most=0)


PARTS = {"conservation": conservation, "speed": speed, "late": late, "close": close, "ingest": ingest, "opencost": opencost}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="BERTH")
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--folder", help="where the files of events stay")
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    for name in names:
        if name not in PARTS:
            parser.error(f"--only: wanted some of {','.join(PARTS)}, found {name}")
    bars = Bars()
    with tempfile.TemporaryDirectory(prefix="ledger_bench.", dir=arguments.folder) as ledgers:
        work = Work(os.path.abspath(arguments.program), arguments.lines, arguments.folder or ledgers, ledgers)
        for name in PARTS:
            if name in names:
                PARTS[name](work, bars)
    print(f"ledger_bench: {bars.missed} bars missed")
    sys.exit(1 if bars.missed else 0)


if __name__ == "__main__":
    main()
