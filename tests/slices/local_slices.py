"""What tests of programs on slices share: a simulated machine with an agent that runs `berth serve` on its slices, `berth up`,
`berth gateway`, and clients that ask through it. scripts/run slices uses it, too."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(ROOT / "tests/up"), str(ROOT / "tests/serving")]
import onnx_bytes  # noqa: E402: found by the line above
from local_up import LIBRARY, PROGRAM, Machine, Up, wait_until  # noqa: E402, F401

TARGET_MS = 500
PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,1,1,20,50
m,A100-80GB,1g.10gb,4,1,40,100
m,A100-80GB,3g.40gb,1,1,50,20
m,A100-80GB,3g.40gb,8,1,200,40
"""


def scenario_text(services, gpus=2):
    """`services`: name -> keys beside the usual ones, as lines of YAML."""
    text = f"berth: 1\nfleet: [{{gpu: A100-80GB, count: {gpus}}}]\nwindow_seconds: 60\nservices:\n"
    for name, more in services.items():
        text += (f"  - name: {name}\n    tenant: shop\n    profile: {{format: csv, path: profile.csv, model: m}}\n"
                 f"    slo: {{latency_ms: {TARGET_MS}}}\n    answer_seconds: 30\n    start_seconds: 1\n"
                 f"    expects: {{requests_per_second: 15}}\n"
                 f"    arrivals: {{format: poisson, requests_per_second: 15, seconds: 600, repeat: true}}\n"
                 f"    run: {{serve: {{repository: demo, model: {name}}}}}\n")
        text += "".join(f"    {line}\n" for line in more)
    return text


class Ended(AssertionError):
    """A process ended before it was ready."""


