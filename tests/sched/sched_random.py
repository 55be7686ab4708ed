#!/usr/bin/env python3
"""Random small inputs of `berth schedule` from a seed: a list in `own` format, mostly a tenant tree, and options.

    sched_random.py --seed S --out FOLDER

writes jobs.csv, tenants.csv (where there is one), swapped.csv (two rows that differ only in their names, these
exchanged) and case.json: {"arguments": [...], "swapped": [A, B] | null}.
"""

import argparse
import json
import os
import random
from dataclasses import dataclass, field

from sched_input import Job, Options, Tenant, Tree, is_never_reachable

NAMES = ("job-{}", "{}", "ü{}", "a b {}", "0{}", "J{}", "x/{}", "-{}")
TENANT_NAMES = ("a", "b", "B", "ml", "ml2", "z", "10", "9", "é", "team one", "ads", "q", "default")
NOTES = ("", "x", "1.5", "true")
OVERLOADED_EVERY = 6   # one list in so many


@dataclass
class Case:
    """Times as in the file, not counted from the earliest submit."""
    options: Options
    jobs: list[Job] = field(default_factory=list)
    tenants: list[Tenant] = field(default_factory=list)   # empty: no file
    columns: list[str] = field(default_factory=list)      # of the list, in the file's order
    swapped: tuple[str, str] | None = None
    may_lose: bool = False   # checkpoints so far apart that las, perhaps fair, may never end


def make_case(seed: int) -> Case:
    rng = random.Random(f"sched {seed}")
    gpus = rng.choice([1, 2, 4, 7, 8, 8, 16, 16, 32, 50])
    options = Options(gpus, rng.choice([1, 10, 60, 60, 100, 300]), rng.choice([0, 1, 7, 20, 60, 60, 200]),
                      rng.choice([0, 0, 0, 30, 100, 600]), rng.choice([0, 1, 60, 60, 300, 600]))
    restart_max = 2 * options.round_seconds   # beyond it las crawls
    options = options._replace(restart_seconds=min(options.restart_seconds, restart_max))
    if is_overloaded(seed):
        options = options._replace(gpus=2 + 2 * (seed % 4 > 1), round_seconds=300)
        gpus = options.gpus
    case = Case(options, may_lose=rng.random() < 0.3)
    if rng.random() < 0.8:
        case.tenants = make_tree(rng, gpus)
    case.columns = make_columns(rng, bool(case.tenants))
    case.jobs = (make_many if is_overloaded(seed) else make_jobs)(rng, case)
    make_reachable(case)
    case.swapped = twin_names(rng, case)
    return case


def is_overloaded(seed: int) -> bool:
    return seed % OVERLOADED_EVERY == OVERLOADED_EVERY - 1


def make_reachable(case: Case) -> None:
    """Jobs that may not be preempted, and would put a guarantee out of reach even alone, are refused: not these."""
    tree = Tree({tenant.name: tenant for tenant in case.tenants or [Tenant(name, "") for name in leaves(case)]})
    case.jobs = [job._replace(preemptible=True) if is_never_reachable(job, tree, case.options.gpus) else job
                 for job in case.jobs]


