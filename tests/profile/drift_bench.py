#!/usr/bin/env python3
"""The bar of drift: a server that is slower by a factor than what was measured at its URL.

    BERTH_PROGRAM=build/release/berth python3 tests/profile/drift_bench.py [SECONDS]

Measures a server on a simulated device with `berth profile --url`, starts the same server with times that are FACTOR as
long, runs 200 batches of each size, observes it, and prints for each size: the file's time, measured, observed, exported,
and whether it is drift. The bar: at 1.3 all sizes drift, and the export is within 3 % of the file's time; at 1.05 none does.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "serving"))
import local_serve
import onnx_bytes

BATCHES = [1, 2, 4, 8, 16, 32]
LATENCY_MS = {1: 6.125, 64: 72.464}
COUNT = 200
LABEL = "A100-80GB:1g.10gb"


def time_of(batch):
    return LATENCY_MS[1] + (LATENCY_MS[64] - LATENCY_MS[1]) * (batch - 1) / 63


def profile(*words):
    return subprocess.run([local_serve.PROGRAM, "profile", *map(str, words)], capture_output=True, text=True, check=True).stdout


def start(folder, factor):
    table = [[batch, round(ms * factor, 3)] for batch, ms in LATENCY_MS.items()]
    device = folder / "device.yaml"
    device.write_text(f"berth: 1\nname: made-up\nlanes: 1\nmemory: 2GiB\nbatch_max: 64\n"
                      f"load: {{seconds: 0.01, bytes_per_second: 1000000000}}\n"
                      f"models:\n  \"*\": {{latency_ms: {table}, bytes: 1000000}}\n")
    serve = local_serve.Serve(folder / "models", "--device", f"simulated:{device}", "--policy", "eager").ready()
    while serve.ask("GET", "/v2/models/double/ready")[0] != 200:
        time.sleep(0.1)
    return serve


def run(folder, factor, measured_db):
    db = folder / f"{factor}.db"
    db.write_bytes(measured_db.read_bytes())
    serve = start(folder, factor)
    for batch in BATCHES:
        for _ in range(COUNT):
            assert serve.infer("double", [[1, 2]] * batch)[0] == 200
    profile("observe", "--db", db, "--url", f"http://{serve.http}")
    serve.end()
    exported = {int(row["batch"]): float(row["latency_ms"]) for row in csv.DictReader(profile("export", "--db", db).splitlines())
                if row["processes"] == "1"}
    drift = [line for line in profile("list", "--db", db).splitlines() if line.startswith("drift")]
    print(f"factor {factor}: {len(drift)} of {len(BATCHES)} sizes drift")
    for line in drift:
        print("  " + line)
    for batch in BATCHES:
        wanted = time_of(batch) * factor
        print(f"  batch {batch:2}: file {wanted:.3f} ms, exported {exported[batch]:.3f} ms, {exported[batch] / wanted - 1:+.2%}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "models/double/1/model.onnx"
        model.parent.mkdir(parents=True)
        model.write_bytes(onnx_bytes.twice(2))
        time.sleep(local_serve.SETTLE_SECONDS)
        db = folder / "measured.db"
        serve = start(folder, 1)
        seconds = sys.argv[1] if len(sys.argv) > 1 else "3"
        print(profile("--url", f"http://{serve.http}", "--model", "double", "--batches", ",".join(map(str, BATCHES)),
                      "--processes", "1", "--as", LABEL, "--seconds", seconds, "--out", db))
        serve.end()
        for factor in (1.3, 1.05):
            run(folder, factor, db)


main()
