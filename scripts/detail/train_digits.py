#!/usr/bin/env python3
"""Trains a classifier of handwritten digits and writes it as ONNX: see scripts/models.

    scripts/detail/train_digits.py DIR
"""

import json
import pathlib
import sys

import numpy
from skl2onnx import to_onnx
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROWS_SHOWN = 4
OPSET = 17


def write_whole(path, content):
    """The file appears complete or not at all: a server may read the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.rename(path)


def main():
    folder = pathlib.Path(sys.argv[1])
    pixels, digits = load_digits(return_X_y=True)
    train, held_out, train_digits, held_out_digits = train_test_split(
        pixels.astype(numpy.float32), digits, test_size=0.3, random_state=0, stratify=digits)
    model = make_pipeline(StandardScaler(), MLPClassifier((64, 32), random_state=0)).fit(train, train_digits)
    right = model.score(held_out, held_out_digits)
    # Outputs are tensors, not a list of maps.
    onnx = to_onnx(model, train[:1], options={id(model): {"zipmap": False}}, target_opset=OPSET)
    rows = held_out[:ROWS_SHOWN]
    request = {"inputs": [{"name": "X", "datatype": "FP32", "shape": list(rows.shape), "data": rows.tolist()}]}
    write_whole(folder / "digits-request.json", json.dumps(request).encode() + b"\n")
    write_whole(folder / "digits/1/model.onnx", onnx.SerializeToString())
    print(f"models: {folder}/digits/1/model.onnx: right for {100 * right:.1f} % of {len(held_out)} digits that the training "
          f"has not seen")
    print(f"models: {folder}/digits-request.json: four of them, which are {', '.join(map(str, held_out_digits[:ROWS_SHOWN]))}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"models: {error}")
