#!/usr/bin/env python3
"""`berth up` on a disk that is full, and blobs, as a client sees them. The disk is a small file system in memory; where
none may be mounted, its test is skipped."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60
DISK_MIB = 32
SERVICES = 12

PROFILE = {"format": "csv", "model": "m", "rows": [
    {"model": "m", "gpu": "A100-80GB", "profile": "1g.10gb", "batch": 4, "processes": 1, "requests_per_second": 100,
     "latency_ms": 30}]}
SPEC = {"profile": PROFILE, "slo": {"latency_ms": 100}}


class Server:
    """A `berth up` on a folder."""

    def __init__(self, state):
        self.state = state
        self.process = subprocess.Popen([PROGRAM, "up", "--data", state, "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        words = self.process.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise RuntimeError("it did not become ready")
        self.url = words[1].rstrip("/")
        self.key = (state / "admin.key").read_text().strip()

    def send(self, method, path, body=None):
        """Status and body: JSON where it is that."""
        headers = {"Authorization": "Bearer " + self.key}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                status, text, kind = reply.status, reply.read(), reply.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            status, text, kind = error.code, error.read(), error.headers["Content-Type"]
        return status, json.loads(text) if text and kind == "application/json" else text

    def end(self, number):
        """Its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        return status


def wait_for(condition):
    """Until it holds."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


@contextlib.contextmanager
def small_disk():
    """A folder on a file system of its own; none if that may not be."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "berth-test", folder]
        try:
            is_mounted = subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode == 0
        except OSError:
            is_mounted = False
        try:
            yield Path(folder) if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", folder], check=True)


