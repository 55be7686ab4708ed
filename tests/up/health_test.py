#!/usr/bin/env python3
"""Errors of GPUs in `berth up --world local`, on simulated machines: what is watched, drained, cordoned; the breaker, bursts,
a dry run, and what a killed process left."""

import json
import signal
import subprocess
import unittest

import local_up
from local_up import PROGRAM, wait_until

LOAD = ("--load", "simulated", "--speed", 10)


class Health(local_up.Case):
    def setUp(self):
        super().setUp()
        self.on = self.machine()

    def managing(self, *words, health=""):
        path = self.folder / "berth.yaml"
        path.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in self.on.uuids()) + "]\n" + health)
        return self.local(self.on, "--config", path, "--manage-gpus", "--scenario", self.write_scenario(), *LOAD, *words)

    def state_of(self, up, gpu):
        return up.gpu(gpu)["device_health"]["state"]

    def wait_for(self, up, gpu, state):
        wait_until(lambda: self.state_of(up, gpu) == state, f"gpu-{gpu} {state}")

    def wait_for_service(self, up):
        wait_until(lambda: any(state == "serving" for *_, state in up.slices()), "a slice that serves")
        return next(int(gpu.split("-")[1]) for gpu, *_, state in up.slices() if state == "serving")

    def test_a_fatal_error_moves_the_work_and_only_uncordon_ends_it(self):
        up = self.managing()
        used = self.wait_for_service(up)
        self.on.do("fault", "--gpu", used, "--xid", 95)
        wait_until(lambda: up.gpu(used)["scheduling"] != "open", "not schedulable")
        self.wait_for(up, used, "quarantined")
        wait_until(lambda: any(gpu == f"gpu-{1 - used}" and state == "serving" for gpu, _, _, state in up.slices()),
                   "the work on the other GPU")
        self.assertFalse(any(gpu == f"gpu-{used}" for gpu, *_ in up.slices()))
        for step in ("ok -> draining: XID 95 (uncontained memory error); ", "draining -> quarantined: its last slice is gone"):
            wait_until(lambda: any(name == f"gpu-{used}" and message.startswith(step) for name, message in up.events("GpuHealth")),
                       step)
        self.on.do("reset", "--gpu", used)

        self.assertEqual(up.end(signal.SIGKILL), -signal.SIGKILL)
        up = self.managing()
        self.wait_for(up, used, "quarantined")
        status, text = up.client("uncordon", f"gpu-{used}", "--reason", "replaced")
        self.assertEqual(status, 0, text)
        self.wait_for(up, used, "ok")

    def test_the_breaker_of_two_gpus_lets_one_drain(self):
        up = self.managing()
        self.wait_for_service(up)
        self.on.do("fault", "--gpu", 0, "--xid", 48)
        wait_until(lambda: up.gpu(0)["scheduling"] != "open", "gpu-0 drains")
        self.on.do("fault", "--gpu", 1, "--xid", 48)
        wait_until(lambda: up.events("BreakerTripped"), "the breaker")
        self.assertEqual(up.gpu(1)["scheduling"], "cordoned")
        self.wait_for(up, 1, "quarantined")
        self.assertEqual(len(up.events("BreakerTripped")), 1)

    def test_errors_of_programs_and_unknown_ones_are_watched(self):
        up = self.managing()
        self.wait_for_service(up)
        self.on.do("fault", "--gpu", 0, "--xid", 31)
        self.on.do("fault", "--gpu", 1, "--xid", 4711)
        self.wait_for(up, 0, "suspect")
        self.wait_for(up, 1, "suspect")
        self.assertEqual([up.gpu(gpu)["scheduling"] for gpu in (0, 1)], ["open", "open"])

    def test_an_error_that_names_an_instance_names_the_slice(self):
        up = self.managing()
        used = self.wait_for_service(up)
        [instance, *_] = self.on.show()[used]["gpu_instances"]
        self.on.do("fault", "--gpu", used, "--xid", 31, "--instance", instance["id"])
        message = wait_until(lambda: [text for _, text in up.events("GpuHealth") if "restart of the program" in text],
                             "a restart is asked for")[0]
        self.assertIn(f"on gpu-{used}-", message)

    def test_bursts_are_counted_exactly(self):
        up = self.managing()
        self.on.do("fault", "--gpu", 0, "--xid", 63, "--times", 500)
        self.on.do("fault", "--gpu", 0, "--xid", 63, "--times", 300, "--rate", 1000)

        def counted():
            texts = [message for _, message in up.events("GpuXid") if message.startswith("XID 63")]
            numbers = [int(word) for text in texts for word in text.replace(",", "").split()[2:3]]
            return sum(numbers) + sum(1 for text in texts if text == "XID 63")

        wait_until(lambda: counted() == 800, "800 errors")
        self.assertLessEqual(len(up.events("GpuXid")), 6)
        self.assertEqual(self.state_of(up, 0), "ok")

    def test_a_dry_run_records_and_does_nothing(self):
        up = self.managing(health="health: {dry_run: true}\n")
        self.on.do("fault", "--gpu", 0, "--xid", 109)
        message = wait_until(lambda: up.events("GpuHealth"), "a decision")[0][1]
        self.assertIn("not done: health.dry_run", message)

    def test_other_policies(self):
        policy = self.folder / "xid.yaml"
        policy.write_text("berth: 1\nas_of: 2026-11\nsource: ours\nactions: {manual: [63], ignore: [31]}\n")
        up = self.managing(health=f"health: {{policy: {policy}}}\n")
        self.on.do("fault", "--gpu", 0, "--xid", 31)
        self.on.do("fault", "--gpu", 1, "--xid", 63)
        self.wait_for(up, 1, "quarantined")
        wait_until(lambda: up.gpu(1)["scheduling"] == "cordoned", "cordoned")
        self.assertEqual(self.state_of(up, 0), "ok")
        policy.write_text("berth: 1\nas_of: 2026-11\nsource: ours\nactions: {manual: [63, 60-70]}\n")
        message = self.refused("--world", "local", "--nvml", local_up.LIBRARY, "--config", self.folder / "berth.yaml",
                               machine=self.on, data=self.folder / "other")
        self.assertIn("xid.yaml:4:24: actions.manual[1]: wanted each error code once, found 63 again", message)

    def test_gpus_that_are_only_observed_are_left_alone(self):
        up = self.local(self.on, "--scenario", self.write_scenario(), *LOAD)
        self.on.do("fault", "--gpu", 0, "--xid", 48)
        message = wait_until(lambda: up.events("GpuHealth"), "a decision")[0][1]
        self.assertIn("not done: the GPU is only observed", message)
        wait_until(lambda: (up.gpu(0)["scheduling_reason"] or "").startswith("observed: "), "observed")

    def test_explain(self):
        run = subprocess.run([PROGRAM, "xid", "explain", "79", "--format", "json"], capture_output=True, text=True,
                             check=True)
        said = json.loads(run.stdout)
        self.assertEqual((said["xid"], said["action"], said["listed"], said["as_of"]), (79, "drain", True, "2025-10"))
        for word in ("0", "x", "-1", "100000"):
            run = subprocess.run([PROGRAM, "xid", "explain", "--", word], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f'CODE: wanted the number of an error, 1 to 99999, found "{word}"', run.stderr)


if __name__ == "__main__":
    local_up.require_managing()
    unittest.main()
