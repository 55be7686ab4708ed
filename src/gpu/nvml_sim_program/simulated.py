"""What the tests of berth-nvml-sim share: the program, fleet files, and a client of the library through ctypes."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = Path(os.environ.get("BERTH_PROGRAM", ROOT / "build/release/berth")).with_name("berth-nvml-sim")
LIBRARY = PROGRAM.with_name("libberth-nvml-sim.so")
DEADLINE_SECONDS = 60

TWO_A100 = "fleet: [{gpu: A100-80GB, count: 2, mig: true}]\n"
NOBODY = 65534  # the id of a user without any right
PROFILE_1G, PROFILE_3G = 19, 9  # ids of an A100's profiles

SUCCESS, NO_PERMISSION, GPU_IS_LOST, IN_USE = 0, 4, 15, 19


def require_program():
    """Ends the test as skipped where the program is not built (with sanitizers, say)."""
    for path in (PROGRAM, LIBRARY):
        if not path.exists():
            print(f"skipped: {path} is not built")
            sys.exit(77)


def as_root():
    """Options of `run` for a client that changes GPUs. Without root this machine may still refuse them: status 2."""
    return [] if os.geteuid() == 0 else ["--fake-root"]


def runs_for_others(*command):
    """Whether a user without any right can run it: files or folders on the way may be closed to others."""
    try:
        return subprocess.run(command, user=NOBODY, capture_output=True, timeout=DEADLINE_SECONDS,
                              check=False).returncode == 0
    except PermissionError:
        return False


class Nvml:
    """The library as clients load it; to be used in a process that `run` started, or whose environment names a state."""

    def __init__(self, path="libnvidia-ml.so.1"):
        self.library = ctypes.CDLL(path)
        code = self.library.nvmlInit_v2()
        if code != SUCCESS:
            raise RuntimeError(f"nvmlInit_v2: {code}")

    def device(self, index):
        handle = ctypes.c_void_p()
        code = self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        if code != SUCCESS:
            raise RuntimeError(f"nvmlDeviceGetHandleByIndex_v2: {code}")
        return handle

    def create_gpu_instance(self, device, profile):
        """The code and the handle."""
        handle = ctypes.c_void_p()
        return self.library.nvmlDeviceCreateGpuInstance(device, profile, ctypes.byref(handle)), handle

    def create_compute_instance(self, gpu_instance, profile):
        handle = ctypes.c_void_p()
        return self.library.nvmlGpuInstanceCreateComputeInstance(gpu_instance, profile, ctypes.byref(handle)), handle

    def temperature(self, device):
        degrees = ctypes.c_uint()
        return self.library.nvmlDeviceGetTemperature(device, 0, ctypes.byref(degrees)), degrees.value


class Case(unittest.TestCase):
    """A test with a folder of its own, which is also its TMPDIR."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))
        self.environment.pop("BERTH_NVML_SIM_STATE", None)

    def fleet(self, text=TWO_A100):
        path = self.folder / "fleet.yaml"
        path.write_text(text)
        return path

    def program(self, *arguments, **options):
        """Runs berth-nvml-sim to its end."""
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                              env=self.environment, **options)

    def state(self, text=TWO_A100):
        """The path of a new machine's state."""
        path = self.folder / "state"
        run = self.program("run", "--fleet", self.fleet(text), "--state", path, "--", "true")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return path

    def show(self, state):
        run = self.program("show", "--state", state, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def client(self, state):
        """The library in this process, on this machine."""
        os.environ["BERTH_NVML_SIM_STATE"] = str(state)
        self.addCleanup(os.environ.pop, "BERTH_NVML_SIM_STATE", None)
        nvml = Nvml(str(LIBRARY))
        self.addCleanup(nvml.library.nvmlShutdown)
        return nvml
