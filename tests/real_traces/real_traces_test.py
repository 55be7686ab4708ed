#!/usr/bin/env python3
"""Replays real traces under every policy and checks properties that hold for every replay. Skips (77) without data or program."""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("BERTH_DATA", "")
PROGRAM = os.environ.get("BERTH_PROGRAM", "")
COUNTS = ("requests", "in_time", "late", "dropped", "unfinished")
POLICIES = ("fixed", "shared", "whole", "static-even", "static-best", "paris", "ekya", "astraea", "berth")
TIMEOUT_S = 300


def replay(template, folder):
    """(bytes of the JSON, bytes of the journal) of one replay of a template."""
    with open(os.path.join(HERE, template), encoding="utf-8") as file:
        text = file.read().replace("@DATA@", os.path.abspath(DATA))
    scenario = os.path.join(folder, template.removesuffix(".in"))
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(text)
    journal = os.path.join(folder, "journal.jsonl")
    command = [PROGRAM, "replay", scenario, "--policies", ",".join(POLICIES), "--format", "json", "--journal", journal,
               "--seed", "7"]
    result = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
    with open(journal, "rb") as file:
        return result.stdout, file.read()


def recounted(journal):
    """Sums of the `second` records by (policy, service), and changes by policy, from the journal alone."""
    sums = collections.defaultdict(collections.Counter)
    changes = collections.Counter()
    for line in journal.splitlines():
        record = json.loads(line)
        if record["type"] == "second":
            own = {key: record[key] for key in COUNTS + ("accuracy_sum_micro",)}
            sums[record["policy"], record["service"]].update(own)
        elif record["type"] in ("slice_created", "slice_destroyed") and record["t_us"] > 0:
            changes[record["policy"]] += 1
    return sums, changes


class RealTraces(unittest.TestCase):
    def check(self, template):
        with tempfile.TemporaryDirectory() as folder:
            first = replay(template, folder)
            again = replay(template, folder)
        self.assertEqual(first, again, "the same scenario and seed give the same bytes")
        report = json.loads(first[0])
        sums, changes = recounted(first[1])
        self.assertEqual([policy["name"] for policy in report["policies"]], list(POLICIES))
        for policy in report["policies"]:
            with self.subTest(policy=policy["name"]):
                self.check_policy(policy, sums, changes)
        self.check_best(report)
        return report

    def check_policy(self, policy, sums, changes):
        if "infeasible" in policy:
            self.assertEqual(policy["name"], "whole")
            self.assertIn("GPU", policy["infeasible"])
            return
        self.assertEqual(policy["changes"], changes[policy["name"]])
        self.assertEqual(policy["requests"], sum(policy[key] for key in COUNTS[1:]))
        for service in policy["services"]:
            counted = sums[policy["name"], service["name"]]
            for key in COUNTS:
                self.assertEqual(service[key], counted[key], (service["name"], key))
            self.assertAlmostEqual(service["goodput"], counted["accuracy_sum_micro"] / 1e6 / counted["requests"], places=12)
        funnel = policy["utilisation"]
        self.assertLessEqual(funnel["busy"], funnel["allocated"] + 1e-9)
        self.assertLessEqual(funnel["allocated"], 1 + 1e-9)
        self.assertGreater(funnel["effective"], 0)

    def check_best(self, report):
        figures = {policy["name"]: policy for policy in report["policies"]}
        self.assertGreaterEqual(figures["static-best"]["goodput_mean_of_services"] + 1e-9,
                                figures["static-even"]["goodput_mean_of_services"])

    def test_twitter(self):
        self.check("twitter.yaml.in")

    def test_azure_llm(self):
        report = self.check("azure_llm.yaml.in")
        bert = next(s for s in report["policies"][0]["services"] if s["name"] == "bert")
        self.assertEqual(bert["requests"], 19366, "at scale 1 every request of the trace arrives")


if __name__ == "__main__":
    if not os.path.isdir(DATA) or not os.path.exists(PROGRAM):
        print("skipped: wants the public traces in BERTH_DATA and the program in BERTH_PROGRAM")
        sys.exit(77)
    unittest.main()
