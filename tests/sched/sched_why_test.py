#!/usr/bin/env python3
"""`berth schedule --why` and `--slot` answer questions about random lists as sched_why.py wants, and refuse bad ones.
Skips (77) without a program.

    sched_why_test.py [--seeds 1-6] [--questions 3] [--policies las,berth]    other random lists, more questions

Of each list and policy: some jobs at seconds at which they wait, and at others; slots. Changes offered at a job's
submit (its priority) and at second 0 (GPUs, limits) are made in the inputs of whole runs: the job must start at that
second, and with one less it must not. Right answers are made wrong in one place each (sched_why_wrong.py), and every
such one must be found.
"""

import argparse
import os
import random
import sys
import tempfile
from collections import Counter

import sched_input
import sched_random
import sched_why
import sched_why_wrong
from sched_asked import Asked, check_bad
from sched_input import Options
from sched_moment import Run
from sched_program_test import ENDLESS, PROGRAM, show
from sched_random import Case
from sched_rules import Line
from sched_why import Question, Wish

LESS_TRIED = 2   # of the smaller changes of a whole run, beside one less
NAMES = ('say "{}"', "it's {}", "名{}", "tab\t{}", "<{}>&", "{}\\n", "--why{}")


def run_of(asked: Asked, policy: str, options: Options, lines: list[Line]) -> Run:
    return Run(policy, *asked.load(), options, lines)


# Questions

def waits_of(run: Run) -> list[tuple[int, int, int]]:
    """Of each wait: row, its first second and the second behind it."""
    waits, since = [], {job.row: job.submit_s for job in run.jobs}
    for second, kind, row in run.lines:
        if kind == "start" and second > since[row]:
            waits.append((row, since[row], second))
        elif kind == "preempt":
            since[row] = second
    return waits


