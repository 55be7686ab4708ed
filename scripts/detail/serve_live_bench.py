#!/usr/bin/env python3
"""The bars of a running `berth serve`: what a request costs, and what a load costs, beside rivals in the same run.

  serve_live_bench.py PROGRAM [--only mlp,perf] [--seconds 8]

mlp: an MLP 784-512-512-10, 3,136 bytes of binary input, JSON answers, 64 connections that each wait for their answer,
the server on one core. The rival is a Node server with onnxruntime-node that batches alike; npm installs it below
~/.cache/berth. wrk makes the load, on the other cores.

perf: the same model as Triton's perf_analyzer sees it, unchanged, at 1 to 13 concurrent requests. PERF_ANALYZER names
the program (PyPI perf-analyzer 2.60, which needs glibc 2.38: on Debian 12 pip installs an empty placeholder); without
it this part is skipped.
"""

import argparse
import contextlib
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/serving"), str(ROOT / "scripts/detail")]

import onnx_bytes  # noqa: E402
from bar_table import BarTable  # noqa: E402

SIZES = [784, 512, 512, 10]
RIVAL_PACKAGE = "onnxruntime-node@1.30.0"
ROUNDS = 3


def wrk_script(folder):
    head = '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,784],"parameters":{"binary_data_size":3136}}],'
    head += '"outputs":[{"name":"y","parameters":{"binary_data":false}}]}'
    script = pathlib.Path(folder) / "body.lua"
    script.write_text(
        f"wrk.method = 'POST'\nwrk.headers['Inference-Header-Content-Length'] = '{len(head)}'\n"
        f"wrk.body = '{head}' .. string.rep('\\0\\0\\0\\63', 784)\n"
    )
    return script


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(url, script, seconds, cores):
    """Requests answered in that time; all must be answered well."""
    command = ["wrk", "-t1", "-c64", f"-d{seconds}", "-s", str(script), url]
    text = subprocess.run(["taskset", "-c", cores, *command], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"serve_live_bench: wanted only good answers, found\n{text}")
    return int(next(line for line in text.splitlines() if "requests in" in line).split()[0])


def cost_per_request(pid, url, script, seconds, cores):
    """Median microseconds of processor time, after a round that does not count."""
    load(url, script, 2, cores)
    costs = []
    for _ in range(ROUNDS):
        before = processor_seconds(pid)
        count = load(url, script, seconds, cores)
        costs.append((processor_seconds(pid) - before) * 1e6 / count)
    return statistics.median(costs)


def rival_packages():
    """The folder with the rival's package; nothing, with a reason, if npm cannot get it."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "berth" / "node-rival"
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None, "node or npm is missing"
    if not (folder / "node_modules/onnxruntime-node").exists():
        folder.mkdir(parents=True, exist_ok=True)
        got = subprocess.run(["npm", "install", "--ignore-scripts", "--silent", "--prefix", str(folder), RIVAL_PACKAGE])
        if got.returncode != 0:
            return None, f"npm could not install {RIVAL_PACKAGE}"
    return folder, ""


def rival_cost(model, script, seconds, own, others):
    folder, why_not = rival_packages()
    if folder is None:
        print(f"  skipped the rival: {why_not}")
        return None
    environment = os.environ | {"NODE_PATH": str(folder / "node_modules")}
    rival = ROOT / "scripts/detail/serve_rival.js"
    command = ["taskset", "-c", own, "node", str(rival), str(model), str(SIZES[0])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        port = process.stdout.readline().strip()
        return cost_per_request(process.pid, f"http://127.0.0.1:{port}/", script, seconds, others)
    finally:
        process.kill()
        process.wait()


def write_model(folder):
    model = pathlib.Path(folder) / "mlp/1/model.onnx"
    model.parent.mkdir(parents=True)
    model.write_bytes(onnx_bytes.layers(SIZES))
    return model


@contextlib.contextmanager
def serving(program, folder, own):
    """The process of a server on the core `own`, and its URL, once the model is loaded."""
    command = ["taskset", "-c", own, program, "serve", "--repository", folder, "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[1]
        wait_for_model(url)
        yield server, url
    finally:
        server.terminate()
        server.wait()


def own_and_others():
    cores = sorted(os.sched_getaffinity(0))
    return str(cores[0]), ",".join(map(str, cores[1:] or cores))


def mlp(table, program, seconds):
    table.part("A small MLP over HTTP, on one core")
    own, others = own_and_others()
    with tempfile.TemporaryDirectory() as folder:
        model = write_model(folder)
        script = wrk_script(folder)
        with serving(program, folder, own) as (server, url):
            cost = cost_per_request(server.pid, f"{url}/v2/models/mlp/infer", script, seconds, others)
        rival = rival_cost(model, script, seconds, own, others)
    table.show("microseconds of processor time per request", cost, "{:.1f}", "aim 30")
    if rival is not None:
        table.show("the same of Node with onnxruntime-node", rival, "{:.1f}")
        table.show("ours / Node's", cost / rival, "{:.2f}", "", ("at most", 0.6))


def wait_for_model(url):
    """A file counts when it has not changed for a second."""
    limit = time.monotonic() + 20
    while True:
        try:
            request = urllib.request.Request(f"{url}/v2/repository/models/mlp/load", method="POST", data=b"{}")
            return urllib.request.urlopen(request).read()
        except urllib.error.HTTPError as error:
            if time.monotonic() > limit:
                raise SystemExit(f"serve_live_bench: wanted a model that loads, found {error}: {error.read()}")
            time.sleep(0.2)


def perf(table, program, seconds):
    table.part("perf_analyzer against the same model")
    analyzer = os.environ.get("PERF_ANALYZER") or shutil.which("perf_analyzer")
    if analyzer is None:
        print("  skipped: wanted perf_analyzer in PATH or PERF_ANALYZER, found none")
        return
    own, others = own_and_others()
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder)
        report = pathlib.Path(folder) / "report.csv"
        with serving(program, folder, own) as (_, url):
            command = ["taskset", "-c", others, analyzer, "-m", "mlp", "-u", url.removeprefix("http://"), "--percentile=99",
                       "--concurrency-range=1:16:4", f"--measurement-interval={seconds * 250}", "-f", str(report)]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not report.exists():
            raise SystemExit(f"serve_live_bench: perf_analyzer ended with {done.returncode}\n{done.stdout}{done.stderr}")
        with report.open() as file:
            for row in csv.DictReader(file):
                table.show(f"answers per second, {row['Concurrency']} at a time", float(row["Inferences/Second"]), "{:.0f}")


PARTS = {"mlp": mlp, "perf": perf}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--seconds", type=int, default=8)
    words = parser.parse_args()
    table = BarTable()
    for part in words.only.split(","):
        if part not in PARTS:
            parser.error(f"--only: wanted some of {', '.join(PARTS)}, found {part}")
        PARTS[part](table, words.program, words.seconds)
    table.print()
    sys.exit(1 if table.missed else 0)


if __name__ == "__main__":
    main()
