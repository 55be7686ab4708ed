"""journal_start.py BERTH [--events N] [--services N] [--kills N] [--policy fixed|berth] [--seed N] [--folder DIR]: how long
`berth up` takes to start again, and how much memory it uses, as its journal grows.

A world of so many services runs as fast as it can (--speed max) and records all that happens in it. At each of so many
parts of the events the server is killed at a random row between two snapshots, and started again: every second time
its files are not in the page cache any more. The time counts until /readyz is 200. At the end `berth journal verify`
reads everything.

fixed  the layout of the scenario; retrainings make the rows
berth  a planner that always works, so that snapshots are rare and large

The exit status is 1 if a start takes longer than START_SECONDS, or memory grows with the events."""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from live_server import server_in

START_SECONDS = 5
GROWTH_SHARE = 1.25  # memory after the last start against that after the first ones
BYTES_OF_MB = 1 << 20
KILL_WITHIN_ROWS = 20_000  # of a point, so that kills are anywhere between two snapshots
POLL_SECONDS = 0.02
PROFILES = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,1,1,40,25
m,A100-80GB,2g.20gb,2,1,90,22
m,A100-80GB,3g.40gb,3,1,140,20
"""


def write_scenario(folder, services):
    """Writes a scenario whose services are retrained all the time, two on each GPU."""
    (folder / "profiles.csv").write_text(PROFILES)
    gpus = -(-services // 2)
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {gpus}, usd_per_gpu_hour: 3.673}}]", "window_seconds: 200",
             "fidelity: rates", "layout:"]
    for index in range(services):
        serves = "{profile: 2g.20gb, start: 0, " if index % 2 else "{profile: 3g.40gb, start: 4, "
        lines.append(f"  - {{gpu: {index // 2}, slices: [{serves}service: s{index}}}, "
                     f"{{profile: 1g.10gb, start: {2 + index % 2}, service: s{index}, role: retraining}}]}}")
    lines.append("services:")
    for index in range(services):
        lines.append(f"  - {{name: s{index}, tenant: t{index % 10}, slo: {{latency_ms: 150}}, "
                     "profile: {format: csv, path: profiles.csv, model: m}, accuracy: {before: 0.7, after: 0.9}, "
                     f"retraining: {{every_seconds: 2, offset_seconds: {index % 2}, "
                     "seconds_on: {1g: 1, 2g: 1, 3g: 1}}, "
                     f"arrivals: {{format: poisson, requests_per_second: {5 + index % 20}, seconds: 600, "
                     "repeat: true}}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Journal:
    """What a folder's journal holds, read beside its server."""

    def __init__(self, state):
        self.path = state / "journal.db"

    def numbers(self):
        """The last row, and the last row that a snapshot covers."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)) as connection:
            return connection.execute("SELECT head_sequence, snapshot_sequence FROM meta").fetchone()

    def snapshot_bytes(self):
        """Of the newest snapshot; 0 without one."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)) as connection:
            row = connection.execute("SELECT length(CAST(body AS BLOB)) FROM snapshots ORDER BY sequence DESC").fetchone()
            return row[0] if row else 0

    def file_mb(self):
        """Of the file."""
        return self.path.stat().st_size / BYTES_OF_MB

    def leave_cache(self):
        """Its pages are read from the disk again."""
        for path in self.path.parent.iterdir():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def wait_until_ready(server):
    """Until /readyz is 200: the seconds after the line `ready`."""
    began = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(server.client.address + "/readyz", timeout=60) as reply:
                if reply.status == 200:
                    return time.monotonic() - began
        except urllib.error.HTTPError as refusal:
            refusal.close()
        time.sleep(POLL_SECONDS)


def peak_mb(server):
    """The most resident memory that the process ever had."""
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def run_until(server, journal, rows):
    """Lets the world run until so many rows are recorded, and kills the server; its memory before that, and the rows
    per second."""
    first, began = journal.numbers()[0], time.monotonic()
    while journal.numbers()[0] < rows:
        if not server.is_running():
            sys.exit(f"journal_start: the server ended:\n{server.log_end()}")
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - began
    resident = server.resident_mb()
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    return resident, (journal.numbers()[0] - first) / seconds


def measure(words, folder):
    """All parts; the figures of each start: seconds, and memory when it is ready."""
    options = ["--scenario", write_scenario(folder, words.services), "--policy", words.policy, "--speed", "max"]
    journal, rng = Journal(folder / "state"), random.Random(words.seed)
    starts = []
    print("     rows  behind  snapshot   journal  cache    ready   MB when   MB at  MB when   rows per\n"
          "          snapshot    KB          MB           s      ready    most   killed    second", flush=True)
    for part in range(words.kills + 1):
        head, covered = journal.numbers() if part else (0, 0)
        is_cold = part % 2 == 1
        if part and is_cold:
            journal.leave_cache()
        with server_in(folder, words.berth, options) as server:
            seconds = server.start_seconds + wait_until_ready(server)
            ready_mb, most_mb = server.resident_mb(), peak_mb(server)
            line = (f"{head:9} {head - covered:7} {journal.snapshot_bytes() / 1000:9.0f} {journal.file_mb():9.0f}  "
                    f"{'cold' if is_cold else 'warm'} {seconds:8.2f} {ready_mb:9.0f} {most_mb:7.0f}")
            if part:
                starts.append((seconds, ready_mb))
            if part == words.kills:
                print(line, flush=True)
                break
            target = words.events * (part + 1) // words.kills - rng.randrange(KILL_WITHIN_ROWS)
            resident, rate = run_until(server, journal, target)
            print(f"{line} {resident:8.0f} {rate:9.0f}", flush=True)
    return starts


def verify(berth, state):
    """Reads everything; whether it is right."""
    began = time.monotonic()
    checked = subprocess.run([berth, "journal", "verify", state], capture_output=True, text=True)
    print(f"verify: status {checked.returncode} after {time.monotonic() - began:.0f} s: "
          f"{(checked.stdout + checked.stderr).strip()}", flush=True)
    return checked.returncode == 0


def main():
    """Measures and prints what came of the bars."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--services", type=int, default=100)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--policy", choices=["fixed", "berth"], default="fixed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="an empty one, which is kept")
    words = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = words.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        starts = measure(words, folder)
        is_right = verify(words.berth, folder / "state")
    slowest = max(seconds for seconds, _ in starts)
    growth = starts[-1][1] / starts[0][1]
    bars = [(f"the slowest start below {START_SECONDS} s: {slowest:.2f} s", slowest < START_SECONDS),
            (f"memory after the last start against the first, at most {GROWTH_SHARE}: {growth:.2f}",
             growth <= GROWTH_SHARE)]
    for text, is_met in bars:
        print(f"bar: {text}, {'met' if is_met else 'missed'}")
    sys.exit(0 if is_right and all(is_met for _, is_met in bars) else 1)


if __name__ == "__main__":
    main()
