"""ledger_soak.py BERTH [--kills 20000] [--seed S] [--lines 100000] [--seconds S]: kills `berth ledger ingest` again and
again, and looks for what it acknowledged (tests/ledger/ledger_kills_test.py says what).

So many kills, or those of so many seconds. One line says what was done. The exit status is 1 if something was lost or
counted twice; its folder is kept and named."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/ledger"))
sys.dont_write_bytecode = True


def main():
    """Runs ledger after ledger."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--kills", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=100_000, help="of each ledger")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    words = parser.parse_args()
    import ledger_kills_test
    try:
        done = ledger_kills_test.run_kills(words.berth, words.kills, words.seed, words.lines, words.seconds)
    except ledger_kills_test.Violation as violation:
        sys.exit(f"ledger_soak: {violation}")
    print(f"ledger_soak: {done}")


if __name__ == "__main__":
    main()
