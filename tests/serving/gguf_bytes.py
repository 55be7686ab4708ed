"""A tiny language model as a GGUF file, written field by field, for a llama-server: llama, made-up weights, a token per byte."""

import random
import struct

UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9
FORMS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f"}
WIDTH, INNER, HEADS, LAYERS, ALIGNMENT = 64, 128, 4, 2, 32
UNKNOWN, CONTROL, BYTE = 2, 3, 6


def text(value):
    content = value.encode()
    return struct.pack("<Q", len(content)) + content


def value_of(kind, value):
    return text(value) if kind == STRING else struct.pack(FORMS[kind], value)


def field(key, kind, value):
    if isinstance(value, list):
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return text(key) + head + b"".join(value_of(kind, each) for each in value)
    return text(key) + struct.pack("<I", kind) + value_of(kind, value)


def fields():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    return tokens, [
        field("general.architecture", STRING, "llama"),
        field("llama.context_length", UINT32, 1024),
        field("llama.embedding_length", UINT32, WIDTH),
        field("llama.block_count", UINT32, LAYERS),
        field("llama.feed_forward_length", UINT32, INNER),
        field("llama.attention.head_count", UINT32, HEADS),
        field("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        field("llama.rope.dimension_count", UINT32, WIDTH // HEADS),
        field("tokenizer.ggml.model", STRING, "llama"),
        field("tokenizer.ggml.tokens", STRING, tokens),
        field("tokenizer.ggml.scores", FLOAT32, [0.0] * len(tokens)),
        field("tokenizer.ggml.token_type", INT32, [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256),
        field("tokenizer.ggml.bos_token_id", UINT32, 1),
        field("tokenizer.ggml.eos_token_id", UINT32, 2),
        field("tokenizer.ggml.unknown_token_id", UINT32, 0),
    ]


def shapes(token_count):
    """Names and sizes, the innermost first."""
    yield "token_embd.weight", (WIDTH, token_count)
    for layer in range(LAYERS):
        for name, shape in [("attn_norm", (WIDTH,)), ("attn_q", (WIDTH, WIDTH)), ("attn_k", (WIDTH, WIDTH)),
                            ("attn_v", (WIDTH, WIDTH)), ("attn_output", (WIDTH, WIDTH)), ("ffn_norm", (WIDTH,)),
                            ("ffn_gate", (WIDTH, INNER)), ("ffn_up", (WIDTH, INNER)), ("ffn_down", (INNER, WIDTH))]:
            yield f"blk.{layer}.{name}.weight", shape
    yield "output_norm.weight", (WIDTH,)
    yield "output.weight", (WIDTH, token_count)


def tiny_model(seed=1):
    rng = random.Random(seed)
    tokens, described = fields()
    infos, weights = [], bytearray()
    for name, shape in shapes(len(tokens)):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(weights)))
        weights += struct.pack(f"<{count}f", *([1.0] * count if len(shape) == 1 else [rng.gauss(0, 0.1) for _ in range(count)]))
        weights += bytes(-len(weights) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(described)) + b"".join(described + infos)
    return head + bytes(-len(head) % ALIGNMENT) + bytes(weights)
