#!/usr/bin/env python3
"""The bars of speed factors: running engines whose tables are wrong, or only noisy, on their own clock (--speed max).

    feedback_bench.py PROGRAM [--only drift,noise] [--scenarios N] [--seconds N] [--jobs N] [--load X] [--kinds LIST]

drift   four services near the capacity of two A100, the batches of one take 1.3 x the table's time, 20 % more or less. Of
        each scenario: when SpeedDrift came, the factor 20 minutes later, entries of the worst hour and profile, and the
        goodput of an hour, next to that of an engine with the right table and the same jitter (the rival) and of one
        with learn_speed: false.
noise   jitter 0.3 alone for six hours, with the policy `fixed` and a slice for each service: no SpeedDrift.

Goodput is the mean over the services of answers in time / requests, from the journal of the run."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

MODEL = "A100-80GB"
PROFILES = {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 3, "4g.40gb": 4, "7g.80gb": 7}
BATCHES = (1, 2, 4, 8, 16)
GPUS = 2
FACTOR = 1.3
SLOW = "a"
HOUR_FROM = 2400  # the fault comes in the first minutes; the hour begins at least 20 minutes after it
HOUR = 3600
PATIENCE = 3600  # seconds of the wall for a run


class Service:
    def __init__(self, name, rng, kinds):
        self.name = name
        self.fixed_ms = rng.uniform(1.5, 10)
        self.item_ms = rng.uniform(3, 20)
        self.scaling = rng.uniform(0.6, 0.85)
        self.target_ms = round(rng.uniform(5, 8) * (self.fixed_ms + self.item_ms * 7 ** self.scaling / 2))
        self.share = rng.uniform(0.8, 1.2)
        self.kind = rng.choice(kinds)
        self.rate = 0

    def latency_ms(self, profile, batch, processes):
        size = (7 / PROFILES[profile]) ** self.scaling
        return (self.fixed_ms + self.item_ms * batch * size) * (1 + 0.62 * (processes - 1))

    def best_rate(self):
        rates = [1000 * batch * processes / self.latency_ms("7g.80gb", batch, processes)
                 for batch in BATCHES for processes in (1, 2, 3)
                 if self.latency_ms("7g.80gb", batch, processes) < 0.45 * self.target_ms]
        return max(rates)

    def rows(self, factor):
        for profile in PROFILES:
            for processes in (1, 2, 3):
                for batch in BATCHES:
                    latency = self.latency_ms(profile, batch, processes) * factor
                    rate = 1000 * batch * processes / latency
                    yield f"{self.name},{MODEL},{profile},{batch},{processes},{rate:.3f},{latency:.3f}"


class Terms:
    """What the words of the command line say of all worlds."""

    def __init__(self, words):
        self.load = words.load
        self.kinds = words.kinds.split(",")


def services_of(number, terms):
    rng = random.Random(f"feedback {number}")
    services = [Service(name, rng, terms.kinds) for name in "abcd"]
    total = sum(service.share for service in services)
    for service in services:
        service.rate = round(service.best_rate() * GPUS * terms.load * service.share / total, 1)
    return services


def write_scenario(folder, services, slow_factor, has_layout=False):
    rows = ["model,gpu,profile,batch,processes,requests_per_second,latency_ms"]
    for service in services:
        rows += service.rows(slow_factor if service.name == SLOW else 1)
    (folder / "profile.csv").write_text("\n".join(rows) + "\n")
    lines = ["berth: 1", f"fleet: [{{gpu: {MODEL}, count: {GPUS}}}]", "window_seconds: 60", "services:"]
    for service in services:
        lines.append(f"  - {{name: {service.name}, tenant: t, slo: {{latency_ms: {service.target_ms}}}, "
                     f"profile: {{format: csv, path: profile.csv, model: {service.name}}}, "
                     f"arrivals: {{format: {service.kind}, requests_per_second: {service.rate}, seconds: 86400}}, "
                     f"expects: {{requests_per_second: {service.rate}}}}}")
    if has_layout:
        lines.append("layout:")
        for gpu in range(GPUS):
            slices = ", ".join(f"{{profile: 3g.40gb, start: {place * 4}, service: {service.name}}}"
                               for place, service in enumerate(services[gpu * 2:gpu * 2 + 2]))
            lines.append(f"  - {{gpu: {gpu}, slices: [{slices}]}}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Up:
    """A running engine, as fast as it can."""

    def __init__(self, program, folder, scenario, seed, learns, policy):
        self.folder = folder
        self.epoch = None
        config = folder / "berth.yaml"
        config.write_text(f"scenario: {scenario}\nspeed: max\nseed: {seed}\nlisten: 127.0.0.1:0\n"
                          f"data: {folder}/state\njournal: {folder}/journal\npolicy: {policy}\n"
                          f"learn_speed: {'true' if learns else 'false'}\n")
        self.errors = open(folder / "errors", "w")
        self.process = subprocess.Popen([program, "up", "--config", config], stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready http://"):
            raise SystemExit(f"berth up: wanted ready, found {line!r}: {(folder / 'errors').read_text()}")
        self.address = line.split()[1].rstrip("/") + "/"
        self.key = (folder / "state" / "admin.key").read_text().strip()

    def ask(self, path, body=None):
        request = urllib.request.Request(self.address + path, headers={"Authorization": "Bearer " + self.key,
                                                                       "Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.loads(reply.read())

    def all_of(self, path):
        items, token = [], ""
        while True:
            page = self.ask(f"{path}?limit=500{token}")
            items += page["items"]
            if not page["metadata"].get("continue"):
                return items
            token = "&continue=" + page["metadata"]["continue"]

    def second(self):
        """Of the world, which begins with its first event."""
        if self.epoch is None:
            items = self.ask("v1/events?limit=1")["items"]
            if not items:
                return 0
            self.epoch = items[0]["time"]
        return second_of(self.ask("v1/status")["time"], self.epoch)

    def wait_for(self, second):
        began = time.monotonic()
        while (now := self.second()) < second:
            if time.monotonic() - began > PATIENCE:
                raise SystemExit(f"the world is at {now} s after {PATIENCE} s")
            time.sleep(0.3)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        self.process.stdout.close()
        self.errors.close()


def goodput(folder):
    """By service, of the hour."""
    requests, in_time = {}, {}
    with open(folder / "journal") as journal:
        for line in journal:
            if '"type":"second"' not in line:
                continue
            row = json.loads(line)
            if not HOUR_FROM <= row["second"] < HOUR_FROM + HOUR:
                continue
            name = row["service"]
            requests[name] = requests.get(name, 0) + row["requests"]
            in_time[name] = in_time.get(name, 0) + row["in_time"]
    shares = {name: in_time[name] / requests[name] for name in requests}
    return sum(shares.values()) / len(shares), shares


def second_of(time_text, epoch):
    at = datetime.fromisoformat(time_text.replace("Z", "+00:00"))
    return (at - datetime.fromisoformat(epoch.replace("Z", "+00:00"))).total_seconds()


def run_world(program, folder, number, terms, table_factor, fault, learns, until, policy="berth"):
    folder.mkdir()
    scenario = write_scenario(folder, services_of(number, terms), table_factor, policy == "fixed")
    up = Up(program, folder, scenario, number, learns, policy)
    up.ask("v1/sim/faults", {"kind": "serving", "service": f"t/{SLOW}", **fault})
    up.wait_for(until)
    events = up.all_of("v1/events")
    calibration = up.ask("v1/calibration")["items"]
    up.end()
    injected = next(event for event in events if event["kind"] == "FaultInjected")
    drifts = [event for event in events if event["kind"] == "SpeedDrift"]
    after = [second_of(event["time"], injected["time"]) for event in drifts]
    pauses = sum(event["kind"] == "PlanningPaused" for event in events)
    return {"after": after, "pauses": pauses, "messages": [event["message"] for event in drifts],
            "of": sorted({event["object"]["name"] for event in drifts}), "calibration": calibration, "injected": injected["time"]}


def factors_of(calibration):
    for item in calibration:
        if item["metadata"]["name"] == SLOW:
            return {place["profile"]: place for place in item["status"]["speeds"]}
    return {}


def worst_hour(after, messages):
    """The most entries of an hour and profile."""
    by_profile = {}
    for at, message in zip(after, messages):
        by_profile.setdefault(message.split(" on ")[1].split(" ")[0], []).append(at)
    return max((sum(1 for other in times if at - 3600 < other <= at) for times in by_profile.values() for at in times), default=0)


def drift_of(program, number, terms, until, pool, folder):
    """Starts the three runs of a scenario; returns what gives its line."""
    jitter = {"jitter": 0.2}
    runs = {"learnt": (1, {"factor": FACTOR, **jitter}, True), "right": (FACTOR, jitter, True),
            "blind": (1, {"factor": FACTOR, **jitter}, False)}
    started = {which: pool.submit(run_world, program, folder / f"{number}-{which}", number, terms, table, fault, learns, until)
               for which, (table, fault, learns) in runs.items()}

    def line():
        ended = {which: run.result() for which, run in started.items()}
        figures = {which: goodput(folder / f"{number}-{which}") for which in runs}
        learnt = ended["learnt"]
        used = [place["factor"] for place in factors_of(learnt["calibration"]).values() if place["batches"]]
        far = max((abs(factor / FACTOR - 1) for factor in used), default=1)
        first = learnt["after"][0] if learnt["after"] else float("nan")
        ratio = figures["learnt"][0] / figures["right"][0]
        text = (f"{number:>9} {first:>7.0f}s {far:>7.1%} {worst_hour(learnt['after'], learnt['messages']):>8} "
                f"{figures['learnt'][0]:>9.4f} {figures['right'][0]:>9.4f} {figures['blind'][0]:>9.4f} {ratio:>7.4f}   "
                f"{SLOW}: {figures['learnt'][1][SLOW]:.3f} {figures['right'][1][SLOW]:.3f} {figures['blind'][1][SLOW]:.3f}; "
                f"SpeedDrift of {', '.join(learnt['of'])}; {len(ended['right']['after'])} with the right table; "
                f"planning paused itself {' '.join(str(ended[which]['pauses']) for which in runs)}")
        return ratio, text

    return line


def drift(program, scenarios, terms, until, jobs):
    print(f"{'scenario':>9} {'event':>8} {'off by':>7} {'entries':>8} {'goodput':>9} {'right':>9} {'unlearnt':>9} {'ratio':>7}", flush=True)
    worst = 1e9
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        lines = [drift_of(program, number, terms, until, pool, Path(name)) for number in range(1, scenarios + 1)]
        for line in lines:
            ratio, text = line()
            worst = min(worst, ratio)
            print(text, flush=True)
    print(f"bars: the event within 600 s, off by at most 3 %, at most 6 entries, a ratio of at least 0.97; the least ratio is {worst:.4f}")


def noise(program, scenarios, terms, seconds, jobs):
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(run_world, program, Path(name) / str(number), number, terms, 1, {"jitter": 0.3}, True, seconds, "fixed")
                for number in range(1, scenarios + 1)]
        for number, run in enumerate(runs, 1):
            places = factors_of(run.result()["calibration"]).values()
            measured = ", ".join(f"{place['measured']:.3f} by {place['batches']}" for place in places)
            print(f"{number:>9} {seconds} s, jitter 0.3: {len(run.result()['after'])} SpeedDrift (bar: 0); the last minute or more: "
                  f"{measured} batches", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", default="drift,noise")
    parser.add_argument("--scenarios", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=21_700, help="of the worlds with noise alone")
    parser.add_argument("--jobs", type=int, default=4, help="worlds at a time; they mostly wait for plans and the disk")
    parser.add_argument("--load", type=float, default=0.9, help="of the fleet, at the best points of whole GPUs")
    parser.add_argument("--kinds", default="poisson,diurnal", help="of arrivals, among poisson, diurnal and bursty")
    words = parser.parse_args()
    program = os.path.abspath(words.program)
    if "drift" in words.only:
        drift(program, words.scenarios, Terms(words), HOUR_FROM + HOUR + 30, words.jobs)
    if "noise" in words.only:
        noise(program, words.scenarios, Terms(words), words.seconds, words.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
