"""What an answer to `--why` or `--slot` must hold, from the log of the same run, the inputs and the rules alone.

What `berth` decides cannot be made again here: its numbers are checked, and its changes by whole runs
(sched_why_test.py).
"""

from collections import Counter
from functools import cached_property
from typing import Iterator, NamedTuple

from sched_input import ROUND_POLICIES, Tree
from sched_moment import OBEY_LIMITS, Change, Run, State, fewest_victims, fits, least, remaining, victims_of
from sched_rules import AT_EVENTS

KEYS = ["job", "policy", "as_of", "verdict", "dominant_reason", "message", "blockers", "ahead", "eta",
        "counterfactuals", "policy_version"]
CODES = ("limit", "order", "guarantee", "capacity", "round")


def named(run: Run, names: list[str]) -> list[int | None]:
    rows = {job.name: job.row for job in run.jobs}
    return [rows.get(name) for name in names]


def change_errors(question: "Question", answer: dict) -> Iterator[str]:
    """What is offered must be exactly what helps."""
    state, row, run, found = question.before, question.row, question.run, answer["counterfactuals"]
    is_between = run.policy in ROUND_POLICIES and question.now % run.options.round_seconds != 0
    if answer["verdict"] != "waiting" or is_between:
        if found:
            yield f"changes for a job that does not wait, or between rounds: {found}"
        return
    if any(list(one) != ["change", "where", "by", "jobs"] or type(one["by"]) is not int or one["by"] < 1
           or type(one["where"]) is not str for one in found):
        yield f"keys of {found}"
        return
    preempts = [one for one in found if one["change"] == "preempt"]
    plain = sorted((one["change"], one["where"], one["by"]) for one in found if one["change"] != "preempt")
    if any(one["jobs"] for one in found if one["change"] != "preempt"):
        yield f"jobs where none are preempted: {found}"
    yield from victim_errors(state, row, preempts)
    if run.policy == "berth":
        return
    if plain != question.least:
        yield f"changes: wanted {question.least}, found {plain}"
    if run.policy in AT_EVENTS:
        count = fewest_victims(state, row, preempts[0]["by"] - 1 if preempts else len(run.jobs))
        if count is not None:
            yield f"preempting {count} is enough, found {preempts}"


def victim_errors(state: State, row: int, preempts: list[dict]) -> Iterator[str]:
    run = state.run
    if len(preempts) > 1:
        yield f"preempt twice: {preempts}"
    for one in preempts:
        rows = named(run, one["jobs"])
        if one["where"] != "pool" or one["by"] != len(rows) or len(set(rows)) != len(rows):
            yield f"preempt: {one}"
        elif not set(rows) <= set(victims_of(state)) - {row}:
            yield f"preempt: not all of {one['jobs']} run and may be preempted"
        elif run.policy != "berth":
            if not state.starts(row, Change("preempt", "pool", len(rows), tuple(rows))):
                yield f"preempt: it does not start by {one}"
        elif not fits(state, row, set(rows)):
            yield f"preempt: what {one['jobs']} free is not enough"


# The answer to --why

def shape_errors(run: Run, row: int, now: int, answer: dict) -> Iterator[str]:
    if list(answer) != KEYS:
        yield f"keys {list(answer)}"
        return
    if (answer["job"], answer["policy"], answer["as_of"]) != (run.jobs[row].name, run.policy, now):
        yield "another question is answered"
    if not answer["message"] or "\n" in answer["message"] or type(answer["policy_version"]) is not str:
        yield f"message {answer['message']!r}, policy_version {answer['policy_version']!r}"
    if list(answer["ahead"]) != ["jobs", "gpu_hours"] or list(answer["eta"]) != ["p50", "p90", "method"]:
        yield f"keys of {answer['ahead']}, {answer['eta']}"


def verdict_of(state: State, row: int) -> tuple[str, ...]:
    """Those that may stand; `state` is behind the decisions."""
    run, now = state.run, state.pool.now
    if now < run.jobs[row].submit_s:
        return ("not_submitted",)
    if row not in state.unfinished:
        return ("finished",)
    if row in state.pool.started:
        return ("running",)
    if run.policy in AT_EVENTS:
        return ("startable" if state.starts(row, Change("gpus")) else "waiting",)
    without = set(victims_of(state)) if run.policy == "berth" else set()   # which it may preempt next
    return ("waiting", "startable") if fits(state, row, without) else ("waiting",)


class Reach(NamedTuple):
    """A job that may not be preempted and would put a guarantee out of reach."""
    room: int             # the most GPUs with which it would not
    beside: list[str]     # whose guarantee it may be
    is_binding: bool      # if they were guaranteed nothing it would not


