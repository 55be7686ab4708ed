"""A running `berth serve` for tests."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ.get("BERTH_PROGRAM", pathlib.Path(__file__).parents[2] / "build/release/berth"))
SKIPPED = 77
SETTLE_SECONDS = 1.1


def run_with_clients(missing):
    """Runs the test with the Python that has clients of others: scripts/setup test makes it, BERTH_CLIENTS_PYTHON names
    another one. Ends it as skipped where there is none. `missing`: the error of the import."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    python = pathlib.Path(os.environ.get("BERTH_CLIENTS_PYTHON") or cache / "berth/python-clients/bin/python")
    if python.exists() and pathlib.Path(sys.prefix) != python.parents[1]:
        sys.exit(subprocess.run([python, *sys.argv], check=False).returncode)
    print(f"skipped: {missing}: scripts/setup test installs the clients")
    sys.exit(SKIPPED)


def require_engine():
    """Ends the test as skipped if the program cannot run models here."""
    with tempfile.TemporaryDirectory() as folder:
        serve = Serve(folder)
        line = serve.process.stdout.readline()
        errors = serve.end()[1]
    if not line.startswith("ready "):
        print(f"skipped: {errors.strip()}")
        sys.exit(SKIPPED)


class Serve:
    """`berth serve` over a repository; `ready` waits until it answers."""

    def __init__(self, repository, *words):
        command = [str(PROGRAM), "serve"]
        for option in ("--listen", "--grpc"):
            if option not in words:
                command += [option, "127.0.0.1:0"]
        if repository is not None:
            command += ["--repository", str(repository)]
        self.process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.http = self.grpc = None

    def ready(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise AssertionError(f"wanted a line ready, found {line!r} {self.process.stderr.read()}")
        for word in line.split():
            scheme, separator, address = word.partition("://")
            if separator:
                setattr(self, scheme, address)
        return self

    def ask(self, method, path, body=None, headers={}):
        """Status, headers, body."""
        connection = http.client.HTTPConnection(self.http, timeout=60)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        status, _, answer = self.ask(method, path, None if body is None else json.dumps(body))
        return status, json.loads(answer) if answer else None

    def infer(self, model, rows, **more):
        inputs = [{"name": "x", "datatype": "FP32", "shape": [len(rows), len(rows[0])], "data": rows}]
        return self.json("POST", f"/v2/models/{model}/infer", {"inputs": inputs, **more})

    def end(self, how=signal.SIGTERM):
        """Status and what it wrote on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        errors = self.process.communicate(timeout=30)[1]
        return self.process.returncode, errors


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = pathlib.Path(folder.name)
        self.written = 0.0

    def add(self, name, content, version=1, config=None):
        """A version of a model. It counts a second after it was written."""
        folder = self.repository / name / str(version)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(content)
        if config is not None:
            (self.repository / name / "config.pbtxt").write_text(config)
        self.written = time.time()

    def serve(self, *words):
        """Started when the files that were added are old enough to count at once."""
        time.sleep(max(0.0, self.written + SETTLE_SECONDS - time.time()))
        serve = Serve(self.repository, *words)
        self.addCleanup(lambda: serve.end(signal.SIGKILL) if serve.process.poll() is None else None)
        return serve.ready()

    def wait_until(self, is_true, what, seconds=20):
        limit = time.monotonic() + seconds
        while not is_true():
            self.assertLess(time.monotonic(), limit, f"waited for {what}")
            time.sleep(0.02)
