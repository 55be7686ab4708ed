"""Troubles of operators on a real control plane (scripts/kube build), drawn from a seed.

    kube_troubles.py PROGRAM [--from SEED] [--seeds N | --seconds S]

Three operators with short leases, gated pods that come and go. Meanwhile operators are killed, or stopped for longer than their lease
lasts; the API server and etcd are killed; pods, claims and nodes are deleted. A watch of claims must never show two allocations that
overlap, nor one that changes while it is reserved. Within a minute of the last trouble every pod that fits is bound, and no claim, intent
or gate is left over. Each seed takes about two minutes. Exit status: 0, 1 with findings, 2 without a control plane.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import kube_cluster
from kube_cluster import PROFILES, Cluster, Operator

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
PODS = "/api/v1/namespaces/default/pods"
LEASE = ("--lease-seconds", "6,4,1")
STOPPED_SECONDS = 9  # longer than a lease lasts
NODES, OPERATORS, ROUNDS, PODS_MAX = 3, 3, 25, 24
SETTLED_WITHIN = 60


def units_of(result):
    """The memory slices that a device takes: (pool, gpu, slice)."""
    gpu, _, rest = result["device"].removeprefix("gpu-").partition("-mig-")
    if not rest:
        return {(result["pool"], gpu, i) for i in range(8)}
    name, _number, start = rest.split("-")
    length = next(length for profile, _n, length, *_ in PROFILES.values() if profile.replace(".", "") == name)
    return {(result["pool"], gpu, i) for i in range(int(start), int(start) + length)}


def results_of(claim):
    return ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results", [])


def start_of(pid):
    """The start of a process that runs, in ticks since boot; nothing: it has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] == "Z" else words[19]


class ClaimWatch:
    """Follows claims for as long as the cluster stands; says what must never be seen."""

    def __init__(self, cluster):
        self.cluster, self.is_stopped, self.findings, self.claims = cluster, False, [], {}
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.is_stopped:
            try:
                self.follow_once()
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                time.sleep(0.2)

    def follow_once(self):
        status, page = self.cluster.ask("GET", CLAIMS)
        if status != 200:
            time.sleep(0.2)
            return
        self.claims = {each["metadata"]["name"]: each for each in page["items"]}
        self.check_overlaps()
        connection = http.client.HTTPSConnection(self.cluster.host, context=self.cluster.tls, timeout=20)
        connection.request("GET", f"{CLAIMS}?watch=true&timeoutSeconds=15&resourceVersion={page['metadata']['resourceVersion']}",
                           headers={"Authorization": "Bearer admin-token"})
        answer = connection.getresponse()
        while not self.is_stopped:
            line = answer.readline()
            if not line:
                return
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            self.take(event["type"], event["object"])

    def take(self, kind, claim):
        name = claim["metadata"]["name"]
        before = self.claims.pop(name, None)
        if before and before["metadata"]["uid"] == claim["metadata"]["uid"] and before["status"].get("reservedFor") \
                and claim.get("status", {}).get("reservedFor") and results_of(before) != results_of(claim):
            self.findings.append(f"the allocation of {name} changed while it was reserved")
        if kind != "DELETED":
            self.claims[name] = claim
        self.check_overlaps()

    def check_overlaps(self):
        taken = {}
        for name, claim in self.claims.items():
            for result in results_of(claim):
                for unit in units_of(result):
                    if taken.setdefault(unit, name) != name:
                        self.findings.append(f"{taken[unit]} and {name} both have {unit}")

    def stop(self):
        self.is_stopped = True
        self.thread.join(30)


