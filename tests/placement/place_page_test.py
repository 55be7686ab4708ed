#!/usr/bin/env python3
"""The page of `berth place --report`: its causes of idle capacity are counted again from the decisions alone, the answer is
the same with and without it, and a call that fails leaves nothing behind. Skips (77) without a program.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import place_check
import place_random
from place_answer import read_decisions
from place_idle import idle_causes
from place_replay import Replay
from place_rules import Typical

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", "")
EXAMPLE = ROOT / "examples/scheduling"
FIRST, LAST = (int(word) for word in os.environ.get("PLACE_SEEDS", "0-19").split("-"))
MODES = {"given": ["--order", "given"], "seeded": ["--seeds", "1-2", "--demand", "1.6"],
         "churn": ["--seeds", "3", "--demand", "1.2", "--churn"]}
OF_LISTS = ("--as", "--copies")
CAUSES_WANTED = {"usable", "gang does not fit", "memory used up", "CPU used up", "too few GPUs", "no legal start",
                 "rest of 500–999 milli", "rest of 250–499 milli", "rest of 100–249 milli", "rest of 1–99 milli", "wrong model"}
CELL = re.compile(r'<td data-label="([^"]+)"><data value="(\d+)">')
DEADLINE_SECONDS = 120


def run(words: list) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "place", *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)


def causes_of_page(text: str) -> dict[str, tuple[int, int, Counter]]:
    """By policy: rows, idle milli, and milli x rows by cause."""
    table = re.search(r'<table id="idle">(.*?)</table>', text, re.DOTALL)[1]
    found = {}
    for rows, name, cells in re.findall(r'<tr[^>]* data-rows="(\d+)"><th scope="row">([^<]+)</th>(.*?)</tr>', table, re.DOTALL):
        (_, idle), *causes = CELL.findall(cells)
        found[name] = int(rows), int(idle), +Counter({cause: int(value) for cause, value in causes})
    return found


class PageTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.nodes, self.pods = self.folder / "nodes.csv", self.folder / "pods.csv"

    def page_of(self, words: list) -> str:
        result = run([*words, "--report", self.folder / "page"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return (self.folder / "page/index.html").read_text(encoding="utf-8")

    def counted(self, words: list) -> dict[str, tuple[int, int, Counter]]:
        """The same from the decisions."""
        decisions = self.folder / "decisions.jsonl"
        result = run([*words, "--format", "json", "--decisions", decisions])
        self.assertEqual(result.returncode, 0)
        options = place_check.parser_of("").parse_args([*map(str, words), "--decisions", "-", "--json", "-"])
        question = place_check.question_from(options)
        rows = sum(pod.gpus > 0 for pod in question.pods)
        found: dict[str, tuple[int, int, Counter]] = {}
        for each in read_decisions(str(decisions)):
            replay = Replay(question, each, Typical(question.pods))
            replay.follow()
            idle, causes = idle_causes(question.pods, replay.fleet, each)
            self.assertEqual(causes.total(), idle * rows)
            _, idle_before, causes_before = found.get(each.policy, (rows, 0, Counter()))
            found[each.policy] = rows, idle_before + idle, +(causes_before + causes)
        return found

    def test_causes_of_idle_capacity_are_those_of_the_decisions(self) -> None:
        met: Counter[str] = Counter()
        for seed in range(FIRST, LAST + 1):
            nodes, pods, case = place_random.make(seed, None, None)
            crowded = seed % 2 == 1
            if crowded:
                nodes, pods = place_random.crowded(seed)
            nodes.write(str(self.nodes))
            pods.write(str(self.pods))
            options = [] if crowded else [word for name in OF_LISTS if name in case["options"]
                                          for word in case["options"][case["options"].index(name):][:2]]
            for mode, words in MODES.items():
                call = ["--nodes", self.nodes, "--pods", self.pods, *options, *words]
                with self.subTest(seed=seed, mode=mode):
                    wanted = self.counted(call)
                    self.assertEqual(causes_of_page(self.page_of(call)), wanted)
                    for _, _, causes in wanted.values():
                        met += causes
        print(f"causes: {dict(met)}")
        self.assertEqual(CAUSES_WANTED - set(met), set(), "not met by any of the random lists")

    def test_a_page_changes_no_answer_and_has_the_same_bytes_again(self) -> None:
        call = ["--nodes", EXAMPLE / "nodes.csv", "--pods", EXAMPLE / "pods.csv", "--seeds", "7,3"]
        for words in (call, [*call, "--churn"], [*call, "--as", "A100-80GB", "--moves", 1, "--format", "json"]):
            with self.subTest(words=words):
                plain = run(words)
                result = run([*words, "--report", self.folder / "a/b"])
                self.assertEqual((result.returncode, result.stdout), (0, plain.stdout))
                first = (self.folder / "a/b/index.html").read_bytes()
                self.assertEqual(self.page_of(words).encode(), first)

    def test_what_fails_leaves_nothing(self) -> None:
        call = ["--nodes", EXAMPLE / "nodes.csv", "--pods", EXAMPLE / "pods.csv"]
        for words, message in (
                (["--report", ""], "--report: wanted a folder, found an empty path"),
                (["--report", self.folder / "new/page", "--policies", "none"], "--policies"),
                (["--report", self.folder / "new/page", "--pods", self.folder / "none.csv"], "none.csv"),
                (["--report", self.folder / "new/page", "--as", "A100"], "berth: --as: wanted one GPU, found \"A100\""),
                (["--report", self.folder / "new/page", "--as", "B300"], "berth: --as: GPU B300 is known by name only"),
                (["--report", self.folder / "new/page", "--as", "T4"], "berth: --as: wanted a GPU model with MIG")):
            with self.subTest(words=words):
                given = [*call, *words] if "--pods" not in words else [*call[:2], *words]
                result = run(given)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(message, result.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_page_that_cannot_be_written_is_said(self) -> None:
        file = self.folder / "file"
        file.write_text("x", encoding="utf-8")
        result = run(["--nodes", EXAMPLE / "nodes.csv", "--pods", EXAMPLE / "pods.csv", "--report", file])
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("--report", result.stderr)
        blocked = run(["--nodes", EXAMPLE / "nodes.csv", "--pods", EXAMPLE / "pods.csv", "--report", self.folder / "new",
                       "--decisions", self.folder / "none/decisions.jsonl"])
        self.assertEqual((blocked.returncode, blocked.stdout), (1, ""))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["file"])

    def test_an_interrupt_leaves_nothing(self) -> None:
        words = ["--nodes", EXAMPLE / "nodes.csv", "--pods", EXAMPLE / "pods.csv", "--copies", 20_000, "--demand", 5, "--report",
                 self.folder / "new/page"]
        with subprocess.Popen([PROGRAM, "place", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(1.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertIn("interrupted; nothing was written", err)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
