"""Reads a scenario: numbers as fractions, times as whole microseconds, arrivals as lists, profiles as dictionaries.

Covers what the policy `fixed` at `fidelity: requests` needs. Arrivals that involve chance raise RandomArrivals.
"""

import csv
import datetime
import gzip
import os
from dataclasses import dataclass, field
from fractions import Fraction

import yaml

import gpu_models

MICROS = 1_000_000

KEYS = {
    "scenario": "berth fleet window_seconds history_seconds observation_delay_seconds planning_seconds interference"
                " fidelity objective changes frozen layout services gpus_per_node",
    "fleet": "gpu count usd_per_gpu_hour",
    "layout": "gpu count slices",
    "slice": "profile start service role",
    "service": "name tenant profile slo batching drop arrivals start_seconds accuracy retraining variants weight floor"
               " pins changes_per_hour isolation trust_domain expects",
    "profile": "format path model",
    "slo": "latency_ms attainment",
    "batching": "slo_factor max_processes",
    "arrivals": "format path from_second seconds scale smooth_seconds repeat requests_per_second app function",
    "accuracy": "before after",
    "retraining": "every_seconds offset_seconds swap_seconds unfinished seconds_on",
}


class RandomArrivals(Exception):
    """The arrivals of this scenario are drawn by chance: only their counts can be checked."""


