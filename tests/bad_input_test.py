#!/usr/bin/env python3
"""Every malformed example gives the message described, status 2, and writes nothing. Skips (77) without a program."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "data", "bad")
PROGRAM = os.environ.get("BERTH_PROGRAM", "")


def expected():
    """(file, message) of each line of expected.txt."""
    with open(os.path.join(EXAMPLES, "expected.txt"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(" | ", 1) for line in file if line.strip() and not line.startswith("#")]
    return [(name.strip(), message) for name, message in rows]


class BadInput(unittest.TestCase):
    def test_each_example(self):
        rows = expected()
        self.assertGreater(len(rows), 40)
        for name, message in rows:
            with self.subTest(file=name), tempfile.TemporaryDirectory() as folder:
                outputs = ["--report", os.path.join(folder, "report"), "--journal", os.path.join(folder, "journal")]
                result = subprocess.run([PROGRAM, "replay", name, "--format", "json"] + outputs, cwd=EXAMPLES,
                                        capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stderr.strip(), "berth: " + message)
                self.assertEqual(result.stdout, "")
                self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: BERTH_PROGRAM names no program")
        sys.exit(77)
    unittest.main()
