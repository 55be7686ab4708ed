#!/usr/bin/env python3
"""The policies fifo, skip, sjf, easy, las, srpt and fair, plainly and slowly: the lines that their logs must hold.

    sched_rules.py --trace FILE --trace-format own|philly|shockwave --gpus N [--policies a,b] [options of the world]

prints the log; --sums prints only the sum of completion of each policy. Written from docs/reference/scheduling.md alone.
"""

import argparse
import json
import sys
from bisect import insort
from collections import Counter, defaultdict
from fractions import Fraction
from heapq import heappop, heappush
from typing import Callable, Iterable

import sched_input
from sched_input import MISSING_ESTIMATE_S, Job, Options, Tree

Line = tuple[int, str, int]   # second, "finish" | "preempt" | "start", row of the job
ESTIMATE_LAST = 100
ESTIMATE_LEAST = 3


class Pool:
    """The state of one run: who waits, who runs, and what each has done."""

    def __init__(self, jobs: list[Job], tree: Tree, options: Options) -> None:
        self.jobs, self.tree, self.options = jobs, tree, options
        self.now = 0
        self.free = options.gpus
        self.started: dict[int, int] = {}            # of those that run: when
        self.pause = [0] * len(jobs)                 # seconds without progress after the present start
        self.kept = [0] * len(jobs)                  # progress at the present start
        self.was_preempted = [False] * len(jobs)
        self.estimate = [job.estimate_s for job in jobs]
        self.ends: list[tuple[int, int, int]] = []   # heap of (end, row, start)
        self.lines: list[Line] = []

    def progress(self, row: int) -> int:
        if row not in self.started:
            return self.kept[row]
        return self.kept[row] + max(0, self.now - self.started[row] - self.pause[row])

    def start(self, row: int) -> None:
        job = self.jobs[row]
        self.free -= job.gpus
        assert self.free >= 0
        self.started[row] = self.now
        self.pause[row] = self.options.restart_seconds if self.was_preempted[row] else 0
        heappush(self.ends, (self.now + self.pause[row] + job.duration_s - self.kept[row], row, self.now))
        self.lines.append((self.now, "start", row))

    def preempt(self, row: int) -> None:
        job, progress = self.jobs[row], self.progress(row)
        self.kept[row] = progress - progress % job.checkpoint_s if job.checkpoint_s else progress
        self.was_preempted[row] = True
        self.free += job.gpus
        del self.started[row]
        self.lines.append((self.now, "preempt", row))

    def next_end(self) -> int | None:
        while self.ends and self.started.get(self.ends[0][1]) != self.ends[0][2]:
            heappop(self.ends)   # of a start that was preempted
        return self.ends[0][0] if self.ends else None

    def finish_due(self) -> list[int]:
        """Ends those whose time has come, by submit, then row."""
        due = []
        while self.next_end() == self.now:
            due.append(heappop(self.ends)[1])
        due.sort(key=lambda row: (self.jobs[row].submit_s, row))
        for row in due:
            self.free += self.jobs[row].gpus
            del self.started[row]
            self.lines.append((self.now, "finish", row))
        return due

    def may_be_preempted(self, row: int) -> bool:
        return self.jobs[row].preemptible and self.now - self.started[row] >= self.options.min_run_seconds


