#!/usr/bin/env python3
"""The bars of `berth warm` and of `berth serve --evict warm`, with their rivals in the same run: scripts/bench warm.

    tests/warm/warm_bench.py BERTH [BENCHMARK] [--only reproduced,apps,invocations,memory,serve,generated,minute,pools,zero]

reproduced   figures of the published rules on the sample of the Azure Functions trace, as recounted elsewhere
apps         --weigh apps: ours with no more idle minutes than `hybrid`
invocations  cost in minutes at several prices against the best rival without hindsight
memory       cold starts in memories of 30 to 60 % of all apps against the better of LRU and greedy-dual
serve        `berth serve simulate` of models asked like apps, memory for 30 %: requests that wait for a load, against --evict value
generated    1,350 generated apps for a day, all policies: processor seconds, and ours against the rivals
minute       100,000 apps: one minute decided (BENCHMARK: berth_warm_bench)
pools        replays of ten services on two A100, quiet between bursts, for a day: with warm pools, without, and with `min: 1`
zero         a replay of 100 requests to a service without a slice: the first answers

The first five need the public data in BERTH_DATA and are skipped without it.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/detail"))
from bar_table import BarTable  # noqa: E402
import pools_replay  # noqa: E402
import pools_scenario  # noqa: E402

# What a served model is like: seeds choose 100 apps, and when in its minute each request comes; a load takes seconds and bytes.
SERVE_CASES = [(seed, *load) for seed in (1, 2, 3) for load in (("drawn", 0.02, 500_000_000), ("even", 0.02, 500_000_000), ("drawn", 2, 100_000_000))]
SERVED_MODELS = 100
SERVE_MEMORY_PERCENT = 30
WAITS_MAX = 0.7
REPRODUCED = {"fixed-10m": (1499, 46759, 100), "fixed-60m": (372, 70266, 13.33), "hybrid": (483, 44534, 13.26),
              "hybrid-1h": (532, 34538, 15.97)}
COST_MAX = {10: (0.75, "0.67"), 30: (0.90, "0.85"), 100: (0.97, "0.95")}
COLD_MAX = {7632: (0.5, "0.36"), 10176: (0.5, "0.24"), 12720: (0.5, "0.21"), 15264: (0.6, "0.30")}
AVOIDABLE_MAX = 0.85
GENERATED_APPS = 1350
GENERATED_SECONDS_MAX = 20
MINUTE_MS_MAX = 100
COLD_USD = 0.6


def ask(program, words, *options):
    """The rows by policy, and the processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([program, "warm", *map(str, [*words, *options]), "--format", "json"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        raise SystemExit(f"bench: {run.stderr}")
    rows = {row["policy"]: row for row in json.loads(run.stdout)["policies"]}
    return rows, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best_rival(rows, figure):
    return min(row[figure] for name, row in rows.items() if not row["hindsight"] and not name.startswith("berth"))


def reproduced(arguments, table, words):
    table.part("figures of the published rules on the sample")
    rows, _ = ask(arguments.program, words)
    for name, figures in REPRODUCED.items():
        row = rows[name]
        found = (row["cold_starts"], row["idle_minutes"], round(row["cold_share"]["p75"], 2))
        for what, one, known in zip(("cold starts", "idle minutes", "p75"), found, figures):
            form = "{:.2f}" if what == "p75" else "{:,}"
            table.show(f"{name}: {what}, {form.format(one)}: distance from the known one", abs(one - known), "{:.2f}", form.format(known),
                       ("at most", 0))


def apps(arguments, table, words):
    table.part("--weigh apps: the largest V of the curve with no more idle minutes than hybrid")
    rows, _ = ask(arguments.program, words, "--weigh", "apps")
    hybrid = rows["hybrid"]
    curve = [row for name, row in rows.items() if name.startswith("berth-") and row["idle_minutes"] <= hybrid["idle_minutes"]]
    ours = max(curve, key=lambda row: int(row["policy"].split("-")[1]))
    table.show(f"{ours['policy']}: idle minutes", ours["idle_minutes"], "{:,}", f"hybrid {hybrid['idle_minutes']:,}",
               ("at most", hybrid["idle_minutes"]))
    table.show("avoidable share / hybrid's", ours["avoidable_share"] / hybrid["avoidable_share"], "{:.3f}", "0.77", ("at most", AVOIDABLE_MAX))
    table.show("p75 of the cold share", ours["cold_share"]["p75"], "{:.2f}", "", ("at most", hybrid["cold_share"]["p75"]))


def show_costs(arguments, table, words, bars):
    for cold_minutes, (most, known) in COST_MAX.items():
        rows, _ = ask(arguments.program, words, "--cold-minutes", cold_minutes)
        ratio = rows["berth"]["cost_minutes"] / best_rival(rows, "cost_minutes")
        table.show(f"V = {cold_minutes}: cost / best rival's", ratio, "{:.3f}", known if bars else "", ("at most", most) if bars else None)


def invocations(arguments, table, words):
    table.part("--weigh invocations: idle minutes + V x cold starts")
    show_costs(arguments, table, words, True)


def memory(arguments, table, words):
    table.part("in a memory: cold starts")
    for mib, (most, known) in COLD_MAX.items():
        rows, _ = ask(arguments.program, words, "--memory-mib", mib)
        table.show(f"{mib} MiB: cold starts / better of lru and greedy-dual", rows["berth"]["cold_starts"] / best_rival(rows, "cold_starts"),
                   "{:.3f}", known, ("at most", most))
        table.show(f"{mib} MiB: cold starts / bound in hindsight", rows["berth"]["cold_starts"] / rows["bound"]["cold_starts"])


def read_apps(sample):
    """Invocations by app and minute, and bytes by app, of those that were invoked. Names of models have 63 bytes at most."""
    apps, sizes, length = {}, {}, 16
    with open(sample / "invocations_subset_480min.csv", encoding="utf-8") as file:
        rows = csv.reader(file)
        app = next(rows).index("HashApp")
        for row in rows:
            counts = list(map(int, row[4:]))
            name = row[app][:length]
            apps[name] = [a + b for a, b in zip(apps.get(name, [0] * len(counts)), counts)]
    with open(sample / "memory_subset.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            mib = max(1, math.ceil(float(row["AverageAllocatedMb_pct50"])))
            name = row["HashApp"][:length]
            sizes[name] = max(sizes.get(name, 0), mib << 20)
    return {app: counts for app, counts in apps.items() if sum(counts)}, sizes


def served_requests(apps, place, rng):
    """(microsecond, app), sorted."""
    requests = []
    for app, counts in apps.items():
        for minute, count in enumerate(counts):
            for i in range(count):
                within = rng.randrange(60_000_000) if place == "drawn" else i * 60_000_000 // count
                requests.append((minute * 60_000_000 + within, app))
    return sorted(requests)


def write_served(folder, requests, sizes, load):
    memory = max(sum(sizes.values()) * SERVE_MEMORY_PERCENT // 100, max(sizes.values()))
    models = "".join(f'  "{app}": {{latency_ms: [[1, 6.125], [64, 72.464]], bytes: {size}}}\n' for app, size in sizes.items())
    (folder / "device.yaml").write_text(f"berth: 1\nname: sample\nlanes: 8\nmemory: {memory}\nbatch_max: 64\n"
                                        f"load: {{seconds: {load[0]}, bytes_per_second: {load[1]}}}\nmodels:\n{models}", encoding="utf-8")
    with open(folder / "requests.csv", "w", encoding="utf-8") as file:
        file.write("time_us,model,tenant,target_us,priority\n")
        file.writelines(f"{at},{app},all,3600000000,1\n" for at, app in requests)


def count_waits(log, requests, sizes, memory):
    """Requests that arrived while their model was not resident, and the loads that were preloads: from the log alone."""
    resident_from, waits, preloads = {}, 0, 0
    for app in sorted(sizes):  # each that still fits
        if sum(sizes[each] for each in resident_from) + sizes[app] <= memory:
            resident_from[app] = 0
    with open(log, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["kind"] == "load":
                resident_from[line["model"]] = line["end_us"]
                preloads += "preload" in line
            elif line["kind"] == "evict":
                del resident_from[line["model"]]
            elif line["kind"] == "batch":
                waits += sum(requests[number][0] < resident_from[line["model"]] for number in line["requests"])
            else:
                raise SystemExit(f"bench: serve: wanted every request answered, found {line}")
    return waits, preloads


def serve(arguments, table, words):
    table.part(f"serve simulate: {SERVED_MODELS} models asked like apps, memory for {SERVE_MEMORY_PERCENT} %: requests that wait for a load")
    apps, sizes = read_apps(pathlib.Path(words[1]).parent)
    for seed, place, *load in SERVE_CASES:
        rng = random.Random(seed)
        chosen = rng.sample(sorted(apps), SERVED_MODELS)
        requests = served_requests({app: apps[app] for app in chosen}, place, rng)
        of_chosen = {app: sizes[app] for app in chosen}
        waits, preloads, loads = {}, {}, {}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_served(folder, requests, of_chosen, load)
            memory = max(sum(of_chosen.values()) * SERVE_MEMORY_PERCENT // 100, max(of_chosen.values()))
            for rule in ("value", "lru", "warm"):
                run = subprocess.run([arguments.program, "serve", "simulate", "--device", folder / "device.yaml", "--requests",
                                      folder / "requests.csv", "--policies", "berth", "--evict", rule, "--format", "json", "--log",
                                      folder / "log"], capture_output=True, text=True, check=False)
                if run.returncode != 0:
                    raise SystemExit(f"bench: {run.stderr}")
                waits[rule], preloads[rule] = count_waits(folder / "log", requests, of_chosen, memory)
                loads[rule] = json.loads(run.stdout)["policies"][0]["total"]["loads"]
        what = f"seed {seed}, {place} times, a load {load[0]} s + {load[1] // 1_000_000} MB/s"
        table.show(f"{what}: {waits['warm']:,} / value's", waits["warm"] / waits["value"], "{:.3f}",
                   f"value {waits['value']:,}", ("at most", WAITS_MAX))
        table.show(f"{what}: the same / lru's", waits["warm"] / waits["lru"], "{:.3f}", f"lru {waits['lru']:,}")
        table.show(f"{what}: loads / value's ({preloads['warm']:,} preloads)", loads["warm"] / loads["value"], "{:.2f}")


def generated(arguments, table, _):
    table.part(f"{GENERATED_APPS:,} generated apps, a day")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "examples/warm/make_example.py", "--apps", str(GENERATED_APPS), "--out", folder], check=True)
        words = ["--trace", f"{folder}/apps.csv", "--trace-format", "csv"]
        _, seconds = ask(arguments.program, words)
        table.show("all policies: processor seconds", seconds, "{:.1f}", "", ("below", GENERATED_SECONDS_MAX))
        show_costs(arguments, table, words, False)
        with open(f"{folder}/sizes.csv", encoding="utf-8") as file:
            total = sum(int(row.split(",")[1]) for row in file.read().splitlines()[1:])
        for percent in (30, 60):
            rows, _ = ask(arguments.program, words, "--memory", f"{folder}/sizes.csv", "--memory-mib", total * percent // 100)
            table.show(f"{percent} % of the memory: cold starts / better of lru and greedy-dual",
                       rows["berth"]["cold_starts"] / best_rival(rows, "cold_starts"), "{:.3f}")


def minute(arguments, table, _):
    table.part("100,000 apps: one minute, with long histories")
    if arguments.benchmark is None:
        raise SystemExit("bench: minute: wanted the benchmark of the module as second argument, found none")
    run = subprocess.run([arguments.benchmark, "--benchmark_format=json"], capture_output=True, text=True, check=True)
    for each in json.loads(run.stdout)["benchmarks"]:
        table.show(f"{each['name'].split('/')[0]}: processor ms", each["cpu_time"], "{:.1f}", "", ("at most", MINUTE_MS_MAX))


def pools(arguments, table, _):
    table.part("ten services on two A100, quiet for 5 to 60 minutes between bursts, a day")
    usd_per_hour = 0.4
    pool = f"{{min: 0, cold_usd: {COLD_USD}, usd_per_hour: {usd_per_hour}}}"
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for name, text in (("pool", pool), ("none", None), ("kept", "{min: 1}")):
            runs[name], journal = pools_replay.replay(arguments.program, pools_scenario.write(f"{folder}/{name}", pool=text))
            cold = pools_replay.cold_requests(journal)
            table.show(f"{name}: cold requests of {runs[name]['requests']:,}", cold, "{:,}")
            table.show(f"{name}: goodput", runs[name]["goodput"], "{:.4f}")
            runs[name]["cold"] = cold
        table.show("cold requests / without warm_pool", runs["pool"]["cold"] / max(1, runs["none"]["cold"]), "{:.2f}", "", ("at most", 0.5))
        table.show("idle cost / with min: 1", runs["pool"]["idle_micro_usd"] / runs["kept"]["idle_micro_usd"], "{:.2f}", "", ("at most", 0.6))
        worst = max(service["idle_micro_usd"] for service in runs["pool"]["services"])
        table.show("idle cost of a service / usd_per_hour, most", worst / (24e6 * usd_per_hour), "{:.2f}", "", ("at most", 1))


def zero(arguments, table, _):
    table.part("the first answer from zero, 100 times")
    planning, create, start = 2, 0.5, 7
    with tempfile.TemporaryDirectory() as folder:
        scenario = pools_scenario.write(folder, services=1, gpus=1, hours=1, pool="{min: 0, cold_usd: 0}")
        counts = "".join(f"{90 + 120 * index},1\n" for index in range(100))
        (scenario.parent / "s0.csv").write_text("second,requests\n" + counts, encoding="utf-8")
        (scenario.parent / "profile.csv").write_text("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                                                     "m,A100-80GB,1g.10gb,1,1,100,10\n", encoding="utf-8")
        text = scenario.read_text(encoding="utf-8").replace("seconds: 3600", "seconds: 12100")
        scenario.write_text(text.replace("berth: 1\n", f"berth: 1\nplanning_seconds: {planning}\n"), encoding="utf-8")
        figures, _ = pools_replay.replay(arguments.program, scenario)
        table.show("requests that met no ready slice", figures["cold_requests"], "{:,}")
        table.show("p99 of the latency in s", figures["latency_ms"]["p99"] / 1000, "{:.2f}", "", ("below", planning + create + start + 1))


PARTS = {"reproduced": reproduced, "apps": apps, "invocations": invocations, "memory": memory, "serve": serve, "generated": generated,
         "minute": minute, "pools": pools, "zero": zero}
NEED_DATA = ("reproduced", "apps", "invocations", "memory", "serve")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="BERTH")
    parser.add_argument("benchmark", nargs="?")
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    arguments = parser.parse_args()
    sample = pathlib.Path(os.environ.get("BERTH_DATA", "")) / "azure_functions_sample"
    words = ["--trace", sample / "invocations_subset_480min.csv", "--trace-format", "azure-functions", "--memory", sample / "memory_subset.csv"]
    table = BarTable()
    for name in arguments.only.split(","):
        if name not in PARTS:
            parser.error(f"--only: wanted some of {','.join(PARTS)}, found {name}")
        if name in NEED_DATA and "BERTH_DATA" not in os.environ:
            print(f"{name}: skipped, BERTH_DATA is not set")
            continue
        PARTS[name](arguments, table, words)
    table.print()
    sys.exit(1 if table.missed else 0)


if __name__ == "__main__":
    main()
