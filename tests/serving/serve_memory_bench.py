"""What a model server's memory does, at the size of real models: bars of `scripts/bench serve-memory`.

    serve_memory_bench.py PROGRAM [--only cycles,many,evicted] [--requests 50000]
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
PARSER = argparse.ArgumentParser()
PARSER.add_argument("program")
PARSER.add_argument("--only", default="cycles,many,evicted")
PARSER.add_argument("--requests", type=int, default=50_000)
OPTIONS = PARSER.parse_args()
os.environ["BERTH_PROGRAM"] = OPTIONS.program

import large_models  # noqa: E402
from local_serve import Serve  # noqa: E402
from memory_load import MB, Crowd, ask, connect, cycle, floats, resident_bytes  # noqa: E402

SHAPE = [1, 3, 224, 224]


def add(repository, name, content):
    folder = pathlib.Path(repository) / name / "1"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(content)


def bar(is_met, text):
    print(f"{'met' if is_met else 'NOT MET':8}{text}", flush=True)
    return is_met


def cycles(repository, count=100):
    add(repository, "resnet", large_models.ResNet().model())
    time.sleep(1.1)
    serve = Serve(repository, "--threads", "1").ready()
    found = cycle(serve, "resnet", SHAPE, floats(math.prod(SHAPE)), count)
    serve.end()
    shares = [(loaded - after) / (loaded - before) for before, loaded, after in found[1:]]
    drift = found[-1][2] - found[1][2]
    text = f"{count} cycles of ResNet-50: at least {100 * min(shares):.1f} % given back within 1 s (bar: 95), drift {drift / MB:+.1f} MB"
    return bar(min(shares) >= 0.95 and drift < 5 * MB, text)


def many(repository, count=100):
    rng, shapes, total = random.Random(7), {}, 0
    for i in range(count):
        content, width = large_models.perceptron(5 * MB * 8 ** rng.random(), seed=i)
        add(repository, f"m{i}", content)
        shapes[f"m{i}"] = [width]
        total += len(content)
    time.sleep(1.1)
    memory = total // 10
    serve = Serve(repository, "--memory", str(memory)).ready()
    base = resident_bytes(serve)
    crowd = Crowd(serve, shapes).run(OPTIONS.requests)
    serve.end()
    share = (crowd.peak - base) / memory
    text = f"{count} models, memory for a tenth, {OPTIONS.requests} requests of 16 clients: {len(crowd.failures)} failed (bar: 0), resident at most base + {share:.2f} x memory (bar: 1.1)"
    return bar(not crowd.failures and share <= 1.1, text)


def first_answers(repository, *words):
    """Seconds of answers of two models that evict each other."""
    serve = Serve(repository, "--threads", "1", "--memory", str(235 * MB), *words).ready()
    seconds = []
    with connect(serve) as connection:
        for i in range(14):
            began = time.monotonic()
            status, answer = ask(connection, "ab"[i % 2], SHAPE, floats(math.prod(SHAPE)))
            assert status == 200, answer
            seconds.append(time.monotonic() - began)
    serve.end()
    return statistics.median(seconds[4:])


def evicted(repository):
    for seed, name in enumerate("ab"):
        add(repository, name, large_models.ResNet(seed).model())
    time.sleep(1.1)
    with tempfile.TemporaryDirectory() as cache:
        without, with_cache = first_answers(repository), first_answers(repository, "--cache", cache)
    text = f"first answer of an evicted ResNet-50: {with_cache:.3f} s with --cache, {without:.3f} s without: {with_cache / without:.2f} (bar: 0.6)"
    return bar(with_cache <= 0.6 * without, text)


met = []
for part in OPTIONS.only.split(","):
    with tempfile.TemporaryDirectory() as folder:
        met.append({"cycles": cycles, "many": many, "evicted": evicted}[part](folder))
sys.exit(0 if all(met) else 1)
