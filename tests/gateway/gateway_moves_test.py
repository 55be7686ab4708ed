#!/usr/bin/env python3
"""Replicas are killed and moved in random order, and the gateway is killed, under load: no `infer` fails, and records are
the clients' counts."""

import http.client
import json
import random
import signal
import threading
import time
import unittest

from local_gateway import INFER, GatewayCase, infer_body, service
from local_serve import require_engine

SEED = 3
CHANGES = 12
GATEWAY_KILLS = 5


class Load:
    """Clients that send one request after the other. `repeats`: what is not answered is sent again for 10 s."""

    def __init__(self, gateway, count, repeats=False):
        self.address, self.repeats = gateway.address, repeats
        self.lock = threading.Lock()
        self.good, self.bad = 0, []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def ask(self, values):
        """Nothing if the answer is right, else what was wrong."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        try:
            connection.request("POST", INFER, infer_body(values))
            answer = connection.getresponse()
            content = answer.read()
            is_good = answer.status == 200 and json.loads(content)["outputs"][0]["data"] == [2 * value for value in values]
            return None if is_good else f"{answer.status} {content[:200]}"
        except (OSError, http.client.HTTPException) as error:
            return repr(error)
        finally:
            connection.close()

    def run(self, number):
        while not self.stopped.is_set():
            limit = time.monotonic() + (10 if self.repeats else 0)
            wrong = self.ask([number, number + 1])
            while wrong and time.monotonic() < limit:
                time.sleep(0.05)
                wrong = self.ask([number, number + 1])
            with self.lock:
                self.good += wrong is None
                self.bad += [wrong] if wrong else []
            time.sleep(0.02)

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        return self.good, self.bad


class Moves(GatewayCase):
    def setUp(self):
        super().setUp()
        self.add_twice()
        self.draw = random.Random(SEED)
        self.generation = 0

    def new_replica(self):
        self.generation += 1
        return self.replica(f"gpu-0-{self.generation % 3}", self.generation, f"key-{self.generation}")

    def set_ends(self, gateway, *ends):
        self.set_table(gateway, service(*ends, answer=30.0))

    def change(self, gateway, live):
        """A replica is killed and replaced, or moved as `berth up` does."""
        at = self.draw.randrange(len(live))
        server, _ = live[at]
        others = [end for index, (_, end) in enumerate(live) if index != at]
        if self.draw.random() < 0.5:
            server.end(signal.SIGKILL)
            live[at] = self.new_replica()
            return self.set_ends(gateway, *(end for _, end in live))
        fresh = self.new_replica()
        self.set_ends(gateway, *others, dict(live[at][1], is_leaving=True), fresh[1])
        if self.draw.random() < 0.5:
            self.set_ends(gateway, *others, fresh[1])
        server.process.send_signal(signal.SIGTERM)
        live[at] = fresh
        return self.set_ends(gateway, *(end for _, end in live))

    def test_no_infer_fails(self):
        live = [self.new_replica() for _ in range(3)]
        gateway = self.gateway()
        self.set_ends(gateway, *(end for _, end in live))
        load = Load(gateway, 6)
        for _ in range(CHANGES):
            self.change(gateway, live)
        good, bad = load.end()
        self.assertEqual(bad, [])
        self.assertGreater(good, 100)
        wanted = {"arrivals": good, "dropped": 0}
        self.wait_until(lambda: {name: self.up.sums()[name] for name in wanted} == wanted, "all records")
        self.wait_until(lambda: self.up.sums()["in_time"] + self.up.sums()["late"] == good, "all answers")

    def test_a_gateway_that_is_killed_comes_back(self):
        live = [self.new_replica() for _ in range(2)]
        gateway = self.gateway()
        self.set_ends(gateway, *(end for _, end in live))
        load = Load(gateway, 4, repeats=True)
        for _ in range(GATEWAY_KILLS):
            time.sleep(0.2 + self.draw.random() / 2)
            gateway.end(signal.SIGKILL)
            gateway = self.gateway(gateway.address)
        time.sleep(0.5)
        good, bad = load.end()
        self.assertEqual(bad, [])
        self.assertGreater(good, 50)
        self.assertEqual(gateway.end(), (0, ""))
        self.assertLessEqual(self.up.sums()["in_time"], self.up.sums()["arrivals"])


if __name__ == "__main__":
    require_engine()
    unittest.main()