class Slices:
    """All processes of one simulated machine, in a folder. `end` ends them. The model of a service multiplies by 2, or by
    its number in `factors`. `profile` and `scenario`: other texts than PROFILE and scenario_text."""

    def __init__(self, folder, services, gpus=2, listen="127.0.0.1:0", gateway="127.0.0.1:0", profile=PROFILE, scenario=None,
                 factors=None):
        self.folder, self.services = Path(folder), services
        self.data = self.folder / "data"
        self.gateway_listen, self.listen = gateway, listen
        self.machine = Machine(self.folder, f"[{{gpu: A100-80GB, count: {gpus}, mig: true}}]",
                               "{create_gpu_instance: 100, create_compute_instance: 20, destroy_compute_instance: 20, "
                               "destroy_gpu_instance: 100}")
        for name in services:
            version = self.folder / "models" / name / "1"
            version.mkdir(parents=True)
            model = onnx_bytes.times(4, factors[name]) if factors else onnx_bytes.twice(4)
            (version / "model.onnx").write_bytes(model)
        (self.folder / "profile.csv").write_text(profile)
        (self.folder / "scenario.yaml").write_text(scenario or scenario_text(services, gpus))
        (self.folder / "devices").mkdir()
        lines = "".join(f"  - {{uuid: {uuid}}}\n" for uuid in self.machine.uuids())
        engine = os.environ.get("BERTH_ONNXRUNTIME")
        more = f", engine: {engine}" if engine else ""
        (self.folder / "berth.yaml").write_text(
            f"manage:\n{lines}repositories:\n  demo: {{path: {self.folder}/models, tenants: [shop]{more}}}\n"
            f"separate_users: false\nprograms_state: {self.folder}/hands\nsimulated_devices: {self.folder}/devices\n")
        self.socket = self.folder / "hands.socket"
        self.hands = self.up = self.gateway = None

    def start_hands(self):
        with (self.folder / "hands.stderr").open("a") as errors:
            self.hands = subprocess.Popen(
                [PROGRAM, "hands", "--socket", self.socket, "--config", self.folder / "berth.yaml", "--nvml", LIBRARY],
                stdout=subprocess.PIPE, stderr=errors, text=True, env=self.machine.environment())
        self.ready_line(self.hands, "hands")

    def start_up(self, *words):
        self.up = Up(self.data, ["--world", "local", "--nvml", LIBRARY, "--hands", self.socket, "--manage-gpus", "--load",
                                 "measured", "--config", self.folder / "berth.yaml", "--scenario",
                                 self.folder / "scenario.yaml", *words], self.machine.environment(), listen=self.listen)
        self.up.ready()
        return self.up

    def start_gateway(self):
        with (self.folder / "gateway.stderr").open("a") as errors:
            self.gateway = subprocess.Popen(
                [PROGRAM, "gateway", "--listen", self.gateway_listen, "--up", self.up.url.rstrip("/"), "--key-file",
                 self.data / "gateway.key", "--state", self.folder / "gateway"], stdout=subprocess.PIPE, stderr=errors,
                text=True)
        self.address = self.ready_line(self.gateway, "gateway").split("//")[1].split("/")[0].split()[0]

    def start(self, *words):
        self.start_hands()
        self.start_up(*words)
        self.start_gateway()
        return self

    def restart_hands(self):
        self.hands.kill()
        self.hands.wait()
        self.hands.stdout.close()
        self.start_hands()

    def restart_gateway(self):
        """Where it listened before."""
        self.gateway.kill()
        self.gateway.wait()
        self.gateway.stdout.close()
        self.gateway_listen = self.address
        self.start_gateway()

    def restart_up(self):
        """Where it listened before: the gateway knows no other address."""
        self.up.end(signal.SIGKILL)
        self.up = Up(self.data, ["--world", "local", "--nvml", LIBRARY, "--hands", self.socket, "--manage-gpus", "--load",
                                 "measured", "--config", self.folder / "berth.yaml"], self.machine.environment(),
                     listen=self.up.url.split("//")[1].strip("/"))
        self.up.ready()

    def ready_line(self, process, name):
        line = process.stdout.readline()
        if not line.startswith("ready "):
            raise Ended(f"{name} ended with status {process.wait()}: {(self.folder / (name + '.stderr')).read_text()}")
        return line[len("ready "):].strip()

    def service(self, name):
        return self.up.get(f"v1/tenants/shop/services/{name}")["status"]

    def serving(self, name):
        """Its endpoints that take requests."""
        return [each for each in self.service(name)["endpoints"] if not each["leaving"]]

    def wait_for(self, name, count=1):
        wait_until(lambda: len(self.serving(name)) >= count, f"{count} replicas of {name}: {self.service(name)}")

    def infer(self, name, value=1.0, timeout=40):
        """Status and body."""
        host, port = self.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [value] * 4}]})
        try:
            connection.request("POST", f"/shop/{name}/v2/models/{name}/infer", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def end(self):
        if self.gateway is not None:
            self.end_process(self.gateway)
        if self.up is not None:
            self.end_programs()
            self.up.end(signal.SIGTERM)
        if self.hands is not None:
            self.end_process(self.hands)
        self.kill_rest()

    def end_programs(self):
        """Programs outlive berth up: it stops them when their services are gone."""
        try:
            for name in self.services:
                self.up.send("DELETE", f"v1/tenants/shop/services/{name}")
            wait_until(lambda: not [pid for pid in self.pids() if alive(pid)], "the programs stopped")
        except (AssertionError, OSError):
            pass

    def kill_rest(self):
        """Whatever names the folder of this machine: programs outlive the agent, too."""
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and str(self.folder).encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass  # it has just ended

    def pids(self):
        """Of the programs on the slices, as the simulated machine lists them."""
        found = []
        for device in self.machine.show():
            for instance in device["gpu_instances"]:
                for compute in instance["compute_instances"]:
                    found += [process["pid"] for process in compute["processes"]]
        return found

    @staticmethod
    def end_process(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Client(threading.Thread):
    """Asks a service again and again, `per_second` times per second, and never repeats a request."""

    def __init__(self, slices, name, per_second):
        super().__init__(daemon=True)
        self.slices, self.name_of_service, self.per_second = slices, name, per_second
        self.answered, self.failures = 0, []
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.workers = []

    def ask(self, value):
        try:
            status, body = self.slices.infer(self.name_of_service, value)
            is_right = status == 200 and body["outputs"][0]["data"] == [2 * value] * 4
            failure = None if is_right else f"{status} {body}"
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            failure = repr(error)
        with self.lock:
            if failure:
                self.failures.append(failure)
            else:
                self.answered += 1

    def run(self):
        number = 0
        while not self.is_over.is_set():
            number += 1
            worker = threading.Thread(target=self.ask, args=(float(number % 1000),), daemon=True)
            worker.start()
            self.workers = [each for each in self.workers if each.is_alive()] + [worker]
            self.is_over.wait(1 / self.per_second)

    def end(self):
        """Waits for all answers."""
        self.is_over.set()
        self.join()
        for worker in self.workers:
            worker.join(60)
        return self.answered, self.failures


def has_gateway():
    run = subprocess.run([PROGRAM, "gateway", "--help"], capture_output=True, check=False)
    return run.returncode == 0


def wait_a_moment(seconds):
    time.sleep(seconds)
