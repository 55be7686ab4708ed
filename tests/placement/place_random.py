#!/usr/bin/env python3
"""Random small inputs for `berth place`: nasty, but every list is well-formed unless it is to be broken.

    place_random.py --seed N --out FOLDER [--slices | --no-slices] [--broken KIND|any]
    place_random.py --kinds

writes nodes.csv, pods.csv and case.json: the options of the call, and of a broken case where the error lies:
    {"options":[…],"kind":null,"error":null}
    {"options":[…],"kind":KIND,"sure":…,"error":{"file":"pods.csv","lines":[4],"columns":[17,19]}}
Lines and columns count from 1; several are equally good, none means anywhere; file null: no file is at fault.
"sure" is false where docs/reference/scheduling.md does not name the error in so many words. The same options give the same bytes.
"""

import argparse
import json
import os
import random
import sys

from place_broken import KINDS, Broken, break_lists
from place_devices import DEVICES, WHOLE_MILLI
from place_table import Table

MODELS = ["T4", "P100", "G2", "V100M32"]
MODELS_CUT = ["A100-40GB", "A30-24GB", "H100-80GB-SXM5", "A100-80GB", "RTX-PRO-6000-Blackwell-96GB"]
NAMES = ["b", "a10", "a9", "Z", "é", "\U0001f600", "\uffee", "0", "a", " x"]
CPU = [0, 1, 999, 4000, 8000, 12000, 16500, 32000]
CPU_NODE = [4000, 32000, 64000, 96000, 96000, 128000]
MEMORY = [0, 1, 512, 4096, 30517, 65536]
SHARED = [1, 50, 110, 125, 126, 250, 251, 320, 460, 500, 501, 650, 810, 999]
DEMANDS = ["1.3", "1.3", "0.4", "1", "2.05", "0.333", "3.7", "6"]


class Maker:
    """Draws one case."""

    def __init__(self, rng: random.Random, slices: bool | None) -> None:
        self.rng = rng
        self.has_slices = rng.random() < 0.5 if slices is None else slices
        self.options: list[str] = []
        self.is_cut_as = self.has_slices and rng.random() < 0.3
        self.models = rng.sample(MODELS, rng.randint(1, 3))
        self.cut_models: list[str] = []
        if self.is_cut_as:
            self.cut_models = [rng.choice(MODELS_CUT)]
            self.options += ["--as", self.cut_models[0]]
        elif self.has_slices:
            self.cut_models = rng.sample(MODELS_CUT, rng.randint(1, 2))
            self.models = self.models[:rng.randint(0, 2)] + self.cut_models
        rng.shuffle(self.models)

    def name(self, index: int) -> str:
        return f"{self.rng.choice(NAMES)}{index}"

    def nodes(self) -> Table:
        rng, rows = self.rng, []
        for index in range(rng.randint(1, 8)):
            gpus = rng.choice([0, 1, 2, 2, 4, 4, 8, 3, 16])
            model = rng.choice(self.models)
            cpu = 10**9 if rng.random() < 0.03 else rng.choice(CPU_NODE)
            rows.append({"sn": self.name(index), "cpu_milli": cpu, "memory_mib": rng.choice([4096, 262144, 786432]),
                         "gpu": gpus, "model": model if gpus or rng.random() < 0.5 else ""})
        needed = [model for model in (self.cut_models if not self.is_cut_as else []) or self.models[:1]]
        for index, model in enumerate(needed):
            rows.append({"sn": f"last{index}", "cpu_milli": 96000, "memory_mib": 262144, "gpu": rng.choice([1, 2, 4]),
                         "model": model})
        return Table(["sn", "cpu_milli", "memory_mib", "gpu", "model"], rows)

    def spec(self) -> str:
        rng = self.rng
        if rng.random() < 0.65:
            return ""
        names = [rng.choice(self.models + ["unknown"]) for _ in range(rng.randint(1, 3))]
        return "|".join(names + (names[:1] if rng.random() < 0.3 else []))

    def pod(self, index: int) -> dict:
        rng = self.rng
        gpus = rng.choice([0, 1, 1, 1, 1, 1, 1, 2, 2, 4, 8, 17 if rng.random() < 0.1 else 3])
        milli = 0 if gpus == 0 else rng.choice(SHARED) if gpus == 1 and rng.random() < 0.7 else WHOLE_MILLI
        cpu = 10**9 if rng.random() < 0.01 else rng.choice(CPU)
        pod = {"name": self.name(index), "cpu_milli": cpu, "memory_mib": rng.choice(MEMORY), "num_gpu": gpus,
               "gpu_milli": milli, "gpu_spec": self.spec(), "gang": "", "profile": ""}
        if self.cut_models and gpus == 1 and rng.random() < 0.5:
            self.add_profile(pod)
        return pod

    def add_profile(self, pod: dict) -> None:
        """An alternative or more; gpu_milli is left empty only where every model gives one number."""
        rng = self.rng
        sources = [DEVICES[model] for model in self.cut_models] + [rng.choice(list(DEVICES.values()))]
        wanted = []
        for _ in range(rng.randint(1, 3)):
            device = rng.choice(sources if rng.random() < 0.2 else sources[:-1])
            profile = rng.choice(device.profiles)
            count = rng.choice([1, 1, 1, 2, 2, 3]) if profile.count_max > 1 else 1
            wanted.append((count, profile.name))
        pod["profile"] = "|".join((f"{count}x" if count > 1 or rng.random() < 0.05 else "") + name
                                  for count, name in wanted)
        count, name = wanted[0]
        milli = {WHOLE_MILLI * count * profile.size // device.units for device in DEVICES.values()
                 for profile in device.profiles if profile.name == name}
        if len(milli) == 1 and max(milli) <= WHOLE_MILLI and rng.random() < 0.6:
            pod["gpu_milli"] = ""

    def pods(self) -> Table:
        rng = self.rng
        pods = [self.pod(index) for index in range(rng.randint(3, 40))]
        pods += [dict(rng.choice(pods), name=f"again{index}") for index in range(rng.randint(0, 20))]
        for gang in range(rng.choice([0, 0, 1, 3])):
            for pod in rng.sample(pods, rng.randint(1, min(5, len(pods)))):
                pod["gang"] = f"g{gang}"
        rng.shuffle(pods)
        pods.append({"name": "last", "cpu_milli": 1000, "memory_mib": 1, "num_gpu": 1, "gpu_milli": 300,
                     "gpu_spec": "", "gang": "", "profile": ""})
        columns = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "gang", "profile"]
        for column in columns[5:]:
            if not any(pod[column] for pod in pods) and rng.random() < 0.5:
                columns.remove(column)
        return Table(columns, pods)

    def choose_options(self) -> None:
        rng = self.rng
        draw = rng.random()
        if draw < 0.4:
            self.options += ["--order", "given"]
        else:
            self.options += ["--seeds", rng.choice(["42-44", "7", "0-1"]), "--demand", rng.choice(DEMANDS)]
        if draw > 0.75:
            self.options += ["--churn"]
        if rng.random() < 0.2:
            self.options += ["--copies", str(rng.randint(1, 12))]
        if self.has_slices and rng.random() < 0.6:
            self.options += ["--moves", str(rng.choice([0, 1, 1, 2]))]

    def spoil_harmlessly(self, table: Table) -> None:
        """What makes no difference: order of columns, others, line ends, a byte-order mark, blank lines at the end."""
        rng = self.rng
        if rng.random() < 0.4:
            rng.shuffle(table.columns)
        if rng.random() < 0.4:
            table.columns.insert(rng.randint(0, len(table.columns)), "qos")
        table.line_end = "\r\n" if rng.random() < 0.2 else "\n"
        table.has_mark = rng.random() < 0.1
        table.tail = "\n" if rng.random() < 0.1 else ""


