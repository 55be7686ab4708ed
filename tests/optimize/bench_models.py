"""Models with drawn weights for scripts/bench optimize, as exporters write them: batch normalisation, shapes and activations are
nodes of their own. Needs numpy and onnx. Each function gives (model, {input: rows})."""

import math

import numpy
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
ROWS = 256


class Maker:
    """Adds nodes one after another; `last` is the value that the newest one makes."""

    def __init__(self, seed, first="X"):
        self.draw = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.last = [], [], first

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def node(self, operator, *inputs, outputs=1, **attributes):
        """Takes `inputs`, or the last value where there are none; an array among them is a weight."""
        names = [self.weight(value) if not isinstance(value, str) else value for value in inputs] or [self.last]
        made = [f"{operator.lower()}{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, names, made, name=f"node{len(self.nodes)}", **attributes))
        self.last = made[0]
        return made[0]

    def normal(self, *shape, fan=1.0):
        """Weights that keep the variance of what they are applied to."""
        return (self.draw.standard_normal(shape) * math.sqrt(2.0 / fan)).astype(numpy.float32)

    def convolution(self, value, channels_in, channels, size=3, stride=1, groups=1):
        fan = channels_in // groups * size * size
        return self.node("Conv", value, self.normal(channels, channels_in // groups, size, size, fan=fan), kernel_shape=[size, size],
                         pads=[size // 2] * 4, strides=[stride, stride], group=groups)

    def batch_normalisation(self, value, channels, scale=1.0):
        draw = self.draw
        return self.node("BatchNormalization", value, (scale * draw.uniform(0.8, 1.2, channels)).astype(numpy.float32),
                         (0.1 * draw.standard_normal(channels)).astype(numpy.float32),
                         (0.1 * draw.standard_normal(channels)).astype(numpy.float32),
                         draw.uniform(0.8, 1.2, channels).astype(numpy.float32), epsilon=1e-5)

    def dense(self, value, width_in, width, bias=True):
        value = self.node("MatMul", value, self.normal(width_in, width, fan=width_in))
        return self.node("Add", value, (0.1 * self.draw.standard_normal(width)).astype(numpy.float32)) if bias else value

    def model(self, shape, output, output_shape, kind=TensorProto.FLOAT, opsets=(), input_kind=TensorProto.FLOAT):
        graph = helper.make_graph(self.nodes, "generated", [helper.make_tensor_value_info("X", input_kind, ["rows", *shape])],
                                  [helper.make_tensor_value_info(output, kind, output_shape)], self.weights)
        imports = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(*opset) for opset in opsets)]
        return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)

    def rows(self, shape, count=ROWS):
        return {"X": self.draw.standard_normal((count, *shape)).astype(numpy.float32)}


def resnet50(seed=1, side=224, rows=24):
    """The shape of ResNet-50 (He et al. 2015): bottlenecks of 3, 4, 6 and 3 blocks."""
    maker = Maker(seed)

    def normalised(value, channels_in, channels, size=1, stride=1, scale=1.0):
        return maker.batch_normalisation(maker.convolution(value, channels_in, channels, size, stride), channels, scale)

    value = maker.node("Relu", normalised("X", 3, 64, 7, 2))
    value = maker.node("MaxPool", value, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            shortcut = normalised(value, channels, 4 * width, 1, stride) if block == 0 else value
            inner = maker.node("Relu", normalised(value, channels, width))
            inner = maker.node("Relu", normalised(inner, width, width, 3, stride))
            value = maker.node("Relu", maker.node("Add", normalised(inner, width, 4 * width, scale=0.3), shortcut))
            channels = 4 * width
    value = maker.node("Flatten", maker.node("GlobalAveragePool", value))
    maker.node("Gemm", value, maker.normal(1000, channels, fan=channels), numpy.zeros(1000, numpy.float32), transB=1)
    return maker.model([3, side, side], maker.last, ["rows", 1000]), maker.rows([3, side, side], rows)


def bert_mini(seed=1, layers=4, width=256, heads=4, words=64, vocabulary=1000):
    """The shape of BERT-mini (Turc et al. 2019), decomposed: layer normalisation and GELU in small operators."""
    maker = Maker(seed)

    def layer_normalisation(value):
        centred = maker.node("Sub", value, maker.node("ReduceMean", value, axes=[-1], keepdims=1))
        squares = maker.node("Pow", centred, numpy.float32(2))
        spread = maker.node("Sqrt", maker.node("Add", maker.node("ReduceMean", squares, axes=[-1], keepdims=1), numpy.float32(1e-12)))
        scaled = maker.node("Mul", maker.node("Div", centred, spread), maker.draw.uniform(0.8, 1.2, width).astype(numpy.float32))
        return maker.node("Add", scaled, (0.1 * maker.draw.standard_normal(width)).astype(numpy.float32))

    def split_heads(value, order):
        return maker.node("Transpose", maker.node("Reshape", value, numpy.array([0, 0, heads, width // heads], numpy.int64)), perm=order)

    value = maker.node("Gather", maker.normal(vocabulary, width, fan=2.0), "X", axis=0)
    value = layer_normalisation(maker.node("Add", value, maker.normal(1, words, width, fan=2.0)))
    for _ in range(layers):
        query = split_heads(maker.dense(value, width, width), [0, 2, 1, 3])
        key = split_heads(maker.dense(value, width, width), [0, 2, 3, 1])
        content = split_heads(maker.dense(value, width, width), [0, 2, 1, 3])
        scores = maker.node("Div", maker.node("MatMul", query, key), numpy.float32(math.sqrt(width / heads)))
        mixed = maker.node("MatMul", maker.node("Softmax", scores, axis=-1), content)
        mixed = maker.node("Reshape", maker.node("Transpose", mixed, perm=[0, 2, 1, 3]), numpy.array([0, 0, width], numpy.int64))
        value = layer_normalisation(maker.node("Add", maker.dense(mixed, width, width), value))
        inner = maker.dense(value, width, 4 * width)
        bell = maker.node("Add", maker.node("Erf", maker.node("Div", inner, numpy.float32(math.sqrt(2)))), numpy.float32(1))
        inner = maker.node("Mul", maker.node("Mul", inner, bell), numpy.float32(0.5))
        value = layer_normalisation(maker.node("Add", maker.dense(inner, 4 * width, width), value))
    first = maker.node("Gather", value, numpy.int64(0), axis=1)
    maker.dense(maker.node("Tanh", maker.dense(first, width, width)), width, 2)
    model = maker.model([words], maker.last, ["rows", 2], input_kind=TensorProto.INT64)
    return model, {"X": maker.draw.integers(0, vocabulary, (64, words)).astype(numpy.int64)}


def small_network(seed):
    """A perceptron or a small convolutional network; in half of them a channel is 50 times as large as the others."""
    maker = Maker(seed)
    has_outlier = seed % 2 == 1

    def with_outlier(weights):
        if has_outlier:
            weights[int(maker.draw.integers(len(weights)))] *= 50
        return weights

    if seed % 4 < 2:
        widths = [int(w) for w in maker.draw.choice([48, 64, 96, 128, 192], 4)]
        value = "X"
        for width_in, width in zip(widths, widths[1:]):
            value = maker.node("Gemm", value, with_outlier(maker.normal(width, width_in, fan=width_in)),
                               (0.1 * maker.draw.standard_normal(width)).astype(numpy.float32), transB=1)
            value = maker.node("Relu", value)
        maker.node("Gemm", value, maker.normal(10, widths[-1], fan=widths[-1]), numpy.zeros(10, numpy.float32), transB=1)
        return maker.model([widths[0]], maker.last, ["rows", 10]), maker.rows([widths[0]])
    channels = [3, *(int(c) for c in maker.draw.choice([16, 24, 32, 48], 3))]
    value = "X"
    for index, (channels_in, count) in enumerate(zip(channels, channels[1:])):
        value = maker.node("Conv", value, with_outlier(maker.normal(count, channels_in, 3, 3, fan=channels_in * 9)), kernel_shape=[3, 3],
                           pads=[1, 1, 1, 1], strides=[1 + index % 2] * 2)
        value = maker.node("Relu", maker.batch_normalisation(value, count))
    value = maker.node("Flatten", maker.node("GlobalAveragePool", value))
    maker.node("Gemm", value, maker.normal(10, channels[-1], fan=channels[-1]), numpy.zeros(10, numpy.float32), transB=1)
    return maker.model([3, 16, 16], maker.last, ["rows", 10]), maker.rows([3, 16, 16])


def random_graph(seed):
    """A valid graph of operators drawn at random: branches, residual sums, constants, chains of shapes."""
    maker = Maker(seed)
    draw = maker.draw
    channels, side = int(draw.integers(1, 5)), 8
    shape, value = [channels, side, side], "X"
    for _ in range(int(draw.integers(3, 12))):
        kind = draw.choice(["conv", "depthwise", "norm", "relu", "residual", "affine", "identity", "transposes", "concat", "pool", "clip", "sigmoid"])
        if kind == "conv":
            count = int(draw.choice([4, 8, 16, 24]))
            value, channels = maker.convolution(value, channels, count, int(draw.choice([1, 3]))), count
        elif kind == "depthwise":
            value = maker.convolution(value, channels, channels, groups=channels)
        elif kind == "norm":
            value = maker.batch_normalisation(value, channels)
        elif kind == "relu":
            value = maker.node("Relu", value)
        elif kind == "residual":
            value = maker.node("Add", maker.convolution(value, channels, channels), value)
        elif kind == "affine":
            factor = draw.uniform(0.5, 1.5, (1, channels, 1, 1)).astype(numpy.float32)
            value = maker.node("Add", maker.node("Mul", value, factor), numpy.float32(draw.uniform(-1, 1)))
        elif kind == "identity":
            value = maker.node("Dropout", maker.node("Identity", value))
        elif kind == "transposes":
            value = maker.node("Transpose", maker.node("Transpose", value, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
        elif kind == "concat":
            value, channels = maker.node("Concat", value, maker.node("Relu", value), axis=1), 2 * channels
        elif kind == "pool" and side > 2:
            value, side = maker.node("MaxPool", value, kernel_shape=[2, 2], strides=[2, 2]), side // 2
        elif kind == "clip":
            value = maker.node("Clip", value, numpy.float32(0), numpy.float32(6))
        elif kind == "sigmoid":
            value = maker.node("Sigmoid", value)
    width = channels * side * side
    if draw.random() < 0.5:
        shape_node = maker.node("Shape", value)
        rows = maker.node("Unsqueeze", maker.node("Gather", shape_node, numpy.int64(0), axis=0), numpy.array([0], numpy.int64))
        value = maker.node("Reshape", value, maker.node("Concat", rows, numpy.array([width], numpy.int64), axis=0))
    else:
        value = maker.node("Flatten", value)
    maker.dense(value, width, 10)
    return maker.model(shape, maker.last, ["rows", 10]), maker.rows(shape, 96)


def hopeless(seed):
    """A model that neither fewer bits nor fewer channels nor fewer nodes make better: too small, or without such nodes."""
    maker = Maker(seed)
    width = int(8 << seed // 10)
    name = ["tiny", "sine", "softmax", "sort", "integers", "recurrent", "normalise", "cumulate", "pick", "linear"][seed % 10]
    shape, output_shape, kind = [width], ["rows", width], TensorProto.FLOAT
    if name == "tiny":
        maker.node("MatMul", "X", maker.normal(width, 3, fan=width))
        output_shape = ["rows", 3]
    elif name == "sine":
        maker.node("Cos", maker.node("Sin", "X"))
    elif name == "softmax":
        maker.node("Softmax", "X", axis=-1)
    elif name == "sort":
        maker.node("TopK", "X", numpy.array([3], numpy.int64), outputs=2)
        output_shape = ["rows", 3]
    elif name == "integers":
        maker.node("Cast", maker.node("Mod", maker.node("Cast", maker.node("Mul", "X", numpy.float32(100)), to=TensorProto.INT64),
                                      numpy.int64(7)), to=TensorProto.FLOAT)
    elif name == "recurrent":
        cells = maker.node("Transpose", maker.node("Unsqueeze", "X", numpy.array([2], numpy.int64)), perm=[1, 0, 2])
        maker.node("LSTM", cells, maker.normal(1, 16, 1, fan=1.0), maker.normal(1, 16, 4, fan=4.0), outputs=2, hidden_size=4)
        maker.node("Flatten", maker.node("Transpose", maker.last, perm=[2, 0, 1, 3]))
        output_shape = ["rows", width * 4]
    elif name == "normalise":
        maker.node("LpNormalization", "X", axis=1, p=2)
    elif name == "cumulate":
        maker.node("CumSum", "X", numpy.int64(1))
    elif name == "pick":
        maker.node("Gather", "X", numpy.array([0, 2, 1], numpy.int64), axis=1)
        output_shape = ["rows", 3]
    elif name == "linear":
        maker.node("Gemm", "X", maker.normal(2, width, fan=width), numpy.zeros(2, numpy.float32), transB=1)
        output_shape = ["rows", 2]
    return maker.model(shape, maker.last, output_shape, kind), maker.rows(shape)
