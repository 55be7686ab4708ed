"""What measurements of a running `berth up` share: its start and end, requests, and what its process uses."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 60
LOG_BYTES_SHOWN = 4000


class Client:
    """Requests to a server, with the key of its administrator. Threads may share one."""

    def __init__(self, state):
        self.address = (state / "address").read_text().strip().rstrip("/")
        self.key = (state / "admin.key").read_text().strip()

    def open(self, method, path, data=None, headers=()):
        """The response of urllib, whatever its status; the caller closes it. A header that is None is left out.

        Raises OSError or http.client.HTTPException where no answer comes."""
        sent = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json", **dict(headers)}
        sent = {name: value for name, value in sent.items() if value is not None}
        request = urllib.request.Request(self.address + path, data, sent, method=method)
        try:
            return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as refusal:
            return refusal

    def send(self, path, body=None):
        """GETs the path, or POSTs the body; the answer as JSON, and the seconds that it took. Raises for an error."""
        data = None if body is None else json.dumps(body).encode()
        began = time.monotonic()
        with self.open("GET" if data is None else "POST", path, data) as reply:
            text = reply.read()
            if isinstance(reply, urllib.error.HTTPError):
                raise RuntimeError(f"{path}: {reply.status} {text.decode()}")
            return json.loads(text), time.monotonic() - began


class Server:
    """A running server: its process, its log and a client."""

    def __init__(self, process, log, state, start_seconds):
        self.process = process
        self.log = log
        self.client = Client(state)
        self.start_seconds = start_seconds

    def is_running(self):
        """Whether the process has not ended."""
        return self.process.poll() is None

    def log_end(self):
        """The last lines of its log."""
        return self.log.read_text(errors="replace")[-LOG_BYTES_SHOWN:]

    def resident_mb(self):
        """Resident memory of the process."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def cpu_seconds(self):
        """Processor time of the process since its start, in user and system mode."""
        # Behind the name in parentheses, the fields 14 and 15 of proc(5) are those at 11 and 12.
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running_server(berth, words):
    """`berth up` with these words, on a free port and with a folder of its own, until the block ends. Ends the program
    if the server does not begin."""
    with tempfile.TemporaryDirectory() as name, server_in(pathlib.Path(name), berth, words) as server:
        yield server


@contextlib.contextmanager
def server_in(folder, berth, words, variables=None):
    """The same in a folder of the caller, which keeps what the server recorded. `variables`: more of its environment."""
    state, log = folder / "state", folder / "log"
    began = time.monotonic()
    with open(log, "wb") as sink:
        process = subprocess.Popen([berth, "up", *words, "--listen", "127.0.0.1:0", "--data", state],
                                   stdout=subprocess.PIPE, stderr=sink, env={**os.environ, **(variables or {})})
    try:
        if not process.stdout.readline().startswith(b"ready "):
            sys.exit(log.read_text())
        yield Server(process, log, state, time.monotonic() - began)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
