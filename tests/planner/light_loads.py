"""Ten scenarios whose load a static layout answers, written from formulas: nothing in them was measured."""

import csv
import os

# The speed of a GPU, relative to an A100, and the compute slices of its profiles.
GPUS = {
    "H200-141GB": (2.2, {"1g.18gb": 1, "2g.35gb": 2, "3g.71gb": 3, "4g.71gb": 4, "7g.141gb": 7}),
    "H100-80GB-SXM5": (1.8, {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 3, "4g.40gb": 4, "7g.80gb": 7}),
    "A100-80GB": (1.0, {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 3, "4g.40gb": 4, "7g.80gb": 7}),
    "A30-24GB": (0.55, {"1g.6gb": 1, "2g.12gb": 2, "4g.24gb": 4}),
}
# latency = (fixed_ms + item_ms x batch x (slices of the GPU / slices)^scaling / speed) x (1 + 0.62 (processes - 1)), and the target.
MODELS = {
    "detector": (3, 9, 0.8, 150),
    "captioner": (8, 22, 0.75, 400),
    "translator": (6, 14, 0.7, 250),
    "summariser": (12, 30, 0.8, 600),
    "ranker": (1.5, 4, 0.6, 60),
    "embedder": (2, 3, 0.7, 80),
}
RETRAINING = ("    accuracy: {before: 0.78, after: 0.91}\n"
              "    retraining: {every_seconds: 300, offset_seconds: 60, seconds_on: {1g: 150, 2g: 80, 3g: 55, 4g: 42, 7g: 25}}\n")

# name: fleet, services with their arrivals, what the file says besides.
SCENARIOS = {
    "two-h200-two-a30": ({"H200-141GB": 2, "A30-24GB": 2},
                         {"detector": ("poisson", 40), "captioner": ("bursty", 12), "translator": ("diurnal", 30),
                          "ranker": ("bursty", 80)}, {}),
    "one-a100": ({"A100-80GB": 1}, {"detector": ("poisson", 10), "translator": ("poisson", 8), "ranker": ("poisson", 30)}, {}),
    "constant": ({"A100-80GB": 2}, {"detector": ("constant", 20), "captioner": ("constant", 6), "embedder": ("constant", 50)}, {}),
    "four-a30": ({"A30-24GB": 4}, {"detector": ("poisson", 8), "ranker": ("poisson", 30), "embedder": ("bursty", 30)}, {}),
    "nearly-idle": ({"A100-80GB": 2, "H100-80GB-SXM5": 1},
                    {"detector": ("poisson", 2), "captioner": ("poisson", 1), "summariser": ("poisson", 1), "ranker": ("poisson", 3)}, {}),
    "six-services": ({"H100-80GB-SXM5": 3},
                     {"detector": ("diurnal", 40), "captioner": ("diurnal", 15), "translator": ("diurnal", 30),
                      "summariser": ("diurnal", 8), "ranker": ("diurnal", 100), "embedder": ("diurnal", 100)}, {}),
    "retraining": ({"A100-80GB": 3}, {"detector": ("poisson", 20), "translator": ("poisson", 15), "ranker": ("poisson", 60)},
                   {"retrains": "detector"}),
    "slow-changes": ({"H200-141GB": 2, "A30-24GB": 2},
                     {"detector": ("bursty", 20), "translator": ("bursty", 20), "embedder": ("bursty", 60)},
                     {"line": "changes: {destroy_seconds: 5, create_seconds: 5, plumbing_seconds: 60}"}),
    "requests": ({"H200-141GB": 1, "A100-80GB": 1},
                 {"detector": ("bursty", 20), "translator": ("poisson", 20), "ranker": ("bursty", 100)},
                 {"line": "objective: requests"}),
    "bursts": ({"H100-80GB-SXM5": 2, "A30-24GB": 1},
               {"captioner": ("bursty", 12), "summariser": ("bursty", 5), "ranker": ("bursty", 60)}, {}),
}


def write_profiles(path, gpus):
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model", "gpu", "profile", "batch", "processes", "requests_per_second", "latency_ms"])
        for model, (fixed, item, scaling, _) in MODELS.items():
            for gpu in gpus:
                speed, slices = GPUS[gpu]
                for profile, count in slices.items():
                    for processes in (1, 2, 3):
                        for batch in (1, 2, 4, 8, 16):
                            alone = fixed + item * batch * (max(slices.values()) / count) ** scaling / speed
                            latency_ms = alone * (1 + 0.62 * (processes - 1))
                            rows.writerow([model, gpu, profile, batch, processes, f"{1000 * batch * processes / latency_ms:.3f}",
                                           f"{latency_ms:.2f}"])


def write_all(folder, seconds):
    """Writes the scenarios. Returns {name: path}."""
    written = {}
    for name, (fleet, services, more) in SCENARIOS.items():
        write_profiles(os.path.join(folder, name + ".csv"), fleet)
        entries = ", ".join(f"{{gpu: {gpu}, count: {count}, usd_per_gpu_hour: 3}}" for gpu, count in fleet.items())
        text = f"berth: 1\nfleet: [{entries}]\n" + (more["line"] + "\n" if "line" in more else "") + "services:\n"
        for model, (kind, rate) in services.items():
            text += (f"  - name: {model}\n    profile: {{format: csv, path: {name}.csv, model: {model}}}\n"
                     f"    slo: {{latency_ms: {MODELS[model][3]}}}\n"
                     f"    arrivals: {{format: {kind}, requests_per_second: {rate}, seconds: {seconds}}}\n")
            text += RETRAINING if more.get("retrains") == model else ""
        written[name] = os.path.join(folder, name + ".yaml")
        with open(written[name], "w", encoding="utf-8") as file:
            file.write(text)
    return written
