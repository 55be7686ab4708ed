"""`berth warm` end to end: every figure counted again by other code, logs, refusals."""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import recount

ROOT = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
RULES = [*recount.FIXED, *recount.HYBRID, "optimal"]


def berth(*arguments):
    return subprocess.run([PROGRAM, "warm", *map(str, arguments)], capture_output=True, text=True, check=False)


def write_random(folder, seed):
    """A trace of few apps, with periods, random times, bursts and apps of one invocation; and their sizes."""
    rng = random.Random(seed)
    minutes = rng.choice((1, 30, 300, 700))
    with open(folder / "apps.csv", "w", encoding="utf-8") as apps, open(folder / "sizes.csv", "w", encoding="utf-8") as sizes:
        apps.write("app,minute,invocations\n")
        sizes.write("HashApp,AverageAllocatedMb_pct50\n")
        rows = [f"a0,{minutes - 1},0\n"]
        for number in range(rng.randint(1, 12)):
            kind, period = rng.randrange(4), rng.choice((1, 2, 7, 30, 61, 100, 241))
            times = {rng.randrange(minutes)}
            if kind == 0:
                times = set(range(rng.randrange(minutes), minutes, period))
            elif kind < 3:
                minute = rng.randrange(minutes)
                while minute < minutes:
                    times.add(minute)
                    minute += 1 + int(rng.expovariate(1 / period))
            rows += [f"a{number},{minute},{rng.choice((1, 1, 2, 50))}\n" for minute in sorted(times) if (number, minute) != (0, minutes - 1)]
            sizes.write(f"a{number},{rng.choice((0, 1, 9.75, 30, 120.2, 500))}\n")
        rng.shuffle(rows)
        apps.writelines(rows)


class WarmTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def ask(self, *arguments):
        answer = berth(*arguments, "--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def compare(self, row, expected):
        for key, value in expected.items():
            if key == "cold_share":
                for rank, share in value.items():
                    self.assertTrue(math.isclose(row[key][rank], share, rel_tol=1e-9, abs_tol=1e-9), (row, expected))
            elif key == "avoidable_share":
                self.assertTrue(math.isclose(row[key], value, rel_tol=1e-9, abs_tol=1e-9), (row, expected))
            else:
                self.assertEqual(row[key], value, (row["policy"], key))

    def check_rules(self, trace, words, cold_minutes, load_seconds, price):
        options = ["--cold-minutes", cold_minutes, "--load-seconds", load_seconds]
        options += [] if price is None else ["--micro-usd-per-idle-hour", price]
        answer = self.ask(*words, *options)
        self.assertEqual((answer["apps"], answer["minutes"]), (len(trace.counts), trace.minutes))
        self.assertEqual(answer["invocations"], sum(sum(row) for row in trace.counts.values()))
        rows = {row["policy"]: row for row in answer["policies"]}
        for policy in RULES:
            loaded = recount.loaded_minutes(trace, policy, cold_minutes, load_seconds)
            self.compare(rows[policy], recount.figures(trace, loaded, cold_minutes, load_seconds, price))
            self.assertEqual(rows[policy]["hindsight"], policy == "optimal")
        return rows

    def check_caches(self, trace, words, sizes, memory):
        rows = {row["policy"]: row for row in self.ask(*words, "--memory-mib", memory)["policies"]}
        for policy in ("lru", "greedy-dual"):
            cold = recount.cache(trace, sizes, memory, policy)
            self.compare(rows[policy], {"cold_starts": sum(cold.values()), **recount.shares_of(trace, cold), "idle_minutes": None,
                                        "preloads": None, "idle_seconds": None, "wait_seconds": None, "cost_minutes": None,
                                        "cost_micro_usd": None})
        self.assertEqual(rows["bound"]["cold_starts"], recount.bound(trace, sizes, memory))
        self.assertEqual(rows["bound"]["cold_share"], {"p50": None, "p75": None, "p90": None})
        self.assertGreaterEqual(rows["berth"]["cold_starts"], rows["bound"]["cold_starts"])

    def test_random_traces(self):
        for seed in range(12):
            write_random(self.folder, seed)
            trace, sizes = recount.read_csv(self.folder / "apps.csv"), recount.read_sizes(self.folder / "sizes.csv")
            words = ["--trace", self.folder / "apps.csv", "--trace-format", "csv", "--memory", self.folder / "sizes.csv"]
            rng = random.Random(seed)
            self.check_rules(trace, words, rng.choice((0, 1, 30, 500)), rng.choice((0, 10, 61, 4000)), rng.choice((None, 0, 7, 2_000_003)))
            for memory in (1, 31, 100, 10_000):
                self.check_caches(trace, words, sizes, memory)

    def test_public_trace(self):
        if "BERTH_DATA" not in os.environ:
            self.skipTest("BERTH_DATA is not set")
        data = pathlib.Path(os.environ["BERTH_DATA"]) / "azure_functions_sample"
        words = ["--trace", data / "invocations_subset_480min.csv", "--trace-format", "azure-functions", "--memory", data / "memory_subset.csv"]
        trace, sizes = recount.read_azure(words[1]), recount.read_sizes(words[5])
        rows = self.check_rules(trace, words, 30, 10, 100_000)
        self.assertLess(rows["berth"]["cost_minutes"], rows["hybrid-1h"]["cost_minutes"])
        self.check_caches(trace, words, sizes, 10_176)

    def test_log_gives_the_figures(self):
        words = ["--trace", ROOT / "examples/warm/apps.csv", "--trace-format", "csv"]
        trace = recount.read_csv(words[1])
        for policy in ("hybrid", "optimal", "berth", "berth-200"):
            log = self.folder / f"{policy}.jsonl"
            row = self.ask(*words, "--policies", policy, "--log", log)["policies"][0]
            loaded = {app: [False] * trace.minutes for app in trace.counts}
            for line in log.read_text(encoding="utf-8").splitlines():
                span = json.loads(line)
                self.assertLess(span["from"], span["to"])
                for minute in range(span["from"], span["to"]):
                    loaded[span["app"]][minute] = True
            self.compare(row, recount.figures(trace, loaded, 30, 10, None))

    def test_memory_is_kept(self):
        words = ["--trace", ROOT / "examples/warm/apps.csv", "--trace-format", "csv", "--memory", ROOT / "examples/warm/sizes.csv"]
        sizes = recount.read_sizes(words[5])
        log = self.folder / "log.jsonl"
        self.ask(*words, "--memory-mib", 5000, "--policies", "berth", "--log", log)
        used = {}
        for line in log.read_text(encoding="utf-8").splitlines():
            span = json.loads(line)
            for minute in range(span["from"], span["to"]):
                used[minute] = used.get(minute, 0) + sizes[span["app"]]
        self.assertLessEqual(max(used.values()), 5000)

    def test_what_is_loaded_does_not_depend_on_later_minutes(self):
        whole = (ROOT / "examples/warm/apps.csv").read_text(encoding="utf-8").splitlines()
        names = list(dict.fromkeys(row.split(",")[0] for row in whole[1:]))
        for minute in (0, 200, 777):
            logs = []
            kept = [row for row in whole[1:] if int(row.split(",")[1]) <= minute]
            # Apps keep their places; the cut file ends one minute later.
            (self.folder / "cut.csv").write_text("\n".join([whole[0], *kept, f"{names[0]},{minute + 1},0"]) + "\n", encoding="utf-8")
            for file in (ROOT / "examples/warm/apps.csv", self.folder / "cut.csv"):
                log = self.folder / "log.jsonl"
                self.ask("--trace", file, "--trace-format", "csv", "--policies", "berth", "--log", log)
                spans = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
                logs.append({(span["app"], each) for span in spans for each in range(span["from"], span["to"]) if each <= minute + 1})
            self.assertEqual(*logs)

    def test_table_ends_with_what_berth_saves(self):
        words = ["--trace", ROOT / "examples/warm/apps.csv", "--trace-format", "csv"]
        self.assertIn("At 30 idle minutes a cold start, berth costs ", " ".join(berth(*words).stdout.split("\n\n")[-1].split()))
        answer = berth(*words, "--memory", ROOT / "examples/warm/sizes.csv", "--memory-mib", 8192)
        self.assertIn("In 8,192 MiB, berth has ", answer.stdout.split("\n\n")[-1])

    def test_bad_input_is_refused_and_nothing_written(self):
        trace = self.folder / "apps.csv"
        trace.write_text("app,minute,invocations\na,0,1\na,3,1\n", encoding="utf-8")
        (self.folder / "sizes.csv").write_text("HashApp,AverageAllocatedMb_pct50\nb,3\n", encoding="utf-8")
        (self.folder / "twice.csv").write_text("app,minute,invocations\na,0,1\na,0,1\n", encoding="utf-8")
        good = {"--trace": trace, "--trace-format": "csv"}
        cases = [
            ({"--trace": self.folder / "twice.csv"}, f"{self.folder}/twice.csv:3:1: wanted each pair of app and minute once, found it again"),
            ({"--trace": self.folder / "none.csv"}, "none.csv"),
            ({"--trace-format": "azure-functions"}, f"{trace}:1:1: wanted the header HashOwner,"),
            ({"--memory": self.folder / "sizes.csv"}, f'{self.folder}/sizes.csv:1:1: wanted a row for each app of the trace, found none for "a"'),
            ({"--memory-mib": "10"}, "--memory-mib: wanted --memory with the sizes of the apps, found none"),
            ({"--memory": self.folder / "sizes.csv", "--memory-mib": "0"}, "--memory-mib: wanted"),
            ({"--policies": "lru"}, "--policies: wanted all, fixed-5m, "),
            ({"--policies": "berth-10,curve"}, "--policies: wanted each policy once, found berth-10 twice"),
            ({"--cold-minutes": "1.5"}, "--cold-minutes: wanted"),
            ({"--load-seconds": "-1"}, "--load-seconds: wanted"),
            ({"--micro-usd-per-idle-hour": "x"}, "--micro-usd-per-idle-hour: wanted"),
            ({"--weigh": "users"}, '--weigh: wanted invocations or apps, found "users"'),
            ({"--format": "xml"}, "--format: wanted"),
            ({"--policies": "berth,hybrid"}, "--log: wanted one policy in --policies, found 2"),
        ]
        for changes, message in cases:
            options = good | changes | {"--log": self.folder / "log.jsonl", "--report": self.folder / "out"}
            options.setdefault("--policies", "berth")
            answer = berth(*[word for pair in options.items() for word in pair])
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), answer.stderr)
            self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
            self.assertIn(message, answer.stderr)
            self.assertFalse((self.folder / "log.jsonl").exists() or (self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
