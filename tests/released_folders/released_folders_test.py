#!/usr/bin/env python3
"""Folders that released versions left (README.md) are opened by this one: everything is there as that version showed
it, the world goes on, and `berth journal verify` finds nothing wrong."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import folders
import make

PROGRAM = os.environ.get("BERTH_PROGRAM", str(folders.HERE.parents[1] / "build/release/berth"))
DEADLINE_SECONDS = 60
LIVES_ON_SECONDS = 30  # of the world
START_SHIFT_SECONDS = 1  # of the world: how far the clock may be off where the world is read
RETENTION = "retention: {events_days: 100000, usage_days: 100000}\n"  # or a start removes old rows
OVER = ("done", "expired", "refused", "superseded")  # phases of plans that never change


def differences(wanted, found, path):
    """Where `found` does not say what is wanted. A later version may say more."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [line for key in wanted
                for line in ([f"{path}.{key} is missing"] if key not in found else
                             differences(wanted[key], found[key], f"{path}.{key}"))]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [line for index, pair in enumerate(zip(wanted, found)) for line in differences(*pair, f"{path}[{index}]")]
    return [] if wanted == found else [f"{path}: wanted {json.dumps(wanted)[:300]}, found {json.dumps(found)[:300]}"]


def by_name(kind, world):
    """The objects of a kind by what identifies them. Of plans only those that are over: others go on."""
    return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in world[kind]
            if kind != "plans" or item["status"]["phase"] in OVER}


def interval_name(row):
    """What identifies an interval of usage."""
    return row["gpu"], row["start"], row["from"]


def seconds_between(one, other):
    """Between two times of the API."""
    return abs((make.parse_time(other) - make.parse_time(one)).total_seconds())


