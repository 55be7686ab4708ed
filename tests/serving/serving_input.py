"""Random cases for `berth serve simulate`: a device, requests, tenants; as values and as the files of the program."""

import csv
import random
from fractions import Fraction
from math import ceil, floor
from pathlib import Path


class Device:
    """A simulated device: `points` by model, "*" for any other."""

    def __init__(self, lanes, memory, batch_max, load, points, sizes):
        self.lanes, self.memory, self.batch_max = lanes, memory, batch_max
        self.load_seconds, self.bytes_per_second = load
        self.points, self.sizes = points, sizes

    def key(self, model):
        return model if model in self.points else "*"

    def bytes(self, model):
        return self.sizes[self.key(model)]

    def load_us(self, model):
        return ceil((Fraction(self.load_seconds) + Fraction(self.bytes(model), self.bytes_per_second)) * 1_000_000)

    def batch_us(self, model, rows):
        points = self.points[self.key(model)]
        for (low, low_ms), (high, high_ms) in zip(points, points[1:] or points):
            if low <= rows <= high or len(points) == 1:
                step = Fraction(rows - low, high - low) if high > low else 0
                micros = (Fraction(low_ms) + (Fraction(high_ms) - Fraction(low_ms)) * step) * 1000
                return floor(micros + Fraction(1, 2))
        raise AssertionError((model, rows))

    def write(self, path):
        models = "".join(f'  "{name}": {{latency_ms: [{", ".join(f"[{rows}, {ms}]" for rows, ms in points)}], '
                         f"bytes: {self.sizes[name]}}}\n" for name, points in self.points.items())
        path.write_text(f"berth: 1\nname: random\nlanes: {self.lanes}\nmemory: {self.memory}\nbatch_max: {self.batch_max}\n"
                        f"load: {{seconds: {self.load_seconds}, bytes_per_second: {self.bytes_per_second}}}\n"
                        f"models:\n{models}", encoding="utf-8")


class Request:
    def __init__(self, number, at, model, tenant, target, priority):
        self.number, self.at, self.model, self.tenant = number, at, model, tenant
        self.target, self.priority = target, priority
        self.deadline = at + target


def random_points(rng, batch_max):
    sizes = sorted({1, *(rng.randint(1, batch_max + 3) for _ in range(rng.randint(0, 3))), batch_max + rng.randint(0, 3)})
    at = rng.randint(200, 8000)
    points = []
    for rows in sizes:
        points.append((rows, f"{at / 1000:.3f}"))
        at += rng.randint(0, 9000)
    return points


def random_device(rng, names):
    batch_max = rng.choice([1, 2, 3, 8, 16])
    named = [name for name in names if rng.random() < 0.5]
    points = {name: random_points(rng, batch_max) for name in [*named, "*"]}
    sizes = {name: rng.randint(1, 40) * 1_000_000 for name in points}
    memory = max(max(sizes.values()), int(sum(sizes.get(name, sizes["*"]) for name in names) * rng.uniform(0.2, 1.2)))
    return Device(rng.choice([1, 1, 2, 3, 8]), memory, batch_max, (rng.choice(["0", "0.02", "0.0001"]), 500_000_000),
                  points, sizes)


def random_requests(rng, names, count):
    tenants = ["red", "blue", "green"][:rng.randint(1, 3)]
    at, requests = 0, []
    step = rng.choice([100, 1000, 5000, 40_000])
    for number in range(count):
        at += rng.choice([0, 0, rng.randint(0, step), rng.randint(0, 3 * step)])
        requests.append(Request(number, at, rng.choice(names), rng.choice(tenants), rng.choice([1, 9000, 25_000, 300_000]),
                                rng.choice([0, 1, 1, 1, 2, 7])))
    return requests


def random_case(seed, count=200):
    rng = random.Random(seed)
    names = [f"m{index}" for index in range(rng.choice([1, 2, 3, 7]))]
    rng.shuffle(names)
    requests = random_requests(rng, names, count)
    return random_device(rng, sorted({request.model for request in requests})), requests


def write_requests(path: Path, requests):
    with path.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["time_us", "model", "tenant", "target_us", "priority"])
        for request in requests:
            lines.writerow([request.at, request.model, request.tenant, request.target, request.priority])
