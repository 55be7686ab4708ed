#!/usr/bin/env python3
"""`berth tier evaluate` recounted by a second program, on generated and public data; what it must not see; bad input."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tier_data  # noqa: E402
import tier_model  # noqa: E402

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
DATA = os.environ.get("BERTH_DATA", "")
DEADLINE_SECONDS = 300
PUBLIC = {"gavel": "gavel/physical_cluster_throughputs.json", "miso": "miso/mig_iteration_time.csv", "sia": "sia",
          "parvagpu": "parvagpu"}
MAKERS = {"gavel": tier_data.gavel_json, "miso": tier_data.miso_csv, "sia": tier_data.sia_folder,
          "parvagpu": tier_data.parvagpu_folder}


class TierTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def berth(self, *words):
        return subprocess.run([PROGRAM, "tier", "evaluate", *map(str, words)], capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS, check=False, cwd=self.folder)

    def evaluate(self, source, data, *words):
        """(figures, lines of the log)."""
        log = self.folder / "log.jsonl"
        run = self.berth(data, "--source", source, "--log", log, "--format", "json", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout), [json.loads(line) for line in log.read_text().splitlines()]

    def recount(self, source, data, measure, *words, sure=0.9, tiers=None, **cases):
        """Checks every line and every figure; returns the lines."""
        table = tier_model.read(source, data, tiers)
        wanted = list(tier_model.cases_of(table, source, **cases))
        answer, lines = self.evaluate(source, data, "--measure", measure, *words)
        self.assertEqual((answer["berth"], answer["format"], answer["cases"]), (1, source, len(wanted)))
        by_key = {}
        for case in wanted:
            by_key.setdefault((case.group, case.workload), []).append(case)
        ordered = [by_key[line["group"], line["workload"]].pop(0) for line in lines]
        self.assertEqual([key for key, left in by_key.items() if left], [])
        for case, line in zip(ordered, lines, strict=True):
            self.assertEqual(tier_model.faults_of(case, line, measure, sure), [], (case, line))
        self.check_figures(answer["policies"], ordered, lines, measure)
        return lines

    def check_figures(self, policies, cases, lines, measure):
        self.assertEqual([row["policy"] for row in policies], ["berth", "cheapest", "biggest", "step-up", "nearest", "linear"])
        rows = {row["policy"]: row for row in policies}
        wanted = tier_model.rivals(cases, measure)
        wanted["berth"] = tier_model.figures(cases, [line["chosen"] for line in lines], [len(line["measured"]) for line in lines])
        for policy, figures in wanted.items():
            self.assertEqual({key: rows[policy][key] for key in figures}, figures, policy)
            self.assertEqual(rows[policy]["measure"], measure)
        for found, bin_wanted in zip(rows["berth"]["calibration"], tier_model.calibration(cases, lines), strict=True):
            self.assertEqual((found["from"], found["cases"]), (bin_wanted["from"], bin_wanted["cases"]))
            self.assertAlmostEqual(found["stated"], bin_wanted["stated"], places=12)
            self.assertAlmostEqual(found["kept"], bin_wanted["kept"], places=12)
        for policy in ("nearest", "linear"):
            self.assertEqual(sum(part["cases"] for part in rows[policy]["calibration"]), len(cases))
        self.assertEqual(rows["step-up"]["calibration"], [])


class Generated(TierTest):
    def test_formats(self):
        for source, make in MAKERS.items():
            folder = self.folder / source
            folder.mkdir()
            with self.subTest(source=source):
                self.recount(source, make(folder, 1), 1)

    def csv_tiers(self):
        return [(name, Fraction(price)) for name, price in tier_data.TIERS]

    def test_csv(self):
        tiers = tier_data.write_tiers(self.folder)
        for make, measure in ((tier_data.jobs_csv, 0), (tier_data.jobs_csv, 3), (tier_data.services_csv, 2)):
            data = make(self.folder, 2)
            with self.subTest(data=data.name, measure=measure):
                self.recount("csv", data, measure, "--tiers", tiers, tiers=self.csv_tiers())

    def test_other_targets(self):
        tiers = tier_data.write_tiers(self.folder)
        some = [Fraction("0.5"), Fraction(1)]
        lines = self.recount("csv", tier_data.jobs_csv(self.folder, 3), 1, "--tiers", tiers, "--fractions", "0.5,1", "--sure", "0.6",
                             sure=0.6, tiers=self.csv_tiers(), fractions=some)
        tied = [line for line in lines if line["group"] == "ties"]
        self.assertEqual([line["best_cost"] for line in tied], [0.1, 0.1])
        self.recount("csv", tier_data.services_csv(self.folder, 3), 1, "--tiers", tiers, "--latencies", "1.3,4", "--rates", "0.7",
                     tiers=self.csv_tiers(), latencies=[Fraction("1.3"), Fraction(4)], rates=[Fraction("0.7")])

    def test_other_tiers_of_a_format(self):
        path = self.folder / "few.yaml"
        path.write_text("tiers:\n- {name: 7g, usd_per_hour: 1}\n- {name: 2g, usd_per_hour: 0.4}\n- {name: 3g, usd_per_hour: 1.5}\n")
        tiers = [("7g", Fraction(1)), ("2g", Fraction("0.4")), ("3g", Fraction("1.5"))]
        folder = self.folder / "parvagpu"
        folder.mkdir()
        self.recount("parvagpu", tier_data.parvagpu_folder(folder, 4), 1, "--tiers", path, tiers=tiers)

    def test_left_out_rows_are_counted(self):
        tiers = tier_data.write_tiers(self.folder)
        data = tier_data.jobs_csv(self.folder, 1)
        run = self.berth(data, "--source", "csv", "--tiers", tiers)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn(f"{tier_data.GROUPS} rows of other tiers were left out.", run.stdout)
        run = self.berth(data, "--source", "csv", "--tiers", tiers, "--format", "json")
        self.assertEqual(run.stderr, f"berth: warning: {tier_data.GROUPS} rows of other tiers were left out\n")

    def test_models_left_out_together(self):
        tiers = tier_data.write_tiers(self.folder)
        data = tier_data.jobs_csv(self.folder, 5)
        together, alone = self.folder / "together.csv", self.folder / "alone.csv"
        together.write_text("model,group\nmodel 0,x\nmodel 1,x\nmodel 2,x\nnowhere,x\n")
        alone.write_text("model,group\nmodel 0,x\nmodel 1,y\n")
        words = (data, "--source", "csv", "--tiers", tiers, "--format", "json")
        usual = self.berth(*words)
        self.assertEqual(usual.stdout, self.berth(*words, "--leave", "group").stdout)
        self.assertEqual(usual.stdout, self.berth(*words, "--leave", alone).stdout)
        self.assertNotEqual(usual.stdout, self.berth(*words, "--leave", together).stdout)
        self.recount("csv", data, 1, "--tiers", tiers, "--leave", together, tiers=self.csv_tiers())

    def test_same_bytes_twice(self):
        data = tier_data.miso_csv(self.folder, 6)
        runs = [self.evaluate("miso", data, "--measure", 1) for _ in range(2)]
        self.assertEqual(runs[0], runs[1])


class Unseen(TierTest):
    """What is not known of a workload does not change what is decided of it."""

    def changed_jobs(self, factor):
        """Rates of one group between its cheapest and its fastest tier, times a factor."""
        lines = tier_data.jobs_csv(self.folder, 7).read_text().splitlines()
        ends = {}
        for line in lines[1:]:
            group, name, tier, _, _, rate, _ = line.split(",")
            if group == "model 2" and tier in tier_data.SPEEDS and float(rate):
                ends.setdefault(name, []).append((float(rate), tier))
        order = {name: place for place, (name, _) in enumerate(sorted(tier_data.TIERS, key=lambda tier: Fraction(tier[1])))}
        kept = {(name, min((tier for _, tier in rates), key=order.get)) for name, rates in ends.items()}
        kept |= {(name, max(rates)[1]) for name, rates in ends.items()}
        changed, count = [lines[0]], 0
        for line in lines[1:]:
            fields = line.split(",")
            if fields[0] == "model 2" and fields[2] in tier_data.SPEEDS and (fields[1], fields[2]) not in kept and float(fields[5]):
                fields[5] = f"{float(fields[5]) * factor:.3f}"
                count += 1
            changed.append(",".join(fields))
        path = self.folder / f"changed{factor}.csv"
        path.write_text("\n".join(changed) + "\n")
        return path, count

    def test_rows_of_other_tiers(self):
        tiers = tier_data.write_tiers(self.folder)
        decided = []
        for factor in (1, 0.5):
            path, count = self.changed_jobs(factor)
            self.assertGreater(count, 0)
            _, lines = self.evaluate("csv", path, "--tiers", tiers)
            decided.append([(line["workload"], line["target"], line["chosen"], line["probability"]) for line in lines
                            if line["group"] == "model 2"])
        self.assertEqual(decided[0], decided[1])


@unittest.skipUnless(DATA, "BERTH_DATA names no folder of public data")
class Public(TierTest):
    def test_recounted(self):
        counts = {}
        for source, path in PUBLIC.items():
            with self.subTest(source=source):
                counts[source] = len(self.recount(source, pathlib.Path(DATA, path), 1))
        self.assertEqual(counts["parvagpu"], 11 * 20)


class BadInput(TierTest):
    def refused(self, *words, parts):
        log = self.folder / "log.jsonl"
        run = self.berth(*words, "--log", log)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertFalse(log.exists())
        self.assertNotIn("Traceback", run.stderr)

    def test_options(self):
        data = tier_data.miso_csv(self.folder, 1)
        good = (data, "--source", "miso")
        for words, parts in (
            ((data, "--source", "philly"), ("--source: wanted gavel", '"philly"')),
            ((data, "--source", "csv"), ("--tiers: wanted a file",)),
            ((*good, "--measure", "-1"), ("--measure",)),
            ((*good, "--measure", "1.5"), ("--measure",)),
            ((*good, "--sure", "1.5"), ("--sure: wanted a probability from 0 to 1",)),
            ((*good, "--fractions", "0.5,1.2"), ("--fractions: wanted numbers from 0 to 1", '"1.2"')),
            ((*good, "--fractions", "x"), ("--fractions", '"x"')),
            ((*good, "--latencies", "1"), ("--latencies: wanted numbers above 1",)),
            ((*good, "--rates", "0"), ("--rates: wanted numbers above 0",)),
            ((*good, "--format", "xml"), ("--format",)),
            ((*good, "--tiers", "missing.yaml"), ("missing.yaml",)),
            ((*good, "--leave", "missing.csv"), ("missing.csv",)),
            (("missing.csv", "--source", "miso"), ("missing.csv",)),
        ):
            with self.subTest(words=words[1:]):
                self.refused(*words, parts=parts)

    def test_files(self):
        tiers = tier_data.write_tiers(self.folder)
        head = "group,workload,tier,batch,processes,samples_per_second,latency_ms\n"
        for text, parts in (
            (head + "m,w,small,0,1,5,\n", (":2:", "batch")),
            (head + "m,w,small,1,1,nan,\n", (":2:", "samples_per_second")),
            (head + "m,w,small,1,1,5,\nm,w,small,1,1,5,\n", (":3:", "found a second one")),
            (head + "m,w,small,1,1,5,\n", ("wanted a workload with rows on at least two of the tiers",)),
            (head, ("wanted a workload",)),
            ("group,tier\n", (":1:", "workload")),
        ):
            path = self.folder / "bad.csv"
            path.write_text(text)
            with self.subTest(text=text):
                self.refused(path, "--source", "csv", "--tiers", tiers, parts=parts)
        self.refused(tiers, "--source", "gavel", parts=("tiers.yaml:1:",))
        self.refused(tiers, "--source", "sia", parts=("wanted a folder",))
        empty = self.folder / "empty"
        empty.mkdir()
        self.refused(empty, "--source", "parvagpu", parts=("wanted files MODEL.csv",))
        self.refused(empty, "--source", "sia", parts=("wanted files APP/placements-TIER.csv",))

    def test_tiers_and_groups(self):
        folder = self.folder / "parvagpu"
        folder.mkdir()
        data = tier_data.parvagpu_folder(folder, 1)
        few = self.folder / "few.yaml"
        few.write_text("tiers:\n- {name: 1g, usd_per_hour: 1}\n- {name: 2g, usd_per_hour: 2}\n")
        self.refused(data, "--source", "parvagpu", "--tiers", few, parts=("few.yaml", "7g"))
        few.write_text("tiers:\n- {name: 1g, usd_per_hour: 0}\n")
        self.refused(data, "--source", "parvagpu", "--tiers", few, parts=("few.yaml:2:", "usd_per_hour"))
        leave = self.folder / "leave.csv"
        leave.write_text("model,group\nmodel0,x\nmodel0,y\n")
        self.refused(data, "--source", "parvagpu", "--leave", leave, parts=("leave.csv:3:",))
        leave.write_text("model,group\n" + "".join(f"model{group},x\n" for group in range(tier_data.GROUPS)))
        self.refused(data, "--source", "parvagpu", "--leave", leave, parts=("two",))


if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: BERTH_PROGRAM does not name the program")
        sys.exit(77)
    unittest.main()
