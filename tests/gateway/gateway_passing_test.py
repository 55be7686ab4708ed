#!/usr/bin/env python3
"""`berth gateway` in front of replicas that do as the test says: bytes, streams, repeats, refusals, records, options."""

import http.client
import json
import pathlib
import socket
import subprocess
import threading
import time
import unittest

from local_gateway import INFER, KEY, GatewayCase, endpoint, infer_body, plain, service
from local_serve import PROGRAM


class Scripted(GatewayCase):
    """With replicas that do as the test says."""

    def test_bytes_pass_unchanged(self):
        replica = self.scripted(lambda head, body, connection: connection.sendall(
            plain(body or b"none", headers="X-Answer: a b\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Type: x/y\r\n")))
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url)))
        path = "/v1//a%2Fb/../c%20d?q=1&q=%C3%A4"
        status, headers, content = gateway.ask("POST", "/vision/digits" + path, b"\x00\xff" * 4000,
                                               {"X-Asked": "1", "Berth-Slice": "x", "Connection": "X-Gone", "X-Gone": "1"})
        self.assertEqual((status, content), (200, b"\x00\xff" * 4000))
        self.assertEqual((headers["X-Answer"], headers.get_all("Set-Cookie"), headers["Content-Type"]), ("a b", ["a=1", "b=2"], "x/y"))
        head = replica.requests[0][0]
        self.assertEqual(head.split("\r\n")[0], f"POST {path} HTTP/1.1")
        self.assertIn("X-Asked: 1", head)
        for gone in ("x-gone", "berth-", "expect", "transfer-encoding"):
            self.assertNotIn(gone, head.lower())
        self.assertEqual(gateway.ask("GET", "/vision/digits?a=b")[0], 200)
        self.assertEqual(replica.requests[1][0].split("\r\n")[0], "GET /?a=b HTTP/1.1")
        self.assertEqual(gateway.ask("GET", "/vision/digits/")[0], 200)
        self.assertEqual(gateway.ask("GET", "/vision/other/")[0], 404)
        self.assertEqual(gateway.ask("GET", "/vision")[0], 404)

    def test_head(self):
        replica = self.scripted(lambda head, body, connection: connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: 1\r\n\r\n"))
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url)))
        status, headers, content = gateway.ask("HEAD", "/vision/digits/file")
        self.assertEqual((status, headers["Content-Length"], headers["X-A"], content), (200, "1234", "1", b""))
        self.assertTrue(replica.requests[0][0].startswith("HEAD /file "))

    def test_answers_without_a_body(self):
        heads = {"/204": b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "/304": b"HTTP/1.1 304 Not Modified\r\nX-A: 1\r\n\r\n",
                 "/0": plain("", headers="X-A: 1\r\n"), "/404": plain("", status="404 Not Found", headers="X-A: 1\r\n")}
        replica = self.scripted(lambda head, body, connection: connection.sendall(heads[head.split(" ")[1]]))
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url)))
        connection = http.client.HTTPConnection(gateway.address, timeout=10)
        for path, wanted in (("/204", 204), ("/0", 200), ("/304", 304), ("/404", 404)) * 2:
            connection.request("GET", "/vision/digits" + path)
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["X-A"], answer.headers["Transfer-Encoding"], answer.read()),
                             (wanted, "1", None, b""))
        connection.close()
        self.wait_until(lambda: self.up.sums()["in_time"] == 8, "the records")

    def test_streams_pass_chunk_by_chunk(self):
        go_on = threading.Event()

        def answer(head, body, connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.sendall(b"9\r\ndata: 1\n\n\r\n")
            go_on.wait(10)
            connection.sendall(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")

        replica = self.scripted(answer)
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url), answer=1.0))
        connection = http.client.HTTPConnection(gateway.address, timeout=10)
        for _ in range(2):  # over one connection
            go_on.clear()
            connection.request("POST", "/vision/digits/v1/chat/completions", b"{}")
            reply = connection.getresponse()
            self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, "text/event-stream"))
            self.assertEqual(reply.read1(100), b"data: 1\n\n")  # before the replica has sent the second
            time.sleep(1.2)  # longer than a request waits for its answer
            go_on.set()
            self.assertEqual(reply.read(), b"data: 2\n\n")
        connection.close()

    def test_a_client_that_leaves_ends_the_call(self):
        closed = threading.Event()

        def answer(head, body, connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            connection.settimeout(10)
            if connection.recv(1) == b"":
                closed.set()
            return False

        replica = self.scripted(answer)
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url, in_flight_max=1)))
        connection = http.client.HTTPConnection(gateway.address, timeout=10)
        connection.request("GET", "/vision/digits/stream")
        self.assertEqual(connection.getresponse().read1(3), b"one")
        connection.close()
        self.assertTrue(closed.wait(10))
        self.wait_until(lambda: self.up.sums() == {"arrivals": 1, "in_time": 0, "late": 0, "dropped": 1}, "the record")

    def test_waiting_is_bounded(self):
        go_on = threading.Event()

        def answer(head, body, connection):
            go_on.wait(20)
            connection.sendall(plain("late"))

        replica = self.scripted(answer)
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url, in_flight_max=1), target=0.05, answer=20.0))
        found = []
        large = b"x" * (30 << 20)

        def send():
            found.append(gateway.ask("POST", "/vision/digits/v1/x", large)[0])

        threads = []
        for wanted in range(3):  # one there, two wait
            threads.append(threading.Thread(target=send))
            threads[-1].start()
            self.wait_until(lambda: gateway.status()["requests"] == wanted + 1, f"request {wanted}")
        status, headers, content = gateway.ask("POST", "/vision/digits/v1/x", large)
        self.assertEqual((status, headers["Retry-After"]), (429, "1"), content)
        self.assertIn("wait", json.loads(content)["error"])
        go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [200] * 3)
        self.wait_until(lambda: self.up.sums() == {"arrivals": 4, "in_time": 0, "late": 3, "dropped": 1}, "the records")

    def test_without_a_replica_a_request_waits_until_its_deadline(self):
        gateway = self.gateway()
        self.set_table(gateway, service(target=0.5, answer=0.6))
        started = time.monotonic()
        status, headers, content = gateway.ask("POST", INFER, infer_body())
        self.assertEqual(status, 503, content)
        self.assertIn("no replica was available within 0.6 s", content.decode())
        self.assertGreaterEqual(time.monotonic() - started, 0.55)
        replica = self.scripted(lambda head, body, connection: connection.sendall(plain("here")))
        self.set_table(gateway, service(answer=10.0))
        late = threading.Timer(0.3, self.up.set_table, [service(endpoint(replica.url))])
        late.start()
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[2], b"here")
        self.wait_until(lambda: self.up.sums()["dropped"] == 1, "the record")

    def test_what_may_be_carried_out_twice_is_said_by_the_request(self):
        hits = []

        def breaks(head, body, connection):
            hits.append(head.split(" ")[0:2])
            return False  # closes without a byte

        broken = self.scripted(breaks)
        good = self.scripted(lambda head, body, connection: connection.sendall(plain("good")))
        gateway = self.gateway()
        # The broken one seems to be faster.
        ends = (endpoint(broken.url, "bad", ms=1), endpoint(good.url, "good", ms=500))
        for method, path, headers, wanted in (("GET", "/x", {}, 200), ("POST", "/v2/models/m/infer", {}, 200),
                                              ("POST", "/v1/chat/completions", {}, 502),
                                              ("POST", "/v1/chat/completions", {"Idempotency-Key": "1"}, 200)):
            self.set_table(gateway, service())  # forgets what failed
            self.set_table(gateway, service(*ends))
            hits.clear()
            status, _, content = gateway.ask(method, "/vision/digits" + path, None if method == "GET" else b"{}", headers)
            self.assertEqual(status, wanted, (method, path, content))
            self.assertGreaterEqual(len(hits), 1)
        with socket.create_server(("127.0.0.1", 0)) as unused:
            gone = f"http://127.0.0.1:{unused.getsockname()[1]}"  # refuses connections: nothing is sent
        self.set_table(gateway, service())
        self.set_table(gateway, service(endpoint(gone, "gone", ms=1), ends[1]))
        self.assertEqual(gateway.ask("POST", "/vision/digits/v1/chat/completions", b"{}")[0], 200)

    def test_records_are_kept_while_berth_up_is_away(self):
        replica = self.scripted(lambda head, body, connection: connection.sendall(plain("x")))
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url)))
        self.up.drops_answers = True
        for _ in range(30):
            self.assertEqual(gateway.ask("GET", "/vision/digits/x")[0], 200)
        time.sleep(1.2)
        self.up.stop()
        for _ in range(30):
            self.assertEqual(gateway.ask("GET", "/vision/digits/x")[0], 200)
        time.sleep(1.2)
        self.up.drops_answers = False
        self.up.start()
        self.wait_until(lambda: self.up.sums()["in_time"] == 60, "all records")
        self.wait_until(lambda: gateway.status()["records_kept"] <= 1, "acknowledgement")
        self.assertEqual(self.up.sums()["arrivals"], 60)
        # The last second is sent at the end.
        self.assertEqual(gateway.ask("GET", "/vision/digits/x")[0], 200)
        status, errors = gateway.end()
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.up.sums()["in_time"], 61)

    def test_bad_options(self):
        key = pathlib.Path(self.folder) / "key"
        key.write_text(KEY)
        good = {"--up": "http://127.0.0.1:1", "--key-file": str(key), "--state": self.folder + "/state", "--listen": "127.0.0.1:0"}
        for change, words in (({"--up": None}, "--up: wanted an address"), ({"--up": "https://127.0.0.1:1"}, "found \"https"),
                              ({"--up": "http://10.0.0.1:1"}, "--up"), ({"--key-file": None}, "--key-file: wanted a path, found none"),
                              ({"--key-file": "/none"}, "/none"), ({"--state": ""}, "--state: wanted a path, found an empty one"),
                              ({"--listen": "0.0.0.0:1"}, "--listen"),
                              ({"--metrics": "0.0.0.0:1"}, "--metrics"), ({"--silence-seconds": "0"}, "--silence-seconds: wanted"),
                              ({"--answer-seconds-max": "x"}, "--answer-seconds-max: wanted")):
            options = [word for name, value in (good | change).items() if value is not None for word in (name, value)]
            run = subprocess.run([PROGRAM, "gateway", *options], capture_output=True, text=True, timeout=20)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(words, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        gateway = self.gateway()
        second = subprocess.run([PROGRAM, "gateway", *(word for pair in good.items() for word in pair)], capture_output=True, text=True, timeout=20)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another gateway uses this folder", second.stderr)
        self.assertEqual(gateway.status()["table"], None)
        self.assertEqual(gateway.ask("GET", "/vision/digits/x")[0], 503)
        self.assertEqual(gateway.ask("GET", "/berth/v1/ready")[0], 503)

    def test_metrics(self):
        def answer(head, body, connection):
            path = head.split(" ")[1]
            return connection.sendall(plain("full", "503 Service Unavailable") if path == "/full" else plain("good"))

        replica = self.scripted(answer)
        gateway = self.gateway(more=("--metrics", "127.0.0.1:0"))
        port = int(gateway.process.stdout.readline().strip().removeprefix("metrics http://127.0.0.1:").removesuffix("/metrics"))

        def ask(path, method="GET"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request(method, path)
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer.status, answer.headers["Content-Type"], text

        self.set_table(gateway, service(endpoint(replica.url)), service(name="none", answer=1.0))
        for _ in range(3):
            self.assertEqual(gateway.ask("GET", "/vision/digits/x")[0], 200)
        self.assertEqual(gateway.ask("GET", "/vision/digits/full")[0], 503)
        self.assertEqual(gateway.ask("GET", "/vision/none/x")[0], 503)
        status, kind, text = ask("/metrics")
        self.assertEqual((status, kind.split(";")[0]), (200, "text/plain"))
        for line in ('berth_gateway_requests_total{tenant="vision",service="digits",outcome="in_time"} 3',
                     'berth_gateway_requests_total{tenant="vision",service="digits",outcome="refused"} 1',
                     'berth_gateway_requests_total{tenant="vision",service="none",outcome="unanswered"} 1',
                     'berth_gateway_latency_seconds_count{tenant="vision",service="digits"} 3',
                     'berth_gateway_replicas{tenant="vision",service="digits",state="open"} 1',
                     'berth_gateway_in_flight_requests{tenant="vision",service="digits"} 0',
                     "berth_gateway_requests 0", f"berth_gateway_table {gateway.status()['table']}"):
            self.assertIn(line + "\n", text)
        self.assertEqual(ask("/vision/digits/x")[0], 404)
        self.assertEqual(ask("/metrics", "POST")[0], 405)
        self.assertEqual(gateway.ask("GET", "/metrics")[0], 404)


if __name__ == "__main__":
    unittest.main()
