#!/usr/bin/env python3
"""`series.db` of a `berth up`: figures go on after a kill, and whatever happens to the file, the server runs."""

import json
import os
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
SPEED = 20  # world seconds per second
LOST_SECONDS = 2  # of wall time that a kill may take


class Server:
    """A `berth up` on a folder; its lines of stderr are in a file beside that."""

    def __init__(self, state, speed=str(SPEED), *words):
        self.log = Path(f"{state}.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "up", "--data", state, "--listen", "127.0.0.1:0", "--speed", speed, *words],
                stdout=subprocess.PIPE, stderr=log, text=True)
        words = self.process.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise RuntimeError("it did not become ready")
        self.url = words[1].rstrip("/")
        self.key = (state / "admin.key").read_text().strip()

    def get(self, path):
        """Status and JSON."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.key})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def last_minutes(self):
        """Of each service."""
        items = self.get("/v1/services")[1]["items"]
        return {item["metadata"]["name"]: item["status"]["last_minute"] for item in items}

    def points(self, query=""):
        """All pages."""
        items, after = [], ""
        while True:
            status, page = self.get(f"/v1/series?limit=500{query}{after}")
            if status != 200:
                raise RuntimeError(page)
            items += page["items"]
            if page["metadata"]["continue"] is None:
                return items
            after = "&continue=" + page["metadata"]["continue"]

    def events(self):
        """Of the lines on stderr."""
        return [json.loads(line)["event"] for line in self.log.read_text().splitlines()]

    def end(self, number):
        """Its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
        return status


def wait_for(condition):
    """Until it holds."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.05)


class Series(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.state = Path(self.temporary.name) / "state"
        self.server = None

    def tearDown(self):
        if self.server and self.server.process.returncode is None:
            self.server.end(signal.SIGKILL)
        self.temporary.cleanup()

    def start(self, *words):
        self.server = Server(self.state, *words)

    def test_figures_go_on_after_a_kill(self):
        self.start()
        wait_for(lambda: len(self.server.points("&step=1")) > 80)
        before = self.server.last_minutes()
        funnel = self.server.get("/v1/status")[1]["funnel"]
        name = next(iter(before))
        tenant = next(item["metadata"]["namespace"] for item in self.server.get("/v1/services")[1]["items"]
                      if item["metadata"]["name"] == name)
        counted = self.server.points(f"&step=1&service={tenant}/{name}")
        self.server.end(signal.SIGKILL)
        self.start()
        after = self.server.last_minutes()
        lost = LOST_SECONDS * SPEED / 60
        for each, figures in before.items():
            self.assertGreaterEqual(after[each]["requests"], figures["requests"] * (0.8 - lost), each)
            self.assertIsNotNone(after[each]["latency_p99_ms"])
        for share, value in self.server.get("/v1/status")[1]["funnel"].items():
            self.assertAlmostEqual(value, funnel[share], delta=0.25)
        points = self.server.points(f"&step=1&service={tenant}/{name}")
        self.assertEqual(points[:len(counted)], counted)
        wait_for(lambda: len(self.server.points("&step=1")) > len(counted) + 5)
        times = [point["from"] for point in self.server.points("&step=1")]
        self.assertEqual(times, sorted(set(times)))
        seconds = [time.mktime(time.strptime(each[:19], "%Y-%m-%dT%H:%M:%S")) for each in times]
        gaps = [later - earlier for earlier, later in zip(seconds, seconds[1:])]
        self.assertLessEqual(max(gaps), 1 + LOST_SECONDS * SPEED)
        self.assertEqual(self.server.end(signal.SIGTERM), 0)
        with sqlite3.connect(self.state / "series.db") as database:
            names = {row[0] for row in database.execute("SELECT name FROM services")}
            newest = database.execute("SELECT max(second) FROM seconds").fetchone()[0]
        database.close()
        self.assertEqual(names, set(before))
        self.assertGreaterEqual(newest, len(points))

    def test_no_file_stops_a_start(self):
        self.start("max", "--until", "100")
        self.assertEqual(self.server.process.wait(DEADLINE_SECONDS), 0)
        self.server.process.stdout.close()
        path = self.state / "series.db"
        good = path.read_bytes()
        torn = good[:5000]
        flipped = bytearray(good)
        for at in range(4096, len(flipped), 512):
            flipped[at] ^= 0x10
        another = sqlite3.connect(":memory:")
        another.execute("CREATE TABLE t(x)")
        foreign = another.serialize() if hasattr(another, "serialize") else None
        later = bytearray(good)
        later[60:64] = (99).to_bytes(4, "big")  # user_version
        for content, event in ((torn, "series_begun_anew"), (bytes(flipped), "series_begun_anew"),
                               (b"no database " * 100, "series_begun_anew"), (bytes(later), "series_off"),
                               (foreign, "series_off")):
            if content is None:
                continue
            for rest in ("-wal", "-shm"):
                Path(f"{path}{rest}").unlink(missing_ok=True)
            path.write_bytes(content)
            self.start()
            wait_for(lambda: event in self.server.events())
            self.assertIsNone(self.server.get("/v1/status")[1]["read_only"])
            if event == "series_off":
                status, answer = self.server.get("/v1/series")
                self.assertEqual((status, answer["error"]["code"]), (503, "series_unavailable"))
                self.assertIn("series.db", answer["error"]["message"])
            else:
                wait_for(lambda: self.server.points("&step=1"))
                self.assertEqual((self.state / "series.db.damaged").read_bytes()[:4096], content[:4096])
            self.assertEqual(self.server.end(signal.SIGTERM), 0)
            if event == "series_off":
                self.assertEqual(path.read_bytes(), content)


if __name__ == "__main__":
    unittest.main()
