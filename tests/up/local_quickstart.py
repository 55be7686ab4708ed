"""The quickstart on simulated GPUs that `berth up` manages, compared with its replay: for a test and for scripts/bench local."""

import json
import subprocess
from dataclasses import dataclass

from local_up import LIBRARY, PROGRAM, ROOT, Machine, Up

SCENARIO = ROOT / "examples/quickstart/scenario.yaml"
CHANGE_SECONDS = 0.5  # of the world, for each creation and each destruction: what the scenario assumes
GPU_INSTANCE_CALLS = ("create_gpu_instance", "destroy_gpu_instance")
ALL_CALLS = (*GPU_INSTANCE_CALLS, "create_compute_instance", "destroy_compute_instance")


@dataclass
class Goodput:
    """Sums of a run: of all requests, and the mean of the services' goodput, as `berth replay` prints it."""

    requests: int
    of_all: float
    mean: float


def goodput_of(journal):
    """From the journal of a replay or of `berth up --journal`."""
    sums = {}
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "second":
            requests, accuracy = sums.get(record["service"], (0, 0))
            sums[record["service"]] = requests + record["requests"], accuracy + record["accuracy_sum_micro"] / 1e6
    requests = sum(count for count, _ in sums.values())
    return Goodput(requests=requests, of_all=sum(accuracy for _, accuracy in sums.values()) / requests,
                   mean=sum(accuracy / count for count, accuracy in sums.values()) / len(sums))


def replay(folder, seed):
    journal = folder / "replay.jsonl"
    subprocess.run([PROGRAM, "replay", SCENARIO, "--policies", "berth", "--seed", str(seed), "--journal", journal],
                   stdout=subprocess.DEVNULL, check=True)
    return goodput_of(journal)


def live(folder, speed, seed, slow_calls=GPU_INSTANCE_CALLS):
    """To the end of the scenario, on a machine on which each of `slow_calls` takes CHANGE_SECONDS; the folder of its journal
    is `folder`/data. Raises AssertionError if it fails."""
    latency_ms = 1000 * CHANGE_SECONDS / speed
    latencies = "{" + ", ".join(f"{call}: {latency_ms}" for call in slow_calls) + "}"
    machine = Machine(folder, "[{gpu: A100-80GB, count: 2}]", latencies)
    config, journal = folder / "berth.yaml", folder / "live.jsonl"
    config.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in machine.uuids()) + "]\n")
    up = Up(folder / "data", ["--world", "local", "--nvml", LIBRARY, "--config", config, "--manage-gpus", "--load", "simulated",
                              "--speed", speed, "--seed", seed, "--scenario", SCENARIO, "--until", "end", "--journal", journal],
            machine.environment())
    try:
        up.address()
        status = up.process.wait()
    finally:
        up.end()
    if status != 0:
        raise AssertionError(f"ended with status {status}: {up.stderr()}")
    return goodput_of(journal)
