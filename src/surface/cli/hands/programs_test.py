#!/usr/bin/env python3
"""`berth hands` runs programs: start, ready, restart, stop, logs, rules. With its own user."""

import json
import os
import signal
import unittest
from pathlib import Path

from program_machine import ProgramCase, require_program, runs, status_of


class Programs(ProgramCase):
    def test_a_program_starts_is_ready_and_stops(self):
        self.start_hands(self.server_rules())
        client = self.client()
        self.assertEqual(client.listed(), {})
        client.start("web", word="abc")
        ready = client.until_phase("ready")
        self.assertEqual((ready["starts"], ready["failures"], ready["is_looping"], ready["key"], ready["drain_us"]),
                         (1, 0, False, "", 30_000_000))
        self.assertGreater(ready["start_time_us"], 0)
        pid = ready["pid"]
        log = client.log()
        lines = {line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1]) for line in log.splitlines() if line[0] in "ew"}
        home = self.programs / "programs/gpu-1-0-1/home"
        self.assertEqual(lines["words"][1:], [str(ready["port"]), "a abc"])
        environment = lines["environment"]
        self.assertEqual({name: environment.pop(name) for name in ("CUDA_VISIBLE_DEVICES", "BERTH_PORT", "BERTH_SLICE",
                                                                   "BERTH_GENERATION", "HOME", "TMPDIR")},
                         {"CUDA_VISIBLE_DEVICES": self.whole, "BERTH_PORT": str(ready["port"]), "BERTH_SLICE": "gpu-1-0",
                          "BERTH_GENERATION": "1", "HOME": str(home), "TMPDIR": str(home)})
        self.assertLessEqual(set(environment), {"PATH", "LANG", "LC_CTYPE"}, "nothing of ours")
        status = status_of(pid)
        self.assertEqual((status["CapEff"], status["CapPrm"], status["CapAmb"], status["NoNewPrivs"]),
                         ("0" * 16, "0" * 16, "0" * 16, "1"))
        self.assertEqual(os.getsid(pid), pid)
        self.assertEqual(sorted(os.listdir(f"/proc/{pid}/fd"))[:3], ["0", "1", "2"])
        self.assertIn("Max core file size        0                    0", Path(f"/proc/{pid}/limits").read_text())
        self.assertEqual(home.stat().st_mode & 0o7777, 0o700)
        self.assertEqual(self.show(self.machine)["devices"][1]["processes"], [{"pid": pid, "memory_mib": 0}])
        self.assertEqual(client.listed()["gpu-1-0"], ready)
        client.stop()
        client.until_phase("draining")
        client.until_phase("stopped")
        self.assertFalse(runs(pid))
        self.assertEqual(list(self.programs.glob("programs/*")), [])
        self.assertEqual(self.show(self.machine)["devices"][1]["processes"], [])
        self.assertEqual(client.listed(), {})
        client.stop()
        client.until_phase("stopped")

    def test_orders_against_the_rules_are_refused_with_field_wanted_and_found(self):
        self.start_hands(self.server_rules())
        client = self.client()
        for order, message in (
                ({"template": "none"}, 'run.template: wanted a template of the GPU agent (web), found "none"'),
                ({"template": "web", "tenant": "other", "word": "a"},
                 'run.template: wanted one that the GPU agent allows tenant "other", found "web"'),
                ({"template": "web", "word": "Abc"}, 'run.parameters.word: wanted a text of at most 256 printable bytes that '
                                                     'matches "[a-z]{1,8}", found "Abc"'),
                ({"template": "web"}, 'run.parameters.word: wanted a text that matches "[a-z]{1,8}", found none'),
                ({"template": "web", "word": "a", "more": "b"},
                 'run.parameters: wanted parameters of template web (word), found "more"'),
                ({"template": "serve", "repository": "demo", "model": "digits"},
                 'run.serve.repository: wanted a repository of the GPU agent (none), found "demo"'),
                ({"template": "web", "word": "a", "device": "0"},
                 'device: wanted the UUID of a GPU or MIG device, found "0"'),
                ({"template": "web", "word": "a", "device": "MIG-0a"},
                 'device: wanted a GPU of manage: of the GPU agent, or a MIG device on one, found "MIG-0a"')):
            client.start(**order)
            report = client.until_phase("failed")
            self.assertEqual((report["message"], report["starts"]), (message, 0))
        client.start("web", slice_name="../../etc", word="a")
        self.assertIn("slice: wanted a name", client.until_phase("failed", slice_name="../../etc")["message"])
        self.assertEqual(client.listed(), {})

    def test_what_ends_is_started_again_later_each_time(self):
        self.start_hands(self.server_rules())
        client = self.client()
        client.start("web", word="a")
        killed = client.until_phase("ready")
        os.kill(killed["pid"], signal.SIGKILL)
        failed = client.until_phase("failed")
        self.assertEqual((failed["pid"], failed["failures"]), (0, 1))
        self.assertTrue(failed["message"].startswith("ended by signal 9: environment"), failed["message"])
        again = client.until_phase("ready")
        self.assertEqual((again["starts"], again["failures"], again["message"]), (2, 1, failed["message"]))
        self.assertNotEqual(again["pid"], killed["pid"])

    def test_what_is_never_ready_is_ended_with_all_that_it_started(self):
        script = self.script("deaf", "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                                     "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        print(f'left {os.getpid()}', flush=True)\n"
                                     "        time.sleep(1000)\n    os._exit(0)\ntime.sleep(0.2 if 'short' in sys.argv else 1000)\n")
        self.start_hands(self.rules(f"templates: {{deaf: {{command: [{script}, '{{word}}'], parameters: {{word: 'long|short'}}, "
                                    "ready: /, ready_seconds: 4, tenants: [vision]}}"))
        client = self.client()
        client.start("deaf", word="short")
        failed = client.until_phase("failed")
        self.assertIn("ended with status 0: left ", failed["message"])
        self.assertFalse(runs(int(failed["message"].split("left ")[1])))
        client.stop()
        client.until_phase("stopped")
        client.start("deaf", generation=2, word="long")
        failed = client.until_phase("failed")
        self.assertIn("not ready within 4 s (does not listen at its port)", failed["message"])
        self.assertFalse(runs(int(failed["message"].split("left ")[1])))

    def test_a_log_is_rotated_at_10_mib(self):
        script = self.script("loud", "import sys, time\nfor i in range(180_000):\n    print(i, 'x' * 60)\nsys.stdout.flush()\n"
                                     "time.sleep(1000)\n")
        self.start_hands(self.rules(f"templates: {{loud: {{command: [{script}], ready: /, tenants: [vision]}}}}"))
        client = self.client()
        client.start("loud")
        log = self.programs / "programs/gpu-1-0-1/log"
        rotated = log.with_name("log.1")
        self.wait_for(lambda: rotated.exists() and "179999 x" in log.read_text(), "the last line")
        self.assertLessEqual(rotated.stat().st_size, 10 << 20)
        self.assertTrue(client.log().splitlines()[-1].startswith("179999 x"))

    def test_bad_rules_end_the_hands_with_status_2(self):
        good = self.script("good", "")
        writable = self.script("writable", "")
        writable.chmod(0o777)
        shared = self.folder / "shared"
        shared.mkdir()
        in_shared = self.script("shared/good", "")
        shared.chmod(0o775)
        (self.folder / "linked").symlink_to(in_shared)
        plain = self.script("plain", "")
        plain.chmod(0o644)
        parameter = f"templates: {{t: {{command: [{good}, '{{a}}'], parameters: {{a: '%s'}}, ready: /, tenants: [a]}}}}"
        for text, message in (
                *((f"templates: {{t: {{command: [{path}], ready: /, tenants: [a]}}}}", f"{shared} to be writable by its owner alone, "
                   "found mode 0775") for path in (in_shared, self.folder / "linked")),
                (f"templates: {{t: {{command: [{plain}], ready: /, tenants: [a]}}}}", "found a file that cannot be executed"),
                (parameter % "(a{0,1000}){0,1000}", "templates.t.parameters.a: wanted a smaller expression"),
                (parameter % "(?=a)", "templates.t.parameters.a: wanted a group"),
                (f"repositories: {{r: {{path: {shared}, tenants: [a], engine: /none/engine.so}}}}",
                 "repositories.r.engine: wanted a file, found /none/engine.so"),
                (f"repositories: {{r: {{path: {shared}, tenants: [a], engine: {in_shared}}}}}",
                 f"repositories.r.engine: {in_shared}: wanted {shared} to be writable by its owner alone"),
                ("templates: {t: {command: [/none/program], ready: /, tenants: [a]}}", "templates.t.command: wanted a file, found "
                 "/none/program: No such file or directory"),
                (f"templates: {{t: {{command: [{writable}], ready: /, tenants: [a]}}}}", "to be writable by its owner alone, found "
                 "mode 0777"),
                (f"templates: {{t: {{command: [{good}, '{{a}}'], parameters: {{a: '[a-'}}, ready: /, tenants: [a]}}}}",
                 "templates.t.parameters.a: wanted "),
                (f"templates: {{t: {{command: [{good}], ready: /, tenants: [a], shell: true}}}}", 'unknown key "shell"'),
                (f"templates: {{t: {{command: [{good}, '{{b}}'], ready: /, tenants: [a]}}}}",
                 'wanted {port} or a parameter of this template in { }, found {b}'),
                ("repositories: {r: {path: /none/models, tenants: [a]}}", "repositories.r.path: wanted a folder, found "
                 '"/none/models"')):
            status, stderr = self.hands_end(self.rules(text))
            self.assertIn(message, stderr)
            self.assertEqual(status, 2)
        config = self.server_rules()
        config.chmod(0o666)
        status, stderr = self.hands_end(config)
        self.assertEqual(status, 2, stderr)
        self.assertIn("to be writable by its owner alone", stderr)


if __name__ == "__main__":
    require_program()
    unittest.main()