def make(seed: int, slices: bool | None, broken: str | None) -> tuple[Table, Table, dict]:
    """Nodes, pods and case."""
    rng = random.Random(seed)
    maker = Maker(rng, slices)
    nodes, pods = maker.nodes(), maker.pods()
    maker.choose_options()
    for table in (nodes, pods):
        maker.spoil_harmlessly(table)
    case = {"options": maker.options, "kind": None, "error": None}
    if broken is not None:
        kind = rng.choice(sorted(KINDS)) if broken == "any" else broken
        broken_case: Broken = break_lists(kind, nodes, pods, maker.options, rng)
        case |= {"kind": kind, "sure": broken_case.is_sure, "error": broken_case.where}
    return nodes, pods, case


def crowded(seed: int) -> tuple[Table, Table]:
    """Nodes and pods for which slices have to move often: few GPUs, and many pods that want slices of them."""
    rng = random.Random(seed)
    models = rng.sample(MODELS_CUT, rng.choice([1, 1, 2]))
    nodes = [{"sn": f"n{index}", "cpu_milli": rng.choice([4, 8, 20, 100]), "memory_mib": rng.choice([30, 100]),
              "gpu": rng.randint(1, 3), "model": rng.choice([*models, "T4"] if index else models)}
             for index in range(rng.randint(1, 4))]
    pods = [crowded_pod(rng, index, models) for index in range(rng.randint(8, 40))]
    return Table(list(nodes[0]), nodes), Table(list(pods[0]), pods)


def crowded_pod(rng: random.Random, index: int, models: list[str]) -> dict:
    pod = {"name": f"p{index}", "cpu_milli": rng.randint(0, 4), "memory_mib": rng.randint(0, 3), "num_gpu": 1,
           "gpu_milli": rng.randint(1, WHOLE_MILLI), "gpu_spec": "", "profile": "",
           "gang": f"g{index // 4}" if rng.random() < 0.15 else ""}
    draw = rng.random()
    if draw < 0.15:
        pod |= {"num_gpu": rng.choice([1, 2]), "gpu_milli": WHOLE_MILLI}
    elif draw < 0.4:
        pod |= {"gpu_milli": rng.choice(SHARED), "gpu_spec": rng.choice(["", models[0]])}
    else:
        profiles = DEVICES[rng.choice(models)].profiles
        pod["profile"] = "|".join(rng.choice(["", "", "", "2x"]) + rng.choice(profiles).name
                                  for _ in range(rng.choice([1, 1, 2, 2])))
    return pod


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--slices", action=argparse.BooleanOptionalAction)
    parser.add_argument("--broken", choices=["any", *KINDS])
    parser.add_argument("--kinds", action="store_true")
    options = parser.parse_args()
    if options.kinds or not options.out:
        print("\n".join(KINDS))
        return 0 if options.kinds else 2
    nodes, pods, case = make(options.seed, options.slices, options.broken)
    os.makedirs(options.out, exist_ok=True)
    nodes.write(os.path.join(options.out, "nodes.csv"))
    pods.write(os.path.join(options.out, "pods.csv"))
    with open(os.path.join(options.out, "case.json"), "w", encoding="utf-8") as file:
        json.dump(case, file, ensure_ascii=False)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
