"""deploy/ without a cluster: crds.yaml is what the program prints, and the other files refer to what is there."""
import os
import pathlib
import subprocess
import unittest

import yaml

ROOT = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEPLOY = ROOT / "deploy"


def objects(name):
    return [each for each in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")) if each]


def schemas_below(schema, path="schema"):
    yield path, schema
    for key, below in schema.get("properties", {}).items():
        yield from schemas_below(below, f"{path}.{key}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from schemas_below(schema[key], f"{path}.{key}")


class Deploy(unittest.TestCase):
    def test_crds_are_what_the_program_prints(self):
        printed = subprocess.run([PROGRAM, "config", "crds"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((DEPLOY / "crds.yaml").read_text(encoding="utf-8"), printed, "berth config crds > deploy/crds.yaml")
        self.assertEqual(printed, subprocess.run([PROGRAM, "config", "crds"], capture_output=True, text=True, check=True).stdout)

    def test_schemas_are_structural(self):
        free = set()
        for definition in objects("crds.yaml"):
            for path, schema in schemas_below(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]):
                if schema.get("x-kubernetes-preserve-unknown-fields"):
                    free.add(path)
                else:
                    self.assertIn("type", schema, path)
        self.assertEqual(free, {f"schema.spec.{key}" for key in ("pod", "start_seconds", "accuracy", "tier")}
                         | {"schema.spec.variants.items.accuracy"})

    def test_the_example_is_an_object_of_each_kind(self):
        kinds = {definition["spec"]["names"]["kind"]: definition for definition in objects("crds.yaml")}
        for each in yaml.safe_load_all((ROOT / "examples/live/service.yaml").read_text(encoding="utf-8")):
            version = kinds[each["kind"]]["spec"]["versions"][0]
            self.assertEqual(each["apiVersion"], f"{kinds[each['kind']]['spec']['group']}/{version['name']}")
            known = version["schema"]["openAPIV3Schema"]["properties"]["spec"].get("properties", {})
            self.assertLessEqual(set(each.get("spec", {})), set(known))

    def test_files_refer_to_what_is_there(self):
        kustomization = objects("kustomization.yaml")[0]
        listed = set(kustomization["resources"]) | {name for each in kustomization["configMapGenerator"] for name in each["files"]}
        self.assertEqual(listed | {"kustomization.yaml"}, {path.name for path in DEPLOY.iterdir()})
        account = next(each for each in objects("rights.yaml") if each["kind"] == "ServiceAccount")["metadata"]
        for binding in (each for each in objects("rights.yaml") if each["kind"].endswith("Binding")):
            self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", **account}])
        pod = objects("operator.yaml")[0]["spec"]["template"]["spec"]
        self.assertEqual(pod["serviceAccountName"], account["name"])
        self.assertEqual(objects("operator.yaml")[0]["spec"]["replicas"], 2)


if __name__ == "__main__":
    unittest.main()
