"""Runs the benchmarks of src/planner (the program BERTH_PLANNER_BENCH) and reads their counters."""

import json
import os
import subprocess


def counters(filter_text, seconds_max=None, environment=None):
    """{benchmark: its figures} of those whose name matches. Raises subprocess.TimeoutExpired after seconds_max."""
    command = [os.environ["BERTH_PLANNER_BENCH"], f"--benchmark_filter={filter_text}", "--benchmark_format=json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds_max, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0 or not done.stdout:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    return {benchmark["name"]: benchmark for benchmark in json.loads(done.stdout)["benchmarks"]}
