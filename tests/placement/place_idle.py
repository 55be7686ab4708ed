"""What keeps idle GPU capacity from being used, counted from the state at the end of a run (docs/reference/scheduling.md)."""

from collections import Counter
from typing import Iterator

from place_answer import Run
from place_devices import WHOLE_MILLI
from place_lists import Pod
from place_state import Fleet, NodeState, Place, is_shared, needed_slice, wanted_of

RESTS = ((100, "rest of 1–99 milli"), (250, "rest of 100–249 milli"), (500, "rest of 250–499 milli"),
         (WHOLE_MILLI, "rest of 500–999 milli"))


def idle_milli(state: NodeState, gpu: int) -> int:
    """Of a GPU with slices the share of its free units, rounded down."""
    if not state.slices[gpu]:
        return state.free[gpu]
    return state.units_free(gpu) * WHOLE_MILLI // state.node.device.units


def rest_of(milli: int) -> str:
    return next(name for limit, name in RESTS if milli < limit)


def takes_slice(pod: Pod, state: NodeState) -> bool:
    return state.node.device is not None and (bool(pod.alternatives) or is_shared(pod))


def slices_wanted(pod: Pod, state: NodeState) -> Iterator[tuple[int, object]]:
    for wanted in wanted_of(pod):
        count, profile = needed_slice(state.node.device, pod, wanted)
        if profile is not None:
            yield count, profile


def suits_model(pod: Pod, state: NodeState, empty: NodeState) -> bool:
    """gpu_spec, and an empty GPU of the model holds some alternative. CPU and memory apart."""
    if pod.spec and state.node.model not in pod.spec.split("|"):
        return False
    if takes_slice(pod, state):
        return any(empty.lowest_starts(0, profile, count) is not None for count, profile in slices_wanted(pod, state))
    return not pod.alternatives


def misfit(pod: Pod, state: NodeState, gpu: int, idle: int) -> str | None:
    if not takes_slice(pod, state):
        return None if idle >= pod.milli else rest_of(idle)
    slices = list(slices_wanted(pod, state))
    if any(state.lowest_starts(gpu, profile, count) is not None for count, profile in slices):
        return None
    if any(count * profile.size <= state.units_free(gpu) for count, profile in slices):
        return "no legal start"
    return rest_of(idle)


def causes_on(pod: Pod, state: NodeState, empty: NodeState) -> Counter[str]:
    """The idle milli of a node by what keeps the pod, its gang apart, from using them."""
    idle = {gpu: idle_milli(state, gpu) for gpu in range(state.node.gpus)}
    if not suits_model(pod, state, empty):
        return Counter({"wrong model": sum(idle.values())})
    causes: Counter[str] = Counter()
    suiting = []
    for gpu, milli in idle.items():
        if milli == 0:
            continue
        cause = misfit(pod, state, gpu, milli)
        if cause is None:
            suiting.append(milli)
        else:
            causes[cause] += milli
    if len(suiting) < pod.gpus:
        beside = "too few GPUs"
    elif pod.cpu_milli > state.cpu_milli:
        beside = "CPU used up"
    elif pod.memory_mib > state.memory_mib:
        beside = "memory used up"
    else:
        beside = "usable"
    causes[beside] += sum(suiting)
    return causes


def first_place(pod: Pod, states: list[NodeState]) -> Place | None:
    """The first node, GPU and start, for the first alternative that fits anywhere."""
    for wanted in wanted_of(pod):
        for state in states:
            place = next(state.places(pod, wanted), None) if state.has_room(pod) else None
            if place is not None:
                return place
    return None


def blocked_gangs(pods: list[Pod], fleet: Fleet, states: list[NodeState]) -> set[str]:
    """Gangs whose pods do not all fit, one after the other on the first node and GPU that they fit on."""
    gangs: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.gang:
            gangs.setdefault(pod.gang, []).append(pod)
    blocked = set()
    for gang, members in gangs.items():
        placed = []
        for pod in members:
            place = first_place(pod, states)
            if place is None:
                blocked.add(gang)
                break
            fleet.take(pod, place)
            placed.append((pod, place))
        for pod, place in reversed(placed):
            fleet.give_back(pod, place)
    return blocked


def idle_causes(pods: list[Pod], fleet: Fleet, run: Run) -> tuple[int, Counter[str]]:
    """All idle milli, and milli x rows by cause over the rows that ask for GPUs."""
    states = [fleet.states[row] for row in run.node_order]
    blocked = blocked_gangs(pods, fleet, states)
    idle = sum(idle_milli(state, gpu) for state in states for gpu in range(state.node.gpus))
    causes: Counter[str] = Counter()
    for state in states:
        empty = NodeState(state.node)
        for pod in pods:
            if pod.gpus == 0:
                continue
            found = causes_on(pod, state, empty)
            if pod.gang in blocked:
                found["gang does not fit"] = found.pop("usable", 0)
            causes += found
    return idle, causes
