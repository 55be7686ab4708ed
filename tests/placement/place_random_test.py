#!/usr/bin/env python3
"""Random lists: answers of the reference hold, broken lists are refused where they are broken. Exit 0: all hold.

With the order given an answer in which one line is changed is refused; with seeds it may still be legal.

    place_random_test.py [SEEDS]
"""

import copy
import json
import os
import random
import sys
import tempfile

import place_check
import place_random
import place_reference
from place_answer import AnswerError, read_answer, read_decisions
from place_broken import KINDS
from place_lists import ListError
from place_rules import RULES, RULES_SLICES

SEEDS = 120
SEEDS_OF_KIND = 6
CHANGES = 6


def options_of(folder: str, case: dict):
    parser = place_check.parser_of("")
    files = [part for name in ("nodes", "pods") for part in (f"--{name}", os.path.join(folder, f"{name}.csv"))]
    outputs = ["--decisions", os.path.join(folder, "decisions"), "--json", os.path.join(folder, "json")]
    return parser.parse_args([*files, *outputs, *case["options"]])


def make(folder: str, seed: int, broken: str | None = None) -> dict:
    nodes, pods, case = place_random.make(seed, None, broken)
    nodes.write(os.path.join(folder, "nodes.csv"))
    pods.write(os.path.join(folder, "pods.csv"))
    return case


def reference_holds(folder: str, seed: int) -> dict[str, int]:
    """Counts of what the case has met."""
    options = options_of(folder, make(folder, seed))
    question = place_check.question_from(options)
    seeds = [None] if question.is_given else options.seeds
    policies = place_check.policies_of(question, "all")
    lines, answer = place_reference.answer_of(question, seeds, policies)
    place_reference.write(options.decisions, options.json, lines, answer)
    check = place_check.Check(question, read_decisions(options.decisions), read_answer(options.json), 1, False)
    problems = list(check.problems())
    assert not problems, f"seed {seed}: {problems[:3]}"
    determined = [policy for policy in policies if policy in RULES + RULES_SLICES]
    of_rule = place_reference.answer_of(question, seeds[:1], [determined[seed % len(determined)]])
    return {"changes": changes_are_refused(folder, question, *of_rule, seed),
            "decisions": sum("pod" in line for line in lines),
            "failed": sum(line.get("node", 0) is None for line in lines),
            "undone": sum("undone" in line for line in lines), "leaves": sum("leaves" in line for line in lines),
            "moves": sum("moves" in line for line in lines), "slices": sum("profile" in line for line in lines),
            "multiple": sum(len(line.get("start", [])) > 1 for line in lines), "decided anew": check.checked_count,
            "drawn": max(0, len(check.runs[0].decisions) - len(question.pods)) if question.appends else 0,
            "removed": 0 if question.appends or question.is_given else 1}


def changed(lines: list[dict], rng: random.Random) -> list[dict]:
    """The lines, one of them changed, removed, repeated or exchanged with the next."""
    result = copy.deepcopy(lines)
    index = rng.randrange(len(lines))
    what = rng.choice(["change", "change", "change", "drop", "repeat", "swap"])
    if what == "drop":
        del result[index]
    elif what == "repeat":
        result.insert(index, copy.deepcopy(result[index]))
    elif what == "swap":
        result[index:index + 2] = result[index:index + 2][::-1]
    else:
        key = rng.choice(sorted(result[index]))
        result[index][key] = rng.choice([0, 1, 2, 3, 7, None, [], [0], [1], [2], [0, 1], True, "1g.5gb", "fgd"])
    return result


def changes_are_refused(folder: str, question: place_check.Question, lines: list[dict], answer: dict, seed: int) -> int:
    """How many changes were made; none may stop the checker."""
    rng, count = random.Random(seed), 0
    for _ in range(CHANGES):
        other = changed(lines, rng)
        file = os.path.join(folder, "changed")
        place_reference.write(file, os.path.join(folder, "json"), other, answer)
        try:
            found = list(place_check.Check(question, read_decisions(file), answer, 1, False).problems())
        except AnswerError as error:
            found = [str(error)]
        is_allowed = not question.is_given or meaning(lines) == meaning(other)
        assert found or is_allowed, f"seed {seed}: a change is not found"
        count += 1
    return count


def meaning(lines: list[dict]) -> list[str]:
    """The lines without keys that may be written or not."""
    return [json.dumps({key: value for key, value in line.items() if value or key == "node"}, sort_keys=True)
            for line in lines]


def broken_is_refused(folder: str, kind: str, seed: int) -> None:
    case = make(folder, seed, kind)
    error = case["error"]
    try:
        place_check.question_from(options_of(folder, case))
    except ListError as found:
        where = f"{kind} seed {seed}: {found}, wanted {json.dumps(error)}"
        assert error["file"] is None or error["file"] == os.path.basename(found.file), where
        assert not error["lines"] or found.line in error["lines"], where
        assert not error["columns"] or found.column in error["columns"], where
        return
    raise AssertionError(f"{kind} seed {seed}: no error")


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def same_bytes(folder: str, seed: int) -> None:
    texts = []
    for _ in range(2):
        make(folder, seed)
        texts.append([content(os.path.join(folder, name)) for name in ("nodes.csv", "pods.csv")])
    assert texts[0] == texts[1]


def main() -> int:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    met: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            for name, count in reference_holds(folder, seed).items():
                met[name] = met.get(name, 0) + count
        for kind in KINDS:
            for seed in range(SEEDS_OF_KIND):
                broken_is_refused(folder, kind, seed)
        same_bytes(folder, 5)
    assert seeds < SEEDS or all(met.values()), f"not met: {met}"
    print(f"{seeds} cases hold: {met}; {len(KINDS)} kinds of broken lists are refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
