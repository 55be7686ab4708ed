#!/usr/bin/env python3
"""`berth gateway` and broken HTTP, from clients and from replicas: 400, 502 or closed, without harm to others."""

import contextlib
import http.client
import json
import random
import signal
import socket
import threading
import time
import unittest

from local_gateway import GatewayCase, endpoint, plain, service

SEED = 7
RANDOM_CASES = 300


class Broken(GatewayCase):
    def start(self, answer=lambda head, body, connection: connection.sendall(plain("good")), **more):
        self.replica_ = self.scripted(answer)
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(self.replica_.url), **more))
        return gateway

    def send_raw(self, gateway, content, seconds=1.5):
        """What comes back until the connection is closed, or nothing comes for so long."""
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=seconds) as connection:
            answer = b""
            try:
                connection.sendall(content)
                with contextlib.suppress(OSError):  # the gateway may have closed it already
                    connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    answer += part
            except (TimeoutError, ConnectionError):
                pass
            return answer

    def test_requests_that_are_not_http(self):
        gateway = self.start()
        long = b"x" * 100_000
        for content, wanted in ((b"garbage\r\n\r\n", (b"400", b"")),
                                (b"GET /vision/digits/a HTTP/1.1\r\nNo colon\r\n\r\n", (b"400", b"")),
                                (b"GET /vision/digits/a HTTP/1.1\r\n\r\n", (b"400",)),
                                (b"GET /vision/digits/%zz HTTP/1.1\r\nHost: a\r\n\r\n", (b"400",)),
                                (b"get /vision/digits/a HTTP/1.1\r\nHost: a\r\n\r\n", (b"501",)),
                                (b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", (b"400", b"")),
                                (b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", (b"400",)),
                                (b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", (b"400",)),
                                (b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", (b"400", b"")),
                                (b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n", (b"413",)),
                                (b"GET /vision/digits/" + long + b" HTTP/1.1\r\nHost: a\r\n\r\n", (b"414", b"431", b"")),
                                (b"GET /vision/digits/a HTTP/1.1\r\nHost: a\r\nX: " + long + b"\r\n\r\n", (b"431", b""))):
            answer = self.send_raw(gateway, content)
            status = answer.split(b" ")[1] if answer.startswith(b"HTTP/1.") else answer[:20]
            self.assertIn(status, wanted, (content[:80], answer[:200]))
        self.assertEqual(self.replica_.requests, [])
        self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")

    def test_bytes_that_http_forbids(self):
        gateway = self.start()
        line = b"GET /vision/digits/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        for content in (b"GET /vision/digits/a\0b HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /vision/digits/a\0 HTTP/1.1\r\nHost: a\r\n\r\n",
                        b"GET /vision/digits/a?b=\0c HTTP/1.1\r\nHost: a\r\n\r\n", b"GE\0T /vision/digits/a HTTP/1.1\r\nHost: a\r\n\r\n",
                        line + b"X: a\0b\r\n\r\n", line + b"X: a\0\r\n\r\n", line + b"X\0Y: a\r\n\r\n", line + b"\0X: a\r\n\r\n",
                        line + b"X: a\rb\r\n\r\n", line + b"X: a\rY: b\r\n\r\n", line + b"X: a\r\n b\r\n\r\n"):
            # With what would be another request if the connection went on, and without.
            for more in (b"", b"POST /vision/digits/hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" if b"\0" in content else b""):
                answer = self.send_raw(gateway, content + more, seconds=30)
                self.assertEqual(answer.split(b" ")[1:2], [b"400"], (content, answer))
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1, (content, answer))
        self.assertEqual(self.replica_.requests, [])

    def test_a_malformed_length_has_one_answer(self):
        gateway = self.start()
        line = b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: "
        for length, wanted in ((b"x", b"400"), (b"-3", b"400"), (b"+3", b"400"), (b"3x", b"400"), (b"3, 3", b"400"), (b"", b"400"),
                               (b"9" * 30, b"413"), (b"99999999999", b"413")):
            answer = self.send_raw(gateway, line + length + b"\r\n\r\n", seconds=30)
            self.assertEqual(answer.split(b" ")[1:2], [wanted], (length, answer))
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, (length, answer))
            self.assertIn("error", json.loads(answer.split(b"\r\n\r\n", 1)[1]))
        self.assertEqual(self.replica_.requests, [])

    def test_random_bytes(self):
        gateway = self.start()
        draw = random.Random(SEED)
        seed = b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        for _ in range(RANDOM_CASES):
            content = bytearray(seed)
            for _ in range(draw.randint(1, 6)):
                at = draw.randrange(len(content))
                draw.choice((lambda: content.__setitem__(at, draw.randrange(256)), lambda: content.__delitem__(slice(at, at + draw.randint(1, 9))),
                             lambda: content.__setitem__(slice(at, at), content[:draw.randint(1, 40)])))()
                if not content:
                    content = bytearray(b"x")
            with socket.create_connection(("127.0.0.1", gateway.port), timeout=5) as connection:
                connection.sendall(bytes(content))
        self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")
        self.assertIsNone(gateway.process.poll())

    def test_slow_clients_harm_nobody(self):
        gateway = self.start()
        slow = []
        for _ in range(100):
            connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=5)
            connection.sendall(b"POST /vision/digits/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx")
            slow.append(connection)
        started = time.monotonic()
        for _ in range(50):
            self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(len(self.replica_.requests), 50)
        for connection in slow:
            connection.close()

    def test_answers_that_are_not_http(self):
        answers = {
            "/nothing": b"",
            "/garbage": b"\x00\x01garbage\r\n\r\n",
            "/half": b"HTTP/1.1 200 OK\r\nContent-Le",
            "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
            "/negative": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
            "/large-head": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
            "/status": b"HTTP/1.1 999999 OK\r\n\r\n",
            "/another": b"HTTP/2 200\r\n\r\n",
            "/switches": b"HTTP/1.1 101 Switching Protocols\r\n\r\nabc",
            "/lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        }

        def answer(head, body, connection):
            connection.sendall(answers.get(head.split(" ")[1], plain("good")))
            return head.split(" ")[1] not in answers and None

        gateway = self.start(answer)
        for path in answers:
            # A fresh table forgets that the replica has failed.
            self.set_table(gateway, service())
            self.set_table(gateway, service(endpoint(self.replica_.url), answer=3.0))
            status, _, content = gateway.ask("POST", "/vision/digits" + path, b"{}")
            self.assertEqual(status, 502, (path, content))
            self.assertIn("error", json.loads(content))
        self.set_table(gateway, service())
        self.set_table(gateway, service(endpoint(self.replica_.url)))
        self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")

    def test_a_replica_with_a_key_that_sends_garbage(self):
        """It never ends its answer, nor its connection: the request does not wait for that."""
        for begin in (b"SSH-2.0-a\r\n", b"\0" * 20, b"garbage"):
            replica = self.silent_after(begin)
            gateway = self.gateway()
            good = self.scripted(lambda head, body, connection: connection.sendall(plain("good")))
            keyed = endpoint(replica, key="k1", says=True)
            if begin == b"garbage":  # with pauses between the tries
                self.set_table(gateway, service(keyed, answer=300.0))
                status, _, content = gateway.ask("POST", "/vision/digits/a", b"{}", timeout=120)
                self.assertEqual((status, content), (502, b'{"error":"no replica took the request (sent 3 times)"}'))
            self.set_table(gateway, service(keyed, endpoint(good.url, "s1"), answer=300.0))
            for _ in range(5):  # it was never sent, so another replica may have it
                self.assertEqual(gateway.ask("POST", "/vision/digits/a", b"{}", timeout=120)[2], b"good")
            gateway.end(signal.SIGKILL)

    def silent_after(self, begin):
        """The URL of a server that sends these bytes, and then nothing."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        held = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    held.append(connection)
                    connection.sendall(begin)

        def close():
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in (listener, *held):
                each.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self.addCleanup(close)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    def test_lengths_that_lie(self):
        def answer(head, body, connection):
            path = head.split(" ")[1]
            if path == "/less":  # than announced
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
                return False
            if path == "/cut":
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
                return False
            if path == "/chunk":
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
                return False
            if path == "/more":
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
                return None
            connection.sendall(plain("good"))
            return None

        gateway = self.start(answer)
        for path in ("/less", "/cut", "/chunk"):
            self.set_table(gateway, service())
            self.set_table(gateway, service(endpoint(self.replica_.url)))
            with self.assertRaises((http.client.IncompleteRead, ConnectionError, http.client.HTTPException), msg=path):
                gateway.ask("POST", "/vision/digits" + path, b"{}")
        self.set_table(gateway, service())
        self.set_table(gateway, service(endpoint(self.replica_.url)))
        for _ in range(20):  # what is more than announced is never taken for the next answer
            self.assertEqual(gateway.ask("GET", "/vision/digits/more")[2], b"abc")
            self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")

    def test_a_client_that_does_not_read_slows_its_replica_down(self):
        sent = [0]

        def answer(head, body, connection):
            if head.split(" ")[1] != "/large":
                return connection.sendall(plain("good"))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n")
            for _ in range(2000):
                connection.sendall(b"x" * 100_000)
                sent[0] += 100_000
            return None

        gateway = self.start(answer)
        connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
        connection.sendall(b"GET /vision/digits/large HTTP/1.1\r\nHost: a\r\n\r\n")
        last = -1
        while last != sent[0]:
            last = sent[0]
            time.sleep(0.5)
        self.assertLess(sent[0], 100_000_000)
        self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")
        count = 0
        while count < 200_000_000 and (part := connection.recv(1 << 20)):
            count += len(part)
        self.assertGreaterEqual(count, 200_000_000)
        connection.close()

    def test_a_tenant_leaves_room_for_others(self):
        def answer(head, body, connection):
            if "/held" in head:
                held.wait(60)
            connection.sendall(plain("good"))

        held = threading.Event()
        self.addCleanup(held.set)
        replica = self.scripted(answer)
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(replica.url, in_flight_max=20), tenant="vision", answer=60.0),
                       service(endpoint(replica.url, "s1", in_flight_max=20), tenant="sound"))
        clients = []
        self.addCleanup(lambda: [each.close() for each in clients])
        refused = 0
        while refused == 0 and len(clients) < 600:
            connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=5)
            connection.sendall(b"GET /vision/digits/held HTTP/1.1\r\nHost: a\r\n\r\n")
            clients.append(connection)
            if len(clients) >= 400:
                connection.settimeout(1)
                with contextlib.suppress(TimeoutError):
                    refused += b" 429 " in connection.recv(4096)
        self.assertEqual(len(clients), 401, "half of the connections")
        for _ in range(20):
            self.assertEqual(gateway.ask("GET", "/sound/digits/a")[2], b"good")

    def test_connections_without_requests_keep_nobody_out(self):
        gateway = self.start()
        idle = []
        self.addCleanup(lambda: [each.close() for each in idle])
        for count in range(1200):
            connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=5)
            connection.sendall(b"GET /vision/digits/a HTTP/1.1\r\nHo" if count % 2 else b"")
            idle.append(connection)
        for _ in range(20):
            self.assertEqual(gateway.ask("GET", "/vision/digits/a")[2], b"good")

    def test_answers_that_do_not_end(self):
        def answer(head, body, connection):
            path = head.split(" ")[1]
            if path == "/slow":  # says a length, and takes longer than it may
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while True:
                    connection.sendall(b"x")
                    time.sleep(0.2)
            if path == "/silent":  # a stream that stops
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
                time.sleep(30)
                return False
            if path == "/stream":  # longer than an answer with a length may take
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in range(20):
                    connection.sendall(b"3\r\nabc\r\n")
                    time.sleep(0.25)
                return connection.sendall(b"0\r\n\r\n")
            return connection.sendall(plain("good"))

        self.replica_ = self.scripted(answer)
        gateway = self.gateway(more=("--silence-seconds", "2", "--answer-seconds-max", "2", "--metrics", "127.0.0.1:0"))
        self.set_table(gateway, service(endpoint(self.replica_.url)))
        for path in ("/slow", "/silent"):
            started = time.monotonic()
            with self.assertRaises((http.client.HTTPException, ConnectionError), msg=path):
                gateway.ask("GET", "/vision/digits" + path)
            self.assertLess(time.monotonic() - started, 15)
            self.set_table(gateway, service())  # forgets that the replica has failed
            self.set_table(gateway, service(endpoint(self.replica_.url)))
        self.assertEqual(gateway.ask("GET", "/vision/digits/stream")[2], b"abc" * 20)


if __name__ == "__main__":
    unittest.main()
