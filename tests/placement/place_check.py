#!/usr/bin/env python3
"""Verifies an answer of `berth place` from its decisions file alone, by docs/reference/scheduling.md.

    place_check.py --nodes FILE --pods FILE --decisions FILE --json FILE [--demand 1.3] [--order seeded|given] [--churn]
                   [--as GPU] [--copies N] [--moves N] [--rules] [--rules-every K] [--timings]
                   [--seeds 42-51] [--policies a,b|all]

Checks for each policy and seed that the arrivals and the node order are allowed and do not depend on the policy, that
every place is legal and nothing is refused that fits, and that every figure of the JSON follows. With --rules each
decision of a determined policy is decided anew (with --rules-every each K-th). With --seeds and --policies the answer
must be for these. Prints what is wrong, one line each.
Status 0: nothing; 1: something; 2: the inputs cannot be read.
"""

import argparse
import sys
from collections import defaultdict
from fractions import Fraction
from typing import Iterator

from place_answer import POLICIES, POLICIES_SLICES, AnswerError, Run, read_answer, read_decisions
from place_arrivals import Question, arrival_problems, departure_problems, order_problems
from place_devices import Device, device_named
from place_figures import figures_of, head_problems, policy_problems
from place_lists import ListError, demand_of, read_nodes, read_pods
from place_replay import Replay, Wrong
from place_rules import Typical


def question_of(nodes: str, pods: str, cut_as: Device | None = None, copies: int | None = None, **options) -> Question:
    fleet = read_nodes(nodes, cut_as, copies)
    return Question(fleet, read_pods(pods, fleet), **options)


class Check:
    """All runs of one call."""

    def __init__(self, question: Question, runs: list[Run], answer: dict, rules_every: int, has_timings: bool) -> None:
        self.question, self.runs, self.answer = question, runs, answer
        self.rules_every, self.has_timings = rules_every, has_timings
        self.typical = Typical(question.pods)
        self.figures: dict[str, dict[int | None, dict]] = defaultdict(dict)
        self.first_run: dict[int | None, Run] = {}
        self.leave_times: dict[int | None, dict[int, int | None]] = defaultdict(dict)
        self.checked_count = 0

    def problems(self) -> Iterator[str]:
        yield from self.call_problems()
        for run in self.runs:
            for problem in self.run_problems(run):
                yield f"{run.name}: {problem}"
        seeds = self.seeds()
        for policy in self.answer["policies"]:
            figures = self.figures.get(policy.get("policy"), {})
            if set(figures) == set(seeds):
                for problem in policy_problems(self.question, policy, [figures[seed] for seed in seeds],
                                               self.has_timings):
                    yield f"{policy['policy']}: {problem}"

    def seeds(self) -> list[int | None]:
        return list(dict.fromkeys(run.seed for run in self.runs))

    def call_problems(self) -> Iterator[str]:
        """The head of the answer, and one run for each policy and seed."""
        seeds = [seed for seed in self.seeds() if seed is not None]
        yield from head_problems(self.question, self.answer, seeds)
        if self.question.is_given != (self.seeds() == [None]):
            yield f"wanted seeds unless the order is given, found {self.seeds()}"
        policies = [policy.get("policy") for policy in self.answer["policies"]]
        known = POLICIES_SLICES if self.question.has_slices else POLICIES
        if not policies or len(set(policies)) != len(policies) or not set(policies) <= set(known):
            yield f"policies: wanted some of {known}, found {policies}"
        wanted = [(policy, seed) for policy in policies for seed in self.seeds()]
        if sorted(wanted, key=str) != sorted(((run.policy, run.seed) for run in self.runs), key=str):
            yield "wanted one run for each policy of the answer and each seed"

    def run_problems(self, run: Run) -> Iterator[str]:
        rows = [decision.pod for decision in run.decisions]
        found = list(order_problems(self.question, run)) + list(arrival_problems(self.question, rows))
        yield from found
        yield from self.independence_problems(run, rows)
        if found:
            return
        replay = Replay(self.question, run, self.typical, self.rules_every)
        try:
            replay.follow()
        except Wrong as wrong:
            yield str(wrong)
            return
        self.checked_count += replay.checked
        self.figures[run.policy][run.seed] = figures_of(self.question, replay.arrivals, replay.fleet, self.typical,
                                                        replay.failed, replay.moved)
        if self.question.has_churn:
            yield from departure_problems(self.question, replay.left, replay.count)
            yield from self.lifetime_problems(run, replay.left)

    def independence_problems(self, run: Run, rows: list[int]) -> Iterator[str]:
        first = self.first_run.setdefault(run.seed, run)
        if first.node_order != run.node_order:
            yield f"its node_order is not that of {first.policy}"
        if first is not run and [decision.pod for decision in first.decisions] != rows:
            yield f"its arrivals are not those of {first.policy}"

    def lifetime_problems(self, run: Run, left: dict[int, int | None]) -> Iterator[str]:
        """A decision placed by several policies leaves at one time."""
        known = self.leave_times[run.seed]
        for decision, time in left.items():
            if known.setdefault(decision, time) != time:
                yield f"decision {decision} leaves at {time}, under another policy at {known[decision]}"
                return


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options that say what was asked."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("nodes", "pods", "decisions", "json"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--demand", type=demand_of)
    parser.add_argument("--order", choices=("seeded", "given"), default="seeded")
    parser.add_argument("--churn", action="store_true")
    parser.add_argument("--as", dest="cut_as", type=device_named)
    parser.add_argument("--copies", type=int)
    parser.add_argument("--moves", type=int, default=0)
    parser.add_argument("--seeds", type=seeds_of)
    parser.add_argument("--policies")
    return parser


