"""live_writes.py BERTH LOAD [SECONDS] [--clients N] [--readers N] [--read-rate R] [--gpus N] [--events N]
[--change label|target] [--paused] [--only writes,reads,both] [--traced]: acknowledged writes per second of a running `berth up`,
and how long reads take meanwhile.

The clients are LOAD, the program berth_load (tests/up/load): N writers, each PUTs a service of its own again
and again with bodies of 1 KiB and new Idempotency-Keys, without arrivals; readers ask for an object or a page of 100, R
times per second together.

writes  the writers alone, on 8 GPUs
reads   the readers alone, on --gpus, after --events events (GPUs that are lost and return)
both    writers and readers on the same server

With --traced instead: the writers on 8 GPUs without traces, then with a trace of up to 300 writes per second, sent to a
collector that takes them, one that never answers and one that answers 503, then without again. Each rate is compared
with the mean of the two without, and all spans must be accounted for.

After `writes` and after `both` the server is killed while all clients write, and started again: each service must have
the last acknowledged write, or the one that was under way; then each last acknowledged write is sent again with its key.

Next to the writes stand the syncs per second of the server (perf, if it may be used), and what the disk does alone
before and after, as that can change within minutes: 4 KiB written in place, or appended, and synced. Processors are
shared by all. The exit status is 1 if an acknowledged write is gone."""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/up"))

from collector import Collector  # noqa: E402
from live_server import server_in  # noqa: E402

SMALL_GPUS = 8
BOUND_SECONDS = 3
BLOCK_BYTES = 4096
KILL_AFTER_SECONDS = 3
PREPARE_SECONDS = 1
SYNC_EVENTS = ["syscalls:sys_enter_fsync", "syscalls:sys_enter_fdatasync"]
READS = ["one_gpu", "page_of_gpus", "one_service", "page_of_services"]
TRACED_BAR = 0.9  # of the writes without traces
WRITES_BAR, WRITE_MS_BAR, READ_MS_BAR, READ_MS_BAR_WITH_WRITES = 5000, 100, 5, 50


def write_scenario(folder, gpus):
    """Writes a scenario without services into the folder."""
    path = folder / "scenario.yaml"
    path.write_text(f"berth: 1\nfleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: 3.673}}]\n"
                    "window_seconds: 200\nfidelity: rates\nservices: []\n")
    return path


def measure_disk(folder):
    """Prints the syncs per second of the folder's disk, one at a time, each after 4 KiB."""
    for title, is_append in (("written in place", False), ("appended", True)):
        took = sorted(time_syncs(folder / "block", is_append))
        print(f"the disk alone, 4 KiB {title}: {len(took) / BOUND_SECONDS:.0f} syncs per second, "
              f"p50 {took[len(took) // 2]:.2f} ms, p99 {took[len(took) * 99 // 100]:.2f} ms", flush=True)


def time_syncs(path, is_append):
    """How long each write with its sync took in BOUND_SECONDS, in milliseconds."""
    block, took = os.urandom(BLOCK_BYTES), []
    with open(path, "wb") as file:
        end = time.monotonic() + BOUND_SECONDS
        while (began := time.monotonic()) < end:
            os.pwrite(file.fileno(), block, len(took) * BLOCK_BYTES if is_append else 0)
            os.fdatasync(file.fileno())
            took.append(1000 * (time.monotonic() - began))
    path.unlink()
    return took


