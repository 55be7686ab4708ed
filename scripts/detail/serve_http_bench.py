#!/usr/bin/env python3
"""Serving over HTTP compared with `berth serve simulate` on the same requests, and with the rivals over HTTP.

  serve_http_bench.py PROGRAM REPLAY [--only A,C] [--seconds 30] [--seed 1]

The cases are those of `scripts/bench serve`: one lane, batches of 6.125 ms for one row and 72.464 ms for 64, Poisson
arrivals. REPLAY is build/bench/bench/berth_http_replay: it sends each request at its time, whatever became of others.
Goodput: the highest rate at which at least 99 % are answered in time, by bisection; the first tenth does not count.
"""

import argparse
import dataclasses
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/serving"), str(ROOT / "scripts/detail")]

import onnx_bytes  # noqa: E402
from bar_table import BarTable  # noqa: E402
from local_serve import Serve  # noqa: E402

COLUMNS = 4
IN_TIME = 0.99
SIMULATED_STEP = 1.005
HTTP_STEP = 1.02
LATENESS_MAX_US = 5_000  # a client that is later than that measures the machine


@dataclasses.dataclass(frozen=True)
class Workload:
    models: int
    target_ms: int


WORKLOADS = {"A": Workload(1, 25), "C": Workload(10, 100)}


@dataclasses.dataclass(frozen=True)
class Contender:
    policy: str
    rows_max: int = 64

    def name(self):
        return self.policy + (f" with batches of {self.rows_max}" if self.rows_max < 64 else "")


OURS = Contender("berth")
EAGER, AIMD = Contender("eager"), Contender("aimd")


def delays(workload):
    """Triton's batcher, as it may be tuned."""
    return [Contender(f"delay:{workload.target_ms * 10 * percent}", rows) for percent in (5, 10, 20, 40) for rows in (8, 16, 32, 64)]


class Bench:
    def __init__(self, words, workload, folder):
        self.words, self.workload, self.folder = words, workload, folder
        self.models = [f"m{i}" for i in range(workload.models)]
        rng = random.Random(words.seed)
        self.gaps = [(rng.expovariate(1), rng.choice(self.models)) for _ in range(words.seconds * 2_000)]
        self.repository = folder / "models"
        for model in self.models:
            (self.repository / model / "1").mkdir(parents=True)
            (self.repository / model / "1/model.onnx").write_bytes(onnx_bytes.twice(COLUMNS))
            target = f'parameters {{ key: "target_ms" value {{ string_value: "{workload.target_ms}" }} }}'
            (self.repository / model / "config.pbtxt").write_text(target)

    def requests_file(self, rate):
        """As many seconds of requests as were asked for; another rate has the same gaps, stretched."""
        path, at = self.folder / "requests.csv", 0.0
        with path.open("w") as file:
            file.write("time_us,model,tenant,target_us,priority\n")
            for gap, model in self.gaps[:int(rate * self.words.seconds)]:
                at += gap / rate
                file.write(f"{int(at * 1e6)},{model},default,{self.workload.target_ms * 1000},0\n")
        return path

    def device_file(self, contender):
        path = self.folder / "device.yaml"
        path.write_text(
            f'berth: 1\nname: like-a-large-GPU\norigin: "made up"\nlanes: 1\nmemory: 2GiB\nbatch_max: {contender.rows_max}\n'
            "load: {seconds: 0.02, bytes_per_second: 500000000}\n"
            'models:\n  "*": {latency_ms: [[1, 6.125], [64, 72.464]], bytes: 100000000}\n')
        return path

    def simulated(self, contender, rate):
        """The share in time, recounted from the log without the first tenth."""
        requests, log = self.requests_file(rate), self.folder / "log"
        subprocess.run([self.words.program, "serve", "simulate", "--device", self.device_file(contender), "--requests", requests,
                        "--policies", contender.policy, "--log", log], check=True, stdout=subprocess.DEVNULL)
        arrivals = [int(line.split(",")[0]) for line in requests.read_text().splitlines()[1:]]
        skipped, target_us = len(arrivals) // 10, self.workload.target_ms * 1000
        in_time = 0
        for event in map(json.loads, log.read_text().splitlines()):
            if event["kind"] == "batch":
                in_time += sum(each >= skipped and event["end_us"] - arrivals[each] <= target_us for each in event["requests"])
        return in_time / (len(arrivals) - skipped)

    def over_http(self, contender, rate):
        """What the client saw: its JSON."""
        serve = Serve(self.repository, "--device", f"simulated:{self.device_file(contender)}", "--policy", contender.policy).ready()
        try:
            for model in self.models:
                status, answer = serve.json("POST", f"/v2/repository/models/{model}/load", {})
                if status != 200:
                    raise SystemExit(f"serve_http_bench: wanted a model that loads, found {answer}")
            command = [self.words.replay, serve.http.split(":")[1], self.requests_file(rate)]
            seen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        finally:
            serve.process.kill()
            serve.process.wait()
        if seen["lateness_max_us"] > LATENESS_MAX_US:
            print(f"    the client was up to {seen['lateness_max_us'] / 1000:.1f} ms late: the machine is busy", flush=True)
        return seen

    def http_share(self, contender, rate):
        seen = self.over_http(contender, rate)
        share = seen["in_time"] / seen["requests"]
        print(f"    {contender.name()} at {rate:.0f} per second: {100 * share:.2f} % in time", flush=True)
        return share

    def simulated_goodput(self, contender, low=20, high=1000):
        return bisect(lambda rate: self.simulated(contender, rate), low, high, SIMULATED_STEP)

    def http_goodput(self, contender, expected):
        """Between 0.7 and 1.1 of what the simulation says."""
        return bisect(lambda rate: self.http_share(contender, rate), 0.7 * expected, 1.1 * expected, HTTP_STEP)


