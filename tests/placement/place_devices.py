"""The GPU models that can be cut, as docs/explanation/geometry.md describes them: profiles with lengths, legal starts and counts.

Names and compute slices are those of tests/oracle/gpu_models.py; all else follows from them and from the table here.
"""

import os
import re
import sys
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import gpu_models  # noqa: E402

WHOLE_MILLI = 1000
UNITS = {"A30-24GB": 4, "RTX-PRO-6000-Blackwell-96GB": 12}
UNITS_OF_OTHERS = 8
# Units of the GPU: compute slices of a profile: its length in units, and its legal starts.
SHAPES = {
    8: {1: (1, (0, 1, 2, 3, 4, 5, 6)), 2: (2, (0, 2, 4)), 3: (4, (0, 4)), 4: (4, (0,)), 7: (8, (0,))},
    4: {1: (1, (0, 1, 2, 3)), 2: (2, (0, 2)), 4: (4, (0,))},
    12: {1: (3, (0, 3, 6, 9)), 2: (6, (0, 6)), 4: (12, (0,))},
}
SHAPE_DOUBLE_MEMORY = 2, (0, 2, 4, 6)   # 1g with twice the memory, on GPUs of 8 units
WITH_EXTRA_MEDIA = ("+me", "+me.all")


class Profile(NamedTuple):
    """One kind of slice of a GPU model."""
    name: str
    size: int                 # placement units
    starts: tuple[int, ...]   # legal starts, ascending
    count_max: int
    compute_slices: int
    is_plain: bool            # no attributes
    has_extra_media: bool     # takes the extended or all media engines: one such slice a GPU, whatever its profile


class Device(NamedTuple):
    """A GPU model that can be cut."""
    model: str
    units: int
    profiles: tuple[Profile, ...]

    def profile(self, name: str) -> Profile | None:
        return next((profile for profile in self.profiles if profile.name == name), None)

    def default_profile(self, milli: int) -> Profile | None:
        """The smallest one without attributes that covers the milli; equal sizes: fewer compute slices."""
        enough = [p for p in self.profiles if p.is_plain and p.size * WHOLE_MILLI >= milli * self.units]
        return min(enough, key=lambda p: (p.size, p.compute_slices), default=None)


def memory_and_suffix(name: str) -> tuple[int, str]:
    """Of "1g.24gb+me": 24 and "+me"."""
    match = re.fullmatch(r"[0-9]+g\.([0-9]+)gb(.*)", name)
    return int(match[1]), match[2]


def profile_of(name: str, compute_slices: int, units: int, memory_of_1g: int) -> Profile:
    memory, suffix = memory_and_suffix(name)
    is_double = compute_slices == 1 and memory > memory_of_1g
    size, starts = SHAPE_DOUBLE_MEMORY if is_double else SHAPES[units][compute_slices]
    has_extra_media = suffix in WITH_EXTRA_MEDIA
    return Profile(name, size, starts, 1 if has_extra_media else len(starts), compute_slices,
                   not suffix and not is_double, has_extra_media)


def device_of(model: str, compute_slices: dict[str, int]) -> Device:
    units = UNITS.get(model, UNITS_OF_OTHERS)
    memory_of_1g = min(memory_and_suffix(name)[0] for name, slices in compute_slices.items() if slices == 1)
    profiles = (profile_of(name, slices, units, memory_of_1g) for name, slices in compute_slices.items())
    return Device(model, units, tuple(profiles))


DEVICES = {model: device_of(model, {name: slices for name, (_, slices) in profiles.items()})
           for model, (_, profiles) in gpu_models.CUT.items()}


def device_named(name: str) -> Device:
    """A model by its name or a unique prefix; ValueError where it is none that can be cut."""
    model = gpu_models.resolve(name)
    if model not in DEVICES:
        raise ValueError(f"wanted a GPU that can be cut, found {name!r}")
    return DEVICES[model]
