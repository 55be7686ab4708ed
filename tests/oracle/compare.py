#!/usr/bin/env python3
"""Compares `berth replay` with the oracle.

    compare.py SCENARIO.yaml[.in] ... --program PATH_TO_BERTH [--arrivals-from-journal] [--data FOLDER] [--seed N]

Templates (.yaml.in) are written to a temporary folder with @DATA@ (--data, else $BERTH_DATA) and @HERE@ (the folder of
the template) as absolute paths. Without a SCENARIO all templates in scenarios/ are compared, and those in
scenarios_random/ as with --arrivals-from-journal: there arrivals are drawn by chance, so that only the requests of each
second (taken from the journal) are compared with the trace, and the journal with the report. Exits with 1 and a
short list of differences if the two disagree, with 77 if nothing could be compared because @DATA@ is missing.
Lines that begin with `note` do not fail: figures that SCENARIO.md leaves open for one service.
"""

import argparse
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

import inputs
import replay_oracle

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("BERTH_DATA")
SHOWN_MAX = 12
TIMEOUT_S = 600
CLOSE = 1e-12
SAME_SUM = 1e-9
PERCENTILE = 5e-4
TOLERANCES = {"goodput": CLOSE, "goodput_mean_of_services": CLOSE, "goodput_worst_service": CLOSE, "slo_attainment": CLOSE,
              "mean_accuracy": CLOSE, "latency_ms.p50": PERCENTILE, "latency_ms.p99": PERCENTILE, "latency_ms.mean": SAME_SUM,
              "utilisation.allocated": SAME_SUM, "utilisation.busy": SAME_SUM, "utilisation.effective": SAME_SUM,
              "lost_slice_seconds": SAME_SUM, "gpu_seconds": SAME_SUM, "gpu_seconds_fleet": SAME_SUM}
OPEN_FOR_SERVICES = {"gpu_seconds", "gpu_seconds_fleet", "cost_micro_usd", "cost_micro_usd_per_million_in_time",
                     "goodput_mean_of_services", "goodput_worst_service", "lost_slice_seconds"}


def run_program(program, scenario, seed, folder):
    """Returns (report, journal) of the program; raises ValueError with its message if it fails."""
    journal = os.path.join(folder, "journal.jsonl")
    command = [program, "replay", scenario, "--policies", "fixed", "--format", "json", "--journal", journal]
    command += ["--seed", str(seed)] if seed is not None else []
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if result.returncode != 0:
        raise ValueError(f"the program exits with {result.returncode}: {result.stderr.strip()[-500:]}")
    with open(journal, encoding="utf-8") as file:
        return json.loads(result.stdout), [json.loads(line) for line in file]


def compare(program, scenario, seed, random_arrivals):
    """Differences between program and oracle, as lines; those that begin with `note` do not count."""
    with tempfile.TemporaryDirectory() as folder:
        report, journal = run_program(program, scenario, seed, folder)
    policy = next((p for p in report["policies"] if p["name"] == "fixed"), None)
    if policy is None or "infeasible" in policy:
        unserved = services_without_a_point(inputs.load(scenario))
        note = "note " if policy and unserved else ""
        return [f"{note}no figures of the policy fixed: {policy}; services that no slice serves: {unserved}"]
    differences = check_order(journal) + recount(policy, journal)
    if random_arrivals:
        return differences + check_counts(inputs.load(scenario), journal)
    wanted, wanted_journal = replay_oracle.replay(scenario)
    for key in ("berth", "simulated_seconds", "cost_micro_usd_fleet"):
        differences += compare_value(key, wanted[key], report.get(key), False)
    differences += compare_policies(wanted["policies"][0], policy)
    return differences + compare_journals(wanted_journal, journal)


def services_without_a_point(scenario):
    """Names of services that no slice of the layout can serve: a program may call the policy infeasible then."""
    served = {spec.service for spec in scenario.layout for service in scenario.services
              if service.name == spec.service and spec.role == "inference" and
              inputs.operating_point(service, inputs.points_on(service, scenario.gpus[spec.gpu].model, spec.profile))}
    return [service.name for service in scenario.services if service.name not in served]


# ---- figures ----

def compare_policies(wanted, found):
    differences = compare_figures("", wanted, found, False)
    names = [service["name"] for service in wanted["services"]]
    if names != [service["name"] for service in found.get("services", [])]:
        return differences + [f"services: wanted {names}, found other ones"]
    for ours, theirs in zip(wanted["services"], found["services"]):
        differences += compare_figures(ours["name"] + ": ", ours, theirs, True)
    return differences


def compare_figures(prefix, wanted, found, is_service):
    ours, theirs = flat(wanted), flat(found)
    return [line if line.startswith("note") else prefix + line for key, value in ours.items()
            for line in compare_value(key, value, theirs.get(key, "nothing"), is_service, ours.get("in_time"))]


def flat(figures):
    """Figures by dotted name, without names and services."""
    result = {}
    for key, value in figures.items():
        if isinstance(value, dict):
            result.update({f"{key}.{inner}": v for inner, v in value.items()})
        elif key not in ("name", "services"):
            result[key] = value
    return result


def compare_value(key, wanted, found, is_service, in_time=None):
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (wanted, found))
    if key == "cost_micro_usd_per_million_in_time" and numbers:
        same = abs(wanted - found) <= 0.5e6 / in_time + 1  # of the cost as rounded, or of the exact one
    elif key in TOLERANCES and numbers:
        same = abs(wanted - found) <= TOLERANCES[key] * max(1.0 if TOLERANCES[key] == CLOSE else 0.0, abs(wanted)) + 1e-15
    else:
        same = wanted == found
    if same:
        return []
    note = "note " if is_service and key in OPEN_FOR_SERVICES else ""
    return [f"{note}{key}: wanted {wanted}, found {found}"]


