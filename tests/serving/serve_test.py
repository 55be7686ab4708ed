#!/usr/bin/env python3
"""What requests to `berth serve` get over HTTP: right answers, refusals of bad ones, batches."""

import concurrent.futures
import http.client
import json
import random
import socket
import threading
import time
import unittest

import onnx_bytes
from local_serve import HEAD_LENGTH, Serving, binary_body, device_file, floats, require_engine

COLUMNS = 4


class Answers(Serving):
    def setUp(self):
        super().setUp()
        self.add("twice", onnx_bytes.twice(2))
        self.server = self.serve()

    def test_json(self):
        status, answer = self.server.infer("twice", [[1, 2], [3, 4.5]], id="a")
        self.assertEqual((status, answer), (200, {
            "model_name": "twice", "model_version": "1", "id": "a",
            "outputs": [{"name": "y", "datatype": "FP32", "shape": [2, 2], "data": [2.0, 4.0, 6.0, 9.0]}]}))
        status, answer = self.server.infer("twice", [[1, 2]], outputs=[{"name": "y"}])
        self.assertEqual((status, answer["outputs"][0]["data"]), (200, [2.0, 4.0]))

    def test_binary(self):
        body, headers = binary_body([1, 2], floats([1.5, -2]), parameters={"binary_data_output": True})
        status, fields, content = self.server.ask("POST", "/v2/models/twice/versions/1/infer", body, headers)
        self.assertEqual(status, 200, content)
        head = int(fields[HEAD_LENGTH])
        self.assertEqual(content[head:], floats([3, -4]))
        output = json.loads(content[:head])["outputs"][0]
        self.assertEqual((output["shape"], output["parameters"]), ([1, 2], {"binary_data_size": 8}))
        body, headers = binary_body([1, 2], floats([1.5, -2]))
        status, fields, content = self.server.ask("POST", "/v2/models/twice/infer", body, headers)
        self.assertEqual((status, json.loads(content)["outputs"][0]["data"]), (200, [3.0, -4.0]))

    def test_an_answer_that_json_cannot_carry(self):
        body, headers = binary_body([1, 2], floats([float("inf"), 3e38]))
        self.refused(self.server, 500, "binary", "POST", "/v2/models/twice/infer", body, headers)
        body, headers = binary_body([1, 2], floats([float("inf"), 3e38]),
                                    outputs=[{"name": "y", "parameters": {"binary_data": True}}])
        status, _, content = self.server.ask("POST", "/v2/models/twice/infer", body, headers)
        self.assertEqual((status, content[-8:]), (200, floats([float("inf"), float("inf")])))

    def test_no_rows(self):
        status, answer = self.server.json("POST", "/v2/models/twice/infer", {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [0, 2], "data": []}]})
        self.assertIn(status, (200, 400), answer)
        self.assertEqual(self.answer(self.server, "twice", [[1, 2]]), [2.0, 4.0])

    def test_metadata(self):
        tensor = lambda name: {"name": name, "datatype": "FP32", "shape": [-1, 2]}
        status, metadata = self.server.json("GET", "/v2/models/twice")
        self.assertEqual((status, metadata), (200, {
            "name": "twice", "versions": ["1"], "platform": "onnxruntime_onnx", "inputs": [tensor("x")],
            "outputs": [tensor("y")]}))
        self.answer(self.server, "twice", [[1, 2]])
        status, config = self.server.json("GET", "/v2/models/twice/config")
        self.assertEqual((status, config["max_batch_size"], config["input"][0]["dims"]), (200, 64, [2]))
        status, answer = self.server.json("GET", "/v2/models/twice/stats")
        statistics = answer["model_stats"][0]
        self.assertEqual((status, statistics["inference_count"], statistics["execution_count"]), (200, 1, 1))
        self.assertGreater(statistics["last_inference"], 1_600_000_000_000)
        for path in ["/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/twice/ready", "/v2/models/stats"]:
            self.assertEqual(self.server.ask("GET", path)[0], 200, path)

    def test_wrong_requests(self):
        infer = "/v2/models/twice/infer"
        tensor = {"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}
        with_tensor = lambda **changes: json.dumps({"inputs": [{**tensor, **changes}]})
        for status, words, body in [
                (400, "[-1,2]", with_tensor(shape=[1, 3], data=[1, 2, 3])), (400, "[-1,2]", with_tensor(shape=[2])),
                (400, "FP32", with_tensor(datatype="INT32")), (400, "FP33", with_tensor(datatype="FP33")),
                (400, "2", with_tensor(data=[1])), (400, "a number", with_tensor(data=[1, "a"])), (400, "-1", with_tensor(shape=[-1, 2])),
                (400, '"x"', with_tensor(name="z")), (400, "JSON", "{"), (400, "JSON", "[]"), (400, "inputs", "{}"),
                (400, "JSON", ""), (400, "twice", '{"inputs":[],"inputs":[]}'), (400, '"x"', '{"inputs":[]}'),
                (400, "1000", json.dumps({"inputs": [tensor], "parameters": {"priority": 1001}})),
                (400, "timeout", json.dumps({"inputs": [tensor], "parameters": {"timeout": -1}})),
                (400, "timeout", json.dumps({"inputs": [tensor], "parameters": {"timeout": 1.5}})),
                (400, "z", json.dumps({"inputs": [tensor], "outputs": [{"name": "z"}]})),
                (501, "sequence", json.dumps({"inputs": [tensor], "parameters": {"sequence_id": 5}})),
                (501, "shared memory", with_tensor(parameters={"shared_memory_region": "r"}))]:
            with self.subTest(body=body):
                self.refused(self.server, status, words, "POST", infer, body)
        self.refused(self.server, 400, "64", "POST", infer,
                     json.dumps({"inputs": [{**tensor, "shape": [65, 2], "data": [0] * 130}]}))
        self.refused(self.server, 400, HEAD_LENGTH, "POST", infer, "{}", {HEAD_LENGTH: "3"})
        self.refused(self.server, 415, "xml", "POST", infer, "{}", {"Content-Type": "text/xml"})
        self.refused(self.server, 404, '"none"', "POST", "/v2/models/none/infer", with_tensor())
        self.refused(self.server, 404, '"2"', "POST", "/v2/models/twice/versions/2/infer", with_tensor())
        self.refused(self.server, 404, "/v3", "GET", "/v3")
        self.refused(self.server, 405, "POST", "GET", infer)
        self.refused(self.server, 405, "GET", "DELETE", "/v2/models/twice")
        self.refused(self.server, 501, "shared memory", "GET", "/v2/systemsharedmemory/status")
        self.refused(self.server, 404, '"none"', "POST", "/v2/repository/models/none/load", "{}")
        self.refused(self.server, 501, "config", "POST", "/v2/repository/models/twice/load",
                     json.dumps({"parameters": {"config": "{}"}}))
        self.assertEqual(self.answer(self.server, "twice", [[1, 2]]), [2.0, 4.0])

    def test_a_body_that_is_too_large(self):
        self.refused(self.server, 413, str(64 << 20), "POST", "/v2/models/twice/infer", bytes((64 << 20) + 1))
        body, headers = binary_body([(64 << 20) // 8, 2], b"")
        body += bytes((64 << 20) - len(body))
        self.assertEqual(self.server.ask("POST", "/v2/models/twice/infer", body, headers)[0], 400)
        self.assertEqual(self.answer(self.server, "twice", [[1, 2]]), [2.0, 4.0])

    def test_a_length_that_is_too_large_is_refused_before_the_body(self):
        for length in ((64 << 20) + 1, 1 << 40):
            with socket.create_connection(self.server.http.split(":"), timeout=30) as stream:
                began = time.monotonic()
                stream.sendall(b"POST /v2/models/twice/infer HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % length)
                answer = b"".join(iter(lambda: stream.recv(4096), b""))  # until the connection ends
                self.assertLess(time.monotonic() - began, 20)
            self.assertRegex(answer, rb'(?s)^HTTP/1.1 413 .*\r\n\r\n{"error":')
        self.assertEqual(self.answer(self.server, "twice", [[1, 2]]), [2.0, 4.0])

    def test_one_connection(self):
        connection = http.client.HTTPConnection(self.server.http, timeout=60)
        self.addCleanup(connection.close)
        connection.connect()
        stream = connection.sock
        for i in range(200):
            body = "{" if i % 10 == 9 else json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [i, 1]}]})
            connection.request("POST", "/v2/models/twice/infer", body)
            answer = connection.getresponse()
            content = json.loads(answer.read())
            self.assertIs(connection.sock, stream, "the connection was closed")
            if i % 10 == 9:
                self.assertEqual(answer.status, 400)
            else:
                self.assertEqual((answer.status, content["outputs"][0]["data"]), (200, [2.0 * i, 2.0]))

    def test_bad_requests_in_quantity(self):
        rng = random.Random(1)
        body, headers = binary_body([1, 2], floats([1, 2]), id="a", parameters={"priority": 1, "timeout": 1000000})
        text = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [[1, 2]]}]}).encode()
        connection = http.client.HTTPConnection(self.server.http, timeout=60)
        self.addCleanup(connection.close)
        statuses = set()
        for i in range(3000):
            content, fields = (bytearray(body), dict(headers)) if i % 2 else (bytearray(text), {})
            for _ in range(rng.randint(1, 4)):
                place = rng.randrange(len(content))
                kind = rng.randrange(3)
                if kind == 0:
                    content[place] = rng.randrange(256)
                elif kind == 1:
                    del content[place:place + rng.randint(1, 8)]
                else:
                    content[place:place] = content[rng.randrange(len(content)):][:rng.randint(1, 8)]
            if rng.random() < 0.2:
                fields[HEAD_LENGTH] = str(rng.choice([0, 1, len(content), len(content) + 1, 2**63, -1, "x"]))
            connection.request("POST", "/v2/models/twice/infer", bytes(content), fields)
            answer = connection.getresponse()
            found = json.loads(answer.read().split(b"}]}")[0] + b"}]}") if answer.status == 200 else json.loads(answer.read())
            self.assertEqual("error" in found, answer.status != 200)
            statuses.add(answer.status)
        self.assertLessEqual(statuses, {200, 400, 429, 500, 501, 504})
        self.assertIn(400, statuses)
        for _ in range(100):
            with socket.create_connection(self.server.http.split(":"), timeout=30) as stream:
                stream.sendall(rng.choice([b"", b"POST /v2/models/twice/infer HTTP/1.1\r\nContent-Length: 99\r\n\r\n"]) +
                               rng.randbytes(rng.randrange(300)))
        self.assertEqual(self.answer(self.server, "twice", [[1, 2]]), [2.0, 4.0])
        self.ends_well(self.server)


