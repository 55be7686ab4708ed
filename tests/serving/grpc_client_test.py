#!/usr/bin/env python3
"""A running `berth serve` as tritonclient (gRPC) and grpcio see it, unchanged.

    BERTH_GRPC=127.0.0.1:8001 [BERTH_GRPC_MODEL=NAME] tests/serving/grpc_client_test.py

Skipped without an address, and where `pip install tritonclient[grpc]` is missing. The model is the first one of the index
unless it is named; its inputs are zeros, of one element where their size is free.
"""

import os
import sys
import threading
import unittest

ADDRESS = os.environ.get("BERTH_GRPC")
SKIPPED = 77

try:
    import grpc
    import numpy
    import tritonclient.grpc as triton
    from tritonclient.grpc import service_pb2 as messages
    from tritonclient.utils import InferenceServerException, triton_to_np_dtype
except ImportError as missing:
    print(f"skipped: {missing} (pip install tritonclient[grpc])")
    sys.exit(SKIPPED)
if not ADDRESS:
    print("skipped: BERTH_GRPC names no server (HOST:PORT)")
    sys.exit(SKIPPED)

SERVICE = "/inference.GRPCInferenceService/"
HEALTH = "/grpc.health.v1.Health/"
CALLS = 32


def zeros_of(tensor):
    """An input for a tensor of the metadata."""
    shape = [1 if size < 0 else size for size in (int(size) for size in tensor.shape)]
    if tensor.datatype == "BYTES":
        data = numpy.full(shape, b"", dtype=object)
    else:
        data = numpy.zeros(shape, dtype=triton_to_np_dtype(tensor.datatype))
    wanted = triton.InferInput(tensor.name, shape, tensor.datatype)
    wanted.set_data_from_numpy(data)
    return wanted


class GrpcClient(unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(ADDRESS)
        self.addCleanup(self.client.close)
        self.model = os.environ.get("BERTH_GRPC_MODEL") or self.client.get_model_repository_index().models[0].name
        self.metadata = self.client.get_model_metadata(self.model)
        self.inputs = [zeros_of(tensor) for tensor in self.metadata.inputs]

    def refused(self, code, function, *arguments, **named):
        with self.assertRaises(InferenceServerException) as raised:
            function(*arguments, **named)
        self.assertEqual(raised.exception.status(), f"StatusCode.{code}", raised.exception.message())
        return raised.exception.message()

    def raw_call(self, path, message):
        """The status of a call with any bytes as its message."""
        with grpc.insecure_channel(ADDRESS) as channel:
            call = channel.unary_unary(path, request_serializer=lambda text: text, response_deserializer=lambda text: text)
            try:
                call(message, timeout=10)
                return "OK"
            except grpc.RpcError as error:
                return error.code().name

    def test_server(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertEqual(self.client.get_server_metadata().name, "berth")
        self.assertTrue(self.client.is_model_ready(self.model))
        self.assertEqual(self.client.get_model_config(self.model).config.name, self.model)
        self.assertEqual(self.client.get_model_config(self.model).config.backend, "onnxruntime")
        self.assertGreaterEqual(len(self.metadata.versions), 1)

    def test_infer(self):
        result = self.client.infer(self.model, self.inputs, request_id="17")
        response = result.get_response()
        self.assertEqual((response.model_name, response.id), (self.model, "17"))
        self.assertEqual([output.name for output in response.outputs], [output.name for output in self.metadata.outputs])
        for output in response.outputs:
            self.assertEqual(list(result.as_numpy(output.name).shape), list(output.shape))

    def test_infer_named_outputs_and_version(self):
        name = self.metadata.outputs[-1].name
        outputs = [triton.InferRequestedOutput(name)]
        result = self.client.infer(self.model, self.inputs, model_version=self.metadata.versions[-1], outputs=outputs,
                                   priority=2, timeout=20_000_000, client_timeout=20)
        self.assertEqual([output.name for output in result.get_response().outputs], [name])
        self.refused("NOT_FOUND", self.client.infer, self.model, self.inputs, model_version="987654")
        unknown = [triton.InferRequestedOutput("no such output")]
        self.refused("INVALID_ARGUMENT", self.client.infer, self.model, self.inputs, outputs=unknown)

    def test_typed_contents(self):
        if any(tensor.datatype != "FP32" for tensor in self.metadata.inputs):
            self.skipTest("the model has inputs that are not FP32")
        request = messages.ModelInferRequest(model_name=self.model)
        for tensor in self.metadata.inputs:
            shape = [1 if size < 0 else size for size in (int(size) for size in tensor.shape)]
            elements = request.inputs.add(name=tensor.name, datatype="FP32", shape=shape).contents.fp32_contents
            elements.extend([0.0] * int(numpy.prod(shape)))
        self.assertEqual(self.raw_call(SERVICE + "ModelInfer", request.SerializeToString()), "OK")
        request.inputs[0].contents.fp32_contents.append(1.0)
        self.assertEqual(self.raw_call(SERVICE + "ModelInfer", request.SerializeToString()), "INVALID_ARGUMENT")

    def test_many_at_once(self):
        done = threading.Semaphore(0)
        failures = []

        def take(result, error):
            if error is not None:
                failures.append(error)
            done.release()

        for _ in range(CALLS):
            self.client.async_infer(self.model, self.inputs, take)
        for _ in range(CALLS):
            self.assertTrue(done.acquire(timeout=60))
        self.assertEqual(failures, [])

    def test_statistics(self):
        self.client.infer(self.model, self.inputs)
        statistics = self.client.get_inference_statistics(self.model).model_stats
        self.assertEqual(statistics[0].name, self.model)
        self.assertGreaterEqual(statistics[0].inference_stats.success.count, 1)

    def test_repository(self):
        self.client.load_model(self.model)
        self.assertTrue(self.client.is_model_ready(self.model))
        self.refused("NOT_FOUND", self.client.load_model, "no such model")
        self.refused("NOT_FOUND", self.client.unload_model, "no such model")
        self.refused("UNIMPLEMENTED", self.client.load_model, self.model, config="{}")

    def test_bad_input(self):
        self.refused("NOT_FOUND", self.client.infer, "no such model", self.inputs)
        self.refused("NOT_FOUND", self.client.get_model_metadata, "no such model")
        self.refused("UNIMPLEMENTED", self.client.infer, self.model, self.inputs, sequence_id=3, sequence_start=True)
        self.refused("INVALID_ARGUMENT", self.client.infer, self.model, self.inputs, priority=1001)
        self.refused("INVALID_ARGUMENT", self.client.infer, self.model, self.inputs, timeout=-1)
        self.refused("UNIMPLEMENTED", self.client.get_system_shared_memory_status)
        self.refused("UNIMPLEMENTED", self.client.infer, self.model, self.inputs, compression_algorithm="gzip")
        for message in [b"\xff", b"\x0a\x05a", os.urandom(1000), b"\x2a\x00" * 1000]:
            self.assertNotIn(self.raw_call(SERVICE + "ModelInfer", message), ["OK", "INTERNAL", "UNKNOWN"])
        self.assertEqual(self.raw_call(SERVICE + "ModelStreamInfer", b""), "UNIMPLEMENTED")
        self.assertEqual(self.raw_call("/no.Service/Call", b""), "UNIMPLEMENTED")
        self.client.infer(self.model, self.inputs)

    def test_health(self):
        self.assertEqual(self.raw_call(HEALTH + "Check", b""), "OK")
        self.assertEqual(self.raw_call(HEALTH + "Check", b"\x0a\x01x"), "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
