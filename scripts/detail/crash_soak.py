"""crash_soak.py BERTH [--minutes M] [--kills N] [--seed S] [--speed X] [--go-on]: kills `berth up` again and again
while clients write, and audits it after each start (tests/up/kill_test.py says what).

Folders of N kills each, with the seeds S, S + 1, .. and speeds that change, until M minutes are over. One line of JSON
for each folder, and one for all. The exit status is 1 if there was a violation; its folder is kept and named."""

import argparse
import os
import pathlib
import random
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/up"))
sys.dont_write_bytecode = True
SPEEDS = (1, 20, 200)


def main():
    """Runs folder after folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--kills", type=int, default=60, help="for each folder")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--speed", type=float, default=None, help="of the world; the default changes between folders")
    parser.add_argument("--go-on", action="store_true", help="do not end at the first violation")
    words = parser.parse_args()
    os.environ["BERTH_PROGRAM"] = words.berth
    import kill_test  # reads the environment
    began, seed, faulty = time.monotonic(), words.seed, 0
    while time.monotonic() < began + 60 * words.minutes and (words.go_on or not faulty):
        speed = words.speed or SPEEDS[seed % len(SPEEDS)]
        if found := kill_test.run_crash(words.kills, seed, speed, words.go_on):
            faulty += 1
            print(f"speed {speed:g}\n{found}", file=sys.stderr, flush=True)
        seed += 1
    print(f"crash_soak: {seed - words.seed} folders of {words.kills} kills, seeds {words.seed} to {seed - 1}, "
          f"{faulty} with violations")
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
