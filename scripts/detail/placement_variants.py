"""The part of scripts/detail/scheduling_bench.py about fleets and pods on which nothing was chosen: the public lists, changed."""

import csv
import os
import random
import statistics
import tempfile

from bar_table import print_columns
from placement_bars import LISTS, list_path

SEEDS = "100-102"
FIGURES = {"fill": "allocated_percent_at_130", "churn": "allocated_percent_churn"}


def half_of_nodes(chance, nodes, pods):
    return [node for node in nodes if chance.random() < 0.5], pods


def little_cpu(_, nodes, pods):
    return [{**node, "cpu_milli": int(node["cpu_milli"]) * 6 // 10} for node in nodes], pods


def three_shares(chance, nodes, pods):
    """Who wants a part of a GPU wants 250, 330 or 500 milli of it."""
    shares = iter(lambda: chance.choice((250, 330, 500)), None)
    return nodes, [{**pod, "gpu_milli": next(shares)} if pod["num_gpu"] == "1" and int(pod["gpu_milli"]) < 1000 else pod for pod in pods]


def four_gpus(_, nodes, pods):
    return [{**node, "gpu": min(4, int(node["gpu"]))} for node in nodes], [pod for pod in pods if int(pod["num_gpu"]) <= 4]


def drawn_again(chance, nodes, pods):
    """600 nodes and 3,000 pods, drawn with replacement."""
    return chance.choices(nodes, k=600), chance.choices(pods, k=3_000)


VARIANTS = {"half of the nodes": half_of_nodes, "60 % of the CPU": little_cpu, "shares of 250, 330, 500": three_shares,
            "at most 4 GPUs": four_gpus, "drawn again": drawn_again}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows, name_column):
    """With names that are unique."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, name_column: f"r{index}"} for index, row in enumerate(rows))


def found_on(bench, nodes, pods, *options):
    with tempfile.TemporaryDirectory() as folder:
        node_path, pod_path = os.path.join(folder, "nodes.csv"), os.path.join(folder, "pods.csv")
        write(node_path, nodes, "sn")
        write(pod_path, pods, "name")
        return bench.berth.measure("place", "--nodes", node_path, "--pods", pod_path, "--policies", "fgd,berth", "--seeds", SEEDS,
                                   *options).policies


def variants(bench):
    bench.bars.part(f"variants: the nine lists and their nodes, changed, seeds {SEEDS}: fgd, and berth over it")
    all_nodes = read(os.path.join(bench.data, "openb", "openb_node_list_gpu_node.csv"))
    gains = {what: {} for what in FIGURES}
    for title, change in VARIANTS.items():
        chance, rows = random.Random(7), []
        for name in LISTS[:1] if bench.is_quick else LISTS:
            nodes, pods = change(chance, all_nodes, read(list_path(bench, name)))
            rows.append([name])
            for what, figure in FIGURES.items():
                found = found_on(bench, nodes, pods, *(["--churn"] if what == "churn" else []))
                fgd, ours = (found[policy][figure]["mean"] for policy in ("fgd", "berth"))
                gains[what][f"{title}, {name}"] = ours - fgd
                rows[-1] += [f"{fgd:.2f}", f"{ours - fgd:+.2f}"]
        print_columns([title, "fill: fgd", "berth", "churn: fgd", "berth"], rows)
    for what, by_list in gains.items():
        worst = min(by_list, key=by_list.get)
        bench.bars.show(f"{what}: berth over fgd, points, mean of {len(by_list)} lists", statistics.fmean(by_list.values()), "{:+.2f}")
        bench.bars.show(f"{what}: lists on which berth is not below fgd", sum(gain >= 0 for gain in by_list.values()), "{}")
        bench.bars.show(f"{what}: worst list ({worst})", by_list[worst], "{:+.2f}")


PARTS = {"variants": variants}
