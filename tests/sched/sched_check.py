#!/usr/bin/env python3
"""Checks what `berth schedule` wrote, from the log, the figures and the inputs alone. Exit 0: all holds; 1: listed.

    sched_check.py --trace T --trace-format own|philly|shockwave --gpus N [--tenants F] [--round-seconds 300]
        [--restart-seconds 60] [--min-run-seconds 0] [--reclaim-seconds 600] --log L --json J
        [--estimates E] [--rules] [--strict] [--swapped LOG --names A,B]

--rules: the logs of fifo, skip, sjf, easy, las, srpt and fair must be those of sched_rules.py; lines of one second and
type may stand in any order. --strict: turns need progress that a checkpoint kept. --swapped: LOG is that of the same
list, the names of the rows A and B exchanged, which differ in nothing else; it must be the same with names exchanged.
Written from docs/reference/scheduling.md alone.
"""

import argparse
import json
import sys
from collections import defaultdict
from decimal import Decimal

import sched_estimates
import sched_figures
import sched_input
import sched_laws
import sched_replay
import sched_rules
from sched_input import POLICIES, Job, Options, Tree

SHOWN_MAX = 20


def read_log(path: str) -> dict[str, list[dict]]:
    """The lines of each policy, in the file's order."""
    logs: dict[str, list[dict]] = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            line = json.loads(text)
            if not isinstance(line, dict) or line.get("policy") not in POLICIES:
                raise ValueError(f"{path}:{number}: no line of a policy")
            logs[line["policy"]].append(line)
    return logs


def check_policy(policy: str, lines: list[dict], found: dict, jobs: list[Job], tree: Tree, options: Options,
                 arguments: argparse.Namespace) -> list[str]:
    errors = []
    if arguments.rules and policy in sched_rules.RULED:
        errors += rule_differences(policy, lines, jobs, tree, options)
    try:
        timeline = sched_replay.timeline_of(policy, jobs, options, lines)
    except sched_replay.LogError as error:
        return errors + [str(error)]
    errors += sched_laws.law_errors(policy, timeline, tree, options, arguments.strict)
    wanted = sched_figures.policy_figures(policy, timeline, tree, options)
    errors += list(sched_figures.differences(wanted, found, "figures"))
    if arguments.estimates and policy in sched_input.ESTIMATE_POLICIES:
        errors += sched_estimates.errors_of(policy, arguments.estimates, timeline)
    return errors


def rule_differences(policy: str, lines: list[dict], jobs: list[Job], tree: Tree, options: Options) -> list[str]:
    """The first second at which the log is not what the rules say."""
    wanted, found = defaultdict(set), defaultdict(set)
    try:
        ruled = sched_rules.lines_of(policy, jobs, tree, options)
    except sched_rules.EndlessError as error:
        return [str(error)]
    for second, kind, row in ruled:
        wanted[second].add((kind, jobs[row].name))
    for line in lines:
        found[line.get("t_s")].add((line.get("type"), line.get("job")))
    for second in sorted(set(wanted) | {second for second in found if isinstance(second, int)}):
        if wanted[second] != found[second]:
            return [f"at {second} the rules say {sorted(wanted[second] - found[second])[:5]}, "
                    f"the log {sorted(found[second] - wanted[second], key=str)[:5]}"]
    return []


def swap_differences(policy: str, lines: list[dict], others: list[dict], names: tuple[str, str]) -> list[str]:
    swap = {names[0]: names[1], names[1]: names[0]}

    def renamed(line: dict) -> dict:
        whom = line.get("for")
        if isinstance(whom, dict) and "job" in whom:
            whom = {"job": swap.get(whom["job"], whom["job"])}
        return {"job": swap.get(line["job"], line["job"]), "t_s": line["t_s"], "type": line["type"], "for": whom}

    def plain(line: dict) -> dict:
        return {key: line.get(key) for key in ("job", "t_s", "type", "for")}

    for line, other in zip(lines, others):
        if renamed(line) != plain(other):
            return [f"names swapped: {renamed(line)} became {plain(other)}"]
    return [] if len(lines) == len(others) else [f"names swapped: {len(lines)} lines became {len(others)}"]


def check(arguments: argparse.Namespace) -> list[str]:
    options = sched_rules.options_of(arguments)
    jobs, tree = sched_input.load(arguments.trace, arguments.trace_format, arguments.tenants, arguments.gpus)
    logs = read_log(arguments.log)
    with open(arguments.json, encoding="utf-8") as file:
        found = json.load(file, parse_float=Decimal)
    head = {"berth": 1, "jobs": len(jobs), "gpus": options.gpus,
            "bound_makespan_seconds": sched_figures.bound_makespan(jobs, options.gpus)}
    errors = list(sched_figures.differences(head, found, "json"))
    policies = [figures.get("policy") for figures in found.get("policies", [])]
    if len(set(policies)) != len(policies) or not set(policies) <= set(POLICIES) or not policies:
        return errors + [f"policies in the figures: {policies}"]
    if set(logs) != set(policies):
        errors.append(f"the log is of {sorted(logs)}, the figures of {sorted(policies)}")
    swapped = read_log(arguments.swapped) if arguments.swapped else {}
    for figures in found["policies"]:
        policy = figures["policy"]
        found_errors = check_policy(policy, logs[policy], figures, jobs, tree, options, arguments)
        if arguments.swapped:
            names = tuple(arguments.names.split(","))
            found_errors += swap_differences(policy, logs[policy], swapped[policy], names)
        errors += [f"{policy}: {text}" for text in found_errors]
    return errors


def parser_of() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sched_rules.add_world(parser)
    parser.add_argument("--log", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--policies", help="not needed: those of the figures are checked")
    parser.add_argument("--estimates")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--swapped")
    parser.add_argument("--names")
    return parser


def main() -> int:
    try:
        errors = check(parser_of().parse_args())
    except (OSError, ValueError, sched_input.InputError) as error:
        print(error, file=sys.stderr)
        return 2
    for text in errors[:SHOWN_MAX]:
        print(text)
    if len(errors) > SHOWN_MAX:
        print(f"and {len(errors) - SHOWN_MAX} more")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
