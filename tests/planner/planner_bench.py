"""Runs a benchmark program from the folder BERTH_BENCH_FOLDER (build/bench/bench) and reads its counters."""

import json
import os
import subprocess


def counters(module, filter_text, seconds_max=None, environment=None):
    """{benchmark: its figures} of those in src/MODULE whose name matches. Raises subprocess.TimeoutExpired after seconds_max."""
    program = os.path.join(os.environ["BERTH_BENCH_FOLDER"], f"berth_{module}_bench")
    command = [program, f"--benchmark_filter={filter_text}", "--benchmark_format=json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds_max, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0 or not done.stdout:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    return {benchmark["name"]: benchmark for benchmark in json.loads(done.stdout)["benchmarks"]}
