#!/usr/bin/env python3
"""The formatter does not change drawings in comments, such as state machines."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

FORMATTER = shutil.which("clang-format-19")
STYLE_FILE = Path(__file__).parent.parent / ".clang-format"

DRAWING = """\
/// States and legal transitions:
///   fresh  --due-->  stale (progress 0 or kept)  --slice up-->  running  --done-->  swapping  --swap time over-->  fresh
///   stale, running, swapping --due--> stale or running again (abandoned progress restarts, a pending swap is void)
///   running --slice gone--> stale (progress kept), a line that is longer than the formatter would make a line by itself
///
/// - an item of a list that is longer than the formatter would make it, so that its last words would go to the next one
///   which continues here;
struct Clock {
  // | second | event | state after it, in a row of a table that is longer than what the formatter would allow there |
  // |      1 | due   | stale |
  int second = 0;  ///< a trailing comment that is longer than the formatter would make it, and that nobody wants broken
};
"""


def formatted(text):
    command = [FORMATTER, f"--style=file:{STYLE_FILE}", "--assume-filename=clock.h"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(FORMATTER, "clang-format-19 is not installed (scripts/setup ci)")
class FormatTest(unittest.TestCase):
    def test_comments_keep_their_lines(self):
        self.assertEqual(formatted(DRAWING), DRAWING)

    def test_code_is_formatted(self):
        self.assertEqual(formatted("struct Clock{int  second=0;};\n"), "struct Clock {\n  int second = 0;\n};\n")


if __name__ == "__main__":
    if not FORMATTER:
        print("format_test: clang-format-19 is not installed (scripts/setup ci)")
        sys.exit(77)
    unittest.main()
