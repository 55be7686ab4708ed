"""What tests of `berth up --world local` share: a simulated machine, a `berth up` on it, questions to its API, and other
clients of the machine."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import unittest
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = Path(os.environ.get("BERTH_PROGRAM", ROOT / "build/release/berth"))
sys.path.insert(0, str(ROOT / "src/gpu/nvml_sim_program"))
from simulated import PROFILE_3G, SUCCESS, Nvml, runs_for_others  # noqa: E402, F401: found by the line above

SIMULATOR = PROGRAM.with_name("berth-nvml-sim")
LIBRARY = PROGRAM.with_name("libberth-nvml-sim.so")
DEADLINE_SECONDS = 60

SCENARIO = """berth: 1
fleet: [{gpu: A100-80GB, count: 2}]
window_seconds: 60
services:
  - name: detector
    tenant: vision
    profile: {format: csv, path: profile.csv, model: m}
    slo: {latency_ms: 100}
    arrivals: {format: poisson, requests_per_second: 20, seconds: 600, repeat: true}
    expects: {requests_per_second: 20}
"""
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,3g.40gb,8,1,330,24
"""


def require_simulator():
    """Ends the test as skipped where the simulated library is not built (with sanitizers, say)."""
    for path in (SIMULATOR, LIBRARY):
        if not path.exists():
            print(f"skipped: {path} is not built")
            sys.exit(77)


def require_managing():
    """Ends the test as skipped where the simulated library is not built, or its GPUs cannot be changed."""
    require_simulator()
    if os.geteuid() != 0:
        print("skipped: not root, and nobody else may change GPUs")
        sys.exit(77)


def wait_until(is_done, what):
    """The value of `is_done` once it is true."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        value = is_done()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"in {DEADLINE_SECONDS} s: not {what}")


class Machine:
    """A simulated machine, by its state file. `latencies`: of its driver, a value of `latency_ms`."""

    def __init__(self, folder, fleet, latencies="{}"):
        file = folder / "fleet.yaml"
        file.write_text(f"fleet: {fleet}\nlatency_ms: {latencies}\n")
        self.state = folder / "machine"
        subprocess.run([SIMULATOR, "run", "--fleet", file, "--state", self.state, "--", "true"], check=True)

    def environment(self):
        """What a program finds on this machine."""
        return dict(os.environ, BERTH_NVML_SIM_STATE=str(self.state), BERTH_BOOT_ID=f"{self.state}.boot_id",
                    BERTH_GPU_LOCKS=f"{self.state}.locks")

    def do(self, verb, *words):
        """`berth-nvml-sim fault` and the other verbs."""
        subprocess.run([SIMULATOR, verb, *map(str, words), "--state", self.state], check=True)

    def show(self):
        run = subprocess.run([SIMULATOR, "show", "--state", self.state, "--format", "json"], check=True,
                             capture_output=True, text=True)
        return json.loads(run.stdout)["devices"]

    def uuids(self):
        return [device["uuid"] for device in self.show()]

    def changing_calls(self):
        return [device["changing_calls"] for device in self.show()]


class Up:
    """A `berth up` in a folder of its own, `below` another program if that runs it."""

    def __init__(self, data, words=(), environment=None, cwd=None, below=(), listen="127.0.0.1:0"):
        self.data = data
        self.errors = data.with_name(data.name + ".stderr")
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [*below, PROGRAM, "up", "--data", data, "--listen", listen, *map(str, words)], stdout=subprocess.PIPE,
                stderr=errors, text=True, env=environment or os.environ, cwd=cwd)

    def address(self):
        """Once it answers; fails if it ends."""
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise AssertionError(f"ended with status {self.process.wait()}: {self.stderr()}")
        return line.split()[1]

    def ready(self):
        self.url = self.address()
        self.key = (self.data / "admin.key").read_text().strip()
        return self

    def stderr(self):
        return self.errors.read_text()

    def lines(self, event):
        """Lines of stderr about that event."""
        lines = [json.loads(line) for line in self.stderr().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def send(self, method, path, body=None):
        """Status and body."""
        request = urllib.request.Request(self.url + path, method=method, headers={
            "Authorization": "Bearer " + self.key, "Content-Type": "application/json"})
        if body is not None:
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def get(self, path):
        status, body = self.send("GET", path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body}")
        return body

    def items(self, kind):
        return self.get(f"v1/{kind}?limit=500")["items"]

    def gpu(self, index):
        return self.get(f"v1/gpus/gpu-{index}")["status"]

    def slices(self):
        """(gpu, profile, start, state), in order."""
        keys = ("gpu", "profile", "start", "state")
        return sorted(tuple(each["status"][key] for key in keys) for each in self.items("slices"))

    def events(self, kind=None):
        """All that are kept, or (object, message) of a kind."""
        events = self.get("v1/overview")["events"]
        if kind is None:
            return events
        return [(event["object"]["name"], event["message"]) for event in events if event["kind"] == kind]

    def client(self, *words):
        """A verb of the client: its status and what it printed."""
        run = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                             env=dict(os.environ, BERTH_STATE=str(self.data)))
        return run.returncode, run.stdout + run.stderr

    def end(self, number=signal.SIGTERM):
        """Its status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        return status


class Placement(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint), ("size", ctypes.c_uint)]


class Case(unittest.TestCase):
    """A test with a folder. Whatever was started is killed in the end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.data = self.folder / "data"

    def machine(self, fleet="[{gpu: A100-80GB, count: 2}]", latencies="{}"):
        return Machine(self.folder, fleet, latencies)

    def start(self, *words, machine=None, data=None):
        """Does not wait for it."""
        up = Up(data or self.data, words, machine.environment() if machine else None)
        self.addCleanup(lambda: up.end(signal.SIGKILL) if up.process.poll() is None else None)
        return up

    def local(self, machine, *words, data=None):
        """A `berth up` on the machine, once it answers."""
        return self.start("--world", "local", "--nvml", LIBRARY, *words, machine=machine, data=data).ready()

    def refused(self, *words, machine=None, data=None):
        """The message of one that ends with status 2."""
        up = self.start(*words, machine=machine, data=data)
        status = up.process.wait(DEADLINE_SECONDS)
        up.process.stdout.close()
        messages = [line for line in up.stderr().splitlines() if not line.startswith("{")]
        self.assertEqual((status, len(messages)), (2, 1), up.stderr())
        up.errors.unlink()
        return messages[0]

    def write_scenario(self, text=SCENARIO):
        (self.folder / "profile.csv").write_text(PROFILE)
        path = self.folder / "scenario.yaml"
        path.write_text(text)
        return path

    def client_of(self, machine):
        """Somebody else on the machine, who changes its GPUs."""
        if os.geteuid() != 0:
            self.skipTest("changes of simulated GPUs need root")
        os.environ["BERTH_NVML_SIM_STATE"] = str(machine.state)
        self.addCleanup(os.environ.pop, "BERTH_NVML_SIM_STATE", None)
        nvml = Nvml(str(LIBRARY))
        self.addCleanup(nvml.library.nvmlShutdown)
        return nvml

    def create(self, nvml, gpu, start=0):
        """A 3g instance of others."""
        handle = ctypes.c_void_p()
        placement = Placement(start, 4)
        code = nvml.library.nvmlDeviceCreateGpuInstanceWithPlacement(
            nvml.device(gpu), PROFILE_3G, ctypes.byref(placement), ctypes.byref(handle))
        self.assertEqual(code, SUCCESS)
        return handle
