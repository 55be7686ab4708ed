#!/usr/bin/env python3
"""`berth size` end to end: its answers compared with replays of edited scenarios, options, interrupts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
sys.path.insert(0, str(ROOT / "src/surface/cli/shared"))
from terminal import run_on_terminal, without_progress  # noqa: E402

PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DATA = os.environ.get("BERTH_DATA", "")
EXAMPLE = ROOT / "examples/quickstart"
SIZING = ROOT / "examples/sizing"
TEMPLATES = ROOT / "tests/real_traces"
DEADLINE_SECONDS = 400
QUICK = "shared,whole,static-even,paris"  # static-best searches for seconds at each count


def berth(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=DEADLINE_SECONDS, **options)


class Size(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def example(self, gpus):
        """The bundled example with another count of GPUs, without its layout (which may name GPUs beyond the count)."""
        text = (EXAMPLE / "scenario.yaml").read_text()
        text = re.sub(r"\nlayout:\n(?:[ ].*\n)+", "\n", text)
        text = re.sub(r"path: ", f"path: {EXAMPLE}/", text)
        return self.written(f"{gpus}.yaml", self.with_count(text, gpus))

    def with_count(self, text, gpus):
        text, edits = re.subn(r"count: \d+", f"count: {gpus}", text)
        self.assertEqual(edits, 1)
        return text

    def trace(self, template, gpus):
        text = (TEMPLATES / template).read_text().replace("@DATA@", os.path.abspath(DATA))
        text = re.sub(r"\nlayout:\n(?:[ ].*\n)+", "\n", text)
        return self.written(f"{gpus}.yaml", self.with_count(text, gpus))

    def sized(self, scenario, *options):
        run = berth("size", scenario, "--format", "json", *options)
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, b""))
        return json.loads(run.stdout)

    def check_against_replays(self, scenario_of, answer):
        """Replays every count tried with each of its seeds: the same shares, the same verdict and figures."""
        policies = {policy["name"]: policy for policy in answer["policies"]}
        replays = {}
        for name, policy in policies.items():
            for tried in policy["tried"]:
                for index in range(len(tried["slo_attainment_worst_service"])):
                    replays.setdefault((tried["gpus"], answer["seeds"][index]), []).append(name)
        for (gpus, seed), names in sorted(replays.items()):
            command = ["replay", scenario_of(gpus), "--seed", seed, "--policies", ",".join(names), "--format", "json"]
            for replayed in json.loads(berth(*command).stdout)["policies"]:
                with self.subTest(policy=replayed["name"], gpus=gpus, seed=seed):
                    self.check_replay(policies[replayed["name"]], gpus, answer["seeds"].index(seed), replayed, answer)
        for policy in policies.values():
            self.check_answer(policy, answer)

    def check_replay(self, policy, gpus, seed_index, replayed, answer):
        tried = next(tried for tried in policy["tried"] if tried["gpus"] == gpus)
        share = tried["slo_attainment_worst_service"][seed_index]
        if "infeasible" in replayed:
            self.assertEqual((share, tried["infeasible"]), (None, replayed["infeasible"]))
            return
        services = [service for service in replayed["services"] if service["requests"] > 0]
        self.assertEqual(share, min(service["in_time"] / service["requests"] for service in services))
        holds = all(service["in_time"] >= answer["attainment"] * service["requests"] - 1e-6 for service in services)
        if tried["holds"]:
            self.assertTrue(holds)
        elif seed_index == len(tried["slo_attainment_worst_service"]) - 1 == 0:
            self.assertFalse(holds)
        if policy["gpus"] == gpus and seed_index == 0:
            self.assertEqual(policy["utilisation"], replayed["utilisation"])
            self.assertEqual(policy["goodput_mean_of_services"], replayed["goodput_mean_of_services"])
            self.assertEqual(policy["slo_attainment_worst_service"], share)

    def check_answer(self, policy, answer):
        tried = {trial["gpus"]: trial for trial in policy["tried"]}
        if policy["gpus"] is None:
            self.assertFalse(any(trial["holds"] for trial in tried.values()))
            self.assertIsInstance(policy["infeasible"], str)
            return
        self.assertIsNone(policy["infeasible"])
        self.assertEqual(policy["gpus"], min(gpus for gpus, trial in tried.items() if trial["holds"]))
        self.assertEqual(len(tried[policy["gpus"]]["slo_attainment_worst_service"]), len(answer["seeds"]))
        self.assertTrue(policy["smallest_proven"])
        for below in range(1, policy["gpus"]):
            self.assertEqual(len(tried[below]["slo_attainment_worst_service"]), len(answer["seeds"]), "every seed")
        self.assertLessEqual(max(policy["gpus_by_seed"]), policy["gpus"])
        if len(answer["seeds"]) > 1:
            self.assertEqual(policy["stable"], all(gpus == policy["gpus"] for gpus in policy["gpus_by_seed"]))

    def test_agrees_with_replays(self):
        answer = self.sized(self.example(2), "--attainment", "0.99", "--policies", QUICK, "--max-gpus", "8", "--seeds", "2")
        self.assertEqual(answer["seeds"], [1, 2])
        self.assertEqual([policy["name"] for policy in answer["policies"]], QUICK.split(","))
        self.check_against_replays(self.example, answer)
        shared = answer["policies"][0]
        # 3.673 dollars per GPU-hour, a quarter of an hour.
        self.assertAlmostEqual(shared["cost_micro_usd"], shared["gpus"] * 3_673_000 / 4, delta=1)

    def made_up(self, service_count, extra=""):
        """Equal services on H100s, whose worst share is larger with a static layout of 7 GPUs than with one of 8."""
        self.written("p.csv", "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                     "m,H100-80GB-SXM5,1g.10gb,1,1,20,50.0\nm,H100-80GB-SXM5,2g.20gb,1,1,45,22.222\n"
                     "m,H100-80GB-SXM5,3g.40gb,1,1,70,14.286\nm,H100-80GB-SXM5,4g.40gb,1,1,90,11.111\n"
                     "m,H100-80GB-SXM5,7g.80gb,1,1,170,5.882\n")
        services = "".join(
            f"  - {{name: s{i}, profile: {{format: csv, path: p.csv, model: m}}, slo: {{latency_ms: 200}}, "
            f"arrivals: {{format: poisson, requests_per_second: 180, seconds: 20}}{extra}}}\n"
            for i in range(service_count))
        return self.written("made.yaml", "berth: 1\nfleet: [{gpu: H100-80GB-SXM5, count: 1, usd_per_gpu_hour: 2}]\n"
                            f"services:\n{services}")

    def test_a_larger_limit_changes_no_answer(self):
        scenario = self.made_up(6)
        options = ("--attainment", "0.95", "--policies", "shared,static-even,paris")
        full = {policy["name"]: policy for policy in self.sized(scenario, *options)["policies"]}
        self.assertEqual(full["paris"]["gpus"], 7)
        self.assertFalse(full["paris"]["tried"][-1]["holds"], "8 does not hold")
        for gpus_max in range(1, 17):
            for policy in self.sized(scenario, *options, "--max-gpus", gpus_max)["policies"]:
                with self.subTest(policy=policy["name"], gpus_max=gpus_max):
                    known = full[policy["name"]]["gpus"]
                    self.assertEqual(policy["gpus"], known if known <= gpus_max else None)
                    self.assertTrue(policy["smallest_proven"])
                    self.assertEqual([tried["gpus"] for tried in policy["tried"]],
                                     list(range(1, min(known + 1, gpus_max) + 1)))
        text = berth("size", scenario, *options).stdout.decode()
        self.assertIn("paris: more GPUs are not always better: 8 GPUs do not reach the target", text)

    def test_isolation_comes_before_savings(self):
        scenario = self.made_up(2, ", isolation: gpu")
        command = ("size", scenario, "--attainment", "0.3", "--policies", "whole,paris", "--report", self.folder / "out")
        text = " ".join(berth(*command).stdout.decode().split())
        self.assertIn("paris needs 1 GPU (does not keep s0.isolation, s1.isolation), the fewest without hindsight. "
                      "whole, which knows the whole trace beforehand, needs 2 GPUs and keeps the isolation.", text)
        page = (self.folder / "out/index.html").read_text()
        self.assertIn("breaks the isolation", page)
        self.assertIn("does not obey s0.isolation, s1.isolation", page)
        alone = " ".join(berth("size", scenario, "--attainment", "0.3", "--policies", "whole").stdout.decode().split())
        self.assertIn("whole needs 2 GPUs, the fewest with hindsight.", alone)

    def test_the_written_count_does_not_matter(self):
        options = ("--attainment", "0.9", "--policies", "shared,static-even", "--seeds", "1")
        first, second = self.sized(self.example(2), *options), self.sized(self.example(31), *options)
        self.assertEqual(first["policies"], second["policies"])
        self.assertIsNone(first["policies"][0]["stable"], "one seed says nothing")
        whole_file = self.sized(EXAMPLE / "scenario.yaml", *options)
        self.assertEqual(first["policies"], whole_file["policies"], "nor does the layout")

    def test_same_bytes_twice(self):
        command = ["size", self.example(1), "--attainment", "0.8", "--policies", "shared,paris", "--max-gpus", "6"]
        for extra in ((), ("--format", "json")):
            first, second = (berth(*command, *extra, "--report", self.folder / name) for name in "ab")
            self.assertEqual((first.returncode, without_progress(first.stderr)), (0, b""))
            self.assertEqual(first.stdout, second.stdout)
        self.assertEqual((self.folder / "a/index.html").read_bytes(), (self.folder / "b/index.html").read_bytes())

    def test_bad_options_and_scenarios_write_nothing(self):
        scenario = self.example(2)
        mixed = self.written("mixed.yaml", scenario.read_text().replace("}]", "}, {gpu: A30, count: 1}]", 1))
        broken = self.written("broken.yaml", "berth: 2\n")
        report = self.folder / "out/deep"
        for arguments, said in (
                ([scenario], "--attainment is required"),
                ([scenario, "--attainment", "1.1"], "--attainment: wanted a share above 0"),
                ([scenario, "--attainment", "0.9", "--policies", "fixed"], "--policies: fixed cannot be sized"),
                ([scenario, "--attainment", "0.9", "--policies", "best"], "--policies: wanted some of shared,"),
                ([scenario, "--attainment", "1e-40"], "--attainment: wanted a share with fewer digits"),
                ([scenario, "--attainment", "0.9", "--max-gpus", "0"], "--max-gpus: wanted"),
                ([scenario, "--attainment", "0.9", "--seeds", "0"], "--seeds: wanted"),
                ([scenario, "--attainment", "0.9", "--format", "csv"], "--format: wanted table or json"),
                ([mixed, "--attainment", "0.9"],
                 "fleet: wanted a single GPU model, whose count is searched; found A100-80GB and A30-24GB"),
                ([broken, "--attainment", "0.9"], "broken.yaml:1:8: berth: wanted"),
                ([self.folder / "no.yaml", "--attainment", "0.9"], "no.yaml")):
            run = berth("size", *arguments, "--report", report)
            self.assertEqual((run.returncode, run.stdout), (2, b""), arguments)
            self.assertRegex(run.stderr.decode(), r"^berth: .+\n")
            self.assertIn(said, run.stderr.decode())
            self.assertFalse((self.folder / "out").exists())

    def test_interrupt_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            command = [PROGRAM, "size", EXAMPLE / "scenario.yaml", "--attainment", "0.99", "--policies", "all",
                       "--report", self.folder / "out"]
            process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + DEADLINE_SECONDS
            # The folder shows that the run has begun; static-best takes seconds.
            while not (self.folder / "out").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            process.send_signal(number)
            out, err = process.communicate(timeout=DEADLINE_SECONDS)
            self.assertEqual((process.returncode, out), (130, b""), err)
            self.assertIn(b"interrupted", err)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_pipe_gets_progress_each_ten_seconds_and_rows_as_they_are_found(self):
        command = [PROGRAM, "size", str(self.example(1)), "--attainment", "0.99", "--policies", "static-even,static-best",
                   "--format", "json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        row = process.stderr.readline().decode()
        progress = process.stderr.readline().decode()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertRegex(row, r"^berth: static-even: \d GPUs\n$")
        self.assertRegex(progress, r"^berth: static-best with \d GPUs?, 2 of 2: \d+ %; 0:\d\d so far, about \d+:\d\d left\n$")

    def test_the_default_is_four_policies(self):
        run = berth("size", self.example(1), "--attainment", "0.01", "--seeds", "1", "--format", "json")
        self.assertEqual([policy["name"] for policy in json.loads(run.stdout)["policies"]],
                         ["shared", "whole", "static-even", "berth"])

    def test_progress_on_a_terminal_only(self):
        command = [PROGRAM, "size", str(self.example(1)), "--attainment", "0.8", "--policies", "shared"]
        process, _, shown = run_on_terminal(command, DEADLINE_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(shown.decode(), r"shared +with 1 GPU +1/1  \[[#.]{24}\] +\d+ %  0:\d\d")
        self.assertTrue(shown.endswith(b"\r\x1b[K"))

    def test_table_fits(self):
        run = berth("size", self.example(1), "--attainment", "0.9", "--policies", "shared,whole,paris", "--max-gpus", "8")
        self.assertEqual(run.returncode, 0)
        self.assertLessEqual(max(map(len, run.stdout.decode().splitlines())), 120)

    def test_sizing_example_is_what_its_generator_writes(self):
        subprocess.run([sys.executable, SIZING / "make_example.py", self.folder], check=True)
        for path in self.folder.iterdir():
            self.assertEqual(path.read_bytes(), (SIZING / path.name).read_bytes(), path.name)

    def test_ideas(self):
        """Two slots of the example: the steps agree with replays with the same parameters."""
        text = (SIZING / "scenario.yaml").read_text()
        text = re.sub(r"path: ", f"path: {SIZING}/", text).replace("seconds: 1200}", "seconds: 120}")
        scenario = self.written("ideas.yaml", text)
        options = ("--attainment", "0.95", "--policies", "whole", "--seeds", "1", "--max-gpus", "24")
        answer = self.sized(scenario, "--ideas", *options)
        self.assertNotIn("ideas", self.sized(scenario, *options))
        steps = answer["ideas"]
        self.assertEqual([step["adds"] for step in steps],
                         ["whole GPUs", "slices", "operating points", "reconfiguration", "variants", "forecasts"])
        for before, step in zip(steps, steps[1:]):
            self.assertEqual(step["gpus_saved"], before["gpus"] - step["gpus"])
            self.assertEqual(step["cost_micro_usd_per_hour"], step["gpus"] * 3_673_000)
        for step in steps:
            command = ["replay", self.written("one.yaml", self.with_count(text, step["gpus"])), "--policies", step["name"]]
            for parameter in step["without"]:
                command += ["--set", f"{parameter}=0"]
            (replayed,) = json.loads(berth(*command, "--format", "json").stdout)["policies"]
            self.assertEqual(replayed["goodput_mean_of_services"], step["goodput_mean_of_services"], step["adds"])
            if "berth.recuts" in step["without"]:
                self.assertEqual(replayed["changes"], 0)

    @unittest.skipUnless(os.path.isdir(DATA), "wants the public traces in BERTH_DATA")
    def test_real_traces(self):
        for template in ("twitter.yaml.in", "azure_llm.yaml.in"):
            with self.subTest(template=template):
                scenario = self.trace(template, 1)
                answer = self.sized(scenario, "--attainment", "0.98", "--policies", "shared,static-even", "--max-gpus", "8",
                                    "--seeds", "1")
                self.check_against_replays(lambda gpus: self.trace(template, gpus), answer)


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
