"""Small ONNX files, written field by field (onnx.proto), so that tests need no package for them."""

import struct

FLOAT, INT64, STRING = 1, 7, 8


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def text(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def value_info(name, shape, kind=FLOAT):
    """`shape`: sizes, or names of sizes that may be any."""
    sizes = b"".join(text(1, text(2, size) if isinstance(size, str) else number(1, size)) for size in shape)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, sizes)))


def weights(name, shape, values):
    return b"".join(number(1, size) for size in shape) + number(2, FLOAT) + text(8, name) + text(9, struct.pack(f"<{len(values)}f", *values))


def node(operator, inputs, outputs, attributes=b""):
    return b"".join(text(1, name) for name in inputs) + b"".join(text(2, name) for name in outputs) + text(4, operator) + attributes


def attribute(name, value):
    """An integer."""
    return text(5, text(1, name) + number(3, value) + number(20, 2))


def model(nodes, inputs, outputs, initialisers=(), opset=17):
    graph = b"".join(text(1, each) for each in nodes) + text(2, "g")
    graph += b"".join(text(5, each) for each in initialisers)
    graph += b"".join(text(11, each) for each in inputs) + b"".join(text(12, each) for each in outputs)
    return number(1, 8) + text(7, graph) + text(8, number(2, opset))


def twice(columns, rows="N"):
    """y = x + x."""
    return model([node("Add", ["x", "x"], ["y"])], [value_info("x", [rows, columns])], [value_info("y", [rows, columns])])


def times(columns, factor):
    """y = x * factor."""
    return model([node("Mul", ["x", "f"], ["y"])], [value_info("x", ["N", columns])], [value_info("y", ["N", columns])],
                 [weights("f", [1], [factor])])


def sum_of_rows(columns):
    """Each row of y is the sum of all rows of x: rows of a batch influence each other."""
    return model(
        [node("ReduceSum", ["x"], ["s"], attribute("keepdims", 1) + b""), node("Add", ["x", "s"], ["y"])],
        [value_info("x", ["N", columns])],
        [value_info("y", ["N", columns])],
    )


def layers(sizes, seed=1):
    """A perceptron with ReLU between layers, and made-up weights."""
    state = seed
    nodes, initialisers, name = [], [], "x"
    for i, (before, after) in enumerate(zip(sizes, sizes[1:])):
        values = []
        for _ in range(before * after):
            state = (state * 1103515245 + 12345) % (1 << 31)
            values.append((state / (1 << 30) - 1) / before**0.5)
        initialisers.append(weights(f"w{i}", [before, after], values))
        last = i == len(sizes) - 2
        nodes.append(node("MatMul", [name, f"w{i}"], ["y" if last else f"m{i}"]))
        if not last:
            nodes.append(node("Relu", [f"m{i}"], [f"r{i}"]))
        name = f"r{i}"
    return model(nodes, [value_info("x", ["N", sizes[0]])], [value_info("y", ["N", sizes[-1]])], initialisers)
