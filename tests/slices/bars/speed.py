"""A simulated device that is slower than the table: when that is found, and how exactly; and one that is not."""

import re
import time

from kills import kill_programs
from machines import Machine

FACTOR = 1.3
SLOW, RIGHT = "words", "sums"
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,1,1,16.6,60
m,A100-80GB,1g.10gb,4,1,33.3,120
m,A100-80GB,3g.40gb,1,1,33.3,30
m,A100-80GB,3g.40gb,8,1,133.3,60
"""


class Slower:
    """Makes the device files of a service slower, and kills their programs, so that the next ones read them."""

    def __init__(self, machine):
        self.machine, self.done = machine, set()

    def look(self):
        for path in (self.machine.slices.folder / "devices").glob("*.yaml"):
            text = path.read_text()
            if f"the profile of shop/{SLOW}\"" not in text or path.name in self.done:
                continue
            head, rows, rest = re.match(r"(.*latency_ms: )(\[.*?\]\])(.*)", text, re.DOTALL).groups()
            rows = re.sub(r"\[(\d+), ([\d.]+)\]", lambda row: f"[{row[1]}, {float(row[2]) * FACTOR:.3f}]", rows)
            path.write_text(head + rows + rest)
            self.done.add(path.name)
            name, generation = path.stem.rsplit("-", 1)
            kill_programs(self.machine, lambda key: key == (name, int(generation)))


def places(machine, name):
    items = {item["metadata"]["name"]: item for item in machine.slices.up.get("v1/calibration?limit=500")["items"]}
    return [place for place in items[name]["status"]["speeds"] if place["batches"]]


def run(folder, table, options):
    table.part(f"speed: a device x {FACTOR} slower, {options.speed_minutes:g} minutes")
    lines = {SLOW: ["replicas: {min: 1, max: 1}"], RIGHT: ["replicas: {min: 1, max: 1}"]}
    machine = Machine(folder / "speed", lines, {SLOW: 12, RIGHT: 12}, gpus=1, profile=PROFILE)
    try:
        machine.start({SLOW: 1, RIGHT: 1})
        slower = Slower(machine)
        slower.look()
        machine.begin_load()
        began, found, wrong = time.monotonic(), None, 0
        while time.monotonic() - began < 60 * options.speed_minutes:
            time.sleep(1)
            slower.look()
            for event in machine.new_events("SpeedDrift"):
                print(f"  {time.monotonic() - began:6.0f} s  {event['object']['name']}: {event['message']}", flush=True)
                is_slow = event["object"]["name"] == SLOW
                found = found if found or not is_slow else time.monotonic() - began
                wrong += not is_slow
        print(f"  calibration: {places(machine, SLOW)} {places(machine, RIGHT)}", flush=True)
        factors = [place["factor"] for place in places(machine, SLOW)]
        table.show("SpeedDrift of the slow device after (s)", found or float("inf"), "{:.0f}", bar=("at most", 600))
        table.show("its factor, off by", max((abs(factor / FACTOR - 1) for factor in factors), default=1), "{:.4f}",
                   bar=("at most", 0.05))
        table.show("SpeedDrift of the other", wrong, "{:.0f}", bar=("at most", 0))
        table.show("requests that failed", machine.load.count()["failed"], "{:.0f}")
    finally:
        machine.end()
