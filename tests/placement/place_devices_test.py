#!/usr/bin/env python3
"""The checker's table of profiles and its rules of legal places: counts of docs/explanation/geometry.md, cases by hand.

Exit 0: all hold.
"""

import sys

from place_devices import DEVICES, Profile, device_named
from place_lists import Node
from place_state import NodeState, Slice

PLAIN_SIZES = ("1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")


def states(model: str, names: tuple[str, ...] = ()) -> int:
    """How many legal states a GPU has with these profiles, or with all of them."""
    device = device_named(model)
    profiles = [profile for profile in device.profiles if not names or profile.name in names]
    places = [(profile, start) for profile in profiles for start in profile.starts]
    return count(NodeState(Node(0, "n", 1, 1, 1, model, device)), places)


def count(node: NodeState, places: list[tuple[Profile, int]]) -> int:
    """The state of the node, and all that it becomes by adding some of the places in their order."""
    found = 1
    for index, (profile, start) in enumerate(places):
        if node.clash(0, profile, (start,)) is None:
            node.slices[0].append(Slice(profile, start))
            found += count(node, places[index + 1:])
            node.slices[0].pop()
    return found


def same(found: object, wanted: object) -> None:
    assert found == wanted, f"wanted {wanted}, found {found}"


def test_counts_of_states() -> None:
    same(states("A100-40GB", PLAIN_SIZES), 298)
    same(states("A100-40GB", (*PLAIN_SIZES, "1g.10gb")), 723)
    same(states("A30", ("1g.6gb", "2g.12gb", "4g.24gb")), 26)
    same(states("A30"), 76)
    same(states("RTX", ("1g.24gb", "2g.48gb", "4g.96gb")), 26)
    same(states("RTX"), 1009)
    for model, device in DEVICES.items():
        if device.units == 8:
            same(states(model), 2319)


def test_profiles() -> None:
    a100 = device_named("A100-40GB")
    same(a100.profile("1g.10gb"), Profile("1g.10gb", 2, (0, 2, 4, 6), 4, 1, False, False))
    same(a100.profile("1g.5gb+me"), Profile("1g.5gb+me", 1, (0, 1, 2, 3, 4, 5, 6), 1, 1, False, True))
    same(device_named("GB200").profile("3g.93gb"), Profile("3g.93gb", 4, (0, 4), 2, 3, True, False))
    rtx = device_named("RTX")
    same(rtx.profile("2g.48gb+me.all"), Profile("2g.48gb+me.all", 6, (0, 6), 1, 2, False, True))
    same(rtx.profile("1g.24gb-me"), Profile("1g.24gb-me", 3, (0, 3, 6, 9), 4, 1, False, False))
    same([device.units for device in (a100, device_named("A30"), rtx)], [8, 4, 12])


def test_default_profiles() -> None:
    for model, milli, name in [
        ("A100-40GB", 1, "1g.5gb"), ("A100-40GB", 125, "1g.5gb"), ("A100-40GB", 126, "2g.10gb"),
        ("A100-40GB", 251, "3g.20gb"), ("A100-40GB", 500, "3g.20gb"), ("A100-40GB", 501, "7g.40gb"),
        ("A30", 250, "1g.6gb"), ("A30", 251, "2g.12gb"), ("A30", 501, "4g.24gb"),
        ("RTX", 250, "1g.24gb"), ("RTX", 251, "2g.48gb"), ("RTX", 999, "4g.96gb"),
    ]:
        same(device_named(model).default_profile(milli).name, name)


def test_names() -> None:
    same(device_named("H100-80GB").model, "H100-80GB-SXM5")
    for name in ("T4-16GB", "A100", "A100-40GBx", "T"):
        try:
            device_named(name)
        except ValueError:
            continue
        raise AssertionError(f"{name} is a GPU that can be cut")


def main() -> int:
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
