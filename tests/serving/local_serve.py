"""A running `berth serve` for tests."""

import http.client
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ.get("BERTH_PROGRAM", pathlib.Path(__file__).parents[2] / "build/release/berth"))
SKIPPED = 77
SETTLE_SECONDS = 1.1
HEAD_LENGTH = "Inference-Header-Content-Length"


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


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def binary_body(shape, content, **request):
    """JSON head and binary tensor, and the headers for them."""
    head = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": shape,
                                   "parameters": {"binary_data_size": len(content)}}], **request}).encode()
    return head + content, {HEAD_LENGTH: str(len(head)), "Content-Type": "application/octet-stream"}


def device_file(latency_ms, bytes_by_model, memory, lanes=1, load_seconds=0.05):
    models = "".join(f"  {name}: {{latency_ms: [[1, {latency_ms}], [64, {latency_ms + 0.064}]], bytes: {size}}}\n"
                     for name, size in bytes_by_model.items())
    return (f"berth: 1\nname: made-up\norigin: \"made up\"\nlanes: {lanes}\nmemory: {memory}\nbatch_max: 64\n"
            f"load: {{seconds: {load_seconds}, bytes_per_second: 1000000000}}\nmodels:\n{models}")


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
        """Status and what it wrote on stderr. `how` is nothing: it was asked to end already, and a second signal could meet a
        process that no longer holds signals back."""
        if how is not None and self.process.poll() is None:
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


class Serving(Case):
    def states(self, serve):
        status, index = serve.json("POST", "/v2/repository/index", {})
        self.assertEqual(status, 200)
        return {(entry["name"], entry["version"]): (entry["state"], entry.get("reason", "")) for entry in index}

    def state(self, serve, name, version="1"):
        """Of a version, or of a model that has none."""
        states = self.states(serve)
        return states.get((name, version), states.get((name, ""), ("ABSENT", "")))

    def resident(self, serve):
        """Models that are in memory: READY without a reason."""
        return {name for (name, _), (state, reason) in self.states(serve).items() if state == "READY" and not reason}

    def answer(self, serve, model, rows, **more):
        status, answer = serve.infer(model, rows, **more)
        self.assertEqual(status, 200, answer)
        return answer["outputs"][0]["data"]

    def refused(self, serve, status, words, method, path, body=None, headers={}):
        found, _, content = serve.ask(method, path, body, headers)
        self.assertEqual(found, status, content)
        message = json.loads(content)["error"]
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, message)

    def ends_well(self, serve, how=signal.SIGTERM):
        status, errors = serve.end(how)
        self.assertEqual(status, 0, errors)
        return errors