class StrictLoader(yaml.BaseLoader):
    """Every scalar stays text (so that decimals are exact); a repeated key is an error."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        if len(set(keys)) != len(keys):
            raise ValueError(f"repeated key in {keys}")
        return super().construct_mapping(node, deep)


@dataclass
class Gpu:
    model: str
    usd_per_hour: object  # Fraction, or None where no price is stated


@dataclass
class SliceSpec:
    gpu: int
    profile: str
    start: int
    service: str
    role: str


@dataclass
class Retraining:
    every_us: int
    offset_us: int
    swap_us: int
    unfinished: str
    seconds_on: dict  # compute size: Fraction of seconds


@dataclass
class Service:
    name: str
    target_us: Fraction
    slo_factor: Fraction
    max_processes: int
    drop: str
    weight: Fraction
    before: Fraction
    after: Fraction
    retraining: object  # Retraining or None
    table: dict         # (gpu model, profile): {(batch, processes): (requests per second of the slice, latency in ms)}
    arrivals: dict      # the block of the file
    folder: str = "."


@dataclass
class Scenario:
    gpus: list
    layout: list
    services: list
    interference: list
    folder: str = field(default=".")


def load(path):
    """The scenario in `path`. Unknown and repeated keys are errors."""
    with open(path, encoding="utf-8-sig") as file:
        tree = yaml.load(file.read(), Loader=StrictLoader)
    known(tree, "scenario")
    if tree.get("fidelity", "requests") != "requests":
        raise ValueError("fidelity: the oracle knows requests only")
    folder = os.path.dirname(os.path.abspath(path))
    gpus = [gpu for entry in tree["fleet"] for gpu in read_gpus(entry)]
    services = [read_service(block, folder) for block in tree["services"]]
    if len({service.name for service in services}) != len(services) or not gpus or not services:
        raise ValueError("wanted a fleet, and services of different names")
    interference = [Fraction(factor) for factor in tree.get("interference", ["1"])]
    if not interference:
        raise ValueError("interference: wanted at least one factor")
    return Scenario(gpus, read_layout(tree.get("layout", [])), services, interference, folder)


def known(block, kind):
    unknown = set(block) - set(KEYS[kind].split())
    if unknown:
        raise ValueError(f"{kind}: unknown keys {sorted(unknown)}")


def whole_micros(seconds):
    """Seconds as whole microseconds, a remainder rounded half up."""
    return half_up(Fraction(seconds) * MICROS)


def half_up(value):
    """The nearest whole number, the larger of two equally near."""
    return (value + Fraction(1, 2)).__floor__()


def read_gpus(entry):
    known(entry, "fleet")
    price = Fraction(entry["usd_per_gpu_hour"]) if "usd_per_gpu_hour" in entry else None
    return [Gpu(gpu_models.resolve(entry["gpu"]), price)] * int(entry.get("count", 1))


def read_layout(blocks):
    """All slices of the layout, by GPU and start."""
    slices = []
    for block in blocks:
        known(block, "layout")
        first = int(block["gpu"])
        for entry in block["slices"]:
            known(entry, "slice")
            slices.extend(SliceSpec(gpu, entry["profile"], int(entry["start"]), entry["service"],
                                    entry.get("role", "inference"))
                          for gpu in range(first, first + int(block.get("count", 1))))
    return sorted(slices, key=lambda spec: (spec.gpu, spec.start))


def read_service(block, folder):
    known(block, "service")
    known(block["slo"], "slo")
    known(block["arrivals"], "arrivals")
    batching = block.get("batching", {})
    known(batching, "batching")
    before, after = read_accuracy(block.get("accuracy", "1"))
    retraining = read_retraining(block["retraining"], folder) if "retraining" in block else None
    drop = block.get("drop", "early")
    if drop not in ("early", "never"):
        raise ValueError(f"drop: wanted early or never, found {drop}")
    return Service(name=block["name"], target_us=Fraction(block["slo"]["latency_ms"]) * 1000,
                   slo_factor=Fraction(batching.get("slo_factor", "0.45")),
                   max_processes=int(batching.get("max_processes", 3)), drop=drop,
                   weight=Fraction(block.get("weight", "1")), before=before, after=after, retraining=retraining,
                   table=read_profile(block["profile"], folder), arrivals=block["arrivals"], folder=folder)


def read_accuracy(block):
    if isinstance(block, str):
        return Fraction(block), Fraction(block)
    known(block, "accuracy")
    return Fraction(block["before"]), Fraction(block["after"])


# ---- retraining ----

def read_retraining(block, folder):
    known(block, "retraining")
    unfinished = block.get("unfinished", "abandon")
    if unfinished not in ("abandon", "continue"):
        raise ValueError(f"unfinished: wanted abandon or continue, found {unfinished}")
    seconds_on = block["seconds_on"]
    if "format" in seconds_on:
        seconds_on = read_miso(seconds_on, folder)
    return Retraining(every_us=whole_micros(block["every_seconds"]), offset_us=whole_micros(block.get("offset_seconds", 0)),
                      swap_us=whole_micros(block.get("swap_seconds", 0)), unfinished=unfinished,
                      seconds_on={size: Fraction(seconds) for size, seconds in seconds_on.items()})


def read_miso(block, folder):
    """seconds_7g x mean iteration time on the slice / mean iteration time on 7g, for each size that was logged."""
    if block["format"] != "miso":
        raise ValueError(f"seconds_on: wanted the format miso, found {block['format']}")
    mean = {}
    for row in csv.DictReader(lines_of(os.path.join(folder, block["path"]))):
        if row["model"] == block["model"] and int(row["batch"]) == int(block["batch"]):
            mean[row["mig_slice"].split(".")[0]] = Fraction(row["mean_s_per_iter"])
    return {size: Fraction(block["seconds_7g"]) * value / mean["7g"] for size, value in mean.items()}


# ---- profiles ----

def read_profile(block, folder):
    known(block, "profile")
    path = os.path.join(folder, block["path"])
    if block["format"] == "parvagpu":
        return read_parvagpu(path)
    if block["format"] == "csv":
        return read_profile_csv(path, block["model"])
    raise ValueError(f"profile: wanted parvagpu or csv, found {block['format']}")


def read_parvagpu(path):
    """A100-80GB only; throughput there is per process, latency in seconds; rows of zeros hold no measurement."""
    model = "A100-80GB"
    names = {"1": "1g.10gb", "2": "2g.20gb", "3": "3g.40gb", "4": "4g.40gb", "7": "7g.80gb"}
    table = {}
    for row in csv.DictReader(lines_of(path)):
        rate, seconds = Fraction(row["Throughput"]), Fraction(row["Latency"])
        if rate == 0 and seconds == 0:
            continue
        processes = int(row["Workload Number"])
        points = table.setdefault((model, names[row["Mig instance"]]), {})
        points[int(row["Batch size"]), processes] = (rate * processes, seconds * 1000)
    return table


def read_profile_csv(path, model):
    table = {}
    for row in csv.DictReader(lines_of(path)):
        gpu = gpu_models.resolve(row["gpu"])
        if row["profile"] not in gpu_models.profiles(gpu):
            raise ValueError(f"{path}: {gpu} has no profile {row['profile']}")
        if row["model"] != model:
            continue
        points = table.setdefault((gpu, row["profile"]), {})
        points[int(row["batch"]), int(row["processes"])] = (Fraction(row["requests_per_second"]), Fraction(row["latency_ms"]))
    if not table:
        raise ValueError(f"{path}: holds no model {model}")
    return table


def points_on(service, model, profile):
    """The measured points of the service on a slice; the largest profile's for a whole GPU without rows of its own."""
    points = service.table.get((model, profile))
    if points is None and profile == gpu_models.WHOLE:
        points = service.table.get((model, gpu_models.largest_profile(model)))
    return points or {}