def bisect(share_at, low, high, step):
    while high / low > step:
        rate = (low * high) ** 0.5
        if share_at(rate) >= IN_TIME:
            low = rate
        else:
            high = rate
    return low


def measure(table, name, words):
    workload = WORKLOADS[name]
    table.part(f"Case {name} over HTTP: {workload.models} models, {workload.target_ms} ms")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(words, workload, pathlib.Path(folder))
        time.sleep(1.1)  # files count when they have not changed for a second
        simulated = bench.simulated_goodput(OURS)
        ours = bench.http_goodput(OURS, simulated)
        table.show(f"{name}: goodput over HTTP / simulated ({ours:.0f} / {simulated:.0f})", ours / simulated, "{:.2f}", "",
                   ("at least", 0.9))
        rivals = [(bench.simulated_goodput(each), each) for each in [EAGER, AIMD]]
        rivals.append(max(((bench.simulated_goodput(each), each) for each in delays(workload)), key=lambda pair: pair[0]))
        best, rival = max(((bench.http_goodput(each, expected), each) for expected, each in rivals), key=lambda pair: pair[0])
        table.show(f"{name}: goodput / best rival ({best:.0f}, {rival.name()})", ours / best, "{:.2f}", "", ("at least", 1))
        seen = bench.over_http(OURS, 2 * ours)
        show_overload(table, name, seen, ours)


def show_overload(table, name, seen, ours):
    statuses = seen["statuses"]
    for status, of_status in statuses.items():
        print(f"    {status}: {of_status['count']} answers, median {of_status['p50_us'] / 1000:.1f} ms, p99 {of_status['p99_us'] / 1000:.1f} ms")
    table.show(f"{name}: in time per second at 2 x goodput / goodput", seen["in_time"] / seen["seconds"] / ours, "{:.2f}")
    if "429" in statuses:
        table.show(f"{name}: ms until a 429 at 2 x goodput, p99", statuses["429"]["p99_us"] / 1000, "{:.1f}", "", ("at most", 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("replay")
    parser.add_argument("--only", default=",".join(WORKLOADS))
    parser.add_argument("--seconds", type=int, default=30, help="of requests, for each rate that is tried")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    table = BarTable()
    for name in words.only.split(","):
        if name not in WORKLOADS:
            parser.error(f"--only: wanted some of {', '.join(WORKLOADS)}, found {name}")
        measure(table, name, words)
    table.print()
    sys.exit(1 if table.missed else 0)


if __name__ == "__main__":
    main()
