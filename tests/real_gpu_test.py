#!/usr/bin/env python3
"""`berth up --world local` on this machine's real GPUs: it finds those that nvidia-smi lists, with the profiles and places that NVIDIA's
own binding shows, and leaves them alone. It cannot change anything: --manage-gpus is not given.

Skipped (exit status 77) where there is no GPU. Without nvidia-ml-py (`pip install nvidia-ml-py`) only the list is compared. It can be tried
on simulated GPUs: build/release/berth-nvml-sim run --fleet examples/local/fleet.yaml -- python3 tests/real_gpu_test.py
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(ROOT / "src/surface/cli/up"))

from local_up import PROGRAM, Up, wait_until  # noqa: E402: found by the path

PROFILES_MAX = 32  # numbers of profiles that are asked for
PLACES_MAX = 64  # of a profile


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


def main():
    gpus = list_gpus()
    if isinstance(gpus, str):
        print(f"skipped: no GPU: {gpus}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        up = Up(Path(folder) / "data", ["--world", "local"])
        try:
            check(up.ready(), gpus)
            fleet = fleet_of(up)
        finally:
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
    sys.exit(main())
