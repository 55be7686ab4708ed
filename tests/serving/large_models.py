"""Models of the size of real ones, with made-up weights: the same bytes in every run, and quick to write."""

import array
import random

import onnx_bytes
from onnx_bytes import node, number, text, value_info, varint

FLOAT = 1
BLOCK = 1 << 16  # so many values are made up, and repeated


class Values:
    """Made-up floats: uniform, mean 0, variance 1."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        words = array.array("H", self.rng.randbytes(2 * BLOCK))
        self.block = [(word / 32768 - 1) * 3**0.5 for word in words]

    def scaled(self, count, scale):
        """Others in each call: an engine keeps equal weights once."""
        first = self.rng.randrange(BLOCK)
        block = array.array("f", [value * scale for value in self.block[first:] + self.block[:first]])
        return (block * (count // BLOCK + 1))[:count].tobytes()


def weights_of(name, shape, content):
    sizes = b"".join(number(1, size) for size in shape)
    return sizes + number(2, FLOAT) + text(8, name) + text(9, content)


def numbers(name, values):
    """An attribute: integers."""
    return text(5, text(1, name) + b"".join(number(8, value) for value in values) + number(20, 7))


def perceptron(weight_bytes, layer_count=4, seed=1):
    """Square layers with ReLU between them: `x` [N, W] to `y` [N, W], about `weight_bytes` of weights."""
    width = max(round((weight_bytes / 4 / layer_count) ** 0.5), 1)
    values = Values(seed)
    nodes, weights, name = [], [], "x"
    for i in range(layer_count):
        weights.append(weights_of(f"w{i}", [width, width], values.scaled(width * width, width**-0.5)))
        last = i == layer_count - 1
        nodes.append(node("MatMul", [name, f"w{i}"], ["y" if last else f"m{i}"]))
        if not last:
            nodes.append(node("Relu", [f"m{i}"], [f"r{i}"]))
            name = f"r{i}"
    content = onnx_bytes.model(nodes, [value_info("x", ["N", width])], [value_info("y", ["N", width])], weights)
    return content, width


class ResNet:
    """The graph of ResNet-50 (He et al. 2015, table 1): `x` [N, 3, S, S] to `y` [N, classes]; 102 MB with its usual sizes."""

    def __init__(self, seed=1, blocks=(3, 4, 6, 3), width=64, classes=1000):
        self.values = Values(seed)
        self.nodes, self.weights = [], []
        name = self.relu(self.convolution("x", 3, width, 7, 2))
        pooled = "pooled"
        self.nodes.append(node("MaxPool", [name], [pooled], numbers("kernel_shape", [3, 3]) + numbers("strides", [2, 2]) + numbers("pads", [1] * 4)))
        name, channels = pooled, width
        for stage, count in enumerate(blocks):
            for i in range(count):
                stride = 2 if i == 0 and stage > 0 else 1
                name = self.bottleneck(name, channels, width << stage, stride)
                channels = 4 * (width << stage)
        self.nodes.append(node("GlobalAveragePool", [name], ["mean"]))
        self.nodes.append(node("Flatten", ["mean"], ["flat"]))
        self.weights.append(weights_of("fc", [channels, classes], self.values.scaled(channels * classes, channels**-0.5)))
        self.weights.append(weights_of("fc_bias", [classes], bytes(4 * classes)))
        self.nodes.append(node("Gemm", ["flat", "fc", "fc_bias"], ["y"]))
        self.classes = classes

    def convolution(self, name, before, after, size, stride):
        """With batch normalisation, as exporters write it before training is over; the name of its output."""
        index = len(self.nodes)
        fan_in = before * size * size
        self.weights.append(weights_of(f"w{index}", [after, before, size, size], self.values.scaled(after * fan_in, (2 / fan_in) ** 0.5)))
        attributes = numbers("kernel_shape", [size] * 2) + numbers("strides", [stride] * 2) + numbers("pads", [size // 2] * 4)
        self.nodes.append(node("Conv", [name, f"w{index}"], [f"c{index}"], attributes))
        ones = array.array("f", [1] * after).tobytes()
        for kind, content in {"scale": ones, "bias": bytes(4 * after), "mean": bytes(4 * after), "var": ones}.items():
            self.weights.append(weights_of(f"{kind}{index}", [after], content))
        inputs = [f"c{index}", *(f"{kind}{index}" for kind in ["scale", "bias", "mean", "var"])]
        self.nodes.append(node("BatchNormalization", inputs, [f"n{index}"]))
        return f"n{index}"

    def relu(self, name):
        self.nodes.append(node("Relu", [name], [f"relu_{name}"]))
        return f"relu_{name}"

    def bottleneck(self, name, before, width, stride):
        inner = self.relu(self.convolution(name, before, width, 1, 1))
        inner = self.relu(self.convolution(inner, width, width, 3, stride))
        inner = self.convolution(inner, width, 4 * width, 1, 1)
        if before != 4 * width or stride != 1:
            name = self.convolution(name, before, 4 * width, 1, stride)
        self.nodes.append(node("Add", [inner, name], [f"sum_{inner}"]))
        return self.relu(f"sum_{inner}")

    def model(self, pixels=224):
        inputs = [value_info("x", ["N", 3, pixels, pixels])]
        return onnx_bytes.model(self.nodes, inputs, [value_info("y", ["N", self.classes])], self.weights)