# ---- journals ----

def seconds_of(journal):
    return [record for record in journal if record.get("policy") == "fixed" and record["type"] == "second"]


def compare_journals(wanted, found):
    differences = []
    ours, theirs = (collections.Counter(json.dumps(record, sort_keys=True) for record in seconds_of(journal))
                    for journal in (wanted, found))
    differences += [f"journal: missing or other {record}" for record in (ours - theirs).elements()]
    differences += [f"journal: too much {record}" for record in (theirs - ours).elements()]
    for kind in ("slice_created", "serving", "retraining_started", "retraining_done"):
        ours, theirs = (collections.Counter((r["t_us"], r["gpu"], r["start"], r["profile"], r.get("service"))
                                            for r in journal if r["type"] == kind and r.get("policy") == "fixed")
                        for journal in (wanted, found))
        note = "" if kind == "slice_created" else "note "
        differences += [f"{note}journal {kind}: missing {key}" for key in (ours - theirs).elements()]
        differences += [f"{note}journal {kind}: too much {key}" for key in (theirs - ours).elements()]
    return differences


def check_order(journal):
    times = [record["t_us"] for record in journal if record.get("policy") == "fixed"]
    return [f"journal: {b} us stands behind {a} us" for a, b in zip(times, times[1:]) if b < a][:1]


def recount(policy, journal):
    """Compares counts, goodput and changes recomputed from the journal alone with the program's report."""
    differences = []
    sums = {service["name"]: collections.Counter() for service in policy["services"]}
    for record in seconds_of(journal):
        parts = sum(record[key] for key in ("in_time", "late", "dropped", "unfinished"))
        if parts != record["requests"] or record["requests"] == 0:
            differences.append(f"journal: parts do not make up the requests: {record}")
        sums[record["service"]].update({k: record[k] for k in replay_oracle.COUNTS + ("accuracy_sum_micro",)})
    for service in policy["services"]:
        differences += recount_row(service["name"], service, sums[service["name"]])
    differences += recount_row("all", policy, sum(sums.values(), collections.Counter()))
    changes = sum(1 for record in journal if record.get("policy") == "fixed" and record["t_us"] > 0 and
                  record["type"] in ("slice_created", "slice_destroyed"))
    return differences + compare_value("recounted changes", changes, policy["changes"], False)


def recount_row(name, row, sums):
    lines = [line for key in replay_oracle.COUNTS for line in compare_value(key, sums[key], row[key], False)]
    goodput = sums["accuracy_sum_micro"] / (sums["requests"] * 10**6) if sums["requests"] else None
    lines += compare_value("goodput", goodput, row["goodput"], False)
    return [f"recounted from the journal, {name}: {line}" for line in lines]


def check_counts(scenario, journal):
    """Compares the requests of each second in the journal with the trace, if the trace alone determines them."""
    differences = []
    for service in scenario.services:
        wanted = inputs.second_counts(service)
        found = {r["second"]: r["requests"] for r in seconds_of(journal) if r["service"] == service.name}
        if wanted is not None and wanted != found:
            other = sorted(s for s in set(wanted) | set(found) if wanted.get(s) != found.get(s))
            differences.append(f"{service.name}: requests differ in {len(other)} seconds, first "
                               f"{other[0]}: wanted {wanted.get(other[0])}, found {found.get(other[0])}")
    return differences


# ---- scenarios ----

class NoData(Exception):
    """The template needs @DATA@, and there is no such folder."""


def rendered(path, data, folder):
    """The path of the scenario: a plain file itself, a template written to `folder`."""
    if not path.endswith(".in"):
        return path
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "@DATA@" in text and not (data and os.path.isdir(data)):
        raise NoData(f"{os.path.basename(path)}: needs the data folder (--data or $BERTH_DATA), found {data}")
    text = text.replace("@DATA@", os.path.abspath(data or "")).replace("@HERE@", os.path.dirname(os.path.abspath(path)))
    target = os.path.join(folder, os.path.basename(path)[:-len(".in")])
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return target


def compare_one(path, options, folder, random_arrivals):
    """True if they agree, False if not, None if the data is missing; prints the outcome."""
    try:
        scenario = rendered(path, options.data, folder)
        differences = compare(options.program, scenario, options.seed, random_arrivals)
    except NoData as reason:
        print(f"skipped {reason}")
        return None
    except inputs.RandomArrivals as reason:
        differences = [f"arrivals are drawn by chance ({reason}): use --arrivals-from-journal"]
    except ValueError as reason:
        differences = [str(reason)]
    failed = [line for line in differences if not line.startswith("note")]
    print(("FAILED " if failed else "agrees ") + os.path.basename(path))
    for line in (failed + [line for line in differences if line.startswith("note")])[:SHOWN_MAX]:
        print("  " + line)
    if len(differences) > SHOWN_MAX:
        print(f"  and {len(differences) - SHOWN_MAX} more")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--program", required=True)
    parser.add_argument("--arrivals-from-journal", action="store_true")
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    jobs = [(path, options.arrivals_from_journal) for path in options.scenarios]
    if not jobs:
        jobs = [(path, folder == "scenarios_random") for folder in ("scenarios", "scenarios_random")
                for path in sorted(glob.glob(os.path.join(HERE, folder, "*.yaml.in")))]
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [compare_one(path, options, folder, by_chance) for path, by_chance in jobs]
    if False in outcomes:
        sys.exit(1)
    sys.exit(0 if True in outcomes else 77)


if __name__ == "__main__":
    main()
