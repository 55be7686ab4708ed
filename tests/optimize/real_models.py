"""Models that others trained, from their packages on PyPI, with rows like those they are made for. Needs numpy, onnx, scikit-learn,
onnxruntime and pip. Each function gives (model, {input: rows}); nothing of the packages but these files is unpacked or run."""

import pathlib
import subprocess
import zipfile

import numpy
import onnx
from sklearn.datasets import load_digits

PACKAGES = {"magika": "magika==1.0.3", "silero": "silero-vad==6.2.3", "rapidocr": "rapidocr-onnxruntime==1.4.4"}
FILES = {
    "magika": ("magika", "magika/models/standard_v3_3/model.onnx"),
    "silero-vad": ("silero", "silero_vad/data/silero_vad_16k_op15.onnx"),
    "silero-vad-ifless": ("silero", "silero_vad/data/silero_vad_op18_ifless.onnx"),
    "rapidocr-cls": ("rapidocr", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
}
WHEEL_FOR = ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]
ROWS = 256


def model(name, folder):
    """From the package, which is downloaded into `folder` if it is not there."""
    package, path = FILES[name]
    wheels = list(folder.glob(package + "*.whl"))
    if not wheels:
        subprocess.run(["python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", *WHEEL_FOR, "-d", str(folder),
                        PACKAGES[package]], check=True)
        wheels = list(folder.glob(package + "*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        return onnx.load_from_string(wheel.read(path))


def magika_rows(folder, count=ROWS):
    """The first and the last 1024 bytes of files of many kinds, without blanks at their ends, as its own program reads them."""
    half, padding = 1024, 256
    draw = numpy.random.default_rng(1)
    by_kind = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size > 64:
            by_kind.setdefault(path.suffix, []).append(path)
    picked = [paths[int(i)] for paths in by_kind.values() for i in draw.permutation(len(paths))[:12]]
    rows = []
    for index in draw.permutation(len(picked))[:count]:
        content = picked[int(index)].read_bytes()
        first = numpy.frombuffer(content[:4096].lstrip()[:half], numpy.uint8)
        last = numpy.frombuffer(content[-4096:].rstrip()[-half:], numpy.uint8)
        row = numpy.full(2 * half, padding, numpy.int32)
        row[:len(first)] = first
        row[2 * half - len(last):] = last
        rows.append(row)
    return {"bytes": numpy.stack(rows)}


def speech(count, seed):
    """Sound at 16 kHz in parts of 512 samples: syllables (a tone with overtones through moving formants), pauses, and noise."""
    rate, size = 16000, 512
    draw = numpy.random.default_rng(seed)
    time = numpy.arange(count * size) / rate
    syllable = numpy.repeat(draw.random(count // 8 + 1) < 0.6, 8 * size)[:len(time)]
    tone = numpy.repeat(draw.uniform(90, 240, count // 8 + 1), 8 * size)[:len(time)]
    phase = numpy.cumsum(2 * numpy.pi * tone / rate)
    formants = [numpy.repeat(draw.uniform(low, high, count // 8 + 1), 8 * size)[:len(time)]
                for low, high in ((300, 800), (900, 2200), (2300, 3000))]
    voice = sum(numpy.sin(k * phase) * sum(numpy.exp(-((k * tone - f) / 150) ** 2) for f in formants) for k in range(1, 30))
    envelope = numpy.sin(numpy.pi * ((time * rate / (8 * size)) % 1))
    sound = 0.1 * voice * syllable * envelope + draw.choice([0.001, 0.02]) * draw.standard_normal(len(time))
    return sound.astype(numpy.float32).reshape(count, size)


def silero_rows(session, count=ROWS):
    """Runs of one part each, with the 64 samples before it and the state that the parts before left: its batch is the second axis of
    the state, so a row is a run."""
    inputs = {"input": [], "state": [], "sr": []}
    for seed in range(4):
        parts = speech(count // 4, seed)
        state, before = numpy.zeros((2, 1, 128), numpy.float32), numpy.zeros(64, numpy.float32)
        for part in parts:
            feed = {"input": numpy.concatenate([before, part])[None], "state": state, "sr": numpy.array(16000, numpy.int64)}
            for key, array in feed.items():
                inputs[key].append(array)
            state = session.run(["stateN"], feed)[0]
            before = part[-64:]
    return {key: numpy.stack(arrays) for key, arrays in inputs.items()}


def rapidocr_rows(count=ROWS):
    """Lines of four digits, 48 pixels high, half of them upside down: what it decides."""
    images = numpy.kron(load_digits().images / 8.0 - 1, numpy.ones((6, 6)))
    draw = numpy.random.default_rng(1)
    rows = []
    for index in range(count):
        line = -numpy.concatenate(list(images[draw.integers(0, len(images), 4)]), axis=1)
        rows.append(line[::-1, ::-1] if index % 2 else line)
    lines = numpy.stack(rows)[draw.permutation(count)]
    return {"x": numpy.repeat(lines[:, None], 3, axis=1).astype(numpy.float32)}
