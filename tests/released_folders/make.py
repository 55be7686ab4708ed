"""make.py BERTH NAME [--end killed|stopped] [--pruned] [--usage-by BERTH] [--blobs]: makes the folder NAME beside this
file with a released program: the databases that it left, as SQL, and what it showed after them.

killed   planning is paused while a GPU is lost and a plan changes others, then SIGKILL
stopped  planning is paused, later SIGTERM; a version with snapshots saves one
--pruned the world ran before that, two days earlier (faketime), and the rows of that day are removed
--usage-by, --without-keys  for a version without usage, another one that shows it; for one that knows no keys
--blobs  for a version with blobs and promises: a service has its rows in a blob, and promises are judged

README.md has the commands that made the folders here."""

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

import folders

SPEED = 60
DEADLINE_SECONDS = 120
PROMISE_SECONDS = 150  # until promises of that time are judged
PRUNED_DAYS = 2
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"  # of Debian's package faketime
WORDS = ["--scenario", "scenario.yaml", "--speed", str(SPEED)]  # the journal keeps this path
ROWS = [{"model": "m", "gpu": gpu, "profile": profile, "batch": 2, "processes": 1, "requests_per_second": rate,
         "latency_ms": 40} for gpu, profile, rate in
        (("A100-80GB", "1g.10gb", 50), ("A100-80GB", "2g.20gb", 110), ("A30-24GB", "1g.6gb", 40))]
BLOB = "\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS), ""]).encode()
# What the test sends again: its answer is known, and it is never carried out twice.
REPEATED_KEY = {"Idempotency-Key": "photos-tagger-2"}
REPEATED_PATH = "/v1/tenants/photos/services/tagger"


def service(rate, label, **more):
    """The body of a service with so many requests per second."""
    spec = {"slo": {"latency_ms": 120}, "profile": {"format": "csv", "model": "m", "rows": ROWS},
            "arrivals": {"format": "constant", "requests_per_second": rate, "seconds": 600, "repeat": True}, **more}
    return {"metadata": {"labels": {"write": label}}, "spec": spec}


def send(server, method, path, body=None, headers=()):
    """A write that must succeed; its body."""
    data = None if body is None else json.dumps(body).encode()
    with server.client.open(method, path, data, headers) as reply:
        text = reply.read().decode()
        if reply.status not in (200, 201):
            sys.exit(f"make: {method} {path}: {reply.status} {text}")
        return text


def parse_time(text):
    """A time of the API."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def world_time(server):
    """The time of the world."""
    return parse_time(server.client.send("/v1/status")[0]["time"])


def run_on(server, seconds):
    """Waits for so many seconds of the world."""
    end = world_time(server) + datetime.timedelta(seconds=seconds)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while world_time(server) < end:
        if time.monotonic() > deadline:
            sys.exit(f"make: the world does not reach {end}:\n{server.log_end()}")
        time.sleep(0.05)


def tell_story(server):
    """Some minutes of a world: what people order, and what fails."""
    send(server, "PUT", "/v1/tenants/photos", {"metadata": {"labels": {"team": "seven"}}})
    send(server, "PUT", REPEATED_PATH, service(40, "1"))
    send(server, "PUT", "/v1/tenants/photos/services/indexer",
         service(30, "1", pins=[{"gpu": 1, "profile": "1g.10gb", "start": 6}]))
    send(server, "PUT", "/v1/tenants/photos/services/ranker", service(20, "1"))
    run_on(server, 60)
    send(server, "PUT", REPEATED_PATH, service(70, "2"), REPEATED_KEY)
    send(server, "POST", "/v1/gpus/gpu-3/cordon", {"reason": "new fans"})
    send(server, "POST", "/v1/sim/faults", {"kind": "fail_create", "gpu": "gpu-1", "times": 3})
    run_on(server, 40)
    send(server, "DELETE", "/v1/tenants/photos/services/ranker")
    send(server, "POST", "/v1/sim/faults", {"kind": "lose", "gpu": "gpu-2"})
    run_on(server, 40)
    send(server, "POST", "/v1/sim/faults", {"kind": "return", "gpu": "gpu-2"})
    run_on(server, 60)


def tell_of_blobs(server):
    """A service whose rows are in a blob, and so much time that promises are judged."""
    blob = hashlib.sha256(BLOB).hexdigest()
    with server.client.open("PUT", f"/v1/blobs/{blob}", BLOB) as reply:
        if reply.status != 201:
            sys.exit(f"make: blob: {reply.status} {reply.read().decode()}")
    of_blob = service(25, "1")
    of_blob["spec"]["profile"]["rows"] = {"blob": blob}
    send(server, "PUT", "/v1/tenants/photos/services/archivist", of_blob)
    run_on(server, PROMISE_SECONDS)


def pause(server):
    """No further plan takes effect: whoever reads the folder sees the same, however quick the solver is."""
    send(server, "PUT", "/v1/planning", {"paused": True, "reason": "looking around"})


def end_killed(server):
    """A kill while a plan moves what a lost GPU held."""
    send(server, "POST", "/v1/sim/faults", {"kind": "lose", "gpu": "gpu-0"})
    deadline = time.monotonic() + DEADLINE_SECONDS
    while server.client.send("/v1/plans?limit=1")[0]["items"][0]["status"]["phase"] != "acting":
        if time.monotonic() > deadline:
            sys.exit("make: no plan acts")
    pause(server)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()


def end_stopped(server):
    """A stop once planning is paused and no question is open."""
    pause(server)
    run_on(server, 60)
    server.process.send_signal(signal.SIGTERM)
    if server.process.wait() != 0:
        sys.exit(f"make: status {server.process.returncode}:\n{server.log_end()}")


def run_earlier(folder, berth):
    """Runs two days ago, twice: there are two snapshots then, and the rows before the older one may go."""
    faked = folder / "faked"
    faked.write_text(f'#!/bin/sh\nLD_PRELOAD={FAKETIME} FAKETIME=-{PRUNED_DAYS}d DONT_FAKE_MONOTONIC=1 exec "{berth}" "$@"\n')
    faked.chmod(0o700)
    for _ in range(2):
        with folders.server_in(folder, faked, WORDS) as server:
            run_on(server, 60)
    faked.unlink()


def wait_until_pruned(state):
    """Waits for the first rows to go: once a minute."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        with contextlib.closing(sqlite3.connect(state / "journal.db")) as connection:
            if connection.execute("SELECT pruned_sequence FROM meta").fetchone()[0] > 0:
                return
        if time.monotonic() > deadline:
            sys.exit("make: nothing was removed")
        time.sleep(0.5)


