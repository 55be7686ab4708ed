#!/usr/bin/env python3
"""`berth export` end to end: FOCUS and OpenCost files, their sums, a second implementation, bad input."""

import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60

sys.path.insert(0, str(ROOT / "tests/ledger"))

import ledger_oracle  # noqa: E402
import ledger_random  # noqa: E402

MANDATORY = {"BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "PricingQuantity", "PricingUnit", "BillingAccountId",
             "BillingAccountName", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart",
             "ChargePeriodEnd", "ChargeCategory", "ChargeClass", "ChargeDescription", "InvoiceIssuerName", "ProviderName",
             "PublisherName", "ServiceCategory", "ServiceName"}
NOT_NULL = MANDATORY - {"PricingQuantity", "PricingUnit", "BillingAccountName", "ChargeClass", "ChargeDescription"}
OTHER_COSTS = ("cpuCost", "ramCost", "pvCost", "networkCost", "loadBalancerCost", "sharedCost", "externalCost")

OCTOBER_US, NOVEMBER_US, HOUR_US = 1_790_812_800_000_000, 1_793_491_200_000_000, 3_600_000_000
# October is idle for two hours and closed; afterwards it becomes known that acme used half of the first hour.
TWO_TENANTS = [
    {"type": "price", "id": "1", "sku": "a", "from_us": OCTOBER_US, "micro_usd_per_gpu_hour": 2_000_001},
    {"type": "gpu", "id": "2", "gpu": "g", "sku": "a", "capacity": 2, "from_us": OCTOBER_US, "to_us": OCTOBER_US + 2 * HOUR_US},
    {"type": "close", "id": "3", "month": "2026-10"},
    {"type": "use", "id": "4", "gpu": "g", "slice": "0", "weight": 1, "tenant": "acme", "service": "chat", "role": "inference",
     "from_us": OCTOBER_US, "to_us": OCTOBER_US + HOUR_US},
    {"type": "gpu", "id": "5", "gpu": "g", "sku": "a", "capacity": 2, "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + 10 * HOUR_US},
    {"type": "use", "id": "6", "gpu": "g", "slice": "0", "weight": 1, "tenant": "acme", "service": "chat", "role": "inference",
     "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + 10 * HOUR_US},
    {"type": "gpu", "id": "7", "gpu": "h", "sku": "a", "capacity": 2, "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + HOUR_US},
    {"type": "use", "id": "8", "gpu": "h", "slice": "0", "weight": 2, "tenant": "globex, Inc.", "service": 'a "b"', "role": "job",
     "from_us": NOVEMBER_US, "to_us": NOVEMBER_US + HOUR_US},
    {"type": "credit", "id": "c1", "tenant": "acme", "at_us": NOVEMBER_US, "micro_usd": 4_000_000, "reason": "slo"},
]
OCTOBER = ("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z")
NOVEMBER = ("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z")


def micro_usd(rows):
    """The sum of BilledCost."""
    return sum(int(row["BilledCost"].replace(".", "")) for row in rows)


def berth(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def events(self, data=None):
        path = self.folder / "events.jsonl"
        path.write_bytes(data if data is not None else "".join(json.dumps(each) + "\n" for each in TWO_TENANTS).encode())
        return path

    def exported(self, form, path, month, *more):
        """The bytes of the file, and what was printed."""
        out = self.folder / f"out.{form}"
        run = berth("export", form, "--events", path, "--month", month, "--out", out, *more)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return out.read_bytes(), run.stdout

    def focus(self, path, month, *more):
        data, _ = self.exported("focus", path, month, *more)
        self.assertTrue(data.endswith(b"\n"))
        return list(csv.DictReader(io.StringIO(data.decode(), newline="")))

    def opencost(self, path, month, *more):
        """Allocations by name; numbers as exact decimals."""
        data, _ = self.exported("opencost", path, month, *more)
        answer = json.loads(data, parse_float=Decimal)
        self.assertEqual((answer["code"], len(answer["data"])), (200, 1))
        return answer["data"][0]

    def invoice(self, path, month, tenant, idle):
        run = berth("invoice", "--events", path, "--month", month, "--tenant", tenant, "--idle", idle, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def test_every_column_of_a_small_month(self):
        rows = self.focus(self.events(), "2026-11")
        wanted = ["BilledCost", "ChargeCategory", "ChargeClass", "PricingQuantity", "SkuId", "SubAccountId", "Tags", "x_AllocatedMethodId"]
        self.assertEqual([tuple(row[name] for name in wanted) for row in rows], [
            ("-1.000001", "Usage", "Correction", "-0.500000000", "a", "", '{"service":"","role":"idle"}', "idle-remainder"),
            ("10.000005", "Usage", "", "5.000000000", "a", "", '{"service":"","role":"idle"}', "idle-remainder"),
            ("1.000000", "Usage", "Correction", "0.500000000", "a", "acme", '{"service":"chat","role":"inference"}', "weight-share"),
            ("10.000005", "Usage", "", "5.000000000", "a", "acme", '{"service":"chat","role":"inference"}', "weight-share"),
            ("2.000001", "Usage", "", "1.000000000", "a", "globex, Inc.", '{"service":"a \\"b\\"","role":"job"}', "weight-share"),
            ("-4.000000", "Credit", "", "", "", "acme", "", ""),
        ])
        self.assertEqual([(row["ChargePeriodStart"], row["ChargePeriodEnd"]) for row in rows],
                         [OCTOBER, NOVEMBER, OCTOBER, NOVEMBER, NOVEMBER, NOVEMBER])
        self.assertEqual({(row["BillingPeriodStart"], row["BillingPeriodEnd"]) for row in rows}, {NOVEMBER})
        self.assertEqual(dict(rows[3]), {
            "BilledCost": "10.000005", "BillingAccountId": "berth", "BillingAccountName": "Berth", "BillingCurrency": "USD",
            "BillingPeriodEnd": NOVEMBER[1], "BillingPeriodStart": NOVEMBER[0], "ChargeCategory": "Usage", "ChargeClass": "",
            "ChargeDescription": "inference of chat on a", "ChargeFrequency": "Usage-Based", "ChargePeriodEnd": NOVEMBER[1],
            "ChargePeriodStart": NOVEMBER[0], "ConsumedQuantity": "5.000000000", "ConsumedUnit": "GPU-Hours",
            "ContractedCost": "10.000005", "EffectiveCost": "10.000005", "InvoiceId": "2026-11/acme", "InvoiceIssuerName": "Berth",
            "ListCost": "10.000005", "PricingCategory": "Standard", "PricingQuantity": "5.000000000", "PricingUnit": "GPU-Hours",
            "ProviderName": "Berth", "PublisherName": "Berth", "ServiceCategory": "Compute", "ServiceName": "Berth GPUs",
            "ServiceSubcategory": "Other (Compute)", "SkuId": "a", "SkuMeter": "GPU Time", "SkuPriceDetails": '{"GpuCount":1}',
            "SkuPriceId": "a", "SubAccountId": "acme", "SubAccountName": "acme", "SubAccountType": "Tenant",
            "Tags": '{"service":"chat","role":"inference"}', "x_AllocatedMethodId": "weight-share", "x_CreditId": ""})
        filled = {name: text for name, text in rows[5].items() if text and name not in NOT_NULL}
        self.assertEqual(filled, {"BillingAccountName": "Berth", "ChargeDescription": "slo credit c1", "ChargeFrequency": "One-Time",
                                  "InvoiceId": "2026-11/acme", "ServiceSubcategory": "Other (Compute)", "SubAccountId": "acme",
                                  "SubAccountName": "acme", "SubAccountType": "Tenant", "x_CreditId": "c1"})

    def test_the_line_on_stdout_has_the_total(self):
        path = self.events()
        for form, wanted in (("focus", "6 lines of 2026-11, 1 of them credits; BilledCost sums to 18.000010 USD"),
                             ("opencost", "3 allocations of 2026-11; totalCost sums to 22.000010 USD, before credits")):
            _, words = self.exported(form, path, "2026-11")
            self.assertEqual(words, f"{self.folder / f'out.{form}'}: {wanted}\n2026-11 is still open: it is as known now.\n")

    def test_a_closed_month_says_what_became_known_later(self):
        for form in ("focus", "opencost"):
            _, words = self.exported(form, self.events(), "2026-10")
            sentence = " ".join(" ".join(words.splitlines()[1:]).split())   # it is wrapped
            self.assertEqual(sentence, "2026-10 is as booked at its close. What became known since then is booked as "
                             "corrections: +1.000000 and -1.000001 USD in 2026-11.")

    def test_a_month_without_rows_is_a_header(self):
        path = self.events()
        self.assertEqual(self.focus(path, "2031-01"), [])
        self.assertEqual(self.exported("focus", path, "2031-01")[0].count(b"\n"), 1)
        self.assertEqual(self.opencost(path, "2031-01"), {})

    def check_identities(self, path, month, idle, rows):
        """The sums that cost tools rely on, of all lines and of each invoice."""
        for row in rows:
            self.assertLessEqual(MANDATORY, set(row))
            self.assertEqual([name for name in NOT_NULL if not row[name]], [])
            self.assertEqual({row[name] for name in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")}, {row["BilledCost"]})
            is_correction = row["ChargePeriodStart"] < row["BillingPeriodStart"]
            self.assertEqual(row["ChargeClass"], "Correction" if is_correction else "")
            self.assertEqual(row["ChargeCategory"] == "Credit", row["x_CreditId"] != "")
            self.assertEqual(row["ChargeCategory"] == "Usage", row["x_AllocatedMethodId"] != "")
        invoices = {row["InvoiceId"]: row["SubAccountId"] for row in rows}
        for name, tenant in invoices.items():
            invoice = self.invoice(path, month, tenant, idle)
            self.assertEqual(micro_usd(row for row in rows if row["InvoiceId"] == name), invoice["total_micro_usd"])

    def test_random_ledgers_as_a_second_implementation_writes_them(self):
        months = corrections = credits = 0
        for seed in range(24):
            data = ledger_random.file_of(ledger_random.random_events(random.Random(seed), events=120))
            path = self.events(data)
            ledger = ledger_oracle.ledger_of_bytes(data)
            for month in sorted(ledger.months):
                wanted = ledger.focus(month)
                rows = self.focus(path, month)
                for row, line in zip(rows, wanted["lines"], strict=True):
                    found = {key: json.loads(row[key]) if key == "Tags" else row[key] for key in line}
                    self.assertEqual(found, line, (seed, month))
                self.assertEqual(micro_usd(rows), micro_usd([{"BilledCost": wanted["billed_cost"]}]))
                if seed % 4 == 0:   # many runs of the program
                    self.check_identities(path, month, "keep", rows)
                    self.check_sums(path, ledger, month, rows)
                months += bool(rows)
                corrections += sum(row["ChargeClass"] == "Correction" for row in rows)
                credits += sum(row["ChargeCategory"] == "Credit" for row in rows)
        self.assertGreater(min(months, corrections, credits), 10)

    def check_sums(self, path, ledger, month, rows):
        """The same money in every form."""
        booked = sum(row.micro_usd for row in ledger.rows(month))
        self.assertEqual(micro_usd(row for row in rows if row["ChargeCategory"] == "Usage"), booked)
        shared = self.focus(path, month, "--idle", "proportional")
        self.check_identities(path, month, "proportional", shared)
        self.assertEqual(micro_usd(row for row in shared if row["ChargeCategory"] == "Usage"), booked)
        for more in ((), ("--by", "service"), ("--by", "role"), ("--idle", "proportional")):
            allocations = self.opencost(path, month, *more)
            self.assertEqual(sum(each["totalCost"] for each in allocations.values()), Decimal(booked).scaleb(-6))
            for each in allocations.values():
                self.assertEqual(each["gpuCost"] + sum(each[name] for name in OTHER_COSTS), each["totalCost"])
        for tenant, allocation in self.opencost(path, month).items():
            of_tenant = [row for row in ledger.rows(month)
                         if (row.tenant or ("__idle__" if row.role == "idle" else "__unallocated__")) == tenant]
            self.assertEqual(allocation["totalCost"], Decimal(sum(row.micro_usd for row in of_tenant)).scaleb(-6))
            hours = ledger_oracle.decimal(round(ledger_oracle.Fraction(sum(row.gpu_us for row in of_tenant) * 5, 18)), 9)
            self.assertEqual(allocation["gpuHours"], Decimal(hours))

    def test_an_allocation_of_opencost(self):
        allocations = self.opencost(self.events(), "2026-11", "--by", "role")
        self.assertEqual(list(allocations), ["__idle__", "acme/chat/inference", 'globex, Inc./a "b"/job'])
        wanted = {"name": "acme/chat/inference",
                  "properties": {"namespace": "acme", "services": ["chat"], "labels": {"role": "inference"}},
                  "window": {"start": NOVEMBER[0], "end": NOVEMBER[1]}, "start": NOVEMBER[0], "end": NOVEMBER[1], "minutes": 43_200,
                  "gpuCount": Decimal("0.007638889"), "gpuHours": Decimal("5.5"), "gpuCost": Decimal("11.000005"),
                  "totalCost": Decimal("11.000005")}
        found = allocations["acme/chat/inference"]
        self.assertEqual({name: found.pop(name) for name in wanted}, wanted)
        self.assertLessEqual(set(OTHER_COSTS), set(found))
        self.assertEqual(set(found.values()), {0}, "the other numbers of OpenCost; opencost_reader_test.py lists them")
        self.assertEqual(allocations["__idle__"]["properties"], {"labels": {"role": "idle"}})

    def test_the_same_bytes_from_a_ledger_on_disk(self):
        path, folder = self.events(), self.folder / "ledger"
        run = berth("ledger", "ingest", "--ledger", folder, "--events", path)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        out = self.folder / "from_disk"
        for form in ("focus", "opencost"):
            run = berth("export", form, "--ledger", folder, "--month", "2026-11", "--out", out)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertEqual(out.read_bytes(), self.exported(form, path, "2026-11")[0])

    def test_bad_input_writes_nothing(self):
        path, out = self.events(), self.folder / "out"
        broken = self.folder / "broken.jsonl"
        broken.write_text('{"type":"price"}\n')
        given = {"--events": path, "--month": "2026-11", "--out": out}
        for option, text, wanted in (("--month", "2026-13", "--month: wanted a month such as 2026-11, found \"2026-13\""),
                                     ("--idle", "half", "--idle: wanted keep or proportional, found \"half\""),
                                     ("--by", "gpu", "--by: wanted tenant, service or role, found \"gpu\""),
                                     ("--out", "", "--out: wanted a file, found an empty path"),
                                     ("--events", broken, f"{broken}:1: "), ("--events", self.folder / "none", "none")):
            words = [str(word) for pair in {**given, option: text}.items() for word in pair]
            run = berth("export", "opencost", *words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), option)
            self.assertIn(wanted, run.stderr)
        self.assertFalse(out.exists())

    def test_a_file_that_cannot_be_written(self):
        run = berth("export", "focus", "--events", self.events(), "--month", "2026-11", "--out", self.folder / "none" / "out")
        self.assertEqual((run.returncode, run.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
