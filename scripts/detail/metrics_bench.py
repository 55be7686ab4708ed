"""metrics_bench.py BERTH [--gpus N] [--services N] [--speed X] [--seconds S] [--runs N] [--every S]: how long a scrape of
/metrics takes in a large world of policy fixed, and how long steps take with scrapes and without, in turn.

The world is that of live_scale.py: GPUs in seven slices each, which serve by rates."""

import argparse
import pathlib
import statistics
import tempfile
import time

from live_scale import write_scenario
from live_server import running_server


def percentile(values, percent):
    """By nearest rank; nan without values."""
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 100) - 1)] if values else float("nan")


def scrape(client):
    """Seconds that a scrape took, and its lines that are samples."""
    began = time.monotonic()
    with client.open("GET", "/metrics") as reply:
        text = reply.read().decode()
    took = time.monotonic() - began
    return took, sum(1 for line in text.splitlines() if not line.startswith("#"))


def run(berth, options, seconds, every):
    """One server, scraped each `every` seconds, or never: the status of its steps, the times of scrapes, their series."""
    with running_server(berth, options) as server:
        took, series = [], 0
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            time.sleep(every or 1)  # the first step of a large world takes half a second, and is not what this is about
            if every is None:
                continue
            one, series = scrape(server.client)
            took.append(one)
        steps = server.client.send("/v1/status")[0]["steps"]
        return steps, took, series, server.cpu_seconds()


def main():
    """Runs the measurement and prints what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--services", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--speed", default="2")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--runs", type=int, default=2)
    words = parser.parse_args()
    without, with_scrapes, took = [], [], []
    with tempfile.TemporaryDirectory() as name:
        scenario = write_scenario(pathlib.Path(name), words.gpus, words.services, words.rate)
        options = ["--scenario", scenario, "--policy", "fixed", "--speed", words.speed]
        for _ in range(words.runs):
            for every, kept in ((None, without), (words.every, with_scrapes)):
                steps, times, series, cpu = run(words.berth, options, words.seconds, every)
                kept.append(steps["p99_ms"])
                took += times
                print(f"{'with' if times else 'without'} scrapes: {steps['count']} steps: p50 {steps['p50_ms']:.1f} ms, "
                      f"p99 {steps['p99_ms']:.1f} ms, longest {steps['max_ms']:.1f} ms; processor {cpu:.0f} s", flush=True)
    print(f"{len(took)} scrapes of {series} series: p50 {percentile(took, 50) * 1000:.0f} ms, "
          f"p99 {percentile(took, 99) * 1000:.0f} ms, longest {max(took) * 1000:.0f} ms")
    ratio = statistics.median(with_scrapes) / statistics.median(without)
    print(f"step p99 with a scrape each {words.every:g} s: {ratio:.2f} x that without (medians of {words.runs} runs)")


if __name__ == "__main__":
    main()
