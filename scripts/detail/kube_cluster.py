"""A real control plane for the bars of `berth operator`: a client with many connections, nodes, claims, pods, and a watch of pods."""
import concurrent.futures
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBE = pathlib.Path(os.environ.get("BERTH_KUBE") or pathlib.Path.home() / ".cache/berth/kube-1.37.0")
DRIVER = "gpu.nvidia.com"
GATE = {"name": "berth.dev/place"}
PROFILES = {"1g": ("1g.10gb", 19, 1, 14, range(7)), "1gm": ("1g.20gb", 15, 2, 14, (0, 2, 4, 6)),
            "2g": ("2g.20gb", 14, 2, 28, (0, 2, 4)), "3g": ("3g.40gb", 9, 4, 42, (0, 4)), "4g": ("4g.40gb", 5, 4, 56, (0,)),
            "7g": ("7g.80gb", 0, 8, 98, (0,))}
UNITS = {"1g": 1, "2g": 2, "3g": 3, "4g": 4, "7g": 7}  # compute slices
CONNECTIONS = 16


def is_built():
    return all((KUBE / name).exists() for name in ("etcd", "kube-apiserver", "kubectl", "kube-scheduler",
                                                   "kube-controller-manager"))


def selector(driver, profile):
    attributes = f"device.attributes['{driver}']"
    return f"device.driver == '{driver}' && {attributes}.type == 'mig' && {attributes}.profile == '{profile}'"


