#!/usr/bin/env python3
"""`berth serve` as the clients of others see it, unchanged: tritonclient over HTTP and over gRPC.

Skipped where they are not installed: scripts/setup test puts tritonclient into a Python of its own, and
BERTH_CLIENTS_PYTHON names another one.
"""

import queue
import unittest

import onnx_bytes
from local_serve import Case, require_engine, run_with_clients

try:
    import numpy
    import tritonclient.grpc
    import tritonclient.http
    from tritonclient.utils import InferenceServerException
except ImportError as missing:
    run_with_clients(missing)


def same(kind, operator="Identity"):
    """y = x for a type of onnx.proto, or another operator of one input."""
    return onnx_bytes.model([onnx_bytes.node(operator, ["x"], ["y"])], [onnx_bytes.value_info("x", ["N", 3], kind)],
                            [onnx_bytes.value_info("y", ["N", 3], kind)])


# Of onnx.proto (TensorProto.DataType), of numpy.
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "object_", 9: "bool_",
         10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}
NAMES = {"float32": "FP32", "float16": "FP16", "float64": "FP64", "object_": "BYTES", "bool_": "BOOL"}


def datatype(kind):
    return NAMES.get(kind, kind.upper())


def rows_of(kind):
    if kind == "object_":
        return numpy.array([[b"a", b"", "\u00e4".encode()]], dtype=object)
    return numpy.array([[0, 1, 100]]).astype(kind)


class Triton:
    """Both protocols of tritonclient, which have the same names."""

    triton = None

    def setUp(self):
        super().setUp()
        for code, kind in TYPES.items():
            self.add(f"same_{kind}", same(code))
        self.add("twice", onnx_bytes.twice(2))
        self.add("junk", b"junk")
        self.server = self.serve()
        self.client = self.triton.InferenceServerClient(self.address())
        self.addCleanup(self.client.close)

    def tensor(self, values, kind, **how):
        tensor = self.triton.InferInput("x", list(values.shape), datatype(kind))
        tensor.set_data_from_numpy(values, **how)
        return tensor

    def twice(self, **more):
        values = numpy.array([[1, 2.5]], dtype=numpy.float32)
        answer = self.client.infer("twice", [self.tensor(values, "float32")], **more)
        numpy.testing.assert_array_equal(answer.as_numpy("y"), 2 * values)
        return answer

    def test_all_datatypes(self):
        for kind in TYPES.values():
            with self.subTest(kind=kind):
                values = rows_of(kind)
                answer = self.client.infer(f"same_{kind}", [self.tensor(values, kind)])
                numpy.testing.assert_array_equal(answer.as_numpy("y"), values)

    def test_a_request_with_everything(self):
        answer = self.twice(request_id="a", model_version="1", priority=2, timeout=5_000_000,
                            outputs=[self.triton.InferRequestedOutput("y")])
        response = answer.get_response()
        self.assertEqual(response["id"] if isinstance(response, dict) else response.id, "a")

    def test_health_and_metadata(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("twice"))
        self.assertFalse(self.client.is_model_ready("junk"))
        self.twice()
        for answer in [self.client.get_server_metadata(), self.client.get_model_metadata("twice"),
                       self.client.get_model_config("twice"), self.client.get_inference_statistics("twice"),
                       self.client.get_inference_statistics(), self.client.get_model_repository_index()]:
            self.assertTrue(answer)

    def test_load_and_unload(self):
        self.client.load_model("twice")
        self.twice()
        self.client.unload_model("twice")
        self.assertFalse(self.client.is_model_ready("twice"))
        with self.assertRaisesRegex(InferenceServerException, "unloaded"):
            self.twice()
        self.client.load_model("twice")
        self.twice()
        with self.assertRaisesRegex(InferenceServerException, "repository"):
            self.client.load_model("twice", config="{}")

    def test_errors(self):
        values = numpy.zeros((1, 3), dtype=numpy.float32)
        for model, words in [("twice", "shape"), ("none", "none"), ("junk", "ONNX")]:
            with self.assertRaisesRegex(InferenceServerException, words):
                self.client.infer(model, [self.tensor(values, "float32")])
        with self.assertRaises(InferenceServerException):
            self.client.register_system_shared_memory("a", "/a", 10)
        with self.assertRaisesRegex(InferenceServerException, "(?i)sequence"):
            self.twice(sequence_id=5, sequence_start=True)

    def test_many_at_once(self):
        values = numpy.array([[1, 2.5]], dtype=numpy.float32)
        for answer in self.at_once(64, values):
            numpy.testing.assert_array_equal(answer.as_numpy("y"), 2 * values)


class TritonHttp(Triton, Case):
    triton = tritonclient.http

    def address(self):
        return self.server.http

    def at_once(self, count, values):
        with tritonclient.http.InferenceServerClient(self.server.http, concurrency=16) as client:
            calls = [client.async_infer("twice", [self.tensor(values, "float32")]) for _ in range(count)]
            return [call.get_result() for call in calls]

    def test_json_and_binary_mixed(self):
        values = numpy.array([[1, 2.5]], dtype=numpy.float32)
        for is_binary_in in (True, False):
            for is_binary_out in (True, False):
                wanted = [self.triton.InferRequestedOutput("y", binary_data=is_binary_out)]
                answer = self.client.infer("twice", [self.tensor(values, "float32", binary_data=is_binary_in)], outputs=wanted)
                numpy.testing.assert_array_equal(answer.as_numpy("y"), 2 * values)

    def test_compressed_bodies_are_refused(self):
        with self.assertRaisesRegex(InferenceServerException, "(?i)compress"):
            self.twice(request_compression_algorithm="gzip")
        self.twice(response_compression_algorithm="gzip")  # only a wish


class TritonGrpc(Triton, Case):
    triton = tritonclient.grpc

    def address(self):
        if self.server.grpc is None:
            self.skipTest("this server has no gRPC")
        return self.server.grpc

    def at_once(self, count, values):
        ended = queue.Queue()
        for _ in range(count):
            self.client.async_infer("twice", [self.tensor(values, "float32")], lambda result, error: ended.put((result, error)))
        answers = [ended.get(timeout=60) for _ in range(count)]
        self.assertEqual([error for _, error in answers if error], [])
        return [answer for answer, _ in answers]


if __name__ == "__main__":
    require_engine()
    unittest.main()
