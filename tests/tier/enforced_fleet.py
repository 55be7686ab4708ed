"""Scenarios of four services on a fleet of T4, A30, A100-80GB and H100, drawn from a seed, and the cost of a replay."""
import csv
import json
import math
import random

# Model: TFLOPS (dense FP16), USD per GPU hour, GPUs, SMs, and slices as (profile, share of compute, SMs).
FLEET = {
    "T4-16GB": (65, 0.53, 6, 40, [("full", 1.0, 40)]),
    "A30-24GB": (165, 1.1, 4, 56, [("1g.6gb", 1 / 4, 14), ("2g.12gb", 1 / 2, 28), ("4g.24gb", 1.0, 56)]),
    "A100-80GB": (312, 3.67, 3, 108, [("1g.10gb", 1 / 7, 14), ("2g.20gb", 2 / 7, 28), ("3g.40gb", 3 / 7, 42),
                                      ("4g.40gb", 4 / 7, 56), ("7g.80gb", 1.0, 98)]),
    "H100-80GB-SXM5": (989, 7.9, 2, 132, [("1g.10gb", 1 / 7, 16), ("2g.20gb", 2 / 7, 32), ("3g.40gb", 3 / 7, 60),
                                          ("4g.40gb", 4 / 7, 64), ("7g.80gb", 1.0, 132)]),
}
BATCHES = (1, 2, 4, 8, 16, 32)


class Model:
    """A made-up model: how fast it is on a slice depends on its compute with a power and an error of its own."""

    def __init__(self, rng, name):
        self.name = name
        self.fixed_ms = rng.uniform(0.5, 3)  # of a batch on a T4
        self.row_ms = rng.uniform(0.4, 4)
        self.power = rng.uniform(0.55, 0.95)
        self.error = {gpu: math.exp(rng.gauss(0, 0.15)) for gpu in FLEET}

    def latency_ms(self, gpu, share, batch):
        speed = (FLEET[gpu][0] * share / FLEET["T4-16GB"][0]) ** self.power
        if gpu != "T4-16GB":
            speed *= self.error[gpu]
        return self.fixed_ms / speed ** 0.3 + self.row_ms * batch / speed

    def rows(self):
        for gpu, (_, _, _, _, slices) in FLEET.items():
            for profile, share, _ in slices:
                for batch in BATCHES:
                    latency = round(self.latency_ms(gpu, share, batch), 4)
                    yield [self.name, gpu, profile, batch, 1, round(1000 * batch / latency, 4), latency]


def arrivals(rng, mean, seconds):
    """Requests per second: a slow wave and bursts of one to five minutes."""
    phase = rng.uniform(0, 2 * math.pi)
    counts = []
    burst, left = 1.0, 0
    for second in range(seconds):
        if left == 0:
            is_burst = rng.random() < 0.2
            burst, left = (rng.uniform(1.5, 2.5) if is_burst else 1.0), rng.randint(60, 300 if is_burst else 900)
        left -= 1
        rate = mean * (1 + 0.4 * math.sin(phase + 2 * math.pi * second / 10800)) * burst
        counts.append(max(0, round(rng.gauss(rate, math.sqrt(rate)))))
    return counts


def write_scenario(folder, seed, hours=6, history_seconds=1800):
    """Writes `known.yaml` (all rows known) and `unknown.yaml` (the T4's) with their files; the same seed, the same."""
    rng = random.Random(seed)
    seconds = round(hours * 3600)
    services = []
    for index in range(4):
        model = Model(rng, f"m{index}")
        with open(folder / f"m{index}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["model", "gpu", "profile", "batch", "processes", "requests_per_second", "latency_ms"])
            writer.writerows(model.rows())
        alone = model.latency_ms("T4-16GB", 1, 1)
        target = alone / 0.45 * rng.choice([0.6, 1.3, 2.5, 6])
        mean = 1000 / model.row_ms * rng.uniform(0.3, 1.5)
        counts = arrivals(rng, mean, seconds + history_seconds)
        (folder / f"m{index}.txt").write_text("\n".join(map(str, counts)) + "\n", encoding="utf-8")
        services.append((model.name, target))
    for name, known_on in (("known", ""), ("unknown", ", known_on: [T4]")):
        lines = ["berth: 1", "fidelity: rates", f"history_seconds: {history_seconds}", "fleet:"]
        for gpu, (_, usd, count, _, _) in FLEET.items():
            lines.append(f"  - {{gpu: {gpu}, count: {count}, usd_per_gpu_hour: {usd}}}")
        lines.append("services:")
        for model, target in services:
            lines.append(
                f"  - {{name: {model}, profile: {{format: csv, path: {model}.csv, model: {model}}}, "
                f"slo: {{latency_ms: {target:.3f}}}, arrivals: {{format: rps-text, path: {model}.txt, "
                f"from_second: {history_seconds}, seconds: {seconds}}}, tier: auto{known_on}}}")
        (folder / f"{name}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_journal(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def gpu_models():
    return [gpu for gpu, (_, _, count, _, _) in FLEET.items() for _ in range(count)]


def cost_usd(journal, seconds):
    """The sum over the slices that services hold: SMs x time x USD per GPU hour, by the GPU's SMs."""
    models = gpu_models()
    held = {}
    total = 0.0

    def end(key, at):
        nonlocal total
        gpu, profile, _ = key
        _, usd, _, sms, slices = FLEET[models[gpu]]
        own = sms if profile == "full" else next(size for name, _, size in slices if name == profile)
        total += own / sms * usd * (at - held.pop(key)) / 3600e6

    for record in journal:
        if "profile" not in record:
            continue
        key = (record["gpu"], record["profile"], record["start"])
        if record["type"] == "serving" and key not in held:
            held[key] = record["t_us"]
        elif record["type"] in ("slice_destroyed", "slice_lost", "draining") and key in held:
            end(key, record["t_us"])
    for key in list(held):
        end(key, seconds * 1_000_000)
    return total


def choices_of(journal):
    return [record for record in journal if record["type"] == "tier_chosen"]
