#!/usr/bin/env python3
"""`berth gateway` in front of real model servers: answers, counts, kills, tables, restarts."""

import http.client
import json
import signal
import threading
import time
import unittest

from local_gateway import INFER, GatewayCase, infer_body, service
from local_serve import require_engine


class Load:
    """Clients that each send one request after the other, over a kept connection, and repeat nothing."""

    def __init__(self, gateway, count=8):
        self.gateway = gateway
        self.lock = threading.Lock()
        self.good, self.bad = 0, []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = http.client.HTTPConnection(self.gateway.address, timeout=30)
        values = [number, number + 1]
        while not self.stopped.is_set():
            try:
                connection.request("POST", INFER, infer_body(values))
                answer = connection.getresponse()
                content = answer.read()
                is_good = answer.status == 200 and json.loads(content)["outputs"][0]["data"] == [2 * value for value in values]
                why = f"{answer.status} {content[:200]}"
            except (OSError, http.client.HTTPException) as error:
                is_good, why = False, repr(error)
                connection.close()
            with self.lock:
                if is_good:
                    self.good += 1
                else:
                    self.bad.append(why)
            time.sleep(0.01)
        connection.close()

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        return self.good, self.bad


class Replicas(GatewayCase):
    """With real model servers."""

    def setUp(self):
        super().setUp()
        self.add_twice()
        self.first, self.first_end = self.replica("gpu-0-a", 1, "key-a")
        self.second, self.second_end = self.replica("gpu-0-b", 7, "key-b")

    def test_answers_come_through_and_are_counted(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end, self.second_end))
        status, headers, content = gateway.ask("POST", INFER, infer_body([1.5, -2]))
        self.assertEqual((status, json.loads(content)["outputs"][0]["data"]), (200, [3, -4]))
        self.assertIn(headers["berth-slice"], ("gpu-0-a", "gpu-0-b"))
        self.assertEqual(gateway.ask("GET", "/vision/digits/v2/health/ready")[0], 200)
        self.assertEqual(gateway.ask("POST", "/vision/digits/v2/models/none/infer", infer_body())[0], 404)
        # The key is the gateway's, and a client cannot say for whom its request is.
        self.assertEqual(self.first.ask("POST", "/v2/models/twice/infer", infer_body())[0], 401)
        self.assertEqual(gateway.ask("POST", INFER, infer_body(), {"berth-key": "x", "berth-slice": "y"})[0], 200)
        load = Load(gateway)
        time.sleep(1.5)
        good, bad = load.end()
        self.assertEqual(bad, [])
        wanted = good + 4
        self.wait_until(lambda: self.up.sums()["in_time"] + self.up.sums()["late"] == wanted, "all records")
        self.assertEqual(self.up.sums()["arrivals"], wanted)
        self.assertEqual(self.up.sums()["dropped"], 0)

    def test_kill_of_a_replica_fails_no_infer(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end, self.second_end))
        load = Load(gateway)
        time.sleep(0.7)
        self.first.process.send_signal(signal.SIGKILL)
        time.sleep(1.5)
        good, bad = load.end()
        self.assertEqual(bad, [])
        self.assertGreater(good, 50)
        replicas = {each["slice"]: each for each in gateway.status()["services"][0]["replicas"]}
        self.assertTrue(replicas["gpu-0-a"]["is_avoided"])

    def test_another_process_at_the_address_gets_nothing(self):
        gateway = self.gateway()
        wrong = dict(self.first_end, generation=2)  # the slice was made anew, its process is the former one
        other_key = dict(self.second_end, key="new-key")
        self.set_table(gateway, service(wrong, other_key, self.first_end))
        for _ in range(20):
            status, headers, content = gateway.ask("POST", INFER, infer_body())
            self.assertEqual((status, headers["berth-slice"], headers["berth-generation"]), (200, "gpu-0-a", "1"), content)
        self.set_table(gateway, service(wrong, other_key, answer=2.0))
        started = time.monotonic()
        status, _, content = gateway.ask("POST", INFER, infer_body())
        self.assertIn(status, (502, 503), content)
        self.assertLess(time.monotonic() - started, 4)
        self.assertEqual(self.second.json("GET", "/v2/health/ready")[0], 200)

    def test_a_leaving_replica_gets_nothing_new(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end))
        load = Load(gateway, 4)
        time.sleep(0.3)
        self.set_table(gateway, service(dict(self.first_end, is_leaving=True), self.second_end))
        self.wait_until(lambda: gateway.status()["services"][0]["replicas"][0]["in_flight"] == 0, "drain")
        self.first.process.send_signal(signal.SIGKILL)
        time.sleep(0.3)
        good, bad = load.end()
        self.assertEqual(bad, [])
        self.assertGreater(good, 10)

    def test_goes_on_alone_with_the_last_table(self):
        gateway = self.gateway()
        self.set_table(gateway, service(self.first_end, self.second_end))
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[0], 200)
        self.up.stop()
        self.assertEqual(gateway.ask("POST", INFER, infer_body())[0], 200)
        gateway.end(signal.SIGKILL)
        again = self.gateway(gateway.address)
        self.assertEqual(again.ask("POST", INFER, infer_body())[0], 200)
        self.assertEqual(again.status()["table"], self.up.table["table"])
        self.up.start()
        self.wait_until(lambda: len(self.up.acknowledged) == 2, "the second gateway's report")
        self.set_table(again, service(self.second_end))
        self.assertEqual(again.ask("POST", INFER, infer_body())[1]["berth-slice"], "gpu-0-b")
        status, errors = again.end()
        self.assertEqual(status, 0, errors)



if __name__ == "__main__":
    require_engine()
    unittest.main()
