"""What `berth operator` refuses: one message, status 2, nothing asked of any server."""
import http.server
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
OWN = "kubernetes: {own: [{driver: gpu.nvidia.com, pools: all}]}\n"
KUBECONFIG = """current-context: one
clusters: [{name: c, cluster: {server: "http://127.0.0.1:PORT"}}]
users: [{name: u, user: {token: t}}, {name: p, user: {exec: {command: aws}}}]
contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: p}}]
"""


class Handler(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        self.asked.append(self.command)
        self.send_response(404)
        self.end_headers()

    do_PATCH = do_POST = do_DELETE = do_PUT = do_GET

    def log_message(self, *_):
        pass


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        Handler.asked.clear()

    def write(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def refused(self, *arguments, environment=None):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("KUBE")}
        run = subprocess.run([PROGRAM, "operator", *arguments], capture_output=True, text=True, check=False, timeout=60,
                             env=clean | (environment or {}))
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("berth: "), run.stderr)
        return run.stderr

    def test_configurations(self):
        config = self.write("kubeconfig", KUBECONFIG)
        self.assertIn("--config: wanted a file", self.refused("--kubeconfig", config))
        for text, message in [
            ("{}\n", "wanted at least one driver"),
            ("kubernetes: {own: []}\n", "wanted at least one driver"),
            ("kubernetes: {owned: []}\n", "owned"),
            ("kubernetes: {own: [{driver: d, pools: []}]}\n", "kubernetes.own[0].pools: wanted all, or a list of pools"),
            ("kubernetes: {own: [{driver: d, pools: [a, a]}]}\n", "each pool once"),
            ("kubernetes: {own: [{driver: d, pools: all}, {driver: d, pools: [a]}]}\n", "each driver once"),
            ("kubernetes: {own: [{driver: d, pools: some}]}\n", "wanted all, or a list of pools"),
            ("kubernetes: {own: [{pools: all}]}\n", "kubernetes.own[0].driver"),
        ]:
            with self.subTest(text):
                self.assertIn(message, self.refused("--config", self.write("berth.yaml", text), "--kubeconfig", config))

    def test_clusters(self):
        own = self.write("berth.yaml", OWN)
        config = self.write("kubeconfig", KUBECONFIG)
        self.assertIn('wanted the name of a context (one, two), found "three"',
                      self.refused("--config", own, "--kubeconfig", config, "--context", "three"))
        self.assertIn("wanted a token or a client certificate; this is not supported",
                      self.refused("--config", own, "--kubeconfig", config, "--context", "two"))
        self.assertIn("none.yaml", self.refused("--config", own, "--kubeconfig", "none.yaml"))
        self.assertIn("wanted --kubeconfig FILE, KUBECONFIG, or a pod", self.refused("--config", own))
        self.assertIn("--context: wanted --kubeconfig", self.refused("--config", own, "--context", "one"))
        self.assertIn("context", self.refused("--config", own, "--context", "x", environment={"KUBECONFIG": f":{config}:none"}))

    def test_a_cluster_without_the_api(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        config = self.write("kubeconfig", KUBECONFIG.replace("PORT", str(server.server_port)))
        said = self.refused("--config", self.write("berth.yaml", OWN), "--kubeconfig", config)
        self.assertIn("wanted a cluster that serves resource.k8s.io/v1", said)
        self.assertEqual(Handler.asked, ["GET"])


if __name__ == "__main__":
    unittest.main()
