"""Job lists, tenants and options of `berth schedule`, read strictly. Written from docs/reference/scheduling.md alone.

Every time is counted from the earliest submit of the list. A broken file is an InputError with its place.
"""

import calendar
import csv
import re
import time
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Mapping, NamedTuple

INTEGER_MAX = 1_000_000_000
MISSING_ESTIMATE_S = 86_400
POLICIES = ("fifo", "skip", "sjf", "easy", "las", "srpt", "fair", "berth")
HINDSIGHT = ("sjf", "srpt")
ROUND_POLICIES = ("las", "srpt", "fair")
ESTIMATE_POLICIES = ("fifo", "easy", "berth")


class InputError(Exception):
    """A broken file: its name, the line and the column (both from 1), and what is wrong."""

    def __init__(self, path: str, line: int, column: int, text: str) -> None:
        super().__init__(f"{path}:{line}:{column}: {text}")
        self.path, self.line, self.column = path, line, column


class Job(NamedTuple):
    """One row; `row` counts from 0 behind the header."""
    row: int
    name: str
    submit_s: int
    gpus: int
    duration_s: int
    tenant: str = "default"
    estimate_s: int | None = None
    priority: int = 0
    checkpoint_s: int = 0
    preemptible: bool = True
    deadline_s: int | None = None


class Tenant(NamedTuple):
    name: str
    parent: str
    guaranteed: int = 0
    limit: int | None = None
    weight: int = 1


class Options(NamedTuple):
    gpus: int
    round_seconds: int = 300
    restart_seconds: int = 60
    min_run_seconds: int = 0
    reclaim_seconds: int = 600


