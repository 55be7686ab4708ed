"""State of the nodes of `berth place` while pods come and go: what fits where, legal places, taking and giving back."""

from collections import Counter
from typing import Iterator, NamedTuple

from place_devices import WHOLE_MILLI, Device, Profile
from place_lists import Node, Pod, accepts

UNCUT_UNIT_MILLI = 125


class Place(NamedTuple):
    """Where a pod lies. With slices: the full name of the profile, and one start for each slice on the one GPU."""
    node: int
    gpus: tuple[int, ...]
    profile: str | None = None
    starts: tuple[int, ...] = ()


class Slice(NamedTuple):
    profile: Profile
    start: int


class View(NamedTuple):
    """What the rules without slices see of a node."""
    model: str
    cpu_milli: int
    free: tuple[int, ...]
    classes: frozenset[str | int]


def class_of(pod: Pod) -> str | int:
    return "shared" if pod.milli < WHOLE_MILLI else pod.gpus


def is_shared(pod: Pod) -> bool:
    return pod.gpus == 1 and pod.milli < WHOLE_MILLI


class NodeState:
    """Free CPU, memory and GPUs of one node."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.cpu_milli, self.memory_mib = node.cpu_milli, node.memory_mib
        self.free = [WHOLE_MILLI] * node.gpus                 # milli; of a GPU that holds slices unchanged
        self.slices: list[list[Slice]] = [[] for _ in range(node.gpus)]
        self.classes: Counter[str | int] = Counter()
        self.seen: View | None = None

    def view(self) -> View:
        if self.seen is None:
            self.seen = View(self.node.model, self.cpu_milli, tuple(self.free), frozenset(self.classes))
        return self.seen

    def has_room(self, pod: Pod) -> bool:
        """CPU, memory and model."""
        if pod.cpu_milli > self.cpu_milli or pod.memory_mib > self.memory_mib:
            return False
        return not pod.gpus or accepts(pod.spec, self.node.model)

    def is_whole(self, gpu: int) -> bool:
        return self.free[gpu] == WHOLE_MILLI and not self.slices[gpu]

    def units_free(self, gpu: int) -> int:
        if self.node.device is None:
            return self.free[gpu] // UNCUT_UNIT_MILLI
        if not self.free[gpu]:
            return 0
        return self.node.device.units - sum(piece.profile.size for piece in self.slices[gpu])

    def clash(self, gpu: int, profile: Profile, starts: tuple[int, ...]) -> str | None:
        """Why slices cannot lie at these starts, or nothing."""
        if not self.free[gpu]:
            return f"GPU {gpu} is taken as a whole"
        taken = {unit for piece in self.slices[gpu] for unit in range(piece.start, piece.start + piece.profile.size)}
        for start in starts:
            if start not in profile.starts:
                return f"{start} is no legal start of {profile.name}"
            units = set(range(start, start + profile.size))
            if units & taken:
                return f"{profile.name} at {start} overlaps a slice of GPU {gpu}"
            taken |= units
        of_profile = sum(piece.profile.name == profile.name for piece in self.slices[gpu])
        if of_profile + len(starts) > profile.count_max:
            return f"more than {profile.count_max} slices {profile.name} on GPU {gpu}"
        with_media = sum(piece.profile.has_extra_media for piece in self.slices[gpu])
        if profile.has_extra_media and with_media + len(starts) > 1:
            return f"more than one slice of GPU {gpu} takes the extended or all media engines"
        return None

    def lowest_starts(self, gpu: int, profile: Profile, count: int) -> tuple[int, ...] | None:
        """The lowest legal starts; slices of one size: taking the lowest leaves room for the most."""
        starts: tuple[int, ...] = ()
        for start in profile.starts:
            if len(starts) < count and self.clash(gpu, profile, (*starts, start)) is None:
                starts = (*starts, start)
        return starts if len(starts) == count else None

    def places(self, pod: Pod, wanted: tuple[int, str] | None) -> Iterator[Place]:
        """Where the pod may lie here: one GPU after another, slices at the lowest starts. CPU and memory apart."""
        device, row = self.node.device, self.node.row
        if pod.gpus == 0:
            yield Place(row, ())
        elif wanted is None and not is_shared(pod):
            whole = [gpu for gpu in range(self.node.gpus) if self.is_whole(gpu)]
            if len(whole) >= pod.gpus:
                yield Place(row, tuple(whole[:pod.gpus]))
        elif device is None:
            if wanted is None:
                yield from (Place(row, (gpu,)) for gpu, free in enumerate(self.free) if free >= pod.milli)
        else:
            count, profile = needed_slice(device, pod, wanted)
            for gpu in range(self.node.gpus if profile else 0):
                starts = self.lowest_starts(gpu, profile, count)
                if starts is not None:
                    yield Place(row, (gpu,), profile.name, starts)

    def fits(self, pod: Pod, wanted: tuple[int, str] | None) -> bool:
        return self.has_room(pod) and next(self.places(pod, wanted), None) is not None

    def problem(self, pod: Pod, place: Place, wanted: tuple[int, str] | None) -> str | None:
        """Why the pod cannot lie at the place, or nothing."""
        if not self.has_room(pod):
            return "the node's free CPU or memory is too little, or its model is not in gpu_spec"
        if len(place.gpus) != pod.gpus or not all(0 <= gpu < self.node.gpus for gpu in place.gpus):
            return f"wanted {pod.gpus} GPUs of the node, found {list(place.gpus)}"
        device = self.node.device
        if pod.gpus == 0 or device is None or (wanted is None and not is_shared(pod)):
            if place.profile or place.starts:
                return "a profile or start without a slice"
            if wanted is not None:
                return "a GPU that cannot be cut holds no profile"
            if place not in self.places(pod, None):
                return f"GPUs {list(place.gpus)} are not free, or not the first free ones in GPU order"
            return None
        count, profile = needed_slice(device, pod, wanted)
        if profile is None or place.profile != profile.name or len(place.starts) != count:
            return f"wanted {count} x {profile.name if profile else None}, found {place.profile} at {place.starts}"
        return self.clash(place.gpus[0], profile, place.starts)

    def take(self, pod: Pod, place: Place) -> None:
        self.change(pod, place, 1)

    def give_back(self, pod: Pod, place: Place) -> None:
        self.change(pod, place, -1)

    def change(self, pod: Pod, place: Place, sign: int) -> None:
        self.seen = None
        self.cpu_milli -= sign * pod.cpu_milli
        self.memory_mib -= sign * pod.memory_mib
        if pod.gpus:
            self.classes[class_of(pod)] += sign
            self.classes += Counter()   # drops what is zero
        if place.profile:
            profile = self.node.device.profile(place.profile)
            for start in place.starts:
                pieces, piece = self.slices[place.gpus[0]], Slice(profile, start)
                pieces.append(piece) if sign > 0 else pieces.remove(piece)
            return
        for gpu in place.gpus:
            self.free[gpu] -= sign * pod.milli

    def taken_milli(self, pod: Pod, place: Place) -> int:
        """What the pod keeps from others, in thousandths of a GPU: slices count with their size."""
        if not place.profile:
            return pod.total_milli
        size = self.node.device.profile(place.profile).size
        return WHOLE_MILLI * size * len(place.starts) // self.node.device.units


def needed_slice(device: Device, pod: Pod, wanted: tuple[int, str] | None) -> tuple[int, Profile | None]:
    if wanted is None:
        return 1, device.default_profile(pod.milli)
    return wanted[0], device.profile(wanted[1])


def wanted_of(pod: Pod) -> list[tuple[int, str] | None]:
    """The alternatives of the pod in order of preference; [None]: it names none."""
    return list(pod.alternatives) or [None]


class Fleet:
    """All nodes by row, and the sums over them."""

    def __init__(self, nodes: list[Node]) -> None:
        self.states = {node.row: NodeState(node) for node in nodes}
        self.asked_milli = 0
        self.taken_milli = 0
        self.releases = 0
        self.misfits: dict[tuple, int] = {}   # shape: releases when it was found to fit nowhere

    def take(self, pod: Pod, place: Place) -> None:
        state = self.states[place.node]
        self.asked_milli += pod.total_milli
        self.taken_milli += state.taken_milli(pod, place)
        state.take(pod, place)

    def give_back(self, pod: Pod, place: Place) -> None:
        state = self.states[place.node]
        self.asked_milli -= pod.total_milli
        self.taken_milli -= state.taken_milli(pod, place)
        self.releases += 1
        state.give_back(pod, place)

    def node_with_room(self, pod: Pod, wanted: tuple[int, str] | None) -> int | None:
        """A node that the pod fits on; a shape that fits nowhere is looked for again once something was given back."""
        shape = (pod[2:7], wanted)
        if self.misfits.get(shape) == self.releases:
            return None
        found = next((row for row, state in self.states.items() if state.fits(pod, wanted)), None)
        if found is None:
            self.misfits[shape] = self.releases
        return found

    def first_fitting(self, pod: Pod) -> tuple[tuple[int, str] | None, int] | None:
        """The first alternative that fits anywhere, with a node that has room for it."""
        for wanted in wanted_of(pod):
            row = self.node_with_room(pod, wanted)
            if row is not None:
                return wanted, row
        return None
