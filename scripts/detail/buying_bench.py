#!/usr/bin/env python3
"""Bars of the verbs that say what to rent, by the program itself, rivals in the same run.

    BERTH_DATA=DATA python3 scripts/detail/buying_bench.py BERTH [--only advise,scale-60] [--batches N] [--days N]

advise      batches of 100 pods drawn from the openb list (all rows, with replacement, by seed) on data/catalog/aws_gpu.csv on
            demand: means of cost / bound, of what is saved against the better rival, processor seconds
advise-500  the same with one batch of 500 pods
spot        the 1,080 official runs: 180 windows, deadlines of 52 and 70 h, restarts of 0.02, 0.05 and 0.1 h
spot-other  the same runs on other windows: the official ones backwards, and 180 drawn by seed (zones with short, middle and long
            spells, each both light-tailed and heavy-tailed)
spot-long   the official windows with the restarts of large models: 0.2 and 0.3 h together, and 0.5 h
commit      GPUs in use in openb by the hour, a term of 720 h at 0.45, 0.63 and 0.75 of the price on demand, forwards and backwards;
            and how long the optimum of three terms at once takes
scale-60, scale-10
            Twitter days 2 to 14, each with the days before as history: C 8, W 2, attainment 0.99, a start of 60 s and of 10 s
scale-llm   the whole Azure LLM conversation trace: C 1, W 2, L 60
case-twitter
            the whole waterfall on four services, each with two hours of the Twitter trace; three minutes
case-llm    all arrivals of the Azure LLM conversation trace for each of ParvaGPU's eleven models, with the published targets and mean
            rates of its scenario 5: about one whole GPU of load each, the lightest of the six with at least 2 GPUs for each model
            at its peak. All services rise and fall together, so no one's quiet minutes serve another. smooth_seconds as in case-twitter
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from datetime import datetime

DAY = 86_400
AT = "2026-11-27"
ATTAINMENT = 0.99
PRICE_MICRO_USD = 3_673_000
RESTARTS = "0.02,0.05,0.1"
# Services of the cases: model, target in ms, accuracy; first second and scale of the Twitter trace.
SERVICES = [("resnet50", 205, 0.761, 36_000, 48), ("vgg16", 400, 0.716, 200_000, 28),
            ("mobilenetv2", 167, 0.719, 500_000, 80), ("densenet121", 183, 0.74, 800_000, 32)]


class Bars:
    """Prints figures with their bars."""

    def __init__(self):
        self.missed = 0

    def show(self, what, figure, most=None, least=None):
        good = (most is None or figure <= most) and (least is None or figure >= least)
        self.missed += not good
        bar = f"at most {most}" if most is not None else f"at least {least}" if least is not None else "no bar"
        print(f"  {what:<60} {figure:10.4f}   {bar}{'' if good else '   NOT REACHED'}", flush=True)


def ask(program, *arguments):
    """The answer of the program and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([program, *map(str, arguments), "--format", "json"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def draw_pods(rows, header, count, seed, path):
    """Pods are named anew: rows come more than once."""
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n")
        for number in range(count):
            file.write(f"pod{number},{rng.choice(rows).split(',', 1)[1]}\n")


def advise(arguments, bars, pods, batches, seconds_max):
    with open(os.path.join(arguments.data, "openb", "openb_pod_list_default.csv"), encoding="utf-8") as file:
        header, *rows = file.read().splitlines()
    catalogue = os.path.join(arguments.data, "catalog", "aws_gpu.csv")
    ratios, savings, seconds = [], [], []
    print(f"advise: {batches} x {pods} pods")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pods.csv")
        for seed in range(batches):
            draw_pods(rows, header, pods, seed, path)
            answer, used = ask(arguments.program, "advise", "--pods", path, "--offers", catalogue, "--at", AT)
            cost, rival = answer["micro_usd_per_hour"], min(each["micro_usd_per_hour"] for each in answer["rivals"])
            ratios.append(cost / answer["bound_micro_usd_per_hour"])
            savings.append(1 - cost / rival)
            seconds.append(used)
            print(f"  batch {seed:2}: {cost:11} bound {answer['bound_micro_usd_per_hour']:11} better rival {rival:11} {used:6.2f} s",
                  flush=True)
    bars.show("cost / bound, mean", sum(ratios) / batches, most=1.03)
    bars.show("cost / bound, worst", max(ratios))
    bars.show("saved against the better of ffd and cheapest-fit, mean", sum(savings) / batches, least=0.15)
    bars.show("processor seconds, most", max(seconds), most=seconds_max)


def scale(arguments, trace, form, first, length, start, rate):
    answer, seconds = ask(arguments.program, "scale", "--trace", trace, "--trace-format", form, "--from-second", first, "--seconds",
                          length, "--replica-rps", rate, "--wait-seconds", 2, "--start-seconds", start, "--attainment", ATTAINMENT)
    return answer["bound_replica_seconds"], {each["policy"]: each for each in answer["policies"]}, seconds


def shares(policy):
    return policy["in_time"] / policy["requests"]


def scale_days(arguments, bars, start, ratio_max):
    trace = os.path.join(arguments.data, "twitter", "requests_per_second_14days.txt.gz")
    print(f"scale: Twitter days, start {start} s")
    days = [scale(arguments, trace, "rps-text", day * DAY, DAY, start, 8) for day in range(1, min(14, 1 + arguments.days))]
    for day, (_, found, _) in enumerate(days, start=2):
        ours, tuned = found["berth"], found["tuned"]
        print(f"  day {day:2}: {ours['replica_seconds']:8} {shares(ours):.5f}   tuned {tuned['replica_seconds']:8} {shares(tuned):.5f}")
    sums = {policy: sum(found[policy]["replica_seconds"] for _, found, _ in days) for policy in days[0][1]}
    attained = {policy: sum(found[policy]["in_time"] for _, found, _ in days) / sum(found[policy]["requests"] for _, found, _ in days)
                for policy in sums}
    bars.show("replica-seconds / tuned (hindsight)", sums["berth"] / sums["tuned"], most=ratio_max)
    bars.show("in time, in sum", attained["berth"], least=ATTAINMENT)
    bars.show("in time, worst day", min(shares(found["berth"]) for _, found, _ in days), least=0.985)
    for rival in ("target-tracking", "bands", "fixed"):
        bars.show(f"replica-seconds / {rival} ({attained[rival]:.4f} in time)", sums["berth"] / sums[rival])
    bars.show("replica-seconds / bound", sums["berth"] / sum(bound for bound, _, _ in days))
    bars.show("processor seconds of all policies, most", max(seconds for _, _, seconds in days))


def scale_llm(arguments, bars):
    trace = os.path.join(arguments.data, "azure_llm_2023", "AzureLLMInferenceTrace_conv.csv")
    bound, found, seconds = scale(arguments, trace, "azure-llm", 0, 10 * DAY, 60, 1)
    print("scale: the Azure LLM conversation trace")
    bars.show("replica-seconds / tuned (hindsight)", found["berth"]["replica_seconds"] / found["tuned"]["replica_seconds"], most=1.10)
    bars.show("in time", shares(found["berth"]), least=ATTAINMENT)
    for rival in ("target-tracking", "bands", "fixed"):
        bars.show(f"replica-seconds / {rival} ({shares(found[rival]):.4f} in time)",
                  found["berth"]["replica_seconds"] / found[rival]["replica_seconds"])
    bars.show("replica-seconds / bound", found["berth"]["replica_seconds"] / bound)
    bars.show("processor seconds of all policies", seconds)


def spot_averages(arguments, windows, restarts, *options):
    """What policies pay for a run on average, in dollars, with what they missed."""
    answer, _ = ask(arguments.program, "spot", "--windows", windows, "--restart-hours", restarts, *options)
    return {each["policy"]: (float(each["average_usd"]), each["missed"], each["runs"]) for each in answer["policies"]}


def spot_bars(arguments, bars, windows, restarts, most=None, way_least=None):
    found = spot_averages(arguments, windows, restarts)
    ours, even, best = (found[policy][0] for policy in ("berth", "uniform-progress", "optimal"))
    print(f"spot: {os.path.basename(windows)}, restarts {restarts} h, {found['berth'][2]} runs")
    bars.show("dollars a run", ours, most=most)
    bars.show("way from uniform-progress to optimal", (even - ours) / (even - best), least=way_least)
    bars.show("deadlines missed", found["berth"][1], most=0)
    for policy in ("on-demand", "greedy", "uniform-progress", "optimal"):
        bars.show(f"dollars a run of {policy} ({found[policy][1]} missed)", found[policy][0])


def official_windows(arguments):
    return os.path.join(arguments.data, "spot", "cant_be_late_windows.jsonl")


def spot(arguments, bars):
    spot_bars(arguments, bars, official_windows(arguments), RESTARTS, most=95.3)
    _, seconds = ask(arguments.program, "spot", "--windows", official_windows(arguments), "--policies", "optimal")
    bars.show("processor seconds of optimal alone", seconds, most=60)


def spot_long(arguments, bars):
    spot_bars(arguments, bars, official_windows(arguments), "0.2,0.3", way_least=0.25)
    spot_bars(arguments, bars, official_windows(arguments), "0.5", way_least=0)


def drawn_window(rng, length, mean_ticks, is_heavy):
    """Spells of availability and of absence in turn; heavy-tailed ones are Pareto with shape 1.5."""
    ticks = ""
    is_gone = rng.random() < 0.5
    while len(ticks) < length:
        spell = (rng.paretovariate(1.5) / 3 if is_heavy else rng.expovariate(1)) * mean_ticks
        ticks += str(int(is_gone)) * max(1, round(spell))
        is_gone = not is_gone
    return ticks[:length]


def write_windows(path, windows):
    with open(path, "w", encoding="utf-8") as file:
        for number, (series, ticks) in enumerate(windows):
            line = {"series": series, "window": str(number), "gap_seconds": 600, "unavailable": ticks}
            file.write(json.dumps(line) + "\n")


def spot_other(arguments, bars):
    with open(official_windows(arguments), encoding="utf-8") as file:
        official = [json.loads(line) for line in file]
    rng = random.Random(20)
    drawn = [(f"{mean} ticks{' heavy' * is_heavy}", drawn_window(rng, 430, mean, is_heavy))
             for mean in (3, 12, 48) for is_heavy in (False, True) for _ in range(30)]
    with tempfile.TemporaryDirectory() as folder:
        backwards, random_ones = os.path.join(folder, "backwards.jsonl"), os.path.join(folder, "drawn.jsonl")
        write_windows(backwards, [(each["series"], each["unavailable"][::-1]) for each in official])
        write_windows(random_ones, drawn)
        for path in (backwards, random_ones):
            spot_bars(arguments, bars, path, RESTARTS, way_least=0.55)


def write_plans(path, committed):
    """Plans in micro-dollars with a unit on demand at one dollar; `committed` has hours and prices of terms."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("name,term_hours,micro_usd_per_hour\non-demand,0,1000000\n")
        file.writelines(f"term-{hours},{hours},{price}\n" for hours, price in committed)


def commit_ratios(arguments, plans, *options):
    demand = os.path.join(arguments.data, "openb", "openb_pod_list_default.csv")
    answer, seconds = ask(arguments.program, "commit", "--demand", demand, "--demand-format", "openb-pods", "--plans", plans, *options)
    return {each["policy"]: each["ratio"] for each in answer["policies"]}, answer["hours"], seconds


def commit(arguments, bars):
    with tempfile.TemporaryDirectory() as folder:
        plans = os.path.join(folder, "plans.csv")
        for options, most in (((), 1.05), (("--reverse",), 1.20)):
            ratios = []
            for rho in (0.45, 0.63, 0.75):
                write_plans(plans, [(720, round(rho * 1_000_000))])
                ratios.append(commit_ratios(arguments, plans, *options)[0])
            print(f"commit: openb, 720 h, mean over rho 0.45, 0.63, 0.75{', hours reversed' if options else ''}")
            for policy in ("berth", "trailing-168", "trailing-720", "wang", "constant", "on-demand"):
                bars.show(f"cost / optimal, {policy}", sum(each[policy] for each in ratios) / 3, most=most if policy == "berth" else None)
        write_plans(plans, [(168, 750_000), (720, 630_000), (2190, 450_000)])
        _, hours, seconds = commit_ratios(arguments, plans, "--policies", "optimal")
        bars.show(f"processor seconds of optimal, {hours} hours, three terms", seconds, most=10)


def case_service(arguments, model, target_ms, load):
    """A service of a scenario, as JSON, which is YAML."""
    table = os.path.join(arguments.data, "parvagpu", "prof_data", model + ".csv")
    return {"name": model, "profile": {"format": "parvagpu", "path": table}, "slo": {"latency_ms": target_ms}, "arrivals": load}


def case_scenario(services):
    return json.dumps({"berth": 1, "fleet": [{"gpu": "A100-80GB", "usd_per_gpu_hour": PRICE_MICRO_USD / 1e6}], "fidelity": "rates",
                       "scaling": {"provision_seconds": 60}, "services": services})


def run_case(arguments, scenario):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scenario.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(scenario)
        return ask(arguments.program, "case", path, "--attainment", ATTAINMENT, "--committed-micro-usd-per-gpu-hour",
                   round(0.63 * PRICE_MICRO_USD))


def show_steps(answer):
    print("  step              GPUs  most        cost  worst service  busy  effective  saves of first, of second")
    for step in answer["steps"]:
        if "infeasible" in step:
            print(f"  {step['name']:<15} impossible: {step['infeasible']}")
            continue
        used = step["utilisation"]
        print(f"  {step['name']:<15} {step['gpus_mean']:6.2f} {step['gpus_max']:5} {step['cost_micro_usd']:11} "
              f"{step['slo_attainment_worst_service']:10.4f} {'    ' if step['holds'] else 'miss'} {used['busy']:.3f}      {used['effective']:.3f} "
              f"{step['saves_of_first']:15.3f}{step['saves_of_second']:11.3f}", flush=True)


def steps_of(answer):
    return {step["name"]: step for step in answer["steps"] if "infeasible" not in step}


def case_bars(bars, answer):
    """The bars of every case: what scaling saves, uses and keeps."""
    steps = steps_of(answer)
    peak, ours = steps["whole-peak"], steps["scaling"]
    work = peak["utilisation"]["effective"] * peak["gpus_mean"]
    bars.show("bound: GPUs that the answers take at their best points", work)
    bars.show("bound: what no policy saves more than of whole-peak", 1 - ATTAINMENT * work / peak["gpus_mean"])
    bars.show("bound: 1 / effective utilisation of whole-peak", 1 / peak["utilisation"]["effective"])
    bars.show("scaling: saved of whole-peak", ours["saves_of_first"], least=0.60)
    bars.show("scaling: effective utilisation / whole-peak's", ours["utilisation"]["effective"] / peak["utilisation"]["effective"], least=3)
    bars.show("scaling: attainment of the worst service", ours["slo_attainment_worst_service"], least=ATTAINMENT)
    return steps


def case_twitter(arguments, bars):
    trace = os.path.join(arguments.data, "twitter", "requests_per_second_14days.txt.gz")
    services = []
    for model, target_ms, accuracy, first, scale_of_load in SERVICES:
        load = {"format": "rps-text", "path": trace, "from_second": first, "seconds": 7200, "scale": scale_of_load, "smooth_seconds": 10}
        services.append(case_service(arguments, model, target_ms, load) | {"accuracy": accuracy})
    answer, seconds = run_case(arguments, case_scenario(services))
    print("case: two hours of the Twitter trace for each of four services")
    show_steps(answer)
    steps = case_bars(bars, answer)
    bars.show("scaling: saved of whole-tracking", steps["scaling"]["saves_of_second"], least=0.40)
    bars.show("commitments: saved of whole-peak", steps["commitments"]["saves_of_first"], least=0.70)
    bars.show("commitments: saved of whole-tracking", steps["commitments"]["saves_of_second"], least=0.60)
    bars.show("processor seconds", seconds, most=600)


def published_row(arguments, name, number):
    with open(os.path.join(arguments.data, "parvagpu", "SLO", name), encoding="utf-8") as file:
        return [float(each) for each in file.read().splitlines()[number - 1].split(",")]


def mean_rps(trace):
    with open(trace, encoding="utf-8") as file:
        times = [datetime.fromisoformat(row.split(",")[0][:23]) for row in file.read().splitlines()[1:]]
    return len(times) / (times[-1] - times[0]).total_seconds()


def case_llm(arguments, bars):
    trace = os.path.join(arguments.data, "azure_llm_2023", "AzureLLMInferenceTrace_conv.csv")
    models = sorted(name[:-4] for name in os.listdir(os.path.join(arguments.data, "parvagpu", "prof_data")))
    targets, rates = (published_row(arguments, name, 5) for name in ("SLO_latency.csv", "SLO_req_rate.csv"))
    services = []
    for model, target_ms, rate in zip(models, targets, rates):
        load = {"format": "azure-llm", "path": trace, "scale": round(rate / mean_rps(trace), 2), "smooth_seconds": 10}
        services.append(case_service(arguments, model, target_ms, load))
    answer, used = run_case(arguments, case_scenario(services))
    print(f"case: all Azure LLM arrivals for each of {len(models)} services")
    show_steps(answer)
    steps = case_bars(bars, answer)
    bars.show("whole GPUs of step 1", steps["whole-peak"]["gpus_max"], least=12)
    bars.show("small (a service with fewer than 2 GPUs in step 1)", int(answer["small"]), most=0)
    bars.show("scaling: saved of whole-tracking", steps["scaling"]["saves_of_second"])
    bars.show("processor seconds", used)


PARTS = {"advise": lambda arguments, bars: advise(arguments, bars, 100, arguments.batches, 5),
         "advise-500": lambda arguments, bars: advise(arguments, bars, 500, 1, 60),
         "spot": spot,
         "spot-other": spot_other,
         "spot-long": spot_long,
         "commit": commit,
         "scale-60": lambda arguments, bars: scale_days(arguments, bars, 60, 0.85),
         "scale-10": lambda arguments, bars: scale_days(arguments, bars, 10, 1.05),
         "scale-llm": scale_llm,
         "case-twitter": case_twitter,
         "case-llm": case_llm}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="BERTH")
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--batches", type=int, default=20, help="of advise")
    parser.add_argument("--days", type=int, default=13, help="of scale-60 and scale-10")
    arguments = parser.parse_args()
    arguments.data = os.environ.get("BERTH_DATA", "")
    if not arguments.data:
        sys.exit("buying_bench: BERTH_DATA does not name the folder with the public traces")
    names = arguments.only.split(",")
    for name in names:
        if name not in PARTS:
            parser.error(f"--only: wanted some of {','.join(PARTS)}, found {name}")
    bars = Bars()
    for name in names:
        PARTS[name](arguments, bars)
    sys.exit(1 if bars.missed else 0)


if __name__ == "__main__":
    main()
