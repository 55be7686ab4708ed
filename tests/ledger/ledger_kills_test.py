#!/usr/bin/env python3
"""`berth ledger ingest` is killed at random points, again and again, and loses nothing that it acknowledged.

A ledger takes the lines of tests/ledger/ledger_months.py, by one of three plans: one file; a file that has grown when it comes
again; two files in turns. Each run is killed: while the ledger is made, between its lines, while the books are saved, or
at any time. What a killed run acknowledged has to be there for the next run and for a report; when a run comes to its end,
the report has to have the bytes of the report without a ledger. `scripts/soak ledger` runs more of it. Skips (77) without
a program.
"""

import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable

import ledger_months

LINES = 100_000
FIRST_OF_TWO = 60_000       # lines of the first of two files, and of what a file has before it grows
KILLS = 200
SECONDS_MAX = 120           # of one run that is not killed
REPORTS = 0.3               # of the kills are followed by a report
VERIFY_EVERY = 20           # ledgers
POLL_SECONDS = 0.0002
# What a kill waits for, and how often.
MOMENTS = {"begin": 30, "folder": 10, "database": 15, "lines": 20, "all lines": 8, "books": 7, "any time": 10}


class Violation(Exception):
    """Something was lost, counted twice, or not said."""


class Files:
    """Files of events with the report that is expected of each plan."""

    def __init__(self, program: str, folder: str, lines: int, seed: int) -> None:
        self.program = program
        self.folder = folder
        self.whole = self.months("whole", lines, seed)
        self.short = self.head_of(self.whole, lines * FIRST_OF_TWO // LINES)
        first = lines * FIRST_OF_TWO // LINES
        self.pair = (self.months("one", first, seed + 1, is_open=True),
                     self.months("other", lines - first, seed + 2, is_open=True, prefix="b-"))
        both = os.path.join(folder, "both.jsonl")
        with open(both, "wb") as file:
            for path in self.pair:
                with open(path, "rb") as part:
                    file.write(part.read())
        self.expected = {"one file": self.report(self.whole), "two files": self.report(both)}
        self.expected["a file that grows"] = self.expected["one file"]
        self.counts = {path: count_lines(path) for path in (self.whole, self.short, *self.pair)}

    def months(self, name: str, lines: int, seed: int, **knobs) -> str:
        path = os.path.join(self.folder, name + ".jsonl")
        ledger_months.write_months(path, lines, seed, **knobs)
        return path

    def head_of(self, path: str, lines: int) -> str:
        head = os.path.join(self.folder, "short.jsonl")
        with open(path, "rb") as file, open(head, "wb") as out:
            out.writelines(next(file) for _ in range(lines))
        return head

    def report(self, path: str) -> bytes:
        words = [self.program, "ledger", "report", "--events", path, "--format", "json"]
        return subprocess.run(words, capture_output=True, check=True, timeout=SECONDS_MAX).stdout


class Ledger:
    """A ledger on disk that is filled with interruptions."""

    def __init__(self, files: Files, folder: str, seed: int, pace: "Pace") -> None:
        self.files = files
        self.program = files.program
        self.folder = folder
        self.rng = random.Random(seed)
        self.pace = pace
        self.plan = self.rng.choice(list(files.expected))
        self.acknowledged: Counter = Counter()   # by what is being taken: a file that grows is one
        self.places: Counter = Counter()

    def fill(self, kills_max: int) -> int:
        """Runs until everything is taken; after so many kills without any more. Returns their number."""
        kills = 0
        left = list(self.files.pair) if self.plan == "two files" else [self.files.whole]
        grown = self.plan != "a file that grows"
        while left:
            path = self.rng.choice(left)
            if not grown and self.rng.random() < 0.7:
                given = self.files.short
            else:
                given, grown = path, True
            is_killed = self.run(given, path, kills < kills_max)
            kills += is_killed
            if is_killed and self.rng.random() < REPORTS:
                self.check_report()
            if not is_killed and given == path:
                left.remove(path)
        self.check_end()
        return kills

    def run(self, given: str, path: str, may_be_killed: bool) -> bool:
        """One ingest of a file, which counts as `path`. Returns whether it was killed."""
        words = [self.program, "ledger", "ingest", "--ledger", self.folder, "--events", given]
        begun = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            output = Output(process, begun + SECONDS_MAX)
            if may_be_killed:
                self.wait_for_moment(output, self.files.counts[given])
                process.kill()
            text = output.rest()
            messages = process.stderr.read().decode()
        said = [json.loads(line)["lines"] for line in text.split(b"\n")[:-1]]
        self.check_said(said, path)
        if process.returncode == 0:
            self.pace.learn(output, time.monotonic())
            if self.acknowledged[path] < self.files.counts[given]:
                raise Violation(f"{given}: the run ended well, but acknowledged {self.acknowledged[path]} lines only")
            return False
        if not may_be_killed or process.returncode != -9:
            raise Violation(f"{given}: ingest ended with {process.returncode}: {messages}")
        self.places[self.place(output, given, path)] += 1
        return True

    def check_said(self, said: list[int], path: str) -> None:
        if said != sorted(said):
            raise Violation(f"{path}: not in order: {said}")
        if said and said[0] < self.acknowledged[path]:
            raise Violation(f"{path}: {self.acknowledged[path]} lines were acknowledged, the next run has {said[0]}")
        self.acknowledged[path] = max([self.acknowledged[path], *said])

    def wait_for_moment(self, output: "Output", lines: int) -> None:
        rng, pace = self.rng, self.pace
        moment = rng.choices(list(MOMENTS), list(MOMENTS.values()))[0]
        if moment == "begin":
            output.wait(rng.random() * pace.first_seconds)
        elif moment == "folder":
            output.wait_until(lambda: os.path.exists(self.folder))
            output.wait(rng.random() * 0.02)
        elif moment == "database":
            name = os.path.join(self.folder, "ledger.db" + rng.choice(["", "-journal", "-wal"]))
            output.wait_until(lambda: os.path.exists(name))
            output.wait(rng.random() * 0.02)
        elif moment == "lines":
            count = rng.randrange(1, 11)
            output.wait_until(lambda: output.text.count(b"\n") >= count)
            output.wait(rng.random() * pace.batch_seconds)
        elif moment == "all lines":
            output.wait_until(lambda: output.text.endswith(b'{"lines":%d}\n' % lines))
            output.wait(rng.random() * pace.books_seconds)
        elif moment == "books":
            output.wait_until(lambda: self.are_books_begun(output.process))
            output.wait(rng.random() * 0.02)
        else:
            output.wait(rng.random() * pace.seconds)

    def are_books_begun(self, process: subprocess.Popen) -> bool:
        begun = f"books.bin.{process.pid}."
        return os.path.exists(self.folder) and any(name.startswith(begun) for name in os.listdir(self.folder))

    def place(self, output: "Output", given: str, path: str) -> str:
        """Where the kill was, as far as it can be seen."""
        if not os.path.exists(self.folder):
            return "before the folder"
        if self.acknowledged.total() == 0:
            return "before a line"
        if self.acknowledged[path] < self.files.counts[given] or not output.text:
            return "between lines"
        return "writing the books" if self.are_books_begun(output.process) else "behind the last line"

    def report(self) -> subprocess.CompletedProcess:
        words = [self.program, "ledger", "report", "--ledger", self.folder, "--format", "json"]
        return subprocess.run(words, capture_output=True, check=False, timeout=SECONDS_MAX)

    def check_report(self) -> None:
        """It has what was acknowledged, whatever is left of a killed run."""
        report = self.report()
        wanted = self.acknowledged.total()
        if report.returncode != 0:
            if wanted > 0 or report.returncode not in (1, 2):
                raise Violation(f"{wanted} lines were acknowledged, report ended with {report.returncode}: "
                                f"{report.stderr.decode()}")
            return
        found = json.loads(report.stdout)["lines"]
        if found < wanted:
            raise Violation(f"{wanted} lines were acknowledged, the report has {found}")

    def check_end(self) -> None:
        report = self.report()
        if report.returncode != 0 or report.stdout != self.files.expected[self.plan]:
            raise Violation(f"the report is not the one without kills: {report.returncode} {report.stderr.decode()}")

    def expect_nothing_left_behind(self) -> None:
        """The last run came to its end, so the files that killed ones did not finish are gone."""
        parts = [name for name in os.listdir(self.folder) if name.endswith(".part")]
        if parts:
            raise Violation(f"unfinished files stayed in the folder: {parts}")

    def verify(self) -> None:
        words = [self.program, "ledger", "verify", "--ledger", self.folder]
        verified = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        if verified.returncode != 0:
            raise Violation(f"verify ended with {verified.returncode}: {verified.stdout}{verified.stderr}")


class Output:
    """What a process writes, while something is waited for."""

    def __init__(self, process: subprocess.Popen, deadline: float) -> None:
        self.process = process
        self.deadline = deadline
        self.begun = time.monotonic()
        self.text = b""
        self.is_closed = False
        self.times: list[float] = []   # of the pieces

    def read(self, seconds: float) -> None:
        """Waits at most that long for a piece."""
        if self.is_closed:
            time.sleep(seconds)
            return
        if select.select([self.process.stdout], [], [], seconds)[0]:
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            self.text += piece
            self.times.append(time.monotonic())
            self.is_closed = not piece

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.is_closed:
            self.read(left)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Or until the process ends."""
        while not condition() and not self.is_closed:
            if time.monotonic() > self.deadline:
                raise Violation(f"ingest still runs after {SECONDS_MAX} s")
            self.read(POLL_SECONDS)

    def rest(self) -> bytes:
        self.wait_until(lambda: False)
        return self.text


class Pace:
    """How long a run takes here, from those that were not killed."""

    def __init__(self) -> None:
        self.seconds = self.first_seconds = self.batch_seconds = self.books_seconds = 0.05

    def learn(self, output: Output, end: float) -> None:
        if len(output.times) < 5:   # it had little to do
            return
        self.seconds = end - output.begun
        self.first_seconds = output.times[0] - output.begun
        self.batch_seconds = (output.times[-2] - output.times[0]) / (len(output.times) - 2)   # the last piece is the end
        self.books_seconds = output.times[-1] - output.times[-2]


def count_lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def run_kills(program: str, kills: int, seed: int, lines: int = LINES, seconds_max: float = float("inf")) -> str:
    """Fills ledger after ledger, until there were so many kills, or the time is over. Returns what was done; a violation
    names the folder, which is kept."""
    begun, places, plans, count, pace, ledgers = time.monotonic(), Counter(), Counter(), 0, Pace(), 0
    with tempfile.TemporaryDirectory(prefix="ledger_kills.", ignore_cleanup_errors=True) as work:
        files = Files(program, work, lines, seed)
        while count < kills and time.monotonic() - begun < seconds_max:
            folder = tempfile.mkdtemp(prefix="ledger_kills.")
            ledger = Ledger(files, os.path.join(folder, "ledger"), seed * 1_000_000 + ledgers, pace)
            try:
                count += ledger.fill(kills - count if ledgers else 0)   # the first one shows how long it takes
                ledger.expect_nothing_left_behind()
                if ledgers % VERIFY_EVERY == 0:
                    ledger.verify()
            except Violation as violation:
                where = f"seed {seed}, ledger {ledgers} ({ledger.plan}), kept in {folder}"
                raise Violation(f"{where}: {violation}") from violation
            places += ledger.places
            remove(folder)
            plans[ledger.plan] += 1
            ledgers += 1
    details = ", ".join(f"{number} {place}" for place, number in sorted(places.items()))
    of_plans = ", ".join(f"{number} {plan}" for plan, number in sorted(plans.items()))
    return (f"{count} kills ({details}); {ledgers} ledgers of {lines} lines ({of_plans}), seed {seed}: nothing lost, reports "
            "as without kills, no unfinished file left behind")


def remove(folder: str) -> None:
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.unlink(os.path.join(place, name))
        os.rmdir(place)


if __name__ == "__main__":
    PROGRAM = os.environ.get("BERTH_PROGRAM", "")
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    print(run_kills(PROGRAM, KILLS, 1))
