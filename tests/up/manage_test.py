#!/usr/bin/env python3
"""`berth up --world local` with and without leave to change GPUs, on simulated machines: what it needs for a change, what it
refuses, what it leaves alone, and what becomes of a change that the device refuses."""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

import local_up
from local_up import LIBRARY, PROGRAM, SCENARIO, runs_for_others, wait_until

HALF = "3g.40gb"
NOBODY = 65534
# Where the GPUs of a machine are to have a slice.
LOW, HIGH = 0, 4
UNTOUCHED = [0, 0]
BUSY_PAUSES_SECONDS = (0.5, 1, 2, 4, 8)  # docs/reference/hands.md
LOAD = ("--load", "simulated", "--speed", 10)  # ten steps per second, in each of which something may be planned


def layout(*places):
    """The lines of a scenario for half GPUs, each (GPU, start)."""
    gpus = [f"  - {{gpu: {gpu}, slices: [{{profile: {HALF}, start: {start}, service: detector}}]}}\n" for gpu, start in places]
    return "layout:\n" + "".join(gpus)


class Manage(local_up.Case):
    def setUp(self):
        super().setUp()
        self.on = self.machine()
        self.uuids = self.on.uuids()

    def config(self, *uuids):
        path = self.folder / "berth.yaml"
        path.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in uuids) + "]\n")
        return path

    def wanting(self, *places):
        """Words with which `berth up` wants these slices, for a service that needs no time to start."""
        text = SCENARIO.replace("services:", layout(*places) + "services:").replace("    slo:", "    start_seconds: 0\n    slo:")
        return "--scenario", self.write_scenario(text), "--policy", "fixed", *LOAD

    def managing(self, *words, uuids=None, data=None):
        config = self.config(*(self.uuids if uuids is None else uuids))
        return self.local(self.on, "--config", config, "--manage-gpus", *words, data=data)

    def states(self, up):
        """(GPU, start, state) of each slice."""
        return [(int(gpu.split("-")[1]), start, state) for gpu, _, start, state in up.slices()]

    def wait_for(self, up, *states):
        wait_until(lambda: self.states(up) == sorted(states), f"{sorted(states)}")

    def standing(self):
        """(GPU, start, number of compute instances) of all that stands on the machine."""
        return [(device["index"], instance["start"], len(instance["compute_instances"]))
                for device in self.on.show() for instance in device["gpu_instances"]]

    def wait_for_steps(self, up, count=3):
        """So many more steps of the engine, in each of which it could have planned."""
        last = up.get("v1/status")["steps"]["count"] + count
        wait_until(lambda: up.get("v1/status")["steps"]["count"] >= last, "some steps")

    def children_of(self, up):
        return Path(f"/proc/{up.process.pid}/task/{up.process.pid}/children").read_text().split()

    def mig_uuid(self, gpu):
        """The one MIG device of a GPU."""
        [instance] = self.on.show()[gpu]["gpu_instances"]
        return instance["compute_instances"][0]["uuid"]

    def drain(self, up, gpu):
        self.assertEqual(up.send("POST", f"v1/gpus/gpu-{gpu}/drain", {"reason": "a test"})[0], 200)

    def failures(self, up, gpu):
        return [message for _, message in up.events("ActionFailed") if f" gpu-{gpu}-" in message]

    # ---- what a change needs

    def test_entries_that_name_no_gpu_or_one_twice(self):
        unknown = "GPU-00000000-0000-0000-0000-000000000000"
        first, second = self.uuids
        place = f"{self.folder}/berth.yaml:1:{len(second) + 27}: manage[1].uuid"
        cases = [((second, unknown), f"berth: {place}: wanted the UUID of a GPU of this machine ({first}, {second}), "
                                     f'found "{unknown}"'),
                 ((first, first), f'manage[1].uuid: wanted each GPU once, found "{first}"')]
        for uuids, message in cases:
            for words in (("--manage-gpus",), ("--manage-gpus", "--dry-run"), ()):
                with self.subTest(message, words=words):
                    found = self.refused("--world", "local", "--nvml", LIBRARY, "--config", self.config(*uuids), *words,
                                         *self.wanting((0, LOW)), machine=self.on)
                    self.assertTrue(found.startswith("berth: ") and found.endswith(message), found)
                    self.assertFalse(self.data.exists())
        self.assertEqual(self.on.changing_calls(), UNTOUCHED)

    def check_observed(self, up, reason):
        self.wait_for_steps(up)
        self.assertEqual([gpu["status"]["managed_reason"] for gpu in up.items("gpus")], [reason] * 2)
        self.assertEqual([gpu["status"]["scheduling_reason"] for gpu in up.items("gpus")], ["observed: " + reason] * 2)
        self.assertEqual(up.items("services")[0]["status"]["phase"], "Waiting")
        self.assertEqual(up.slices(), [])
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.on.changing_calls(), UNTOUCHED)

    def test_the_flag_alone_is_not_enough(self):
        words = ("--manage-gpus", *self.wanting((0, LOW), (1, HIGH)))
        self.check_observed(self.local(self.on, *words), "its UUID is not in manage of the configuration")

    def test_the_list_alone_is_not_enough(self):
        up = self.local(self.on, "--config", self.config(*self.uuids), *self.wanting((0, LOW), (1, HIGH)))
        self.assertEqual(self.children_of(up), [], "no hands")
        self.check_observed(up, "--manage-gpus is not given")

    def test_another_list_that_is_read_while_it_runs_waits_for_a_restart(self):
        up = self.managing(*self.wanting((0, LOW)), uuids=self.uuids[:1])
        self.wait_for(up, (0, LOW, "serving"))
        self.config(self.uuids[1])
        os.kill(up.process.pid, signal.SIGHUP)
        [line] = wait_until(lambda: up.lines("config_key_not_applied"), "what is not applied")
        self.assertEqual([line[key] for key in ("key", "in_force", "found", "message")],
                         ["manage", self.uuids[0], self.uuids[1], "needs a restart"])
        self.assertEqual([gpu["status"]["managed"] for gpu in up.items("gpus")], [True, False])
        self.assertEqual(up.end(), 0)

    def test_without_privilege_nothing_can_be_changed(self):
        self.folder.chmod(0o777)
        if not runs_for_others(PROGRAM, "--version"):
            self.skipTest(f"another user cannot run {PROGRAM}")
        config, words = self.config(*self.uuids), self.wanting((0, LOW), (1, HIGH))
        setpriv = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        up = local_up.Up(self.data, ("--world", "local", "--nvml", LIBRARY, "--config", config, "--manage-gpus", *words),
                         self.on.environment(), below=setpriv)
        self.addCleanup(up.end)
        self.assertEqual(self.children_of(up.ready()), [], "no hands")
        self.check_observed(up, "berth up is not root, and --hands names no socket")

    def test_a_library_that_cannot_change_gpus(self):
        path, missing = self.library_without(b"nvmlDeviceCreateGpuInstanceWithPlacement")
        up = self.start("--world", "local", "--nvml", path, "--config", self.config(*self.uuids), "--manage-gpus",
                        *self.wanting((0, LOW), (1, HIGH)), machine=self.on).ready()
        warnings = [line["message"] for line in up.lines("warning")]
        self.assertEqual(len(warnings), 2, warnings)
        reason = f"the GPU agent refuses: {path}: wanted NVIDIA's management library, found a library without {missing}"
        self.assertEqual(warnings[0], f"gpu-0 ({self.uuids[0]}) is only observed: {reason}")
        self.assertEqual([line for line in up.stderr().splitlines() if not line.startswith("{")], [])
        self.check_observed(up, reason)

    def test_a_library_that_cannot_be_read(self):
        path, missing = self.library_without(b"nvmlDeviceGetMigMode")
        message = self.refused("--world", "local", "--nvml", path, "--config", self.config(*self.uuids), "--manage-gpus",
                               machine=self.on)
        self.assertEqual(message, f"berth: --nvml: {path}: wanted NVIDIA's management library, found a library without "
                                  f"{missing}")
        self.assertEqual(self.on.changing_calls(), UNTOUCHED)

    def library_without(self, function):
        """A copy of the library that has this function under another name: its path, and the name that is not there."""
        path = self.folder / "libnvidia-ml.so.1"
        exported = LIBRARY.read_bytes()
        self.assertIn(b"\0" + function + b"\0", exported)
        path.write_bytes(exported.replace(b"\0" + function + b"\0", b"\0" + function[:-1] + b"_\0"))
        return path, function.decode()

    # ---- what is left alone

    def test_a_gpu_that_is_not_listed_gets_no_call(self):
        up = self.managing(*self.wanting((0, LOW), (1, HIGH)), uuids=[self.uuids[1]])
        self.wait_for(up, (1, HIGH, "serving"))
        self.assertEqual((up.gpu(0)["managed"], up.gpu(1)["managed"]), (False, True))
        self.assertEqual(up.gpu(0)["managed_reason"], "its UUID is not in manage of the configuration")
        self.assertEqual(up.send("POST", "v1/gpus/gpu-0/uncordon", {})[0], 409)
        self.wait_for_steps(up)
        self.drain(up, 1)
        self.wait_for(up)
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.on.changing_calls(), [0, 4], "made and removed, with its compute instance")

    def test_a_dry_run_records_and_does_nothing(self):
        words = ("--dry-run", *self.wanting((0, LOW), (1, HIGH)))
        up = self.managing(*words)
        self.assertEqual(self.children_of(up), [], "no hands")
        wait_until(lambda: len(self.failures(up, 0)) > 1 and self.failures(up, 1), "planned again")
        self.assertTrue(all(message.endswith(": dry run: nothing is done") for message in self.failures(up, 0)))
        self.assertTrue(up.gpu(0)["managed"])
        self.assertEqual(up.items("services")[0]["status"]["phase"], "Waiting")
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.on.changing_calls(), UNTOUCHED)
        rows = [json.loads(line) for line in subprocess.run(
            [PROGRAM, "journal", "export", self.data], capture_output=True, text=True, check=True).stdout.splitlines()]
        ends = [row["body"] for row in rows if row["kind"] == "DeviceEnded"]
        intents = [row["body"] for row in rows if row["kind"] == "DeviceIntended"]
        self.assertEqual([end["intent"] for end in ends], [intent["intent"] for intent in intents])
        self.assertEqual({(end["outcome"], end["message"]) for end in ends}, {("refused", "dry run: nothing is done")})
        self.assertEqual({intent["slice"]["gpu"] for intent in intents}, {0, 1})

        up = self.managing(*LOAD)  # what was only recorded is done once it may be
        self.wait_for(up, (0, LOW, "serving"), (1, HIGH, "serving"))
        self.assertEqual(up.end(), 0)

    def test_what_others_made_is_never_destroyed(self):
        nvml = self.client_of(self.on)
        self.create(nvml, 0, HIGH)  # where a slice of ours is to be
        foreign = (0, HIGH, "foreign")
        up = self.managing(*self.wanting((0, HIGH), (1, HIGH)))
        self.wait_for(up, foreign, (1, HIGH, "serving"))
        began = time.monotonic()
        self.create(nvml, 1, LOW)  # beside one of ours
        beside = (1, LOW, "foreign")
        self.wait_for(up, foreign, beside, (1, HIGH, "serving"))
        took = time.monotonic() - began
        print(f"what others make beside a slice is shown after {took:.3f} s")
        self.assertLess(took, 10, "wanted 2 s; more only where much else runs")
        wait_until(lambda: [name for name, _ in up.events("SliceForeign")] == [f"gpu-0-{HALF}-{HIGH}-foreign",
                                                                               f"gpu-1-{HALF}-{LOW}-foreign"], "events")
        self.wait_for_steps(up)
        for number, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
            self.assertEqual(up.end(number), status)
            up = self.managing(*LOAD)
            self.wait_for(up, foreign, beside, (1, HIGH, "serving"))
            self.wait_for_steps(up)
        self.drain(up, 0)
        self.drain(up, 1)
        self.wait_for(up, foreign, beside)
        wait_until(lambda: len(up.events("GpuDrained")) == 2, "drained")
        self.wait_for_steps(up)
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.standing(), [(0, HIGH, 0), (1, LOW, 0)])
        self.assertEqual(self.on.changing_calls(), [1, 5], "theirs are two, ours four on gpu-1")

    # ---- what becomes of a change that is not carried out

    def test_the_rest_of_their_gpus_is_used(self):
        nvml = self.client_of(self.on)
        self.create(nvml, 0, HIGH)
        self.create(nvml, 1, LOW)
        up = self.managing("--scenario", self.write_scenario(), *LOAD)
        wait_until(lambda: "serving" in [state for *_, state in self.states(up)], "a slice beside theirs")
        self.wait_for_steps(up)
        for place in ((0, HIGH, "foreign"), (1, LOW, "foreign")):
            self.assertIn(place, self.states(up))
        self.assertEqual(up.events("ActionFailed"), [], "no plan counts on their places")
        self.assertEqual(up.end(), 0)

    def test_what_is_in_use_is_tried_again_and_then_left_to_the_plan(self):
        """Both kinds at once, as each takes 15.5 s: an instance with a process, and a GPU that another `berth up` owns."""
        first = self.managing(*self.wanting((0, HIGH), (1, HIGH)))
        self.wait_for(first, (0, HIGH, "serving"), (1, HIGH, "serving"))
        [hands] = self.children_of(first)
        process = ("--uuid", self.mig_uuid(1), "--pid", os.getpid())
        self.on.do("process", "add", *process, "--memory-mib", 10)
        second = self.managing(*self.wanting((0, LOW)), data=self.folder / "second")
        began = time.monotonic()
        self.drain(first, 1)

        name = Path(f"/proc/{os.getpid()}/cmdline").read_bytes().split(b"\0")[0].decode()
        holder = f"is in use: pid {os.getpid()} ({name})"
        [(gpu, message)] = wait_until(lambda: first.events("GpuBusy"), "the process is named at once")
        self.assertLess(time.monotonic() - began, sum(BUSY_PAUSES_SECONDS) / 2)
        self.assertEqual(gpu, "gpu-1")
        self.assertIn(holder, message)
        wait_until(lambda: self.failures(first, 1), "the change is left to the plan")
        self.assertGreater(time.monotonic() - began, sum(BUSY_PAUSES_SECONDS), "tried again until then")
        self.assertIn(holder, self.failures(first, 1)[0])
        wait_until(lambda: self.failures(second, 0), "the owner is named")
        self.assertTrue(self.failures(second, 0)[0].endswith(f": another berth process (pid {hands}) owns it"),
                        self.failures(second, 0))
        self.assertEqual(self.standing(), [(0, HIGH, 1), (1, HIGH, 1)])
        self.assertEqual(self.on.changing_calls(), [2, 2], "the first one's creations")

        self.on.do("process", "remove", *process)
        self.wait_for(first, (0, HIGH, "serving"))
        self.assertEqual(self.standing(), [(0, HIGH, 1)])
        self.assertEqual((first.end(), second.end()), (0, 0))

    def test_a_call_that_hangs_blocks_its_gpu_alone(self):
        up = self.managing(*self.wanting((0, HIGH), (1, HIGH)))
        self.wait_for(up, (0, HIGH, "serving"), (1, HIGH, "serving"))
        self.on.do("fault", "--gpu", 0, "--call", "destroy_gpu_instance", "--ms", 600_000)
        self.drain(up, 0)
        wait_until(lambda: self.standing() == [(0, HIGH, 0), (1, HIGH, 1)], "the call that hangs")
        self.drain(up, 1)
        self.wait_for(up, (0, HIGH, "draining"))
        self.assertEqual(up.send("POST", "v1/gpus/gpu-1/uncordon", {})[0], 200)
        self.wait_for(up, (0, HIGH, "draining"), (1, HIGH, "serving"))
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        self.on.do("fault", "--gpu", 0, "--clear")
        self.wait_for(up, (1, HIGH, "serving"))
        self.assertEqual(up.end(), 0)
        self.assertEqual(self.standing(), [(1, HIGH, 1)])


if __name__ == "__main__":
    local_up.require_managing()
    unittest.main()
