"""GPUs that come and go: `berth operator` on a real API server, with pools that are published and withdrawn beside it."""
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import real_cluster
from real_cluster import PROGRAM
from services_test import PROFILES, SERVICE, Operator, ServiceCluster

LEASE = ("--lease-seconds", "4,3,1")  # so that a killed operator is followed soon
WITHIN_S = 10  # the bar for a GPU that comes
GRACE_S = 10  # from a rule to the first allocation
LOADED_S = 60  # a machine that does other things, too


class FleetCluster(ServiceCluster):
    def add_gpu_node(self, node):
        self.add_ready_node(node)
        counters = {f"memory-slice-{i}": {"value": "1"} for i in range(8)}
        self.create(self.slice(node, "counters", sharedCounters=[{"name": "gpu-0-counter-set", "counters": counters}]),
                    self.slice(node, "devices", devices=[self.device_of(node, profile, number, start, size)
                                                         for profile, number, starts, size in PROFILES for start in starts]))

    def device_of(self, node, profile, number, start, size):
        device = self.mig_device(profile, number, start, size)
        device["attributes"]["parentUUID"] = {"string": f"GPU-{node}"}
        return device

    def remove_gpu_node(self, node):
        self.kubectl("delete", "resourceslice", f"{node}-devices", f"{node}-counters")
        self.kubectl("delete", "node", node)


