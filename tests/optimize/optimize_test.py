#!/usr/bin/env python3
"""`berth optimize` with the real engine: what is kept and why not, bad input, an interrupt, verify, export, publish."""

import hashlib
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "serving")]

import local_serve  # noqa: E402
import onnx_bytes  # noqa: E402
from rows import Draws, write_npz  # noqa: E402

PROGRAM = local_serve.PROGRAM
DEADLINE_SECONDS = 300
COLUMNS, CLASSES = 32, 8


def perceptron():
    return onnx_bytes.layers([COLUMNS, 256, 256, CLASSES])


class Optimize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "net.onnx"
        self.model.write_bytes(perceptron())
        self.calibration = self.rows("calibration.npz", 64, seed=1)
        self.evaluation = self.rows("test.npz", 128, seed=2)
        self.out = self.folder / "out"

    def rows(self, name, count, seed, **more):
        path = self.folder / name
        write_npz(path, x=(Draws(seed).normals(count * COLUMNS), (count, COLUMNS)), **more)
        return path

    def run_berth(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False,
                              cwd=self.folder)

    def optimize(self, *more, model=None, calibration=None, evaluation=True):
        words = ["optimize", model or self.model, "--calibration", calibration or self.calibration, "--out", self.out]
        if "--budget-seconds" not in more:
            words += ["--budget-seconds", "10"]
        if evaluation:
            words += ["--evaluation", self.evaluation if evaluation is True else evaluation]
        return self.run_berth(*words, *more)

    def kept_half_weights(self):
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8")
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        return run

    def manifest(self):
        return json.loads((self.out / "manifest.json").read_text())

    def files(self):
        return sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*") if path.is_file())

    def assert_refused(self, run, *parts, status=2):
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertFalse(self.out.exists())
        self.assertEqual([path.name for path in self.folder.iterdir() if ".part" in path.name], [])

    # ------------------------------------------------------------------------------------------------------ outcomes

    def test_what_is_better_is_kept(self):
        run = self.kept_half_weights()
        self.assertEqual(self.files(), ["fp16/model.onnx", "manifest.json"])
        self.assertIn("Use ", run.stdout.splitlines()[-1])
        self.assertIn("smaller file", run.stdout.splitlines()[-1])
        manifest = self.manifest()
        self.assertEqual(manifest["findings"]["recommended"], "fp16")
        self.assertEqual(manifest["model"]["sha256"], hashlib.sha256(self.model.read_bytes()).hexdigest())
        self.assertEqual(manifest["calibration"]["sha256"], hashlib.sha256(self.calibration.read_bytes()).hexdigest())
        variant = manifest["findings"]["variants"][0]
        written = (self.out / "fp16/model.onnx").read_bytes()
        self.assertEqual(variant["sha256"], hashlib.sha256(written).hexdigest())
        self.assertEqual(variant["figures"]["model"]["file_bytes"], len(written))
        self.assertLess(len(written), 0.6 * self.model.stat().st_size)
        self.assertEqual((manifest["findings"]["rows"]["choosing"], manifest["findings"]["rows"]["judging"]), (64, 64))

    def test_what_is_not_better_is_refused(self):
        run = self.optimize("--methods", "fuse", "--batches", "1")
        self.assertEqual((run.returncode, run.stderr), (3, ""), run.stdout)
        self.assertIn("nothing to simplify", run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1], "Keep the original: nothing that was tried is better.")
        self.assertEqual(self.files(), ["manifest.json"])

    def test_a_page_shows_what_was_found(self):
        for page in ("page", "out/page"):  # in the folder of the variants, too
            run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8", "--report", page)
            self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
            text = (self.folder / page / "index.html").read_text()
            self.assertIn('<h1 id="headline">Use fp16: ', text)
            self.assertIn("<b>kept, recommended</b>", text)
            self.assertTrue((self.out / "fp16/model.onnx").exists())
            shutil.rmtree(self.out)

    def test_a_failed_run_leaves_no_page(self):
        run = self.optimize("--report", "page", model=self.folder / "absent.onnx")
        self.assert_refused(run, "absent.onnx")
        self.assertFalse((self.folder / "page").exists())
        (self.folder / "file").write_text("")
        self.assert_refused(self.optimize("--report", "file"), "--report", status=1)

    def test_refused_variants_are_written_on_request(self):
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8", "--max-loss", "0%", "--metric", "error",
                            "--keep", "all", "--format", "json")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(run.stdout, (self.out / "manifest.json").read_text())
        self.assertEqual(self.files(), ["manifest.json", "refused/fp16/model.onnx"])
        self.assertIn("loses", self.manifest()["findings"]["variants"][0]["reason"])

    def test_integers_make_the_file_smaller(self):
        run = self.optimize("--methods", "fuse,int8", "--goal", "file", "--batches", "64", "--max-loss", "10%")
        self.assertIn(run.returncode, (0, 3), run.stderr)
        variant = self.manifest()["findings"]["variants"][-1]
        self.assertEqual(variant["methods"], ["int8"])
        self.assertLess(variant["figures"]["model"]["file_bytes"], 0.4 * self.model.stat().st_size)
        self.assertLess(variant["figures"]["judging"]["loss"]["value"], 0.1)

    def test_one_data_set_is_split_and_said(self):
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8", evaluation=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("32 of the calibration rows calibrate and choose, the other 32 judge", run.stdout)

    def test_evaluation_rows_that_calibrate_are_left_out(self):
        draws = Draws(1).normals(64 * COLUMNS) + Draws(5).normals(20 * COLUMNS)
        write_npz(self.folder / "both.npz", x=(draws, (84, COLUMNS)))
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8", evaluation=self.folder / "both.npz")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("64 left out", run.stdout)
        self.assertEqual(self.manifest()["findings"]["rows"]["left_out"], 64)

    def test_labels_give_accuracy(self):
        labels = ([row % CLASSES for row in range(64)], (64,), "<i8")
        calibration = self.rows("labelled.npz", 64, seed=1, label=labels)
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8", calibration=calibration, evaluation=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.manifest()["findings"]["metric"], "accuracy")

    def test_a_fixed_first_dimension_is_named(self):
        self.model.write_bytes(onnx_bytes.model(
            [onnx_bytes.node("MatMul", ["x", "w"], ["y"])], [onnx_bytes.value_info("x", [4, COLUMNS])],
            [onnx_bytes.value_info("y", [4, 64])],
            [onnx_bytes.weights("w", [COLUMNS, 64], Draws(3).normals(COLUMNS * 64))]))
        run = self.optimize("--methods", "fp16", "--goal", "file")
        self.assertIn(run.returncode, (0, 3), run.stderr)
        self.assertIn("measured at batch 4 alone", run.stdout)

    def test_the_same_fuse_gives_the_same_bytes(self):
        model = onnx_bytes.model(
            [onnx_bytes.node("Identity", ["x"], ["a"]), onnx_bytes.node("MatMul", ["a", "w"], ["b"]),
             onnx_bytes.node("Add", ["b", "c"], ["d"]), onnx_bytes.node("Identity", ["d"], ["y"])],
            [onnx_bytes.value_info("x", ["N", COLUMNS])], [onnx_bytes.value_info("y", ["N", 64])],
            [onnx_bytes.weights("w", [COLUMNS, 64], Draws(3).normals(COLUMNS * 64)),
             onnx_bytes.weights("c", [64], Draws(4).normals(64))])
        self.model.write_bytes(model)
        written = []
        for _ in range(2):
            run = self.optimize("--methods", "fuse", "--keep", "all", "--batches", "1")
            self.assertIn(run.returncode, (0, 3), run.stderr)
            variant = self.manifest()["findings"]["variants"][0]
            self.assertLess(variant["figures"]["model"]["nodes"], 3)
            written.append(variant["sha256"])
            shutil.rmtree(self.out)
        self.assertEqual(*written)

    def test_weights_outside_are_read(self):
        values = Draws(3).normals(COLUMNS * 64)
        (self.folder / "w.bin").write_bytes(b"\0" * 64 + struct.pack(f"<{len(values)}f", *values))
        self.model.write_bytes(self.outside_model("w.bin"))
        run = self.optimize("--methods", "fp16", "--goal", "file", "--batches", "8")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(self.manifest()["findings"]["original"]["file_bytes"], 4 * len(values))

    def outside_model(self, path):
        o = onnx_bytes
        entries = b"".join(o.text(13, o.text(1, key) + o.text(2, value))
                           for key, value in (("location", path), ("offset", "64"), ("length", str(4 * COLUMNS * 64))))
        weights = o.number(1, COLUMNS) + o.number(1, 64) + o.number(2, o.FLOAT) + o.text(8, "w") + entries + o.number(14, 1)
        return o.model([o.node("MatMul", ["x", "w"], ["y"])], [o.value_info("x", ["N", COLUMNS])],
                       [o.value_info("y", ["N", 64])], [weights])

    # ------------------------------------------------------------------------------------------------------ bad input

    def test_options_are_checked(self):
        for words, parts in [
                (["--max-loss", "-1%"], ["--max-loss: wanted 0% to 100%"]),
                (["--max-loss", "0.5"], ["--max-loss: wanted a percentage such as 0.5%"]),
                (["--max-loss", "nan%"], ["--max-loss"]),
                (["--methods", "fuse,magic"], ["--methods: wanted some of fuse,prune,int8,fp16", "magic"]),
                (["--methods", "fuse,fuse"], ["--methods: wanted each once"]),
                (["--ranges", "worst"], ["--ranges"]),
                (["--keep", "none"], ["--keep"]),
                (["--batches", "0"], ["--batches"]),
                (["--batches", "1,,8"], ["--batches"]),
                (["--metric", "beauty"], ["--metric: wanted accuracy, agreement or error"]),
                (["--goal", "fame"], ["--goal: wanted latency, memory or file"]),
                (["--device", "tpu"], ["--device: wanted cpu, or cuda:N"]),
                (["--budget-seconds", "0"], ["--budget-seconds"]),
                (["--seed", "-1"], ["--seed"]),
                (["--format", "xml"], ["--format"])]:
            with self.subTest(words=words):
                self.assert_refused(self.optimize(*words), *parts)

    def test_bad_models_are_refused(self):
        for name, content, parts in [
                ("text.onnx", b"no model", ["text.onnx"]),
                ("empty.onnx", b"", ["empty.onnx"]),
                ("cut.onnx", perceptron()[:-1000], ["cut.onnx"]),
                ("unknown.onnx", onnx_bytes.model([onnx_bytes.node("Magic", ["x"], ["y"])],
                                                  [onnx_bytes.value_info("x", ["N", COLUMNS])],
                                                  [onnx_bytes.value_info("y", ["N", COLUMNS])]), ["unknown.onnx", "Magic"]),
                ("dangling.onnx", onnx_bytes.model([onnx_bytes.node("Relu", ["z"], ["y"])],
                                                   [onnx_bytes.value_info("x", ["N", COLUMNS])],
                                                   [onnx_bytes.value_info("y", ["N", COLUMNS])]), ["dangling.onnx", "z"])]:
            with self.subTest(name=name):
                path = self.folder / name
                path.write_bytes(content)
                self.assert_refused(self.optimize(model=path), *parts)
        self.assert_refused(self.optimize(model=self.folder / "none.onnx"), "none.onnx")

    def test_weights_outside_of_the_folder_are_refused(self):
        inner = self.folder / "inner"
        inner.mkdir()
        (self.folder / "w.bin").write_bytes(b"\0" * (64 + 4 * COLUMNS * 64))
        for path in ("../w.bin", str(self.folder / "w.bin"), "link.bin"):
            with self.subTest(path=path):
                if path == "link.bin":
                    (inner / path).symlink_to(self.folder / "w.bin")
                model = inner / "net.onnx"
                model.write_bytes(self.outside_model(path))
                self.assert_refused(self.optimize(model=model), "net.onnx")

    def test_bad_rows_are_refused(self):
        normals = Draws(7).normals
        cases = [
            ("missing.npz", {"z": (normals(4 * COLUMNS), (4, COLUMNS))}, ["missing.npz", "z"]),
            ("shape.npz", {"x": (normals(4 * 5), (4, 5))}, ["shape.npz", "x"]),
            ("type.npz", {"x": (normals(4 * COLUMNS), (4, COLUMNS), "<f8")}, ["type.npz", "x"]),
            ("nan.npz", {"x": ([float("nan")] + normals(4 * COLUMNS - 1), (4, COLUMNS))}, ["nan.npz", "x"]),
            ("none.npz", {"x": ([], (0, COLUMNS))}, ["none.npz"]),
            ("one.npz", {"x": (normals(COLUMNS), (1, COLUMNS))}, ["one.npz"]),
            ("labels.npz", {"x": (normals(4 * COLUMNS), (4, COLUMNS)), "label": ([0, 1, 2, 99], (4,), "<i8")}, ["99"]),
            ("few_labels.npz", {"x": (normals(4 * COLUMNS), (4, COLUMNS)), "label": ([0, 1], (2,), "<i8")}, ["few_labels.npz"])]
        for name, arrays, parts in cases:
            with self.subTest(name=name):
                write_npz(self.folder / name, **arrays)
                self.assert_refused(self.optimize(calibration=self.folder / name, evaluation=False), *parts)
        (self.folder / "no.npz").write_bytes(b"no archive")
        self.assert_refused(self.optimize(calibration=self.folder / "no.npz"), "no.npz")
        self.assert_refused(self.optimize(calibration=self.folder / "absent.npz"), "absent.npz")
        self.assert_refused(self.optimize("--metric", "accuracy"), "label")

    def test_an_engine_is_wanted(self):
        self.assert_refused(self.optimize("--engine", self.folder / "none.so"), "none.so", "scripts/setup")

    def test_the_folder_must_be_new(self):
        self.out.mkdir()
        (self.out / "mine").write_text("x")
        run = self.optimize()
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("wanted a new or an empty folder", run.stderr)
        self.assertEqual(self.files(), ["mine"])
        (self.out / "mine").unlink()
        self.kept_half_weights()

    def test_an_interrupt_leaves_nothing(self):
        before = sorted(path.name for path in self.folder.iterdir())
        for delay in (0.2, 1.0, 3.0):
            process = subprocess.Popen([PROGRAM, "optimize", self.model, "--calibration", self.calibration, "--out", self.out,
                                        "--budget-seconds", "100"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            with self.subTest(delay=delay):
                self.assertEqual((process.returncode, out), (130, ""), err)
                self.assertIn("interrupted", err)
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    # ---------------------------------------------------------------------------------------------- verify, export, publish

    def test_verify_measures_again(self):
        self.kept_half_weights()
        run = self.run_berth("optimize", "verify", self.out, "--format", "json")
        self.assertIn(run.returncode, (0, 1), run.stderr)
        answer = json.loads(run.stdout)
        figures = {(each["variant"], each["figure"]): each["holds"] for each in answer["figures"]}
        self.assertTrue(figures["fp16", "loss on the rows that judge"])
        self.assertTrue(figures["fp16", "SHA-256 of the file"])
        self.assertIn(("fp16", "time at batch 8"), figures)
        self.assertIn(("original", "memory after the load"), figures)
        (self.out / "fp16/model.onnx").write_bytes(perceptron())
        run = self.run_berth("optimize", "verify", self.out)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stdout, r"fp16 +SHA-256 of the file .*does not hold")

    def test_verify_wants_the_same_files(self):
        self.kept_half_weights()
        shutil.copy(self.rows("other.npz", 64, seed=9), self.calibration)
        run = self.run_berth("optimize", "verify", self.out)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stdout, r"SHA-256 of the calibration .*does not hold")
        self.calibration.unlink()
        self.assertEqual(self.run_berth("optimize", "verify", self.out).returncode, 2)
        self.assertEqual(self.run_berth("optimize", "verify", self.folder).returncode, 2)

    def test_export_is_read_by_a_scenario(self):
        self.kept_half_weights()
        run = self.run_berth("optimize", "export", "out", "--as", "A30-24GB:1g.6gb")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("measured on cpu", run.stdout)
        csv = self.out / "A30-24GB_1g.6gb.cpu.csv"
        self.assertIn("net-fp16,A30-24GB,1g.6gb,8,1,", csv.read_text())
        scenario = f"""berth: 1
fleet: [{{gpu: A30-24GB}}]
layout: [{{gpu: 0, slices: [{{profile: 1g.6gb, start: 0, service: net}}]}}]
services:
  - name: net
    profile: {{format: csv, path: {csv.relative_to(self.folder)}, model: net}}
    slo: {{latency_ms: 1000}}
    arrivals: {{format: constant, requests_per_second: 5, seconds: 10}}
{run.stdout}"""
        (self.folder / "scenario.yaml").write_text(scenario)
        replay = self.run_berth("replay", "scenario.yaml", "--format", "json")
        self.assertEqual((replay.returncode, replay.stderr), (0, ""), scenario)
        self.assertEqual(self.run_berth("optimize", "export", "out", "--as", "A30-24GB:9g.1gb").returncode, 2)
        self.assertEqual(self.run_berth("optimize", "export", "out", "--as", "A30-24GB").returncode, 2)

    def test_publish_adds_the_next_version(self):
        self.kept_half_weights()
        repository = self.folder / "models"
        repository.mkdir()
        for version in (1, 2):
            run = self.run_berth("optimize", "publish", "out", "--repository", "models/net")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertEqual(run.stdout, f"fp16 is version {version} of net: models/net/{version}\n")
            self.assertEqual(sorted(path.name for path in (repository / "net" / str(version)).iterdir()), ["berth.json", "model.onnx"])
        self.assertEqual(sorted(path.name for path in (repository / "net").iterdir()), ["1", "2"])
        time.sleep(local_serve.SETTLE_SECONDS)
        serve = local_serve.Serve(repository)
        self.addCleanup(serve.end)
        serve.ready()
        models = serve.json("GET", "/berth/v1/memory")[1]["models"]
        self.assertEqual([(each["name"], each["version"], each["variant"]) for each in models], [("net", "2", "fp16")])
        other = repository / "other/7"
        other.mkdir(parents=True)
        (other / "model.onnx").write_bytes(onnx_bytes.twice(4))
        run = self.run_berth("optimize", "publish", "out", "--repository", "models/other")
        self.assertEqual(run.returncode, 2)
        self.assertIn("wanted the inputs of the version there", run.stderr)
        self.assertEqual([path.name for path in other.parent.iterdir()], ["7"])
        for words in (["--variant", "int8"], ["--variant", "../x"]):
            self.assertEqual(self.run_berth("optimize", "publish", "out", "--repository", "models/net", *words).returncode, 2)
        self.assertEqual(self.run_berth("optimize", "publish", "out", "--repository", "absent/net").returncode, 2)


if __name__ == "__main__":
    local_serve.require_engine()
    unittest.main()
