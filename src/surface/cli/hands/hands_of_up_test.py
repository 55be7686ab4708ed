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
from local_up import LIBRARY, PROGRAM, SCENARIO, Case, require_managing, wait_until  # noqa: E402

CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def process_status(pid):
    """The lines of /proc/PID/status."""
    lines = (line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_hands(pid):
    return b"\0hands\0" in Path(f"/proc/{pid}/cmdline").read_bytes()


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

    def kill_hands(self, up):
        """Those that it has now."""
        [hands] = wait_until(lambda: [pid for pid in children_of(up.process.pid) if is_hands(pid)], "hands")
        os.kill(hands, signal.SIGKILL)
        return hands

    def test_hands_that_it_started_are_started_again(self):
        both = self.on_machine.uuids()
        self.config.write_text("manage: [" + ", ".join(f"{{uuid: {uuid}}}" for uuid in both) + "]\n")
        up = self.managing()
        self.assertEqual(up.send("POST", "v1/gpus/gpu-1/cordon", {"reason": "a fan is loud"})[0], 200)
        self.assertEqual(up.send("GET", "readyz")[0], 200)
        killed = set()
        for pause in (1, 2, 4):  # the last one is long enough to look around
            killed.add(self.kill_hands(up))
            gone = f"the GPU agent (berth hands) is gone: the GPU agent ended (signal 9); it is started again after {pause} s"
            wait_until(lambda gone=gone: gone in [line["message"] for line in up.lines("error")], gone)
            if pause < 4:
                wait_until(lambda: up.send("GET", "readyz")[0] == 200, "ready again")
        status, body = up.send("GET", "readyz")
        self.assertEqual((status, body["error"]["code"], body["error"]["message"]), (503, "gpu_agent_gone", gone))
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        self.assertEqual(up.get("v1/status")["devices"]["agent_reason"], gone)
        self.assertIn(gone, up.client("top", "--once")[1])
        self.assertEqual(up.gpu(0)["managed_reason"], "the GPU agent ended (signal 9)")
        wait_until(lambda: up.gpu(0)["scheduling"] == "cordoned", "cordoned")
        wait_until(lambda: up.gpu(0)["managed"] and up.gpu(0)["scheduling"] == "open", "managed again")
        self.assertEqual((up.gpu(1)["scheduling"], up.gpu(1)["scheduling_reason"]), ("cordoned", "a fan is loud"))
        self.assertEqual(up.send("GET", "readyz")[0], 200)
        self.assertEqual(len(up.lines("gpu_agent")), 3, "each time that it is back")
        self.assertEqual(len(killed), 3)
        [hands] = children_of(up.process.pid)
        self.assertNotIn(hands, killed)
        self.assertNotEqual(process_status(hands)["CapEff"], "0" * 16)
        standby = children_of(hands)
        self.assertEqual(len(standby), 1, "the next one")
        up.end(signal.SIGKILL)
        for pid in (hands, *standby):
            wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists() or process_status(pid)["State"].startswith("Z"),
                       f"the end of {pid}")

    def test_orders_are_carried_out_by_hands_that_were_started_again(self):
        scenario = self.write_scenario(SCENARIO.replace("    slo:", "    start_seconds: 0\n    slo:"))
        up = self.managing("--scenario", scenario, "--load", "simulated", "--speed", 10)
        wait_until(lambda: "serving" in [state for *_, state in up.slices()], "a slice")
        self.kill_hands(up)
        wait_until(lambda: "ended (signal 9)" in up.stderr(), "gone")
        wait_until(lambda: up.gpu(0)["managed"] and up.gpu(0)["scheduling"] == "open", "managed again")
        self.assertEqual(up.send("POST", "v1/gpus/gpu-0/drain", {"reason": "a test"})[0], 200)
        wait_until(lambda: up.slices() == [], "what the first hands made is destroyed by the next")
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
        status, body = up.send("GET", "readyz")
        self.assertEqual(status, 503)
        self.assertIn("the GPU agent (berth hands) is gone", body["error"]["message"])
        self.assertIn("another process must start it again", body["error"]["message"])
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        self.assertTrue(up.gpu(0)["managed_reason"].startswith(f"{self.socket}: no GPU agent there: Connection refused")
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
