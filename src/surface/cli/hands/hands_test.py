#!/usr/bin/env python3
"""`berth hands` as a process, on simulated GPUs: what it changes and for which client, and its state after a kill."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "src/gpu/nvml_sim_program"))
from simulated import DEADLINE_SECONDS, LIBRARY, PROFILE_1G, Case, require_program, runs_for_others  # noqa: E402

BERTH = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
NOBODY = 65534
TWO_GPUS = "fleet: [{gpu: A100-80GB, mig: true}, {gpu: H100-80GB-SXM5, mig: false}]\n"


class Client:
    """The other side of the protocol, by hand."""

    def __init__(self, connection):
        self.connection = connection
        connection.settimeout(DEADLINE_SECONDS)

    def send(self, **packet):
        self.connection.send(json.dumps(packet).encode())

    def hear(self):
        """The next packet; nothing if the connection was closed."""
        try:
            packet = self.connection.recv(1 << 16)
        except ConnectionResetError:
            packet = self.connection.recv(1 << 16)
        return json.loads(packet) if packet else None

    def greet(self, world="w"):
        self.send(verb="hello", version=2, world=world, pid=os.getpid())
        return self.hear()

    def order(self, uuid, change="create", intent=1, start=6, was_tried=False):
        self.send(verb="order", intent=intent, change=change, uuid=uuid, profile_id=PROFILE_1G, start=start, length=1,
                  was_tried=was_tried)

    def close(self):
        self.connection.close()


def connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return Client(connection)


def as_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


class Hands(Case):
    def setUp(self):
        super().setUp()
        self.machine = self.state(TWO_GPUS)
        self.managed, self.other = [device["uuid"] for device in self.show(self.machine)["devices"]]
        self.environment.update(BERTH_NVML_SIM_STATE=str(self.machine), BERTH_GPU_LOCKS=str(self.folder / "locks"))
        self.socket = self.folder / "hands.socket"

    def config(self, text=None):
        path = self.folder / "berth.yaml"
        path.write_text(text or f"manage: [{{uuid: {self.managed}}}]\n")
        return path

    def start(self, *words, socket_path=None, config=None, **options):
        """Starts it and waits until it is ready."""
        path = socket_path or self.socket
        process = subprocess.Popen([BERTH, "hands", "--socket", path, "--config", config or self.config(), "--nvml",
                                    LIBRARY, *words], env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), f"ready {path}\n")
        return process

    def end(self, process):
        process.kill()
        process.communicate()

    def client(self, path=None):
        client = connect(path or self.socket)
        self.addCleanup(client.close)
        return client

    def run_hands(self, *words, **options):
        """Waits for its end, which must come at once."""
        run = subprocess.run([BERTH, "hands", *words], env=self.environment, capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS, **options)
        return run.returncode, run.stderr

    def calls(self):
        return [device["changing_calls"] for device in self.show(self.machine)["devices"]]

    def instances(self, gpu=0):
        return [(instance["profile"], instance["start"], len(instance["compute_instances"]))
                for instance in self.show(self.machine)["devices"][gpu]["gpu_instances"]]

    def wait_for(self, holds):
        until = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    def slow(self, call, milliseconds):
        run = self.program("fault", "--state", self.machine, "--gpu", 0, "--call", call, "--ms", milliseconds)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_creates_and_destroys(self):
        process = self.start()
        client = self.client()
        self.assertEqual(client.greet(), {"verb": "hello", "version": 2, "pid": process.pid,
                                          "gpus": [{"uuid": self.managed, "mig_mode": False}], "separate_users": True})
        client.order(self.managed)
        end = client.hear()
        self.assertEqual((end["verb"], end["intent"], end["outcome"], end["message"]), ("end", 1, "done", ""))
        [instance] = self.show(self.machine)["devices"][0]["gpu_instances"]
        [part] = instance["compute_instances"]
        self.assertEqual((instance["profile"], instance["start"], part["uuid"], instance["memory_mib"]),
                         ("1g.10gb", 6, end["mig_uuid"], end["memory_mib"]))
        self.assertEqual([each["start"] for each in end["reading"]["instances"]], [6])
        self.assertEqual(self.calls(), [2, 0])
        client.order(self.managed, "destroy", intent=2)
        self.assertEqual(client.hear()["outcome"], "done")
        self.assertEqual((self.instances(), self.calls()), ([], [4, 0]))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(DEADLINE_SECONDS), 0)
        self.assertFalse(self.socket.exists())

    def test_changes_only_what_its_configuration_names(self):
        self.start()
        client = self.client()
        client.greet()
        for intent, change in enumerate(("create", "destroy", "mig_mode_on")):
            client.order(self.other, change, intent)
            end = client.hear()
            self.assertEqual((end["outcome"], end["message"]),
                             ("refused", f'"{self.other}" is not in manage: of the GPU agent'))
        client.order(self.managed, "mig_mode_on", 4)
        end = client.hear()
        self.assertEqual((end["outcome"], end["message"]),
                         ("refused", "mig_mode: true is not in manage: of the GPU agent for this GPU"))
        self.assertEqual(self.calls(), [0, 0])

    def test_turns_mig_on_where_that_is_allowed(self):
        self.start(config=self.config(f"manage: [{{uuid: {self.other}, mig_mode: true}}]"))
        client = self.client()
        client.greet()
        client.order(self.other, "mig_mode_on")
        self.assertEqual(client.hear()["outcome"], "done")
        self.assertTrue(self.show(self.machine)["devices"][1]["mig"]["current"])
        self.assertEqual(self.calls(), [0, 1])

    def test_an_instance_in_use_names_its_holder(self):
        self.start()
        client = self.client()
        client.greet()
        client.order(self.managed)
        uuid = client.hear()["mig_uuid"]
        run = self.program("process", "add", "--state", self.machine, "--uuid", uuid, "--pid", os.getpid(),
                           "--memory-mib", 10)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        client.order(self.managed, "destroy", intent=2)
        end = client.hear()
        self.assertEqual((end["outcome"], [holder["pid"] for holder in end["holders"]]), ("busy", [os.getpid()]))
        self.assertEqual(self.instances(), [("1g.10gb", 6, 1)])

    def test_garbage_ends_the_connection_and_changes_nothing(self):
        self.start()
        for packet in (b"garbage", b"{}", b'{"verb":"order"}', b"\xff" * 100, b" " * (1 << 17)):
            for is_greeted in (False, True):
                client = self.client()
                if is_greeted:
                    client.greet()
                client.connection.send(packet)
                self.assertIsNone(client.hear(), (packet, is_greeted))
                client.close()
        client = self.client()
        self.assertEqual(client.greet()["verb"], "hello")
        self.assertEqual(self.calls(), [0, 0])

    def test_the_second_client_is_told_the_first(self):
        self.start()
        first = self.client()
        first.greet()
        second = self.client()
        self.assertEqual(second.hear(), {"verb": "refusal", "message": f"process {os.getpid()} is connected, and one at a "
                                                                       "time may be"})
        self.assertIsNone(second.hear())
        first.close()
        self.assertEqual(self.client().greet()["verb"], "hello")

    def test_killed_in_a_creation_new_hands_finish_it(self):
        self.slow("nvmlGpuInstanceCreateComputeInstance", 600_000)
        process = self.start()
        client = self.client()
        client.greet()
        client.order(self.managed)
        self.wait_for(lambda: self.instances() == [("1g.10gb", 6, 0)])
        process.kill()
        process.wait()
        self.assertIsNone(client.hear())
        self.assertEqual(self.instances(), [("1g.10gb", 6, 0)])
        run = self.program("fault", "--state", self.machine, "--gpu", 0, "--clear")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

        self.start()  # at the same path: the dead socket is replaced, and no lock is left
        client = self.client()
        client.greet()
        client.order(self.managed, intent=2)
        self.assertEqual(client.hear()["outcome"], "refused")  # what it has not tried is not its own
        client.order(self.managed, intent=3, was_tried=True)
        self.assertEqual(client.hear()["outcome"], "done")
        self.assertEqual(self.instances(), [("1g.10gb", 6, 1)])

    def test_a_client_that_goes_leaves_its_order_to_be_finished(self):
        self.slow("nvmlGpuInstanceCreateComputeInstance", 500)
        self.start()
        client = self.client()
        client.greet()
        client.order(self.managed)
        client.order(self.managed, intent=2, start=5)
        self.wait_for(lambda: self.instances() == [("1g.10gb", 6, 0)])
        client.close()
        client = self.client()
        client.greet()
        end = client.hear()
        self.assertEqual((end["intent"], end["outcome"], end["is_kept"]), (1, "done", True))
        self.assertEqual(self.instances(), [("1g.10gb", 6, 1)])  # and the other one never began

    def test_one_process_changes_a_gpu_at_a_time(self):
        first_process = self.start()
        self.start(socket_path=self.folder / "second")
        first, second = self.client(), self.client(self.folder / "second")
        for client in (first, second):
            client.greet()
        first.order(self.managed)
        self.assertEqual(first.hear()["outcome"], "done")
        calls = self.calls()
        second.order(self.managed, start=5)
        end = second.hear()
        self.assertEqual((end["outcome"], end["message"], end["holders"]),
                         ("busy", f"another berth process (pid {first_process.pid}) owns it",
                          [{"pid": first_process.pid, "name": "berth"}]))
        self.assertEqual(self.calls(), calls)
        first.close()
        self.wait_for(lambda: self.try_again(second))

    def try_again(self, client):
        client.order(self.managed, start=5)
        return client.hear()["outcome"] == "done"

    def test_started_with_a_descriptor_it_ends_with_its_client(self):
        self.slow("nvmlGpuInstanceCreateComputeInstance", 500)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = self.config(f"manage: [{{uuid: GPU-gone}}, {{uuid: {self.managed}}}]")
        with theirs:
            process = subprocess.Popen([BERTH, "hands", "--fd", str(theirs.fileno()), "--config", config, "--nvml",
                                        LIBRARY], env=self.environment, pass_fds=[theirs.fileno()],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        client = Client(ours)
        self.assertEqual([gpu["uuid"] for gpu in client.greet()["gpus"]], [self.managed])
        client.order(self.managed)
        self.wait_for(lambda: self.instances() == [("1g.10gb", 6, 0)])
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        process.stderr.close()  # nobody reads what it says any more
        client.close()
        self.assertEqual(process.wait(DEADLINE_SECONDS), 0)
        self.assertEqual(self.instances(), [("1g.10gb", 6, 1)])
        process.stderr = None

    def test_only_root_and_the_owner_of_the_socket_connect(self):
        self.folder.chmod(0o755)
        if not runs_for_others("ls", self.folder):
            self.skipTest(f"another user cannot reach {self.folder}")
        self.start("--owner", str(NOBODY))
        self.assertEqual(self.socket.stat().st_uid, NOBODY)
        self.assertEqual(self.greet_as_nobody(), "welcome")
        os.chown(self.socket, 1234, -1)
        self.assertEqual(self.greet_as_nobody(), "PermissionError")
        self.socket.chmod(0o666)  # as if the mode alone were to protect it
        self.assertIn(self.greet_as_nobody(), ("closed", "BrokenPipeError", "ConnectionResetError"))
        self.assertEqual(self.client().greet()["verb"], "hello")

    def greet_as_nobody(self):
        """The outcome for a client of another user: welcome, closed, or an error's name."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                as_nobody()
                client = connect(self.socket)
                with client.connection:
                    outcome = "welcome" if client.greet() else "closed"
            except OSError as error:
                outcome = type(error).__name__
            os.write(writing, outcome.encode())
            os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as pipe:
            return pipe.read()

    def test_a_lost_gpu_keeps_no_other_from_being_changed(self):
        config = self.config(f"manage: [{{uuid: {self.managed}}}, {{uuid: {self.other}}}]\n")
        self.program("fault", "--state", self.machine, "--gpu", 0, "--lost")
        self.start(config=config)
        client = self.client()
        self.assertEqual([gpu["uuid"] for gpu in client.greet()["gpus"]], [self.managed, self.other])
        client.order(self.managed)
        self.assertEqual(client.hear()["outcome"], "failed")
        self.program("reset", "--state", self.machine, "--gpu", 0)
        client.order(self.managed, intent=2)
        self.assertEqual(client.hear()["outcome"], "done")

    def test_without_privilege_it_says_so(self):
        self.folder.chmod(0o777)
        if not runs_for_others(BERTH, "--version"):
            self.skipTest(f"another user cannot run {BERTH}")
        status, message = self.run_hands("--socket", self.socket, "--config", self.config(), "--nvml", LIBRARY,
                                         preexec_fn=as_nobody)
        self.assertEqual((status, message), (4, "berth hands: wanted root or CAP_SYS_ADMIN, without which no GPU can be "
                                                f"changed, found user {NOBODY}\n"))
        self.assertFalse(self.socket.exists())

    def test_bad_input(self):
        absent = "GPU-00000000-0000-0000-0000-000000000000"
        config = self.folder / "berth.yaml"
        cases = [
            (f"manage: [{{uuid: {self.managed}}}, {{uuid: {absent}}}]", [], 2,
             f"{config}:1:{len(self.managed) + 27}: manage[1].uuid: wanted a GPU of this machine ({self.managed}, {self.other}), found \"{absent}\""),
            ("speed: 1", [], 2, f"{config}: manage: wanted at least one GPU that may be changed, found none"),
            ("manage: [{id: 1}]", [], 2, f"{config}:1:11: manage[0]: unknown key \"id\" (known: uuid, mig_mode)"),
            (None, ["--nvml", "/no/such.so"], 1, "wanted NVIDIA's management library, found none: /no/such.so: cannot open "
                                                 "shared object file: No such file or directory"),
            (None, ["--socket", self.folder / "none" / "s"], 2,
             f"{self.folder}/none/s: no socket can be made there: No such file or directory"),
            (None, ["--socket", config], 2, f"{config}: wanted a place for a socket, found another file"),
        ]
        for text, words, status, message in cases:
            self.config(text)
            options = {"--socket": self.socket, "--nvml": LIBRARY, **dict(zip(words[::2], words[1::2]))}
            typed = [word for option in options.items() for word in option]
            self.assertEqual(self.run_hands("--config", config, *typed), (status, f"berth hands: {message}\n"))
        self.assertEqual(self.run_hands("--config", config), (2, "berth: --socket: wanted a path, found none\n"))
        self.assertEqual(self.run_hands("--socket", self.socket, "--config", config, "--owner", "no such user"),
                         (2, "berth: --owner: wanted a user of this machine, or its number, found \"no such user\"\n"))
        process = self.start()
        self.assertEqual(self.run_hands("--socket", self.socket, "--config", self.config(), "--nvml", LIBRARY),
                         (1, f"berth hands: {self.socket}: process {process.pid} listens there\n"))
        self.assertEqual(self.client().greet()["verb"], "hello")
        self.assertEqual(self.calls(), [0, 0])


if __name__ == "__main__":
    require_program()
    if os.geteuid() != 0:
        print("skipped: not root, and nobody else may change GPUs")
        sys.exit(77)
    unittest.main()
