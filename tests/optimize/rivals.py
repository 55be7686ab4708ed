"""ONNX Runtime's own tools, and fair measures of files that anybody made."""

import contextlib
import io
import logging
import math
import statistics
import time

import numpy
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

CALIBRATIONS = (CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile)
CALIBRATION_BATCH = 16
ROUND_SECONDS = 0.002
logging.disable(logging.WARNING)


class Rows(CalibrationDataReader):
    def __init__(self, rows, batch=CALIBRATION_BATCH):
        rows_count = len(next(iter(rows.values())))
        batch = min(batch, rows_count)
        count = rows_count // batch * batch
        self.batches = iter([{name: array[i:i + batch] for name, array in rows.items()} for i in range(0, count, batch)])

    def get_next(self):
        return next(self.batches, None)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def answers(path, rows):
    """The first float output for all rows."""
    made = session(path)
    name = next(output.name for output in made.get_outputs() if "float" in output.type)
    return made.run([name], rows)[0]


def sqnr_db(original, variant):
    noise = float(numpy.sum((original.astype(float) - variant) ** 2))
    return math.inf if noise == 0 else 10 * math.log10(float(numpy.sum(original.astype(float) ** 2)) / noise)


def quantised(path, rows, folder, calibrations=CALIBRATIONS, kinds=(QuantType.QInt8, QuantType.QUInt8)):
    """Files by quantize_static: QDQ, per channel, signed 8-bit weights; by (calibration, activation type)."""
    prepared = folder / f"{path.parent.name}.{path.stem}.prepared.onnx"
    try:
        quant_pre_process(str(path), str(prepared))
    except Exception:  # symbolic shapes that it does not follow: it then takes the model as it is
        prepared = path
    files = {}
    for method in calibrations:
        for kind in kinds:
            target = folder / f"{path.parent.name}.{path.stem}.{method.name}.{kind.name}.onnx"
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    quantize_static(str(prepared), str(target), Rows(rows), quant_format=QuantFormat.QDQ, per_channel=True,
                                    weight_type=QuantType.QInt8, activation_type=kind, calibrate_method=method,
                                    extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
            except Exception as fault:  # the rival's own failures are shown, not hidden
                print(f"  quantize_static {method.name} {kind.name} failed on {path.name}: {str(fault)[:120]}", flush=True)
                continue
            files[method.name, kind.name] = target
    return files


def basic(path, target):
    """The file that ONNX Runtime writes at its level BASIC."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return target


def count_nodes(path):
    return len(onnx.load(str(path), load_external_data=False).graph.node)


def time_ratio(path, other, rows, batch, seconds=4.0):
    """Time of `path` / time of `other` at a batch size: the median of rounds A B B A."""
    sessions = [session(path), session(other)]
    feeds = {name: array[:batch] for name, array in rows.items()}
    outputs = [[output.name for output in made.get_outputs()] for made in sessions]

    def run(which, count):
        begin = time.perf_counter()
        for _ in range(count):
            sessions[which].run(outputs[which], feeds)
        return time.perf_counter() - begin

    counts = [max(1, round(ROUND_SECONDS / max(min(run(which, 2) / 2 for _ in range(3)), 1e-7))) for which in (0, 1)]
    ratios, until = [], time.perf_counter() + seconds
    while len(ratios) < 5 or (time.perf_counter() < until and len(ratios) < 200):
        a, b, c, d = run(0, counts[0]), run(1, counts[1]), run(1, counts[1]), run(0, counts[0])
        ratios.append((a + d) / counts[0] / ((b + c) / counts[1]))
    return statistics.median(ratios)
