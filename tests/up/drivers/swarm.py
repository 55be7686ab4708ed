"""Driver troubles, drawn from a seed: one machine, one `berth up` that changes its GPUs, random troubles and kills, and
then the question whether everything is as it must be.

The same seed draws the same troubles, not the same interleaving. A seed that fails keeps its folder: `troubles` is
what was done when, `data` is the server's, `data.stderr` and `hands.stderr` what it wrote, `machine` the state of the
devices."""

import itertools
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
for folder in ("drivers", "crash", "."):
    sys.path.insert(0, str(ROOT / "tests/up" / folder))

import checks  # noqa: E402
import local_up  # noqa: E402
from machines import Fleet, Others, new_machine  # noqa: E402
from running import Running, Services, is_hands, new_rng  # noqa: E402
from troubles import Troubles  # noqa: E402

SEED_SECONDS = 150  # in which a seed ends, whatever happens
QUIET_SECONDS = float(os.environ.get("BERTH_QUIET_SECONDS", "30"))  # after the last trouble
BATCH = 20  # seeds that are drawn at a time
QUIET_LOOKS = 3  # that find nothing, one after the other
SPEEDS = (20, 60, 120)


class Scene:
    """A machine with all that is on it."""

    def __init__(self, folder, seed, fleet=None, options=None):
        rng = new_rng(seed, "scene")
        self.fleet = fleet or Fleet(rng)
        self.machine = new_machine(folder, self.fleet, rng)
        os.environ["BERTH_NVML_SIM_STATE"] = str(self.machine.state)
        self.others = Others(self.fleet)
        self.foreign = checks.Foreign(self.fleet)
        uuids = self.machine.uuids()
        options = options or {"at_socket": rng.random() < 0.5, "speed": rng.choice(SPEEDS)}
        self.running = Running(folder, self.machine, [uuids[gpu] for gpu in sorted(self.fleet.managed)], options)
        self.services = Services(self.running, self.fleet, new_rng(seed, "services"))
        self.troubles = Troubles(self, new_rng(seed, "troubles"))
        self.faults = []

    def check(self):
        """What must hold at any time."""
        self.running.check()
        devices = self.machine.show()
        self.foreign.learn(devices)
        self.faults += self.foreign.faults(devices) + checks.call_faults(devices, self.fleet, self.others)
        if self.running.up is not None:
            self.faults += checks.overlap_faults(self.running.up.items("slices"), self.fleet)

    def wait_for_hands(self):
        """Until those of a `berth up` that was killed have ended."""
        for pid in self.running.started:
            local_up.wait_until(lambda pid=pid: not is_hands(pid), f"the end of the hands {pid}")

    def settle(self):
        """Waits until the devices are as the API says, and notes what is wrong if that does not come."""
        self.foreign.learn(self.machine.show())
        deadline, quiet, found = time.monotonic() + QUIET_SECONDS, 0, []
        while quiet < QUIET_LOOKS and time.monotonic() < deadline:
            self.open_repaired()
            found = checks.difference_faults(self.running.up, self.machine, self.fleet, self.foreign)
            quiet = 0 if found else quiet + 1
            time.sleep(0.1)
        if quiet < QUIET_LOOKS:
            self.faults += [f"after {QUIET_SECONDS} s: {fault}" for fault in found or ["it changes again and again"]]

    def open_repaired(self):
        """As an operator does after the repair: only that ends a cordon that errors led to."""
        for gpu in sorted(self.fleet.managed):
            said = self.running.up.gpu(gpu)
            if said["scheduling"] != "open" and (said["scheduling_reason"] or "").startswith("health:"):
                self.running.up.send("POST", f"v1/gpus/gpu-{gpu}/uncordon", {"reason": "repaired"})

    def end(self, data):
        """The checks of the end."""
        self.settle()
        self.check()
        self.faults += checks.history_faults(self.running.up) + checks.event_faults(self.running.up)
        self.running.end()
        self.faults += checks.journal_faults(data)

    def close(self):
        """Nothing is left running."""
        self.running.forget()
        self.others.close()


def play(scene, seed, folder):
    """The life of one seed."""
    rng = new_rng(seed, "play")
    scene.running.start()
    scene.services.begin()
    time.sleep(rng.uniform(0.1, 1.0))
    for _ in range(rng.randint(5, 12)):
        if rng.random() < 0.6:
            scene.services.change()
        scene.troubles.make()
        time.sleep(rng.choice((0, 0.05, 0.1, 0.3)))
        scene.check()
    scene.troubles.end()
    scene.end(folder / "data")


def note_alarm(_number, _frame):
    """Ends a seed that hangs."""
    raise TimeoutError(f"no end after {SEED_SECONDS} s")


def run_seed(seed, folder, play_scene=play, **scene_words):
    """What is wrong with a seed, in words; nothing if all is well."""
    signal.signal(signal.SIGALRM, note_alarm)
    signal.alarm(SEED_SECONDS)
    scene = Scene(folder, seed, **scene_words)
    try:
        play_scene(scene, seed, folder)
    except (Exception, TimeoutError):  # pylint: disable=broad-except
        scene.faults.append(traceback.format_exc())
    finally:
        signal.alarm(0)
        scene.close()
    faults = list(dict.fromkeys(scene.running.faults + scene.faults))
    ours = {model: sorted(names) for model, names in scene.fleet.ours.items()}
    told = [f"seed {seed}, fleet {scene.fleet.text()}, listed {sorted(scene.fleet.managed)}, services use {ours}, speed "
            f"{scene.running.speed}, hands {'at a socket' if scene.running.socket else 'of its own'}",
            *scene.troubles.told]
    (folder / "troubles").write_text("\n".join(told) + "\n")
    return faults


def try_seed(seed):
    """Runs a seed in a folder of its own, and keeps that if something is wrong: (seed, seconds, text)."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"berth-drivers-{seed}-"))
    faults = run_seed(seed, folder)
    if not faults:
        shutil.rmtree(folder)
        return seed, time.monotonic() - began, ""
    (folder / "faults").write_text("\n".join(faults) + "\n")
    told = (folder / "troubles").read_text()
    return seed, time.monotonic() - began, "\n".join([*faults, told, f"seed {seed}; kept: {folder}"])


def run_swarm(first, count, jobs, until=None):
    """Tries that many seeds, or as many as begin before that time, that many at once. Prints each that fails and a line
    at the end; how many failed."""
    tried, failed, slowest = 0, 0, (0, 0)
    seeds = itertools.takewhile(lambda _: until is None or time.monotonic() < until, range(first, first + count))
    with multiprocessing.Pool(jobs, maxtasksperchild=1) as pool:
        while batch := list(itertools.islice(seeds, BATCH)):
            for seed, seconds, text in pool.imap_unordered(try_seed, batch):
                tried, slowest = tried + 1, max(slowest, (seconds, seed))
                if text:
                    failed += 1
                    print(f"seed {seed} failed after {seconds:.1f} s\n{text}\n", flush=True)
    print(f"driver troubles: {tried} seeds from {first}, {failed} failed, the slowest took {slowest[0]:.1f} s "
          f"(seed {slowest[1]})", flush=True)
    return failed


def require_all():
    """Ends the process as skipped where the simulated library is not built, or its GPUs cannot be changed."""
    local_up.require_managing()
