#!/usr/bin/env python3
"""DIR/devices, the memory of the simulated devices, in the hands of others: read by another program, emptied, put back
from an old copy, damaged."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 120


class Devices(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.state = Path(self.temporary.name) / "state"
        self.path = self.state / "devices"

    def tearDown(self):
        self.temporary.cleanup()

    def run_until(self, second):
        """Its exit status and stderr. The world is the demo."""
        run = subprocess.run([PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0", "--speed", "max", "--until",
                              str(second)], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
        return run.returncode, run.stderr

    @contextlib.contextmanager
    def running(self):
        """A server, killed in the end; gives a function that sends to it and returns status and body."""
        with subprocess.Popen([PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            try:
                address = process.stdout.readline().split()[1]
                key = (self.state / "admin.key").read_text().strip()

                def send(method, path, body=None):
                    request = urllib.request.Request(address + path, method=method, headers={
                        "Authorization": "Bearer " + key, "Content-Type": "application/json"})
                    if body is not None:
                        request.data = json.dumps(body).encode()
                    try:
                        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                            return reply.status, json.loads(reply.read())
                    except urllib.error.HTTPError as error:
                        return error.code, json.loads(error.read())

                yield send
            finally:
                process.send_signal(signal.SIGKILL)

    def remembered(self):
        """The bodies of all rows by `gpu`: what another program reads."""
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            return dict(database.execute("SELECT gpu, body FROM devices"))

    def slice_count(self):
        return sum(len(json.loads(body)["slices"]) for gpu, body in self.remembered().items() if gpu >= 0)

    def files(self):
        """Contents by name, without what each start writes, and what SQLite leaves beside a file that it reads."""
        contents = {path.name: path.read_bytes() for path in self.state.iterdir()}
        return {name: content for name, content in contents.items()
                if name not in ("address", "lock", "journal.db-shm") and content}

    def test_another_program_may_read_it_while_it_is_written(self):
        with self.running():
            wal = Path(str(self.path) + "-wal")
            time.sleep(0.5)  # synced more than once
            number = wal.stat().st_ino
            self.assertIn(-1, self.remembered())
            self.assertEqual(wal.stat().st_ino, number)  # else it counted as the last one that closes it
            clock = int(self.remembered()[-2])
            time.sleep(0.5)
        self.assertGreater(int(self.remembered()[-2]), clock)  # what was written later outlived the kill

    def test_nothing_is_recorded_while_it_cannot_be_written(self):
        def wait_for(condition):
            deadline = time.monotonic() + DEADLINE_SECONDS
            while not condition(send("GET", "v1/status")[1]["read_only"]):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)

        with self.running() as send, contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            wait_for(lambda reason: reason and "devices: " in reason)
            self.assertEqual(send("PUT", "v1/tenants/t", {})[0], 503)
            self.assertEqual(send("GET", "v1/tenants")[0], 200)
            database.execute("ROLLBACK")
            wait_for(lambda reason: reason is None)
            self.assertEqual(send("PUT", "v1/tenants/t", {})[0], 201)

    def test_an_empty_one_is_planned_again(self):
        self.assertEqual(self.run_until(60)[0], 0)
        slices = self.slice_count()
        os.truncate(self.path, 0)
        status, words = self.run_until(70)
        self.assertEqual(status, 0, words)
        self.assertIn("devices is empty: the simulated devices are empty", words)
        status, words = self.run_until(200)
        self.assertEqual(status, 0, words)
        self.assertNotIn("is empty", words)
        self.assertGreater(self.slice_count(), slices / 2)

    def test_an_old_copy_is_planned_again(self):
        copy = Path(self.temporary.name) / "copy"
        self.assertEqual(self.run_until(5)[0], 0)
        shutil.copy(self.path, copy)
        self.assertEqual(self.run_until(100)[0], 0)
        slices = self.slice_count()
        shutil.copy(copy, self.path)
        status, words = self.run_until(200)
        self.assertEqual(status, 0, words)
        self.assertGreater(self.slice_count(), slices / 2)

    def test_one_that_is_refused_stops_a_start_before_anything_is_changed(self):
        self.assertEqual(self.run_until(30)[0], 0)
        whole = self.path.read_bytes()
        damaged = bytearray(whole)
        damaged[damaged.rfind(b'"known_number"') + 1] ^= 1
        later = bytearray(whole)
        later[63] += 1  # user_version
        foreign = bytearray(whole)
        foreign[71] += 1  # application_id
        for content, found in ((damaged, "is not what was written"), (later, "later version"),
                               (foreign, "not written by this program"), (whole[:5000], "malformed"),
                               (b"text" * 1000, "not a database")):
            self.path.write_bytes(content)
            before = self.files()
            status, words = self.run_until(40)
            self.assertEqual(status, 1, words)
            self.assertIn("devices: ", words)
            self.assertIn(found, words)
            after = self.files()
            self.assertEqual(sorted(after), sorted(before), found)
            self.assertEqual([name for name in after if after[name] != before[name]], [], found)
        self.path.write_bytes(whole)
        self.assertEqual(self.run_until(40)[0], 0)


if __name__ == "__main__":
    unittest.main()
