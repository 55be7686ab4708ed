"""Where the programs of other people are that look at Berth: Prometheus with promtool, and Jaeger. scripts/observe fetches them;
tests that need one are skipped where it is missing."""

import json
import os
import shutil
import socket
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


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def jaeger_config(ports):
    """Its configuration: traces in memory, on loopback at `ports["jaeger"]`, `["jaeger_grpc"]` and, for OTLP, `["otlp"]`."""
    here = {name: f"127.0.0.1:{ports[name]}" for name in ("jaeger", "jaeger_grpc", "otlp")}
    return json.dumps({
        "service": {"extensions": ["jaeger_storage", "jaeger_query"],
                    "pipelines": {"traces": {"receivers": ["otlp"], "processors": ["batch"],
                                             "exporters": ["jaeger_storage_exporter"]}},
                    "telemetry": {"metrics": {"level": "none"}}},
        "extensions": {"jaeger_query": {"storage": {"traces": "memory"}, "http": {"endpoint": here["jaeger"]},
                                        "grpc": {"endpoint": here["jaeger_grpc"]}},
                       "jaeger_storage": {"backends": {"memory": {"memory": {"max_traces": 100000}}}}},
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": here["otlp"]}}}},
        "processors": {"batch": {}},
        "exporters": {"jaeger_storage_exporter": {"trace_storage": "memory"}},
    }, indent=1)
