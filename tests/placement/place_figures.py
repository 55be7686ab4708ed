"""Figures of `berth place`, from the tracked state after each arrival, and their comparison with the JSON answer."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Iterator

from place_arrivals import Question
from place_rules import Typical
from place_state import Fleet

TOLERANCE = 1e-6
FIGURES = ("allocated_percent_at_100", "allocated_percent_at_130", "allocated_percent_churn", "fragmented_percent",
           "failed")
FIGURES_SLICES = ("units_percent_at_130", "units_percent_churn")


@dataclass
class Arrivals:
    """Demand, allocation and taken milli behind each arrival."""
    demand_percent: list[int] = field(default_factory=list)
    asked_milli: list[int] = field(default_factory=list)
    taken_milli: list[int] = field(default_factory=list)
    demand_milli: int = 0

    def add(self, count: int, milli: int, fleet: Fleet, capacity: int) -> None:
        """`count` arrivals of one moment that ask for `milli` together."""
        self.demand_milli += milli
        percent = (200 * self.demand_milli + capacity) // (2 * capacity)   # half up
        self.demand_percent += [percent] * count
        self.asked_milli += [fleet.asked_milli] * count
        self.taken_milli += [fleet.taken_milli] * count


def mean_percent(milli: list[int], capacity: int) -> Fraction | None:
    return Fraction(100 * sum(milli), capacity * len(milli)) if milli else None


def figures_of(question: Question, arrivals: Arrivals, fleet: Fleet, typical: Typical, failed: int,
               moved: int) -> dict[str, Fraction | None]:
    """Every figure of a run; None where there is none."""
    capacity = question.capacity
    figures: dict[str, Fraction | None] = dict.fromkeys(FIGURES + FIGURES_SLICES)
    if question.has_churn:
        first = math.ceil(2 * question.lifetime_mean)
        figures["allocated_percent_churn"] = mean_percent(arrivals.asked_milli[first:], capacity)
        figures["units_percent_churn"] = mean_percent(arrivals.taken_milli[first:], capacity)
    else:
        for level in (100, 130):
            at = [i for i, percent in enumerate(arrivals.demand_percent) if percent == level]
            asked = [arrivals.asked_milli[i] for i in at]
            figures[f"allocated_percent_at_{level}"] = mean_percent(asked, capacity)
            if level == 130:
                figures["units_percent_at_130"] = mean_percent([arrivals.taken_milli[i] for i in at], capacity)
    figures["failed"] = Fraction(failed)
    if question.has_slices:
        figures["moves"] = Fraction(moved)
        return figures
    for name in FIGURES_SLICES:
        figures[name] = None
    total = sum(typical.fragmentation(state.node.model, state.cpu_milli, tuple(state.free))
                for state in fleet.states.values())
    figures["fragmented_percent"] = Fraction(100 * total, typical.total * capacity)
    return figures


def mean_and_sd(values: list[Fraction | None]) -> tuple[float | None, float | None]:
    """Over the seeds that have the figure; sd (n - 1) of at least two."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    mean = sum(known) / len(known)
    if len(known) < 2:
        return float(mean), None
    return float(mean), math.sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))


def is_near(found: Any, wanted: float | None) -> bool:
    if wanted is None or found is None:
        return found is None and wanted is None
    return isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found - wanted) <= TOLERANCE


def figure_problems(policy: dict, name: str, values: list[Fraction | None]) -> Iterator[str]:
    mean, sd = mean_and_sd(values)
    found = policy.get(name)
    if found is None or (mean is None and found == {"mean": None, "sd": None}):
        if mean is not None:
            yield f"{name}: wanted the mean {mean}, found none"
    elif not isinstance(found, dict) or set(found) != {"mean", "sd"}:
        yield f"{name}: wanted mean and sd, found {found}"
    elif not is_near(found["mean"], mean) or not is_near(found["sd"], sd):
        yield f"{name}: wanted mean {mean}, sd {sd}, found {found}"


def policy_problems(question: Question, policy: dict, figures: list[dict[str, Fraction | None]],
                    has_timings: bool) -> Iterator[str]:
    """`figures`: those of each seed of the policy."""
    for name in FIGURES:
        if name not in policy:
            yield f"{name}: missing"
        yield from figure_problems(policy, name, [figure[name] for figure in figures])
    if question.has_slices:
        for name in FIGURES_SLICES:
            yield from figure_problems(policy, name, [figure[name] for figure in figures])
    moved = [figure.get("moves") for figure in figures]
    if isinstance(policy.get("moves"), int):
        if policy["moves"] != sum(value or 0 for value in moved):
            yield f"moves: wanted {sum(value or 0 for value in moved)}, found {policy['moves']}"
    elif policy.get("moves") is not None or any(moved):
        yield from figure_problems(policy, "moves", moved)
    if "decision_us" not in policy or (policy["decision_us"] is not None) != has_timings:
        yield f"decision_us: {policy.get('decision_us', 'missing')}"


def head_problems(question: Question, answer: dict, seeds: list[int]) -> Iterator[str]:
    wanted = {"berth": 1, "nodes": len(question.nodes), "gpus": sum(node.gpus for node in question.nodes),
              "pods": len(question.pods), "seeds": seeds, "order": "given" if question.is_given else "seeded"}
    for name, value in wanted.items():
        if answer.get(name) != value:
            yield f"{name}: wanted {value}, found {answer.get(name)}"
