#!/usr/bin/env python3
"""The program says of random files what a second implementation of the same rules says (ledger_oracle.py): reports,
refused lines, costs, budgets, invoices; from a file, and from a ledger on disk that was filled with interruptions.
Skips (77) without a program.

    LEDGER_SEEDS=500-700 tests/ledger/ledger_program_test.py    other files
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import ledger_oracle
import ledger_random

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
FIRST, LAST = (int(word) for word in os.environ.get("LEDGER_SEEDS", "0-40").split("-"))
IDLE_RULES = ("keep", "proportional")
CURRENCIES = ("USD", "EUR", "JPY")
ADDED_KEYS = ("shared_role", "reason", "left_micro_usd")   # of lines and credits: the oracle has only what the page names


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)


def answer(*words):
    result = run(*words, "--format", "json")
    assert result.returncode == 0, (words, result.stderr)
    return json.loads(result.stdout)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def plain_invoice(invoice):
    """Without what the program adds."""
    for entry in invoice["lines"] + invoice["credits"]:
        for key in ADDED_KEYS:
            entry.pop(key, None)
    return {key: value for key, value in invoice.items() if key not in ("idle", "micro_per_usd", "month_hash", "later_corrections")}


OCTOBER_US, HOUR_US = 1_790_812_800_000_000, 3_600_000_000


def later_corrections_of(invoice):
    return [(entry["month"], entry["added_micro_usd"], entry["taken_back_micro_usd"]) for entry in invoice["later_corrections"]]


def oracle_corrections(oracle, tenant, of, idle):
    """What the invoices of later months say about a month."""
    found = []
    for month in (month["month"] for month in oracle.report()["months"] if month["month"] > of):
        amounts = [line["micro_usd"] for line in oracle.invoice(tenant, month, idle, "USD")["lines"] if line["of"] == of]
        added, taken_back = (sum(amount for amount in amounts if (amount > 0) == wanted) for wanted in (True, False))
        if added or taken_back:
            found.append((month, added, taken_back))
    return found


class RandomFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "events.jsonl")
        self.refused = os.path.join(folder.name, "refused.jsonl")

    def test_say_what_the_oracle_says(self):
        for seed in range(FIRST, LAST):
            rng = random.Random(seed)
            data = ledger_random.file_of(ledger_random.random_events(rng, events=rng.choice([20, 80, 160])))
            write(self.path, data)
            oracle = ledger_oracle.ledger_of_bytes(data)
            with self.subTest(seed=seed):
                self.compare_reports(oracle)
                self.compare_costs(oracle, rng)
                self.compare_invoices(oracle, rng)

    def compare_reports(self, oracle):
        self.assertEqual(answer("ledger", "report", "--events", self.path, "--refused", self.refused), oracle.report())
        with open(self.refused, encoding="utf-8") as file:
            self.assertEqual([json.loads(line) for line in file], oracle.refused)
        self.assertEqual(answer("ledger", "verify", "--events", self.path)["differences"], 0)
        trial = answer("ledger", "trial-balance", "--events", self.path)
        self.assertEqual(trial["sum_grains"], "0")
        self.assertEqual(sum(int(account["grains"]) for account in trial["accounts"]), 0)
        given = sum(int(account["grains"]) for account in trial["accounts"] if account["kind"] == "sku")
        self.assertEqual(-given, int(oracle.report()["grains"]))

    def compare_costs(self, oracle, rng):
        days = [row["key"] for row in oracle.cost("day")["rows"]]
        for key in ("tenant", "service", "sku", "role", "gpu", "day"):
            since, until = sorted(rng.sample(days, 2)) if len(days) > 1 and rng.random() < 0.6 else (None, None)
            words = ["--since", since, "--until", until] if since else []
            self.assertEqual(answer("cost", "--events", self.path, "--by", key, *words), oracle.cost(key, since, until))
        for day in rng.sample(days, min(3, len(days))):
            as_of = day + rng.choice(["T00:00:00Z", "T12:34:56Z", "T23:59:59Z"])
            found = answer("cost", "--events", self.path, "--budgets", "--as-of", as_of)
            self.assertEqual(found, oracle.budgets(as_of))

    def compare_invoices(self, oracle, rng):
        months = oracle.report()["months"]
        tenants = sorted({row["tenant"] for month in months for row in month["rows"]})
        for month in months:
            tenant, idle, currency = rng.choice(tenants), rng.choice(IDLE_RULES), rng.choice(CURRENCIES)
            words = ["invoice", "--events", self.path, "--tenant", tenant, "--month", month["month"], "--idle", idle,
                     "--currency", currency]
            try:
                expected = oracle.invoice(tenant, month["month"], idle, currency)
            except ledger_oracle.LedgerError:
                self.assertEqual(run(*words).returncode, 2)
                continue
            found = answer(*words)
            self.assertEqual(later_corrections_of(found), oracle_corrections(oracle, tenant, month["month"], idle))
            self.assertEqual(plain_invoice(found), expected)

    def test_cells_behind_a_figure_sum_to_it(self):
        for seed in range(FIRST, FIRST + 8):
            write(self.path, ledger_random.file_of(ledger_random.random_events(random.Random(seed), events=120)))
            for row in answer("cost", "--events", self.path, "--by", "tenant")["rows"][:3]:
                if any(character.isspace() or character == "=" for character in row["key"]):
                    continue
                cells = answer("cost", "--events", self.path, "--why", f"tenant={row['key']}")
                self.assertEqual(sum(int(cell["grains"]) for cell in cells["cells"]), int(row["grains"]))
                self.assertEqual((cells["grains"], cells["gpu_us"]), (row["grains"], row["gpu_us"]))
                for cell in cells["cells"]:
                    exact = (cell["micro_usd_per_gpu_hour"] or 0) * (cell["to_us"] - cell["from_us"])
                    self.assertLess(abs(int(cell["grains"]) * cell["whole"] - exact * cell["weight"]), cell["whole"])


class LateLine(unittest.TestCase):
    """October is closed; then it becomes known that acme used half of a GPU for an hour of it."""

    LINES = [
        {"type": "price", "id": "1", "sku": "a", "from_us": OCTOBER_US, "micro_usd_per_gpu_hour": 2_000_001},
        {"type": "gpu", "id": "2", "gpu": "g", "sku": "a", "capacity": 2, "from_us": OCTOBER_US,
         "to_us": OCTOBER_US + 2 * HOUR_US},
        {"type": "use", "id": "3", "gpu": "g", "slice": "0", "weight": 1, "tenant": "acme", "service": "chat",
         "role": "inference", "from_us": OCTOBER_US, "to_us": OCTOBER_US + HOUR_US},
        {"type": "close", "id": "4", "month": "2026-10"}]
    LATE = {**LINES[2], "id": "5", "from_us": OCTOBER_US + HOUR_US, "to_us": OCTOBER_US + 2 * HOUR_US}

    def said(self, *words, late=True):
        """The output in one line."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps(line) + "\n" for line in self.LINES + [self.LATE] * late)
            file.flush()
            return " ".join(run(*words, "--events", file.name).stdout.split())

    def test_the_report_has_the_month_as_booked_and_as_known_now(self):
        text = self.said("ledger", "report")
        self.assertIn("month state rows corrections dollars known later now", text)
        self.assertIn("2026-10 closed 2 0.00 4.00 +1.00 -1.00 4.00", text)
        self.assertIn("2026-11 open 2 0.00 0.00 - 0.00", text)
        self.assertIn("so are invoices and exports, less credits", text)
        self.assertNotIn("known later", self.said("ledger", "report", late=False))

    def test_the_invoice_says_that_it_is_as_booked(self):
        words = ("invoice", "--tenant", "acme", "--month")
        sentence = "2026-10 is as booked at its close. What became known since then is booked as corrections: +1.000000 USD in 2026-11."
        self.assertIn(sentence, self.said(*words, "2026-10"))
        self.assertIn(sentence, self.said(*words, "2026-10", "--format", "html"))
        self.assertIn("nothing that became known since then changes it", self.said(*words, "2026-10", late=False))
        self.assertIn("2026-11 is still open: it is as known now.", self.said(*words, "2026-11"))
        # The part of unowned time that the tenant gives back: all of it, as nobody else pays for it.
        self.assertIn("+1.000000 and -1.000001 USD in 2026-11", self.said(*words, "2026-10", "--idle", "proportional"))

    def test_costs_say_that_they_are_as_known_now(self):
        text = self.said("cost", "--by", "tenant")
        self.assertIn("as known now", text)
        self.assertIn("since the close: 2026-10 +1.00 -1.00.", text)
        self.assertNotIn("close", self.said("cost", "--by", "tenant", "--since", "2026-11-01"))
        self.assertNotIn("close", self.said("cost", "--by", "tenant", late=False))


