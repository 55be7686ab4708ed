"""What the scripts of this folder share: the program, ParvaGPU's public data, and demand files."""

import csv
import json
import os
import subprocess
import time

PROGRAM = os.environ.get("BERTH_PROGRAM", "")
DATA = os.environ.get("BERTH_DATA", "")
SKIPPED = 77

PROFILE_OF_SIZE = {1: "1g.10gb", 2: "2g.20gb", 3: "3g.40gb", 4: "4g.40gb", 7: "7g.80gb"}


def why_skipped():
    """Why nothing can be run here, or nothing."""
    if not PROGRAM:
        return "BERTH_PROGRAM is not set: the path of the program berth"
    if not os.path.isdir(os.path.join(DATA, "parvagpu")):
        return "BERTH_DATA is not set, or has no folder parvagpu"
    return None


def profile_folder():
    return os.path.join(DATA, "parvagpu", "prof_data")


def models():
    return sorted(name.removesuffix(".csv") for name in os.listdir(profile_folder()))


def scenario_demands():
    """ParvaGPU's six scenarios: lists of (model, requests per second, target in ms), as written."""
    tables = []
    for name in ("SLO_req_rate.csv", "SLO_latency.csv"):
        with open(os.path.join(DATA, "parvagpu", "SLO", name), encoding="utf-8") as file:
            tables.append([line.strip().split(",") for line in file if line.strip()])
    return [[demand for demand in zip(models(), rates, targets) if demand[1] != "N/A"]
            for rates, targets in zip(*tables)]


def write_demands(path, demands):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "requests_per_second", "latency_ms"])
        writer.writerows(demands)


def pack(demand_path, *options, profiles=None, profile_format="parvagpu", status=0):
    """The program's answer as a dict ("error" where the status is not 0), with the seconds that it took."""
    command = [PROGRAM, "pack", "--gpu", "A100-80GB", "--profile-format", profile_format,
               "--profiles", profiles or profile_folder(), "--demand", demand_path, "--format", "json", *options]
    begun = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    seconds = time.monotonic() - begun
    if status is not None and result.returncode != status:
        raise RuntimeError(f"{' '.join(command)}: status {result.returncode}: {result.stderr}")
    answer = json.loads(result.stdout) if result.stdout.startswith("{") else {"error": result.stdout + result.stderr}
    answer["seconds"] = seconds
    answer["status"] = result.returncode
    return answer
