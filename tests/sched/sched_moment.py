"""The state of a run at a second, from its log, and changes tried on it.

A change is tried on the state before the decisions of that second, which are then made again (sched_rules.py).
"""

from collections import Counter, defaultdict
from itertools import combinations
from math import comb
from typing import Iterable, Iterator, NamedTuple

from sched_input import HINDSIGHT, Job, Options, Tree
from sched_rules import AT_EVENTS, IN_ROUNDS, Line, Pool, learned_estimate, waiting_key

OBEY_LIMITS = ("fair", "berth")
SUBSETS_MAX = 3000   # of victims that are tried


class Run(NamedTuple):
    """One policy's run: inputs, options and log."""
    policy: str
    jobs: list[Job]
    tree: Tree
    options: Options
    lines: list[Line]


class Change(NamedTuple):
    kind: str
    where: str = "pool"
    by: int = 0
    rows: tuple[int, ...] = ()


class State:
    """Who waits and runs at a second, behind its decisions or before them."""

    def __init__(self, run: Run, now: int, is_decided: bool) -> None:
        self.run, self.pool = run, Pool(run.jobs, run.tree, run.options)
        self.unfinished: set[int] = set()
        pool, jobs = self.pool, run.jobs
        finished: dict[tuple[str, int], list[int]] = defaultdict(list)
        moves = defaultdict(list)
        for second, kind, row in run.lines:
            moves[second].append((kind, row))
        arrivals = defaultdict(list)
        for job in jobs:
            arrivals[job.submit_s].append(job)
        for pool.now in sorted(second for second in moves.keys() | arrivals.keys() if second <= now):
            for row in pool.finish_due():
                self.unfinished.remove(row)
                finished[jobs[row].tenant, jobs[row].gpus].append(jobs[row].duration_s)
            for job in arrivals[pool.now]:
                self.unfinished.add(job.row)
                if job.estimate_s is None:
                    pool.estimate[job.row] = learned_estimate(finished[job.tenant, job.gpus])
            if pool.now < now or is_decided:
                for kind, row in moves[pool.now]:
                    if kind != "finish":
                        (pool.preempt if kind == "preempt" else pool.start)(row)
        pool.now = now

    def waiting(self) -> list[int]:
        return sorted(self.unfinished - set(self.pool.started))

    def use(self, rows: Iterable[int]) -> Counter[str]:
        """GPUs by tenant, ancestors too."""
        counts: Counter[str] = Counter()
        for row in rows:
            for name in self.run.tree.chain(self.run.jobs[row].tenant):
                counts[name] += self.run.jobs[row].gpus
        return counts

    def starts(self, row: int, change: Change) -> bool:
        """Whether the job starts when this is changed and the policy decides; those preempted stay out."""
        pool, run = self.pool, self.run
        kept = (pool.jobs, pool.tree, pool.options, pool.free, pool.started)
        if change.kind == "gpus":
            pool.free += change.by
            pool.options = pool.options._replace(gpus=pool.options.gpus + change.by)
        elif change.kind == "priority":
            pool.jobs = list(pool.jobs)
            pool.jobs[row] = pool.jobs[row]._replace(priority=pool.jobs[row].priority + change.by)
        elif change.kind == "limit":
            tenant = run.tree.tenants[change.where]
            pool.tree = Tree(run.tree.tenants | {change.where: tenant._replace(limit=tenant.limit + change.by)})
        else:
            pool.free += sum(pool.jobs[victim].gpus for victim in change.rows)
            pool.started = {one: start for one, start in pool.started.items() if one not in change.rows}
        if run.policy in IN_ROUNDS:
            found = row in IN_ROUNDS[run.policy](pool, self.unfinished - set(change.rows))
        else:
            order = sorted(waiting_key(run.policy, pool.jobs[one]) for one in self.waiting()
                           if one not in change.rows)
            found = row in AT_EVENTS[run.policy](pool, [key[-1] for key in order])
        pool.jobs, pool.tree, pool.options, pool.free, pool.started = kept
        return found


def fits(state: State, row: int, without: set[int]) -> bool:
    """In the pool and, where the policy obeys them, below the limits, with some who run gone."""
    run, job = state.run, state.run.jobs[row]
    running = set(state.pool.started) - without - {row}   # it may run before a decision that preempts it
    use, limits = state.use(running), run.tree.tenants
    names = run.tree.chain(job.tenant) if run.policy in OBEY_LIMITS else ()
    return job.gpus <= run.options.gpus - sum(run.jobs[one].gpus for one in running) and all(
        limits[name].limit is None or use[name] + job.gpus <= limits[name].limit for name in names)


def remaining(state: State, row: int) -> int:
    job = state.run.jobs[row]
    return (job.duration_s if state.run.policy in HINDSIGHT else state.pool.estimate[row]) - state.pool.progress(row)


# What helps

def victims_of(state: State) -> list[int]:
    return [row for row in state.pool.started if state.pool.may_be_preempted(row)]


def rising(state: State, row: int) -> Iterator[Iterator[Change]]:
    """For each thing that can be changed, the changes that could help, the smallest first."""
    jobs, tree = state.run.jobs, state.run.tree
    wanted = sum(jobs[one].gpus for one in state.unfinished)
    yield (Change("gpus", "pool", by) for by in range(1, wanted + 1))
    others = sorted({max(1, jobs[one].priority - jobs[row].priority + more)
                     for one in state.unfinished for more in (0, 1)})
    yield (Change("priority", jobs[row].name, by) for by in others)
    if state.run.policy in OBEY_LIMITS:
        for name in tree.chain(jobs[row].tenant):
            if tree.tenants[name].limit is not None:
                yield (Change("limit", name, by) for by in range(1, wanted + 1))


def least(state: State, row: int) -> Iterator[Change]:
    for changes in rising(state, row):
        found = next((change for change in changes if state.starts(row, change)), None)
        if found:
            yield found


def fewest_victims(state: State, row: int, most: int) -> int | None:
    """None: no number up to `most`, or too many to try."""
    victims, tried = victims_of(state), 0
    for count in range(1, min(most, len(victims)) + 1):
        tried += comb(len(victims), count)
        if tried > SUBSETS_MAX:
            return None
        if any(state.starts(row, Change("preempt", "pool", count, rows)) for rows in combinations(victims, count)):
            return count
    return None
