"""Follows one run of a decisions file step by step: every place legal, nothing refused that fits, gangs, churn, moves.

A run stops at its first problem, because the state behind it is no longer that of the program.
"""

from typing import Iterable, NamedTuple

from place_answer import Decision, Leaves, Moves, Run
from place_arrivals import Question
from place_figures import Arrivals
from place_lists import Pod
from place_rules import RULES, RULES_SLICES, Rules, Typical
from place_state import Fleet, Place, wanted_of


class Wrong(Exception):
    """What a run breaks."""


class Held(NamedTuple):
    """A pod on a node; `wanted` is its alternative."""
    pod: Pod
    place: Place
    wanted: tuple[int, str] | None


class Group:
    """A gang, or one pod alone, while it is decided."""

    def __init__(self, rows: Iterable[int], is_gang: bool) -> None:
        self.rows = list(rows)
        self.is_gang = is_gang
        self.decisions: list[tuple[int, Decision]] = []

    @property
    def has_failed(self) -> bool:
        return any(decision.place is None for _, decision in self.decisions)


class Replay:
    """The state of a run, and what it counts."""

    def __init__(self, question: Question, run: Run, typical: Typical, rules_every: int = 0) -> None:
        self.question, self.run = question, run
        self.fleet = Fleet(question.nodes)
        self.rows = [decision.pod for decision in run.decisions]
        self.placed: dict[int, Held] = {}           # by decision; those that are there
        self.left: dict[int, int | None] = {}       # by decision placed: the arrival at which it left
        self.arrivals = Arrivals()
        self.failed = self.moved = self.count = self.checked = 0
        self.moved_now = 0                          # slices moved for the arrival that comes next
        self.group: Group | None = None
        self.rules_every = rules_every if run.policy in (RULES_SLICES if question.has_slices else RULES) else 0
        self.rules = Rules(run.policy, typical)

    def follow(self) -> None:
        for step in self.run.steps:
            try:
                if isinstance(step, Decision):
                    self.decide(step)
                elif isinstance(step, Leaves):
                    self.leave(step)
                else:
                    self.move(step)
            except Wrong as wrong:
                raise Wrong(f"decision {self.count}: {wrong}") from wrong
        if self.moved_now or (self.run.steps and isinstance(self.run.steps[-1], Leaves)):
            raise Wrong("the run ends with a departure or a move")

    # Departures and moves

    def leave(self, step: Leaves) -> None:
        if not self.question.has_churn:
            raise Wrong("a pod leaves without churn")
        if self.moved_now:
            raise Wrong("a pod leaves between moves and their decision")
        held = self.placed.pop(step.decision, None)
        if held is None:
            raise Wrong(f"{step.decision} leaves, but it is not there")
        self.left[step.decision] = self.count
        self.fleet.give_back(held.pod, held.place)

    def move(self, step: Moves) -> None:
        if not self.question.moves_max or self.run.policy != "berth":
            raise Wrong("a slice moves")
        if self.count >= len(self.rows):
            raise Wrong("a move without a decision behind it")
        pod = self.question.pods[self.rows[self.count]]
        if not self.moved_now and self.fleet.first_fitting(pod):
            raise Wrong(f"a slice moves although pod {pod.row} fits")
        held = self.placed.get(step.decision)
        if held is None or not held.place.profile:
            raise Wrong(f"{step.decision} moves, but it holds no slice")
        self.move_held(step, held)
        if self.moved_now > self.question.moves_max:
            raise Wrong(f"{self.moved_now} slices move")

    def move_held(self, step: Moves, held: Held) -> None:
        state = self.fleet.states.get(step.place.node)
        if state is None:
            raise Wrong(f"node {step.place.node} does not exist")
        self.fleet.give_back(held.pod, held.place)
        place = step.place._replace(profile=profile_behind_move(state, held, step.place))
        problem = state.problem(held.pod, place, held.wanted)
        if problem is not None:
            raise Wrong(f"{step.decision} moves: {problem}")
        moved = slices_moved(held.place, place)
        if not moved:
            raise Wrong(f"{step.decision} moves to where it is")
        self.fleet.take(held.pod, place)
        self.placed[step.decision] = held._replace(place=place)
        self.moved_now += moved
        self.moved += moved

    # Decisions

    def decide(self, decision: Decision) -> None:
        pod = self.question.pods[decision.pod]
        if self.group is None:
            self.group = self.group_of(pod)
        if not self.group.has_failed:
            self.compare_with_rule(pod, decision)
        if decision.place is not None:
            self.place(pod, decision)
        elif not self.group.has_failed:
            found = self.fleet.first_fitting(pod)
            if found is not None:
                raise Wrong(f"pod {pod.row} is refused, but it fits on node {found[1]}")
        if decision.place is None and self.moved_now:
            raise Wrong("slices move for a pod that is not placed")
        self.group.decisions.append((self.count, decision))
        self.count += 1
        self.moved_now = 0
        if len(self.group.decisions) == len(self.group.rows):
            self.close_group()

    def group_of(self, pod: Pod) -> Group:
        gang = self.question.gang_of(self.count, pod.row)
        if not gang:
            return Group([pod.row], False)
        base = range(self.count, min(len(self.rows), len(self.question.pods)))
        rows = [self.rows[i] for i in base if self.question.gang_of(i, self.rows[i]) == gang]
        return Group(rows, True)

    def place(self, pod: Pod, decision: Decision) -> None:
        if self.group.has_failed:
            raise Wrong(f"pod {pod.row} is placed behind the misfit of its gang")
        if decision.undone and not self.group.is_gang:
            raise Wrong("undone without a gang")
        place = decision.place
        state = self.fleet.states.get(place.node)
        if state is None:
            raise Wrong(f"node {place.node} does not exist or has no GPU")
        wanted = self.alternative(pod, place)
        problem = state.problem(pod, place, wanted)
        if problem is not None:
            raise Wrong(f"pod {pod.row} on node {place.node}: {problem}")
        self.fleet.take(pod, place)
        self.placed[self.count] = Held(pod, place, wanted)

    def alternative(self, pod: Pod, place: Place) -> tuple[int, str] | None:
        """The alternative that the place takes, which must be the first that fits anywhere."""
        found = self.fleet.first_fitting(pod) if len(pod.alternatives) > 1 else (wanted_of(pod)[0], place.node)
        if found is None:
            raise Wrong(f"pod {pod.row} is placed, but it fits nowhere")
        wanted = found[0]
        if wanted is not None and (len(place.starts), place.profile) != wanted:
            raise Wrong(f"pod {pod.row} takes {len(place.starts)} x {place.profile}; first of its alternatives that "
                        f"fits anywhere: {wanted[0]} x {wanted[1]}")
        return wanted

    def compare_with_rule(self, pod: Pod, decision: Decision) -> None:
        if not self.rules_every or self.count % self.rules_every:
            return
        self.checked += 1
        wanted = self.rules.decide(self.fleet, self.run.node_order, pod)
        if wanted != decision.place:
            raise Wrong(f"pod {pod.row}: the rule gives {text_of(wanted)}, found {text_of(decision.place)}")

    def close_group(self) -> None:
        group, self.group = self.group, None
        has_failed = group.has_failed
        for number, decision in group.decisions:
            if decision.place is not None and decision.undone != has_failed:
                raise Wrong(f"decision {number} of a gang: undone is {decision.undone}")
            if decision.place is not None and has_failed:
                held = self.placed.pop(number)
                self.fleet.give_back(held.pod, held.place)
            elif decision.place is not None:
                self.left[number] = None
        if has_failed:
            self.failed += len(group.rows)
        milli = sum(self.question.pods[row].total_milli for row in group.rows)
        self.arrivals.add(len(group.rows), milli, self.fleet, self.question.capacity)


def profile_behind_move(state, held: Held, place: Place) -> str | None:
    """A move names no profile: what was asked for stays, a default one is that of the new GPU."""
    if held.wanted is not None or state.node.device is None or not place.starts:
        return held.wanted[1] if held.wanted is not None else None
    profile = state.node.device.default_profile(held.pod.milli)
    return profile.name if profile else None


def slices_moved(old: Place, new: Place) -> int:
    if old[:2] != new[:2]:
        return len(old.starts)
    return len(set(old.starts) - set(new.starts))


def text_of(place: Place | None) -> str:
    if place is None:
        return "no place"
    piece = f", {place.profile} at {list(place.starts)}" if place.profile else ""
    return f"node {place.node}, GPUs {list(place.gpus)}{piece}"
