#!/usr/bin/env python3
"""`berth up` on simulated GPUs that it may change: their MIG mode, and boots of the machine beneath it."""

import unittest

from local_up import Case, require_managing, wait_until

TAGGER = "v1/tenants/t/services/tagger"


def tagger(model="A100-80GB"):
    """A service whose only row is that of a small slice."""
    row = {"model": "tag", "gpu": model, "profile": "1g.10gb", "batch": 1, "processes": 1, "requests_per_second": 100,
           "latency_ms": 10}
    arrivals = {"format": "poisson", "requests_per_second": 50, "seconds": 3600, "repeat": True}
    return {"spec": {"profile": {"format": "csv", "model": "tag", "rows": [row]}, "slo": {"latency_ms": 100},
                     "expects": {"requests_per_second": 50}, "arrivals": arrivals}}


class MigMode(Case):
    def on(self, mig, managed="mig_mode: true", gpu="H100-80GB", count=1):
        """A machine, and the words with which `berth up` may change its first GPU."""
        self.on_machine = self.machine(f"[{{gpu: {gpu}, count: {count}, mig: {mig}}}]")
        config = self.folder / "berth.yaml"
        config.write_text(f"manage: [{{uuid: {self.on_machine.uuids()[0]}, {managed}}}]\n")
        self.words = ("--config", config, "--manage-gpus", "--load", "simulated")
        return self.on_machine

    def up(self, *words):
        return self.local(self.on_machine, *self.words, *words)

    def mode(self, index=0):
        mig = self.on_machine.show()[index]["mig"]
        return tuple("enabled" if mig[each] else "disabled" for each in ("current", "pending"))

    def told(self, up, message):
        wait_until(lambda: up.events("GpuMigMode") == [("gpu-0", message)], message)

    def test_it_is_turned_on_where_that_is_allowed(self):
        self.on("false", count=2)
        up = self.up()
        wait_until(lambda: up.gpu(0)["managed"], "the first GPU may be changed")
        self.told(up, "turned on")
        self.assertEqual([self.mode(0), self.mode(1)], [("enabled",) * 2, ("disabled",) * 2])
        self.assertEqual(self.on_machine.changing_calls()[1], 0)
        self.assertEqual(up.gpu(1)["managed"], False)

    def test_it_is_left_alone_otherwise(self):
        self.on("false", managed="mig_mode: false")
        up = self.up()
        wait_until(lambda: up.gpu(0)["managed_reason"] == "its MIG mode is off", "the reason")
        self.assertEqual(self.on_machine.changing_calls(), [0])
        self.assertEqual(up.events("GpuMigMode"), [])

    def test_a_dry_run_says_so_once(self):
        self.on("false")
        up = self.up("--dry-run")
        self.told(up, "not turned on: dry run: nothing is done")
        self.assertEqual(self.on_machine.changing_calls(), [0])

    def test_not_while_somebody_uses_the_gpu(self):
        machine = self.on("false")
        uuid = machine.uuids()[0]
        machine.do("process", "add", "--uuid", uuid, "--pid", 4242, "--memory-mib", 100)
        up = self.up()
        wait_until(lambda: up.gpu(0)["managed_reason"] == "its MIG mode is off", "the reason")
        self.assertEqual(machine.changing_calls(), [0])
        machine.do("process", "remove", "--uuid", uuid, "--pid", 4242)
        wait_until(lambda: up.gpu(0)["managed"], "it may be changed")

    def test_where_it_needs_a_reset_that_is_left_to_people(self):
        machine = self.on("false", gpu="A100-80GB")
        up = self.up()
        reason = "its MIG mode changes at the next reset of the GPU"
        wait_until(lambda: up.gpu(0)["managed_reason"] == reason, reason)
        self.assertEqual(self.mode(), ("disabled", "enabled"))
        self.told(up, "not turned on: MIG mode is pending: it needs a reset of the GPU")
        machine.do("reset", "--gpu", 0)
        wait_until(lambda: up.gpu(0)["managed"], "it may be changed")

    def test_a_service_gets_a_slice_once_it_is_on(self):
        self.on("false")
        up = self.up()
        self.assertEqual(up.send("PUT", "v1/tenants/t", {})[0], 201)
        status, body = up.send("PUT", TAGGER, tagger("H100-80GB"))
        self.assertEqual(status, 201, body)
        wait_until(lambda: [state for *_, state in up.slices()] == ["serving"], "a slice that serves")



class Boots(Case):
    def setUp(self):
        super().setUp()
        self.on_machine = self.machine("[{gpu: A100-80GB, count: 1, mig: true}]")
        config = self.folder / "berth.yaml"
        config.write_text(f"manage: [{{uuid: {self.on_machine.uuids()[0]}}}]\n")
        self.words = ("--config", config, "--manage-gpus", "--load", "simulated")

    def up(self):
        return self.local(self.on_machine, *self.words)

    def boot_id(self):
        return self.on_machine.state.with_name("machine.boot_id").read_text().strip()

    def test_what_is_made_after_a_boot_is_ours_after_a_restart(self):
        up = self.up()
        up.send("PUT", "v1/tenants/t", {})
        self.assertEqual(up.send("PUT", TAGGER, tagger())[0], 201)
        serving = wait_until(lambda: [each for each in up.slices() if each[3] == "serving"], "a slice that serves")
        before = self.boot_id()
        self.on_machine.do("reset", "--reboot")
        self.assertNotEqual(self.boot_id(), before)
        wait_until(lambda: up.events("SliceMissing"), "the slice is missing")
        wait_until(lambda: up.slices() == serving and self.on_machine.show()[0]["gpu_instances"], "it is made again")
        self.assertEqual((self.data / "boot_id").read_text().strip(), self.boot_id())
        calls = self.on_machine.changing_calls()
        up.end(9)
        again = self.up()
        self.assertEqual(again.slices(), serving)
        self.assertEqual(again.events("SliceForeign"), [])
        self.assertEqual(self.on_machine.changing_calls(), calls)


if __name__ == "__main__":
    require_managing()
    unittest.main()
