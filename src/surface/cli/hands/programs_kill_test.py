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
                if chance.random() < 0.1:  # often enough; failures count on over restarts, and make pauses longer
                    os.kill(pid, signal.SIGKILL)
            time.sleep(chance.random() * 0.4)
            hands.kill()
            hands.wait()
            client.close()
        self.start_hands(config)
        client = self.client()
        self.wait_for(lambda: [report["phase"] for report in client.listed().values()] == ["ready"] * 4, "all ready", 90)
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


# Leaves a process behind that has another parent, another session, and ends at no signal that can be ignored.
LEAVES_ONE_BEHIND = """
import os, signal, subprocess, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.execve("/bin/sleep", ["sleep", MARK], ENVIRONMENT)
    os._exit(0)
os.wait()
"""


class KilledKeeper(ProgramCase):
    """Users are not separated: processes are found by the environment that they began with."""

    environment_of_the_rest = "dict(os.environ)"

    def setUp(self):
        super().setUp()
        # A number of seconds that no other process sleeps.
        self.mark = str(86_400 + os.getpid()) + "." + str(time.monotonic_ns() % 1_000_000)
        config = self.server_rules()
        script = self.folder / "server"
        rest = LEAVES_ONE_BEHIND.replace("MARK", repr(self.mark)).replace("ENVIRONMENT", self.environment_of_the_rest)
        script.write_text(script.read_text().replace("import http.server", rest + "import http.server"))
        self.config = config
        self.hands = self.start_hands(config)
        self.client_ = self.client()
        self.client_.start("web", word="a")
        self.ready = self.client_.until_phase("ready")

    def left(self):
        """Processes that the program has left behind."""
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if self.mark.encode() in words and runs(int(entry.name)):
                found.add(int(entry.name))
        return found

    def kill_keeper(self):
        os.kill(int(status_of(self.ready["pid"])["PPid"]), signal.SIGKILL)

    def test_kill_9_leaves_nothing_behind(self):
        before = self.wait_for(self.left, "the process left behind")
        self.kill_keeper()
        failed = self.client_.until_phase("failed")
        self.assertTrue(failed["message"].startswith("its keeper was killed"), failed["message"])
        self.assertFalse(runs(self.ready["pid"]))
        self.assertFalse([pid for pid in before if runs(pid)], "before it is started again")
        self.client_.until_phase("ready")
        after = self.wait_for(self.left, "the process of the next start")
        self.assertEqual(len(after), 1)
        self.assertFalse(after & before)
        self.client_.stop()
        self.client_.until_phase("stopped")
        self.assertEqual(self.left(), set())
        self.assertEqual(list((self.programs / "programs").iterdir()), [])

    def test_kill_9_of_keeper_and_hands_leaves_nothing_behind(self):
        before = self.wait_for(self.left, "the process left behind")
        self.hands.kill()
        self.hands.wait()
        self.kill_keeper()
        self.start_hands(self.config)
        client = self.client()
        self.wait_for(lambda: client.listed()["gpu-1-0"]["phase"] == "ready" and client.listed()["gpu-1-0"]["starts"] == 2, "the next start")
        self.assertFalse([pid for pid in before if runs(pid)])
        self.wait_for(lambda: len(self.left()) == 1, "one process of one start")

    def test_a_stop_after_kill_9_leaves_nothing_behind(self):
        self.wait_for(self.left, "the process left behind")
        self.kill_keeper()
        self.client_.stop()
        self.client_.until_phase("stopped")
        self.assertEqual(self.left(), set())
        self.assertFalse(runs(self.ready["pid"]))

    def test_failures_are_counted_over_a_restart_of_the_hands(self):
        self.kill_keeper()
        self.assertEqual(self.client_.until_phase("failed")["failures"], 1)
        self.ready = self.client_.until_phase("ready")
        self.kill_keeper()
        self.assertEqual(self.client_.until_phase("failed")["failures"], 2)
        self.hands.kill()
        self.hands.wait()
        self.start_hands(self.config)
        client = self.client()
        self.assertEqual(client.listed()["gpu-1-0"]["failures"], 2)
        self.wait_for(lambda: client.listed()["gpu-1-0"]["phase"] == "ready", "the next start")
        self.assertEqual(client.listed()["gpu-1-0"]["failures"], 2)


@unittest.skipUnless(os.geteuid() == 0, "wants root, to run programs as other users")
class KilledKeeperOfAnotherUser(KilledKeeper):
    """Nothing but the user of the process that was left behind is known."""

    separate_users = True
    environment_of_the_rest = "{}"


if __name__ == "__main__":
    require_program()
    unittest.main()
