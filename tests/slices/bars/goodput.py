"""Four services on two GPUs with bursts: answers in time of the real processes, beside a replay of the same seconds, and beside
the policy `fixed` with an even layout that gets the same requests.

Even layouts differ: of three compute slices for each service, one of 3g answers fewer requests than three of 1g. `fixed` gets
the one that a replay of the requests finds best. Replays count on the times that the run has measured (`TimesMeasured`)."""

import json
import random
import re
import subprocess
import time

from local_slices import PROGRAM
from machines import Machine, check_counts
from moves import show_failures

MODEL, GPUS = "A100-80GB", 2
PROFILES = {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 3, "4g.40gb": 4, "7g.80gb": 7}
BATCHES = (1, 2, 4, 8)
NAMES = ("ada", "bob", "cyd", "dan")
REQUESTS_PER_SECOND_MAX = 100
LOAD = 0.55        # of what two whole GPUs answer
BURST = 3          # the rate in a burst, as a multiple of that without
QUIET_SECONDS, BURST_SECONDS = 120, 45  # means
BAR = 0.93
SETTLE_SECONDS = 15
START_SECONDS = 1.0  # until measured
REPLAYED = {"berth": ["berth", "static-even"], "fixed": ["fixed"]}
# The same slices for each service, half a GPU at most: profile and place, for the first and the second service of a GPU.
EVEN_LAYOUTS = {
    "one 3g": ([("3g.40gb", 0)], [("3g.40gb", 4)]),
    "2g and 1g": ([("2g.20gb", 0), ("1g.10gb", 4)], [("2g.20gb", 2), ("1g.10gb", 5)]),
    "three 1g": ([("1g.10gb", 0), ("1g.10gb", 1), ("1g.10gb", 2)], [("1g.10gb", 3), ("1g.10gb", 4), ("1g.10gb", 5)]),
}