class Troubles:
    def __init__(self, cluster, program, rng):
        self.cluster, self.program, self.rng = cluster, program, rng
        self.operators = [Operator(cluster, program, *LEASE) for _ in range(OPERATORS)]
        self.next_pod, self.done = 0, []

    def pods(self):
        return [each["metadata"]["name"] for each in self.cluster.items(PODS)]

    def add_pods(self):
        for _ in range(self.rng.randint(1, 5)):
            if len(self.pods()) >= PODS_MAX:
                return
            self.cluster.add_pod(f"p{self.next_pod:03}", self.rng.choice(["1g", "1g", "2g", "3g"]), True)
            self.next_pod += 1

    def delete_pods(self):
        for name in self.rng.sample(self.pods(), min(len(self.pods()), self.rng.randint(1, 3))):
            self.cluster.remove_pod(name)

    def delete_claim(self):
        """The claim of a pod that may be waiting: its name is free once it is gone."""
        names = self.pods()
        if names:
            self.cluster.ask("DELETE", f"{CLAIMS}/{self.rng.choice(names)}")

    def replace_node(self):
        name = f"n{self.rng.randrange(NODES)}"
        for pod in self.cluster.items(PODS):
            if pod["spec"].get("nodeName") == name:
                self.cluster.remove_pod(pod["metadata"]["name"])
        self.cluster.ask("DELETE", f"/api/v1/nodes/{name}")
        time.sleep(self.rng.uniform(0.2, 2))
        self.cluster.add_node(name)

    def restart_ended(self):
        """As a Deployment does."""
        for index, operator in enumerate(self.operators):
            if operator.process.poll() is not None:
                operator.process.stdout.close()
                self.operators[index] = Operator(self.cluster, self.program, *LEASE)

    def kill_operator(self):
        self.rng.choice(self.operators).process.kill()

    def stop_operator(self):
        operator = self.rng.choice(self.operators)
        operator.process.send_signal(signal.SIGSTOP)
        for _ in range(3):
            time.sleep(STOPPED_SECONDS / 3)
            self.add_pods()
        operator.process.send_signal(signal.SIGCONT)

    def kill_server(self):
        """The API server or etcd; what ended with it is started again as it was."""
        folder = pathlib.Path(self.cluster.folder.name)
        known = json.loads((folder / "processes.json").read_text())
        os.kill(known[self.rng.choice(["kube-apiserver", "kube-apiserver", "etcd"])]["pid"], signal.SIGKILL)
        time.sleep(self.rng.uniform(0.1, 3))
        deadline = time.monotonic() + 120
        is_back = False
        while not is_back:
            if time.monotonic() > deadline:
                raise AssertionError("the API server does not come back")
            self.start_ended(folder, known)
            time.sleep(0.2)
            is_back = self.cluster.ask("GET", PODS)[0] == 200

    @staticmethod
    def start_ended(folder, known):
        """The scheduler and the controller manager end, too, where the server is away at their start."""
        for name, entry in known.items():
            if start_of(entry["pid"]) == entry["started"]:
                continue
            with open(folder / f"{name}.log", "ab") as log:
                child = subprocess.Popen([kube_cluster.KUBE / name, *entry["arguments"]], cwd=folder, stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, start_new_session=True)
            entry.update(pid=child.pid, started=start_of(child.pid))
        (folder / "processes.json").write_text(json.dumps(known, indent=1) + "\n")

    def run(self):
        kinds = [(self.add_pods, 8), (self.delete_pods, 4), (self.delete_claim, 2), (self.replace_node, 1), (self.kill_operator, 3),
                 (self.stop_operator, 1), (self.kill_server, 1)]
        for _ in range(ROUNDS):
            kind = self.rng.choices([each for each, _weight in kinds], [weight for _each, weight in kinds])[0]
            self.done.append(kind.__name__)
            kind()
            self.restart_ended()
            time.sleep(self.rng.uniform(0, 1.5))
        self.restart_ended()

    def keep_servers(self):
        folder = pathlib.Path(self.cluster.folder.name)
        self.start_ended(folder, json.loads((folder / "processes.json").read_text()))

    def end(self):
        said = "\n".join(f"--- operator {i}\n{each.said()[-1500:]}" for i, each in enumerate(self.operators))
        for operator in self.operators:
            operator.process.send_signal(signal.SIGCONT)
            operator.end("kill")
        return said


def left_over(cluster):
    """What should not be there when all is settled; nothing: it is."""
    claims = {each["metadata"]["name"]: each for each in cluster.items(CLAIMS)}
    pods = {each["metadata"]["name"]: each for each in cluster.items(PODS)}
    taken = {unit for claim in claims.values() for result in results_of(claim) for unit in units_of(result)}
    found = []
    for name, claim in claims.items():
        if name not in pods and (results_of(claim) or claim["metadata"].get("finalizers")):
            found.append(f"claim {name} without a pod")
        intent = claim["metadata"].get("annotations", {}).get("berth.dev/intent", "")
        if "=" in intent and not results_of(claim):
            found.append(f"intent of {name}: {intent}")
    nodes = [each["metadata"]["name"] for each in cluster.items("/api/v1/nodes")]
    for name, pod in pods.items():
        if pod["spec"].get("nodeName") or name not in claims:
            continue
        profile = claims[name]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"]
        if results_of(claims[name]):
            found.append(f"pod {name} is not bound")
        elif any(not taken & units_of({"pool": node, "device": device}) for node in nodes for device in devices_of(profile)):
            found.append(f"pod {name} would fit")
    return found


def devices_of(profile):
    name, number, _length, _multiprocessors, starts = PROFILES[profile]
    return [f"gpu-{gpu}-mig-{name.replace('.', '')}-{number}-{start}" for gpu in range(2) for start in starts]


def try_seed(program, seed):
    """Findings of a seed."""
    with Cluster() as cluster:
        for i in range(NODES):
            cluster.add_node(f"n{i}")
        watch = ClaimWatch(cluster)
        troubles = Troubles(cluster, program, random.Random(seed))
        try:
            troubles.run()
            deadline = time.monotonic() + SETTLED_WITHIN
            while left := left_over(cluster):
                if time.monotonic() > deadline:
                    break
                troubles.restart_ended()
                troubles.keep_servers()
                time.sleep(0.5)
            bound = sum(1 for pod in cluster.items(PODS) if pod["spec"].get("nodeName"))
        finally:
            said = troubles.end()
            watch.stop()
        findings = watch.findings + left
        print(f"kube troubles: seed {seed}, {troubles.next_pod} pods, {bound} bound at the end, {len(findings)} findings", flush=True)
        if findings:
            print("\n".join(findings[:20] + troubles.done) + "\n" + said, flush=True)
        return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--from", dest="first", type=int, default=1000)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    if not kube_cluster.is_built():
        kube_cluster.fail(f"wanted a control plane in {kube_cluster.KUBE}, found none (scripts/kube build)")
    end, seed, is_failed = time.monotonic() + options.seconds, options.first, False
    while seed < options.first + options.seeds if options.seeds else time.monotonic() < end:
        is_failed = bool(try_seed(options.program, seed)) or is_failed
        seed += 1
    print(f"tried: seeds {options.first} to {seed - 1}")
    return 1 if is_failed else 0


if __name__ == "__main__":
    sys.exit(main())
