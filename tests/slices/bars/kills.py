"""Processes that are killed and GPUs that are lost, in random order, a replica always left."""

import os
import random
import signal
import time

from machines import Machine, alive
from moves import show_failures

SEED = 12
GPUS = 4
# Two fit on a GPU, so three replicas are never on one.
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,3g.40gb,1,1,50,20
m,A100-80GB,3g.40gb,8,1,200,40
"""
REPLICAS = {"words": 3, "sums": 2}
LINES = {name: [f"replicas: {{min: {count}, max: {count}}}"] for name, count in REPLICAS.items()}
KINDS = ("replica", "up", "hands", "gpu")
SETTLE_SECONDS = 120


class Killer:
    def __init__(self, machine):
        self.machine, self.draw = machine, random.Random(SEED)

    def order(self, times):
        kinds = [kind for kind in KINDS for _ in range(times)]
        self.draw.shuffle(kinds)
        return kinds

    def serving_by_gpu(self, name):
        found = {}
        for each in self.machine.slices.serving(name):
            found.setdefault(int(each["slice"].split("-")[1]), []).append(each)
        return found

    def kill(self, kind):
        getattr(self, kind)()

    def up(self):
        self.machine.slices.restart_up()

    def hands(self):
        self.machine.slices.restart_hands()

    def replica(self):
        name = self.draw.choice(list(REPLICAS))
        serving = self.machine.slices.serving
        self.machine.wait(lambda: len(serving(name)) >= 2, f"two replicas of {name}")
        each = self.draw.choice(serving(name))
        kill_programs(self.machine, lambda key: key == (each["slice"], each["generation"]))

    def replaceable(self):
        """GPUs without which each service still has a replica."""
        gpus = [self.serving_by_gpu(name) for name in REPLICAS]
        used = set().union(*gpus)
        return sorted(gpu for gpu in used if all(set(each) - {gpu} for each in gpus))

    def gpu(self):
        """A GPU is lost with the programs on it; it is reset and opened again when all replicas are elsewhere."""
        machine, up = self.machine, self.machine.slices.up
        machine.wait(self.replaceable, "a GPU without which all services go on")
        gpu = self.draw.choice(self.replaceable())
        machine.slices.machine.do("fault", "--gpu", gpu, "--lost")
        kill_programs(machine, lambda key: key[0].startswith(f"gpu-{gpu}-"))
        machine.wait(lambda: up.gpu(gpu)["health"] != "ok", f"gpu-{gpu} lost")
        machine.wait(lambda: all(sum(len(each) for other, each in self.serving_by_gpu(name).items() if other != gpu) >= count
                                 for name, count in REPLICAS.items()), "all replicas elsewhere")
        machine.slices.machine.do("reset", "--gpu", gpu)
        machine.wait(lambda: up.gpu(gpu)["health"] == "ok", f"gpu-{gpu} back")
        up.send("POST", f"v1/gpus/gpu-{gpu}/uncordon", {"reason": "a bar"})


def kill_programs(machine, is_meant):
    for key, pids in machine.programs().items():
        for pid in pids if is_meant(key) else []:
            os.kill(pid, signal.SIGKILL)


def run(folder, table, options):
    table.part(f"kills: of a replica, berth up and the hands, and lost GPUs, {options.kills} times each")
    machine = Machine(folder / "kills", LINES, {"words": 45, "sums": 5}, gpus=GPUS, profile=PROFILE)
    try:
        machine.start(REPLICAS)
        machine.begin_load()
        killer, began = Killer(machine), time.monotonic()
        for number, kind in enumerate(killer.order(options.kills)):
            killer.kill(kind)
            counts = machine.load.count()
            print(f"  {time.monotonic() - began:6.0f} s  {number + 1}: {kind}; {counts['good']} good, {counts['failed']} failed",
                  flush=True)
            time.sleep(killer.draw.uniform(0, 3))
        settle = min(SETTLE_SECONDS, 30 * options.kills)
        machine.load.end()
        counts = machine.load.count()
        show_failures(machine)
        table.show("requests that were answered well", counts["good"], "{:.0f}")
        table.show("requests that failed", counts["failed"], "{:.0f}", bar=("at most", 0))
        table.show("requests answered by another service, or with another's answer", counts["foreign"], "{:.0f}",
                   bar=("at most", 0))
        time.sleep(settle)
        check_programs(machine, table, settle)
        sums = {name: machine.sums(name) for name in machine.services}
        sent = sum(each.attempts for each in machine.load.sent)
        table.show("requests in the series, of those of the client (berth up was killed)",
                   sum(each["requests"] for each in sums.values()) / sent, "{:.4f}", bar=("at most", 1))
    finally:
        machine.end()


def check_programs(machine, table, settle):
    """Exactly the wanted programs run, each once, on slices that exist."""
    endpoints, programs = machine.endpoints(), machine.programs()
    have = {name: len(machine.slices.serving(name)) for name in REPLICAS}
    extra = sum(key not in endpoints for key in programs)
    twice = sum(sum(alive(pid) for pid in pids) != 1 for pids in programs.values())
    slices = [each for each in machine.slices.up.slices()]
    exist = sum(len(device["gpu_instances"]) for device in machine.slices.machine.show())
    print(f"  after {settle} s: endpoints {sorted(endpoints)}, programs {programs}, slices {slices}", flush=True)
    table.show("replicas missing", sum(REPLICAS[name] - have[name] for name in REPLICAS), "{:.0f}", bar=("at most", 0))
    table.show("replicas without a program", sum(key not in programs for key in endpoints), "{:.0f}", bar=("at most", 0))
    table.show("programs that nobody wants", extra, "{:.0f}", bar=("at most", 0))
    table.show("programs that run twice", twice, "{:.0f}", bar=("at most", 0))
    table.show("slices of the machine, less those of berth up", abs(exist - len(slices)), "{:.0f}", bar=("at most", 0))
