"""The parts of scripts/detail/scheduling_bench.py about `berth place`."""

import csv
import os
import random
import statistics
import tempfile

from bar_table import print_columns

LISTS = ("default", "cpu100", "cpu250", "gpushare40", "gpushare100", "gpuspec20", "gpuspec33", "multigpu20", "multigpu50")
PUBLISHED_NAMES = {"random": "Random", "dot-product": "DotProd", "best-fit": "BestFit", "packing": "GpuPacking",
                   "clustering": "GpuClustering", "fgd": "FGD"}
POD_COLUMNS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"
DECISIONS_PER_SECOND = 100_000
RUNS = 3
QUICK_SEEDS = 4


def place_words(bench, pods, *options):
    nodes = os.path.join(bench.data, "openb", "openb_node_list_gpu_node.csv")
    return ("place", "--nodes", nodes, "--pods", pods, *options)


def list_path(bench, name):
    return os.path.join(bench.data, "openb", f"openb_pod_list_{name}.csv")


def seeds(bench, first, last):
    return f"{first}-{min(first + QUICK_SEEDS - 1, last) if bench.is_quick else last}"


def run_count(bench):
    """How often a rate is measured; its median counts."""
    return 1 if bench.is_quick else RUNS


def on_lists(bench, *options):
    """What the policies of each list reach."""
    return {name: bench.berth.ask(*place_words(bench, list_path(bench, name), *options)).policies for name in LISTS}


def filled(bench):
    """Seeded arrivals up to 130 % demand."""
    return on_lists(bench, "--seeds", seeds(bench, 42, 51), "--demand", 1.3)


def print_lists(found, figure):
    """A table of one figure, lists by policies, with the mean of the lists."""
    policies = list(next(iter(found.values())))
    rows = []
    for name, results in found.items():
        figures = [results[policy][figure] for policy in policies]
        rows.append([name] + [f"{each['mean']:.2f}" + ("" if each["sd"] is None else f" ± {each['sd']:.2f}") for each in figures])
    print_columns(["list", *policies], [*rows, ["mean"] + [f"{mean_of(found, policy, figure):.2f}" for policy in policies]])


def mean_of(found, policy, figure):
    """Over the lists."""
    return statistics.fmean(results[policy][figure]["mean"] for results in found.values())


def gains(found, rival, figure):
    """Of berth over a rival, by list, in points."""
    return {name: results["berth"][figure]["mean"] - results[rival][figure]["mean"] for name, results in found.items()}


def published_rows(bench):
    with open(os.path.join(bench.data, "openb", "published_summary.csv"), encoding="utf-8") as file:
        return {(row["workload"].removeprefix("openb_pod_list_"), row["policy"]): row for row in csv.DictReader(file)}


def reproduce(bench):
    bench.bars.part(f"reproduce: the published policies on nine lists, seeds {seeds(bench, 42, 51)}")
    published, found = published_rows(bench), filled(bench)
    farthest, rows = {}, []
    for policy, their_name in PUBLISHED_NAMES.items():
        worst = {}
        for demand in (100, 130):
            key = f"alloc_pct_at_{demand}"
            away = {}
            for name in LISTS:
                theirs = published[name, their_name]
                ours = found[name][policy][f"allocated_percent_at_{demand}"]["mean"]
                away[name] = (ours - float(theirs[key + "_mean"])) / float(theirs[key + "_sd"])
            name = max(away, key=lambda each: abs(away[each]))
            worst[demand] = (away[name], name)
        rows.append([policy] + [text for distance, name in worst.values() for text in (f"{distance:+.2f}", name)])
        farthest[policy] = max(abs(distance) for distance, _ in worst.values())
    print_columns(["sd away", "at 100 %", "list", "at 130 %", "list"], rows)
    for policy, distance in farthest.items():
        bench.bars.show(f"{policy}: distance from its published mean, in its sd, worst list", distance, bar=("at most", 2))


