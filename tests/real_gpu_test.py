#!/usr/bin/env python3
"""`berth up --world local` on this machine's real GPUs: it finds those that nvidia-smi lists, with the profiles and places that NVIDIA's
own binding shows, sees programs come, fail and go, goes on after a kill, and leaves all GPUs alone. It cannot change anything:
--manage-gpus is not given.

Skipped (exit status 77) where there is no GPU. Without nvidia-ml-py (`pip install nvidia-ml-py`) profiles are not compared, without
libcuda.so.1, or where a GPU is in MIG mode or in use, no program is started. It can be tried on simulated GPUs:
build/release/berth-nvml-sim run --fleet examples/local/fleet.yaml -- python3 tests/real_gpu_test.py

With --program UUID it is such a program: it takes 64 MiB of that GPU, says so, and waits for a line; with --fault too, it then writes to an
address that is not its own, which ends its use of the GPU, and which the driver reports as an XID.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(ROOT / "tests/up"))

from local_up import PROGRAM, Up, wait_until  # noqa: E402: found by the path

PROFILES_MAX = 32  # numbers of profiles that are asked for
PLACES_MAX = 64  # of a profile
QUIET_SECONDS = 20  # for which the cost of watching is measured
FAULT = b"""
.version 6.5
.target sm_75
.address_size 64
.visible .entry fault() {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  mov.u64 %rd1, 4096;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
\0"""


def list_gpus():
    """(UUID, name) of each GPU, as nvidia-smi lists them; a text if there is none."""
    if shutil.which("nvidia-smi") is None:
        return "no nvidia-smi on the path"
    run = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=120, check=False)
    gpus = re.findall(r"^GPU \d+: (.*) \(UUID: (GPU-[0-9a-f-]+)\)", run.stdout, re.MULTILINE)
    if run.returncode != 0 or not gpus:
        return f"nvidia-smi -L: status {run.returncode}, {(run.stdout + run.stderr).strip()}"
    return [(uuid, name) for name, uuid in gpus]


def fleet_of(up):
    """The GPUs with which the world began, as its journal has them: by UUID."""
    run = subprocess.run([PROGRAM, "journal", "export", up.data], capture_output=True, text=True, check=True)
    for line in run.stdout.splitlines():
        row = json.loads(line)
        if row["kind"] == "ScenarioFile" and row["body"]["path"] == "berth:local-fleet":
            return {gpu["uuid"]: gpu for gpu in json.loads(bytes.fromhex(row["body"]["hex"]))["gpus"]}
    raise AssertionError("the journal has no fleet")


def profiles_of(nvml, device):
    """What NVIDIA's binding shows: by profile id and compute slices."""
    profiles = {}
    for number in range(PROFILES_MAX):
        places = (nvml.c_nvmlGpuInstancePlacement_t * PLACES_MAX)()
        count = ctypes.c_uint(PLACES_MAX)
        try:
            info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(device, number)
            nvml.nvmlDeviceGetGpuInstancePossiblePlacements(device, info.id, places, ctypes.byref(count))
        except nvml.NVMLError:
            continue  # no such profile
        profiles[info.id, info.sliceCount] = {
            "starts": sorted(place.start for place in places[:count.value]), "length": places[0].size,
            "instances_max": info.instanceCount, "sms": info.multiprocessorCount, "memory_mib": info.memorySizeMB}
    return profiles


def check_profiles(nvml, fleet):
    nvml.nvmlInit()
    for uuid, gpu in fleet.items():
        device = nvml.nvmlDeviceGetHandleByUUID(uuid)
        theirs = profiles_of(nvml, device)
        ours = {(profile["device_profile_id"], profile["compute_slices"]): {key: profile[key] for key in (
            "starts", "length", "instances_max", "sms", "memory_mib")} for profile in gpu["model"]["profiles"]}
        assert ours == theirs, f"{uuid}: we say\n{ours}\nNVML says\n{theirs}"
        memory_mib = nvml.nvmlDeviceGetMemoryInfo(device).total >> 20
        assert gpu["model"]["memory_mib"] == memory_mib, f"{uuid}: {gpu['model']['memory_mib']} MiB, NVML says {memory_mib}"
        print(f"{uuid}: {len(ours)} profiles with places and memory as NVML has them")
    nvml.nvmlShutdown()


def check(up, gpus):
    shown = [gpu["status"] for gpu in up.items("gpus")]
    assert [gpu["uuid"] for gpu in shown] == [uuid for uuid, _ in gpus], f"wanted {gpus}, found {shown}"
    for gpu, (uuid, name) in zip(shown, gpus):
        assert not gpu["managed"] and gpu["scheduling"] == "cordoned", gpu
        assert (gpu["health"], gpu["recovery_action"]) == ("ok", "none"), gpu
        print(f"{uuid}: {name} is {gpu['model']}, MIG {gpu['mig'] and gpu['mig']['current']}, differences: {gpu['differences']}")
    print("slices:", up.slices())
    status = up.get("v1/status")
    assert (status["world"], status["devices"]["gpus"]) == ("local", len(gpus)), status
    print("devices:", status["devices"])
    wait_until(lambda: len(up.events("GpuSeen")) == len(gpus), "an event for each GPU")


# ---- programs on a GPU


def run_program(uuid, faults):
    """What the process with --program does. Statuses of CUDA's calls are checked but for the one that is to fail."""
    os.environ["CUDA_VISIBLE_DEVICES"] = uuid
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, memory, module, kernel = ctypes.c_int(), *(ctypes.c_void_p() for _ in range(4))
    for code in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
                 cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), cuda.cuCtxSetCurrent(context),
                 cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64 << 20)),
                 cuda.cuModuleLoadData(ctypes.byref(module), FAULT),
                 cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fault")):
        assert code == 0, f"CUDA error {code}"
    print("here", flush=True)
    sys.stdin.readline()
    if faults:
        assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
        print("ended with CUDA error", cuda.cuCtxSynchronize(), flush=True)


