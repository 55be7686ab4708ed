#!/usr/bin/env python3
"""`berth serve simulate` end to end: a case computed by hand, weights, bad input."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 120

DEVICE = """berth: 1
name: H100-like
origin: "made up"
lanes: 1
memory: 2MiB
batch_max: 4
load: {seconds: 0.02, bytes_per_second: 500000000}
models:
  "*": {latency_ms: [[1, 6.125], [4, 9.127]], bytes: 2000000}
"""
HEADER = "time_us,model,tenant,target_us,priority\n"


class ServeSimulate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def simulate(self, requests, *more, device=DEVICE):
        return subprocess.run([PROGRAM, "serve", "simulate", "--device", self.file("d.yaml", device), "--requests",
                               self.file("r.csv", requests), *map(str, more)], capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS, check=False)

    def answer(self, requests, *more, device=DEVICE):
        run = self.simulate(requests, *more, "--format", "json", device=device)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def refused(self, message, requests, *more, device=DEVICE):
        run = self.simulate(requests, *more, device=device)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertIn(message, run.stderr)

    def test_a_case_by_hand(self):
        # 0: the first runs alone, 6,125 us. Then the other two of `a` in one batch of two, 7,126 us (6,125 + 3,002 / 3,
        # half up). Then `b` is loaded: 20 ms + 2,000,000 / 500 per us = 24,000 us, when `a` is idle: at 13,251.
        answer = self.answer(HEADER + "0,a,t,10000,0\n1000,a,t,10000,1\n2000,b,u,100000,1\n2000,a,u,12000,1\n",
                             "--policies", "eager")
        self.assertEqual((answer["berth"], answer["device"], len(answer["policies"])), (1, "H100-like", 1))
        policy = answer["policies"][0]
        self.assertEqual((policy["policy"], policy["evict"]), ("eager", "lru"))
        self.assertEqual(policy["total"], {
            "requests": 4, "in_time": 3, "late": 1, "dropped": 0, "latency_p50_us": 11251, "latency_p99_us": 41376,
            "batches": 3, "busy_us": 6125 + 7126 + 6125, "end_us": 43376, "loads": 1, "load_us": 24000, "evictions": 1})
        self.assertEqual([(each["name"], each["requests"], each["batches"]) for each in policy["models"]],
                         [("a", 3, 2), ("b", 1, 1)])
        self.assertEqual([(each["name"], each["busy_us"], "batches" in each) for each in policy["tenants"]],
                         [("t", 6125 + 3563, False), ("u", 3563 + 6125, False)])

    def test_berth_rejects_what_would_be_late(self):
        answer = self.answer(HEADER + "0,a,t,1000,1\n0,a,t,10000,1\n", "--policies", "berth")
        total = answer["policies"][0]["total"]
        self.assertEqual((total["in_time"], total["dropped"], total["late"]), (1, 1, 0))

    def test_a_flood_does_not_starve_the_others(self):
        rows = sorted([(at, "flood") for at in range(0, 3_000_000, 400)] + [(at, "calm") for at in range(0, 3_000_000, 20_000)])
        requests = HEADER + "".join(f"{at},{tenant},{tenant},60000,1\n" for at, tenant in rows)
        device = DEVICE.replace("2MiB", "8MiB")
        answer = self.answer(requests, "--policies", "berth,eager", device=device)
        calm = [policy["tenants"][0] for policy in answer["policies"]]
        self.assertGreaterEqual(calm[0]["in_time"], 0.97 * calm[0]["requests"])
        self.assertLess(calm[1]["in_time"], 0.5 * calm[1]["requests"])

    def test_text(self):
        run = self.simulate(HEADER + "0,a,t,10000,1\n9000,b,u,100000,1\n")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("H100-like (made up): 2 requests to 2 models, 1 lane", run.stdout)
        for policy in ["berth", "eager", "aimd"]:
            self.assertIn(f"\n{policy} ", run.stdout)
        self.assertTrue(all(len(line) <= 120 for line in run.stdout.splitlines()))

    def test_bad_requests(self):
        for row, message in [("-1,a,t,1,1", "r.csv:2:1: time_us"), ("0,,t,1,1", "r.csv:2:3: model: wanted a name of 1 to 63"),
                             ("0," + "m" * 64 + ",t,1,1", "model"), ("0,a," + "t" * 64 + ",1,1", "tenant"),
                             ("0,a,t,0,1", "target_us"), ("0,a,t,1,1001", "priority"), ("0,a,t,1,-1", "priority"),
                             ("0,a,t,1.5,1", "target_us"), ("0,a,t,1", "wanted 5 fields"),
                             ("5,a,t,1,1\n4,a,t,1,1", "r.csv:3:1: time_us: wanted rows sorted by time")]:
            with self.subTest(row=row[:20]):
                self.refused(message, HEADER + row + "\n")
        self.refused("wanted at least one request", HEADER)
        self.refused("time_us", "0,a,t,1,1\n")

    def test_bad_devices(self):
        row = HEADER + "0,a,t,10000,1\n"
        for old, new, message in [("berth: 1", "berth: 2", "berth"), ("lanes: 1", "lanes: 65", "lanes"),
                                  ("lanes: 1", "lanes: 1\nlane: 1", "did you mean lanes"), ("2MiB", "2MB", "memory: wanted a size"),
                                  ("2MiB", "1MiB", "bytes: wanted at most the memory, 1048576 bytes, found 2000000"),
                                  ("[4, 9.127]", "[3, 9.127]", "a last batch size of at least batch_max, 4"),
                                  ("[1, 6.125], ", "", "wanted 1, the first batch size"), ("[4,", "[1,", "a batch size above 1"),
                                  ("9.127", "9.1271", "at most three decimals"), ("9.127", "0", "latency_ms[1][1]"),
                                  ("500000000", "0", "bytes_per_second"), ('"*"', "b", 'wanted "a" of'),
                                  ("[[1, 6.125], [4, 9.127]]", "[]", "latency_ms"), ("batch_max: 4\n", "", "batch_max")]:
            with self.subTest(new=new):
                self.refused(message, row, device=DEVICE.replace(old, new))

    def test_bad_options(self):
        row = HEADER + "0,a,t,10000,1\n"
        for options, message in [(["--policies", "lazy"], "wanted berth, eager, delay:MICROSECONDS"),
                                 (["--policies", "delay:"], "delay:MICROSECONDS"), (["--policies", "delay:-1"], "delay"),
                                 (["--policies", "eager,eager"], "twice"), (["--policies", "delay:5,delay:05"], "twice"),
                                 (["--evict", "fifo"], "--evict: wanted value, lru or warm"), (["--format", "xml"], "--format"),
                                 (["--policies", "eager,aimd", "--log", self.folder / "log"], "--log: wanted one policy, found 2"),
                                 (["--config", self.folder / "none.yaml"], "none.yaml")]:
            with self.subTest(options=options):
                self.refused(message, row, *options)
        self.assertFalse((self.folder / "log").exists())

    def test_config(self):
        row = HEADER + "0,a,t,10000,1\n"
        self.answer(row, "--config", self.file("c.yaml", "tenants: [{name: t, weight: 3}, {name: u}]\n"))
        digest = "0123456789abcdef" * 4
        for text, message in [("tenants: [{name: u}]", 'wanted tenants of --config, found "t"'), ("tenant: []", "did you mean tenants"),
                              ("tenants: [{name: t}, {name: t}]", "a name that is not used before"),
                              ("tenants: [{name: t, weight: 0}]", "weight"), ("tenants: [{name: t, weight: 1000001}]", "weight"),
                              (f"tenants: [{{name: t, key_sha256: {digest[1:]}}}]", "64 hex digits"),
                              ("tenants: [{name: t}]\nbackends: [{name: b, url: 'ftp://x', models: [m]}]", "http://HOST:PORT"),
                              ("backends: [{name: b, url: 'http://h', models: [m]}, {name: c, url: 'http://h', models: [m]}]",
                               "backends[1].models[0]: wanted a name that is not used before"),
                              ("run_seconds: 0", "run_seconds")]:
            with self.subTest(text=text):
                self.refused(message, row, "--config", self.file("c.yaml", text))


if __name__ == "__main__":
    unittest.main()
