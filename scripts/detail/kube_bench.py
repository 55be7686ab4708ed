"""The bars of `berth operator` on a real control plane (scripts/kube build), each with its rival, the stock scheduler, in the same run.

    kube_bench.py PROGRAM [--only experiment,units,...] [--seeds 5] [--seed 1] [--scale 1]

experiment  one GPU with a 1g at slice 6, then pods of 1g, 3g and 3g
units       200 pods in turn on 10 nodes with two A100-80GB, by seed; each leaves 70 pods later; not bound in 3 s: failed
rate        5,000 pods on 1,000 nodes with two GPUs, and gated pods created per second
latency     one pod there, 200 times
beside      2,000 pods on unowned pools, with and without an operator
start       a start with 5,000 claims and pods
quiet       the writes of a minute in which nothing happens
leader      a leader that is killed, and one that ends
expects     20 services on 20 nodes with two GPUs, one `expects` patched each 30 s, for 10 minutes; --seed draws the patches
--scale 0.1 takes a tenth of the nodes and pods of rate, latency, beside and start, of the repetitions, and of the services and time of
expects.
"""
import argparse
import random
import statistics
import sys
import time

import kube_cluster
import kube_expects
from kube_cluster import BoundPods, Cluster, Operator, UNITS

BAR_NAMES = ["experiment", "units", "rate", "latency", "beside", "start", "quiet", "leader", "expects"]
SEED_PODS = 200
SEED_LIFE = 70  # pods
PATIENCE = 3.0  # seconds
is_missed = False


def report(name, bar, figure, rival, is_met):
    global is_missed
    is_missed = is_missed or not is_met
    print(f"{name:<12} {'ok ' if is_met else 'NOT'}  bar: {bar}; figure: {figure}; stock: {rival}", flush=True)