def learned_estimate(durations: list[int]) -> int:
    """Twice the lower median of the last ones; `durations` in the order in which they finished."""
    if len(durations) < ESTIMATE_LEAST:
        return MISSING_ESTIMATE_S
    last = sorted(durations[-ESTIMATE_LAST:])
    return 2 * last[(len(last) - 1) // 2]


# Policies that decide at every instant with an event, without preemption. Each takes the waiting rows in its order and
# returns those that start.

def blocking(pool: Pool, waiting: list[int]) -> list[int]:
    free, starting = pool.free, []
    for row in waiting:
        if pool.jobs[row].gpus > free:
            break
        free -= pool.jobs[row].gpus
        starting.append(row)
    return starting


def skipping(pool: Pool, waiting: list[int]) -> list[int]:
    free, starting = pool.free, []
    for row in waiting:
        if free == 0:
            break
        if pool.jobs[row].gpus <= free:
            free -= pool.jobs[row].gpus
            starting.append(row)
    return starting


def shadow_of(pool: Pool, free: int, head: Job, starting: list[int]) -> tuple[int, int]:
    """When the head is expected to fit, and what is free beyond it then."""
    ends = []
    for row, start in list(pool.started.items()) + [(row, pool.now) for row in starting]:
        end = start + pool.estimate[row]
        ends.append((end if end > pool.now else 2 * pool.now - start, pool.jobs[row].gpus))
    ends.sort()
    shadow = None
    for end, gpus in ends:
        if shadow is not None and end > shadow:
            break
        free += gpus
        if shadow is None and free >= head.gpus:
            shadow = end
    assert shadow is not None
    return shadow, free - head.gpus


def easy(pool: Pool, waiting: list[int]) -> list[int]:
    starting = blocking(pool, waiting)
    free = pool.free - sum(pool.jobs[row].gpus for row in starting)
    rest = waiting[len(starting):]
    if not rest or free == 0:
        return starting
    shadow, extra = shadow_of(pool, free, pool.jobs[rest[0]], starting)
    for row in rest[1:]:
        gpus = pool.jobs[row].gpus
        if gpus > free:
            continue
        if pool.now + pool.estimate[row] > shadow:
            if gpus > extra:
                continue
            extra -= gpus
        free -= gpus
        starting.append(row)
    return starting


# Policies that decide in rounds. Each returns the rows that run in the round which begins now.

def held(pool: Pool) -> list[int]:
    return [row for row in pool.started if not pool.may_be_preempted(row)]


def round_by(key: Callable[[Pool, int], int]) -> Callable[[Pool, Iterable[int]], set[int]]:
    def choose(pool: Pool, unfinished: Iterable[int]) -> set[int]:
        chosen = set(held(pool))
        free = pool.options.gpus - sum(pool.jobs[row].gpus for row in chosen)
        order = sorted((-pool.jobs[row].priority, key(pool, row), pool.jobs[row].submit_s, row) for row in unfinished)
        for *_, row in order:
            if row not in chosen and pool.jobs[row].gpus <= free:
                chosen.add(row)
                free -= pool.jobs[row].gpus
        return chosen
    return choose


def round_fair(pool: Pool, unfinished: Iterable[int]) -> set[int]:
    jobs, tree = pool.jobs, pool.tree
    chosen = set(held(pool))
    use: Counter[str] = Counter()   # by tenant, ancestors too
    for row in chosen:
        for name in tree.chain(jobs[row].tenant):
            use[name] += jobs[row].gpus
    free = pool.options.gpus - sum(jobs[row].gpus for row in chosen)
    queues: dict[str, list[int]] = defaultdict(list)
    for *_, row in sorted((-jobs[row].priority, jobs[row].submit_s, row) for row in unfinished):
        if row not in chosen:
            queues[jobs[row].tenant].append(row)

    def room(name: str) -> int:
        return min([free] + [tree.tenants[n].limit - use[n] for n in tree.chain(name)
                             if tree.tenants[n].limit is not None])

    while True:
        order = sorted(queues, key=lambda name: (Fraction(use[name], tree.tenants[name].weight), name.encode()))
        given = next((row for name in order for row in queues[name] if jobs[row].gpus <= room(name)), None)
        if given is None:
            return chosen
        chosen.add(given)
        free -= jobs[given].gpus
        queues[jobs[given].tenant].remove(given)
        for name in tree.chain(jobs[given].tenant):
            use[name] += jobs[given].gpus


AT_EVENTS = {"fifo": blocking, "skip": skipping, "sjf": blocking, "easy": easy}
IN_ROUNDS = {"las": round_by(lambda pool, row: pool.jobs[row].gpus * pool.progress(row)),
             "srpt": round_by(lambda pool, row: pool.jobs[row].duration_s - pool.progress(row)),
             "fair": round_fair}
RULED = tuple(AT_EVENTS) + tuple(IN_ROUNDS)


def waiting_key(policy: str, job: Job) -> tuple:
    return (-job.priority, job.duration_s if policy == "sjf" else 0, job.submit_s, job.row)


class EndlessError(Exception):
    """The rounds repeat themselves: what a round makes is lost to checkpoints again and again."""


def decide_round(pool: Pool, policy: str, unfinished: Iterable[int], seen: set[tuple]) -> None:
    """`seen`: the states, since the last arrival or finish, in which somebody was preempted."""
    chosen = IN_ROUNDS[policy](pool, unfinished)
    leaving = set(pool.started) - chosen
    if leaving:
        state = (tuple(sorted((row, pool.now - start) for row, start in pool.started.items())),
                 tuple((row, pool.kept[row]) for row in sorted(unfinished)))
        if state in seen:
            raise EndlessError(f"{policy} never ends: at {pool.now} all is as it was some rounds ago")
        seen.add(state)
    for row in sorted(leaving):
        pool.preempt(row)
    for row in sorted(chosen - set(pool.started)):
        pool.start(row)


def lines_of(policy: str, jobs: list[Job], tree: Tree, options: Options) -> list[Line]:
    """The log of one policy: at one instant finishes, then preempts, then starts."""
    pool = Pool(jobs, tree, options)
    arrivals = sorted(jobs, key=lambda job: (job.submit_s, job.row))
    finished: dict[tuple[str, int], list[int]] = defaultdict(list)   # durations by tenant and size
    waiting: list[tuple] = []    # keys, in order; used by the policies without rounds
    unfinished: set[int] = set()
    is_rounds = policy in IN_ROUNDS
    seen: set[tuple] = set()
    arrived = 0
    while arrived < len(jobs) or unfinished:
        times = [arrivals[arrived].submit_s] if arrived < len(jobs) else []
        times += [end for end in [pool.next_end()] if end is not None]
        if is_rounds and unfinished:
            times.append((pool.now // options.round_seconds + 1) * options.round_seconds)
        pool.now = min(times)
        for row in pool.finish_due():
            unfinished.remove(row)
            seen.clear()
            finished[jobs[row].tenant, jobs[row].gpus].append(jobs[row].duration_s)
        while arrived < len(jobs) and arrivals[arrived].submit_s == pool.now:
            job = arrivals[arrived]
            arrived += 1
            unfinished.add(job.row)
            seen.clear()
            if job.estimate_s is None:
                pool.estimate[job.row] = learned_estimate(finished[job.tenant, job.gpus])
            if not is_rounds:
                insort(waiting, waiting_key(policy, job))
        if is_rounds:
            if pool.now % options.round_seconds == 0:
                decide_round(pool, policy, unfinished, seen)
        elif waiting and pool.free:
            starting = AT_EVENTS[policy](pool, [key[-1] for key in waiting])
            for row in starting:
                pool.start(row)
            gone = set(starting)
            waiting = [key for key in waiting if key[-1] not in gone] if gone else waiting
    return pool.lines


def completion_sum(jobs: list[Job], lines: list[Line]) -> int:
    return sum(second - jobs[row].submit_s for second, kind, row in lines if kind == "finish")


def add_world(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trace", required=True)
    parser.add_argument("--trace-format", required=True, choices=("own", "philly", "shockwave"))
    parser.add_argument("--gpus", required=True, type=int)
    parser.add_argument("--tenants")
    for name, default in Options._field_defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=default)


def options_of(arguments: argparse.Namespace) -> Options:
    return Options(**{name: getattr(arguments, name) for name in Options._fields})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_world(parser)
    parser.add_argument("--policies", default=",".join(RULED))
    parser.add_argument("--sums", action="store_true")
    arguments = parser.parse_args()
    try:
        jobs, tree = sched_input.load(arguments.trace, arguments.trace_format, arguments.tenants, arguments.gpus)
    except (OSError, sched_input.InputError) as error:
        print(error, file=sys.stderr)
        return 2
    for policy in arguments.policies.split(","):
        lines = lines_of(policy, jobs, tree, options_of(arguments))
        if arguments.sums:
            print(policy, completion_sum(jobs, lines), flush=True)
            continue
        for second, kind, row in lines:
            line = {"policy": policy, "t_s": second, "type": kind, "job": jobs[row].name}
            if kind == "preempt":
                line |= {"for": None, "reason": "round"}
            print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
