#!/usr/bin/env python3
"""The verbs for a running `berth up`, against a real one: what they print, and their exit statuses."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 60


class Verbs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.data = Path(cls.folder.name) / "state"
        cls.up = subprocess.Popen([PROGRAM, "up", "--data", str(cls.data), "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = cls.up.stdout.readline()
        assert line.startswith("ready http://127.0.0.1:"), line

    @classmethod
    def tearDownClass(cls):
        cls.up.terminate()
        assert cls.up.wait(DEADLINE_SECONDS) == 0
        cls.up.stdout.close()
        cls.folder.cleanup()

    def berth(self, *arguments, data=None, server=None):
        environment = {key: value for key, value in os.environ.items() if key not in ("BERTH_SERVER", "BERTH_STATE")}
        environment["BERTH_STATE"] = str(data or self.data)
        if server:
            environment["BERTH_SERVER"] = server
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                              env=environment)

    def printed(self, *arguments):
        run = self.berth(*arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_every_kind_is_listed(self):
        for kind, first in (("tenants", "tenant/language"), ("services", "service/language/summariser"),
                            ("nodes", "node/node-0"), ("gpus", "gpu/gpu-0"), ("slices", "slice/gpu-0-")):
            names = self.printed("get", kind, "-o", "name")
            self.assertTrue(names.startswith(first), names)
            self.assertEqual(len(json.loads(self.printed("get", kind, "-o", "json"))["items"]), names.count("\n"))
            for output in ("table", "wide"):
                self.assertTrue(self.printed("get", kind, "-o", output).splitlines()[0].isupper())

    def test_one_object_is_described(self):
        text = self.printed("describe", "service", "detector", "-t", "vision")
        for part in ("Phase:", "Last minute:", "Spec:", "latency_ms: 150"):
            self.assertIn(part, text)
        self.assertIn("Slices:", self.printed("describe", "gpu", "gpu-0"))
        self.assertIn("vision", self.printed("top", "--once"))

    def test_a_gpu_is_cordoned_and_opened(self):
        self.assertEqual(self.printed("cordon", "gpu-3", "--reason", "fan"), "gpu/gpu-3 cordoned\n")
        self.wait_for("cordoned")
        self.assertIn("fan", self.printed("get", "gpu", "gpu-3"))
        self.assertEqual(self.printed("uncordon", "gpu-3"), "gpu/gpu-3 uncordoned\n")
        self.wait_for("open")

    def test_a_drain_is_awaited(self):
        self.assertEqual(self.printed("drain", "gpu-7", "--reason", "fan", "--wait"), "gpu/gpu-7 draining\ngpu/gpu-7 drained\n")
        status = json.loads(self.printed("get", "gpu/gpu-7", "-o", "json"))["status"]
        self.assertEqual((status["scheduling"], status["drained"]), ("cordoned", True))
        self.assertRegex(self.printed("get", "gpus", "--phase", "drained"), r"gpu-7 .* drained .* fan\n")
        self.assertIn("1 drained", self.printed("top", "--once"))
        self.printed("uncordon", "gpu-7")
        self.assertEqual(json.loads(self.printed("get", "gpu/gpu-7", "-o", "json"))["status"]["drained"], False)

    def test_people_see_no_microseconds(self):
        for arguments in (("get", "all"), ("get", "plans", "-o", "wide"), ("get", "gpus", "-o", "wide"), ("get", "events"),
                          ("describe", "gpu-0"), ("describe", "vision/detector"), ("plan", "show"), ("plan", "history"),
                          ("top", "--once"), ("usage",)):
            run = self.berth(*arguments)
            self.assertEqual(run.returncode, 0, run.stderr)
            text = run.stdout
            self.assertNotRegex(text, r"\d\.\d{4}", arguments)
            self.assertNotRegex(text, r"GPU \d", arguments)
        self.assertIn("AGE", self.printed("get", "plans"))

    def test_events_are_followed(self):
        run = subprocess.Popen([PROGRAM, "get", "events", "-w", "-o", "json", "--data", str(self.data)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            first = json.loads(run.stdout.readline())
            self.assertEqual(first["sequence"], 1)
            self.printed("cordon", "gpu-6", "--reason", "to be seen")
            while (event := json.loads(run.stdout.readline()))["message"] != "to be seen":
                pass
            self.assertEqual((event["kind"], event["object"]["name"]), ("GpuCordoned", "gpu-6"))
        finally:
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(DEADLINE_SECONDS), 130)
            run.stdout.close()
            run.stderr.close()
            self.printed("uncordon", "gpu-6")

    def wait_for(self, scheduling):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while json.loads(self.printed("get", "gpu", "gpu-3", "-o", "json"))["status"]["scheduling"] != scheduling:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_failures_have_their_status(self):
        self.assertEqual(self.berth("get", "gpu", "gpu-99").returncode, 3)
        self.assertEqual(self.berth("get", "service", "nobody", "-t", "vision").returncode, 3)
        self.assertEqual(self.berth("cordon", "gpu-3", "--reason", "x" * 501).returncode, 2)
        self.assertEqual(self.berth("get", "pods").returncode, 2)
        other = Path(self.folder.name) / "other"
        other.mkdir(exist_ok=True)
        address = (self.data / "address").read_text().strip()
        for key in (None, "wrong\n"):
            if key:
                (other / "admin.key").write_text(key)
            run = self.berth("get", "gpus", data=other, server=address)
            self.assertEqual(run.returncode, 4)
            self.assertIn("--data DIR", run.stderr)
        self.assertEqual(self.berth("get", "gpus", data=other).returncode, 7)
        run = self.berth("get", "gpus", server="http://127.0.0.1:9")
        self.assertEqual((run.returncode, run.stdout), (7, ""))
        self.assertIn("berth up", run.stderr)

    def test_a_server_that_does_not_answer(self):
        is_done = threading.Event()

        class Slow(BaseHTTPRequestHandler):
            def do_GET(self):
                is_done.wait(DEADLINE_SECONDS)

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Slow)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            run = self.berth("get", "gpus", "--timeout", "0.2", server=f"http://127.0.0.1:{server.server_port}")
            self.assertEqual(run.returncode, 6, run.stderr)
        finally:
            is_done.set()
            server.shutdown()
            thread.join()
            server.server_close()


if __name__ == "__main__":
    unittest.main()
