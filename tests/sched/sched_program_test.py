#!/usr/bin/env python3
"""`berth schedule` answers random lists as the rules and laws want (sched_check.py), and refuses broken ones where they
are broken (sched_broken.py). Skips (77) without a program.

    sched_program_test.py [--seeds 1-25] [--broken 4]    other random lists; every 4th of the broken ones, 1: all

Each random list: two runs write the same bytes, sched_check.py finds nothing (with --rules), and two rows that differ
only in their names, exchanged, exchange only their names. A policy with rounds may answer that a list never ends where
the rules find the same. Each broken list: status 2, one message with the place, nothing written. Borrowers that may not
be preempted leave others what they are guaranteed.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

import sched_broken
import sched_check
import sched_input
import sched_random
import sched_rules
from sched_broken import Broken
from sched_input import POLICIES, ROUND_POLICIES
from sched_random import Case

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
SECONDS_MAX = 120
SHOWN_MAX = 5   # of one list
ENDLESS = re.compile(r"berth: ([a-z]+): wanted jobs that finish, found [0-9]+ that get nowhere [^\n]*\n")


def run(arguments: list[str], folder: str, log: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "schedule", *arguments, "--format", "json", "--log", log], cwd=folder,
                          capture_output=True, text=True, timeout=SECONDS_MAX, check=False)


def read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def is_written(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name))


def never_ends(case: Case, policy: str, folder: str) -> bool:
    """By the rules."""
    tenants = os.path.join(folder, "tenants.csv") if case.tenants else None
    jobs, tree = sched_input.load(os.path.join(folder, "jobs.csv"), "own", tenants, case.options.gpus)
    try:
        sched_rules.lines_of(policy, jobs, tree, case.options)
    except sched_rules.EndlessError:
        return True
    return False


def check_random(seed: int) -> list[str]:
    case = sched_random.make_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        sched_random.write_case(case, folder)
        errors, policies = [], list(POLICIES)
        while True:
            arguments = sched_random.arguments_of(case) + ["--policies", ",".join(policies)]
            first = run(arguments, folder, "one.jsonl")
            endless = ENDLESS.fullmatch(first.stderr)
            if first.returncode != 2 or not endless or endless[1] not in policies:
                break
            policies.remove(endless[1])
            if first.stdout or is_written(folder, "one.jsonl"):
                errors.append(f"{endless[1]} never ends, but something is written")
            if endless[1] not in ROUND_POLICIES or not never_ends(case, endless[1], folder):
                errors.append(f"by the rules {endless[1]} ends: {first.stderr.strip()}")
        if first.returncode != 0:
            return errors + [f"status {first.returncode}: {first.stderr[:300]}"]
        return errors + check_answer(case, arguments, first.stdout, folder)


def check_answer(case: Case, arguments: list[str], figures: str, folder: str) -> list[str]:
    """The log is in one.jsonl."""
    again = run(arguments, folder, "two.jsonl")
    if figures != again.stdout or read(folder, "one.jsonl") != read(folder, "two.jsonl"):
        return ["two runs differ"]
    sched_random.write_text(folder, "figures.json", figures)
    further = ["--log", "one.jsonl", "--json", "figures.json", "--rules"]
    if case.swapped:
        run([{"jobs.csv": "swapped.csv"}.get(one, one) for one in arguments], folder, "swapped.jsonl")
        further += ["--swapped", "swapped.jsonl", "--names=" + ",".join(case.swapped)]
    with contextlib.chdir(folder):
        return sched_check.check(sched_check.parser_of().parse_args(arguments + further))


def check_broken(broken: Broken) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        sched_broken.write_broken(broken, folder)
        result = run(sched_broken.arguments_of(broken), folder, "log.jsonl")
        errors = [] if result.returncode == 2 else [f"status {result.returncode}"]
        if result.stdout or is_written(folder, "log.jsonl"):
            errors.append("something is written")
    message = result.stderr
    found = re.fullmatch(rf"berth: {re.escape(broken.file)}:([0-9]+):([0-9]+): [^\n]+\n", message)
    if not found or int(found[1]) not in broken.lines or (broken.columns and int(found[2]) not in broken.columns):
        errors.append(f"wanted {broken.file}, lines {broken.lines}, columns {broken.columns}: {message.strip()}")
    return errors + [f"no word {word!r}: {message.strip()}" for word in broken.words if word not in message]


# Borrowers that may not be preempted

HEADER = "job,submit_s,gpus,duration_s,tenant,preemptible\n"
BORROWERS = HEADER + "a0,0,2,3000,a,false\na1,0,2,100000,a,false\nb,1000,2,500,b,true\n"
REFUSED = HEADER + "large,0,2,100000,a,false\nb,1000,1,500,b,true\n"


def check_borrowers() -> list[str]:
    """Two tenants, each with half of the GPUs guaranteed."""
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        def asked(text: str, gpus: int, *further: str) -> subprocess.CompletedProcess:
            half = gpus // 2
            sched_random.write_text(folder, "jobs.csv", text)
            sched_random.write_text(folder, "tenants.csv",
                                    f"tenant,parent,guaranteed,limit,weight\na,,{half},,1\nb,,{half},,1\n")
            words = ["--trace", "jobs.csv", "--trace-format", "own", "--gpus", str(gpus), "--tenants", "tenants.csv"]
            return subprocess.run([PROGRAM, "schedule", *words, "--format", "json", *further], cwd=folder,
                                  capture_output=True, text=True, timeout=SECONDS_MAX, check=False)

        asked(BORROWERS, 4, "--policies", "berth", "--log", "log.jsonl")
        lines = [json.loads(line) for line in read(folder, "log.jsonl").splitlines()]
        starts = {line["job"]: line["t_s"] for line in lines if line["type"] == "start"}
        if starts != {"a0": 0, "b": 1000, "a1": 3000}:
            errors.append(f"a1 starts when a0 ends, and b at its submit; found {starts}")
        blockers = json.loads(asked(BORROWERS, 4, "--why", "a1", "--at", "500").stdout)["blockers"]
        if blockers != [{"code": "guarantee", "needed": 2, "available": 0, "where": "b"}]:
            errors.append(f"a1 waits for the guarantee of b; found {blockers}")
        os.remove(os.path.join(folder, "log.jsonl"))
        for policy in ("berth", "fifo"):
            refused = asked(REFUSED, 2, "--policies", policy, "--log", "log.jsonl")
            has_words = all(word in refused.stderr for word in ("jobs.csv:2:1: ", '"large"', '"b" (1)', "preemptible"))
            if refused.returncode != 2 or refused.stdout or is_written(folder, "log.jsonl") or not has_words:
                errors.append(f"wanted status 2, the job and the guarantee: {refused.returncode}, {refused.stderr}")
    return errors


def show(name: str, errors: list[str]) -> int:
    for text in errors[:SHOWN_MAX]:
        print(f"{name}: {text}", flush=True)
    return len(errors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-25")
    parser.add_argument("--broken", type=int, default=4)
    arguments = parser.parse_args()
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    first, last = (int(word) for word in arguments.seeds.split("-"))
    seeds, broken = range(first, last + 1), sched_broken.all_broken(first)[::arguments.broken]
    count = show("borrowers", check_borrowers())
    count += sum(show(f"seed {seed}", check_random(seed)) for seed in seeds)
    count += sum(show(f"broken {one.name}", check_broken(one)) for one in broken)
    print(f"{len(seeds)} random lists, {len(broken)} broken ones, {count} errors")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