def usable_points(service, points):
    """[(requests per second, batch, processes)] within the process limit and strictly below slo_factor x target."""
    limit_ms = service.slo_factor * service.target_us / 1000
    return [(rate, batch, processes) for (batch, processes), (rate, latency_ms) in points.items()
            if processes <= service.max_processes and latency_ms < limit_ms]


def operating_point(service, points):
    """(batch, processes) with the highest throughput, ties to the smaller batch, then to fewer processes; None if there is none."""
    usable = usable_points(service, points)
    if not usable:
        return None
    _, batch, processes = min(usable, key=lambda point: (-point[0], point[1], point[2]))
    return batch, processes


def latency_ms(points, processes, batch):
    """Latency of a batch at a process count: linear between profiled batches, the smallest one's below it."""
    curve = sorted((b, latency) for (b, p), (_, latency) in points.items() if p == processes)
    if batch <= curve[0][0]:
        return curve[0][1]
    for (b0, l0), (b1, l1) in zip(curve, curve[1:]):
        if b0 <= batch <= b1:
            return l0 + (l1 - l0) * Fraction(batch - b0, b1 - b0)
    raise ValueError(f"no latency above batch {curve[-1][0]}, wanted {batch}")


# ---- arrivals ----

def arrivals_of(service):
    """(microseconds since the run's second 0 of each request in order, seconds of the window)."""
    block = service.arrivals
    first = int(block.get("from_second", 0))
    if block["format"] == "azure-llm":
        times, length = azure_llm(os.path.join(service.folder, block["path"]))
        if Fraction(block.get("scale", "1")) != 1:
            raise RandomArrivals(f"{service.name}: scale")
    elif block["format"] == "constant":
        length = first + int(block["seconds"])
        times = constant(Fraction(block["requests_per_second"]) * Fraction(block.get("scale", "1")), length)
    else:
        raise RandomArrivals(f"{service.name}: {block['format']}")
    if first >= length:
        raise ValueError(f"{service.name}: the window starts at second {first}, behind the trace of {length}")
    seconds = int(block.get("seconds", length - first))
    begin, end = first * MICROS, (first + seconds) * MICROS
    return [t - begin for t in times if begin <= t < end], seconds


def constant(rate, seconds):
    """The k-th request, k = 0, 1, ..., lies floor(k x 10^6 / rate) microseconds after second 0."""
    times = []
    while (Fraction(len(times) * MICROS) / rate).__floor__() < seconds * MICROS:
        times.append((Fraction(len(times) * MICROS) / rate).__floor__())
    return times


def azure_llm(path):
    """Times since the trace's second 0, which is the first timestamp rounded down, and the seconds of the trace."""
    stamps = [row["TIMESTAMP"] for row in csv.DictReader(lines_of(path))]
    times = [stamp_micros(stamp) for stamp in stamps]
    zero = times[0] // MICROS * MICROS
    times = sorted(t - zero for t in times)
    return times, times[-1] // MICROS + 1


def stamp_micros(stamp):
    """Microseconds since the epoch, further digits cut off."""
    moment, _, digits = stamp.partition(".")
    seconds = datetime.datetime.strptime(moment, "%Y-%m-%d %H:%M:%S") - datetime.datetime(1970, 1, 1)
    return (seconds.days * 86400 + seconds.seconds) * MICROS + int(digits[:6].ljust(6, "0"))


def second_counts(service):
    """{second of the run: requests}, without empty ones, if the trace alone determines it; None if chance does."""
    block = service.arrivals
    first = int(block.get("from_second", 0))
    if block["format"] in ("azure-llm", "constant") and Fraction(block.get("scale", "1")) == 1:
        counts = {}
        for t in arrivals_of(service)[0]:
            counts[t // MICROS] = counts.get(t // MICROS, 0) + 1
        return counts
    if block["format"] not in ("rps-text", "csv") or Fraction(block.get("scale", "1")) != 1:
        return None
    lines = lines_of(os.path.join(service.folder, block["path"]))
    if block["format"] == "rps-text":
        counts = dict(enumerate(int(line) for line in lines))
    else:
        counts = {int(row["second"]): int(row["requests"]) for row in csv.DictReader(lines)}
    seconds = int(block.get("seconds", max(counts) + 1 - first))
    return {s - first: n for s, n in counts.items() if first <= s < first + seconds and n > 0}


def lines_of(path):
    """The lines of a text file, plain or gzip; blank ones at the end are left out, inside they are an error."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        lines = file.read().rstrip().split("\n")
    if any(not line.strip() for line in lines):
        raise ValueError(f"{path}: blank line inside")
    return [line.rstrip("\r") for line in lines]
