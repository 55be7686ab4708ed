#!/ usr / bin / env python3
"""`berth pack` end to end: exit statuses, outputs, bad input. Runs the program on profiles that it writes itself."""

import json
import math
import os
import subprocess
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 120
DEMAND = "model,requests_per_second,latency_ms"
FLEET = "gpu,count,usd_per_gpu_hour"
PROFILE = "model,gpu,profile,batch,processes,requests_per_second,latency_ms"
PARVA = "Mig instance,Batch size,Workload Number,Throughput,Latency"

# Plain profiles and the requests of "m" per second that a slice of each serves; of "n" half as many.
GPUS = {
    "A30": {"1g.6gb": 100, "2g.12gb": 210, "4g.24gb": 450},
    "H100-80GB-SXM5": {"1g.10gb": 150, "2g.20gb": 310, "3g.40gb": 480, "4g.40gb": 600, "7g.80gb": 1100},
    "RTX": {"1g.24gb": 130, "2g.48gb": 270, "4g.96gb": 560},
    "T4": {"full": 120},
}


def profile_row(model, gpu, profile, processes, rate, latency_ms, round_batch=math.floor):
    """A row of about that latency, whose batch and exact latency give the rate."""
    batch = max(1, round_batch(rate * latency_ms / 1000 / processes))
    return f"{model},{gpu},{profile},{batch},{processes},{rate},{1000 * batch * processes / rate:.6f}"


def profile_rows(gpu, share=1):
    for profile, rate in GPUS[gpu].items():
        yield profile_row("m", gpu, profile, 1, rate * share, 20)
        yield profile_row("m", gpu, profile, 4, rate * share * 2, 20)  # more processes than are allowed
        yield profile_row("m", gpu, profile, 1, rate * share * 3, 45, math.ceil)  # not below 0.45 x 100 ms
        yield profile_row("n", gpu, profile, 1, rate * share / 2, 20)


