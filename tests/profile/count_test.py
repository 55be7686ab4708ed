#!/usr/bin/env python3
"""What `berth profile` counts from a graph equals a second count that shares no code with it."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "serving")]

import local_serve  # noqa: E402
import onnx_bytes  # noqa: E402
from counted_graphs import Counted  # noqa: E402

GRAPHS = 40
FIXED_ROWS = 4
FIGURES = ("flops", "activation_bytes", "parameters", "weight_bytes")


class Count(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def counted(self, content):
        (self.folder / "graph.onnx").write_bytes(content)
        words = [local_serve.PROGRAM, "profile", "graph.onnx", "--batches", "1", "--processes", "1", "--seconds", "0.001", "--out", "db",
                 "--format", "json"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        model = json.loads(run.stdout)["run"]["model"]
        return {key: model[key] for key in FIGURES}

    def test_graphs(self):
        kinds = set()
        for seed in range(GRAPHS):
            graph = Counted(seed)
            with self.subTest(seed=seed):
                self.assertEqual(self.counted(graph.bytes()), graph.figures())
                self.assertGreater(graph.flops, 0)
            kinds |= {name for name in ("ConvTranspose", "QLinearConv", "ConvInteger", "MatMulInteger", "QLinearMatMul", "DequantizeLinear",
                                        "Gather", "Constant") if any(name.encode() in each for each in graph.nodes)}
        self.assertEqual(len(kinds), 8, kinds)

    def test_a_fixed_first_dimension_is_divided_by(self):
        free, divided = self.counted(onnx_bytes.layers([8, 16, 4])), self.counted(self.fixed_layers())
        self.assertEqual(free["flops"], 2 * (8 * 16 + 16 * 4))
        self.assertEqual(divided, free)

    def fixed_layers(self):
        nodes = [onnx_bytes.node("MatMul", ["x", "w0"], ["m"]), onnx_bytes.node("Relu", ["m"], ["r"]),
                 onnx_bytes.node("MatMul", ["r", "w1"], ["y"])]
        weights = [onnx_bytes.weights("w0", [8, 16], [0.5] * 128), onnx_bytes.weights("w1", [16, 4], [0.5] * 64)]
        return onnx_bytes.model(nodes, [onnx_bytes.value_info("x", [FIXED_ROWS, 8])], [onnx_bytes.value_info("y", [FIXED_ROWS, 4])], weights)

    def test_what_cannot_be_counted_is_null(self):
        branch = onnx_bytes.text(1, onnx_bytes.node("Identity", ["x"], ["b"])) + onnx_bytes.text(2, "g")
        branch += onnx_bytes.text(12, onnx_bytes.value_info("b", ["N", 2]))
        both = b"".join(onnx_bytes.text(5, onnx_bytes.text(1, name) + onnx_bytes.text(6, branch) + onnx_bytes.number(20, 5))
                        for name in ("then_branch", "else_branch"))
        truth = onnx_bytes.number(2, 9) + onnx_bytes.text(8, "c") + onnx_bytes.text(9, b"\x01")
        graph = onnx_bytes.model([onnx_bytes.node("If", ["c"], ["y"], both)], [onnx_bytes.value_info("x", ["N", 2])],
                                 [onnx_bytes.value_info("y", ["N", 2])], [truth])
        self.assertEqual(self.counted(graph), dict.fromkeys(FIGURES))

    def test_sizes_behind_an_operator_without_a_rule_are_those_of_a_run(self):
        """As behind the classifiers of scikit-learn: the engine's inference does not know what ArrayFeatureExtractor makes."""
        places = onnx_bytes.number(1, 2) + onnx_bytes.number(2, 7) + onnx_bytes.text(8, "i") + onnx_bytes.text(9, struct.pack("<2q", 0, 3))
        extract = onnx_bytes.node("ArrayFeatureExtractor", ["x", "i"], ["e"], onnx_bytes.text(7, "ai.onnx.ml"))
        graph = onnx_bytes.model([extract, onnx_bytes.node("MatMul", ["e", "w"], ["y"])], [onnx_bytes.value_info("x", ["N", 4])],
                                 [onnx_bytes.value_info("y", ["N", 3])], [places, onnx_bytes.weights("w", [2, 3], [1.0] * 6)])
        graph += onnx_bytes.text(8, onnx_bytes.text(1, "ai.onnx.ml") + onnx_bytes.number(2, 3))
        self.assertEqual(self.counted(graph), {"flops": 2 * 2 * 3, "activation_bytes": 4 * (2 + 3), "parameters": 6, "weight_bytes": 24})

    def test_a_shape_that_is_not_known_is_null(self):
        """How many elements are not zero is known after the run alone."""
        nodes = [onnx_bytes.node("NonZero", ["x"], ["i"]), onnx_bytes.node("Cast", ["i"], ["f"], onnx_bytes.attribute("to", 1)),
                 onnx_bytes.node("MatMul", ["w", "f"], ["y"])]
        graph = onnx_bytes.model(nodes, [onnx_bytes.value_info("x", ["N", 2])], [onnx_bytes.value_info("y", [3, "any"])],
                                 [onnx_bytes.weights("w", [3, 2], [1.0] * 6)])
        self.assertEqual(self.counted(graph), {"flops": None, "activation_bytes": None, "parameters": 6, "weight_bytes": 24})


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
