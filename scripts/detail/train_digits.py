#!/usr/bin/env python3
"""Trains classifiers of handwritten digits and writes them as ONNX, with rows to calibrate and to judge them: see
scripts/models.

    scripts/detail/train_digits.py DIR [SEED]
"""

import io
import json
import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROWS_SHOWN = 4
OPSET = 17
IR_VERSION = 8
SIDE = 8
STEM_CHANNELS = 32
INNER_CHANNELS = 64
BLOCKS = 2
PATCHES_MAX = 20_000


class Graph:
    """Nodes of an ONNX graph, computed with numpy as they are added: later layers are made from what earlier ones give."""

    def __init__(self, rows):
        self.nodes, self.weights = [], []
        self.name, self.value = "X", rows.astype(numpy.float32)

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def add(self, operator, name, value, inputs=(), **attributes):
        """`name` = operator(the last value, *inputs) is `value`, and the last value from now on."""
        self.nodes.append(helper.make_node(operator, [self.name, *inputs], [name], name=f"{operator}_{name}", **attributes))
        self.name, self.value = name, value

    def convolution(self, name, filters):
        """3 x 3, padded by one, without bias, then batch normalisation by the statistics of these rows."""
        self.add("Conv", name, convolve(self.value, filters), [self.weight(name + ".filters", filters)],
                 kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        mean, variance = self.value.mean((0, 2, 3)), self.value.var((0, 2, 3))
        scale, shift = numpy.ones_like(mean), numpy.full_like(mean, -0.1)
        normal = (self.value - mean[:, None, None]) / numpy.sqrt(variance[:, None, None] + 1e-5) + shift[:, None, None]
        statistics = {"scale": scale, "shift": shift, "mean": mean, "variance": variance}
        self.add("BatchNormalization", name + ".normal", normal,
                 [self.weight(f"{name}.{key}", array) for key, array in statistics.items()], epsilon=1e-5)

    def relu(self, name):
        self.add("Relu", name, numpy.maximum(self.value, 0))

    def add_value(self, name, other, other_value):
        self.add("Add", name, self.value + other_value, [other])


def patches_of(images):
    """Rows of 3 x 3 surroundings, zero outside: (rows, height, width, channels * 9)."""
    padded = numpy.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(len(images), images.shape[2], images.shape[3], -1)


def convolve(images, filters):
    return (patches_of(images) @ filters.reshape(len(filters), -1).T).transpose(0, 3, 1, 2).astype(numpy.float32)


def learn_filters(images, count, seed):
    """The centres that k-means finds in the surroundings, as filters of length one (Coates, Ng 2012)."""
    patches = patches_of(images).reshape(-1, images.shape[1] * 9)
    draw = numpy.random.default_rng(seed)
    patches = patches[draw.choice(len(patches), min(PATCHES_MAX, len(patches)), replace=False)]
    patches = patches - patches.mean(1, keepdims=True)
    centres = MiniBatchKMeans(count, random_state=seed, n_init=1, max_iter=30).fit(patches).cluster_centers_
    centres /= numpy.linalg.norm(centres, axis=1, keepdims=True) + 1e-6
    return centres.reshape(count, images.shape[1], 3, 3).astype(numpy.float32)


def convolutional(train, labels, seed):
    """Layers of learned filters in residual blocks; only the last layer knows the labels."""
    graph = Graph(train)
    shape = numpy.array([-1, 1, SIDE, SIDE], numpy.int64)
    graph.add("Reshape", "image", (graph.value / 16).reshape(shape), [graph.weight("image.shape", shape)])
    graph.nodes[-1].input[0] = "scaled"
    graph.nodes.insert(0, helper.make_node("Div", ["X", graph.weight("sixteen", numpy.float32(16))], ["scaled"]))
    graph.convolution("stem", learn_filters(graph.value, STEM_CHANNELS, seed))
    graph.relu("stem.relu")
    for block in range(BLOCKS):
        name, before = f"block{block}", (graph.name, graph.value)
        graph.convolution(name + ".a", learn_filters(graph.value, INNER_CHANNELS, seed + 1))
        graph.relu(name + ".a.relu")
        graph.convolution(name + ".b", learn_filters(graph.value, STEM_CHANNELS, seed + 2))
        graph.add_value(name + ".sum", *before)
        graph.relu(name + ".relu")
    pooled = graph.value.reshape(len(train), STEM_CHANNELS, SIDE // 2, 2, SIDE // 2, 2).max((3, 5))
    graph.add("MaxPool", "pooled", pooled, kernel_shape=[2, 2], strides=[2, 2])
    graph.add("Flatten", "flat", pooled.reshape(len(train), -1))
    last = LogisticRegression(C=0.01, max_iter=3000, random_state=seed).fit(graph.value, labels)
    graph.add("Gemm", "scores", graph.value @ last.coef_.T + last.intercept_,
              [graph.weight("last.weights", last.coef_.astype(numpy.float32)),
               graph.weight("last.bias", last.intercept_.astype(numpy.float32))], transB=1)
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", SIDE * SIDE])]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["rows", 10])]
    made = helper.make_graph(graph.nodes, "digits-cnn", inputs, outputs, graph.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def learned(pipeline, train, labels):
    """A pipeline of scikit-learn; its outputs are tensors, not a list of maps."""
    fitted = pipeline.fit(train, labels)
    return to_onnx(fitted, train[:1], options={id(fitted): {"zipmap": False}}, target_opset=OPSET)


def write_whole(path, content):
    """The file appears complete or not at all: a server may read the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.rename(path)


def write_rows(path, rows, labels):
    content = io.BytesIO()
    numpy.savez_compressed(content, X=rows, label=labels.astype(numpy.int64))
    write_whole(path, content.getvalue())


def main():
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    pixels, digits = load_digits(return_X_y=True)
    train, test, train_digits, test_digits = train_test_split(
        pixels.astype(numpy.float32), digits, test_size=0.3, random_state=seed, stratify=digits)
    models = {
        "digits": learned(make_pipeline(StandardScaler(), MLPClassifier((256, 256), random_state=seed)), train, train_digits),
        "digits-linear": learned(make_pipeline(StandardScaler(), LogisticRegression(max_iter=3000)), train, train_digits),
        "digits-cnn": convolutional(train, train_digits, seed),
    }
    write_rows(folder / "digits-calibration.npz", train, train_digits)
    write_rows(folder / "digits-evaluation.npz", test, test_digits)
    rows = test[:ROWS_SHOWN]
    request = {"inputs": [{"name": "X", "datatype": "FP32", "shape": list(rows.shape), "data": rows.tolist()}]}
    for name, model in models.items():
        write_whole(folder / name / "1/model.onnx", model.SerializeToString())
        print(f"models: {folder}/{name}/1/model.onnx")
    write_whole(folder / "digits-request.json", json.dumps(request).encode() + b"\n")  # the last: then all is there
    print(f"models: {folder}/digits-calibration.npz, digits-evaluation.npz: {len(train)} and {len(test)} digits, with labels")
    print(f"models: {folder}/digits-request.json: four digits, which are {', '.join(map(str, test_digits[:ROWS_SHOWN]))}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"models: {error}")
