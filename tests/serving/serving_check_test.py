#!/usr/bin/env python3
"""`berth serve simulate` on random cases: the rivals' events and figures equal a second implementation, every log obeys the
laws and gives the figures that the program prints, and a log with a mistake is found."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serving_check import Broken, recount  # noqa: E402
from serving_input import random_case, write_requests  # noqa: E402
from serving_rivals import rival_events  # noqa: E402

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
POLICIES = ["eager", "delay:0", "delay:4000", "delay:50000", "aimd", "berth"]
CASES = 40


class ServingCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_case(self, case, policy, *more):
        device, requests = case
        device.write(self.folder / "device.yaml")
        write_requests(self.folder / "requests.csv", requests)
        log = self.folder / "log.jsonl"
        run = subprocess.run([PROGRAM, "serve", "simulate", "--device", self.folder / "device.yaml", "--requests",
                              self.folder / "requests.csv", "--policies", policy, "--format", "json", "--log", log, *more],
                             capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        answer = json.loads(run.stdout)["policies"]
        return answer[0], [json.loads(line) for line in log.read_text().splitlines()]

    def test_random_cases(self):
        for seed in range(CASES):
            case = random_case(seed)
            for policy in POLICIES:
                with self.subTest(seed=seed, policy=policy):
                    answer, log = self.run_case(case, policy)
                    is_rival = policy != "berth"
                    if is_rival:
                        self.assertEqual(log, rival_events(*case, policy))
                    expected = recount(*case, log, is_rival)
                    self.assertEqual(answer, {"policy": policy, "evict": "lru" if is_rival else "value"} | expected)

    def test_evictions_by_lru_obey_the_laws(self):
        for seed in range(CASES, CASES + 10):
            case = random_case(seed)
            answer, log = self.run_case(case, "berth", "--evict", "lru")
            self.assertEqual(answer, {"policy": "berth", "evict": "lru"} | recount(*case, log, False))

    def test_preloads_obey_the_laws(self):
        preloads = 0
        for seed in range(CASES, CASES + 40):
            device, requests = random_case(seed)
            for request in requests:  # gaps of seconds, so that something can be expected
                request.at *= 300
                request.deadline = request.at + request.target
            answer, log = self.run_case((device, requests), "berth", "--evict", "warm")
            self.assertEqual(answer, {"policy": "berth", "evict": "warm"} | recount(device, requests, log, False, True))
            preloads += answer["total"]["preloads"]
            rival, log = self.run_case((device, requests), "eager", "--evict", "warm")
            self.assertEqual(rival, {"policy": "eager", "evict": "lru"} | recount(device, requests, log, True))
        self.assertGreater(preloads, 100)

    def test_same_input_same_bytes(self):
        case = random_case(7, 2000)
        for more in ([], ["--evict", "warm"]):
            self.assertEqual(self.run_case(case, "berth", *more), self.run_case(case, "berth", *more))

    def test_mistakes_are_found(self):
        case = random_case(3)
        _, log = self.run_case(case, "eager")
        recount(*case, log, True)
        first = next(index for index, line in enumerate(log) if line["kind"] == "batch")
        for change in [lambda lines: lines.pop(first), lambda lines: lines.insert(first, copy.deepcopy(lines[first])),
                       lambda lines: lines[first].update(end_us=lines[first]["end_us"] + 1),
                       lambda lines: lines[first].update(at_us=-1, end_us=lines[first]["end_us"] - lines[first]["at_us"] - 1),
                       lambda lines: lines.insert(0, {"at_us": 0, "kind": "drop", "request": 0})]:
            broken = copy.deepcopy(log)
            change(broken)
            with self.assertRaises(Broken):
                recount(*case, broken, True)


if __name__ == "__main__":
    unittest.main()
