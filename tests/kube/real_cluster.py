"""A real control plane for a test, started by scripts/kube, with nodes that have a toy GPU each: eight memory slices as counters."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
KUBE = pathlib.Path(os.environ.get("BERTH_KUBE") or pathlib.Path.home() / ".cache/berth/kube-1.37.0")
PROGRAMS = ["etcd", "kube-apiserver", "kubectl", "kube-scheduler", "kube-controller-manager"]
DRIVER = "gpu.nvidia.com"


def skip_unless_built():
    missing = [name for name in PROGRAMS if not (KUBE / name).exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)} in {KUBE} (scripts/kube build)")
        sys.exit(77)


class Cluster:
    def __init__(self, is_audited=False):
        self.options = ["--audit"] if is_audited else []
        self.folder = tempfile.TemporaryDirectory(prefix="berth-kube-")
        self.kubeconfig = f"{self.folder.name}/kubeconfig"

    def __enter__(self):
        subprocess.run([ROOT / "scripts/kube", "up", "--dir", self.folder.name, *self.options], check=True, stdout=subprocess.DEVNULL)
        self.await_true(lambda: self.kubectl("get", "namespace", "default", check=False).returncode == 0, "the namespace default")
        self.kubectl("create", "namespace", "berth-system")
        return self

    def __exit__(self, *_):
        subprocess.run([ROOT / "scripts/kube", "down", "--dir", self.folder.name], check=True)
        self.folder.cleanup()

    def kubectl(self, *arguments, given=None, check=True):
        run = subprocess.run([KUBE / "kubectl", "--kubeconfig", self.kubeconfig, *arguments], input=given, capture_output=True,
                             text=True, check=False)
        if check and run.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {run.stderr}{given or ''}")
        return run

    def create(self, *objects):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.kubectl("create", "-f", "-", given=text)

    def get(self, kind, name=None):
        found = json.loads(self.kubectl("get", kind, *([name] if name else []), "-o", "json").stdout)
        return found if name else found["items"]

    def await_true(self, is_so, wanted, seconds=60):
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"wanted {wanted} within {seconds} s")
            time.sleep(0.1)

    # ---- what the tests need of a cluster

    def add_ready_node(self, name):
        self.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        status = {"status": {"capacity": {"cpu": "8", "memory": "32Gi", "pods": "50"},
                             "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "50"},
                             "conditions": [{"type": "Ready", "status": "True", "reason": "Test",
                                             "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps(status))
        self.kubectl("patch", "node", name, "--type=merge", "-p", '{"spec":{"taints":null}}')

    def add_node(self, name):
        self.add_ready_node(name)
        counters = {f"memory-slice-{i}": {"value": "1"} for i in range(8)}
        self.create(self.slice(name, "counters", sharedCounters=[{"name": "gpu-0-counter-set", "counters": counters}]),
                    self.slice(name, "devices", devices=[self.device("1g", i, 1) for i in range(7)]
                               + [self.device("2g", i, 2) for i in (0, 2, 4)] + [self.device("3g", i, 4) for i in (0, 4)]))

    @staticmethod
    def slice(node, part, **content):
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{node}-{part}"},
                "spec": {"driver": DRIVER, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 2},
                         **content}}

    @staticmethod
    def device(profile, start, size):
        counters = {f"memory-slice-{i}": {"value": "1"} for i in range(start, start + size)}
        return {"name": f"gpu-0-mig-{profile}-{start}", "attributes": {"profile": {"string": profile}, "type": {"string": "mig"}},
                "capacity": {"memory": {"value": f"{size * 10}Gi"}},
                "consumesCounters": [{"counterSet": "gpu-0-counter-set", "counters": counters}]}

    def add_classes(self):
        for profile in ("1g", "2g", "3g"):
            expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].profile == '{profile}'"
            self.create({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": profile},
                         "spec": {"selectors": [{"cel": {"expression": expression}}]}})

    def add_claim(self, name, profile):
        self.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default"},
                     "spec": {"devices": {"requests": [{"name": "slice", "exactly": {"deviceClassName": profile}}]}}})

    def allocate(self, name, node, device):
        """As an outside client does: the finalizer, then the allocation; the reservation is the scheduler's."""
        self.kubectl("patch", "resourceclaim", name, "--type=merge", "-p",
                     '{"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"]}}')
        fields = {"key": "metadata.name", "operator": "In", "values": [node]}
        allocation = {"allocationTimestamp": "2026-01-01T00:00:00Z",
                      "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [fields]}]},
                      "devices": {"results": [{"request": "slice", "driver": DRIVER, "pool": node, "device": device}]}}
        self.kubectl("patch", "resourceclaim", name, "--subresource=status", "--type=merge", "-p",
                     json.dumps({"status": {"allocation": allocation}}))

    def add_pod(self, name, gated=False):
        """A pod with the claim of its own name."""
        spec = {"containers": [{"name": "c", "image": "none", "resources": {"claims": [{"name": "slice"}]}}],
                "resourceClaims": [{"name": "slice", "resourceClaimName": name}]}
        if gated:
            spec["schedulingGates"] = [{"name": "berth.dev/place"}]
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec})

    def bound(self):
        return sorted(pod["metadata"]["name"] for pod in self.get("pods") if pod["spec"].get("nodeName"))

    def devices(self):
        """By claim, the device that it has."""
        held = {}
        for claim in self.get("resourceclaims"):
            results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
            if results:
                held[claim["metadata"]["name"]] = results[0]["device"].removeprefix("gpu-0-mig-")
        return held

    def is_unschedulable(self, name):
        conditions = self.get("pod", name).get("status", {}).get("conditions", [])
        return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in conditions)
