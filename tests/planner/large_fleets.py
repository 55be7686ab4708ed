"""Large fleets for tests and measurements: scenarios of thousands of GPUs, written by rule, the same at each call.

    python3 tests/planner/large_fleets.py FOLDER [--gpus A100-80GB=500,H100-80GB-SXM5=300,L4-24GB=200] [--services 100]
        [--load 0.9] [--seconds 600] [--floors SHARE] [--no-layout] [--no-retraining]

writes FOLDER/scenario.yaml, FOLDER/profiles.csv and FOLDER/load.txt (requests per second, with an hour of history). The profiles
are invented: a service has a number of requests per second on a whole A100, a parallel share (Amdahl's law over compute slices),
and a time per request in a batch; an H100 is 1.7 times as fast, an L4 has 0.35 of an A100. Nothing here is measured.
"""

import argparse
import math
import random
import sys
from pathlib import Path

SLICES = {"1g": 1, "2g": 2, "3g": 3, "4g": 4, "7g": 7}
PROFILES = {
    "A100-80GB": ["1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"],
    "H100-80GB-SXM5": ["1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"],
    "L4-24GB": ["full"],
}
SPEED = {"A100-80GB": 1.0, "H100-80GB-SXM5": 1.7, "L4-24GB": 0.35}
# Partitions of a GPU with seven compute slices: (profile, start).
PARTITIONS = [
    [("4g.40gb", 0), ("3g.40gb", 4)],
    [("3g.40gb", 0), ("3g.40gb", 4)],
    [("2g.20gb", 0), ("2g.20gb", 2), ("3g.40gb", 4)],
    [("7g.80gb", 0)],
    [("1g.10gb", start) for start in range(7)],
    [("2g.20gb", 0), ("1g.10gb", 2), ("1g.10gb", 3), ("2g.20gb", 4), ("1g.10gb", 6)],
]
BATCHES = [1, 2, 4, 8, 16]
LATENCY_MS = 200
HISTORY_SECONDS = 3600
LOAD_MEAN = 1000


def share_of(slices, parallel):
    """The speed of `slices` compute slices, as a share of all seven."""
    return 1 / ((1 - parallel) + parallel * 7 / slices)


def services_of(count, seed):
    """Name, requests per second on a whole A100, and parallel share of each."""
    rng = random.Random(seed)
    return [(f"service-{index:03}", 40 * 20 ** rng.random(), 0.85 + 0.14 * rng.random()) for index in range(count)]


def rate_of(service, gpu, profile):
    """Requests per second of a slice at a large batch."""
    _, whole, parallel = service
    slices = 7 if profile == "full" else SLICES[profile.split(".")[0]]
    return whole * SPEED[gpu] * share_of(slices, parallel)


def profile_rows(services, gpus):
    for service in services:
        for gpu in gpus:
            for profile in PROFILES[gpu]:
                rate = rate_of(service, gpu, profile)
                for batch in BATCHES:
                    reached = rate * batch / (batch + 1)
                    yield f"{service[0]},{gpu},{profile},{batch},1,{reached:.2f},{1000 * batch / reached:.3f}"


def layout_lines(fleet, services):
    """Partitions in turn, and slices to services in turn: legal, but far from good."""
    gpu = slot = 0
    lines = ["layout:"]
    for model, count in fleet:
        for _ in range(count):
            pieces = [("full", 0)] if PROFILES[model] == ["full"] else PARTITIONS[gpu % len(PARTITIONS)]
            lines.append(f"  - gpu: {gpu}")
            lines.append("    slices:")
            for profile, start in pieces:
                name = services[slot % len(services)][0]
                lines.append(f"      - {{profile: {profile}, start: {start}, service: {name}}}")
                slot += 1
            gpu += 1
    return lines


def service_lines(services, fleet, options):
    """Loads that add up to `load` of what the fleet serves if each service has an equal share of it."""
    rng = random.Random(options.seed + 1)
    capacity = sum(count * SPEED[gpu] for gpu, count in fleet)
    parts = [0.3 + rng.random() for _ in services]
    for index, service in enumerate(services):
        name, whole, _ = service
        mean = options.load * whole * 0.8 * capacity * parts[index] / sum(parts)
        yield f"  - name: {name}"
        yield f"    profile: {{format: csv, path: profiles.csv, model: {name}}}"
        yield f"    slo: {{latency_ms: {LATENCY_MS}}}"
        yield (f"    arrivals: {{format: rps-text, path: load.txt, from_second: {HISTORY_SECONDS}, seconds: {options.seconds}, "
               f"scale: {mean / LOAD_MEAN:.6f}}}")
        yield "    accuracy: {before: 0.8, after: 0.9}" if options.retraining else "    accuracy: 0.9"
        if options.floors:
            yield f"    floor: {{attainment: {options.floors}}}"
        if options.retraining:
            every = 200 + index % 7 * 50
            yield (f"    retraining: {{every_seconds: {every}, offset_seconds: {index * 13 % every}, "
                   "seconds_on: {1g: 150, 2g: 80, 3g: 55, 4g: 42, 7g: 25, full: 60}}")


def write(folder, options):
    """Writes the scenario and its profiles; returns the path of the scenario."""
    fleet = options.gpus
    services = services_of(options.services, options.seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["model,gpu,profile,batch,processes,requests_per_second,latency_ms"]
    rows += profile_rows(services, [gpu for gpu, _ in fleet])
    (folder / "profiles.csv").write_text("\n".join(rows) + "\n")
    (folder / "load.txt").write_text("\n".join(load_lines(options.seconds)) + "\n")
    lines = ["berth: 1", "fidelity: rates", f"fleet: [{', '.join(f'{{gpu: {gpu}, count: {count}}}' for gpu, count in fleet)}]"]
    if options.layout:
        lines += layout_lines(fleet, services)
    lines.append("services:")
    lines += service_lines(services, fleet, options)
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def load_lines(seconds):
    """A slow wave around LOAD_MEAN requests per second, 20 % up and down within 40 minutes."""
    for second in range(HISTORY_SECONDS + seconds):
        yield str(round(LOAD_MEAN * (1 + 0.2 * math.sin(2 * math.pi * second / 2400))))


def parse_fleet(text):
    fleet = []
    for entry in text.split(","):
        gpu, _, count = entry.partition("=")
        if gpu not in PROFILES or not count.isdigit() or int(count) < 1:
            raise argparse.ArgumentTypeError(f"wanted MODEL=COUNT with a model of {', '.join(PROFILES)}, found {entry!r}")
        fleet.append((gpu, int(count)))
    return fleet


def parser():
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--gpus", type=parse_fleet, default=parse_fleet("A100-80GB=500,H100-80GB-SXM5=300,L4-24GB=200"))
    found.add_argument("--services", type=int, default=100)
    found.add_argument("--load", type=float, default=0.9, help="load as a share of what the fleet can serve")
    found.add_argument("--seconds", type=int, default=600, help="length of the run")
    found.add_argument("--floors", type=float, default=0, help="floor of each service, as a share in time; 0: none")
    found.add_argument("--seed", type=int, default=1)
    found.add_argument("--no-layout", dest="layout", action="store_false", help="the file has no layout")
    found.add_argument("--no-retraining", dest="retraining", action="store_false", help="no service is retrained")
    return found


def scenario(folder, *words):
    """The same from Python: `scenario(folder, "--gpus", "A100-80GB=10")`."""
    return write(folder, parser().parse_args(list(words)))


def main():
    arguments = parser()
    arguments.add_argument("folder", type=Path)
    options = arguments.parse_args()
    print(write(options.folder, options))


if __name__ == "__main__":
    sys.exit(main())