def run_world(folder, words):
    """Leaves the world's folder in `folder`/state."""
    options = list(WORDS)
    if words.pruned:
        run_earlier(folder, words.berth)
        (folder / "config.yaml").write_text("retention: {events_days: 1}\n")
        options += ["--config", folder / "config.yaml"]
    with folders.server_in(folder, words.berth, options) as server:
        if words.pruned:
            wait_until_pruned(folder / "state")
        tell_story(server)
        if words.blobs:
            tell_of_blobs(server)
        {"killed": end_killed, "stopped": end_stopped}[words.end](server)


def read_with(berth, folder, name, read):
    """What a version shows when it goes on with a copy of the folder."""
    copy = folder / name
    copy.mkdir()
    shutil.copytree(folder / "state", copy / "state")
    with folders.server_in(copy, berth, folders.NEARLY_STILL) as server:
        return read(server.client)


def expected_of(folder, words):
    """What is there after the folder is opened."""
    world = read_with(words.berth, folder, "copy", folders.read_world)
    shower = words.usage_by or words.berth
    world["knows_keys"] = not words.without_keys
    if words.blobs:
        world["blobs"] = [hashlib.sha256(BLOB).hexdigest()]
        world["promises"] = read_with(words.berth, folder, "promises", folders.promises)
    world["usage"] = read_with(shower, folder, "usage", lambda client: folders.usage(client, world["time"]))
    return world


def main():
    """Makes a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("berth", type=os.path.abspath)
    parser.add_argument("name")
    parser.add_argument("--end", choices=["killed", "stopped"], default="killed")
    parser.add_argument("--pruned", action="store_true")
    parser.add_argument("--usage-by", type=os.path.abspath)
    parser.add_argument("--without-keys", action="store_true", help="the version has no Idempotency-Key")
    parser.add_argument("--blobs", action="store_true", help="the version has blobs and promises")
    words = parser.parse_args()
    os.chdir(folders.HERE)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_world(folder, words)
        expected = expected_of(folder, words)
        target = folders.HERE / words.name
        target.mkdir(exist_ok=True)
        folders.write_json(expected, target / "expected.json")
        for database in folders.DATABASES:
            with contextlib.closing(sqlite3.connect(folder / "state" / database)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            folders.dump(folder / "state" / database, target / f"{database}.sql")
        print(f"{target}:", *(f"{path.name} {path.stat().st_size // 1024} KiB" for path in sorted(target.iterdir())))


if __name__ == "__main__":
    main()
