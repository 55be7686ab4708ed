#!/usr/bin/env python3
"""The time of a `berth up` on (simulated) GPUs is that of the wall clock, also after a kill; what was held meanwhile is
usage of whoever held it, in the API and in the ledger. The wall clock of some is set by a library that they load first."""

import datetime
import json
import os
import signal
import subprocess
import time
import unittest

import local_up
from local_up import LIBRARY, PROGRAM, wait_until

local_up.require_simulator()

SET_CLOCK = PROGRAM.parent / "tests/libberth-set-clock.so"
DAY = 86_400


def seconds_of(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()


class Clock(local_up.Case):
    def setUp(self):
        super().setUp()
        self.on_machine = self.machine("[{gpu: A100-80GB}]")

    def set_clock(self, seconds):
        """By how much the clock of all later readings differs from the machine's."""
        new = self.folder / "clock.new"
        new.write_text(f"{seconds}\n")
        new.rename(self.folder / "clock")

    def up(self, *words):
        environment = self.on_machine.environment()
        if (self.folder / "clock").exists():
            if not SET_CLOCK.exists():
                self.skipTest(f"{SET_CLOCK} is not built")
            environment |= {"LD_PRELOAD": str(SET_CLOCK), "BERTH_TEST_CLOCK": str(self.folder / "clock")}
        up = local_up.Up(self.data, ("--world", "local", "--nvml", LIBRARY, *words), environment)
        self.addCleanup(lambda: up.end(signal.SIGKILL) if up.process.poll() is None else None)
        return up.ready()

    def lag(self, up):
        """How far its time is behind the machine's clock."""
        return time.time() - seconds_of(up.get("v1/status")["time"])

    def wait_for_steps(self, up):
        """Until what has happened is recorded."""
        steps = up.get("v1/status")["steps"]["count"]
        wait_until(lambda: up.get("v1/status")["steps"]["count"] > steps + 1, "steps")

    def gaps(self, up):
        """(state, length) of the usage that was not observed. All usage together is without a gap."""
        usage = up.items("usage")
        reached = {}
        for item in sorted(usage, key=lambda item: item["from"]):
            for unit in range(item["start"], item["start"] + item["units"]):
                if unit in reached:
                    self.assertEqual(item["from"], reached[unit])
                reached[unit] = item["to"]
        return [(item["state"], seconds_of(item["to"]) - seconds_of(item["from"])) for item in usage
                if not item["observed"]]

    def report(self):
        path = self.folder / "usage.jsonl"
        run = subprocess.run([PROGRAM, "journal", "usage", self.data, "--out", path], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        uses = [line for line in map(json.loads, path.read_text().splitlines()) if line["type"] == "use"]
        run = subprocess.run([PROGRAM, "ledger", "report", "--events", path], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return uses, run.stdout

    def test_after_a_kill_it_is_the_wall_clock_and_nothing_is_missing(self):
        nvml = self.client_of(self.on_machine)
        self.create(nvml, 0)
        up = self.up()
        wait_until(lambda: ("gpu-0", "3g.40gb", 0, "foreign") in up.slices(), "foreign")
        wait_until(lambda: self.lag(up) < 2, "its time is that of the wall clock")
        self.wait_for_steps(up)
        self.assertEqual(self.gaps(up), [])
        up.end(signal.SIGKILL)
        time.sleep(5)
        up = self.up()
        self.on_machine.do("fault", "--gpu", 0, "--xid", 63)
        wait_until(lambda: up.events("GpuXid"), "an event")
        xid = next(event for event in up.events() if event["kind"] == "GpuXid")
        self.assertLess(time.time() - seconds_of(xid["time"]), 30)
        wait_until(lambda: self.lag(up) < 2, "its time is that of the wall clock")
        gaps = self.gaps(up)
        self.assertIn("foreign", [state for state, _ in gaps])
        for _, length in gaps:
            self.assertGreater(length, 4)
            self.assertLess(length, 60)
        line = up.lines("unobserved")[0]
        self.assertEqual({round(length, 3) for _, length in gaps},
                         {round(seconds_of(line["to"]) - seconds_of(line["from"]), 3)})
        self.wait_for_steps(up)
        up.end()
        time.sleep(3)
        up = self.up()
        self.assertEqual(len(self.gaps(up)), 2 * len(gaps), "each stop is one")
        self.assertEqual(up.end(), 0)
        uses, table = self.report()
        marked = [use for use in uses if use["slice"].endswith("~unobserved")]
        self.assertEqual({(use["slice"], use["tenant"], use["role"]) for use in marked},
                         {("gpu-0-3g.40gb-0~unobserved", "foreign", "reserved")})
        self.assertEqual(len({use["id"] for use in uses}), len(uses))
        self.assertIn("The bill has no prices", table)
        verify = subprocess.run([PROGRAM, "journal", "verify", self.data], capture_output=True, text=True)
        self.assertEqual(verify.returncode, 0, verify.stderr)

    def test_a_clock_that_is_behind(self):
        self.set_clock(0)
        up = self.up()
        self.wait_for_steps(up)
        self.assertEqual(up.end(), 0)
        self.set_clock(-8)
        up = self.up()
        self.assertIn("behind the last recorded time: this world waits for it", up.get("v1/status")["clock"])
        stands = up.get("v1/status")["time"]
        self.assertEqual(up.get("v1/status")["time"], stands)
        wait_until(lambda: up.get("v1/status")["clock"] is None, "caught up")
        wait_until(lambda: up.get("v1/status")["time"] > stands, "it goes on")
        self.assertEqual([line["message"] for line in up.lines("clock")],
                         ["the time of this world is that of the wall clock again"])
        self.assertEqual(self.gaps(up), [])
        self.set_clock(600)  # while it runs
        wait_until(lambda: self.lag(up) < -590, "the world follows")
        self.assertEqual([state for state, _ in self.gaps(up)], ["free"])
        self.assertEqual(up.end(), 0)

    def test_a_gap_of_more_than_a_week_is_not_booked_unasked(self):
        self.set_clock(0)
        up = self.up()
        self.wait_for_steps(up)
        self.assertEqual(up.end(), 0)
        self.set_clock(8 * DAY)
        up = self.up()
        self.assertIn("--accept-gap", up.get("v1/status")["clock"])
        self.assertIn("8.0 days ahead of the last recorded time", up.lines("warning")[-1]["message"])
        self.wait_for_steps(up)
        self.assertGreater(self.lag(up), -DAY)
        self.assertEqual(self.gaps(up), [])
        self.assertEqual(up.end(), 0)
        up = self.up("--accept-gap")
        self.assertIsNone(up.get("v1/status")["clock"])
        wait_until(lambda: abs(self.lag(up) + 8 * DAY) < 2, "its time is that of the wall clock")
        (state, length), = self.gaps(up)
        self.assertEqual((state, round(length / DAY, 1)), ("free", 8.0))
        self.assertEqual(up.end(), 0)

    def test_a_world_that_is_over_stays_at_its_end(self):
        scenario = self.write_scenario(local_up.SCENARIO.replace("count: 2", "count: 1").replace(
            "seconds: 600, repeat: true", "seconds: 3").replace("window_seconds: 60", "window_seconds: 3"))
        for words in ("--until", 2), ("--until", 2), ("--until", "end"), ("--until", "end"):
            with self.subTest(words=words):
                data = self.folder / f"until {words[1]}"
                up = local_up.Up(data, ("--world", "local", "--nvml", LIBRARY, "--scenario", scenario, *words),
                                 self.on_machine.environment())
                self.assertEqual(up.process.wait(local_up.DEADLINE_SECONDS), 0, up.stderr())
                up.process.stdout.close()
                self.assertEqual(up.lines("unobserved"), [])

    def test_only_worlds_of_real_gpus_have_a_gap(self):
        self.assertIn("--accept-gap: wanted --world local or auto with it, found a simulated world",
                      self.refused("--accept-gap"))


if __name__ == "__main__":
    unittest.main()
