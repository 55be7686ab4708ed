"""live_scale.py BERTH [--gpus N] [--services N] [--policy P] [--rate R] [--seconds S]: how long the steps of a large
running engine take while 100 GPUs per second are lost, and return half a second later.

The fleet is of A100-80GB in seven slices each; every service has gpus / services GPUs in the layout of policy fixed,
and gets R requests per second."""

import argparse
import pathlib
import random
import tempfile
import time

from live_server import running_server

PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,1,1,40,25
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,2g.20gb,1,1,60,16
m,A100-80GB,2g.20gb,8,1,220,36
m,A100-80GB,3g.40gb,8,1,330,24
m,A100-80GB,4g.40gb,8,1,430,19
m,A100-80GB,7g.80gb,8,1,700,12
"""
LOST_PER_SECOND = 100


def write_scenario(folder, gpus, services, rate):
    """Writes scenario.yaml and its profile into the folder."""
    (folder / "profile.csv").write_text(PROFILE)
    each = gpus // services
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: 3.673}}]", "window_seconds: 200",
             "fidelity: rates", "layout:"]
    for index in range(services):
        slices = ", ".join(f"{{profile: 1g.10gb, start: {start}, service: s{index}}}" for start in range(7))
        lines.append(f"  - {{gpu: {index * each}, count: {each}, slices: [{slices}]}}")
    lines.append("services:")
    for index in range(services):
        lines.append(f"  - {{name: s{index}, tenant: t{index % 50}, slo: {{latency_ms: 100}}, "
                     f"profile: {{format: csv, path: profile.csv, model: m}}, "
                     f"arrivals: {{format: poisson, requests_per_second: {rate}, seconds: 600, repeat: true}}, "
                     f"expects: {{requests_per_second: {rate}}}}}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def disturb(client, gpus, seconds):
    """Loses and returns GPUs for so long; the longest order in seconds."""
    rng = random.Random(1)
    longest = 0.0
    began = time.monotonic()
    for second in range(seconds):
        fault = {"gpu": f"gpu-{rng.randrange(gpus - LOST_PER_SECOND)}", "gpus": LOST_PER_SECOND}
        longest = max(longest, client.send("/v1/sim/faults", {"kind": "lose", **fault})[1])
        time.sleep(0.5)
        longest = max(longest, client.send("/v1/sim/faults", {"kind": "return", **fault})[1])
        time.sleep(max(0.0, began + second + 1 - time.monotonic()))
    return longest


def main():
    """Runs the measurement and prints what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--services", type=int, default=1000)
    parser.add_argument("--policy", default="fixed")
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--seconds", type=int, default=120)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scenario = write_scenario(pathlib.Path(name), words.gpus, words.services, words.rate)
        options = ["--scenario", scenario, "--policy", words.policy, "--speed", "1"]
        with running_server(words.berth, options) as server:
            print(f"ready after {server.start_seconds:.1f} s")
            longest = disturb(server.client, words.gpus, words.seconds)
            status, took = server.client.send("/v1/status")
            steps = status["steps"]
            print(f"{steps['count']} steps: p50 {steps['p50_ms']:.1f} ms, p99 {steps['p99_ms']:.1f} ms, "
                  f"longest {steps['max_ms']:.1f} ms")
            print(f"longest order to lose or return {LOST_PER_SECOND} GPUs: {longest * 1000:.1f} ms; "
                  f"status: {took * 1000:.1f} ms")
            print(f"last plan: {status['solver']['last_ms']} ms; goodput of the last minute: {status['goodput']}; "
                  f"resident: {server.resident_mb():.0f} MB")


if __name__ == "__main__":
    main()
