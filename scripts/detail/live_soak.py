"""live_soak.py BERTH demo|churn [--speed X] [--minutes M] [--rate R] [--clients N] [--seed N] [--growth-max PERCENT]
[--without NAME,..]: what `berth up` with its demo uses over a long time.

Each minute: resident memory, the share of a core in that minute, and the 99th percentile of the latest 10,000 steps.
At the end: how much resident memory has grown since half of the time, when the logs of events and plans are full.

demo   nobody asks for anything.
churn  clients put, change and delete services and tenants, cordon, drain and open GPUs, inject faults, pause planning,
       and read lists, objects and event streams: R requests per second together (live_churn.py). With the same seed
       each client decides by the same random numbers; which request meets which state depends on time, too.

The exit status is 1 if the server ends, or with churn if an answer is a 5xx or not the one expected, or if memory grows
by more than PERCENT."""

import argparse
import random
import sys
import threading
import time

from live_churn import ChurnClient, Tally, Watcher
from live_server import running_server

WARM_UP_SHARE = 0.5


class Meter:
    """Prints what the server has used since the last line."""

    def __init__(self, server):
        self.server = server
        self.began = self.read_at = time.monotonic()
        self.cpu_seconds = server.cpu_seconds()

    def print_line(self, more=""):
        """Resident memory, the share of a core, steps."""
        now, cpu_seconds = time.monotonic(), self.server.cpu_seconds()
        steps = self.server.client.send("/v1/status")[0]["steps"]
        print(f"{(now - self.began) / 60:5.1f} min: {self.server.resident_mb():7.1f} MB, "
              f"{(cpu_seconds - self.cpu_seconds) / (now - self.read_at):.3f} of a core, "
              f"{steps['count']} steps, p99 {steps['p99_ms']:.2f} ms{more}", flush=True)
        self.read_at, self.cpu_seconds = now, cpu_seconds


def start_clients(server, words, tally, ending):
    """The threads that disturb the server."""
    threads = [Watcher(server, tally, random.Random(f"{words.seed}/watcher"), ending)]
    without = frozenset(words.without.split(","))
    for index in range(words.clients):
        rng = random.Random(f"{words.seed}/{index}")
        threads.append(ChurnClient(server, tally, rng, ending, index, words.rate / words.clients, without))
    for thread in threads:
        thread.start()
    return threads


def watch(server, words, tally):
    """Prints a line each minute; the growth of memory in percent. Raises OSError if the server ends."""
    meter = Meter(server)
    seconds = 60 * words.minutes
    # When to do what: a line each minute and at the end, and one reading after the warm-up.
    stops = sorted({*range(60, int(seconds), 60), WARM_UP_SHARE * seconds, seconds})
    warm_mb = None
    for stop in stops:
        while time.monotonic() < meter.began + stop:
            if not server.is_running():
                raise ProcessLookupError
            time.sleep(min(0.5, max(0.0, meter.began + stop - time.monotonic())))
        if stop == WARM_UP_SHARE * seconds:
            warm_mb = server.resident_mb()
        if stop % 60 == 0 or stop == seconds:
            meter.print_line(tally.summary() if words.mode == "churn" else "")
    end_mb = server.resident_mb()
    growth = 100 * (end_mb - warm_mb) / warm_mb
    print(f"resident memory: {warm_mb:.1f} MB after {WARM_UP_SHARE * words.minutes:.1f} min, {end_mb:.1f} MB at the "
          f"end: {end_mb - warm_mb:+.1f} MB, {growth:+.1f} %")
    return growth


def measure(server, words):
    """Runs a mode; the reasons why the exit status is not 0."""
    tally, ending = Tally(), threading.Event()
    threads = start_clients(server, words, tally, ending) if words.mode == "churn" else []
    faults = []
    try:
        growth = watch(server, words, tally)
        if words.mode == "churn" and growth > words.growth_max:
            faults.append(f"resident memory grew by {growth:.1f} %, wanted at most {words.growth_max:g} %")
    except (OSError, RuntimeError) as error:
        faults.append(f"the server does not answer any more ({error!r})")
    ending.set()
    for thread in threads:
        thread.join()
    if words.mode == "churn":
        tally.show()
    if tally.error_count > 0:
        faults.append(f"{tally.error_count} answers that were not expected")
    if not server.is_running():
        faults.append(f"the server ended with status {server.process.returncode}; its log ends:\n{server.log_end()}")
    return faults


def main():
    """Runs the measurement and prints what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("mode", choices=["demo", "churn"])
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--rate", type=float, default=20, help="requests per second of all clients together")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth-max", type=float, default=10, help="in percent; only for churn")
    parser.add_argument("--without", default="",
                        help="what churn leaves out, such as what is known to be faulty, separated by commas: keys of "
                             "a spec (variants), methods of ChurnClient (set_planning), kinds of faults (slow)")
    words = parser.parse_args()
    with running_server(words.berth, ["--speed", f"{words.speed:g}", "--seed", str(words.seed)]) as server:
        faults = measure(server, words)
        was_running = server.is_running()
    if was_running and server.process.returncode != 0:
        faults.append(f"wanted status 0 after SIGTERM, found {server.process.returncode}")
    for fault in faults:
        print(f"live_soak: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
