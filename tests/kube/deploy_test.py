"""deploy/ on a real API server: it is applied, its schemas refuse bad objects, and its account has the rights that the operator needs
and no other."""
import json
import pathlib
import subprocess
import sys
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import real_cluster
from real_cluster import DRIVER, PROGRAM, ROOT
from services_test import SERVICE, Operator, ServiceCluster

ACCOUNT = "system:serviceaccount:berth-system:berth-operator"
# Rights whose use takes a failure: the object is read after the answer to a write was lost.
AFTER_A_LOST_ANSWER = {("", "pods", "get"), ("resource.k8s.io", "resourceclaims", "get"), ("events.k8s.io", "events", "get"),
                       ("resource.k8s.io", "devicetaintrules", "get"),
                       ("berth.dev", "tenants", "get"), ("berth.dev", "gpuservices", "get")}
ROWS = [{"model": "m", "gpu": "A100-80GB", "profile": "1g.10gb", "batch": 1, "processes": 1, "requests_per_second": 10,
         "latency_ms": 50}]


def service(**spec):
    """A GpuService that is valid, with keys replaced; None: without that key."""
    whole = {"profile": {"format": "csv", "model": "m", "rows": ROWS}, "slo": {"latency_ms": 100}, **spec}
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService", "metadata": {"name": "s", "namespace": "default"},
            "spec": {key: value for key, value in whole.items() if value is not None}}


def rights():
    """What rights.yaml grants: (group, resource, verb)."""
    granted = set()
    for each in yaml.safe_load_all((ROOT / "deploy/rights.yaml").read_text(encoding="utf-8")):
        for rule in each.get("rules", []):
            granted |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"]
                        for verb in rule["verbs"]}
    return granted