def fill(bench):
    figure = "allocated_percent_at_130"
    bench.bars.part(f"fill: nine lists, allocated at 130 % demand, seeds {seeds(bench, 42, 51)}")
    found = filled(bench)
    print_lists(found, figure)
    published = published_rows(bench)
    fgd = statistics.fmean(float(published[name, "FGD"]["alloc_pct_at_130_mean"]) for name in LISTS)
    by_list = gains(found, "fgd", figure)
    in_sd = {name: gain / found[name]["fgd"][figure]["sd"] for name, gain in by_list.items()}
    bench.bars.show("berth: mean allocated, %", mean_of(found, "berth", figure), known=f"FGD {fgd:.2f}, published")
    gain = statistics.fmean(by_list.values())
    known = f"fgd of this run {mean_of(found, 'fgd', figure):.2f} %"
    bench.bars.show("berth over fgd, points, mean", gain, "{:+.2f}", known, ("at least", 0.5))
    bench.bars.show("short of the aim of 1 point over fgd", max(0, 1 - gain))
    worst = min(in_sd, key=in_sd.get)
    bench.bars.show(f"berth over fgd, in sd of fgd, worst list ({worst})", in_sd[worst], "{:+.2f}", bar=("at least", -1))


def churn(bench):
    figure = "allocated_percent_churn"
    bench.bars.part(f"churn: nine lists, pods come and go, seeds {seeds(bench, 42, 44)}")
    found = on_lists(bench, "--churn", "--seeds", seeds(bench, 42, 44), "--demand", 1.3)
    print_lists(found, figure)
    by_list = gains(found, "fgd", figure)
    bench.bars.show("berth over fgd, points, mean", statistics.fmean(by_list.values()), "{:+.2f}",
                    f"fgd of this run {mean_of(found, 'fgd', figure):.2f} %", ("at least", 0))
    worst = min(by_list, key=by_list.get)
    bench.bars.show(f"berth over fgd, points, worst list ({worst})", by_list[worst], "{:+.2f}", bar=("at least", -0.3))


def slices(bench):
    figure = "allocated_percent_at_130"
    bench.bars.part(f"slices: nine lists, each GPU as an A100-80GB, allocated at 130 % demand, seeds {seeds(bench, 42, 51)}")
    options = ("--as", "A100-80GB", "--seeds", seeds(bench, 42, 51), "--demand", 1.3)
    found = on_lists(bench, *options)
    print_lists(found, figure)
    by_list = gains(found, "best", figure)
    bench.bars.show("berth over best, points, mean", statistics.fmean(by_list.values()), "{:+.2f}",
                    f"best of this run {mean_of(found, 'best', figure):.2f} %", ("above", 0))
    worst = min(by_list, key=by_list.get)
    bench.bars.show(f"berth over best, points, worst list ({worst})", by_list[worst], "{:+.2f}", bar=("at least", 0))
    for moves in (0, 1, 3):
        moving = on_lists(bench, *options, "--policies", "berth", "--moves", moves)
        bench.bars.show(f"berth with --moves {moves}: allocated, % ({mean_of(moving, 'berth', 'moves'):.1f} moves per run)",
                        mean_of(moving, "berth", figure))


def decisions(bench):
    bench.bars.part(f"decisions: time on nine lists, seeds {seeds(bench, 42, 51)}")
    found = on_lists(bench, "--seeds", seeds(bench, 42, 51), "--demand", 1.3, "--timings")
    policies = list(found["default"])
    for key in ("p50", "p99"):
        print_columns([f"{key} us", *policies],
                      [[name] + [f"{results[policy]['decision_us'][key]:.2f}" for policy in policies] for name, results in found.items()])
    for key, limit_us in (("p50", 20), ("p99", 1000)):
        times = {name: results["berth"]["decision_us"][key] for name, results in found.items()}
        worst = max(times, key=times.get)
        bench.bars.show(f"berth: {key} of a decision, us, worst list ({worst})", times[worst], "{:,.2f}", "FGD's simulator about 55,000",
                        ("below", limit_us))


