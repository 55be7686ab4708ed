"""The parts of scripts/detail/scheduling_bench.py about `berth schedule`."""

import os
import random
import sys
import tempfile

from bar_table import print_columns

PHILLY_GPUS = (500, 600)
SHOCKWAVE_TRACES = {"120 jobs": ("120_0.2_5_100_40_25", 32), "220 jobs": ("220_0.2_5_100_25_4", 64),
                    "460 jobs": ("460_0.2_5_100_10_1", 128), "900 jobs (100)": ("900_0.2_5_100_5_15", 256),
                    "900 jobs (1000)": ("900_0.2_5_1000_5_15", 256)}
SHOCKWAVE_LISTS = ("Shockwave 120 (100), 32", "Shockwave 220 (100), 64", "Shockwave 460 (100), 128", "Shockwave 900 (1000), 256",
                   "Shockwave 900 (100), 256")
SHOCKWAVE_ENDING = "_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace"
LIMITS = {"makespan": 1.10, "completion": 1.08, "rho": 2}


def philly_answer(bench, gpus, policies="all"):
    trace = os.path.join(bench.data, "philly", "philly_jobs.csv")
    return bench.berth.ask("schedule", "--trace", trace, "--trace-format", "philly", "--gpus", gpus, "--policies", policies)


def print_policies(policies):
    print_columns(["policy", "completion", "p99", "wait", "slowdown", "worst rho", "makespan", "preemptions"],
                  [[name + ("*" if each["hindsight"] else ""), f"{each['completion_seconds']['mean']:,.0f}",
                    f"{each['completion_seconds']['p99']:,}", f"{each['wait_seconds']['mean']:,.0f}", f"{each['slowdown']['mean']:.2f}",
                    f"{each['rho_worst']:.2f}", f"{each['makespan_seconds']:,}", f"{each['preemptions']:,}"]
                   for name, each in policies.items()])


def percent_over(ours, theirs):
    return 100 * (ours / theirs - 1)


def philly(bench):
    for gpus, most_percent in zip(PHILLY_GPUS, (-3, 0)):
        bench.bars.part(f"philly: 82,247 jobs on {gpus} GPUs")
        policies = philly_answer(bench, gpus).policies
        print_policies(policies)
        ours, las, srpt = (policies[name] for name in ("berth", "las", "srpt"))
        mean, las_mean, srpt_mean = (each["completion_seconds"]["mean"] for each in (ours, las, srpt))
        bench.bars.show("berth: mean completion over las, %", percent_over(mean, las_mean), "{:+.2f}", f"las {las_mean:,.0f} s",
                        ("at most", most_percent))
        bench.bars.show("berth: preemptions / las", ours["preemptions"] / las["preemptions"], "{:.3f}",
                        f"las {las['preemptions']:,}", ("at most", 1 / 3))
        bench.bars.show("berth: makespan over las, %", percent_over(ours["makespan_seconds"], las["makespan_seconds"]), "{:+.3f}",
                        f"las {las['makespan_seconds']:,} s", ("at most", 0.1))
        bench.bars.show("berth: mean completion over srpt, %", percent_over(mean, srpt_mean), "{:+.2f}",
                        f"srpt {srpt_mean:,.0f} s, knows durations")
        best = min((each for each in policies if each != "berth"), key=lambda name: policies[name]["rho_worst"])
        bench.bars.show("berth: worst rho", ours["rho_worst"], known=f"{best} {policies[best]['rho_worst']:.2f}")
        best = min((each for each in policies if each != "berth"), key=lambda name: policies[name]["completion_seconds"]["p99"])
        bench.bars.show("berth: completion p99, s", ours["completion_seconds"]["p99"], "{:,}",
                        f"{best} {policies[best]['completion_seconds']['p99']:,}")


def shockwave_ratios(answer):
    """Of each policy: makespan / bound, mean completion / srpt's, worst rho."""
    srpt = answer.policies["srpt"]["completion_seconds"]["mean"]
    return {name: {"makespan": each["makespan_seconds"] / answer.json["bound_makespan_seconds"],
                   "completion": each["completion_seconds"]["mean"] / srpt, "rho": each["rho_worst"]}
            for name, each in answer.policies.items()}


def reaches_all(ratios):
    return all(ratios[what] <= limit for what, limit in LIMITS.items())


