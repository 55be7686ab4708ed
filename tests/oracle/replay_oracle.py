#!/usr/bin/env python3
"""Oracle for `berth replay --policies fixed`: small, slow and exact.

    replay_oracle.py SCENARIO.yaml [--journal FILE]

prints the JSON object of SCENARIO.md's section Output for the policy `fixed`; --journal writes the journal's lines.
"""

import argparse
import json
import os
from fractions import Fraction

import gpu_models
import inputs
from world import World

COUNTS = ("requests", "in_time", "late", "dropped", "unfinished")


def replay(path):
    """(the report as a dictionary, the journal as a list of dictionaries)."""
    scenario = inputs.load(path)
    world = World(scenario).run()
    seconds = Fraction(world.end_us, inputs.MICROS)
    every_gpu = range(len(scenario.gpus))
    report = {"berth": 1, "scenario": os.path.basename(path), "seed": 0, "simulated_seconds": number(seconds),
              "cost_micro_usd_fleet": half_even(cost(scenario, every_gpu, seconds)),
              "policies": [policy_figures(world, seconds)]}
    return report, world.journal


def policy_figures(world, seconds):
    figures = {"name": "fixed", "hindsight": False}
    figures.update(figures_of(world, world.services, seconds))
    figures["services"] = [{"name": state.spec.name, **figures_of(world, [state], seconds)} for state in world.services]
    return figures


def figures_of(world, states, seconds):
    """All figures over some services: one for its own row, all for the policy's."""
    names = {state.spec.name for state in states}
    slices = [piece for piece in world.slices if piece.spec.service in names]
    total = {key: sum(getattr(s, key) for state in states for s in state.seconds.values()) for key in COUNTS}
    accuracy = sum(s.accuracy for state in states for s in state.seconds.values())
    gpus = {piece.spec.gpu for piece in slices}
    spent = cost(world.scenario, gpus, seconds)
    per_million = None if spent is None or not total["in_time"] else spent * 10**6 / total["in_time"]
    return {
        **total, "goodput": ratio(accuracy, total["requests"]), **over_services(states),
        "slo_attainment": ratio(total["in_time"], total["requests"]), "mean_accuracy": ratio(accuracy, total["in_time"]),
        "gpu_seconds": number(len(gpus) * seconds), "gpu_seconds_fleet": number(len(world.scenario.gpus) * seconds),
        "cost_micro_usd": half_even(spent), "cost_micro_usd_per_million_in_time": half_even(per_million),
        "utilisation": utilisation(world, states, slices, seconds), "changes": 0,
        "lost_slice_seconds": number(seconds * sum(1 for s in slices if s.spec.role == "inference" and s.point is None)),
        "latency_ms": latency(sorted(us for state in states for us in state.latencies_us))}


def over_services(states):
    """Weighted mean and smallest of the goodputs of services that had requests."""
    shares = []
    for state in states:
        requests = sum(s.requests for s in state.seconds.values())
        if requests:
            shares.append((state.spec.weight, Fraction(sum(s.accuracy for s in state.seconds.values())) / requests))
    mean = ratio(sum(w * g for w, g in shares), sum(w for w, _ in shares))
    return {"goodput_mean_of_services": mean, "goodput_worst_service": float(min(g for _, g in shares)) if shares else None}


def utilisation(world, states, slices, seconds):
    """Shares of the SM-time of the whole fleet."""
    fleet = sum(gpu_models.whole_sms(gpu.model) for gpu in world.scenario.gpus) * seconds
    allocated = sum(piece.sms for piece in slices) * seconds
    busy = sum(piece.sms * Fraction(piece.busy_us, inputs.MICROS) for piece in slices)
    effective = sum(len(state.latencies_us) * best_sm_seconds(world.scenario, state.spec) for state in states)
    return {"allocated": ratio(allocated, fleet), "busy": ratio(busy, fleet), "effective": ratio(effective, fleet)}


def best_sm_seconds(scenario, service):
    """The least SM-seconds a request costs at any usable point on any profile of the fleet's GPUs."""
    costs = [Fraction(gpu_models.profile_sms(model, profile)) / rate
             for model in {gpu.model for gpu in scenario.gpus} for profile in gpu_models.profiles(model)
             for rate, _, _ in inputs.usable_points(service, inputs.points_on(service, model, profile))]
    return min(costs, default=Fraction(0))


def latency(ordered_us):
    """Mean, and percentiles by nearest rank."""
    if not ordered_us:
        return {"mean": None, "p50": None, "p99": None}

    def nearest_rank(percent):
        return ordered_us[-(-percent * len(ordered_us) // 100) - 1] / 1000
    return {"mean": float(Fraction(sum(ordered_us), 1000 * len(ordered_us))), "p50": nearest_rank(50), "p99": nearest_rank(99)}


def cost(scenario, gpus, seconds):
    """Micro-dollars of some GPUs over the run, exact; None where one has no price."""
    prices = [scenario.gpus[gpu].usd_per_hour for gpu in gpus]
    return None if None in prices else sum(prices, Fraction(0)) * 10**6 * seconds / 3600


def half_even(value):
    return None if value is None else round(value)  # a Fraction rounds half to even


def ratio(part, whole):
    return float(Fraction(part) / Fraction(whole)) if whole else None


def number(value):
    return int(value) if value == int(value) else float(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario")
    parser.add_argument("--journal")
    options = parser.parse_args()
    report, journal = replay(options.scenario)
    print(json.dumps(report))
    if options.journal:
        with open(options.journal, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in journal)


if __name__ == "__main__":
    main()
