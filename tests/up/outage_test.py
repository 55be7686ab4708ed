#!/usr/bin/env python3
"""An outage of the demo: one GPU is lost and another one drained 40 s after the start, while services are new and more requests
come than their owners expect. GPUs that help do not stay empty: plans use each open one within seconds of the world."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
SPEED = "5"  # slow enough that a plan takes less than a second of the world on a busy machine
DEADLINE_SECONDS = 60
OUTAGE_SECOND = 40
# 10 s after the drain is over, and the seconds until the next plan is made and carried out.
USED_WITHIN_SECONDS = 25


def seconds_of(time_text):
    """Seconds of the day; the test does not run over midnight of the world unnoticed, as differences would be negative."""
    hours, minutes, seconds = re.search(r"T(\d+):(\d+):([\d.]+)Z", time_text).groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


class Outage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.state = os.path.join(self.folder.name, "state")
        self.server = subprocess.Popen([PROGRAM, "up", "--speed", SPEED, "--data", self.state, "--listen", "127.0.0.1:0"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertIn("ready", self.server.stdout.readline())
        self.begin = self.now()

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        self.folder.cleanup()

    def berth(self, *words):
        return subprocess.run([PROGRAM, *words, "--data", self.state], check=True, stdout=subprocess.PIPE, text=True).stdout

    def now(self):
        return seconds_of(re.search(r"World\s+simulated, (\S+Z)", self.berth("top", "--once"))[1])

    def gpus(self):
        return json.loads(self.berth("get", "gpus", "-o", "json"))["items"]

    def empty_gpus(self):
        """The open GPUs on which nothing stands."""
        return [gpu["metadata"]["name"] for gpu in self.gpus()
                if gpu["status"]["health"] == "ok" and gpu["status"]["scheduling"] == "open" and gpu["status"]["allocated_units"] == 0]

    def wait_for(self, condition, what):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)

    def test_no_gpu_that_helps_stays_empty(self):
        self.wait_for(lambda: self.now() >= self.begin + OUTAGE_SECOND, "the world goes on")
        self.berth("sim", "fault", "lose", "gpu-0")
        self.berth("drain", "gpu-3", "--reason", "new fans")
        outage = self.now()
        self.wait_for(lambda: not self.empty_gpus() or self.now() > outage + USED_WITHIN_SECONDS, "the world goes on")
        self.assertEqual(self.empty_gpus(), [])


if __name__ == "__main__":
    unittest.main()
