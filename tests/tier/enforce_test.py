"""`tier` and `known_on` end to end: replays, plans and refusals of the built program."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import enforced_fleet as fleet

SEED = 3
HOURS = 0.25
MODELS = fleet.gpu_models()


def berth(*arguments):
    return subprocess.run([os.environ["BERTH_PROGRAM"], *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def model_of(record):
    return MODELS[record["gpu"]]


class EnforceTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        fleet.write_scenario(self.folder, SEED, HOURS)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, source, *changes):
        text = (self.folder / source).read_text(encoding="utf-8")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def replay(self, path, policy="berth", name="journal.jsonl"):
        journal = self.folder / name
        answer = berth("replay", path, "--policies", policy, "--format", "json", "--journal", journal)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)["policies"][0], fleet.read_journal(journal)

    def test_a_pinned_service_is_on_its_model_only(self):
        path = self.write("pinned.yaml", "known.yaml", ("tier: auto", "tier: {gpu: A30}"))
        # Targets that slices of this model can keep.
        path.write_text(re.sub(r"latency_ms: ([0-9.]+)", lambda found: f"latency_ms: {4 * float(found[1]):.3f}",
                               path.read_text(encoding="utf-8")), encoding="utf-8")
        for policy in ("berth", "static-even", "migrator"):
            _, journal = self.replay(path, policy)
            places = {model_of(record) for record in journal if record["type"] == "serving"}
            self.assertEqual(places, {"A30-24GB"}, policy)
            self.assertGreater(sum(record["in_time"] for record in journal if record["type"] == "second"), 0, policy)

    def test_auto_keeps_each_service_on_the_model_chosen(self):
        _, journal = self.replay(self.folder / "unknown.yaml")
        chosen = {}
        for record in journal:
            if record["type"] == "tier_chosen":
                chosen[record["service"]] = record["model"]
                self.assertGreaterEqual(record["probability"], 0)
                self.assertTrue(record["reason"])
                self.assertEqual(len(record["rejected"]), 3)
            elif record["type"] == "slice_created" and "service" in record:
                self.assertEqual(model_of(record), chosen[record["service"]], record)
        self.assertEqual(len(chosen), 4)
        measured = {(record["service"], record["model"]) for record in journal if record["type"] == "tier_measured"}
        elsewhere = {(service, model) for service, model in chosen.items() if model != "T4-16GB"}
        self.assertLessEqual({model for _, model in measured}, set(MODELS) - {"T4-16GB"})
        self.assertTrue(measured or not elsewhere)
        _, again = self.replay(self.folder / "unknown.yaml", name="again.jsonl")
        self.assertEqual(journal, again)

    def test_a_plan_names_the_models_and_marks_predictions(self):
        answer = berth("plan", self.folder / "unknown.yaml", "--at", "60", "--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        plan = json.loads(answer.stdout)
        tiers = {tier["service"]: tier for tier in plan["tiers"]}
        self.assertEqual(len(tiers), 4)
        for action in plan["actions"]:
            tier = tiers.get(action["service"])
            if tier is None or action["type"] != "assign":
                continue
            self.assertEqual(MODELS[action["gpu"]], tier["model"])
            if tier["model"] == "T4-16GB":
                self.assertNotIn("predicted", action)
        table = berth("plan", self.folder / "unknown.yaml", "--at", "60")
        self.assertIn("probability", table.stdout)

    def test_a_model_without_rows_is_never_chosen(self):
        rows = (self.folder / "m0.csv").read_text(encoding="utf-8").splitlines()
        kept = [row for row in rows if "A30" not in row and "A100" not in row]
        (self.folder / "m0.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
        _, journal = self.replay(self.folder / "unknown.yaml")
        choices = [record for record in fleet.choices_of(journal) if record["service"] == "m0"]
        self.assertTrue(choices)
        for choice in choices:
            self.assertIn(choice["model"], ("T4-16GB", "H100-80GB-SXM5"))
            whys = {rejected["model"]: rejected["why"] for rejected in choice["rejected"]}
            self.assertIn("no row", whys["A30-24GB"])

    def test_bad_input_is_refused_and_nothing_is_written(self):
        cases = [
            (("usd_per_gpu_hour: 1.1", "count: 4"), ("count: 4, count: 4", "count: 4"), "fleet[1].usd_per_gpu_hour"),
            (("tier: auto", "tier: {gpu: L4}"), None, "services[0].tier.gpu"),
            (("tier: auto", "tier: fast"), None, "services[0].tier"),
            (("tier: auto", "tier: auto, known_on: [V100-16GB]"), None, "services[0].known_on[0]"),
            (("tier: auto", "tier: {gpu: A30}, pins: [{gpu: 12, profile: full, start: 0}]"), None,
             "services[0].tier.gpu"),
            (("berth: 1", "berth: 1\ntier_sure: 0"), None, "tier_sure"),
        ]
        for change, second, key in cases:
            text = (self.folder / "known.yaml").read_text(encoding="utf-8").replace(*change)
            if second:
                text = text.replace(*second)
            (self.folder / "bad.yaml").write_text(text, encoding="utf-8")
            journal = self.folder / "none.jsonl"
            answer = berth("replay", self.folder / "bad.yaml", "--policies", "berth", "--journal", journal)
            self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
            self.assertIn(key, answer.stderr)
            self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)
            self.assertFalse(journal.exists())


if __name__ == "__main__":
    unittest.main()
