"""The laws of tenants, checked on a replayed timeline: limits for `fair` and `berth`, all others for `berth`.

- Limits: no tenant or ancestor ever runs more than its limit.
- Guarantee: a tenant at or below its guarantee is never preempted for another that is, or would come, above its own.
  Compared are the victim's tenant with the other's, and their two ancestors below the first common one.
- Reach: with what jobs hold that may not be preempted, all guarantees can still be met. m of a tenant is the most of
  its guarantee, what its own such jobs hold, and the sum of m of its members; no m is above the tenant's limit, and
  those of the top tenants are together at most N.
- Giving back: see sched_lending.py. Waiting for later jobs: see sched_bounds.py.
- Turns: A preempted for B and before that B for A, neither having made progress in between, is an error. With
  is_strict only progress that a checkpoint kept counts.
- Each preempt says for whom (a job that waits, or a tenant with one) and why.
"""

from collections import Counter
from typing import NamedTuple

import sched_bounds
from sched_bounds import Bounds, Use
from sched_input import Options, Tree
from sched_lending import Lending
from sched_replay import Instant, Preempt, Timeline


class Claim(NamedTuple):
    """A protected tenant was at or below its guarantee when `victim` was preempted for whom the claimant stands."""
    claimant: str    # the tenant of `whom`, or an ancestor of it
    protected: str   # the victim's tenant, or an ancestor of it
    victim: int
    kind: str        # "job", then `whom` is a row; or "tenant", then its name
    whom: int | str