class Deploy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ServiceCluster(is_audited=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.kubectl("apply", "-k", str(ROOT / "deploy"))
        cls.cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/tenants.berth.dev",
                            "crd/gpuservices.berth.dev")

    def apply(self, *objects, check=True):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        return self.cluster.kubectl("apply", "-f", "-", given=text, check=check)

    def test_everything_can_be_applied_again(self):
        said = self.cluster.kubectl("apply", "-k", str(ROOT / "deploy")).stdout.splitlines()
        self.assertEqual([line for line in said if not line.endswith(" unchanged")], [])

    def test_kubectl_takes_the_file_of_berth_apply(self):
        self.cluster.kubectl("create", "namespace", "photos")
        self.cluster.kubectl("apply", "-f", str(ROOT / "examples/live/service.yaml"))
        self.assertEqual(self.cluster.kubectl("get", "gpuservices", "-n", "photos").stdout.split("\n")[0].split(),
                         ["NAME", "PHASE", "SLICES", "READY", "ACCEPTED", "AGE"])
        self.cluster.kubectl("delete", "-f", str(ROOT / "examples/live/service.yaml"))

    def test_values_and_maps_are_taken_where_the_api_takes_both(self):
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i", "command": ["x"]}]}}
        for spec in ({"start_seconds": 3.5, "accuracy": 1, "tier": "auto"},
                     {"start_seconds": {"runtime": 1, "model": 2.5}, "accuracy": {"before": 0.5, "after": 1},
                      "tier": {"gpu": "A100-80GB"}, "pod": template}):
            self.apply(service(**spec))
            kept = json.loads(self.cluster.kubectl("get", "gpuservice", "s", "-o", "json").stdout)["spec"]
            self.assertEqual({key: kept[key] for key in spec}, spec)
            self.cluster.kubectl("delete", "gpuservice", "s")

    def test_a_bad_object_is_refused_with_its_field(self):
        """By kubectl, which knows the schema, for missing and unknown keys; else by the server."""
        row = ROWS[0]
        for spec, field in (
                ({"slo": {"latency_ms": 0}}, "spec.slo.latency_ms"),
                ({"slo": {"latency_ms": "fast"}}, "spec.slo.latency_ms"),
                ({"slo": None}, 'required field "slo" in dev.berth.v1alpha1.GpuService.spec'),
                ({"slo": {"latency_ms": 5, "attainment": 1}}, "spec.slo.attainment"),
                ({"drop": "late"}, "spec.drop"),
                ({"profile": {"format": "csv", "model": "m", "rows": []}}, "spec.profile.rows"),
                ({"profile": {"format": "csv", "model": "m", "rows": [{**row, "batch": 0}]}}, "spec.profile.rows[0].batch"),
                ({"profile": {"format": "csv", "model": "m", "path": "p.csv", "rows": ROWS}},
                 'unknown field "path" in dev.berth.v1alpha1.GpuService.spec.profile'),
                ({"start_seconds": -1}, "spec.start_seconds"),
                ({"start_seconds": {"runtime": -1, "model": 1}}, "spec.start_seconds.runtime"),
                ({"tier": "manual"}, "spec.tier"),
                ({"warm_pool": {"min": 1.5}}, "spec.warm_pool.min"),
                ({"replicas": {"max": 0}}, "spec.replicas.max"),
                ({"no_such_key": 1}, 'unknown field "no_such_key" in dev.berth.v1alpha1.GpuService.spec'),
        ):
            refused = self.apply(service(**spec), check=False)
            self.assertNotEqual(refused.returncode, 0, spec)
            self.assertIn(field, refused.stderr, spec)
        named = service()
        named["metadata"]["name"] = "a.b"
        self.assertIn("metadata.name", self.apply(named, check=False).stderr)
        self.assertEqual(self.cluster.get("gpuservices"), [])

    def kubeconfig_of_account(self):
        token = self.cluster.kubectl("create", "token", "berth-operator", "-n", "berth-system").stdout.strip()
        config = json.loads(pathlib.Path(self.cluster.kubeconfig).read_text(encoding="utf-8"))
        config["users"] = [{"name": "account", "user": {"token": token}}]
        config["contexts"] = [{"name": "account", "context": {"cluster": "test", "user": "account"}}]
        config["current-context"] = "account"
        path = pathlib.Path(self.cluster.folder.name) / "account"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    def rights_used(self):
        """By the account, from the audit log; the lines of what it was refused."""
        used, refused = set(), []
        for line in (pathlib.Path(self.cluster.folder.name) / "audit.log").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            thing, status = entry.get("objectRef"), entry.get("responseStatus", {}).get("code", 200)
            if entry["user"]["username"] != ACCOUNT or thing is None:
                continue
            resource = thing["resource"] + (f"/{thing['subresource']}" if "subresource" in thing else "")
            if status == 403:
                refused.append(line)
            if status < 300 or (status == 404 and entry["verb"] == "get"):
                used.add((thing.get("apiGroup", ""), resource, entry["verb"]))
            if status == 201 and entry["verb"] == "patch":  # an apply that creates needs both rights
                used.add((thing.get("apiGroup", ""), resource, "create"))
        if ("resource.k8s.io", "resourceclaims/status", "patch") in used:
            # Whoever writes an allocation needs this right too, which is not a resource of its own.
            used.add(("resource.k8s.io", "resourceclaims/binding", "patch"))
        return used, refused

    def add_waiting_pod(self, name):
        claim = {"requests": [{"name": "slice", "exactly": {"deviceClassName": "three"}}]}
        self.cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                             "metadata": {"name": name, "namespace": "default"}, "spec": {"devices": claim}})
        self.cluster.add_pod(name, gated=True)

    def use_everything(self):
        """A service that comes and goes, pods that are placed and that wait, a pause; then another driver is owned."""
        cluster = self.cluster
        cluster.begin()
        expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].profile == '3g.40gb'"
        cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "three"},
                        "spec": {"selectors": [{"cel": {"expression": expression}}]}},
                       {"apiVersion": "berth.dev/v1alpha1", "kind": "Tenant", "metadata": {"name": "lab"}},
                       {"apiVersion": "berth.dev/v1alpha1", "kind": "GpuService",
                        "metadata": {"name": "vision", "namespace": "lab"}, "spec": SERVICE})
        account = self.kubeconfig_of_account()
        operator = Operator(cluster, kubeconfig=account)
        try:
            cluster.await_with_pods(lambda: cluster.service().get("status", {}).get("phase") == "Running", "the service serves")
            self.assertEqual(self.cluster.kubectl("get", "gpuservices", "-n", "lab", "--no-headers").stdout.split()[:5],
                             ["vision", "Running", "1", "1", "True"])
            for name in ("one", "two"):  # only one of them fits next to the service
                self.add_waiting_pod(name)
            cluster.await_true(lambda: len(cluster.bound()) == 1, "one pod bound")
            cluster.await_true(lambda: any("two" in event["involvedObject"].get("name", "") for event in cluster.get("events")),
                               "an event of the other")
            cluster.kubectl("cordon", "a")
            cluster.await_true(lambda: any("cordoned" in event["note"] for event in cluster.get("events.events.k8s.io")),
                               "another reason")
            cluster.kubectl("uncordon", "a")
            cluster.await_true(lambda: any(event.get("series", {}).get("count", 0) > 1
                                           for event in cluster.get("events.events.k8s.io")), "the reason before, again")
            for words, paused in ((["pause", "--reason", "test"], "true"), (["resume"], "false")):
                subprocess.run([PROGRAM, "plan", *words, "--data", f"{cluster.folder.name}/state"], check=True, capture_output=True)
                kept = ["get", "configmap", "berth-pause", "-n", "berth-system", "-o", "jsonpath={.data.paused}"]
                cluster.await_true(lambda wanted=paused: cluster.kubectl(*kept, check=False).stdout == wanted, f"paused: {paused}")
            cluster.kubectl("delete", "gpuservice", "vision", "-n", "lab")
            cluster.await_with_pods(lambda: not cluster.items("pods") and not cluster.items("resourceclaims"), "nothing left")
            self.assertEqual(operator.stop(), 0)
            operator = Operator(cluster, "other", account, "gpu.example.com")  # the rule of the driver before goes
            self.assertEqual(operator.stop(), 0)
        except AssertionError as failed:
            raise AssertionError(f"{failed}\n{operator.log.read_text(encoding='utf-8')[-6000:]}") from failed
        finally:
            if operator.process.poll() is None:
                operator.stop()

    def test_the_account_has_the_rights_that_it_uses(self):
        self.use_everything()
        used, refused = self.rights_used()
        self.assertEqual(refused, [])
        self.assertEqual(rights() - used - AFTER_A_LOST_ANSWER, set())


if __name__ == "__main__":
    real_cluster.skip_unless_built()
    unittest.main()