def write_pods(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write(POD_COLUMNS + "\n")
        file.writelines(f"pod-{number},{row}\n" for number, row in enumerate(rows))


def repeated_rows(bench, count):
    """The default list again and again, without names."""
    with open(list_path(bench, "default"), encoding="utf-8") as file:
        rows = [",".join(row[column] for column in POD_COLUMNS.split(",")[1:]) for row in csv.DictReader(file)]
    return [rows[number % len(rows)] for number in range(count)]


def show_rate(bench, what, known, bar, *words):
    """Decisions per second: the median of the runs; and pods per processor second of the whole command, in its best run."""
    words = (*words, "--order", "given", "--timings")
    rivals = bench.berth.measure(*words)
    runs = [bench.berth.measure(*words, "--policies", "berth") for _ in range(run_count(bench))]
    print_columns(["policy", "decisions per second", "p50 us", "p99 us", "failed"],
                  [[policy, f"{each['decision_us']['per_second']:,.0f}", f"{each['decision_us']['p50']:.2f}",
                    f"{each['decision_us']['p99']:.2f}", f"{each['failed']['mean']:,.0f}"] for policy, each in rivals.policies.items()])
    rates = sorted(run.policies["berth"]["decision_us"]["per_second"] for run in runs)
    fgd = rivals.policies["fgd"]["decision_us"]["per_second"]
    bench.bars.show(f"{what}: berth, decisions per second", rates[len(rates) // 2], "{:,.0f}", f"{known}; fgd of this run {fgd:,.0f}", bar)
    bench.bars.show(f"{what}: berth, pods per processor second of the command", runs[0].json["pods"] / min(run.seconds for run in runs),
                    "{:,.0f}")


def nodes5000(bench):
    bench.bars.part(f"nodes5000: 5,000 nodes, the default list in its order, runs: {run_count(bench)}")
    with tempfile.TemporaryDirectory() as folder:
        for count in (10_000, 50_000):
            path = os.path.join(folder, f"pods{count}.csv")
            write_pods(path, repeated_rows(bench, count))
            show_rate(bench, f"{count:,} pods", "kube-scheduler 570 to 1,100", ("at least", DECISIONS_PER_SECOND),
                      *place_words(bench, path, "--copies", 5000))


def gpus10(bench):
    models, node_count, pod_count = 5, 500, 5000
    bench.bars.part(f"gpus10: 500 nodes of 10 GPUs, 5,000 pods, runs: {run_count(bench)}")
    rng = random.Random(1)
    alike = [f"1000,1000,1,1000,M{pod % models}|M{(pod + 1) % models}" for pod in range(pod_count)]
    different = []
    for _ in range(pod_count):
        one, other = rng.sample(range(models), 2)
        different.append(f"{rng.randrange(1000, 11_000)},{rng.randrange(1000, 51_000)},1,1000,M{one}|M{other}")
    with tempfile.TemporaryDirectory() as folder:
        nodes, pods = os.path.join(folder, "nodes.csv"), os.path.join(folder, "pods.csv")
        with open(nodes, "w", encoding="utf-8") as file:
            file.write("sn,cpu_milli,memory_mib,gpu,model\n")
            file.writelines(f"node-{node},128000,1000000,10,M{node % models}\n" for node in range(node_count))
        wanted = ("at least", DECISIONS_PER_SECOND)
        for what, rows, bar in (("two models in turn", alike, wanted), ("no two pods alike", different, None)):
            write_pods(pods, rows)
            show_rate(bench, what, "kube-scheduler with DRA 40 to 81", bar, "place", "--nodes", nodes, "--pods", pods)


PARTS = {"reproduce": reproduce, "fill": fill, "churn": churn, "slices": slices, "decisions": decisions, "nodes5000": nodes5000,
         "gpus10": gpus10}
