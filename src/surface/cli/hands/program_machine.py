"""What the tests of programs on slices share: a simulated machine, `berth hands` with templates, a client by hand."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "src/gpu/nvml_sim_program"))
from simulated import DEADLINE_SECONDS, LIBRARY, Case, Nvml, require_program  # noqa: E402,F401

BERTH = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable

# A program that is ready once it listens; its folder gets a file `environment`.
SERVER = r"""
import http.server, json, os, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *words):
        pass
print("environment " + json.dumps(dict(os.environ)), flush=True)
print("words " + json.dumps(sys.argv), flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def status_of(pid):
    """The lines of /proc/PID/status; empty: there is no such process, or it is a zombie."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return {} if lines["State"].startswith("Z") else lines


def runs(pid):
    return bool(status_of(pid))


def children_of(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class ProgramCase(Case):
    """Hands with templates; the configuration is text of YAML without `manage`."""

    separate_users = False

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o711)
        self.machine = self.state("fleet: [{gpu: A100-80GB, mig: true}, {gpu: T4}]\n")
        self.managed, self.whole = [device["uuid"] for device in self.show(self.machine)["devices"]]
        self.environment.update(BERTH_NVML_SIM_STATE=str(self.machine), BERTH_GPU_LOCKS=str(self.folder / "locks"))
        self.socket = self.folder / "hands.socket"
        self.programs = self.folder / "programs"
        self.devices = self.folder / "devices"
        self.devices.mkdir()
        self.started = []
        self.addCleanup(self.end_all)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!{PYTHON}\n{text}")
        path.chmod(0o755)
        return path

    def rules(self, text, **more):
        lines = [f"manage: [{{uuid: {self.managed}}}, {{uuid: {self.whole}}}]", f"programs_state: {self.programs}", f"simulated_devices: {self.devices}",
                 "uids: 600000-600003" if self.separate_users else "separate_users: false", text]
        path = self.folder / "hands.yaml"
        path.write_text("\n".join(lines) + "\n")
        path.chmod(0o644)
        return path

    def server_rules(self, **limits):
        more = "".join(f", {key}: {value}" for key, value in limits.items())
        return self.rules(f"templates: {{web: {{command: [{self.script('server', SERVER)}, '{{port}}', 'a {{word}}'], "
                          f"parameters: {{word: '[a-z]{{1,8}}'}}, ready: /, tenants: [vision, sound]{more}}}}}")

    def start_hands(self, config):
        process = subprocess.Popen([BERTH, "hands", "--socket", self.socket, "--config", config, "--nvml", LIBRARY],
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        line = process.stdout.readline()
        if line != f"ready {self.socket}\n":
            process.kill()
            self.fail(f"{line}{process.stderr.read()}")
        return process

    def hands_end(self, config):
        """The status and message of hands that must not start."""
        run = subprocess.run([BERTH, "hands", "--socket", self.socket, "--config", config, "--nvml", LIBRARY],
                             env=self.environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
        return run.returncode, run.stderr

    def end_all(self):
        """Hands first, so that nothing starts again; then the keepers, which end their programs."""
        for process in self.started:
            process.kill()
            process.communicate()
        for run in self.programs.glob("programs/*/run"):
            keeper = json.loads(run.read_text())["keeper"]["pid"]
            if status_of(keeper).get("Name") == "berth-keeper":
                os.kill(keeper, 15)
                self.wait_for(lambda keeper=keeper: not runs(keeper), "the end of a keeper")

    def client(self):
        client = Client(self.socket, self.whole)
        self.addCleanup(client.close)
        return client

    def wait_for(self, holds, what, seconds=DEADLINE_SECONDS):
        until = time.monotonic() + seconds
        while True:
            value = holds()
            if value:
                return value
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.02)


class Client:
    """`berth up`, by hand."""

    def __init__(self, path, device):
        self.device = device
        self.others = []  # reports of other programs than the one that was waited for
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.settimeout(DEADLINE_SECONDS)
        self.connection.connect(str(path))
        self.send(verb="hello", version=2, world="w", pid=os.getpid())
        self.welcome = self.hear()

    def send(self, **packet):
        self.connection.send(json.dumps(packet).encode())

    def hear(self):
        packet = self.connection.recv(1 << 16)
        return json.loads(packet) if packet else None

    def close(self):
        self.connection.close()

    def start(self, template, slice_name="gpu-1-0", generation=1, tenant="vision", device=None, **parameters):
        self.send(verb="start", template=template, parameters=parameters, tenant=tenant, slice=slice_name,
                  generation=generation, device=device or self.device)

    def stop(self, slice_name="gpu-1-0", generation=1):
        self.send(verb="stop", slice=slice_name, generation=generation)

    def until(self, holds, slice_name="gpu-1-0"):
        """The next report of the program for which it holds."""
        for packet in [each for each in self.others if each["slice"] == slice_name]:
            self.others.remove(packet)
            if holds(packet):
                return packet
        while True:
            packet = self.hear()
            if packet is None:
                raise AssertionError("the GPU agent closed the connection")
            if packet["verb"] != "program":
                continue
            if packet["slice"] != slice_name:
                self.others.append(packet)
            elif holds(packet):
                return packet

    def until_phase(self, *phases, slice_name="gpu-1-0"):
        return self.until(lambda report: report["phase"] in phases, slice_name)

    def listed(self):
        """All programs, by slice."""
        self.send(verb="list")
        reports = {}
        while (packet := self.hear())["verb"] != "listed":
            if packet["verb"] == "program":
                reports[packet["slice"]] = packet
        return reports

    def log(self, slice_name="gpu-1-0", generation=1, bytes_max=60_000):
        self.send(verb="log", slice=slice_name, generation=generation, bytes_max=bytes_max)
        while (packet := self.hear())["verb"] != "log":
            pass
        return packet.get("text")
