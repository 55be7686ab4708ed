#!/usr/bin/env python3
"""The built-in template: `berth hands` runs `berth serve` on one model, on a simulated device."""

import http.client
import json
import os
import sys
import time
import unittest

from program_machine import ROOT, ProgramCase, require_program, runs

sys.path.insert(0, str(ROOT / "tests/serving"))
import onnx_bytes  # noqa: E402
from local_serve import SETTLE_SECONDS, device_file, require_engine  # noqa: E402


class Served(ProgramCase):
    separate_users = os.geteuid() == 0

    def setUp(self):
        super().setUp()
        models = self.folder / "models"
        for name in ("twice", "other"):
            (models / name / "1").mkdir(parents=True)
            (models / name / "1/model.onnx").write_bytes(onnx_bytes.twice(2))
        self.written = time.time()
        self.start_hands(self.rules(f"repositories: {{demo: {{path: {models}, tenants: [vision]}}}}"))
        self.client_ = self.client()

    def add_device(self, name="gpu-1-0", generation=1, lanes=2):
        path = self.devices / f"{name}-{generation}.yaml"
        path.write_text(device_file(2, {"twice": 1_000_000}, "1GiB", lanes=lanes, load_seconds=0.3))
        return path

    def ask(self, report, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", report["port"], timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path, None if body is None else json.dumps(body), {"berth-key": report["key"]})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def test_it_serves_one_model_and_is_ready_once_that_is_loaded(self):
        self.add_device()
        time.sleep(max(0.0, self.written + SETTLE_SECONDS - time.time()))
        client = self.client_
        client.start("serve", repository="demo", model="twice")
        ready = client.until_phase("ready", "failed")
        self.assertEqual(ready["phase"], "ready", ready["message"])
        self.assertGreater(ready["start_time_us"], 300_000, "the load of the simulated device")
        self.assertEqual(ready["in_flight_max"], 2 * 2 * 64, "two batches for each lane")
        self.assertRegex(ready["key"], "^[0-9a-f]{32}$")
        self.assertEqual([process["pid"] for process in self.show(self.machine)["devices"][1]["processes"]], [ready["pid"]])
        inputs = [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]
        status, answer = self.ask(ready, "POST", "/v2/models/twice/infer", {"inputs": inputs})
        self.assertEqual((status, answer["outputs"][0]["data"]), (200, [2, 4]))
        status, index = self.ask(ready, "POST", "/v2/repository/index")
        self.assertEqual([model["name"] for model in index], ["twice"])
        self.assertIn("simulated", client.log())
        client.stop()
        client.until_phase("stopped")
        self.assertFalse(runs(ready["pid"]))
        client.start("serve", generation=2, repository="demo", model="twice")  # without a device file
        self.assertIn("gpu-1-0-2.yaml: cannot be read", client.until_phase("failed")["message"])

    def test_a_slice_with_a_program_is_in_use(self):
        client = self.client_
        def order(change, intent):
            client.send(verb="order", intent=intent, change=change, uuid=self.managed, profile_id=19, start=6, length=1,
                        was_tried=False)
            while (packet := client.hear())["verb"] != "end":
                pass
            return packet
        device = order("create", 1)["mig_uuid"]
        self.add_device()
        time.sleep(max(0.0, self.written + SETTLE_SECONDS - time.time()))
        client.start("serve", device=device, repository="demo", model="twice")
        pid = client.until_phase("ready")["pid"]
        busy = order("destroy", 2)
        self.assertEqual((busy["outcome"], [holder["pid"] for holder in busy["holders"]]), ("busy", [pid]), busy)
        client.stop()
        client.until_phase("stopped")
        self.assertEqual(order("destroy", 3)["outcome"], "done")

    def test_what_is_wrong_is_said(self):
        client = self.client_
        self.add_device()
        client.start("serve", repository="demo", model="none")
        self.assertIn("run.serve.model: wanted a folder ", client.until_phase("failed")["message"])
        client.start("serve", generation=3, repository="demo", model="twice", slice_name="b")
        path = self.add_device("b", 3)
        path.unlink()
        path.symlink_to("/etc/shadow")
        self.assertIn("b-3.yaml: cannot be read: ", client.until_phase("failed", slice_name="b")["message"])


if __name__ == "__main__":
    require_program()
    require_engine()
    unittest.main()
