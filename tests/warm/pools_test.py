#!/usr/bin/env python3
"""Services with a warm pool: replays of a day's first hours, the first answer from zero, and a running engine that is killed."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pools_replay
import pools_scenario

ROOT = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 240


def replay(scenario):
    return pools_replay.replay(PROGRAM, scenario)


class Replays(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def scenario(self, name, **words):
        return pools_scenario.write(self.folder / name, **words)

    def test_figures_are_those_of_the_journal_and_appear_with_a_pool_only(self):
        words = {"services": 2, "gpus": 1, "hours": 2}
        pool, journal = replay(self.scenario("pool", pool="{min: 0, cold_usd: 0.05, usd_per_hour: 0.4}", **words))
        self.assertEqual(pool["cold_requests"], pools_replay.cold_requests(journal))
        self.assertEqual(pool["cold_requests"], sum(service["cold_requests"] for service in pool["services"]))
        self.assertLessEqual(pool["idle_micro_usd"], 2 * 2 * 400_000)
        kept, _ = replay(self.scenario("kept", pool="{min: 1}", **words))
        self.assertLess(pool["idle_micro_usd"], 0.6 * kept["idle_micro_usd"])
        self.assertEqual(kept["cold_requests"], 0)
        none, lines = pools_replay.replay(PROGRAM, self.scenario("none", **words), policy="static-even")
        self.assertNotIn("cold_requests", none)
        self.assertFalse([line for line in lines if line["type"] == "warm_decided"])
        decided = [line for line in journal if line["type"] == "warm_decided"]
        self.assertEqual({line["phase"] for line in decided}, {"Cold", "Warm", "Serving"})
        self.assertTrue(any(line["preload"] for line in decided))
        self.assertTrue(any(line["reason"].startswith("gap ") and "a cold start costs $0.05, waiting $" in line["reason"]
                            for line in decided), decided[-1])

    def test_the_first_answer_from_zero(self):
        scenario = self.scenario("zero", services=1, gpus=1, hours=1, pool="{min: 0, cold_usd: 0}")
        (scenario.parent / "s0.csv").write_text("second,requests\n" + "".join(f"{90 + 120 * i},1\n" for i in range(100)))
        (scenario.parent / "profile.csv").write_text("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                                                     "m,A100-80GB,1g.10gb,1,1,100,10\n")
        text = scenario.read_text().replace("seconds: 3600", "seconds: 12100").replace("berth: 1\n", "berth: 1\nplanning_seconds: 2\n")
        scenario.write_text(text)
        figures, journal = replay(scenario)
        self.assertEqual((figures["requests"], figures["dropped"], figures["cold_requests"]), (100, 0, 100))
        planning, create, start = 2, 0.5, 7
        self.assertLess(figures["latency_ms"]["p99"], 1000 * (planning + create + start + 1))
        self.assertEqual(figures["late"], 100)


class Up(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        self.temporary.cleanup()

    def start(self, scenario):
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([PROGRAM, "up", "--scenario", str(scenario), "--speed", "max", "--listen", "127.0.0.1:0",
                                             "--data", str(self.folder / "state")], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("ready http://"), line + (self.folder / "log").read_text())
        self.address = line.split()[1]

    def get(self, path):
        key = (self.folder / "state/admin.key").read_text().strip()
        request = urllib.request.Request(self.address + path, headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())

    def pools(self):
        return {item["metadata"]["name"]: item["status"] for item in self.get("v1/warm?limit=500")["items"]}

    def test_what_was_learned_outlives_a_kill(self):
        scenario = pools_scenario.write(self.folder / "up", services=3, gpus=1, hours=24, pool="{min: 0, cold_usd: 0.05, usd_per_hour: 1}")
        self.start(scenario)
        began = time.monotonic()
        while sum(pool["preloads"] for pool in self.pools().values()) < 3:
            self.assertLess(time.monotonic() - began, DEADLINE_SECONDS)
            time.sleep(0.1)
        listed = subprocess.run([PROGRAM, "get", "warm", "--data", str(self.folder / "state")], capture_output=True, text=True, check=True)
        self.assertRegex(listed.stdout, r"TENANT +NAME +PHASE +SLICES +NEXT EXPECTED +IDLE COST +COLD STARTS +PRELOADS +HITS +REASON\n")
        described = self.get("v1/tenants/s0/services/s0")["status"]["warm"]
        self.assertEqual(set(described), {"phase", "slices", "since", "reason", "expected_next", "idle_micro_usd", "cold_starts",
                                          "preloads", "hits"})
        before = self.pools()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        self.start(scenario)
        after = self.pools()
        self.assertEqual(before.keys(), after.keys())
        # The last seconds before a kill may be lost, and be counted again; what was learned before is not.
        learned = sum(pool["preloads"] + pool["cold_starts"] for pool in before.values())
        self.assertGreaterEqual(sum(pool["preloads"] + pool["cold_starts"] for pool in after.values()), learned - 3)
        self.assertTrue(any(pool["reason"].startswith("gap ") or pool["phase"] == "Serving" for pool in after.values()), after)


if __name__ == "__main__":
    unittest.main()
