"""What the bars of slices share: a machine under load, what runs on it, and its counts."""

import json
import subprocess
import time
from pathlib import Path

from load import Load, Service
from local_slices import PROGRAM, Slices

WAIT_SECONDS = 180  # for what a busy machine does late


class Machine:
    """Services of `berth serve` on a simulated machine, each with a load. `lines`: name -> keys of the scenario beside the
    usual ones; `rates`: name -> requests per second."""

    def __init__(self, folder, lines, rates, gpus, seed=1, repeats_seconds=0, **more):
        folder.mkdir()
        self.services = {name: Service(name, times=3 + 2 * number, rate=rates[name]) for number, name in enumerate(lines)}
        factors = {name: service.times for name, service in self.services.items()}
        self.slices = Slices(folder, lines, gpus=gpus, factors=factors, **more)
        self.seed, self.repeats_seconds, self.gpus = seed, repeats_seconds, gpus
        self.load = None

    def start(self, replicas, *words):
        """Until each service has so many replicas, by name. `words`: more options of `berth up`."""
        self.slices.start(*words)
        for name, count in replicas.items():
            self.wait(lambda: len(self.slices.serving(name)) >= count, f"{count} replicas of {name}")
        self.cursor = 0
        return self

    def begin_load(self, due=None):
        self.load = Load(self.slices.address, list(self.services.values()), self.seed, self.repeats_seconds, due)
        self.load.start()

    def wait(self, is_done, what, seconds=WAIT_SECONDS):
        deadline = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > deadline:
                raise AssertionError(f"in {seconds} s: not {what}")
            time.sleep(0.1)

    def new_events(self, kind):
        """Events of a kind since the last call of this function."""
        found = self.all_events(kind, self.cursor)
        self.cursor = self.last_event
        return found

    def all_events(self, kind, after=0):
        """Events of a kind."""
        found = []
        while True:
            page = self.slices.up.get(f"v1/events?limit=500&after={after}")["items"]
            if not page:
                self.last_event = after
                return found
            found += [event for event in page if event["kind"] == kind]
            after = page[-1]["sequence"]

    def series(self, name, step=60):
        items, rest = [], ""
        while True:
            page = self.slices.up.get(f"v1/series?service=shop/{name}&step={step}&limit=500{rest}")
            items += page["items"]
            if page["metadata"]["continue"] is None:
                return items
            rest = "&continue=" + page["metadata"]["continue"]

    def sums(self, name):
        items = self.series(name)
        return {key: sum(item[key] or 0 for item in items) for key in ("requests", "in_time", "late", "dropped")}

    def settled_sums(self, wanted):
        """The sums of the series, once they have the `wanted` requests of each service, or no longer change."""
        last, since = None, time.monotonic()
        while True:
            sums = {name: self.sums(name) for name in self.services}
            if sums != last:
                last, since = sums, time.monotonic()
            is_there = all(sums[name]["requests"] >= wanted[name] for name in wanted)
            if time.monotonic() - since > (3 if is_there else 15):
                return sums
            time.sleep(0.5)

    def programs(self):
        """(slice, generation) -> pids of the programs that run for this machine."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit():
                    continue
                words = dict(word.split("=", 1) for word in (entry / "environ").read_text().split("\0") if "=" in word)
                if words.get("HOME", "").startswith(str(self.slices.folder)) and "BERTH_SLICE" in words:
                    found.setdefault((words["BERTH_SLICE"], int(words["BERTH_GENERATION"])), []).append(int(entry.name))
            except OSError:
                pass  # it has just ended
        return found

    def endpoints(self):
        """(slice, generation) of everything that takes requests."""
        return {(each["slice"], each["generation"]) for name in self.services for each in self.slices.serving(name)}

    def end(self):
        if self.load is not None:
            self.load.end()
        self.slices.end()

    def recorded(self):
        """Requests of each service in the journal, as `berth replay` repeats it; after `berth up` has ended."""
        run = subprocess.run([PROGRAM, "replay", "--journal-in", self.slices.data, "--policies", "recorded", "--format", "json"],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise AssertionError(f"berth replay ended with status {run.returncode}: {run.stderr[-2000:]}")
        [policy] = json.loads(run.stdout)["policies"]
        return {service["name"]: service for service in policy["services"]}


def check_counts(machine, table, wanted=None):
    """Compares the counts of the series, but for the last row, and of the journal, with those of the client."""
    sent = {name: [each for each in machine.load.sent if each.service == name] for name in machine.services}
    wanted = wanted or {name: len(each) for name, each in sent.items()}
    sums = machine.settled_sums(wanted)
    print("  series: " + json.dumps(sums), flush=True)
    difference = sum(abs(sums[name]["requests"] - wanted[name]) for name in wanted)
    table.show("requests in the series, less those of the client", difference, "{:.0f}", bar=("at most", 0))
    answered = {name: sum(each.failure is None for each in sent[name]) for name in sent}
    unlike = sum(abs(sums[name]["in_time"] + sums[name]["late"] - answered[name]) for name in sent)
    table.show("answers in the series, less those that the client got", unlike, "{:.0f}", bar=("at most", 0))
    return sums


def check_journal(machine, table, sums):
    """`berth up` ends here."""
    machine.slices.end()
    recorded = machine.recorded()
    difference = sum(abs(recorded[f"shop.{name}"]["requests"] - sums[name]["requests"]) for name in sums)
    table.show("requests of replay --policies recorded, less those of the series", difference, "{:.0f}", bar=("at most", 0))


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False
