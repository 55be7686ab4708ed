"""Logs to test the checks with: those of the rules, and of the plainest `berth` that keeps every law.

They must pass, and with a flaw must not. This `berth` starts in order whoever fits; a job that fits into an unused
guarantee comes first and takes back what is lent at once. Others wait for overdue jobs that go first.
"""

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import sched_rules
from sched_bounds import Bounds, Use
from sched_input import Job, Options, Tree
from sched_rules import Pool

FLAWS = ("limit", "late", "never", "protected", "min_run", "for", "reason", "capacity", "restart", "early", "submit",
         "late_finish", "order", "lost", "reach", "bound")
STEPS_MAX = 300   # of a flawed one, which may never end


class Model:
    def __init__(self, jobs: list[Job], tree: Tree, options: Options, flaw: str = "") -> None:
        self.pool = Pool(jobs, tree, options)
        self.jobs, self.tree, self.options, self.flaw = jobs, tree, options, flaw
        self.held = Use(Counter(), Counter())
        self.use = self.held.all
        self.bounds = Bounds(jobs, options.gpus)
        self.waiting: list[tuple] = []
        self.lines: list[dict] = []
        self.turns: dict[tuple[int, int], tuple[int, int]] = {}   # (victim, for): made by both until then
        self.made = [0] * len(jobs)
        self.fitting_since: dict[int, int] = {}

    def write(self, kind: str, row: int, **further) -> None:
        self.lines.append({"policy": "berth", "t_s": self.pool.now, "type": kind, "job": self.jobs[row].name} | further)

    def change(self, row: int, sign: int) -> None:
        self.held.change(self.jobs[row], self.tree, sign)

    def is_within_limits(self, row: int) -> bool:
        job, tenants = self.jobs[row], self.tree.tenants
        return all(tenants[name].limit is None or self.use[name] + job.gpus <= tenants[name].limit
                   for name in self.tree.chain(job.tenant))

    def fits_guarantee(self, row: int) -> bool:
        """Its tenant's, and what its ancestors are owed."""
        job = self.jobs[row]
        if self.use[job.tenant] + job.gpus > self.tree.guaranteed(job.tenant):
            return False
        owed = self.tree.owed(self.held.fixed)
        return all(self.use[name] + job.gpus <= owed[name] for name in self.tree.chain(job.tenant))

    def keeps_reach(self, row: int) -> bool:
        job = self.jobs[row]
        if job.preemptible or self.flaw == "reach":
            return True
        fixed = self.held.fixed + Counter({job.tenant: job.gpus})
        return self.tree.out_of_reach(fixed, self.options.gpus) == ""

    def must_let_others_go_first(self, row: int) -> bool:
        return self.flaw != "bound" and any(self.bounds.goes_first(one, row, self.pool.now) for *_, one in self.waiting)

    def start(self, row: int) -> None:
        self.waiting.remove(sched_rules.waiting_key("berth", self.jobs[row]))
        self.fitting_since.pop(row, None)
        self.pool.start(row)
        self.change(row, 1)
        self.starting.append(row)

    def made_by(self, row: int) -> int:
        if row not in self.pool.started:
            return self.made[row]
        return self.made[row] + self.pool.progress(row) - self.pool.kept[row]

    def is_turn(self, victim: int, row: int) -> bool:
        return self.turns.get((row, victim)) == (self.made_by(row), self.made_by(victim))

    def preempt(self, victim: int, row: int) -> None:
        self.bounds.stop(self.pool.progress(victim))
        self.made[victim] = self.made_by(victim)
        self.pool.preempt(victim)
        self.change(victim, -1)
        self.waiting.append(sched_rules.waiting_key("berth", self.jobs[victim]))
        self.waiting.sort()
        self.turns[victim, row] = (self.made[victim], self.made_by(row))
        self.write("preempt", victim, **{"for": {"job": self.jobs[row].name}, "reason": "lent GPUs come back"})

    def may_be_victim(self, victim: int, row: int, use: Counter) -> bool:
        mine, _ = self.tree.below_common(self.jobs[victim].tenant, self.jobs[row].tenant)
        is_lent = mine and all(use[name] > self.tree.guaranteed(name) for name in mine)
        may = self.pool.may_be_preempted(victim)
        if self.flaw == "min_run":
            may = self.jobs[victim].preemptible
        if self.pool.started[victim] == self.pool.now:
            return False
        return may and (is_lent or self.flaw == "protected") and not self.is_turn(victim, row)

    def victims_for(self, row: int) -> list[int] | None:
        for order in ("small", "large", "above"):
            use, free, victims = Counter(self.use), self.pool.free, []
            while free < self.jobs[row].gpus:
                left = sorted((self.jobs[one].gpus, one) for one in self.pool.started
                              if one not in victims and self.may_be_victim(one, row, use))
                if not left:
                    break
                victim = left[0][1] if order == "small" else left[-1][1]
                if order == "above":
                    spare = [one for gpus, one in left if all(use[name] - gpus > self.tree.guaranteed(name) for name in
                             self.tree.below_common(self.jobs[one].tenant, self.jobs[row].tenant)[0])]
                    victim = spare[0] if spare else victim
                victims.append(victim)
                free += self.jobs[victim].gpus
                for name in self.tree.chain(self.jobs[victim].tenant):
                    use[name] -= self.jobs[victim].gpus
            if free >= self.jobs[row].gpus:
                return victims
        return None

    def is_urgent(self, row: int) -> bool:
        since = self.fitting_since.setdefault(row, self.pool.now)
        return self.flaw != "never" and (self.flaw != "late" or self.pool.now > since + self.options.reclaim_seconds)

    def decide(self) -> None:
        self.starting: list[int] = []
        for *_, row in list(self.waiting):
            if not self.fits_guarantee(row) and self.flaw != "protected":
                self.fitting_since.pop(row, None)
            elif self.jobs[row].gpus <= self.pool.free and self.is_within_limits(row) and self.keeps_reach(row):
                self.start(row)
            elif self.is_urgent(row) and self.is_within_limits(row) and self.keeps_reach(row):
                victims = self.victims_for(row)
                if victims is not None:
                    for victim in victims:
                        self.preempt(victim, row)
                    self.start(row)
        gone = {line["job"] for line in self.lines if line["t_s"] == self.pool.now and line["type"] == "preempt"}
        for *_, row in list(self.waiting):
            is_allowed = (self.flaw == "limit" or self.is_within_limits(row)) and self.keeps_reach(row)
            has_room = self.jobs[row].gpus <= self.pool.free and self.jobs[row].name not in gone
            if is_allowed and has_room and not self.must_let_others_go_first(row):
                self.start(row)
        for *_, row in self.waiting:   # behind the decisions
            if not self.fits_guarantee(row):
                self.fitting_since.pop(row, None)
            else:
                self.fitting_since.setdefault(row, self.pool.now)
        for row in self.starting:
            self.write("start", row)

    def next_times(self) -> list[int]:
        ends = [end for end in [self.pool.next_end()] if end is not None]
        ends += [start + self.options.min_run_seconds for start in self.pool.started.values()]
        ends += [since + self.options.reclaim_seconds + 1 for since in self.fitting_since.values()]
        ends += [self.pool.now + 1] if self.fitting_since else []   # turns may come free at any second
        return [end for end in ends if end > self.pool.now]

    def run(self) -> list[dict]:
        arrivals = sorted(self.jobs, key=lambda job: (job.submit_s, job.row))
        at = steps = 0
        while (at < len(arrivals) or self.waiting or self.pool.started) and (not self.flaw or steps < STEPS_MAX):
            steps += 1
            self.pool.now = min(self.next_times() + [job.submit_s for job in arrivals[at:at + 1]])
            for row in self.pool.finish_due():
                self.change(row, -1)
                self.bounds.finish(row)
                self.write("finish", row)
            while at < len(arrivals) and arrivals[at].submit_s == self.pool.now:
                self.bounds.submit(arrivals[at].row, [self.pool.progress(row) for row in self.pool.started])
                self.waiting.append(sched_rules.waiting_key("berth", arrivals[at]))
                at += 1
            self.waiting.sort()
            self.decide()
        return self.lines


