#!/usr/bin/env python3
"""Services as real processes on the slices of a simulated machine, requests through the gateway, the loop closed."""

import json
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from local_slices import Client, Slices, alive, wait_until

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from local_serve import require_engine  # noqa: E402: found by local_slices
from local_up import require_managing  # noqa: E402: likewise


# Figures are stored within 0.2 s, apart from the rows of the journal that count requests: at 15 per second, and with room
# for a loaded machine.
LOST_IN_A_KILL = 15


class SlicesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def slices(self, services, **more):
        slices = Slices(self.folder, services, **more)
        self.addCleanup(slices.end)
        return slices.start()

    def send(self, slices, path, key, body=None):
        request = urllib.request.Request(slices.up.url + path, headers={"Authorization": f"Bearer {key}"})
        if body is not None:
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_the_loop(self):
        slices = self.slices({"words": ["replicas: {min: 1, max: 2}"], "sums": ["replicas: {min: 1, max: 1}"]})
        slices.wait_for("words")
        slices.wait_for("sums")
        self.assertEqual(slices.infer("words", 3.0)[1]["outputs"][0]["data"], [6.0] * 4)

        # The two keys are good for their own routes only.
        gateway_key = (slices.data / "gateway.key").read_text().strip()
        self.assertEqual((slices.data / "gateway.key").stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.send(slices, "v1/services", gateway_key), 401)
        self.assertEqual(self.send(slices, "v1/gateway/records", slices.up.key, {}), 401)
        self.assertEqual(self.send(slices, "v1/gateway/records", gateway_key, {}), 422)

        clients = [Client(slices, "words", 10), Client(slices, "sums", 5)]
        for client in clients:
            client.start()
        targets = slices.up.get("v1/sd/prometheus")
        self.assertEqual({each["labels"]["service"] for each in targets}, {"words", "sums"})
        self.assertEqual(slices.up.client("logs", "service", "words", "-t", "shop")[0], 0)

        # Nothing fails while a GPU is drained: another slice is ready before the old one goes.
        gpu = slices.serving("words")[0]["slice"].split("-")[1]
        old = slices.serving("words")[0]
        status, body = slices.up.send("POST", f"v1/gpus/gpu-{gpu}/drain", {"reason": "a test"})
        self.assertEqual(status, 200, body)
        wait_until(lambda: slices.up.gpu(int(gpu))["drained"], "the GPU is drained")
        self.assertNotIn(old, slices.serving("words"))
        slices.wait_for("words")
        slices.wait_for("sums")

        # Neither while berth up is killed: programs go on, and so does the gateway.
        before = sorted(slices.pids())
        slices.restart_up()
        wait_until(lambda: slices.serving("words"), "the table again")
        self.assertEqual(sorted(slices.pids()), before, "no program was started again")
        self.assertTrue(all(alive(pid) for pid in before))

        answered = 0
        for client in clients:
            count, failures = client.end()
            self.assertEqual(failures, [])
            answered += count
        self.check_counts(slices, answered + 1)  # the first request of this test, too

    def check_counts(self, slices, answered):
        def counted():
            self.seen = 0
            for name in ("words", "sums"):
                series = slices.up.get(f"v1/series?service=shop/{name}&step=60&limit=500")
                self.seen += sum(item.get("requests") or 0 for item in series["items"])
            return self.seen >= answered - LOST_IN_A_KILL
        wait_until(counted, f"{answered} requests in the series")
        self.assertLessEqual(self.seen, answered)

    def test_a_drain_leaves_a_replica_where_there_may_be_one_only(self):
        slices = self.slices({"words": ["replicas: {min: 1, max: 1}"]})
        slices.wait_for("words")
        old = slices.serving("words")[0]
        gpu = int(old["slice"].split("-")[1])
        status, body = slices.up.send("POST", f"v1/gpus/gpu-{gpu}/drain", {"reason": "a test"})
        self.assertEqual(status, 200, body)
        found = []

        def is_drained():
            found.append(slices.serving("words"))
            return slices.up.gpu(gpu)["drained"]
        wait_until(is_drained, "the GPU is drained")
        self.assertNotIn([], found)
        self.assertNotIn(old, slices.serving("words"))

    def test_an_error_of_a_program_starts_it_again(self):
        slices = self.slices({"words": ["replicas: {min: 1, max: 1}"]})
        slices.wait_for("words")
        [before] = slices.pids()
        [(gpu, instance)] = [(device["index"], each["id"]) for device in slices.machine.show()
                             for each in device["gpu_instances"]]
        slices.machine.do("fault", "--gpu", gpu, "--xid", 31, "--instance", instance)
        wait_until(lambda: slices.pids() and slices.pids() != [before] and slices.serving("words"), "another process serves")
        self.assertFalse(alive(before))
        self.assertEqual(slices.infer("words", 2.0)[1]["outputs"][0]["data"], [4.0] * 4)
        [message] = [text for _, text in slices.up.events("GpuHealth")]
        self.assertIn("restart of the program on gpu-", message)
        self.assertNotIn("not done", message)
        self.assertEqual(slices.up.gpu(gpu)["device_health"]["state"], "ok")

    def test_a_scenario_with_a_program_that_the_agent_would_not_run_is_refused(self):
        slices = Slices(self.folder, {"words": []})
        self.addCleanup(slices.end)
        slices.start_hands()
        scenario = slices.folder / "scenario.yaml"
        good = scenario.read_text()
        for wrong, message in (("{repository: none, model: words}", 'run.serve.repository: wanted a repository of the GPU agent (demo), '
                                'found "none"'),
                               ("{repository: demo, model: ../words}", 'run.serve.model: wanted a text ')):
            scenario.write_text(good.replace("{repository: demo, model: words}", wrong))
            with self.assertRaises(AssertionError) as refused:
                slices.start_up()
            slices.up.process.stdout.close()
            self.assertIn("ended with status 2", str(refused.exception))
            self.assertIn(f"berth: {scenario}: service words of tenant shop: {message}", str(refused.exception))
            self.assertFalse(slices.data.exists())
        slices.up = None

    def test_a_changed_file_of_the_agent_is_compared_with_the_services(self):
        slices = self.slices({"words": ["replicas: {min: 1, max: 1}"]})
        slices.wait_for("words")
        self.assertNotIn("ProgramRefused", {each["type"] for each in slices.service("words")["conditions"]})

        # What the agent would not run is refused at once, and changes nothing.
        path = "v1/tenants/shop/services/words"
        spec = slices.up.get(path)["spec"]
        for run, error in (({"template": "none", "parameters": {}}, ("spec.run.template", '"none"')),
                           ({"serve": {"repository": "none", "model": "words"}}, ("spec.run.serve.repository", '"none"')),
                           ({"serve": {"repository": "demo", "model": "../words"}}, ("spec.run.serve.model", '"../words"'))):
            status, body = slices.up.send("PUT", path, {"spec": {**spec, "run": run}})
            found = (json.loads(body) if isinstance(body, str) else body)["error"]
            self.assertEqual((status, found["field"], found["found"]), (422, *error), found)
            self.assertTrue(found["wanted"], found)
        self.assertEqual(slices.up.get(path)["spec"], spec)
        slices.end_process(slices.hands)
        config = slices.folder / "berth.yaml"
        config.write_text(config.read_text().replace("tenants: [shop]", "tenants: [other]"))
        slices.start_hands()

        def refused():
            return [each for each in slices.service("words")["conditions"] if each["type"] == "ProgramRefused"]
        wait_until(refused, "the condition")
        [condition] = refused()
        self.assertTrue(condition["message"].startswith("spec.run.serve.repository: wanted "), condition)
        self.assertIn("ProgramRefused", slices.up.client("describe", "service", "words", "-t", "shop")[1])


if __name__ == "__main__":
    require_managing()
    require_engine()
    unittest.main()
