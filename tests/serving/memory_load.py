"""What a running server's memory does under loads and unloads, and under many models; used by tests and benchmarks."""

import array
import contextlib
import http.client
import json
import math
import pathlib
import random
import re
import threading
import time

MB = 1_000_000


def resident_bytes(serve):
    """Without pages of files, which the system takes back when it wants."""
    status = pathlib.Path(f"/proc/{serve.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s*(\d+) kB", status)[1]) * 1024


def connect(serve):
    """To be used with `with`."""
    return contextlib.closing(http.client.HTTPConnection(serve.http, timeout=120))


def floats(count):
    return array.array("f", [0.5] * count).tobytes()


def binary_body(shape, data):
    """Of a request with one input `x`, and its headers."""
    inputs = [{"name": "x", "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": len(data)}}]
    head = json.dumps({"inputs": inputs}).encode()
    return head + data, {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"}


def ask(connection, model, shape, data):
    body, headers = binary_body(shape, data)
    connection.request("POST", f"/v2/models/{model}/infer", body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def wait_until_small(serve, wanted, seconds=1.0):
    """The resident bytes once they are at most `wanted`, or after `seconds`."""
    limit = time.monotonic() + seconds
    while (found := resident_bytes(serve)) > wanted and time.monotonic() < limit:
        time.sleep(0.01)
    return found


def cycle(serve, model, shape, data, count):
    """Loads, asks and unloads `count` times. For each: bytes before the load, while loaded, within 1 s after the unload."""
    found = []
    for _ in range(count):
        before = resident_bytes(serve)
        assert serve.json("POST", f"/v2/repository/models/{model}/load")[0] == 200
        with connect(serve) as connection:
            status, answer = ask(connection, model, shape, data)
        assert status == 200, answer
        loaded = resident_bytes(serve)
        assert serve.json("POST", f"/v2/repository/models/{model}/unload")[0] == 200
        after = wait_until_small(serve, before + 0.05 * (loaded - before))
        found.append((before, loaded, after))
    return found


class Crowd:
    """Clients that ask models at random, popular ones more often (rank to the power of -0.9)."""

    def __init__(self, serve, shapes, clients=16, seed=1):
        self.serve, self.shapes, self.clients, self.seed = serve, shapes, clients, seed
        self.names = sorted(shapes)
        random.Random(seed).shuffle(self.names)
        self.weights = [(rank + 1) ** -0.9 for rank in range(len(self.names))]
        self.lock = threading.Lock()
        self.left = 0
        self.failures = []
        self.peak = 0

    def run(self, requests):
        self.left = requests
        threads = [threading.Thread(target=self.client, args=[i]) for i in range(self.clients)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.peak = max(self.peak, resident_bytes(self.serve))
            time.sleep(0.01)
        return self

    def client(self, index):
        with connect(self.serve) as connection:
            self.ask_until_done(connection, random.Random(f"{self.seed}/{index}"))

    def ask_until_done(self, connection, rng):
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            name = rng.choices(self.names, self.weights)[0]
            rows = rng.choice([1, 1, 1, 2, 8])
            shape = [rows, *self.shapes[name]]
            status, answer = ask(connection, name, shape, floats(math.prod(shape)))
            if status != 200:
                with self.lock:
                    self.failures.append((status, answer[:300]))
