"""Replicas that move all the time: by load, drains and pins."""

import random
import time

from machines import Machine, check_counts, check_journal

SEED = 11
GPUS = 3
PINS = [(gpu, "3g.40gb", start) for gpu in range(GPUS) for start in (0, 4)]
LOADS = {"words": (20, 50, 80), "sums": (1, 10, 40)}


class Mover:
    """Draws moves and waits for each."""

    def __init__(self, machine):
        self.machine, self.draw = machine, random.Random(SEED)
        self.done = {"drain": 0, "pin": 0, "load": 0}
        self.refused = []

    def move(self):
        kind = self.draw.choice(("drain", "drain", "pin", "load"))
        getattr(self, kind)()
        self.done[kind] += 1

    def drain(self):
        up, draw = self.machine.slices.up, self.draw
        gpu = draw.randrange(GPUS)
        status, body = up.send("POST", f"v1/gpus/gpu-{gpu}/drain", {"reason": "a bar"})
        if status != 200:
            return self.refused.append(f"drain: {status} {body}")
        self.machine.wait(lambda: up.gpu(gpu)["drained"], f"gpu-{gpu} drained")
        status, body = up.send("POST", f"v1/gpus/gpu-{gpu}/uncordon", {"reason": "a bar"})
        return None if status == 200 else self.refused.append(f"uncordon: {status} {body}")

    def pin(self):
        """Another pin of `words`; the last one ends."""
        machine, up = self.machine, self.machine.slices.up
        gpu, profile, start = self.draw.choice(PINS)
        path = "v1/tenants/shop/services/words"
        spec = up.get(path)["spec"]
        spec["pins"] = [{"gpu": gpu, "profile": profile, "start": start}]
        status, body = up.send("PUT", path, {"spec": spec})
        if status != 200:
            return self.refused.append(f"pin: {status} {body}")
        name = f"gpu-{gpu}-{profile}-{start}"
        machine.wait(lambda: name in {each["slice"] for each in machine.slices.serving("words")}, f"a replica on {name}")
        return None

    def load(self):
        name = self.draw.choice(list(LOADS))
        self.machine.services[name].rate = self.draw.choice(LOADS[name])
        time.sleep(self.draw.uniform(2, 6))


def run(folder, table, options):
    table.part(f"moves: {options.moves} under 50 requests per second")
    lines = {"words": ["replicas: {min: 3, max: 4}"], "sums": ["replicas: {min: 1, max: 2}"]}
    machine = Machine(folder / "moves", lines, {"words": 50, "sums": 5}, gpus=GPUS)
    try:
        machine.start({"words": 3, "sums": 1})
        machine.new_events("SliceServing")
        machine.begin_load()
        mover, moved, began = Mover(machine), 0, time.monotonic()
        while moved < options.moves:
            mover.move()
            moved += len(machine.new_events("SliceServing"))
            counts = machine.load.count()
            print(f"  {time.monotonic() - began:6.0f} s  {moved} moves {mover.done}, {counts['good']} good, "
                  f"{counts['failed']} failed", flush=True)
        machine.load.end()
        counts = machine.load.count()
        show_failures(machine)
        for text in mover.refused[:3]:
            print(f"  refused: {text}", flush=True)
        table.show("moves (slices that began to serve)", moved, "{:.0f}", bar=("at least", options.moves))
        table.show("requests that were answered well", counts["good"], "{:.0f}")
        table.show("requests that failed", counts["failed"], "{:.0f}", bar=("at most", 0))
        table.show("requests answered by another service, or with another's answer", counts["foreign"], "{:.0f}",
                   bar=("at most", 0))
        table.show("orders that were refused", len(mover.refused), "{:.0f}")
        table.show("a request was sent later than wanted by, at most (s)", machine.load.late_seconds)
        check_journal(machine, table, check_counts(machine, table))
    finally:
        machine.end()


def show_failures(machine):
    for text in machine.load.failures():
        print(f"  failed: {text}", flush=True)
