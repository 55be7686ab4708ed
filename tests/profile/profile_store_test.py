#!/usr/bin/env python3
"""The database of `berth profile`: import, export, observe, drift, bad input."""

import csv
import hashlib
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packing"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "serving"))
import local_serve
import onnx_bytes
import pack_program

PROGRAM = local_serve.PROGRAM
HEADER = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
SLICE = "A100-80GB,1g.10gb"
LATENCY_MS = {1: 6.0, 2: 7.0, 4: 9.5, 8: 14.25}


def answers_of(sums, started_us=1, device="made-up", model="double", measured_bytes=1000):
    """What a server says: `sums` has the batch size, the count and the microseconds of each batch."""
    items = [{"model": model, "version": "1", "sha256": None, "batch": batch, "count": count, "sum_us": count * each_us,
              "sum_squares": count * each_us**2} for batch, count, each_us in sums]
    times = {"started_us": started_us, "device": device, "items": items}
    memory = {"models": [{"name": model, "version": "1", "measured_bytes": measured_bytes}]}
    return {"/berth/v1/times": json.dumps(times), "/berth/v1/memory": json.dumps(memory)}


class Server:
    """Answers with `answers` by path: a text, or a status and a text."""

    def __init__(self):
        self.answers = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                answer = outer.answers.get(self.path, (404, "{}"))
                status, text = (200, answer) if isinstance(answer, str) else answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class ProfileStore(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.db = self.folder / "profiles.db"

    def profile(self, *words, status=0):
        """Stdout; of a failure the one message."""
        done = subprocess.run([PROGRAM, "profile", *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status == 0:
            return done.stdout
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("berth: "), done.stderr)
        return done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def places(self, model="m"):
        shown = json.loads(self.profile("show", model, "--db", self.db, "--format", "json"))
        return shown["model"]["places"]

    def test_an_export_has_the_numbers_of_the_import(self):
        text = HEADER + f"m,{SLICE},1,1,10.50,1e2\nm,{SLICE},2,1,0.10,+4.\nm,{SLICE},2,3,123456789.125,0.000000001\n"
        self.profile("import", self.write("x.csv", text), "--db", self.db)
        self.assertEqual(self.profile("export", "--db", self.db), text)
        self.profile("export", "--db", self.db, "--out", "out.csv")
        self.assertEqual((self.folder / "out.csv").read_text(), text)

    def test_nothing_is_overwritten(self):
        self.profile("import", self.write("x.csv", HEADER + f"m,{SLICE},1,1,10,100\nm,{SLICE},2,1,15,130\n"))
        self.profile("import", self.write("x.csv", HEADER + f"m,{SLICE},1,1,20,50\n"))
        self.assertEqual(self.profile("export"), HEADER + f"m,{SLICE},1,1,20,50\nm,{SLICE},2,1,15,130\n")
        shown = json.loads(self.profile("show", "m", "--history", "--format", "json"))
        self.assertEqual([[point["measured"]["latency_ms"] for point in run["points"]] for run in shown["runs"]],
                         [[100, 130], [50]])
        self.assertIn("run 1,", self.profile("show", "m", "--history"))
        self.assertNotIn("run 1,", self.profile("show", "m"))

    def test_what_was_not_measured_on_the_gpu_says_so(self):
        self.profile("import", self.write("x.cpu.csv", HEADER + f"m,{SLICE},1,1,10,100\n"))
        self.assertEqual(self.profile("export", "--out", "out.csv"), "out.cpu.csv\n")
        self.assertTrue((self.folder / "out.cpu.csv").exists())
        self.assertFalse((self.folder / "out.csv").exists())

    def test_observed_batches_count_once_and_replace_from_200_on(self):
        server = Server()
        rows = "".join(f"double,{SLICE},{batch},1,{batch * 1000 / ms:.6f},{ms}\n" for batch, ms in LATENCY_MS.items())
        self.profile("import", self.write("x.csv", HEADER + rows))
        observe = ("observe", "--url", server.url)
        device = SLICE.replace(",", ":")
        server.answers = answers_of([(1, 199, 6100), (2, 150, 7000), (3, 900, 8000)], device=device)
        self.assertIn(" 1,249 new batches", self.profile(*observe))
        self.assertIn(" 0 new batches", self.profile(*observe))
        self.assertEqual(self.profile("export"), HEADER + rows)
        server.answers = answers_of([(1, 199, 6100), (2, 200, 7000), (4, 300, 12000)], device=device)
        self.assertIn(" 350 new batches", self.profile(*observe))
        exported = list(csv.DictReader(self.profile("export").splitlines()))
        self.assertEqual([(row["batch"], float(row["latency_ms"])) for row in exported],
                         [("1", 6.0), ("2", 7.0), ("4", 12.0), ("8", 14.25)])
        self.assertEqual(exported[1]["latency_ms"], "7.000000")
        # Restarted: it counts from zero.
        server.answers = answers_of([(1, 5, 6100)], started_us=2, device=device)
        self.assertIn(" 5 new batches", self.profile(*observe))
        [place] = self.places("double")
        self.assertEqual([point["observed"] and point["observed"]["count"] for point in place["points"]],
                         [204, 200, 300, None])
        self.assertEqual([point["drift"] for point in place["points"]], [False, False, True, False])
        [drift] = [line for line in self.profile("list").splitlines() if line.startswith("drift")]
        self.assertEqual(drift, "drift: double on A100-80GB:1g.10gb, batch 4: measured 9.5 ms (imported), "
                                "observed 12.00 ms (300 batches): 26.3 % more")
        self.assertIn("1000 B", self.profile("show", "double"))

    def test_a_server_that_answers_something_else_writes_nothing(self):
        server = Server()
        good = answers_of([(1, 5, 100)])
        observe = ("observe", "--url", server.url)
        bad = [{"/berth/v1/times": (500, "broken")}, {"/berth/v1/memory": (404, "{}")},
               {"/berth/v1/times": good["/berth/v1/times"].replace("\"sum_us\": 500", "\"sum_us\": NaN")},
               {"/berth/v1/times": good["/berth/v1/times"].replace("\"sum_us\": 500", "\"sum_us\": -500")},
               {"/berth/v1/times": good["/berth/v1/times"].replace("\"count\": 5", "\"count\": null")},
               {"/berth/v1/memory": "<html>"}, {"/berth/v1/times": "[]"}, {"/berth/v1/times": ""}]
        for change in bad:
            with self.subTest(change=change):
                server.answers = {**good, **change}
                self.assertIn("/berth/v1/", self.profile(*observe, status=2))
                self.assertFalse(self.db.exists())
        server.answers = good
        self.profile(*observe)
        before = self.db.read_bytes()
        server.answers = {**good, **bad[0]}
        self.profile(*observe, status=2)
        self.assertEqual(self.db.read_bytes(), before)
        server.server.shutdown()
        server.server.server_close()
        self.profile(*observe, status=7)

    def test_bad_input_writes_nothing(self):
        csv_file = self.write("x.csv", HEADER + f"m,{SLICE},1,1,10,100\n")
        self.assertIn("profiles.db", self.profile("list", status=2))
        for text, words in [("", "x.csv:1"), (HEADER, "at least one row"), (HEADER + f"m,{SLICE},0,1,1,1\n", ":2:"),
                            (HEADER + "m,Z9,full,1,1,1,1\n", "gpu"), (HEADER + f"m,{SLICE},1,1,0,1\n", "above 0"),
                            (HEADER + f"m,{SLICE},1,1,10,100\n" * 2, "second row")]:
            bad = self.write("bad/x.csv" if (self.folder / "bad").mkdir(exist_ok=True) else "bad/x.csv", text)
            self.assertIn(words, self.profile("import", bad, status=2))
            self.assertIn(words, self.profile("import", self.folder / "bad", status=2))
        self.assertIn("missing.csv", self.profile("import", "missing.csv", status=2))
        self.assertFalse(self.db.exists())
        self.profile("import", csv_file)
        self.assertIn("found \"x\"", self.profile("show", "x", status=2))
        self.assertIn("found \"x\"", self.profile("export", "--model", "x", status=2))
        self.assertIn("--as:", self.profile("export", "--as", "A100-80GB", status=2))
        self.assertIn("--as:", self.profile("export", "--as", "A100-80GB:9g.1gb", status=2))
        self.assertIn("--url:", self.profile("observe", "--url", "localhost:1", status=2))
        self.assertIn("x.csv", self.profile("list", "--db", csv_file, status=2))
        good = self.db.read_bytes()
        self.db.write_bytes(good[:len(good) // 2])
        self.assertIn("profiles.db", self.profile("list", status=2))
        self.profile("import", csv_file, status=2)
        newer = bytearray(good)
        newer[60:64] = (99).to_bytes(4, "big")  # user_version
        self.db.write_bytes(newer)
        self.assertIn("later version", self.profile("list", status=2))
        self.profile("import", csv_file, status=2)
        self.assertEqual(self.db.read_bytes(), newer)

    def test_killed_writers_leave_whole_runs(self):
        rows = "".join(f"m{n % 40:02},{SLICE},{1 + n // 40},1,{10 * (1 + n // 40)},100\n" for n in range(4000))
        path = self.write("x.csv", HEADER + rows)
        for i in range(6):
            victim = subprocess.Popen([PROGRAM, "profile", "import", path], cwd=self.folder, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            time.sleep(0.04 * i)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        writers = [subprocess.Popen([PROGRAM, "profile", "import", path], cwd=self.folder, stdout=subprocess.DEVNULL)
                   for _ in range(3)]
        self.assertEqual([writer.wait() for writer in writers], [0, 0, 0])
        listed = json.loads(self.profile("list", "--format", "json"))["models"]
        self.assertEqual([len(place["points"]) for model in listed for place in model["places"]], [100] * 40)
        runs = json.loads(self.profile("show", "m00", "--history", "--format", "json"))["runs"]
        self.assertGreaterEqual(len(runs), 3)
        self.assertEqual({len(run["points"]) for run in runs}, {100})


class OfAServer(local_serve.Case):
    """With the real `berth serve` on a simulated device. How long its batches really take depends on the machine, so the
    server's own counts say what is wanted; tests/profile/drift_bench.py has the bar."""

    def profile(self, *words):
        done = subprocess.run([PROGRAM, "profile", *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def write_device(self, latency_ms):
        table = [[batch, ms] for batch, ms in latency_ms.items()]
        path = self.repository.parent / f"{self.repository.name}.device.yaml"
        path.write_text(f"berth: 1\nname: {SLICE.replace(',', ':')!r}\nlanes: 1\nmemory: 2GiB\nbatch_max: 8\n"
                        f"load: {{seconds: 0.01, bytes_per_second: 1000000000}}\n"
                        f"models:\n  \"*\": {{latency_ms: {table}, bytes: 1000000}}\n")
        self.addCleanup(lambda: path.unlink(missing_ok=True))
        return path

    def test_a_server_that_became_slower_drifts(self):
        self.add("double", onnx_bytes.twice(2))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        db = pathlib.Path(folder.name) / "profiles.db"
        latency_ms = {1: 1.0, 2: 1.5, 8: 2.0}
        table = pathlib.Path(folder.name) / "x.csv"
        table.write_text(HEADER + "".join(f"double,{SLICE},{batch},1,{batch * 1000 / ms:.6f},{ms}\n"
                                          for batch, ms in latency_ms.items()))
        self.profile("import", "--db", db, table)
        serve = self.serve("--device", f"simulated:{self.write_device({b: ms * 1.5 for b, ms in latency_ms.items()})}",
                           "--policy", "eager")
        self.wait_until(lambda: serve.ask("GET", "/v2/models/double/ready")[0] == 200, "the model")
        for batch, count in [(1, 200), (2, 30), (8, 200)]:
            for _ in range(count):
                self.assertEqual(serve.infer("double", [[1, 2]] * batch)[0], 200)
        items = lambda: serve.json("GET", "/berth/v1/times")[1]["items"]
        self.wait_until(lambda: all(item["sha256"] for item in items()), "the sum of the file")
        self.wait_until(lambda: sum(item["count"] for item in items()) == 430, "the ends of all batches")
        observe = ("observe", "--db", db, "--url", f"http://{serve.http}")
        self.assertIn(" 430 new batches", self.profile(*observe))
        self.assertIn(" 0 new batches", self.profile(*observe))
        means = {item["batch"]: item["sum_us"] / item["count"] / 1000 for item in items()}
        # A simulated device ends early by what the hand-over of a batch takes, which is more on a busy machine.
        self.assertTrue(all(means[batch] >= ms * 1.2 for batch, ms in latency_ms.items()), means)
        exported = {int(row["batch"]): float(row["latency_ms"])
                    for row in csv.DictReader(self.profile("export", "--db", db).splitlines())}
        self.assertAlmostEqual(exported[1], means[1], places=5)
        self.assertEqual(exported[2], 1.5)
        self.assertAlmostEqual(exported[8], means[8], places=5)
        drift = [line for line in self.profile("list", "--db", db).splitlines() if line.startswith("drift")]
        self.assertEqual([line.split(":")[2].split(" ")[-1] for line in drift if "(200 batches)" in line], ["1", "8"])
        # Another content of the model: its batches are those of another one.
        content = (self.repository / "double/1/model.onnx").read_bytes()
        self.assertEqual({item["sha256"] for item in items()}, {hashlib.sha256(content).hexdigest()})
        self.add("double", onnx_bytes.twice(3))
        self.wait_until(lambda: serve.infer("double", [[1, 2, 3]] * 2)[0] == 200, "the new content")
        self.wait_until(lambda: len({item["sha256"] for item in items()}) == 2 and all(item["sha256"] for item in items()),
                        "the sum of the new file")
        self.assertEqual(sum(item["count"] for item in items()), 431)  # also what the old content counted
        self.assertIn(" 1 new batches", self.profile(*observe))
        self.assertEqual(serve.end()[0], 0)


@unittest.skipIf(pack_program.why_skipped(), pack_program.why_skipped())
class ParvaGpu(unittest.TestCase):
    def test_the_same_plans(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "profiles.db")
            table = os.path.join(folder, "profiles.csv")
            subprocess.run([PROGRAM, "profile", "import", pack_program.profile_folder(), "--db", db], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([PROGRAM, "profile", "export", "--db", db, "--out", table], check=True,
                           stdout=subprocess.DEVNULL)
            demand = os.path.join(folder, "demand.csv")
            for scenario, demands in enumerate(pack_program.scenario_demands(), 1):
                with self.subTest(scenario=scenario):
                    pack_program.write_demands(demand, demands)
                    theirs = pack_program.pack(demand)
                    ours = pack_program.pack(demand, profiles=table, profile_format="csv")
                    for answer in (theirs, ours):
                        del answer["seconds"]
                        answer.pop("warnings", None)
                    self.assertEqual(ours, theirs)


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print("skipped: no program berth: BERTH_PROGRAM names it")
        sys.exit(local_serve.SKIPPED)
    unittest.main()
