"""`berth up` and its hands on a simulated machine, killed and started again."""

import contextlib
import os
import random
import select
import signal
import subprocess
from pathlib import Path

from local_up import DEADLINE_SECONDS, LIBRARY, PROGRAM, Up, wait_until

READY_SECONDS = 30  # a start waits 10 s for a GPU that does not answer
HANDS_READY_SECONDS = 20


def is_hands(pid):
    """Whether a process is there, and one of `berth hands`."""
    with contextlib.suppress(OSError):
        return b"\0hands\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


class Running:
    """`berth up`, with hands of its own or with those at a socket. `faults`: what must not have happened to them."""

    def __init__(self, folder, machine, managed, options):
        self.folder, self.machine, self.faults = folder, machine, []
        self.socket = folder / "hands" if options.get("at_socket") else None
        self.speed = options.get("speed", 60)
        self.config = folder / "berth.yaml"
        self.config.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in managed) + "]\n")
        self.up, self.hands, self.started = None, None, []

    def start(self):
        """Both, as far as they do not run, once `berth up` answers."""
        if self.socket and (self.hands is None or self.hands.poll() is not None):
            self.start_hands()
        if self.up is not None:
            return
        words = ["--world", "local", "--nvml", LIBRARY, "--config", self.config, "--manage-gpus", "--load", "simulated",
                 "--speed", self.speed, *(["--hands", self.socket] if self.socket else [])]
        self.up = Up(self.folder / "data", words, self.machine.environment())
        if not self.is_told(self.up.process, READY_SECONDS):
            raise AssertionError(f"berth up did not become ready in {READY_SECONDS} s")
        self.up.ready()
        self.note_hands()

    def note_hands(self):
        """Those that `berth up` started, or started again when earlier ones had ended."""
        if self.socket or self.up is None:
            return
        pid = self.up.process.pid
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            self.started += [int(child) for child in children if int(child) not in self.started and is_hands(child)]

    def start_hands(self):
        """At the socket, once they listen there."""
        if self.hands:
            self.hands.stdout.close()
        with (self.folder / "hands.stderr").open("a") as errors:
            self.hands = subprocess.Popen(
                [PROGRAM, "hands", "--socket", self.socket, "--config", self.config, "--nvml", LIBRARY],
                env=self.machine.environment(), stdout=subprocess.PIPE, stderr=errors, text=True)
        line = self.hands.stdout.readline() if self.is_told(self.hands, HANDS_READY_SECONDS) else "nothing in time"
        if line != f"ready {self.socket}\n":
            self.faults.append(f"hands: wanted the line ready, found {line!r}, status {self.hands.poll()}")

    @staticmethod
    def is_told(process, seconds):
        """Whether a process writes its first line within that time, or ends."""
        return bool(select.select([process.stdout], [], [], seconds)[0])

    def kill_up(self, number=signal.SIGKILL):
        """Or ends it, by SIGTERM. Its own hands go on until they have finished what they do."""
        if self.up is None:
            return
        self.check()
        self.note_hands()
        status = self.up.end(number)
        wanted = 0 if number == signal.SIGTERM else -number
        if status != wanted:
            self.faults.append(f"berth up: signal {number}: status {status}: {self.up.stderr()[-2000:]}")
        self.up = None

    def kill_hands(self):
        """Those that `berth up` has now."""
        if self.socket:
            if self.hands and self.hands.poll() is None:
                self.hands.kill()
                self.hands.wait()
            return
        self.note_hands()
        if self.started and is_hands(self.started[-1]):
            os.kill(self.started[-1], signal.SIGKILL)

    def have_hands(self):
        """Whether there is somebody who changes GPUs."""
        if self.socket:
            return self.hands is not None and self.hands.poll() is None
        self.note_hands()
        return self.up is not None and is_hands(self.started[-1])

    def check(self):
        """Notes processes that have ended by themselves, and a `berth up` that is not healthy."""
        if self.hands and (status := self.hands.poll()) not in (None, -signal.SIGKILL, 0):
            self.faults.append(f"berth hands ended with status {status}")
        if self.up is None:
            return
        if (status := self.up.process.poll()) is not None:
            self.faults.append(f"berth up ended with status {status}: {self.up.stderr()[-2000:]}")
            self.up = None
            return
        if (status := self.up.send("GET", "healthz")[0]) != 200:
            self.faults.append(f"/healthz: {status}")

    def end(self):
        """Stops both, as an administrator would, and waits for the hands."""
        self.kill_up(signal.SIGTERM)
        for pid in self.started:
            wait_until(lambda pid=pid: not is_hands(pid), f"the end of the hands of a berth up that has ended ({pid})")
        if self.hands:
            self.hands.terminate()
            if status := self.hands.wait(DEADLINE_SECONDS):
                self.faults.append(f"berth hands: SIGTERM: status {status}")
        self.forget()

    def forget(self):
        """Whatever still runs is killed."""
        self.note_hands()
        if self.up is not None and self.up.process.poll() is None:
            self.up.end(signal.SIGKILL)
        for pid in self.started:
            if is_hands(pid):
                os.kill(pid, signal.SIGKILL)
        if self.hands:
            if self.hands.poll() is None:
                self.hands.kill()
                self.hands.wait()
            self.hands.stdout.close()
        self.up, self.hands, self.started = None, None, []


class Services:
    """Services of one tenant that come, change and go, so that plans change all the time."""

    TENANT = "v1/tenants/t"

    def __init__(self, running, fleet, rng, count=4):
        self.running, self.fleet, self.rng = running, fleet, rng
        self.paths = [f"{self.TENANT}/services/s{index}" for index in range(count)]

    def begin(self):
        """The tenant and two services."""
        self.send("PUT", self.TENANT, {})
        for path in self.paths[:2]:
            self.send("PUT", path, self.spec())

    def change(self):
        """One of them. Nothing while there is no server."""
        path = self.rng.choice(self.paths)
        if self.rng.random() < 0.3:
            self.send("DELETE", path)
        else:
            self.send("PUT", path, self.spec())

    def send(self, method, path, body=None):
        """Notes an answer that nobody expects."""
        if self.running.up is None:
            return
        status, answer = self.running.up.send(method, path, body)
        if status not in (200, 201, 404):
            self.running.faults.append(f"{method} {path}: {status} {answer}")

    def spec(self):
        """For some profiles of each model, and a random rate."""
        rows = []
        for model, names in self.fleet.ours.items():
            profiles = self.fleet.profiles[model]
            for name in self.rng.sample(sorted(names), self.rng.randint(1, len(names))) if names else ["full"]:
                slices = profiles[name].slices if names else 4
                rows.append(row_of(model, name, slices))
        return service_of(rows, self.rng.choice((20, 60, 150, 400)))


def service_of(rows, rate):
    """The body of a service with these rows, and so many requests per second."""
    return {"spec": {"profile": {"format": "csv", "model": "m", "rows": rows}, "slo": {"latency_ms": 200},
                     "expects": {"requests_per_second": rate},
                     "arrivals": {"format": "poisson", "requests_per_second": rate, "seconds": 3600, "repeat": True}}}


def row_of(gpu, profile, slices):
    """A row of a service's profile: 50 requests per second for each compute slice."""
    return {"model": "m", "gpu": gpu, "profile": profile, "batch": 2 * slices, "processes": 1,
            "requests_per_second": 50 * slices, "latency_ms": 40}


def new_rng(seed, part):
    """A stream of random numbers of its own for each part of a run."""
    return random.Random(f"{seed}/{part}")
