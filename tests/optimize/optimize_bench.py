#!/usr/bin/env python3
"""The bars of `berth optimize`, with ONNX Runtime's own tools in the same run: scripts/bench optimize.

    tests/optimize/optimize_bench.py BERTH [--only digits,ranges,resnet,prune,fuse,random,hopeless,real] [--seeds 5] [--graphs 200] [--folder DIR]

Every model is generated or trained here; no option is set for one of them. One thread.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx

import bench_models
import real_models
import rivals

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/detail"))
from bar_table import BarTable  # noqa: E402
import train_digits  # noqa: E402

PARTS = ("digits", "ranges", "resnet", "prune", "fuse", "random", "hopeless", "real")
FLOAT_TENSOR = "tensor(float)"


class Bench:
    def __init__(self, berth, folder, seeds, graphs):
        self.berth, self.folder, self.seeds, self.graphs = berth, folder, seeds, graphs
        self.table = BarTable()
        self.kept = []  # folders with kept variants, and the files they were made with

    def place(self, name):
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, model, rows, labels=None):
        """(model's path, calibration npz, evaluation npz, evaluation rows): half of the rows each."""
        place = self.place(name)
        onnx.save(model, str(place / "model.onnx"))
        half = len(next(iter(rows.values()))) // 2
        halves = [{key: array[:half] for key, array in rows.items()}, {key: array[half:] for key, array in rows.items()}]
        for kind, part in zip(("calibration", "evaluation"), halves):
            numpy.savez(place / f"{kind}.npz", **part)
        return place / "model.onnx", halves[0], halves[1]

    def optimize(self, model, *options, label=""):
        """(exit status, manifest, folder, seconds, megabytes of resident memory at most)."""
        place = model.parent
        out = place / f"out{label}"
        begin = time.monotonic()
        run = subprocess.run([self.berth, "optimize", str(model), "--calibration", str(place / "calibration.npz"), "--evaluation",
                              str(place / "evaluation.npz"), "--keep", "all", "--out", str(out), "--format", "json", *options],
                             capture_output=True, text=True)
        seconds = time.monotonic() - begin
        if run.returncode not in (0, 3):
            sys.exit(f"optimize_bench: {model}: status {run.returncode}: {run.stderr.strip()}")
        manifest = json.loads(run.stdout)
        if run.returncode == 0:
            self.kept.append(out)
        return run.returncode, manifest, out, seconds

    def digits(self):
        """The trained models of scripts/models: our INT8 and that of quantize_static, then what all methods give."""
        self.table.part("digits: INT8 against quantize_static (best of six), then all methods")
        for name in ("digits", "digits-cnn"):
            model, rows, judged = self.trained(0)[name]
            _, manifest, out, _ = self.optimize(model, "--methods", "fuse,int8", "--max-loss", "100%", label="-int8")
            ours = file_made(out, "fuse+int8", manifest)
            original = rivals.answers(model, judged)
            files = rivals.quantised(model, rows, self.place("rivals"))
            quality = {key: rivals.sqnr_db(original, rivals.answers(path, judged)) for key, path in files.items()}
            best = max(quality, key=quality.get)
            our_db = rivals.sqnr_db(original, rivals.answers(ours, judged))
            self.table.show(f"{name}: SQNR below the best of quantize_static ({' '.join(best)}), dB", quality[best] - our_db,
                            known=f"{quality[best]:.1f} dB", bar=("at most", 0.2))
            for batch in (8, 64):
                fastest = min((rivals.time_ratio(ours, path, judged, batch), key) for key, path in files.items() if key == best)
                self.table.show(f"{name}: time / that, batch {batch}", fastest[0], bar=("at most", 1.03))
            self.table.show(f"{name}: bytes / that", ours.stat().st_size / files[best].stat().st_size, bar=("at most", 1.02))

    def trained(self, seed):
        """The models of scripts/models with their rows, by name; made once for each seed."""
        place = self.place(f"digits-{seed}")
        if not (place / "digits-request.json").exists():
            sys.argv = ["train_digits", str(place), str(seed)]
            train_digits.main()
        result = {}
        for name in ("digits", "digits-cnn", "digits-linear"):
            target = place / name / "1"
            parts = []
            for kind in ("calibration", "evaluation"):
                content = (place / f"digits-{kind}.npz").read_bytes()
                (target / f"{kind}.npz").write_bytes(content)
                parts.append({"X": numpy.load(place / f"digits-{kind}.npz")["X"]})
            result[name] = (target / "model.onnx", *parts)
        return result

    def ranges(self):
        self.table.part("20 generated models, half with an outlier: --ranges best against each fixed rule")
        below, fixed = [], {rule: [] for rule in ("min-max", "percentile", "entropy")}
        for seed in range(20):
            model, _, judged = self.write(f"small-{seed}", *bench_models.small_network(seed))
            original = rivals.answers(model, judged)
            by_rule = {}
            for rule in ("best", *fixed):
                _, manifest, out, _ = self.optimize(model, "--methods", "int8", "--max-loss", "100%", "--ranges", rule,
                                                    "--budget-seconds", "20", label="-" + rule)
                by_rule[rule] = rivals.sqnr_db(original, rivals.answers(file_made(out, "int8", manifest), judged))
            print(f"  model {seed}, dB: " + ", ".join(f"{rule} {by_rule[rule]:.2f}" for rule in by_rule), flush=True)
            below.append(max(by_rule[rule] for rule in fixed) - by_rule["best"])
            for rule in fixed:
                fixed[rule].append(by_rule["best"] - by_rule[rule])
        self.table.show("worst model: dB below the best fixed rule", max(below), bar=("at most", 0.1))
        rule = min(fixed, key=lambda key: statistics.mean(fixed[key]))
        self.table.show(f"mean dB above the best single rule ({rule})", statistics.mean(fixed[rule]), bar=("at least", 0.5))

    def resnet(self):
        self.table.part("the shape of ResNet-50, drawn weights, batch 1")
        model, rows, judged = self.write("resnet50", *bench_models.resnet50())
        _, manifest, out, seconds = self.optimize(model, "--max-loss", "5%", "--batches", "1", label="-all")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        self.table.show("all methods: seconds", seconds, form="{:.0f}", bar=("below", 660))
        self.table.show("all methods: GB resident at most, of any process", peak, bar=("below", 2.0))
        ours = file_of(out, "fuse+int8")
        if ours is None:  # pruning took the time: a busy machine
            _, manifest, out, _ = self.optimize(model, "--methods", "fuse,int8", "--max-loss", "5%", "--batches", "1", label="-int8")
            ours = file_made(out, "fuse+int8", manifest)
        files = rivals.quantised(model, rows, self.place("rivals"), rivals.CALIBRATIONS[:1])
        for key, path in files.items():
            self.table.show(f"INT8: speed / that of quantize_static with {key[1]}", rivals.time_ratio(path, ours, judged, 1, 20),
                            form="{:.2f}", bar=("at least", 0.97))
        self.table.show("INT8: speed / the original's", rivals.time_ratio(model, ours, judged, 1, 20))

    def prune(self):
        self.table.part(f"the CNN of scripts/models, {self.seeds} seeds, max-loss 1 %: medians")
        gone, alone, together = [], {8: [], 64: []}, {8: [], 64: []}
        for seed in range(self.seeds):
            model, _, judged = self.trained(seed)["digits-cnn"]
            _, manifest, out, _ = self.optimize(model, "--methods", "fuse,prune", "--max-loss", "1%", label="-prune")
            pruned = variant_of(manifest, "fuse+prune")
            channels = pruned["channels"]
            before = 2 * train_digits.INNER_CHANNELS
            kept = [c["after"] for c in channels if c["before"] == train_digits.INNER_CHANNELS]
            gone.append(1 - (sum(kept) + train_digits.INNER_CHANNELS * (2 - len(kept))) / before)
            _, manifest, out_all, _ = self.optimize(model, "--max-loss", "1%", label="-all")
            for batch in (8, 64):
                if (out_pruned := file_of(out, "fuse+prune")) is not None:
                    alone[batch].append(rivals.time_ratio(model, out_pruned, judged, batch))
                int8, everything = file_of(out_all, "fuse+int8"), best_file(out_all, manifest)
                together[batch].append(rivals.time_ratio(int8, everything, judged, batch))
        self.table.show("share of inner channels gone", statistics.median(gone), bar=("at least", 0.3), known="sketch 0.50")
        for batch, known in ((8, 1.8), (64, 2.5)):
            self.table.show(f"fuse,prune: times as fast, batch {batch}", statistics.median(alone[batch]), known=f"sketch {known}",
                            bar=("at least", 1.2))
        for batch, known in ((8, 1.5), (64, 1.7)):
            self.table.show(f"all methods: times as fast as INT8 alone, batch {batch}", statistics.median(together[batch]),
                            known=f"sketch {known}", bar=("at least", 1.15))

    def fuse(self):
        self.table.part("fuse: nodes against ONNX Runtime's BASIC, time against the original's")
        shapes = {"resnet50": bench_models.resnet50(), "bert-mini": bench_models.bert_mini()}
        models = {name: self.write("fuse-" + name, model, rows) for name, (model, rows) in shapes.items()}
        models["digits-cnn"] = self.trained(0)["digits-cnn"]
        for name, (model, _, judged) in models.items():
            _, manifest, out, _ = self.optimize(model, "--methods", "fuse", "--batches", "1", "--max-loss", "100%", label="-fuse")
            ours = file_made(out, "fuse", manifest)
            nodes = rivals.count_nodes(rivals.basic(model, self.place("rivals") / f"{name}.basic.onnx"))
            self.table.show(f"{name}: nodes / BASIC's ({nodes})", rivals.count_nodes(ours) / nodes, bar=("at most", 1.05))
            self.table.show(f"{name}: time / the original's, batch 1", rivals.time_ratio(ours, model, judged, 1, 10), bar=("at most", 1.02))

    def random(self):
        self.table.part(f"{self.graphs} random graphs, all methods")
        refused, inexact = [], []
        for seed in range(self.graphs):
            model, _, judged = self.write(f"random-{seed}", *bench_models.random_graph(seed))
            _, manifest, out, _ = self.optimize(model, "--batches", "8", "--max-loss", "100%", "--budget-seconds", "8")
            original = rivals.answers(model, judged)
            for path in sorted(out.rglob("model.onnx")):
                try:
                    onnx.checker.check_model(str(path), full_check=True)
                    answer = rivals.answers(path, judged)
                except Exception as fault:
                    refused.append(f"{path}: {str(fault)[:200]}")
                    continue
                if path.parent.name == "fuse" and not numpy.abs(answer - original).max() <= 1e-4 * numpy.abs(original).max():
                    inexact.append(str(path))
        for line in refused + inexact:
            print("  " + line)
        self.table.show("files that do not load or that onnx.checker refuses", len(refused), form="{:.0f}", bar=("at most", 0))
        self.table.show("fused files that are not exact", len(inexact), form="{:.0f}", bar=("at most", 0))

    def hopeless(self):
        self.table.part("30 models that nothing improves")
        kept = []
        for seed in range(30):
            model, _, _ = self.write(f"hopeless-{seed}", *bench_models.hopeless(seed))
            status, manifest, _, _ = self.optimize(model, "--budget-seconds", "20")
            if status == 0:
                kept.append(seed)
        self.table.show(f"kept {kept or ''}".strip(), len(kept), form="{:.0f}", bar=("at most", 0))

    def real(self):
        self.table.part("models that others trained, as their packages hold them")
        wheels = self.place("wheels")
        for name in real_models.FILES:
            model = real_models.model(name, wheels)
            onnx.save(model, str(self.place(name) / "model.onnx"))
            rows = {"magika": lambda: real_models.magika_rows(ROOT),
                    "rapidocr-cls": real_models.rapidocr_rows}.get(
                        name, lambda: real_models.silero_rows(rivals.session(self.place(name) / "model.onnx")))()
            path, _, _ = self.write(name, model, rows)
            metric = ["--metric", "error", "--max-loss", "1%"] if name.startswith("silero") else []
            _, manifest, _, seconds = self.optimize(path, "--batches", "1,8", "--budget-seconds", "120", *metric)
            print(f"  {name}: {seconds:.0f} s; {manifest['findings']['recommended'] or 'nothing'} recommended")
            for line in manifest["findings"]["left_out"]:
                print(f"    left out: {line}")
            for variant in manifest["findings"]["variants"]:
                print(f"    {variant['name']}: {variant['reason'] or 'kept'}")
                if variant.get("figures"):
                    figures = variant["figures"]
                    self.table.show(f"{name}, {variant['name']}: time / the original's", figures["time_ratio"]["value"])
                    self.table.show(f"{name}, {variant['name']}: bytes / the original's",
                                    figures["model"]["file_bytes"] / manifest["findings"]["original"]["file_bytes"])

    def verify(self):
        self.table.part("berth optimize verify of all that is kept above")
        named = checked = 0
        for out in self.kept:
            run = subprocess.run([self.berth, "optimize", "verify", str(out), "--format", "json"], capture_output=True, text=True)
            if run.returncode not in (0, 1):
                sys.exit(f"optimize_bench: verify {out}: status {run.returncode}: {run.stderr.strip()}")
            found = json.loads(run.stdout)
            checked += len(found["figures"])
            failed = [figure for figure in found["figures"] if not figure["holds"]]
            named += len(failed)
            for figure in failed:
                print(f"  {out}: {figure['variant']}: {figure['figure']}: wanted {figure['wanted']}, found {figure['found']}")
        if checked:
            self.table.show(f"share of {checked} figures that hold", 1 - named / checked, form="{:.3f}", bar=("at least", 0.95))


def variant_of(manifest, name):
    return next(variant for variant in manifest["findings"]["variants"] if variant["name"] == name)


def file_of(out, name):
    """The file of a variant, kept or refused; nothing: it was not made."""
    paths = [out / name / "model.onnx", out / "refused" / name / "model.onnx"]
    return next((path for path in paths if path.exists()), None)


def file_made(out, name, manifest):
    """Likewise; ends the program if it was not made, for instance on a machine that is too busy for the time budget."""
    if (path := file_of(out, name)) is None:
        sys.exit(f"optimize_bench: {out}: wanted {name}, found none: {'; '.join(manifest['findings']['left_out'])}")
    return path


def best_file(out, manifest):
    return file_of(out, manifest["findings"]["recommended"] or "fuse+prune+int8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth")
    parser.add_argument("--only", default=",".join(PARTS), help="some parts, with commas between them")
    parser.add_argument("--seeds", type=int, default=5, help="of the CNN")
    parser.add_argument("--graphs", type=int, default=200, help="that are drawn at random")
    parser.add_argument("--folder", help="keeps what is made there")
    words = parser.parse_args()
    only = words.only.split(",")
    if unknown := [part for part in only if part not in PARTS]:
        parser.error(f"wanted parts among {', '.join(PARTS)}, found {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="berth-optimize-") as temporary:
        bench = Bench(str(pathlib.Path(words.berth).resolve()), pathlib.Path(words.folder or temporary).resolve(), words.seeds,
                      words.graphs)
        for part in only:
            getattr(bench, part)()
        bench.verify()
        bench.table.print()
    return 1 if bench.table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
