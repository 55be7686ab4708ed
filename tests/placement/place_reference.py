#!/usr/bin/env python3
"""Answers as `berth place` does, slowly: the determined rules are those of place_rules.py, `random` draws from Python's
generator, and `berth` stands for any legal policy (the last node that fits, the last GPU; it moves slices if it may).

    place_reference.py --nodes FILE --pods FILE --decisions OUT --json OUT [--seeds 42-51] [options of place_check.py]

With --order given all but `berth` must equal the program's answer; with seeds only the laws are the same.
"""

import itertools
import json
import math
import random
import sys
from typing import Iterator

import place_check
from place_arrivals import Question, gangs_together
from place_figures import FIGURES, FIGURES_SLICES, Arrivals, figures_of, mean_and_sd
from place_lists import ListError, Pod
from place_rules import RULES, RULES_SLICES, Rules, Typical
from place_state import Fleet, Place

Line = dict


def arrivals_of(question: Question, rng: random.Random) -> list[int]:
    """The arrivals of a seed, gangs together."""
    pods = question.pods
    if question.is_given:
        return gangs_together([pod.row for pod in pods], pods)
    if question.has_churn:
        return [rng.randrange(len(pods)) for _ in range(math.floor(5 * question.lifetime_mean))]
    rows = [pod.row for pod in sorted(pods, key=lambda pod: pod.name.encode())]
    rng.shuffle(rows)
    demand = question.listed_milli
    while demand > question.limit:
        demand -= pods[rows.pop(rng.randrange(len(rows)))].total_milli
    rows = gangs_together(rows, pods)
    while question.appends:
        pod = rng.choice(pods)
        if demand + pod.milli > question.limit:
            break
        demand += pod.total_milli
        rows.append(pod.row)
    return rows


def all_places(fleet: Fleet, order: list[int], pod: Pod) -> Iterator[Place]:
    found = fleet.first_fitting(pod)
    for row in order if found else []:
        if fleet.states[row].has_room(pod):
            yield from fleet.states[row].places(pod, found[0])


class Reference:
    """One run: a policy with a seed."""

    def __init__(self, question: Question, policy: str, typical: Typical, rng: random.Random, order: list[int]) -> None:
        self.question, self.policy, self.rng, self.order = question, policy, rng, order
        self.rules, self.typical = Rules(policy, typical), typical
        self.fleet, self.arrivals, self.lines = Fleet(question.nodes), Arrivals(), []
        self.placed: dict[int, tuple[Pod, Place, tuple | None]] = {}
        self.count = self.failed = self.moved = 0

    def decide(self, pod: Pod) -> Place | None:
        if self.policy in RULES + RULES_SLICES:
            return self.rules.decide(self.fleet, self.order, pod)
        places = list(all_places(self.fleet, self.order, pod))
        if self.policy == "random" and places:
            row = self.rng.choice(sorted({place.node for place in places}))
            return self.rng.choice([place for place in places if place.node == row])
        if not places and self.question.moves_max and self.move_for(pod, self.question.moves_max):
            places = list(all_places(self.fleet, self.order, pod))
        return places[-1] if places else None

    def move_for(self, pod: Pod, moves_left: int) -> bool:
        """Tries every sequence of moves, fewest first by depth; keeps the first that makes room."""
        for depth in range(1, moves_left + 1):
            lines = self.moves_to(pod, depth)
            if lines is not None:
                self.lines += lines
                self.moved += sum(len(line["start"]) or 1 for line in lines)
                return True
        return False

    def moves_to(self, pod: Pod, depth: int) -> list[Line] | None:
        for number, (held, old, wanted) in list(self.placed.items()):
            if not old.profile or len(old.starts) > depth:
                continue
            self.fleet.give_back(held, old)
            for new in self.targets(held, old, wanted):
                self.fleet.take(held, new)
                self.placed[number] = held, new, wanted
                rest = [] if self.fleet.first_fitting(pod) else None
                if rest is None and depth > len(old.starts):
                    rest = self.moves_to(pod, depth - len(old.starts))
                if rest is not None:
                    line = {"moves": number, "node": new.node, "gpus": list(new.gpus), "start": list(new.starts)}
                    return [line, *rest]
                self.fleet.give_back(held, new)
            self.placed[number] = held, old, wanted
            self.fleet.take(held, old)
        return None

    def targets(self, pod: Pod, old: Place, wanted: tuple | None) -> list[Place]:
        states = [self.fleet.states[row] for row in self.order]
        return [place for state in states if state.has_room(pod) for place in state.places(pod, wanted)
                if place.profile and place != old]

    def arrive(self, rows: list[int], is_gang: bool) -> None:
        """Decides a gang, or one pod."""
        lines, taken = [], []
        for row in rows:
            pod = self.question.pods[row]
            has_failed = bool(lines) and lines[-1]["node"] is None
            place = None if has_failed else self.decide(pod)
            line = {"pod": row, "node": None, "gpus": []}
            if place is not None:
                line |= {"node": place.node, "gpus": list(place.gpus)}
                if place.profile:
                    line |= {"profile": place.profile, "start": list(place.starts)}
                wanted = next((w for w in pod.alternatives if w == (len(place.starts), place.profile)), None)
                self.fleet.take(pod, place)
                self.placed[self.count + len(lines)] = pod, place, wanted
                taken.append(self.count + len(lines))
            lines.append(line)
            self.lines.append(line)
        if any(line["node"] is None for line in lines):
            self.failed += len(rows)
            for number, line in zip(taken, lines):
                line["undone"] = is_gang
                pod, place, _ = self.placed.pop(number)
                self.fleet.give_back(pod, place)
        self.count += len(rows)
        milli = sum(self.question.pods[row].total_milli for row in rows)
        self.arrivals.add(len(rows), milli, self.fleet, self.question.capacity)

    def follow(self, rows: list[int], lifetimes: list[int]) -> dict:
        leaving: dict[int, list[int]] = {}
        while self.count < len(rows):
            for number in leaving.pop(self.count, []):
                pod, place, _ = self.placed.pop(number)
                self.fleet.give_back(pod, place)
                self.lines.append({"leaves": number})
            gang = self.question.gang_of(self.count, rows[self.count])
            end = len(rows) if gang else self.count + 1
            members = [rows[i] for i in range(self.count, end) if self.question.gang_of(i, rows[i]) == gang]
            self.arrive(members, bool(gang))
            if lifetimes and self.count - 1 in self.placed:
                leaving.setdefault(self.count - 1 + lifetimes[self.count - 1], []).append(self.count - 1)
        return figures_of(self.question, self.arrivals, self.fleet, self.typical, self.failed, self.moved)


