#!/usr/bin/env python3
"""`berth forecast` end to end: formats, windows, the same bytes twice, bad input, the page."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DATA = os.environ.get("BERTH_DATA", "")
MODELS = ["naive", "seasonal-naive", "smoothing", "bursty", "combination"]
DEADLINE_SECONDS = 200


def forecast(*arguments):
    return subprocess.run([PROGRAM, "forecast", *map(str, arguments)], capture_output=True, timeout=DEADLINE_SECONDS)


class Forecast(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = self.folder / "counts.txt"
        self.counts = [(second * 7919) % 11 for second in range(2000)]
        self.trace.write_text("".join(f"{count}\n" for count in self.counts))

    def answer(self, *arguments):
        run = forecast(*arguments, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return json.loads(run.stdout)

    def test_json_has_every_model_and_its_figures(self):
        answer = self.answer("--trace", self.trace, "--trace-format", "rps-text", "--horizon", 100, "--every", 50)
        self.assertEqual([model["name"] for model in answer["models"]], MODELS)
        for model in answer["models"]:
            self.assertEqual(list(model), ["name", "wape", "pinball", "coverage_80", "coverage_95"])
            self.assertGreater(model["wape"], 0)
            self.assertGreater(model["pinball"], 0)
            self.assertLess(0.5, model["coverage_80"])
            self.assertLess(model["coverage_80"], model["coverage_95"])
            self.assertLessEqual(model["coverage_95"], 1)
        self.assertEqual((answer["origins"], answer["forecasts"]), (40, 39 * 100 + 50))

    def test_the_future_beyond_the_window_does_not_matter(self):
        window = ["--trace-format", "rps-text", "--from-second", 500, "--seconds", 600]
        whole = self.answer("--trace", self.trace, *window)
        cut = self.folder / "cut.txt"
        cut.write_text("".join(f"{count}\n" for count in self.counts[:1100]))
        self.assertEqual(self.answer("--trace", cut, *window)["models"], whole["models"])

    def test_csv_says_the_same_as_text(self):
        csv = self.folder / "counts.csv"
        rows = "".join(f"{second},{count}\n" for second, count in enumerate(self.counts) if count or second == 1999)
        csv.write_text("second,requests\n" + rows)
        self.assertEqual(self.answer("--trace", csv, "--trace-format", "csv")["models"],
                         self.answer("--trace", self.trace, "--trace-format", "rps-text")["models"])

    def test_the_same_bytes_twice_and_a_page(self):
        runs = []
        for name in ("a", "b"):
            run = forecast("--trace", self.trace, "--trace-format", "rps-text", "--report", self.folder / name)
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            runs.append((run.stdout, (self.folder / name / "index.html").read_bytes()))
        self.assertEqual(runs[0], runs[1])
        for model in MODELS:
            self.assertIn(model.encode(), runs[0][0])
            self.assertIn(f'data-model="{model}"'.encode(), runs[0][1])

    def test_functions_are_taken_one_by_one_or_summed(self):
        trace = self.folder / "functions.csv"
        minutes = ",".join(str(minute) for minute in range(1, 31))
        busy, calm = ",".join(["90"] * 30), ",".join(["1"] * 30)
        trace.write_text(f"HashOwner,HashApp,HashFunction,Trigger,{minutes}\n"
                         f"o,a,f,http,{busy}\no,b,g,timer,{calm}\n")
        common = ["--trace", trace, "--trace-format", "azure-functions"]
        pinball = {chosen: self.answer(*common, *chosen)["models"][-1]["pinball"]
                   for chosen in [(), ("--app", "a"), ("--app", "b"), ("--function", "g")]}
        self.assertEqual(pinball[("--app", "b")], pinball[("--function", "g")])
        self.assertEqual(len(set(pinball.values())), 3)
        self.assertNotEqual(self.answer(*common)["models"], self.answer(*common, "--seed", 2)["models"])

    def test_bad_input(self):
        common = ["--trace", self.trace, "--trace-format", "rps-text"]
        broken = self.folder / "broken.txt"
        broken.write_text("1\nx\n")
        for arguments, message in [
            ([], "--trace"),
            (["--trace", self.trace], "--trace-format"),
            (["--trace", self.folder / "none", "--trace-format", "csv"], "cannot read"),
            (["--trace", broken, "--trace-format", "rps-text"], f"{broken}:2:1"),
            ([*common, "--from-second", 2000], "wanted a second of the trace, 0 to 1999, found 2000"),
            ([*common, "--horizon", 0], "--horizon: wanted a whole number of seconds from 1"),
        ]:
            run = forecast(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, b""), arguments)
            self.assertIn(message, run.stderr.decode())
        blocked = self.folder / "file"
        blocked.write_text("")
        run = forecast(*common, "--report", blocked / "out")
        self.assertEqual((run.returncode, run.stdout), (1, b""))

    @unittest.skipUnless(DATA, "BERTH_DATA does not name the folder with the public traces")
    def test_the_bar_holds_on_the_azure_traces(self):
        functions = ["--trace", f"{DATA}/azure_functions_sample/invocations_subset_480min.csv",
                     "--trace-format", "azure-functions"]
        for arguments in [
            ["--trace", f"{DATA}/azure_llm_2023/AzureLLMInferenceTrace_conv.csv", "--trace-format", "azure-llm"],
            functions,
            [*functions, "--from-second", 7200, "--seconds", 14400],
        ]:
            *single, combination = self.answer(*arguments)["models"]
            self.assertEqual(combination["name"], "combination")
            self.assertLessEqual(combination["pinball"], 1.02 * min(model["pinball"] for model in single), arguments)
            self.assertTrue(0.75 <= combination["coverage_80"] <= 0.85, combination)


if __name__ == "__main__":
    sys.exit(unittest.main())
