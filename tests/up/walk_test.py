#!/usr/bin/env python3
"""The walk of docs/first_steps/running_engine.md, with a SIGKILL of the server in each step: somebody who watches the command line
cannot see it. Each command prints what it prints without a kill and ends with status 0, and what was there before the
kill is there after it: objects with uids and versions, plans, slices, the pause, the clock.

The server is started again at once, with the same folder and port. BERTH_SEED (random) chooses the instants."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
SERVICE = str(ROOT / "examples/live/service.yaml")
SPEED = "20"
DEADLINE_SECONDS = 60
AWAY_SECONDS = 0.1  # between a kill and the next start
OVER = ("done", "expired", "refused", "superseded")  # phases of plans that never change

# A command, and what must hold before the next one.
STEPS = [
    (("apply", "-f", SERVICE), "is_running"),
    (("get", "services"), None),
    (("describe", "service", "tagger", "-t", "photos"), None),
    (("plan", "show"), None),
    (("sim", "fault", "lose", "gpu-0"), "is_lost"),
    (("sim", "fault", "return", "gpu-0"), "is_back"),
    (("plan", "pause", "--reason", "looking around"), "is_paused"),
    (("plan", "resume"), "is_resumed"),
    (("delete", "-f", SERVICE), "is_gone"),
]
READS = ("get", "describe", "plan show")


def skeleton(command, text):
    """What a command prints, without figures: all of what writes print; of a list the names; of an object its fields, as
    those come elsewhere that are not known for a while."""
    if not " ".join(command).startswith(READS):
        return text
    if command[0] == "get":
        return [line.split()[:2] for line in text.splitlines()]
    fields = {match[0] for match in re.finditer(r"^[A-Z][A-Za-z ]*:", text, re.MULTILINE)}
    return sorted(fields - {"Later in its window:"})  # not every plan has later changes


class Walk:
    """A server on one folder and port, and somebody who types."""

    def __init__(self, folder):
        self.state = Path(folder) / "state"
        self.log = Path(folder) / "log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None
        self.kill_count = 0
        self.away = threading.Event()

    def spawn(self):
        """Starts the server, and waits for nothing."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "up", "--data", self.state, "--listen", f"127.0.0.1:{self.port}", "--speed", SPEED],
                stdout=subprocess.PIPE, stderr=log)

    def start(self):
        """Starts it and waits until it is ready."""
        self.spawn()
        line = self.process.stdout.readline()
        assert line.startswith(b"ready "), self.log.read_text()

    def end(self, number):
        """Sends the signal; the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        return status

    def kill_and_start(self, delay=0.0):
        """Kills it after a delay, and starts it again."""
        time.sleep(delay)
        self.end(signal.SIGKILL)
        self.kill_count += 1
        self.away.set()
        time.sleep(AWAY_SECONDS)
        self.away.clear()
        self.start()

    def type(self, command):
        """A command as it is typed; what it printed. Fails unless the status is 0 and nothing is on stderr."""
        run = subprocess.run([PROGRAM, *command, "--data", self.state], capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS)
        assert (run.returncode, run.stderr) == (0, ""), (command, run)
        return run.stdout

    def get(self, path):
        """The JSON of the API, whatever its status."""
        key = (self.state / "admin.key").read_text().strip()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/{path}",
                                         headers={"Authorization": "Bearer " + key})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return json.loads(refusal.read())

    def holds(self, condition):
        """Whether a condition of STEPS holds."""
        if condition == "is_running":
            return self.get("tenants/photos/services/tagger")["status"]["phase"] == "Running"
        if condition == "is_gone":
            return "error" in self.get("tenants/photos")
        if condition in ("is_lost", "is_back"):
            return self.get("gpus/gpu-0")["status"]["health"] == ("lost" if condition == "is_lost" else "ok")
        return self.get("planning")["paused"] == (condition == "is_paused")

    def wait_for(self, condition):
        """Waits until it holds."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not self.holds(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.02)

    def sight(self):
        """What a kill must not change. `order`: what people ordered; `plans`: those that are over; `time`."""
        kinds = {kind: {(item["metadata"]["namespace"], item["metadata"]["name"]): item
                        for item in self.get(f"{kind}?limit=500")["items"]}
                 for kind in ("tenants", "services", "gpus", "plans")}
        for service in kinds["services"].values():
            service.pop("status")  # figures of the last minute
        for gpu in kinds["gpus"].values():
            gpu["status"].pop("allocated_units")  # plans go on
            # When the loss was seen is recorded within 0.2 s; a kill before that lets it be seen again.
            gpu["status"].pop("health_since")
        order = {kind: kinds[kind] for kind in ("tenants", "services", "gpus")}
        plans = {name: plan for name, plan in kinds["plans"].items() if plan["status"]["phase"] in OVER}
        return {"order": order, "planning": self.get("planning"), "plans": plans, "time": self.get("status")["time"]}


