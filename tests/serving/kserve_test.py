#!/usr/bin/env python3
"""`berth serve` as the client of kserve sees it, unchanged. Not in one process with tritonclient: both define the same
messages. Skipped where it is not installed, as clients_test.py."""

import asyncio
import unittest

import onnx_bytes
from local_serve import Case, require_engine, run_with_clients

try:
    import numpy
    from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
except ImportError as missing:
    run_with_clients(missing)


class KServe(Case):
    def setUp(self):
        super().setUp()
        self.add("twice", onnx_bytes.twice(2))
        self.server = self.serve()

    def request(self, is_binary):
        values = InferInput("x", [1, 2], "FP32")
        values.set_data_from_numpy(numpy.array([[1, 2.5]], dtype=numpy.float32), binary_data=is_binary)
        return InferRequest("twice", [values])

    def test_rest(self):
        async def ask():
            client = InferenceRESTClient(RESTConfig(protocol="v2"))
            url = f"http://{self.server.http}"
            self.assertTrue(await client.is_server_live(url))
            self.assertTrue(await client.is_server_ready(url))
            self.assertTrue(await client.is_model_ready(url, "twice"))
            for is_binary in (False, True):
                answer = await client.infer(url, self.request(is_binary), model_name="twice")
                self.assertEqual(answer.outputs[0].as_numpy().tolist(), [[2.0, 5.0]])

        asyncio.run(ask())

    def test_grpc(self):
        if self.server.grpc is None:
            self.skipTest("this server has no gRPC")

        async def ask():
            client = InferenceGRPCClient(self.server.grpc)
            self.assertTrue(await client.is_server_live())
            self.assertTrue(await client.is_server_ready())
            self.assertTrue(await client.is_model_ready("twice"))
            answer = await client.infer(self.request(False))
            self.assertEqual(answer.outputs[0].as_numpy().tolist(), [[2.0, 5.0]])
            await client.close()

        asyncio.run(ask())


if __name__ == "__main__":
    require_engine()
    unittest.main()
