#!/usr/bin/env python3
"""The verbs that look at a running machine and change it, with a client of the library that runs meanwhile."""

import os
import re
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import (GPU_IS_LOST, IN_USE, NOBODY, PROFILE_1G, PROFILE_3G, PROGRAM, SUCCESS, Case,  # noqa: E402
                       require_program, runs_for_others)

T4_TOO = "fleet: [{gpu: A100-80GB, mig: true}, {gpu: T4}]\n"


class StateVerbs(Case):
    def change(self, *words):
        run = self.program(*words)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_show_follows_the_clients(self):
        state = self.state(T4_TOO)
        nvml = self.client(state)
        code, instance = nvml.create_gpu_instance(nvml.device(0), PROFILE_3G)
        self.assertEqual(code, SUCCESS)
        self.assertEqual(nvml.create_compute_instance(instance, 0)[0], SUCCESS)
        machine = self.show(state)
        self.assertEqual(list(machine), ["driver", "boot_id", "devices"])
        device = machine["devices"][0]
        self.assertEqual(set(device), {"index", "uuid", "model", "pci", "changing_calls", "lost", "mig", "gpu_instances",
                                       "processes", "faults", "unverified"})
        self.assertEqual((device["index"], device["model"], device["pci"], device["changing_calls"], device["lost"]),
                         (0, "A100-80GB", "00000000:07:00.0", 2, False))
        self.assertEqual(device["mig"], {"current": True, "pending": True})
        [gpu_instance] = device["gpu_instances"]
        self.assertEqual((gpu_instance["profile"], gpu_instance["start"], gpu_instance["length"], gpu_instance["generation"]),
                         ("3g.40gb", 4, 4, 1))
        [compute_instance] = gpu_instance["compute_instances"]
        self.assertEqual((compute_instance["profile"], compute_instance["start"], compute_instance["processes"]),
                         ("1c.3g.40gb", 0, []))
        text = self.program("show", "--state", state).stdout
        for part in (device["uuid"], compute_instance["uuid"], "MIG on", "3g.40gb@4", "1c.3g.40gb@0?", "no MIG"):
            self.assertIn(part, text)

    def test_the_state_of_the_environment(self):
        state = self.state()
        self.environment["BERTH_NVML_SIM_STATE"] = str(state)
        self.assertEqual(self.program("show", "--format", "json").returncode, 0)
        self.change("fault", "--gpu", 1, "--lost")
        self.assertTrue(self.show(state)["devices"][1]["lost"])

    def test_a_fault_hits_the_calls_that_it_names(self):
        state = self.state()
        nvml = self.client(state)
        device, other = nvml.device(0), nvml.device(1)
        self.change("fault", "--state", state, "--gpu", 0, "--call", "nvmlDeviceCreateGpuInstance", "--error", "IN_USE",
                    "--after", 1, "--times", 2, "--done")
        [fault] = self.show(state)["devices"][0]["faults"]
        self.assertEqual(fault, {"call": "nvmlDeviceCreateGpuInstance", "error": "NVML_ERROR_IN_USE", "done": True, "after": 1,
                                 "times": 2, "ms": 0})
        codes = [nvml.create_gpu_instance(device, PROFILE_1G)[0] for _ in range(4)]
        self.assertEqual(codes, [SUCCESS, IN_USE, IN_USE, SUCCESS])
        machine = self.show(state)
        self.assertEqual((len(machine["devices"][0]["gpu_instances"]), machine["devices"][0]["faults"]), (4, []))
        self.assertEqual(nvml.create_gpu_instance(other, PROFILE_1G)[0], SUCCESS)

    def test_a_call_that_hangs_is_freed(self):
        state = self.state()
        nvml = self.client(state)
        device = nvml.device(0)
        self.change("fault", "--state", state, "--gpu", 0, "--call", "create_gpu_instance", "--ms", 86400000)
        codes = []
        hanging = threading.Thread(target=lambda: codes.append(nvml.create_gpu_instance(device, PROFILE_1G)[0]))
        hanging.start()
        time.sleep(0.2)
        self.assertEqual(codes, [])
        self.change("fault", "--state", state, "--gpu", 0, "--clear")
        hanging.join(timeout=30)
        self.assertEqual(codes, [SUCCESS])

    def test_a_lost_gpu_is_back_after_a_reset(self):
        state = self.state()
        nvml = self.client(state)
        device, other = nvml.device(0), nvml.device(1)
        self.change("fault", "--state", state, "--gpu", 0, "--lost")
        self.assertEqual(nvml.temperature(device)[0], GPU_IS_LOST)
        self.assertEqual(nvml.temperature(other)[0], SUCCESS)
        self.change("reset", "--state", state, "--gpu", 0)
        self.assertEqual(nvml.temperature(device)[0], SUCCESS)
        self.change("fault", "--state", state, "--gpu", 1, "--xid", 79)
        self.assertEqual(nvml.temperature(other)[0], GPU_IS_LOST)

    def test_xids_with_a_rate_are_shown(self):
        state = self.state()
        self.change("fault", "--state", state, "--gpu", 1, "--xid", 31, "--times", 5, "--rate", 0.5)
        self.assertEqual(self.show(state)["devices"][1]["faults"], [{"xid": 31, "times": 5, "rate": 0.5}])

    def test_processes(self):
        state = self.state(T4_TOO)
        nvml = self.client(state)
        code, instance = nvml.create_gpu_instance(nvml.device(0), PROFILE_3G)
        self.assertEqual((code, nvml.create_compute_instance(instance, 2)[0]), (SUCCESS, SUCCESS))
        device, t4 = self.show(state)["devices"]
        uuid = device["gpu_instances"][0]["compute_instances"][0]["uuid"]
        self.change("process", "add", "--state", state, "--uuid", uuid, "--pid", os.getpid(), "--memory-mib", 1000)
        self.change("process", "add", "--state", state, "--uuid", t4["uuid"], "--pid", 7)
        device, t4 = self.show(state)["devices"]
        self.assertEqual(device["gpu_instances"][0]["compute_instances"][0]["processes"],
                         [{"pid": os.getpid(), "memory_mib": 1000}])
        self.assertEqual(t4["processes"], [{"pid": 7, "memory_mib": 0}])
        self.assertEqual(nvml.library.nvmlGpuInstanceDestroy(instance), IN_USE)
        self.change("process", "remove", "--state", state, "--uuid", uuid, "--pid", os.getpid(), "--memory-mib", 1000)
        self.assertEqual(self.show(state)["devices"][0]["gpu_instances"][0]["compute_instances"][0]["processes"], [])

    def test_each_pid_that_is_shown_can_be_removed(self):
        state = self.state(T4_TOO)
        nvml = self.client(state)
        code, instance = nvml.create_gpu_instance(nvml.device(0), PROFILE_3G)
        self.assertEqual((code, nvml.create_compute_instance(instance, 2)[0]), (SUCCESS, SUCCESS))
        device, t4 = self.show(state)["devices"]
        mig = device["gpu_instances"][0]["compute_instances"][0]["uuid"]
        for of_removal in (["--uuid", device["uuid"]], []):  # the GPU's UUID is what is shown first
            self.change("process", "add", "--state", state, "--uuid", mig, "--pid", 4711)
            shown = self.program("show", "--state", state).stdout
            [pid] = re.findall(r"pid (\d+)", shown)
            self.change("process", "remove", "--state", state, "--pid", pid, *of_removal)
            self.assertNotIn("pid", self.program("show", "--state", state).stdout)
        for uuid in (mig, t4["uuid"]):
            self.change("process", "add", "--state", state, "--uuid", uuid, "--pid", 8)
        self.change("process", "remove", "--state", state, "--pid", 8)
        self.assertNotIn("pid", self.program("show", "--state", state).stdout, "on both")
        refused = self.program("process", "remove", "--state", state, "--pid", 8)
        self.assertEqual((refused.returncode, refused.stderr),
                         (2, "berth-nvml-sim: --pid: wanted a process on this machine (none), found 8\n"))

    def test_a_reset_takes_the_instances_of_one_gpu(self):
        state = self.state()
        nvml = self.client(state)
        for index in (0, 1):
            self.assertEqual(nvml.create_gpu_instance(nvml.device(index), PROFILE_1G)[0], SUCCESS)
        before = self.show(state)
        self.change("reset", "--state", state, "--gpu", 1)
        after = self.show(state)
        self.assertEqual([len(device["gpu_instances"]) for device in after["devices"]], [1, 0])
        self.assertEqual(after["boot_id"], before["boot_id"])
        self.assertTrue(after["devices"][1]["mig"]["current"])

    def test_a_reboot_has_a_new_boot_id_in_the_same_file(self):
        state = self.state("fleet: [{gpu: A100-80GB, mig: true}, {gpu: H100-80GB, mig: true}]")
        nvml = self.client(state)
        self.assertEqual(nvml.create_gpu_instance(nvml.device(0), PROFILE_1G)[0], SUCCESS)
        before = self.show(state)
        with open(f"{state}.boot_id", encoding="ascii") as file:
            self.change("reset", "--state", state, "--reboot")
            after = self.show(state)
            self.assertEqual(file.read(), after["boot_id"] + "\n")
        self.assertNotEqual(after["boot_id"], before["boot_id"])
        self.assertEqual([device["gpu_instances"] for device in after["devices"]], [[], []])
        # Hopper forgets the mode.
        self.assertEqual([device["mig"]["current"] for device in after["devices"]], [True, False])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_state_is_for_everyone(self):
        state = self.state()
        self.folder.chmod(0o777)
        if not runs_for_others(PROGRAM, "--version"):
            self.skipTest(f"another user cannot run {PROGRAM}")
        before = self.show(state)["boot_id"]
        for words in (["fault", "--gpu", 0, "--lost"], ["reset", "--reboot"]):
            run = self.program(*words, "--state", state, user=NOBODY)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertNotEqual(self.show(state)["boot_id"], before)
        self.assertEqual(Path(f"{state}.boot_id").read_text(), self.show(state)["boot_id"] + "\n")

    def test_bad_words_change_nothing(self):
        state = self.state()
        mig_gpu = self.show(state)["devices"][0]["uuid"]
        self.change("fault", "--state", state, "--gpu", 0, "--call", "read", "--ms", 1, "--after", 1000000)
        before = self.show(state)
        call = ["fault", "--gpu", 0, "--call", "read", "--error", "IN_USE"]
        for words, part in [
                (["show", "--state", state, "--", "true"], "wanted -- only with run, found it with another verb"),
                (["show", "--format", "yaml"], '--format: wanted text or json, found "yaml"'),
                (["show", "--state", self.folder / "none"], "none: cannot be opened: No such file"),
                (["show", "--state", self.folder / "fleet.yaml"], "wanted the state of a simulated machine"),
                (["fault", "--gpu", 0], "wanted one of --call, --lost, --xid and --clear, found none"),
                (["fault", "--gpu", 0, "--lost", "--clear"], "found several"),
                (["fault", "--lost"], "--gpu: wanted the index of a GPU, found none"),
                (["fault", "--gpu", 2, "--lost"], "--gpu: wanted a GPU from 0 to 1, found 2"),
                (["fault", "--gpu", "GPU-x", "--lost"], '--gpu: wanted a whole number from 0 to 63, found "GPU-x"'),
                (["fault", "--gpu", 0, "--call", "red", "--ms", 1], 'found "red"; did you mean read?'),
                (["fault", "--gpu", 0, "--call", "nvmlDeviceSetFanSpeed_v2", "--ms", 1], "exported but not simulated"),
                (["fault", "--gpu", 0, "--call", "read", "--error", "IN_USED"], "did you mean IN_USE?"),
                (["fault", "--gpu", 0, "--call", "read"], "wanted an error or a delay (ms), found neither"),
                (["fault", "--gpu", 0, "--lost", "--ms", 1], "--ms: wanted only with --call"),
                (["fault", "--gpu", 0, "--lost", "--times", 1], "--times: wanted only with --call or --xid"),
                (["fault", "--gpu", 0, "--xid", 0], '--xid: wanted a whole number from 1 to 9999, found "0"'),
                (["fault", "--gpu", 0, "--xid", 31, "--rate", 0], "--rate: wanted a number per second above 0"),
                (["fault", "--gpu", 0, "--xid", 31, "--rate", "nan"], "--rate: wanted a number per second above 0"),
                ([*call, "--times", 0], '--times: wanted a whole number from 1 to 1000000000, found "0"'),
                ([*call, "--after", -1], '--after: wanted a whole number from 0 to 1000000000, found "-1"'),
                ([*call, "--rate", 1], "--rate: wanted only with --xid"),
                (["process", "add", "--uuid", "GPU-x", "--pid", 1], "--uuid: wanted the UUID of a GPU or of a MIG device"),
                (["process", "add", "--uuid", mig_gpu, "--pid", 1], "wanted the UUID of a MIG device, as GPU 0 is in MIG mode"),
                (["process", "add", "--uuid", mig_gpu], "--pid: wanted the id of a process, found none"),
                (["process", "add", "--pid", 1], "--uuid: wanted the UUID"),
                (["process", "add", "--uuid", mig_gpu, "--pid", 0], '--pid: wanted a whole number from 1 to 4194304, found "0"'),
                (["process", "remove", "--uuid", mig_gpu, "--pid", 1], f"--pid: wanted a process on {mig_gpu} (none), found 1"),
                (["reset"], "wanted --gpu N or --reboot, found neither"),
                (["reset", "--gpu", 0, "--reboot"], "wanted --gpu N or --reboot, found both"),
                (["reset", "--gpu", 2], "--gpu: wanted a GPU from 0 to 1, found 2")]:
            named = [] if "--state" in words else ["--state", state]
            run = self.program(*words, *named)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn(part, run.stderr)
        run = self.program("show")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--state: wanted the path of a machine's state, found none, nor BERTH_NVML_SIM_STATE", run.stderr)
        self.assertEqual(self.show(state), before)


if __name__ == "__main__":
    require_program()
    unittest.main()