class Batches(Serving):
    def at_once(self, serve, model, count, columns):
        """Each client sends rows of its own; returns rows and answers."""
        barrier = threading.Barrier(count)
        def ask(i):
            connection = http.client.HTTPConnection(serve.http, timeout=60)
            rows = [[float(i * 7 + j) for j in range(columns)] for _ in range(1 + i % 2)]
            answers = []
            barrier.wait(60)
            for _ in range(10):
                body, headers = binary_body([len(rows), columns], floats(sum(rows, [])))
                connection.request("POST", f"/v2/models/{model}/infer", body, headers)
                answer = connection.getresponse()
                answers.append((answer.status, json.loads(answer.read())))
            connection.close()
            return rows, answers
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return list(pool.map(ask, range(count)))

    def largest_batch(self, serve, model):
        sizes = serve.json("GET", f"/v2/models/{model}/stats")[1]["model_stats"][0]["batch_stats"]
        return max(each["batch_size"] for each in sizes)

    def test_rows_that_are_independent_share_batches(self):
        # Each batch takes 5 ms, so that requests meet.
        device = self.repository.parent / f"{self.repository.name}.yaml"
        device.write_text(device_file(5, {"twice": 1000}, 10000))
        self.addCleanup(device.unlink)
        self.add("twice", onnx_bytes.twice(COLUMNS))
        serve = self.serve("--device", f"simulated:{device}")
        for rows, answers in self.at_once(serve, "twice", 16, COLUMNS):
            for status, answer in answers:
                self.assertEqual(status, 200, answer)
                self.assertEqual(answer["outputs"][0]["data"], [2 * value for row in rows for value in row])
        self.assertGreater(self.largest_batch(serve, "twice"), 4)
        self.assertIn("made-up", serve.json("GET", "/v2")[1]["device"])

    def test_rows_that_influence_each_other_do_not(self):
        self.add("sums", onnx_bytes.sum_of_rows(COLUMNS))
        serve = self.serve("--threads", "1")
        for rows, answers in self.at_once(serve, "sums", 16, COLUMNS):
            total = sum(sum(row) for row in rows)
            for status, answer in answers:
                self.assertEqual(status, 200, answer)
                self.assertEqual(answer["outputs"][0]["data"], [total + value for row in rows for value in row])
        self.assertEqual(serve.json("GET", "/v2/models/sums/config")[1]["max_batch_size"], 0)

    def test_a_config_is_believed(self):
        # So that what it says is served is seen to come from the config: the answers are wrong.
        config = ('max_batch_size: 8 input [{name: "x" data_type: TYPE_FP32 dims: [%d]}]'
                  ' output [{name: "y" data_type: TYPE_FP32 dims: [%d]}]' % (COLUMNS, COLUMNS))
        self.add("sums", onnx_bytes.sum_of_rows(COLUMNS), config=config)
        self.add("fixed", onnx_bytes.twice(COLUMNS, 1), config="max_batch_size: 8")
        serve = self.serve()
        self.assertEqual(serve.json("GET", "/v2/models/sums/config")[1]["max_batch_size"], 8)
        self.refused(serve, 400, "8", "POST", "/v2/models/sums/infer", json.dumps({"inputs": [
            {"name": "x", "datatype": "FP32", "shape": [9, COLUMNS], "data": [0] * 9 * COLUMNS}]}))
        state, reason = self.state(serve, "fixed")
        self.assertEqual(state, "UNAVAILABLE")
        self.assertIn("max_batch_size", reason)

    def test_a_model_with_fixed_sizes(self):
        self.add("fixed", onnx_bytes.twice(COLUMNS, 1))
        serve = self.serve()
        self.assertEqual(self.answer(serve, "fixed", [[1, 2, 3, 4]]), [2.0, 4.0, 6.0, 8.0])
        self.refused(serve, 400, "[1,4]", "POST", "/v2/models/fixed/infer", json.dumps({"inputs": [
            {"name": "x", "datatype": "FP32", "shape": [2, COLUMNS], "data": [0] * 2 * COLUMNS}]}))


if __name__ == "__main__":
    require_engine()
    unittest.main()
