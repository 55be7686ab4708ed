#!/usr/bin/env python3
"""Writes the small generated traces and profile tables of scenarios/generated, the same bytes each time.

Everything here is invented. Many times lie on a coarse grid, so that several events share a microsecond.
"""

import os
import random
import sys

HEADER_TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
HEADER_PROFILE = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"


def trace(offsets_us):
    """An azure-llm file: requests at these microseconds after 2023-11-16 18:00:00, a seventh digit to be cut off."""
    lines = []
    for index, offset in enumerate(sorted(offsets_us)):
        second, micros = divmod(offset, 10**6)
        minute, second = divmod(second, 60)
        lines.append(f"2023-11-16 18:{minute:02}:{second:02}.{micros:06}{index % 10},{100 + index % 7},{10 + index % 3}\n")
    return HEADER_TRACE + "".join(lines)


def grid_trace(rng, seconds, count, grid_us):
    """Requests on a grid, the first within second 0, the last within the last second."""
    inside = [rng.randrange(seconds * 10**6 // grid_us) * grid_us for _ in range(count - 2)]
    return trace([grid_us] + inside + [seconds * 10**6 - grid_us])


def burst_trace(rng, seconds, bursts, size):
    """Bursts of up to `size` requests, some of them in one microsecond."""
    times = [rng.randrange(1000)]
    for _ in range(bursts):
        begin = rng.randrange(seconds * 10**6)
        times += [begin] * rng.randint(1, size) + [min(begin + rng.randrange(20000), seconds * 10**6 - 1) for _ in range(size)]
    return trace(times)


def end_trace(seconds):
    """Requests whose answers after 100 ms fall on, just before and just after the end of the run."""
    end = seconds * 10**6
    return trace([0, 250000, 1000000] + [end - 900000, end - 600000, end - 300001, end - 200000, end - 100000,
                                         end - 99999, end - 50000, end - 1])


def profile(rows):
    return HEADER_PROFILE + "".join(",".join(str(cell) for cell in row) + "\n" for row in rows)


def smooth(model, gpu, sizes, base_ms):
    """Latency grows by a third of base_ms per request; larger slices are proportionally faster; processes share."""
    rows = []
    for name, size in sizes:
        for processes in (1, 2, 3):
            for batch in (1, 2, 4, 8):
                latency = base_ms * (2 + batch) * (2 + processes) / (9 * (1 + size))
                latency = round(latency, 3)
                rows.append((model, gpu, name, batch, processes, round(1000 * batch * processes / latency, 3), latency))
    return rows


A100 = [("1g.10gb", 1), ("2g.20gb", 2), ("3g.40gb", 3), ("4g.40gb", 4), ("7g.80gb", 7)]
A30 = [("1g.6gb", 1), ("2g.12gb", 2), ("4g.24gb", 4)]


def profiles():
    rows = smooth("smooth", "A100-80GB", A100, 60) + smooth("smooth", "A30", A30, 90)
    # exactly 100 ms at batch 1, 150 at 2, 250 at 4: answers fall on a grid
    for name in ("1g.10gb", "2g.20gb", "3g.40gb"):
        rows += [("grid", "A100-80GB", name, 1, 1, 10, 100), ("grid", "A100-80GB", name, 2, 1, "13.3", 150),
                 ("grid", "A100-80GB", name, 4, 1, 16, 250), ("grid", "A100-80GB", name, 1, 2, 14, 140),
                 ("grid", "A100-80GB", name, 2, 2, 18, 220)]
    # not monotone: three requests are faster than two, throughputs tie; latencies end in halves of a microsecond
    rows += [("bent", "A100-80GB", "1g.10gb", 2, 1, 40, "50.0005"), ("bent", "A100-80GB", "1g.10gb", 4, 1, 80, "30.0015"),
             ("bent", "A100-80GB", "1g.10gb", 8, 1, 80, "44.0025"), ("bent", "A100-80GB", "1g.10gb", 8, 2, 80, "43.9"),
             ("bent", "A100-80GB", "3g.40gb", 1, 1, 30, 45), ("bent", "A100-80GB", "3g.40gb", 8, 1, 300, "44.9999"),
             ("bent", "A100-80GB", "3g.40gb", 16, 1, 400, 45)]
    # equal throughput and batch: fewer processes
    rows += [("ties", "A100-80GB", "1g.10gb", 4, 2, 80, 44), ("ties", "A100-80GB", "1g.10gb", 4, 1, 80, 42),
             ("ties", "A100-80GB", "1g.10gb", 1, 1, 30, 20)]
    # usable on 3g only under 200 ms x 0.45 = 90 ms; the fewest SM-seconds per request are on 4g
    rows += [("choosy", "A100-80GB", "1g.10gb", 1, 1, 9, 90), ("choosy", "A100-80GB", "3g.40gb", 1, 1, 20, "89.999"),
             ("choosy", "A100-80GB", "4g.40gb", 1, 1, 40, 25)]
    # whole GPUs: a row of its own on A30, the largest profile's on A100-80GB, and a GPU that cannot be partitioned
    rows += [("whole", "A30-24GB", "full", 4, 2, 160, 50), ("whole", "A30-24GB", "4g.24gb", 4, 1, 100, 40),
             ("whole", "A100-80GB", "7g.80gb", 8, 2, 600, "26.5"), ("whole", "A100-80GB", "7g.80gb", 2, 2, 250, "16.1"),
             ("whole", "T4", "full", 2, 1, 40, "49.5")]
    return profile(rows)


def files():
    rng = random.Random(20240513)
    return {
        "grid20.csv": grid_trace(rng, 20, 240, 50000),
        "grid30.csv": grid_trace(rng, 30, 500, 10000),
        "bursts20.csv": burst_trace(rng, 20, 25, 9),
        "bursts60.csv": burst_trace(rng, 60, 60, 12),
        "steady60.csv": trace([rng.randrange(60 * 10**6) for _ in range(1500)]),
        "end10.csv": end_trace(10),
        "profiles.csv": profiles(),
    }


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "scenarios", "generated")
    for name, text in files().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)


if __name__ == "__main__":
    main()
