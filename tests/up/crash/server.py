"""The server of the crash test as its clients know it: the process on its folder, requests, and what must not be."""

import datetime
import http.client
import json
import os
import select
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 30  # of anything else that must not hang
SHOWN_CHARS = 700
USUAL_LOG = ('{"event":"ready"', '{"event":"stopping"', '{"event":"warning"', '{"event":"request')


def micros_of(text):
    """A time of the API as microseconds since 1970."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def text_of(micros):
    """The other way round, for messages."""
    return datetime.datetime.fromtimestamp(micros / 1e6, datetime.timezone.utc).strftime("%H:%M:%S.%f")


def shown(value):
    """A value for a message."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + ".."


def contains(actual, sent):
    """Whether what is stored says all that was sent; the server adds what was left out."""
    if isinstance(sent, dict):
        return isinstance(actual, dict) and all(key in actual and contains(actual[key], sent[key]) for key in sent)
    if isinstance(sent, list):
        return isinstance(actual, list) and len(actual) == len(sent) and all(map(contains, actual, sent))
    return actual == sent


class Violations:
    """What must not be. Threads share one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.found = []
        self.known = set()
        self.round = 0

    def add(self, kind, text):
        """`kind`: lost (acknowledged or seen, and gone), duplicated, changed, version, time, answer, start or stop."""
        with self.lock:
            if (kind, text) not in self.known:  # what stays wrong is seen again and again
                self.known.add((kind, text))
                self.found.append((kind, f"kill {self.round}: {kind}: {text}"))

    def count(self, kind):
        """Those of a kind."""
        with self.lock:
            return sum(each == kind for each, _ in self.found)


class Api:
    """Requests of one thread over one connection. Raises OSError or HTTPException where no whole answer comes."""

    def __init__(self, state):
        address = urllib.parse.urlsplit((state / "address").read_text().strip())
        self.headers = {"Authorization": "Bearer " + (state / "admin.key").read_text().strip(),
                        "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=DEADLINE_SECONDS)

    def send(self, method, path, body=None):
        """Status and JSON."""
        status, text, _ = self.send_keyed(method, path, body, None)
        return status, json.loads(text)

    def send_keyed(self, method, path, body, key):
        """Under an Idempotency-Key, if there is one: status, bytes, and whether the answer is a repeated one."""
        headers = self.headers if key is None else {**self.headers, "Idempotency-Key": key}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self.connection.getresponse()
        return reply.status, reply.read(), reply.getheader("Idempotent-Replay") == "true"

    def get(self, path):
        """The JSON of a GET that must succeed."""
        status, body = self.send("GET", path)
        if status != 200:
            raise http.client.HTTPException(f"GET {path}: {status} {shown(body)}")
        return body

    def items(self, path, limit=500):
        """All pages of a list."""
        items, following = [], ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{following}")
            items += page["items"]
            if not page["metadata"]["continue"]:
                return items
            following = "&continue=" + urllib.parse.quote(page["metadata"]["continue"], safe="")

    def events(self, after):
        """Each event behind that one as (id, text), as it comes; a gap as (the oldest id, None). Never ends."""
        self.connection.request("GET", "/v1/events", None, {**self.headers, "Last-Event-ID": str(after)})
        reply = self.connection.getresponse()
        if reply.status != 200:
            raise http.client.HTTPException(f"GET /v1/events: {reply.status}")
        number, lines = None, []
        for line in reply:
            line = line.decode().rstrip("\n")
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith(("event: ", "data: ")):
                lines.append(line)
            elif not line and lines:
                if lines[0] == "event: gap":
                    yield json.loads(lines[1].removeprefix("data: "))["oldest"], None
                else:
                    yield number, "\n".join(lines)
                number, lines = None, []

    def close(self):
        """Closes the connection."""
        self.connection.close()


class Server:
    """The process on its folder. `ran_seconds`: how long all its processes lived, at most."""

    def __init__(self, folder, speed, seed):
        self.folder = folder
        self.state = folder / "state"
        self.words = ["--speed", str(speed), "--seed", str(seed)]
        self.process = None
        self.began = 0.0
        self.ran_seconds = 0.0
        self.start_ms = []
        self.killed = threading.Event()
        self.kill_count = 0
        self.log_read = 0

    def spawn(self):
        """Starts it, and waits for nothing."""
        self.killed.clear()
        self.began = time.monotonic()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0", *self.words],
                stdout=subprocess.PIPE, stderr=log)

    def wait_until_ready(self):
        """Whether it became ready; `start_ms` has how long that took."""
        line, deadline = b"", self.began + DEADLINE_SECONDS
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return False
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                return False
            line += piece
        self.start_ms.append(1000 * (time.monotonic() - self.began))
        return line.startswith(b"ready ")

    def lived_seconds(self):
        """How long all its processes lived until now, at most."""
        return self.ran_seconds + (time.monotonic() - self.began if self.process else 0.0)

    def end(self, number):
        """Sends the signal; the exit status, None if it did not end in time."""
        self.killed.set()
        self.process.send_signal(number)
        try:
            status = self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.ran_seconds = self.lived_seconds()
        self.process = None
        return status

    def kill(self):
        """SIGKILL, and keeps what is left."""
        self.end(signal.SIGKILL)
        self.kill_count += 1
        shutil.copytree(self.state, self.folder / "killed" / str(self.kill_count))

    def forget_kills(self):
        """What kills left was audited, and is right."""
        shutil.rmtree(self.folder / "killed", ignore_errors=True)

    def log_errors(self):
        """Errors in its log since the last call. A warning of a torn end of the journal is what a kill may leave."""
        with open(self.folder / "log", errors="replace") as log:
            log.seek(self.log_read)
            lines = log.read().splitlines()
            self.log_read = log.tell()
        return [line for line in lines if not line.startswith(USUAL_LOG)]