class Case:
    """The services of a seed: how fast they are, what they are asked and when."""

    def __init__(self, seed, seconds):
        self.rng, self.seconds = random.Random(f"goodput {seed}"), seconds
        self.fixed = {name: self.rng.uniform(10, 30) for name in NAMES}
        self.item = {name: self.rng.uniform(20, 50) for name in NAMES}
        self.target = {name: round(self.rng.uniform(5, 8) * (self.fixed[name] + self.item[name] * 2)) for name in NAMES}
        self.due = self.requests()
        self.mean = {name: len(times) / seconds for name, times in self.due.items()}

    def latency_ms(self, name, profile, batch):
        return self.fixed[name] + self.item[name] * batch * (7 / PROFILES[profile]) ** 0.75

    def best_rate(self, name):
        return max(1000 * batch / self.latency_ms(name, "7g.80gb", batch) for batch in BATCHES)

    def profile(self):
        lines = ["model,gpu,profile,batch,processes,requests_per_second,latency_ms"]
        for name in NAMES:
            for profile in PROFILES:
                for batch in BATCHES:
                    latency = self.latency_ms(name, profile, batch)
                    lines.append(f"{name},{MODEL},{profile},{batch},1,{1000 * batch / latency:.3f},{latency:.3f}")
        return "\n".join(lines) + "\n"

    def rates(self, name):
        """Requests per second, second by second."""
        mean = self.best_rate(name) * GPUS * LOAD / len(NAMES)
        quiet = mean * (QUIET_SECONDS + BURST_SECONDS) / (QUIET_SECONDS + BURST * BURST_SECONDS)
        rates, is_burst = [], False
        while len(rates) < self.seconds:
            length = max(1, round(self.rng.expovariate(1 / (BURST_SECONDS if is_burst else QUIET_SECONDS))))
            rates += [quiet * (BURST if is_burst else 1)] * length
            is_burst = not is_burst
        return rates[:self.seconds]

    def requests(self):
        """Times since the start by service, at most REQUESTS_PER_SECOND_MAX in a second."""
        rates = {name: self.rates(name) for name in NAMES}
        due = {name: [] for name in NAMES}
        for second in range(self.seconds):
            total = sum(rates[name][second] for name in NAMES)
            share = min(1, REQUESTS_PER_SECOND_MAX / total)
            for name in NAMES:
                at = self.rng.expovariate(rates[name][second] * share)
                while at < 1:
                    due[name].append(second + at)
                    at += self.rng.expovariate(rates[name][second] * share)
        return due

    def scenario(self, even="one 3g", starts=None, changes=None, arrivals=None):
        """`starts`, `changes`: measured seconds; `arrivals`: a folder with counts by second, instead of the mean."""
        lines = ["berth: 1", f"fleet: [{{gpu: {MODEL}, count: {GPUS}}}]", "window_seconds: 60"]
        if changes:
            lines.append("changes: {" + ", ".join(f"{key}: {value:.3f}" for key, value in changes.items()) + "}")
        lines.append("services:")
        for name in NAMES:
            load = (f"{{format: rps-text, path: {arrivals}/{name}.txt, from_second: 0, seconds: {self.seconds}}}" if arrivals else
                    f"{{format: constant, requests_per_second: {self.mean[name]:.2f}, seconds: {self.seconds}}}")
            lines.append(f"  - {{name: {name}, tenant: shop, profile: {{format: csv, path: profile.csv, model: {name}}}, "
                         f"slo: {{latency_ms: {self.target[name]}}}, answer_seconds: 10, start_seconds: {(starts or {}).get(name, START_SECONDS):.3f}, "
                         f"expects: {{requests_per_second: {self.mean[name]:.2f}}}, "
                         f"arrivals: {load}, "
                         f"replicas: {{min: 1, max: 7}}, run: {{serve: {{repository: demo, model: {name}}}}}}}")
        lines.append("layout:")
        for gpu in range(GPUS):
            slices = ", ".join(f"{{profile: {profile}, start: {start}, service: {name}}}"
                               for place, name in enumerate(NAMES[gpu * 2:gpu * 2 + 2])
                               for profile, start in EVEN_LAYOUTS[even][place])
            lines.append(f"  - {{gpu: {gpu}, slices: [{slices}]}}")
        return "\n".join(lines) + "\n"

    def replayed(self, folder, policies, **times):
        """Goodput of the policies in a simulated world with these requests; see `scenario`."""
        folder.mkdir(exist_ok=True)
        (folder / "profile.csv").write_text(self.profile())
        for name in NAMES:
            counts = [0] * self.seconds
            for at in self.due[name]:
                counts[int(at)] += 1
            (folder / f"{name}.txt").write_text("".join(f"{count}\n" for count in counts))
        (folder / "scenario.yaml").write_text(self.scenario(arrivals=folder, **times))
        run = subprocess.run([PROGRAM, "replay", folder / "scenario.yaml", "--policies", ",".join(policies), "--format", "json"],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise AssertionError(f"berth replay ended with status {run.returncode}: {run.stderr[-2000:]}")
        return {policy["name"]: policy["goodput_mean_of_services"] for policy in json.loads(run.stdout)["policies"]}

    def best_even(self, folder):
        found = {even: self.replayed(folder, ["fixed"], even=even)["fixed"] for even in EVEN_LAYOUTS}
        print(f"  replay of even layouts: {found}", flush=True)
        return max(found, key=found.get)


def goodput(counts):
    """The mean over the services of answers in time / requests. `counts`: name -> (in time, requests)."""
    return sum(in_time / requests for in_time, requests in counts.values()) / len(counts)


def measured_times(machine):
    """Arguments of `Case.scenario`: the last times that plans counted on, those of changes as means over the profiles."""
    last = {}
    for event in machine.all_events("TimesMeasured"):
        found = re.match(r"(starting|creating|destroying) (.*) takes ([\d.e+-]+) s, ", event["message"])
        last[found[1], found[2]] = float(found[3])
    changes = {}
    for what, key, default in (("creating", "create_seconds", 0.5), ("destroying", "destroy_seconds", 0.5)):
        seconds = [value for (kind, _), value in last.items() if kind == what]
        changes[key] = sum(seconds) / len(seconds) if seconds else default
    starts = {name: last.get(("starting", f"shop/{name}"), START_SECONDS) for name in NAMES}
    print(f"  times measured: {changes}, starts {starts}", flush=True)
    return {"starts": starts, "changes": changes}


def measure(folder, table, case, policy, even):
    """Runs a case for real. Its goodput by the series, and that of the replay of the same seconds."""
    machine = Machine(folder, {name: [] for name in NAMES}, {name: 0 for name in NAMES}, gpus=GPUS, profile=case.profile(),
                      scenario=case.scenario(even))
    try:
        machine.start({name: 1 for name in NAMES}, "--policy", policy)
        time.sleep(SETTLE_SECONDS)
        began = time.time()
        machine.begin_load(case.due)
        while time.time() < began + case.seconds:
            time.sleep(min(30, began + case.seconds - time.time()))
            counts = machine.load.count()
            print(f"  {time.time() - began:6.0f} s  {policy}: {counts['good']} good, {counts['failed']} failed", flush=True)
        machine.load.end()
        show_failures(machine)
        show_misses(machine, case, policy)
        sums = check_counts(machine, table)
        print(f"  {policy}: {len(machine.all_events('SliceServing'))} slices began to serve", flush=True)
        times = measured_times(machine)
        machine.slices.end()
        of_series = goodput({name: (sums[name]["in_time"], sums[name]["requests"]) for name in NAMES})
        of_client = goodput({name: client_counts(machine, case, name) for name in NAMES})
        print(f"  {policy}: goodput {of_series:.4f} by the series, {of_client:.4f} by the client; "
              f"a request was sent late by at most {machine.load.late_seconds:.2f} s", flush=True)
        found = case.replayed(folder / "replay", REPLAYED[policy], even=even, **times)
        print(f"  {policy}: replay of these requests: {found}", flush=True)
        return of_series, found[policy]
    finally:
        machine.end()


def client_counts(machine, case, name):
    sent = [each for each in machine.load.sent if each.service == name]
    return sum(each.failure is None and each.seconds <= case.target[name] / 1000 for each in sent), len(sent)


def show_misses(machine, case, policy):
    for name in NAMES:
        in_time, requests = client_counts(machine, case, name)
        print(f"    {policy} {name}: target {case.target[name]} ms, {requests} requests, {in_time / requests:.4f} in time", flush=True)


def run(folder, table, options):
    for seed in options.seeds.split(","):
        table.part(f"goodput: seed {seed}, four services on {GPUS} x {MODEL}, {options.minutes:g} minutes")
        case = Case(seed, round(options.minutes * 60))
        print(f"  requests per second: {json.dumps(case.mean)}", flush=True)
        even = case.best_even(folder / f"even-{seed}")
        real, replay = measure(folder / f"goodput-{seed}", table, case, "berth", even)
        fixed, fixed_replay = measure(folder / f"fixed-{seed}", table, case, "fixed", even)
        table.show("goodput", real, "{:.4f}")
        table.show("goodput / that of its replay", real / replay, "{:.4f}", bar=("at least", BAR))
        table.show("goodput of fixed / that of its replay", fixed / fixed_replay, "{:.4f}")
        table.show("goodput of the policy fixed, likewise", fixed, "{:.4f}")
        table.show("goodput / that of the policy fixed", real / fixed, "{:.4f}", bar=("above", 1))
