#!/usr/bin/env python3
"""The example of docs/how_to/local.md: a service on simulated GPUs that `berth up` manages, with NVIDIA's binding for Python,
which sees what the API shows."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from local_up import DEADLINE_SECONDS, PROGRAM, ROOT, SIMULATOR, Case, Up, require_simulator, wait_until

require_simulator()

sys.path.insert(0, str(ROOT / "src/gpu/nvml_abi"))
from third_party import BINDING, Absent, fetch_package  # noqa: E402: found by the line above

FLEET = "examples/local/fleet.yaml"
MIB = 1 << 20

# Prints the MIG devices of the machine, as every client of NVML walks them.
LISTING = f"""
import ctypes, json
from pynvml import *
nvmlInit()
found = []
for gpu in range(nvmlDeviceGetCount()):
    device = nvmlDeviceGetHandleByIndex(gpu)
    for index in range(nvmlDeviceGetMaxMigDeviceCount(device)):
        try:
            part = nvmlDeviceGetMigDeviceHandleByIndex(device, index)
        except NVMLError_NotFound:
            continue
        instance = nvmlDeviceGetGpuInstanceById(device, nvmlDeviceGetGpuInstanceId(part))
        info = nvmlGpuInstanceGetInfo(instance)
        profiles = [nvmlDeviceGetGpuInstanceProfileInfoV(device, number) for number in (0, 1, 2, 3, 4)]
        [slices] = [profile.sliceCount for profile in profiles if profile.id == info.profileId]
        found.append({{"gpu": nvmlDeviceGetUUID(device), "uuid": nvmlDeviceGetUUID(part), "start": info.placement.start,
                      "slices": slices, "memory_mib": nvmlDeviceGetMemoryInfo(part).total // {MIB}}})
print(json.dumps(found))
"""


def by_place(found):
    return sorted(found, key=lambda each: (each["gpu"], each["start"]))


class LocalWalk(Case):
    def start_example(self):
        """The command of docs/how_to/local.md, in the root of the repository, with a folder and a port of its own."""
        self.state = self.folder / "machine"
        words = ("--world", "local", "--config", "examples/local/berth.yaml", "--manage-gpus")
        up = Up(self.data, words, cwd=ROOT, below=(SIMULATOR, "run", "--fleet", FLEET, "--state", self.state, "--"))
        self.addCleanup(up.end)
        return up.ready()

    def seen_by_binding(self):
        """What the binding finds on the same machine."""
        try:
            wheel = fetch_package(BINDING)
        except Absent as reason:
            self.skipTest(f"{BINDING}: {reason}")
        run = subprocess.run([SIMULATOR, "run", "--fleet", FLEET, "--state", self.state, "--", sys.executable, "-c", LISTING],
                             cwd=ROOT, env=dict(os.environ, PYTHONPATH=wheel), capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return by_place(json.loads(run.stdout))

    def shown(self, up):
        """What the API shows of the slices, in the words of the binding."""
        uuids = {gpu["metadata"]["name"]: gpu["status"]["uuid"] for gpu in up.items("gpus")}
        slices = [each["status"] for each in up.items("slices")]
        return by_place([{"gpu": uuids[each["gpu"]], "uuid": each["uuid"], "start": each["start"],
                          "slices": int(each["profile"].split("g")[0]), "memory_mib": each["memory_mib"]} for each in slices])

    def test_a_service_on_slices_that_the_binding_sees(self):
        up = self.start_example()
        gpus = up.items("gpus")
        self.assertEqual([gpu["status"]["managed"] for gpu in gpus], [True, True], gpus)
        wait_until(lambda: up.slices() and {state for *_, state in up.slices()} == {"serving"}, "every slice serves")
        service = up.get("v1/tenants/photos/services/tagger")["status"]
        self.assertEqual((service["phase"], service["load"]), ("Running", "simulated"))
        self.assertEqual(sorted((each["gpu"], each["start"]) for each in service["slices"]),
                         [(gpu, start) for gpu, _, start, _ in up.slices()], "every slice is the service's")
        shown = self.shown(up)
        self.assertGreater(len(shown), 1)
        for each in shown:
            self.assertRegex(each["uuid"], "^MIG-[0-9a-f-]{36}$")
        self.assertEqual(self.seen_by_binding(), shown)
        self.assertIn(shown[0]["uuid"], up.client("get", "slices", "-o", "wide")[1])
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.seen_by_binding(), shown, "they stay when berth ends")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: not root, and nobody else may change GPUs")
        sys.exit(77)
    unittest.main()
