#!/usr/bin/env python3
"""A service of the demo whose batches take longer than its table says: that is found, counted on, shown, and outlives a
SIGKILL. With learn_speed: false it is only reported."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 240
FACTOR = 1.5


class Calibration(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        self.temporary.cleanup()

    def start(self, learns=True):
        config = self.folder / "berth.yaml"
        config.write_text(f"speed: max\nlisten: 127.0.0.1:0\ndata: {self.folder}/state\n"
                          f"learn_speed: {'true' if learns else 'false'}\n")
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen([PROGRAM, "up", "--config", config], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("ready http://"), line + (self.folder / "log").read_text())
        self.address = line.split()[1]

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()

    def client(self, *words):
        done = subprocess.run([PROGRAM, *words, "--data", self.folder / "state"], capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS)
        return done.returncode, done.stdout + done.stderr

    def get(self, path):
        key = (self.folder / "state/admin.key").read_text().strip()
        request = urllib.request.Request(self.address + path, headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())

    def places(self):
        """Of the detector, with a recorded factor."""
        items = {item["metadata"]["name"]: item for item in self.get("v1/calibration?limit=500")["items"]}
        return [place for place in items["detector"]["status"]["speeds"] if place["recorded"] is not None]

    def wait_for_factors(self, are_used):
        began = time.monotonic()
        while not (places := self.places()) or places[0]["used"] != are_used:
            self.assertLess(time.monotonic() - began, DEADLINE_SECONDS)
            time.sleep(0.1)
        return places

    def make_slow(self):
        status, words = self.client("sim", "fault", "serving", "vision/detector", "--factor", str(FACTOR), "--jitter", "0.2")
        self.assertEqual((status, words), (0, "fault/fault-1 injected\n"))

    def test_a_factor_is_found_counted_on_and_outlives_a_kill(self):
        self.start()
        self.make_slow()
        for place in self.wait_for_factors(are_used=True):
            self.assertAlmostEqual(place["factor"], FACTOR, delta=0.03 * FACTOR)
            self.assertTrue(place["used"])
        status, words = self.client("get", "calibration", "-t", "vision")
        self.assertEqual(status, 0, words)
        self.assertRegex(words, r"TENANT +NAME +FORECASTS +IN 80% +IN 95% +TIME OF BATCHES / TABLE\n")
        self.assertRegex(words, r"vision +detector .* x1\.[45]")
        status, events = self.client("get", "events", "-o", "json")
        self.assertIn('"SpeedDrift"', events)
        self.assertIn("x the table's time", events)
        self.assertEqual(self.client("cordon", "gpu-7", "--reason", "recorded with all that was before it")[0], 0)
        before = {(place["gpu_model"], place["profile"]): place["recorded"] for place in self.places()}
        self.end(signal.SIGKILL)

        self.start()
        after = {(place["gpu_model"], place["profile"]): place["recorded"] for place in self.places()}
        self.assertLessEqual(before.keys(), after.keys())
        status, words = self.client("sim", "faults")
        self.assertRegex(words, r"fault-1 +serving")
        self.assertEqual(self.client("sim", "fault", "clear", "vision/detector"), (0, "faults cleared\n"))
        self.assertEqual(self.get("v1/sim/faults")["items"], [])
        self.end(signal.SIGTERM)

    def test_without_learning_it_is_only_reported(self):
        self.start(learns=False)
        self.make_slow()
        for place in self.wait_for_factors(are_used=False):
            self.assertFalse(place["used"])
            self.assertEqual(place["factor"], 1)
        self.end(signal.SIGTERM)

        self.start()  # from now on it is counted on
        for place in self.wait_for_factors(are_used=True):
            self.assertAlmostEqual(place["factor"], FACTOR, delta=0.05 * FACTOR)
        self.end(signal.SIGTERM)

    def test_a_fault_of_an_unknown_service_is_refused(self):
        self.start()
        status, words = self.client("sim", "fault", "serving", "vision/nobody", "--factor", "2")
        self.assertEqual(status, 2, words)
        self.assertIn("wanted TENANT/NAME of a service", words)
        self.end(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
