#!/usr/bin/env python3
"""What happens to the models of a running `berth serve`, and to the server: versions, broken models, memory, start, end, `--demo`."""

import concurrent.futures
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest

import onnx_bytes
from local_serve import PROGRAM, Serve, Serving, binary_body, device_file, require_engine


class Repository(Serving):
    def test_a_new_version_takes_over(self):
        self.add("m", onnx_bytes.twice(2))
        serve = self.serve()
        self.assertEqual(self.answer(serve, "m", [[1, 2]]), [2.0, 4.0])
        self.add("m", b"no model", version=2)
        self.wait_until(lambda: self.state(serve, "m", "2")[0] == "UNAVAILABLE", "the broken version")
        self.assertEqual(serve.infer("m", [[1, 2]])[1]["model_version"], "1")
        self.add("m", onnx_bytes.sum_of_rows(2), version=3)
        is_asking, failures = True, []
        def keep_asking():
            while is_asking:
                status, answer = serve.infer("m", [[1, 2]])
                if status != 200 or answer["outputs"][0]["data"] not in ([2.0, 4.0], [4.0, 5.0]):
                    failures.append(answer)
        asker = threading.Thread(target=keep_asking)
        asker.start()
        try:
            self.wait_until(lambda: serve.infer("m", [[1, 2]])[1].get("model_version") == "3", "version 3")
        finally:
            is_asking = False
            asker.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.answer(serve, "m", [[1, 2]]), [4.0, 5.0])

    def test_models_come_and_go(self):
        serve = self.serve()
        self.assertEqual(self.states(serve), {})
        self.add("m", onnx_bytes.twice(2))
        self.wait_until(lambda: self.state(serve, "m")[0] == "READY", "the model")
        self.assertEqual(self.answer(serve, "m", [[1, 2]]), [2.0, 4.0])
        (self.repository / "m/1/model.onnx").unlink()
        (self.repository / "m/1").rmdir()
        (self.repository / "m").rmdir()
        self.wait_until(lambda: serve.infer("m", [[1, 2]])[0] == 404, "its end")
        self.ends_well(serve)

    def test_a_file_counts_once_it_is_unchanged(self):
        serve = self.serve()
        content = onnx_bytes.layers([64, 64, 8])
        for attempt in range(10):
            model, pause, states = f"m{attempt}", 0, []
            path = self.repository / model / "1/model.onnx"
            path.parent.mkdir(parents=True)
            for end in range(0, len(content), len(content) // 5):
                written = time.monotonic()
                path.write_bytes(content[:end])
                time.sleep(0.4)  # a slow writer; no file stands still for a second
                states.append(self.state(serve, model))
                pause = max(pause, time.monotonic() - written)
            path.write_bytes(content)
            if pause < 0.9:
                break  # else one did stand still: the machine is busy
        for state, reason in states:
            self.assertIn(state, ("ABSENT", "UNAVAILABLE"), "a file that is still written")
            self.assertNotIn("wanted an ONNX file", reason)
        self.wait_until(lambda: self.state(serve, model)[0] == "READY", "the whole file")

    def test_broken_models(self):
        good = onnx_bytes.layers([8, 8, 4])
        self.add("good", good)
        self.add("junk", b"junk")
        self.add("empty", b"")
        self.add("half", good[:len(good) // 2])
        self.add("operator", onnx_bytes.model([onnx_bytes.node("Nonsense", ["x"], ["y"])], [onnx_bytes.value_info("x", ["N", 2])],
                                              [onnx_bytes.value_info("y", ["N", 2])]))
        self.add("missing", onnx_bytes.model([onnx_bytes.node("Relu", ["z"], ["y"])], [onnx_bytes.value_info("x", ["N", 2])],
                                             [onnx_bytes.value_info("y", ["N", 2])]))
        self.add("ensemble", good, config='platform: "ensemble"\nensemble_scheduling { }')
        self.add("sequences", good, config="sequence_batching { }")
        self.add("decoupled", good, config="model_transaction_policy { decoupled: true }")
        self.add("syntax", good, config="max_batch_size: {")
        self.add("typo", good, config="max_batchsize: 8")
        self.add("inputs", good, config='input [{name: "z" data_type: TYPE_FP32 dims: [-1, 8]}]')
        serve = self.serve()
        for name, words in [("junk", "ONNX"), ("empty", ""), ("half", "ONNX"), ("ensemble", "ensemble"),
                            ("sequences", "sequence_batching"), ("decoupled", "decoupled"), ("syntax", "config.pbtxt"),
                            ("typo", "max_batchsize"), ("inputs", "found no")]:
            with self.subTest(model=name):
                state, reason = self.state(serve, name)
                self.assertEqual(state, "UNAVAILABLE")
                self.assertIn(words, reason)
                self.assertEqual(serve.ask("GET", f"/v2/models/{name}/ready")[0], 503)
                self.assertEqual(serve.infer(name, [[0] * 8])[0], 503)
        for name, words in [("operator", "Nonsense"), ("missing", "z")]:
            with self.subTest(model=name):  # only a load finds it
                status, answer = serve.infer(name, [[1, 2]])
                self.assertEqual(status, 503, answer)
                self.assertIn(words, answer["error"])
                state, reason = self.state(serve, name)
                self.assertEqual(state, "UNAVAILABLE")
                self.assertIn(words, reason)
                self.refused(serve, 503, words, "POST", f"/v2/repository/models/{name}/load", "{}")
        self.assertEqual(len(self.answer(serve, "good", [[1] * 8])), 4)
        self.ends_well(serve)

    def test_files_with_random_mistakes(self):
        rng = random.Random(1)
        good = onnx_bytes.layers([8, 8, 4])
        for i in range(60):
            content = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                content[rng.randrange(150 if i % 2 else len(content))] = rng.randrange(256)
            self.add(f"m{i}", bytes(content))
        self.add("good", good)
        serve = self.serve()
        for i in range(60):
            self.assertIn(serve.infer(f"m{i}", [[1] * 8])[0], (200, 400, 500, 503))
        self.assertEqual(len(self.answer(serve, "good", [[1] * 8])), 4)
        self.ends_well(serve)

    def test_tuning_fields_are_accepted(self):
        self.add("m", onnx_bytes.twice(2), config='name: "m"\nbackend: "onnxruntime"\nmax_batch_size: 4\n'
                 'instance_group [{ kind: KIND_CPU count: 2 }]\ndynamic_batching { preferred_batch_size: [4] '
                 'max_queue_delay_microseconds: 100 default_queue_policy { max_queue_size: 8 default_timeout_microseconds: 5000000 } }')
        serve = self.serve()
        self.assertEqual(self.answer(serve, "m", [[1, 2]]), [2.0, 4.0])
        errors = self.ends_well(serve)
        self.assertIn("instance_group", errors)


class Memory(Serving):
    """A simulated device: the file says what models take."""

    def start(self, names, memory, bytes_each=1000, latency_ms=1, **more):
        device = self.repository.parent / f"{self.repository.name}.yaml"
        device.write_text(device_file(latency_ms, {name: bytes_each for name in names}, memory, **more))
        self.addCleanup(device.unlink)
        for name in names:
            self.add(name, onnx_bytes.twice(2))
        return self.serve("--device", f"simulated:{device}")

    def test_two_of_four_models(self):
        serve = self.start("abcd", 2500)
        rng = random.Random(1)
        for _ in range(12):
            name = rng.choice("abcd")
            self.assertEqual(self.answer(serve, name, [[1, 2]]), [2.0, 4.0])
            resident = self.resident(serve)
            self.assertIn(name, resident)
            self.assertLessEqual(len(resident), 2)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda i: serve.infer("abcd"[i % 4], [[i, 2]]), range(48)))
        for i, (status, answer) in enumerate(answers):
            self.assertEqual((status, answer["outputs"][0]["data"] if status == 200 else answer), (200, [2.0 * i, 4.0]))

    def test_load_unload_and_lease(self):
        serve = self.start("abc", 2500)
        load = lambda name, **parameters: serve.json("POST", f"/v2/repository/models/{name}/load", {"parameters": parameters})[0]
        self.assertEqual(load("a", lease_seconds=60), 200)
        self.assertEqual(self.resident(serve), {"a"})
        self.assertEqual(load("b", lease_seconds=60), 200)
        for _ in range(2):  # two leases fill the memory
            status, answer = serve.infer("c", [[1, 2]], parameters={"timeout": 500000})
            self.assertIn(status, (429, 503, 504), answer)
        status, fields, answer = serve.ask("POST", "/v2/repository/models/c/load", "{}")
        self.assertEqual(status, 503, answer)
        self.assertLessEqual(int(fields["Retry-After"]), 60)
        self.assertEqual(self.resident(serve), {"a", "b"})
        self.assertEqual(serve.json("POST", "/v2/repository/models/b/unload", {})[0], 200)
        self.assertEqual(self.resident(serve), {"a"})
        self.assertEqual(self.state(serve, "b")[0], "UNAVAILABLE")
        self.assertEqual(serve.infer("b", [[1, 2]])[0], 503)
        self.assertEqual(serve.ask("GET", "/v2/models/b/ready")[0], 503)
        self.assertEqual(self.answer(serve, "c", [[1, 2]]), [2.0, 4.0])
        self.assertEqual(self.resident(serve), {"a", "c"})
        self.assertEqual(load("b"), 200)
        self.assertEqual(self.resident(serve), {"a", "b"})
        self.assertEqual(self.answer(serve, "b", [[1, 2]]), [2.0, 4.0])
        self.assertEqual(load("a", lease_seconds=3601), 400)
        self.assertEqual(serve.json("POST", "/v2/repository/models/none/unload", {})[0], 404)

    def test_a_model_that_never_fits(self):
        device = self.repository.parent / f"{self.repository.name}.yaml"
        device.write_text(device_file(1, {"a": 1000, "b": 2000}, 2000))
        self.addCleanup(device.unlink)
        for name in "abc":
            self.add(name, onnx_bytes.twice(2))
        serve = self.serve("--device", f"simulated:{device}", "--memory", "1500")
        self.assertEqual(self.answer(serve, "a", [[1, 2]]), [2.0, 4.0])
        for name, words in [("b", "2000"), ("c", "simulated")]:
            state, reason = self.state(serve, name)
            self.assertEqual(state, "UNAVAILABLE")
            self.assertIn(words, reason)
            self.assertEqual(serve.infer(name, [[1, 2]])[0], 503)
            self.refused(serve, 503, words, "POST", f"/v2/repository/models/{name}/load", "{}")
        self.assertEqual(self.answer(serve, "a", [[1, 2]]), [2.0, 4.0])

    def test_real_models_in_little_memory(self):
        # 2.4 MB of weights each: the first load of each needs 2.7 times that.
        content = onnx_bytes.layers([600, 600, 400], seed=3)
        for name in "abcd":
            self.add(name, content)
        serve = self.serve("--memory", "10MiB", "--threads", "1")
        first = self.answer(serve, "a", [[0.5] * 600])
        for name in "bcdabcd":
            self.assertEqual(self.answer(serve, name, [[0.5] * 600]), first)
            self.assertLess(len(self.resident(serve)), 4)
        self.ends_well(serve)


class Starts(Serving):
    def refuses(self, words, *options):
        serve = Serve(self.repository, *options)
        output, errors = serve.process.communicate(timeout=30)
        self.assertEqual((serve.process.returncode, output), (2, ""), errors)
        self.assertIn(words, errors)

    def test_bad_options(self):
        self.refuses("none.so", "--engine", str(self.repository / "none.so"))
        self.refuses("none.yaml", "--config", str(self.repository / "none.yaml"))
        self.refuses("--device", "--device", "tpu")
        self.refuses("libonnxruntime_providers_cuda.so", "--device", "cuda:0")
        self.refuses("loopback", "--listen", "0.0.0.0:8000")
        self.refuses("--demo", "--demo")

    def test_a_folder_that_is_not_there(self):
        self.repository = self.repository / "none"
        self.refuses("none: cannot list")

    def test_an_address_in_use(self):
        serve = self.serve()
        other = Serve(self.repository, "--listen", serve.http)
        output, errors = other.process.communicate(timeout=30)
        self.assertEqual((other.process.returncode, output), (1, ""), errors)
        self.assertIn(serve.http.split(":")[1], errors)


class Ends(Serving):
    def slow(self, milliseconds):
        device = self.repository.parent / f"{self.repository.name}.yaml"
        device.write_text(device_file(milliseconds, {"slow": 1000}, 10000))
        self.addCleanup(device.unlink)
        self.add("slow", onnx_bytes.twice(2), config="max_batch_size: 2")
        return self.serve("--device", f"simulated:{device}")

    def accepted(self, serve):
        """Requests that wait or run."""
        return serve.json("GET", "/berth/v1/memory")[1]["models"][0]["accepted"]

    def test_accepted_requests_are_answered(self):
        serve = self.slow(1500)
        self.assertEqual(self.answer(serve, "slow", [[1, 2]]), [2.0, 4.0])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(serve.infer, "slow", [[i, 2]]) for i in range(4)]
            self.wait_until(lambda: self.accepted(serve) == 4, "the requests")  # they take 3 s or more
            serve.process.send_signal(signal.SIGTERM)
            self.wait_until(lambda: serve.ask("GET", "/v2/health/ready")[0] == 503, "the end")
            self.assertEqual(serve.infer("slow", [[1, 2]])[0], 503)
            self.assertEqual(serve.ask("GET", "/v2/health/live")[0], 200)
            for i, each in enumerate(asked):
                status, answer = each.result()
                self.assertEqual((status, answer["outputs"][0]["data"] if status == 200 else answer), (200, [2.0 * i, 4.0]))
        self.ends_well(serve, None)

    def test_what_takes_too_long_is_refused(self):
        serve = self.slow(4000)
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            asked = [pool.submit(serve.infer, "slow", [[i, 2]]) for i in range(10)]
            self.wait_until(lambda: self.accepted(serve) >= 2, "some requests")
            began = time.monotonic()
            serve.process.send_signal(signal.SIGTERM)
            statuses = [each.result()[0] for each in asked]
        self.assertLessEqual(set(statuses), {200, 429, 503})
        self.assertIn(200, statuses)
        self.assertIn(503, statuses)
        self.ends_well(serve, None)
        self.assertLess(time.monotonic() - began, 20)

    def test_at_once_when_idle(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            serve = self.serve()
            with socket.create_connection(serve.http.split(":")):
                began = time.monotonic()
                self.assertEqual(self.ends_well(serve, how), "")
                self.assertLess(time.monotonic() - began, 5)

    def test_under_load(self):
        self.add("m", onnx_bytes.layers([64, 64, 8]))
        serve = self.serve()
        begun, broken = threading.Barrier(9), []
        def keep_asking():
            connection = http.client.HTTPConnection(serve.http, timeout=60)
            body, headers = binary_body([1, 64], bytes(256))
            is_first = True
            while True:
                try:
                    connection.request("POST", "/v2/models/m/infer", body, headers)
                    answer = connection.getresponse()
                    content = answer.read()
                except (ConnectionError, http.client.HTTPException):
                    return connection.close()  # it has ended
                if answer.status == 503:
                    return connection.close()
                if answer.status != 200 or b"outputs" not in content:
                    broken.append((answer.status, content))
                if is_first:
                    begun.wait(60)
                is_first = False
        threads = [threading.Thread(target=keep_asking) for _ in range(8)]
        for thread in threads:
            thread.start()
        begun.wait(60)
        self.ends_well(serve)
        for thread in threads:
            thread.join()
        self.assertEqual(broken, [])

    def test_clients_that_leave(self):
        serve = self.slow(500)
        self.answer(serve, "slow", [[1, 2]])
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}).encode()
        for _ in range(40):
            stream = socket.create_connection(serve.http.split(":"))
            stream.sendall(b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            time.sleep(0.005)
            stream.close()
        # They would take 10 s.
        began = time.monotonic()
        self.assertEqual(self.answer(serve, "slow", [[1, 2]]), [2.0, 4.0])
        self.assertLess(time.monotonic() - began, 7)
        self.ends_well(serve)


class Demo(Serving):
    def test_interrupted(self):
        with subprocess.Popen([PROGRAM, "serve", "--demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": str(self.repository)}) as demo:
            self.addCleanup(lambda: demo.kill() if demo.poll() is None else None)
            line = " "
            while line.split()[:1] != ["3"]:
                line = demo.stdout.readline()
                self.assertTrue(line, "it ended")
            # The engine would leave files there, and report to its maker.
            self.assertEqual(len(list(self.repository.iterdir())), 1)
            time.sleep(0.3)  # between two lines
            demo.send_signal(signal.SIGINT)
            rest, errors = demo.communicate(timeout=30)
        self.assertEqual((demo.returncode, errors), (0, ""))
        for words in ["served: ", "berth ", "eager ", "berth compared with eager: ", "berth compared with lru: "]:
            self.assertIn(words, rest)
        self.assertNotIn("failed", rest)
        self.assertEqual(list(self.repository.iterdir()), [], "files are left")


if __name__ == "__main__":
    require_engine()
    unittest.main()