class Cluster:
    """Started on entry, stopped on exit."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="berth-kube-bench-")
        self.kubeconfig = f"{self.folder.name}/kubeconfig"
        self.local = threading.local()
        self.workers = concurrent.futures.ThreadPoolExecutor(CONNECTIONS)

    def __enter__(self):
        subprocess.run([ROOT / "scripts/kube", "up", "--dir", self.folder.name], check=True, stdout=subprocess.DEVNULL)
        server = json.loads(pathlib.Path(self.kubeconfig).read_text())["clusters"][0]["cluster"]
        self.host = server["server"].removeprefix("https://")
        self.tls = ssl.create_default_context(cafile=server["certificate-authority"])
        deadline = time.monotonic() + 60
        while self.ask("GET", "/api/v1/namespaces/default")[0] != 200 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.create("/api/v1/namespaces", {"metadata": {"name": "berth-system"}})
        for name, (profile, *_rest) in PROFILES.items():
            for driver, prefix in ((DRIVER, ""), ("other.example.com", "other-")):
                self.create("/apis/resource.k8s.io/v1/deviceclasses",
                            {"metadata": {"name": prefix + name},
                             "spec": {"selectors": [{"cel": {"expression": selector(driver, profile)}}]}})
        return self

    def __exit__(self, *_):
        self.workers.shutdown()
        subprocess.run([ROOT / "scripts/kube", "down", "--dir", self.folder.name], check=True)
        self.folder.cleanup()

    def kubectl(self, *arguments):
        subprocess.run([KUBE / "kubectl", "--kubeconfig", self.kubeconfig, *arguments], check=True, stdout=subprocess.DEVNULL)

    # ---- requests

    def connection(self):
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPSConnection(self.host, context=self.tls, timeout=60)
        return self.local.connection

    def ask(self, method, path, body=None, kind="application/json"):
        """(status, object); a broken connection is opened again once."""
        headers = {"Authorization": "Bearer admin-token", "Content-Type": kind}
        for attempt in (0, 1):
            try:
                connection = self.connection()
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text.startswith(b"{") else {}
            except (http.client.HTTPException, OSError):
                self.local.connection = None
                if attempt:
                    return 0, {}
        return 0, {}

    def create(self, path, thing):
        while True:
            status, answer = self.ask("POST", path, thing)
            if status == 429:
                time.sleep(0.05)
                continue
            if status not in (200, 201, 409):
                raise AssertionError(f"POST {path}: {status} {answer.get('message')}")
            return answer

    def all_at_once(self, function, items):
        list(self.workers.map(function, items))

    def items(self, path):
        found, token = [], ""
        while True:
            _status, page = self.ask("GET", f"{path}?limit=1000{'&continue=' + token if token else ''}")
            found += page.get("items", [])
            token = page.get("metadata", {}).get("continue", "")
            if not token:
                return found

    # ---- objects

    def add_node(self, name, gpus=2, driver=DRIVER):
        self.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        room = {"cpu": "64", "memory": "512Gi", "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.ask("PATCH", f"/api/v1/nodes/{name}/status",
                 {"status": {"capacity": room, "allocatable": room, "conditions": [ready]}}, "application/merge-patch+json")
        self.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, "application/merge-patch+json")
        counters = {"multiprocessors": {"value": "98"}} | {f"memory-slice-{i}": {"value": "1"} for i in range(8)}
        self.add_slice(name, driver, "counters",
                       {"sharedCounters": [{"name": f"gpu-{gpu}-counter-set", "counters": counters} for gpu in range(gpus)]})
        self.add_slice(name, driver, "devices", {"devices": [each for gpu in range(gpus) for each in self.devices(name, gpu)]})

    def add_slice(self, node, driver, part, content):
        self.create("/apis/resource.k8s.io/v1/resourceslices",
                    {"metadata": {"name": f"{node}-{part}"},
                     "spec": {"driver": driver, "nodeName": node,
                              "pool": {"name": node, "generation": 1, "resourceSliceCount": 2}, **content}})

    @staticmethod
    def devices(node, gpu):
        def device(name, attributes, start, length, multiprocessors):
            counters = {"multiprocessors": {"value": str(multiprocessors)}}
            counters |= {f"memory-slice-{i}": {"value": "1"} for i in range(start, start + length)}
            texts = attributes | {"productName": "NVIDIA A100-SXM4-80GB"}
            return {"name": name, "attributes": {key: {"string": value} for key, value in texts.items()},
                    "consumesCounters": [{"counterSet": f"gpu-{gpu}-counter-set", "counters": counters}]}
        uuid = f"GPU-{node}-{gpu}"
        found = [device(f"gpu-{gpu}", {"type": "gpu", "uuid": uuid}, 0, 8, 98)]
        for profile, number, length, multiprocessors, starts in PROFILES.values():
            for start in starts:
                name = f"gpu-{gpu}-mig-{profile.replace('.', '')}-{number}-{start}"
                found.append(device(name, {"type": "mig", "profile": profile, "parentUUID": uuid}, start, length, multiprocessors))
        return found

    def add_pod(self, name, profile, gated):
        """A pod and the claim of its name."""
        self.create("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
                    {"metadata": {"name": name},
                     "spec": {"devices": {"requests": [{"name": "slice", "exactly": {"deviceClassName": profile}}]}}})
        self.create("/api/v1/namespaces/default/pods", pod_of(name, gated))

    def allocate(self, name, profile, node, device):
        """A pod whose claim has a device from outside, as somebody else's."""
        claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
        request = {"name": "slice", "exactly": {"deviceClassName": profile}}
        self.create(claims, {"metadata": {"name": name, "finalizers": ["resource.kubernetes.io/delete-protection"]},
                             "spec": {"devices": {"requests": [request]}}})
        fields = {"key": "metadata.name", "operator": "In", "values": [node]}
        allocation = {"allocationTimestamp": "2026-01-01T00:00:00Z",
                      "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [fields]}]},
                      "devices": {"results": [{"request": "slice", "driver": DRIVER, "pool": node, "device": device}]}}
        status, answer = self.ask("PATCH", f"{claims}/{name}/status", {"status": {"allocation": allocation}},
                                  "application/merge-patch+json")
        if status != 200:
            raise AssertionError(f"{name}: {status} {answer.get('message')}")
        self.create("/api/v1/namespaces/default/pods", pod_of(name, False))

    def remove_pod(self, name):
        self.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}", {"gracePeriodSeconds": 0})
        self.ask("DELETE", f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{name}")

    def claim(self, name):
        return self.ask("GET", f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{name}")[1]

    def await_claim_gone(self, name, seconds=30):
        deadline = time.monotonic() + seconds
        path = f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{name}"
        while self.ask("GET", path)[0] != 404:
            if time.monotonic() > deadline:
                raise AssertionError(f"claim {name} stays")
            time.sleep(0.01)

    def remove_everything(self):
        names = [each["metadata"]["name"] for each in self.items("/api/v1/namespaces/default/pods")]
        self.all_at_once(self.remove_pod, names)
        path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
        self.all_at_once(lambda claim: self.ask("DELETE", f"{path}/{claim['metadata']['name']}"), self.items(path))
        deadline = time.monotonic() + 300
        while self.items(path):
            if time.monotonic() > deadline:
                raise AssertionError("claims stay")
            time.sleep(0.2)


def pod_of(name, gated):
    spec = {"containers": [{"name": "c", "image": "none",
                            "resources": {"requests": {"cpu": "100m"}, "claims": [{"name": "slice"}]}}],
            "resourceClaims": [{"name": "slice", "resourceClaimName": name}]}
    if gated:
        spec["schedulingGates"] = [GATE]
    return {"metadata": {"name": name}, "spec": spec}


class BoundPods:
    """Follows the pods of a cluster: when each was seen bound."""

    def __init__(self, cluster):
        self.cluster, self.bound, self.is_stopped = cluster, {}, False
        self.changed = threading.Condition()
        _status, page = cluster.ask("GET", "/api/v1/namespaces/default/pods?limit=1")
        self.version = page["metadata"]["resourceVersion"]
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.is_stopped:
            connection = http.client.HTTPSConnection(self.cluster.host, context=self.cluster.tls, timeout=30)
            try:
                connection.request("GET", "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=600&allowWatchBookmarks=true"
                                   f"&resourceVersion={self.version}", headers={"Authorization": "Bearer admin-token"})
                answer = connection.getresponse()
                while not self.is_stopped:
                    line = answer.readline()
                    if not line:
                        break
                    self.take(json.loads(line))
            except (OSError, http.client.HTTPException):
                pass

    def take(self, event):
        thing = event["object"]
        self.version = thing["metadata"].get("resourceVersion", self.version)
        name, node = thing["metadata"].get("name"), thing.get("spec", {}).get("nodeName")
        if event["type"] not in ("ADDED", "MODIFIED") or not node or name in self.bound:
            return
        with self.changed:
            self.bound[name] = time.monotonic()
            self.changed.notify_all()

    def wait(self, is_so, seconds):
        """Whether it holds of the dictionary of bound pods within so many seconds."""
        with self.changed:
            return self.changed.wait_for(lambda: is_so(self.bound), seconds)

    def stop(self):
        self.is_stopped = True


class Operator:
    """`berth operator` on a cluster; its lines are in a file."""

    def __init__(self, cluster, program, *options, pools="all"):
        self.config = pathlib.Path(cluster.folder.name) / "berth.yaml"
        self.config.write_text("kubernetes: {own: [{driver: gpu.nvidia.com, pools: " + pools + "}]}\n", encoding="utf-8")
        self.log = tempfile.NamedTemporaryFile("w+", prefix="berth-operator-", suffix=".log")
        self.data = tempfile.TemporaryDirectory(prefix="berth-operator-")
        self.started = time.monotonic()
        self.process = subprocess.Popen([program, "operator", "--config", self.config, "--kubeconfig", cluster.kubeconfig,
                                         "--data", self.data.name, "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, stderr=self.log, text=True)

    def await_ready(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise AssertionError(f"the operator is not ready: {pathlib.Path(self.log.name).read_text()[-2000:]}")
        return time.monotonic() - self.started

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def await_said(self, text, seconds=60):
        deadline = time.monotonic() + seconds
        while text not in self.said():
            if time.monotonic() > deadline:
                raise AssertionError(f"wanted {text!r} within {seconds} s: {self.said()[-2000:]}")
            time.sleep(0.02)

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0

    def end(self, how="terminate"):
        getattr(self.process, how)()
        status = self.process.wait(30)
        self.process.stdout.close()
        return status


def fail(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)