class SyncCount:
    """Counts the syncs of a process for so many seconds, in the background."""

    def __init__(self, pid, seconds):
        self.seconds = seconds
        self.process = None
        if shutil.which("perf"):
            self.process = subprocess.Popen(
                ["perf", "stat", "-x,", "-e", ",".join(SYNC_EVENTS), "-p", str(pid), "--", "sleep", str(seconds)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def per_second(self):
        """Waits; None if they could not be counted."""
        if self.process is None:
            return None
        counts = [line.split(",")[0] for line in self.process.communicate()[1].splitlines() if "sys_enter" in line]
        if len(counts) != len(SYNC_EVENTS) or not all(count.isdigit() for count in counts):
            return None
        return sum(map(int, counts)) / self.seconds


class Loads:
    """Runs berth_load against a server. Each run has a name of its own, so that no key is used twice."""

    def __init__(self, program, words, folder):
        self.program = program
        self.words = words
        self.acks = folder / "acks"
        self.run_count = 0

    def start(self, server, seconds, has_writers, has_readers):
        """The process, once it has begun to measure."""
        words, self.run_count = self.words, self.run_count + 1
        command = [self.program, "--address", server.client.address.removeprefix("http://"), "--key", server.client.key,
                   "--run", f"r{self.run_count}-{os.getpid()}", "--acks", self.acks, "--seconds", str(seconds)]
        if has_writers:
            command += ["--writers", str(words.clients), "--change", words.change]
        if has_readers:
            command += ["--readers", str(words.readers), "--read-rate", str(words.read_rate), "--gpus",
                        str(words.gpus), "--services", str(words.clients)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if process.stdout.readline() != "begun\n":
            sys.exit(f"live_writes: berth_load did not begin; the log of the server ends:\n{server.log_end()}")
        return process

    def measure(self, title, server, has_writers, has_readers):
        """Runs it for the whole time and prints what came of it; its figures."""
        load = self.start(server, self.words.seconds, has_writers, has_readers)
        syncs = SyncCount(server.process.pid, self.words.seconds)
        before, began = server.cpu_seconds(), time.monotonic()
        figures = finish(load)
        cores = (server.cpu_seconds() - before) / (time.monotonic() - began)
        print(f"{title}: server {cores:.2f} cores, clients {figures['cores']:.2f} cores, "
              f"{amount_text(syncs.per_second())} syncs per second", flush=True)
        if figures["broken"]:
            print(f"  {figures['broken']} connections broke or were refused", flush=True)
        if has_writers:
            print(f"  writes of one client: {figures['fewest']} to {figures['most']}", flush=True)
        for name in ["write", *READS]:
            if name in figures:
                print(f"  {name:16} {line_of(figures[name])}", flush=True)
        return figures

    def last_acks(self):
        """The last acknowledged write of each service in the last run."""
        return [json.loads(line) for line in self.acks.read_text().splitlines()]


def finish(load):
    """Waits for a run; its figures, with the share of a core that it used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = load.stdout.read()
    if load.wait() != 0:
        sys.exit(f"live_writes: berth_load ended with status {load.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = json.loads(line)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures["cores"] = used / max(figures["seconds"], 0.001)
    return figures


def amount_text(amount):
    """A number, or that there is none."""
    return "uncounted" if amount is None else f"{amount:.0f}"


def line_of(figures):
    """The figures of one kind of request."""
    def ms(key):
        return "-" if figures[key] is None else f"{figures[key]:.1f}"
    refused = {status: count for status, count in figures["statuses"].items() if not status.startswith("2")}
    return (f"{figures['per_second']:8.1f} per second, p50 {ms('p50_ms')}, p90 {ms('p90_ms')}, p99 {ms('p99_ms')}, "
            f"longest {ms('max_ms')} ms, {figures['unanswered']} unanswered"
            + (f", errors by status {refused}" if refused else ""))


def put(server, path, body, headers=()):
    """A PUT; its status, headers and JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with server.client.open("PUT", path, data, headers) as reply:
        return reply.status, reply.headers, json.loads(reply.read())


def make_events(server, gpus, events):
    """So many events about GPUs that are lost and return, all of the fleet each time."""
    began = time.monotonic()
    for index in range(-(-events // gpus)):
        server.client.send("/v1/sim/faults", {"kind": ("lose", "return")[index % 2], "gpu": "gpu-0", "gpus": gpus})
        time.sleep(0.5)
    server.client.send("/v1/sim/faults", {"kind": "return", "gpu": "gpu-0", "gpus": gpus})
    print(f"  {events} events of {gpus} GPUs took {time.monotonic() - began:.1f} s", flush=True)


def audit_services(acks, items):
    """What is wrong with the stored services after a kill."""
    stored = {item["metadata"]["name"]: item["metadata"] for item in items}
    faults = []
    for ack in acks:
        found, run = stored.get(ack["service"]), ack["key"].rpartition("-")[0].rpartition("-")[0]
        if found is None:
            faults.append(f"{ack['service']} is gone")
            continue
        version, acknowledged = int(found["resourceVersion"]), int(ack["resourceVersion"])
        label, next_number = found["labels"].get("write"), ack["number"] + 1
        is_last = version == acknowledged and label == f"{run}-{ack['number']}"
        is_next = version > acknowledged and label == f"{run}-{next_number}"
        if not is_last and not is_next:
            faults.append(f"{ack['service']}: wanted version {acknowledged} of write {ack['number']} or a later one of "
                          f"write {next_number}, found version {version} of write {label}")
    return faults


def audit_keys(server, acks):
    """Sends each last acknowledged write again with its key; what is wrong, if some were replayed and some not."""
    replayed, others = 0, []
    for ack in acks:
        status, headers, body = put(server, f"/v1/tenants/load/services/{ack['service']}", ack["body"].encode(),
                                    {"Idempotency-Key": ack["key"]})
        version = body.get("metadata", {}).get("resourceVersion")
        if headers.get("Idempotent-Replay") == "true" and version == ack["resourceVersion"]:
            replayed += 1
        else:
            others.append(f"key {ack['key']}: wanted the answer of version {ack['resourceVersion']} again, found status "
                          f"{status}, version {version}, Idempotent-Replay: {headers.get('Idempotent-Replay')}")
    if not replayed:
        print("  repeated keys: not there yet, every write was carried out again")
        return []
    print(f"  repeated keys: {replayed} of {len(acks)} were answered from what is stored")
    return others


def kill_and_audit(stack, loads, server, berth, options, folder):
    """Kills the server while all clients write, starts it again and compares; what is wrong."""
    load = loads.start(server, 10 * KILL_AFTER_SECONDS, True, False)
    time.sleep(KILL_AFTER_SECONDS)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    finish(load)
    acks = loads.last_acks()
    again = stack.enter_context(server_in(folder, berth, options))
    items = again.client.send("/v1/tenants/load/services?limit=500")[0]["items"]
    faults = audit_services(acks, items)
    print(f"  after a kill: ready in {again.start_seconds:.1f} s, {len(acks)} services with acknowledged writes, "
          f"{len(items)} present, {len(faults)} wrong", flush=True)
    if len(acks) != loads.words.clients:
        faults.append(f"wanted acknowledged writes of {loads.words.clients} services, found {len(acks)}")
    return faults + audit_keys(again, acks)


def bars_of(figures, is_with_writes):
    """A line for each bar."""
    lines = []
    if "write" in figures:
        wrote = figures["write"]
        lines += [("writes per second", wrote["per_second"], f"at least {WRITES_BAR}",
                   wrote["per_second"] >= WRITES_BAR),
                  ("write p99 ms", wrote["p99_ms"], f"below {WRITE_MS_BAR}",
                   wrote["p99_ms"] is not None and wrote["p99_ms"] < WRITE_MS_BAR)]
    bar = READ_MS_BAR_WITH_WRITES if is_with_writes else READ_MS_BAR
    slow = [figures[name]["p99_ms"] for name in READS if name in figures]
    if slow:
        worst = None if None in slow else max(slow)
        lines.append(("read p99 ms, the slowest kind", worst, f"below {bar}", worst is not None and worst < bar))
    return [f"  bar: {name} {wanted}: {'-' if found is None else f'{found:.1f}'}, {'met' if is_met else 'missed'}"
            for name, found, wanted, is_met in lines]


def run_server(words, gpus, parts):
    """The parts that use one server, then the kill; what is wrong."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        measure_disk(folder)
        options = ["--scenario", write_scenario(folder, gpus), "--speed", "1"]
        server = stack.enter_context(server_in(folder, words.berth, options))
        loads = Loads(words.load, words, folder)
        put(server, "/v1/tenants/load", {})
        if words.paused:
            put(server, "/v1/planning", {"paused": True, "reason": "a measurement"})
        if parts != ["writes"]:
            finish(loads.start(server, PREPARE_SECONDS, True, False))
            make_events(server, gpus, words.events)
        for part in parts:
            figures = loads.measure(f"{part}, {gpus} GPUs", server, part != "reads", part != "writes")
            print("\n".join(bars_of(figures, part == "both")), flush=True)
        print(f"  resident: {server.resident_mb():.0f} MB", flush=True)
        measure_disk(folder)
        if parts[-1] == "reads":
            return []
        return kill_and_audit(stack, loads, server, words.berth, options, folder)


def run_traced(words):
    """The writers without traces and with them; what is wrong."""
    faults, rates, modes = [], {}, ["none", "well", "silent", 503, "none again"]
    for mode in modes:
        rates[mode] = run_with_collector(words, mode, faults)
    without = (rates["none"] + rates["none again"]) / 2
    for mode in modes[1:4]:
        share = rates[mode] / without
        print(f"  bar: writes with a collector that is {mode}, of those without, at least {TRACED_BAR}: {share:.3f}, "
              f"{'met' if share >= TRACED_BAR else 'missed'}", flush=True)
    return faults


def run_with_collector(words, mode, faults):
    """The writes per second."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder, variables = pathlib.Path(name), {}
        if isinstance(mode, int) or not mode.startswith("none"):
            collector = Collector(mode)
            stack.callback(collector.close)
            variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        options = ["--scenario", write_scenario(folder, SMALL_GPUS), "--speed", "1"]
        with server_in(folder, words.berth, options, variables) as server:
            put(server, "/v1/tenants/load", {})
            if words.paused:
                put(server, "/v1/planning", {"paused": True, "reason": "a measurement"})
            figures = Loads(words.load, words, folder).measure(f"writes, collector {mode}", server, True, False)
            log = server.log
        if variables:
            faults += audit_spans(mode, collector, log.read_text())
        return figures["write"]["per_second"]


def audit_spans(mode, collector, log):
    """What is wrong with the count of spans that a server gives at its end."""
    counts = [json.loads(line) for line in log.splitlines() if '"event":"otlp"' in line]
    if not counts:
        return [f"collector {mode}: no spans were made"]
    made, sent, refused, dropped = (counts[0][key] for key in ("made", "sent", "refused", "dropped"))
    taken = len(collector.spans()) if mode == "well" else 0
    print(f"  spans: {made} made, {sent} sent, {refused} refused, {dropped} dropped; the collector took {taken}", flush=True)
    faults = [] if made == sent + refused + dropped else [f"collector {mode}: {made} made, but not all are counted"]
    return faults + ([] if taken == sent else [f"collector {mode}: {sent} sent, but it took {taken}"])


def main():
    """Runs the parts and prints what came of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("load")
    parser.add_argument("seconds", type=int, nargs="?", default=60)
    parser.add_argument("--clients", type=int, default=256)
    parser.add_argument("--readers", type=int, default=8, help="connections of the readers")
    parser.add_argument("--read-rate", type=int, default=200, help="reads per second of all readers together")
    parser.add_argument("--gpus", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--change", choices=["label", "target"], default="label", help="what each write changes")
    parser.add_argument("--paused", action="store_true", help="no plans are made: for a comparison")
    parser.add_argument("--only", default="writes,reads,both", help="parts, separated by commas")
    parser.add_argument("--traced", action="store_true", help="compare writes with traces and without")
    words = parser.parse_args()
    if words.traced:
        faults = run_traced(words)
        for fault in faults:
            print(f"live_writes: {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)
    wanted = words.only.split(",")
    faults = run_server(words, SMALL_GPUS, ["writes"]) if "writes" in wanted else []
    large = [part for part in ("reads", "both") if part in wanted]
    if large:
        faults += run_server(words, words.gpus, large)
    for fault in faults:
        print(f"live_writes: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
