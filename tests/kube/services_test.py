"""Services of a cluster as claims and pods: `berth operator` with its session, on a real API server with the stock scheduler."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import real_cluster
from real_cluster import DRIVER, PROGRAM, ROOT, Cluster

# Placements of an A100-80GB without media variants: profile, id, starts, memory slices.
PROFILES = [("1g.10gb", 19, range(7), 1), ("2g.20gb", 14, (0, 2, 4), 2), ("3g.40gb", 9, (0, 4), 4), ("4g.40gb", 5, (0,), 4),
            ("7g.80gb", 0, (0,), 8)]
ROW = {"model": "vision", "gpu": "A100-80GB", "profile": "1g.10gb", "batch": 1, "processes": 1, "requests_per_second": 50,
       "latency_ms": 20}
SERVICE = {"profile": {"format": "csv", "model": "vision", "rows": [ROW]}, "slo": {"latency_ms": 100},
           "expects": {"requests_per_second": 20}, "replicas": {"max": 1}, "pod": {"spec": {"containers": [{"name": "server", "image": "none"}]}}}


class ServiceCluster(Cluster):
    """A cluster with one A100, and stand-ins for its kubelet."""

    def begin(self):
        self.kubectl("apply", "-f", str(ROOT / "deploy/crds.yaml"))
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        self.kubectl("wait", "--for=condition=Established", "crd/gpuservices.berth.dev", "crd/tenants.berth.dev", "--timeout=60s")
        self.add_ready_node("a")
        counters = {f"memory-slice-{i}": {"value": "1"} for i in range(8)}
        self.create(self.slice("a", "counters", sharedCounters=[{"name": "gpu-0-counter-set", "counters": counters}]),
                    self.slice("a", "devices", devices=[self.mig_device(profile, number, start, size)
                                                        for profile, number, starts, size in PROFILES for start in starts]))

    @staticmethod
    def mig_device(profile, number, start, size):
        attributes = {"type": "mig", "parentUUID": "GPU-1", "profile": profile, "productName": "NVIDIA A100-SXM4-80GB"}
        counters = {f"memory-slice-{i}": {"value": "1"} for i in range(start, start + size)}
        return {"name": f"gpu-0-mig-{profile}-{number}-{start}".replace(".", ""),
                "attributes": {key: {"string": value} for key, value in attributes.items()},
                "consumesCounters": [{"counterSet": "gpu-0-counter-set", "counters": counters}]}

    def items(self, kind):
        return json.loads(self.kubectl("get", kind, "-n", "lab", "-o", "json").stdout)["items"]

    def run_pods(self):
        """What kubelets do: bound pods become Ready, deleted ones go."""
        for pod in self.items("pods"):
            name = pod["metadata"]["name"]
            if pod["metadata"].get("deletionTimestamp"):
                self.kubectl("delete", "pod", name, "-n", "lab", "--force", "--grace-period=0", check=False)
            elif pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending":
                status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
                self.kubectl("patch", "pod", name, "-n", "lab", "--subresource=status", "--type=merge", "-p",
                             json.dumps({"status": status}), check=False)

    def service(self):
        return json.loads(self.kubectl("get", "gpuservice", "vision", "-n", "lab", "-o", "json").stdout)

    def await_with_pods(self, is_so, wanted):
        def look():
            self.run_pods()
            return is_so()
        self.await_true(look, wanted, 120)


class Operator:
    def __init__(self, cluster, data="state", kubeconfig=None, driver=DRIVER, options=(), is_standby=False,
                 pools="all"):
        folder = pathlib.Path(cluster.folder.name)
        self.config = config = folder / "berth.yaml"
        self.write_pools(pools, driver)
        self.log = folder / f"{data}.log"
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen([PROGRAM, "operator", "--config", config, "--kubeconfig", kubeconfig or cluster.kubeconfig,
                                             "--data", folder / data, "--listen", "127.0.0.1:0", *options],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        if is_standby:
            return self.await_standby(cluster, folder / data)
        ready = re.match(r"ready (\S+) key: cat (\S+)", self.process.stdout.readline())
        if not ready:
            raise AssertionError(f"not ready: {self.log.read_text(encoding='utf-8')}")
        self.url, key = ready[1].rstrip("/"), ready[2]
        self.key = pathlib.Path(key).read_text(encoding="utf-8").strip()

    def write_pools(self, pools, driver=DRIVER):
        self.config.write_text(f"kubernetes: {{own: [{{driver: {driver}, pools: {pools}}}]}}\n", encoding="utf-8")

    def read_again(self, pools):
        """Changes the pools of the file, and has it read again."""
        self.write_pools(pools)
        self.process.send_signal(signal.SIGHUP)

    def await_standby(self, cluster, data):
        """It listens, and shows what stands."""
        cluster.await_true(lambda: (data / "address").exists(), "the address of a standby")
        self.url = (data / "address").read_text(encoding="utf-8").strip().rstrip("/")
        self.key = (data / "admin.key").read_text(encoding="utf-8").strip()
        cluster.await_true(lambda: self.ask("/v1/gpus")[0] == 200, "a standby that has listed everything")

    def ask(self, path, method="GET", body=None):
        request = urllib.request.Request(self.url + path, method=method, data=body,
                                         headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        self.process.stdout.close()
        return status


class Services(unittest.TestCase):
    def test_a_service_serves_on_pods_and_is_adopted_by_an_operator_with_an_empty_folder(self):
        with ServiceCluster() as cluster:
            cluster.begin()
            cluster.create({"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService",
                            "metadata": {"name": "vision", "namespace": "lab"}, "spec": SERVICE})
            operator = Operator(cluster)
            try:
                self.serve(cluster, operator)
                self.look_at_a_standby(cluster, operator)
                pods = [pod["metadata"]["uid"] for pod in cluster.items("pods")]
                claims = [claim["metadata"]["resourceVersion"] for claim in cluster.items("resourceclaims")]
                self.assertEqual(operator.stop(), 0)
                operator = Operator(cluster, "other")
                cluster.await_true(lambda: operator.ask("/v1/tenants/lab/services/vision")[1].get("status", {}).get("slices"),
                                   "the service adopted")
                self.assertEqual([pod["metadata"]["uid"] for pod in cluster.items("pods")], pods)
                self.assertEqual([claim["metadata"]["resourceVersion"] for claim in cluster.items("resourceclaims")], claims)
                cluster.kubectl("delete", "gpuservice", "vision", "-n", "lab")
                cluster.await_with_pods(lambda: not cluster.items("pods") and not cluster.items("resourceclaims"), "nothing left")
                self.assertEqual(operator.stop(), 0)
            except AssertionError as failed:
                raise AssertionError(f"{failed}\n{operator.log.read_text(encoding='utf-8')[-6000:]}") from failed
            finally:
                if operator.process.poll() is None:
                    operator.stop()

    def serve(self, cluster, operator):
        cluster.await_with_pods(lambda: any(slice["state"] == "serving" for slice in self.slices(operator)), "a slice that serves")
        pod, = cluster.items("pods")
        claim, = cluster.items("resourceclaims")
        self.assertEqual(pod["metadata"]["labels"]["berth.dev/service"], "vision")
        self.assertNotIn("schedulingGates", pod["spec"])
        held = claim["status"]["allocation"]["devices"]["results"][0]["device"]
        self.assertRegex(held, r"^gpu-0-mig-1g10gb-19-\d$")
        cluster.await_true(lambda: cluster.service().get("status", {}).get("phase") not in (None, "Pending"), "a status")
        status, world = operator.ask("/v1/status")
        self.assertEqual((status, world["world"]), (200, "kubernetes"))
        for method, path, command in (("DELETE", "/v1/tenants/lab/services/vision", "kubectl delete gpuservice vision -n lab"),
                                      ("POST", "/v1/gpus/gpu-0/cordon", "kubectl cordon a")):
            status, refused = operator.ask(path, method, b'{"reason": "test"}' if method == "POST" else None)
            self.assertEqual((status, refused["error"]["code"]), (409, "owned_by_cluster"))
            self.assertIn(command, refused["error"]["message"])

    def look_at_a_standby(self, cluster, leader):
        """It shows the same objects as the leader, and refuses what only the leader may do or knows."""
        standby = Operator(cluster, "standby", is_standby=True)
        try:
            for path in ("/v1/gpus", "/v1/slices", "/v1/services", "/v1/tenants", "/v1/nodes"):
                cluster.await_true(lambda path=path: self.facts(standby, path) == self.facts(leader, path),
                                   f"{path} of the leader, {self.facts(leader, path)}, from a standby: {self.facts(standby, path)}", 20)
            status, world = standby.ask("/v1/status")
            self.assertEqual((status, world["leads"]), (200, False))
            for path, method in (("/v1/plans", "GET"), ("/v1/usage", "GET"), ("/v1/planning", "PUT")):
                status, refused = standby.ask(path, method, b'{"paused": false}' if method == "PUT" else None)
                self.assertEqual((status, refused["error"]["code"]), (503, "not_leader"))
                self.assertIn(world["leader"], refused["error"]["message"])
        finally:
            self.assertEqual(standby.stop(), 0)

    @staticmethod
    def facts(operator, path):
        """What a list says of each object, without times, and figures of the session."""
        names = ("uuid", "cluster_node", "model", "health", "scheduling", "allocated_units", "gpu", "profile", "start", "state",
                 "tenant", "service", "role", "generation", "phase", "slices")
        return [(each["metadata"]["name"], each["metadata"]["namespace"], {name: each["status"].get(name) for name in names})
                for each in operator.ask(path)[1]["items"]]

    @staticmethod
    def slices(operator):
        return operator.ask("/v1/tenants/lab/services/vision")[1].get("status", {}).get("slices", [])


if __name__ == "__main__":
    real_cluster.skip_unless_built()
    unittest.main()