def reach_of(state: State, row: int) -> Reach | None:
    run, job = state.run, state.run.jobs[row]
    if run.policy != "berth" or job.preemptible:
        return None
    fixed = Counter()
    for one in state.pool.started:
        fixed[run.jobs[one].tenant] += 0 if run.jobs[one].preemptible else run.jobs[one].gpus

    def reason(tree: Tree, gpus: int) -> str:
        return tree.out_of_reach(fixed + Counter({job.tenant: gpus}), run.options.gpus)
    if not reason(run.tree, job.gpus):
        return None
    beside = [tenant.name for tenant in run.tree.guaranteed_beside(job.tenant)]
    without = Tree({name: tenant if name not in beside else tenant._replace(guaranteed=0)
                    for name, tenant in run.tree.tenants.items()})
    room = max(gpus for gpus in range(job.gpus) if not reason(run.tree, gpus))
    return Reach(room, beside, not reason(without, job.gpus))


def guarantee_errors(state: State, row: int, found: list[tuple]) -> Iterator[str]:
    job, reach = state.run.jobs[row], reach_of(state, row)
    guarantees = [one for one in found if one[0] == "guarantee"]
    if reach and reach.is_binding and not guarantees:
        yield f"blockers: wanted a guarantee of {reach.beside}, found {found}"
    for _, needed, available, where in guarantees:
        kept = (job.gpus, 0)   # for the guarantee of one who waits
        others = ["pool", *(name for name in state.run.tree.tenants if name != job.tenant)]
        if reach:
            kept, others = (job.gpus, reach.room), reach.beside
        if (needed, available) != kept or where not in others or not reach and state.pool.free < job.gpus:
            yield f"blockers: wanted a guarantee of {others} for {kept}, found {found}"


