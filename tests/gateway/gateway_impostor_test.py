#!/usr/bin/env python3
"""A process that takes over the port of a dead replica gets nothing of the requests for it."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import unittest

from local_gateway import INFER, GatewayCase, endpoint, infer_body, plain, service

SECRET = "1.25"
OTHER_USER = 600_123

# Listens at a port as another user, answers everything, and says what it was sent (in one piece or several).
OTHER_USERS_SERVER = """
import os, re, socket, sys
os.setgroups([]); os.setresgid(*[int(sys.argv[2])] * 3); os.setresuid(*[int(sys.argv[2])] * 3)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("port", listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    data = b""
    while piece := connection.recv(65536):
        data += piece
        head, end, body = data.partition(b"\\r\\n\\r\\n")
        length = re.search(rb"(?i)content-length: *(\\d+)", head)
        if end and len(body) >= int(length[1] if length else 0):
            break
    print(repr(data), flush=True)
    if data:
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\nConnection: close\\r\\n\\r\\nevil")
    connection.close()
"""


class Impostor:
    """Takes over a port; answers with `answer(request)`."""

    def __init__(self, port, answer):
        self.received = b""
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.count = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                while data := connection.recv(1 << 20):
                    self.received += data
                    connection.sendall(self.answer(data))
            except OSError:
                return


class Impostors(GatewayCase):
    def setUp(self):
        super().setUp()
        self.add_twice()
        self.first, self.first_end = self.replica("gpu-0-a", 1, "key-a")
        self.second, self.second_end = self.replica("gpu-0-b", 7, "key-b")

    def take_over(self, answer):
        port = int(self.first_end["url"].rsplit(":", 1)[1])
        self.first.process.send_signal(signal.SIGKILL)
        self.first.process.wait()
        impostor = Impostor(port, answer)
        self.addCleanup(impostor.listener.close)
        return impostor

    def ask_often(self, gateway, impostor):
        """Every answer is the other replica's, until the impostor was asked several times."""
        def is_asked():
            status, headers, _ = gateway.ask("POST", INFER, infer_body([float(SECRET), 2]), {"Authorization": "Bearer of-a-client"})
            self.assertEqual((status, headers["berth-slice"]), (200, "gpu-0-b"))
            return impostor.count >= 2
        # Long, as a replica whose first answer was slow, and that failed, is tried again later and later.
        self.wait_until(is_asked, "questions to the impostor", seconds=90)
        for word in (b"key-a", b"berth-key", SECRET.encode(), b"inputs", b"of-a-client", b"infer"):
            self.assertNotIn(word, impostor.received)

    def test_it_gets_neither_the_key_nor_a_body(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end, self.second_end))
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[0], 200)
        names = "berth-slice: gpu-0-a\r\nberth-generation: 1\r\nberth-proof: " + "0" * 64 + "\r\n"
        impostor = self.take_over(lambda _: plain("evil", headers=names))
        self.ask_often(gateway, impostor)
        self.assertIn(b"berth-nonce", impostor.received)

    def test_the_proof_of_another_replica_does_not_help_it(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end, self.second_end))
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[0], 200)
        port = int(self.second_end["url"].rsplit(":", 1)[1])

        def passed_on(data):
            with socket.create_connection(("127.0.0.1", port)) as real:
                real.sendall(data)
                return real.recv(65536)

        self.ask_often(gateway, self.take_over(passed_on))

    def test_a_proof_that_is_passed_on_does_not_count(self):
        """Even the replica's own key: the proof is of another connection."""
        gateway = self.gateway()
        port = int(self.first_end["url"].rsplit(":", 1)[1])

        def passed_on(data):
            with socket.create_connection(("127.0.0.1", port)) as real:
                real.sendall(data)
                return real.recv(65536)

        impostor = Impostor(0, passed_on)
        self.addCleanup(impostor.listener.close)
        address = f"http://127.0.0.1:{impostor.listener.getsockname()[1]}"
        self.set_table(gateway, service(dict(self.first_end, url=address), self.second_end))
        self.ask_often(gateway, impostor)
        self.assertTrue(re.search(rb"HEAD /v2/health/live", impostor.received))

    def test_the_key_is_not_sent(self):
        """`berth serve` itself shows that it takes the token only: here a relay sees what the gateway sends."""
        seen = []
        scripted = self.scripted(lambda head, body, connection: (seen.append(head), connection.sendall(plain("good")))[1])
        gateway = self.gateway()
        self.set_table(gateway, service(endpoint(scripted.url, key="key-of-nobody"), answer=2.0))
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[0], 503)
        self.assertTrue(seen)
        self.assertFalse([head for head in seen if "key" in head], seen)

    @unittest.skipUnless(os.geteuid() == 0, "wants root, to run a process of another user")
    def test_without_a_key_the_listener_has_to_be_the_users(self):
        gateway = self.gateway()
        own = self.scripted(lambda head, body, connection: connection.sendall(plain("good")))
        process = subprocess.Popen([sys.executable, "-c", OTHER_USERS_SERVER, "0", str(OTHER_USER)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        port = int(process.stdout.readline().split()[1])
        wrong = dict(endpoint(f"http://127.0.0.1:{port}", "gpu-1"), user=OTHER_USER + 1)
        right = dict(endpoint(own.url, "gpu-2"), user=0)
        self.set_table(gateway, service(wrong, right))
        for _ in range(10):
            self.assertEqual(gateway.ask("POST", INFER, infer_body())[2], b"good")
        self.set_table(gateway, service(dict(wrong, user=OTHER_USER)))
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[2], b"evil", "it is the process of that user")
        lines = []
        while not lines or "inputs" not in lines[-1]:
            lines.append(process.stdout.readline())
        self.assertTrue(all(line == "b''\n" for line in lines[:-1]), lines)


if __name__ == "__main__":
    unittest.main()