class Example(unittest.TestCase):
    FOLDER = os.path.join(os.environ.get("BERTH_SOURCE_DIR", "."), "examples", "ledger")

    def test_is_generated_and_adds_up(self):
        week = os.path.join(self.FOLDER, "week.jsonl")
        made = subprocess.run([sys.executable, os.path.join(self.FOLDER, "make_example.py")], capture_output=True,
                              check=True).stdout
        with open(week, "rb") as file:
            self.assertEqual(file.read(), made)
        self.assertEqual(answer("ledger", "report", "--events", week), ledger_oracle.ledger_of_bytes(made).report())
        self.assertEqual(answer("ledger", "verify", "--events", week)["differences"], 0)
        table = run("ledger", "report", "--events", week).stdout
        self.assertIn("adds up: 0 micro-dollars off", table)
        page = os.path.join(self.FOLDER, "..", "..", "docs", "first_steps", "ledger.md")
        with open(page, encoding="utf-8") as file:
            self.assertIn(table, file.read())   # what it prints is what the page shows


class Ingest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ledger = os.path.join(folder.name, "ledger")

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        write(path, data)
        return path

    def ingest(self, path):
        result = run("ledger", "ingest", "--ledger", self.ledger, "--events", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line)["lines"] for line in result.stdout.splitlines()]

    def report(self, *words):
        result = run("ledger", "report", *words, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def events(self, count, seed=1, **knobs):
        return ledger_random.file_of(ledger_random.random_events(random.Random(seed), events=count, **knobs))

    def test_two_files_are_the_same_as_one(self):
        data = self.events(400)
        lines = data.splitlines(keepends=True)
        self.assertEqual(self.ingest(self.file("a", b"".join(lines[:150]))), [150])
        self.assertEqual(self.ingest(self.file("b", b"".join(lines[150:]))), [len(lines) - 150])
        whole = self.file("whole", data)
        self.assertEqual(self.report("--ledger", self.ledger), self.report("--events", whole))

    def test_a_file_that_comes_again_changes_nothing(self):
        data = self.events(300)
        lines = data.splitlines(keepends=True)
        first, longer = self.file("first", b"".join(lines[:100])), self.file("longer", data)
        self.ingest(first)
        self.assertEqual(self.ingest(longer), [100, len(lines)])   # it goes on behind what was taken
        expected = self.report("--events", longer)
        for path in (longer, first, longer):
            self.ingest(path)
            self.assertEqual(self.report("--ledger", self.ledger), expected)

    def test_line_ends_do_not_matter(self):
        lines = self.events(60).splitlines()
        self.ingest(self.file("open", b"\n".join(lines[:20])))   # its last line has no end
        self.assertEqual(self.ingest(self.file("windows", b"\n".join(lines[:20]) + b"\r\n" + b"\r\n".join(lines[20:]))),
                         [20, len(lines)])
        self.assertEqual(self.report("--ledger", self.ledger),
                         self.report("--events", self.file("all", b"\n".join(lines) + b"\n\n")))

    def test_a_malformed_line_changes_nothing(self):
        good = self.events(50)
        bad = self.file("bad", good + b'{"type":"close","id":"x","month":"2026-13"}\n')
        result = run("ledger", "ingest", "--ledger", self.ledger, "--events", bad)
        self.assertEqual(result.returncode, 2)
        number = good.count(b"\n") + 1
        self.assertEqual(result.stderr, f"berth: {bad}:{number}: month: wanted a month from 2000-01 to 2100-12, "
                                        'found "2026-13"\n')
        self.assertFalse(os.path.exists(self.ledger))
        self.ingest(self.file("good", good))
        before = self.report("--ledger", self.ledger)
        self.assertEqual(run("ledger", "ingest", "--ledger", self.ledger, "--events", bad).returncode, 2)
        self.assertEqual(self.report("--ledger", self.ledger), before)

    def test_what_was_acknowledged_survives_kills(self):
        rng = random.Random(7)
        data = self.events(60, seed=3) + b"".join(self.uses(40_000))
        path = self.file("events", data)
        expected = self.report("--events", path)
        kills = 0
        while True:
            process = subprocess.Popen([PROGRAM, "ledger", "ingest", "--ledger", self.ledger, "--events", path],
                                       stdout=subprocess.PIPE)
            time.sleep(rng.random() * 0.12)
            process.send_signal(signal.SIGKILL)
            acknowledged = [json.loads(line)["lines"] for line in process.communicate()[0].split(b"\n")[:-1]]
            kills += process.returncode != 0
            if acknowledged:
                held = json.loads(self.report("--ledger", self.ledger))["lines"]
                self.assertGreaterEqual(held, acknowledged[-1])
            if process.returncode == 0 or kills > 200:
                break
        self.ingest(path)
        self.assertEqual(self.report("--ledger", self.ledger), expected)

    @staticmethod
    def uses(count):
        for i in range(count):
            yield (f'{{"type":"use","id":"late-{i}","gpu":"g{i % 9}","slice":"s","weight":1,"tenant":"t","service":"s",'
                   f'"role":"job","from_us":{1_800_000_000_000_000 + i * 1000},"to_us":{1_800_000_000_000_500 + i * 1000}}}'
                   "\n").encode()

    def test_refuses_what_is_no_ledger(self):
        result = run("ledger", "report", "--ledger", self.folder)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("wanted a folder with a ledger", result.stderr)
        os.makedirs(self.ledger)
        write(os.path.join(self.ledger, "ledger.db"), b"not a database, but long enough to be taken for one" * 100)
        result = run("ledger", "report", "--ledger", self.ledger)
        self.assertEqual((result.returncode, result.stdout), (1, ""))


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
