#!/usr/bin/env python3
"""What planned changes promised and what they achieved, in each goodput scenario of the planner (tests/planner/goodput_scenarios.py)
and in the demo, each run by `berth up`; then the same with every creation and destruction taking 20 times as long.

    BERTH_DATA=DATA python3 scripts/detail/promises.py BERTH [--only TEXT] [--seeds N] [--seconds N] [--slow FACTOR]

The planner pauses itself by `share` and `lost`, over 50 changes and 10 cuts (kPromiseShareMin, kLostToDelayMax): no scenario
of the first table may reach those limits.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "tests", "planner"))
from goodput_scenarios import write_all  # noqa: E402

CREATE_SECONDS = 0.5  # of scenarios that state nothing
LOOK_SECONDS = 0.1
SPEED = 400  # at full speed a small world is over before anybody has looked


class Server:
    """A running `berth up`."""

    def __init__(self, program, folder, scenario, seed, end):
        command = [program, "up", "--speed", str(SPEED), "--seed", str(seed), "--listen", "127.0.0.1:0", "--data", folder]
        command += ["--scenario", scenario] if scenario else []
        command += ["--until", end] if end else []
        self.folder = folder
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def call(self, method, path, body=None):
        """The answer's JSON; None if the server is gone or not there yet."""
        try:
            with open(os.path.join(self.folder, "address"), encoding="utf-8") as file:
                address = file.read().strip().rstrip("/")
            with open(os.path.join(self.folder, "admin.key"), encoding="utf-8") as file:
                key = file.read().strip()
            request = urllib.request.Request(f"{address}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
                                             headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as reply:
                return json.load(reply)
        except (OSError, urllib.error.URLError, json.JSONDecodeError):
            return None

    def stop(self):
        self.process.terminate()
        self.process.communicate()


def create_seconds(scenario):
    if scenario is None:
        return CREATE_SECONDS
    with open(scenario, encoding="utf-8") as file:
        found = re.search(r"create: *([0-9.]+) *(ms|s)?", file.read())
    if not found:
        return CREATE_SECONDS
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def run(program, scenario, seed, slow, world_seconds):
    """The last answer of /v1/promises before the end of the world, or when it paused, and the reason of that. No scenario: the demo."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, scenario, seed, "end" if scenario else str(world_seconds))
        last, pause, is_slow = None, None, slow is None
        while server.process.poll() is None:
            if not is_slow:
                fault = {"kind": "slow", "gpu": "gpu-0", "seconds": min(60.0, slow * create_seconds(scenario))}
                gpus = server.call("GET", "/v1/gpus?limit=500")
                if gpus and len(gpus["items"]) > 1:
                    fault["gpus"] = len(gpus["items"])
                is_slow = bool(gpus) and server.call("POST", "/v1/sim/faults", fault) is not None
            last = server.call("GET", "/v1/promises?limit=1") or last
            planning = server.call("GET", "/v1/planning")
            pause = planning.get("reason") if planning and planning.get("paused") else pause
            if pause:
                server.stop()
            time.sleep(LOOK_SECONDS)
    return last, pause


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this text")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=7200, help="of each scenario")
    parser.add_argument("--slow", type=float, default=20, help="how many times as long creations take in the second table; 0: no such table")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scenarios = [(name, path) for name, path in write_all(folder, seconds=words.seconds) if words.only in name]
        scenarios += [("demo", None)] if words.only in "demo" else []
        for slow in [None] + ([words.slow] if words.slow else []):
            print(f"\n{'scenario':32}{'seed':>5}{'changes':>9}{'promised':>12}{'achieved':>12}{'share':>8}{'cuts':>6}{'lost':>8}  paused", flush=True)
            for name, path in scenarios:
                for seed in range(1, words.seeds + 1):
                    last, pause = run(words.program, path, seed, slow, words.seconds)
                    if last is None:
                        print(f"{name:32}{seed:5}  no answer before the end", flush=True)
                        continue
                    day = last["last_day"]
                    share = "-" if day["share"] is None else f"{day['share']:.3f}"
                    lost = "-" if day["lost_share"] is None else f"{day['lost_share']:.3f}"
                    print(f"{name:32}{seed:5}{day['changes']:9}{day['promised']:12.1f}{day['achieved']:12.1f}{share:>8}{day['cuts']:6}{lost:>8}  {pause or '-'}",
                          flush=True)


if __name__ == "__main__":
    main()
