"""The program asked about a list in a folder, and questions that are none."""

import json
import os
import subprocess
import tempfile
from collections import defaultdict
from typing import NamedTuple

import sched_input
import sched_random
from sched_input import Job
from sched_program_test import PROGRAM, SECONDS_MAX
from sched_rules import Line


class Asked(NamedTuple):
    """A folder with the inputs, and the options of each question."""
    folder: str
    words: list[str]

    def program(self, *further: str) -> subprocess.CompletedProcess:
        return subprocess.run([PROGRAM, "schedule", *self.words, *further], cwd=self.folder, capture_output=True,
                              text=True, encoding="utf-8", timeout=SECONDS_MAX, check=False)

    def answer(self, *further: str) -> dict | None:
        result = self.program(*further)
        if result.returncode != 0 or result.stderr:
            raise AssertionError(f"status {result.returncode} of {further}: {result.stderr.strip()}")
        return json.loads(result.stdout)

    def logs(self, policies: list[str]) -> dict[str, list[Line]] | str:
        """The logs by policy, or a message."""
        path = os.path.join(self.folder, "log.jsonl")
        result = self.program("--policies", ",".join(policies), "--format", "json", "--log", "log.jsonl")
        if result.returncode != 0:
            return result.stderr
        rows = {job.name: job.row for job in self.load()[0]}
        logs = defaultdict(list)
        with open(path, encoding="utf-8") as file:
            for line in map(json.loads, file):
                logs[line["policy"]].append((line["t_s"], line["type"], rows[line["job"]]))
        return logs

    def load(self) -> tuple[list[Job], sched_input.Tree]:
        tenants = os.path.join(self.folder, "tenants.csv") if "--tenants" in self.words else None
        gpus = int(self.words[self.words.index("--gpus") + 1])
        return sched_input.load(os.path.join(self.folder, "jobs.csv"), "own", tenants, gpus)

    def with_gpus(self, gpus: int) -> "Asked":
        at = self.words.index("--gpus") + 1
        return self._replace(words=self.words[:at] + [str(gpus)] + self.words[at + 1:])


# Questions that are none

LIST = "job,submit_s,gpus,duration_s\na,0,2,10\nb,1,2,10\n"
WHY, SLOT = ["--why", "b", "--at", "1"], ["--at", "1", "--slot"]
BAD = [["--why", "c", "--at", "1"], ["--why", "", "--at", "1"], ["--why", "B", "--at", "1"], ["--why", "b"],
       ["--at", "1"], [*WHY, "--slot", "gpus=1 hours=1"], ["--slot", "gpus=1 hours=1"], [*WHY, "--log", "log.jsonl"],
       [*SLOT, "gpus=1 hours=1", "--log", "log.jsonl"], ["--why", "b", "--at", "-1"], ["--why", "b", "--at", "1.5"],
       ["--why", "b", "--at", ""], ["--why", "b", "--at", "x"], ["--why", "b", "--at", "99999999999999999999"],
       [*WHY, "--policies", "lifo"]]
BAD += [[*SLOT, text] for text in (
    "", " ", "gpus=1", "hours=1", "gpus=0 hours=1", "gpus=-1 hours=1", "gpus=1.5 hours=1", "gpus= hours=1",
    "gpus=1 hours=0", "gpus=1 hours=-1", "gpus=1 hours=nan", "gpus=1 hours=inf", "gpus=1 hours=1e400", "gpus=1 hours=x",
    "gpus=1 hours=", "gpus=1 hours=1 hours=2", "gpus=1 gpus=1 hours=1", "gpus=1 hours=1 before=", "gpus=1;hours=1",
    "gpus=1 hours=1 before=-1", "gpus=1 hours=1 before=x", "gpus=1 hours=1 before=1.5", "gpus=1 hours=1 after=1",
    "gpus = 1 hours = 1", "gpus=1 hours=1 7", "GPUS=1 HOURS=1", "gpus=1,hours=1", "gpus=99999999999999999999 hours=1")]


def check_bad() -> list[str]:
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        sched_random.write_text(folder, "jobs.csv", LIST)
        asked = Asked(folder, ["--trace", "jobs.csv", "--trace-format", "own", "--gpus", "2"])
        for words in BAD:
            result = asked.program(*words)
            written = os.listdir(folder) != ["jobs.csv"] or bool(result.stdout)
            if result.returncode != 2 or written or result.stderr.count("\n") != 1 or "berth: " not in result.stderr:
                errors.append(f"{words}: status {result.returncode}, written {written}: {result.stderr!r}")
        for words, policy in ((WHY, "berth"), ([*WHY, "--policies", "fifo,skip"], "berth"),
                              ([*WHY, "--policies", "all"], "berth"), ([*WHY, "--policies", "skip"], "skip")):
            if asked.answer(*words)["policy"] != policy:
                errors.append(f"{words}: wanted an answer of {policy}")
    return errors
