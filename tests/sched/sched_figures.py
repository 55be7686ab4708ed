"""Every figure of a policy from its timeline, exact (whole numbers and fractions), and the comparison with the JSON."""

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Iterator

from sched_input import HINDSIGHT, Job, Options, Tree
from sched_replay import Timeline

SHORT_S = 60                       # durations below count as this in slowdown and rho
TOLERANCE = Fraction(1, 10**6)
DECIMALS_LEAST = 6
DECIMAL_KEYS = ("mean", "completion_mean", "utilisation")   # means and percentages


def bound_makespan(jobs: list[Job], gpus: int) -> int:
    work = sum(job.gpus * job.duration_s for job in jobs)
    return max(-(-work // gpus), max(job.submit_s + job.duration_s for job in jobs))


def nearest_rank(ordered: list, percent: int):
    return ordered[max(1, -(-len(ordered) * percent // 100)) - 1]


def summary(values: list[int]) -> dict:
    ordered = sorted(values)
    return {"sum": sum(values), "mean": Fraction(sum(values), len(values)), "p50": nearest_rank(ordered, 50),
            "p99": nearest_rank(ordered, 99), "max": ordered[-1]}


def rho_worst(timeline: Timeline, gpus: int) -> Fraction:
    """GPUs asked by submitted, unfinished jobs change at submits and finishes only; their integral is a sum."""
    jobs, finish = timeline.jobs, timeline.finish_s
    steps: Counter[int] = Counter()
    for job in jobs:
        steps[job.submit_s] += job.gpus
        steps[finish[job.row]] -= job.gpus
    integral, asked, area, last = {}, 0, 0, 0
    for second in sorted(steps):
        area += asked * (second - last)
        integral[second], last = area, second
        asked += steps[second]
    worst = Fraction(0)
    for job in jobs:
        end = finish[job.row]
        completion = end - job.submit_s
        mean_asked = Fraction(integral[end] - integral[job.submit_s], completion * gpus)
        worst = max(worst, completion / (max(job.duration_s, SHORT_S) * max(Fraction(1), mean_asked)))
    return worst


def tenant_figures(timeline: Timeline, tree: Tree) -> list[dict]:
    jobs = timeline.jobs
    count, completion, gpu_seconds = Counter(), Counter(), Counter()
    steps: dict[str, Counter[int]] = defaultdict(Counter)
    for job in jobs:
        count[job.tenant] += 1
        completion[job.tenant] += timeline.finish_s[job.row] - job.submit_s
    for segment in timeline.segments:
        job = jobs[segment.row]
        gpu_seconds[job.tenant] += job.gpus * (segment.end_s - segment.start_s)
        steps[job.tenant][segment.start_s] += job.gpus
        steps[job.tenant][segment.end_s] -= job.gpus
    return [{"tenant": name, "jobs": count[name], "gpu_seconds": gpu_seconds[name],
             "completion_mean": Fraction(completion[name], count[name]),
             "gpu_seconds_borrowed": area_above(steps[name], tree.guaranteed(name))}
            for name in sorted(count, key=str.encode)]


def area_above(steps: Counter, level: int) -> int:
    area, height, last = 0, 0, 0
    for second in sorted(steps):
        area += max(0, height - level) * (second - last)
        height += steps[second]
        last = second
    return area


def policy_figures(policy: str, timeline: Timeline, tree: Tree, options: Options) -> dict:
    jobs, finish = timeline.jobs, timeline.finish_s
    completion = [finish[job.row] - job.submit_s for job in jobs]
    slowdown = sorted(max(Fraction(1), Fraction(seconds, max(job.duration_s, SHORT_S)))
                      for seconds, job in zip(completion, jobs))
    makespan = max(finish.values())
    return {
        "policy": policy, "hindsight": policy in HINDSIGHT,
        "completion_seconds": summary(completion),
        "wait_seconds": summary([timeline.first_start_s[job.row] - job.submit_s for job in jobs]),
        "slowdown": {"mean": sum(slowdown) / len(jobs), "p99": nearest_rank(slowdown, 99)},
        "rho_worst": rho_worst(timeline, options.gpus), "makespan_seconds": makespan,
        "utilisation": Fraction(sum(job.gpus * job.duration_s for job in jobs), options.gpus * makespan),
        "preemptions": sum(len(instant.preempts) for instant in timeline.instants),
        "restart_gpu_seconds": sum(jobs[segment.row].gpus * segment.restart_s for segment in timeline.segments),
        "deadlines_missed": sum(job.deadline_s is not None and finish[job.row] > job.deadline_s for job in jobs),
        "tenants": tenant_figures(timeline, tree)}


def differences(wanted: object, found: object, where: str) -> Iterator[str]:
    """`found` is read with parse_float=Decimal. Further keys are no difference."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            yield f"{where}: wanted an object, found {found!r}"
            return
        for key, value in wanted.items():
            if key not in found:
                yield f"{where}.{key}: missing"
            else:
                yield from differences(value, found[key], f"{where}.{key}")
                if key in DECIMAL_KEYS and not has_decimals(found[key]):
                    yield f"{where}.{key}: wanted six decimals or more, found {found[key]}"
    elif isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            yield f"{where}: wanted a list of {len(wanted)}, found {found!r}"
            return
        for index, (one, other) in enumerate(zip(wanted, found)):
            yield from differences(one, other, f"{where}[{index}]")
    elif isinstance(wanted, Fraction):
        is_number = isinstance(found, (int, Decimal)) and not isinstance(found, bool)
        if not is_number or abs(Fraction(found) - wanted) > TOLERANCE:
            yield f"{where}: wanted {float(wanted):.7f}, found {found!r}"
    elif type(found) is not type(wanted) or found != wanted:
        yield f"{where}: wanted {wanted!r}, found {found!r}"


def has_decimals(number: object) -> bool:
    return not isinstance(number, Decimal) or -number.as_tuple().exponent >= DECIMALS_LEAST
