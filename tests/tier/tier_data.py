"""Small generated files of the five formats, with what is easy to get wrong: gaps, zeros, ties, other tiers, batches that differ."""

import json
import random

TIERS_YAML = """tiers:
- {name: big, usd_per_hour: 4}
- {name: small, usd_per_hour: 0.5}
- {name: twin, usd_per_hour: 1.25}
- {name: middle, usd_per_hour: 1.25}
"""
TIERS = [("big", "4"), ("small", "0.5"), ("twin", "1.25"), ("middle", "1.25")]
SPEEDS = {"small": 1, "twin": 2.2, "middle": 2.5, "big": 7}
GROUPS = 5


def speed(draws, factor):
    return factor * draws.uniform(0.7, 1.4)


def write_tiers(folder):
    path = folder / "tiers.yaml"
    path.write_text(TIERS_YAML)
    return path


def jobs_csv(folder, seed):
    draws = random.Random(seed)
    lines = ["group,workload,tier,batch,processes,samples_per_second,latency_ms"]
    for group in range(GROUPS):
        for batch in (8, 16, 32):
            level = draws.uniform(1, 1000)
            for tier, factor in SPEEDS.items():
                gone = draws.random()
                if gone < 0.15:
                    continue
                rate = 0 if gone < 0.2 else round(level * speed(draws, factor), 3)
                lines.append(f"model {group},b{batch},{tier},{batch},1,{rate},")
        lines.append(f"model {group},b8,other,8,1,12,")
    lines.append("alone,w,small,8,1,12,")
    # Of exactly half the largest rate: kept at f = 0.5; and two tiers at the same cost.
    lines += ["ties,w,small,8,1,5,", "ties,w,twin,8,1,12.5,", "ties,w,big,8,1,10,"]
    path = folder / "jobs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def service_rows(draws, factor, processes=(1, 2)):
    """(batch, processes, samples per second of the slice, latency in ms) of one workload on one tier."""
    level, saturation = 40 * speed(draws, factor), draws.uniform(2, 6)
    for count in processes:
        for batch in (1, 2, 4, 8, 16):
            rate = level * min(batch * count, saturation) * draws.uniform(0.97, 1)
            yield batch, count, round(rate, 3), round(1000 * batch * count / rate, 3)


def services_csv(folder, seed):
    draws = random.Random(seed)
    lines = ["group,workload,tier,batch,processes,samples_per_second,latency_ms,flops,activation_bytes,parameters,weight_bytes"]
    for group in range(GROUPS):
        flops = "" if group == 1 else f"{group + 1}e9"
        for variant in (1, 2):
            for tier, factor in SPEEDS.items():
                if (group + variant) % 3 == 0 and tier == "small":
                    continue
                for batch, processes, rate, latency in service_rows(draws, factor / variant):
                    if batch == 16 and processes == 2 and tier == "small":
                        rate, latency = 0, 0
                    lines.append(f"model {group},w{variant},{tier},{batch},{processes},{rate},{latency},{flops},,{group + 1}000,")
    lines.append("unmeasured,w,big,2,1,10,9,,,,")
    path = folder / "services.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def gavel_json(folder, seed):
    draws = random.Random(seed)
    tiers = {"k80": 1, "p100": 3, "v100": 5, "k80_unconsolidated": 0.9}
    out = {tier: {} for tier in tiers}
    for group in range(GROUPS):
        for batch in (None, 16, 64):
            job = f"Model-{group}" if batch is None else f"Model-{group} (batch size {batch})"
            level = draws.uniform(0.5, 20)
            for tier, factor in tiers.items():
                rate = 0.0 if draws.random() < 0.1 else level * speed(draws, factor)
                out[tier][f"('{job}', 1)"] = {"null": rate, f"('{job}', 1)": [rate / 2, rate / 2]}
                out[tier][f"('{job}', 2)"] = {"null": rate * 2}
    path = folder / "physical_cluster_throughputs.json"
    path.write_text(json.dumps(out, indent=1))
    return path


def miso_csv(folder, seed):
    draws = random.Random(seed)
    lines = ["model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters"]
    for group in range(GROUPS):
        for batch in (2, 4):
            seconds = draws.uniform(0.1, 2)
            for name, factor in (("1g.5gb", 1), ("2g.10gb", 2), ("3g.20gb", 3), ("4g.20gb", 3.5), ("7g.40gb", 5)):
                if name == "1g.5gb" and draws.random() < 0.4:
                    continue
                lines.append(f"m{group},{batch},{name},{seconds * batch / speed(draws, factor):.4f},9,9")
    path = folder / "mig_iteration_time.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


SIA_BATCHES = {"aws": (16, 32, 225, 1024), "rtx": (16, 33, 240, 1025, 1100), "quad": (15, 16, 35, 256, 225), "dgx-ext": (32, 240, 2000)}


def sia_folder(folder, seed):
    draws = random.Random(seed)
    factors = {"aws": 1, "rtx": 1.5, "quad": 1.6, "dgx-ext": 4}
    for group in range(GROUPS):
        app = folder / "traces" / f"app{group}"
        app.mkdir(parents=True)
        seconds = draws.uniform(0.001, 0.01)
        for tier, batches in SIA_BATCHES.items():
            columns = ["placement", "local_bsz", "step_time", "sync_time"]
            draws.shuffle(columns)
            lines = [",".join(columns)]
            for batch in batches:
                time = seconds * (5 + batch) / speed(draws, factors[tier])
                for placement in ("1", "11"):
                    row = {"placement": placement, "local_bsz": batch, "step_time": time, "sync_time": 0.1}
                    lines.append(",".join(str(row[column]) for column in columns))
            (app / f"placements-{tier}.csv").write_text("\n".join(lines) + "\n")
        (app / "placements.csv").write_text("not,read\n")
    return folder


def parvagpu_folder(folder, seed):
    draws = random.Random(seed)
    (folder / "prof_data").mkdir()
    for group in range(GROUPS):
        lines = ["Mig instance,Batch size,Workload Number,Throughput,Latency"]
        for instance in (1, 2, 3, 4, 7):
            for batch, processes, rate, latency in service_rows(draws, instance, processes=(1, 2, 3, 4)):
                gone = instance == 1 and batch * processes > 20
                lines.append(f"{instance},{batch},{processes}," + ("0,0" if gone else f"{rate / processes:.3f},{latency / 1000:.3f}"))
        (folder / "prof_data" / f"model{group}.csv").write_text("\n".join(lines) + "\n")
    return folder
