#!/usr/bin/env python3
"""The program agrees with the oracle, on the scenarios of this folder and on random tiny ones. Skips (77) without a program."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RANDOM_SCENARIOS = 60


def main():
    program = os.environ.get("BERTH_PROGRAM", "")
    if not os.path.exists(program):
        print("skipped: BERTH_PROGRAM names no program")
        return 77
    compared = subprocess.run([sys.executable, os.path.join(HERE, "compare.py"), "--program", program], check=False)
    if compared.returncode not in (0, 77):
        return compared.returncode
    fuzzed = subprocess.run([sys.executable, os.path.join(HERE, "fuzz.py"), "--program", program, "--count",
                             str(RANDOM_SCENARIOS), "--seed", "1"], check=False)
    return fuzzed.returncode


if __name__ == "__main__":
    sys.exit(main())
