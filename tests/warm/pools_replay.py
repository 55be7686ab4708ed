"""Replays of scenarios with warm pools, and their figures from the journal alone."""

import json
import subprocess


def replay(program, scenario, *words, policy="berth"):
    """The policy's figures, and its journal's lines."""
    journal = scenario.parent / "journal"
    done = subprocess.run([program, "replay", str(scenario), "--policies", policy, "--format", "json", "--journal", str(journal), *words],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["policies"][0], [json.loads(line) for line in journal.read_text().splitlines()]


def cold_requests(journal):
    """Requests of seconds at whose beginning no slice of their service serves."""
    serving = {}  # service: [(t_us, slices)]
    held = {}
    for line in journal:
        if line["type"] in ("serving", "draining", "slice_destroyed", "slice_lost", "retraining_started"):
            place = (line["gpu"], line["profile"], line["start"])
            before = held.pop(place, None)
            if line["type"] == "serving" and "service" in line:
                held[place] = line["service"]
            for service in {before, held.get(place)} - {None}:
                serving.setdefault(service, []).append((line["t_us"], sum(owner == service for owner in held.values())))
    cold = 0
    for line in journal:
        if line["type"] == "second":
            before = [count for at, count in serving.get(line["service"], []) if at <= line["second"] * 1_000_000]
            cold += line["requests"] if not before or before[-1] == 0 else 0
    return cold