def make_tree(rng: random.Random, gpus: int) -> list[Tenant]:
    """Up to three levels; guarantees that use up their parent's, or not, or are 0."""
    names = list(TENANT_NAMES)
    rng.shuffle(names)
    tenants: list[Tenant] = []
    is_generous = rng.random() < 0.5   # then most GPUs are somebody's, and lent

    def grow(parent: str, to_give: int, most: int, depth: int) -> None:
        count = rng.randint(2, 3) if is_generous else rng.randint(1, 3)
        for number in range(count):
            if not names:
                return
            name = names.pop()
            guaranteed = rng.choice([0, rng.randint(0, to_give), rng.randint(to_give // 2, to_give)])
            if is_generous:
                guaranteed = -(-to_give // (count - number))
            to_give -= guaranteed
            limit = rng.randint(max(guaranteed, 1), max(guaranteed, 1, most)) if rng.random() < 0.4 else None
            tenants.append(Tenant(name, parent, guaranteed, limit, rng.choice([1, 1, 2, 3, 10, 10**9])))
            if depth < 3 and rng.random() < 0.4:
                grow(name, guaranteed, most if limit is None else limit, depth + 1)

    grow("", gpus, gpus, 1)
    rng.shuffle(tenants)   # parents need not come first
    return tenants


def make_columns(rng: random.Random, has_tenants: bool) -> list[str]:
    columns = ["job", "submit_s", "gpus", "duration_s"]
    columns += [name for name in ("estimate_s", "priority", "checkpoint_s", "preemptible", "deadline_s", "note")
                if rng.random() < 0.6]
    if has_tenants or rng.random() < 0.5:
        columns.append("tenant")
    rng.shuffle(columns)
    return columns


def size_max(case: Case, tenant: str) -> int:
    """The largest job that this tenant may have."""
    above = {one.name: one for one in case.tenants}
    most = case.options.gpus
    while tenant in above:
        if above[tenant].limit is not None:
            most = min(most, above[tenant].limit)
        tenant = above[tenant].parent
    return most


def leaves(case: Case) -> list[str]:
    parents = {tenant.parent for tenant in case.tenants}
    return [tenant.name for tenant in case.tenants if tenant.name not in parents] or ["default", "a", "b"]


def checkpoints(case: Case) -> list[int]:
    """Unless it may lose, what a start makes before the next round, or before min-run-seconds end, reaches one."""
    options = case.options
    most = max(options.round_seconds - options.restart_seconds % options.round_seconds,
               options.min_run_seconds - options.restart_seconds)
    return [0, 0, 1] + [seconds for seconds in (7, 50, 600) if case.may_lose or seconds <= most]


def make_jobs(rng: random.Random, case: Case) -> list[Job]:
    """Mixed or in waves: first whoever borrows, then those whose guarantee it is."""
    has = set(case.columns)
    count, first = rng.randint(1, 60), rng.choice([0, 0, 17, 1000, 10**6])
    span = rng.choice([1, 100, 1000, 5000, 20000])
    longest = rng.choice([5, 100, 1000, 5000])
    owners = leaves(case)
    rng.shuffle(owners)
    are_waves = rng.random() < 0.6
    if are_waves and rng.random() < 0.7:
        span, longest = longest, longest * 3   # whoever comes first still runs
    jobs = []
    for row in range(count):
        owner = rng.choice(owners) if "tenant" in has else "default"
        if are_waves and "tenant" in has:
            owner = owners[row * len(owners) // count] if rng.random() < 0.8 else owner
        most = size_max(case, owner)
        gpus = rng.choice([1, 1, min(2, most), rng.randint(1, most), most])
        duration = rng.choice([1, rng.randint(1, longest), rng.randint(1, longest), longest])
        submit = first + (row * span // count if are_waves else rng.randint(0, span))
        if jobs and rng.random() < 0.2:
            submit = jobs[-1].submit_s
        estimate = rng.choice([None, duration, max(1, duration // 5), duration * 3])
        jobs.append(Job(row, rng.choice(NAMES).format(row), submit, gpus, duration, owner,
                        estimate if "estimate_s" in has else None,
                        rng.choice([0, 0, 0, 1, -1, 5]) if "priority" in has else 0,
                        rng.choice(checkpoints(case)) if "checkpoint_s" in has else 0,
                        rng.random() < 0.85 or "preemptible" not in has,
                        submit + rng.choice([0, duration, 2 * duration, 5 * duration])
                        if "deadline_s" in has and rng.random() < 0.5 else None))
    if rng.random() < 0.3:
        rng.shuffle(jobs)   # not in order of submits
    return [job._replace(row=row) for row, job in enumerate(jobs)]


def make_many(rng: random.Random, case: Case) -> list[Job]:
    """Small jobs that come for so long, and about as many as the GPUs can run or more, that large ones among them wait
    until their bound; mostly without estimates."""
    has, owners = set(case.columns), leaves(case)
    count, longest = rng.randint(80, 160), rng.choice([200, 500, 1000])
    span = count * longest * 10 // (case.options.gpus * rng.choice([9, 11, 15, 30]))
    has_estimates = "estimate_s" in has and rng.random() < 0.3
    jobs = []
    for row in range(count):
        owner = rng.choice(owners) if "tenant" in has else "default"
        most = size_max(case, owner)
        gpus = most if row == count // 20 else rng.choice(12 * [1] + [min(2, most), most])
        duration = rng.randint(longest // 2, longest * 3 // 2)
        jobs.append(Job(row, rng.choice(NAMES).format(row), row * span // count, gpus, duration, owner,
                        rng.choice([None, duration]) if has_estimates else None,
                        rng.choice(10 * [0] + [1, -1]) if "priority" in has else 0,
                        rng.choice(checkpoints(case)) if "checkpoint_s" in has else 0,
                        rng.random() < 0.9 or "preemptible" not in has))
    return jobs


def twin_names(rng: random.Random, case: Case) -> tuple[str, str] | None:
    """Makes one row the like of another."""
    if len(case.jobs) < 2:
        return None
    one, other = rng.sample(range(len(case.jobs)), 2)
    case.jobs[other] = case.jobs[one]._replace(row=other, name=case.jobs[other].name)
    return case.jobs[one].name, case.jobs[other].name


# Writing

def cell(rng: random.Random, job: Job, column: str) -> str:
    if column == "note":
        return rng.choice(NOTES)
    value = job.name if column == "job" else getattr(job, column)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def jobs_text(case: Case, jobs: list[Job]) -> str:
    rng = random.Random(0)
    rows = [",".join(cell(rng, job, column) for column in case.columns) for job in jobs]
    return "\n".join([",".join(case.columns)] + rows) + "\n"


def tenants_text(case: Case) -> str:
    rows = [f"{tenant.name},{tenant.parent},{tenant.guaranteed},{'' if tenant.limit is None else tenant.limit},"
            f"{tenant.weight}" for tenant in case.tenants]
    return "\n".join(["tenant,parent,guaranteed,limit,weight"] + rows) + "\n"


def swapped_jobs(case: Case) -> list[Job]:
    swap = dict([case.swapped, case.swapped[::-1]])
    return [job._replace(name=swap.get(job.name, job.name)) for job in case.jobs]


def arguments_of(case: Case) -> list[str]:
    options = [part for name, value in case.options._asdict().items()
               for part in ("--" + name.replace("_", "-"), str(value))]
    return ["--trace", "jobs.csv", "--trace-format", "own"] + (["--tenants", "tenants.csv"] if case.tenants else []) \
        + options


def write_text(folder: str, name: str, text: str) -> None:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def write_case(case: Case, folder: str) -> None:
    write_text(folder, "jobs.csv", jobs_text(case, case.jobs))
    if case.tenants:
        write_text(folder, "tenants.csv", tenants_text(case))
    if case.swapped:
        write_text(folder, "swapped.csv", jobs_text(case, swapped_jobs(case)))
    write_text(folder, "case.json", json.dumps({"arguments": arguments_of(case), "swapped": case.swapped}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    write_case(make_case(arguments.seed), arguments.out)


if __name__ == "__main__":
    main()
