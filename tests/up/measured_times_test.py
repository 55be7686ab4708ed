#!/usr/bin/env python3
"""How long changes of GPUs take is measured, shown, and what plans count on: on a simulated machine whose driver takes
longer than the scenario says, with a SIGKILL in between."""

import signal
import unittest

import local_up
from local_up import require_managing, wait_until

SPEED = 10  # of the world: 0.1 s of the driver are 1 s
LATENCIES = "{create_gpu_instance: 80, create_compute_instance: 20}"
CREATE_SECONDS = 1.0
ASSUMED_SECONDS = 0.25
COUNT = 14  # slices that fit on the machine
SCENARIO = """berth: 1
fleet: [{gpu: A100-80GB, count: 2}]
changes: {create_seconds: 0.25, destroy_seconds: 0.25}
services:
  - name: detector
    tenant: vision
    profile: {format: csv, path: profile.csv, model: m}
    slo: {latency_ms: 100}
    arrivals: {format: poisson, requests_per_second: 1000, seconds: 3600, repeat: true}
    expects: {requests_per_second: 1000}
"""
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
"""


class MeasuredTimes(local_up.Case):
    def setUp(self):
        super().setUp()
        self.on_machine = self.machine(latencies=LATENCIES)
        (self.folder / "profile.csv").write_text(PROFILE)
        (self.folder / "scenario.yaml").write_text(SCENARIO)
        uuids = ", ".join(f"{{uuid: {uuid}}}" for uuid in self.on_machine.uuids())
        self.config = self.folder / "berth.yaml"
        self.config.write_text(f"scenario: {self.folder}/scenario.yaml\nload: simulated\nspeed: {SPEED}\n"
                               f"manage: [{uuids}]\n")

    def managing(self):
        return self.local(self.on_machine, "--config", self.config, "--manage-gpus")

    def creations(self, up):
        """What the GPU says of creating slices."""
        times = [time for time in up.gpu(0)["times"] if time["action"] == "create"]
        self.assertLessEqual(len(times), 1, times)
        return times[0] if times else {"count": 0}

    def check(self, creations):
        self.assertEqual((creations["profile"], creations["assumed_seconds"]), ("1g.10gb", ASSUMED_SECONDS))
        for key in ("measured_seconds", "planned_seconds"):
            self.assertGreaterEqual(creations[key], CREATE_SECONDS)
            self.assertLess(creations[key], CREATE_SECONDS * 8)  # a busy machine

    def test_they_are_shown_and_planned_with_and_outlive_a_kill(self):
        up = self.managing()
        wait_until(lambda: self.creations(up)["count"] == COUNT, f"{COUNT} slices")
        before = self.creations(up)
        self.check(before)
        events = up.events("TimesMeasured")
        self.assertTrue(events)
        self.assertIn("creating a slice 1g.10gb of a A100-80GB takes", events[0][1])
        status, words = up.client("describe", "gpu", "gpu-1")
        self.assertEqual(status, 0, words)
        self.assertRegex(words, r"PROFILE +ACTION +ASSUMED SECONDS +MEASURED SECONDS +PLANNED SECONDS +COUNT\n"
                                rf" +1g\.10gb +create +{ASSUMED_SECONDS} +[0-9.]+ +[0-9.]+ +{COUNT}\n")
        self.assertEqual(up.send("PUT", "v1/tenants/other", {})[0], 201)  # recorded with all that was before it
        changing_calls = self.on_machine.changing_calls()
        up.end(signal.SIGKILL)

        up = self.managing()
        after = wait_until(lambda: self.creations(up)["count"] and self.creations(up), "times")
        self.check(after)  # a start looks at what is planned with once more
        self.assertEqual((after["measured_seconds"], after["count"]), (before["measured_seconds"], COUNT))
        self.assertEqual(up.events("TimesMeasured")[:len(events)], events)
        self.assertEqual(self.on_machine.changing_calls(), changing_calls)  # nothing was measured anew
        self.assertEqual(up.end(), 0)


if __name__ == "__main__":
    require_managing()
    unittest.main()
