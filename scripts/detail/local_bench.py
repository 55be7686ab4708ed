"""local_bench.py BERTH READ_BENCH [--only reading,changing,quickstart] [--speed X] [--seed N] [--all-calls]: `berth up --world
local` on simulated machines, each figure with its bound beside it.

reading     16 GPUs with 7 slices each: how long it takes to read all of them (READ_BENCH, of src/gpu/nvml)
changing    one of these GPUs: its 7 slices are destroyed and created again, compared with what the library itself takes
quickstart  examples/quickstart with 0.5 s for each creation and destruction of a GPU instance (--all-calls: and of a compute
            instance), compared with `berth replay`: 15 minutes at speed 1"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("reading", "changing", "quickstart")
GPUS, SLICES = 16, 7
LATENCY_MS = {"create_gpu_instance": 200, "create_compute_instance": 50, "destroy_compute_instance": 20,
              "destroy_gpu_instance": 200}
READING_MS_MAX = 50
CHANGING_OVER_MAX = 0.10
GOODPUT_DIFFERENCE_MAX = 0.02
CHANGED = 3  # the GPU that is changed

SCENARIO = f"""berth: 1
fleet: [{{gpu: A100-80GB, count: {GPUS}}}]
layout:
  - {{gpu: 0, count: {GPUS}, slices: [SLICES]}}
services:
  - name: tagger
    tenant: photos
    profile: {{format: csv, path: profile.csv, model: m}}
    slo: {{latency_ms: 200}}
    start_seconds: 0
    arrivals: {{format: poisson, requests_per_second: 60, seconds: 3600, repeat: true}}
"""
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,1,1,26.88,37.2
"""


def print_figure(what, measured, bound, is_met):
    print(f"{what:<62} {measured:>12}   bound {bound:<10} {'met' if is_met else 'missed'}", flush=True)


def latencies(latency_ms):
    return "{" + ", ".join(f"{part}: {milliseconds}" for part, milliseconds in latency_ms.items()) + "}"


# ---- reading

def measure_reading(local_up, folder, read_bench):
    fleet = folder / "sixteen.yaml"
    fleet.write_text(f"fleet: [{{gpu: A100-80GB, count: {GPUS}, mig: true}}]\n")
    run = subprocess.run([local_up.SIMULATOR, "run", "--fleet", fleet, "--", read_bench, "--benchmark_format=json"],
                         capture_output=True, text=True, check=True)
    for each in json.loads(run.stdout)["benchmarks"]:
        if each.get("error_occurred"):
            sys.exit(f"{each['name']}: {each['error_message']}")
        what = f"reading {GPUS} GPUs x {SLICES} slices, " + ("each by its thread" if "at_once" in each["name"] else "in turn")
        print_figure(what, f"{each['real_time']:.2f} ms", f"{READING_MS_MAX} ms", each["real_time"] < READING_MS_MAX)


# ---- changing

def seconds_between(events, first, last):
    """From the first event of a kind to the last one of another."""
    times = [[datetime.datetime.fromisoformat(event["time"].rstrip("Z")) for event in events if event["kind"] == kind]
             for kind in (first, last)]
    return (max(times[1]) - min(times[0])).total_seconds()


def change(local_up, up, verb, last):
    """Seconds from the first intent to the last of the slices' events of that kind."""
    before = up.get("v1/overview")["last_event"]
    status, answer = up.send("POST", f"v1/gpus/gpu-{CHANGED}/{verb}", {"reason": "a measurement"} if verb == "drain" else {})
    if status != 200:
        sys.exit(f"{verb}: {status} {answer}")

    def events():
        found = [event for event in up.events() if event["sequence"] > before and f"gpu-{CHANGED}-" in words_of(event)]
        return found if sum(event["kind"] == last for event in found) == SLICES else None

    return seconds_between(local_up.wait_until(events, f"{SLICES} times {last}"), "ActionIntended", last)


def words_of(event):
    """Object and message: one of them names the slice."""
    return f"{event['object']['name'] if event['object'] else ''} {event['message']}"


def measure_changing(local_up, folder):
    machine = local_up.Machine(folder, f"[{{gpu: A100-80GB, count: {GPUS}}}]", latencies(LATENCY_MS))
    config = write_config(folder, machine)
    slices = ", ".join(f"{{profile: 1g.10gb, start: {start}, service: tagger}}" for start in range(SLICES))
    (folder / "scenario.yaml").write_text(SCENARIO.replace("SLICES", slices))
    (folder / "profile.csv").write_text(PROFILE)
    up = local_up.Up(folder / "data", ["--world", "local", "--nvml", local_up.LIBRARY, "--config", config, "--manage-gpus",
                                       "--load", "simulated", "--policy", "fixed", "--scenario", folder / "scenario.yaml"],
                     machine.environment())
    try:
        up.ready()
        local_up.wait_until(lambda: [state for *_, state in up.slices()] == ["serving"] * GPUS * SLICES, "every slice serves")
        time.sleep(1)  # until the events of the first layout are recorded, too
        destroying = change(local_up, up, "drain", "SliceGone")
        creating = change(local_up, up, "uncordon", "SliceCreated")
    finally:
        up.end()
    own = {kind: SLICES * sum(ms for part, ms in LATENCY_MS.items() if part.startswith(kind)) / 1000
           for kind in ("destroy", "create")}
    for what, took, wanted in (("destroying", destroying, own["destroy"]), ("creating", creating, own["create"]),
                               ("both", destroying + creating, own["destroy"] + own["create"])):
        over = took / wanted - 1
        print_figure(f"{what}, {SLICES} slices of a GPU: {took:.3f} s, the library's part {wanted:.3f} s", f"{over:+.2%}",
                     f"{CHANGING_OVER_MAX:+.0%}", over < CHANGING_OVER_MAX)


def write_config(folder, machine):
    config = folder / "berth.yaml"
    config.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in machine.uuids()) + "]\n")
    return config


# ---- quickstart

def measure_quickstart(folder, speed, seed, has_all_calls):
    from local_quickstart import ALL_CALLS, GPU_INSTANCE_CALLS, live, replay
    wanted = replay(folder, seed)
    found = live(folder, speed, seed, ALL_CALLS if has_all_calls else GPU_INSTANCE_CALLS)
    for what, replayed, lived in (("of all requests", wanted.of_all, found.of_all),
                                  ("mean of the services", wanted.mean, found.mean)):
        difference = lived / replayed - 1
        print_figure(f"quickstart, speed {speed:g}, seed {seed}, goodput {what}: {lived:.4f}, replay {replayed:.4f}",
                     f"{difference:+.2%}", f"{GOODPUT_DIFFERENCE_MAX:.0%}", abs(difference) < GOODPUT_DIFFERENCE_MAX)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("berth")
    parser.add_argument("read_bench")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--speed", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all-calls", action="store_true")
    options = parser.parse_args()
    parts = options.only.split(",")
    if not set(parts) <= set(PARTS):
        parser.error(f"--only: wanted some of {', '.join(PARTS)}, found {options.only}")
    os.environ.update(BERTH_PROGRAM=str(Path(options.berth).resolve()), BERTH_SOURCE_DIR=str(ROOT))
    sys.path.insert(0, str(ROOT / "tests/up"))
    import local_up  # reads the environment
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        for part in parts:
            folder = Path(name) / part
            folder.mkdir()
            if part == "reading":
                measure_reading(local_up, folder, Path(options.read_bench).resolve())
            elif part == "changing":
                measure_changing(local_up, folder)
            else:
                measure_quickstart(folder, options.speed, options.seed, options.all_calls)


main()
