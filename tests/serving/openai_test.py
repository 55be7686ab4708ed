#!/usr/bin/env python3
"""`berth serve` in front of other servers, as the clients `openai` of PyPI and npm see it, unchanged (openai_clients.py).

Skipped where neither is installed: scripts/setup test puts that of PyPI into a Python of its own. LLAMA_SERVER names a
llama-server to stand behind the proxy, too; without it that part is skipped.
"""

import hashlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import gguf_bytes
import openai_backend
from local_serve import SKIPPED, Serve, run_with_clients

try:
    import openai  # noqa: F401
except ImportError as missing:
    run_with_clients(missing)

CLIENTS = pathlib.Path(__file__).with_name("openai_clients.py")
BACKEND_KEY = "backend-key"
TENANT_KEY = "tenant-key"
READY_SECONDS = 60


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Proxy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, port, models, config=""):
        """`berth serve` in front of a server on that port."""
        (self.folder / "key").write_text(BACKEND_KEY + "\n")
        path = self.folder / "config.yaml"
        path.write_text(config + f"backends:\n  - {{name: other, url: 'http://127.0.0.1:{port}', models: [{', '.join(models)}], "
                        f"key_file: {self.folder / 'key'}}}\n")
        serve = Serve(None, "--config", str(path)).ready()
        self.addCleanup(serve.end)
        return serve

    def passes(self, serve, *words):
        done = subprocess.run([sys.executable, CLIENTS, f"http://{serve.http}", *words], capture_output=True, text=True, check=False)
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("python: passed", done.stdout)

    def test_clients(self):
        backend = openai_backend.start(models=["tiny", "broken"], key=BACKEND_KEY)
        self.addCleanup(backend.server_close)
        self.addCleanup(backend.shutdown)
        serve = self.serve(backend.server_address[1], ["tiny", "broken"])
        self.passes(serve, "--broken", "broken")

    def test_a_tenant(self):
        backend = openai_backend.start(models=["tiny"], key=BACKEND_KEY)
        self.addCleanup(backend.server_close)
        self.addCleanup(backend.shutdown)
        digest = hashlib.sha256(TENANT_KEY.encode()).hexdigest()
        serve = self.serve(backend.server_address[1], ["tiny"], f"tenants:\n  - {{name: a, key_sha256: {digest}}}\n")
        self.passes(serve, "--key", TENANT_KEY)
        with self.assertRaises(openai.AuthenticationError):
            openai.OpenAI(base_url=f"http://{serve.http}/v1", api_key="wrong", max_retries=0).models.list()

    def test_llama_server(self):
        program = os.environ.get("LLAMA_SERVER")
        if not program:
            self.skipTest("LLAMA_SERVER names no llama-server")
        model = self.folder / "tiny.gguf"
        model.write_bytes(gguf_bytes.tiny_model())
        port = free_port()
        with (self.folder / "log").open("w") as log:
            llama = subprocess.Popen([program, "-m", model, "--host", "127.0.0.1", "--port", str(port), "-c", "1024", "-np", "4",
                                      "-t", "1", "--alias", "tiny", "--api-key", BACKEND_KEY], stdout=log, stderr=log)
        self.addCleanup(llama.wait)
        self.addCleanup(llama.kill)
        self.wait_until_ready(llama, port)
        self.passes(self.serve(port, ["tiny"]), "--no-embeddings")

    def wait_until_ready(self, process, port):
        limit = time.monotonic() + READY_SECONDS
        while True:
            self.assertIsNone(process.poll(), (self.folder / "log").read_text())
            self.assertLess(time.monotonic(), limit, "waited for the llama-server")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
