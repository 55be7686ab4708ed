"""Figures of a benchmark with their bars and the best known figure, printed as they come and as one table at the end."""

import operator
import os

HOLDS = {"at least": operator.ge, "at most": operator.le, "above": operator.gt, "below": operator.lt}
HEADINGS = ("what", "best known", "bar", "measured", "met")


class BarTable:
    def __init__(self):
        self.rows = []    # of five texts; a title of a part has one
        self.missed = 0

    def part(self, title):
        """Begins a part. The load of the machine stands beside it: times depend on it."""
        one, five, _ = os.getloadavg()
        print(f"\n{title} (load of the machine {one:.1f}, {five:.1f})", flush=True)
        self.rows.append((title,))

    def show(self, what, figure, form="{:.2f}", known="", bar=None):
        """A figure with its `bar`, such as ("at least", 0.5); without one it is only shown."""
        good = bar is None or HOLDS[bar[0]](figure, bar[1])
        self.missed += not good
        limit = f"{bar[0]} {form.format(bar[1])}" if bar else "shown"
        self.rows.append((what, known, limit, form.format(figure), ("yes" if good else "MISSED") if bar else ""))
        print(f"  {what}: {form.format(figure)} ({limit}{'' if good else ', MISSED'})", flush=True)

    def print(self):
        full = [HEADINGS] + [row for row in self.rows if len(row) == len(HEADINGS)]
        widths = [max(len(row[column]) for row in full) for column in range(len(HEADINGS))]
        print()
        for row in [HEADINGS, *self.rows]:
            if len(row) == 1:
                print(row[0])
                continue
            print(f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip())


def print_columns(heading, rows):
    """Details: texts in columns, the first to the left."""
    full = [tuple(map(str, row)) for row in [heading, *rows]]
    widths = [max(len(row[column]) for row in full) for column in range(len(heading))]
    for row in full:
        print("  " + "  ".join([f"{row[0]:<{widths[0]}}"] + [f"{text:>{width}}" for text, width in zip(row[1:], widths[1:])]),
              flush=True)