class ProgramOnGpu:
    """Such a process, once it uses the GPU."""

    def __init__(self, uuid, *words):
        self.process = subprocess.Popen([sys.executable, __file__, "--program", uuid, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "here\n", "the program does not get at the GPU"

    def end(self):
        """What it says after its line."""
        return self.process.communicate("\n", timeout=120)[0].strip()

    def kill(self):
        self.process.kill()
        self.process.communicate()


def seconds_until(is_done, what):
    began = time.monotonic()
    wait_until(is_done, what)
    return time.monotonic() - began


def check_programs(up, gpus):
    """Of the first GPU: a program makes it a foreign slice as long as it is there, and its fault is an event."""
    here = [("gpu-0", "full", 0, "foreign")]
    program = ProgramOnGpu(gpus[0][0])
    appeared = seconds_until(lambda: up.slices() == here, "shown as foreign")
    program.kill()
    went = seconds_until(lambda: up.slices() == [], "gone again")
    print(f"a program is shown after {appeared:.2f} s, and gone {went:.2f} s after it was killed")
    program = ProgramOnGpu(gpus[0][0], "--fault")
    wait_until(lambda: up.slices() == here, "shown as foreign")
    said = program.end()
    told = seconds_until(lambda: up.events("GpuXid"), "an XID")
    print(f"a program that {said}: {up.events('GpuXid')}, {told:.2f} s after its end; recovery action {up.gpu(0)['recovery_action']}")
    wait_until(lambda: up.slices() == [], "gone again")
    assert up.gpu(0)["health"] == "ok", up.gpu(0)


def can_run_programs(up):
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no libcuda.so.1"
    if any(gpu["status"]["mig"] and gpu["status"]["mig"]["current"] == "enabled" for gpu in up.items("gpus")):
        return "a GPU is in MIG mode"
    return "a GPU is in use" if up.slices() else None


# ---- what watching costs, and a kill


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def print_cost(up):
    before = processor_seconds(up.process.pid)
    time.sleep(QUIET_SECONDS)
    used = (processor_seconds(up.process.pid) - before) / QUIET_SECONDS
    memory = re.search(r"VmRSS:\s*(\d+) kB", Path(f"/proc/{up.process.pid}/status").read_text()).group(1)
    print(f"watching costs {100 * used:.1f} % of a processor and {int(memory) / 1024:.0f} MiB")


def start(folder, gpus):
    began = time.monotonic()
    up = Up(folder / "data", ["--world", "local"])
    try:
        check(up.ready(), gpus)
    except BaseException:
        up.end(signal.SIGKILL)
        raise
    print(f"it shows all GPUs {time.monotonic() - began:.2f} s after its start")
    return up


def watch(up, gpus):
    print_cost(up)
    reason = can_run_programs(up)
    if reason:
        print(f"no program is started: {reason}")
    else:
        check_programs(up, gpus)


def main():
    gpus = list_gpus()
    if isinstance(gpus, str):
        print(f"skipped: no GPU: {gpus}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        up = start(Path(folder), gpus)
        try:
            watch(up, gpus)
        finally:
            up.end(signal.SIGKILL)
        up = start(Path(folder), gpus)
        fleet = fleet_of(up)
        status = up.end()
        assert status == 0, up.stderr()
    assert [(uuid, gpu["name"]) for uuid, gpu in fleet.items()] == gpus, fleet
    try:
        import pynvml  # noqa: PLC0415: may be missing
    except ImportError:
        print("profiles are not compared: no nvidia-ml-py")
        return 0
    check_profiles(pynvml, fleet)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        run_program(sys.argv[2], "--fault" in sys.argv)
    else:
        sys.exit(main())