def answer_of(question: Question, seeds: list[int | None], policies: list[str]) -> tuple[list[Line], dict]:
    """The lines of the decisions file, and the JSON answer."""
    lines: list[Line] = []
    typical, entries = Typical(question.pods), []
    for policy in policies:
        figures = []
        for seed in seeds:
            rng = random.Random(seed or 0)
            order = [node.row for node in question.nodes]
            if not question.is_given:
                rng.shuffle(order)
            rows = arrivals_of(question, rng)
            mean = float(question.lifetime_mean) if question.has_churn else 0
            lifetimes = [max(1, math.ceil(rng.expovariate(1 / mean))) for _ in rows] if question.has_churn else []
            run = Reference(question, policy, typical, random.Random(f"{seed} {policy}"), order)
            figures.append(run.follow(rows, lifetimes))
            lines += [{"policy": policy, "seed": seed, "node_order": order}, *run.lines]
        entries.append({"policy": policy, **entry_of(question, figures), "decision_us": None})
    head = {"berth": 1, "nodes": len(question.nodes), "gpus": sum(node.gpus for node in question.nodes),
            "pods": len(question.pods), "seeds": [seed for seed in seeds if seed is not None],
            "order": "given" if question.is_given else "seeded"}
    return lines, {**head, "policies": entries}


def entry_of(question: Question, figures: list[dict]) -> dict:
    entry = {}
    for name in itertools.chain(FIGURES, (*FIGURES_SLICES, "moves") if question.has_slices else ()):
        mean, sd = mean_and_sd([figure[name] for figure in figures])
        entry[name] = None if mean is None else {"mean": round(mean, 9), "sd": None if sd is None else round(sd, 9)}
    return entry


def write(decisions: str, answer_file: str, lines: list[Line], answer: dict) -> None:
    with open(decisions, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with open(answer_file, "w", encoding="utf-8") as file:
        json.dump(answer, file)


def main() -> int:
    parser = place_check.parser_of(__doc__)
    options = parser.parse_args()
    try:
        question = place_check.question_from(options)
    except ListError as error:
        print(error, file=sys.stderr)
        return 2
    seeds = [None] if question.is_given else options.seeds or list(range(42, 52))
    policies = place_check.policies_of(question, options.policies or "all")
    write(options.decisions, options.json, *answer_of(question, seeds, policies))
    return 0


if __name__ == "__main__":
    sys.exit(main())
