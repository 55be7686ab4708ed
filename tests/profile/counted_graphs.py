"""Random graphs, and what one row costs them, counted while they are made: a weight of a convolution is used at every position of
the output (of a transposed one: of the input), one of a product once for every row."""

import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serving"))

from onnx_bytes import FLOAT, INT64, model, node, number, text, value_info  # noqa: E402

UINT8, INT8, INT32, FLOAT16 = 2, 3, 6, 10
SIZES = {FLOAT: 4, INT64: 8, UINT8: 1, INT8: 1, INT32: 4, FLOAT16: 2}


def ints(name, values):
    return text(5, text(1, name) + b"".join(number(8, value) for value in values) + number(20, 7))


def integer(name, value):
    return text(5, text(1, name) + number(3, value) + number(20, 2))


def tensor(name, kind, shape, content):
    return b"".join(number(1, size) for size in shape) + number(2, kind) + text(8, name) + text(9, content)


class Counted:
    """A graph of images [N, channels, side, side] or rows [N, width] that grows by random steps."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.nodes, self.weights = [], []
        self.flops = self.activation_bytes = self.parameters = self.weight_bytes = 0
        self.shape = [self.draw.choice([1, 2, 3, 4]), 12, 12]
        self.first_shape = list(self.shape)
        self.value = "x"
        self.count = 0
        for _ in range(self.draw.randint(3, 8)):
            getattr(self, self.draw.choice(["conv", "conv", "depthwise", "transposed", "relu", "pool", "residual", "quantised_conv",
                                            "integer_conv", "dequantised", "constant"]))()
        self.flatten()
        for _ in range(self.draw.randint(1, 4)):
            getattr(self, self.draw.choice(["gemm", "matmul", "integer_matmul", "quantised_matmul", "outer", "relu", "sizes"]))()

    # ----------------------------------------------------------------------------------------------------- pieces

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def weight(self, shape, kind=FLOAT, counts=True):
        name = self.name("w")
        elements = math.prod(shape)
        content = bytes(elements * SIZES[kind])
        if kind == FLOAT:  # no number is zero: scales must not be
            content = bytes.fromhex("cdcccc3d") * elements
        self.weights.append(tensor(name, kind, shape, content))
        if counts:
            self.parameters += elements
            self.weight_bytes += elements * SIZES[kind]
        return name

    def put(self, operator, inputs, shape=None, kind=FLOAT, attributes=b"", moves=True):
        """Adds a node whose output has this shape, without the rows."""
        output = self.name("v")
        self.nodes.append(node(operator, inputs, [output], attributes))
        shape = self.shape if shape is None else list(shape)
        self.activation_bytes += math.prod(shape) * SIZES[kind]
        if moves:
            self.value, self.shape = output, shape
        return output

    def window(self, groups=1):
        """Attributes of a convolution and the side that it leaves."""
        size = self.draw.choice([1, 3])
        stride = self.draw.choice([1, 1, 2])
        dilation = self.draw.choice([1, 1, 2]) if size > 1 else 1
        pad = self.draw.choice([0, 1, 2])
        side = (self.shape[1] + 2 * pad - dilation * (size - 1) - 1) // stride + 1
        if side < 1:
            size, stride, dilation, pad, side = 1, 1, 1, 0, self.shape[1]
        attributes = ints("kernel_shape", [size, size]) + ints("strides", [stride, stride]) + ints("pads", [pad] * 4)
        return size, side, attributes + ints("dilations", [dilation, dilation]) + integer("group", groups)

    # ------------------------------------------------------------------------------------------------------ images

    def conv(self, groups=1, channels=None):
        size, side, attributes = self.window(groups)
        channels = channels or self.draw.choice([2, 4, 6])
        shape = [channels, self.shape[0] // groups, size, size]
        inputs = [self.value, self.weight(shape)] + ([self.weight([channels])] if self.draw.random() < 0.5 else [])
        self.flops += 2 * math.prod(shape) * side * side
        self.put("Conv", inputs, [channels, side, side], attributes=attributes)

    def depthwise(self):
        self.conv(groups=self.shape[0], channels=2 * self.shape[0])

    def transposed(self):
        if self.shape[1] > 16:
            return
        size, stride, channels = self.draw.choice([2, 3]), self.draw.choice([1, 2]), self.draw.choice([2, 3])
        shape = [self.shape[0], channels, size, size]
        self.flops += 2 * math.prod(shape) * self.shape[1] * self.shape[2]
        side = (self.shape[1] - 1) * stride + size
        self.put("ConvTranspose", [self.value, self.weight(shape)], [channels, side, side],
                 attributes=ints("kernel_shape", [size, size]) + ints("strides", [stride, stride]))

    def relu(self):
        self.put("Relu", [self.value])

    def pool(self):
        if self.shape[1] < 4:
            return
        side = (self.shape[1] - 2) // 2 + 1
        self.put("MaxPool", [self.value], [self.shape[0], side, side], attributes=ints("kernel_shape", [2, 2]) + ints("strides", [2, 2]))

    def residual(self):
        other = self.put("Sigmoid", [self.value], moves=False)
        self.put("Add", [self.value, other])

    def constant(self):
        name = self.name("c")
        factor = tensor("", FLOAT, [1], bytes.fromhex("cdcccc3d"))
        self.nodes.append(node("Constant", [], [name], text(5, text(1, "value") + text(5, factor) + number(20, 4))))
        self.parameters += 1
        self.weight_bytes += 4
        self.put("Mul", [self.value, name])

    def quantised(self):
        """The value as integers of 8 bits, with their scale and zero point."""
        scale, zero = self.weight([], FLOAT), self.weight([], UINT8)
        return self.put("QuantizeLinear", [self.value, scale, zero], kind=UINT8, moves=False), scale, zero

    def quantised_conv(self):
        value, scale, zero = self.quantised()
        size, side, attributes = self.window()
        shape = [3, self.shape[0], size, size]
        self.flops += 2 * math.prod(shape) * side * side
        weight_scale, weight_zero = self.weight([], FLOAT), self.weight([], INT8)
        inputs = [value, scale, zero, self.weight(shape, INT8), weight_scale, weight_zero, scale, zero, self.weight([3], INT32)]
        self.put("QLinearConv", inputs, [3, side, side], UINT8, attributes)
        self.put("DequantizeLinear", [self.value, scale, zero])

    def integer_conv(self):
        value, _, _ = self.quantised()
        size, side, attributes = self.window()
        shape = [2, self.shape[0], size, size]
        self.flops += 2 * math.prod(shape) * side * side
        self.put("ConvInteger", [value, self.weight(shape, UINT8)], [2, side, side], INT32, attributes)
        self.put("Cast", [self.value], attributes=integer("to", FLOAT))

    def dequantised(self):
        """Weights of 8 bits that become floats in the graph."""
        size, side, attributes = self.window()
        shape = [2, self.shape[0], size, size]
        output = self.name("v")
        self.nodes.append(node("DequantizeLinear", [self.weight(shape, INT8), self.weight([]), self.weight([], INT8)], [output]))
        self.activation_bytes += 4 * math.prod(shape)
        self.flops += 2 * math.prod(shape) * side * side
        self.put("Conv", [self.value, output], [2, side, side], attributes=attributes)

    def flatten(self):
        self.put("Flatten", [self.value], [math.prod(self.shape)])

    # -------------------------------------------------------------------------------------------------------- rows

    def gemm(self):
        width, transposed = self.draw.choice([3, 8]), self.draw.random() < 0.5
        shape = [width, self.shape[0]] if transposed else [self.shape[0], width]
        self.flops += 2 * math.prod(shape)
        self.put("Gemm", [self.value, self.weight(shape), self.weight([width])], [width], attributes=integer("transB", int(transposed)))

    def matmul(self):
        width = self.draw.choice([4, 5])
        shape = [self.shape[0], width]
        self.flops += 2 * math.prod(shape)
        self.put("MatMul", [self.value, self.weight(shape)], [width])

    def integer_matmul(self):
        value, _, _ = self.quantised()
        shape = [self.shape[0], 6]
        self.flops += 2 * math.prod(shape)
        self.put("MatMulInteger", [value, self.weight(shape, INT8)], [6], INT32)
        self.put("Cast", [self.value], attributes=integer("to", FLOAT))

    def quantised_matmul(self):
        value, scale, zero = self.quantised()
        shape = [self.shape[0], 5]
        self.flops += 2 * math.prod(shape)
        inputs = [value, scale, zero, self.weight(shape, UINT8), scale, zero, scale, zero]
        self.put("QLinearMatMul", inputs, [5], UINT8)
        self.put("DequantizeLinear", [self.value, scale, zero])

    def outer(self):
        """Of two activations: [N, w, 1] by [N, 1, w], and the sum of each row of it."""
        width = self.shape[0]
        if width > 64:
            return
        axes = [self.weight([1], INT64, counts=False) for _ in range(2)]
        self.weights[-2] = tensor(axes[0], INT64, [1], (2).to_bytes(8, "little"))
        self.weights[-1] = tensor(axes[1], INT64, [1], (1).to_bytes(8, "little"))
        column = self.put("Unsqueeze", [self.value, axes[0]], [width, 1], moves=False)
        row = self.put("Unsqueeze", [self.value, axes[1]], [1, width], moves=False)
        self.flops += 2 * width * width
        self.put("MatMul", [column, row], [width, width])
        self.put("ReduceSum", [self.value, axes[0]], [width], attributes=integer("keepdims", 0))

    def sizes(self):
        """A computed size, whose index is a scalar: a value of no dimension."""
        index = self.name("w")
        self.weights.append(tensor(index, INT64, [], (0).to_bytes(8, "little")))
        shape = self.put("Shape", [self.value], [2], INT64, moves=False)
        rows = self.put("Gather", [shape, index], [], INT64, moves=False)
        number_of_rows = self.put("Cast", [rows], [], FLOAT, integer("to", FLOAT), moves=False)
        self.put("Mul", [self.value, number_of_rows])

    # ---------------------------------------------------------------------------------------------------- the whole

    def bytes(self, rows="N"):
        inputs = [value_info("x", [rows, *self.first_shape])]
        return model(self.nodes, inputs, [value_info(self.value, [rows, *self.shape])], self.weights)

    def figures(self):
        return {"flops": self.flops, "activation_bytes": self.activation_bytes, "parameters": self.parameters,
                "weight_bytes": self.weight_bytes}
