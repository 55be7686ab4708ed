"""Runs a command of berth on one core and reads its JSON."""

import json
import os
import resource
import subprocess
import sys
from typing import NamedTuple


class Answer(NamedTuple):
    json: dict
    policies: dict    # name -> its object of the answer; empty where a question was answered
    seconds: float    # processor seconds, user and system, of the whole command


class Program:
    def __init__(self, path):
        self.path = path
        self.core = str(max(os.sched_getaffinity(0)))
        self.answers = {}   # by command: parts share runs

    def ask(self, *words):
        """The answer of the command, which must end well. The same words again give the same answer without a run."""
        words = tuple(map(str, words))
        if words not in self.answers:
            self.answers[words] = self.measure(*words)
        return self.answers[words]

    def measure(self, *words):
        """As `ask`, but the command always runs."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(["taskset", "-c", self.core, self.path, *map(str, words), "--format", "json"], capture_output=True,
                             text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))} ended with {run.returncode}: {run.stderr}")
        answer = json.loads(run.stdout)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Answer(answer, {each["policy"]: each for each in answer.get("policies", [])}, seconds)