class Bars:
    def __init__(self, options):
        self.options = options

    def scaled(self, count):
        return max(1, int(count * self.options.scale))

    def operator(self, cluster, *options, pools="all"):
        return Operator(cluster, self.options.program, *options, pools=pools)

    # ---- one GPU

    def experiment_of(self, is_stock):
        with Cluster() as cluster:
            cluster.add_node("a", gpus=1)
            pods = BoundPods(cluster)
            operator = None if is_stock else self.operator(cluster)
            if operator:
                operator.await_ready()
            cluster.allocate("before", "1g", "a", "gpu-0-mig-1g10gb-19-6")
            pods.wait(lambda bound: "before" in bound, 20)
            for name, profile in (("one", "1g"), ("two", "3g"), ("three", "3g")):
                cluster.add_pod(name, profile, not is_stock)
                pods.wait(lambda bound, name=name: name in bound, PATIENCE)
            if operator:
                operator.end()
            return len(pods.bound)

    def experiment(self):
        stock, ours = self.experiment_of(True), self.experiment_of(False)
        report("experiment", "three pods bound, where the first is a 1g at slice 6", f"{ours} bound", f"{stock} bound",
               ours == 3 and stock == 2)

    # ---- units by seed

    def units_of(self, cluster, seed, is_stock):
        rng = random.Random(seed)
        pods = BoundPods(cluster)
        units, alive = 0, []
        for i in range(SEED_PODS):
            profile = rng.choice(["1g", "2g", "3g"])
            if len(alive) > SEED_LIFE - 1 and alive[i - SEED_LIFE]:
                name = alive[i - SEED_LIFE]
                cluster.remove_pod(name)
                cluster.await_claim_gone(name)
            name = f"s{seed}-{i:03}"
            cluster.add_pod(name, profile, not is_stock)
            if pods.wait(lambda bound, name=name: name in bound, PATIENCE):
                units += UNITS[profile]
                alive.append(name)
            else:
                cluster.remove_pod(name)
                alive.append(None)
        pods.stop()
        cluster.remove_everything()
        return units

    def units(self):
        seeds = range(1, self.options.seeds + 1)
        with Cluster() as cluster:
            for i in range(10):
                cluster.add_node(f"n{i}")
            stock = [self.units_of(cluster, seed, True) for seed in seeds]
            operator = self.operator(cluster)
            operator.await_ready()
            ours = [self.units_of(cluster, seed, False) for seed in seeds]
            operator.end()
        is_met = all(a >= b for a, b in zip(ours, stock)) and sum(ours) > sum(stock)
        report("units", "on no seed below stock, more in sum", f"{ours}, sum {sum(ours)}", f"{stock}, sum {sum(stock)}", is_met)

    # ---- a large cluster

    def large(self, cluster, driver=kube_cluster.DRIVER, prefix="n"):
        count = self.scaled(1000)
        cluster.all_at_once(lambda i: cluster.add_node(f"{prefix}{i:04}", driver=driver), range(count))

    def fill(self, cluster, prefix, count, gated, profile="1g"):
        """Creates pods, whose claims are there, and returns how many were bound per second from the first creation on."""
        pods = BoundPods(cluster)
        names = [f"{prefix}{i:05}" for i in range(count)]
        claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
        cluster.all_at_once(lambda name: cluster.create(claims, claim_of(name, profile)), names)
        begin = time.monotonic()
        path = "/api/v1/namespaces/default/pods"
        cluster.all_at_once(lambda name: cluster.create(path, kube_cluster.pod_of(name, gated)), names)
        created = time.monotonic()
        pods.wait(lambda bound: len(bound) >= count, 900)
        pods.stop()
        bound = sorted(pods.bound.values())
        return (len(bound) / (bound[-1] - begin) if bound else 0.0), count / (created - begin), len(bound)

    def rate(self):
        count = self.scaled(5000)
        with Cluster() as cluster:
            self.large(cluster)
            stock, _creates, stock_bound = self.fill(cluster, "stock", count, False)
            cluster.remove_everything()
            _rate, creates, _bound = self.gated_only(cluster, count)
            operator = self.operator(cluster, "--requests-per-second", "5000")
            operator.await_ready()
            ours, _creates, bound = self.fill(cluster, "ours", count, True)
            operator.end()
        is_met = ours >= 0.8 * stock and ours >= 0.06 * creates and bound == count
        report("rate", f"0.8 x stock and {0.06 * creates:.1f}/s (0.06 x {creates:.0f} gated creates/s)",
               f"{ours:.1f}/s, {bound} bound", f"{stock:.1f}/s, {stock_bound} bound", is_met)

    def gated_only(self, cluster, count):
        path = "/api/v1/namespaces/default/pods"
        begin = time.monotonic()
        cluster.all_at_once(lambda i: cluster.create(path, kube_cluster.pod_of(f"gated{i:05}", True)), range(count))
        creates = count / (time.monotonic() - begin)
        cluster.remove_everything()
        return 0.0, creates, 0

    def alone(self, cluster, prefix, gated):
        times = []
        for i in range(self.scaled(200)):
            pods = BoundPods(cluster)
            name = f"{prefix}{i:03}"
            begin = time.monotonic()
            cluster.add_pod(name, "1g", gated)
            if pods.wait(lambda bound, name=name: name in bound, 30):
                times.append((pods.bound[name] - begin) * 1000)
            pods.stop()
            cluster.remove_pod(name)
            cluster.await_claim_gone(name)
        times.sort()
        return statistics.median(times), times[int(len(times) * 0.99)]

    def latency(self):
        with Cluster() as cluster:
            self.large(cluster)
            stock = self.alone(cluster, "stock", False)
            operator = self.operator(cluster)
            operator.await_ready()
            ours = self.alone(cluster, "ours", True)
            operator.end()
        is_met = ours[0] - stock[0] <= 150 and ours[1] - stock[1] <= 500
        report("latency", "150 ms (p50) and 500 ms (p99) above stock", f"p50 {ours[0]:.0f} ms, p99 {ours[1]:.0f} ms",
               f"p50 {stock[0]:.0f} ms, p99 {stock[1]:.0f} ms", is_met)

    def beside(self):
        count = self.scaled(2000)
        with Cluster() as cluster:
            self.large(cluster)
            self.large(cluster, driver="other.example.com", prefix="o")
            without, _creates, first = self.fill(cluster, "without", count, False, "other-1g")
            cluster.remove_everything()
            operator = self.operator(cluster)
            operator.await_ready()
            beside, _creates, second = self.fill(cluster, "beside", count, False, "other-1g")
            operator.end()
        report("beside", "0.9 x the rate without it, the same pods", f"{beside:.1f}/s, {second} bound",
               f"{without:.1f}/s, {first} bound", beside >= 0.9 * without and first == second)

    def start(self):
        count = self.scaled(5000)
        with Cluster() as cluster:
            self.large(cluster)
            operator = self.operator(cluster, "--requests-per-second", "5000")
            operator.await_ready()
            _rate, _creates, bound = self.fill(cluster, "pod", count, True)
            operator.end()
            again = self.operator(cluster)
            again.await_said("leads, epoch", 120)
            seconds = again.await_ready()
            mib = again.resident_mib()
            again.end()
        report("start", "leading and synced in 15 s, below 400 MiB", f"{seconds:.1f} s, {mib:.0f} MiB with {bound} pods bound", "-",
               seconds <= 15 and mib < 400 and bound == count)

    def quiet(self):
        with Cluster() as cluster:
            for i in range(3):
                cluster.add_node(f"n{i}")
            operator = self.operator(cluster)
            operator.await_ready()
            for i in range(10):
                cluster.add_pod(f"p{i}", "3g", True)  # more than there is room for
            BoundPods(cluster).wait(lambda bound: False, 30)
            before = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in self.all_objects(cluster)}
            lines = operator.said().count("\n")
            time.sleep(60)
            after = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in self.all_objects(cluster)}
            lines = operator.said().count("\n") - lines
            operator.end()
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        report("quiet", "no write but the Lease", f"changed: {changed or 'nothing'}, {lines} lines of the operator", "-",
               not changed and not lines)

    @staticmethod
    def all_objects(cluster):
        paths = ["/api/v1/pods", "/apis/events.k8s.io/v1/events", "/apis/resource.k8s.io/v1/resourceclaims",
                 "/apis/resource.k8s.io/v1/devicetaintrules", "/api/v1/namespaces/berth-system/configmaps"]
        return [each for path in paths for each in cluster.items(path)]

    def leader(self):
        times = {"kill": [], "terminate": []}
        with Cluster() as cluster:
            for i in range(3):
                cluster.add_node(f"n{i}")
            leading = self.operator(cluster)
            leading.await_ready()
            for how, count in (("kill", self.scaled(20)), ("terminate", self.scaled(20))):
                for i in range(count):
                    standby = self.operator(cluster)
                    standby.await_said("stands by")
                    pods = BoundPods(cluster)
                    name = f"{how}{i:02}"
                    leading.end(how)
                    begin = time.monotonic()
                    cluster.add_pod(name, "1g", True)
                    standby.await_said(f"of pod default/{name}", 60)
                    times[how].append(time.monotonic() - begin)
                    pods.wait(lambda bound, name=name: name in bound, 30)
                    pods.stop()
                    cluster.remove_pod(name)
                    leading = standby
            leading.end()
        killed, ended = max(times["kill"]), max(times["terminate"])
        report("leader", "the next one writes within 20 s of a kill, 3 s of SIGTERM",
               f"{killed:.1f} s of {len(times['kill'])} kills, {ended:.1f} s of {len(times['terminate'])} ends at most", "-",
               killed <= 20 and ended <= 3)

    def expects(self):
        count, seconds = self.scaled(20), self.scaled(600)
        with Cluster() as cluster:
            first, times = kube_expects.run(cluster, lambda: self.operator(cluster), count, seconds, self.options.seed)
        covered = [each for each in times if each is not None]
        report("expects", "Ready capacity covers each change of expects within 60 s",
               f"{len(covered)} of {len(times)}, the slowest in {max(covered, default=0):.1f} s; {count} services, {seconds} s, "
               f"all of them covered {'not' if first is None else f'{first:.1f} s'} after the start", "-",
               first is not None and len(covered) == len(times) > 0)


def claim_of(name, profile):
    return {"metadata": {"name": name},
            "spec": {"devices": {"requests": [{"name": "slice", "exactly": {"deviceClassName": profile}}]}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default=",".join(BAR_NAMES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in BAR_NAMES]
    if unknown:
        kube_cluster.fail(f"--only: wanted some of {', '.join(BAR_NAMES)}, found {', '.join(unknown)}")
    if not kube_cluster.is_built():
        kube_cluster.fail(f"wanted a control plane in {kube_cluster.KUBE}, found none (scripts/kube build)")
    bars = Bars(options)
    for name in names:
        getattr(bars, name)()
    return 1 if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
