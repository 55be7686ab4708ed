"""Lent GPUs come back: the clock of each waiting job that fits into its tenant's unused guarantee, ancestors' too.

The clock of a job starts at the instant behind whose decisions it waits and fits (use + its GPUs <= guaranteed for its
tenant, and <= m of sched_laws.py for each ancestor), and stops when it starts or fits no longer. When it has run for
reclaim-seconds and the job still waits, that is an error if by preempting only what must give back enough GPUs would be
free: preemptible jobs that have held theirs for min-run-seconds, of tenants that are above their guarantee, and so are
their ancestors below the first one in common. Victims are taken one after another; each must be above at its turn. A
victim for which the waiting job was preempted before, no progress in between, need not give way (that would be a turn).

Jobs that may not be preempted are no excuse: where guarantees are in reach, preemptible jobs of borrowers are always
enough, in whatever order they are taken. As long as too few GPUs are free for a job that fits, the top tenants but its
own use more than their m together, since all m are at most N and its own top tenant is at most at its m with the job.
One of them is above its m then, so is one of its members, and so on down to a tenant. That one is above its guarantee
and above what its jobs hold that may not be preempted: it has a preemptible one. If they are not enough, a guarantee
is out of reach, which is an error of its own.
"""

from collections import Counter
from typing import Callable

from sched_bounds import Use
from sched_input import Job, Options, Tree


class Lending:
    def __init__(self, jobs: list[Job], tree: Tree, options: Options) -> None:
        self.jobs, self.tree, self.options = jobs, tree, options
        self.since: dict[int, int] = {}    # waiting jobs that fit: from when
        self.reported: set[int] = set()

    def observe(self, second: int, until: int, held: Use, started: dict[int, int], waiting: set[int],
                is_turn: Callable[[int, int, int], bool], report: Callable[[int, str], None]) -> None:
        """The state behind the decisions of `second`, which lasts until `until`."""
        use, owed = held.all, self.tree.owed(held.fixed) if waiting else {}
        fitting = {row for row in waiting if self.fits(row, use, owed)}
        for row in list(self.since):
            if row not in fitting:
                del self.since[row]
        for row in sorted(fitting):
            self.since.setdefault(row, second)
            if row in self.reported or until < self.since[row] + self.options.reclaim_seconds:
                continue
            if self.can_give(row, use, started) is None:
                self.reported.add(row)
                report(until, f"{self.jobs[row].name!r} has fitted into the unused guarantee of "
                       f"{self.jobs[row].tenant!r} since {self.since[row]} and waits for jobs that may not be "
                       "preempted")
            victims = self.must_give(row, until, use, started, is_turn)
            if victims is not None:
                self.reported.add(row)
                report(until, f"{self.jobs[row].name!r} has fitted into the unused guarantee of "
                       f"{self.jobs[row].tenant!r} since {self.since[row]} and still waits, though "
                       f"{[self.jobs[victim].name for victim in victims]} had to give back")

    def fits(self, row: int, use: Counter, owed: dict[str, int]) -> bool:
        job = self.jobs[row]
        return use[job.tenant] + job.gpus <= self.tree.guaranteed(job.tenant) and all(
            use[name] + job.gpus <= owed[name] for name in self.tree.chain(job.tenant))

    def can_give(self, row: int, use: Counter, started: dict[int, int]) -> list[int] | None:
        """Victims that would make room if all that is preemptible could be preempted now, or None."""
        candidates = [one for one in started if self.jobs[one].preemptible]
        return self.take_back(row, self.free(started), candidates, use, first)

    def free(self, started: dict[int, int]) -> int:
        return self.options.gpus - sum(self.jobs[one].gpus for one in started)

    def must_give(self, row: int, now: int, use: Counter, started: dict[int, int],
                  is_turn: Callable[[int, int, int], bool]) -> list[int] | None:
        """Victims that make room for the job, or None. Several orders are tried, so that it errs on the mild side."""
        free = self.free(started)
        candidates = [one for one, start in started.items() if self.jobs[one].preemptible
                      and now - start >= self.options.min_run_seconds and not is_turn(one, row, now)]
        candidates.sort(key=lambda one: (self.jobs[one].gpus, one))
        for take in (first, last, staying_above):
            victims = self.take_back(row, free, candidates, use, take)
            if victims is not None:
                return victims
        return None

    def take_back(self, row: int, free: int, candidates: list[int], use: Counter,
                  take: Callable[[list[tuple[int, int, int]]], int]) -> list[int] | None:
        use, left, victims = Counter(use), list(candidates), []
        while free < self.jobs[row].gpus:
            borrowers = [(one, self.jobs[one].gpus, self.borrowed(one, row, use)) for one in left]
            borrowers = [borrower for borrower in borrowers if borrower[2] > 0]
            if not borrowers:
                return None
            victim = take(borrowers)
            victims.append(victim)
            left.remove(victim)
            free += self.jobs[victim].gpus
            for name in self.tree.chain(self.jobs[victim].tenant):
                use[name] -= self.jobs[victim].gpus
        return victims

    def borrowed(self, victim: int, row: int, use: Counter) -> int:
        """The least that the victim's tenant and its ancestors up to the common one are above their guarantees."""
        mine, _ = self.tree.below_common(self.jobs[victim].tenant, self.jobs[row].tenant)
        return min((use[name] - self.tree.guaranteed(name) for name in mine), default=0)


def first(borrowers: list[tuple[int, int, int]]) -> int:
    return borrowers[0][0]


def last(borrowers: list[tuple[int, int, int]]) -> int:
    return borrowers[-1][0]


def staying_above(borrowers: list[tuple[int, int, int]]) -> int:
    """The smallest that leaves its tenant above its guarantee, else the largest."""
    return next((one for one, gpus, borrowed in borrowers if gpus < borrowed), borrowers[-1][0])