def shockwave(bench):
    bench.bars.part("shockwave: five traces with estimates, rounds of 120 s, restarts of 20 s")
    found = {}
    for name, (start, gpus) in SHOCKWAVE_TRACES.items():
        trace = os.path.join(bench.data, "shockwave", "traces", start + SHOCKWAVE_ENDING)
        answer = bench.berth.ask("schedule", "--trace", trace, "--trace-format", "shockwave", "--gpus", gpus, "--round-seconds", 120,
                                 "--restart-seconds", 20)
        found[name] = shockwave_ratios(answer)
        print_columns([f"{name}, {gpus} GPUs", "makespan / bound", "completion / srpt", "worst rho", "makespan", "completion"],
                      [[policy] + [f"{ratio:.3f}" for ratio in ratios.values()] +
                       [f"{answer.policies[policy]['makespan_seconds']:,}", f"{answer.policies[policy]['completion_seconds']['mean']:,.0f}"]
                       for policy, ratios in found[name].items()])
    print("  published for Shockwave, 120 jobs that change their batch: makespan 24,197 s, completion 9,958 s, worst rho 1.78; not compared")
    for what, title in (("makespan", "makespan / bound"), ("completion", "mean completion / srpt"), ("rho", "worst rho")):
        worst = max(found, key=lambda name, what=what: found[name]["berth"][what])
        rivals = {policy: max(ratios[policy][what] for ratios in found.values()) for policy in found[worst] if policy != "berth"}
        best = min(rivals, key=rivals.get)
        bench.bars.show(f"berth: {title}, worst trace ({worst})", found[worst]["berth"][what], "{:.3f}",
                        f"{best} {rivals[best]:.3f}, its worst trace", ("at most", LIMITS[what]))
    reached = {policy: sum(reaches_all(ratios[policy]) for ratios in found.values()) for policy in next(iter(found.values()))}
    rival = max((policy for policy in reached if policy != "berth"), key=reached.get)
    bench.bars.show("berth: traces on which it reaches all three", reached["berth"], "{}",
                    f"{rival} {reached[rival]}" if reached[rival] else "no other policy on any", ("at least", len(found)))


def crowded_list(path):
    """More jobs than GPUs: 5,000 within a day, 150 times what 64 GPUs do in a day; without estimates."""
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("job,submit_s,gpus,duration_s\n")
        for job in range(5_000):
            file.write(f"j{job},{chance.randrange(86_400)},{chance.choice((1, 2, 4, 8))},{chance.randint(60, 86_400)}\n")


def processor_time(bench):
    bench.bars.part("time: processor seconds on one core, Philly and a crowded list")
    for gpus in PHILLY_GPUS:
        bench.bars.show(f"{gpus} GPUs: all policies, s", philly_answer(bench, gpus).seconds, bar=("below", 30))
        bench.bars.show(f"{gpus} GPUs: berth alone, s", philly_answer(bench, gpus, "berth").seconds, bar=("below", 10))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "jobs.csv")
        crowded_list(path)
        seconds = bench.berth.measure("schedule", "--trace", path, "--gpus", 64, "--policies", "berth").seconds
    bench.bars.show("5,000 jobs within a day on 64 GPUs, nearly all waiting: berth alone, s", seconds)


def estimates(bench):
    """On the lists themselves; many others: tests/sched/sched_estimates_table.py."""
    bench.bars.part("estimates: starts of jobs that wait, Philly and Shockwave; losses beside the obvious answer's")
    words = ("Philly, 500", *([] if bench.is_quick else ["Philly, 600", *SHOCKWAVE_LISTS]))
    os.environ["BERTH_PROGRAM"] = bench.berth.path
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "sched")
    sys.path.insert(0, tests)
    import sched_estimates_table as table
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for job_list in table.philly_lists(folder) + table.shockwave_lists():
            if any(job_list.name.startswith(word) for word in words):
                _, found[job_list.name] = table.quality_of(job_list, folder)
                print_columns([job_list.name, "p90 holds, %", "loss at 0.5", "loss at 0.9"],
                              [[policy, f"{each.holds:.1f}", f"{each.loss_half:.3f}", f"{each.loss_most:.3f}"]
                               for policy, each in found[job_list.name].items()])
    for policy in table.ESTIMATE_POLICIES:
        each = {name: qualities[policy] for name, qualities in found.items()}
        holds = sorted(quality.holds for quality in each.values())
        bench.bars.show(f"{policy}: p90 holds, %, least of the lists", holds[0], "{:.1f}", bar=("at least", table.COVERAGE[0]))
        bench.bars.show(f"{policy}: p90 holds, %, most of the lists", holds[-1], "{:.1f}", bar=("at most", table.COVERAGE[1]))
        for what in ("loss_half", "loss_most"):
            worst = max(each, key=lambda name, what=what: getattr(each[name], what))
            bench.bars.show(f"{policy}: pinball loss at {0.5 if what == 'loss_half' else 0.9} / the obvious answer's, worst list ({worst})",
                            getattr(each[worst], what), bar=("at most", 1))


PARTS = {"estimates": estimates, "philly": philly, "shockwave": shockwave, "time": processor_time}
