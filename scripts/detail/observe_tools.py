"""Where the programs of other people are that look at Berth: Prometheus with promtool, and Jaeger. scripts/observe fetches them;
tests that need one are skipped where it is missing."""

import os
import shutil
from pathlib import Path

FOLDER = Path(os.environ.get("BERTH_OBSERVE") or Path.home() / ".cache/berth/observe")
PLACES = {
    "prometheus": FOLDER / "prometheus/usr/bin/prometheus",
    "promtool": FOLDER / "prometheus/usr/bin/promtool",
    "jaeger": FOLDER / "jaeger-1.76.0/jaeger",
}


def find_tool(name):
    """Its path, in the folder of scripts/observe or in PATH; None: it is not there."""
    if PLACES[name].exists():
        return str(PLACES[name])
    return shutil.which(name)


def why_missing(name):
    return f"no {name} in {FOLDER} or in PATH: scripts/observe --fetch"