class Pack(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("profiles.csv", PROFILE, *[row for gpu in GPUS for row in profile_rows(gpu)])

    def write(self, name, *lines):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return path

    def run_pack(self, *arguments):
        return subprocess.run([PROGRAM, "pack", *map(str, arguments)], capture_output=True, timeout=DEADLINE_SECONDS,
                              cwd=self.folder)

    def pack(self, demand, *arguments, profiles=("profiles.csv", "csv")):
        """Packs the rows of a demand file, with the default header unless one is given."""
        lines = demand if demand and demand[0].startswith("model,") else [DEMAND, *demand]
        self.write("demand.csv", *lines)
        return self.run_pack("--profiles", profiles[0], "--profile-format", profiles[1], "--demand", "demand.csv", *arguments)

    def plan(self, demand, *arguments, **options):
        run = self.pack(demand, "--format", "json", *arguments, **options)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return json.loads(run.stdout, parse_float=Fraction)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def assert_refused(self, run, *words):
        message = run.stderr.decode()
        self.assertEqual((run.returncode, run.stdout), (2, b""), message)
        self.assertTrue(message.startswith("berth: "), message)
        self.assertEqual(len(message.splitlines()), 1, message)
        for word in words:
            self.assertIn(word, message)

    def test_what_does_not_fit_names_its_files(self):
        self.assert_refused(self.pack(["x,1,100"], "--gpu", "A30"), "berth: demand.csv, profiles.csv: wanted a profile", '"x"')
        self.assert_refused(self.pack(["m,1,0.001"], "--gpu", "A30"), "demand.csv, profiles.csv: wanted a profiled point")
        self.write("fleet.csv", FLEET, "A30,1,1")
        self.assert_refused(self.pack(["m,10000,100"], "--fleet", "fleet.csv"),
                            "demand.csv, profiles.csv, fleet.csv: wanted GPUs enough")

    def test_each_gpu_model_is_packed_and_accepted(self):
        for gpu, rates in GPUS.items():
            demand = [f"m,{2 * max(rates.values())},100", "n,1,100"]
            plan = self.plan(demand, "--gpu", gpu)
            self.assertEqual((plan["gpus"], plan["bound"], plan["proven"]), (3, 3, True), gpu)
            self.assertEqual(plan["objective"], "gpus")
            self.assertIsNone(plan["cost_micro_usd_per_hour"])
            self.assertEqual({piece["gpu"] for piece in plan["slices"]}, {0, 1, 2})
            for model, wanted in (("m", 2 * max(rates.values())), ("n", 1)):
                given = sum(piece["requests_per_second"] for piece in plan["slices"] if piece["model"] == model)
                self.assertGreaterEqual(given, wanted)
            for piece in plan["slices"]:
                self.assertEqual(list(piece), ["gpu", "profile", "start", "model", "tenant", "batch", "processes",
                                               "requests_per_second"])
                self.assertIn(piece["profile"], rates)
                self.assertEqual(piece["processes"], 1)
            self.write("plan.json", json.dumps(plan, default=float))
            check = self.pack(demand, "--gpu", gpu, "--check", "plan.json")
            self.assertEqual((check.returncode, check.stderr), (0, b""))
            self.assertEqual(check.stdout, f"plan.json: accepted: 3 GPUs, {plan['slice_count']} slices\n".encode())

    def test_same_bytes_twice(self):
        demand = ["m,1234.5,100", "n,321,99.5"]
        for form in ("json", "table"):
            options = ("--gpu", "H100-80GB-SXM5", "--verify", "--format", form)
            first, second = self.pack(demand, *options), self.pack(demand, *options)
            self.assertEqual((first.returncode, first.stderr), (0, b""))
            self.assertEqual(first.stdout, second.stdout)

    def test_empty_demand_needs_no_gpu(self):
        for demand in ([], ["model,requests_per_second,latency_ms,tenant"], ["unknown,0,5"]):
            plan = self.plan(demand, "--gpu", "A30")
            self.assertEqual((plan["gpus"], plan["bound"], plan["proven"], plan["slices"]), (0, 0, True, []))
        table = self.pack([], "--gpu", "A30", "--verify")
        self.assertEqual(table.returncode, 0)
        self.assertTrue(table.stdout.startswith(b"0 GPUs, proven"))

    def test_rates_are_exact(self):
        self.write("p.csv", PROFILE, "m,T4,full,4,1,0.1234567890123456789,20")
        run = self.pack(["m,0.1234567890123456789,100"], "--gpu", "T4", "--format", "json", profiles=("p.csv", "csv"))
        self.assertIn(b'"requests_per_second":0.1234567890123456789}', run.stdout)
        self.assertEqual(json.loads(run.stdout)["gpus"], 1)
        one_more = self.pack(["m,0.1234567890123456790,100"], "--gpu", "T4", "--format", "json", profiles=("p.csv", "csv"))
        self.assertEqual(json.loads(one_more.stdout)["gpus"], 2)

    def test_stem_names_the_model_of_parvagpu(self):
        self.write("parva/one.csv", PARVA, "1,2,1,100,0.02", "7,4,1,0,0")
        self.write("parva/two.csv", PARVA, "7,20,2,1000,0.02")
        self.write("parva/readme.txt", "not a profile")
        plan = self.plan(["one,700,100", "two,1,100"], "--gpu", "A100-80GB", profiles=("parva", "parvagpu"))
        self.assertEqual(plan["gpus"], 2)
        self.assertEqual({piece["model"] for piece in plan["slices"]}, {"one", "two"})
        two = [piece for piece in plan["slices"] if piece["model"] == "two"]
        self.assertEqual([piece["requests_per_second"] for piece in two], [2000])  # two processes
        alone = self.plan(["one,700,100"], "--gpu", "A100-80GB", profiles=("parva/one.csv", "parvagpu"))
        self.assertEqual((alone["gpus"], alone["slice_count"]), (1, 7))

    def test_cheapest_mix(self):
        self.write("fleet.csv", FLEET, "A30,2,0.5", "T4,unlimited,0.1")
        plan = self.plan(["m,1000,100"], "--fleet", "fleet.csv")
        self.assertEqual(plan["objective"], "cost_micro_usd_per_hour")
        self.assertEqual(plan["cost_micro_usd_per_hour"], 900_000)  # nine T4
        self.assertEqual((plan["bound"], plan["proven"], plan["gpus"]), (900_000, True, 9))
        self.assertEqual({piece["gpu_model"] for piece in plan["slices"]}, {"T4-16GB"})
        self.write("plan.json", json.dumps(plan, default=float))
        self.assertEqual(self.pack(["m,1000,100"], "--fleet", "fleet.csv", "--check", "plan.json").returncode, 0)
        self.write("fleet.csv", FLEET, "A30,2,0.5")
        self.assert_refused(self.pack(["m,1000,100"], "--fleet", "fleet.csv"))

    def test_tenants_apart(self):
        demand = ["model,requests_per_second,latency_ms,tenant", "m,90,100,x", "m,90,100,y"]
        self.assertEqual(self.plan(demand, "--gpu", "A30")["gpus"], 1)
        apart = self.plan(demand, "--gpu", "A30", "--no-share", "tenant")
        self.assertEqual((apart["gpus"], apart["proven"]), (2, True))
        self.assertEqual({(piece["gpu"], piece["tenant"]) for piece in apart["slices"]}, {(0, "x"), (1, "y")})

    def test_rules_change_the_plan(self):
        self.assertEqual(self.plan(["m,900,100"], "--gpu", "A30")["gpus"], 2)
        self.assertEqual(self.plan(["m,900,100"], "--gpu", "A30", "--headroom", "1.01")["gpus"], 3)
        self.assertEqual(self.plan(["m,900,100"], "--gpu", "A30", "--max-processes", "4")["gpus"], 1)
        self.assertEqual(self.plan(["m,900,100"], "--gpu", "A30", "--slo-factor", "0.46")["gpus"], 1)

    def test_verification(self):
        run = self.pack(["m,450,100", "n,0,100"], "--gpu", "A30", "--format", "json", "--verify", "--seed", "5")
        full = json.loads(run.stdout)["verification"]
        self.assertEqual((full["seconds"], full["seeds"]), (600, [5, 6, 7]))
        self.assertEqual(full["demands"][0]["load"], 1.0)
        self.assertGreater(full["demands"][0]["latency_p99_ms"], 20)
        self.assertIsNone(full["demands"][1]["slo_attainment"])
        table = self.pack(["m,20,100"], "--gpu", "A30", "--verify").stdout.decode()
        self.assertIn("Every demand has at\n  least 99 % in time.", table)
        self.assertLessEqual(max(map(len, table.splitlines())), 120)

    def test_refused_plans(self):
        plan = json.loads(self.pack(["m,450,100"], "--gpu", "A30", "--format", "json").stdout)
        self.write("plan.json", json.dumps(plan))
        check = self.pack(["m,451,100"], "--gpu", "A30", "--check", "plan.json")
        self.assertEqual((check.returncode, check.stdout), (1, b""))
        self.assertTrue(check.stderr.startswith(b"berth: plan.json: refused: "))
        for wrong, words in (("{", "plan.json:"), ("[]", "wanted an object"), ('{"slices":[{}]}', "slices[0].gpu: "),
                             (json.dumps(plan).replace("4g.24gb", "5g.24gb"), "slices[0].profile: ")):
            self.write("plan.json", wrong)
            self.assert_refused(self.pack(["m,451,100"], "--gpu", "A30", "--check", "plan.json"), words)

    def test_bad_input_writes_nothing(self):
        self.write("bad.csv", PROFILE, "m,A30,9g.99gb,1,1,1,1")
        self.write("fleet.csv", FLEET, "A30,1,0.5", "A30,2,0.5")
        self.write("demand.csv", DEMAND, "m,1,100")
        before = self.files()
        gpu = ("--gpu", "A30", "--report", "out")
        for demand, words in ((["m,-1,100", "n,-2,100"], ['-1 for "m" (line 2)', '-2 for "n" (line 3)']),
                              (["m,1,100", "n,1,100", "m,2,100", "n,3,100"], ['"m" (lines 2 and 4)', '"n" (lines 3 and 5)']),
                              (["m,1,0"], ["latency_ms above 0"]),
                              (["m,1"], ["demand.csv:2:1: wanted 3 fields"]),
                              (["k,1,100", "l,2,100", "m,1,1", "n,0,100"], ['"k"', '"l"', '"m"']),
                              (["model,rate,latency"], ["demand.csv:1:1: wanted the header"])):
            self.assert_refused(self.pack(demand, *gpu), *words)
            self.assertEqual(self.files(), before)
        good = ["m,1,100"]
        self.assert_refused(self.pack(good, *gpu, profiles=("bad.csv", "csv")), "bad.csv:2:7: profile:")
        self.assert_refused(self.pack(good, *gpu, profiles=("none", "csv")), "none: ")
        self.assert_refused(self.pack(good, *gpu, profiles=("profiles.csv", "parvagpu")), "profiles.csv:1:1:")
        self.assert_refused(self.pack(good, *gpu, "--fleet", "fleet.csv"), "--gpu or --fleet")
        self.assert_refused(self.pack(good), "--gpu or --fleet")
        self.assert_refused(self.pack(good, "--fleet", "fleet.csv"), "fleet.csv:3:1: a second row of A30-24GB")
        self.assert_refused(self.pack(good, *gpu, "--headroom", "0"), "--headroom")
        self.assertEqual(self.files(), before)

    def test_cure_is_the_headroom_that_is_needed(self):
        demand = ["m,479,100"]  # one slice at full capacity
        plan = self.plan(demand, "--gpu", "H100-80GB-SXM5", "--cure")
        cure = plan["verification"]["cure"]
        with_it = self.plan(demand, "--gpu", "H100-80GB-SXM5", "--headroom", str(float(cure["headroom"])), "--verify")
        self.assertGreaterEqual(with_it["verification"]["demands"][0]["slo_attainment"], Fraction(99, 100))
        self.assertEqual(with_it["gpus"], cure["gpus"])
        self.assertIsNone(with_it["verification"]["cure"])

    def standing(self, demand, *arguments, name="standing.json"):
        plan = self.plan(demand, *arguments)
        return self.write(name, json.dumps(plan, default=float))

    def test_from_a_plan_that_stands(self):
        """Replays the steps one by one: at any time every model has at least the smaller of its old and its new rate."""
        self.standing(["m,500,100", "n,200,100"], "--gpu", "H100-80GB-SXM5")
        old = json.loads((self.folder / "standing.json").read_text())
        new_rates = {"m": 1500, "n": 250, "k": 0}
        plan = self.plan(["m,1500,100", "n,250,100"], "--gpu", "H100-80GB-SXM5", "--from", "standing.json")
        fewest = self.plan(["m,1500,100", "n,250,100"], "--gpu", "H100-80GB-SXM5")
        self.assertEqual(plan["gpus"], fewest["gpus"])
        way = plan["transition"]
        self.assertEqual(way["changes"], way["created"] + way["destroyed"])
        self.assertLessEqual(way["changes_bound"], way["changes"])
        self.assertEqual(way["fewest_proven"], way["changes_bound"] == way["changes"])
        self.assertEqual(way["kept"] + way["destroyed"], len(old["slices"]))
        self.assertEqual(way["kept"] + way["created"], len(plan["slices"]))

        rate = {"m": 1, "n": Fraction(1, 2)}
        standing = {(piece["gpu"], piece["start"]): piece for piece in old["slices"]}

        def given(model):
            return sum(GPUS["H100-80GB-SXM5"][piece["profile"]] * rate[model] for piece in standing.values()
                       if piece["model"] == model)

        floor = {model: min(given(model), new_rates[model]) for model in ("m", "n")}
        for step in way["steps"]:
            place = (step["gpu"], step["start"])
            if step["action"] == "create":
                self.assertNotIn(place, standing)
                standing[place] = step
            elif step["action"] == "destroy":
                del standing[place]
            for model, least in floor.items():
                self.assertGreaterEqual(given(model), least, step)
        target_of = {gpu["gpu"]: gpu["target"] for gpu in way["gpus"]}
        reached = {(target_of[gpu], start, piece["profile"], piece["model"]) for (gpu, start), piece in standing.items()}
        self.assertEqual(reached, {(piece["gpu"], piece["start"], piece["profile"], piece["model"])
                                   for piece in plan["slices"]})

    def test_from_the_same_demand_changes_nothing(self):
        demand = ["m,700,100", "n,200,100"]
        self.standing(demand, "--gpu", "A30")
        way = self.plan(demand, "--gpu", "A30", "--from", "standing.json")["transition"]
        self.assertEqual((way["changes"], way["fewest_proven"], way["steps"]), (0, True, []))
        table = self.pack(demand, "--gpu", "A30", "--from", "standing.json")
        self.assertIn(b"Nothing has to change.", table.stdout)

    def test_from_gpus_that_are_not_offered_any_more(self):
        self.write("fleet.csv", FLEET, "A30,unlimited,1", "T4,unlimited,0.1")
        self.standing(["m,100,100"], "--fleet", "fleet.csv")
        plan = self.plan(["m,100,100"], "--gpu", "A30", "--from", "standing.json")
        self.assertEqual({piece["gpu_model"] for piece in plan["slices"]}, {"A30-24GB"})
        self.assertEqual([(gpu["gpu_model"], gpu["standing"], gpu["target"]) for gpu in plan["transition"]["gpus"]],
                         [("T4-16GB", 0, None), ("A30-24GB", None, 0)])
        self.assertEqual([step["action"] for step in plan["transition"]["steps"]], ["create", "destroy"])

    def test_from_refuses_what_is_no_plan(self):
        demand = ["m,100,100"]
        self.write("bad.json", '{"slices": [{"gpu": 0, "profile": "9g.1gb"}]}')
        self.assert_refused(self.pack(demand, "--gpu", "A30", "--from", "bad.json"), "bad.json", "slices[0]")
        overlap = {"gpu": 0, "profile": "4g.24gb", "start": 0, "model": "m", "batch": 4, "processes": 1,
                   "requests_per_second": 450}
        self.write("overlap.json", json.dumps({"slices": [overlap, {**overlap, "profile": "1g.6gb"}]}))
        self.assert_refused(self.pack(demand, "--gpu", "A30", "--from", "overlap.json"), "overlap.json")
        self.assert_refused(self.pack(demand, "--gpu", "A30", "--from", "missing.json"), "missing.json")
        self.assert_refused(self.pack(demand, "--gpu", "A30", "--from", "bad.json", "--check", "bad.json"), "--from")

    def test_report_is_one_page_that_loads_nothing(self):
        self.write("profiles.csv", PROFILE, "<i>&,T4,full,2,1,100,20")
        demand = ["<i>&,150,100"]
        run = self.pack(demand, "--gpu", "T4", "--verify", "--report", "a/b")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertEqual(sorted(path.name for path in (self.folder / "a").rglob("*")), ["b", "index.html"])
        page = (self.folder / "a/b/index.html").read_text()
        self.assertIn("2 T4-16GB serve 1 demand: proven, fewer cannot.", page)
        self.assertIn("&lt;i&gt;&amp;", page)
        for unwanted in ("<i>&", "{{", "<script", "http:", "https:", "src="):
            self.assertNotIn(unwanted, page)
        self.assertEqual(self.pack(demand, "--gpu", "T4", "--verify", "--report", "c").returncode, 0)
        self.assertEqual((self.folder / "c/index.html").read_text(), page)
        blocked = self.pack(demand, "--gpu", "T4", "--report", "demand.csv/c")
        self.assertEqual((blocked.returncode, blocked.stdout), (1, b""))

    def test_closed_stdout_is_a_failure(self):
        self.write("demand.csv", DEMAND, "m,1,100")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([PROGRAM, "pack", "--gpu", "A30", "--profiles", "profiles.csv", "--profile-format", "csv",
                                  "--demand", "demand.csv"], stdout=full, stderr=subprocess.PIPE, cwd=self.folder,
                                 timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
