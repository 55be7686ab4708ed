"""What `berth place` wrote: the decisions file as runs of steps, and the figures of the JSON answer."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from place_state import Place

POLICIES = ("random", "dot-product", "best-fit", "packing", "clustering", "fgd", "berth")
POLICIES_SLICES = ("first", "best", "berth")


class AnswerError(Exception):
    """A line that is none of those described."""


@dataclass
class Leaves:
    decision: int


@dataclass
class Moves:
    decision: int
    place: Place


@dataclass
class Decision:
    pod: int
    place: Place | None
    undone: bool


@dataclass
class Run:
    """One policy with one seed."""
    policy: str
    seed: int | None
    node_order: list[int]
    steps: list[Leaves | Moves | Decision] = field(default_factory=list)

    @property
    def decisions(self) -> list[Decision]:
        return [step for step in self.steps if isinstance(step, Decision)]

    @property
    def name(self) -> str:
        return f"{self.policy} seed {self.seed}"


def wanted(condition: bool, what: str) -> None:
    if not condition:
        raise AnswerError(f"wanted {what}")


def is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def counts_of(value: Any, what: str) -> tuple[int, ...]:
    value = [] if value is None else value
    wanted(isinstance(value, list) and all(is_count(item) for item in value), f"{what}: a list of counts")
    return tuple(value)


def place_of(line: dict, has_profile: bool) -> Place:
    starts = tuple(sorted(counts_of(line.get("start"), "start")))
    profile = line.get("profile") or None
    wanted(profile is None or isinstance(profile, str), "profile: a name")
    match = re.fullmatch(r"([0-9]+)x(.*)", profile or "")
    if match is not None:
        wanted(int(match[1]) == len(starts), f"{match[1]} starts")
        profile = match[2]
    wanted(not has_profile or (profile is not None) == bool(starts), "profile and start together")
    wanted("gpus" in line, "gpus")
    return Place(line["node"], counts_of(line["gpus"], "gpus"), profile, starts)


def step_of(line: dict) -> Leaves | Moves | Decision:
    if "leaves" in line:
        wanted(set(line) == {"leaves"} and is_count(line["leaves"]), "the number of a decision alone")
        return Leaves(line["leaves"])
    wanted("node" in line, "a node")
    if "moves" in line:
        wanted(set(line) <= {"moves", "node", "gpus", "start", "profile"} and is_count(line["moves"])
               and is_count(line["node"]), "moves, node, gpus, start")
        return Moves(line["moves"], place_of(line, has_profile=False))
    wanted(set(line) <= {"pod", "node", "gpus", "undone", "profile", "start"} and is_count(line.get("pod")),
           "pod, node, gpus, undone, profile, start")
    undone = line.get("undone", False)
    wanted(type(undone) is bool, "undone: true or left out")
    if line["node"] is None:
        wanted(not line.get("gpus") and not line.get("start") and not line.get("profile") and not undone,
               "no GPU, slice or undone where the pod failed")
        return Decision(line["pod"], None, False)
    wanted(is_count(line["node"]), "the row of a node")
    return Decision(line["pod"], place_of(line, has_profile=True), undone)


def read_decisions(file: str) -> list[Run]:
    runs: list[Run] = []
    with open(file, encoding="utf-8") as handle:
        for number, text in enumerate(handle, start=1):
            try:
                line = json.loads(text)
                wanted(isinstance(line, dict), "an object")
                if "policy" in line:
                    wanted(set(line) == {"policy", "seed", "node_order"}, "policy, seed, node_order")
                    wanted(isinstance(line["policy"], str), "the name of a policy")
                    wanted(line["seed"] is None or is_count(line["seed"]), "a seed or null")
                    runs.append(Run(line["policy"], line["seed"], list(counts_of(line["node_order"], "node_order"))))
                else:
                    wanted(bool(runs), "a policy first")
                    runs[-1].steps.append(step_of(line))
            except (ValueError, AnswerError) as error:
                raise AnswerError(f"{file}:{number}: {error}") from error
    return runs


def read_answer(file: str) -> dict:
    with open(file, encoding="utf-8") as handle:
        try:
            answer = json.load(handle)
        except ValueError as error:
            raise AnswerError(f"{file}: {error}") from error
    entries = answer.get("policies") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise AnswerError(f"{file}: wanted an object with policies")
    if not all(isinstance(entry.get("policy"), str) for entry in entries):
        raise AnswerError(f"{file}: wanted the name of each policy")
    return answer
