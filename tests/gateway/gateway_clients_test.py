#!/usr/bin/env python3
"""tritonclient and curl, unchanged, through `berth gateway`.

tritonclient is skipped where it is not installed: scripts/setup test puts it into a Python of its own.
"""

import json
import subprocess
import unittest

from local_gateway import INFER, GatewayCase, infer_body, service
from local_serve import require_engine, run_with_clients

try:
    import numpy
    import tritonclient.http
except ImportError as missing:
    run_with_clients(missing)


class Clients(GatewayCase):
    def setUp(self):
        super().setUp()
        self.add_twice()
        _, first = self.replica("gpu-0-a", 1, "key-a")
        _, second = self.replica("gpu-0-b", 2, "key-b")
        self.gateway_ = self.gateway()
        self.set_table(self.gateway_, service(first, second))

    def test_tritonclient(self):
        client = tritonclient.http.InferenceServerClient(self.gateway_.address + "/vision/digits")
        self.addCleanup(client.close)
        self.assertTrue(client.is_server_live())
        self.assertTrue(client.is_model_ready("twice"))
        self.assertEqual(client.get_model_metadata("twice")["inputs"][0]["name"], "x")
        for binary in (True, False):
            tensor = tritonclient.http.InferInput("x", [3, 2], "FP32")
            values = numpy.arange(6, dtype="float32").reshape(3, 2)
            tensor.set_data_from_numpy(values, binary_data=binary)
            wanted = tritonclient.http.InferRequestedOutput("y", binary_data=binary)
            answer = client.infer("twice", [tensor], outputs=[wanted])
            numpy.testing.assert_array_equal(answer.as_numpy("y"), 2 * values)
        compressed = client.infer("twice", [tensor], response_compression_algorithm="gzip")
        numpy.testing.assert_array_equal(compressed.as_numpy("y"), 2 * values)

    def test_curl(self):
        command = ["curl", "-sS", "--fail", "-d", infer_body(), f"http://{self.gateway_.address}{INFER}"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        self.assertEqual(json.loads(answer)["outputs"][0]["data"], [2, 4])
        many = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [60, 2], "data": [[1.5, 2]] * 60}]})
        command = ["curl", "-sS", "--expect100-timeout", "9", "-H", "Expect: 100-continue", "-d", "@-",
                   f"http://{self.gateway_.address}{INFER}"]
        answer = subprocess.run(command, input=many, capture_output=True, text=True, timeout=20, check=True).stdout
        self.assertEqual(len(json.loads(answer).get("outputs", [{"data": answer}])[0]["data"]), 120, answer[:300])


if __name__ == "__main__":
    require_engine()
    unittest.main()
