"""`berth operator` on a real API server with the stock scheduler: what an outside client's allocations do, and the experiment."""
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import real_cluster
from real_cluster import PROGRAM, Cluster


class Experiment(unittest.TestCase):
    """One GPU; a pod with a 1g at slice 6; then pods that want 1g, 3g and 3g."""

    def begin(self, cluster):
        cluster.add_node("a")
        cluster.add_classes()
        cluster.add_claim("before", "1g")
        cluster.allocate("before", "a", "gpu-0-mig-1g-6")
        cluster.add_pod("before")
        cluster.await_true(lambda: cluster.bound() == ["before"], "the pod with an allocation of ours bound")

    def test_the_stock_scheduler_binds_two(self):
        with Cluster() as cluster:
            self.begin(cluster)
            cluster.add_claim("one", "1g")
            cluster.add_pod("one")
            cluster.await_true(lambda: cluster.bound() == ["before", "one"], "two pods bound")
            self.assertEqual(cluster.devices(), {"before": "1g-6", "one": "1g-0"})
            for name in ("three", "four"):
                cluster.add_claim(name, "3g")
                cluster.add_pod(name)
            cluster.await_true(lambda: all(cluster.is_unschedulable(name) for name in ("three", "four")), "no 3g fits")
            self.assertEqual(cluster.bound(), ["before", "one"])

    def test_an_allocation_written_from_outside_steers_it(self):
        with Cluster() as cluster:
            self.begin(cluster)
            cluster.add_claim("one", "1g")
            cluster.allocate("one", "a", "gpu-0-mig-1g-5")
            cluster.add_claim("three", "3g")
            for name in ("one", "three"):
                cluster.add_pod(name)
            cluster.await_true(lambda: cluster.bound() == ["before", "one", "three"], "three pods bound")
            self.assertEqual(cluster.devices(), {"before": "1g-6", "one": "1g-5", "three": "3g-0"})

    def test_the_operator_binds_three_and_keeps_others_away(self):
        with Cluster() as cluster:
            self.begin(cluster)
            config = pathlib.Path(cluster.folder.name) / "berth.yaml"
            config.write_text("kubernetes: {own: [{driver: gpu.nvidia.com, pools: all}]}\n", encoding="utf-8")
            with subprocess.Popen([PROGRAM, "operator", "--config", config, "--kubeconfig", cluster.kubeconfig,
                                   "--data", pathlib.Path(cluster.folder.name) / "state", "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                try:
                    self.assertRegex(process.stdout.readline(), "^ready http://127.0.0.1:")
                    self.run_beside(cluster)
                finally:
                    process.send_signal(signal.SIGTERM)
                    said = process.stderr.read()
                self.assertEqual(process.wait(30), 0, said)

    def run_beside(self, cluster):
        for name, profile in (("one", "1g"), ("three", "3g"), ("four", "3g")):
            cluster.add_claim(name, profile)
            cluster.add_pod(name, gated=True)
        cluster.await_true(lambda: cluster.bound() == ["before", "one", "three"], "three pods bound")
        self.assertEqual(cluster.devices(), {"before": "1g-6", "one": "1g-4", "three": "3g-0"})
        note = "none of the nodes with owned devices will do"
        cluster.await_true(lambda: any(note in event.get("message", "") for event in cluster.get("events")), "an event of the fourth")
        # A pod without the gate gets none of the owned devices.
        cluster.add_claim("stock", "1g")
        cluster.add_pod("stock")
        cluster.await_true(lambda: cluster.is_unschedulable("stock"), "the rule obeyed")
        # The reservation ends with its pod, and the next one fits.
        cluster.kubectl("delete", "pod", "three", "--force", "--grace-period=0")
        cluster.await_true(lambda: "four" in cluster.bound(), "the fourth bound in the place of the third")
        self.assertEqual(cluster.devices().get("four"), "3g-0")
        cluster.await_true(lambda: "three" not in cluster.devices(), "the third's claim without devices")


if __name__ == "__main__":
    real_cluster.skip_unless_built()
    unittest.main()
