#!/usr/bin/env python3
"""The bars of services on slices: `berth up`, its agent, a gateway and model servers as real processes on a simulated machine.

    bars.py BERTH LOAD [--only PART,PART] [--json FILE] [sizes, see --help]

moves    replicas move by load, drains and pins, under requests that are never repeated; counts of the series and the journal
kills    replicas, `berth up` and the agent are killed, GPUs lost, in random order
gateway  the gateway is killed; clients repeat; what records lose
goodput  four services on two GPUs: beside the replay of the same seconds, and beside the policy `fixed`
speed    a device that is slower than its table
cost     what a request costs in the gateway (tests/gateway/gateway_bench.py)
health   errors of GPUs (scripts/detail/health_bench.py, also scripts/bench health)

As root, as only root changes simulated GPUs."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / path) for path in ("scripts/detail", "tests/slices", "tests/gateway", "tests/slices/bars")]
from bar_table import BarTable  # noqa: E402

PARTS = ("moves", "kills", "gateway", "goodput", "speed", "cost", "health")


class Table(BarTable):
    """Keeps the figures for --json, too."""

    def __init__(self):
        super().__init__()
        self.facts, self.title = [], ""

    def part(self, title):
        self.title = title
        super().part(title)

    def show(self, what, figure, form="{:.2f}", known="", bar=None):
        missed = self.missed
        super().show(what, figure, form, known, bar)
        self.facts.append({"part": self.title, "what": what, "figure": figure, "bar": bar,
                           "met": None if bar is None else self.missed == missed})


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth", type=Path)
    parser.add_argument("load_program", type=Path)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--kills", type=int, default=20, help="of each kind")
    parser.add_argument("--minutes", type=float, default=20, help="of a run of the part goodput")
    parser.add_argument("--seeds", type=int, default=3, help="of the part goodput")
    parser.add_argument("--speed-minutes", type=float, default=60)
    parser.add_argument("--flood-seconds", type=int, default=60, help="of the part health")
    parser.add_argument("--times", type=int, default=100, help="fatal errors of the part health")
    parser.add_argument("--rate", type=int, default=1000, help="requests per second of the part cost")
    parser.add_argument("--seconds", type=int, default=10, help="of a round of the part cost")
    parser.add_argument("--rounds", type=int, default=3, help="of the part cost")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"--only: wanted some of {', '.join(PARTS)}, found {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    os.environ["BERTH_PROGRAM"] = str(options.berth.resolve())
    if os.geteuid() != 0:
        sys.exit("bars: needs root, to change simulated GPUs")
    import gateway_bench
    import gateways
    import goodput
    import health_bench
    import kills
    import moves
    import speed
    runs = {"moves": moves.run, "kills": kills.run, "gateway": gateways.run, "goodput": goodput.run, "speed": speed.run,
            "cost": gateway_bench.run, "health": health_bench.run}
    table = Table()
    with tempfile.TemporaryDirectory(prefix="berth-bars-", ignore_cleanup_errors=True) as folder:
        for part in options.only.split(","):
            runs[part](Path(folder), table, options)
            if options.json:
                options.json.write_text(json.dumps(table.facts, indent=1) + "\n")
    table.print()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
