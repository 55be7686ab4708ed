#!/usr/bin/env python3
"""The bars of `berth profile` (scripts/bench profile): medians next to a loop with I/O binding in Python's ONNX Runtime, two runs
compared, and a server on a simulated device compared with its file.

    profile_bench.py BERTH [--only loop,again,url] [--seconds 3] [--models mlp,cnn,resnet] [--side 224] [--batches 1,2,4,8,16,32]

For the loop, both sides are measured in turns: a call of `berth profile`, a process with the loop, and so on, three of each; of
each side the median of its medians counts. Needs numpy, onnx and onnxruntime; the digits come from scripts/models."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "optimize"), str(HERE.parent / "serving")]

ROUNDS = 3
LOOP = """
import json, sys, time
import numpy, onnxruntime
path, batches, seconds = sys.argv[1], [int(b) for b in sys.argv[2].split(",")], float(sys.argv[3])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
given, draw, times = session.get_inputs()[0], numpy.random.default_rng(1), {}
bindings = {}
for batch in batches:
    binding = session.io_binding()
    rows = draw.standard_normal((batch, *given.shape[1:])).astype(numpy.float32)
    binding.bind_ortvalue_input(given.name, onnxruntime.OrtValue.ortvalue_from_numpy(rows))
    for output in session.get_outputs():
        binding.bind_output(output.name, "cpu")
    bindings[batch], times[batch] = binding, []
    for _ in range(5):
        session.run_with_iobinding(binding)
turns = 16
for _ in range(turns):
    for batch in draw.permutation(batches):
        session.run_with_iobinding(bindings[batch])
        end = time.perf_counter() + seconds / turns
        while True:
            before = time.perf_counter_ns()
            session.run_with_iobinding(bindings[batch])
            after = time.perf_counter_ns()
            times[batch].append((after - before) / 1000)
            if time.perf_counter() >= end:
                break
print(json.dumps({int(b): float(numpy.median(t)) for b, t in times.items()}))
"""


def models(names, folder, side):
    """(name, path) of each; those of scripts/models are trained once."""
    if {"mlp", "cnn"} & set(names):
        repository = ROOT / "build/models"
        subprocess.run([ROOT / "scripts/models", repository], check=True, stdout=subprocess.DEVNULL)
        for name, model in (("mlp", "digits"), ("cnn", "digits-cnn")):
            if name in names:
                yield name, repository / model / "1/model.onnx"
    if "resnet" in names:
        import bench_models
        import onnx
        path = pathlib.Path(folder) / "resnet50.onnx"
        onnx.save(bench_models.resnet50(side=side, rows=1)[0], path)
        yield "resnet", path


class Bars:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.misses = arguments, pathlib.Path(folder), 0

    def profile(self, *words, processes="1"):
        command = [self.arguments.berth, "profile", *map(str, words), "--batches", self.arguments.batches, "--processes", processes,
                   "--seconds", str(self.arguments.seconds), "--out", str(self.folder / "profiles.db"), "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"profile_bench: {run.stderr}")
        return json.loads(run.stdout)["run"]["points"]

    def say(self, name, is_kept, text):
        self.misses += not is_kept
        print(f"{'kept  ' if is_kept else 'MISSED'} {name}: {text}", flush=True)

    def loop(self, name, path):
        """Medians within 10 % or 10 us at each batch."""
        ours, theirs = {}, {}
        for _ in range(ROUNDS):
            for point in self.profile(path):
                ours.setdefault(point["batch"], []).append(point["p50_us"])
            command = [sys.executable, "-c", LOOP, str(path), self.arguments.batches, str(self.arguments.seconds)]
            loop = subprocess.run(command, capture_output=True, text=True, check=True)
            for batch, median in json.loads(loop.stdout).items():
                theirs.setdefault(int(batch), []).append(median)
        for batch in sorted(ours):
            our, their = statistics.median(ours[batch]), statistics.median(theirs[batch])
            spread = max(max(side[batch]) / min(side[batch]) for side in (ours, theirs)) - 1
            self.say(f"{name} batch {batch}", abs(our - their) <= max(0.1 * their, 10),
                     f"p50 {our:.1f} us, loop {their:.1f} us: {our / their - 1:+.1%} (runs of one side differ by up to {spread:.1%})")

    def again(self, name, path):
        """90 % of points within 5 % of another run."""
        first, second = (self.profile(path, processes="1,2") for _ in range(2))
        off = [abs(b["mean_us"] / a["mean_us"] - 1) for a, b in zip(first, second)]
        within = sum(each <= 0.05 for each in off)
        marked = sum(a["is_short"] or b["is_short"] for a, b in zip(first, second))
        self.say(f"{name} again", within >= 0.9 * len(off),
                 f"{within} of {len(off)} points within 5 %, the worst {max(off):.1%}; {marked} marked as not settled")

    def url(self):
        """A server on a simulated device: within 2 % + 0.3 ms of its file."""
        import local_serve
        import onnx_bytes
        import time
        local_serve.PROGRAM = self.arguments.berth
        repository = self.folder / "repository"
        (repository / "net/1").mkdir(parents=True)
        (repository / "net/1/model.onnx").write_bytes(onnx_bytes.layers([32, 64, 8]))
        rows = [(1, 2.0), (2, 2.5), (4, 3.7), (8, 6.1), (16, 11.3), (32, 21.0)]
        device = self.folder / "device.yaml"
        latencies = ", ".join(f"[{batch}, {latency}]" for batch, latency in rows)
        device.write_text("berth: 1\nname: made-up\norigin: \"made up\"\nlanes: 1\nmemory: 1000000000\nbatch_max: 32\n"
                          f"load: {{seconds: 0.05, bytes_per_second: 1000000000}}\nmodels:\n  net: {{latency_ms: [{latencies}], bytes: 1000000}}\n")
        time.sleep(local_serve.SETTLE_SECONDS)
        serve = local_serve.Serve(repository, "--device", f"simulated:{device}", "--policy", "eager").ready()
        try:
            points = {point["batch"]: point for point in self.profile("--url", f"http://{serve.http}", "--model", "net")}
        finally:
            serve.end()
        for batch, wanted in rows:
            if batch in points:
                mean, median = points[batch]["mean_us"] / 1000, points[batch]["p50_us"] / 1000
                self.say(f"url batch {batch}", abs(mean - wanted) <= 0.02 * wanted + 0.3,
                         f"mean {mean:.3f} ms, p50 {median:.3f} ms, file {wanted} ms: {mean - wanted:+.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("berth", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--only", default="loop,again,url")
    parser.add_argument("--models", default="mlp,cnn,resnet")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--side", type=int, default=224, help="of the images of the ResNet-50 shape")
    parser.add_argument("--batches", default="1,2,4,8,16,32")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        bars = Bars(arguments, folder)
        for name, path in models(arguments.models.split(",") if {"loop", "again"} & set(parts) else [], folder, arguments.side):
            if "loop" in parts:
                bars.loop(name, path)
            if "again" in parts:
                bars.again(name, path)
        if "url" in parts:
            bars.url()
    sys.exit(1 if bars.misses else 0)


if __name__ == "__main__":
    main()
