#!/usr/bin/env python3
"""`berth up` and its GPU agent, on simulated GPUs: which process has which privileges, and the state after the agent ends."""

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "tests/up"))
from local_up import LIBRARY, PROGRAM, Case, require_managing, wait_until  # noqa: E402

CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def process_status(pid):
    """The lines of /proc/PID/status."""
    lines = (line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class HandsOfUp(Case):
    def setUp(self):
        super().setUp()
        self.on_machine = self.machine()
        self.uuid, _ = self.on_machine.uuids()
        self.config = self.folder / "berth.yaml"
        self.config.write_text(f"manage: [{{uuid: {self.uuid}}}]\n")
        self.socket = self.folder / "hands"

    def managing(self, *words):
        return self.local(self.on_machine, "--config", self.config, "--manage-gpus", *words)

    def start_hands(self):
        process = subprocess.Popen([PROGRAM, "hands", "--socket", self.socket, "--config", self.config, "--nvml", LIBRARY],
                                   env=self.on_machine.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), f"ready {self.socket}\n")
        return process

    def reason(self, up, reason):
        wait_until(lambda: up.gpu(0)["managed_reason"] == reason, reason)

    def test_only_the_hands_have_privileges(self):
        up = self.managing()
        self.assertTrue(up.gpu(0)["managed"], up.gpu(0))
        [hands] = children_of(up.process.pid)
        self.assertIn(b"\0hands\0", Path(f"/proc/{hands}/cmdline").read_bytes())
        for thread in os.listdir(f"/proc/{up.process.pid}/task"):
            status = process_status(f"{up.process.pid}/task/{thread}")
            self.assertEqual({status[name] for name in CAPABILITY_SETS}, {"0" * 16}, status["Name"])
            self.assertEqual(status["NoNewPrivs"], "1")
        self.assertNotEqual(process_status(hands)["CapEff"], "0" * 16)
        self.assertEqual(up.end(), 0)
        wait_until(lambda: not Path(f"/proc/{hands}").exists() or process_status(hands)["State"].startswith("Z"),
                   "the end of the hands")
        self.assertEqual(self.on_machine.changing_calls(), [0, 0])

    def test_a_gpu_that_does_not_answer_at_the_start_keeps_no_other_from_being_changed(self):
        # Every read fails: the agent reads the GPUs at the same time, and the first reader would get a single fault.
        self.on_machine.do("fault", "--gpu", 1, "--call", "read", "--times", 1_000, "--ms", 600_000)
        up = self.managing()
        self.assertEqual([gpu["status"]["uuid"] for gpu in up.items("gpus")], [self.uuid])
        self.assertIn("a GPU cannot be read (no UUID): nvmlDeviceGetHandleByIndex_v2: NVML_ERROR_TIMEOUT", up.stderr())
        wait_until(lambda: up.gpu(0)["managed"] and up.gpu(0)["scheduling"] == "open", "managed")
        self.assertEqual(up.end(), 0)

    def test_hands_that_it_started_are_gone_for_good(self):
        up = self.managing()
        [hands] = children_of(up.process.pid)
        os.kill(hands, signal.SIGKILL)
        self.reason(up, "the hands ended (signal 9)")
        # The reason is shown as soon as it is known; the GPU is cordoned by the next step of the world.
        wait_until(lambda: up.gpu(0)["scheduling"] == "cordoned", "cordoned")
        self.assertEqual(up.gpu(1)["managed_reason"], "its UUID is not in manage of the configuration")
        self.assertEqual(up.end(), 0)

    def test_hands_at_a_socket_are_looked_for_again(self):
        hands = self.start_hands()
        up = self.managing("--hands", self.socket)
        self.assertEqual(children_of(up.process.pid), [])
        self.assertTrue(up.gpu(0)["managed"], up.gpu(0))
        self.assertEqual(process_status(up.process.pid)["CapEff"], "0" * 16)
        hands.kill()
        hands.wait()
        wait_until(lambda: not up.gpu(0)["managed"], "observed")
        self.assertTrue(up.gpu(0)["managed_reason"].startswith(f"{self.socket}: no hands there: Connection refused")
                        or up.gpu(0)["managed_reason"] == f"the hands at {self.socket} are gone", up.gpu(0))
        self.start_hands()
        wait_until(lambda: up.gpu(0)["managed"] and up.gpu(0)["scheduling"] == "open", "managed again")
        self.assertEqual(up.end(), 0)

    def test_a_socket_of_somebody_else_is_refused(self):
        self.start_hands()
        os.chown(self.socket, 1234, -1)
        message = self.refused("--world", "local", "--nvml", LIBRARY, "--config", self.config, "--manage-gpus", "--hands",
                               self.socket, machine=self.on_machine)
        self.assertEqual(message, f"berth: --hands: {self.socket}: wanted a socket of root or of user 0, found one of user "
                                  "1234")
        self.assertEqual(self.on_machine.changing_calls(), [0, 0])


if __name__ == "__main__":
    require_managing()
    unittest.main()