def fill(path):
    """Takes all that is left."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 10):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


def scheduling_of(answer):
    """Of each GPU of a list."""
    return [(item["metadata"]["name"], item["status"]["scheduling"]) for item in answer[1]["items"]]


class FullDisk(unittest.TestCase):
    def test_what_takes_load_is_still_taken(self):
        with small_disk() as disk:
            if disk is None:
                self.skipTest("no file system may be mounted here")
            server = Server(disk / "state")
            try:
                self.fill_and_order(disk, server)
                services = server.send("GET", "/v1/services")
                gpus = server.send("GET", "/v1/gpus")
                server.end(signal.SIGKILL)
                server = Server(disk / "state")
                self.check_after_the_kill(disk, server, services, gpus)
            finally:
                if server.process.returncode is None:
                    server.end(signal.SIGKILL)

    def fill_and_order(self, disk, server):
        """Fills the disk, and gives each kind of order."""
        self.assertEqual(server.send("PUT", "/v1/tenants/t", {})[0], 201)
        for index in range(SERVICES):
            self.assertEqual(server.send("PUT", f"/v1/tenants/t/services/s{index}", {"spec": SPEC})[0], 201)
        self.assertGreaterEqual((disk / "state/reserve").stat().st_size, DISK_MIB * (1 << 20) // 8 - 4096)
        fill(disk / "filler")
        wait_for(lambda: server.send("GET", "/v1/status")[1]["read_only"])
        self.assertEqual(server.send("PUT", "/v1/tenants/u", {})[0], 503)
        for index in range(1, SERVICES):
            self.assertEqual(server.send("DELETE", f"/v1/tenants/t/services/s{index}")[0], 200)
        self.assertEqual(server.send("PUT", "/v1/planning", {"paused": True, "reason": "full"})[0], 200)
        self.assertEqual(server.send("POST", "/v1/gpus/gpu-0/cordon", {"reason": "full"})[0], 200)
        self.assertEqual(server.send("POST", "/v1/gpus/gpu-1/drain", {"reason": "full"})[0], 200)
        for method, path, body in (("PUT", "/v1/tenants/u", {}), ("PUT", "/v1/planning", {"paused": False}),
                                   ("POST", "/v1/gpus/gpu-0/uncordon", {})):
            status, answer = server.send(method, path, body)
            self.assertEqual((status, answer["error"]["code"]), (503, "read_only"), path)
        self.assertFalse((disk / "state/reserve").exists())

    def check_after_the_kill(self, disk, server, services, gpus):
        """What was answered is true; what could not be done before can be once there is space."""
        found = server.send("GET", "/v1/services")
        self.assertEqual([item["metadata"] for item in found[1]["items"]],
                         [item["metadata"] for item in services[1]["items"]])
        self.assertEqual(scheduling_of(server.send("GET", "/v1/gpus")), scheduling_of(gpus))
        self.assertTrue(server.send("GET", "/v1/planning")[1]["paused"])
        self.assertEqual(server.send("PUT", "/v1/tenants/u", {})[0], 503)
        self.assertEqual(server.send("DELETE", "/v1/tenants/t/services/s0")[0], 200)
        (disk / "filler").unlink()
        wait_for(lambda: server.send("GET", "/v1/status")[1]["read_only"] is None)
        self.assertEqual(server.send("PUT", "/v1/tenants/u", {})[0], 201)
        self.assertTrue((disk / "state/reserve").exists())
        now = server.send("GET", "/v1/status")[1]["time"]
        wait_for(lambda: server.send("GET", f"/v1/series?step=1&from={now}")[1]["items"])  # series go on, too
        self.assertLess((disk / "state/series.db").stat().st_size, DISK_MIB * (1 << 20) // 8 + 1)
        self.assertEqual(server.end(signal.SIGTERM), 0)
        verified = subprocess.run([PROGRAM, "journal", "verify", disk / "state"], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(verified.returncode, 0, verified.stderr)


class Blobs(unittest.TestCase):
    def test_a_service_refers_to_a_blob_across_a_kill(self):
        table = b"second,requests\n" + b"".join(b"%d,%d\n" % (second, second % 7) for second in range(300_000))
        name = hashlib.sha256(table).hexdigest()
        with tempfile.TemporaryDirectory() as folder:
            server = Server(Path(folder) / "state")
            try:
                self.assertEqual(server.send("HEAD", f"/v1/blobs/{name}")[0], 404)
                self.assertEqual(server.send("PUT", f"/v1/blobs/{name}", table)[0], 201)
                server.end(signal.SIGKILL)
                server = Server(Path(folder) / "state")
                self.assertEqual(server.send("HEAD", f"/v1/blobs/{name}")[0], 200)
                self.assertTrue(server.send("GET", f"/v1/blobs/{name}") == (200, table))
                self.assertEqual(server.send("PUT", "/v1/tenants/t", {})[0], 201)
                arrivals = {"format": "csv", "rows": {"blob": name}}
                status, created = server.send("PUT", "/v1/tenants/t/services/s", {"spec": {**SPEC, "arrivals": arrivals}})
                self.assertEqual(status, 201, created)
                server.end(signal.SIGKILL)
                server = Server(Path(folder) / "state")
                found = server.send("GET", "/v1/tenants/t/services/s")[1]
                self.assertEqual((found["spec"], found["metadata"]), (created["spec"], created["metadata"]))
                self.assertEqual(found["spec"]["arrivals"]["rows"], {"blob": name})
                self.assertEqual(server.end(signal.SIGTERM), 0)
            finally:
                if server.process.returncode is None:
                    server.end(signal.SIGKILL)

    def test_apply_puts_long_rows_into_a_blob(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "requests.csv").write_text(
                "second,requests\n" + "".join(f"{second},{second % 7 + 1}\n" for second in range(100_000)))
            (path / "service.yaml").write_text(
                "apiVersion: berth.dev/v1alpha1\nkind: Tenant\nmetadata: {name: t}\n---\n"
                "apiVersion: berth.dev/v1alpha1\nkind: GpuService\nmetadata: {name: s, namespace: t}\n"
                f"spec: {{slo: {{latency_ms: 100}}, profile: {json.dumps(PROFILE)},\n"
                "       arrivals: {format: csv, path: requests.csv}}\n")
            server = Server(path / "state")
            try:
                for outcome in ("created", "unchanged"):
                    applied = subprocess.run([PROGRAM, "apply", "-f", path / "service.yaml", "--data", path / "state"],
                                             capture_output=True, text=True, check=False)
                    self.assertEqual(applied.stdout, f"tenant/t {outcome}\nservice/t/s {outcome}\n", applied.stderr)
                rows = server.send("GET", "/v1/tenants/t/services/s")[1]["spec"]["arrivals"]["rows"]
                status, stored = server.send("GET", f"/v1/blobs/{rows['blob']}")
                self.assertEqual(status, 200)
                self.assertTrue(stored == (path / "requests.csv").read_bytes())  # no difference of so much is shown
            finally:
                server.end(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
