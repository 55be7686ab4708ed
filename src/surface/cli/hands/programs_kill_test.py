#!/usr/bin/env python3
"""kill -9 of `berth hands` ends no program and starts none twice; nor does that of a keeper leave something behind."""

import os
import random
import signal
import time
import unittest
from pathlib import Path

from program_machine import ProgramCase, require_program, runs, status_of


class Killed(ProgramCase):
    def test_kill_9_of_the_hands_ends_nothing_and_starts_nothing_twice(self):
        config = self.server_rules()
        hands = self.start_hands(config)
        client = self.client()
        for index in range(3):
            client.start("web", slice_name=f"gpu-{index}", word="a")
        ready = {index: client.until_phase("ready", slice_name=f"gpu-{index}") for index in range(3)}
        client.start("web", slice_name="gpu-8", word="a")  # somewhere in the middle of its start
        hands.kill()
        hands.wait()
        os.kill(ready[1]["pid"], signal.SIGKILL)  # while nobody watches
        self.start_hands(config)
        client = self.client()
        client.stop("gpu-2")
        client.until_phase("stopped", slice_name="gpu-2")
        self.wait_for(lambda: all(report["phase"] == "ready" for report in client.listed().values()), "all ready")
        listed = client.listed()
        self.assertEqual(sorted(set(listed) - {"gpu-8"}), ["gpu-0", "gpu-1"])
        self.assertEqual(listed["gpu-0"], ready[0])
        self.assertEqual(listed["gpu-1"]["starts"], 2)
        pids = {report["pid"] for report in listed.values()}
        self.assertEqual(self.servers(), pids)

    def servers(self):
        """All processes of the script `server`."""
        script = str(self.folder / "server").encode()
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if script in words and runs(int(entry.name)):
                found.add(int(entry.name))
        return found

    def test_hands_that_are_killed_again_and_again_start_nothing_twice(self):
        config = self.server_rules()
        script = self.folder / "server"
        # Two at a time would meet at this lock.
        script.write_text(script.read_text().replace("import http.server", """import fcntl, os, sys
lock = open(os.path.join(os.environ["HOME"], "lock"), "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    open(sys.argv[0] + ".twice", "w")
import http.server"""))
        chance = random.Random(1)
        names = [f"gpu-{index}" for index in range(4)]
        for _ in range(12):
            hands = self.start_hands(config)
            client = self.client()
            for name in names:
                client.start("web", slice_name=name, word="a")
            for pid in self.servers():
                if chance.random() < 0.3:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(chance.random() * 0.4)
            hands.kill()
            hands.wait()
            client.close()
        self.start_hands(config)
        client = self.client()
        self.wait_for(lambda: [report["phase"] for report in client.listed().values()] == ["ready"] * 4, "all ready")
        self.assertEqual(self.servers(), {report["pid"] for report in client.listed().values()})
        self.assertFalse(Path(f"{script}.twice").exists())

    def test_a_killed_keeper_takes_its_program_along(self):
        self.start_hands(self.server_rules())
        client = self.client()
        client.start("web", word="a")
        pid = client.until_phase("ready")["pid"]
        os.kill(int(status_of(pid)["PPid"]), signal.SIGKILL)
        failed = client.until_phase("failed")
        self.assertTrue(failed["message"].startswith("its keeper was killed"), failed["message"])
        self.wait_for(lambda: not runs(pid), "the end of the program")
        ready = client.until_phase("ready")
        self.assertEqual([process["pid"] for process in self.show(self.machine)["devices"][1]["processes"]], [ready["pid"]])


if __name__ == "__main__":
    require_program()
    unittest.main()
