#!/usr/bin/env python3
"""What `berth place` answers to random lists and to those of openb is legal and follows the rules (place_check.py),
broken lists are refused where they are broken, and the same call gives the same bytes. Skips (77) without a program.

    PLACE_SEEDS=500-700 tests/placement/place_program_test.py    other random lists
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

import place_check
import place_random
from place_answer import Leaves, Moves
from place_broken import KINDS
from place_table import Table

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
DATA = os.environ.get("BERTH_DATA", "")
FIRST, LAST = (int(word) for word in os.environ.get("PLACE_SEEDS", "0-39").split("-"))
SEEDS_OF_KIND = 2
DEMANDS = ("1.3", "0.4", "2.05")
OF_LISTS = ("--as", "--copies")   # options of a random case that say what the nodes are
MODES = {"given": ["--order", "given"], "seeded": ["--seeds", "1-2"],
         "churn": ["--seeds", "3", "--demand", "0.7", "--churn"]}
MOVES = "2"
MODES_CROWDED = {"given": ["--order", "given", "--policies", "berth", "--moves", "3"],
                 "seeded": ["--seeds", "1-3", "--demand", "1.6", "--policies", "berth", "--moves", "4"],
                 "churn": ["--seeds", "4-6", "--demand", "1.1", "--churn", "--policies", "berth", "--moves", "2"]}
MESSAGE = re.compile(r"berth: (?:([^:\n]+):([0-9]+):([0-9]+): )?[^\n]+\n")   # with the place of the error, or without
OPENB_LISTS = ("default", "gpuspec33")
OPENB_RULES_EVERY = 200


def run(words: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "place", *words], capture_output=True, timeout=120, check=False)


def value_of(options: list[str], name: str) -> list[str]:
    """The option with its value, or nothing."""
    return options[options.index(name):][:2] if name in options else []


class PlaceTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.decisions, self.json, self.nodes, self.pods = (
            os.path.join(folder.name, name) for name in ("decisions.jsonl", "json", "nodes.csv", "pods.csv"))

    def make(self, seed: int, broken: str | None = None) -> dict:
        """Writes a random case; returns its options, and of a broken one where the error lies."""
        nodes, pods, case = place_random.make(seed, None, broken)
        self.write(nodes, pods)
        return case

    def write(self, nodes: Table, pods: Table) -> None:
        nodes.write(self.nodes)
        pods.write(self.pods)

    @staticmethod
    def write_text(path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def lists(self) -> list[str]:
        return ["--nodes", self.nodes, "--pods", self.pods]

    def answer(self, words: list[str]) -> bytes:
        """What the program prints; it also writes its decisions."""
        result = run([*words, "--decisions", self.decisions])
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout

    def check(self, words: list[str], rules_every: int = 1) -> place_check.Check:
        """Asks the program and the checker; nothing may be wrong."""
        answer = self.answer([*words, "--format", "json"])
        with open(self.json, "wb") as file:
            file.write(answer)
        files = ["--decisions", self.decisions, "--json", self.json]
        options = place_check.parser_of("").parse_args(["--policies", "all", *words, *files])
        check, problems = place_check.checked(options, rules_every)
        if problems:
            self.fail("\n".join(problems))
        return check


class RandomListsTest(PlaceTest):
    def test_answers_are_legal_and_follow_the_rules(self) -> None:
        met: Counter[str] = Counter()
        for seed in range(FIRST, LAST + 1):
            options = self.make(seed)["options"]
            lists = [*self.lists(), *(word for name in OF_LISTS for word in value_of(options, name))]
            for mode, words in MODES.items():
                call = [*lists, *words, *(["--demand", DEMANDS[seed % len(DEMANDS)]] if mode == "seeded" else [])]
                with self.subTest(seed=seed, mode=mode):
                    check = self.check(call)
                    met += counts_of(check)
                    if check.question.has_slices:
                        met += counts_of(self.check([*call, "--moves", MOVES]))
        print(f"random lists: {dict(met)}")
        wanted = {"runs", "decided anew", "failed", "undone", "slices", "leaves", "moves"}
        self.assertEqual(wanted - set(met), set(), "not met by any of the random lists")

    def test_the_same_call_gives_the_same_bytes(self) -> None:
        for seed in range(FIRST, min(FIRST + 6, LAST + 1)):
            options = self.make(seed)["options"]
            for format_words in ([], ["--format", "json"]):
                with self.subTest(seed=seed, format=format_words):
                    found = [(self.answer([*self.lists(), *options, *format_words]), content(self.decisions))
                             for _ in range(2)]
                    self.assertEqual(found[0], found[1])


class MovesTest(PlaceTest):
    def test_each_move_is_possible_when_its_line_comes(self) -> None:
        met: Counter[str] = Counter()
        for seed in range(FIRST, LAST + 1):
            self.write(*place_random.crowded(seed))
            for mode, words in MODES_CROWDED.items():
                with self.subTest(seed=seed, mode=mode):
                    met += counts_of(self.check([*self.lists(), *words]))
        print(f"crowded lists: {dict(met)}")
        self.assertTrue(met["moves"], "no slice moves in any of the crowded lists")


class CopiesTest(PlaceTest):
    def test_policies_are_those_of_the_copies(self) -> None:
        """The only GPU that can be cut is not among the first two nodes."""
        self.write_text(self.nodes, "sn,cpu_milli,memory_mib,gpu,model\nm,9,9,1,T4\nn,9,9,1,T4\no,9,9,1,A30-24GB\n")
        self.write_text(self.pods, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,500\n")
        for copies, has_slices in (("2", False), ("3", True), ("7", True)):
            with self.subTest(copies=copies):
                check = self.check([*self.lists(), "--order", "given", "--copies", copies])
                self.assertEqual(check.question.has_slices, has_slices)


class BrokenListsTest(PlaceTest):
    def test_are_refused_where_they_are_broken(self) -> None:
        for kind in KINDS:
            for seed in range(FIRST, FIRST + SEEDS_OF_KIND):
                with self.subTest(kind=kind, seed=seed):
                    case = self.make(seed, kind)
                    result = run([*self.lists(), *case["options"], "--decisions", self.decisions])
                    self.assertEqual((result.returncode, result.stdout), (2, b""))
                    self.expect_message(result.stderr.decode(), case["error"])
                    self.assertFalse(os.path.exists(self.decisions))

    def expect_message(self, text: str, error: dict) -> None:
        """One line, with the place of the error; where that may lie anywhere in the file it need not name it."""
        match = MESSAGE.fullmatch(text)
        self.assertIsNotNone(match, text)
        file, line, column = match.groups()
        if file is None:
            self.assertEqual(error["lines"], [], text)
            return
        self.assertEqual(os.path.basename(file), error["file"], text)
        self.assertTrue(not error["lines"] or int(line) in error["lines"], f"{text}wanted {error}")
        self.assertTrue(not error["columns"] or int(column) in error["columns"], f"{text}wanted {error}")


class OpenbTest(PlaceTest):
    def test_answers_are_legal_and_follow_the_rules(self) -> None:
        folder = os.path.join(DATA, "openb")
        if not DATA or not os.path.isdir(folder):
            print("skipped: the lists of openb: BERTH_DATA names no folder with them")
            self.skipTest("no data")
        self.nodes = os.path.join(folder, "openb_node_list_gpu_node.csv")
        for name in OPENB_LISTS:
            self.pods = os.path.join(folder, f"openb_pod_list_{name}.csv")
            with self.subTest(list=name):
                met = counts_of(self.check([*self.lists(), "--seeds", "42"], OPENB_RULES_EVERY))
                print(f"openb, {name}: {dict(met)}")


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def counts_of(check: place_check.Check) -> Counter[str]:
    """What the runs of an answer have met."""
    steps = [step for run_ in check.runs for step in run_.steps]
    decisions = [decision for run_ in check.runs for decision in run_.decisions]
    return +Counter({"runs": len(check.runs), "decisions": len(decisions), "decided anew": check.checked_count,
                     "failed": sum(decision.place is None for decision in decisions),
                     "undone": sum(decision.undone for decision in decisions),
                     "slices": sum(bool(decision.place and decision.place.starts) for decision in decisions),
                     "leaves": sum(isinstance(step, Leaves) for step in steps),
                     "moves": sum(isinstance(step, Moves) for step in steps)})


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
