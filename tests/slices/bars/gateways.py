"""A gateway that is killed again and again, with clients that repeat."""

import random
import time
from datetime import datetime

from machines import Machine, check_journal
from moves import show_failures

SEED = 13
REPEATS_SECONDS = 30
LOST_SECONDS = 2


def run(folder, table, options):
    table.part(f"gateway: killed {options.kills} times; the client repeats for {REPEATS_SECONDS} s")
    lines = {"words": ["replicas: {min: 2, max: 2}"], "sums": ["replicas: {min: 1, max: 1}"]}
    machine = Machine(folder / "gateways", lines, {"words": 45, "sums": 5}, gpus=2, repeats_seconds=REPEATS_SECONDS)
    draw = random.Random(SEED)
    try:
        machine.start({"words": 2, "sums": 1})
        machine.begin_load()
        began, middles = time.monotonic(), [int(time.time()) - 10]
        for number in range(options.kills):
            time.sleep(draw.uniform(4, 7))
            machine.slices.restart_gateway()
            time.sleep(draw.uniform(4, 7))
            middles.append(int(time.time()))
            counts = machine.load.count()
            print(f"  {time.monotonic() - began:6.0f} s  {number + 1}: {counts['good']} good, {counts['failed']} failed", flush=True)
        machine.load.end()
        time.sleep(5)
        show(machine, table, middles)
    finally:
        machine.end()


def show(machine, table, middles):
    counts = machine.load.count()
    show_failures(machine)
    table.show("requests that were answered well, some after repeats", counts["good"], "{:.0f}")
    table.show("requests sent more than once", sum(each.attempts > 1 for each in machine.load.sent), "{:.0f}")
    table.show("requests without an answer after all repeats", counts["failed"], "{:.0f}", bar=("at most", 0))
    sums = {name: machine.sums(name) for name in machine.services}
    rate = sum(service.rate for service in machine.services.values())
    lost = lost_by_kill(machine, middles)
    print(f"  answers in no record, by kill: {lost}", flush=True)
    table.show("answers in no record, seconds of load of a kill: mean", sum(lost) / len(lost) / rate, bar=("at most", LOST_SECONDS))
    table.show("the worst kill (s)", max(lost) / rate, bar=("at most", LOST_SECONDS))
    table.show("answers counted twice", max(0, -min(lost)), "{:.0f}", bar=("at most", 0))
    check_journal(machine, table, sums)


def lost_by_kill(machine, middles):
    """Answers that the client got and no record has, for the time around each kill, from middle to middle."""
    counted = {}
    for name in machine.services:
        for item in machine.series(name, step=1):
            # A record counts in the second of the world that overlaps its second of the wall most.
            second = round(datetime.fromisoformat(item["from"]).timestamp())
            counted[second] = counted.get(second, 0) + item["in_time"] + item["late"]
    answered = {}
    for each in machine.load.sent:
        if each.failure is None:
            answered[int(each.last_at)] = answered.get(int(each.last_at), 0) + 1
    seconds = sorted(answered | counted)
    return [sum(answered.get(second, 0) - counted.get(second, 0) for second in seconds if begin <= second < end)
            for begin, end in zip(middles, [*middles[1:-1], seconds[-1] + 1])]