class Fleet(unittest.TestCase):
    def test_gpus_come_and_go(self):
        self.with_operator(lambda cluster: None, self.come_and_go, self.check_folder)

    def test_pools_of_a_configuration_that_is_read_again(self):
        self.with_operator(lambda cluster: cluster.add_gpu_node("b"), self.read_pools_again, pools="[a]")

    def with_operator(self, prepare, then, check=None, **options):
        with FleetCluster() as cluster:
            cluster.begin()
            prepare(cluster)
            self.operator = Operator(cluster, options=LEASE, **options)
            try:
                then(cluster)
                self.assertEqual(self.operator.stop(), 0)
                if check:
                    check(pathlib.Path(cluster.folder.name))
            except AssertionError as failed:
                raise AssertionError(f"{failed}\n{self.operator.log.read_text(encoding='utf-8')[-8000:]}") from failed
            finally:
                if self.operator.process.poll() is None:
                    self.operator.stop()
                else:
                    self.operator.process.stdout.close()

    def come_and_go(self, cluster):
        self.assertEqual([gpu["metadata"]["name"] for gpu in self.gpus()], ["gpu-0"])
        # Two slices of the whole GPU: the second one fits only on a GPU that comes.
        row = SERVICE["profile"]["rows"][0] | {"profile": "7g.80gb"}
        spec = SERVICE | {"profile": {"format": "csv", "model": "vision", "rows": [row]}, "replicas": {"max": 2},
                          "expects": {"requests_per_second": 80}}
        cluster.create({"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService",
                        "metadata": {"name": "vision", "namespace": "lab"}, "spec": spec})
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0"], "a slice that serves")
        first = cluster.items("pods")[0]["metadata"]["uid"]

        cluster.add_gpu_node("b")
        came = time.monotonic()
        self.await_gpu(cluster, "gpu-1", lambda gpu: gpu["status"]["scheduling"] == "open")
        listed = time.monotonic() - came
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0", "gpu-1"], "the new GPU in use")
        print(f"listed after {listed:.1f} s, in use after {time.monotonic() - came:.1f} s (wanted {WITHIN_S} s)")
        gpu = self.gpus()[1]
        self.assertEqual(gpu["status"]["model"], "A100-80GB")
        self.assertIn(first, [pod["metadata"]["uid"] for pod in cluster.items("pods")], "the other pod was not touched")
        self.assertIn("node b", self.events("GpuAdded")[-1])

        self.restart(cluster)
        self.assertEqual(len(self.gpus()), 2)
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0", "gpu-1"], "the same slices after a kill")

        cluster.remove_gpu_node("b")
        self.await_gpu(cluster, "gpu-1", lambda gpu: gpu["status"]["health"] == "lost")
        cluster.await_with_pods(lambda: len(cluster.items("resourceclaims")) == 1, "no claim on the lost GPU")
        self.await_gpu(cluster, "gpu-1", lambda gpu: gpu["status"]["scheduling"] == "absent")

        # Its number is taken by the next GPU of that model.
        cluster.add_gpu_node("c")
        self.await_gpu(cluster, "gpu-1", lambda gpu: gpu["status"]["scheduling"] == "open")
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0", "gpu-1"], "the next GPU in use")
        self.assertEqual(len(self.gpus()), 2)
        self.assertIn("node c", self.events("GpuAdded")[-1])
        self.assertIn(first, [pod["metadata"]["uid"] for pod in cluster.items("pods")])

    def read_pools_again(self, cluster):
        """Two slices of the whole GPU: the second one fits once the pool of the other node is owned, too."""
        row = SERVICE["profile"]["rows"][0] | {"profile": "7g.80gb"}
        cluster.create({"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService", "metadata": {"name": "vision", "namespace": "lab"},
                        "spec": SERVICE | {"profile": {"format": "csv", "model": "vision", "rows": [row]}, "replicas": {"max": 2},
                                           "expects": {"requests_per_second": 80}}})
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0"], "a slice that serves")
        self.assertEqual(len(self.gpus()), 1)
        first = cluster.items("pods")[0]["metadata"]["uid"]

        self.operator.read_again("[a, b]")
        cluster.await_true(lambda: len(self.rules(cluster)) == 2, "the rule of pool b", LOADED_S)
        written = time.monotonic()
        self.await_gpu(cluster, "gpu-1", lambda gpu: gpu["status"]["scheduling"] == "open")
        self.assertGreater(time.monotonic() - written, GRACE_S - 2, "allocation begins 10 s after the rule")
        cluster.await_with_pods(lambda: self.serving() == ["gpu-0", "gpu-1"], "the new pool in use")
        print(f"in use {time.monotonic() - written:.1f} s after its rule")
        self.assertIn(first, [pod["metadata"]["uid"] for pod in cluster.items("pods")], "the other pod was not touched")

        self.operator.read_again("[b]")
        cluster.await_true(lambda: self.rules(cluster) == ["b"], "no rule of pool a", LOADED_S)
        self.await_gpu(cluster, "gpu-0", lambda gpu: "does not name pool" in (gpu["status"].get("scheduling_reason") or ""))
        self.assertEqual(self.serving(), ["gpu-0", "gpu-1"], "what is allocated stays")

    def rules(self, cluster):
        return sorted(rule["spec"]["deviceSelector"]["pool"] for rule in cluster.get("devicetaintrules"))

    def check_folder(self, folder):
        """The records of a folder whose fleet has changed."""
        for verb in (["verify", folder / "state"], ["usage", folder / "state", "--out", folder / "usage.jsonl"]):
            run = subprocess.run([PROGRAM, "journal", *verb], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, f"{verb}: {run.stdout}{run.stderr}")

    def restart(self, cluster):
        self.operator.process.kill()
        self.operator.process.wait()
        self.operator.process.stdout.close()
        self.operator = Operator(cluster, options=LEASE)

    def ask(self, path):
        """The API does not answer while one session follows another."""
        try:
            status, answer = self.operator.ask(path)
        except OSError:
            return None
        return answer if status == 200 else None

    def gpus(self):
        answer = self.ask("/v1/gpus")
        return answer["items"] if answer else []

    def serving(self):
        answer = self.ask("/v1/tenants/lab/services/vision")
        slices = answer.get("status", {}).get("slices", []) if answer else []
        return sorted(each["gpu"] for each in slices if each["state"] == "serving")

    def events(self, kind):
        answer = self.ask("/v1/events?limit=500")
        return [event["message"] for event in answer["items"] if event["kind"] == kind] if answer else []

    def await_gpu(self, cluster, name, is_so):
        def look():
            cluster.run_pods()
            return any(gpu["metadata"]["name"] == name and is_so(gpu) for gpu in self.gpus())
        cluster.await_true(look, name, LOADED_S)


if __name__ == "__main__":
    real_cluster.skip_unless_built()
    unittest.main()