def seeds_of(text: str) -> list[int]:
    first, last = (int(part) for part in (text.split("-") * 2)[:2])
    return list(range(first, last + 1))


def policies_of(question: Question, text: str) -> list[str]:
    if text != "all":
        return text.split(",")
    if question.has_slices:
        return list(POLICIES_SLICES)
    return [policy for policy in POLICIES if policy != "random" or not question.is_given]


def question_from(options: argparse.Namespace) -> Question:
    if options.order == "given" and (options.demand or options.seeds):
        raise ListError("--demand" if options.demand else "--seeds", 1, 1, "wanted --order seeded")
    demand = options.demand or Fraction(13, 10)
    question = question_of(options.nodes, options.pods, options.cut_as, options.copies, demand=demand,
                           is_given=options.order == "given", has_churn=options.churn, moves_max=options.moves)
    if question.is_given and question.has_churn:
        raise ListError("--churn", 1, 1, "wanted --order seeded")
    if not question.is_given and not question.listed_milli:
        raise ListError(options.pods, 1, 1, "wanted a pod with a GPU, found none")
    return question


def asked_problems(question: Question, answer: dict, options: argparse.Namespace) -> Iterator[str]:
    """Whether the answer is for the seeds and policies asked for."""
    if options.seeds is not None and not question.is_given and answer.get("seeds") != options.seeds:
        yield f"seeds: wanted {options.seeds}, found {answer.get('seeds')}"
    found = [policy["policy"] for policy in answer["policies"]]
    if options.policies is not None and found != policies_of(question, options.policies):
        yield f"policies: wanted {policies_of(question, options.policies)}, found {found}"


def checked(options: argparse.Namespace, rules_every: int, has_timings: bool = False) -> tuple[Check, list[str]]:
    """The check of an answer, and all that is wrong with it."""
    question = question_from(options)
    check = Check(question, read_decisions(options.decisions), read_answer(options.json), rules_every, has_timings)
    return check, [*asked_problems(question, check.answer, options), *check.problems()]


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--rules-every", type=int, default=0)
    parser.add_argument("--timings", action="store_true")
    options = parser.parse_args()
    try:
        check, problems = checked(options, options.rules_every or int(options.rules), options.timings)
    except (OSError, ListError) as error:
        print(error, file=sys.stderr)
        return 2
    except AnswerError as error:
        print(error)
        return 1
    for problem in problems:
        print(problem)
    decided = f", {check.checked_count} decided anew" if check.rules_every else ""
    decisions = sum(len(run.decisions) for run in check.runs)
    print(f"{len(check.runs)} runs, {decisions} decisions{decided}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
