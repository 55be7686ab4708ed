"""Whether the arrivals and the node order of a run are those that docs/reference/scheduling.md allows."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Iterator

from place_answer import Run
from place_lists import Node, Pod, capacity_milli

DEVIATIONS_MAX = 6   # of the number of departures from the exponential law


@dataclass
class Question:
    """The inputs and options of one call."""
    nodes: list[Node]
    pods: list[Pod]
    demand: Fraction = Fraction(13, 10)
    is_given: bool = False
    has_churn: bool = False
    moves_max: int = 0

    @property
    def capacity(self) -> int:
        return capacity_milli(self.nodes)

    @property
    def limit(self) -> Fraction:
        return self.demand * self.capacity

    @property
    def listed_milli(self) -> int:
        return sum(pod.total_milli for pod in self.pods)

    @property
    def has_slices(self) -> bool:
        return any(node.device is not None for node in self.nodes)

    @property
    def lifetime_mean(self) -> Fraction:
        """M, in arrivals."""
        return self.limit * len(self.pods) / self.listed_milli

    @property
    def appends(self) -> bool:
        return not self.is_given and not self.has_churn and self.listed_milli <= self.limit

    def gang_of(self, decision: int, row: int) -> str:
        """The gang of an arrival; drawn ones have none."""
        if self.has_churn or decision >= len(self.pods):
            return ""
        return self.pods[row].gang


def gangs_together(rows: list[int], pods: list[Pod]) -> list[int]:
    """The arrivals of a shuffled list: each gang whole, in the file's order, where its first member arrives."""
    present, done, result = set(rows), set(), []
    for row in rows:
        if row in done:
            continue
        gang = pods[row].gang
        members = [row] if not gang else [pod.row for pod in pods if pod.gang == gang and pod.row in present]
        result += members
        done.update(members)
    return result


def arrival_problems(question: Question, rows: list[int]) -> Iterator[str]:
    pods = question.pods
    if any(row >= len(pods) for row in rows):
        yield "a pod that the list does not have"
        return
    if question.is_given:
        if rows != gangs_together([pod.row for pod in pods], pods):
            yield "given: the arrivals are not those of the file"
        return
    if question.has_churn:
        count = math.floor(5 * question.lifetime_mean)
        if len(rows) != count:
            yield f"churn: wanted {count} arrivals, found {len(rows)}"
        return
    listed = rows[:len(pods)]
    if len(set(listed)) != len(listed):
        yield "a pod arrives twice within the shuffled list"
    elif listed != gangs_together(listed, pods):
        yield "a gang is not decided together in the file's order"
    elif question.appends:
        yield from drawing_problems(question, rows)
    else:
        yield from removal_problems(question, rows)


def removal_problems(question: Question, rows: list[int]) -> Iterator[str]:
    demand = sum(question.pods[row].total_milli for row in rows)
    if len(rows) > len(question.pods):
        yield "pods are drawn although the list asks for more than the demand"
    if demand > question.limit:
        yield f"the arrivals ask for {demand} milli, more than {float(question.limit)}"
    present = set(rows)
    removed = [pod.total_milli for pod in question.pods if pod.row not in present]
    if not removed or demand + max(removed) <= question.limit:
        yield "more pods are removed than needed"


def drawing_problems(question: Question, rows: list[int]) -> Iterator[str]:
    pods = question.pods
    if len(rows) < len(pods):
        yield "a pod of the list does not arrive"
        return
    demand = question.listed_milli
    for row in rows[len(pods):]:
        if demand + pods[row].milli > question.limit:
            yield f"pod {row} is drawn behind the demand"
            return
        demand += pods[row].total_milli
    if demand + max(pod.milli for pod in pods) <= question.limit:
        yield "the drawing ends before the demand"


def order_problems(question: Question, run: Run) -> Iterator[str]:
    rows = [node.row for node in question.nodes]
    if sorted(run.node_order) != sorted(rows):
        yield "node_order is no permutation of the nodes with GPUs"
    elif question.is_given and run.node_order != rows:
        yield "given: node_order is not the file's"


def departure_problems(question: Question, placed: dict[int, int | None], arrivals: int) -> Iterator[str]:
    """`placed`: the time at which each placed decision leaves. Their number must be near what the law gives."""
    mean = float(question.lifetime_mean)
    shares = [-math.expm1(-max(arrivals - 1 - start, 0) / mean) for start in placed]
    expected, variance = sum(shares), sum(share * (1 - share) for share in shares)
    found = sum(time is not None for time in placed.values())
    if abs(found - expected) > DEVIATIONS_MAX * math.sqrt(variance) + 3:
        yield f"{found} departures, wanted about {expected:.1f}"
