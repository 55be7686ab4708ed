"""The bar `expects` of kube_bench.py: services of a real control plane whose `expects` are patched, one each 30 s, drawn by seed."""
import random
import threading
import time

import kube_cluster

RATES = {"1g.10gb": 50, "2g.20gb": 105, "3g.40gb": 160, "4g.40gb": 215, "7g.80gb": 380}  # requests per second of a slice
NAMESPACE = "lab"
SERVICES = "/apis/berth.dev/v1alpha1/namespaces/lab/gpuservices"
PODS = "/api/v1/namespaces/lab/pods"
GAP_SECONDS = 30
COVERED_WITHIN = 60
LOADS = (100, 300, 500, 700, 900)  # of a service, in requests per second
GPU_RATE = 350  # of a GPU in slices of 1g
FILLED = 0.8  # at most, of the capacity of all GPUs: more might not fit


def spec_of(expects):
    rows = [{"model": "m", "gpu": "A100-80GB", "profile": profile, "batch": 1, "processes": 1, "requests_per_second": rate,
             "latency_ms": round(1000 / rate, 3)} for profile, rate in RATES.items()]
    return {"slo": {"latency_ms": 100}, "expects": {"requests_per_second": expects},
            "profile": {"format": "csv", "model": "m", "rows": rows},
            "pod": {"spec": {"containers": [{"name": "server", "image": "none"}]}}}


class Kubelets:
    """A stand-in for those of all nodes: bound pods become Ready, deleted ones go."""

    def __init__(self, cluster):
        self.cluster, self.is_stopped, self.ready = cluster, False, {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_stopped:
            self.look()
            time.sleep(0.3)

    def look(self):
        ready = {}
        for pod in self.cluster.items(PODS):
            meta, status = pod["metadata"], pod.get("status", {})
            if meta.get("deletionTimestamp"):
                self.cluster.ask("DELETE", f"{PODS}/{meta['name']}", {"gracePeriodSeconds": 0})
            elif not pod["spec"].get("nodeName"):
                continue
            elif status.get("phase") == "Pending":
                self.cluster.ask("PATCH", f"{PODS}/{meta['name']}/status",
                                 {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
                                 "application/merge-patch+json")
            else:
                service = meta["labels"].get("berth.dev/service", "")
                profile = meta["labels"].get("berth.dev/slice", "").split("-")[2]
                ready[service] = ready.get(service, 0) + RATES.get(profile, 0)
        self.ready = ready

    def stop(self):
        self.is_stopped = True
        self.thread.join()


def run(cluster, operator_of, count, seconds, seed=1):
    """How long the start, and each change, took until the capacity of Ready pods covered it; None: not within a minute."""
    cluster.kubectl("apply", "-f", str(kube_cluster.ROOT / "deploy/crds.yaml"))
    cluster.kubectl("wait", "--for=condition=Established", "crd/gpuservices.berth.dev", "crd/tenants.berth.dev", "--timeout=60s")
    cluster.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for i in range(count):
        cluster.add_node(f"n{i:02}")
    wanted = {f"s{i:02}": LOADS[i % len(LOADS)] for i in range(count)}
    for name, expects in wanted.items():
        cluster.create(SERVICES, {"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService", "metadata": {"name": name},
                                  "spec": spec_of(expects)})
    operator, kubelets = operator_of(), Kubelets(cluster)
    operator.await_ready()
    try:
        begin = time.monotonic()
        pending = {name: begin for name in wanted}
        first = settle(kubelets, wanted, pending, begin)
        return first, patched(cluster, kubelets, wanted, seconds, seed)
    finally:
        kubelets.stop()
        operator.end()


def settle(kubelets, wanted, pending, begin):
    """How long it took until all of these were covered; None: not within a minute."""
    while True:
        for name in [name for name in pending if kubelets.ready.get(name, 0) >= wanted[name]]:
            del pending[name]
        if not pending:
            return time.monotonic() - begin
        if time.monotonic() > begin + COVERED_WITHIN:
            return None
        time.sleep(0.1)


def next_load(rng, wanted, waiting):
    """A service that does not wait, and another load, with which all of them still fit."""
    while True:
        name = rng.choice(sorted(wanted.keys() - waiting.keys()))
        load = rng.choice([load for load in LOADS if load != wanted[name]])
        if sum(wanted.values()) - wanted[name] + load <= FILLED * 2 * len(wanted) * GPU_RATE:
            return name, load


def patched(cluster, kubelets, wanted, seconds, seed):
    rng, times, waiting = random.Random(seed), [], {}
    end, next_patch = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end or waiting:
        now = time.monotonic()
        if now >= next_patch and now < end:
            next_patch += GAP_SECONDS
            name, load = next_load(rng, wanted, waiting)
            wanted[name] = load
            status, answer = cluster.ask("PATCH", f"{SERVICES}/{name}",
                                         {"spec": {"expects": {"requests_per_second": wanted[name]}}}, "application/merge-patch+json")
            if status != 200:
                raise AssertionError(f"{name}: {status} {answer.get('message')}")
            waiting[name] = now
        for name, since in list(waiting.items()):
            if kubelets.ready.get(name, 0) >= wanted[name]:
                times.append(now - since)
                del waiting[name]
            elif now - since > COVERED_WITHIN:
                times.append(None)
                del waiting[name]
        time.sleep(0.1)
    return times
