#!/usr/bin/env python3
"""Errors of GPUs on a simulated machine: floods that must be counted exactly while the engine keeps its steps, many fatal errors
at once, and how soon a GPU with one is not schedulable.

    scripts/bench health [--only flood|fleet|soon] [--seconds 60] [--times 100]

Needs root, like all changes of simulated GPUs."""

import argparse
import math
import os
import re
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "scripts/detail"), str(ROOT / "tests/up")]
from bar_table import BarTable  # noqa: E402

GPUS = 60
XIDS_PER_SECOND = 10_000
FATAL = 12


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class World:
    """A simulated machine and a `berth up` on it, which manages all of its GPUs."""

    def __init__(self, local_up, folder, count, words=()):
        folder.mkdir()
        self.machine = local_up.Machine(folder, f"[{{gpu: A100-80GB, count: {count}}}]")
        config = folder / "berth.yaml"
        config.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in self.machine.uuids()) + "]\n")
        self.up = local_up.Up(folder / "data", ("--world", "local", "--nvml", local_up.LIBRARY, "--config", config,
                                               "--manage-gpus", *words), self.machine.environment()).ready()
        self.wait_until = local_up.wait_until

    def metrics(self):
        request = urllib.request.Request(self.up.url + "metrics", headers={"Authorization": "Bearer " + self.up.key})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read().decode()

    def step_buckets(self):
        return {float(bound): float(count) for bound, count in
                re.findall(r'berth_step_seconds_bucket\{le="([^"]+)"\} (\S+)', self.metrics().replace("+Inf", "inf"))}

    def events(self, kind):
        """The messages of all kept events of a kind."""
        messages, after = [], 0
        while True:
            page = self.up.get(f"v1/events?limit=500&after={after}")["items"]
            if not page:
                return messages
            messages += [event["message"] for event in page if event["kind"] == kind]
            after = page[-1]["sequence"]

    def end(self):
        self.up.end(signal.SIGKILL)


def quantile_of(before, after, share):
    """The upper bound of the bucket with that share of what came between two scrapes."""
    counts = {bound: after[bound] - before.get(bound, 0) for bound in sorted(after)}
    total = max(counts.values())
    return next(bound for bound, count in counts.items() if count >= share * total)


def counted(world, code):
    """How many errors of that code the events speak of."""
    total = 0
    for text in world.events("GpuXid"):
        match = re.fullmatch(rf"XID {code}(?:, (\d+) (?:more )?times.*)?", text)
        total += int(match[1] or 1) if match else 0
    return total


def flood(local_up, folder, table, seconds):
    table.part(f"flood: {GPUS} GPUs, {XIDS_PER_SECOND} errors per second in sum, {seconds} s")
    world = World(local_up, folder / "flood", GPUS)
    try:
        before = world.step_buckets()
        rate = XIDS_PER_SECOND / GPUS
        times = int(rate * seconds)
        for gpu in range(GPUS):
            world.machine.do("fault", "--gpu", gpu, "--xid", 63, "--times", times, "--rate", f"{rate:.3f}")
        time.sleep(seconds)
        sent = times * GPUS
        deadline = time.monotonic() + 60
        metric = 0
        while metric < sent and time.monotonic() < deadline:
            time.sleep(1)
            metric = counted(world, 63)
        table.show("errors in events, of those raised", metric / sent, "{:.5f}", bar=("at least", 1.0))
        table.show("step, p99 (ms, upper bound)", 1e3 * quantile_of(before, world.step_buckets(), 0.99), "{:.1f}",
                   bar=("below", 100))
        table.show("events GpuXid in the log", len(world.events("GpuXid")), "{:.0f}")
    finally:
        world.end()


def fleet(local_up, folder, table):
    table.part(f"fleet: {FATAL} of {GPUS} GPUs with a fatal error at once")
    world = World(local_up, folder / "fleet", GPUS)
    try:
        threads = [threading.Thread(target=world.machine.do, args=("fault", "--gpu", gpu, "--xid", 48)) for gpu in range(FATAL)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        world.wait_until(lambda: all(world.up.gpu(gpu)["scheduling"] != "open" for gpu in range(FATAL)), "all cordoned")
        time.sleep(2)
        texts = world.events("GpuHealth")
        table.show("drained", sum("ok -> draining" in text for text in texts), "{:.0f}", bar=("at most", GPUS // 10))
        table.show("cordoned only", sum("ok -> quarantined" in text for text in texts), "{:.0f}",
                   bar=("at least", FATAL - GPUS // 10))
        table.show("events BreakerTripped", len(world.events("BreakerTripped")), "{:.0f}", bar=("at most", 1))
    finally:
        world.end()


def soon(local_up, folder, table, times):
    table.part(f"soon: a fatal error, {times} times")
    world = World(local_up, folder / "soon", 1)
    try:
        taken = []
        for _ in range(times):
            world.wait_until(lambda: world.up.gpu(0)["scheduling"] == "open", "open")
            begin = time.monotonic()
            world.machine.do("fault", "--gpu", 0, "--xid", 48)
            world.wait_until(lambda: world.up.gpu(0)["scheduling"] != "open", "not schedulable")
            taken.append(time.monotonic() - begin)
            world.machine.do("reset", "--gpu", 0)
            time.sleep(1.2)  # until the recovery action is read as gone
            world.up.send("POST", "v1/gpus/gpu-0/uncordon", {"reason": "bench"})
        table.show("not schedulable, p99 (s)", percentile(taken, 99), bar=("at most", 2))
    finally:
        world.end()


def run(folder, table, options):
    """As a part of tests/slices/bars: `options` has flood_seconds and times."""
    import local_up
    flood(local_up, folder, table, options.flood_seconds)
    fleet(local_up, folder, table)
    soon(local_up, folder, table, options.times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth", type=Path)
    parser.add_argument("--only", choices=["flood", "fleet", "soon"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    os.environ["BERTH_PROGRAM"] = str(options.berth.resolve())
    import local_up
    if os.geteuid() != 0:
        sys.exit("health_bench: needs root, to change simulated GPUs")
    table = BarTable()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only in (None, "flood"):
            flood(local_up, folder, table, options.seconds)
        if options.only in (None, "fleet"):
            fleet(local_up, folder, table)
        if options.only in (None, "soon"):
            soon(local_up, folder, table, options.times)
    table.print()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
