#!/usr/bin/env python3
"""`berth tier train`, `predict` and `explain` on generated measurements: the choice is the least cost of those that are sure, each
reported change wins when it is applied, rules and memory exclude, prices come from the catalogue, outputs agree, and bad input
gives one message, status 2 and no file."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/tier"
TARGET = "requests_per_second=900 latency_ms=25"
DEADLINE_SECONDS = 120
SPEEDS = {"small": 1.0, "middle": 2.2, "large": 5.0}
PRICES = {"small": 1.0, "middle": 1.9, "large": 5.2}


def run(folder, *words, status=0):
    done = subprocess.run([PROGRAM, "tier", *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False, cwd=folder)
    assert done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def predict(folder, *words, target=TARGET):
    return json.loads(run(folder, "predict", "--target", target, "--format", "json", *words).stdout)


def copy_example(folder):
    for name in ("measurements.csv", "detector.csv", "tiers.yaml", "rules.yaml"):
        shutil.copy(EXAMPLE / name, folder)
    run(folder, "train", "--data", "measurements.csv", "--tiers", "tiers.yaml", "--out", "forest")
    return ["--workload", "detector.csv", "--tiers", "tiers.yaml", "--model", "forest"]


def check_training(folder):
    """The same data and seed give the same bytes; several files are one table."""
    first = (folder / "forest").read_bytes()
    lines = (folder / "measurements.csv").read_text().splitlines(keepends=True)
    head, rows = lines[0], lines[1:]
    (folder / "a.csv").write_text(head + "".join(rows[:100]))
    (folder / "b.csv").write_text(head + "".join(rows[100:]))
    run(folder, "train", "--data", "a.csv,b.csv", "--tiers", "tiers.yaml", "--out", "forest2")
    assert (folder / "forest2").read_bytes() == first, "another forest from the same data"
    said = json.loads(run(folder, "explain", "forest", "--format", "json").stdout)
    assert said["kind"] == "services" and len(said["groups"]) == 8 and said["workloads"] == 15, said
    assert abs(sum(each["gain"] for each in said["features"]) - 1) < 1e-6
    assert all(0 <= each["found"] <= 1 for each in said["calibration"]) and said["calibration"]


def check_choice(answer):
    """Among the tiers that are sure and not excluded the taken one has the least mean cost or differs by what a miss costs."""
    tiers = {tier["name"]: tier for tier in answer["tiers"]}
    choice = answer["choice"]
    assert choice["is_sure"] and tiers[choice["tier"]]["probability"] >= answer["sure"]
    sure = [tier for tier in tiers.values() if not tier["excluded"] and tier["probability"] >= answer["sure"]]
    least = min(tier["cost_mean"] for tier in sure)
    slack = (1 - answer["sure"]) * 3 * max(tier["cost_usd_per_hour"] for tier in tiers.values())
    assert tiers[choice["tier"]]["cost_mean"] <= least + slack
    for tier in tiers.values():
        spread = tier["per_second"]
        assert spread["p10"] <= spread["median"] <= spread["p90"], tier
        if tier["basis"] == "predicted":
            assert tier["features"], tier
        assert abs(tier["cost_usd_per_hour"] - tier["usd_per_hour"] * tier["slices"]) < 1e-9, tier


def with_price(folder, tier, price):
    """A copy of tiers.yaml with another price of one tier."""
    lines = []
    for line in (folder / "tiers.yaml").read_text().splitlines():
        if f"name: {tier}," in line:
            line = line[:line.index("usd_per_hour:")] + f"usd_per_hour: {price:.17g}}}"
        lines.append(line)
    (folder / "changed.yaml").write_text("\n".join(lines) + "\n")
    return folder / "changed.yaml"


def winner_after(folder, words, change, value):
    """Who is chosen with the value in place of the present one."""
    target = dict(part.split("=") for part in TARGET.split())
    if change["of"] == "usd_per_hour":
        words = [*words, "--tiers", with_price(folder, change["tier"], value)]
        words = [word for i, word in enumerate(words) if not (word == "tiers.yaml" or (word == "--tiers" and words[i + 1] == "tiers.yaml"))]
    else:
        target[change["of"]] = f"{value:.17g}"
    answer = predict(folder, *words, target=" ".join(f"{key}={number}" for key, number in target.items()))
    return answer["choice"]["tier"]


def check_changes(folder, words, answer):
    assert {"usd_per_hour", "requests_per_second", "latency_ms"} == {change["of"] for change in answer["changes"]}
    for change in answer["changes"]:
        assert change["winner"] != answer["choice"]["tier"]
        assert winner_after(folder, words, change, change["to"]) == change["winner"], change
        begin, to = change["from"], change["to"]
        nearer = max(begin, to * 0.999) if to > begin else min(begin, to * 1.001)
        assert winner_after(folder, words, change, nearer) != change["winner"], change


def check_outputs(folder, words, answer):
    """Table, page and Kubernetes file say the same; two runs write the same bytes."""
    texts = []
    for _ in range(2):
        done = run(folder, "predict", *words, "--target", TARGET, "--report", "page", "--emit", "kubernetes", "pod.yaml")
        texts.append(done.stdout + (folder / "page/index.html").read_text() + (folder / "pod.yaml").read_text())
    assert texts[0] == texts[1], "two runs differ"
    table = done.stdout.splitlines()
    assert table[-1] == answer["verdict"] and table[-1].startswith("Take a30: ") and "probability" in table[-1], table[-1]
    assert "less than the biggest, a100" in table[-1]
    pod = (folder / "pod.yaml").read_text()
    assert 'nvidia.com/gpu.product: "NVIDIA-A30"' in pod and "nvidia.com/gpu: 1" in pod and "replicas: 1" in pod, pod


def check_rules(folder, words):
    by_rules = [word for word in words if word not in ("--model", "forest")] + ["--rules", "rules.yaml"]
    answer = predict(folder, *by_rules)
    assert (answer["choice"]["by"], answer["choice"]["rule"], answer["choice"]["tier"]) == ("rule", "otherwise", "a30")
    assert answer["choice"]["probability"] is None and not answer["choice"]["is_sure"]
    assert [tier["basis"] for tier in answer["tiers"]] == ["measured"] + 4 * ["unknown"]
    (folder / "no_a30.yaml").write_text("rules:\n- {name: not that, if: {latency_ms: {below: 30}}, exclude: a30}\n"
                                        "- {name: never, if: {latency_ms: {below: 5}}, exclude: a100}\n")
    answer = predict(folder, *words, "--rules", "no_a30.yaml")
    excluded = {tier["name"]: tier["excluded"] for tier in answer["tiers"]}
    assert excluded["a30"] == "rule not that" and excluded["a100"] is None and answer["choice"]["tier"] != "a30"
    big = (folder / "detector.csv").read_text().replace(",22000000\n", ",20000000000\n")  # 20 GB of weights
    (folder / "big.csv").write_text(big)
    answer = predict(folder, *["big.csv" if word == "detector.csv" else word for word in words])
    excluded = {tier["name"]: tier["excluded"] or "" for tier in answer["tiers"]}
    assert "weights and activations need 19302.4 MiB" in excluded["t4"], excluded
    assert not excluded["a30-1g"] and not excluded["a30"] and not excluded["a100"], "measured, or large enough"


def check_prices(folder):
    (folder / "unpriced.yaml").write_text("tiers:\n- {name: big, gpu: A100-80GB, profile: 3g.40gb}\n- {name: t4, gpu: T4}\n")
    (folder / "job.csv").write_text("group,workload,tier,batch,processes,samples_per_second\nm,w,t4,8,1,100\n")
    (folder / "otherwise.yaml").write_text("rules:\n- {otherwise: big}\n")
    words = ["--workload", "job.csv", "--tiers", "unpriced.yaml", "--rules", "otherwise.yaml", "--prices"]
    answer = predict(folder, *words, target="samples_per_second=50")
    t4, big = answer["tiers"]
    assert t4["name"] == "t4" and t4["offer"]["share"] == 1 and t4["usd_per_hour"] == t4["offer"]["usd_per_gpu_hour"]
    assert big["offer"]["share"] == 0.5 and abs(big["usd_per_hour"] - 0.5 * big["offer"]["usd_per_gpu_hour"]) < 1e-9
    assert big["offer"]["instance_type"] and abs(t4["usd_per_million_samples"] - t4["usd_per_hour"] / 100 / 3600 * 1e6) < 1e-9
    assert abs(big["tflops"] - 312 * 3 / 7) < 1e-9 and big["gb_per_second"] == 1019.5


def check_jobs(folder):
    """Jobs of random speed: the forest finds the ratios, and a target beyond all is not sure."""
    draws = random.Random(3)
    lines = ["group,workload,tier,batch,processes,samples_per_second\n"]
    for number in range(30):
        base = draws.uniform(10, 1000)
        for tier, speed in SPEEDS.items():
            rate = base * speed * draws.uniform(0.97, 1.03)
            lines.append(f"m{number},w,{tier},8,1,{rate:.3f}\n")
    (folder / "jobs.csv").write_text("".join(lines))
    tiers = "".join(f"- {{name: {name}, usd_per_hour: {price}, tflops: {10 * SPEEDS[name]}, gb_per_second: 100}}\n"
                    for name, price in PRICES.items())
    (folder / "jobs.yaml").write_text("tiers:\n" + tiers)
    run(folder, "train", "--data", "jobs.csv", "--tiers", "jobs.yaml", "--out", "jobs_forest")
    (folder / "one.csv").write_text(lines[0] + "new,w,small,8,1,100\n")
    words = ["--workload", "one.csv", "--tiers", "jobs.yaml", "--model", "jobs_forest"]
    answer = predict(folder, *words, target="samples_per_second=150")
    assert answer["choice"]["tier"] == "middle" and answer["choice"]["is_sure"], answer["choice"]
    medians = {tier["name"]: tier["per_second"]["median"] for tier in answer["tiers"]}
    assert 190 < medians["middle"] < 250 and 430 < medians["large"] < 570, medians
    done = run(folder, "predict", *words, "--target", "samples_per_second=5000")
    assert "Nothing is sure enough: no tier that may be taken keeps the target" in " ".join(done.stdout.split())
    assert " at best: " in done.stdout.splitlines()[-1]


def check_refusals(folder, words):
    """Status 2, one line, nothing written."""
    head = "group,workload,tier,batch,processes,samples_per_second,latency_ms\n"
    files = {
        "unknown.csv": head + "m,w,v100,1,1,10,5\n",
        "zero.csv": head + "m,w,t4,0,1,10,5\n",
        "twice.csv": head + "m,w,t4,1,1,10,5\nm,w,t4,1,1,10,5\n",
        "no_rows.csv": head,
        "none.csv": head + "m,w,t4,1,1,0,0\n",
        "two.csv": head + "m,w,t4,1,1,10,5\nm,v,t4,1,1,10,5\n",
        "jobs_only.csv": "group,workload,tier,batch,processes,samples_per_second\nm,w,t4,1,1,10\n",
        "free.yaml": "tiers:\n- {name: t4, usd_per_hour: 0}\n",
        "other.yaml": "tiers:\n- {name: a30-1g, gpu: A30, profile: 1g.6gb, usd_per_hour: 1}\n- {name: v100, gpu: V100-16GB, usd_per_hour: 1}\n",
        "hardware.yaml": "tiers:\n- {name: a30-1g, gpu: A30, profile: 2g.12gb, usd_per_hour: 1}\n",
        "damaged": "no forest",
        "bad_rules.yaml": "rules:\n- {name: a, if: {flops: {below: 1}}, tier: h100}\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)

    def changed(old, new):
        return [new if word == old else word for word in words]

    cases = [
        (changed("detector.csv", "unknown.csv"), "unknown.csv:2:5: tier: wanted a30-1g, t4, l4, a30, a100, found \"v100\""),
        (changed("detector.csv", "zero.csv"), "zero.csv:2:"),
        (changed("detector.csv", "twice.csv"), "twice.csv:3:1: wanted one row per workload, tier, batch and processes"),
        (changed("detector.csv", "none.csv"), "none.csv:2:1: wanted a row with samples_per_second above 0"),
        (changed("detector.csv", "no_rows.csv"), "no_rows.csv: wanted rows of a workload, found none"),
        (changed("detector.csv", "two.csv"), "two.csv: wanted the rows of one workload, or its name (--name), found 2: m/w, m/v"),
        (changed("detector.csv", "jobs_only.csv"), "jobs_only.csv: wanted rows with a latency"),
        (changed("detector.csv", "missing.csv"), "missing.csv"),
        (changed("tiers.yaml", "free.yaml"), "free.yaml:2:"),
        (changed("tiers.yaml", "other.yaml"), "forest: tier v100: wanted a tier of the forest (a30-1g, t4, l4, a30, a100)"),
        (changed("tiers.yaml", "hardware.yaml"), "forest: tier a30-1g: profile: wanted 1g.6gb, found 2g.12gb"),
        (changed("forest", "damaged"), "damaged"),
        ([*words, "--rules", "bad_rules.yaml"], "bad_rules.yaml:2:44: rules[0].tier: wanted a tier"),
        ([*words, "--sure", "1.5"], "--sure: wanted a probability above 0, at most 1, found \"1.5\""),
        ([*words, "--name", "other"], "--name: wanted a workload of detector.csv, found \"other\""),
        ([*words, "--emit", "nomad", "x"], "--emit: wanted kubernetes, found \"nomad\""),
        (words[:-2], "wanted --model FOREST or --rules FILE, or both, found neither"),
        (words[2:], "wanted --workload FILE or --db FILE --name MODEL, found neither"),
        ([*words[2:], "--db", "none.db", "--name", "m"], "none.db"),
    ]
    before = sorted(folder.rglob("*"))
    for wrong, message in cases:
        done = run(folder, "predict", *wrong, "--target", TARGET, "--report", "new_page", status=2)
        assert done.stdout == "" and done.stderr.count("\n") == 1 and message in done.stderr, (wrong, done.stderr)
    done = run(folder, "predict", *words, "--target", "latency_ms=5", status=2)
    assert "--target: wanted requests_per_second=R latency_ms=L" in done.stderr
    for wrong in (["--data", "twice.csv", "--tiers", "tiers.yaml"], ["--data", "detector.csv", "--tiers", "tiers.yaml"],
                  ["--data", "measurements.csv"], ["--data", "measurements.csv", "--tiers", "free.yaml"]):
        assert run(folder, "train", *wrong, "--out", "new_forest", status=2).stderr.count("\n") == 1
    run(folder, "explain", "damaged", status=2)
    assert sorted(folder.rglob("*")) == before, "something was written"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = copy_example(folder)
        check_training(folder)
        answer = predict(folder, *words)
        check_choice(answer)
        check_changes(folder, words, answer)
        check_outputs(folder, words, answer)
        check_rules(folder, words)
        check_prices(folder)
        check_jobs(folder)
        check_refusals(folder, words)
    return 0


if __name__ == "__main__":
    sys.exit(main())