def blocker_errors(state: State, row: int, answer: dict) -> Iterator[str]:
    run, pool, job = state.run, state.pool, state.run.jobs[row]
    found = [tuple(one.get(key) for key in ("code", "needed", "available", "where")) for one in answer["blockers"]]
    if any(list(one) != ["code", "needed", "available", "where"] for one in answer["blockers"]):
        yield f"keys of {answer['blockers']}"
    if bool(found) != (answer["verdict"] == "waiting"):
        yield f"{len(found)} blockers, {answer['verdict']}"
    if answer["dominant_reason"] != (found[0][0] if found else None) or any(one[0] not in CODES for one in found):
        yield f"dominant_reason {answer['dominant_reason']}, {found}"
    if answer["verdict"] != "waiting":
        return
    wanted = [("capacity", job.gpus, pool.free, "pool")] if pool.free < job.gpus else []
    if run.policy in OBEY_LIMITS:
        use = state.use(pool.started)
        left = {name: run.tree.tenants[name].limit - use[name] for name in run.tree.chain(job.tenant)
                if run.tree.tenants[name].limit is not None}
        wanted += [("limit", job.gpus, most, name) for name, most in left.items() if most < job.gpus]
    ahead = named(run, answer["ahead"]["jobs"])
    more = [one["by"] for one in answer["counterfactuals"] if one["change"] == "gpus"]   # checked by change_errors
    sizes = job.gpus + sum(run.jobs[one].gpus for one in ahead if one is not None)
    takes_first = job.gpus <= pool.free or not more or more[0] > job.gpus - pool.free
    if run.policy in AT_EVENTS and ahead and sizes > pool.free and takes_first:
        wanted.append(("order", sizes, pool.free, (answer["ahead"]["jobs"] + [None])[0]))
    may = ("guarantee", "order") if run.policy == "berth" else ()
    if any(needed <= available for code, needed, available, _ in found if code != "round"):
        yield f"blockers that do not block: {found}"
    rest = [one for one in found if one not in wanted and one[0] not in may + ("round",)]
    if rest or not set(wanted) <= set(found):
        yield f"blockers: wanted {wanted}, found {found}"
    yield from guarantee_errors(state, row, found)
    next_round = (pool.now // run.options.round_seconds + 1) * run.options.round_seconds
    for code, needed, available, where in found:
        if code == "round" and (needed, available, run.policy in ROUND_POLICIES) != (next_round, pool.now, True):
            yield f"blockers: the next round is at {next_round}, found {found}"
        if code == "order" and (available, where) != (pool.free, (answer["ahead"]["jobs"] + [None])[0]):
            yield f"blockers: {found}, ahead {answer['ahead']}"


def ahead_errors(state: State, row: int, answer: dict) -> Iterator[str]:
    run, pool, jobs = state.run, state.pool, state.run.jobs
    rows = named(run, answer["ahead"]["jobs"])
    if len(set(rows)) != len(rows) or not set(rows) <= set(state.waiting()) - {row}:
        yield f"ahead: not all wait: {answer['ahead']}"
        return
    keys = {"las": lambda one: jobs[one].gpus * pool.progress(one),
            "srpt": lambda one: jobs[one].duration_s - pool.progress(one),
            "sjf": lambda one: jobs[one].duration_s}
    if run.policy not in ("fair", "berth") and answer["verdict"] == "waiting":
        def key(one: int) -> tuple:
            return -jobs[one].priority, keys.get(run.policy, lambda _: 0)(one), jobs[one].submit_s, one
        wanted = sorted((one for one in state.waiting() if key(one) < key(row)), key=key)
        if rows != wanted:
            yield f"ahead: wanted {[jobs[one].name for one in wanted]}, found {answer['ahead']['jobs']}"
    known = run.policy != "berth" or all(jobs[one].estimate_s is not None for one in rows)
    if known and not any(pool.was_preempted[one] for one in rows):
        hours = sum(jobs[one].gpus * remaining(state, one) for one in rows) / 3600
        if abs(hours - answer["ahead"]["gpu_hours"]) > 1e-6 + 1e-9 * hours:
            yield f"ahead: wanted {hours} GPU-hours, found {answer['ahead']['gpu_hours']}"


def eta_errors(state: State, row: int, answer: dict) -> Iterator[str]:
    eta, now = answer["eta"], state.pool.now
    starts = [second for second, kind, one in state.run.lines if kind == "start" and one == row and second <= now]
    if answer["verdict"] == "not_submitted":
        return
    times = [eta["p50"], eta["p90"]]
    if times == [None, None] and answer["verdict"] == "waiting" and state.run.policy in ROUND_POLICIES:
        return   # rounds too many to foresee
    if any(type(second) is not int for second in times) or times != sorted(times):
        yield f"eta: {eta}"
    elif answer["verdict"] in ("running", "finished") and (times[0] not in starts or times[0] != times[1]):
        yield f"eta: it started at {starts}, found {eta}"
    elif answer["verdict"] in ("waiting", "startable") and times[0] <= now:
        yield f"eta: it does not start by {now}, found {eta}"


class Question:
    """A job at a second of a run; what answers must hold is worked out once."""

    def __init__(self, run: Run, row: int, now: int) -> None:
        self.run, self.row, self.now = run, row, now
        self.behind, self.before = State(run, now, True), State(run, now, False)
        self.verdicts = verdict_of(self.behind, row)

    @cached_property
    def least(self) -> list[tuple[str, str, int]]:
        return sorted((change.kind, change.where, change.by) for change in least(self.before, self.row))

    def errors(self, answer: dict) -> list[str]:
        errors = list(shape_errors(self.run, self.row, self.now, answer))
        if errors:
            return errors
        if answer["verdict"] not in self.verdicts:
            errors.append(f"verdict: wanted {self.verdicts}, found {answer['verdict']}")
        for check in (blocker_errors, ahead_errors, eta_errors):
            errors += check(self.behind, self.row, answer)
        return errors + list(change_errors(self, answer))


# The answer to --slot

class Wish(NamedTuple):
    gpus: int
    seconds: int
    before: int | None = None


def slot_start(run: Run, now: int, wish: Wish) -> int | None:
    """The first second at which so many GPUs are expected to be free, if over in time."""
    state = State(run, now, True)
    pool = state.pool
    ends = []
    for row, start in pool.started.items():
        progress = pool.progress(row)
        left = pool.estimate[row] - progress if pool.estimate[row] > progress else progress   # late: as long again
        ends.append((max(now, start + pool.pause[row]) + left, run.jobs[row].gpus))
    free, second = pool.free, now
    for end, gpus in sorted(ends):
        if free >= wish.gpus:
            break
        free, second = free + gpus, end
    is_late = wish.before is not None and second + wish.seconds > wish.before
    return None if free < wish.gpus or is_late else second


def slot_errors(run: Run, now: int, wish: Wish, answer: dict) -> list[str]:
    wanted = slot_start(run, now, wish)
    if list(answer) != ["start_s", "confidence"] or answer["start_s"] != wanted:
        return [f"slot: wanted {wanted}, found {answer}"]
    if wanted is None:
        return [] if answer["confidence"] is None else [f"slot: confidence of nothing: {answer}"]
    sure = answer["confidence"]
    return [] if 0 <= sure <= 1 and (wanted != now or sure == 1) else [f"slot: confidence {answer}"]


def is_slot_known(run: Run, now: int) -> bool:
    """Whether all expected ends follow from estimates in the file, or from the rule of `easy`."""
    running = State(run, now, True).pool.started
    return run.policy != "berth" or all(run.jobs[row].estimate_s is not None for row in running)