def spoilt(lines: list[dict], flaw: str) -> list[dict]:
    """Flaws of the log rather than of the policy."""
    changed = [dict(line) for line in lines]
    preempts = [line for line in changed if line["type"] == "preempt"]
    finishes = [line for line in changed if line["type"] == "finish"]
    if flaw == "for" and preempts:
        preempts[-1]["for"] = None
    if flaw == "reason" and preempts:
        del preempts[0]["reason"]
    if flaw == "late_finish":
        finishes[-1]["t_s"] += 1
    if flaw == "order":
        changed.reverse()
    if flaw == "lost":
        changed.remove(finishes[0])
    return changed


def log_of(policy: str, jobs: list[Job], tree: Tree, options: Options, flaw: str = "") -> list[dict]:
    if flaw == "capacity":
        options = options._replace(gpus=options.gpus + max(job.gpus for job in jobs))
    if flaw == "restart":
        options = options._replace(restart_seconds=options.restart_seconds + 1)
    model_jobs = jobs
    if flaw == "early":
        model_jobs = [job._replace(duration_s=max(1, job.duration_s - 1)) for job in jobs]
    if flaw == "submit":
        model_jobs = [job._replace(submit_s=job.submit_s // 2) for job in jobs]
    if policy == "berth":
        return spoilt(Model(model_jobs, tree, options, flaw).run(), flaw)
    lines = []
    for second, kind, row in sched_rules.lines_of(policy, model_jobs, tree, options):
        lines.append({"policy": policy, "t_s": second, "type": kind, "job": jobs[row].name})
        if kind == "preempt":
            lines[-1] |= {"for": None, "reason": "another job has the turn"}
    return spoilt(lines, flaw)


def text_of(value: object) -> str:
    """JSON with six decimals at least."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{text_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    if isinstance(value, Fraction):
        return str((Decimal(value.numerator) / Decimal(value.denominator)).quantize(Decimal("1.000000000")))
    return json.dumps(value, ensure_ascii=False)
