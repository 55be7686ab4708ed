#!/usr/bin/env python3
"""`berth commit` end to end: the example recomputed, several plans, bad input."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shared"))
from terminal import without_progress  # noqa: E402

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/buying"
POLICIES = ["on-demand", "constant", "trailing-168", "trailing-720", "wang", "optimal", "berth"]
DEADLINE_SECONDS = 300


def commit(*arguments):
    return subprocess.run([PROGRAM, "commit", *map(str, arguments)], capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS, check=False)


def rows_of(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def recount(demand, plans, bought):
    """Cost, unused hours, and the regret of each purchase."""
    on_demand = next(price for term, price in plans.values() if term == 0)
    cost, unused = 0, 0
    for hour, units in enumerate(demand):
        active = [each for each in bought if each["hour"] <= hour < each["hour"] + plans[each["plan"]][0]]
        covered = sum(each["units"] for each in active)
        cost += sum(each["units"] * plans[each["plan"]][1] for each in active) + max(units - covered, 0) * on_demand
        unused += max(covered - units, 0)
    regrets = []
    for index, each in enumerate(bought):
        left = [(other["units"] * plans[other["plan"]][1], other["hour"] + plans[other["plan"]][0] - each["hour"] - 1)
                for other in bought[:index + 1]]
        regrets.append(sum(price * hours for price, hours in left if hours > 0))
    return cost, unused, regrets


class Commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.demand = [int(row["units"]) for row in rows_of(EXAMPLE / "demand.csv")]

    def write(self, name, *lines):
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def answer(self, *arguments, plans=EXAMPLE / "plans.csv"):
        run = commit("--demand", EXAMPLE / "demand.csv", "--demand-format", "csv", "--plans", plans, "--format", "json",
                     *arguments)
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, ""))
        return json.loads(run.stdout)

    def check(self, answer, demand, plans_path):
        plans = {row["name"]: (int(row["term_hours"]), int(row["micro_usd_per_hour"])) for row in rows_of(plans_path)}
        costs = {}
        for each in answer["policies"]:
            cost, unused, regrets = recount(demand, plans, each["bought"])
            self.assertEqual((each["micro_usd"], each["unused_unit_hours"]), (cost, unused), each["policy"])
            self.assertEqual([bought["regret_micro_usd"] for bought in each["bought"]], regrets, each["policy"])
            costs[each["policy"]] = cost
        for each in answer["policies"]:
            self.assertAlmostEqual(each["ratio"], costs[each["policy"]] / costs["optimal"], places=9)
        return costs

    def test_the_example_counted_again(self):
        answer = self.answer()
        self.assertEqual([each["policy"] for each in answer["policies"]], POLICIES)
        self.assertEqual(answer["hours"], len(self.demand))
        costs = self.check(answer, self.demand, EXAMPLE / "plans.csv")
        self.assertEqual(min(costs, key=costs.get), "optimal")
        self.assertLess(costs["berth"], costs["on-demand"])
        self.check(self.answer("--reverse"), self.demand[::-1], EXAMPLE / "plans.csv")

    def test_of_several_plans_some_policies_choose(self):
        plans = self.write("plans.csv", "name,term_hours,micro_usd_per_hour", "on-demand,0,100", "week,168,80", "month,720,60")
        answer = self.answer(plans=plans)
        self.assertEqual([each["policy"] for each in answer["policies"]], ["on-demand", "optimal", "berth"])
        self.check(answer, self.demand, plans)

    def test_a_table_says_what_to_do(self):
        run = commit("--demand", EXAMPLE / "demand.csv", "--demand-format", "csv", "--plans", EXAMPLE / "plans.csv")
        self.assertEqual(run.returncode, 0)
        self.assertIn("optimal (hindsight)", run.stdout)
        self.assertRegex(run.stdout, r"Commit as berth does: \d+ purchases, \$[0-9,.]+ in all, [0-9.]+% less\s+than on-demand")
        self.assertIn("still to be paid", run.stdout.replace("\n  ", " "))

    def test_a_page_is_written_beside_the_answer(self):
        page = self.folder / "a/b"
        self.assertEqual(self.answer("--report", page), self.answer())
        self.assertIn("What covers the demand", (page / "index.html").read_text(encoding="utf-8"))
        blocked = commit("--demand", EXAMPLE / "demand.csv", "--demand-format", "csv", "--plans", EXAMPLE / "plans.csv",
                         "--report", page / "index.html")
        self.assertEqual((blocked.returncode, blocked.stdout), (1, ""))

    def test_bad_input(self):
        report = self.folder / "page"
        demand = self.write("demand.csv", "hour,units", "0,1", "2,1")
        plans = self.write("plans.csv", "name,term_hours,micro_usd_per_hour", "on-demand,0,100", "a,1,80", "b,2,60")
        for words, message in [
                (["--demand", demand], f"{demand}:3:1: hour: wanted 1, as hours have no gaps and begin with 0, found \"2\""),
                (["--plans", plans, "--policies", "wang"], f"--policies: wanted one committed plan for wang, found 2 in {plans}"),
                (["--policies", "wnag"], "wnag"),
                (["--demand-format", "xlsx"], '--demand-format: wanted csv or openb-pods, found "xlsx"'),
                (["--plans", self.folder / "none"], "none")]:
            options = {"--demand": EXAMPLE / "demand.csv", "--demand-format": "csv", "--plans": EXAMPLE / "plans.csv",
                       **dict(zip(words[::2], words[1::2], strict=True))}
            run = commit(*(word for option in options.items() for word in option), "--report", report)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(message, run.stderr)
        self.assertFalse(report.exists())


if __name__ == "__main__":
    unittest.main()
