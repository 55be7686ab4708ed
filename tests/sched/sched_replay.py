"""One policy's log played again: what each line does to each job. The first line that cannot be ends the replay.

Checked here: the order of the lines, starts only behind the submit, capacity, whole jobs, restarts and checkpoints,
each finish at the second at which the progress reaches the duration, each job finished once, min-run-seconds,
preemptible=false, and which policies may preempt, decide between rounds and name somebody in `for`.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from sched_input import ROUND_POLICIES, Job, Options

KINDS = ("finish", "preempt", "start")
AT_EVENTS_ONLY = ("fifo", "skip", "sjf", "easy")


class LogError(Exception):
    """A line that cannot stand where it stands."""


class Segment(NamedTuple):
    """From a start to a preemption or the finish."""
    row: int
    start_s: int
    end_s: int
    restart_s: int    # of it held without progress
    progress_s: int   # made in it, kept or not
    kept_s: int       # total progress kept behind it


class Preempt(NamedTuple):
    row: int
    line: dict


@dataclass
class Instant:
    """What the log says of one second."""
    t_s: int
    finishes: list[int] = field(default_factory=list)
    preempts: list[Preempt] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


@dataclass
class Timeline:
    jobs: list[Job]
    segments: list[Segment] = field(default_factory=list)
    instants: list[Instant] = field(default_factory=list)
    first_start_s: dict[int, int] = field(default_factory=dict)
    finish_s: dict[int, int] = field(default_factory=dict)


def ensure(holds: bool, text: str) -> None:
    if not holds:
        raise LogError(text)


class Replay:
    """The state behind the lines so far."""

    def __init__(self, policy: str, jobs: list[Job], options: Options) -> None:
        self.policy, self.jobs, self.options = policy, jobs, options
        self.rows = {job.name: job.row for job in jobs}
        self.submits = {job.submit_s for job in jobs}
        self.free = options.gpus
        self.started: dict[int, int] = {}
        self.restart = [0] * len(jobs)
        self.kept = [0] * len(jobs)
        self.was_preempted = [False] * len(jobs)
        self.ends: list[tuple[int, int, int]] = []   # heap of (end, row, start)
        self.timeline = Timeline(jobs)
        self.kind = ""

    def run(self, lines: list[dict]) -> Timeline:
        for number, line in enumerate(lines, 1):
            try:
                self.play(line)
            except LogError as error:
                raise LogError(f"line {number} of {self.policy}, {line}: {error}") from error
        left = [job.name for job in self.jobs if job.row not in self.timeline.finish_s]
        ensure(not left, f"{self.policy}: {len(left)} jobs never finish, {left[:5]}")
        return self.timeline

    def play(self, line: dict) -> None:
        now, kind, name = line.get("t_s"), line.get("type"), line.get("job")
        ensure(type(now) is int and now >= 0, "t_s is no second")
        ensure(kind in KINDS, "unknown type")
        ensure(type(name) is str and name in self.rows, "unknown job")
        instants = self.timeline.instants
        last = instants[-1].t_s if instants else -1
        ensure(now >= last, "the log goes back in time")
        ensure(now > last or KINDS.index(kind) >= KINDS.index(self.kind), "not finishes, then preempts, then starts")
        due = self.next_end()
        if due is not None:
            ensure(now <= due[0], f"{self.jobs[due[1]].name!r} should have finished at {due[0]}")
            ensure(now < due[0] or kind == "finish", f"{self.jobs[due[1]].name!r} should finish before this line")
        if now > last:
            instants.append(Instant(now))
        self.kind = kind
        row = self.rows[name]
        ensure(row not in self.timeline.finish_s, "the job has finished already")
        {"start": self.start, "preempt": self.preempt, "finish": self.finish}[kind](now, row, line)

    def next_end(self) -> tuple[int, int, int] | None:
        while self.ends and self.started.get(self.ends[0][1]) != self.ends[0][2]:
            heappop(self.ends)
        return self.ends[0] if self.ends else None

    def start(self, now: int, row: int, line: dict) -> None:
        job, instant = self.jobs[row], self.timeline.instants[-1]
        ensure(row not in self.started, "the job runs already")
        ensure(now >= job.submit_s, f"submitted at {job.submit_s} only")
        ensure(all(row != preempt.row for preempt in instant.preempts), "preempted and started in one instant")
        ensure(job.gpus <= self.free, f"wants {job.gpus} GPUs, {self.free} are free")
        if self.policy in ROUND_POLICIES:
            ensure(now % self.options.round_seconds == 0, "no start between rounds")
        if self.policy in AT_EVENTS_ONLY:
            ensure(now in self.submits or bool(instant.finishes), "nothing happens at that second")
        self.free -= job.gpus
        self.started[row] = now
        self.restart[row] = self.options.restart_seconds if self.was_preempted[row] else 0
        heappush(self.ends, (now + self.restart[row] + job.duration_s - self.kept[row], row, now))
        self.timeline.first_start_s.setdefault(row, now)
        instant.starts.append(row)

    def preempt(self, now: int, row: int, line: dict) -> None:
        job = self.jobs[row]
        ensure(self.policy not in AT_EVENTS_ONLY, "this policy does not preempt")
        ensure(row in self.started, "the job does not run")
        held = now - self.started[row]
        ensure(job.preemptible, "the job is not preemptible")
        ensure(held >= self.options.min_run_seconds, f"it has held its GPUs for {held} s only")
        ensure("for" in line and "reason" in line, "wants for and reason")
        if self.policy in ROUND_POLICIES:
            ensure(now % self.options.round_seconds == 0, "no preemption between rounds")
            ensure(line["for"] is None, "for is not null")
        self.end(now, row)
        self.was_preempted[row] = True
        self.timeline.instants[-1].preempts.append(Preempt(row, line))

    def finish(self, now: int, row: int, line: dict) -> None:
        ensure(row in self.started, "the job does not run")
        end = self.started[row] + self.restart[row] + self.jobs[row].duration_s - self.kept[row]
        ensure(now == end, f"its progress reaches the duration at {end}")
        self.end(now, row)
        self.timeline.finish_s[row] = now
        self.timeline.instants[-1].finishes.append(row)

    def end(self, now: int, row: int) -> None:
        job, start = self.jobs[row], self.started.pop(row)
        self.free += job.gpus
        restart = min(self.restart[row], now - start)
        made = now - start - restart
        kept = self.kept[row] + made
        if kept < job.duration_s and job.checkpoint_s:
            kept -= kept % job.checkpoint_s
        self.kept[row] = kept
        self.timeline.segments.append(Segment(row, start, now, restart, made, kept))


def timeline_of(policy: str, jobs: list[Job], options: Options, lines: list[dict]) -> Timeline:
    return Replay(policy, jobs, options).run(lines)