class ReleasedFolders(unittest.TestCase):
    maxDiff = None

    def test_the_folders_are_there(self):
        self.assertGreaterEqual(len(found_folders()), 5)

    def test_each_is_opened_as_it_was_and_lives_on(self):
        for folder in found_folders():
            with self.subTest(folder.name), tempfile.TemporaryDirectory() as name:
                self.check(folder, Path(name))

    def test_a_past_without_its_first_rows_is_replayed_from_a_snapshot_on(self):
        with tempfile.TemporaryDirectory() as name:
            state = Path(name) / "state"
            folders.restore(folders.HERE / "format_2_killed_pruned", state)
            self.assertIn("rows 161 to 632 are what was written", self.run_on_past("journal", "verify", state))
            replayed = json.loads(self.run_on_past("replay", "--journal-in", state, "--policies", "recorded,berth",
                                                   "--format", "json"))
            self.assertEqual([policy["name"] for policy in replayed["policies"]], ["recorded", "berth"])
            # The snapshot is of second 130.1: the first whole second after it is 131.
            self.assertEqual({policy["requests"] for policy in replayed["policies"]}, {recorded_requests(state, 131)})
            written = self.run_on_past("journal", "scenario", state, "-o", state / "out")
            self.assertIn(f"{replayed['simulated_seconds']} s, 4 services", written)
            first = written.split(": ")[1].split(" to ")[0]
            for verb in (["replay", "--journal-in", state], ["journal", "scenario", state, "-o", state / "out"]):
                self.assertIn(f"wanted a time that is recorded, {first} to ",
                              self.run_on_past(*verb, "--from", "2026-11-24T00:00:00Z", status=2))
            rows = self.run_on_past("journal", "export", state).splitlines()
            self.assertEqual([json.loads(row)["sequence"] for row in rows], list(range(161, 633)))
            self.assertIn("--from: wanted a row that is there, 161 to 632, found 160: older ones were removed",
                          self.run_on_past("journal", "export", state, "--from", 160, status=2))

    def run_on_past(self, *words, status=0):
        """What a verb prints; if it is to fail, on stderr."""
        run = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr if status else run.stdout

    def check(self, folder, place):
        """One folder: read, lived on, verified."""
        expected = json.loads((folder / "expected.json").read_text())
        folders.restore(folder, place / "state")
        (place / "config.yaml").write_text(RETENTION)
        options = ["--config", place / "config.yaml"]
        if folder.name.startswith("format_1"):
            self.upgrade_in_part(place / "state")
        with folders.server_in(place, PROGRAM, [*options, *folders.NEARLY_STILL]) as server:
            self.assertEqual(self.faults_of(server, expected), [])
            self.assertIn("rows contradict each other", Path(server.log).read_text())  # accepted then, and kept
            server.process.send_signal(signal.SIGKILL)  # nothing of this start may be needed by the next one
            server.process.wait()
        with folders.server_in(place, PROGRAM, [*options, "--speed", "60"]) as server:
            self.check_repeat(server, expected)
            make.send(server, "PUT", "/v1/planning", {"paused": False})
            make.run_on(server, LIVES_ON_SECONDS)
            self.assertEqual(self.gaps(folders.usage(server.client, self.time(server))), [])
            self.assertGreater(self.served(server), 0)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(DEADLINE_SECONDS), 0, server.log_end())
        checked = subprocess.run([PROGRAM, "journal", "verify", place / "state"], capture_output=True, text=True,
                                 timeout=DEADLINE_SECONDS)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def upgrade_in_part(self, state):
        """What a kill leaves that comes right after the journal of a version without usage became one of today: the
        next start makes the past usage again."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            words = [PROGRAM, "up", "--data", str(state), "--listen", f"127.0.0.1:{taken.getsockname()[1]}"]
            run = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("cannot listen", run.stderr)
        with contextlib.closing(sqlite3.connect(state / "journal.db")) as journal:
            self.assertEqual(journal.execute("PRAGMA user_version").fetchone(), (3,))
            journal.execute("DELETE FROM usage")
            journal.commit()

    def faults_of(self, server, expected):
        """What is not as it was."""
        world = folders.read_world(server.client)
        faults = differences(expected["planning"], world["planning"], "planning")
        if seconds_between(expected["time"], world["time"]) > START_SHIFT_SECONDS:
            faults.append(f"time: wanted {expected['time']}, found {world['time']}")
        for kind in folders.KINDS:
            wanted, found = by_name(kind, expected), by_name(kind, world)
            faults += [f"{kind}: {name} is new" for name in found.keys() - wanted.keys() if kind != "plans"]
            faults += [f"{kind}: {name} is gone" for name in wanted.keys() - found.keys()]
            for name in wanted.keys() & found.keys():
                faults += differences(wanted[name], found[name], f"{kind} {name}")
        faults += self.blob_faults(server, expected) + self.promise_faults(server, expected)
        faults += self.usage_faults(expected, folders.usage(server.client, world["time"]))
        return faults + self.gaps(folders.usage(server.client, world["time"]))

    def blob_faults(self, server, expected):
        """Every blob is there with its bytes."""
        faults = []
        for blob in expected.get("blobs", ()):
            with server.client.open("GET", f"/v1/blobs/{blob}") as reply:
                status, found = reply.status, hashlib.sha256(reply.read()).hexdigest()
            faults += differences([200, blob], [status, found], f"blob {blob}")
        return faults

    def promise_faults(self, server, expected):
        """Every promise is there, and what is known of it is the same; an open one may be judged meanwhile."""
        wanted = expected.get("promises", [])
        found = {(promise["plan"], promise["gpu"]): promise for promise in folders.promises(server.client)} if wanted else {}
        faults = []
        for promise in wanted:
            name = promise["plan"], promise["gpu"]
            kept = promise if promise["state"] != "open" else {key: promise[key] for key in ("began_at", "cuts", "promised")}
            faults += differences(kept, found.get(name), f"promise {name}")
        return faults

    def usage_faults(self, expected, rows):
        """Every interval is there, and what was over is the same."""
        found = {interval_name(row): row for row in rows}
        faults = []
        for row in expected["usage"]:
            name = interval_name(row)
            if name not in found:
                faults.append(f"usage: {name} is gone")
            elif not row["open"] and row["to"] != expected["time"]:
                faults += differences(row, found[name], f"usage {name}")
        return faults

    def gaps(self, rows):
        """Units of a GPU that are in no interval, or in two, between the beginning of the world and now."""
        spans = {}
        for row in rows:
            for unit in range(row["start"], row["start"] + row["units"]):
                spans.setdefault((row["gpu"], unit), []).append((row["from"], row["to"]))
        first, faults = min(row["from"] for row in rows), []
        for unit, list_of in spans.items():
            ends = [first] + [end for _, end in sorted(list_of)]
            faults += [f"{unit}: an interval ends at {end}, the next begins at {begin}"
                       for end, (begin, _) in zip(ends, sorted(list_of)) if end != begin]
        return faults

    def check_repeat(self, server, expected):
        """A write whose key the folder knows is not carried out again, however old its outcome is."""
        path = make.REPEATED_PATH
        version = server.client.send(path)[0]["metadata"]["resourceVersion"]
        with server.client.open("PUT", path, json.dumps(make.service(70, "2")).encode(), make.REPEATED_KEY) as reply:
            status, body = reply.status, json.loads(reply.read())
            is_repeat = reply.headers.get("Idempotent-Replay") == "true"
        now = server.client.send(path)[0]["metadata"]["resourceVersion"]
        if not expected["knows_keys"]:
            return
        self.assertEqual(now, version)
        if status == 409:
            self.assertEqual(body["error"]["code"], "key_expired")
        else:
            self.assertEqual((status, is_repeat, body["metadata"]["resourceVersion"]), (200, True, version))

    def time(self, server):
        return server.client.send("/v1/status")[0]["time"]

    def served(self, server):
        """Requests answered in time in the last minute."""
        deadline, count = time.monotonic() + DEADLINE_SECONDS, 0
        while not count and time.monotonic() < deadline:
            services = folders.items(server.client, "/v1/services")
            count = sum(service["status"]["last_minute"]["in_time"] for service in services)
        return count


def recorded_requests(state, from_second):
    """By sqlite3 alone: those that the rows count, from a second of the world on."""
    with contextlib.closing(sqlite3.connect(f"file:{state}/journal.db?mode=ro", uri=True)) as journal:
        bodies = journal.execute("SELECT body FROM journal WHERE kind = 'Seconds'").fetchall()
    return sum(count for body in (json.loads(text) for (text,) in bodies)
               for second, count in enumerate(body["arrivals"], body["from_second"]) if second >= from_second)


def found_folders():
    """Each released folder that is kept here."""
    return sorted(path.parent for path in folders.HERE.glob("*/expected.json"))


if __name__ == "__main__":
    unittest.main()