class FirstTenMinutes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.seed = int(os.environ.get("BERTH_SEED", random.SystemRandom().randrange(1_000_000)))
        cls.undisturbed = cls.walk(lambda walk, command: walk.type(command), lambda walk: None)

    @classmethod
    def walk(cls, step, begin):
        """All steps; what each printed. `begin` is called before the first, `step` for each."""
        with tempfile.TemporaryDirectory() as folder:
            walk = Walk(folder)
            try:
                walk.spawn()
                begin(walk)
                if walk.kill_count == 0:
                    assert walk.process.stdout.readline().startswith(b"ready ")
                printed = []
                for command, condition in STEPS:
                    printed.append(skeleton(command, step(walk, command)))
                    if condition:
                        walk.wait_for(condition)
                assert walk.end(signal.SIGTERM) == 0
                return printed
            finally:
                if walk.process.poll() is None:
                    walk.end(signal.SIGKILL)

    def check(self, step):
        """A walk with a kill while the server starts and one in each step prints what an undisturbed one prints."""
        rng = random.Random(self.seed)
        with self.subTest(seed=self.seed):
            printed = self.walk(lambda walk, command: step(walk, command, rng),
                                lambda walk: walk.kill_and_start(rng.uniform(0, 0.2)))
            self.assertEqual(printed, self.undisturbed)

    def assert_kept(self, before, after):
        """What was seen before a kill is there after it."""
        for kind, items in before["order"].items():
            self.assertEqual(after["order"][kind].keys(), items.keys())
            for name, item in items.items():
                self.assertEqual(after["order"][kind][name], item)
        self.assertEqual(after["planning"], before["planning"])
        self.assertEqual({name: after["plans"].get(name) for name in before["plans"]}, before["plans"])
        self.assertGreaterEqual(after["time"], before["time"])

    def test_a_kill_before_each_command(self):
        def step(walk, command, rng):
            time.sleep(rng.uniform(0, 0.2))
            before = walk.sight()
            walk.kill_and_start()
            self.assert_kept(before, walk.sight())
            return walk.type(command)
        self.check(step)

    def test_each_command_is_typed_while_the_server_is_away(self):
        def step(walk, command, rng):
            time.sleep(rng.uniform(0, 0.2))
            killer = threading.Thread(target=walk.kill_and_start)
            killer.start()
            walk.away.wait(DEADLINE_SECONDS)
            printed = walk.type(command)
            killer.join()
            return printed
        self.check(step)

    def test_a_kill_within_each_command(self):
        def step(walk, command, rng):
            killer = threading.Thread(target=walk.kill_and_start, args=[rng.uniform(0, 0.03)])
            killer.start()
            printed = walk.type(command)
            killer.join()
            return printed
        self.check(step)

    def test_a_kill_after_each_command(self):
        def step(walk, command, rng):
            printed = walk.type(command)
            before = walk.sight()
            walk.kill_and_start()
            self.assert_kept(before, walk.sight())
            return printed
        self.check(step)


if __name__ == "__main__":
    unittest.main()