class Laws:
    """Walks through the instants, submits among them, with the use of every tenant and ancestor."""

    def __init__(self, timeline: Timeline, tree: Tree, options: Options, is_strict: bool) -> None:
        self.timeline, self.jobs, self.tree, self.options = timeline, timeline.jobs, tree, options
        self.is_strict = is_strict
        self.rows = {job.name: job.row for job in self.jobs}
        self.held = Use(Counter(), Counter())
        self.use = self.held.all
        self.bounds = Bounds(self.jobs, options.gpus)
        self.started: dict[int, int] = {}
        self.waiting: set[int] = set()
        self.errors: list[str] = []
        self.segments_left = self.segments_by_row()
        self.progress = [0] * len(self.jobs)   # made, kept or not
        self.kept = [0] * len(self.jobs)
        self.turns: dict[tuple[int, int], tuple[int, int]] = {}   # (victim, for): what each had done by then
        self.lending = Lending(self.jobs, tree, options)

    def segments_by_row(self) -> dict[int, list]:
        segments: dict[int, list] = {}
        for segment in reversed(self.timeline.segments):
            segments.setdefault(segment.row, []).append(segment)
        return segments

    def report(self, second: int, text: str) -> None:
        self.errors.append(f"at {second}: {text}")

    def change(self, row: int, sign: int) -> None:
        self.held.change(self.jobs[row], self.tree, sign)

    def begin(self, row: int, second: int, is_berth: bool) -> None:
        self.waiting.discard(row)
        self.started[row] = second
        self.change(row, 1)
        for name in self.tree.chain(self.jobs[row].tenant):
            limit = self.tree.tenants[name].limit
            if limit is not None and self.use[name] > limit:
                self.report(second, f"tenant {name!r} runs {self.use[name]} GPUs, its limit is {limit}")
        if is_berth and not self.jobs[row].preemptible:
            reason = self.tree.out_of_reach(self.held.fixed, self.options.gpus)
            if reason:
                self.report(second, f"{self.jobs[row].name!r} starts, which may not be preempted, and puts a guarantee "
                            f"out of reach: {reason}")

    def end(self, row: int) -> None:
        segment = self.segments_left[row].pop()
        self.bounds.stop(self.kept[row] + segment.progress_s)
        self.progress[row] += segment.progress_s
        self.kept[row] = segment.kept_s
        del self.started[row]
        self.change(row, -1)

    def walk(self, is_berth: bool) -> list[str]:
        moments = {instant.t_s: instant for instant in self.timeline.instants}
        arriving: dict[int, list[int]] = {}
        for job in self.jobs:
            arriving.setdefault(job.submit_s, []).append(job.row)
            moments.setdefault(job.submit_s, Instant(job.submit_s))
        order = sorted(moments)
        has_guarantees = any(tenant.guaranteed for tenant in self.tree.tenants.values())
        for second, following in zip(order, order[1:] + [order[-1]]):
            instant = moments[second]
            before = self.held.copy()
            for row in instant.finishes:
                self.end(row)
                self.bounds.finish(row)
            self.submit(second, arriving.get(second, []))
            claims = [claim for preempt in instant.preempts for claim in self.preempted(instant, preempt, is_berth)]
            self.check_claims(second, claims)
            lowest = self.held.copy()
            for row in instant.starts:
                self.begin(row, second, is_berth)
            if is_berth:
                self.check_bounds(instant, before, lowest)
            if is_berth and has_guarantees:
                self.lending.observe(second, following - 1, self.held, self.started, self.waiting,
                                     self.is_turn, self.report)
        return self.errors

    # Waiting for later jobs

    def submit(self, second: int, rows: list[int]) -> None:
        self.waiting.update(rows)
        for row in rows:
            self.bounds.submit(row, [self.kept[one] + max(0, second - start - self.restart_of(one))
                                     for one, start in self.started.items()])

    def check_bounds(self, instant: Instant, before: Use, lowest: Use) -> None:
        """Behind the starts; `before`: ahead of the finishes, `lowest`: ahead of the starts."""
        second, bounds, jobs = instant.t_s, self.bounds, self.jobs
        starts = [row for row in instant.starts
                  if not sched_bounds.fits_guarantee(jobs[row], lowest, self.tree)]
        for waits in sorted(self.waiting) if starts else []:
            for row in [row for row in starts if bounds.goes_first(waits, row, second)]:
                behind = self.held.copy()
                behind.change(jobs[row], self.tree, -1)
                if any(sched_bounds.may_pass(jobs[row], jobs[waits], use, self.tree, self.options.gpus)
                       for use in (before, lowest, behind)):
                    continue
                self.report(second, f"{jobs[row].name!r} starts, and {jobs[waits].name!r} still waits, which was "
                            f"submitted before it, with a bound of {bounds.of[waits]}")
        for victim, line in instant.preempts:
            whom = line["for"].get("job") if isinstance(line["for"], dict) else None
            row = self.rows.get(whom) if isinstance(whom, str) else None
            if row is None or sched_bounds.fits_guarantee(jobs[row], lowest, self.tree):
                continue
            if bounds.goes_first(victim, row, second):
                self.report(second, f"{jobs[victim].name!r} is preempted for {whom!r}, submitted after it, though its "
                            f"bound was {bounds.of[victim]}")

    # Preemptions of `berth`

    def preempted(self, instant: Instant, preempt: Preempt, is_berth: bool) -> list[Claim]:
        row, second = preempt.row, instant.t_s
        claims: list[Claim] = []
        other = None
        if is_berth:
            other = self.for_whom(second, preempt, instant)
            if other is not None:
                claims = self.claims_of(row, other)
        made_for = self.job_made_for(other, instant)
        self.end(row)
        self.waiting.add(row)
        if made_for is not None:
            self.take_turn(second, row, made_for)
        return claims

    def for_whom(self, second: int, preempt: Preempt, instant: Instant) -> tuple[str, str | int] | None:
        """("job", row) or ("tenant", name); None where the line is wrong, which is reported."""
        line, whom = preempt.line, preempt.line["for"]
        where = f"preempt of {line['job']!r}"
        if not isinstance(line["reason"], str) or not line["reason"].strip():
            self.report(second, f"{where} without a reason")
        if not isinstance(whom, dict) or len(whom) != 1 or next(iter(whom)) not in ("job", "tenant"):
            self.report(second, f"{where}: for is {whom!r}, no job or tenant")
            return None
        kind, name = next(iter(whom.items()))
        gone = {one.row for one in instant.preempts}
        if kind == "job":
            row = self.rows.get(name) if isinstance(name, str) else None
            if row is None or row not in self.waiting or row in gone:
                self.report(second, f"{where} for {name!r}, no job that waits")
                return None
            return kind, row
        waits = any(name in self.tree.chain(self.jobs[row].tenant) for row in self.waiting - gone)
        if not isinstance(name, str) or name not in self.tree.tenants or not waits:
            self.report(second, f"{where} for {name!r}, no tenant with a job that waits")
            return None
        return kind, name

    def claims_of(self, row: int, other: tuple[str, str | int]) -> list[Claim]:
        """One for each protected tenant; asked before the victim is taken away."""
        kind, whom = other
        theirs = self.jobs[whom].tenant if kind == "job" else whom
        mine, others = self.tree.below_common(self.jobs[row].tenant, theirs)
        if not mine or not others:   # the same tenant, or one above the victim: nobody else gains
            return []
        pairs = {(mine[0], others[0]), (mine[-1], others[-1])}
        return [Claim(claimant, protected, row, kind, whom) for protected, claimant in sorted(pairs)
                if self.use[protected] <= self.tree.guaranteed(protected)]

    def check_claims(self, second: int, claims: list[Claim]) -> None:
        """After the preempts, before the starts: do those for whom protected tenants gave way stay in their right?"""
        wanted: dict[str, set[int]] = {}
        for claim in claims:
            rows = [claim.whom] if claim.kind == "job" else self.smallest_waiting(claim.whom)
            wanted.setdefault(claim.claimant, set()).update(rows)
        for claim in claims:
            after = self.use[claim.claimant] + sum(self.jobs[row].gpus for row in wanted[claim.claimant])
            guaranteed = self.tree.guaranteed(claim.claimant)
            if after > guaranteed:
                name = self.jobs[claim.whom].name if claim.kind == "job" else claim.whom
                self.report(second, f"{self.jobs[claim.victim].name!r} is preempted for {claim.kind} {name!r}: "
                            f"{claim.protected!r} was at or below its guarantee, {claim.claimant!r} would come to "
                            f"{after} GPUs, guaranteed are {guaranteed}")

    def smallest_waiting(self, tenant: str) -> list[int]:
        rows = [row for row in self.waiting if tenant in self.tree.chain(self.jobs[row].tenant)]
        return [min(rows, key=lambda row: (self.jobs[row].gpus, row))] if rows else []

    # Turns

    def job_made_for(self, other: tuple[str, str | int] | None, instant: Instant) -> int | None:
        """The job that gains: the one named, or the only one of that tenant that starts now."""
        if other is None:
            return None
        kind, whom = other
        if kind == "job":
            return whom
        rows = [row for row in instant.starts if whom in self.tree.chain(self.jobs[row].tenant)]
        return rows[0] if len(rows) == 1 else None

    def done(self, row: int, second: int) -> int:
        """Progress made (or kept, if strict) until now, by one that may run."""
        if row in self.started and not self.is_strict:
            segment = self.segments_left[row][-1]
            return self.progress[row] + max(0, second - segment.start_s - self.restart_of(row))
        return (self.kept if self.is_strict else self.progress)[row]

    def restart_of(self, row: int) -> int:
        return 0 if self.started[row] == self.timeline.first_start_s[row] else self.options.restart_seconds

    def is_turn(self, victim: int, made_for: int, second: int) -> bool:
        """Would preempting the one for the other now be the second half of a turn without progress?"""
        before = self.turns.get((made_for, victim))
        return before is not None and before == (self.done(made_for, second), self.done(victim, second))

    def take_turn(self, second: int, victim: int, made_for: int) -> None:
        """Behind the end of the victim."""
        if self.is_turn(victim, made_for, second):
            self.report(second, f"{self.jobs[victim].name!r} is preempted for {self.jobs[made_for].name!r}, which was "
                        "preempted for it before, and neither has made progress in between")
        self.turns[victim, made_for] = (self.done(victim, second), self.done(made_for, second))


def law_errors(policy: str, timeline: Timeline, tree: Tree, options: Options, is_strict: bool = False) -> list[str]:
    if policy not in ("fair", "berth"):
        return []
    return Laws(timeline, tree, options, is_strict).walk(policy == "berth")
