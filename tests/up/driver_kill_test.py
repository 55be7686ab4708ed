#!/usr/bin/env python3
"""`berth up` and `berth hands` are killed at each point of a change of a simulated GPU: while each call that creates or
destroys is held, before it is carried out and after that. Afterwards the devices are as the API says, and nothing that
others have made is touched.

BERTH_POINT: only the points in whose name this is, such as create_gpu_instance-True-('hands',)."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "drivers"))
import local_up  # noqa: E402
import swarm  # noqa: E402
from machines import CALLS, Fleet  # noqa: E402
from running import new_rng, row_of, service_of  # noqa: E402

MODEL = "A100-80GB"
VICTIMS = (("up",), ("hands",), ("up", "hands"))
HELD_SECONDS = 20


def new_fleet():
    """Two GPUs of which the first one is listed, with three profiles for services."""
    fleet = Fleet(new_rng(0, "fleet"), [MODEL, MODEL])
    fleet.managed, fleet.ours = {0}, {MODEL: {"1g.10gb", "3g.40gb", "7g.80gb"}}
    return fleet


class Swaps:
    """One of two services, so that each swap destroys what the other one had, and creates its own."""

    def __init__(self, services):
        self.services, self.is_large = services, False

    def swap(self):
        """The other one."""
        self.is_large = not self.is_large
        gone, comes = ("small", "large") if self.is_large else ("large", "small")
        row = row_of(MODEL, "7g.80gb", 7) if self.is_large else row_of(MODEL, "3g.40gb", 3)
        self.services.send("DELETE", f"{self.services.TENANT}/services/{gone}")
        self.services.send("PUT", f"{self.services.TENANT}/services/{comes}", service_of([row], 60))


def play(is_at_socket):
    """The scene for all points."""
    def play_points(scene, _seed, folder):
        scene.running.start()
        scene.services.send("PUT", scene.services.TENANT, {})
        scene.others.create(1, scene.fleet.profiles[MODEL]["1g.10gb+me"], 3)
        swaps = Swaps(scene.services)
        swaps.swap()
        scene.settle()
        for call in CALLS:
            for is_after in (False, True):
                for victims in VICTIMS:
                    if os.environ.get("BERTH_POINT", "") not in f"{call}-{is_after}-{victims}":
                        continue
                    kill_at(scene, swaps, call, is_after, victims)
                    if scene.faults or scene.running.faults:
                        return
        scene.end(folder / "data")
    return play_points, {"at_socket": is_at_socket, "speed": 120}


def kill_at(scene, swaps, call, is_after, victims):
    """One point."""
    point = f"{call}, {'after' if is_after else 'before'} it is carried out, {' and '.join(victims)}"
    scene.troubles.tell(point)
    scene.troubles.hold(0, call, is_after)
    swaps.swap()
    if not scene.troubles.wait_for_held(0, HELD_SECONDS, change=lambda: None):
        scene.faults.append(f"{point}: there was no such call within {HELD_SECONDS} s")
        return
    for victim in victims:
        getattr(scene.running, f"kill_{victim}")()
    scene.troubles.do("fault", "--gpu", 0, "--clear")
    scene.troubles.end()
    scene.settle()
    scene.check()
    scene.faults = [f"{point}: {fault}" for fault in scene.faults]


class DriverKill(local_up.Case):
    def points(self, is_at_socket):
        play_points, options = play(is_at_socket)
        faults = swarm.run_seed(0, self.folder, play_points, fleet=new_fleet(), options=options)
        self.assertEqual(faults, [], (self.folder / "troubles").read_text())

    def test_hands_of_its_own(self):
        self.points(False)

    def test_hands_at_a_socket(self):
        self.points(True)


if __name__ == "__main__":
    swarm.require_all()
    unittest.main()
