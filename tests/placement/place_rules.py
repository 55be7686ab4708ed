"""The rules of `berth place` that the node order and the arrivals determine: brute force over the nodes in node order.

Without slices: dot-product, best-fit, packing, clustering, fgd; with slices: first, best. Whole numbers throughout;
only the score of fgd goes through math.exp, as docs/reference/scheduling.md writes it.
"""

import math
from collections import Counter
from functools import lru_cache
from typing import Callable, NamedTuple

from place_devices import WHOLE_MILLI
from place_lists import Pod, accepts
from place_state import Fleet, NodeState, Place, View, is_shared

RULES = ("dot-product", "best-fit", "packing", "clustering", "fgd")
RULES_SLICES = ("first", "best")
TYPICAL_SHARE_PERCENT = 95


class Shape(NamedTuple):
    """What the scores see of a pod."""
    cpu_milli: int
    milli: int
    gpus: int
    spec: str


def shape_of(pod: Pod) -> Shape:
    return Shape(pod.cpu_milli, pod.milli, pod.gpus, pod.spec)


class Typical:
    """The typical pods of a list: groups with their counts, and S, the sum of the counts."""

    def __init__(self, pods: list[Pod]) -> None:
        counts = Counter(shape_of(pod) for pod in pods)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0][:3], item[0].spec.encode()))
        self.groups: list[tuple[Shape, int]] = []
        self.total = 0
        for shape, count in ordered:
            if 100 * self.total >= TYPICAL_SHARE_PERCENT * len(pods):
                break
            self.groups.append((shape, count))
            self.total += count
        self.fragmentation = lru_cache(maxsize=1 << 20)(self.fragmentation_of)

    def fragmentation_of(self, model: str, cpu_milli: int, free: tuple[int, ...]) -> int:
        """F: the milli that typical pods cannot use here, weighted with their counts."""
        total_free = sum(free)
        result = 0
        for shape, count in self.groups:
            large_enough = sum(milli >= shape.milli for milli in free)
            if (shape.gpus == 0 or not accepts(shape.spec, model) or cpu_milli < shape.cpu_milli
                    or large_enough < shape.gpus):
                result += count * total_free
            else:
                result += count * sum(milli for milli in free if milli < shape.milli)
        return result


class Option(NamedTuple):
    score: int
    gpus: tuple[int, ...]


def least_free(view: View, shape: Shape) -> tuple[int, ...]:
    """GPUs with gpu_milli free in order of least free, ties lowest, until num_gpu."""
    fitting = [gpu for gpu, free in enumerate(view.free) if free >= shape.milli]
    return tuple(sorted(fitting, key=lambda gpu: (view.free[gpu], gpu))[:shape.gpus])


def dot_product(view: View, shape: Shape) -> Option:
    free, wanted = sum(view.free), shape.gpus * shape.milli
    score = (32768000000 - view.cpu_milli * shape.cpu_milli - 256 * free * wanted) // 327680000
    return Option(score, least_free(view, shape))


def best_fit(view: View, shape: Shape) -> Option:
    """v; it becomes a score when the smallest and the largest one are known."""
    free, wanted = sum(view.free), shape.gpus * shape.milli
    value = (256000 - (view.cpu_milli - shape.cpu_milli) - 16 * (free - wanted)) // 2560
    return Option(value, least_free(view, shape))


def packing(view: View, shape: Shape) -> Option:
    gpus = least_free(view, shape)
    if shape.gpus == 0:
        return Option(0, ())
    if all(free == WHOLE_MILLI for free in view.free):
        return Option(max(33 - len(view.free), len(view.free)), gpus)
    whole_count = sum(view.free[gpu] == WHOLE_MILLI for gpu in gpus)
    if whole_count:
        return Option(max(50 - whole_count, 33), gpus)
    return Option(max(100 - sum(view.free[gpu] // 10 for gpu in gpus) // 10, 50), gpus)


def clustering(view: View, shape: Shape) -> Option:
    if shape.gpus == 0:
        return Option(0, ())
    base = 25 * (8000 - sum(view.free)) // 8000
    own: str | int = "shared" if shape.milli < WHOLE_MILLI else shape.gpus
    if not view.classes:
        bonus = 25
    elif own not in view.classes:
        bonus = 0
    else:
        bonus = 75 if len(view.classes) == 1 else 50
    return Option(base + bonus, least_free(view, shape))


def fgd_with(typical: Typical) -> Callable[[View, Shape], Option]:
    def fgd(view: View, shape: Shape) -> Option:
        before = typical.fragmentation(view.model, view.cpu_milli, view.free)
        if shape.gpus == 1:
            choices = [(gpu,) for gpu, free in enumerate(view.free) if free >= shape.milli]
        else:
            choices = [least_free(view, shape)]
        best = None
        for gpus in choices if shape.milli < WHOLE_MILLI else choices[:1]:
            free = tuple(milli - (shape.milli if gpu in gpus else 0) for gpu, milli in enumerate(view.free))
            after = typical.fragmentation(view.model, view.cpu_milli - shape.cpu_milli, free)
            score = math.trunc(100 / (1 + math.exp(-(before - after) / (1000 * typical.total))))
            if best is None or score > best.score:
                best = Option(score, gpus)
        return best
    return fgd


class Rules:
    """Decides one pod by one policy on the tracked state."""

    def __init__(self, policy: str, typical: Typical) -> None:
        self.policy = policy
        score = {"dot-product": dot_product, "best-fit": best_fit, "packing": packing, "clustering": clustering,
                 "fgd": fgd_with(typical)}.get(policy)
        self.score = lru_cache(maxsize=1 << 20)(score) if score else None

    def decide(self, fleet: Fleet, order: list[int], pod: Pod) -> Place | None:
        """The place of the pod, or nothing where it fits nowhere."""
        if self.policy in RULES_SLICES:
            return self.decide_with_slices(fleet, order, pod)
        options = [(row, self.option(fleet.states[row], pod)) for row in order if can_hold(fleet.states[row], pod)]
        if not options:
            return None
        if self.policy == "best-fit":
            options = in_percent(options)
        row, option = max(options, key=lambda item: item[1].score)   # max keeps the first of equals
        return Place(row, option.gpus)

    def option(self, state: NodeState, pod: Pod) -> Option:
        return self.score(state.view(), shape_of(pod))

    def decide_with_slices(self, fleet: Fleet, order: list[int], pod: Pod) -> Place | None:
        found = fleet.first_fitting(pod)
        if found is None:
            return None
        wanted = found[0]
        states = [fleet.states[row] for row in order]
        places = (place for state in states if state.has_room(pod) for place in state.places(pod, wanted))
        if self.policy == "best" and (wanted is not None or is_shared(pod)):
            return min(places, key=lambda place: fleet.states[place.node].units_free(place.gpus[0]))
        return next(places)


def in_percent(options: list[tuple[int, Option]]) -> list[tuple[int, Option]]:
    """The last step of best-fit."""
    least, most = min(option.score for _, option in options), max(option.score for _, option in options)
    width = most - least
    return [(row, Option((option.score - least) * 100 // width if width else 0, option.gpus))
            for row, option in options]


def can_hold(state: NodeState, pod: Pod) -> bool:
    """Whether the pod fits on a node whose GPUs cannot be cut."""
    if pod.alternatives or not state.has_room(pod):
        return False
    if pod.gpus == 0:
        return True
    return sum(free >= pod.milli for free in state.free) >= pod.gpus