def question(rng: random.Random, run: Run) -> tuple[int, int]:
    """A job and a second."""
    waits = waits_of(run)
    if not waits or rng.random() < 0.15:
        last = run.lines[-1][0] + 5
        return rng.randrange(len(run.jobs)), rng.choice([0, last, rng.randint(0, last), rng.choice(run.lines)[0]])
    row, first, end = rng.choice(waits)
    events = sorted({second for second, _, _ in run.lines if first <= second < end}
                    | {job.submit_s for job in run.jobs if first <= job.submit_s < end})
    step = run.options.round_seconds
    rounds = [second for second in (-(-first // step) * step, (end - 1) // step * step) if first <= second < end]
    return row, rng.choice([first, rng.randrange(first, end), rng.choice(events)]
                           + (3 * rounds if run.policy in sched_input.ROUND_POLICIES else []))


def why_words(run: Run, row: int, now: int) -> list[str]:
    return ["--policies", run.policy, f"--why={run.jobs[row].name}", "--at", str(now)]


def check_why(asked: Asked, run: Run, row: int, now: int, missed: Counter) -> list[str]:
    answer = asked.answer(*why_words(run, row, now))
    asking = Question(run, row, now)
    errors = asking.errors(answer)
    if not errors:
        for name, wrong in sched_why_wrong.whys(run, answer):
            missed[name] += not asking.errors(wrong)
    return [f"{' '.join(why_words(run, row, now))}: {error}" for error in errors]


def check_slot(asked: Asked, rng: random.Random, run: Run, now: int, missed: Counter) -> list[str]:
    gpus = rng.randint(1, run.options.gpus) + (rng.random() < 0.05) * run.options.gpus
    hours = rng.choice(["1", "0.5", "2.25", "0.0001", "0.00028", "24"])
    seconds = {"0.5": 1800, "1": 3600, "2.25": 8100, "0.0001": 1, "0.00028": 2, "24": 86400}[hours]
    found = {}
    for wanted in sorted({gpus, max(1, gpus - rng.randint(1, 3))}, reverse=True):
        words = ["--policies", run.policy, "--at", str(now), "--slot"]
        answer = asked.answer(*words, f"gpus={wanted} hours={hours}")
        wish, errors = Wish(wanted, seconds), []
        if sched_why.is_slot_known(run, now):
            errors += sched_why.slot_errors(run, now, wish, answer)
        start = answer["start_s"]
        if not errors and start is not None:
            for name, wrong in sched_why_wrong.slots(answer):
                missed[name] += sched_why.is_slot_known(run, now) and not sched_why.slot_errors(run, now, wish, wrong)
            late, just = (asked.answer(*words, f"hours={hours} before={start + seconds - one} gpus={wanted}")
                          for one in (1, 0))
            if late != {"start_s": None, "confidence": None} or just != answer:
                errors.append(f"slot: before, the same second {just}, one less {late}, found {answer}")
        found[start] = found.get(start, []) + [answer["confidence"]]
        if start is not None and found[start] != sorted(found[start]):
            errors.append(f"slot: fewer GPUs at the same start are less sure: {found[start]}")
        if errors:
            return [f"{words} gpus={wanted} hours={hours}: {error}" for error in errors]
    return []


# Changes made in the inputs of whole runs

def starts_at(asked: Asked, policy: str, row: int, now: int) -> bool:
    return (now, "start", row) in asked.logs([policy])[policy]


def changed(asked: Asked, case: Case, run: Run, row: int, change: tuple[str, str, int], by: int) -> Asked:
    """The inputs with it, in a folder beside."""
    kind, where, _ = change
    folder = os.path.join(asked.folder, "changed")
    columns = case.columns if "priority" in case.columns else case.columns + ["priority"]
    jobs = [job._replace(priority=job.priority + by * (kind == "priority" and job.row == row)) for job in case.jobs]
    tenants = [tenant._replace(limit=tenant.limit + by) if kind == "limit" and tenant.name == where else tenant
               for tenant in case.tenants]
    write(Case(case.options, jobs, tenants, columns), folder)
    return asked._replace(folder=folder).with_gpus(run.options.gpus + by * (kind == "gpus"))


def write(case: Case, folder: str) -> None:
    sched_random.write_text(folder, "jobs.csv", sched_random.jobs_text(case, case.jobs))
    if case.tenants:
        sched_random.write_text(folder, "tenants.csv", sched_random.tenants_text(case))


def check_made(asked: Asked, case: Case, run: Run, row: int, now: int, kinds: str,
               rng: random.Random) -> list[str]:
    words = " ".join(why_words(run, row, now))
    answer = asked.answer(*why_words(run, row, now))
    offers = {(one["change"], one["where"]): one["by"] for one in answer["counterfactuals"]}
    errors, job = [], run.jobs[row]
    things = [("gpus", "pool"), ("priority", job.name)]
    things += [("limit", name) for name in run.tree.chain(job.tenant) if run.tree.tenants[name].limit is not None]
    for kind, where in things if answer["verdict"] == "waiting" else []:
        if kind not in kinds:
            continue
        by = offers.get((kind, where))
        most = max(1, max(one.priority for one in run.jobs) - job.priority + 1) if kind == "priority" \
            else sum(one.gpus for one in run.jobs)
        less = range(1, by or most + 1)
        steps = [(by, True)] if by else []
        steps += [(step, False) for step in {less[-1], *rng.sample(less, min(len(less), LESS_TRIED))}] if less else []
        for step, wanted in steps:
            made = changed(asked, case, run, row, (kind, where, step), step)
            if starts_at(made, run.policy, row, now) != wanted:
                errors.append(f"{words}: {kind} {where} + {step}: wanted start {wanted}, offered {by}")
    return errors


# Lists

def make_case(seed: int) -> Case:
    case, rng = sched_random.make_case(seed), random.Random(f"why {seed}")
    if seed % 3 == 0:
        case.jobs = [job._replace(name=rng.choice(NAMES).format(job.row)) for job in case.jobs]
    if seed % 2 and "estimate_s" in case.columns:   # so that slots of berth are known
        case.jobs = [job._replace(estimate_s=job.estimate_s or 1 + job.duration_s // 2) for job in case.jobs]
    return case


def check_list(seed: int, options: argparse.Namespace, missed: Counter, asked_of: Counter) -> list[str]:
    case, rng = make_case(seed), random.Random(f"questions {seed}")
    errors: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        write(case, folder)
        asked, policies = Asked(folder, sched_random.arguments_of(case)), options.policies.split(",")
        while isinstance(logs := asked.logs(policies), str):
            if not (endless := ENDLESS.fullmatch(logs)):
                return [logs]
            policies.remove(endless[1])
        for policy in policies:
            run = run_of(asked, policy, case.options, logs[policy])
            try:
                for _ in range(options.questions):
                    errors += check_why(asked, run, *question(rng, run), missed)
                errors += check_slot(asked, rng, run, question(rng, run)[1], missed)
                errors += check_wholes(asked, rng, case, run)
            except AssertionError as error:
                errors.append(f"{policy}: {error}")
            asked_of[policy] += options.questions
        words = why_words(run, *question(rng, run))   # of the last policy
        if asked.program(*words).stdout != asked.program(*words).stdout:
            errors.append(f"two answers differ: {words}")
    return errors


def check_wholes(asked: Asked, rng: random.Random, case: Case, run: Run) -> list[str]:
    waits = [row for row, first, _ in waits_of(run) if first == run.jobs[row].submit_s
             and (run.policy not in sched_input.ROUND_POLICIES or first % run.options.round_seconds == 0)]
    errors = []
    if waits:
        row = rng.choice(waits)
        errors += check_made(asked, case, run, row, run.jobs[row].submit_s, "priority", rng)
    if first := [row for row in waits if run.jobs[row].submit_s == 0]:
        errors += check_made(asked, case, run, rng.choice(first), 0, "gpus limit", rng)
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-6")
    parser.add_argument("--questions", type=int, default=3, help="of each list and policy")
    parser.add_argument("--policies", default=",".join(sched_input.POLICIES))
    arguments = parser.parse_args()
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    first, last = (int(word) for word in arguments.seeds.split("-"))
    missed, asked_of = Counter(), Counter()
    count = show("bad questions", check_bad())
    for seed in range(first, last + 1):
        count += show(f"seed {seed}", check_list(seed, arguments, missed, asked_of))
    count += show("wrong answers", [f"{name}: {times} times not found" for name, times in missed.items() if times])
    print(f"{asked_of.total()} questions about {last - first + 1} lists, {len(missed)} kinds of wrong answers: "
          f"{count} errors")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
