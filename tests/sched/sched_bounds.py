"""How long a job waits for later ones at most: its bound, and what may start or preempt it behind that all the same.

    bound = submit + TURNS x longest x (N + GPUs ahead + its own) / N, rounded up

GPUs ahead: of jobs submitted before it (in the same second: in earlier rows) that have not finished. Longest: the most
progress that a job has made by then, the largest estimate of a job submitted by then (its own too), at least
LONGEST_LEAST. From its bound on no job that was submitted later, with the same or a lower priority, starts while it
waits or preempts it, except

- one that fits into its tenant's unused guarantee;
- while a limit above the overdue job has no room for it: one that is not below that limit;
- while it may not be preempted and would put a guarantee out of reach: one that may be preempted;
- while jobs that may not be preempted leave it too few GPUs.

Lines of one second may be in any order, so a state counts as one of these where it is one before the instant, behind
its finishes and preemptions, or behind its other starts.
"""

from collections import Counter
from typing import Iterable, NamedTuple

from sched_input import Job, Tree

TURNS = 4
LONGEST_LEAST = 600


class Bounds:
    """The bound of each job that was submitted."""

    def __init__(self, jobs: list[Job], gpus: int) -> None:
        self.jobs, self.gpus = jobs, gpus
        self.longest = LONGEST_LEAST
        self.asked = 0
        self.of: dict[int, int] = {}

    def submit(self, row: int, progress: Iterable[int]) -> None:
        """`progress`: of those that run. In the order of submits and rows, behind the finishes of that second."""
        job = self.jobs[row]
        self.longest = max(self.longest, job.estimate_s or 0, *progress)
        turns = TURNS * self.longest * (self.gpus + self.asked + job.gpus)
        self.of[row] = job.submit_s + -(-turns // self.gpus)
        self.asked += job.gpus

    def stop(self, progress: int) -> None:
        """A job that has made so much finishes or is preempted."""
        self.longest = max(self.longest, progress)

    def finish(self, row: int) -> None:
        self.stop(self.jobs[row].duration_s)
        self.asked -= self.jobs[row].gpus

    def goes_first(self, row: int, other: int, now: int) -> bool:
        """Is it overdue, and the other one that was submitted later and is no more important?"""
        one, later = self.jobs[row], self.jobs[other]
        return now >= self.of[row] and (one.submit_s, row) < (later.submit_s, other) and later.priority <= one.priority


class Use(NamedTuple):
    """What is held at a moment."""
    all: Counter[str]     # by tenant, its ancestors too
    fixed: Counter[str]   # by jobs that may not be preempted, by their tenant

    def copy(self) -> "Use":
        return Use(Counter(self.all), Counter(self.fixed))

    def change(self, job: Job, tree: Tree, sign: int) -> None:
        for name in tree.chain(job.tenant):
            self.all[name] += sign * job.gpus
        if not job.preemptible:
            self.fixed[job.tenant] += sign * job.gpus


def may_pass(later: Job, job: Job, use: Use, tree: Tree, gpus: int) -> bool:
    """Whether what others hold keeps an overdue job from starting so that it need not hold back this later one."""
    with_it = use.copy()
    with_it.change(job, tree, 1)
    apart = [(name, tree.tenants[name].limit) for name in tree.chain(job.tenant)
             if name not in tree.chain(later.tenant)]
    return (any(limit is not None and with_it.all[name] > limit for name, limit in apart)
            or use.fixed.total() + job.gpus > gpus
            or later.preemptible and not job.preemptible and tree.out_of_reach(with_it.fixed, gpus) != "")


def fits_guarantee(job: Job, use: Use, tree: Tree) -> bool:
    return use.all[job.tenant] + job.gpus <= tree.guaranteed(job.tenant)
