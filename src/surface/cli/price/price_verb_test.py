#!/usr/bin/env python3
"""`berth price` end to end: the built-in catalogue, files, histories, bad input."""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DATA = os.environ.get("BERTH_DATA", "")
DEADLINE_SECONDS = 60
HEADER = ("provider,instance_type,region,purchase,gpu_model,gpu_count,gpu_memory_mib,vcpu_milli,memory_mib,mig_instances_max,"
          "micro_usd_per_hour,valid_from,valid_to,source")


def price(*arguments):
    return subprocess.run([PROGRAM, "price", *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False)


class Price(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def offers(self, name, *rows):
        path = self.folder / name
        path.write_text("\n".join((HEADER, *rows)) + "\n")
        return path

    def listed(self, *arguments):
        run = price("list", *arguments, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        answer = json.loads(run.stdout)
        self.assertEqual(answer["berth"], 1)
        return answer["offers"]

    def refused(self, *arguments):
        run = price(*arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        return run.stderr.removeprefix("berth: ").rstrip("\n")

    def test_the_catalogue_has_h100s_by_the_price_of_a_gpu(self):
        offers = self.listed("--gpu", "H100", "--at", "2026-11-01")
        self.assertEqual({each["gpu_model"] for each in offers}, {"h100"})
        by_type = {(each["instance_type"], each["purchase"]): each for each in offers}
        self.assertEqual(by_type["p5.48xlarge", "on-demand"]["micro_usd_per_hour"], 55_040_000)
        prices = [each["micro_usd_per_hour"] / each["gpu_count"] for each in offers if each["is_buyable"]]
        self.assertEqual(prices, sorted(prices))
        self.assertEqual(by_type["p5.48xlarge", "on-demand"]["age_days"], 104)
        table = price("list", "--gpu", "h100", "--at", "2026-11-01").stdout
        self.assertIn("A GPU costs least as", table)
        self.assertIn("days old", table)

    def test_the_day_decides(self):
        path = self.offers("o.csv", "p,t,r,on-demand,h100,1,,1000,1000,7,10,2026-01-01,2026-02-01,s",
                           "p,t,r,on-demand,h100,1,,1000,1000,7,8,2026-02-01,,s")
        for day, wanted in (("2026-01-31", 10), ("2026-02-01", 8)):
            self.assertEqual([each["micro_usd_per_hour"] for each in self.listed("--offers", path, "--at", day)], [wanted])
        self.assertEqual(self.refused("list", "--offers", path, "--at", "2025-12-31"),
                         "--at: wanted a day on which an offer is in force, found 2025-12-31")

    def test_show_has_the_prices_of_before(self):
        path = self.offers("o.csv", "p,t,r,on-demand,h100,1,,1000,1000,7,10000000,2026-01-01,2026-02-01,old list",
                           "p,t,r,on-demand,h100,1,,1000,1000,7,8000000,2026-02-01,,new list")
        run = price("show", "t", "--offers", path, "--at", "2026-03-01")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("$10.0000", run.stdout)
        self.assertIn("old list", run.stdout)

    def test_merge_keeps_history_and_changes_nothing_twice(self):
        old = self.offers("old.csv", "p,a,r,on-demand,h100,1,,1000,1000,7,10,2026-01-01,,s",
                          "p,b,r,on-demand,h100,1,,1000,1000,7,5,2026-01-01,,s")
        new = self.offers("new.csv", "p,a,r,on-demand,h100,1,,1000,1000,7,8,2026-03-01,,s",
                          "p,b,r,on-demand,h100,1,,1000,1000,7,5,2026-03-01,,s")
        out = self.folder / "out.csv"
        for source in (old, out):
            run = price("merge", "--offers", f"{source},{new}", "--out", out)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            rows = [(row["instance_type"], row["micro_usd_per_hour"], row["valid_from"], row["valid_to"])
                    for row in csv.DictReader(io.StringIO(out.read_text()))]
            self.assertEqual(rows, [("a", "10", "2026-01-01", "2026-03-01"), ("a", "8", "2026-03-01", ""),
                                    ("b", "5", "2026-01-01", "")])

    def test_a_price_as_an_event_of_the_ledger(self):
        def event(*words):
            run = price("event", "--sku", "A100-80GB", "--from", "2025-11-24T17:00:00+01:00", *words)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            return json.loads(run.stdout)

        wanted = {"type": "price", "id": "price/A100-80GB@1764000000000000", "sku": "A100-80GB",
                  "from_us": 1_764_000_000_000_000, "micro_usd_per_gpu_hour": 1_850_000}
        self.assertEqual(event("--usd-per-gpu-hour", "1.85"), wanted)
        self.assertEqual(event("--usd-per-gpu-hour", "0")["micro_usd_per_gpu_hour"], 0)
        path = self.offers("o.csv", "p,t,r,on-demand,a100,8,,1000,1000,7,15000004,2025-01-01,,s",
                           "p,t,r,spot,a100,8,,1000,1000,7,7000000,2025-01-01,,s",
                           "p,t,q,on-demand,a100,8,,1000,1000,7,15000004,2025-01-01,,s")
        # Divided by 8 GPUs, half to even.
        self.assertEqual(event("--offers", path, "--purchase", "on-demand")["micro_usd_per_gpu_hour"], 1_875_000)
        refused = self.refused("event", "--sku", "x", "--from", "2025-11-24T16:00:00Z", "--offers", path)
        self.assertIn("found 2 prices from $0.875000 to $1.875000 per hour: add --type, --regions or --purchase", refused)

    def test_a_price_that_is_none(self):
        good = ("--sku", "x", "--from", "2025-11-24T16:00:00Z")
        for words, message in [
                (good, "wanted --usd-per-gpu-hour, or offers that have one price"),
                ((*good, "--usd-per-gpu-hour", "1", "--gpu", "h100"), "wanted no options about offers beside it"),
                ((*good, "--usd-per-gpu-hour", "0.0000001"), "--usd-per-gpu-hour: wanted dollars with at most six decimals"),
                ((*good, "--usd-per-gpu-hour", "-1"), "--usd-per-gpu-hour: wanted dollars"),
                ((*good, "--usd-per-gpu-hour", "1000000001"), "--usd-per-gpu-hour: wanted dollars"),
                ((*good, "--usd-per-gpu-hour", "much"), "--usd-per-gpu-hour: wanted dollars"),
                (("--sku", "x", "--from", "today", "--usd-per-gpu-hour", "1"), "--from: wanted a time of RFC 3339, such as "),
                (("--sku", "x", "--from", "1999-01-01T00:00:00Z", "--usd-per-gpu-hour", "1"), "from_us: wanted "),
                (("--sku", "x" * 129, "--from", good[3], "--usd-per-gpu-hour", "1"), "id: wanted a text of at most 128 bytes"),
                (("--sku", "", "--from", good[3], "--usd-per-gpu-hour", "1"), "--sku: wanted a GPU model, found an empty text"),
                (("--from", good[3], "--usd-per-gpu-hour", "1"), "--sku is required")]:
            with self.subTest(words=words):
                self.assertIn(message, self.refused("event", *words))

    def test_bad_input_writes_nothing(self):
        good = self.offers("good.csv", "p,t,r,on-demand,h100,1,,1000,1000,7,10,2026-01-01,,s")
        other = self.offers("other.csv", "p,t,r,on-demand,h100,1,,1000,1000,7,11,2026-01-01,,s")
        broken = self.offers("broken.csv", "p,t,r,on-demand,h100,1,,1000,1000,7,1.5,2026-01-01,,s")
        out = self.folder / "out.csv"
        self.assertTrue(self.refused("list", "--offers", broken).startswith(f"{broken}:2:37: micro_usd_per_hour: wanted a whole"))
        self.assertIn("wanted one price and shape of p t r (on-demand) on 2026-01-01, found another at",
                      self.refused("list", "--offers", f"{good},{other}"))
        self.assertIn("found another at", self.refused("merge", "--offers", f"{good},{other}", "--out", out))
        self.assertIn("wanted two files", self.refused("merge", "--offers", good, "--out", out))
        self.assertIn("did you mean h100?", self.refused("list", "--offers", good, "--gpu", "h10"))
        self.assertIn("--at: wanted a date such as 2026-07-20", self.refused("list", "--at", "yesterday"))
        self.assertIn("--purchase: wanted on-demand, spot or committed", self.refused("list", "--purchase", "rent"))
        self.assertIn("--regions: wanted a region of an offer (r), found \"x\"",
                      self.refused("list", "--offers", good, "--regions", "x"))
        self.assertIn("no-such", self.refused("list", "--offers", self.folder / "no-such"))
        self.assertFalse(out.exists())

    @unittest.skipUnless(DATA, "BERTH_DATA does not name the folder with the public traces")
    def test_the_public_catalogues(self):
        for name in ("aws", "azure", "gcp"):
            path = Path(DATA) / "catalog" / f"{name}_gpu.csv"
            with open(path, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            offers = self.listed("--offers", path, "--at", "2026-08-10")
            on_demand = [each for each in offers if each["purchase"] == "on-demand"]
            wanted = [row for row in rows if "sold only as spot" not in row["note"]]
            self.assertEqual(len(on_demand), len(wanted))
            self.assertEqual(sum(each["micro_usd_per_hour"] or 0 for each in on_demand),
                             sum(int(row["price_od_usd_micro_hr"] or 0) for row in wanted))


if __name__ == "__main__":
    unittest.main()
