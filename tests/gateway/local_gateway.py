"""A running `berth gateway` for tests, with a stand-in for `berth up` and replicas."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "serving")]

import onnx_bytes  # noqa: E402
from local_serve import PROGRAM, Case, Serve, device_file  # noqa: E402

KEY = "key-of-the-gateway"
TABLE_PATH, RECORDS_PATH = "/v1/gateway/endpoints", "/v1/gateway/records"


class UpStandIn:
    """The two routes of `berth up`. What it was sent is in `records`, by gateway and number."""

    def __init__(self):
        self.lock = threading.Lock()
        self.table = None
        self.streams = []
        self.records = {}
        self.acknowledged = {}  # table, by gateway
        self.drops_answers = False  # stores a report, and does not answer
        self.port = 0
        self.server = None

    def start(self):
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def refuse(self, status):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def is_allowed(self):
                return self.headers.get("Authorization") == f"Bearer {KEY}"

            def do_GET(self):
                if self.path != TABLE_PATH or not self.is_allowed():
                    return self.refuse(401)
                self.send_response(200)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                lines = queue.Queue()
                with stand_in.lock:
                    if stand_in.table is not None:
                        lines.put(json.dumps(stand_in.table))
                    stand_in.streams.append(lines)
                while True:
                    try:
                        line = lines.get(timeout=5)
                    except queue.Empty:
                        line = ""
                    if line is None:
                        return
                    try:
                        self.wfile.write(line.encode() + b"\n")
                        self.wfile.flush()
                    except OSError:
                        return

            def do_POST(self):
                report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path != RECORDS_PATH or not self.is_allowed():
                    return self.refuse(401)
                with stand_in.lock:
                    for record in report["records"]:
                        stand_in.records[report["gateway"], record["number"]] = record
                    stand_in.acknowledged[report["gateway"]] = report["table"]
                    until = max((number for gateway, number in stand_in.records if gateway == report["gateway"]), default=0)
                    drops = stand_in.drops_answers
                if drops:
                    self.close_connection = True
                    return
                body = json.dumps({"until": until}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_):
                """A gateway that is killed resets its connections."""

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self):
        if self.server is None:
            return
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            streams, self.streams = self.streams, []
        for lines in streams:
            lines.put(None)
        self.server = None

    def set_table(self, *services):
        with self.lock:
            number = 1 if self.table is None else self.table["table"] + 1
            self.table = {"table": number, "services": list(services)}
            for lines in self.streams:
                lines.put(json.dumps(self.table))
        return number

    def sums(self):
        with self.lock:
            rows = list(self.records.values())
        names = ("arrivals", "in_time", "late", "dropped")
        return {name: sum(row[name] for row in rows) for name in names}


def endpoint(url, slice_name="s0", generation=1, key="", says=False, leaving=False, in_flight_max=16, ms=None):
    latencies = [] if ms is None else [{"batch": 1, "us": int(ms * 1000)}]
    return {"slice": slice_name, "generation": generation, "url": url, "key": key, "says_who_it_is": says,
            "is_leaving": leaving, "in_flight_max": in_flight_max, "latencies": latencies}


def service(*replicas, tenant="vision", name="digits", target=1.0, answer=10.0):
    return {"tenant": tenant, "service": name, "target_us": int(target * 1e6), "answer_us": int(answer * 1e6),
            "replicas": list(replicas)}


class Gateway:
    def __init__(self, up, folder, listen="127.0.0.1:0", more=()):
        key_file = pathlib.Path(folder) / "gateway.key"
        key_file.write_text(KEY + "\n")
        self.process = subprocess.Popen(
            [str(PROGRAM), "gateway", "--listen", listen, "--up", f"http://127.0.0.1:{up.port}", "--key-file", str(key_file),
             "--state", str(pathlib.Path(folder) / "state"), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready http://"):
            raise AssertionError(f"wanted a line ready, found {line!r} {self.process.stderr.read()}")
        self.address = line.split("://")[1].strip()
        self.port = int(self.address.rsplit(":", 1)[1])

    def ask(self, method, path, body=None, headers={}, timeout=30):
        """Status, headers, body."""
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def status(self):
        return json.loads(self.ask("GET", "/berth/v1/status")[2])

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        errors = self.process.communicate(timeout=30)[1]
        return self.process.returncode, errors


@contextlib.contextmanager
def environment(**variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class ScriptedReplica:
    """Answers each request with `answer(head, body, connection)`, which sends bytes itself; each connection has a thread."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        data = b""
        with connection:
            while True:
                while b"\r\n\r\n" not in data:
                    try:
                        part = connection.recv(65536)
                    except OSError:
                        return
                    if not part:
                        return
                    data += part
                head, data = data.split(b"\r\n\r\n", 1)
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
                parts, count = [data], len(data)
                while count < length:
                    part = connection.recv(1 << 20)
                    if not part:
                        return
                    parts.append(part)
                    count += len(part)
                data = b"".join(parts)
                body, data = data[:length], data[length:]
                self.requests.append((head.decode(errors="replace"), body))
                try:
                    if self.answer(head.decode(errors="replace"), body, connection) is False:
                        return
                except OSError:
                    return

    def close(self):
        self.socket.close()


def plain(text, status="200 OK", headers=""):
    """An answer of a scripted replica."""
    content = text if isinstance(text, bytes) else text.encode()
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(content)}\r\n\r\n".encode() + content


class GatewayCase(Case):
    def setUp(self):
        super().setUp()
        self.up = UpStandIn().start()
        self.addCleanup(self.up.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def gateway(self, listen="127.0.0.1:0", more=()):
        gateway = Gateway(self.up, self.folder, listen, more)
        self.addCleanup(lambda: gateway.end(signal.SIGKILL) if gateway.process.poll() is None else None)
        return gateway

    def scripted(self, answer):
        replica = ScriptedReplica(answer)
        self.addCleanup(replica.close)
        return replica

    def replica(self, slice_name, generation=1, key="k1", latency_ms=2):
        """A `berth serve` on a simulated device, as the GPU agent would start it, and its endpoint."""
        device = pathlib.Path(self.folder) / "device.yaml"
        device.write_text(device_file(latency_ms, {"twice": 1000}, "1GiB", lanes=1))
        with environment(BERTH_SLICE=slice_name, BERTH_GENERATION=str(generation), BERTH_KEY=key):
            server = self.serve("--device", f"simulated:{device}")
        return server, endpoint(f"http://{server.http}", slice_name, generation, key, says=True, in_flight_max=64, ms=latency_ms)

    def set_table(self, gateway, *services):
        """Set, and in effect."""
        number = self.up.set_table(*services)
        self.wait_until(lambda: number in self.up.acknowledged.values() and gateway.status()["table"] == number,
                        f"table {number}")

    def add_twice(self):
        self.add("twice", onnx_bytes.twice(2))


def infer_body(values=(1, 2)):
    return json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, len(values)], "data": [list(values)]}]})


INFER = "/vision/digits/v2/models/twice/infer"
