#!/usr/bin/env python3
"""Goodput of `berth` beside its rivals, on replays of real traces (scenarios: goodput_scenarios.py).

    BERTH_DATA=DATA BERTH_PROGRAM=build/release/berth python3 tests/planner/goodput.py [--seeds N] [--only TEXT] [--objective services]

For each scenario and seed: the goodput of every policy, the bound, and changes. Then the bars: how far `berth` lies below the best online
rival at worst, its share of the way from `static-even` to `clairvoyant` where that way is at least 0.02, its share of `clairvoyant`,
its changes beside ekya's and astraea's, and the mean gain over each rival beside the figures that MIGRator's paper published.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from goodput_scenarios import write_all

RIVALS = ["static-even", "paris", "ekya", "astraea", "migrator"]
YARDSTICKS = ["static-best", "clairvoyant"]
PUBLISHED = {"ekya": 17, "astraea": 21, "paris": 20}
CONTENDED = 0.02


def replay(path, policies, seed):
    command = [os.environ["BERTH_PROGRAM"], "replay", path, "--policies", ",".join(policies), "--seed", str(seed), "--format", "json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def figures(answer, key):
    values = {policy["name"]: policy.get(key) for policy in answer["policies"] if not policy.get("infeasible")}
    if "bound" in answer:
        values["bound"] = answer["bound"][key]
    return values


def known_policies():
    text = subprocess.run([os.environ["BERTH_PROGRAM"], "replay", "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in ["berth", *RIVALS, *YARDSTICKS] if name in text]


def row(name, values):
    return f"{name:28}" + "".join(f"{values.get(policy, float('nan')):>12.4f}" for policy in columns) + "\n"


def summary(rows, changes):
    """The bars, from [{policy: goodput}] and [{policy: changes}]."""
    lines = []
    worst = min((r["berth"] / max(r[p] for p in RIVALS if p in r) - 1, name) for name, r in rows)
    lines.append(f"least beside the best online rival: {100 * worst[0]:+.2f} % ({worst[1]})   bar: -0.50 %")
    way = [(r["berth"] - r["static-even"], r["clairvoyant"] - r["static-even"]) for _, r in rows
           if r["clairvoyant"] - r["static-even"] >= CONTENDED]
    if way:
        lines.append(f"way from static-even to clairvoyant, {len(way)} contended runs: "
                     f"{100 * sum(a for a, _ in way) / sum(b for _, b in way):.1f} %   bar: 60 %")
    share = [r["berth"] / r["clairvoyant"] for _, r in rows]
    lines.append(f"mean share of clairvoyant: {100 * sum(share) / len(share):.2f} %   bar: 97 %")
    if "bound" in rows[0][1]:
        share = [r["berth"] / r["bound"] for _, r in rows]
        lines.append(f"mean share of the bound: {100 * sum(share) / len(share):.2f} %")
    total = {p: sum(c[p] for c in changes) for p in changes[0]}
    lines.append("changes: " + ", ".join(f"{p} {n}" for p, n in total.items() if p in ["berth", "clairvoyant", *RIVALS]))
    for rival in RIVALS:
        gains = [r["berth"] / r[rival] - 1 for _, r in rows if r.get(rival)]
        if gains:
            published = f"   (MIGRator published {PUBLISHED[rival]:+} %)" if rival in PUBLISHED else ""
            lines.append(f"mean gain over {rival}: {100 * sum(gains) / len(gains):+.1f} %{published}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="scenarios whose name holds this")
    parser.add_argument("--objective", choices=["services", "requests"], default="services")
    parser.add_argument("--policies", default="")
    options = parser.parse_args()
    key = "goodput_mean_of_services" if options.objective == "services" else "goodput"
    policies = options.policies.split(",") if options.policies else known_policies()
    global columns
    columns = [*policies, "bound"]
    print(f"{'':28}" + "".join(f"{policy:>12}" for policy in columns))
    rows, changes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_all(folder, options.objective):
            if options.only not in name:
                continue
            for seed in range(1, options.seeds + 1):
                answer = replay(path, policies, seed)
                rows.append((f"{name} {seed}", figures(answer, key)))
                changes.append({p["name"]: p["changes"] for p in answer["policies"] if not p.get("infeasible")})
                sys.stdout.write(row(*rows[-1]))
                sys.stdout.flush()
    print()
    print("\n".join(summary(rows, changes)))


if __name__ == "__main__":
    main()
