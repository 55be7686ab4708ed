#!/usr/bin/env python3
"""How long it takes to build, from nothing and after a change, compared with the bars of docs/reference/benchmarks.md.

Each row works in a fresh clone of HEAD in a temporary folder, so what is not committed does not count.

  run    scripts/run --check: processor seconds, user and system, without a compiler cache (all that runs unless --all)
  test   scripts/test: build and tests, wall time
  ci     .ci/run with an empty compiler cache, then in a second clone with the cache of the first: wall time
  edit   one line changed in a file of surface/cli, until berth has it, in the preset `edit`: wall time, the worst of three files
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EDITED = ["spot/spot_table.cc", "replay/replay_json.cc", "pack/pack_verb.cc"]
BARS = {"run": 800, "test": 1800, "ci": 1800, "ci, warm cache": 720, "edit": 20}


def timed(command, folder, **environment):
    """Wall and processor seconds of a command that must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    log = folder / "bench.log"
    with log.open("w", encoding="utf-8") as out:
        status = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdout=out, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, check=False).returncode
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}\n" + "".join(log.read_text(errors="replace").splitlines(True)[-30:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, processor


def clone(parent, name):
    folder = Path(parent) / name
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


def show(row, seconds, words):
    bar = BARS[row]
    print(f"{row:16} {seconds:8.0f} s  bar {bar:5} s  {'met' if seconds <= bar else 'missed'}   {words}", flush=True)


def bench_run(parent):
    wall, processor = timed(["scripts/run", "--check"], clone(parent, "run"), CCACHE_DISABLE="1")
    show("run", processor, f"processor seconds of scripts/run --check; {wall:.0f} s of wall time")


def bench_test(parent):
    wall, processor = timed(["scripts/test"], clone(parent, "test"), CCACHE_DISABLE="1")
    show("test", wall, f"wall time of scripts/test; {processor:.0f} processor seconds")


def bench_ci(parent):
    cache = Path(parent) / "cache"
    for row, name in [("ci", "ci"), ("ci, warm cache", "ci_warm")]:
        wall, processor = timed(["bash", ".ci/run"], clone(parent, name), CCACHE_DIR=str(cache))
        show(row, wall, f"wall time of .ci/run; {processor:.0f} processor seconds")


def bench_edit(parent):
    folder = clone(parent, "edit")
    build = "source scripts/detail/steps.sh && configure edit -DBERTH_TESTS=OFF && build edit berth"
    timed(["bash", "-c", build], folder, CCACHE_DISABLE="1")
    times = {}
    for name in EDITED:
        path = folder / "src/surface/cli" / name
        path.write_text(path.read_text() + "// changed\n")
        times[name] = timed(["bash", "-c", build], folder, CCACHE_DISABLE="1")[0]
    words = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())
    show("edit", max(times.values()), f"wall time: {words}")


BENCHES = {"run": bench_run, "test": bench_test, "ci": bench_ci, "edit": bench_edit}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all rows, about two hours on two cores")
    parser.add_argument("--only", help="these rows, separated by commas")
    arguments = parser.parse_args()
    rows = arguments.only.split(",") if arguments.only else list(BENCHES) if arguments.all else ["run"]
    for row in rows:
        if row not in BENCHES:
            parser.error(f"--only: wanted some of {', '.join(BENCHES)}, found {row}")
    print(f"{os.cpu_count()} processors; {subprocess.run(['c++', '--version'], capture_output=True, text=True).stdout.splitlines()[0]}")
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="berth-build-") as parent:
            BENCHES[row](parent)


if __name__ == "__main__":
    main()