@dataclass
class Tree:
    """The tenants by name, and for each the way up: itself, its parent, ..., one of the top."""
    tenants: dict[str, Tenant]
    chains: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def chain(self, name: str) -> tuple[str, ...]:
        if name not in self.chains:
            parent = self.tenants[name].parent
            self.chains[name] = (name,) + (self.chain(parent) if parent else ())
        return self.chains[name]

    def below_common(self, one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The two ways up as far as they differ; both empty for one and the same tenant."""
        mine, others = self.chain(one), self.chain(other)
        return tuple(n for n in mine if n not in others), tuple(n for n in others if n not in mine)

    def guaranteed(self, name: str) -> int:
        return self.tenants[name].guaranteed

    def owed(self, fixed: Mapping[str, int]) -> dict[str, int]:
        """What each may be owed at any time; `fixed`: GPUs of jobs that may not be preempted, by their tenant."""
        most: dict[str, int] = {}
        for name in sorted(self.tenants, key=lambda name: -len(self.chain(name))):   # members first
            members = sum(most[one.name] for one in self.tenants.values() if one.parent == name)
            most[name] = max(self.guaranteed(name), fixed.get(name, 0), members)
        return most

    def out_of_reach(self, fixed: Mapping[str, int], gpus: int) -> str:
        """Why not all guarantees can be met while so much is held; empty: they can."""
        owed = self.owed(fixed)
        for name, tenant in self.tenants.items():
            if tenant.limit is not None and owed[name] > tenant.limit:
                return f"{name!r} may be owed {owed[name]} GPUs, its limit is {tenant.limit}"
        together = sum(owed[name] for name, tenant in self.tenants.items() if not tenant.parent)
        return f"all may be owed {together} GPUs, there are {gpus}" if together > gpus else ""

    def guaranteed_beside(self, name: str) -> list[Tenant]:
        """Tenants with a guarantee whose parent is an ancestor of this one, or that have none, in the file's order."""
        above = self.chain(name)
        return [tenant for tenant in self.tenants.values()
                if tenant.guaranteed and tenant.name not in above and tenant.parent in above[1:] + ("",)]

    def limits_above(self, name: str) -> list[int]:
        return [self.tenants[n].limit for n in self.chain(name) if self.tenants[n].limit is not None]


class Row(NamedTuple):
    line: int
    cells: dict[str, str]
    columns: dict[str, int]   # where each cell begins, in characters from 1


def lines_of(path: str) -> list[str]:
    """A byte-order mark, CRLF and blank lines at the end are accepted."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read().rstrip("\r\n")
    return re.split(r"\r?\n", text) if text else []


def rows_of(path: str, wanted: tuple[str, ...], optional: tuple[str, ...]) -> list[Row]:
    """The rows of a CSV file with a header, columns found by name."""
    lines = lines_of(path)
    if not lines:
        raise InputError(path, 1, 1, "wanted a header, found nothing")
    header = next(csv.reader([lines[0]]))
    for name in wanted + optional:
        if header.count(name) > 1:
            raise InputError(path, 1, starts_of(header)[last_index(header, name)], f"column {name} twice")
    for name in wanted:
        if name not in header:
            raise InputError(path, 1, 1, f"wanted a column {name}")
    rows = []
    for number, text in enumerate(lines[1:], 2):
        cells = next(csv.reader([text]), [])
        if len(cells) != len(header):
            raise InputError(path, number, 1, f"wanted {len(header)} fields, found {len(cells)}")
        rows.append(Row(number, dict(zip(header, cells)), dict(zip(header, starts_of(cells)))))
    if not rows:
        raise InputError(path, 2, 1, "wanted at least one row, found none")
    return rows


def last_index(cells: list[str], name: str) -> int:
    return len(cells) - 1 - cells[::-1].index(name)


def starts_of(cells: list[str]) -> list[int]:
    starts, at = [], 1
    for cell in cells:
        starts.append(at)
        at += len(cell) + 1
    return starts


def integer(path: str, row: Row, name: str, least: int, default: int | None = None) -> int | None:
    """The cell as a whole number; the default where the column, or what is in it, is missing."""
    text = row.cells.get(name, "")
    if text == "" and name in OPTIONAL:
        return default
    if not re.fullmatch(r"-?[0-9]+", text) or not least <= int(text) <= INTEGER_MAX:
        raise InputError(path, row.line, row.columns[name], f"{name}: wanted {least} to {INTEGER_MAX}, found {text!r}")
    return int(text)


OPTIONAL = ("tenant", "estimate_s", "priority", "checkpoint_s", "preemptible", "deadline_s", "limit")


def own_jobs(path: str) -> list[Job]:
    rows = rows_of(path, ("job", "submit_s", "gpus", "duration_s"), OPTIONAL[:-1])
    jobs, lines = [], {}
    for number, row in enumerate(rows):
        name = row.cells["job"]
        if name in lines:
            raise InputError(path, row.line, row.columns["job"], f"job {name!r} stands in line {lines[name]} already")
        lines[name] = row.line
        word = row.cells.get("preemptible", "") or "true"
        if word not in ("true", "false"):
            raise InputError(path, row.line, row.columns["preemptible"],
                             f"preemptible: wanted true or false, found {word!r}")
        jobs.append(Job(number, name, integer(path, row, "submit_s", 0), integer(path, row, "gpus", 1),
                        integer(path, row, "duration_s", 1), row.cells.get("tenant", "") or "default",
                        integer(path, row, "estimate_s", 1), integer(path, row, "priority", -INTEGER_MAX, 0),
                        integer(path, row, "checkpoint_s", 0, 0), word == "true",
                        integer(path, row, "deadline_s", 0)))
    return jobs


def rounded_up(path: str, line: int, column: int, text: str, least: int) -> int:
    try:
        number = int(Decimal(text).to_integral_value(ROUND_CEILING))
    except (InvalidOperation, ValueError, OverflowError) as error:
        raise InputError(path, line, column, f"wanted a number, found {text!r}") from error
    if not least <= number <= INTEGER_MAX:
        raise InputError(path, line, column, f"wanted {least} to {INTEGER_MAX}, found {text!r}")
    return number


def philly_jobs(path: str) -> list[Job]:
    jobs = []
    for number, row in enumerate(rows_of(path, ("timestamp", "duration", "num_gpus", "cluster"), ())):
        try:
            seconds = calendar.timegm(time.strptime(row.cells["timestamp"], "%Y-%m-%d %H:%M:%S"))
        except ValueError as error:
            raise InputError(path, row.line, row.columns["timestamp"], str(error)) from error
        gpus = integer(path, row, "num_gpus", 1)
        duration = rounded_up(path, row.line, row.columns["duration"], row.cells["duration"], 1)
        jobs.append(Job(number, str(number), seconds, gpus, duration, row.cells["cluster"]))
    return jobs


def shockwave_jobs(path: str) -> list[Job]:
    jobs = []
    for number, text in enumerate(lines_of(path)):
        cells = text.split("\t")
        if len(cells) != 12:
            raise InputError(path, number + 1, 1, f"wanted 12 fields, found {len(cells)}")
        starts = starts_of(cells)
        gpus, duration, submit = (rounded_up(path, number + 1, starts[at], cells[at], least)
                                  for at, least in ((6, 1), (10, 1), (11, 0)))
        jobs.append(Job(number, str(number), submit, gpus, duration, estimate_s=duration))
    if not jobs:
        raise InputError(path, 1, 1, "wanted at least one job, found none")
    return jobs


def jobs_of(path: str, trace_format: str) -> list[Job]:
    """The jobs in the file's order, times counted from the earliest submit."""
    jobs = {"own": own_jobs, "philly": philly_jobs, "shockwave": shockwave_jobs}[trace_format](path)
    first = min(job.submit_s for job in jobs)
    return [job._replace(submit_s=job.submit_s - first,
                         deadline_s=None if job.deadline_s is None else job.deadline_s - first) for job in jobs]


def tree_of(path: str | None, jobs: list[Job], gpus: int) -> Tree:
    """The tenants' file, or for want of one a flat tree of those that have jobs."""
    if path is None:
        return Tree({job.tenant: Tenant(job.tenant, "") for job in jobs})
    rows = rows_of(path, ("tenant", "parent", "guaranteed", "limit", "weight"), ())
    lines: dict[str, Row] = {}
    tenants = {}
    for row in rows:
        name = row.cells["tenant"]
        if name in lines:
            raise InputError(path, row.line, row.columns["tenant"], f"tenant {name!r} twice")
        lines[name] = row
        guaranteed, limit = integer(path, row, "guaranteed", 0), integer(path, row, "limit", 0)
        if limit is not None and limit < guaranteed:
            raise InputError(path, row.line, row.columns["limit"], f"limit {limit} below guaranteed {guaranteed}")
        tenants[name] = Tenant(name, row.cells["parent"], guaranteed, limit, integer(path, row, "weight", 1))
    check_tree(path, tenants, lines, gpus)
    return Tree(tenants)


def check_tree(path: str, tenants: dict[str, Tenant], lines: dict[str, Row], gpus: int) -> None:
    for name, tenant in tenants.items():
        seen, above = {name}, tenant.parent
        while above:
            if above not in tenants or above in seen:
                raise InputError(path, lines[name].line, lines[name].columns["parent"], f"no tree above {name!r}")
            seen.add(above)
            above = tenants[above].parent
    for parent in [""] + list(tenants):
        children = [tenant for tenant in tenants.values() if tenant.parent == parent]
        most = tenants[parent].guaranteed if parent else gpus
        given = 0
        for child in children:
            given += child.guaranteed
            if given > most:
                place = lines[child.name]
                raise InputError(path, place.line, place.columns["guaranteed"], f"more than {most} guaranteed")


def check_jobs(path: str, jobs: list[Job], tree: Tree, gpus: int, first_line: int = 2) -> None:
    """Jobs that can never run, or whose tenant is none that may have jobs. The column is not told apart."""
    parents = {tenant.parent for tenant in tree.tenants.values()}
    for job in jobs:
        line = job.row + first_line
        if job.tenant not in tree.tenants:
            raise InputError(path, line, 1, f"job {job.name!r}: no tenant {job.tenant!r}")
        if job.tenant in parents:
            raise InputError(path, line, 1, f"job {job.name!r}: tenant {job.tenant!r} has children")
        if job.gpus > min([gpus] + tree.limits_above(job.tenant)):
            raise InputError(path, line, 1, f"job {job.name!r}: {job.gpus} GPUs, more than there are or than a limit")
        if is_never_reachable(job, tree, gpus):
            beside = ", ".join(f'"{one.name}" ({one.guaranteed})' for one in tree.guaranteed_beside(job.tenant))
            raise InputError(path, line, 1, f"job {job.name!r} may not be preempted, and with its {job.gpus} GPUs not "
                             f"all guarantees could be met: {beside}")


def is_never_reachable(job: Job, tree: Tree, gpus: int) -> bool:
    """Whether a job that may not be preempted puts a guarantee out of reach even on an empty pool."""
    return not job.preemptible and tree.out_of_reach({job.tenant: job.gpus}, gpus) != ""


def load(trace: str, trace_format: str, tenants: str | None, gpus: int) -> tuple[list[Job], Tree]:
    jobs = jobs_of(trace, trace_format)
    tree = tree_of(tenants, jobs, gpus)
    check_jobs(trace, jobs, tree, gpus, 1 if trace_format == "shockwave" else 2)
    return jobs, tree
